"""A page of a list: where it starts, from which end to read, and what it holds.

Sequential round trips: keys and counts, then records, where the lists of one filter serve; else
counts, keys, records. A search: words and counts; filters, if there are any; records.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

from chalicelib import table
from chalicelib.attributes import Item
from chalicelib.ids import key_part
from chalicelib.listing import cursor, lists, words
from chalicelib.listing.counts import Counts, Where, counts, places
from chalicelib.listing.cursor import Cursor
from chalicelib.listing.index import SEVERAL, Index, several_part
from chalicelib.listing.kinds import Kind, list_shards
from chalicelib.listing.lists import Lists, Range, choices, serving
from chalicelib.listing.search import Found, Matches, matches, verified
from chalicelib.problems import Invalid

# A batch-get of an entry costs one read unit; a query reads this many entries for one.
_ENTRIES_A_UNIT: Final = 20
_ENTRIES_A_RECORD: Final = 50
# Records that are in memory at once while a search checks many.
_LOADED_AT_ONCE: Final = 500
MOST_VALUES: Final = 100  # AWS: operands of IN
_NEAR = 500  # records: so far from the beginning it is read before it is known how many there are
_FEW = 300  # records: so many are loaded to be sorted, rather than a list of all read
_PROBE: Final = 10_000  # keys


class Indexed(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def index(self) -> Index: ...


R = TypeVar("R", bound=Indexed)
Load = Callable[[list[str]], list[R]]


@dataclass(frozen=True)
class Query:
    """What is asked for.

    `where`: facet → accepted values, all facets must hold. `between`: of which sorts. `order`: one
    of the kind's, or that of its sort; `forward`: with the lowest first. `page`: counted from the
    beginning, or `cursor`: what an earlier page gave as `next`, or `*` to begin. `deepest`: how
    many results may be paged through. `counted`: whether the total is asked for.
    """

    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search: str = ""
    page: int = 1
    limit: int = 20
    cursor: str = ""
    between: Range = lists.EVERYTHING
    order: str = ""
    forward: bool = False
    deepest: int | None = None
    counted: bool = True

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    def reads(self, shown: Iterable[str]) -> tuple[str, ...]:
        """The fields to load of each record so that these can be shown; none: all. With its index,
        where records are compared with what is asked for."""
        fields = tuple(shown)
        compares = self.where or self.search or self.between or self.order
        return (*fields, "index") if fields and compares else fields

    def parts(self, kind: Kind) -> Where:
        """`where` as the index holds facets."""
        return _key_parts(kind, self.where)


@dataclass(frozen=True)
class Page(Generic[R]):
    """`next`: where the list goes on, None at its end. `at_least`: there are more than `total`, and
    it was not counted how many. `after`: where it goes on after the nth record; None for a page
    that was asked for by its number, which has to be whole."""

    records: list[R]
    total: int
    page: int
    limit: int
    next: str | None = None
    at_least: bool = False
    after: Callable[[int], str] | None = None


@dataclass(frozen=True)
class _Slice:
    """The positions of a page; whether something follows them; the total, and if it is one."""

    positions: list[str]
    follows: bool
    total: int
    at_least: bool = False


def count(kind: Kind, where: Mapping[str, frozenset[str]]) -> int:
    """How many records have one of the accepted values in every facet named: `counted` ones, and
    one of those that are counted `under`."""
    parts = _key_parts(kind, where)
    read = table.together([partial(table.everything, pk) for pk in places(kind, parts)])
    total = counts(kind, parts, read).size(parts)
    if total is None:
        raise ValueError(f"{kind.name}: {sorted(parts)} are not counted")
    return total


def page(kind: Kind, query: Query, load: Load[R]) -> Page[R]:
    """One page, in the order asked for.

    `load` gets the records of ids, in their order, leaving out what is gone. Raises Invalid for a
    search that matches too much, a page that is too deep, too many values of a facet, or a cursor
    of another list; Reindexing for what not all records are indexed for yet.
    """
    where = _key_parts(kind, query.where)
    asked = _asked(kind, query, where)
    start = cursor.read(query.cursor, asked) if query.cursor else Cursor("", query.page)
    offset = (start.page - 1) * query.limit
    if query.deepest is not None and offset + query.limit > query.deepest:
        message = f"reaches beyond the first {query.deepest} results; narrow the list instead"
        raise Invalid.field("page", "too_deep", message)
    if any(not accepted for accepted in where.values()):
        return Page([], 0, start.page, query.limit)
    terms = words.terms(query.search)
    one = _Listing(kind, query, where, start.position or None, load)
    found = one.searched(terms) if terms else one.browsed()
    ids = [id_of(position) for position in found.positions]
    follows = Cursor(found.positions[-1], start.page + 1) if found.follows else None
    kept = load(ids) if ids else []
    if where or terms or query.between:
        indexed = [(record, record.index) for record in kept]
        kept = [
            record
            for record, index in indexed
            if index.matches(where, terms) and query.between.holds(index.sort)
        ]
    next_ = follows.text(asked) if follows else None

    def after(number: int) -> str:
        positions = {id_of(position): position for position in found.positions}
        return Cursor(positions[kept[number - 1].id], start.page + 1).text(asked)

    by_cursor = after if query.cursor else None
    return Page(kept, found.total, start.page, query.limit, next_, found.at_least, by_cursor)


@dataclass(frozen=True)
class _Listing(Generic[R]):
    """One request. `after`: the position that its cursor names."""

    kind: Kind
    query: Query
    where: Where
    after: str | None
    load: Load[R]

    @property
    def skip(self) -> int:
        return 0 if self.after else self.query.offset

    @property
    def need(self) -> int:
        """With one more, which tells whether something follows."""
        return self.skip + self.query.limit + 1

    @property
    def features(self) -> set[str]:
        """What is asked for, as the kind names it in `since`."""
        facets = {self.kind.several if facet == SEVERAL else facet for facet in self.where}
        return facets | {f"*{self.query.order}"} if self.query.order else facets

    # --- Without a search -------------------------------------------------------------------------

    def browsed(self) -> _Slice:
        near = self.skip + self.query.limit <= _NEAR
        one = self._serving()
        if one is None or not near:
            return self._planned()
        pks = self._cells()
        tallies = self._tallies(one) if self._is_tallied else []
        reads = one.reads(self.need, self.after, self.query.forward, list_shards()[0])
        results = table.together([*tallies, *(partial(table.everything, pk) for pk in pks), *reads])
        tallied, results = results[: len(tallies)], results[len(tallies) :]
        known = counts(self.kind, self.where, results[: len(pks)])
        known.require(self.features)
        if not known.ready and set(one.names) & self.kind.since:
            return self._planned()  # a list that not all records are in yet
        read = results[len(pks) :]
        total, at_least = self._total(known, one, tallied)
        positions = one.positions(
            self.need, after=self.after, forward=self.query.forward, read=read
        )
        return self._slice(islice(positions, self.skip, self.need), total, at_least)

    def _serving(self) -> Lists | None:
        if not self.query.order:
            return serving(self.kind, self.where, self.query.between)
        if self.where or self.query.between:
            return None
        return Lists(self.kind, [f"*{self.query.order}"], {})

    @property
    def _is_tallied(self) -> bool:
        """Whether the total has to be counted from keys."""
        under = [facet for facet in self.where if facet in self.kind.under]
        known = {*self.kind.counted, *under[:1]}
        is_known = self.where.keys() <= known and not self.query.between
        return self.query.counted and not is_known

    def _cells(self) -> list[str]:
        return places(self.kind, self.where)

    def _tallies(self, some: Lists, most: int | None = None) -> list[Callable[[], table.Tally]]:
        # Where a record may be in two of the lists, it is counted by its position.
        is_once = len(list_shards()) == 1 and len(self.where.get(SEVERAL, ())) < 2
        return some.tallies(most) if is_once else []

    def _total(self, known: Counts, base: Lists, tallied: list[table.Tally]) -> tuple[int, bool]:
        if not self._is_tallied:
            size = known.size(self.where) if self.query.counted else 0
            return size or 0, False
        if not tallied:
            return base.counted(), False
        return _sum(tallied)

    def _planned(self) -> _Slice:
        """First the counts, then what they say is cheapest."""
        pks, probes = self._cells(), list[Lists]()
        if SEVERAL in self.where and self._is_tallied:
            several = {SEVERAL: self.where[SEVERAL]}
            probe = serving(self.kind, several, self.query.between)
            if probe is not None and self._tallies(probe):
                probes.append(Lists(self.kind, probe.names, self.where, self.query.between))
        probing = [call for probe in probes for call in self._tallies(probe, _PROBE)]
        results = table.together([*probing, *(partial(table.everything, pk) for pk in pks)])
        probed, results = results[: len(probing)], results[len(probing) :]
        known = counts(self.kind, self.where, results)
        known.require(self.features)
        ways = choices(self.kind, self.where, self.query.between, known)
        if probed:
            ways = [_sized(way, probes[0], probed) for way in ways]
        total = None if self.query.between else known.size(self.where)
        if probed and all(part.whole for part in probed):
            total = sum(part.passed for part in probed)
        if self.query.order:
            return self._ordered(ways, total, known)
        return self._read(min(ways, key=lambda way: way.cost(self.need)), total)

    def _read(self, base: Lists, total: int | None) -> _Slice:
        """The page, from these lists; counted as well unless the total is known."""
        query = self.query
        if total is not None and self.skip >= total and not self.after and query.counted:
            return _Slice([], False, total)
        if total is None and self.skip > lists.MOST_COUNTED:
            message = f"comes after {lists.MOST_COUNTED:,} records; go on with the cursor"
            raise Invalid.field("page", "too_deep", message)
        # The nearer end: the last pages cost as little as the first. For the first page that is
        # never the oldest: if an older one came since the total was read, the newest would be
        # missed.
        following = 0 if total is None else max(0, total - self.skip - query.limit)
        backwards = total is not None and self.after is None and following < self.skip
        if backwards and total is not None:
            take = min(query.limit, total - self.skip)
            found = base.positions(following + take, forward=not query.forward)
            positions = list(islice(found, following, following + take))[::-1]
            return _Slice(positions, following > 0, total)
        tallies = self._tallies(base) if total is None and query.counted else []
        reads = base.reads(self.need, self.after, query.forward, list_shards()[0])
        results = table.together([*tallies, *reads])
        at_least = False
        if total is None and query.counted:
            tallied = results[: len(tallies)]
            total, at_least = _sum(tallied) if tallied else (base.counted(), False)
        found = base.positions(
            self.need, after=self.after, forward=query.forward, read=results[len(tallies) :]
        )
        return self._slice(islice(found, self.skip, self.need), total or 0, at_least)

    def _ordered(self, ways: list[Lists], total: int | None, known: Counts) -> _Slice:
        """In another order: of few records, by what they say; else from the list of all."""
        size = known.size({}) or 0
        few = total is not None and total <= _FEW
        # To read the list in that order, or to load what passes: whichever is less.
        few = few and (total or 0) ** 2 * _ENTRIES_A_RECORD <= self.need * size
        if self.query.between or few:
            need = lists.UNKNOWN if total is None else total + 1
            base = min(ways, key=lambda way: way.cost(need))
            return self._sorted([id_of(position) for position in base.positions(need)])
        order = [f"*{self.query.order}"]
        return self._read(Lists(self.kind, order, self.where, size=size, total=total), total)

    def _sorted(self, ids: list[str], total: int | None = None) -> _Slice:
        """These records in another order, by what they say of themselves."""
        slices = (ids[at : at + _LOADED_AT_ONCE] for at in range(0, len(ids), _LOADED_AT_ONCE))
        found = [
            f"{record.index.orders.get(self.query.order, '!')}#{record.id}"
            for some in slices
            for record in self.load(some)
            if record.index.passes(self.where) and self.query.between.holds(record.index.sort)
        ]
        return self._cut(found, len(found) if total is None else total)

    # --- With one ---------------------------------------------------------------------------------

    def searched(self, terms: list[str]) -> _Slice:
        where = self.where
        is_filtered = bool(where or self.query.order)
        matching, unchecked, known = matches(self.kind, where, terms, is_filtered)
        if known:
            known.require(self.features)
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
        """Those whose records pass the filters and match these terms too."""
        ids = list(found)
        slices = (ids[at : at + _LOADED_AT_ONCE] for at in range(0, len(ids), _LOADED_AT_ONCE))
        records = (record for some in slices for record in self.load(some))
        return {one.id: found[one.id] for one in records if one.index.matches(self.where, terms)}

    def _filtered(self, matching: Matches, known: Counts | None) -> Found:
        """Those that pass the filters: by their entries, or where that is cheaper, by a whole
        list."""
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

    def _found_in_order(self, found: Found, at_least: bool, known: Counts) -> _Slice:
        if len(found) * _ENTRIES_A_RECORD <= max(_FEW * _ENTRIES_A_RECORD, known.size({}) or 0):
            in_order = self._sorted(list(found))
            return _Slice(in_order.positions, in_order.follows, in_order.total, at_least)
        every = Lists(self.kind, [f"*{self.query.order}"], {}, size=known.size({}))
        positions = [
            position
            for position in every.positions(known.size({}) or 0)
            if id_of(position) in found
        ]
        return self._cut(positions, len(positions), at_least)

    # --- Both -------------------------------------------------------------------------------------

    def _cut(self, positions: list[str], total: int, at_least: bool = False) -> _Slice:
        """The page, of all positions there are."""
        forward, after = self.query.forward, self.after
        in_order = sorted(set(positions), reverse=not forward)
        if after is not None:
            in_order = [one for one in in_order if (one > after if forward else one < after)]
        return self._slice(iter(in_order[self.skip : self.need]), total, at_least)

    def _slice(self, found: Iterable[str], total: int, at_least: bool) -> _Slice:
        positions = list(found)
        limit = self.query.limit
        return _Slice(positions[:limit], len(positions) > limit, total, at_least)


def id_of(position: str) -> str:
    return position.rsplit("#", 1)[1]


def _sum(tallied: list[table.Tally]) -> tuple[int, bool]:
    """The total, and whether there is more."""
    passed, whole = sum(part.passed for part in tallied), all(part.whole for part in tallied)
    return (passed, False) if whole else (min(passed, lists.MOST_COUNTED), True)


def _sized(way: Lists, probe: Lists, probed: list[table.Tally]) -> Lists:
    """With the size that was found out."""
    if list(way.names) != list(probe.names):
        return way
    whole = all(part.whole for part in probed)
    size = sum(part.looked for part in probed) if whole else lists.UNKNOWN
    return Lists(way.kind, way.names, way.rest, way.between, size, way.total)


def _passes(entry: Item, where: Where) -> bool:
    return all(
        not accepted.isdisjoint(entry.get(SEVERAL, ()))
        if facet == SEVERAL
        else entry.get(facet, "") in accepted
        for facet, accepted in where.items()
    )


def _asked(kind: Kind, query: Query, where: Where) -> dict[str, Any]:
    """What makes two requests pages of one list."""
    return {
        "kind": kind.name,
        "where": {facet: sorted(accepted) for facet, accepted in where.items()},
        "search": words.terms(query.search),
        "between": [query.between.first, query.between.end],
        "order": [query.order, query.forward],
    }


def _key_parts(kind: Kind, where: Mapping[str, frozenset[str]]) -> Where:
    """Filters as the index holds facets. Raises Invalid for too many values of one."""
    parts = {}
    for facet, accepted in where.items():
        if len(accepted) > MOST_VALUES:
            raise Invalid.field(facet, "too_many", f"takes at most {MOST_VALUES} values")
        if kind.several and facet == kind.several:
            parts[SEVERAL] = frozenset(map(several_part, accepted))
        else:
            parts[facet] = frozenset(map(key_part, accepted))
    return parts
