"""Moving a record to where the code that runs now would index it (`infra/reindex.py`)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from chalicelib import table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr
from chalicelib.listing.entries import Index, Kind, change
from chalicelib.listing.holders import names_beyond, write_names
from chalicelib.problems import Busy

_ATTEMPTS: Final = 20


@dataclass(frozen=True)
class Records:
    """Where the records of a kind are, and how they are indexed now.

    `key`: of a record, by its id. `index`: of a record as it is stored; it has `index`, as
    `Index.stored` wrote it, and unless it never changes `version`, on which its writers condition.
    `names`: by which texts `holders` is to find it.
    """

    kind: Kind
    key: Callable[[str], Key]
    index: Callable[[Item], Index]
    names: Callable[[Item], Iterable[str]] = lambda item: ()


def reindex(records: Records, id: str) -> bool:
    """Moves one record, and says whether it had to be.

    Nobody notices but a writer who has read it just before: to him it is a version that another
    wrote, and he must not remove entries from where they were. Raises Busy.
    """
    for _ in range(_ATTEMPTS):
        item = table.get(records.key(id))
        if item is None:
            return False
        stored, fresh = item["index"], records.index(item)
        write_names(names_beyond(records.kind, id, fresh, records.names(item)))
        if stored == fresh.stored():
            return False
        unchanged = Attr("index").eq(stored)
        if "version" in item:
            unchanged &= Attr("version").eq(item["version"])
        commit = Commit()
        commit.update(
            records.key(id),
            set={"index": fresh.stored()},
            add={"version": 1} if "version" in item else {},
            when=unchanged,
        )
        change(commit, records.kind, id, Index.read(stored), fresh)
        try:
            commit.send()
            return True
        except table.ConditionFailed:
            continue  # a client was faster; he may have indexed it, too
    raise Busy
