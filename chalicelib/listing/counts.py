"""How many records there are, by facet: read from the count cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chalicelib.listing.kinds import FIRST, Kind, format_of
from chalicelib.problems import Problem
from chalicelib.storage.attributes import Item

Where = Mapping[str, frozenset[str]]
Cells = list[tuple[dict[str, str], int]]


class Reindexing(Problem):
    """503: records are being reindexed for this filter or sort order (`infra/reindex.py`)."""

    status, code = 503, "reindexing"


@dataclass(frozen=True)
class Counts:
    """The cells that a list with filters needs: of the whole kind, and under the requested values.
    `oldest`: the oldest format in which a record may be indexed."""

    kind: Kind
    where: Where
    cells: Cells
    under: Mapping[str, Cells]
    oldest: int

    def size(self, where: Where) -> int | None:
        """How many records match `where`, a part of the filters; None if no cells have it. At least
        0, though half of a change may have been read."""
        apart = [facet for facet in where if facet in self.under]
        if len(apart) > 1 or not where.keys() <= {*self.kind.counted, *apart}:
            return None
        if apart and "" in where[apart[0]]:
            return None
        cells = self.under[apart[0]] if apart else self.cells
        rest = {facet: accepted for facet, accepted in where.items() if facet not in apart}
        return max(
            0,
            sum(
                n
                for facets, n in cells
                if all(facets[facet] in accepted for facet, accepted in rest.items())
            ),
        )

    def has(self, feature: str) -> bool:
        """Whether all records are indexed for a facet, a combined list or an order."""
        return self.kind.since.get(feature, FIRST) <= self.oldest

    def require(self, asked: set[str]) -> None:
        """Raises Reindexing for features for which not all records are indexed yet."""
        if late := sorted(feature for feature in asked if not self.has(feature)):
            names = [f"sorting by {name[1:]}" if name[0] == "*" else name for name in late]
            message = f"Not available yet: {', '.join(names)}. Records are being reindexed."
            raise Reindexing(f"{message} Try again later.", headers={"Retry-After": "60"})


def places(kind: Kind, where: Where) -> list[str]:
    """The partitions to read, at the same time, for `counts`."""
    under = [(facet, value) for facet in kind.under for value in sorted(where.get(facet, ()))]
    return [kind.count_pk(), *(kind.count_pk(facet, value) for facet, value in under)]


def counts(kind: Kind, where: Where, read: list[list[Item]]) -> Counts:
    """From the contents of the partitions named by `places`, in its order."""
    main, *rest = map(_summed, read)
    under: dict[str, Cells] = {}
    parts = iter(rest)
    for facet in kind.under:
        if facet in where:
            under[facet] = [cell for _ in where[facet] for cell in _cells(kind, next(parts))]
    return Counts(kind, where, _cells(kind, main), under, oldest(kind, main))


def oldest(kind: Kind, cells: Iterable[str]) -> int:
    """The oldest format of these cells of the whole kind. Reindexing removes those of older formats
    (`formats.retire`); a record that old code writes afterwards brings one back."""
    return min(map(format_of, cells), default=kind.format)


def _summed(items: list[Item]) -> dict[str, int]:
    """The number in each cell, summed over its shards."""
    found: dict[str, int] = {}
    for item in items:
        name = item["sk"].rsplit("#", 1)[0]
        found[name] = found.get(name, 0) + int(item.get("n", 0))
    return found


def _cells(kind: Kind, summed: Mapping[str, int]) -> Cells:
    return [(kind.cell_facets(name), n) for name, n in summed.items()]
