"""Customers in the table: the record, and a lock on the e-mail address.

| item | pk | sk |
|---|---|---|
| customer | `cus_…` | `customer` |
| e-mail lock | `email#<lower case>` | `lock` |

The lock repeats the customer's fields, which never change: an order that names an e-mail needs one
read, whether or not there is somebody behind it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from chalicelib import clock, ids, listing, table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.customers.model import KIND, Customer, CustomerInput, index_of, made, read, show
from chalicelib.problems import Invalid, NotFound


class EmailTaken(Exception):
    """Somebody else made a customer with this e-mail since it was looked for."""


def _key(id: str) -> Key:
    return id, "customer"


RECORDS: Final = listing.Records(KIND, _key, index_of)


def _lock_key(email: str) -> Key:
    return f"email#{ids.key_part(email.lower())}", "lock"


def key(asked: CustomerInput) -> Key:
    """What to read, for `from_items`, where a customer is read together with other things."""
    if asked.id is not None:
        return _key(asked.id)
    assert asked.email is not None
    return _lock_key(asked.email)


def from_items(asked: CustomerInput, items: Mapping[Key, Item]) -> Customer | None:
    """The customer with this id or e-mail, if it is among the items that were read."""
    item = items.get(key(asked))
    return read(item) if item else None


def created(asked: CustomerInput, now: str) -> Customer:
    """The customer that is missing; `now` is ISO 8601. Raises Invalid."""
    if asked.id is not None:
        message = f"there is no customer {asked.id!r}"
        raise Invalid.field("customer.id", "unknown_customer", message)
    return made(ids.new("cus"), asked, now)


def sample() -> Customer:
    """A customer that does not exist, for test events."""
    given = {"email": "customer@example.com", "firstName": "Ada", "lastName": "Example"}
    return made(ids.new("cus"), CustomerInput.model_validate(given), clock.iso(clock.now()))


def register(commit: Commit, customer: Customer) -> None:
    """A new customer. Emits customer.created. The commit raises EmailTaken."""
    lock_pk, lock_sk = _lock_key(customer.email)
    lock = {"pk": lock_pk, "sk": lock_sk, **show(customer)}
    commit.put(lock, when=table.absent, otherwise=EmailTaken())
    pk, sk = _key(customer.id)
    # Beside an order of sixty products there is room for eight words.
    index = listing.change(commit, KIND, customer.id, None, customer.index, inside=8, room=8)
    assert index is not None
    item = {"pk": pk, "sk": sk, **customer.fields, "index": index.stored()}
    commit.put(item, when=table.absent)
    commit.announce("customer.created", show(customer))


def load(ids: Iterable[str]) -> list[Customer]:
    """The customers that exist of these, in their order."""
    wanted = list(ids)
    items = table.batch_get(map(_key, wanted))
    return [read(items[_key(id)]) for id in wanted if _key(id) in items]


def get(id: str) -> Customer:
    """Raises NotFound."""
    found = load([id]) if id.startswith("cus_") and len(id) < 100 else []
    if not found:
        raise NotFound.of("customer", id)
    return found[0]


def page(query: listing.Query) -> listing.Page[Customer]:
    return listing.page(KIND, query, load)
