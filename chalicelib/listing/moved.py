"""The end of a move to another index: entries that no record has are removed, and the index is
ready.

Functions of the previous release do not know the new lists. Records that they change or delete
during a deployment leave entries there. A scan of the table finds them.
"""

from collections.abc import Collection, Iterable, Iterator

from chalicelib.listing import words as text
from chalicelib.listing.counts import counts
from chalicelib.listing.entries import entries_of
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import READY, Kind, escape
from chalicelib.listing.move import Records
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr


def is_ready(kind: Kind) -> bool:
    return counts(kind, {}, [table.everything(kind.count_pk())]).ready


def ready(kind: Kind) -> None:
    """Notes that all records of the kind are indexed as in this release."""
    table.put({"pk": kind.count_pk(), "sk": f"{READY}#0", "n": 0})


def sweep(records: Records) -> int:
    """Removes the entries of a kind that its records do not have; returns their number."""
    begins, removed = tuple(_since(records.kind)), 0
    for keys in table.scan(f"list#{records.kind.name}#"):
        ids = {key: key[1].rsplit("#", 1)[1] for key in keys if key[0].startswith(begins)}
        stored = table.batch_get(records.key(id) for id in set(ids.values()))
        for key, id in ids.items():
            removed += _removed(records, key, id, stored.get(records.key(id)))
    return removed


def _removed(records: Records, key: Key, id: str, item: Item | None) -> bool:
    """Unless the record, as it was read, has the entry, or was written since."""
    if item and key in entries_of(records.kind, id, Index.read(item["index"])):
        return False
    commit = Commit()
    commit.delete(key)
    commit.check(records.key(id), Attr("index").eq(item["index"]) if item else table.absent)
    return commit.sent()


def discard(records: Records, item: Item, words: Collection[str], before: int) -> bool:
    """Removes a word entry of a generation that its record does not have, left by a failed write.
    Only one of these words, and from before that time (Unix seconds), because a write may still be
    running."""
    key: Key = item["pk"], item["sk"]
    word, _, rest = item["sk"].partition("#")
    if not item["pk"].startswith(f"word#{records.kind.name}#") or word not in words:
        return False
    if "at" not in item or item["at"] > before:
        return False
    id = rest.rpartition("#")[2]
    return _removed(records, key, id, table.get(records.key(id)))


def words_of(texts: Iterable[str]) -> set[str]:
    """The words of a record with these texts, whole or in parts, as written in keys."""
    return {escape(word) for one in texts for word in text.words([one], [one])}


def _since(kind: Kind) -> Iterator[str]:
    """The prefixes of the partitions of the new lists."""
    for name in kind.since:
        if name == kind.several:
            yield from (f"list#{kind.name}#{name}=", f"list#{kind.name}#{name}*#")
        else:
            yield f"list#{kind.name}#{name}{'=' if name in kind.listed else '#'}"
