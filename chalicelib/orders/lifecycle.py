"""Orders after a request, and their events: pure functions."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final

from chalicelib import settings
from chalicelib.customers.model import Customer, Totals
from chalicelib.customers.shown import of_order
from chalicelib.orders.model import (
    ADDRESSES,
    LARGEST_HISTORY,
    LARGEST_ORDER,
    MOST_HISTORY,
    MOST_PRODUCTS,
    NewOrder,
    Order,
    OrderStatus,
    PaymentStatus,
    index_of,
)
from chalicelib.orders.shown import show
from chalicelib.orders.transitions import (
    BEFORE_SHIPPING,
    GIVES_BACK,
    PAYMENTS,
    payment_step,
    step,
)
from chalicelib.problems import Invalid
from chalicelib.products.model import DEFAULT_VARIANT, Product
from chalicelib.values import addresses, ids, money
from chalicelib.values.forgetting import Person

_LONGEST_CHANGE: Final = 200


# --- Creation -------------------------------------------------------------------------------------


def wanted(new: NewOrder) -> dict[str, dict[str, int]]:
    """The pieces wanted: product id → variant id → pieces, over all lines. Raises Invalid."""
    wanted: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in new.line_items:
        wanted[ids.product_of(line.variant_id)][line.variant_id] += line.quantity
    if len(wanted) > MOST_PRODUCTS:
        message = f"must be of at most {MOST_PRODUCTS} different products, not {len(wanted)}"
        raise Invalid.field("lineItems", "too_long", message)
    return wanted


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
    lines = _lines(new, products)
    payment = new.payment_status or PaymentStatus.PENDING
    paid = payment is PaymentStatus.PAID
    fields: dict[str, object] = {
        "id": ids.new("ord"),
        "number": number,
        "status": (OrderStatus.PAID if paid else OrderStatus.PENDING).value,
        "paymentStatus": payment.value,
        "paymentMethod": new.payment_method,
        "source": new.source or "OTHER",
        "customer": of_order(customer) if customer else None,
        **_addressed(new.given()),
        "salesRepId": new.sales_rep_id,
        "lineItems": lines,
        "currency": settings.currency(),
        **_sums(new, lines),
        "note": new.note or None,
        "tags": _once_each(new.tags),
        "trackingNumber": None,
        "orderDate": new.dated or now,
        "paidAt": now if paid else None,
        "shippedAt": None,
        "createdAt": now,
        "updatedAt": now,
        "history": [{"at": now, "by": by, "change": "created"}],
    }
    fields["index"] = index_of(fields).stored()
    order = Order(fields, 1)
    size = len(json.dumps(show(order), ensure_ascii=False).encode())
    if size > LARGEST_ORDER:
        message = f"make an order of {size} bytes; at most {LARGEST_ORDER} are possible"
        raise Invalid.field("lineItems", "too_large", message)
    return order


def _lines(new: NewOrder, products: Mapping[str, Product]) -> list[dict[str, object]]:
    lines, errors = [], []
    for place, asked in enumerate(new.line_items):
        at, id = f"lineItems.{place}", asked.variant_id
        product = products.get(ids.product_of(id))
        variant = product.variant(id) if product else None
        if product is None or variant is None:
            message = f"there is no variant {id!r}"
            errors.append(
                {"field": f"{at}.variantId", "code": "unknown_variant", "message": message}
            )
            continue
        price = asked.price or variant["price"]
        total = Decimal(price) * asked.quantity
        if total >= money.LARGEST:
            message = f"makes the line's total {money.LARGEST:f} or more"
            errors.append({"field": f"{at}.quantity", "code": "out_of_range", "message": message})
        lines.append(
            {
                "id": ids.new("li"),
                "variantId": id,
                "productId": product.id,
                "title": _title(product, variant),
                "sku": variant["sku"],
                "quantity": asked.quantity,
                "price": price,
                "total": money.render(total),
                "taken": asked.quantity if id in product.quantities else 0,
            }
        )
    if errors:
        raise Invalid.fields(errors)
    return lines


def _title(product: Product, variant: Mapping[str, object]) -> str:
    name, title = product.fields["name"], variant["title"]
    return name if title == DEFAULT_VARIANT else f"{name} / {title}"


def _sums(new: NewOrder, lines: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    computed = sum((Decimal(line["total"]) for line in lines), Decimal(0))
    subtotal = Decimal(new.subtotal) if new.subtotal else computed
    tax = Decimal(new.tax or 0)
    total = Decimal(new.total) if new.total else subtotal + tax
    if max(subtotal, total) >= money.LARGEST:
        raise Invalid.field("total", "out_of_range", f"must be below {money.LARGEST:f}")
    sums = {"subtotal": subtotal, "tax": tax, "total": total}
    return {name: money.render(amount) for name, amount in sums.items()}


def _addressed(given: Mapping[str, Any]) -> dict[str, object]:
    """Both addresses of what was given, or null: copies, which nothing else changes."""
    return {name: addresses.stored(given[name]) if given.get(name) else None for name in ADDRESSES}


def _once_each(tags: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys(tags or ()))


# --- Change ---------------------------------------------------------------------------------------


def changed(order: Order, given: Mapping[str, Any], by: str, now: str) -> Order:
    """The order after a PATCH with what was `given`. Raises InvalidTransition and Invalid."""
    fields = {**order.fields, **_cleaned(given)}
    _refuse_late_addresses(order, fields)
    status = order.status
    payment = given.get("paymentStatus")
    if "status" in given:
        status = step(order.status, OrderStatus(given["status"]))
        payment = _payment(status, payment)
        if status is OrderStatus.SHIPPED:
            fields["shippedAt"] = now
        if status in GIVES_BACK:
            fields["lineItems"] = [{**line, "taken": 0} for line in fields["lineItems"]]
    if payment is not None:
        moved = payment_step(status, order.payment_status, PaymentStatus(payment))
        fields["paymentStatus"] = moved.value
    if fields["paymentStatus"] == PaymentStatus.PAID and fields["paidAt"] is None:
        fields["paidAt"] = now
    fields["history"] = _history(order.fields, fields, by, now)
    fields["updatedAt"] = now
    fields["index"] = index_of(fields).stored()
    return Order(fields, order.version + 1)


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


def _cleaned(given: Mapping[str, Any]) -> dict[str, object]:
    fields = {name: None if value == "" else value for name, value in given.items()}
    for name in fields.keys() & {"status", "paymentStatus"}:
        fields[name] = str(fields[name])
    if "tags" in fields:
        fields["tags"] = _once_each(fields["tags"])
    for name in fields.keys() & set(ADDRESSES):
        fields[name] = addresses.stored(given[name]) if given[name] else None
    return fields


def _refuse_late_addresses(order: Order, fields: Mapping[str, object]) -> None:
    """Raises Invalid for new addresses of a delivered order."""
    for name in ADDRESSES:
        if order.status is OrderStatus.DELIVERED and fields[name] != order.fields[name]:
            message = "can no longer change: the order is DELIVERED"
            raise Invalid.field(name, "too_late", message)


def _history(
    before: Mapping[str, Any], after: Mapping[str, Any], by: str, now: str
) -> list[dict[str, str]]:
    """Its creation and the latest changes: 99 of them, if their texts are not too large."""
    changes = []
    for name in ("status", "paymentStatus", "salesRepId", "trackingNumber"):
        if before[name] != after[name]:
            changes.append(f"{name} {before[name] or 'none'} → {after[name] or 'none'}")
    silent = ("note", "tags", *ADDRESSES)
    changes += [name for name in silent if before[name] != after[name]]
    if not changes:
        return list(before["history"])
    return _with_entry(
        before["history"], {"at": now, "by": by, "change": ", ".join(changes)[:_LONGEST_CHANGE]}
    )


def _with_entry(before: Sequence[dict[str, str]], entry: dict[str, str]) -> list[dict[str, str]]:
    first, *rest = before
    latest = [*rest, entry][1 - MOST_HISTORY :]
    sizes = accumulate(len(f"{e['by']}{e['change']}".encode()) for e in reversed(latest))
    fitting = sum(size <= LARGEST_HISTORY for size in sizes)
    return [first, *latest[len(latest) - fitting :]]


def reassigned(order: Order, customer: Customer, by: str, now: str) -> Order:
    """The order after its customer was merged into another."""
    own = order.fields["customer"]["id"]
    entry = {"at": now, "by": by, "change": f"customer {own} → {customer.id}"}
    fields = {**order.fields, "customer": of_order(customer), "updatedAt": now}
    fields["history"] = _with_entry(order.fields["history"], entry)
    fields["index"] = index_of(fields).stored()
    return Order(fields, order.version + 1)


def forgotten(order: Order, person: Person, now: str) -> Order:
    """The order without personal data; itself if it has none."""
    fields = person.forget(order.fields)
    if all(fields[name] == order.fields[name] for name in ("customer", "note", *ADDRESSES)):
        return order
    fields["updatedAt"] = now
    fields["index"] = index_of(fields).stored()
    return Order(fields, order.version + 1)


# --- Events ---------------------------------------------------------------------------------------


def events(before: Order | None, after: Order) -> Iterator[str]:
    """The events of a new order, or of a change (docs/webhooks.md#events)."""
    yield "order.updated" if before else "order.created"
    if after.fields["paidAt"] and not (before and before.fields["paidAt"]):
        yield "order.paid"
    if before is None:
        return
    if after.status is not before.status:
        if after.status is OrderStatus.SHIPPED:
            yield "order.shipped"
        if after.status is OrderStatus.CANCELLED:
            yield "order.cancelled"
    if _refunded(after) and not _refunded(before):
        yield "order.refunded"


def _refunded(order: Order) -> bool:
    return order.payment_status is PaymentStatus.REFUNDED or order.status is OrderStatus.REFUNDED


def gives_back(before: Order, after: Order | None) -> dict[str, dict[str, int]]:
    """The stock that a change, or (`after` None) a deletion returns: product id → variant id →
    pieces."""
    if after is not None:
        return {} if after.taken() else before.taken()
    return before.taken() if before.status in BEFORE_SHIPPING else {}


def spending(before: Order | None, after: Order | None) -> dict[str, Totals]:
    """What a change of an order adds to the totals of customers, by id."""
    change: dict[str, Totals] = defaultdict(Totals)
    for order, is_new in ((before, False), (after, True)):
        if order is None or not order.fields["customer"]:
            continue
        counts = order.status is not OrderStatus.CANCELLED
        paid = counts and order.payment_status is PaymentStatus.PAID
        spent = Decimal(order.fields["total"]) if paid else Decimal(0)
        id, own = order.fields["customer"]["id"], Totals(1, int(counts), spent)
        change[id] = change[id] + own if is_new else change[id] - own
    return change
