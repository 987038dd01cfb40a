"""Which records have a word that begins with each term of a search."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.listing.counts import Counts, Where, counts, reads
from chalicelib.listing.entries import Kind, escape, word_shards
from chalicelib.listing.walk import Recall
from chalicelib.problems import Invalid

MOST_MATCHES = 10_000
# Terms that are read from the index; any others, the shortest ones, are checked on what was found.
_MOST_READ: Final = 8
# Loading a record and its parts costs as much CPU as reading this many entries, and more units.
_ENTRIES_A_RECORD: Final = 50

Found = dict[str, str]  # id → sort


def matches(
    kind: Kind, where: Where, terms: list[str], recall: Recall
) -> tuple[Found, list[str], Counts | None, str | None]:
    """The records that match every term that is narrow enough to be read whole; the other terms,
    which are yet to be checked; the counts if there are filters; and what `recall` gives.

    All of it is read at the same time. Raises Invalid (`search_too_broad`) where no term is narrow.
    """
    asked = sorted(terms, key=len, reverse=True)[:_MOST_READ]
    pks = reads(kind, where) if where else []
    cells = [partial(table.everything, pk) for pk in pks]
    # While records move from old to new partitions, the old ones are read first: none is missed.
    oldest, *newer = word_shards()
    of, calls = _reading(kind, asked, oldest, MOST_MATCHES)
    results = table.together([*calls, *cells, *recall])
    after = results.pop() if recall else None
    parts = [*zip(of, results, strict=False)]
    for shards in newer:
        of, calls = _reading(kind, asked, shards, MOST_MATCHES)
        parts += zip(of, table.together(calls), strict=True)
    narrow = _narrow(parts, MOST_MATCHES)
    if not narrow:
        message = f"More than {MOST_MATCHES} records match. Search for something more specific."
        raise Invalid(message, code="search_too_broad")
    smallest, *others = sorted(narrow.values(), key=len)
    found = {id: sort for id, sort in smallest.items() if all(id in other for other in others)}
    for term in asked:
        # Less to read than the records that were found, to see whether they match it, too.
        if term not in narrow and (most := len(found) * _ENTRIES_A_RECORD) > MOST_MATCHES:
            more = whole(kind, term, most)
            if more is not None:
                narrow[term] = more
                found = {id: sort for id, sort in found.items() if id in more}
    known = counts(kind, where, results[len(results) - len(cells) :]) if where else None
    return found, [term for term in terms if term not in narrow], known, after


def whole(kind: Kind, term: str, most: int) -> Found | None:
    """All matches of a term, or None when they are more than `most`."""
    parts: list[tuple[str, Found | None]] = []
    for shards in word_shards():
        of, calls = _reading(kind, [term], shards, most)
        parts += zip(of, table.together(calls), strict=True)
    return _narrow(parts, most).get(term)


def _reading(
    kind: Kind, terms: list[str], shards: int, most_matches: int
) -> tuple[list[str], list[Callable[[], Found | None]]]:
    """The calls that read the terms from the partitions of one spread, and the term of each."""
    # One shard's part of the most matches, with room for an uneven hash (ten times its spread).
    part = most_matches / shards
    most = min(most_matches, math.ceil(part + 10 * math.sqrt(part)))
    places = [
        (term, kind.word_pk(term, shard, shards)) for term in terms for shard in range(shards)
    ]
    return [term for term, _ in places], [partial(_shard, pk, term, most) for term, pk in places]


def _narrow(parts: Iterable[tuple[str, Found | None]], most: int) -> dict[str, Found]:
    """What each term found, of those that did not find too much."""
    found: dict[str, Found | None] = {}
    for term, part in parts:
        before = found.get(term, {})
        found[term] = None if part is None or before is None else before | part
    return {term: all for term, all in found.items() if all is not None and len(all) <= most}


def _shard(pk: str, term: str, most: int) -> Found | None:
    """The matches in one shard, or None when they are too many to be read."""
    found: Found = {}
    where = table.sk.begins_with(escape(term))
    for items in table.pages(pk, where=where, limit=most + 1, fields=("sk",)):
        for item in items:
            _, sort, id = item["sk"].split("#")
            found[id] = sort
        if len(found) > most:
            return None
    return found
