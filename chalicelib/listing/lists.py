"""Reading lists: which of them serve given filters for the least, and what stands in them."""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

from chalicelib import table
from chalicelib.conditions import Attr, Condition, all_of
from chalicelib.listing.counts import Counts, Where
from chalicelib.listing.kinds import Kind, list_shards

# What one more query costs, in entries read: a round trip's CPU against 150 bytes each.
_QUERY_COST: Final = 25
# About as many entries fill the 1 MB that a query looks at.
_CALL_ENTRIES: Final = 6_000


@dataclass(frozen=True)
class Lists:
    """Lists that together hold what some of the filters ask for, each record once.

    `rest`: the filters that are left to apply. `size`: how many records they hold; `total`: how
    many of those pass. Positions are `<sort>#<id>`.
    """

    kind: Kind
    names: list[str]
    rest: Where
    size: int
    total: int

    def cost(self, need: int) -> float:
        """Of finding `need` records that pass, in entries read."""
        read = need * self.size / self.total if self.total else self.size
        return min(self.size, read) + _QUERY_COST * len(self.names)

    def positions(
        self, need: int, *, after: str | None = None, backwards: bool = False
    ) -> Iterator[str]:
        """Where the records stand that pass, newest first or `backwards`, behind `after`; made for
        a caller who takes `need` of them."""
        forward, condition = backwards, _filter(self.rest)

        def read(pk: str, limit: int, behind: str | None) -> table.Rows:
            started = table.sk.gt(behind) if forward else table.sk.lt(behind)
            return table.query(
                pk,
                where=started if behind else None,
                filter=condition,
                forward=forward,
                limit=limit,
                fields=("sk",),
            )

        streams = []
        # Old partitions first: a record that moves to the new ones meanwhile is met at least once.
        for shards in list_shards():
            # A shard's part, with room for an uneven hash; more where filters drop some of it.
            part = (need * self.size / self.total if self.rest and self.total else need) / shards
            limit = min(_CALL_ENTRIES, math.ceil(part + 3 * math.sqrt(part)) + 1)
            names = [
                self.kind.list_pk(name, at, shards) for name in self.names for at in range(shards)
            ]
            firsts = table.together([partial(read, pk, limit, after) for pk in names])
            streams += [
                _stream(rows, partial(read, pk), limit)
                for pk, rows in zip(names, firsts, strict=True)
            ]
        merged = heapq.merge(*streams, reverse=not forward)
        return (position for position, _ in groupby(merged))  # … or twice


def _stream(
    rows: table.Rows, read: Callable[[int, str | None], table.Rows], limit: int
) -> Iterator[str]:
    while True:
        yield from (item["sk"] for item in rows.items)
        if rows.after is None:
            return
        # What passes may all be far away: the fewer calls, the further.
        limit = min(_CALL_ENTRIES, limit * 4)
        rows = read(limit, rows.after)


def choices(kind: Kind, where: Where, known: Counts) -> list[Lists]:
    """Every way in which the lists can serve these filters."""
    found = [Lists(kind, ["*"], where, known.size({}), known.total)]

    def add(names: list[str], part: Where) -> None:
        rest = {facet: accepted for facet, accepted in where.items() if facet not in part}
        found.append(Lists(kind, names, rest, known.size(part), known.total))

    for facet in kind.listed:
        accepted = where.get(facet, frozenset())
        if accepted and "" not in accepted:
            add([f"{facet}={value}" for value in sorted(accepted)], {facet: accepted})
    for name, wanted in kind.combined.items():
        part = {facet: frozenset({value}) for facet, value in wanted.items()}
        if all(where.get(facet) == accepted for facet, accepted in part.items()):
            add([name], part)
    return found


def _filter(where: Where) -> Condition | None:
    conditions = []
    for facet, accepted in where.items():
        attribute = Attr(facet)
        values = sorted(accepted)
        conditions.append(attribute.eq(values[0]) if len(values) == 1 else attribute.is_in(values))
    return all_of(conditions) if conditions else None
