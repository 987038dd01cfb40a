"""Which records hold a text, such as a SKU: exact where a search is for beginnings."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.listing.entries import Kind, escape, word_shards
from chalicelib.listing.words import LONGEST_WORD, fold

_MOST: Final = 50  # entries of one shard that are read; more begin with a text like `1`


def holders(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """For each text the ids of the records that may hold it: a few too many, to be compared.

    Complete as long as a record has fewer words than its kind stores, and as fewer than 50 words
    of a shard begin with the text; beyond, those records for which it is a word of its own.
    """
    whole = {text: fold(text).split() for text in texts}
    words = {text: max(of, key=len)[:LONGEST_WORD] for text, of in whole.items() if of}
    shards = [(shard, of) for of in word_shards() for shard in range(of)]
    asked = [(word, kind.word_pk(word, *shard)) for word in set(words.values()) for shard in shards]
    found: dict[str, set[str]] = {}
    answers = table.together([partial(_ids, word, pk) for word, pk in asked])
    for (word, _), ids in zip(asked, answers, strict=True):
        found.setdefault(word, set()).update(ids)
    return {text: found[words[text]] if text in words else set() for text in whole}


def _ids(word: str, pk: str) -> list[str]:
    begins = escape(word)
    rows = table.query(pk, where=table.sk.begins_with(begins), limit=_MOST, fields=("sk",))
    if rows.after is not None:
        whole = table.sk.begins_with(f"{begins}#")
        rows = table.query(pk, where=whole, limit=_MOST, fields=("sk",))
    return [item["sk"].rsplit("#", 1)[1] for item in rows.items]
