"""The menus of a shelf: the values that its records have now, with their numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from chalicelib.listing import upgrades
from chalicelib.listing.index import SEVERAL
from chalicelib.listing.kinds import Kind, split_attribute
from chalicelib.listing.lists import filter_condition
from chalicelib.listing.query import key_parts
from chalicelib.listing.shelf import FEW, Scan
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import COUNT_SHARDS

MOST_VALUES: Final = 100
_HASHED: Final = {True: 40, False: 200}  # characters of a value's part of a key


@dataclass
class Menu:
    """Values in alphabetical order, with how many records have each; whether there are more."""

    values: dict[str, int] = field(default_factory=dict)
    more: bool = False


def read_menus(
    kind: Kind, where: Mapping[str, frozenset[str]], measure: str
) -> tuple[dict[str, Menu], tuple[str, ...]]:
    """Return the menu of each facet, and (lowest, highest) text of a measure; () without a record.

    The menus count the whole shelf. Of `where` only the first value of the split facet narrows
    them, to the records with it or with none; records with too many values of the facet with
    several count if they match all of it. The texts are those of the records that match all of
    `where`. It reads, together, the cells of each menu, both ends of the order by the measure, the
    entries of records with too many values, and the release. Raises Reindexing.
    """
    where = key_parts(kind, where)
    scans = [Scan(kind, where, {}, measure, forward) for forward in (True, False)]
    ends = [scan.new_partitions([scan.ordered_list]) for scan in scans]
    first = FEW if kind.split in where else 1
    calls: list[dynamodb.DynamoCall[Any]] = [table.get.call(upgrades.RELEASE)]
    for scan, parts in zip(scans, ends, strict=True):
        calls += [scan.next_call(part, first) for part in parts]
    for facet in kind.menus:
        pk, most = kind.menu_key(facet)[0], (MOST_VALUES + 1) * COUNT_SHARDS
        calls.append(table.query.call(pk, limit=most))
    # Records with so many values that no menu counts them.
    matching = filter_condition(where)
    calls += [
        table.query.call(pk, matching=matching, limit=FEW, fields=(SEVERAL,))
        for pk in kind.list_pks(f"{kind.several}*")
    ]
    results = iter(dynamodb.wait_for_results(calls))
    needed = {scans[0].ordered_list, *(f"@{facet}" for facet in kind.menus)} & kind.since.keys()
    upgrades.limit_to_release(kind, needed, next(results))
    bounds = list[str]()
    for scan, parts in zip(scans, ends, strict=True):
        for part in parts:
            part.add_rows(next(results))
        scan.fill_partitions(parts, 1, first)
        bounds += [one.rpartition("#")[0] for one in scan.merge_positions(parts)[0][:1]]
    split = next((value for value in where.get(kind.split, ()) if value), None)
    read = {facet: next(results) for facet in kind.menus}
    several = list(results)
    menus = {
        facet: _sum_menu(kind, facet, rows, split, several if facet == kind.several else ())
        for facet, rows in read.items()
    }
    return menus, tuple(bounds)


def _sum_menu(
    kind: Kind, facet: str, rows: table.Rows, split: str | None, uncounted: Sequence[table.Rows]
) -> Menu:
    """Return a menu of the first MOST_VALUES, in order of value, and whether others were left out.

    `rows`: the shards of its cells; `split`: as of `_number_in`; `uncounted`: entries, of which
    those of records with too many values are counted here. Values that were hashed in the key are
    left out, and so is the last one if `rows` were cut, as its number may be too small.
    """
    numbers = Counter[str]()
    for item in rows.items:
        numbers[item["sk"].rpartition("#")[0]] += _number_in(item, split)
    for item in (item for part in uncounted for item in part.items):
        if kind.are_too_many(item[SEVERAL]):
            numbers.update(item[SEVERAL])
    last = rows.items[-1]["sk"].rpartition("#")[0] if rows.after is not None else None
    longest = _HASHED[facet == kind.several]
    found = {
        unquote(part): int(n)
        for part, n in sorted(numbers.items())
        if n > 0 and len(part) < longest and (last is None or part < last)
    }
    cut = rows.after is not None or any(part.after is not None for part in uncounted)
    hashed = any(n > 0 and len(part) >= longest for part, n in numbers.items())
    shown = dict(list(found.items())[:MOST_VALUES])
    return Menu(shown, cut or hashed or len(found) > MOST_VALUES)


def _number_in(item: Item, split: str | None) -> int:
    """Return how many records a shard counts: those with `split` and those with no split value.

    `split` None: all records.
    """
    number = int(item.get("n", 0))
    if split is not None:
        number -= sum(int(n) for name, n in item.items() if name[0] == "=")
        number += int(item.get(split_attribute(split), 0))
    return number
