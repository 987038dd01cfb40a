"""The moves of an order's status, exactly those of `spec.md`, States and transitions."""

from collections.abc import Mapping
from typing import Any, Final

from chalicelib.orders.model import Status
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


class InvalidTransition(Invalid):
    """422 with `from`, `to` and `allowed`, the statuses that may come next."""

    code = "invalid_transition"

    def __init__(self, start: Status, wanted: Status) -> None:
        allowed = [status.value for status in MOVES[start]]
        says = f"only {' or '.join(allowed)}" if allowed else "nothing"
        more: dict[str, Any] = {"from": start.value, "to": wanted.value, "allowed": allowed}
        message = f"An order that is {start.value} cannot become {wanted.value}: {says} can follow."
        super().__init__(message, **more)


def step(start: Status, wanted: Status) -> Status:
    """The status after the move. Raises InvalidTransition."""
    if wanted not in MOVES[start]:
        raise InvalidTransition(start, wanted)
    return wanted
