"""The positions of a page: which lists to read, from which end, and which entries match."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Generic

from chalicelib.listing import lists
from chalicelib.listing.counts import Counts, Where, count_calls, is_counted, sum_counts
from chalicelib.listing.index import SEVERAL
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import Lists, serving_choices, serving_lists
from chalicelib.listing.query import Load, Query, R
from chalicelib.listing.search import ENTRIES_A_RECORD, Found, Matches, match_terms, verify_matches
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
    | a range of another order | the list with that order, and all of its keys in the range | 1 |
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
        """How many positions come before the page, by its number; 0 after a cursor."""
        return 0 if self.after else (self.query.page - 1) * self.query.limit

    @property
    def need(self) -> int:
        """How many matches to find: those up to the end of the page, and one more."""
        return self.skip + self.query.limit + 1

    # --- Without a search -------------------------------------------------------------------------

    def browse_positions(self) -> Slice:
        """Read the positions of the page of a list without a search, and the total.

        Within a range of another order (`query.within`), only the list with that order is read, and
        its keys are counted. Otherwise, if it is clear which lists to read, and the page is near
        the beginning, one round trip reads them and the total; if not, the counts choose the lists
        (`_read_cheapest`).
        """
        if self.query.within:
            order = [f"*{self.query.order}"]
            return self._read_slice(Lists(self.kind, order, self.where, self.query.within), None)
        quick = self._serving_lists()
        if quick is None or self.skip + self.query.limit > _NEAR:
            return self._read_cheapest()
        cells = count_calls(self.kind, self.where, for_total=True)
        results = dynamodb.wait_for_results(
            [*cells, *self._slice_calls(quick, is_counted=self._has_total_in_cells)]
        )
        known = sum_counts(self.kind, self.where, results[: len(cells)], for_total=True)
        total = known.size(self.where) if self._has_total_in_cells else None
        return self._slice_results(quick, total, results[len(cells) :])

    def _serving_lists(self) -> Lists | None:
        """Return the lists to read at once, before any count; None if counts have to choose.

        For another order than the kind's that is its list, only without filters and range.
        """
        if not self.query.order:
            return serving_lists(self.kind, self.where, self.query.between)
        if self.where or self.query.between:
            return None
        return Lists(self.kind, [f"*{self.query.order}"], {})

    @property
    def _has_total_in_cells(self) -> bool:
        """Return whether cells have the total of the filters; otherwise keys are counted.

        No cell has it with `between`.
        """
        return is_counted(self.kind, self.where) and not self.query.between

    def _tally_calls(self, base: Lists, look_at_least: int | None = None) -> list[lists.Tallying]:
        """Return the unsent calls that count the matches in these lists; [] if some count twice.

        They do with two values of the facet with several: a record can be in both lists.
        `look_at_least`: how many keys are looked at, of all partitions together; None: as many as
        the query says (`most_counted`).
        """
        # If a record may be in two of the lists, records are counted by position.
        is_once = len(self.where.get(SEVERAL, ())) < 2
        return base.tally_calls(look_at_least or self.query.most_counted) if is_once else []

    def _slice_calls(self, base: Lists, *, is_counted: bool) -> list[DynamoCall[Any]]:
        """Return the unsent calls for a page of these lists; `_slice_results` takes their results.

        Unless `is_counted`, calls that count the matches come first.
        """
        reads = base.first_queries(self.need, self.after, self.query.forward)
        return reads if is_counted else [*self._tally_calls(base), *reads]

    def _slice_results(self, base: Lists, total: int | None, results: Sequence[Any]) -> Slice:
        """Return the page from the results of `_slice_calls`; read on if the first pages are short.

        `total`: None if it is not known; then it is the sum of the tallies, and only a lower bound
        if one of them is, or if there are none, all positions are read and counted.
        """
        tallied = [result for result in results if isinstance(result, table.Tally)]
        at_least = False
        if total is None:
            total, at_least = _sum_tallies(tallied) if tallied else (base.count_positions(), False)
        read = results[len(tallied) :]
        positions = base.read_positions(
            self.need, after=self.after, forward=self.query.forward, read=read
        )
        return self._cut_to_limit(islice(positions, self.skip, self.need), total, at_least)

    def _read_cheapest(self) -> Slice:
        """Read the counts, and then the page from the lists that cost least by these counts.

        With values of the facet with several, a probe also looks at up to _PROBE keys of their list
        in the same round trip, only to count: if it reaches the end, it has the list's size and the
        total. With `between` and no such probe, the total is not known. Another order than the
        kind's: `_read_in_order`.
        """
        probe, probing = None, list[lists.Tallying]()
        if SEVERAL in self.where:
            several = {SEVERAL: self.where[SEVERAL]}
            probe = serving_lists(self.kind, several, self.query.between)
        if probe is not None:
            probing = self._tally_calls(replace(probe, rest=self.where), _PROBE)
        results = dynamodb.wait_for_results([*probing, *count_calls(self.kind, self.where)])
        probed, results = results[: len(probing)], results[len(probing) :]
        known = sum_counts(self.kind, self.where, results)
        ways = serving_choices(self.kind, self.where, self.query.between, known)
        if probe and probed:
            ways = [_with_probed_size(way, probe, probed) for way in ways]
        total = None if self.query.between else known.size(self.where)
        if probed and all(part.whole for part in probed):
            total = sum(part.passed for part in probed)
        if self.query.order:
            return self._read_in_order(ways, total, known)
        return self._read_slice(min(ways, key=lambda way: way.cost(self.need)), total)

    def _read_slice(self, base: Lists, total: int | None) -> Slice:
        """Read the page from these lists, from the nearer end if the total is known.

        With `total` None, its records are counted too. A page beyond a known total is empty,
        without a read. Raises Invalid for a page too deep to be counted.
        """
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
            read = base.read_positions(following + take, forward=not query.forward)
            positions = list(islice(read, following, following + take))[::-1]
            return Slice(positions, following > 0, total)
        calls = self._slice_calls(base, is_counted=total is not None)
        return self._slice_results(base, total, dynamodb.wait_for_results(calls))

    def _read_in_order(self, ways: list[Lists], total: int | None, known: Counts) -> Slice:
        """Read the page in another order than the kind's.

        With `between`, or if there are so few matches that it is cheaper, the cheapest lists are
        read and all their records loaded and sorted; otherwise the list with that order is read.
        `ways`: the choices of lists; `known`: the counts.
        """
        size = known.size({}) or 0
        few = total is not None and total <= _FEW
        few = few and (total or 0) ** 2 * ENTRIES_A_RECORD <= self.need * size
        if self.query.between or few:
            need = lists.UNKNOWN if total is None else total + 1
            base = min(ways, key=lambda way: way.cost(need))
            return self._sort_records([id_of(position) for position in base.read_positions(need)])
        order = [f"*{self.query.order}"]
        return self._read_slice(Lists(self.kind, order, self.where, size=size, total=total), total)

    def _sort_records(self, ids: list[str]) -> Slice:
        """Load all of these records, and return the page of those that match now, sorted.

        The total is the number of those. Filters and range are compared, not the search.
        """
        positions = [
            self.query.position_of(record)
            for record in self._load_in_parts(ids)
            if record.index.passes_filters(self.where) and self.query.holds(record.index)
        ]
        return self._slice_positions(positions, len(positions))

    def _load_in_parts(self, ids: list[str]) -> Iterator[R]:
        """Yield the records with these ids, loaded in parts to save memory."""
        for part in batches(ids, _LOADED_AT_ONCE):
            yield from self.load(list(part))

    # --- With a search ----------------------------------------------------------------------------

    def search_positions(self, terms: list[str]) -> Slice:
        """Read the positions of the page of a search, and the total, all in the requested order.

        `terms`: of the search, folded; at least one. Raises TooBroad.
        """
        where = self.where
        is_filtered = bool(where or self.query.order)
        matching, unchecked, known = match_terms(self.kind, where, terms, is_filtered)
        if self.query.between:
            matching.keep(self.query.between.holds)
        if unchecked:
            matches = self._load_and_filter(
                verify_matches(self.kind, matching, read_all_entries=False)[0], unchecked
            )
        else:
            matches = self._verify_and_filter(matching, known if where else None)
        if self.query.order and known:
            return self._sort_found(matches, matching.at_least, known)
        positions = [f"{sort}#{id}" for id, sort in matches.items()]
        return self._slice_positions(positions, len(positions), matching.at_least)

    def _load_and_filter(self, matches: Found, terms: list[str]) -> Found:
        """Load the found records; return {id: sort} of those that pass the filters and terms.

        The sort is the one under which it was found. The range is not compared, nor are the other
        words of the search.
        """
        records = self._load_in_parts(list(matches))
        return {
            record.id: matches[record.id]
            for record in records
            if record.index.matches(self.where, terms)
        }

    def _verify_and_filter(self, matching: Matches, known: Counts | None) -> Found:
        """Return {id: sort} of the matches that no failed write left, and that pass the filters.

        `known`: the counts; None if there are no filters: all verified ones pass. If it counts no
        record, nothing is read. Otherwise the list entries of the matches are read, or the smallest
        list whole if that is cheaper.
        """
        if known is None:
            return verify_matches(self.kind, matching, read_all_entries=False)[0]
        total = known.size(self.where)
        if total == 0:
            return {}
        ways = serving_choices(self.kind, self.where, self.query.between, known)
        sized = [way for way in ways if way.size is not None]
        smallest = min(sized, key=lambda way: way.size or 0)
        if len(matching) * _ENTRIES_A_UNIT > (smallest.size or 0):
            verified, _ = verify_matches(self.kind, matching, read_all_entries=False)
            passing = map(id_of, smallest.read_positions(total or smallest.size or 0))
            return {id: verified[id] for id in passing if id in verified}
        verified, entries = verify_matches(self.kind, matching, read_all_entries=True)
        return {id: verified[id] for id in entries if _entry_passes(entries[id], self.where)}

    def _sort_found(self, matches: Found, at_least: bool, known: Counts) -> Slice:
        """Return the page of the found records in another order; `at_least` is passed on.

        It loads them all, and sorts those that match the filters now (`_sort_records`). If they are
        more than are cheap to load, it reads the whole list in that order instead, and keeps the
        found ones.
        """
        if len(matches) * ENTRIES_A_RECORD <= max(_FEW * ENTRIES_A_RECORD, known.size({}) or 0):
            in_order = self._sort_records(list(matches))
            return Slice(in_order.positions, in_order.follows, in_order.total, at_least)
        order = [f"*{self.query.order}"]
        every = Lists(self.kind, order, {}, self.query.within, size=known.size({}))
        positions = [
            position
            for position in every.read_positions(known.size({}) or 0)
            if id_of(position) in matches
        ]
        return self._slice_positions(positions, len(positions), at_least)

    # --- Both -------------------------------------------------------------------------------------

    def _slice_positions(self, positions: list[str], total: int, at_least: bool = False) -> Slice:
        """Return the page, from the positions of all matches in any order; nothing is read.

        They are sorted here; it begins after the cursor's position, or `skip` positions from the
        start.
        """
        in_order = self.query.sort_positions(positions, self.after)
        return self._cut_to_limit(iter(in_order[self.skip : self.need]), total, at_least)

    def _cut_to_limit(self, following: Iterable[str], total: int, at_least: bool) -> Slice:
        """Return the first `limit` of these positions, and whether more follow them.

        `following` begins with the positions of the page; all of it is read.
        """
        positions = list(following)
        limit = self.query.limit
        return Slice(positions[:limit], len(positions) > limit, total, at_least)


def id_of(position: str) -> str:
    """Return the id of the record at a position: what follows its last #."""
    return position.rsplit("#", 1)[1]


def _sum_tallies(tallied: list[table.Tally]) -> tuple[int, bool]:
    """Return how many passed in all partitions, and whether there may be more in them.

    In the second case they are MOST_COUNTED at most.
    """
    passed, whole = sum(part.passed for part in tallied), all(part.whole for part in tallied)
    return (passed, False) if whole else (min(passed, lists.MOST_COUNTED), True)


def _with_probed_size(way: Lists, probe: Lists, probed: list[table.Tally]) -> Lists:
    """Return `way` with the size that the probe found; unchanged if it reads other lists.

    The size is UNKNOWN if the probe did not reach the end of the lists. `probe`: the lists that it
    read; `probed`: what it found in each partition.
    """
    if list(way.names) != list(probe.names):
        return way
    whole = all(part.whole for part in probed)
    size = sum(part.looked for part in probed) if whole else lists.UNKNOWN
    return replace(way, size=size)


def _entry_passes(entry: Item, where: Where) -> bool:
    """Return whether a list entry has an accepted value of each facet; a missing value is ""."""
    return all(
        not accepted.isdisjoint(entry.get(SEVERAL, ()))
        if facet == SEVERAL
        else entry.get(facet, "") in accepted
        for facet, accepted in where.items()
    )
