"""The moves of an order's status (docs/contract.md#order-status), and of its payment status
(docs/contract.md#payment-status)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from chalicelib.orders.model import PaymentStatus, Status
from chalicelib.problems import Invalid

MOVES: Final[Mapping[Status, tuple[Status, ...]]] = {
    Status.PENDING: (Status.PAID, Status.CANCELLED),
    Status.PAID: (Status.IN_PRODUCTION, Status.PROCESSING, Status.REFUNDED),
    Status.IN_PRODUCTION: (Status.PROCESSING,),
    Status.PROCESSING: (Status.SHIPPED,),
    Status.SHIPPED: (Status.DELIVERED,),
    Status.DELIVERED: (),
    Status.CANCELLED: (),
    Status.REFUNDED: (),
}
# What is on its way, or has its stock back, has nothing to give back when it is deleted.
BEFORE_SHIPPING: Final = frozenset(
    {Status.PENDING, Status.PAID, Status.IN_PRODUCTION, Status.PROCESSING}
)
GIVES_BACK: Final = frozenset({Status.CANCELLED, Status.REFUNDED})
OPEN: Final = tuple(status for status in Status if MOVES[status])


# Money that was given back stays given back: from there nothing is booked again.
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
# What a status says about the payment. For PAID a deposit is enough: production begins, and
# order.paid waits for the rest.
PAYMENTS: Final[Mapping[Status, tuple[PaymentStatus, ...]]] = {
    Status.PAID: (PaymentStatus.PAID, PaymentStatus.PARTIALLY_PAID),
    Status.REFUNDED: (PaymentStatus.REFUNDED,),
}


class InvalidTransition(Invalid):
    """422 with `field`, `from`, `to` and `allowed`, what may come next."""

    code = "invalid_transition"

    def __init__(self, field: str, start: str, wanted: str, allowed: Iterable[str]) -> None:
        names = [str(name) for name in allowed]
        says = f"only {' or '.join(names)}" if names else "nothing"
        more: dict[str, Any] = {"field": field, "from": str(start), "to": str(wanted)}
        message = f"The {field} {start} cannot become {wanted}: {says} can follow."
        super().__init__(message, **more, allowed=names)


def step(start: Status, wanted: Status) -> Status:
    """The status after the move. Raises InvalidTransition."""
    if wanted not in MOVES[start]:
        raise InvalidTransition("status", start, wanted, MOVES[start])
    return wanted


def payment_step(status: Status, start: PaymentStatus, wanted: PaymentStatus) -> PaymentStatus:
    """The payment status after the move of an order that is (by then) `status`; the one that it has
    is no move. Raises InvalidTransition."""
    allowed = PAYMENT_MOVES[start]
    if status is Status.CANCELLED:
        allowed = tuple(to for to in allowed if to is PaymentStatus.REFUNDED)
    if wanted is not start and wanted not in allowed:
        raise InvalidTransition("paymentStatus", start, wanted, allowed)
    return wanted
