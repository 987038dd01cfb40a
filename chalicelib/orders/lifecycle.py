"""An order after each request, and the events of it: pure functions.

`create_order` makes the first version; each `apply_…` takes an order to its next version, or
returns it as it is if nothing differs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, cast

from chalicelib import settings
from chalicelib.customers.model import Customer, Totals, of_order
from chalicelib.customers.schemas import OrderCustomer
from chalicelib.orders import (
    account,
    closing,
    editing,
    lines,
    payments,
    production,
    refunds,
    room,
    shipments,
)
from chalicelib.orders.model import (
    ADDRESSES,
    LARGEST_HISTORY,
    MOST_HISTORY,
    AddressName,
    Deposit,
    Order,
    OrderLine,
    StoredOrder,
    index_of,
)
from chalicelib.orders.schemas import (
    CloseOrder,
    NewOrder,
    NewShipment,
    OrderChange,
    OrderHistoryEntry,
    OrderStatus,
    PaymentInput,
    PaymentStatus,
    ShipmentChange,
    StockPolicy,
    WorkChange,
)
from chalicelib.orders.stages import OrderWork
from chalicelib.orders.transitions import (
    BEFORE_SHIPPING,
    GIVES_BACK,
    PAYMENTS,
    move_payment_status,
    move_status,
)
from chalicelib.problems import Invalid
from chalicelib.products.model import Product
from chalicelib.storage.attributes import Fields
from chalicelib.values import addresses, clock, ids, money, timezone
from chalicelib.values.addresses import Address
from chalicelib.values.forgetting import Person

_LONGEST_CHANGE: Final = 200  # characters of an entry of the history


# --- Creation -------------------------------------------------------------------------------------


def create_order(
    new: NewOrder,
    products: Mapping[str, Product],
    customer: Customer | None,
    *,
    number: str,
    by: str,
    now: str,
) -> Order:
    """Return a new order, priced, with its sums, payments and status; nothing is read or written.

    `products`: those of its lines that exist, by id; `by`: the name of the key that places it;
    `now`: ISO 8601. It is PAID if it was sent as such, or its payments or the deposit settle it.
    Raise Invalid and its kinds.
    """
    placed = new.order_date or new.processed_at or now
    lead_from = None if new.due_on else timezone.day_at(clock.parse(placed))
    new_lines = lines.make_lines(new.line_items, "lineItems", products, lead_from)
    lines.refuse_much_work(new_lines, "lineItems")
    if new.stock_policy is not StockPolicy.CHECK:
        new_lines = list(lines.allot_stock(new_lines, products, new.stock_policy))
    customer_fields = of_order(customer) if customer else None
    fields = _initial_fields(new, new_lines, customer_fields, number=number, by=by, now=now)
    fields = _with_first_payments(fields, new, by, now)
    fields["index"] = index_of(fields).to_stored()
    order = Order(fields, 1)
    room.refuse_large_order(order, "lineItems")
    return order


def _initial_fields(
    new: NewOrder,
    new_lines: list[OrderLine],
    customer: OrderCustomer | None,
    *,
    number: str,
    by: str,
    now: str,
) -> StoredOrder:
    """Return the fields of a new order before its deposit and payments: PENDING.

    Raise Invalid. The paymentStatus is as sent; `paidAt` and what follows from payments is not set
    yet.
    """
    sums, sent = lines.compute_sums(new_lines, new), new.sent_fields()
    return {
        "id": ids.new_id("ord"),
        "number": number,
        "status": OrderStatus.PENDING.value,
        "paymentStatus": (new.payment_status or PaymentStatus.PENDING).value,
        "paymentMethod": new.payment_method,
        "source": new.source or "OTHER",
        "customer": customer,
        "shippingAddress": _stored_address(sent.get("shippingAddress")),
        "billingAddress": _stored_address(sent.get("billingAddress")),
        "salesRepId": new.sales_rep_id,
        "lineItems": new_lines,
        "currency": settings.currency(),
        "subtotal": sums["subtotal"],
        "discount": sums["discount"],
        "shipping": sums["shipping"],
        "tax": sums["tax"],
        "total": sums["total"],
        "originalTotal": sums["total"],
        "payments": [],
        "refunds": [],
        "shipments": [],
        "deposit": None,
        "retained": None,
        "closedAt": None,
        "closeReason": None,
        "closedBy": None,
        "amountCredited": money.render(Decimal(0)),
        "note": new.note or None,
        "tags": _drop_repeats(new.tags),
        "externalId": new.external_id or None,
        "metadata": new.metadata or {},
        "dueOn": new.due_on,
        "trackingNumber": None,
        "orderDate": new.order_date or new.processed_at or now,
        "paidAt": None,
        "producedAt": None,
        "shippedAt": None,
        "createdAt": now,
        "updatedAt": now,
        "history": [{"at": now, "by": by, "change": "created"}],
        "edits": [],
        "formerly": {},
    }


def _with_first_payments(fields: StoredOrder, new: NewOrder, by: str, now: str) -> StoredOrder:
    """Return a new order's fields with its deposit, its payments and what follows from them.

    With payments the paymentStatus follows from them, and the status becomes PAID if all, or the
    deposit, is paid. Without payments, the paymentStatus PAID records a payment of the whole
    balance, and makes the status PAID. `paidAt` is set if all is paid. Raise Invalid if a deposit
    or a payment is not possible, or if another paymentStatus was sent than the payments make.
    """
    after: StoredOrder = {**fields, "deposit": account.new_deposit(fields, new.deposit)}
    if new.payments:
        unpaid: StoredOrder = {**after, "paymentStatus": PaymentStatus.PENDING.value}
        after = _with_paid_status(payments.take_payments(unpaid, new.payments, by, now))
        if new.payment_status and after["paymentStatus"] != new.payment_status:
            message = f"With these payments the paymentStatus is {after['paymentStatus']}."
            raise Invalid(message, code="payment_mismatch", paymentStatus=after["paymentStatus"])
    elif new.payment_status is PaymentStatus.PAID:
        unpaid = {**after, "paymentStatus": PaymentStatus.PENDING.value}
        after = payments.settle_balance(unpaid, by, now)
        after["status"], after["paymentStatus"] = OrderStatus.PAID.value, PaymentStatus.PAID.value
    after = account.with_balance(after)
    after["paidAt"] = now if after["paymentStatus"] == PaymentStatus.PAID else None
    return after


def _with_paid_status(fields: StoredOrder) -> StoredOrder:
    """Return the fields with the status PAID in place of PENDING, if all, or the deposit, is paid.

    Otherwise the same. The paymentStatus stays.
    """
    is_paid = fields["paymentStatus"] == PaymentStatus.PAID
    deposit = fields["deposit"]
    if fields["status"] == OrderStatus.PENDING and (is_paid or (deposit and deposit["isReached"])):
        return {**fields, "status": OrderStatus.PAID.value}
    return fields


def _stored_address(sent: Fields | None) -> Address | None:
    """Return an address as an order keeps it, with all members; None for none."""
    return cast(Address, addresses.to_address(sent)) if sent else None


def _drop_repeats(tags: Iterable[str] | None) -> list[str]:
    """Return each tag once, in order."""
    return list(dict.fromkeys(tags or ()))


# --- Change ---------------------------------------------------------------------------------------


def apply_change(order: Order, change: OrderChange, by: str, now: str) -> Order:
    """Return the order after a PATCH: its next version, also if nothing differs.

    A new status implies more: a payment status with its payment or refunds, a shipment,
    `shippedAt`, and lines that have nothing `taken` any more if it gives the stock back. The
    history gets an entry. Raise InvalidTransition, Invalid and its kinds, such as Denied for a
    closed order.
    """
    sent = change.sent_fields()
    money_fields = sent.keys() & {"deposit", "retained"}
    others = {name: value for name, value in sent.items() if name not in money_fields}
    fields = cast(StoredOrder, {**order.fields, **_clean_fields(others)})
    _refuse_late_addresses(order, fields)
    if order.status not in BEFORE_SHIPPING and fields["dueOn"] != order.fields["dueOn"]:
        message = f"can no longer change: the order is {order.status}"
        raise Invalid.field("dueOn", "too_late", message)
    former = order.fields["formerly"].items()
    fields["formerly"] = {name: id for name, id in former if fields[name] == order.fields[name]}
    status = order.status
    payment = sent.get("paymentStatus")
    fields["paymentStatus"] = order.fields["paymentStatus"]
    if "status" in sent:
        status = move_status(order.status, OrderStatus(sent["status"]))
        account.refuse_closed(order.fields)
        payment = _implied_payment_status(status, payment)
        if status is OrderStatus.SHIPPED:
            fields["shippedAt"] = now
        if status in GIVES_BACK:
            fields["lineItems"] = [{**line, "taken": 0} for line in fields["lineItems"]]
    if "deposit" in money_fields:
        fields["deposit"] = account.change_deposit(fields, change.deposit)
    if "retained" in money_fields:
        fields["retained"] = account.change_retained(fields, change.retained)
    fields = account.with_balance(shipments.follow_patch(order.fields, fields, by, now))
    if payment is not None:
        start, has_payments = order.payment_status, bool(order.fields["payments"])
        wanted = PaymentStatus(payment)
        moved = move_payment_status(status, start, wanted, has_payments=has_payments)
        if moved is not start:
            account.refuse_closed(order.fields)
            fields = _with_payment_status(fields, moved, by, now)
    after = _next_version(order, fields, by, now)
    if fields["metadata"] != order.fields["metadata"]:
        room.refuse_large_growth(after)
    return after


def _with_payment_status(
    fields: StoredOrder, status: PaymentStatus, by: str, now: str
) -> StoredOrder:
    """Return the fields with a payment status that was sent, and the money that it implies.

    REFUNDED refunds all that is left; PAID records a payment of what is due; others record nothing.
    """
    if status is PaymentStatus.REFUNDED:
        return refunds.refund_everything(fields, by, now)
    if status is PaymentStatus.PAID:
        fields = payments.settle_balance(fields, by, now)
    return account.with_balance({**fields, "paymentStatus": status.value})


def apply_payments(order: Order, received: Sequence[PaymentInput], by: str, now: str) -> Order:
    """Return the order after payments; a PENDING one that is paid, or its deposit, becomes PAID.

    Raise Invalid, Denied, DuplicateReference.
    """
    fields = payments.take_payments(order.fields, received, by, now)
    return apply_growth(order, _with_paid_status(fields), by, now)


def apply_edit(order: Order, edit: editing.Edit, by: str, now: str) -> Order:
    """Return the order after an edit, with its history; the same if nothing differs.

    Raise Invalid if it would be too large.
    """
    if edit.after["edits"] == order.fields["edits"]:
        return order
    without = frozenset({"payments", "refunds", "edits"}) | room.GROWING
    unshipped: StoredOrder = {**edit.after, "shipments": []}  # whose shipments do not count either
    room.refuse_large_order(Order(unshipped, order.version), "body", without)
    return apply_growth(order, edit.after, by, now)


def apply_shipment(
    order: Order, wanted: NewShipment, carriers: shipments.Carriers, by: str, now: str
) -> Order:
    """Return the order after a shipment, and after the moves of its status that follow.

    `carriers`: tracking URLs by name. Raise Invalid and its kinds.
    """
    fields = shipments.add_shipment(order.fields, wanted, carriers, by, now)
    has_more = production.has_more_to_make(order, fields)
    moves = shipments.list_moves(fields, is_new=True, has_more_to_make=has_more)
    return _move_on(order, fields, moves, by, now)


def apply_shipment_change(
    order: Order,
    id: str,
    change: ShipmentChange,
    carriers: shipments.Carriers,
    *,
    by: str,
    now: str,
) -> Order:
    """Return the order after a change of a shipment; the same if nothing differs.

    If the change says when it arrived, the order is DELIVERED once all have. Raise NotFound,
    Conflict, Invalid.
    """
    fields = shipments.change_shipment(order.fields, id, change, carriers)
    if fields["shipments"] == order.fields["shipments"]:
        return order
    moves = shipments.list_moves(fields, is_new=False) if change.delivered_at else []
    return _move_on(order, fields, moves, by, now)


def apply_shipment_cancel(order: Order, id: str, reason: str | None, by: str, now: str) -> Order:
    """Return the order after a shipment was cancelled, with its history; the status stays.

    Raise NotFound, Conflict, Denied.
    """
    fields = shipments.cancel_shipment(order.fields, id, reason, now)
    return apply_growth(order, fields, by, now)


def _move_on(
    order: Order, fields: StoredOrder, moves: Sequence[OrderStatus], by: str, now: str
) -> Order:
    """Return the order with these fields after these moves, each with an entry in the history.

    A move to SHIPPED sets `shippedAt`. No moves: as `apply_growth`. It is one version higher in
    all. Raises Invalid as `apply_growth` does.
    """
    for status in moves[:-1]:
        moved: StoredOrder = {**order.fields, "status": status.value}
        moved["history"] = _with_changes(order.fields, moved, by, now)
        order = Order(moved, order.version)
    if moves:
        fields = {**fields, "status": moves[-1].value}
    if OrderStatus.SHIPPED in moves:
        fields["shippedAt"] = now
    return apply_growth(order, fields, by, now)


def apply_work(order: Order, line_id: str, wanted: WorkChange, by: str, now: str) -> Order:
    """Return the order with its work after a change of one line's; the same if nothing differs.

    The order has the same version, as only its work is written, unless it was PAID and the work has
    begun: then it is IN_PRODUCTION. Raise NotFound, Conflict, Invalid.
    """
    work = production.change_work(order, line_id, wanted, by, now)
    if work is order.work:
        return order
    after = order
    if production.starts_production(order, work):
        status = move_status(order.status, OrderStatus.IN_PRODUCTION)
        after = _next_version(order, {**order.fields, "status": status.value}, by, now)
    return replace(after, work=work)


def follow_work(work: OrderWork, before: Order | None, after: Order, by: str, now: str) -> Order:
    """Return `after` with its work, and with the `producedAt` that follows from it.

    `work`: the work before the change. If `after` has work of its own, the change was about that;
    otherwise the work follows the order (`production.follow_order`). `producedAt` is set when all
    work is done, and cleared when some is open again, with an entry in the history.
    """
    if after.work is None:
        if not production.is_affected(before, after):
            return replace(after, work=work)
        work = production.follow_order(work, before, after, by, now)
        after = replace(after, work=work)
    work = after.work or work
    is_produced = production.is_produced(work)
    produced_at = (after.fields["producedAt"] or now) if is_produced else None
    if not production.is_worked_on(after) or produced_at == after.fields["producedAt"]:
        return after
    entry = "produced" if is_produced else "not produced"
    history = _with_entry(after.fields["history"], entry, by, now)
    fields: StoredOrder = {**after.fields, "producedAt": produced_at, "history": history}
    return replace(_rewrite(before or after, fields, now), work=work)


def apply_close(order: Order, wanted: CloseOrder, by: str, now: str) -> Order:
    """Return the order after it was closed, with its refunds and move; the same if nothing differs.

    Raise Denied, Invalid.
    """
    fields = closing.close_order(order.fields, wanted, by, now)
    return order if fields is order.fields else _next_version(order, fields, by, now)


def apply_growth(order: Order, fields: StoredOrder, by: str, now: str) -> Order:
    """Return the order with these fields as its next version.

    They have one more payment or edit, for instance. The history gets an entry. Raise Invalid if
    its events would not fit the outbox with any note, tags and history.
    """
    after = _next_version(order, fields, by, now)
    room.refuse_large_growth(after)
    return after


def _next_version(order: Order, fields: StoredOrder, by: str, now: str) -> Order:
    """Return the order with these fields, one version higher, and an entry of the history.

    The entry says what differs; there is none if nothing does. `paidAt` is set the first time that
    the paymentStatus is PAID. The result has no work.
    """
    is_paid = fields["paymentStatus"] == PaymentStatus.PAID
    paid_at = fields["paidAt"] or (now if is_paid else None)
    history = _with_changes(order.fields, fields, by, now)
    return _rewrite(order, {**fields, "paidAt": paid_at, "history": history}, now)


def _rewrite(order: Order, fields: StoredOrder, now: str) -> Order:
    """Return the order with these fields, one version higher, with `updatedAt` and a new index.

    The history stays as in `fields`. The result has no work.
    """
    updated = clock.next_iso(order.fields["updatedAt"], now)
    after: StoredOrder = {**fields, "updatedAt": updated}
    after["index"] = index_of(after).to_stored()
    return Order(after, order.version + 1)


def _implied_payment_status(status: OrderStatus, sent: str | None) -> str | None:
    """Return the payment status to move to when an order becomes `status`: sent, or implied.

    A status that implies none: as sent, perhaps None. Raise Invalid if the one that was sent does
    not go with the status.
    """
    possible = PAYMENTS.get(status)
    if possible is None:
        return sent
    if sent is not None and sent not in possible:
        names = " or ".join(payment.value for payment in possible)
        message = f"must be {names}, or absent, when the status becomes {status.value}"
        raise Invalid.field("paymentStatus", "invalid", message)
    return sent or possible[0]


def _clean_fields(sent: Fields) -> dict[str, object]:
    """Return the fields that a client sent as they are stored: an empty text is None.

    Tags are without repeats, addresses have all members, no metadata is {}.
    """
    fields = {name: None if value == "" else value for name, value in sent.items()}
    for name in fields.keys() & {"status", "paymentStatus"}:
        fields[name] = str(fields[name])
    if "tags" in fields:
        fields["tags"] = _drop_repeats(fields["tags"])
    if "metadata" in fields:
        fields["metadata"] = fields["metadata"] or {}
    for name in fields.keys() & set(ADDRESSES):
        fields[name] = _stored_address(sent[name])
    return fields


def _refuse_late_addresses(order: Order, fields: StoredOrder) -> None:
    """Raise Invalid if `fields` has another address than the order, and the order is DELIVERED."""
    for name in ADDRESSES:
        if order.status is OrderStatus.DELIVERED and fields[name] != order.fields[name]:
            message = "can no longer change: the order is DELIVERED"
            raise Invalid.field(name, "too_late", message)


# --- History --------------------------------------------------------------------------------------


def _with_changes(
    before: StoredOrder, after: StoredOrder, by: str, now: str
) -> list[OrderHistoryEntry]:
    """Return the history of the order before, with an entry about what differs after the change.

    The entry has one text for all differences, cut to 200 characters. The history stays as it was
    if nothing differs. The history of `after` is not read.
    """
    changes = ", ".join(_describe_changes(before, after))
    if not changes:
        return list(before["history"])
    return _with_entry(before["history"], changes[:_LONGEST_CHANGE], by, now)


def _describe_changes(before: Fields, after: Fields) -> Iterator[str]:
    """Yield a text for each difference that the history names, such as `status PENDING → PAID`.

    Of notes, tags, metadata, addresses and the deposit it is the name of the field alone.
    """
    for name in ("status", "paymentStatus", "salesRepId", "trackingNumber"):
        if before[name] != after[name]:
            yield f"{name} {before[name] or 'none'} → {after[name] or 'none'}"
    stored_before, stored_after = cast(StoredOrder, before), cast(StoredOrder, after)
    yield from account.describe_transfers(stored_before, stored_after)
    yield from shipments.describe_shipments(stored_before, stored_after)
    if before["edits"] != after["edits"]:
        yield f"edited, total {before['total']} → {after['total']}"
    if before["retained"] != after["retained"]:
        yield f"retained {before['retained'] or 'none'} → {after['retained'] or 'none'}"
    if before["kept"] != after["kept"]:
        yield (
            f"kept {before['kept']} → {after['kept']}"
            if before["kept"]
            else (f"closed, kept {after['kept']}")
        )
    if before["dueOn"] != after["dueOn"]:
        yield f"dueOn {before['dueOn'] or 'none'} → {after['dueOn'] or 'none'}"
    silent = ("note", "tags", "externalId", "metadata", *ADDRESSES)
    yield from (name for name in silent if before[name] != after[name])
    if _sent_deposit(before["deposit"]) != _sent_deposit(after["deposit"]):
        yield "deposit"


def _sent_deposit(deposit: Deposit | None) -> tuple[str | None, ...]:
    """Return the part of a deposit that a client sends; () for none."""
    return (deposit["amount"], deposit["percent"]) if deposit else ()


def _with_entry(
    history: Sequence[OrderHistoryEntry], change: str, by: str, now: str
) -> list[OrderHistoryEntry]:
    """Return the history with one more entry: its first, and the latest that have room.

    `history` has at least one entry.
    """
    first, *others = history
    entries: list[OrderHistoryEntry] = [*others, {"at": now, "by": by, "change": change}]
    return [first, *editing.keep_latest(entries, MOST_HISTORY - 1, LARGEST_HISTORY, _entry_text)]


def _entry_text(entry: OrderHistoryEntry) -> str:
    """Return the person and the change of a history entry as one text, to measure it."""
    return entry["by"] + entry["change"]


# --- Merges and erasures --------------------------------------------------------------------------


def apply_merge(order: Order, into: Customer, by: str, now: str) -> Order:
    """Return the order after its customer, which it must have, was merged into another.

    The history gets an entry. Addresses stay.
    """
    own = order.fields["customer"]
    assert own
    entry = f"customer {own['id']} → {into.id}"
    history = _with_entry(order.fields["history"], entry, by, now)
    return _rewrite(order, {**order.fields, "customer": of_order(into), "history": history}, now)


def apply_erasure(order: Order, person: Person, now: str) -> Order:
    """Return the order and its work without a person's data, marked with `erasedAt`.

    The same if nothing differs. An order that an edit moved to another customer loses only the
    addresses that the person gave, and mentions. The history gets no entry.
    """
    if person.is_about(order.fields):
        fields: Fields = person.forget_order(order.fields)
    else:
        fields = person.redact_moved_order(order.fields, _former_places(order, person))
    fields = {"erasedAt": now, **fields}
    work = production.forget_person(order, person)
    if fields == order.fields and order.work and work.lines == order.work.lines:
        return order
    return replace(_rewrite(order, cast(StoredOrder, fields), now), work=work)


def facts_about(order: Order, person: Person) -> set[str]:
    """Return the texts in an order that identify the person, whose it is or was.

    Addresses that another customer gave are left out. Of an order that is not the person's now,
    only the addresses that the person gave are looked at.
    """
    if person.is_about(order.fields):
        given = order.fields["formerly"].items()
        others = [name for name, id in given if id not in person.ids]
        return person.facts_in({**order.fields, **dict.fromkeys(others)})
    return person.facts_in({name: order.fields[name] for name in _former_places(order, person)})


def _former_places(order: Order, person: Person) -> list[AddressName]:
    """Return the addresses of an order that this person gave, when the order was still theirs."""
    return [name for name, id in order.fields["formerly"].items() if id in person.ids]


# --- Events and effects ---------------------------------------------------------------------------


_EVENTS: Final[Mapping[str, str]] = {
    OrderStatus.CANCELLED: "order.cancelled",
    OrderStatus.REFUNDED: "order.refunded",
}


def events(before: Order | None, after: Order) -> Iterator[str]:
    """Yield the names of the order's own events, first order.created or order.updated.

    The former if it is new. Then order.paid and order.shipped when `paidAt` and `shippedAt` are
    first set, and order.cancelled or order.refunded when the status, or the paymentStatus, becomes
    so. A new order is never shipped or ended. Payments, edits and other parts have events
    elsewhere.
    """
    yield "order.updated" if before else "order.created"
    if after.fields["paidAt"] and not (before and before.fields["paidAt"]):
        yield "order.paid"
    if before is None:
        return
    if after.fields["shippedAt"] and not before.fields["shippedAt"]:
        yield "order.shipped"
    # Its status and its payment status may become REFUNDED one after the other.
    new = {after.status, after.payment_status} - {before.status, before.payment_status}
    yield from (event for status, event in _EVENTS.items() if status in new)


def returned_stock(before: Order, after: Order | None) -> dict[str, dict[str, int]]:
    """Return the stock that a change gives back: {product id: {variant id: pieces}}; {} for none.

    All pieces in house (taken and not at the customer), if the order becomes closed before
    shipping, or is CANCELLED or REFUNDED then, or is deleted (`after` None) before shipping.
    Otherwise only those that its new refunds restock; what an edit returns is not among them.
    """
    if after is None:
        return before.pieces_in_house() if before.status in BEFORE_SHIPPING else {}
    closes = after.fields["closedAt"] and not before.fields["closedAt"]
    if (closes and before.status in BEFORE_SHIPPING) or after.status in GIVES_BACK:
        return before.pieces_in_house()
    returned: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    lines = {line["id"]: line for line in after.fields["lineItems"]}
    for refund in after.fields["refunds"][len(before.fields["refunds"]) :]:
        for part in refund["lines"]:
            line = lines[part["lineItemId"]]
            if part["restocked"] and line["productId"] and line["variantId"]:
                returned[line["productId"]][line["variantId"]] += part["restocked"]
    return returned


def totals_changes(before: Order | None, after: Order | None) -> dict[str, Totals]:
    """Return what a change of an order adds to the Totals of customers: {customer id: Totals}.

    Totals are orders, orders that are not CANCELLED, and revenue. The customer before loses what
    the order had, so another customer gets all; the same one gets the difference, perhaps of zeros.
    """
    change: dict[str, Totals] = defaultdict(Totals)
    for order, sign in ((before, -1), (after, 1)):
        if order and order.fields["customer"]:
            counted = sign * (order.status is not OrderStatus.CANCELLED)
            own = Totals(sign, counted, sign * order.revenue)
            change[order.fields["customer"]["id"]] += own
    return change
