"""Reading lists: which of them serve given filters at the lowest cost, and what is in them."""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

from chalicelib.listing.counts import Counts, Where
from chalicelib.listing.index import SEVERAL
from chalicelib.listing.kinds import Kind
from chalicelib.storage import dynamodb, table
from chalicelib.storage.conditions import Attr, Condition, all_of
from chalicelib.storage.dynamodb import DynamoCall

# The cost of one more query, in entries read: a call's CPU compared with 200 bytes each.
_QUERY_COST: Final = 25
# About this many entries fill the 1 MB that a query reads.
_CALL_ENTRIES: Final = 5_000
MOST_COUNTED = 100_000  # keys that are read for a total that no cell has
FEW_LISTS: Final = 3
UNKNOWN: Final = 50_000  # records: the assumed size of a list of unknown size

Read = DynamoCall[table.Rows]
Tallying = DynamoCall[table.Tally]


@dataclass(frozen=True)
class Range:
    """Sorts from `first` up to, but without, `end`; empty: no bound."""

    first: str = ""
    end: str = ""

    def __bool__(self) -> bool:
        return bool(self.first or self.end)

    def holds(self, sort: str) -> bool:
        """Return whether a sort is from `first` on and before `end`; an empty bound is none."""
        return self.first <= sort and (not self.end or sort < self.end)


EVERYTHING: Final = Range()


@dataclass(frozen=True)
class Lists:
    """Lists that together hold the records that match some of the filters, each once.

    `rest`: the remaining filters. `size`: how many records the lists hold; `total`: how many of
    those match; each None if no cell has it. Positions are `<sort>#<id>`.
    """

    kind: Kind
    names: Sequence[str]
    rest: Where
    between: Range = EVERYTHING
    size: int | None = None
    total: int | None = None

    def cost(self, need: int) -> float:
        """Return an estimate of the cost of finding `need` matching records, in entries read.

        A list of unknown size has UNKNOWN records; of an unknown total, it is read whole.
        """
        size = UNKNOWN if self.size is None else self.size
        read = need * size / self.total if self.total else size
        return min(size, read) + _QUERY_COST * len(self.names)

    def first_queries(self, need: int, after: str | None, forward: bool) -> list[Read]:
        """Return the unsent calls, one a partition, that read a first page, to find `need` records.

        Each results in the positions of the matches in the page (`_positions_call`). `after`: the
        position after which it begins; None: at the end of the list where reading begins.
        """
        limit = self._query_limit(need)
        return [self._positions_call(pk, forward, limit, after) for pk in self._partition_keys()]

    def read_positions(
        self,
        need: int,
        *,
        after: str | None = None,
        forward: bool = False,
        read: Sequence[table.Rows] | None = None,
    ) -> Iterator[str]:
        """Yield the positions of matching records, each once, newest first, or oldest if `forward`.

        The first pages are read at the call, the next as the positions are taken, to the end of the
        lists. `need`: how many the caller uses; it only decides how large the pages are. `after`:
        the position that they follow, itself not among them. `read`: the results of `first_queries`
        with the same arguments; None: they are sent here.
        """
        if read is None:
            read = dynamodb.wait_for_results(self.first_queries(need, after, forward))
        limit = self._query_limit(need)
        streams = [
            self._stream_positions(rows, partial(self._positions_call, pk, forward), limit, after)
            for pk, rows in zip(self._partition_keys(), read, strict=True)
        ]
        # A record with several of the values is in several lists. In a range, a key condition
        # cannot exclude `after` itself.
        merged = groupby(heapq.merge(*streams, reverse=not forward))
        return (position for position, _ in merged if position != after)

    def tally_calls(self, look_at_least: int | None) -> list[Tallying]:
        """Return the unsent calls, one a partition, that count the matches among its first keys.

        Only keys within the range `between` are looked at: the same share in each partition,
        together at least `look_at_least` (None: MOST_COUNTED). A match passes the remaining
        filters. A record in two of the lists counts twice.
        """
        pks = self._partition_keys()
        each = -(-(MOST_COUNTED if look_at_least is None else look_at_least) // len(pks))
        where, condition = self._sort_condition(None, forward=True), filter_condition(self.rest)
        return [
            table.tally.call(pk, where=where, matching=condition, look_at_least=each) for pk in pks
        ]

    def count_positions(self) -> int:
        """Read the positions of all matches, and return their number.

        Each counts once, also if it is in two of the lists, unlike in `tally_calls`.
        """
        return sum(1 for _ in self.read_positions(_CALL_ENTRIES))

    def _partition_keys(self) -> list[str]:
        """Return the keys of all partitions of these lists."""
        return [pk for name in self.names for pk in self.kind.list_pks(name)]

    def _query_limit(self, need: int) -> int:
        """Return how many entries to read of one partition to find `need` matches in all of them.

        It has room for an uneven hash, and for entries that filters drop; at most _CALL_ENTRIES.
        """
        part = need / self.kind.list_shards
        if self.rest:
            known = self.size is not None and self.total is not None
            part *= (self.size or 0) / max(1, self.total or 0) if known else 3
        return min(_CALL_ENTRIES, math.ceil(part + 3 * math.sqrt(part)) + 1)

    def _positions_call(
        self, pk: str, forward: bool, limit: int, after: str | None, page: str | None = None
    ) -> Read:
        """Return the unsent call that reads up to `limit` entries of a partition.

        It results in the positions (`sk`) of those that pass the remaining filters. They are in the
        range `between`, and follow the position `page`, where the last page ended, or without one
        `after`; both are part of the condition on `sk`.
        """
        return table.query.call(
            pk,
            where=self._sort_condition(page or after, forward=forward),
            matching=filter_condition(self.rest),
            forward=forward,
            limit=limit,
            fields=("sk",),
        )

    def _sort_condition(self, after: str | None, *, forward: bool) -> Condition | None:
        """Return the condition on `sk` for the range, and for what follows `after`; None: all.

        What follows has greater positions if `forward`, otherwise smaller ones. With a range,
        `after` itself may be among them.
        """
        first, end = self.between.first, self.between.end
        if after is not None and forward:
            first = max(first, after)
        elif after is not None:
            end = min(end or after, after)
        if first and end:  # a cursor that somebody made may be outside
            return table.sk.between(first, max(first, end))
        if after is not None:
            return table.sk.gt(after) if forward else table.sk.lt(after)
        if first:
            return table.sk.gte(first)
        return table.sk.lt(end) if end else None

    def _stream_positions(
        self, rows: table.Rows, read_more: Callable[..., Read], limit: int, after: str | None
    ) -> Iterator[str]:
        """Yield the positions in one partition: of its first page, `rows`, then of larger pages.

        Each page is read when the one before is used up. `read_more(limit, after, end_of_page)`
        returns the unsent call of the next page.
        """
        while True:
            yield from (item["sk"] for item in rows.items)
            if rows.after is None:
                return
            # The matches may all be far away, so large pages save calls.
            limit = min(_CALL_ENTRIES, limit * 4)
            rows = read_more(limit, after, rows.after).wait_for_result()


def serving_lists(kind: Kind, where: Where, between: Range) -> Lists | None:
    """Return the lists to read without asking the counts; None if the counts have to choose.

    These are: a combined list of exactly these filters; the lists of a single filter, if they are
    at most FEW_LISTS; the list of all, if no filter has lists. Any other case is None. Their size
    and total are not set.
    """
    for name, wanted in kind.combined.items():
        if where == {facet: frozenset({value}) for facet, value in wanted.items()}:
            return Lists(kind, [name], {}, between)
    if len(where) == 1:
        ((facet, accepted),) = where.items()
        if names := names_of_lists(kind, facet, accepted):
            other_filters = where if facet == SEVERAL else {}
            return Lists(kind, names, other_filters, between) if len(names) <= FEW_LISTS else None
    if any(names_of_lists(kind, facet, accepted) for facet, accepted in where.items()):
        return None
    return Lists(kind, ["*"], where, between)


def serving_choices(kind: Kind, where: Where, between: Range, known: Counts) -> list[Lists]:
    """Return each choice of lists that hold all matches: any of them may be read.

    They are the list of all, the lists of each filter, and each combined list whose values are just
    those that are asked for; each has the filters that are left to check. `known`: the counts,
    which give the size and the total of each, None if no cell has it. With `between` the total is
    None.
    """
    total = None if between else known.size(where)
    choices = [Lists(kind, ["*"], where, between, known.size({}), total)]
    for facet, accepted in where.items():
        if names := names_of_lists(kind, facet, accepted):
            part = {facet: accepted}
            # Records with too many of several values are in a common list, which is read too.
            other_filters = (
                where if facet == SEVERAL else {f: v for f, v in where.items() if f != facet}
            )
            choices.append(Lists(kind, names, other_filters, between, known.size(part), total))
    for name, wanted in kind.combined.items():
        part = {facet: frozenset({value}) for facet, value in wanted.items()}
        is_asked = all(where.get(facet) == accepted for facet, accepted in part.items())
        if is_asked:
            other_filters = {
                facet: accepted for facet, accepted in where.items() if facet not in part
            }
            choices.append(Lists(kind, [name], other_filters, between, known.size(part), total))
    return choices


def names_of_lists(kind: Kind, facet: str, accepted: frozenset[str]) -> list[str]:
    """Return the names of the lists that hold all records with these values of a facet.

    [] if the facet has no lists, or if "" is accepted: records without a value are in none. The
    facet SEVERAL stands for `kind.several` (`accepted` are then parts of keys, "" none of them);
    its records with too many values are in one more list, `<several>*`, which is always named.
    """
    if facet == SEVERAL:
        values = [f"{kind.several}={value}" for value in sorted(accepted)]
        return [*values, f"{kind.several}*"]
    if facet not in kind.listed or "" in accepted:
        return []
    return [f"{facet}={value}" for value in sorted(accepted)]


def filter_condition(where: Where) -> Condition | None:
    """Return the condition that a list entry passes all of these filters; None for no filters.

    Its attribute of each facet is one of the accepted texts ("" too is stored). Of the facet
    SEVERAL, a set, it contains at least one of them.
    """
    conditions = []
    for facet, accepted in where.items():
        attribute, values = Attr(facet), sorted(accepted)
        if facet == SEVERAL:
            first, *others = (attribute.contains(value) for value in values)
            for other in others:
                first |= other
            conditions.append(first)
        else:
            conditions.append(attribute.is_in(values))
    return all_of(conditions) if conditions else None
