"""Which records hold a text, such as a SKU: exact where a search is for beginnings."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.listing.entries import Kind, escape, word_shards
from chalicelib.listing.search import whole
from chalicelib.listing.words import LONGEST_WORD, fold

_ENTRIES: Final = 100  # of one query: as much CPU as the query itself
_MOST: Final = 20  # candidates for one text in one shard
_MOST_IF_NONE: Final = 2_000  # … in all shards, where no record has exactly this word
_LAST: Final = "\U0010ffff"


def holders(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """For each text the ids of the records that may hold it: some too many, to be compared.

    Complete as long as a record has no more words than its kind stores, and no more than 20 words
    of a shard begin with the text. Beyond, those records for which it is a word of its own; where
    there are none, all that have words which begin with it, of which one may stand for it, if
    those are no more than 2,000.

    Texts that begin alike are near each other in the index: one query of a shard answers many.
    """
    words = {text: max(fold(text).split(), key=len, default="")[:LONGEST_WORD] for text in texts}
    wanted = sorted(set(words.values()) - {""}, key=escape)
    found: dict[str, set[str]] = {word: set() for word in words.values()}
    exact, crowded = set[str](), set[str]()
    # Old partitions first: a record that moves to the new ones meanwhile is met at least once.
    for shards in word_shards():
        partitions: dict[str, list[str]] = {}
        for word in wanted:
            for shard in range(shards):
                partitions.setdefault(kind.word_pk(word, shard, shards), []).append(word)
        reads = [partial(_read, pk, some) for pk, some in partitions.items()]
        for some, blocks in zip(partitions.values(), table.together(reads), strict=True):
            for word, block in zip(some, blocks, strict=True):
                own = {_id(key) for key in block if key.startswith(f"{escape(word)}#")}
                exact |= {word} if own else set()
                if len(block) > _MOST:
                    crowded.add(word)
                    found[word] |= own
                else:
                    found[word].update(map(_id, block))
    for word in crowded - exact:
        found[word].update(whole(kind, word, _MOST_IF_NONE) or ())
    return {text: found[word] for text, word in words.items()}


def _read(pk: str, wanted: Sequence[str]) -> list[list[str]]:
    """The keys that begin with each word in one partition, or as many as a query gives: from where
    the first is, as far as that goes, then from where the next is that was not reached."""
    found: list[list[str]] = []
    begins = list(map(escape, wanted))
    while len(found) < len(begins):
        start = begins[len(found)]
        rows = _rows(pk, start, begins[-1] + _LAST)
        keys = [item["sk"] for item in rows.items]
        for begin in begins[len(found) :]:
            block = keys[bisect_left(keys, begin) : bisect_left(keys, begin + _LAST)]
            is_cut = rows.after is not None and block[-1:] == keys[-1:]
            if is_cut and begin != start:
                break  # more of them may follow
            found.append(block)
    return found


def _rows(pk: str, first: str, last: str) -> table.Rows:
    between = table.sk.between(first, last)
    return table.query(pk, where=between, limit=_ENTRIES, fields=("sk",))


def _id(key: str) -> str:
    return key.rsplit("#", 1)[1]
