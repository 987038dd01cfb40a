"""Pure functions for edits of an order's lines, amounts, customer, source and date.

The rules: docs/orders.md#editing. An edit never moves money: what is due follows from the new
total.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final, TypeVar

from chalicelib.customers.model import Customer, of_order
from chalicelib.orders import account, lines
from chalicelib.orders.model import (
    ADDRESSES,
    LARGEST_EDITS,
    MOST_EDITS,
    AddressName,
    Order,
    OrderLine,
    StoredOrder,
    order_reference,
    refunded_tax,
)
from chalicelib.orders.pieces import Pieces, count_pieces
from chalicelib.orders.schemas import (
    MOST_LINES,
    EditOrder,
    LineChange,
    OrderEditEntry,
    PaymentStatus,
)
from chalicelib.orders.transitions import BEFORE_SHIPPING
from chalicelib.problems import Invalid
from chalicelib.products.model import Product
from chalicelib.storage.attributes import Fields
from chalicelib.values import clock, ids, money, timezone

T = TypeVar("T")
# Pieces that are taken of each variant; negative: they return.
Moves = list[tuple[Product, dict[str, int]]]

_MOST_CHANGES: Final = 20  # texts of one edit
_LONGEST_CHANGE: Final = 200


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


class BelowShipped(Invalid):
    """422: an edit would leave fewer pieces than were shipped."""

    code = "below_shipped"


class EmptyOrder(Invalid):
    """422: an order has at least one line."""

    code = "empty_order"
    text = "An order has at least one line. Cancel or refund it, or keep a line that costs nothing."


@dataclass(frozen=True)
class Edit:
    """An order before and after an edit, and the pieces that it takes from the stock."""

    before: StoredOrder
    after: StoredOrder
    moves: Moves

    def preview(self) -> dict[str, object]:
        """Return the shape of EditPreview: {before, after, lines, stock}.

        `before` and `after` are sums; `stock` has by how much each variant's stock changes,
        negative if the edit takes pieces.
        """
        before, after = _sums_of(self.before), _sums_of(self.after)
        return {
            "before": before,
            "after": after,
            "lines": list(_show_differing_lines(self.before["lineItems"], self.after["lineItems"])),
            "stock": [
                {"variantId": variant, "by": -n}
                for _, pieces in self.moves
                for variant, n in pieces.items()
            ],
        }


def _sums_of(fields: StoredOrder) -> dict[str, str]:
    """Return {subtotal, tax, total, balanceDue}, which a preview compares."""
    return {
        "subtotal": fields["subtotal"],
        "tax": fields["tax"],
        "total": fields["total"],
        "balanceDue": fields["balanceDue"],
    }


def needed_products(fields: StoredOrder, wanted: EditOrder) -> set[str]:
    """Return the ids of the products that an edit reads: of all lines it changes, removes or adds.

    Custom lines have none. Raise Invalid if it adds lines of too many products.
    """
    named = {line.line_item_id for line in wanted.change} | set(wanted.remove)
    kept = {line["productId"] for line in fields["lineItems"] if line["id"] in named}
    return {id for id in kept if id} | lines.count_pieces(wanted.add, "add").keys()


def make_edit(
    fields: StoredOrder,
    wanted: EditOrder,
    products: Mapping[str, Product],
    customer: Customer | None,
    *,
    by: str,
    now: str,
) -> Edit:
    """Return the edit that is wanted: the fields before and after it, and the pieces that move.

    The fields after it have an entry in `edits` if something differs; the history gets its entry
    later. The balance follows; an order that was free becomes PENDING if the edit gives it a price.
    `products`: those of `needed_products` that exist; `customer`: the new one, if there is one.
    Raise Denied, Invalid, and its kinds TooLate, TaxRequired, EmptyOrder, BelowShipped, and
    BelowRefunded for a total less than what was refunded. The stock is not checked.
    """
    _refuse_late_edit(fields, wanted)
    lead_from = None if fields["dueOn"] else timezone.day_at(clock.parse(now))
    new_lines, moves = _edit_lines(fields, wanted, products, lead_from)
    after: StoredOrder = {**fields, "lineItems": new_lines}
    if wanted.is_of_amounts:
        after = {**after, **_edit_sums(fields, new_lines, wanted)}
    if "customer" in wanted.model_fields_set:
        after["customer"] = of_order(customer) if customer else None
        after["formerly"] = _former_customers(fields, after)
    if wanted.source is not None:
        after["source"] = wanted.source
    if wanted.order_date is not None:
        after["orderDate"] = wanted.order_date
    if Decimal(after["total"]) < Decimal(after["amountCredited"]):
        message = f"The total would be less than what was refunded, {after['amountCredited']}."
        raise BelowRefunded(message)
    was_free = not after["payments"] and after["paymentStatus"] == PaymentStatus.PAID
    if was_free and Decimal(after["total"]):
        after["paymentStatus"] = PaymentStatus.PENDING.value
    after = account.with_balance(after)
    texts = list(_describe_edit(fields, after))
    if texts:
        entry: OrderEditEntry = {
            "id": ids.new_id("edt"),
            "at": now,
            "by": by,
            "reason": wanted.reason,
            "totalBefore": fields["total"],
            "totalAfter": after["total"],
            "changes": _shorten_texts(texts),
        }
        entries = [*fields["edits"], entry]
        after["edits"] = keep_latest(entries, MOST_EDITS, LARGEST_EDITS, _entry_text)
    return Edit(fields, after, moves)


def _former_customers(before: StoredOrder, after: StoredOrder) -> dict[AddressName, str]:
    """Return {address name: id of the customer who gave it}, if that is not `after`'s.

    The addresses are those of `before`, whether or not the edit replaces them: given by its
    customer, or by whom its `formerly` names. An erasure looks for these.
    """
    old, new = before["customer"], after["customer"]
    given = {name: old["id"] for name in ADDRESSES if old and before[name]} | before["formerly"]
    return {name: id for name, id in given.items() if not new or id != new["id"]}


def _refuse_late_edit(fields: StoredOrder, wanted: EditOrder) -> None:
    """Raise Denied for a closed order, TooLate if lines and amounts change too late.

    They can change before shipping, and while the paymentStatus is not REFUNDED; the customer,
    source and date at any time.
    """
    account.refuse_closed(fields)
    is_open = fields["status"] in BEFORE_SHIPPING
    if wanted.is_of_amounts and not is_open:
        raise TooLate(f"The order is {fields['status']}: its lines and amounts cannot change.")
    if wanted.is_of_amounts and fields["paymentStatus"] == PaymentStatus.REFUNDED:
        raise TooLate("The order is refunded: its lines and amounts cannot change.")


# --- Lines ----------------------------------------------------------------------------------------


def _edit_lines(
    fields: StoredOrder,
    wanted: EditOrder,
    products: Mapping[str, Product],
    lead_from: date | None,
) -> tuple[list[OrderLine], Moves]:
    """Return the lines after the edit, the added ones last, and what it takes from the stock.

    A line whose quantity becomes 0 is removed. Raise Invalid, BelowRefunded, BelowShipped,
    EmptyOrder.
    """
    known = {line["id"]: line for line in fields["lineItems"]}
    places = {one.line_item_id: f"change.{n}.lineItemId" for n, one in enumerate(wanted.change)}
    places |= {id: f"remove.{n}" for n, id in enumerate(wanted.remove)}
    if unknown := [place for id, place in places.items() if id not in known]:
        raise Invalid.field(unknown[0], "unknown_line", "is not a line of this order")
    errors: lines.Errors = []
    after, counted = dict(known), count_pieces(fields)
    for place, change in enumerate(wanted.change):
        line = known[change.line_item_id]
        pieces, path = counted[line["id"]], f"change.{place}"
        after[line["id"]] = _change_line(line, change, path, products, errors, pieces=pieces)
    for id in (*wanted.remove, *(one.line_item_id for one in wanted.change if one.quantity == 0)):
        refunded = known[id]["refundedQuantity"]
        if refunded:
            raise BelowRefunded(f"{refunded} pieces of the line {id!r} were refunded.")
        _refuse_below_shipped(id, 0, counted[id])
        after.pop(id, None)
    if errors:
        raise Invalid.fields(errors)
    kept = [*after.values(), *lines.make_lines(wanted.add, "add", products, lead_from)]
    if not kept:
        raise EmptyOrder
    if len(kept) > MOST_LINES:
        message = f"would give the order {len(kept)} lines; at most {MOST_LINES} are possible"
        raise Invalid.field("add", "too_long", message)
    sold = (line["productId"] for line in kept if line["productId"])
    lines.refuse_many_products(sold, "add")
    lines.refuse_much_work(kept, "add")
    return kept, _stock_moves(fields["lineItems"], kept, products)


def _change_line(
    line: OrderLine,
    change: LineChange,
    path: str,
    products: Mapping[str, Product],
    errors: lines.Errors,
    *,
    pieces: Pieces,
) -> OrderLine:
    """Return a copy of a line with the sent values, priced; what is wrong is added to `errors`.

    Only a custom line takes another title. Quantity 0, a removal, is left to the caller: the
    quantity and the total stay. `path`: where the change is in the request; `pieces`: of this line.
    Raise BelowRefunded, BelowShipped.
    """
    after, given = line.copy(), change.model_fields_set
    if change.title is not None:
        if not line["isCustom"] and change.title != line["title"]:
            message = "can only change in a custom line"
            errors.append({"field": f"{path}.title", "code": "invalid", "message": message})
        after["title"] = change.title
    if change.price is not None:
        after["price"] = change.price
    if "note" in given:
        after["note"] = change.note or None
    if "due_on" in given:
        after["dueOn"] = change.due_on
    if "specification" in given:
        after["specification"] = lines.to_specification(change.specification)
    if change.quantity:
        _set_quantity(after, change.quantity, path, products, errors, pieces=pieces)
    if change.make is not None and change.make != line["make"]:
        _set_make(after, change.make, path, products, errors, pieces=pieces)
    discount = change.discount if "discount" in given else lines.to_discount_input(line["discount"])
    if change.quantity != 0:
        lines.price_line(after, discount, path, errors)
    return after


def _set_quantity(
    line: OrderLine,
    quantity: int,
    path: str,
    products: Mapping[str, Product],
    errors: lines.Errors,
    *,
    pieces: Pieces,
) -> None:
    """Change a line's quantity, and what of it is taken from the stock and what is oversold.

    The line itself is changed. Fewer pieces first take off what was oversold, more pieces are taken
    from a tracked stock, whatever is there; what is made takes none. What is wrong is added to
    `errors`. Raise BelowRefunded, BelowShipped.
    """
    refunded, more = line["refundedQuantity"], quantity - line["quantity"]
    taken, left = line["taken"], quantity - refunded
    if left < 0:
        raise BelowRefunded(f"{refunded} pieces of the line {line['id']!r} were refunded.")
    _refuse_below_shipped(line["id"], quantity, pieces)
    if line["make"]:
        line["quantity"] = quantity
        return
    missing = min(line["oversold"], line["quantity"] - refunded - taken)  # others were refunded
    skipped = line["quantity"] - refunded - taken - missing
    untaken = max(skipped, line.get("untaken", 0))
    if more > 0 and (id := line["variantId"]):
        product = products.get(ids.product_of(id))
        if product is None or product.variant(id) is None:
            message = "can only become less: the variant no longer exists"
            error = {"field": f"{path}.quantity", "code": "unknown_variant", "message": message}
            errors.append(error)
        elif id in product.quantities:
            taken += max(0, more - (untaken - skipped))  # first those that the stock never had
    # Fewer pieces take off what was missing first, then what an edit may have taken last.
    missing += min(0, more)
    kept = min(line["taken"], pieces.at_customer)  # what was shipped does not return
    taken = max(kept, min(taken + min(0, missing), left))
    line |= {"quantity": quantity, "taken": taken, "oversold": max(0, missing)}
    if untaken:
        line["untaken"] = untaken


def _set_make(
    line: OrderLine,
    make: bool,
    path: str,
    products: Mapping[str, Product],
    errors: lines.Errors,
    *,
    pieces: Pieces,
) -> None:
    """Change whether a line is made: if so, its stock returns; if not, all of it is taken.

    The line itself is changed: `make`, `taken`, `required`; nothing is `oversold` or `untaken` any
    more. What is wrong is added to `errors`, and then it stays: pieces were shipped, or the variant
    is gone.
    """
    id = line["variantId"]
    product = products.get(ids.product_of(id)) if id else None
    code, message = "", ""
    if pieces.shipped:
        code, message = "too_late", "can no longer change: pieces of the line were shipped"
    elif id and (product is None or product.variant(id) is None):
        code, message = "unknown_variant", "cannot change: the variant no longer exists"
    if code:
        errors.append({"field": f"{path}.make", "code": code, "message": message})
        return
    takes_stock = not make and id and product and id in product.quantities
    taken = line["quantity"] - line["refundedQuantity"] if takes_stock else 0
    line |= {"make": make, "taken": taken, "oversold": 0}
    line["required"] = lines.required_details(product) if make and product else []
    line.pop("untaken", None)


def _refuse_below_shipped(id: str, quantity: int, pieces: Pieces) -> None:
    """Raise BelowShipped if some pieces were shipped, and too few would be left.

    Left have to be those that were shipped, and those that were refunded before.
    """
    if quantity < pieces.shipped + pieces.withdrawn and pieces.shipped:
        raise BelowShipped(f"{pieces.shipped} pieces of the line {id!r} were shipped.")


def _stock_moves(before: lines.Lines, after: lines.Lines, products: Mapping[str, Product]) -> Moves:
    """Return [(product, {variant id: pieces})] that an edit takes from the stock; below 0: returns.

    The pieces are the difference of the lines' `taken`. Variants whose stock is not tracked now are
    left out; a product may have no pieces, {}.
    """
    moves: dict[str, Counter[str]] = defaultdict(Counter)
    for sign, order_lines in ((-1, before), (1, after)):
        for line in order_lines:
            id = line["variantId"]
            product = products.get(ids.product_of(id)) if id else None
            if id and product and id in product.quantities:
                moves[product.id][id] += sign * line["taken"]
    return [(products[id], {v: n for v, n in every.items() if n}) for id, every in moves.items()]


# --- Sums -----------------------------------------------------------------------------------------


def _edit_sums(fields: StoredOrder, after: lines.Lines, wanted: EditOrder) -> lines.OrderSums:
    """Return the sums after the edit: subtotal, discount, shipping, tax and total.

    Where a sum of the order was not the computed amount, the difference stays. `after`: the lines.
    Raise Invalid, BelowRefunded; TaxRequired if the order has tax, its amounts change, and no tax
    was sent.
    """
    sent = wanted.model_fields_set
    old_subtotal, old_shipping = Decimal(fields["subtotal"]), Decimal(fields["shipping"])
    old_tax, old_total = Decimal(fields["tax"]), Decimal(fields["total"])
    subtotal = old_subtotal + lines.sum_lines(after) - lines.sum_lines(fields["lineItems"])
    if subtotal < 0:
        message = f"would make the subtotal {money.render(subtotal)}"
        raise Invalid.field("subtotal", "out_of_range", message)
    known_discount = lines.to_discount_input(fields["discount"])
    sent_discount = wanted.discount if "discount" in sent else known_discount
    discount = lines.make_discount(sent_discount, subtotal, "discount")
    shipping = Decimal(wanted.shipping or 0) if "shipping" in sent else old_shipping
    refunded = sum((Decimal(refund["shipping"]) for refund in fields["refunds"]), Decimal(0))
    if shipping < refunded:
        raise BelowRefunded(f"{money.render(refunded)} of the shipping were refunded.")
    old_untaxed = old_subtotal - lines.discount_amount(fields["discount"]) + old_shipping
    untaxed = subtotal - lines.discount_amount(discount) + shipping
    tax = old_tax if wanted.tax is None else Decimal(wanted.tax)
    taxed = sum(map(refunded_tax, fields["refunds"]), Decimal(0))
    if tax < min(old_tax, taxed):
        raise BelowRefunded(f"{money.render(taxed)} of the tax were refunded.")
    if wanted.tax is None and tax and untaxed != old_untaxed:
        share = Fraction(tax) * Fraction(untaxed) / Fraction(old_untaxed) if old_untaxed else tax
        raise TaxRequired(max(money.round_half_up(Fraction(share)), min(old_tax, taxed)))
    if wanted.total is not None:
        total = Decimal(wanted.total)
    else:
        total = old_total + untaxed + tax - old_untaxed - old_tax
    if total < 0:
        raise Invalid.field("total", "out_of_range", f"would be {money.render(total)}")
    return lines.render_sums(subtotal, discount, shipping, tax, total)


# --- What changed ---------------------------------------------------------------------------------


def _show_differing_lines(
    before: Iterable[Fields], after: Iterable[Fields]
) -> Iterator[dict[str, object]]:
    """Yield {lineItemId, change, fields} of each line that differs: REMOVED, CHANGED or ADDED.

    An added line has no id yet, None; only a changed one has `fields`, the names of those that
    differ.
    """
    had = {line["id"]: line for line in before}
    has = {line["id"]: line for line in after}
    for id, line in had.items():
        if id not in has:
            yield {"lineItemId": id, "change": "REMOVED", "fields": []}
        elif fields := [name for name in _LINE if line[name] != has[id][name]]:
            yield {"lineItemId": id, "change": "CHANGED", "fields": fields}
    for _ in has.keys() - had.keys():
        yield {"lineItemId": None, "change": "ADDED", "fields": []}


_LINE: Final = (
    *("title", "quantity", "price", "discount", "total", "note"),
    *("make", "dueOn", "specification"),
)


def _describe_edit(before: Fields, after: Fields) -> Iterator[str]:
    """Yield a text for each line that was removed, changed or added, and each sum that differs.

    Such as `Mug: quantity 1 → 2`; also of customer, source and date.
    """
    had = {line["id"]: line for line in before["lineItems"]}
    has = {line["id"]: line for line in after["lineItems"]}
    for id, line in had.items():
        if id not in has:
            yield f"removed {line['quantity']} × {line['title']}"
        elif texts := [text for name in _LINE if (text := _describe_field(name, line, has[id]))]:
            yield f"{line['title']}: {', '.join(texts)}"
    for id, line in has.items():
        if id not in had:
            yield f"added {line['quantity']} × {line['title']} at {line['price']}"
    for name in ("discount", "shipping", "tax", "customer", "source", "orderDate"):
        if text := _describe_field(name, before, after):
            yield text
    # Where it was sent; otherwise it follows from the rest.
    if before["total"] != after["total"]:
        yield f"total {before['total']} → {after['total']}"


def _describe_field(name: str, before: Fields, after: Fields) -> str:
    """Return a text such as `quantity 1 → 2`, only the name of a note, or "" if nothing differs."""
    if before[name] == after[name]:
        return ""
    if name in {"note", "specification"}:
        return name
    return f"{name} {_short_text(before[name])} → {_short_text(after[name])}"


def _short_text(value: object) -> str:
    """Return a discount's amount, a customer's id, "none" for None, or else the value as text."""
    if isinstance(value, Mapping):
        return str(value.get("amount") or value["id"])
    return "none" if value is None else str(value)


def edit_events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield ("order.edited", the edit with the order's reference) for each that is new."""
    known = {edit["id"] for edit in before.fields["edits"]} if before else set()
    for edit in after.fields["edits"]:
        if edit["id"] not in known:  # an erasure changes the text of earlier ones
            yield "order.edited", {**edit, **order_reference(after)}


def _shorten_texts(texts: Sequence[str]) -> list[str]:
    """Return the first 20 texts, each cut to 200 characters, then `and 3 more` if there are."""
    left = len(texts) - _MOST_CHANGES
    kept = [text[:_LONGEST_CHANGE] for text in texts[:_MOST_CHANGES]]
    return [*kept, f"and {left} more"] if left > 0 else kept


def keep_latest(
    entries: Sequence[T], limit: int, largest_bytes: int, text: Callable[[T], str]
) -> list[T]:
    """Return the latest entries, in order: at most `limit`, with `largest_bytes` of texts in all.

    At least one is returned, however large. `text`: the text of an entry whose bytes count.
    """
    latest = entries[-limit:]
    sizes = accumulate(len(text(entry).encode()) for entry in reversed(latest))
    fitting = max(1, sum(size <= largest_bytes for size in sizes))
    return list(latest[len(latest) - fitting :])


def _entry_text(entry: OrderEditEntry) -> str:
    """Return who, the reason and the changes of an edit's entry as one text, to measure it."""
    return "".join((entry["by"], entry["reason"] or "", *entry["changes"]))
