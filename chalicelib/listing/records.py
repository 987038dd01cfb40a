"""The records of a kind: read by their ids, and a page at a time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from chalicelib.listing.entries import change
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import Kind
from chalicelib.listing.pages import page
from chalicelib.listing.query import Indexed, Query
from chalicelib.problems import NotFound
from chalicelib.schemas import Page
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.values import ids

R_co = TypeVar("R_co", bound=Indexed, covariant=True)


@dataclass(frozen=True)
class Records(Generic[R_co]):
    """The records of a kind, and their current index.

    `key`: of a record, by its id. `index`: the new index of a stored record. The record has
    `index`, as `Index.stored` wrote it, and, unless it never changes, `version`, which its writers
    use as a condition. `read`: the record of an item. `prefix`: of ids. `what`: it is called in
    errors, if not as the kind.
    """

    kind: Kind
    key: Callable[[str], Key]
    index: Callable[[Item], Index]
    read: Callable[[Item], R_co]
    prefix: str = ""
    what: str = ""

    def load(self, wanted: Iterable[str], fields: Iterable[str] = ()) -> list[R_co]:
        """Those that exist of these, in their order; of each these fields, if some are named."""
        only = ("id", "version", *fields) if fields else ()
        return list(map(self.read, table.existing(map(self.key, wanted), only)))

    def find(self, id: str, fields: Iterable[str] = ()) -> R_co | None:
        return next(iter(self.load([id] if ids.may_be(self.prefix, id) else [], fields)), None)

    def get(self, id: str, fields: Iterable[str] = ()) -> R_co:
        """Raises NotFound."""
        return NotFound.unless(self.find(id, fields), self.what or self.kind.name, id)

    def insert(self, commit: Commit, fields: Item, **room: int) -> Item:
        """Part of the commit that creates a record, with these fields; returns the whole item. It
        raises ConditionFailed if the id is taken. `room`: as of `change`."""
        index = change(commit, self.kind, fields["id"], None, self.index(fields), **room)
        assert index is not None
        pk, sk = self.key(fields["id"])
        item = {"pk": pk, "sk": sk, **fields, "index": index.stored()}
        commit.put(item, when=table.absent)
        return item

    def page(self, query: Query, fields: Iterable[str] = ()) -> Page[R_co]:
        return page(self.kind, query, partial(self.load, fields=query.reads(fields)))
