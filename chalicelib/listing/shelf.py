"""A shelf: the records of one combined list, with any filters and orders, at a bounded cost.

The first round trip reads, side by side, the beginning of the list in the requested order, and up
to 500 entries of each partition of the lists that the filters have. If one of these lists ends
there, it has all matches: they are sorted here, and the total is exact. Otherwise there are many
matches, and the list in order is read on until the page is full, or `_MOST_READ` entries more than
it needs were read: then the page ends early, and its cursor continues there. The second round trip
loads the records.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic

from chalicelib.listing import upgrades, words
from chalicelib.listing.counts import Where, count_calls, is_counted, sum_counts
from chalicelib.listing.cursor import Cursor
from chalicelib.listing.index import CREATED, Index
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import FEW_LISTS, Range, filter_condition, names_of_lists
from chalicelib.listing.pages import begin_page, list_identity
from chalicelib.listing.positions import id_of
from chalicelib.listing.query import Query, R, key_parts
from chalicelib.listing.search import TooBroad, match_terms, verify_matches
from chalicelib.problems import Invalid
from chalicelib.schemas import Page
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.conditions import Attr, all_of

Load = Callable[[Iterable[str], Iterable[str]], Sequence[R]]
FEW: Final = 500  # entries of a partition
MOST_FOUND: Final = 500  # records of a search, which are loaded to be sorted
_MOST_READ: Final = 4_000  # entries of a list for one page, besides those that it needs
_MOST_LOADED: Final = 500  # records that `accepts` judges for one page
_BEFORE_ALL: Final = "!"  # before and after each text of a measure
_AFTER_ALL: Final = "~"


@dataclass
class Partition:
    """A list in one partition, as far as it was read: its matches, and the last entry's position.

    `after`: None once all was read.
    """

    name: str
    pk: str
    items: list[Item] = field(default_factory=list)
    after: str | None = ""

    def add_rows(self, rows: table.Rows) -> None:
        """Add the entries of the next page, and note where it ended."""
        self.items += rows.items
        self.after = rows.after


@dataclass(frozen=True)
class Scan:
    """Reads the entries that match, in an order. `measure`: the one by which they are sorted."""

    kind: Kind
    where: Where
    bounds: Mapping[str, Range]
    measure: str
    forward: bool

    @property
    def ordered_list(self) -> str:
        """The list in the order of `measure`: the shelf's own, or `*<shelf>-<measure>`."""
        shelf = self.kind.shelf
        return shelf if self.measure == CREATED else f"*{shelf}-{self.measure}"

    def new_partitions(self, names: Iterable[str]) -> list[Partition]:
        """Return new, unread Partitions: one for each partition of the lists with these names."""
        return [Partition(name, pk) for name in names for pk in self.kind.list_pks(name)]

    def next_call(
        self, part: Partition, limit: int, after: str = "", *, forward: bool | None = None
    ) -> dynamodb.DynamoCall[table.Rows]:
        """Return the unsent call that reads the next entries of a partition: key and measure.

        They are in the order of that list's keys, within the bounds of all measures, and follow
        what was read of the partition, or else the position `after`. `limit`: how many entries are
        looked at. `forward` None: the scan's.
        """
        forward = self.forward if forward is None else forward
        begin = part.after or after
        sorted_by = part.name.removeprefix(f"*{self.kind.shelf}-")
        bounds = self.bounds.get(sorted_by, Range())
        first, end = bounds.first or _BEFORE_ALL, bounds.end or _AFTER_ALL
        if begin and forward:
            first = max(first, begin)
        elif begin:
            end = min(end, begin)
        limits = [Attr(n).between(b.first or _BEFORE_ALL, b.end) for n, b in self.bounds.items()]
        filters = filter(None, [filter_condition(self.where)])
        return table.query.call(
            part.pk,
            where=table.sk.between(first, max(first, end)),
            matching=all_of([*filters, *limits]),
            forward=forward,
            limit=limit,
            fields=("sk", self.measure),
        )

    def fill_partitions(
        self, parts: Sequence[Partition], need: int, limit: int, after: str = ""
    ) -> None:
        """Read further pages into `parts`, until `need` matches are known, or enough was read.

        Their entries are added to `parts`. Known are the matches up to where all partitions were
        read (`merge_positions`). It ends early when all was read, or about _MOST_READ entries more
        than `need`. `limit`: how many entries of each partition were read before; each next page is
        up to four times as large. `after`: as of `next_call`.
        """
        read, most = limit * len(parts), _MOST_READ + need
        while len(self.merge_positions(parts)[0]) < need and read < most:
            left = [part for part in parts if part.after is not None]
            if not left:
                return
            limit = min(4 * limit, most // len(parts))
            calls = [self.next_call(part, limit, after) for part in left]
            for part, rows in zip(left, dynamodb.wait_for_results(calls), strict=True):
                part.add_rows(rows)
            read += limit * len(left)

    def merge_positions(self, parts: Sequence[Partition]) -> tuple[list[str], str | None]:
        """Return the matches up to where all partitions were read, in order, and that position.

        A match is the `sk` of an entry, each once; nothing is read. The position is None if all
        partitions were read to the end.
        """
        ends = [part.after for part in parts if part.after is not None]
        end = (min(ends) if self.forward else max(ends)) if ends else None
        found = {str(item["sk"]) for part in parts for item in part.items}
        if end is not None:
            found = {one for one in found if (one <= end if self.forward else one >= end)}
        return sorted(found, reverse=not self.forward), end

    def position_of_entry(self, part: Partition, item: Item) -> str:
        """Return the position of an entry of any list in the scan's order: `<measure's text>#<id>`.

        That is the key of an entry of a list in that order, but otherwise made of its attribute.
        """
        if self.measure == CREATED and part.name[0] != "*":
            return str(item["sk"])
        return f"{item[self.measure]}#{id_of(item['sk'])}"


@dataclass(frozen=True)
class _Found:
    """Positions of matches; `end`: up to where, None if those are all to the end.

    `total`: how many there are, at least or exactly.
    """

    positions: Iterable[str]
    end: str | None
    total: int
    is_exact: bool


@dataclass(frozen=True)
class Shelf(Generic[R]):
    """A request for a page of a shelf.

    `load`: of ids, and the fields to load (none: those that the page needs). `accepts`: judges a
    loaded record, if the entries do not say enough; `judged_by` is the filter that it stands for.
    """

    kind: Kind
    query: Query
    load: Load[R]
    accepts: Callable[[R], bool] | None = None
    judged_by: str = ""

    def read_page(self) -> Page[R]:
        """Read the page, and return it; an empty one, unread, for a search of nothing visible.

        Without `accepts`, it may have fewer records than asked for, if some changed meanwhile. With
        `accepts`, the total is only those found so far, unless the page is the whole list. A query
        with a cursor gets `by_cursor` too. Raises Invalid for a search that matches too much, for a
        cursor of another list, and for a page by number that is too far back.
        """
        where, query = key_parts(self.kind, self.query.where), self.query
        judged = {"judged": self.judged_by} if self.accepts else {}
        identity = {**list_identity(self.kind, query, where), **judged}
        start = begin_page(query, identity)
        terms = words.search_terms(query.search)
        if query.search and not terms:
            return Page([], 0, start.page, query.limit)
        skip = 0 if query.cursor else (start.page - 1) * query.limit
        if terms:
            found = self._search(where, terms)
        else:
            found = self._browse(where, start.position, skip + query.limit + 1)
        places = query.sort_positions(found.positions, start.position)
        kept, read = self._load_matches(where, terms, places, skip)
        is_whole = found.end is None and read == len(places)
        there = len(kept) if self.accepts else len(places) - skip
        if skip and not is_whole and there < query.limit:
            message = "is too far back among so few matches; read on with the cursor instead"
            raise Invalid.field("page", "too_deep", message)
        last = places[read - 1] if read < len(places) else found.end
        next_ = None if is_whole else Cursor(last or "", start.page + 1).to_text(identity)
        total, at_least = found.total, not found.is_exact
        if self.accepts:
            total, at_least = skip + len(kept), not is_whole or bool(start.position)

        def cursor_after(number: int) -> str:
            """Return the cursor, as text, of a page that begins after the kept record `number`."""
            position = query.position_of(kept[number - 1])
            return Cursor(position, start.page + 1).to_text(identity)

        by_cursor = cursor_after if query.cursor else None
        return Page(kept, total, start.page, query.limit, next_, at_least, by_cursor)

    def _search(self, where: Where, terms: list[str]) -> _Found:
        """Load all records with these terms; return only the positions of those that match now.

        They are unsorted; the filters, and the bounds of measures, are compared with the records.
        Their number is the total, exact unless the search found `at_least` so many. Raises TooBroad
        if more than MOST_FOUND have the terms, whatever the filters.
        """
        matching, unchecked, _ = match_terms(self.kind, {}, terms, counted=False)
        found, _ = verify_matches(self.kind, matching, read_all_entries=False)
        if len(found) > MOST_FOUND:
            message = f"More than {MOST_FOUND} records have these words."
            raise TooBroad(f"{message} Sorted or by price, a search must be more specific.")
        records = self.load(list(found), ["index"])
        fitting = [one for one in records if self._fits(one.index, where, unchecked)]
        positions = list(map(self.query.position_of, fitting))
        return _Found(positions, None, len(positions), is_exact=not matching.at_least)

    def _browse(self, where: Where, after: str, need: int) -> _Found:
        """Read the next positions that match, without a search: `need` of them, fewer at the end.

        One round trip reads the start of the list in order, and up to FEW entries of each partition
        of the filters' lists (`_narrow_lists`). If one of these lists ends there, it has all
        matches: they are returned, unsorted, whatever `after`. Otherwise the list in order is read
        on, after the position `after`; then the total is exact only if cells count it, or the whole
        list was read. Raises Reindexing.
        """
        kind, query = self.kind, self.query
        measure = query.order.removeprefix(f"{kind.shelf}-") or CREATED
        scan = Scan(kind, where, query.measures, measure, query.forward)
        features = {scan.ordered_list, *(f"*{kind.shelf}-{name}" for name in query.measures)}
        features &= kind.since.keys()
        counts = is_counted(kind, where) and not query.measures and not self.accepts
        cells = count_calls(kind, where, for_total=True) if counts else []
        names, narrow_names = [scan.ordered_list], list(self._narrow_lists(where))
        if cells and narrow_names and measure == CREATED:  # it has the order and all matches
            names, narrow_names = narrow_names[0], []
        narrow, parts = (
            list(map(scan.new_partitions, narrow_names)),
            scan.new_partitions(names),
        )
        has_filter = bool(narrow) or self.accepts is not None
        first = need * (4 if has_filter else 2) // len(parts) + 10
        calls: list[dynamodb.DynamoCall[Any]] = [
            *([table.get.call(upgrades.RELEASE)] if features else []),
            *(scan.next_call(part, FEW, forward=False) for some in narrow for part in some),
            *(scan.next_call(part, first, after) for part in parts),
            *cells,
        ]
        results = iter(dynamodb.wait_for_results(calls))
        if features:
            upgrades.limit_to_release(kind, features, next(results))
        for part in (*(part for some in narrow for part in some), *parts):
            part.add_rows(next(results))
        least = 0
        for some in narrow:
            places = {scan.position_of_entry(part, item) for part in some for item in part.items}
            if all(part.after is None for part in some):
                return _Found(places, None, len(places), is_exact=True)
            least = max(least, len(places))
        scan.fill_partitions(parts, need, first, after)
        positions, end = scan.merge_positions(parts)
        if cells:
            total = sum_counts(kind, where, list(results), for_total=True).size(where)
            return _Found(positions, end, total or 0, is_exact=True)
        return _Found(positions, end, max(least, len(positions)), end is None and not after)

    def _narrow_lists(self, where: Where) -> Iterator[list[str]]:
        """Yield, for each filter and each bound, the names of the lists that hold all its matches.

        A filter that all records of the shelf pass, or with many values, is left out.
        """
        shelf = self.kind.shelf
        for facet, accepted in where.items():
            implied = self.kind.combined[shelf]
            names = [] if facet in implied else names_of_lists(self.kind, facet, accepted)
            if 0 < len(names) <= FEW_LISTS + 1:
                yield names
        yield from ([f"*{shelf}-{name}"] for name in self.query.measures)

    def _load_matches(
        self, where: Where, terms: Iterable[str], places: Sequence[str], skip: int
    ) -> tuple[list[R], int]:
        """Load the page's records that match now; return them, and how many places were used up.

        Without `accepts`, those are the records at the places from `skip` on, up to `limit` of
        them, fewer if some changed. With `accepts`, more are loaded until `skip` + `limit` are
        accepted, of up to _MOST_LOADED places, and the first `skip` accepted are dropped. The
        number counts from the first place.
        """

        def load_fitting(some: Iterable[str]) -> list[R]:
            """Load the records at these positions; return those with the filters and terms."""
            found = self.load(list(map(id_of, some)), ())
            return [one for one in found if self._fits(one.index, where, terms)]

        most = skip + self.query.limit
        if not self.accepts:
            return load_fitting(places[skip:most]), min(len(places), most)
        kept, read = list[R](), 0
        while len(kept) < most and read < min(len(places), _MOST_LOADED):
            some = places[read : read + most - len(kept)]
            kept += filter(self.accepts, load_fitting(some))
            read += len(some)
        return kept[skip:], read

    def _fits(self, index: Index, where: Where, terms: Iterable[str]) -> bool:
        """Return whether a record matches the filters, the terms, and the bounds of each measure.

        A record without a measure is below all texts: it passes if there is no lower bound.
        """
        return index.matches(where, terms) and all(
            bounds.first <= index.measures.get(name, _BEFORE_ALL) <= (bounds.end or _AFTER_ALL)
            for name, bounds in self.query.measures.items()
        )
