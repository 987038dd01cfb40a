"""Orders after a request, and their events: pure functions."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from chalicelib import settings
from chalicelib.customers.model import Customer, Totals
from chalicelib.customers.schemas import of_order
from chalicelib.orders import editing, lines, payments
from chalicelib.orders.model import (
    ADDRESSES,
    LARGEST_GROWN,
    LARGEST_HISTORY,
    LARGEST_ORDER,
    MOST_HISTORY,
    NewOrder,
    Order,
    OrderChange,
    OrderStatus,
    PaymentInput,
    PaymentStatus,
    StockPolicy,
    index_of,
)
from chalicelib.orders.schemas import show
from chalicelib.orders.transitions import BEFORE_SHIPPING, GIVES_BACK, PAYMENTS, payment_step, step
from chalicelib.problems import Invalid
from chalicelib.products.model import Product
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import addresses, ids, money
from chalicelib.values.forgetting import Person

_LONGEST_CHANGE: Final = 200
_GROWING: Final = frozenset({"note", "tags", "history"})  # with changes


# --- Creation -------------------------------------------------------------------------------------


def placed(
    new: NewOrder,
    products: Mapping[str, Product],
    customer: Customer | None,
    *,
    number: str,
    by: str,
    now: str,
) -> Order:
    """A new order. `products`: those of its lines that exist, by id; `by`: who placed it; `now`:
    ISO 8601. Raises Invalid."""
    made = lines.made(new.line_items, "lineItems", products)
    if new.stock_policy is not StockPolicy.CHECK:
        made = list(lines.allotted(made, products, new.stock_policy))
    sums = lines.sums(made, new)
    fields: dict[str, object] = {
        "id": ids.new("ord"),
        "number": number,
        "status": OrderStatus.PENDING.value,
        "paymentStatus": (new.payment_status or PaymentStatus.PENDING).value,
        "paymentMethod": new.payment_method,
        "source": new.source or "OTHER",
        "customer": of_order(customer) if customer else None,
        **_addressed(new.given()),
        "salesRepId": new.sales_rep_id,
        "lineItems": made,
        "currency": settings.currency(),
        **sums,
        "originalTotal": sums["total"],
        "payments": [],
        "refunds": [],
        "deposit": None,
        "retained": None,
        "amountCredited": money.render(Decimal(0)),
        "note": new.note or None,
        "tags": _once_each(new.tags),
        "externalId": new.external_id or None,
        "metadata": new.metadata or {},
        "trackingNumber": None,
        "orderDate": new.order_date or new.processed_at or now,
        "paidAt": None,
        "shippedAt": None,
        "createdAt": now,
        "updatedAt": now,
        "history": [{"at": now, "by": by, "change": "created"}],
        "edits": [],
        "formerly": {},
    }
    fields = _opened(fields, new, by, now)
    fields["index"] = index_of(fields).stored()
    order = Order(fields, 1)
    _refuse_large(order, "lineItems")
    return order


def _size(order: Order, but: frozenset[str]) -> int:
    """Bytes of an order as it is shown without these fields."""
    counted = {name: value for name, value in show(order).items() if name not in but}
    return len(json.dumps(counted, ensure_ascii=False).encode())


def _refuse_large(order: Order, field: str, but: frozenset[str] = frozenset()) -> None:
    """Raises Invalid. `field`: of the request, which makes it large."""
    size = _size(order, but)
    if size > LARGEST_ORDER:
        message = f"make an order of {size} bytes; at most {LARGEST_ORDER} are possible"
        raise Invalid.field(field, "too_large", message)


def _opened(fields: Mapping[str, object], new: NewOrder, by: str, now: str) -> dict[str, object]:
    """A new order's fields with its payments. Raises Invalid."""
    after = {**fields, "deposit": payments.deposit(fields, new.deposit)}
    if new.payments:
        unpaid = {**after, "paymentStatus": PaymentStatus.PENDING.value}
        after = _moved(payments.taken(unpaid, new.payments, by, now))
        if new.payment_status and after["paymentStatus"] != new.payment_status:
            message = f"With these payments the paymentStatus is {after['paymentStatus']}."
            raise Invalid(message, code="payment_mismatch", paymentStatus=after["paymentStatus"])
    elif new.payment_status is PaymentStatus.PAID:
        after = _moved(payments.settled({**after, "paymentStatus": "PENDING"}, by, now))
        after["status"], after["paymentStatus"] = OrderStatus.PAID.value, PaymentStatus.PAID.value
    after = payments.derived(after)
    after["paidAt"] = now if after["paymentStatus"] == PaymentStatus.PAID else None
    return after


def _moved(fields: Item) -> Item:
    """After a payment: an order that is paid, or whose deposit is, is no longer PENDING."""
    is_paid = fields["paymentStatus"] == PaymentStatus.PAID
    if fields["status"] == OrderStatus.PENDING and (
        is_paid or (fields["deposit"] and fields["deposit"]["isReached"])
    ):
        fields["status"] = OrderStatus.PAID.value
    return fields


def _addressed(given: Fields) -> dict[str, object]:
    """Both addresses of what was given, or null: copies, which nothing else changes."""
    return {name: addresses.stored(given[name]) if given.get(name) else None for name in ADDRESSES}


def _once_each(tags: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys(tags or ()))


# --- Change ---------------------------------------------------------------------------------------


def changed(order: Order, asked: OrderChange, by: str, now: str) -> Order:
    """The order after a PATCH. Raises InvalidTransition and Invalid."""
    given = asked.given()
    kept_money = {name: given.pop(name) for name in ("deposit", "retained") if name in given}
    fields = {**order.fields, **_cleaned(given)}
    _refuse_late_addresses(order, fields)
    kept = order.fields["formerly"].items()
    fields["formerly"] = {name: id for name, id in kept if fields[name] == order.fields[name]}
    status = order.status
    payment = given.get("paymentStatus")
    fields["paymentStatus"] = order.fields["paymentStatus"]
    if "status" in given:
        status = step(order.status, OrderStatus(given["status"]))
        payment = _payment(status, payment)
        if status is OrderStatus.SHIPPED:
            fields["shippedAt"] = now
        if status in GIVES_BACK:
            fields["lineItems"] = [{**line, "taken": 0} for line in fields["lineItems"]]
    if "deposit" in kept_money:
        fields["deposit"] = payments.redeposited(fields, asked.deposit)
    if "retained" in kept_money:
        fields["retained"] = payments.retained(fields, asked.retained)
    fields = payments.derived(fields)
    if payment is not None:
        start, has_payments = order.payment_status, bool(order.fields["payments"])
        moved = payment_step(status, start, PaymentStatus(payment), has_payments=has_payments)
        if moved is not start:
            fields = _implied(fields, moved, by, now)
    if fields["metadata"] != order.fields["metadata"]:
        return grown(order, fields, by, now)
    return _after(order, fields, by, now)


def _implied(
    fields: dict[str, object], moved: PaymentStatus, by: str, now: str
) -> dict[str, object]:
    """The fields with a payment status that was sent, and the payment or refunds it implies."""
    if moved is PaymentStatus.REFUNDED:
        return payments.refunded_whole(fields, by, now)
    if moved is PaymentStatus.PAID:
        fields = payments.settled(fields, by, now)
    return payments.derived({**fields, "paymentStatus": moved.value})


def paid(order: Order, asked: Sequence[PaymentInput], by: str, now: str) -> Order:
    """The order after payments. Raises Invalid, DuplicateReference."""
    return grown(order, _moved(payments.taken(order.fields, asked, by, now)), by, now)


def edited(order: Order, found: editing.Edited, by: str, now: str) -> Order:
    """The order after an edit; itself if nothing differs. Raises Invalid."""
    if found.after["edits"] == order.fields["edits"]:
        return order
    without = frozenset({"payments", "refunds", "edits"}) | _GROWING
    _refuse_large(Order(found.after, order.version), "body", without)
    return grown(order, found.after, by, now)


def grown(order: Order, fields: Fields, by: str, now: str) -> Order:
    """The order with one more payment, refund or edit. Raises Invalid if its events would not fit
    the outbox with a note, tags and a history of any size."""
    after = _after(order, fields, by, now)
    if _size(after, _GROWING) > LARGEST_GROWN:
        message = f"The order would exceed {LARGEST_GROWN:,} bytes. Shorten notes or metadata."
        raise Invalid(message, code="too_large")
    return after


def _after(order: Order, fields: Fields, by: str, now: str) -> Order:
    is_paid = fields["paymentStatus"] == PaymentStatus.PAID
    after = {
        **fields,
        "paidAt": fields["paidAt"] or (now if is_paid else None),
        "history": _history(order.fields, fields, by, now),
    }
    return _version(order, after, now)


def _version(order: Order, fields: Fields, now: str) -> Order:
    after = {**fields, "updatedAt": now}
    after["index"] = index_of(after).stored()
    return Order(after, order.version + 1)


def _payment(status: OrderStatus, asked: str | None) -> str | None:
    """The payment status of an order that becomes `status`: as requested, or as implied."""
    possible = PAYMENTS.get(status)
    if possible is None:
        return asked
    if asked is not None and asked not in possible:
        names = " or ".join(payment.value for payment in possible)
        message = f"must be {names}, or absent, when the status becomes {status.value}"
        raise Invalid.field("paymentStatus", "invalid", message)
    return asked or possible[0]


def _cleaned(given: Fields) -> dict[str, object]:
    fields = {name: None if value == "" else value for name, value in given.items()}
    for name in fields.keys() & {"status", "paymentStatus"}:
        fields[name] = str(fields[name])
    if "tags" in fields:
        fields["tags"] = _once_each(fields["tags"])
    if "metadata" in fields:
        fields["metadata"] = fields["metadata"] or {}
    for name in fields.keys() & set(ADDRESSES):
        fields[name] = addresses.stored(given[name]) if given[name] else None
    return fields


def _refuse_late_addresses(order: Order, fields: Mapping[str, object]) -> None:
    """Raises Invalid for new addresses of a delivered order."""
    for name in ADDRESSES:
        if order.status is OrderStatus.DELIVERED and fields[name] != order.fields[name]:
            message = "can no longer change: the order is DELIVERED"
            raise Invalid.field(name, "too_late", message)


def _history(before: Fields, after: Fields, by: str, now: str) -> list[dict[str, str]]:
    """Its creation and the latest changes: 99 of them, if their texts are not too large."""
    changes = []
    for name in ("status", "paymentStatus", "salesRepId", "trackingNumber"):
        if before[name] != after[name]:
            changes.append(f"{name} {before[name] or 'none'} → {after[name] or 'none'}")
    changes += payments.changes(before, after)
    if before["edits"] != after["edits"]:
        changes.append(f"edited, total {before['total']} → {after['total']}")
    if before["retained"] != after["retained"]:
        changes.append(f"retained {before['retained'] or 'none'} → {after['retained'] or 'none'}")
    silent = ("note", "tags", "externalId", "metadata", *ADDRESSES)
    changes += [name for name in silent if before[name] != after[name]]
    if _asked(before["deposit"]) != _asked(after["deposit"]):
        changes.append("deposit")
    if not changes:
        return list(before["history"])
    return _told(before["history"], ", ".join(changes)[:_LONGEST_CHANGE], by, now)


def _asked(deposit: Mapping[str, object] | None) -> tuple[object, ...]:
    return (deposit["amount"], deposit["percent"]) if deposit else ()


def _told(before: Sequence[dict[str, str]], change: str, by: str, now: str) -> list[dict[str, str]]:
    first, *rest = before
    changes = [*rest, {"at": now, "by": by, "change": change}]
    return [first, *editing.latest(changes, MOST_HISTORY - 1, LARGEST_HISTORY, _text)]


def _text(change: dict[str, str]) -> str:
    return change["by"] + change["change"]


def reassigned(order: Order, customer: Customer, by: str, now: str) -> Order:
    """The order after its customer was merged into another."""
    own = order.fields["customer"]["id"]
    history = _told(order.fields["history"], f"customer {own} → {customer.id}", by, now)
    after = {**order.fields, "customer": of_order(customer), "history": history}
    return _version(order, after, now)


def forget_person(order: Order, person: Person, now: str) -> Order:
    """Return the order without the person's data, marked with `erasedAt`; itself if it was so. One
    that an edit moved to another customer loses this one's addresses, and mentions."""
    if person.is_about(order.fields):
        fields = person.forget(order.fields)
    else:
        fields = person.leave(order.fields, _former_places(order, person))
    fields = {"erasedAt": now, **fields}
    return order if fields == order.fields else _version(order, fields, now)


def facts_about(order: Order, person: Person) -> set[str]:
    """Return the texts in an order that identify the person, whose it is or was."""
    if person.is_about(order.fields):
        return person.facts_in(order.fields)
    places = _former_places(order, person)
    return person.facts_in({name: order.fields[name] for name in places})


def _former_places(order: Order, person: Person) -> list[str]:
    return [name for name, id in order.fields["formerly"].items() if id in person.ids]


# --- Events ---------------------------------------------------------------------------------------


_EVENTS: Final[Mapping[str, str]] = {
    OrderStatus.SHIPPED: "order.shipped",
    OrderStatus.CANCELLED: "order.cancelled",
    OrderStatus.REFUNDED: "order.refunded",
}


def events(before: Order | None, after: Order) -> Iterator[str]:
    """The events of a new order, or of a change (docs/webhooks.md#events)."""
    yield "order.updated" if before else "order.created"
    if after.fields["paidAt"] and not (before and before.fields["paidAt"]):
        yield "order.paid"
    if before is None:
        return
    # Its status and its payment status may become REFUNDED one after the other.
    new = {after.status, after.payment_status} - {before.status, before.payment_status}
    yield from (event for status, event in _EVENTS.items() if status in new)


def gives_back(before: Order, after: Order | None) -> dict[str, dict[str, int]]:
    """The stock that a change, or (`after` None) a deletion returns: product id → variant id →
    pieces."""
    if after is None:
        return before.taken() if before.status in BEFORE_SHIPPING else {}
    if after.status in GIVES_BACK:
        return before.taken()
    returned: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    lines = {line["id"]: line for line in after.fields["lineItems"]}
    for refund in after.fields["refunds"][len(before.fields["refunds"]) :]:
        for part in refund["lines"]:
            if part["restocked"]:
                line = lines[part["lineItemId"]]
                returned[line["productId"]][line["variantId"]] += part["restocked"]
    return returned


def spending(before: Order | None, after: Order | None) -> dict[str, Totals]:
    """What a change of an order adds to the totals of customers, by id."""
    change: dict[str, Totals] = defaultdict(Totals)
    for order, sign in ((before, -1), (after, 1)):
        if order and order.fields["customer"]:
            counted = sign * (order.status is not OrderStatus.CANCELLED)
            own = Totals(sign, counted, sign * order.revenue)
            change[order.fields["customer"]["id"]] += own
    return change
