"""The totals of a kind, compared with its list, and repaired.

One transaction writes both, so they agree unless code was wrong or someone edited the table by
hand.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, Final, TypeVar

from chalicelib.listing.cells import merged_cell
from chalicelib.listing.index import SEVERAL
from chalicelib.listing.kinds import Kind
from chalicelib.listing.upgrades import limit_to_indexed
from chalicelib.storage import table
from chalicelib.storage.attributes import Fields, Key
from chalicelib.storage.commit import Commit

K = TypeVar("K")
Number = int | Decimal
Counted = Mapping[K, Any]  # of Number
Stored = Mapping[K, Mapping[str, object]]  # what each shard of a cell holds
_Place = tuple[Key, str]  # a cell, and an attribute of it
_LOOKS: Final = 3


@dataclass(frozen=True)
class Wrong:
    """A wrong count cell: the value of its `attribute`, and the value computed from its records.

    `sharded`: it is kept in shards; otherwise `cell` is the key of a record.
    """

    cell: Key
    stored: Number
    counted: Number
    attribute: str = "n"
    sharded: bool = True

    @property
    def name(self) -> str:
        """Return the cell's name for a person, with its attribute if that is not the count."""
        return "/".join(self.cell) + (f" {self.attribute}" if self.attribute != "n" else "")


@dataclass(frozen=True)
class Recount:
    records: int
    wrong: list[Wrong]


def recount(kind: Kind) -> Recount:
    """Compare the count cells of a kind with its list of all records; return the wrong ones.

    Nothing is written. Cells in which not all records are counted yet are not compared.
    """
    kind = limit_to_indexed(kind, (), also=[f"@{facet}" for facet in kind.menus])
    counted, wrong = find_disagreement(lambda: _count_and_load(kind))
    wrong_cells = [
        Wrong(cell, *numbers, attribute) for (cell, attribute), numbers in sorted(wrong.items())
    ]
    whole = kind.count_pk()
    records = int(sum(n for ((pk, _), name), n in counted.items() if (pk, name) == (whole, "n")))
    return Recount(records, wrong_cells)


def _count_and_load(kind: Kind) -> tuple[Mapping[_Place, Number], Stored[_Place]]:
    """Return the numbers that cells should have by the list, and then those that they have.

    Both are by (key of the cell, attribute); the second are by shard, too.
    """
    counted = _compute_cell_numbers(kind)
    return counted, _load_stored_cells(kind, {pk for (pk, _), _ in counted})


def find_disagreement(
    look: Callable[[], tuple[Counted[K], Stored[K]]],
) -> tuple[Counted[K], dict[K, tuple[Number, Number]]]:
    """Return what was counted last, and {cell: (stored, counted)} of each wrong cell.

    `look` counts, then reads the stored values, by shard; it is repeated up to three times while
    some differ. Clients write during a look. So a cell is wrong only if it differed in the first
    look, and in each later one by more than its stored shards changed since the look before. A busy
    cell must be wrong by more than that; otherwise it is found at a quieter time.
    """
    counted, after = look()
    suspects = {
        cell
        for cell in {*counted, *after}
        if counted.get(cell, 0) != _sum_shards(after.get(cell, {}))
    }
    for _ in range(_LOOKS - 1):
        if not suspects:
            break
        before = after
        counted, after = look()
        suspects = {
            cell
            for cell in suspects
            if not _is_explained(before.get(cell, {}), after.get(cell, {}), counted.get(cell, 0))
        }
    wrong = {cell: (_sum_shards(after.get(cell, {})), counted.get(cell, 0)) for cell in suspects}
    return counted, wrong


def _is_explained(first: Mapping[str, object], last: Mapping[str, object], counted: Number) -> bool:
    """Return whether writes can explain how a cell differs from the records.

    `first`, `last`: its stored shards before and after the records were counted. They can if
    `counted` is within both sums, give or take all changes of shards.
    """
    changes = Counter(last)
    changes.subtract(first)
    changed = sum(map(abs, changes.values()))
    low, high = sorted((_sum_shards(first), _sum_shards(last)))
    return bool(low - changed <= counted <= high + changed)


def _sum_shards(cell: Fields) -> Number:
    """Return the sum of a cell's shards. `cell`: a number by shard, nothing else."""
    total: Number = sum(cell.values())
    return total


def repair(wrong: Iterable[Wrong]) -> None:
    """Add to each wrong cell what it lacks, each in a transaction of its own. Raises Busy.

    The difference (negative if too much was counted) is added, so counts that are written at the
    same time stay. It is added once, also if an answer is lost. A cell without shards whose record
    is gone is passed over.
    """
    for cell in wrong:
        commit, difference = Commit(), {cell.attribute: cell.counted - cell.stored}
        if cell.sharded:
            commit.count(cell.cell, difference)
        else:
            commit.update(cell.cell, add=difference, when=table.present)
        commit.try_send()  # otherwise the record and its total were deleted


def walk_entries(kind: Kind, fields: Sequence[str], first: str = "") -> Iterator[dict[str, str]]:
    """Read the list of all, shard by shard; yield its entries from the sort `first` on.

    Each shard's newest come first. An entry has `sk` and these facets, those that it has.
    """
    where = table.sk.gte(first) if first else None
    for pk in kind.list_pks("*"):
        # Newest first: records created meanwhile are not read, and the newest, which change most,
        # are read early.
        yield from _read_items(pk, ["sk", *fields], where=where, forward=False)


def _compute_cell_numbers(kind: Kind) -> Mapping[_Place, Number]:
    """Read the list of all, and return the number that each (cell, attribute) should have.

    The numbers are counts, in menus too, and the sum of the `summed` facet.
    """
    numbers: defaultdict[_Place, Number] = defaultdict(int)
    facets = (*kind.counted, *kind.under, *filter(None, [kind.summed]))
    for item in walk_entries(kind, [*dict.fromkeys(facets), *([SEVERAL] if kind.menus else [])]):
        for pk, cell in kind.cell_keys(item, item.get(SEVERAL, ())):
            for name, n in kind.cell_increments(pk, item).items():
                numbers[(pk, cell), name] += n
    return numbers


def _load_stored_cells(kind: Kind, pks: Iterable[str]) -> Stored[_Place]:
    """Return {(cell, attribute): {shard's `sk`: number}} of the cells in these partitions.

    Those of the whole kind and of the menus are added. A cell of 1.0.0 is one more shard of the
    cell that it would be merged into.
    """
    shards: defaultdict[_Place, dict[str, Number]] = defaultdict(dict)
    menus = (kind.menu_key(facet)[0] for facet in kind.menus)
    for pk in {kind.count_pk(), *pks, *menus}:
        for item in chain.from_iterable(table.pages(pk)):
            cell, numbers = merged_cell(kind, item)
            for name, n in numbers.items():
                shards[(pk, cell), name][item["sk"]] = n
    return shards


def _read_items(pk: str, fields: list[str], **options: object) -> Iterator[dict[str, str]]:
    """Yield these fields of all items of a partition. `options`: of `table.pages`."""
    return chain.from_iterable(table.pages(pk, fields=fields, **options))
