"""The moves of an order's status and of its payment status.

The rules: docs/orders.md#order-status and docs/orders.md#payment-status.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from chalicelib.orders.schemas import OrderStatus, PaymentStatus
from chalicelib.problems import Invalid

MOVES: Final[Mapping[OrderStatus, tuple[OrderStatus, ...]]] = {
    OrderStatus.PENDING: (OrderStatus.PAID, OrderStatus.CANCELLED),
    OrderStatus.PAID: (OrderStatus.IN_PRODUCTION, OrderStatus.PROCESSING, OrderStatus.REFUNDED),
    OrderStatus.IN_PRODUCTION: (OrderStatus.PROCESSING,),
    OrderStatus.PROCESSING: (OrderStatus.SHIPPED,),
    OrderStatus.SHIPPED: (OrderStatus.DELIVERED,),
    OrderStatus.DELIVERED: (),
    OrderStatus.CANCELLED: (),
    OrderStatus.REFUNDED: (),
}
# Deleting an order in these states returns no stock: it was shipped, or already returned.
BEFORE_SHIPPING: Final = frozenset(
    {OrderStatus.PENDING, OrderStatus.PAID, OrderStatus.IN_PRODUCTION, OrderStatus.PROCESSING}
)
GIVES_BACK: Final = frozenset({OrderStatus.CANCELLED, OrderStatus.REFUNDED})
# Nothing ends an order in these states early; its money can still go back.
_AFTER_PAID: Final = frozenset(OrderStatus) - GIVES_BACK - {OrderStatus.PENDING, OrderStatus.PAID}
OPEN: Final = tuple(status for status in OrderStatus if MOVES[status])


# Refunded money is never booked again.
PAYMENT_MOVES: Final[Mapping[PaymentStatus, tuple[PaymentStatus, ...]]] = {
    PaymentStatus.PENDING: (
        PaymentStatus.PARTIALLY_PAID,
        PaymentStatus.PAID,
        PaymentStatus.FAILED,
    ),
    PaymentStatus.FAILED: (
        PaymentStatus.PENDING,
        PaymentStatus.PARTIALLY_PAID,
        PaymentStatus.PAID,
    ),
    PaymentStatus.PARTIALLY_PAID: (PaymentStatus.PAID, PaymentStatus.REFUNDED),
    PaymentStatus.PAID: (PaymentStatus.REFUNDED,),
    PaymentStatus.REFUNDED: (),
}
RECORDED: Final = (PaymentStatus.PAID, PaymentStatus.REFUNDED)
# The payment status that a status implies. For PAID a deposit is enough: production begins, and
# order.paid waits for the rest.
PAYMENTS: Final[Mapping[OrderStatus, tuple[PaymentStatus, ...]]] = {
    OrderStatus.PAID: (PaymentStatus.PAID, PaymentStatus.PARTIALLY_PAID),
    OrderStatus.REFUNDED: (PaymentStatus.REFUNDED,),
}


class InvalidTransition(Invalid):
    """422 with `field`, `from`, `to` and the `allowed` next states."""

    code = "invalid_transition"

    def __init__(self, field: str, start: str, wanted: str, allowed: Iterable[str]) -> None:
        names = [str(name) for name in allowed]
        says = f"only {' or '.join(names)}" if names else "nothing"
        message = f"The {field} {start} cannot become {wanted}: {says} can follow."
        if start in _AFTER_PAID and wanted in GIVES_BACK:
            message += " What was paid goes back with paymentStatus REFUNDED."
        super().__init__(message)
        self.extra |= {"field": field, "from": start, "to": wanted, "allowed": names}


def move_status(start: OrderStatus, wanted: OrderStatus) -> OrderStatus:
    """Return `wanted`, if the status can move there from `start`.

    Raise InvalidTransition otherwise. It cannot move to what it is already.
    """
    if wanted not in MOVES[start]:
        raise InvalidTransition("status", start, wanted, MOVES[start])
    return wanted


def move_payment_status(
    status: OrderStatus, start: PaymentStatus, wanted: PaymentStatus, *, has_payments: bool
) -> PaymentStatus:
    """Return `wanted`, if the payment status can move there from `start`, or is so already.

    `status`: the order's, after the change. An order that has payments only makes moves that are
    payments or refunds, a cancelled one only the move to REFUNDED. One whose status becomes
    REFUNDED owes nothing: its payment status always can be REFUNDED. Raise InvalidTransition.
    """
    if status is OrderStatus.REFUNDED and wanted is PaymentStatus.REFUNDED:
        return wanted
    allowed = PAYMENT_MOVES[start]
    if has_payments:
        allowed = tuple(to for to in allowed if to in RECORDED)
    if status is OrderStatus.CANCELLED:
        allowed = tuple(to for to in allowed if to is PaymentStatus.REFUNDED)
    if wanted is not start and wanted not in allowed:
        raise InvalidTransition("paymentStatus", start, wanted, allowed)
    return wanted
