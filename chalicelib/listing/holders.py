"""Which records hold a text, such as a SKU: exact where a search is for beginnings."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.listing.entries import Kind, escape, word_shards
from chalicelib.listing.words import LONGEST_WORD, fold

_ENTRIES: Final = 100  # of one query: as much CPU as the query itself
_MOST: Final = 20  # candidates for one text in one shard
_LAST: Final = "\U0010ffff"


def holders(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """For each text the ids of the records that may hold it: some too many, to be compared.

    Complete as long as a record has no more words than its kind stores, and no more than 20 words
    of a shard begin with the text; beyond, those records for which it is a word of its own.

    Texts that begin alike are near each other in the index: one query of a shard answers many.
    """
    words = {text: max(fold(text).split(), key=len)[:LONGEST_WORD] for text in texts}
    partitions: dict[str, list[str]] = {}
    for word in sorted(set(words.values())):
        for shards in word_shards():
            for shard in range(shards):
                pk = kind.word_pk(word, shard, shards)
                partitions.setdefault(pk, []).append(escape(word))
    found: dict[str, set[str]] = {}
    reads = [partial(_read, pk, sorted(wanted)) for pk, wanted in partitions.items()]
    for part in table.together(reads):
        for begin, ids in part.items():
            found.setdefault(begin, set()).update(ids)
    return {text: found[escape(word)] for text, word in words.items()}


def _read(pk: str, wanted: Sequence[str]) -> dict[str, set[str]]:
    """The ids behind each beginning, in one partition: from where the first is, as far as a query
    goes, then from where the next is that was not reached."""
    found: dict[str, set[str]] = {}
    at, last = 0, wanted[-1] + _LAST
    while at < len(wanted):
        start = wanted[at]
        rows = _rows(pk, start, last)
        keys = [item["sk"] for item in rows.items]
        while at < len(wanted):
            begin = wanted[at]
            block = keys[bisect_left(keys, begin) : bisect_left(keys, begin + _LAST)]
            is_cut = rows.after is not None and block[-1:] == keys[-1:]
            if is_cut and begin != start:
                break  # more of them may follow
            if is_cut or len(block) > _MOST:
                # Before all that begins with the text stands what is the text.
                block = [key for key in block if key.startswith(f"{begin}#")]
            found[begin] = {key.rsplit("#", 1)[1] for key in block}
            at += 1
    return found


def _rows(pk: str, first: str, last: str) -> table.Rows:
    between = table.sk.between(first, last)
    return table.query(pk, where=between, limit=_ENTRIES, fields=("sk",))
