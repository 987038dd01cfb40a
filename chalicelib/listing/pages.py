"""A page of a list: its records, its total, and the cursor of the next page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from chalicelib.listing import cursor, external_ids, upgrades, words
from chalicelib.listing.counts import Counts, Where, count_calls, sum_counts
from chalicelib.listing.cursor import Cursor
from chalicelib.listing.index import SEVERAL, Index
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lookup import find_records_by_text
from chalicelib.listing.positions import Listing, id_of
from chalicelib.listing.query import Load, Query, R, key_parts
from chalicelib.listing.search import TooBroad
from chalicelib.problems import Invalid
from chalicelib.schemas import Page
from chalicelib.storage import dynamodb
from chalicelib.values.ids import key_part

MOST_NAMED: Final = 1_000  # records that may have a text, which are loaded and compared


def count(kind: Kind, where: Mapping[str, frozenset[str]]) -> int:
    """Return how many records have, in every facet of `where`, one of the accepted values.

    Reads the count cells. Facets are `counted` ones, and at most one of `under`. Raises Reindexing
    for one that not all records are counted for yet; after the read, ValueError for others.
    """
    parts = key_parts(kind, where)
    total = _read_counts_for_total(kind, parts).size(parts)
    if total is None:
        raise ValueError(f"{kind.name}: {sorted(parts)} are not counted")
    return total


def count_each(kind: Kind, facet: str, values: Sequence[str]) -> list[int | None]:
    """Return how many records have each of these values of a facet, in order, from the count cells.

    Each is None, without a read, if the facet is neither `counted` nor of `under`. [] for no
    values, without a read. Raises Reindexing.
    """
    if facet not in {*kind.counted, *kind.under} or not values:
        return [None] * len(values)
    parts = list(map(key_part, values))
    known = _read_counts_for_total(kind, {facet: frozenset(parts)})
    return [known.size({facet: frozenset({part})}) for part in parts]


def _read_counts_for_total(kind: Kind, where: Where) -> Counts:
    """Read the cells that have the total of `where`, whose values are key parts.

    The counts hold for all its facets together, not for fewer of them. Raises Reindexing.
    """
    kind = upgrades.limit_to_indexed(kind, where)
    read = dynamodb.wait_for_results(count_calls(kind, where, for_total=True))
    return sum_counts(kind, where, read, for_total=True)


def read_page(kind: Kind, query: Query, load: Load[R]) -> Page[R]:
    """Return one page of the list that a query asks for, in its order.

    `load` returns the records of ids that exist, in order. Records that changed meanwhile and do
    not match now are left out, so the page may be short. The total is exact, or a lower bound if
    the page says so. A search of nothing visible finds nothing, and so does a filter without
    accepted values: no list is read then. A query with a cursor gets `by_cursor` too. Raises
    Invalid for a search that matches too much, a page that is too deep, too many values of a facet,
    or a cursor of another list; Reindexing if not all records are indexed for it yet.
    """
    where = key_parts(kind, query.where)
    kind = upgrades.limit_to_indexed(kind, _needed_features(kind, query, where))
    identity = list_identity(kind, query, where)
    start = begin_page(query, identity)
    terms = words.search_terms(query.search)
    # Of a search without a visible character, all records would be an accident.
    finds_nothing = bool(query.search) and not terms
    if finds_nothing or any(not accepted for accepted in where.values()):
        return Page([], 0, start.page, query.limit)
    if query.external_id or query.exact:
        known = _load_named(kind, query, load)
        fitting = (record for record in known if _fits(record.index, query, where, terms))
        return page_of(kind, query, fitting)
    listing = Listing(kind, query, where, start.position or None, load)
    page_slice = listing.search_positions(terms) if terms else listing.browse_positions()
    ids = [id_of(position) for position in page_slice.positions]
    follows = Cursor(page_slice.positions[-1], start.page + 1) if page_slice.follows else None
    kept = load(ids) if ids else []
    if where or terms or query.between or query.within:
        kept = [record for record in kept if _fits(record.index, query, where, terms)]
    next_ = follows.to_text(identity) if follows else None

    def cursor_after(number: int) -> str:
        """Return the cursor, as text, of a page that begins after the kept record `number`."""
        positions = {id_of(position): position for position in page_slice.positions}
        return Cursor(positions[kept[number - 1].id], start.page + 1).to_text(identity)

    by_cursor = cursor_after if query.cursor else None
    return Page(
        kept, page_slice.total, start.page, query.limit, next_, page_slice.at_least, by_cursor
    )


def _load_named(kind: Kind, query: Query, load: Load[R]) -> list[R]:
    """Return the records with the external id and all exact texts of a query, whatever its filters.

    They are loaded, and their texts compared again, not their external ids. Raises TooBroad if more
    than MOST_NAMED would be loaded.
    """
    found = [find_records_by_text(kind, [text])[text] for text in query.exact.values()]
    if query.external_id:
        found.append(set(external_ids.find_records(kind.identified, query.external_id)))
    ids = sorted(set.intersection(*found))
    if len(ids) > MOST_NAMED:
        raise TooBroad(f"More than {MOST_NAMED} records may have this. Add another filter.")
    return [
        one
        for one in load(ids)
        if all(text in kind.exact[name](one) for name, text in query.exact.items())
    ]


def begin_page(query: Query, identity: Mapping[str, object]) -> Cursor:
    """Return where the page begins: the cursor, or without one `Cursor("", <number of the page>)`.

    `identity`: of the list (`list_identity`). Raises Invalid for a cursor of another list, and if
    `page` × limit exceeds the query's `deepest`, unless that is None.
    """
    start = cursor.parse(query.cursor, identity) if query.cursor else Cursor("", query.page)
    if query.deepest is not None and start.page * query.limit > query.deepest:
        message = f"reaches beyond the first {query.deepest} results; narrow the list instead"
        raise Invalid.field("page", "too_deep", message)
    return start


def walk_pages(read: Callable[[Query], Page[R]], query: Query) -> Iterator[Page[R]]:
    """Yield the pages of a query to the end of the list, from its cursor on; `read` reads one page.

    A query without a cursor begins with its page number.
    """
    following: str | None = query.cursor
    while following is not None:
        page = read(query.continue_after(following))
        yield page
        following = page.next


def _needed_features(kind: Kind, query: Query, where: Where) -> set[str]:
    """Return the facets and the order that a query needs, by their names in the kind's `since`.

    An order is `*<order>`; the facet SEVERAL has its own name.
    """
    facets = {kind.several if facet == SEVERAL else facet for facet in where}
    return facets | {f"*{query.order}"} if query.order else facets


def _fits(index: Index, query: Query, where: Where, terms: Iterable[str]) -> bool:
    """Return whether a record matches the filters, the terms, and the ranges of the query."""
    return index.matches(where, terms) and query.holds(index)


def page_of(kind: Kind, query: Query, records: Iterable[R]) -> Page[R]:
    """Return the query's page of `records`, sorted here; the total is their number.

    `records`: all results of the query, in any order; none is dropped. Nothing is read. Raises
    Invalid for a cursor of another list.
    """
    identity = list_identity(kind, query, key_parts(kind, query.where))
    start = cursor.parse(query.cursor, identity) if query.cursor else Cursor("", query.page)
    places = {query.position_of(record): record for record in records}
    left = query.sort_positions(places, start.position)
    if not start.position:
        left = left[(start.page - 1) * query.limit :]
    shown = left[: query.limit]
    next_ = Cursor(shown[-1], start.page + 1).to_text(identity) if left[query.limit :] else None
    records_shown = [places[place] for place in shown]
    return Page(records_shown, len(places), start.page, query.limit, next_)


def list_identity(kind: Kind, query: Query, where: Where) -> dict[str, object]:
    """Return a dict that identifies the list of a query: a cursor is valid only for an equal one.

    It has the kind, filters, terms of the search, both ranges (`between`, `within`), order,
    external id, exact texts and measures, but neither page nor limit.
    """
    return {
        "kind": kind.name,
        "where": {facet: sorted(accepted) for facet, accepted in where.items()},
        "search": words.search_terms(query.search),
        "between": [query.between.first, query.between.end],
        "order": [query.order, query.forward],
        **({"within": [query.within.first, query.within.end]} if query.within else {}),
        **({"externalId": query.external_id} if query.external_id else {}),
        **query.exact,
        **{name: [bounds.first, bounds.end] for name, bounds in query.measures.items()},
    }
