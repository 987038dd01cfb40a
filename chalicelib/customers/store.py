"""Customers: their part in orders, reading, changing, merging and erasing.

A customer's items change together: the record, and a lock on the e-mail address.

| item | pk | sk |
|---|---|---|
| customer | `cus_…` | `customer` |
| e-mail lock | `email#<lower case>` | `lock` |
| merged | `cus_…` | `gone`: `into`, the id of the customer that it was merged into |
| order that an edit moved to another | `cus_…` | `moved#<ord_…>` |
| the last erasure | `erasures` | `last`: `at`, when it was asked for |

The lock also holds what an order copies of the customer, so an order with an e-mail needs one read,
whether or not the customer exists. Totals change in the transaction of the order and are not part
of the record's version: two concurrent orders both succeed, and so do an order and a change.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final, TypeVar

from chalicelib import deadline, listing
from chalicelib.customers import model
from chalicelib.customers.model import (
    EDITABLE,
    KIND,
    Customer,
    EmailTaken,
    Totals,
    index_of,
    make_customer,
    of_order,
    read,
    show,
)
from chalicelib.customers.schemas import CustomerChange, NewCustomer, OrderCustomerInput
from chalicelib.listing import external_ids
from chalicelib.problems import Conflict, Invalid, NotFound, PreconditionFailed
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.values import clock, ids, metadata
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

T = TypeVar("T")

_ERASED: Final = "customer.erased"  # whose audit entry has no values
_MOVED: Final = "moved#"
_LAST_ERASURE: Final[Key] = "erasures", "last"


def _key(id: str) -> Key:
    return id, "customer"


def _gone_key(id: str) -> Key:
    """Return the key of what is left of a merged customer.

    `into`, `lost`: what did not fit; `called`: names, e-mails, phones and the lines of addresses.
    """
    return id, "gone"


def _lock_key(email: str) -> Key:
    return f"email#{ids.key_part(email.lower())}", "lock"


RECORDS: Final = listing.Records(KIND, _key, index_of, read, "cus")


class CustomerChanged(Exception):
    """The customer was changed since it was read."""


class HasOrders(Conflict):
    code = "has_orders"
    text = "The customer has orders. Erase or merge it instead."


class CustomerBusy(Conflict):
    """409 with `jobId`, which merges or erases the customer."""

    code = "customer_busy"

    def __init__(self, job_id: str | None) -> None:
        super().__init__("The customer is being merged or erased.", jobId=job_id)


class Erased(Conflict):
    code = "erased"
    text = "The customer was erased. This cannot be undone."


class Merged(NotFound):
    """404 with `into`, the id of the customer that it was merged into."""

    code = "merged"

    def __init__(self, id: str, into: str) -> None:
        super().__init__(f"The customer {id!r} was merged into {into!r}.", into=into)


class CustomerMoved(Exception):
    """The customer takes no more orders since it was read.

    It is being merged or erased, or was deleted.
    """


class CustomerGone(Exception):
    """The customer no longer exists, so its totals cannot change."""


# --- For orders -----------------------------------------------------------------------------------


def keys(sent: OrderCustomerInput | None) -> list[Key]:
    """Return what to read, for `from_items`, if a customer is read together with other things."""
    if sent is None:
        return []
    if sent.id is not None:
        return [_key(sent.id)]
    return [_lock_key(sent.email)] if sent.email else []


def from_items(sent: OrderCustomerInput, items: Mapping[Key, Item]) -> Customer | None:
    """Return the customer with this id or e-mail, if it is among the items that were read.

    Raises Invalid if it takes no more orders.
    """
    customer = next((read(items[key]) for key in keys(sent) if key in items), None)
    if customer and customer.is_leaving:
        message = f"the customer {customer.id!r} was erased or merged into another"
        raise Invalid.field("customer.id", "unknown_customer", message)
    return customer


def make_order_customer(sent: OrderCustomerInput, now: str) -> Customer:
    """Return a new customer for an order; `now` is ISO 8601. Raises Invalid."""
    if sent.id is not None:
        gone = table.get(_gone_key(sent.id))
        merged = f": it was merged into {gone['into']}" if gone else ""
        message = f"there is no customer {sent.id!r}{merged}"
        raise Invalid.field("customer.id", "unknown_customer", message)
    names = ("email", "firstName", "lastName", "phone")
    values = sent.model_dump(by_alias=True, include={"email", "first_name", "last_name", "phone"})
    return make_customer(ids.new_id("cus"), {name: values[name] for name in names}, now)


def sample() -> Customer:
    """Return a customer that does not exist, for test events."""
    values = {
        "email": "customer@example.com",
        "firstName": "Ada",
        "lastName": "Example",
        "phone": "+49 30 1234567",
        "addresses": [{"address1": "1 Example Street", "city": "Berlin", "countryCode": "DE"}],
    }
    new = NewCustomer.model_validate(values).sent_fields()
    return make_customer(ids.new_id("cus"), new, clock.now_iso())


def register(commit: Commit, customer: Customer, ordered: Totals, room: int) -> None:
    """Add a new customer with a first order to the commit. Emits customer.created.

    `room`: how many of its words fit; the commit has room for six more items. The commit raises
    EmailTaken.
    """
    insert(commit, model.add_totals(customer, ordered), inside=room, room=room)


def count(commit: Commit, id: str, change: Totals, *, placing: bool) -> None:
    """Add an order's change to the totals, also concurrently.

    `placing`: it is a new order, and the commit raises CustomerMoved if the customer takes none;
    otherwise CustomerGone if the customer no longer exists.
    """
    when = table.present
    otherwise: Exception = CustomerMoved() if placing else CustomerGone()
    if placing:
        when &= Attr("leaving").not_exists() & Attr("erasedAt").not_exists()
    elif not change:
        return
    commit.update(_key(id), add=change.numbers(), when=when, otherwise=otherwise)


# --- Reading --------------------------------------------------------------------------------------


load, find, page = RECORDS.load, RECORDS.find, RECORDS.read_page


def get(id: str, fields: Iterable[str] = ()) -> Customer:
    """Return a customer. Raises NotFound; Merged if it was merged into another."""
    only = ("id", "version", "into", *fields) if fields else ()
    wanted = [_key(id), _gone_key(id)] if ids.may_be("cus", id) else []
    items = table.batch_get(wanted, fields=only)
    if _key(id) in items:
        return read(items[_key(id)])
    if _gone_key(id) in items:
        raise Merged(id, str(items[_gone_key(id)]["into"]))
    raise NotFound.for_id("customer", id)


# --- Writing --------------------------------------------------------------------------------------


def create(new: NewCustomer, once: Once | None) -> tuple[Customer, str]:
    """Create a customer; return it and the text of the answer. Emits customer.created.

    Raises EmailTaken, Invalid; with `once` also Repeated and KeyReused.
    """
    with unless_answered(once):
        customer = make_customer(ids.new_id("cus"), new.sent_fields(), clock.now_iso())
    text = encode(show(customer))
    commit = Commit()
    if once:
        once.record(commit, text, customer.etag)
    insert(commit, customer)
    commit.audit(_audit_entry(after=customer))
    commit.send()
    return customer, text


def change(id: str, sent: CustomerChange, if_match: frozenset[str] | None) -> Customer:
    """Change a customer. Emits customer.updated if something differs.

    Raises NotFound, Invalid, EmailTaken, PreconditionFailed, CustomerBusy, Erased.
    """
    changes = sent.sent_fields()

    def change_once() -> Customer:
        before = _unchanged_since(if_match, get(id))
        if before.is_erased:
            raise Erased
        if before.is_leaving:
            raise CustomerBusy(before.held_by)
        after = model.edit_customer(before, changes, clock.now_iso())
        if after is not before:
            commit = Commit()
            _write_customer(commit, before, after)
            commit.send()
        return after

    return _retry_if_changed(change_once)


def remove(id: str, if_match: frozenset[str] | None) -> None:
    """Delete a customer. Emits customer.deleted.

    Raises NotFound, HasOrders, PreconditionFailed, CustomerBusy.
    """

    def remove_once() -> None:
        before = _unchanged_since(if_match, get(id))
        if before.held_by:
            raise CustomerBusy(before.held_by)
        if before.fields.get("orders"):
            raise HasOrders
        commit = Commit()
        _write_customer(commit, before, None)
        commit.send()

    _retry_if_changed(remove_once)


def _retry_if_changed(attempt: Callable[[], T]) -> T:
    return deadline.retry_on_conflict(attempt, CustomerChanged, end=deadline.of_conflicts())


# --- Merging and erasing --------------------------------------------------------------------------


def hold_for_merge(source: Customer, into: Customer, commit: Commit, job_id: str) -> None:
    """Add to the commit that starts a merge that both customers are held by the job.

    `source` takes no more orders, orders with its e-mail belong to `into`, and neither is merged,
    erased or deleted until the job ends. So merges cannot form a cycle. Raises CustomerBusy if
    either changed since it was read.
    """
    _hold_customer(commit, source, job_id, {"leaving": {"into": into.id}})
    _hold_customer(commit, into, job_id, {})
    if source.email:
        holders = Attr("id").is_in([source.id, into.id])
        pk, sk = _lock_key(source.email)
        lock = {"pk": pk, "sk": sk, **of_order(into)}
        commit.put(lock, when=table.absent | holders, otherwise=CustomerBusy(None))


def hold_for_erasure(customer: Customer, commit: Commit, job_id: str) -> None:
    """Add to the commit that starts an erasure that the job holds the customer.

    It takes no more orders, and an order with the e-mail creates a new customer. Raises
    CustomerBusy if it changed since it was read.
    """
    _hold_customer(commit, customer, job_id, {"leaving": {}})
    pk, sk = _LAST_ERASURE
    commit.put({"pk": pk, "sk": sk, "at": clock.now_iso()})
    if customer.email and not customer.is_leaving:
        free = table.absent | Attr("id").eq(customer.id)
        commit.delete(_lock_key(customer.email), when=free, otherwise=CustomerBusy(None))


def is_erased_since(moment: str) -> bool:
    """Say whether a customer was erased after this time: a file of before may name that one."""
    last = table.get(_LAST_ERASURE)
    return last is not None and str(last["at"]) > moment


def note_moved(commit: Commit, id: str, order_id: str) -> None:
    """Add to the commit that an edit moves an order of this customer to another.

    An erasure looks for it.
    """
    commit.put({"pk": id, "sk": f"{_MOVED}{order_id}"})


def list_moved(id: str, after: str, limit: int) -> list[str]:
    """Return the next orders, after the order `after`, that edits moved from this customer."""
    where = table.sk.begins_with(_MOVED)
    begin = f"{_MOVED}{after}" if after else None
    rows = table.query(id, where=where, after=begin, limit=limit)
    return [item["sk"].removeprefix(_MOVED) for item in rows.items]


def leaves_into(customer: Customer, id: str) -> bool:
    return bool(customer.fields.get("leaving", {}).get("into") == id)


def _hold_customer(
    commit: Commit, customer: Customer, job_id: str, attributes: Mapping[str, object]
) -> None:
    commit.update(
        _key(customer.id),
        assign={"held": job_id, **attributes},
        add={"version": 1},
        when=_is_unchanged(customer),
        otherwise=CustomerBusy(customer.held_by),
    )


def absorb(source_id: str, into_id: str, job_id: str) -> Mapping[str, int]:
    """End a merge: `into` gets what it lacks from `source`, which is deleted.

    Emits customer.updated and customer.deleted. Returns how much of which field did not fit.
    Doing it again changes nothing.
    """

    def absorb_once() -> Mapping[str, int]:
        source = find(source_id)
        if source is None:
            lost: Mapping[str, int] = (table.get(_gone_key(source_id)) or {}).get("lost", {})
            return lost
        into = get(into_id)
        after, left = model.merge_customers(into, source, clock.now_iso())
        if source.id not in into.merged_ids:
            commit = Commit()
            _write_customer(commit, into, after, holders=[source.id])
            commit.send()
        _remove_merged(source, into_id, job_id, left)
        return left

    return _retry_if_changed(absorb_once)


def _remove_merged(source: Customer, into_id: str, job_id: str, left: Mapping[str, int]) -> None:
    into = get(into_id)
    if external_ids.find_records(["customer"], source.fields["externalId"] or "") != [source.id]:
        # The other customer has taken it.
        source = Customer({**source.fields, "externalId": None}, source.version)
    earlier = table.batch_get(map(_gone_key, source.merged_ids))
    table.batch_write({**item, "into": into_id} for item in earlier.values())
    called = Person(frozenset({source.id})).facts_in(source.fields)
    commit = Commit()
    kept = (into.email or "").lower() == (source.email or "").lower()
    _write_customer(
        commit, source, None, holders=[into_id], locks=not kept, action="customer.merged"
    )
    pk, sk = _gone_key(source.id)
    commit.put({"pk": pk, "sk": sk, "into": into_id, "lost": left, "called": sorted(called)})
    _release_customer(commit, into_id, job_id)
    commit.send()


def load_former_texts(customer: Customer) -> set[str]:
    """Return what those who were merged into the customer were called, for an erasure."""
    items = table.batch_get(map(_gone_key, customer.merged_ids))
    return {text for item in items.values() for text in item.get("called", ())}


def forget_former_texts(customer: Customer) -> None:
    """Remove what those who were merged into the customer were called."""
    for id in customer.merged_ids:
        with suppress(table.ConditionFailed):  # of release 1.0.0, and gone
            table.update(_gone_key(id), remove=["called"], when=table.present)


def forget(id: str) -> None:
    """Remove the customer's personal data; the totals stay. Emits customer.updated.

    Doing it again changes nothing.
    """

    def forget_once() -> None:
        before = find(id)
        if before is None or before.is_erased:
            return
        commit = Commit()
        # The e-mail may be taken by now.
        after = model.erase_customer(before, clock.now_iso())
        _write_customer(commit, before, after, locks=False, action=_ERASED)
        commit.send()

    _retry_if_changed(forget_once)


def let_go(id: str, job_id: str) -> None:
    """Note that an erasure has ended."""
    commit = Commit()
    _release_customer(commit, id, job_id)
    with suppress(CustomerChanged):  # it was before
        commit.send()


def _release_customer(commit: Commit, id: str, job_id: str) -> None:
    ours = Attr("held").eq(job_id)
    commit.update(_key(id), remove=["held", "leaving"], when=ours, otherwise=CustomerChanged())


def _unchanged_since(if_match: frozenset[str] | None, customer: Customer) -> Customer:
    if not customer.matches(if_match):
        raise PreconditionFailed.for_kind("customer")
    return customer


# --- The items of a customer ----------------------------------------------------------------------


def insert(commit: Commit, customer: Customer, **room: int) -> None:
    if customer.email:
        _put_lock(commit, customer.email, customer, table.absent)
    external_ids.change(commit, customer.id, {}, external_ids.held_ids("customer", customer.fields))
    fields = {**metadata.to_stored(customer.fields), "version": customer.version}
    id, new, free = customer.id, customer.index, table.absent
    RECORDS.write(commit, id, None, new, fields, when=free, otherwise=None, **room)
    commit.announce("customer.created", show(customer))


def _audit_entry(
    before: Customer | None = None, after: Customer | None = None, action: str = ""
) -> dict[str, object]:
    """Return what the audit log gets, with the name that the customer has after it."""
    customer = after or before
    assert customer is not None
    names = [customer.fields["firstName"], customer.fields["lastName"]]
    name = (" ".join(filter(None, names)) or customer.email) if after else None
    return outbox.audit_entry(
        "customer",
        customer.id,
        None if action == _ERASED else before,
        after,
        show=show,
        action=action,
        name=name,
        customers=[customer.id],
        merged=[] if after else customer.merged_ids,
    )


def _write_customer(
    commit: Commit,
    before: Customer,
    after: Customer | None,
    *,
    holders: Iterable[str] = (),
    locks: bool = True,
    action: str = "",
) -> None:
    """Add all writes between two versions of a customer, except the totals, to the commit.

    `holders`: who else may have had the locks of both e-mails until now; `locks`: whether those
    change; `action`: for the audit log, if it is no update or deletion. Emits customer.updated or
    customer.deleted. The commit raises CustomerChanged, EmailTaken.
    """
    unchanged = _is_unchanged(before)
    if not locks:
        pass
    elif after is None or after.email != before.email:
        _move_lock(commit, before, after, [before.id, *holders])
    elif after.email and of_order(after) != of_order(before):
        _put_lock(commit, after.email, after, Attr("id").eq(after.id))
    # Of a customer that was merged, the other one may have it by now.
    old_ids = external_ids.held_ids("customer", before.fields)
    new_ids = external_ids.held_ids("customer", after.fields) if after else {}
    external_ids.change(commit, before.id, old_ids, new_ids, holders=holders)
    new_index = after.index if after else None
    index = listing.change(commit, KIND, before.id, before.index, new_index)
    if after is None:
        # On condition that it has no orders: an order that is being placed counts itself here.
        same = Attr("orders").eq(before.fields["orders"])
        commit.delete(_key(before.id), when=unchanged & same, otherwise=CustomerChanged())
        commit.announce("customer.deleted", show(before))
        commit.audit(_audit_entry(before, action=action))
        return
    assert index is not None
    shown = metadata.to_stored(after.fields)
    fields = {name: shown[name] for name in (*EDITABLE, "updatedAt")}
    optional = {name: after.fields[name] for name in ("erasedAt", "merged") if name in after.fields}
    commit.update(
        _key(after.id),
        assign={**fields, **optional, "index": index.to_stored(), "version": after.version},
        when=unchanged,
        otherwise=CustomerChanged(),
    )
    commit.announce("customer.updated", show(after))
    commit.audit(_audit_entry(before, after, action))


def _is_unchanged(customer: Customer) -> Condition:
    return Attr("version").eq(customer.version)


def _move_lock(
    commit: Commit, before: Customer, after: Customer | None, holders: Iterable[str]
) -> None:
    old = _lock_key(before.email) if before.email else None
    new = _lock_key(after.email) if after and after.email else None
    free = table.absent | Attr("id").is_in(holders)
    if after and after.email:
        _put_lock(commit, after.email, after, free)
    if old and old != new:
        commit.delete(old, when=free, otherwise=CustomerChanged())


def _put_lock(commit: Commit, email: str, customer: Customer, when: Condition) -> None:
    pk, sk = _lock_key(email)
    commit.put({"pk": pk, "sk": sk, **of_order(customer)}, when=when, otherwise=_email_taken_error)


def _email_taken_error(lock: Item | None) -> Exception:
    return EmailTaken(str(lock["id"])) if lock else CustomerChanged()
