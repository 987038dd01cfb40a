"""Payments of an order, and their voids: pure functions (docs/orders.md#payments)."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from chalicelib.orders.account import (
    NOTHING,
    Account,
    Denied,
    refuse_closed,
    refuse_duplicate,
    refuse_too_many,
    unrefunded_amount,
    valid_payments,
    with_balance,
)
from chalicelib.orders.model import Payment, StoredOrder
from chalicelib.orders.schemas import (
    CorrectPayment,
    OrderStatus,
    PaymentInput,
    PaymentStatus,
    TakePayments,
)
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.values import ids, money

_CLOSED: Final = frozenset({OrderStatus.CANCELLED, OrderStatus.REFUNDED})


class AlreadyVoided(Conflict):
    """409: the payment was voided before."""

    code = "already_voided"
    text = "The payment was voided before."


class PaymentRefunded(Conflict):
    """409: the payment cannot be voided."""

    code = "payment_refunded"
    text = "The payment was refunded, or is kept as a deposit: it cannot be voided."


def take_payments(
    fields: StoredOrder, received: Sequence[PaymentInput], by: str, now: str
) -> StoredOrder:
    """Return the fields after these payments, in order, with the balance and paymentStatus.

    The status stays. Raise Denied for an order that is closed, cancelled or refunded, even without
    payments; otherwise as `_take_payment` does.
    """
    after = with_balance(fields)
    if after["status"] in _CLOSED or after["paymentStatus"] == PaymentStatus.REFUNDED:
        raise Denied("order_closed", "The order is cancelled or refunded: it takes no payment.")
    refuse_closed(after)
    for place, payment in enumerate(received):
        path = "" if isinstance(payment, TakePayments) else f"payments.{place}."
        after = _take_payment(after, payment, path, by, now)
    return after


def _take_payment(
    fields: StoredOrder, received: PaymentInput, path: str, by: str, now: str
) -> StoredOrder:
    """Return the fields of an open order after one payment, with the balance.

    Without a method it is by the order's, or OTHER. `path`: where the payment is in the request,
    such as `payments.0.`, or "". Raise DuplicateReference; Denied for more than is due without
    allowOverpayment, or if no amount is sent and nothing is due; Invalid for less tendered than the
    amount, too many payments, or too large a sum.
    """
    method = received.method or fields["paymentMethod"] or "OTHER"
    # First: a payment that is sent again may be more than is due since then.
    refuse_duplicate(valid_payments(fields), method, received.reference)
    account = Account.from_fields(fields)
    tendered = None if received.tendered is None else Decimal(received.tendered)
    amount = _received_amount(account, received.amount, tendered)
    if tendered is not None and tendered < amount:
        message = f"must be at least the amount, {money.render(amount)}"
        raise Invalid.field(f"{path}tendered", "out_of_range", message)
    if amount > account.balance and not received.allow_overpayment:
        due = money.render(max(account.balance, NOTHING))
        message = f"The amount is more than is due, {due}. Send allowOverpayment to take it."
        raise Denied("overpaid", message, balanceDue=account.balance)
    payment = _new_payment(amount, method, by, now)
    payment |= {"reference": received.reference or None, "note": received.note or None}
    payment["receivedAt"] = received.received_at or now
    if tendered is not None:
        payment |= {
            "tendered": money.render(tendered),
            "change": money.render(tendered - amount),
        }
    return _with_payment(fields, payment, path)


def _received_amount(account: Account, sent: str | None, tendered: Decimal | None) -> Decimal:
    """Return the amount that was sent, or else what is due, at most what was tendered.

    Raise Denied if no amount was sent and nothing is due.
    """
    if sent is not None:
        return Decimal(sent)
    if account.balance <= 0:
        raise Denied("nothing_due", "Nothing is due.", balanceDue=account.balance)
    return account.balance if tendered is None else min(tendered, account.balance)


def settle_balance(fields: StoredOrder, by: str, now: str) -> StoredOrder:
    """Return the fields with one more payment, of all that is due, marked as implied.

    The paymentStatus PAID that a client sends implies it. No payment is added if nothing is due.
    Raise Invalid.
    """
    balance = Account.from_fields(fields).balance
    if balance <= 0:
        return with_balance(fields)
    method = fields["paymentMethod"] or "OTHER"
    return _with_payment(fields, _new_payment(balance, method, by, now, implied=True), "")


def _new_payment(
    amount: Decimal, method: str, by: str, now: str, *, implied: bool = False
) -> Payment:
    """Return a payment as stored: received and recorded now, not voided, without a reference.

    `implied`: a client only sent a paymentStatus.
    """
    return {
        "id": ids.new_id("pay"),
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


def _with_payment(fields: StoredOrder, payment: Payment, path: str) -> StoredOrder:
    """Return the fields with one more payment, and the amounts that follow. The status stays.

    A payment of more than is due is not refused here. Raise Invalid if the order has too many
    payments and refunds; at `{path}amount` if its payments are together larger than any amount may
    be. `path`: where the payment is in the request, such as `payments.0.`, or "".
    """
    refuse_too_many(fields)
    after = with_balance({**fields, "payments": [*fields["payments"], payment]})
    if Account.from_fields(after).paid >= money.LARGEST:
        message = f"makes the sum of payments {money.LARGEST:f} or more"
        raise Invalid.field(f"{path}amount", "out_of_range", message)
    return after


def void_payment(
    fields: StoredOrder, payment_id: str, reason: str | None, by: str, now: str
) -> StoredOrder:
    """Return the fields after a payment was voided, with the balance and paymentStatus that follow.

    Raise NotFound, AlreadyVoided; PaymentRefunded, which says how much could go, if less than all
    of it can: a part was refunded, or is retained.
    """
    payment = _find_valid_payment(fields, payment_id)
    refundable = Account.from_fields(fields).refundable
    possible = min(unrefunded_amount(fields, payment), refundable)
    if possible < Decimal(payment["amount"]):
        raise PaymentRefunded(refundable=money.render(possible))
    return with_balance(_with_void(fields, payment, reason, by, now))


def correct_method(
    fields: StoredOrder, payment_id: str, wanted: CorrectPayment, by: str, now: str
) -> StoredOrder:
    """Return the fields after a payment was voided and recorded again with another method.

    The new one has the same amount, reference, note and `receivedAt`. If no payment of the former
    method is left, the order's paymentMethod changes too. Raise NotFound, AlreadyVoided,
    PaymentRefunded, DuplicateReference; Invalid for the same method.
    """
    payment = _find_valid_payment(fields, payment_id)
    left, method = unrefunded_amount(fields, payment), payment["method"]
    if left < Decimal(payment["amount"]):
        raise PaymentRefunded(refundable=money.render(left))
    if wanted.method == method:
        raise Invalid.field("method", "invalid", f"must be another than {method}")
    after = _with_void(fields, payment, wanted.reason or None, by, now)
    refuse_duplicate(valid_payments(after), wanted.method, payment["reference"])
    corrected = _new_payment(Decimal(payment["amount"]), wanted.method, by, now)
    corrected |= {"reference": payment["reference"], "note": payment["note"]}
    corrected["receivedAt"] = payment["receivedAt"]
    if all(valid["method"] != method for valid in valid_payments(after)):
        after["paymentMethod"] = wanted.method
    return _with_payment(after, corrected, "")


def _find_valid_payment(fields: StoredOrder, payment_id: str) -> Payment:
    """Return the payment with this id. Raise NotFound, AlreadyVoided if it was voided."""
    known = next(
        (candidate for candidate in fields["payments"] if candidate["id"] == payment_id), None
    )
    payment = NotFound.unless(known, "payment", payment_id)
    if payment["voidedAt"]:
        raise AlreadyVoided(voidedAt=payment["voidedAt"])
    return payment


def _with_void(
    fields: StoredOrder, payment: Payment, reason: str | None, by: str, now: str
) -> StoredOrder:
    """Return the fields with this payment marked as voided; the balance is not computed anew.

    `payment` is one of the fields' own, not a copy.
    """
    voided: Payment = {**payment, "voidedAt": now, "voidReason": reason, "voidedBy": by}
    payments = [voided if known is payment else known for known in fields["payments"]]
    return {**fields, "payments": payments}
