"""The end of a move to another format: the count cells of older formats are removed.

While there is one, filters and orders of a newer format are 503 `reindexing` (`counts.oldest`).
"""

from collections import defaultdict
from decimal import Decimal

from chalicelib.listing.counts import oldest
from chalicelib.listing.kinds import Kind, format_of
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, all_of


def is_ready(kind: Kind) -> bool:
    """Whether all records of the kind are indexed as in this release."""
    return indexed(kind) >= kind.format


def indexed(kind: Kind) -> int:
    """The oldest format in which records of the kind are indexed."""
    return oldest(kind, _cells(kind))


def retire(kind: Kind) -> bool:
    """Replaces the cells of older formats, after all records have left them; whether all were
    replaced. What one still counts is added to the cell of this format, so no total changes."""
    return all(
        _replaced(kind, cell, items)
        for cell, items in _cells(kind).items()
        if format_of(cell) < kind.format
    )


def _cells(kind: Kind) -> dict[str, list[Item]]:
    """The shards of each cell of the whole kind."""
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for item in table.everything(kind.count_pk()):
        found[item["sk"].rsplit("#", 1)[0]].append(item)
    return found


def _replaced(kind: Kind, cell: str, items: list[Item]) -> bool:
    commit = Commit()
    left: defaultdict[str, Decimal] = defaultdict(Decimal)
    for item in items:
        numbers = {name: n for name, n in item.items() if name not in {"pk", "sk"}}
        for name, n in numbers.items():
            left[name] += n
        same = [Attr(name).eq(n) for name, n in numbers.items()]
        commit.delete((item["pk"], item["sk"]), when=all_of(same))
    commit.count((kind.count_pk(), kind.cell(kind.cell_facets(cell))), left)
    return commit.sent()
