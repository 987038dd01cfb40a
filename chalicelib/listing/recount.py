"""Whether the totals of a kind are what its list says. One transaction writes both, so they are,
unless code was wrong or somebody wrote into the table by hand."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from chalicelib import table
from chalicelib.attributes import Key
from chalicelib.listing.entries import Kind, list_shards

_LOOKS: Final = 3

_Cells = dict[Key, Counter[str]]  # what each shard of a cell holds


@dataclass(frozen=True)
class Wrong:
    """A count cell: what it holds, and how many records of the list belong to it."""

    cell: Key
    stored: int
    counted: int


@dataclass(frozen=True)
class Recount:
    records: int
    wrong: list[Wrong]


def recount(kind: Kind) -> Recount:
    """Reads the list of all records once; again, up to three times, where that differs from a cell.

    A look takes a while, and clients write meanwhile. So a cell is wrong only if each time more is
    between it, before or after, and the records counted, than was counted in it in between. One in
    which much is counted all the time has to be wrong by more than that; it is found when there is
    less to do.
    """
    counted = _counted(kind)
    after = _stored(kind, counted)
    suspects = {cell for cell in {*counted, *after} if counted[cell] != _sum(after, cell)}
    for _ in range(_LOOKS - 1):
        if not suspects:
            break
        before, counted = after, _counted(kind)
        after = _stored(kind, counted)
        suspects = {cell for cell in suspects if not _explained(before, after, counted, cell)}
    records = sum(n for (pk, _), n in counted.items() if pk == kind.count_pk())
    wrong = [Wrong(cell, _sum(after, cell), counted[cell]) for cell in sorted(suspects)]
    return Recount(records, wrong)


def _explained(before: _Cells, after: _Cells, counted: Counter[Key], cell: Key) -> bool:
    """Whether what was counted in a cell during a look may be why it differs from the records."""
    first, last = before.get(cell, Counter()), after.get(cell, Counter())
    changed = sum(abs(last[shard] - first[shard]) for shard in {*first, *last})
    low, high = sorted((first.total(), last.total()))
    return low - changed <= counted[cell] <= high + changed


def _sum(cells: _Cells, cell: Key) -> int:
    return cells[cell].total() if cell in cells else 0


def repair(wrong: Iterable[Wrong]) -> None:
    """Adds to each cell what it lacks, beside whoever counts in it at the same time."""
    for one in wrong:
        pk, cell = one.cell
        table.update((pk, f"{cell}#0"), add={"n": one.counted - one.stored})


def _counted(kind: Kind) -> Counter[Key]:
    """How many records belong to each cell, by the facets in their list entries."""
    spreads = list_shards()
    moving = len(spreads) > 1
    fields = [field for field in (*kind.counted, kind.under, "sk" if moving else None) if field]
    found: Counter[Key] = Counter()
    met: set[str] = set()
    for shards in spreads:
        for shard in range(shards):
            # Newest first: what is created meanwhile is not met, and what changes most, the newest,
            # is met before it does.
            for item in _items(kind.list_pk("*", shard, shards), fields or ["pk"], forward=False):
                if moving and item["sk"] in met:
                    continue  # it was moved to another spread since (`reindex`)
                if shards != spreads[-1]:
                    met.add(item["sk"])
                found.update(kind.cells(item))
    return found


def _stored(kind: Kind, counted: Counter[Key]) -> _Cells:
    """The cells beside those counted; of values that no record has, those of the whole kind."""
    found: _Cells = {}
    for pk in {kind.count_pk(), *(pk for pk, _ in counted)}:
        for item in _items(pk, ["sk", "n"]):
            cell, shard = item["sk"].rsplit("#", 1)
            values = cell.split("|")
            # A cell from before a facet was appended to the kind has no value for it.
            values += [""] * (len(kind.counted) - len(values))
            found.setdefault((pk, "|".join(values)), Counter())[shard] += int(item["n"])
    return found


def _items(pk: str, fields: list[str], forward: bool = True) -> Iterator[dict[str, str]]:
    return chain.from_iterable(table.pages(pk, fields=fields, forward=forward))
