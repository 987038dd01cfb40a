"""Reading a page: what to read (cheapest list), from which end, and where the caller left off.

Sequential round trips: counts (and where a walk left off), keys, records. A search: words (and
counts), filters, records.
"""

import hashlib
import heapq
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final, Generic, Protocol, TypeVar

from boto3.dynamodb.conditions import Attr, ConditionBase

from chalicelib import clock, table
from chalicelib.ids import key_part
from chalicelib.listing import words
from chalicelib.listing.counts import Counts, Where, counts, reads
from chalicelib.listing.entries import SHAPES, Index, Kind, entry_key, list_shards
from chalicelib.listing.search import matches
from chalicelib.problems import Invalid

_WALK_SECONDS: Final = 3_600
# What one more query costs, in entries read: a round trip's CPU against 150 bytes each.
_QUERY_COST: Final = 25
# About as many entries fill the 1 MB that a query answers at once.
_CALL_ENTRIES: Final = 6_000
# A batch-get of an entry costs one read unit; a query reads this many entries for one.
_ENTRIES_A_UNIT: Final = 27


class Indexed(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def index(self) -> Index: ...


R = TypeVar("R", bound=Indexed)


@dataclass(frozen=True)
class Query:
    """What is asked for.

    `where`: facet → accepted values, all facets must hold. `walker`: who asks; a request for the page
    behind the one that this walker was given last goes on where that one ended, whatever was written
    meanwhile. `deepest`: how many results may be paged through.
    """

    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    search: str = ""
    page: int = 1
    limit: int = 20
    walker: str = ""
    deepest: int | None = None


@dataclass(frozen=True)
class Page(Generic[R]):
    records: list[R]
    total: int
    page: int
    limit: int


def count(kind: Kind, where: Mapping[str, frozenset[str]]) -> int:
    """How many records have one of the accepted values in every facet named."""
    parts = _key_parts(where)
    read = table.together([partial(table.everything, pk) for pk in reads(kind, parts)])
    return counts(kind, parts, read).total


def page(kind: Kind, query: Query, load: Callable[[list[str]], list[R]]) -> Page[R]:
    """One page, newest (highest `sort`) first.

    `load` gets the records of ids, in their order, leaving out what is gone. Raises Invalid for a
    search that matches too much, or a page that is too deep.
    """
    offset = (query.page - 1) * query.limit
    if query.deepest is not None and offset + query.limit > query.deepest:
        message = (
            f"reaches beyond the first {query.deepest} results; narrow the list instead"
        )
        raise Invalid.field("page", "too_deep", message)
    where = _key_parts(query.where)
    terms = words.terms(query.search)
    walk = _Walk(kind, query)
    if any(not accepted for accepted in where.values()):
        return Page([], 0, query.page, query.limit)
    if terms:
        positions, total = _searched(kind, where, terms, walk, load)
    else:
        positions, total = _browsed(kind, where, walk)
    ids = [position.rsplit("#", 1)[1] for position in positions]
    calls: list[Callable[[], list[R] | None]] = [lambda: load(ids)] if ids else []
    if len(ids) == query.limit and offset + query.limit < total:
        # Beside the load, so that remembering costs no time of its own.
        calls.append(lambda: walk.remember(positions[-1]))
    records = table.together(calls)[0] if calls else []
    assert records is not None
    kept = [record for record in records if record.index.matches(where)]
    return Page(kept, total, query.page, query.limit)


# --- Without a search -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _List:
    """Lists that together hold what part of the filters asks for, each record once."""

    names: list[str]
    implied: frozenset[str]
    size: int


def _browsed(kind: Kind, where: Where, walk: "_Walk") -> tuple[list[str], int]:
    """The positions (`<sort>#<id>`) of the page, and the total."""
    pks = reads(kind, where)
    *read, after = table.together(
        [*(partial(table.everything, pk) for pk in pks), walk.recall]
    )
    known = counts(kind, where, read)
    total, limit = known.total, walk.query.limit
    if after is None and walk.offset >= total:
        return [], total
    # The nearer end: the last pages cost as little as the first.
    behind = total - walk.offset - limit
    backwards = after is None and behind < walk.offset
    skip = 0 if after else (max(0, behind) if backwards else walk.offset)
    take = min(limit, total - walk.offset) if backwards else limit
    chosen = _cheapest(_candidates(kind, where, known), skip + take, total)
    keys = _merged(kind, where, chosen, known, backwards, after, skip + take)
    positions = list(islice(keys, skip, skip + take))
    return (positions[::-1] if backwards else positions), total


def _candidates(kind: Kind, where: Where, known: Counts) -> list[_List]:
    """Every way in which the lists can serve these filters."""
    lists = [_List(["*"], frozenset(), known.size({}))]
    for facet in kind.listed:
        accepted = where.get(facet, frozenset())
        if accepted and "" not in accepted:
            names = [f"{facet}={value}" for value in sorted(accepted)]
            lists.append(
                _List(names, frozenset({facet}), known.size({facet: accepted}))
            )
    for name, wanted in kind.combined.items():
        parts = {facet: frozenset({value}) for facet, value in wanted.items()}
        if all(where.get(facet) == accepted for facet, accepted in parts.items()):
            lists.append(_List([name], frozenset(parts), known.size(parts)))
    return lists


def _cheapest(lists: list[_List], need: int, total: int) -> _List:
    """The lists that give `need` of `total` matches for the fewest entries read."""

    def cost(candidate: _List) -> float:
        read = need * candidate.size / total if total else candidate.size
        return min(candidate.size, read) + _QUERY_COST * len(candidate.names)

    return min(lists, key=cost)


def _merged(
    kind: Kind,
    where: Where,
    chosen: _List,
    known: Counts,
    forward: bool,
    after: str | None,
    need: int,
) -> Iterator[str]:
    """The positions that match, over all shards, in one order."""
    rest = {
        facet: accepted
        for facet, accepted in where.items()
        if facet not in chosen.implied
    }
    share = known.total / chosen.size if rest and chosen.size else 1.0
    # Any one shard may hold all that is needed; where filters drop some, more has to be read.
    limit = min(_CALL_ENTRIES, int(need / max(share, 1e-4)) + 1)

    def read(pk: str, behind: str | None) -> table.Rows:
        started = table.sk.gt(behind) if forward else table.sk.lt(behind)
        return table.query(
            pk,
            where=started if behind else None,
            filter=_filter(rest),
            forward=forward,
            limit=limit,
            fields=("sk",),
        )

    pks = [
        kind.list_pk(name, shard) for name in chosen.names for shard in list_shards()
    ]
    firsts = table.together([partial(read, pk, after) for pk in pks])
    streams = [_positions(pk, rows, read) for pk, rows in zip(pks, firsts, strict=True)]
    return heapq.merge(*streams, reverse=not forward)


def _positions(
    pk: str, rows: table.Rows, read: Callable[[str, str | None], table.Rows]
) -> Iterator[str]:
    while True:
        yield from (item["sk"] for item in rows.items)
        if rows.after is None:
            return
        rows = read(pk, rows.after)


def _filter(where: Where) -> ConditionBase | None:
    condition: ConditionBase | None = None
    for facet, accepted in where.items():
        attribute = Attr(facet)
        values = sorted(accepted)
        one = attribute.eq(values[0]) if len(values) == 1 else attribute.is_in(values)
        condition = one if condition is None else condition & one
    return condition


# --- With a search --------------------------------------------------------------------------------


def _searched(
    kind: Kind,
    where: Where,
    terms: list[str],
    walk: "_Walk",
    load: Callable[[list[str]], list[R]],
) -> tuple[list[str], int]:
    found, broad, known, after = matches(kind, where, terms, walk.recall)
    if where or broad:
        found = _filtered(kind, where, broad, known, found, load)
    positions = sorted((f"{sort}#{id}" for id, sort in found.items()), reverse=True)
    if after is not None:
        behind = [position for position in positions if position < after]
        return behind[: walk.query.limit], len(positions)
    return positions[walk.offset : walk.offset + walk.query.limit], len(positions)


def _filtered(
    kind: Kind,
    where: Where,
    broad: list[str],
    known: Counts | None,
    found: dict[str, str],
    load: Callable[[list[str]], list[R]],
) -> dict[str, str]:
    """Those of the found (id → sort) that also pass the filters and the broad terms."""
    if broad:
        records = load(list(found))
        return {r.id: found[r.id] for r in records if r.index.matches(where, broad)}
    assert known is not None
    chosen = min(_candidates(kind, where, known), key=lambda candidate: candidate.size)
    if len(found) * _ENTRIES_A_UNIT > chosen.size:
        keys = _merged(kind, where, chosen, known, False, None, chosen.size)
        return {
            id: found[id]
            for id in (key.rsplit("#", 1)[1] for key in keys)
            if id in found
        }
    entries = table.batch_get(
        entry_key(kind, "*", id, sort, version)
        for id, sort in found.items()
        for version in SHAPES
    )
    passing = (
        sk.rsplit("#", 1)[1]
        for (_, sk), entry in entries.items()
        if all(entry.get(facet, "") in accepted for facet, accepted in where.items())
    )
    return {id: found[id] for id in passing}


# --- Where a walk left off ------------------------------------------------------------------------


class _Walk:
    """Remembers where the last page of a list ended, for each walker.

    A walk through all pages thereby costs the same for each, and neither misses nor repeats a record
    that is there throughout, whatever else is written. A jump, or the same page again, is counted
    from the newest record.
    """

    def __init__(self, kind: Kind, query: Query) -> None:
        self.query = query
        self.offset = (query.page - 1) * query.limit
        asked = [
            kind.name,
            sorted((facet, sorted(values)) for facet, values in query.where.items()),
            query.search,
            query.limit,
        ]
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
        self._key = (f"walk#{query.walker}", digest)

    def recall(self) -> str | None:
        """The position behind which this page starts, if the walker had the page before it last."""
        if self.query.page == 1 or not self.query.walker:
            return None
        last = table.get(self._key)
        if last is None or last["expiresAt"] <= clock.unix():
            return None
        return str(last["end"]) if last["page"] == self.query.page - 1 else None

    def remember(self, end: str) -> None:
        if self.query.walker:
            pk, sk = self._key
            until = clock.unix() + _WALK_SECONDS
            page = self.query.page
            table.put(
                {"pk": pk, "sk": sk, "page": page, "end": end, "expiresAt": until}
            )


def _key_parts(where: Mapping[str, frozenset[str]]) -> Where:
    """Filters as the index holds facets."""
    return {facet: frozenset(map(key_part, values)) for facet, values in where.items()}
