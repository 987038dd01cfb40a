"""The money of an order, as its payments and refunds say: pure functions (docs/orders.md#payments).

`Account` has the equations. All amounts of an order follow from its payments, its refunds and from
`credited`: what refunds took off the amount that is owed. Amounts are Decimals here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, cast

from chalicelib.orders.lines import amount_and_percent
from chalicelib.orders.model import (
    MOST_TRANSFERS,
    Deposit,
    Order,
    Payment,
    StoredOrder,
    Transfer,
    order_reference,
    show_transfer,
)
from chalicelib.orders.schemas import (
    DepositInput,
    OrderStatus,
    PaymentStatus,
    RefundStatus,
    ShownRefund,
)
from chalicelib.problems import Conflict, Invalid
from chalicelib.values import money

NOTHING: Final = Decimal(0)


class Denied(Invalid):
    """422 with a code of docs/orders.md#payments, and the amount that would be possible."""

    def __init__(self, code: str, message: str, **amounts: Decimal) -> None:
        super().__init__(message, code=code)
        self.extra |= {name: money.render(amount) for name, amount in amounts.items()}


class DuplicateReference(Conflict):
    """409 with the payment or the refund that has the reference."""

    code = "duplicate_reference"

    def __init__(self, known: Transfer) -> None:
        name = "payment" if known["id"].startswith("pay_") else "refund"
        message = f"The order has a {name} with this method and reference."
        super().__init__(message, field="reference")
        self.extra[name] = show_transfer(known)


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
    is_closed: bool

    @classmethod
    def from_fields(cls, fields: StoredOrder) -> "Account":
        """Return the account of an order with these fields.

        `paid` is the sum of the payments that are not voided, `refunded` of the refunds; `payment`
        is the paymentStatus as stored. The deposit is no part of an account.
        """
        return cls(
            total=Decimal(fields["total"]),
            paid=sum_amounts(valid_payments(fields)),
            refunded=sum_amounts(fields["refunds"]),
            credited=Decimal(fields["amountCredited"]),
            retained=Decimal(fields["retained"] or 0),
            status=OrderStatus(fields["status"]),
            payment=PaymentStatus(fields["paymentStatus"]),
            has_payments=bool(fields["payments"]),
            is_closed=bool(fields["closedAt"]),
        )

    @property
    def net(self) -> Decimal:
        """The money in hand: paid less refunded."""
        return self.paid - self.refunded

    @property
    def owed(self) -> Decimal:
        """What the customer owes in all, paid or not.

        It is the total less what refunds took off it; nothing if the paymentStatus is REFUNDED;
        what is retained of a cancelled order; the money in hand of a closed one.
        """
        if self.is_refunded:
            return NOTHING
        if self.is_closed:
            return self.net
        if self.status is OrderStatus.CANCELLED:
            return self.retained
        return self.total - self.credited

    @property
    def balance(self) -> Decimal:
        """What is still due; negative: the shop owes."""
        return self.owed - self.net

    @property
    def refundable(self) -> Decimal:
        """The money in hand, less what a CANCELLED order that is not closed retains of it."""
        retains = self.status is OrderStatus.CANCELLED and not self.is_closed
        return self.net - (self.retained if retains else NOTHING)

    @property
    def revenue(self) -> Decimal:
        """The money in hand, at most what is owed: it counts as sold."""
        return min(self.net, self.owed)

    @property
    def is_refunded(self) -> bool:
        """Whether the paymentStatus is REFUNDED."""
        return self.payment is PaymentStatus.REFUNDED

    def payment_status(self) -> PaymentStatus:
        """Return the payment status that follows from the payments; REFUNDED only if it is stored.

        The stored one stays if the order never had a payment, is refunded or cancelled, or is
        closed with money paid. Otherwise it is PENDING, PARTIALLY_PAID or PAID; PENDING also when
        all payments are voided. `make_refund` and `refund_everything` set REFUNDED.
        """
        if not self.has_payments or self.is_refunded or self.status is OrderStatus.CANCELLED:
            return self.payment
        if not self.paid:
            return PaymentStatus.PENDING
        if self.is_closed:
            return self.payment
        return PaymentStatus.PARTIALLY_PAID if self.balance > 0 else PaymentStatus.PAID

    def refund_status(self) -> RefundStatus:
        """Return FULL for the paymentStatus REFUNDED, PARTIAL if money went back, else NONE."""
        if self.is_refunded:
            return RefundStatus.FULL
        return RefundStatus.PARTIAL if self.refunded else RefundStatus.NONE


def sum_amounts(transfers: Iterable[Transfer]) -> Decimal:
    """Return the sum of these payments or refunds."""
    return sum((Decimal(transfer["amount"]) for transfer in transfers), NOTHING)


def valid_payments(fields: StoredOrder) -> list[Payment]:
    """Return the payments that were not voided."""
    return [payment for payment in fields["payments"] if not payment["voidedAt"]]


def with_balance(fields: StoredOrder) -> StoredOrder:
    """Return a copy of the fields with everything that follows from the payments and refunds.

    That is the sums, balanceDue, paymentStatus, refundStatus and revenue; of a closed order `kept`,
    and `retained` if it is cancelled; the deposit with its amount and whether it is reached; the
    refundedQuantity of each line; and the paymentMethod of the first payment, if there was none.
    The status stays.
    """
    after = fields.copy()
    after["paymentStatus"] = Account.from_fields(fields).payment_status().value
    account = Account.from_fields(after)
    after |= {
        "amountPaid": money.render(account.paid),
        "amountRefunded": money.render(account.refunded),
        "amountCredited": money.render(account.credited),
        "balanceDue": money.render(account.balance),
        "refundStatus": account.refund_status().value,
        "revenue": money.render(account.revenue),
        "kept": money.render(account.net) if account.is_closed else None,
    }
    if account.is_closed and account.status is OrderStatus.CANCELLED:
        after["retained"] = after["kept"] if account.net else None
    if fields["deposit"]:
        after["deposit"] = _with_reached(fields["deposit"], account)
    pieces = Counter[str]()
    for part in (line for refund in fields["refunds"] for line in refund["lines"]):
        pieces[part["lineItemId"]] += int(part["quantity"])
    after["lineItems"] = [
        {**line, "refundedQuantity": pieces[line["id"]]} for line in fields["lineItems"]
    ]
    if after.get("paymentMethod") is None and after["payments"]:
        after["paymentMethod"] = after["payments"][0]["method"]
    return after


def _with_reached(deposit: Deposit, account: Account) -> Deposit:
    """Return the deposit with `isReached`; the amount of one in percent is computed anew.

    It is reached if something is paid, and the money in hand is its amount or more.
    """
    after = deposit.copy()
    if after["percent"] is not None:
        after["amount"] = money.render(money.percent_of(account.total, after["percent"]))
    after["isReached"] = bool(account.paid) and account.net >= Decimal(after["amount"])
    return after


# --- Rules of payments and refunds ----------------------------------------------------------------


def refuse_closed(fields: StoredOrder) -> None:
    """Raise Denied if the order is closed."""
    if fields["closedAt"]:
        raise Denied("order_closed", "The order is closed. It can only be closed again, with less.")


def refuse_duplicate(known: Iterable[Transfer], method: str, reference: str | None) -> None:
    """Raise DuplicateReference if a known transfer has this method and reference.

    Never without a reference.
    """
    for transfer in known:
        if reference and (transfer["method"], transfer["reference"]) == (method, reference):
            raise DuplicateReference(transfer)


def refuse_too_many(fields: StoredOrder) -> None:
    """Raise Invalid if the order has as many payments and refunds as it can have: no more fits."""
    if len(fields["payments"]) + len(fields["refunds"]) >= MOST_TRANSFERS:
        message = f"An order has at most {MOST_TRANSFERS} payments and refunds."
        raise Invalid(message, code="too_many")


def unrefunded_amount(fields: StoredOrder, payment: Payment) -> Decimal:
    """Return the amount of one payment less the refunds that name it."""
    own = (refund for refund in fields["refunds"] if refund["paymentId"] == payment["id"])
    return Decimal(payment["amount"]) - sum_amounts(own)


# --- Deposits -------------------------------------------------------------------------------------


def new_deposit(fields: StoredOrder, sent: DepositInput | None) -> Deposit | None:
    """Return the deposit as stored, {amount, percent}; None if none was sent.

    `with_balance` adds whether it is reached. Raise Invalid if it is 0 or more than the total.
    """
    if sent is None:
        return None
    total = Decimal(fields["total"])
    amount, percent = amount_and_percent(total, sent, "deposit")
    if amount is None or not 0 < Decimal(amount) <= total:
        message = f"must be above 0 and at most the total, {fields['total']}"
        raise Invalid.field("deposit", "out_of_range", message)
    return {"amount": amount, "percent": percent}


def change_deposit(fields: StoredOrder, sent: DepositInput | None) -> Deposit | None:
    """Return the deposit of an order after a PATCH that sent this one; None removes it.

    A deposit that says the same as the stored one, such as one that a client read and sends back,
    is always accepted, and the stored one stays. Raise Invalid if another one is sent, or the
    stored one is removed, when something is paid, or the paymentStatus is neither PENDING nor
    FAILED; otherwise as `new_deposit` does.
    """
    known = fields["deposit"]
    if sent is None and known is None:
        return None
    if sent is not None and known is not None:
        amount, percent = known["amount"], known["percent"]
        same_amount = sent.amount is not None and Decimal(sent.amount) == Decimal(amount)
        same_percent = sent.percent == (None if percent is None else Decimal(percent))
        if same_percent and (same_amount or (sent.amount is None and percent is not None)):
            return known.copy()
    account = Account.from_fields(fields)
    if account.paid or account.payment not in {PaymentStatus.PENDING, PaymentStatus.FAILED}:
        raise Invalid.field("deposit", "too_late", "can only change while nothing is paid")
    return new_deposit(fields, sent)


def change_retained(fields: StoredOrder, sent: str | None) -> str | None:
    """Return the amount that an order retains after a PATCH that sent `sent`; None clears it.

    An unchanged amount is accepted for any order: the stored text is returned. Another one only for
    an order that is CANCELLED and not closed, up to the money in hand: raise Denied, Invalid
    otherwise.
    """
    known = fields["retained"]
    amount = Decimal(sent or 0)
    if amount == Decimal(known or 0):
        return known
    refuse_closed(fields)
    if fields["status"] != OrderStatus.CANCELLED:
        message = (
            "is only possible for a CANCELLED order; edit the total of another to what it keeps"
        )
        raise Invalid.field("retained", "invalid", message)
    net = Account.from_fields(fields).net
    if amount > net:
        message = f"must be at most what was paid and not refunded, {money.render(net)}"
        raise Invalid.field("retained", "out_of_range", message)
    return sent


# --- What changed ---------------------------------------------------------------------------------


def money_events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (event, data) for each payment and refund that is new, and each payment newly voided.

    The data are the transfer as shown, with the order's reference.
    """
    known: dict[str, Transfer] = {}
    if before is not None:
        known = {one["id"]: one for name in _EVENTS for one in before.fields[name]}
    for name, (created, voided) in _EVENTS.items():
        for transfer in after.fields[name]:
            if transfer["id"] not in known:
                yield created, show_transfer(transfer) | order_reference(after)
            elif voided and _voided_at(transfer) and not _voided_at(known[transfer["id"]]):
                yield voided, show_transfer(transfer) | order_reference(after)


_EVENTS: Final[dict[Literal["payments", "refunds"], tuple[str, str]]] = {
    "payments": ("payment.created", "payment.voided"),
    "refunds": ("refund.created", ""),
}


def _voided_at(transfer: Transfer) -> str | None:
    """Return when a payment was voided; None if it was not."""
    return cast(Payment, transfer)["voidedAt"]


def describe_transfers(before: StoredOrder, after: StoredOrder) -> list[str]:
    """Return texts for the history: `payment 5.00 CASH`, `voided payment …`, `refund …`.

    They are of payments and refunds that `before` has not, and of payments voided since.
    """
    known = {payment["id"]: payment for payment in before["payments"]}
    texts = []
    for payment in after["payments"]:
        amount = _amount_text(payment)
        if payment["id"] not in known:
            texts.append(f"payment {amount}")
        elif payment["voidedAt"] and not known[payment["id"]]["voidedAt"]:
            texts.append(f"voided payment {amount}")
    new: list[ShownRefund] = after["refunds"][len(before["refunds"]) :]
    return texts + [f"refund {_amount_text(refund)}" for refund in new]


def _amount_text(transfer: Transfer) -> str:
    """Return the amount and the method of a payment or refund, as a history shows them."""
    return f"{transfer['amount']} {transfer['method']}"
