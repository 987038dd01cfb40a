"""How many records there are, by facet: read from the count cells."""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.attributes import Item
from chalicelib.listing.kinds import Kind

Where = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Counts:
    """The cells that a list with filters needs: of the whole kind, and under the values asked."""

    kind: Kind
    where: Where
    cells: list[tuple[dict[str, str], int]]
    under: list[tuple[dict[str, str], int]]

    @property
    def total(self) -> int:
        """How many records match all filters; no fewer than none, though half of a change may be
        in what was read."""
        return max(0, self.size(self.where))

    def size(self, where: Where) -> int:
        """How many records a list holds that is defined by `where`, a part of the filters."""
        under = self.kind.under
        cells = self.under if under in where else self.cells
        rest = {facet: accepted for facet, accepted in where.items() if facet != under}
        return sum(
            n
            for facets, n in cells
            if all(facets[facet] in accepted for facet, accepted in rest.items())
        )


def reads(kind: Kind, where: Where) -> list[str]:
    """The partitions to read, at the same time, for `counts`."""
    values = sorted(where.get(kind.under, ())) if kind.under else []
    return [kind.count_pk(), *(kind.count_pk(value) for value in values)]


def counts(kind: Kind, where: Where, read: list[list[Item]]) -> Counts:
    """From what was read of the partitions that `reads` named, in its order."""
    main, *under = [_cells(kind, items) for items in read]
    return Counts(kind, where, main, [cell for cells in under for cell in cells])


def _cells(kind: Kind, items: list[Item]) -> list[tuple[dict[str, str], int]]:
    cells = []
    for item in items:
        values = item["sk"].rsplit("#", 1)[0].split("|")
        # A cell from before a facet was appended to the kind has no value for it.
        facets = dict.fromkeys(kind.counted, "") | dict(zip(kind.counted, values, strict=False))
        cells.append((facets, int(item["n"])))
    return cells
