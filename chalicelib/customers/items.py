"""The items of a customer in the table, and how they change together: the record, and a lock on the
e-mail address.

| item | pk | sk |
|---|---|---|
| customer | `cus_…` | `customer` |
| e-mail lock | `email#<lower case>` | `lock` |
| merged | `cus_…` | `gone`: `into`, the id of the customer that it was merged into |

The lock also holds what an order copies of the customer, so an order with an e-mail needs one read,
whether or not the customer exists. Totals change in the transaction of the order and are not part
of the record's version: two concurrent orders both succeed, and so do an order and a change.
"""

from collections.abc import Iterable
from typing import Final

from chalicelib import listing
from chalicelib.customers.model import EDITABLE, KIND, Customer, EmailTaken
from chalicelib.customers.shown import of_order, show
from chalicelib.listing import external_ids
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.values import ids, metadata

ERASED: Final = "customer.erased"  # whose audit entry has no values


class CustomerChanged(Exception):
    """The customer was changed since it was read."""


def record_key(id: str) -> Key:
    return id, "customer"


def gone_key(id: str) -> Key:
    return id, "gone"


def lock_key(email: str) -> Key:
    return f"email#{ids.key_part(email.lower())}", "lock"


def insert(commit: Commit, customer: Customer, **room: int) -> None:
    if customer.email:
        _put_lock(commit, customer.email, customer, table.absent)
    external_ids.change(commit, customer.id, {}, external_ids.held("customer", customer.fields))
    index = listing.change(commit, KIND, customer.id, None, customer.index, **room)
    assert index is not None
    pk, sk = record_key(customer.id)
    item = {"pk": pk, "sk": sk, **metadata.stored(customer.fields), "version": customer.version}
    commit.put({**item, "index": index.stored()}, when=table.absent)
    commit.announce("customer.created", show(customer))


def audited(
    before: Customer | None = None, after: Customer | None = None, action: str = ""
) -> dict[str, object]:
    """What the audit log gets, with the name that the customer has after it."""
    customer = after or before
    assert customer is not None
    names = [customer.fields["firstName"], customer.fields["lastName"]]
    name = (" ".join(filter(None, names)) or customer.email) if after else None
    return outbox.audited(
        "customer",
        customer.id,
        None if action == ERASED else before,
        after,
        show=show,
        action=action,
        name=name,
        customers=[customer.id],
    )


def write(
    commit: Commit,
    before: Customer,
    after: Customer | None,
    *,
    holders: Iterable[str] = (),
    locks: bool = True,
    action: str = "",
) -> None:
    """All writes between two versions of a customer, except the totals.

    `holders`: who else may have had the locks of both e-mails until now; `locks`: whether those
    change; `action`: for the audit log, if it is no update or deletion. Emits customer.updated or
    customer.deleted. The commit raises CustomerChanged, EmailTaken.
    """
    unchanged = is_unchanged(before)
    if not locks:
        pass
    elif after is None or after.email != before.email:
        _move_lock(commit, before, after, [before.id, *holders])
    elif after.email and of_order(after) != of_order(before):
        _put_lock(commit, after.email, after, Attr("id").eq(after.id))
    _move_external_id(commit, before, after, holders)
    new_index = after.index if after else None
    index = listing.change(commit, KIND, before.id, before.index, new_index)
    if after is None:
        # On condition that it has no orders: an order that is being placed counts itself here.
        same = Attr("orders").eq(before.fields["orders"])
        commit.delete(record_key(before.id), when=unchanged & same, otherwise=CustomerChanged())
        commit.announce("customer.deleted", show(before))
        commit.audit(audited(before, action=action))
        return
    assert index is not None
    shown = metadata.stored(after.fields)
    fields = {name: shown[name] for name in (*EDITABLE, "updatedAt")}
    more = {name: after.fields[name] for name in ("erasedAt", "merged") if name in after.fields}
    commit.update(
        record_key(after.id),
        assign={**fields, **more, "index": index.stored(), "version": after.version},
        when=unchanged,
        otherwise=CustomerChanged(),
    )
    commit.announce("customer.updated", show(after))
    commit.audit(audited(before, after, action))


def is_unchanged(customer: Customer) -> Condition:
    return Attr("version").eq(customer.version)


def _move_lock(
    commit: Commit, before: Customer, after: Customer | None, holders: Iterable[str]
) -> None:
    old = lock_key(before.email) if before.email else None
    new = lock_key(after.email) if after and after.email else None
    free = table.absent | Attr("id").is_in(holders)
    if after and after.email:
        _put_lock(commit, after.email, after, free)
    if old and old != new:
        commit.delete(old, when=free, otherwise=CustomerChanged())


def _move_external_id(
    commit: Commit, before: Customer, after: Customer | None, holders: Iterable[str]
) -> None:
    """Of a customer that was merged, the other one may have it by now."""
    old = external_ids.held("customer", before.fields)
    new = external_ids.held("customer", after.fields) if after else {}
    external_ids.change(commit, before.id, old, new, holders=holders)


def _put_lock(commit: Commit, email: str, customer: Customer, when: Condition) -> None:
    pk, sk = lock_key(email)
    commit.put({"pk": pk, "sk": sk, **of_order(customer)}, when=when, otherwise=_taken)


def _taken(lock: Item | None) -> Exception:
    return EmailTaken(str(lock["id"])) if lock else CustomerChanged()
