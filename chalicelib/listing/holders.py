"""Which records hold a text, such as a SKU: exact where a search is for beginnings.

They are found by their words in the index; a text that it has no room for has an entry of its own:

| entry | pk | sk |
|---|---|---|
| name | `name#<kind>#<first letter>#<shard>of4` | `<word>#<id>` |

No transaction holds all of these beside the record. They are written before it, and stay when it
changes: they may say too much, never too little. Those of its last version go with it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from chalicelib import table
from chalicelib.attributes import Key
from chalicelib.listing.entries import Index, Kind, escape, shard_of, word_shards
from chalicelib.listing.search import whole
from chalicelib.listing.words import LONGEST_WORD, fold

_ENTRIES: Final = 100  # of one query: as much CPU as the query itself
_MOST: Final = 20  # candidates for one text in one shard
_NAME_SHARDS: Final = 4
_MOST_ALIKE: Final = 2_000  # … in all shards
_LAST: Final = "\U0010ffff"

Spread = Callable[[Kind, str], list[str]]  # the partitions in which a word of a kind may be


def holders(kind: Kind, texts: Iterable[str]) -> tuple[dict[str, set[str]], set[str]]:
    """For each text the ids of the records that may hold it: some too many, to be compared. And
    the texts of which `alike` may find more.

    Complete if the names of `names_beyond` are written, but for the latter: more than 20 words of a
    shard begin with them, so those records are told for which they are words of their own.

    Texts that begin alike are near each other in the index: one query of a shard answers many.
    """
    words = {text: _word(text) for text in texts}
    wanted = sorted(set(words.values()) - {""}, key=escape)
    found: dict[str, set[str]] = {word: set() for word in words.values()}
    crowded = set[str]()
    # In this order a record that moves meanwhile is met at least once: from old partitions to new
    # ones, or, by an edit that leaves no room for it, from the index to the names.
    for spread in (*map(_words_of, word_shards()), _name_pks):
        for word, block in _blocks(kind, wanted, spread):
            if len(block) > _MOST:
                crowded.add(word)
                found[word] |= _own(word, block)
            else:
                found[word].update(map(_id, block))
    held = {text: found[word] for text, word in words.items()}
    return held, {text for text, word in words.items() if word in crowded}


def alike(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """For each text the records that have words which begin with it, one of which may stand for it;
    of more than 2,000 none."""
    return {text: set(whole(kind, _word(text), _MOST_ALIKE) or ()) for text in texts}


def named(kind: Kind, text: str) -> set[str]:
    """The ids of the records that may hold a text for which their index has no room."""
    word = _word(text)
    blocks = _blocks(kind, [word], _name_pks) if word else ()
    return {id for word, block in blocks for id in _own(word, block)}


def names_beyond(kind: Kind, id: str, index: Index, texts: Iterable[str]) -> set[Key]:
    """The names that a record needs beside its index, to be found by each of the texts."""
    if not index.left_out:
        return set()
    lost = {word for word in map(_word, texts) if word and not index.matches({}, [word])}
    shard = shard_of(id, _NAME_SHARDS)
    return {(_name_pks(kind, word)[shard], f"{escape(word)}#{id}") for word in lost}


def write_names(names: Iterable[Key]) -> None:
    table.batch_write({"pk": pk, "sk": sk} for pk, sk in names)


def _word(text: str) -> str:
    """The word by which a text is looked up; none if it has nothing that is seen."""
    return max(fold(text).split(), key=len, default="")[:LONGEST_WORD]


def _words_of(shards: int) -> Spread:
    return lambda kind, word: [kind.word_pk(word, shard, shards) for shard in range(shards)]


def _name_pks(kind: Kind, word: str) -> list[str]:
    letter = escape(word[0])
    return [f"name#{kind.name}#{letter}#{at}of{_NAME_SHARDS}" for at in range(_NAME_SHARDS)]


def _blocks(kind: Kind, wanted: list[str], spread: Spread) -> Iterator[tuple[str, list[str]]]:
    """Each word, and the keys that begin with it, for each partition that it may be in."""
    partitions: dict[str, list[str]] = {}
    for word in wanted:
        for pk in spread(kind, word):
            partitions.setdefault(pk, []).append(word)
    reads = [partial(_read, pk, words) for pk, words in partitions.items()]
    for words, blocks in zip(partitions.values(), table.together(reads), strict=True):
        yield from zip(words, blocks, strict=True)


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


def _own(word: str, block: Iterable[str]) -> set[str]:
    """The ids of those that have this very word."""
    return {_id(key) for key in block if key.startswith(f"{escape(word)}#")}


def _id(key: str) -> str:
    return key.rsplit("#", 1)[1]
