"""Which records contain a text, such as a SKU, as a whole."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from chalicelib.listing.kinds import Kind, escape
from chalicelib.listing.words import whole_word
from chalicelib.storage import dynamodb, table
from chalicelib.storage.dynamodb import DynamoCall

_ENTRIES: Final = 100  # entries that cost as much CPU as the query itself
_MANY: Final = 10_000  # entries of one word in a partition; more are not read
_LAST: Final = "\U0010ffff"


def find_records_by_text(kind: Kind, texts: Iterable[str]) -> dict[str, set[str]]:
    """Return, by text, the ids of the records that may have it among `exact` (`Index.build`).

    The word index is read, not the records: the caller compares them, because some do not have it.
    A text of nothing visible has no ids. Texts with the same beginning are close together in the
    index: one query of a shard finds many.
    """
    words = {text: whole_word(text) for text in texts}
    wanted = [*{*words.values()} - {""}]
    ids: dict[str, set[str]] = {word: set() for word in words.values()}
    for word, block in _read_blocks(kind, wanted):
        ids[word].update(key.rsplit("#", 1)[1] for key in block)
    return {text: ids[word] for text, word in words.items()}


def _read_blocks(kind: Kind, wanted: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Read all partitions that may hold the words, together; yield (word, its keys in a partition).

    A key is the `sk` of a word entry. A word comes once for each of its partitions, also with no
    keys. `wanted`: words as a whole (`whole_word`), each once.
    """
    partitions: dict[str, list[str]] = {}
    for word in sorted(wanted, key=_key_prefix):
        for pk in kind.word_pks(word):
            partitions.setdefault(pk, []).append(word)
    reads = [_read_partition(pk, [*map(_key_prefix, words)]) for pk, words in partitions.items()]
    for words, blocks in zip(partitions.values(), dynamodb.wait_for_results(reads), strict=True):
        yield from zip(words, blocks, strict=True)


def _read_partition(pk: str, begins: Sequence[str]) -> DynamoCall[list[list[str]]]:
    """Return the unsent call that reads one partition; its result is the keys of each prefix.

    `begins`: the prefixes, sorted. A key is an `sk`. About 10,000 keys of one prefix are read at
    most. One query reads from the first prefix on; the next from the first prefix that was not
    reached, or after the last key of a prefix whose keys were cut off.
    """
    blocks: list[list[str]] = []

    def query_onward(cut: Sequence[str] = ()) -> DynamoCall[Any]:
        """Return the call that reads on from the first prefix that is not in `blocks` yet.

        `cut`: the keys of that prefix that were read already; the query begins after the last one.
        `collect_blocks` takes its rows.
        """
        return table.query.call(
            pk,
            where=table.sk.between(begins[len(blocks)], begins[-1] + _LAST),
            after=cut[-1] if cut else None,
            limit=_MANY if cut else _ENTRIES,
            fields=("sk",),
            then=partial(collect_blocks, cut),
        )

    def collect_blocks(cut: Sequence[str], rows: table.Rows) -> object:
        """Add a block of keys to `blocks` for each prefix that `rows` reach; return all blocks.

        `cut`: the keys of the first of these prefixes that were read before. If more keys of a
        prefix may follow, and it has fewer than _MANY, it gets no block yet: the next query is
        returned instead, unsent. A prefix without keys gets [].
        """
        keys = [*cut, *(item["sk"] for item in rows.items)]
        for begin in begins[len(blocks) :]:
            block = keys[bisect_left(keys, begin) : bisect_left(keys, begin + _LAST)]
            # More of them may follow, or all of them may be after what was read.
            is_cut = rows.after is not None and not keys[-1] > begin + _LAST
            if is_cut and len(block) < _MANY:
                return query_onward(block)
            blocks.append(block)
        return blocks

    return query_onward()


def _key_prefix(word: str) -> str:
    """Return the beginning of the `sk` of all entries of a word as a whole."""
    return f"{escape(word)}#"
