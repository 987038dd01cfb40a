"""Refunds of an order, by lines or by amount: pure functions (docs/orders.md#payments)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from chalicelib.orders.account import (
    NOTHING,
    Account,
    Denied,
    refuse_duplicate,
    refuse_too_many,
    unrefunded_amount,
    valid_payments,
    with_balance,
)
from chalicelib.orders.model import OrderLine, Payment, StoredOrder, Transfer, refunded_tax
from chalicelib.orders.pieces import Pieces, count_pieces
from chalicelib.orders.schemas import (
    PaymentStatus,
    RefundedLine,
    RefundInput,
    RefundLineInput,
    ShownRefund,
)
from chalicelib.problems import Invalid
from chalicelib.values import ids, money

_MOST_METHODS: Final = 10  # of the refunds that one request implies


class ExceedsQuantity(Invalid):
    """422 with `lines`: [{lineItemId, requested, available}]."""

    code = "exceeds_quantity"
    text = "More pieces than are left to refund."


@dataclass(frozen=True)
class Refund:
    """A refund that is possible. `after`: the order's fields with it."""

    refund: ShownRefund
    after: StoredOrder
    refundable: Decimal

    def preview(self) -> dict[str, object]:
        """Return what the API shows of this refund beforehand, in the shape of RefundPreview.

        It has the amount and its parts, what is `refundable`, the stock that would return, and the
        order's balance after the refund. It has no status.
        """
        lines = self.refund["lines"]
        return {
            "amount": self.refund["amount"],
            "lines": lines,
            "tax": money.render(refunded_tax(self.refund)),
            "shipping": self.refund["shipping"],
            "refundable": money.render(self.refundable),
            "restocks": [
                {"variantId": line["variantId"], "quantity": part["restocked"]}
                for part in lines
                for line in self.after["lineItems"]
                if line["id"] == part["lineItemId"] and part["restocked"]
            ],
            "balanceAfter": self.after["balanceDue"],
        }


def make_refund(
    fields: StoredOrder,
    wanted: RefundInput,
    by: str,
    now: str,
    gone_variants: frozenset[str] = frozenset(),
) -> Refund:
    """Return the refund that is wanted, with the order's fields after it.

    Those have the balance; the paymentStatus is REFUNDED if all of the money goes back, and the
    status stays. `gone_variants`: deleted ones, to whose stock nothing returns. Raise Denied,
    Invalid, ExceedsQuantity, DuplicateReference.
    """
    if wanted.reference and fields["refunds"]:
        method = _refund_method(fields, wanted, _find_payment(fields, wanted.payment_id))
        refuse_duplicate(fields["refunds"], method, wanted.reference)
    refuse_too_many(fields)
    account = Account.from_fields(fields)
    if account.net <= 0:
        message = "There is nothing to refund."
        raise Denied("nothing_to_refund", message, refundable=account.refundable)
    lines, after_lines = _refund_lines(fields, wanted, gone_variants)
    shipping = _refund_shipping(fields, wanted)
    amount = sum((Decimal(line["amount"]) for line in lines), shipping)
    if wanted.amount is not None:
        amount = Decimal(wanted.amount)
    if amount <= 0:
        message = "Send lines, shipping or an amount of more than 0."
        raise Denied("nothing_to_refund", message, refundable=account.refundable)
    payment = _find_payment(fields, wanted.payment_id)
    possible = account.refundable
    if payment:
        possible = min(possible, unrefunded_amount(fields, payment))
    if amount > possible:
        message = f"{money.render(amount)} is more than can be refunded, {money.render(possible)}."
        raise Denied("exceeds_refundable", message, refundable=possible)
    refund = _new_refund(amount, _refund_method(fields, wanted, payment), by, now)
    refund |= {
        "paymentId": payment["id"] if payment else None,
        "reference": wanted.reference or None,
        "reason": wanted.reason,
        "note": wanted.note or None,
        "lines": lines,
        "shipping": money.render(shipping),
    }
    after = _with_refunds({**fields, "lineItems": after_lines}, [refund])
    return Refund(refund, after, possible)


def refund_everything(fields: StoredOrder, by: str, now: str) -> StoredOrder:
    """Return the fields after refunds of all that is left, one for each method of payment.

    The refunds are marked as implied, because a client only asked for the paymentStatus REFUNDED.
    The fields have that paymentStatus, also if there was no money to refund; the `status`, lines
    and stock stay. Raise Denied if a part of the money is retained.
    """
    account = Account.from_fields(fields)
    if account.refundable < account.net:
        message = "A part of the money is retained. Send retained: 0 to refund it too."
        raise Denied("exceeds_refundable", message, refundable=account.refundable)
    after = refund_by_method(fields, account.net, by, now, implied=True)
    # An order without payments has no money to refund; it is said to be refunded.
    return with_balance({**after, "paymentStatus": PaymentStatus.REFUNDED.value})


def refund_by_method(
    fields: StoredOrder,
    amount: Decimal,
    by: str,
    now: str,
    method: str | None = None,
    *,
    implied: bool = False,
) -> StoredOrder:
    """Return the fields after refunds of this amount: by `method`, or by those of the payments.

    They are one for each method, and have no lines, so no stock returns. An amount of 0 is no
    refund. `implied`: a client only sent a paymentStatus.
    """
    parts = _split_by_method(fields, amount) if method is None else [(method, amount)]
    refunds = [_new_refund(part, name, by, now, implied=implied) for name, part in parts if part]
    return _with_refunds(fields, refunds)


def _split_by_method(fields: StoredOrder, amount: Decimal) -> list[tuple[str, Decimal]]:
    """Return [(method, part)] of an amount that goes back by the payments' methods, in their order.

    Each gets at most what was paid by it and not refunded. Only [("OTHER", amount)], if that would
    be more than _MOST_METHODS.
    """
    parts, left_over = [], amount
    for method, left in _left_by_method(fields).items():
        part = min(left, left_over)
        if part > 0:
            parts.append((method, part))
            left_over -= part
    return parts if len(parts) <= _MOST_METHODS else [("OTHER", amount)]


def _left_by_method(fields: StoredOrder) -> dict[str, Decimal]:
    """Return {method: what was paid by it and not refunded by it}, in the order of the payments.

    Voided payments do not count. A method stays with 0, or below 0 if it was refunded more than it
    was paid.
    """
    left: dict[str, Decimal] = {}
    signed: list[tuple[int, Sequence[Transfer]]] = [
        (1, valid_payments(fields)),
        (-1, fields["refunds"]),
    ]
    for sign, transfers in signed:
        for transfer in transfers:
            before = left.get(transfer["method"], NOTHING)
            left[transfer["method"]] = before + sign * Decimal(transfer["amount"])
    return left


def _new_refund(
    amount: Decimal, method: str, by: str, now: str, *, implied: bool = False
) -> ShownRefund:
    """Return a refund of an amount without lines. `implied`: a client only sent a paymentStatus."""
    return {
        "id": ids.new_id("ref"),
        "amount": money.render(amount),
        "method": method,
        "paymentId": None,
        "reference": None,
        "reason": None,
        "note": None,
        "lines": [],
        "shipping": money.render(NOTHING),
        "createdAt": now,
        "by": by,
        "implied": implied,
    }


def _with_refunds(fields: StoredOrder, refunds: Iterable[ShownRefund]) -> StoredOrder:
    """Return the fields with these refunds added, and the amounts and paymentStatus that follow.

    What was overpaid goes back first; the rest of a refund is also credited: no longer owed. The
    paymentStatus is REFUNDED once all of the money in hand went back.
    """
    after = fields.copy()
    for refund in refunds:
        account, amount = Account.from_fields(after), Decimal(refund["amount"])
        overpaid = min(amount, max(NOTHING, -account.balance))
        after["amountCredited"] = money.render(account.credited + amount - overpaid)
        if amount == account.net:
            after["paymentStatus"] = PaymentStatus.REFUNDED.value
        after = with_balance({**after, "refunds": [*after["refunds"], refund]})
    return after


def _find_payment(fields: StoredOrder, payment_id: str | None) -> Payment | None:
    """Return the payment with this id; None if no id is given.

    Raise Denied if there is none, or it was voided.
    """
    if payment_id is None:
        return None
    for payment in valid_payments(fields):
        if payment["id"] == payment_id:
            return payment
    raise Denied("unknown_payment", f"There is no payment {payment_id!r} that was not voided.")


def _refund_method(fields: StoredOrder, wanted: RefundInput, payment: Payment | None) -> str:
    """Return the method of a refund: as sent, or of `payment`, or the only one of all payments.

    Raise Invalid if the payments were by several.
    """
    if wanted.method is not None:
        return wanted.method
    used = {valid["method"] for valid in ([payment] if payment else valid_payments(fields))}
    if len(used) > 1:
        message = f"is required: the payments were {', '.join(sorted(used))}"
        raise Invalid.field("method", "required", message)
    return used.pop()


def _refund_shipping(fields: StoredOrder, wanted: RefundInput) -> Decimal:
    """Return the amount of shipping to refund. Raise Denied if less is left."""
    shipping = Decimal(wanted.shipping or 0)
    refunded = sum((Decimal(refund["shipping"]) for refund in fields["refunds"]), NOTHING)
    if shipping > (left := Decimal(fields["shipping"]) - refunded):
        message = f"This is more than is left of the order's shipping, {money.render(left)}."
        raise Denied("exceeds_shipping", message, shipping=left)
    return shipping


# --- Lines ----------------------------------------------------------------------------------------


def _refund_lines(
    fields: StoredOrder, wanted: RefundInput, gone_variants: frozenset[str]
) -> tuple[list[RefundedLine], list[OrderLine]]:
    """Return the refunded parts of lines, and all lines of the order after that.

    A part has `quantity`, `amount`, `tax`, and how many pieces `returned` from the customer and
    were `restocked`. `returned` is as sent, or else what is more than was left to ship. `restock`
    true restocks all that were taken from the stock, false none, and None those that were not
    shipped; of `gone_variants` none. Restocked or not, the lines have them no longer in `taken`
    (nor in `untaken`): somebody decided about them, so no later move returns them. Raise Denied,
    ExceedsQuantity.
    """
    lines = {line["id"]: line.copy() for line in fields["lineItems"]}
    _refuse_wrong_lines(lines, wanted.lines)
    counted = count_pieces(fields)
    _refuse_wrong_returns(lines, counted, wanted.lines)
    parts = list[RefundedLine]()
    for part, (amount, tax) in zip(wanted.lines, _line_shares(fields, wanted.lines), strict=True):
        line = lines[part.line_item_id]
        pieces = counted[line["id"]]
        returned = part.returned
        if returned is None:
            returned = min(max(0, part.quantity - pieces.to_ship), pieces.at_customer)
        # What a closed order did not ship was decided about when it was closed.
        undecided = returned if fields["closedAt"] else part.quantity
        back = taken = min(line["taken"], undecided)
        if part.restock is None:
            in_house = max(0, line["taken"] - pieces.at_customer)
            back = min(part.quantity - returned, in_house)
        is_wanted = part.restock is not False and line["variantId"] not in gone_variants
        line["taken"] -= taken
        if "untaken" in line:
            line["untaken"] = max(0, line["untaken"] - (part.quantity - taken))
        parts.append(
            {
                "lineItemId": line["id"],
                "quantity": part.quantity,
                "amount": money.render(amount),
                "tax": money.render(tax),
                "returned": returned,
                "restocked": back if is_wanted else 0,
            }
        )
    return parts, list(lines.values())


def _refuse_wrong_lines(lines: Mapping[str, OrderLine], wanted: Iterable[RefundLineInput]) -> None:
    """Raise Denied for an unknown line, ExceedsQuantity for more pieces than were not refunded yet.

    ExceedsQuantity names all such lines.
    """
    excess = list[dict[str, object]]()
    for part in wanted:
        id, pieces = part.line_item_id, part.quantity
        if id not in lines:
            raise Denied("unknown_line", f"The order has no line {id!r}.")
        left = lines[id]["quantity"] - int(lines[id]["refundedQuantity"])
        if pieces > left:
            excess.append({"lineItemId": id, "requested": pieces, "available": left})
    if excess:
        raise ExceedsQuantity(lines=excess)


def _refuse_wrong_returns(
    lines: Mapping[str, OrderLine],
    counted: Mapping[str, Pieces],
    wanted: Iterable[RefundLineInput],
) -> None:
    """Raise ExceedsQuantity if `returned`, where it was sent, does not fit what was shipped.

    More pieces return than are at the customer, or than are refunded; or the pieces that do not
    return are more than are refundable and were not shipped.
    """
    excess = list[dict[str, object]]()
    for part in wanted:
        if part.returned is None:
            continue
        line, pieces = lines[part.line_item_id], counted[part.line_item_id]
        unrefunded = line["quantity"] - int(line["refundedQuantity"])
        for requested, available in (
            (part.returned, min(part.quantity, pieces.at_customer)),
            (part.quantity - part.returned, unrefunded - pieces.at_customer),
        ):
            if requested > available:
                about = {"lineItemId": part.line_item_id, "requested": requested}
                excess.append({**about, "available": available})
    if excess:
        raise ExceedsQuantity("`returned` does not fit what was shipped.", lines=excess)


def _line_shares(
    fields: StoredOrder, wanted: Iterable[RefundLineInput]
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield (amount, tax) of each line to refund: its share of the order's total without shipping.

    The share of all pieces refunded so far is rounded; then what was refunded before is subtracted.
    So all parts together are exactly the whole, also after an edit. Neither is below 0, and the tax
    at most the amount.
    """
    whole = Fraction(fields["total"]) - Fraction(fields["shipping"])
    parts = [part for refund in fields["refunds"] for part in refund["lines"]]
    refunded = sum((Decimal(part["amount"]) for part in parts), NOTHING)
    taxed = sum((Decimal(part["tax"]) for part in parts), NOTHING)
    pieces = Counter({line["id"]: int(line["refundedQuantity"]) for line in fields["lineItems"]})
    for line in wanted:
        pieces[line.line_item_id] += line.quantity
        share = _share_of_lines(fields["lineItems"], pieces)
        amount = max(NOTHING, money.round_half_up(whole * share) - refunded)
        tax = max(NOTHING, money.round_half_up(Fraction(fields["tax"]) * share) - taxed)
        yield amount, min(tax, amount)
        refunded, taxed = refunded + amount, taxed + min(tax, amount)


def _share_of_lines(lines: Sequence[OrderLine], pieces: Mapping[str, int]) -> Fraction:
    """Return which part of what the lines cost these pieces are; 0 if the lines cost nothing."""
    costs = sum((Fraction(line["total"]) for line in lines), Fraction(0))
    sold = (Fraction(line["total"]) * pieces[line["id"]] / line["quantity"] for line in lines)
    return sum(sold, Fraction(0)) / costs if costs else Fraction(0)
