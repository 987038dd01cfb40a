"""The few best matches of a search: whole words first, then the newest."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from chalicelib.listing.kinds import Kind, escape
from chalicelib.storage import table
from chalicelib.storage.dynamodb import DynamoCall

_WHOLE: Final = 5  # entries of a shard that have the term as a whole word
_BEGINNING: Final = 15  # … that only begin with it
_BESIDE: Final = 500  # … of one of several terms, because few records may have all of them
MOST_CANDIDATES: Final = 20  # candidates that are loaded

_Read = DynamoCall[table.Rows]


def candidate_calls(kind: Kind, terms: Sequence[str]) -> list[_Read]:
    """Return the unsent calls that read a few entries of each term, the last keys first.

    For each term and shard there are two: of the entries with the term as a whole word (5), and of
    those with a word that begins with it (15, or 500 if there are several terms). `rank_candidates`
    takes the results in this order. Their number does not depend on the records.
    """
    calls: list[_Read] = []
    for term in terms:
        limit = _BEGINNING if len(terms) == 1 else _BESIDE
        whole, begins = map(table.sk.begins_with, (f"{escape(term)}#", escape(term)))
        for pk in kind.word_pks(term):
            call = partial(table.query.call, pk, forward=False, fields=("sk",))
            calls.append(call(where=whole, limit=_WHOLE))
            calls.append(call(where=begins, limit=limit))
    return calls


def rank_candidates(terms: Sequence[str], read: Sequence[table.Rows]) -> list[str]:
    """Return the ids of up to MOST_CANDIDATES records: with a whole word first, then the newest.

    They are the ids that were read for every term. If there are none, and for some term not all was
    read, they are those of the term with the fewest; so the caller has to compare the records.
    `read`: the results of `candidate_calls`.
    """
    each = len(read) // len(terms)
    whole, cut = set[str](), list[bool]()
    matches: list[dict[str, str]] = []
    for at in range(len(terms)):
        rows = read[at * each : (at + 1) * each]
        places = [item["sk"].rsplit("#", 2)[1:] for part in rows for item in part.items]
        matches.append({id: sort for sort, id in places})
        whole |= {item["sk"].rsplit("#", 1)[1] for part in rows[::2] for item in part.items}
        cut.append(any(part.after is not None for part in rows[1::2]))
    common = set.intersection(*map(set, matches))
    if not common and any(cut):
        common = set(sorted(matches, key=len)[0])  # missing records may be among the unread entries
    sorts = {id: sort for sorts_of in matches for id, sort in sorts_of.items()}
    best = sorted(common, key=lambda id: (id in whole, sorts[id], id), reverse=True)
    return best[:MOST_CANDIDATES]
