"""What a message means for a delivery in its current state. Pure functions."""

from datetime import datetime
from enum import Enum, auto

from chalicelib.webhooks.model import Delivery, DeliveryStatus
from chalicelib.webhooks.sending.messages import Message


class Verdict(Enum):
    CLAIM = auto()
    """It is due."""
    DROP = auto()
    """The attempt was made, or will never be."""
    WAIT = auto()
    """Another sender is posting. Come back when its claim has expired."""
    INTERRUPTED = auto()
    """Another sender crashed: its attempt must be settled first."""


def judge(message: Message, delivery: Delivery | None, now: datetime) -> Verdict:
    """A duplicate message is not dropped during its attempt: if the sender crashes, the duplicate
    detects it."""
    if delivery is None or _had_is_next(message, delivery):
        return Verdict.DROP
    if delivery.claim:
        return Verdict.WAIT if now < delivery.claim.until else Verdict.INTERRUPTED
    if not message.replay:
        # A future step was queued by a sender that crashed before it stored that; the lines above
        # found its claim. Without a claim, nothing is due.
        is_next = (delivery.generation, delivery.step) == (message.generation, message.step)
        return Verdict.CLAIM if is_next else Verdict.DROP
    is_needless = message.only_failed and delivery.status is not DeliveryStatus.FAILED
    return Verdict.DROP if is_needless else Verdict.CLAIM


def _had_is_next(message: Message, delivery: Delivery) -> bool:
    if message.replay:
        return message.replay <= delivery.replayed and not delivery.claim
    if message.generation != delivery.generation:
        return message.generation < delivery.generation
    return delivery.step is None or message.step < delivery.step
