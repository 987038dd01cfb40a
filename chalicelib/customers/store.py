"""Customers: their part in orders, reading, changing, merging and erasing."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from chalicelib import deadline, listing
from chalicelib.customers import model
from chalicelib.customers.items import (
    ERASED,
    CustomerChanged,
    audited,
    gone_key,
    insert,
    is_unchanged,
    lock_key,
    record_key,
    write,
)
from chalicelib.customers.model import (
    EDITABLE,
    KIND,
    Customer,
    CustomerChange,
    NewCustomer,
    OrderCustomerInput,
    Totals,
    index_of,
    made,
    read,
)
from chalicelib.customers.shown import of_order, show
from chalicelib.listing import external_ids
from chalicelib.problems import Busy, Conflict, Invalid, NotFound, PreconditionFailed
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once
from chalicelib.values import clock, ids

T = TypeVar("T")

RECORDS: Final = listing.Records(KIND, record_key, index_of)


class HasOrders(Conflict):
    code = "has_orders"

    def __init__(self) -> None:
        super().__init__("The customer has orders. Erase or merge it instead.")


class CustomerBusy(Conflict):
    """409 with `jobId`, which merges or erases the customer."""

    code = "customer_busy"

    def __init__(self, job_id: str | None) -> None:
        super().__init__("The customer is being merged or erased.", jobId=job_id)


class Erased(Conflict):
    code = "erased"

    def __init__(self) -> None:
        super().__init__("The customer was erased. This cannot be undone.")


class Merged(NotFound):
    """404 with `into`, the id of the customer that it was merged into."""

    code = "merged"

    def __init__(self, id: str, into: str) -> None:
        super().__init__(f"The customer {id!r} was merged into {into!r}.", into=into)


class CustomerMoved(Exception):
    """The customer takes no more orders since it was read: it is being merged or erased, or was
    deleted."""


class CustomerGone(Exception):
    """The customer no longer exists, so its totals cannot change."""


# --- For orders -----------------------------------------------------------------------------------


def key(asked: OrderCustomerInput) -> Key:
    """What to read, for `from_items`, where a customer is read together with other things."""
    if asked.id is not None:
        return record_key(asked.id)
    assert asked.email is not None
    return lock_key(asked.email)


def from_items(asked: OrderCustomerInput, items: Mapping[Key, Item]) -> Customer | None:
    """The customer with this id or e-mail, if it is among the items that were read. Raises Invalid
    if it takes no more orders."""
    item = items.get(key(asked))
    customer = read(item) if item else None
    if customer and customer.is_leaving:
        message = f"the customer {customer.id!r} was erased or merged into another"
        raise Invalid.field("customer.id", "unknown_customer", message)
    return customer


def created(asked: OrderCustomerInput, now: str) -> Customer:
    """A new customer for an order; `now` is ISO 8601. Raises Invalid."""
    if asked.id is not None:
        gone = table.get(gone_key(asked.id))
        more = f": it was merged into {gone['into']}" if gone else ""
        message = f"there is no customer {asked.id!r}{more}"
        raise Invalid.field("customer.id", "unknown_customer", message)
    names = ("email", "firstName", "lastName", "phone")
    given = asked.model_dump(by_alias=True, include={"email", "first_name", "last_name", "phone"})
    return made(ids.new("cus"), {name: given[name] for name in names}, now)


def sample() -> Customer:
    """A customer that does not exist, for test events."""
    given = {
        "email": "customer@example.com",
        "firstName": "Ada",
        "lastName": "Example",
        "phone": "+49 30 1234567",
        "addresses": [{"address1": "1 Example Street", "city": "Berlin", "countryCode": "DE"}],
    }
    new = NewCustomer.model_validate(given).given()
    return made(ids.new("cus"), new, clock.iso(clock.now()))


def register(commit: Commit, customer: Customer, ordered: Totals, room: int) -> None:
    """A new customer with a first order; the commit has room for so many of its words, and for six
    more items. Emits customer.created. The commit raises EmailTaken."""
    insert(commit, model.counted(customer, ordered), inside=room, room=room)


def count(commit: Commit, id: str, change: Totals, *, placing: bool) -> None:
    """Adds an order's change to the totals, also concurrently. `placing`: it is a new order, and
    the commit raises CustomerMoved if the customer takes none; otherwise CustomerGone if the
    customer no longer exists."""
    when = table.present
    otherwise: Exception = CustomerMoved() if placing else CustomerGone()
    if placing:
        when &= Attr("leaving").not_exists() & Attr("erasedAt").not_exists()
    elif not change:
        return
    commit.update(record_key(id), add=change.numbers(), when=when, otherwise=otherwise)


# --- Reading --------------------------------------------------------------------------------------


def load(ids: Iterable[str], fields: Iterable[str] = ()) -> list[Customer]:
    """The customers that exist of these, in their order; of each these fields, if some are
    named."""
    only = ("id", "version", *fields) if fields else ()
    return list(map(read, table.existing(map(record_key, ids), only)))


def find(id: str) -> Customer | None:
    return next(iter(load([id])), None)


def get(id: str, fields: Iterable[str] = ()) -> Customer:
    """Raises NotFound; Merged if it was merged into another."""
    only = ("id", "version", "into", *fields) if fields else ()
    wanted = [record_key(id), gone_key(id)] if ids.may_be("cus", id) else []
    items = table.batch_get(wanted, fields=only)
    if record_key(id) in items:
        return read(items[record_key(id)])
    if gone_key(id) in items:
        raise Merged(id, str(items[gone_key(id)]["into"]))
    raise NotFound.of("customer", id)


def page(query: listing.Query, fields: Iterable[str] = ()) -> listing.Page[Customer]:
    return listing.page(KIND, query, partial(load, fields=query.reads(fields)))


# --- Writing --------------------------------------------------------------------------------------


def create(new: NewCustomer, once: Once | None) -> tuple[Customer, str]:
    """The customer, and the text that answers its creation. Emits customer.created.

    Raises EmailTaken, Invalid; with `once` also Repeated and KeyReused.
    """
    if once:
        once.look()
    customer = made(ids.new("cus"), new.given(), _now())
    text = outbox.as_json(show(customer))
    commit = Commit()
    if once:
        once.record(commit, text, customer.etag)
    insert(commit, customer)
    commit.audit(audited(after=customer))
    commit.send()
    return customer, text


def change(id: str, asked: CustomerChange, if_match: frozenset[str] | None) -> Customer:
    """Emits customer.updated if something differs. Raises NotFound, Invalid, EmailTaken,
    PreconditionFailed, CustomerBusy, Erased."""
    given = asked.given()

    def attempt(before: Customer) -> Customer:
        if before.is_erased:
            raise Erased
        if before.is_leaving:
            raise CustomerBusy(before.held)
        return model.changed(before, given, _now())

    return rewrite(id, attempt, if_match)


def rewrite(
    id: str,
    change: Callable[[Customer], Customer],
    if_match: frozenset[str] | None = None,
) -> Customer:
    """Writes the result of `change`, computed again after a concurrent change; nothing if it is the
    same."""

    def attempt() -> Customer:
        before = _unchanged_since(if_match, get(id))
        after = change(before)
        if after is not before:
            commit = Commit()
            write(commit, before, after)
            commit.send()
        return after

    return _again_if_changed(attempt)


def remove(id: str, if_match: frozenset[str] | None) -> None:
    """Emits customer.deleted. Raises NotFound, HasOrders, PreconditionFailed, CustomerBusy."""

    def attempt() -> None:
        before = _unchanged_since(if_match, get(id))
        if before.held:
            raise CustomerBusy(before.held)
        if before.fields.get("orders"):
            raise HasOrders
        commit = Commit()
        write(commit, before, None)
        commit.send()

    _again_if_changed(attempt)


def _again_if_changed(attempt: Callable[[], T]) -> T:
    """What it returns, attempted again after a concurrent change."""
    for _ in deadline.attempts(deadline.of_conflicts()):
        with suppress(CustomerChanged):
            return attempt()
    raise Busy


# --- Merging and erasing --------------------------------------------------------------------------


def hold_for_merge(source: Customer, into: Customer, commit: Commit, job_id: str) -> None:
    """Part of the commit that starts a merge: `source` takes no more orders, orders with its e-mail
    belong to `into`, and neither is merged, erased or deleted until the job ends. So merges cannot
    form a cycle. Raises CustomerBusy if either changed since it was read."""
    _hold(commit, source, job_id, {"leaving": {"into": into.id}})
    _hold(commit, into, job_id, {})
    if source.email:
        holders = Attr("id").is_in([source.id, into.id])
        pk, sk = lock_key(source.email)
        lock = {"pk": pk, "sk": sk, **of_order(into)}
        commit.put(lock, when=table.absent | holders, otherwise=CustomerBusy(None))


def hold_for_erasure(customer: Customer, commit: Commit, job_id: str) -> None:
    """Part of the commit that starts an erasure: the customer takes no more orders, and an order
    with the e-mail creates a new customer. Raises CustomerBusy if it changed since it was read."""
    _hold(commit, customer, job_id, {"leaving": {}})
    if customer.email and not customer.is_leaving:
        free = table.absent | Attr("id").eq(customer.id)
        commit.delete(lock_key(customer.email), when=free, otherwise=CustomerBusy(None))


def leaves_into(customer: Customer, id: str) -> bool:
    return bool(customer.fields.get("leaving", {}).get("into") == id)


def _hold(commit: Commit, customer: Customer, job_id: str, more: Mapping[str, object]) -> None:
    commit.update(
        record_key(customer.id),
        assign={"held": job_id, **more},
        add={"version": 1},
        when=is_unchanged(customer),
        otherwise=CustomerBusy(customer.held),
    )


def absorb(source_id: str, into_id: str, job_id: str) -> int:
    """Ends a merge: `into` gets what it lacks from `source`, which is deleted. Emits
    customer.updated and customer.deleted. Returns how many addresses did not fit. Doing it again
    changes nothing."""

    def attempt() -> int:
        source, into = find(source_id), find(into_id)
        if source is None or into is None:
            return int((table.get(gone_key(source_id)) or {}).get("left", 0))
        after, left = model.merged(into, source, _now())
        if source.id not in into.merged:
            ids = [*into.merged, *source.merged, source.id]
            fields = {**after.fields, "merged": ids, "updatedAt": _now()}
            commit = Commit()
            write(commit, into, Customer(fields, into.version + 1), holders=[source.id])
            commit.send()
        _remove_merged(source, into_id, job_id, left)
        return left

    return _again_if_changed(attempt)


def _remove_merged(source: Customer, into_id: str, job_id: str, left: int) -> None:
    into = get(into_id)
    if external_ids.records(["customer"], source.fields["externalId"] or "") != [source.id]:
        # The other customer has taken it.
        source = Customer({**source.fields, "externalId": None}, source.version)
    table.batch_write(_merged_item(id, into_id) for id in source.merged)
    commit = Commit()
    kept = (into.email or "").lower() == (source.email or "").lower()
    write(commit, source, None, holders=[into_id], locks=not kept, action="customer.merged")
    commit.put({**_merged_item(source.id, into_id), **({"left": left} if left else {})})
    _let_go(commit, into_id, job_id)
    commit.send()


def _merged_item(id: str, into: str) -> Item:
    pk, sk = gone_key(id)
    return {"pk": pk, "sk": sk, "into": into}


def forget(id: str) -> None:
    """Removes the customer's personal data; the totals stay. Emits customer.updated. Doing it again
    changes nothing."""

    def attempt() -> None:
        before = find(id)
        if before is None:
            return
        after = model.erased(before, _now())
        if before.is_erased and all(before.fields[n] == after.fields[n] for n in EDITABLE):
            return
        commit = Commit()
        # The e-mail may be taken by now.
        write(commit, before, after, locks=False, action=ERASED)
        commit.send()

    _again_if_changed(attempt)


def let_go(id: str, job_id: str) -> None:
    """Notes that an erasure has ended."""
    commit = Commit()
    _let_go(commit, id, job_id)
    with suppress(CustomerChanged):  # it was before
        commit.send()


def _let_go(commit: Commit, id: str, job_id: str) -> None:
    ours = Attr("held").eq(job_id)
    commit.update(
        record_key(id), remove=["held", "leaving"], when=ours, otherwise=CustomerChanged()
    )


def _unchanged_since(if_match: frozenset[str] | None, customer: Customer) -> Customer:
    if not customer.matches(if_match):
        raise PreconditionFailed("The customer was changed since it was read.")
    return customer


def _now() -> str:
    return clock.iso(clock.now())
