"""Which records have a word that begins with each term of a search."""

from collections.abc import Callable
from functools import partial

from chalicelib import table
from chalicelib.listing.counts import Counts, Where, counts, reads
from chalicelib.listing.entries import Kind, escape, word_shards
from chalicelib.problems import Invalid

MOST_MATCHES = 10_000
# One shard's part of that, with room for an uneven hash.
_SHARD_MATCHES = MOST_MATCHES * 5 // 4 // len(word_shards())

Found = dict[str, str]  # id → sort


def matches(
    kind: Kind, where: Where, terms: list[str], recall: Callable[[], str | None]
) -> tuple[Found, list[str], Counts | None, str | None]:
    """The records that match every term that is narrow enough to be read whole; the broad terms,
    which are yet to be checked; the counts if there are filters; and what `recall` gives.

    All of it is read at the same time. Raises Invalid (`search_too_broad`) where no term is narrow.
    """
    shards = [
        (term, kind.word_pk(term, shard)) for term in terms for shard in word_shards()
    ]
    pks = reads(kind, where) if where else []
    found_in = [partial(_shard, pk, term) for term, pk in shards]
    cells = [partial(table.everything, pk) for pk in pks]
    results = table.together([*found_in, *cells, recall])
    after, cell_items = results.pop(), results[len(shards) :]
    narrow: dict[str, Found] = {term: {} for term in terms}
    for (term, _), part in zip(shards, results, strict=False):
        if part is None:
            narrow.pop(term, None)
        elif term in narrow:
            narrow[term].update(part)
    for term, found in list(narrow.items()):
        if len(found) > MOST_MATCHES:
            del narrow[term]
    if not narrow:
        message = f"More than {MOST_MATCHES} records match. Search for something more specific."
        raise Invalid(message, code="search_too_broad")
    smallest, *others = sorted(narrow.values(), key=len)
    found = {
        id: sort
        for id, sort in smallest.items()
        if all(id in other for other in others)
    }
    known = counts(kind, where, cell_items) if where else None
    return found, [term for term in terms if term not in narrow], known, after


def _shard(pk: str, term: str) -> Found | None:
    """The matches in one shard, or None when they are too many to be read."""
    found: Found = {}
    after = None
    begins = escape(term)
    while True:
        rows = table.query(
            pk,
            where=table.sk.begins_with(begins),
            after=after,
            limit=_SHARD_MATCHES + 1,
            fields=("sk",),
        )
        for item in rows.items:
            _, sort, id = item["sk"].split("#")
            found[id] = sort
        if rows.after is None:
            return found
        if len(found) > _SHARD_MATCHES:
            return None
        after = rows.after
