"""Which records hold a text, such as a SKU: exact where a search is for beginnings.

They are found by their words in the index; a text that it has no room for has an entry of its own:

| entry | pk | sk |
|---|---|---|
| name | `name#<kind>#<first letter>#<shard>of4` | `<word>#<id>` |

No transaction holds all of these beside the record. They are written before it, and stay until it
goes: they may say too much, never too little.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.attributes import Key
from chalicelib.listing.entries import Index, Kind, escape, shard_of, word_shards
from chalicelib.listing.words import LONGEST_WORD, fold

_ENTRIES: Final = 100  # of one query: as much CPU as the query itself
_MOST: Final = 20  # candidates for one text in one shard
_NAME_SHARDS: Final = 4
_LAST: Final = "\U0010ffff"


def holders(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """For each text the ids of the records that may hold it: some too many, to be compared.

    Complete if the names of `names_beyond` are written, and no more than 20 words of a shard begin
    with the text; beyond, those records for which it is a word of its own.

    Texts that begin alike are near each other in the index: one query of a shard answers many.
    """
    words = {text: _word(text) for text in texts}
    wanted = {word for word in words.values() if word}
    # A text that an edit takes from the index was named before: whoever looks later finds that.
    found = [_beginning(kind, wanted, pks) for pks in (_word_pks, _name_pks)]
    return {text: {id for ids in found for id in ids.get(word, ())} for text, word in words.items()}


def named(kind: Kind, text: str) -> set[str]:
    """The ids of the records that may hold a text for which their index has no room."""
    word = _word(text)
    return _beginning(kind, {word}, _name_pks)[word] if word else set()


def names_beyond(kind: Kind, id: str, index: Index, texts: Iterable[str]) -> set[Key]:
    """The names that a record needs beside its index, to be found by each of the texts."""
    if not index.left_out:
        return set()
    lost = {word for word in map(_word, texts) if word and not index.matches({}, [word])}
    shard = shard_of(id, _NAME_SHARDS)
    return {(_name_pks(kind, word)[shard], f"{escape(word)}#{id}") for word in lost}


def write_names(names: Iterable[Key]) -> None:
    table.together([partial(table.put, {"pk": pk, "sk": sk}) for pk, sk in names])


def _beginning(
    kind: Kind, words: set[str], pks: Callable[[Kind, str], list[str]]
) -> dict[str, set[str]]:
    """For each word the ids behind what begins with it, in the partitions that it may be in."""
    partitions: dict[str, list[str]] = {}
    for word in words:
        for pk in pks(kind, word):
            partitions.setdefault(pk, []).append(escape(word))
    reads = [partial(_read, pk, sorted(wanted)) for pk, wanted in partitions.items()]
    found: dict[str, set[str]] = {escape(word): set() for word in words}
    for part in table.together(reads):
        for begin, ids in part.items():
            found[begin] |= ids
    return {word: found[escape(word)] for word in words}


def _word(text: str) -> str:
    """The word by which a text is looked up; none if it has nothing that is seen."""
    return max(fold(text).split(), key=len, default="")[:LONGEST_WORD]


def _word_pks(kind: Kind, word: str) -> list[str]:
    return [kind.word_pk(word, shard, of) for of in word_shards() for shard in range(of)]


def _name_pks(kind: Kind, word: str) -> list[str]:
    letter = escape(word[0])
    return [f"name#{kind.name}#{letter}#{at}of{_NAME_SHARDS}" for at in range(_NAME_SHARDS)]


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
