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

    While clients write, a cell is wrong only if no moment of a look would explain it: each time the
    records counted are outside of what it held before and after. A record that is moved to another
    spread meanwhile (`reindex`) may be met twice.
    """
    counted = _counted(kind)
    after = _stored(kind, counted)
    suspects = {cell for cell in {*counted, *after} if counted[cell] != after[cell]}
    for _ in range(_LOOKS - 1):
        if not suspects:
            break
        before, counted = after, _counted(kind)
        after = _stored(kind, counted)
        suspects = {
            cell
            for cell in suspects
            if not min(before[cell], after[cell]) <= counted[cell] <= max(before[cell], after[cell])
        }
    records = sum(n for (pk, _), n in counted.items() if pk == kind.count_pk())
    return Recount(records, [Wrong(cell, after[cell], counted[cell]) for cell in sorted(suspects)])


def repair(wrong: Iterable[Wrong]) -> None:
    """Adds to each cell what it lacks, beside whoever counts in it at the same time."""
    for one in wrong:
        pk, cell = one.cell
        table.update((pk, f"{cell}#0"), add={"n": one.counted - one.stored})


def _counted(kind: Kind) -> Counter[Key]:
    """How many records belong to each cell, by the facets in their list entries."""
    fields = {*kind.counted, kind.under} - {None} or {"pk"}
    found: Counter[Key] = Counter()
    for shards in list_shards():
        for shard in range(shards):
            for item in _items(kind.list_pk("*", shard, shards), [str(field) for field in fields]):
                found.update(kind.cells(item))
    return found


def _stored(kind: Kind, counted: Counter[Key]) -> Counter[Key]:
    """The cells beside those counted; of values that no record has, those of the whole kind."""
    found: Counter[Key] = Counter()
    for pk in {kind.count_pk(), *(pk for pk, _ in counted)}:
        for item in _items(pk, ["sk", "n"]):
            values = item["sk"].rsplit("#", 1)[0].split("|")
            # A cell from before a facet was appended to the kind has no value for it.
            values += [""] * (len(kind.counted) - len(values))
            found[pk, "|".join(values)] += int(item["n"])
    return found


def _items(pk: str, fields: list[str]) -> Iterator[dict[str, str]]:
    return chain.from_iterable(table.pages(pk, fields=fields))
