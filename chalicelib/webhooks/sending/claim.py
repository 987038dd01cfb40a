"""Beginning an attempt: one sender at a time; the attempt of a crashed sender is settled first."""

from datetime import datetime, timedelta
from typing import Final

from chalicelib.values import clock
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.deliveries import Taken
from chalicelib.webhooks.model import Delivery, Endpoint
from chalicelib.webhooks.sending import settle
from chalicelib.webhooks.sending.life import Verdict, judge
from chalicelib.webhooks.sending.messages import Message

_LOOK_AGAIN: Final = timedelta(seconds=12)  # by then, a current POST has ended
_LOOKS: Final = 5


class NotDue(Exception):
    """The message must come again at `at`."""

    def __init__(self, at: datetime) -> None:
        super().__init__("not yet")
        self.at = at


def begin(message: Message, endpoint: Endpoint) -> Delivery | None:
    """The delivery with its next attempt begun and claimed; None if there is nothing to do.

    Raises NotDue while another sender has the claim.
    """
    try:
        if not message.replay:
            # Nearly always it is due, so it is claimed without a read.
            return _claim(message, None)
        seen = deliveries.find(message.delivery)
    except Taken as taken:
        seen = taken.current
    for _ in range(_LOOKS):
        verdict = judge(message, seen, clock.now())
        if verdict is Verdict.DROP or seen is None:
            return None
        if verdict is Verdict.WAIT:
            break
        try:
            if verdict is Verdict.CLAIM:
                return _claim(message, seen)
            settle.interrupted(seen, endpoint)
            seen = deliveries.find(message.delivery)
        except Taken as taken:
            seen = taken.current
    raise NotDue(clock.now() + _LOOK_AGAIN)


def _claim(message: Message, seen: Delivery | None) -> Delivery:
    now = clock.now()
    if seen and message.replay:
        return deliveries.claim_replay(seen, message.replay, now)
    return deliveries.claim_step(message.delivery, message.generation, message.step, now)


def cancel(message: Message) -> None:
    """The endpoint was deleted: this message is the last. Raises NotDue."""
    delivery = deliveries.find(message.delivery)
    if delivery and delivery.claim and delivery.claim.until <= clock.now():
        settle.interrupted(delivery, None)
        delivery = deliveries.find(message.delivery)
    if delivery is None or delivery.step is None:
        return
    if delivery.claim or not deliveries.cancelled(delivery):
        raise NotDue(clock.now() + _LOOK_AGAIN)
