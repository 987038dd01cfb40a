"""Edits of an order's lines and amounts, customer, source and date: pure functions
(docs/orders.md#editing).

An edit never moves money: what is due follows from the new total.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final, TypeVar

from chalicelib.customers.model import Customer
from chalicelib.customers.schemas import of_order
from chalicelib.orders import lines, payments
from chalicelib.orders.model import (
    ADDRESSES,
    LARGEST_EDITS,
    MOST_EDITS,
    MOST_LINES,
    EditOrder,
    LineChange,
    Order,
    PaymentStatus,
)
from chalicelib.orders.transitions import BEFORE_SHIPPING
from chalicelib.problems import Invalid
from chalicelib.products.model import Product
from chalicelib.storage.attributes import Fields
from chalicelib.values import ids, money

T = TypeVar("T")
# Pieces that are taken of each variant; negative: they return.
Moves = list[tuple[Product, dict[str, int]]]

_MOST_CHANGES: Final = 20  # texts of one edit
_LONGEST_CHANGE: Final = 200
_SUMS: Final = ("subtotal", "tax", "total", "balanceDue")


class TooLate(Invalid):
    """422: the lines and amounts of the order can no longer change."""

    code = "too_late"


class TaxRequired(Invalid):
    """422 with `proposed`: the tax in proportion to the amounts."""

    code = "tax_required"

    def __init__(self, proposed: Decimal) -> None:
        share = money.render(proposed)
        message = f"The order has tax, and its amounts change: send tax, in proportion {share}."
        super().__init__(message, field="tax", proposed=share)


class BelowRefunded(Invalid):
    """422: an edit would leave less than was refunded."""

    code = "below_refunded"


class EmptyOrder(Invalid):
    """422: an order has at least one line."""

    code = "empty_order"
    text = "An order has at least one line. Cancel or refund it, or keep a line that costs nothing."


@dataclass(frozen=True)
class Edited:
    """An order before and after an edit, and the pieces that it takes from the stock."""

    before: Fields
    after: Fields
    moves: Moves

    def preview(self) -> dict[str, object]:
        """The shape of EditPreview."""
        return {
            "before": {name: self.before[name] for name in _SUMS},
            "after": {name: self.after[name] for name in _SUMS},
            "lines": list(_differing(self.before["lineItems"], self.after["lineItems"])),
            "stock": [
                {"variantId": variant, "by": -n}
                for _, pieces in self.moves
                for variant, n in pieces.items()
            ],
        }


def products_of(fields: Fields, asked: EditOrder) -> set[str]:
    """The products whose stock or variants the edit needs."""
    named = {line.line_item_id for line in asked.change} | set(asked.remove)
    kept = {line["productId"] for line in fields["lineItems"] if line["id"] in named} - {None}
    return kept | lines.wanted(asked.add, "add").keys()


def edited(
    fields: Fields,
    asked: EditOrder,
    products: Mapping[str, Product],
    customer: Customer | None,
    *,
    by: str,
    now: str,
) -> Edited:
    """`products`: those of `products_of` that exist; `customer`: the new one, if there is one.
    Raises Invalid."""
    _refuse_late(fields, asked)
    changed, moves = _lines(fields, asked, products)
    after = {**fields, "lineItems": changed}
    if asked.is_of_amounts:
        after |= _sums(fields, changed, asked)
    given = asked.model_fields_set
    if "customer" in given:
        after["customer"] = of_order(customer) if customer else None
        after["formerly"] = _formerly(fields, after)
    if asked.source is not None:
        after["source"] = asked.source
    if asked.order_date is not None:
        after["orderDate"] = asked.order_date
    if Decimal(after["total"]) < Decimal(after["amountCredited"]):
        message = f"The total would be less than what was refunded, {after['amountCredited']}."
        raise BelowRefunded(message)
    was_free = not after["payments"] and after["paymentStatus"] == PaymentStatus.PAID
    if was_free and Decimal(after["total"]):
        after["paymentStatus"] = PaymentStatus.PENDING.value
    after = payments.derived(after)
    texts = list(_changes(fields, after))
    if texts:
        edit = {
            "id": ids.new("edt"),
            "at": now,
            "by": by,
            "reason": asked.reason,
            "totalBefore": fields["total"],
            "totalAfter": after["total"],
            "changes": _fewer(texts),
        }
        after["edits"] = latest([*fields["edits"], edit], MOST_EDITS, LARGEST_EDITS, _text)
    return Edited(fields, after, moves)


def _formerly(before: Fields, after: Fields) -> dict[str, str]:
    """Who gave each address, where that is not the order's customer: an erasure looks for it."""
    own, new = ((one["customer"] or {}).get("id") for one in (before, after))
    given = {name: own for name in ADDRESSES if own and before[name]} | before["formerly"]
    return {name: id for name, id in given.items() if id != new}


def _refuse_late(fields: Fields, asked: EditOrder) -> None:
    is_open = fields["status"] in BEFORE_SHIPPING
    if asked.is_of_amounts and not is_open:
        raise TooLate(f"The order is {fields['status']}: its lines and amounts cannot change.")
    if asked.is_of_amounts and fields["paymentStatus"] == PaymentStatus.REFUNDED:
        raise TooLate("The order is refunded: its lines and amounts cannot change.")


# --- Lines ----------------------------------------------------------------------------------------


def _lines(
    fields: Fields, asked: EditOrder, products: Mapping[str, Product]
) -> tuple[list[lines.OrderLine], Moves]:
    """The lines after the edit, and the stock that moves. Raises Invalid."""
    known: dict[str, lines.OrderLine] = {line["id"]: line for line in fields["lineItems"]}
    places = {one.line_item_id: f"change.{n}.lineItemId" for n, one in enumerate(asked.change)}
    places |= {id: f"remove.{n}" for n, id in enumerate(asked.remove)}
    if unknown := [place for id, place in places.items() if id not in known]:
        raise Invalid.field(unknown[0], "unknown_line", "is not a line of this order")
    errors: lines.Errors = []
    after = dict(known)
    for place, change in enumerate(asked.change):
        line = known[change.line_item_id]
        after[line["id"]] = _changed(line, change, f"change.{place}", products, errors)
    for id in (*asked.remove, *(one.line_item_id for one in asked.change if one.quantity == 0)):
        refunded = known[id]["refundedQuantity"]
        if refunded:
            raise BelowRefunded(f"{refunded} pieces of the line {id!r} were refunded.")
        after.pop(id, None)
    if errors:
        raise Invalid.fields(errors)
    kept = [*after.values(), *lines.made(asked.add, "add", products)]
    if not kept:
        raise EmptyOrder
    if len(kept) > MOST_LINES:
        message = f"would give the order {len(kept)} lines; at most {MOST_LINES} are possible"
        raise Invalid.field("add", "too_long", message)
    sold = (line["productId"] for line in kept if line["productId"])
    lines.refuse_many_products(sold, "add")
    return kept, _moves(fields["lineItems"], kept, products)


def _changed(
    line: lines.OrderLine,
    change: LineChange,
    at: str,
    products: Mapping[str, Product],
    errors: lines.Errors,
) -> lines.OrderLine:
    after, given = line.copy(), change.model_fields_set
    if change.title is not None:
        if not line["isCustom"] and change.title != line["title"]:
            message = "can only change in a custom line"
            errors.append({"field": f"{at}.title", "code": "invalid", "message": message})
        after["title"] = change.title
    if change.price is not None:
        after["price"] = change.price
    if "note" in given:
        after["note"] = change.note or None
    if change.quantity:
        _requantify(after, change.quantity, at, products, errors)
    discount = change.discount if "discount" in given else lines.asked(line["discount"])
    if change.quantity != 0:
        lines.priced(after, discount, at, errors)
    return after


def _requantify(
    line: lines.OrderLine,
    quantity: int,
    at: str,
    products: Mapping[str, Product],
    errors: lines.Errors,
) -> None:
    """Gives a line its quantity, and its pieces that were taken from the stock."""
    refunded, more = line["refundedQuantity"], quantity - line["quantity"]
    taken, left = line["taken"], quantity - refunded
    if left < 0:
        raise BelowRefunded(f"{refunded} pieces of the line {line['id']!r} were refunded.")
    if more > 0 and (id := line["variantId"]):
        product = products.get(ids.product_of(id))
        if product is None or product.variant(id) is None:
            message = "can only become less: the variant no longer exists"
            error = {"field": f"{at}.quantity", "code": "unknown_variant", "message": message}
            errors.append(error)
        elif id in product.quantities:
            taken += more
    # Fewer pieces take off what was missing first, then what an edit may have taken last.
    missing = line["oversold"] + min(0, more)
    taken = max(0, min(taken + min(0, missing), left))
    oversold = min(max(0, missing), left - taken)
    line |= {"quantity": quantity, "taken": taken, "oversold": oversold}


def _moves(before: lines.Lines, after: lines.Lines, products: Mapping[str, Product]) -> Moves:
    """What the edit takes of tracked variants; those that are not tracked now get nothing back."""
    moves: dict[str, Counter[str]] = defaultdict(Counter)
    for sign, some in ((-1, before), (1, after)):
        for line in some:
            id = line["variantId"]
            product = products.get(ids.product_of(id)) if id else None
            if id and product and id in product.quantities:
                moves[product.id][id] += sign * line["taken"]
    return [(products[id], {v: n for v, n in every.items() if n}) for id, every in moves.items()]


# --- Sums -----------------------------------------------------------------------------------------


def _sums(fields: Fields, after: lines.Lines, asked: EditOrder) -> dict[str, object]:
    """The sums after the edit. What was given for the old ones, and differed from the computed
    amount, stays as a difference. Raises Invalid, TaxRequired."""
    given = asked.model_fields_set
    old = {name: Decimal(fields[name]) for name in ("subtotal", "shipping", "tax", "total")}
    subtotal = old["subtotal"] + lines.of(after) - lines.of(fields["lineItems"])
    if subtotal < 0:
        message = f"would make the subtotal {money.render(subtotal)}"
        raise Invalid.field("subtotal", "out_of_range", message)
    wanted = asked.discount if "discount" in given else lines.asked(fields["discount"])
    discount = lines.discounted(wanted, subtotal, "discount")
    shipping = Decimal(asked.shipping or 0) if "shipping" in given else old["shipping"]
    refunded = sum((Decimal(one["shipping"]) for one in fields["refunds"]), Decimal(0))
    if shipping < refunded:
        raise BelowRefunded(f"{money.render(refunded)} of the shipping were refunded.")
    untaxed = old["subtotal"] - lines.off(fields["discount"]) + old["shipping"]
    now_untaxed = subtotal - lines.off(discount) + shipping
    tax = old["tax"] if asked.tax is None else Decimal(asked.tax)
    if asked.tax is None and tax and now_untaxed != untaxed:
        share = Fraction(tax) * Fraction(now_untaxed) / Fraction(untaxed) if untaxed else tax
        raise TaxRequired(money.rounded(Fraction(share)))
    if asked.total is not None:
        total = Decimal(asked.total)
    else:
        total = old["total"] + now_untaxed + tax - untaxed - old["tax"]
    if total < 0:
        raise Invalid.field("total", "out_of_range", f"would be {money.render(total)}")
    return lines.summed(subtotal, discount, shipping, tax, total)


# --- What changed ---------------------------------------------------------------------------------


def _differing(before: Iterable[Fields], after: Iterable[Fields]) -> Iterator[dict[str, object]]:
    """The shape of EditedLine, of each line that differs."""
    had = {line["id"]: line for line in before}
    has = {line["id"]: line for line in after}
    for id, line in had.items():
        if id not in has:
            yield {"lineItemId": id, "change": "REMOVED", "fields": []}
        elif fields := [name for name in _LINE if line[name] != has[id][name]]:
            yield {"lineItemId": id, "change": "CHANGED", "fields": fields}
    for _ in has.keys() - had.keys():
        yield {"lineItemId": None, "change": "ADDED", "fields": []}


_LINE: Final = ("title", "quantity", "price", "discount", "total", "note")


def _changes(before: Fields, after: Fields) -> Iterator[str]:
    """What the edit says of each difference."""
    had = {line["id"]: line for line in before["lineItems"]}
    has = {line["id"]: line for line in after["lineItems"]}
    for id, line in had.items():
        if id not in has:
            yield f"removed {line['quantity']} × {line['title']}"
        elif texts := [text for name in _LINE if (text := _step(name, line, has[id]))]:
            yield f"{line['title']}: {', '.join(texts)}"
    for id, line in has.items():
        if id not in had:
            yield f"added {line['quantity']} × {line['title']} at {line['price']}"
    for name in ("discount", "shipping", "tax", "customer", "source", "orderDate"):
        if text := _step(name, before, after):
            yield text
    # Where it was sent; otherwise it follows from the rest.
    if before["total"] != after["total"]:
        yield f"total {before['total']} → {after['total']}"


def _step(name: str, before: Fields, after: Fields) -> str:
    """Such as `quantity 1 → 2`; of a note only that it differs."""
    if before[name] == after[name]:
        return ""
    if name == "note":
        return name
    shown = [_short(one[name]) for one in (before, after)]
    return f"{name} {shown[0]} → {shown[1]}"


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("amount") or value["id"])
    return "none" if value is None else str(value)


def events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """The event of a new edit, with its data."""
    known = {edit["id"] for edit in before.fields["edits"]} if before else set()
    for edit in after.fields["edits"]:
        if edit["id"] not in known:  # an erasure changes the text of earlier ones
            about = {"orderId": after.id, "orderNumber": after.fields["number"]}
            yield "order.edited", edit | about | {"customer": after.fields["customer"]}


def _fewer(texts: Sequence[str]) -> list[str]:
    left = len(texts) - _MOST_CHANGES
    kept = [text[:_LONGEST_CHANGE] for text in texts[:_MOST_CHANGES]]
    return [*kept, f"and {left} more"] if left > 0 else kept


def latest(all_of: Sequence[T], most: int, largest: int, text: Callable[[T], str]) -> list[T]:
    """The latest of them, if their texts are not too large; at least one."""
    kept = all_of[-most:]
    sizes = accumulate(len(text(one).encode()) for one in reversed(kept))
    fitting = max(1, sum(size <= largest for size in sizes))
    return list(kept[len(kept) - fitting :])


def _text(edit: Fields) -> str:
    return "".join((edit["by"], edit["reason"] or "", *edit["changes"]))
