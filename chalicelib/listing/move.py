"""Moving a record to the index of the current code (`chalicelib/reindexing`)."""

from typing import Final

from chalicelib.listing.entries import change
from chalicelib.listing.index import Index
from chalicelib.listing.query import Indexed
from chalicelib.listing.records import Records
from chalicelib.problems import Busy
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr

_ATTEMPTS: Final = 20


def reindex(records: Records[Indexed], id: str, read: Item | None = None) -> bool:
    """Write a record's entries and `index` as the current code makes them; return whether it wrote.

    False: they are so already, or there is no record. `read`: its item, if it was read already. The
    record gets a new version, so that a writer who read it before does not remove entries from
    their old places. If the record changed meanwhile, it is read and tried again; Busy if it keeps
    changing.
    """
    for _ in range(_ATTEMPTS):
        item, read = read or table.get(records.key(id)), None
        if item is None:
            return False
        stored, wanted = item["index"], records.index(item)
        commit = Commit()
        fresh = change(commit, records.kind, id, Index.from_stored(stored), wanted)
        assert fresh is not None
        if stored == fresh.to_stored():
            return False
        unchanged = Attr("index").eq(stored)
        if "version" in item:
            unchanged &= Attr("version").eq(item["version"])
        commit.update(
            records.key(id),
            assign={"index": fresh.to_stored()},
            add={"version": 1},
            when=unchanged,
        )
        if commit.try_send():
            return True
        # A client wrote it first, and may have indexed it too.
    raise Busy
