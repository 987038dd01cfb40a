"""The money of an order, as its payments and refunds say: pure functions (docs/orders.md#payments).

All other amounts follow from them, and from
`credited`: what refunds took off the amount that is owed. Amounts are Decimals here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from chalicelib.orders.lines import OrderLine, part_of
from chalicelib.orders.model import (
    MOST_TRANSFERS,
    DepositInput,
    Order,
    OrderStatus,
    PaymentInput,
    PaymentStatus,
    RefundInput,
    RefundStatus,
    TakePayments,
)
from chalicelib.orders.schemas import RefundedLine, ShownPayment, ShownRefund, show_transfer
from chalicelib.orders.transitions import BEFORE_SHIPPING
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.storage.attributes import Fields
from chalicelib.values import ids, money

_MOST_METHODS: Final = 10  # of the refunds that one request implies
_NOTHING: Final = Decimal(0)


class Payment(ShownPayment):
    """As stored."""

    voidedBy: str | None


Transfer = Payment | ShownRefund


class DuplicateReference(Conflict):
    """409 with the payment or the refund that has the reference."""

    code = "duplicate_reference"

    def __init__(self, known: Transfer) -> None:
        name = "payment" if known["id"].startswith("pay_") else "refund"
        message = f"The order has a {name} with this method and reference."
        super().__init__(message, field="reference")
        self.extra[name] = show_transfer(known)


class AlreadyVoided(Conflict):
    code = "already_voided"
    text = "The payment was voided before."


class PaymentRefunded(Conflict):
    code = "payment_refunded"
    text = "The payment was refunded, or is kept as a deposit: it cannot be voided."


class Denied(Invalid):
    """422 with a code of docs/orders.md#payments, and the amount that would be possible."""

    def __init__(self, code: str, message: str, **amounts: Decimal) -> None:
        super().__init__(message, code=code)
        self.extra |= {name: money.render(amount) for name, amount in amounts.items()}


# --- Equations ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Account:
    """What an order's money is; see docs/orders.md#payments for each equation."""

    total: Decimal
    paid: Decimal
    refunded: Decimal
    credited: Decimal
    retained: Decimal
    status: OrderStatus
    payment: PaymentStatus
    has_payments: bool

    @classmethod
    def of(cls, fields: Fields) -> "Account":
        return cls(
            total=Decimal(fields["total"]),
            paid=_sum(fields["payments"], lambda one: not one["voidedAt"]),
            refunded=_sum(fields["refunds"]),
            credited=Decimal(fields["amountCredited"]),
            retained=Decimal(fields["retained"] or 0),
            status=OrderStatus(fields["status"]),
            payment=PaymentStatus(fields["paymentStatus"]),
            has_payments=bool(fields["payments"]),
        )

    @property
    def net(self) -> Decimal:
        return self.paid - self.refunded

    @property
    def owed(self) -> Decimal:
        if self.is_refunded:
            return _NOTHING
        if self.status is OrderStatus.CANCELLED:
            return self.retained
        return self.total - self.credited

    @property
    def balance(self) -> Decimal:
        return self.owed - self.net

    @property
    def refundable(self) -> Decimal:
        return self.net - (self.retained if self.status is OrderStatus.CANCELLED else _NOTHING)

    @property
    def revenue(self) -> Decimal:
        return min(self.net, self.owed)

    @property
    def is_refunded(self) -> bool:
        return self.payment is PaymentStatus.REFUNDED

    def derived(self) -> PaymentStatus:
        """The payment status that follows from the payments; a refund of all that is left makes it
        REFUNDED, but no void does: what the payment was for is still owed."""
        if not self.has_payments or self.is_refunded or self.status is OrderStatus.CANCELLED:
            return self.payment
        if not self.paid:
            return PaymentStatus.PENDING
        return PaymentStatus.PARTIALLY_PAID if self.balance > 0 else PaymentStatus.PAID

    def refund_status(self) -> RefundStatus:
        if self.is_refunded:
            return RefundStatus.FULL
        return RefundStatus.PARTIAL if self.refunded else RefundStatus.NONE


def _sum(some: Iterable[Fields], counts: Callable[[Fields], bool] = lambda one: True) -> Decimal:
    return sum((Decimal(one["amount"]) for one in some if counts(one)), _NOTHING)


def derived(fields: Fields) -> dict[str, object]:
    """The fields with everything that follows from the payments and refunds."""
    before = Account.of(fields)
    new = {**fields, "paymentStatus": before.derived().value}
    account = Account.of(new)
    new |= {
        "amountPaid": money.render(account.paid),
        "amountRefunded": money.render(account.refunded),
        "amountCredited": money.render(account.credited),
        "balanceDue": money.render(account.balance),
        "refundStatus": account.refund_status().value,
        "revenue": money.render(account.revenue),
    }
    if fields["deposit"]:
        deposit = dict(fields["deposit"])
        if deposit["percent"] is not None:
            share = money.percent_of(account.total, deposit["percent"])
            deposit["amount"] = money.render(share)
        is_reached = bool(account.paid) and account.net >= Decimal(deposit["amount"])
        new["deposit"] = {**deposit, "isReached": is_reached}
    pieces = Counter[str]()
    for part in (line for refund in fields["refunds"] for line in refund["lines"]):
        pieces[part["lineItemId"]] += int(part["quantity"])
    lines = fields["lineItems"]
    new["lineItems"] = [{**line, "refundedQuantity": pieces[line["id"]]} for line in lines]
    if new.get("paymentMethod") is None and new["payments"]:
        new["paymentMethod"] = new["payments"][0]["method"]
    return new


# --- Deposits -------------------------------------------------------------------------------------


def deposit(fields: Fields, asked: DepositInput | None) -> dict[str, object] | None:
    """The deposit, to which `derived` adds whether it is reached. Raises Invalid."""
    if asked is None:
        return None
    total = Decimal(fields["total"])
    amount, percent = part_of(total, asked, "deposit")
    if amount is None or not 0 < Decimal(amount) <= total:
        message = f"must be above 0 and at most the total, {fields['total']}"
        raise Invalid.field("deposit", "out_of_range", message)
    return {"amount": amount, "percent": percent}


def redeposited(fields: Fields, asked: DepositInput | None) -> dict[str, object] | None:
    """The deposit after a PATCH. What was read changes nothing. Raises Invalid."""
    known = fields["deposit"]
    if asked is None and known is None:
        return None
    if asked is not None and known is not None:
        amount, percent = (known[name] for name in ("amount", "percent"))
        same_amount = asked.amount is not None and Decimal(asked.amount) == Decimal(amount)
        same_percent = asked.percent == (None if percent is None else Decimal(percent))
        if same_percent and (same_amount or (asked.amount is None and percent is not None)):
            return dict(known)
    account = Account.of(fields)
    if account.paid or account.payment not in {PaymentStatus.PENDING, PaymentStatus.FAILED}:
        raise Invalid.field("deposit", "too_late", "can only change while nothing is paid")
    return deposit(fields, asked)


def retained(fields: Fields, asked: str | None) -> str | None:
    """The amount that a cancelled order keeps, after a PATCH. Raises Invalid."""
    known: str | None = fields["retained"]
    amount = Decimal(asked or 0)
    if amount == Decimal(known or 0):
        return known
    if fields["status"] != OrderStatus.CANCELLED:
        message = (
            "is only possible for a CANCELLED order; edit the total of another to what it keeps"
        )
        raise Invalid.field("retained", "invalid", message)
    there = Account.of(fields).net
    if amount > there:
        message = f"must be at most what was paid and not refunded, {money.render(there)}"
        raise Invalid.field("retained", "out_of_range", message)
    return asked


# --- Payments -------------------------------------------------------------------------------------


def taken(fields: Fields, asked: Sequence[PaymentInput], by: str, now: str) -> dict[str, object]:
    """The fields after these payments, in order. Raises Denied, Invalid, DuplicateReference."""
    after = derived(fields)
    if after["status"] in _CLOSED or after["paymentStatus"] == PaymentStatus.REFUNDED:
        raise Denied("order_closed", "The order is cancelled or refunded: it takes no payment.")
    for place, one in enumerate(asked):
        at = "" if isinstance(one, TakePayments) else f"payments.{place}."
        after = _taken(after, one, at, by, now)
    return after


_CLOSED: Final = frozenset({OrderStatus.CANCELLED, OrderStatus.REFUNDED})


def _taken(fields: Fields, asked: PaymentInput, at: str, by: str, now: str) -> dict[str, object]:
    method = asked.method or fields["paymentMethod"] or "OTHER"
    # First: a payment that is sent again may be more than is due since then.
    _refuse_duplicate(_living(fields), method, asked.reference)
    account = Account.of(fields)
    tendered = None if asked.tendered is None else Decimal(asked.tendered)
    if asked.amount is not None:
        amount = Decimal(asked.amount)
    elif account.balance <= 0:
        raise Denied("nothing_due", "Nothing is due.", balanceDue=account.balance)
    else:
        amount = account.balance if tendered is None else min(tendered, account.balance)
    if tendered is not None and tendered < amount:
        message = f"must be at least the amount, {money.render(amount)}"
        raise Invalid.field(f"{at}tendered", "out_of_range", message)
    if amount > account.balance and not asked.allow_overpayment:
        due = money.render(max(account.balance, _NOTHING))
        message = f"The amount is more than is due, {due}. Send allowOverpayment to take it."
        raise Denied("overpaid", message, balanceDue=account.balance)
    payment = _payment(amount, method, by, now)
    payment |= {"reference": asked.reference or None, "note": asked.note or None}
    payment["receivedAt"] = asked.received_at or now
    if tendered is not None:
        payment |= {
            "tendered": money.render(tendered),
            "change": money.render(tendered - amount),
        }
    return _with_payment(fields, payment, at)


def settled(fields: Fields, by: str, now: str) -> dict[str, object]:
    """The fields after the payment of the balance that paymentStatus PAID implies, if any is due.
    Raises Invalid."""
    balance = Account.of(fields).balance
    if balance <= 0:
        return derived(fields)
    method = fields["paymentMethod"] or "OTHER"
    return _with_payment(fields, _payment(balance, method, by, now, implied=True), "")


def _payment(amount: Decimal, method: str, by: str, now: str, *, implied: bool = False) -> Payment:
    return {
        "id": ids.new("pay"),
        "amount": money.render(amount),
        "method": method,
        "reference": None,
        "note": None,
        "receivedAt": now,
        "createdAt": now,
        "by": by,
        "tendered": None,
        "change": None,
        "implied": implied,
        "voidedAt": None,
        "voidReason": None,
        "voidedBy": None,
    }


def _with_payment(fields: Fields, payment: Payment, at: str) -> dict[str, object]:
    _refuse_too_many(fields)
    after = derived({**fields, "payments": [*fields["payments"], payment]})
    if Account.of(after).paid >= money.LARGEST:
        message = f"makes the sum of payments {money.LARGEST:f} or more"
        raise Invalid.field(f"{at}amount", "out_of_range", message)
    return after


def _refuse_duplicate(known: Iterable[Transfer], method: str, reference: str | None) -> None:
    for one in known:
        if reference and (one["method"], one["reference"]) == (method, reference):
            raise DuplicateReference(one)


def _refuse_too_many(fields: Fields) -> None:
    if len(fields["payments"]) + len(fields["refunds"]) >= MOST_TRANSFERS:
        message = f"An order has at most {MOST_TRANSFERS} payments and refunds."
        raise Invalid(message, code="too_many")


def voided(
    fields: Fields, payment_id: str, reason: str | None, by: str, now: str
) -> dict[str, object]:
    """The fields after a payment was voided. Raises NotFound, AlreadyVoided, PaymentRefunded."""
    found = next((one for one in fields["payments"] if one["id"] == payment_id), None)
    payment = NotFound.unless(found, "payment", payment_id)
    if payment["voidedAt"]:
        raise AlreadyVoided(voidedAt=payment["voidedAt"])
    account = Account.of(fields)
    possible = min(_rest(fields, payment), account.refundable)
    if possible < Decimal(payment["amount"]):
        raise PaymentRefunded(refundable=money.render(possible))
    gone = {**payment, "voidedAt": now, "voidReason": reason, "voidedBy": by}
    payments = [gone if one is payment else one for one in fields["payments"]]
    return derived({**fields, "payments": payments})


# --- Refunds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refund:
    """A refund that is possible. `after`: the order's fields with it."""

    refund: ShownRefund
    after: Fields
    refundable: Decimal

    def preview(self) -> dict[str, object]:
        """The shape of RefundPreview."""
        lines = self.refund["lines"]
        tax = sum((Decimal(line["tax"]) for line in lines), _NOTHING)
        return {
            "amount": self.refund["amount"],
            "lines": lines,
            "tax": money.render(tax),
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


def refunded(
    fields: Fields, asked: RefundInput, by: str, now: str, gone: frozenset[str] = frozenset()
) -> Refund:
    """`gone`: the variants that take no stock. Raises Denied, Invalid, DuplicateReference."""
    if asked.reference and fields["refunds"]:
        method = _method(fields, asked, _named(fields, asked.payment_id))
        _refuse_duplicate(fields["refunds"], method, asked.reference)
    _refuse_too_many(fields)
    account = Account.of(fields)
    if account.net <= 0:
        message = "There is nothing to refund."
        raise Denied("nothing_to_refund", message, refundable=account.refundable)
    lines, after_lines = _refunded_lines(fields, asked, gone)
    shipping = Decimal(asked.shipping or 0)
    refunded = sum((Decimal(one["shipping"]) for one in fields["refunds"]), _NOTHING)
    if shipping > (left := Decimal(fields["shipping"]) - refunded):
        message = f"This is more than is left of the order's shipping, {money.render(left)}."
        raise Denied("exceeds_shipping", message, shipping=left)
    amount = sum((Decimal(line["amount"]) for line in lines), shipping)
    if asked.amount is not None:
        amount = Decimal(asked.amount)
    if amount <= 0:
        message = "Send lines, shipping or an amount of more than 0."
        raise Denied("nothing_to_refund", message, refundable=account.refundable)
    payment = _named(fields, asked.payment_id)
    possible = account.refundable
    if payment:
        possible = min(possible, _rest(fields, payment))
    if amount > possible:
        message = f"{money.render(amount)} is more than can be refunded, {money.render(possible)}."
        raise Denied("exceeds_refundable", message, refundable=possible)
    refund = _refund(amount, _method(fields, asked, payment), by, now)
    refund |= {
        "paymentId": payment["id"] if payment else None,
        "reference": asked.reference or None,
        "reason": asked.reason,
        "note": asked.note or None,
        "lines": lines,
        "shipping": money.render(shipping),
    }
    after = _with_refunds({**fields, "lineItems": after_lines}, [refund])
    return Refund(refund, after, possible)


def refunded_whole(fields: Fields, by: str, now: str) -> dict[str, object]:
    """The fields after refunds of all that is left, one for each method of payment, as
    paymentStatus REFUNDED implies. Raises Denied."""
    account = Account.of(fields)
    if account.refundable < account.net:
        message = "A part of the money is retained. Send retained: 0 to refund it too."
        raise Denied("exceeds_refundable", message, refundable=account.refundable)
    left: dict[str, Decimal] = {}
    for sign, some in ((1, _living(fields)), (-1, fields["refunds"])):
        for one in some:
            left[one["method"]] = left.get(one["method"], _NOTHING) + sign * Decimal(one["amount"])
    parts, rest = [], account.net
    for method, amount in left.items():
        part = min(amount, rest)
        if part > 0:
            parts.append((method, part))
            rest -= part
    if len(parts) > _MOST_METHODS:
        parts = [("OTHER", account.net)]
    whole = [_refund(amount, method, by, now, implied=True) for method, amount in parts]
    after = _with_refunds(fields, whole)
    # An order without payments has no money to refund; it is said to be refunded.
    return derived({**after, "paymentStatus": PaymentStatus.REFUNDED.value})


def _refund(
    amount: Decimal, method: str, by: str, now: str, *, implied: bool = False
) -> ShownRefund:
    return {
        "id": ids.new("ref"),
        "amount": money.render(amount),
        "method": method,
        "paymentId": None,
        "reference": None,
        "reason": None,
        "note": None,
        "lines": [],
        "shipping": money.render(_NOTHING),
        "createdAt": now,
        "by": by,
        "implied": implied,
    }


def _with_refunds(fields: Fields, refunds: Iterable[ShownRefund]) -> dict[str, object]:
    after = dict(fields)
    for refund in refunds:
        account, amount = Account.of(after), Decimal(refund["amount"])
        over = min(amount, max(_NOTHING, -account.balance))
        after["amountCredited"] = money.render(account.credited + amount - over)
        if amount == account.net:
            after["paymentStatus"] = PaymentStatus.REFUNDED.value
        after = derived({**after, "refunds": [*after["refunds"], refund]})
    return after


def _living(fields: Fields) -> list[Payment]:
    return [one for one in fields["payments"] if not one["voidedAt"]]


def _named(fields: Fields, payment_id: str | None) -> Payment | None:
    if payment_id is None:
        return None
    for one in _living(fields):
        if one["id"] == payment_id:
            return one
    raise Denied("unknown_payment", f"There is no payment {payment_id!r} that was not voided.")


def _rest(fields: Fields, payment: Payment) -> Decimal:
    """What was not refunded of one payment."""
    own = _sum(fields["refunds"], lambda one: one["paymentId"] == payment["id"])
    return Decimal(payment["amount"]) - own


def _method(fields: Fields, asked: RefundInput, payment: Payment | None) -> str:
    if asked.method is not None:
        return asked.method
    used = {one["method"] for one in ([payment] if payment else _living(fields))}
    if len(used) > 1:
        message = f"is required: the payments were {', '.join(sorted(used))}"
        raise Invalid.field("method", "required", message)
    return used.pop()


class ExceedsQuantity(Invalid):
    """422 with `lines`: [{lineItemId, requested, available}]."""

    code = "exceeds_quantity"
    text = "More pieces than are left to refund."


def _refunded_lines(
    fields: Fields, asked: RefundInput, gone: frozenset[str]
) -> tuple[list[RefundedLine], list[OrderLine]]:
    """The refunded parts of lines, and all lines of the order without the stock that returns."""
    lines: dict[str, OrderLine] = {line["id"]: line.copy() for line in fields["lineItems"]}
    pieces = {id: int(line["refundedQuantity"]) for id, line in lines.items()}
    unknown = [one.line_item_id for one in asked.lines if one.line_item_id not in lines]
    if unknown:
        raise Denied("unknown_line", f"The order has no line {unknown[0]!r}.")
    wanted = {one.line_item_id: one.quantity for one in asked.lines}
    if excess := [
        {"lineItemId": id, "requested": n, "available": left}
        for id, n in wanted.items()
        if n > (left := lines[id]["quantity"] - pieces[id])
    ]:
        raise ExceedsQuantity(lines=excess)
    share, parts = _shares(fields), list[RefundedLine]()
    for one in asked.lines:
        line = lines[one.line_item_id]
        pieces[line["id"]] += one.quantity
        amount, tax = share(pieces)
        restocks = fields["status"] in BEFORE_SHIPPING if one.restock is None else one.restock
        # A piece that somebody decided about never comes back by a later move.
        back = min(line["taken"], one.quantity)
        line["taken"] -= back
        parts.append(
            {
                "lineItemId": line["id"],
                "quantity": one.quantity,
                "amount": money.render(amount),
                "tax": money.render(tax),
                "restocked": back if restocks and line["variantId"] not in gone else 0,
            }
        )
    return parts, list(lines.values())


def _shares(fields: Fields) -> Callable[[Mapping[str, int]], tuple[Decimal, Decimal]]:
    """What refunded pieces have of what an order's lines cost, and of its tax: of all pieces so
    far, less the last call. Each is rounded from the beginning on, less what earlier refunds were,
    so that all parts together are exactly the whole, also after an edit."""
    lines, tax = fields["lineItems"], Fraction(fields["tax"])
    costs = sum((Fraction(line["total"]) for line in lines), Fraction(0))
    whole = Fraction(fields["total"]) - Fraction(fields["shipping"])
    parts = [part for refund in fields["refunds"] for part in refund["lines"]]
    known = [sum((Decimal(part[n]) for part in parts), _NOTHING) for n in ("amount", "tax")]

    def following(pieces: Mapping[str, int]) -> tuple[Decimal, Decimal]:
        sold = (Fraction(line["total"]) * pieces[line["id"]] / line["quantity"] for line in lines)
        share = sum(sold, Fraction(0)) / costs if costs else Fraction(0)
        until = (money.rounded(whole * share), money.rounded(tax * share))
        amount, of_tax = (max(_NOTHING, now - was) for now, was in zip(until, known, strict=True))
        known[:] = known[0] + amount, known[1] + of_tax
        return amount, of_tax

    return following


# --- What changed ---------------------------------------------------------------------------------


def events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """The events of new payments and refunds, and of voided payments, each with its data."""
    known: dict[str, Fields] = {}
    if before is not None:
        known = {one["id"]: one for name in _EVENTS for one in before.fields[name]}
    about = {"orderId": after.id, "orderNumber": after.fields["number"]}
    about["customer"] = after.fields["customer"]
    for name, (created, event) in _EVENTS.items():
        for one in after.fields[name]:
            if one["id"] not in known:
                yield created, show_transfer(one) | about
            elif event and one["voidedAt"] and not known[one["id"]]["voidedAt"]:
                yield event, show_transfer(one) | about


_EVENTS: Final = {
    "payments": ("payment.created", "payment.voided"),
    "refunds": ("refund.created", ""),
}


def changes(before: Fields, after: Fields) -> list[str]:
    """What the history says of them."""
    known = {one["id"]: one for one in before["payments"]}
    texts = []
    for one in after["payments"]:
        what = f"{one['amount']} {one['method']}"
        if one["id"] not in known:
            texts.append(f"payment {what}")
        elif one["voidedAt"] and not known[one["id"]]["voidedAt"]:
            texts.append(f"voided payment {what}")
    new = after["refunds"][len(before["refunds"]) :]
    return texts + [f"refund {one['amount']} {one['method']}" for one in new]
