"""Whether the totals of a kind are what its list says. One transaction writes both, so they are,
unless code was wrong or somebody wrote into the table by hand."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, Final, TypeVar

from chalicelib import table
from chalicelib.attributes import Key
from chalicelib.listing.entries import Kind, list_shards

K = TypeVar("K")
Number = int | Decimal
Numbers = Mapping[K, Any]  # of Number; what is not in it is 0, as in a Counter
_LOOKS: Final = 3


@dataclass(frozen=True)
class Wrong:
    """A count cell: what its `attribute` holds, and what the records that belong to it make."""

    cell: Key
    stored: Number
    counted: Number
    attribute: str = "n"

    @property
    def name(self) -> str:
        return "/".join(self.cell) + (f" {self.attribute}" if self.attribute != "n" else "")


@dataclass(frozen=True)
class Recount:
    records: int
    wrong: list[Wrong]


def recount(kind: Kind) -> Recount:
    """Reads the list of all records. A record that is moved to another spread meanwhile (`reindex`)
    may be met twice."""

    def look() -> tuple[Numbers[Key], Numbers[Key]]:
        counted = _counted(kind)
        return counted, _stored(kind, counted)

    counted, stored, wrong = disagreement(look)
    records = sum(n for (pk, _), n in counted.items() if pk == kind.count_pk())
    return Recount(records, [Wrong(cell, stored[cell], counted[cell]) for cell in sorted(wrong)])


def disagreement(
    look: Callable[[], tuple[Numbers[K], Numbers[K]]],
) -> tuple[Numbers[K], Numbers[K], set[K]]:
    """What the last look found, and which numbers are wrong.

    `look` counts, then reads what is stored. It is done once; again, up to three times, where the
    two differ. While clients write, a number is wrong only if no moment of a look would explain it:
    each time what was counted is outside of what was stored before and after.
    """
    counted, after = look()
    suspects = {cell for cell in {*counted, *after} if counted[cell] != after[cell]}
    for _ in range(_LOOKS - 1):
        if not suspects:
            break
        before = after
        counted, after = look()
        suspects = {
            cell
            for cell in suspects
            if not min(before[cell], after[cell]) <= counted[cell] <= max(before[cell], after[cell])
        }
    return counted, after, suspects


def repair(wrong: Iterable[Wrong]) -> None:
    """Adds to each cell what it lacks, beside whoever counts in it at the same time."""
    for one in wrong:
        pk, cell = one.cell
        table.update((pk, f"{cell}#0"), add={one.attribute: one.counted - one.stored})


def since(kind: Kind, sort: str, fields: Sequence[str]) -> Iterator[dict[str, str]]:
    """The entries of the list of all records whose sort is not before this one: `sk`, and these
    facets. A record that is moved to another spread meanwhile may be met twice."""
    for shards in list_shards():
        for shard in range(shards):
            pk = kind.list_pk("*", shard, shards)
            yield from _items(pk, ["sk", *fields], where=table.sk.gte(sort))


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


def _items(pk: str, fields: list[str], **options: Any) -> Iterator[dict[str, str]]:
    return chain.from_iterable(table.pages(pk, fields=fields, **options))
