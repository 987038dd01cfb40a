"""Words of failed writes that mention a person: an erasure removes them."""

from collections.abc import Callable, Iterable

from chalicelib.listing import words as text
from chalicelib.listing.entries import entries_of
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import escape
from chalicelib.listing.query import Indexed
from chalicelib.listing.records import Records
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr


def discard(
    records: Records[Indexed], item: Item, wanted: Callable[[str, str], bool], before: int
) -> bool:
    """Removes a word entry of a generation that its record does not have, left by a failed write.
    Only a `wanted` one, by its word as written in keys and the record's id, and from before that
    time (Unix seconds), because a write may still be running."""
    key: Key = item["pk"], item["sk"]
    if not item["pk"].startswith(f"word#{records.kind.name}#"):
        return False
    if "at" not in item or item["at"] > before:
        return False
    word, _, rest = item["sk"].partition("#")
    id = rest.rpartition("#")[2]
    if not wanted(word, id):
        return False
    stored = table.get(records.key(id))
    if stored and key in entries_of(records.kind, id, Index.read(stored["index"])):
        return False
    commit = Commit()
    commit.delete(key)
    same = Attr("index").eq(stored["index"]) if stored else table.absent
    commit.check(records.key(id), same)  # unless it was written since
    return commit.sent()


def words_of(texts: Iterable[str]) -> set[str]:
    """The words of a record with these texts, whole or in parts, as written in keys."""
    return {escape(word) for one in texts for word in text.words([one], [one])}
