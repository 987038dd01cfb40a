"""The end of a move to another index: what no record has is removed, and all may rely on the rest.

Functions of the release before do not know the lists that came since. A record that they change or
delete while a deployment goes on leaves its entries there. They are found by a scan of the table.
"""

from collections.abc import Collection, Iterable, Iterator

from chalicelib import table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr
from chalicelib.listing import words as text
from chalicelib.listing.counts import counts
from chalicelib.listing.entries import entries_of
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import READY, Kind, escape
from chalicelib.listing.move import Records


def is_ready(kind: Kind) -> bool:
    return counts(kind, {}, [table.everything(kind.count_pk())]).ready


def ready(kind: Kind) -> None:
    """All records of the kind are indexed as this release does it."""
    table.put({"pk": kind.count_pk(), "sk": f"{READY}#0", "n": 0})


def sweep(records: Records) -> int:
    """Removes the entries of a kind that its records do not have; how many there were."""
    begins, removed = tuple(_since(records.kind)), 0
    for keys in table.scan(f"list#{records.kind.name}#"):
        ids = {key: key[1].rsplit("#", 1)[1] for key in keys if key[0].startswith(begins)}
        stored = table.batch_get(records.key(id) for id in set(ids.values()))
        for key, id in ids.items():
            removed += _removed(records, key, id, stored.get(records.key(id)))
    return removed


def _removed(records: Records, key: Key, id: str, item: Item | None) -> bool:
    """Unless the record, as it was read, has the entry; or somebody has written it since."""
    if item and key in entries_of(records.kind, id, Index.read(item["index"])):
        return False
    commit = Commit()
    commit.delete(key)
    commit.check(records.key(id), Attr("index").eq(item["index"]) if item else table.absent)
    try:
        commit.send()
    except table.ConditionFailed:
        return False
    return True


def discard(records: Records, item: Item, words: Collection[str], before: int) -> bool:
    """Removes a word entry of a generation that its record does not have: what a write that failed
    has left behind. Only one of these words, and from before that time (Unix seconds), because a
    write that has begun may still end."""
    key: Key = item["pk"], item["sk"]
    word, _, rest = item["sk"].partition("#")
    if not item["pk"].startswith(f"word#{records.kind.name}#") or word not in words:
        return False
    if "at" not in item or item["at"] > before:
        return False
    id = rest.rpartition("#")[2]
    return _removed(records, key, id, table.get(records.key(id)))


def words_of(texts: Iterable[str]) -> set[str]:
    """The words under which a record with these texts, whole or in parts, may be found; as they
    stand in keys."""
    return {escape(word) for one in texts for word in text.words([one], [one])}


def _since(kind: Kind) -> Iterator[str]:
    """How the partitions of the lists begin that came since."""
    for name in kind.since:
        if name == kind.several:
            yield from (f"list#{kind.name}#{name}=", f"list#{kind.name}#{name}*#")
        else:
            yield f"list#{kind.name}#{name}{'=' if name in kind.listed else '#'}"
