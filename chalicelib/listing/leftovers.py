"""Words of failed writes that mention a person: an erasure removes them."""

from collections.abc import Iterable

from chalicelib.listing import kinds
from chalicelib.listing import words as text
from chalicelib.listing.entries import entries_of
from chalicelib.listing.index import Index
from chalicelib.listing.query import Indexed
from chalicelib.listing.records import Records
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr


def discard_words(records: Records[Indexed], word: str, before: int) -> int:
    """Delete word entries ahead that no record counts, of words that begin with `word`.

    Return how many were deleted. A failed write left them: their generation is not the record's, or
    there is no record. Only entries of `before` (Unix seconds) or earlier, because a later write
    may still be running. An entry whose record is written at the same moment stays. `word`: folded.
    """
    old = Attr("at").lte(before)
    count = 0
    for pk in records.kind.word_pks(word):
        where = table.sk.begins_with(kinds.escape(word))
        for page in table.pages(pk, where=where, matching=old):
            count += sum(_discard_entry(records, item) for item in page)
    return count


def _discard_entry(records: Records[Indexed], item: Item) -> bool:
    """Delete a word entry unless it is in the record's index; return whether it was deleted.

    It stays if the record's index is not the one that was compared any more, or a record that was
    absent is there.
    """
    key: Key = item["pk"], item["sk"]
    id = item["sk"].rpartition("#")[2]
    stored = table.get(records.key(id))
    if stored and key in entries_of(records.kind, id, Index.from_stored(stored["index"])):
        return False
    commit = Commit()
    commit.delete(key)
    same = Attr("index").eq(stored["index"]) if stored else table.absent
    commit.check(records.key(id), same)  # unless it was written since
    return commit.try_send()


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the words under which a record may be found by one of these texts, or by all of it."""
    return {word for source in texts for word in text.index_words([source], [source])}
