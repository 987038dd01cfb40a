"""The count cells of release 1.0.0, which had one for each storefront of the products.

Now a cell says only whether there is a storefront (`*`), and has the number of each in an
attribute. All cells are added up, so those of 1.0.0 count as before, and both releases may write.
The job of a reindexing merges them: a shop with a hundred storefronts has thousands of them, and
each list reads them all.
"""

from collections import defaultdict
from decimal import Decimal

from chalicelib.listing.kinds import SOME, Kind, split_attribute
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, all_of


def merged_cell(kind: Kind, item: Item) -> tuple[str, dict[str, Decimal]]:
    """Return (name of the current cell in which an item counts, {attribute: number} there).

    The name is without the shard. An item of a current cell keeps its name and numbers. One of
    1.0.0, whose cell has a value of the split facet in its name, gives its `n` also as the number
    of that value.
    """
    cell = item["sk"].rsplit("#", 1)[0]
    facets = kind.cell_facets(cell)
    numbers = {name: Decimal(n) for name, n in item.items() if name not in {"pk", "sk"}}
    value = facets.get(kind.split, "")
    if value in {"", SOME}:
        return cell, numbers
    return kind.cell_name(facets), numbers | {split_attribute(value): numbers.get("n", Decimal(0))}


def merge_cells(kind: Kind, pk: str) -> int:
    """Move this partition's 1.0.0 cells into current ones; return how many cells it tried.

    A kind without a split facet has none: 0. Each is merged in one transaction, with all its
    shards, so no total changes. One that a function of 1.0.0 changes at the same moment stays until
    the next reindexing.
    """
    shards: defaultdict[str, list[Item]] = defaultdict(list)
    for item in table.query_all(pk) if kind.split else ():
        cell = item["sk"].rsplit("#", 1)[0]
        if merged_cell(kind, item)[0] != cell:
            shards[cell].append(item)
    for items in shards.values():
        _move_into_merged_cell(kind, items)
    return len(shards)


def _move_into_merged_cell(kind: Kind, items: list[Item]) -> None:
    """Delete the items of an old cell, and add their numbers to the current one, in one commit.

    `items`: all of its shards. Nothing happens if one of them has changed since it was read.
    """
    commit = Commit()
    for item in items:
        same = [Attr(name).eq(n) for name, n in item.items() if name not in {"pk", "sk"}]
        commit.delete((item["pk"], item["sk"]), when=all_of(same))
        cell, numbers = merged_cell(kind, item)
        commit.count((item["pk"], cell), numbers)
    commit.try_send()
