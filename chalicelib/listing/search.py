"""Which records have a word that begins with each term of a search."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from chalicelib.listing.counts import Counts, Where, count_calls, sum_counts
from chalicelib.listing.kinds import Kind, escape
from chalicelib.problems import Invalid
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.dynamodb import DynamoCall

MOST_MATCHES = 10_000
# Terms that are read from the index; the others, the shortest ones, are checked on the records
# found.
_MOST_READ: Final = 8
# Loading a record costs as much CPU as reading this many entries, and more units.
ENTRIES_A_RECORD: Final = 50
_MOST_WHOLE: Final = 1_000

Found = dict[str, str]  # id → sort


class TooBroad(Invalid):
    code = "search_too_broad"
    text = f"More than {MOST_MATCHES} records match. Search for something more specific."


@dataclass
class Matches:
    """The matches by words. `sure`: id → sort. `claimed`: id → generations with their sorts.

    A claimed one is a match only if one of its generations is the record's, because words written
    ahead may be left by a failed or superseded write.
    """

    sure: Found = field(default_factory=dict)
    claimed: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    at_least: bool = False  # there are more, which only begin with the term

    def __len__(self) -> int:
        return len(self.sure.keys() | self.claimed.keys())

    def __contains__(self, id: str) -> bool:
        return id in self.sure or id in self.claimed

    def keep(self, holds: Callable[[str], bool]) -> None:
        """Drop the matches whose sort does not pass `holds`, and the claims whose sort does not."""
        self.sure = {id: sort for id, sort in self.sure.items() if holds(sort)}
        self.claimed = {
            id: kept
            for id, claims in self.claimed.items()
            if (kept := {claim for claim in claims if holds(claim[0])})
        }

    def join(self, other: "Matches") -> None:
        """Add the sure and the claimed matches of another set to this one: the union.

        `at_least` stays as it is.
        """
        self.sure |= other.sure
        for id, generations in other.claimed.items():
            self.claimed.setdefault(id, set()).update(generations)

    def meet(self, other: "Matches") -> "Matches":
        """Return a new set of the matches that are in both: the intersection.

        It is sure only of those that both are sure of. Of one that a single set is sure of, the
        other's claims stay; of one that both only claim, the claims that both have, and without any
        it is left out. It has `at_least` if one of them has.
        """
        both = Matches(at_least=self.at_least or other.at_least)
        for id in self.sure.keys() | self.claimed.keys():
            if id not in other:
                continue
            if id in self.sure and id in other.sure:
                both.sure[id] = other.sure[id]
                continue
            known = [matches.claimed[id] for matches in (self, other) if id not in matches.sure]
            if generations := set.intersection(*known):
                both.claimed[id] = generations
        return both


def match_terms(
    kind: Kind, where: Where, terms: list[str], counted: bool
) -> tuple[Matches, list[str], Counts | None]:
    """Read the word index; return (matches, terms that were not checked, counts of `where`).

    The matches are those of all narrow terms: a term is narrow if its matches can be read
    completely. They pass no filter, and are not verified (`verify_matches`); the caller has to
    compare their records with the other terms. If no term is narrow, the longest is read as a whole
    word only, with `at_least` set; raises TooBroad if that finds none, or too many. `where` is only
    counted, in the same round trip: the counts are None unless `counted`.
    """
    read = sorted(terms, key=len, reverse=True)[:_MOST_READ]
    cells = count_calls(kind, where) if counted else []
    terms_read, calls = _term_calls(kind, read, MOST_MATCHES)
    results = dynamodb.wait_for_results([*calls, *cells])
    narrow = _narrow_terms(zip(terms_read, results, strict=False), MOST_MATCHES)
    if not narrow:
        narrow = {term: _find_whole_words(kind, term) for term in read[:1]}
    smallest, *others = sorted(narrow.values(), key=len)
    matches = smallest
    for other in others:
        matches = matches.meet(other)
    for term in read:
        # Cheaper to read than to load the found records and compare them.
        if term not in narrow and (most_matches := len(matches) * ENTRIES_A_RECORD) > MOST_MATCHES:
            term_matches = find_matches(kind, term, most_matches)
            if term_matches is not None:
                narrow[term] = term_matches
                matches = matches.meet(term_matches)
    known = sum_counts(kind, where, results[len(results) - len(cells) :]) if cells else None
    return matches, [term for term in terms if term not in narrow], known


def _find_whole_words(kind: Kind, term: str) -> Matches:
    """Read the matches that have the term as a whole word; return them with `at_least` set.

    Raises TooBroad if there are none or too many.
    """
    matches = find_matches(kind, term, min(_MOST_WHOLE, MOST_MATCHES), suffix="#")
    if not matches:
        raise TooBroad
    matches.at_least = True
    return matches


def find_matches(kind: Kind, term: str, most_matches: int, suffix: str = "") -> Matches | None:
    """Read all matches of a term; return None if there are more than `most_matches`.

    They are not verified. `suffix`: what follows the term in the key, `#` for the term as a whole
    word.
    """
    terms_read, calls = _term_calls(kind, [term], most_matches, suffix)
    results = dynamodb.wait_for_results(calls)
    return _narrow_terms(zip(terms_read, results, strict=True), most_matches).get(term)


def verify_matches(
    kind: Kind, matches: Matches, read_all_entries: bool
) -> tuple[Found, dict[str, Item]]:
    """Return {id: sort} of the matches that no failed write left, and list entries by record id.

    A sure match is taken as it is. A claimed one is verified by its entry in the list of all, whose
    generation must be the claimed one. These entries are read and returned; with `read_all_entries`
    also those of the sure matches, if they exist.
    """
    sorts = {id: {sort for sort, _ in claims} for id, claims in matches.claimed.items()}
    if read_all_entries:
        for id, sort in matches.sure.items():
            sorts.setdefault(id, set()).add(sort)
    entries = table.batch_get(
        kind.entry_key("*", id, sort) for id, sorts_of in sorts.items() for sort in sorts_of
    )
    sure, by_id = dict(matches.sure), dict[str, Item]()
    for (_, sk), entry in entries.items():
        sort, _, id = sk.rpartition("#")
        if id in matches.sure:
            by_id |= {id: entry} if matches.sure[id] == sort else {}
        elif (sort, entry.get("generation", "")) in matches.claimed[id]:
            sure[id], by_id[id] = sort, entry
    return sure, by_id


def _term_calls(
    kind: Kind, terms: list[str], most_matches: int, suffix: str = ""
) -> tuple[list[str], list[DynamoCall[Matches | None]]]:
    """Return the term of each unsent call, and the calls: one for each term and shard.

    Each results in the matches in the shard, None for too many.
    """
    # One shard's part of the most matches, with room for an uneven hash (ten times its spread).
    part = most_matches / kind.word_shards
    most_in_shard = min(most_matches, math.ceil(part + 10 * math.sqrt(part)))
    parts = [(term, pk) for term in terms for pk in kind.word_pks(term)]
    terms_read = [term for term, _ in parts]
    return terms_read, [_read_shard(pk, escape(term) + suffix, most_in_shard) for term, pk in parts]


def _narrow_terms(
    parts: Iterable[tuple[str, Matches | None]], most_matches: int
) -> dict[str, Matches]:
    """Return the joined matches of each term with at most `most_matches`; others are left out.

    `parts`: (term, matches in one shard); None: there are too many in it.
    """
    by_term: dict[str, Matches | None] = {}
    for term, part in parts:
        before = by_term.setdefault(term, Matches())
        if part is None or before is None:
            by_term[term] = None
        else:
            before.join(part)
    return {
        term: every
        for term, every in by_term.items()
        if every is not None and len(every) <= most_matches
    }


def _read_shard(pk: str, begin: str, most_matches: int) -> DynamoCall[Matches | None]:
    """Return the unsent call that reads the matches in one shard; it results in None for too many.

    `begin`: of the keys, the term.
    """
    matches = Matches()
    where = table.sk.begins_with(begin)

    def query_shard(after: str | None) -> DynamoCall[Any]:
        """Return the unsent call that collects the matches after the key `after`, or the first."""
        return table.query.call(
            pk,
            where=where,
            fields=("sk",),
            limit=most_matches + 1,
            after=after,
            then=collect_matches,
        )

    def collect_matches(rows: table.Rows) -> object:
        """Add these entries to `matches`; return it, the next query, or None for too many."""
        for item in rows.items:
            _, sort, id = item["sk"].split("#")
            if "+" in sort:
                sort, _, generation = sort.partition("+")
                matches.claimed.setdefault(id, set()).add((sort, generation))
            else:
                matches.sure[id] = sort
        if len(matches) > most_matches:
            return None
        return matches if rows.after is None else query_shard(rows.after)

    return query_shard(None)
