"""The records of a kind: read by their ids, and a page at a time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from chalicelib.listing.entries import change
from chalicelib.listing.index import Index
from chalicelib.listing.kinds import Kind
from chalicelib.listing.pages import read_page
from chalicelib.listing.query import Indexed, Query
from chalicelib.problems import NotFound
from chalicelib.schemas import Page
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Condition
from chalicelib.values import ids

R_co = TypeVar("R_co", bound=Indexed, covariant=True)


@dataclass(frozen=True)
class Records(Generic[R_co]):
    """The records of a kind, and their current index.

    `key`: of a record, by its id. `index`: the new index of a stored record. The record has
    `index`, as `Index.to_stored` wrote it, and, unless it never changes, `version`, which its
    writers use as a condition. `read`: the record of an item. `prefix`: of ids. `what`: it is
    called in errors, if not as the kind. `made_of`: the attributes that a field, as shown, is made
    of, if not of the one with its name.
    """

    kind: Kind
    key: Callable[[str], Key]
    index: Callable[[Item], Index]
    read: Callable[[Item], R_co]
    prefix: str = ""
    what: str = ""
    made_of: Mapping[str, Iterable[str]] = field(default_factory=dict)

    def load(self, wanted: Iterable[str], fields: Iterable[str] = ()) -> list[R_co]:
        """Read the records with these ids; return those that exist, in the order of the ids.

        `fields`: load only what these fields are made of, the id and the version; empty: all.
        """
        attributes = [made for name in fields for made in self.made_of.get(name, (name,))]
        only = ("id", "version", *attributes) if attributes else ()
        keys = list(map(self.key, wanted))
        items = table.batch_get(keys, fields=only)
        return [self.read(items[key]) for key in keys if key in items]

    def find(self, id: str, fields: Iterable[str] = ()) -> R_co | None:
        """Read the record with this id; return None if there is none.

        Without a read if it cannot be an id: without the prefix, for instance. `fields`: as of
        `load`.
        """
        return next(iter(self.load([id] if ids.may_be(self.prefix, id) else [], fields)), None)

    def get(self, id: str, fields: Iterable[str] = ()) -> R_co:
        """Read the record with this id; raise NotFound if there is none. `fields`: as of `load`."""
        return NotFound.unless(self.find(id, fields), self.what or self.kind.name, id)

    def insert(self, commit: Commit, fields: Item, **room: int) -> Item:
        """Add a new record with its list entries to a commit; return the item that it writes.

        `fields`: of the record, without `index`. Sending the commit raises ConditionFailed if the
        id is taken. `room`: `inside` and `room` of `entries.change`.
        """
        id, new, free = fields["id"], self.index(fields), table.absent
        return self.write(commit, id, None, new, fields, when=free, otherwise=None, **room)

    def write(
        self,
        commit: Commit,
        id: str,
        before: Index | None,
        after: Index | None,
        fields: Item,
        *,
        when: Condition,
        otherwise: Exception | None,
        **room: int,
    ) -> Item:
        """Add a new version of a record, or its deletion, with its list entries, to a commit.

        Return the item of the new version; that of a deletion is not written. `fields`: of the new
        version. `before`, `after`: the indexes of the old version (None: there is none) and of the
        new one (None: the record is deleted, and the item has no `index`). `when`, `otherwise`: the
        condition on the record, and what sending raises if it fails; None: ConditionFailed. `room`:
        `inside` and `room` of `entries.change`.
        """
        index = change(commit, self.kind, id, before, after, **room)
        pk, sk = self.key(id)
        item = {"pk": pk, "sk": sk, **fields}
        if index is None:
            commit.delete((pk, sk), when=when, otherwise=otherwise)
        else:
            item["index"] = index.to_stored()
            commit.put(item, when=when, otherwise=otherwise)
        return item

    def read_page(self, query: Query, fields: Iterable[str] = ()) -> Page[R_co]:
        """Return the page of a query. `fields`: load only what these are made of; empty: all."""
        return read_page(self.kind, query, partial(self.load, fields=query.fields_to_load(fields)))
