"""The positions of a page: which lists to read, from which end, and which entries match."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Generic

from chalicelib.listing import lists
from chalicelib.listing.counts import Counts, Where, count_calls, counts, is_counted
from chalicelib.listing.index import SEVERAL
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import Lists, choices, serving
from chalicelib.listing.query import Load, Query, R
from chalicelib.listing.search import ENTRIES_A_RECORD, Found, Matches, matches, verified
from chalicelib.problems import Invalid
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.dynamodb import DynamoCall
from chalicelib.values.batches import batches

# A batch-get of an entry costs one read unit; for that, a query reads this many entries.
_ENTRIES_A_UNIT: Final = 20
# Records that are in memory at once while a search checks many.
_LOADED_AT_ONCE: Final = 500
_NEAR = 500  # records: up to here from the beginning, the list is read together with its total
_FEW = 300  # records: up to this many are loaded and sorted, instead of reading a list of all
_PROBE: Final = 10_000  # keys


@dataclass(frozen=True)
class Slice:
    """The positions of a page; whether more follow; the total, and whether it is a lower bound."""

    positions: list[str]
    follows: bool
    total: int
    at_least: bool = False


@dataclass(frozen=True)
class Listing(Generic[R]):
    """One request. `after`: the position that its cursor names.

    | question | what is read, each line after the one before | round trips |
    |---|---|---|
    | at most one filter, up to result 500 | its list and the counts | 1 |
    | … whose number no cell has | its list, all of its keys and the counts | 1 |
    | another order without a filter | the list with that order and the counts | 1 |
    | several filters, more than three values, or further on | the counts | |
    | | the cheapest list, from the nearer end | 2 |
    | a tag and other filters | the counts, and the keys of the tag | |
    | | the cheapest list, from the nearer end | 2 |
    | another order and a filter, few matches | the counts | |
    | | the cheapest list, whole | |
    | | the records of all matches, sorted here | 3 |
    | another order and a filter, many matches | the counts | |
    | | the list with that order, until the page is full | 2 |
    | a search | the entries of its words | 1 |
    | a search and a filter, few found | the words and the counts | |
    | | the list entries of what was found | 2 |
    | … more than a twentieth of the filter's list | the words and the counts | |
    | | the filter's list, whole | 2 |
    | a search with a term that is too broad | the words | |
    | | the records that the other terms found | 2 |

    The records of the page are one more.
    """

    kind: Kind
    query: Query
    where: Where
    after: str | None
    load: Load[R]

    @property
    def skip(self) -> int:
        return 0 if self.after else (self.query.page - 1) * self.query.limit

    @property
    def need(self) -> int:
        """Includes one more, to see whether more follow."""
        return self.skip + self.query.limit + 1

    # --- Without a search -------------------------------------------------------------------------

    def browsed(self) -> Slice:
        one = self._serving()
        if one is None or self.skip + self.query.limit > _NEAR:
            return self._planned()
        cells = count_calls(self.kind, self.where, for_total=True)
        results = dynamodb.wait_for_results(
            [*cells, *self._calls(one, is_counted=self._is_counted)]
        )
        known = counts(self.kind, self.where, results[: len(cells)], for_total=True)
        total = known.size(self.where) if self._is_counted else None
        return self._page(one, total, results[len(cells) :])

    def _serving(self) -> Lists | None:
        if not self.query.order:
            return serving(self.kind, self.where, self.query.between)
        if self.where or self.query.between:
            return None
        return Lists(self.kind, [f"*{self.query.order}"], {})

    @property
    def _is_counted(self) -> bool:
        """Whether cells have the total; otherwise it is counted from keys."""
        return is_counted(self.kind, self.where) and not self.query.between

    def _tallies(self, some: Lists, most: int | None = None) -> list[lists.Tallying]:
        # If a record may be in two of the lists, records are counted by position.
        is_once = len(self.where.get(SEVERAL, ())) < 2
        return some.tallies(most or self.query.most_counted) if is_once else []

    def _calls(self, base: Lists, *, is_counted: bool) -> list[DynamoCall[Any]]:
        """What to read for `_page`."""
        reads = base.reads(self.need, self.after, self.query.forward)
        return reads if is_counted else [*self._tallies(base), *reads]

    def _page(self, base: Lists, total: int | None, results: Sequence[Any]) -> Slice:
        tallied = [one for one in results if isinstance(one, table.Tally)]
        at_least = False
        if total is None:
            total, at_least = _sum(tallied) if tallied else (base.counted(), False)
        read = results[len(tallied) :]
        found = base.positions(self.need, after=self.after, forward=self.query.forward, read=read)
        return self._slice(islice(found, self.skip, self.need), total, at_least)

    def _planned(self) -> Slice:
        """First the counts, then the cheapest lists by them."""
        probe, probing = None, list[lists.Tallying]()
        if SEVERAL in self.where:
            several = {SEVERAL: self.where[SEVERAL]}
            probe = serving(self.kind, several, self.query.between)
        if probe is not None:
            probing = self._tallies(replace(probe, rest=self.where), _PROBE)
        results = dynamodb.wait_for_results([*probing, *count_calls(self.kind, self.where)])
        probed, results = results[: len(probing)], results[len(probing) :]
        known = counts(self.kind, self.where, results)
        ways = choices(self.kind, self.where, self.query.between, known)
        if probe and probed:
            ways = [_sized(way, probe, probed) for way in ways]
        total = None if self.query.between else known.size(self.where)
        if probed and all(part.whole for part in probed):
            total = sum(part.passed for part in probed)
        if self.query.order:
            return self._ordered(ways, total, known)
        return self._read(min(ways, key=lambda way: way.cost(self.need)), total)

    def _read(self, base: Lists, total: int | None) -> Slice:
        """The page, from these lists; counts their records unless the total is known."""
        query = self.query
        if total is not None and self.skip >= total and not self.after:
            return Slice([], False, total)
        if total is None and self.skip > lists.MOST_COUNTED:
            message = f"is beyond the first {lists.MOST_COUNTED:,} records; use the cursor"
            raise Invalid.field("page", "too_deep", message)
        # From the nearer end, so the last pages cost as little as the first. The first page is
        # never read from the oldest: if an older record came since the total was read, the newest
        # would be missed.
        following = 0 if total is None else max(0, total - self.skip - query.limit)
        backwards = total is not None and self.after is None and following < self.skip
        if backwards and total is not None:
            take = min(query.limit, total - self.skip)
            found = base.positions(following + take, forward=not query.forward)
            positions = list(islice(found, following, following + take))[::-1]
            return Slice(positions, following > 0, total)
        calls = self._calls(base, is_counted=total is not None)
        return self._page(base, total, dynamodb.wait_for_results(calls))

    def _ordered(self, ways: list[Lists], total: int | None, known: Counts) -> Slice:
        """In another order: few records are loaded and sorted; otherwise from the list of all."""
        size = known.size({}) or 0
        few = total is not None and total <= _FEW
        # Reads the list in that order, or loads the matches, whichever is cheaper.
        few = few and (total or 0) ** 2 * ENTRIES_A_RECORD <= self.need * size
        if self.query.between or few:
            need = lists.UNKNOWN if total is None else total + 1
            base = min(ways, key=lambda way: way.cost(need))
            return self._sorted([id_of(position) for position in base.positions(need)])
        order = [f"*{self.query.order}"]
        return self._read(Lists(self.kind, order, self.where, size=size, total=total), total)

    def _sorted(self, ids: list[str]) -> Slice:
        """These records in another order, by their own values."""
        found = [
            self.query.position(record)
            for record in self._loaded(ids)
            if record.index.passes(self.where) and self.query.between.holds(record.index.sort)
        ]
        return self._cut(found, len(found))

    def _loaded(self, ids: list[str]) -> Iterator[R]:
        """As few in memory as one call loads."""
        for some in batches(ids, _LOADED_AT_ONCE):
            yield from self.load(list(some))

    # --- With a search ----------------------------------------------------------------------------

    def searched(self, terms: list[str]) -> Slice:
        where = self.where
        is_filtered = bool(where or self.query.order)
        matching, unchecked, known = matches(self.kind, where, terms, is_filtered)
        if self.query.between:
            matching.keep(self.query.between.holds)
        if unchecked:
            found = self._checked(verified(self.kind, matching, all_of=False)[0], unchecked)
        else:
            found = self._filtered(matching, known if where else None)
        if self.query.order and known:
            return self._found_in_order(found, matching.at_least, known)
        positions = [f"{sort}#{id}" for id, sort in found.items()]
        return self._cut(positions, len(positions), matching.at_least)

    def _checked(self, found: Found, terms: list[str]) -> Found:
        """Those whose records match the filters and these terms too."""
        records = self._loaded(list(found))
        return {one.id: found[one.id] for one in records if one.index.matches(self.where, terms)}

    def _filtered(self, matching: Matches, known: Counts | None) -> Found:
        """Those that match the filters: by their entries, or by a whole list if that is cheaper."""
        if known is None:
            return verified(self.kind, matching, all_of=False)[0]
        total = known.size(self.where)
        if total == 0:
            return {}
        ways = choices(self.kind, self.where, self.query.between, known)
        sized = [way for way in ways if way.size is not None]
        smallest = min(sized, key=lambda way: way.size or 0)
        if len(matching) * _ENTRIES_A_UNIT > (smallest.size or 0):
            found, _ = verified(self.kind, matching, all_of=False)
            passing = map(id_of, smallest.positions(total or smallest.size or 0))
            return {id: found[id] for id in passing if id in found}
        found, entries = verified(self.kind, matching, all_of=True)
        return {id: found[id] for id in entries if _passes(entries[id], self.where)}

    def _found_in_order(self, found: Found, at_least: bool, known: Counts) -> Slice:
        if len(found) * ENTRIES_A_RECORD <= max(_FEW * ENTRIES_A_RECORD, known.size({}) or 0):
            in_order = self._sorted(list(found))
            return Slice(in_order.positions, in_order.follows, in_order.total, at_least)
        every = Lists(self.kind, [f"*{self.query.order}"], {}, size=known.size({}))
        positions = [
            position
            for position in every.positions(known.size({}) or 0)
            if id_of(position) in found
        ]
        return self._cut(positions, len(positions), at_least)

    # --- Both -------------------------------------------------------------------------------------

    def _cut(self, positions: list[str], total: int, at_least: bool = False) -> Slice:
        """The page, from all positions."""
        in_order = self.query.in_order(positions, self.after)
        return self._slice(iter(in_order[self.skip : self.need]), total, at_least)

    def _slice(self, found: Iterable[str], total: int, at_least: bool) -> Slice:
        positions = list(found)
        limit = self.query.limit
        return Slice(positions[:limit], len(positions) > limit, total, at_least)


def id_of(position: str) -> str:
    return position.rsplit("#", 1)[1]


def _sum(tallied: list[table.Tally]) -> tuple[int, bool]:
    """The total, and whether it is a lower bound."""
    passed, whole = sum(part.passed for part in tallied), all(part.whole for part in tallied)
    return (passed, False) if whole else (min(passed, lists.MOST_COUNTED), True)


def _sized(way: Lists, probe: Lists, probed: list[table.Tally]) -> Lists:
    """With the size that was counted."""
    if list(way.names) != list(probe.names):
        return way
    whole = all(part.whole for part in probed)
    size = sum(part.looked for part in probed) if whole else lists.UNKNOWN
    return replace(way, size=size)


def _passes(entry: Item, where: Where) -> bool:
    return all(
        not accepted.isdisjoint(entry.get(SEVERAL, ()))
        if facet == SEVERAL
        else entry.get(facet, "") in accepted
        for facet, accepted in where.items()
    )
