"""A page of a list: where it starts, from which end to read, and what it holds.

Sequential round trips: counts (and where a walk left off), keys, records (and where the page ends).
A search: words (and counts), filters, records.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final, Generic, Protocol, TypeVar

from chalicelib import table
from chalicelib.attributes import Item
from chalicelib.ids import key_part
from chalicelib.listing import words
from chalicelib.listing.counts import Counts, Where, counts, reads
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import Kind
from chalicelib.listing.lists import choices
from chalicelib.listing.search import Found, Matches, matches, verified
from chalicelib.listing.walk import Recall, Walk
from chalicelib.problems import Invalid

# A batch-get of an entry costs one read unit; a query reads this many entries for one.
_ENTRIES_A_UNIT: Final = 27
# Records that are in memory at once while a search checks many.
_LOADED_AT_ONCE: Final = 500
_MOST_VALUES: Final = 100  # AWS: operands of IN


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

    `where`: facet → accepted values, all facets must hold. `walker`: who asks; a request for the
    page behind the one that this walker was given last goes on where that one ended, whatever was
    written meanwhile. `deepest`: how many results may be paged through.
    """

    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search: str = ""
    page: int = 1
    limit: int = 20
    walker: str = ""
    deepest: int | None = None

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    @property
    def parts(self) -> Where:
        """`where` as the index holds facets. Raises Invalid for too many values of one."""
        return _key_parts(self.where)


@dataclass(frozen=True)
class Page(Generic[R]):
    """`met`: so many pages are known to be there, whatever the total. `at_least`: there are more
    than `total`, and it was not counted how many."""

    records: list[R]
    total: int
    page: int
    limit: int
    met: int = 0
    at_least: bool = False

    @property
    def pages(self) -> int:
        """As many as the total fills, or more: a walk whose list becomes shorter behind it still
        has the pages before it."""
        return max(-(-self.total // self.limit), self.met)


def count(kind: Kind, where: Mapping[str, frozenset[str]]) -> int:
    """How many records have one of the accepted values in every facet named."""
    parts = _key_parts(where)
    read = table.together([partial(table.everything, pk) for pk in reads(kind, parts)])
    return counts(kind, parts, read).total


def page(kind: Kind, query: Query, load: Load[R]) -> Page[R]:
    """One page, newest (highest `sort`) first.

    `load` gets the records of ids, in their order, leaving out what is gone. Raises Invalid for a
    search that matches too much, a page that is too deep, or too many values of a facet.
    """
    if query.deepest is not None and query.offset + query.limit > query.deepest:
        message = f"reaches beyond the first {query.deepest} results; narrow the list instead"
        raise Invalid.field("page", "too_deep", message)
    where = query.parts
    if any(not accepted for accepted in where.values()):
        return Page([], 0, query.page, query.limit)
    terms = words.terms(query.search)
    walk = Walk(query.walker, _asked(kind, query))
    recall = walk.recall(query.page)
    at_least = False
    if terms:
        positions, total, at_least = _searched(kind, query, recall, terms, load)
    else:
        positions, total = _browsed(kind, query, recall)
    if not positions:
        walk.ended(query.page)
        return Page([], total, query.page, query.limit)
    is_followed, positions = len(positions) > query.limit, positions[: query.limit]
    ids = [position.rsplit("#", 1)[1] for position in positions]
    records = walk.served(query.page, positions[-1], partial(load, ids))
    kept = [record for record in records if record.index.matches(where, terms)]
    met = query.page + is_followed
    return Page(kept, total, query.page, query.limit, met, at_least)


def _browsed(kind: Kind, query: Query, recall: Recall) -> tuple[list[str], int]:
    """The positions of the page and, if there is one, of what follows; and the total. Without a
    search."""
    where = query.parts
    cells = [partial(table.everything, pk) for pk in reads(kind, where)]
    read = table.together([*cells, *recall])
    after = read.pop() if recall else None
    known = counts(kind, where, read)
    total = known.total
    if after is None and query.offset >= total:
        return [], total
    # The nearer end: the last pages cost as little as the first. For the first page that is never
    # the oldest: if an older one came since the total was read, the newest would be missed.
    behind = max(0, total - query.offset - query.limit)
    backwards = after is None and behind < query.offset
    skip = 0 if after else (behind if backwards else query.offset)
    take = min(query.limit, total - query.offset) if backwards else query.limit + 1
    need = skip + take
    lists = min(choices(kind, where, known), key=lambda lists: lists.cost(need))
    found = lists.positions(need, after=after, backwards=backwards)
    positions = list(islice(found, skip, need))
    return (positions[::-1] if backwards else positions), total


def _searched(
    kind: Kind,
    query: Query,
    recall: Recall,
    terms: list[str],
    load: Load[R],
) -> tuple[list[str], int, bool]:
    """As `_browsed`, of what matches all terms; and whether there are more than the total."""
    where = query.parts
    matching, unchecked, known, after = matches(kind, where, terms, recall)
    if unchecked:
        found = _checked(verified(kind, matching, all_of=False)[0], where, unchecked, load)
    else:
        found = _filtered(kind, matching, known)
    positions = sorted((f"{sort}#{id}" for id, sort in found.items()), reverse=True)
    if after is not None:
        behind = [position for position in positions if position < after]
        return behind[: query.limit + 1], len(positions), matching.at_least
    some = positions[query.offset : query.offset + query.limit + 1]
    return some, len(positions), matching.at_least


def _checked(found: Found, where: Where, terms: list[str], load: Load[R]) -> Found:
    """Those whose records pass the filters and match these terms too."""
    ids = list(found)
    slices = (ids[at : at + _LOADED_AT_ONCE] for at in range(0, len(ids), _LOADED_AT_ONCE))
    records = (record for some in slices for record in load(some))
    return {one.id: found[one.id] for one in records if one.index.matches(where, terms)}


def _filtered(kind: Kind, matching: Matches, known: Counts | None) -> Found:
    """Those that pass the filters: by their entries, or where that is cheaper, by a whole list."""
    if known is None:
        return verified(kind, matching, all_of=False)[0]
    if not known.total:
        return {}
    smallest = min(choices(kind, known.where, known), key=lambda lists: lists.size)
    if len(matching) * _ENTRIES_A_UNIT > smallest.size:
        found, _ = verified(kind, matching, all_of=False)
        positions = smallest.positions(known.total)
        passing = (position.rsplit("#", 1)[1] for position in positions)
        return {id: found[id] for id in passing if id in found}
    found, entries = verified(kind, matching, all_of=True)
    return {id: found[id] for id in entries if _passes(entries[id], known.where)}


def _passes(entry: Item, where: Where) -> bool:
    return all(entry.get(facet, "") in accepted for facet, accepted in where.items())


def _asked(kind: Kind, query: Query) -> dict[str, object]:
    """What makes two requests pages of one list."""
    where = {facet: sorted(accepted) for facet, accepted in query.where.items()}
    return {"kind": kind.name, "where": where, "search": query.search, "limit": query.limit}


def _key_parts(where: Mapping[str, frozenset[str]]) -> Where:
    """Filters as the index holds facets."""
    for facet, accepted in where.items():
        if len(accepted) > _MOST_VALUES:
            raise Invalid.field(facet, "too_many", f"takes at most {_MOST_VALUES} values")
    return {facet: frozenset(map(key_part, accepted)) for facet, accepted in where.items()}
