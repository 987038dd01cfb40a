"""What follows a recorded attempt: the end, or the next step.

The next step is queued or parked first and stored second. A crash in between leaves a claim; the
message of either step finds it and settles the attempt again, with the same record and the same
jitter, so for the same time.
"""

import zlib

from chalicelib import settings
from chalicelib.values import clock
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.model import Delivery, Endpoint
from chalicelib.webhooks.parked import parking
from chalicelib.webhooks.sending import attempts, health, messages, retry
from chalicelib.webhooks.sending.attempts import Attempt
from chalicelib.webhooks.sending.messages import Message, Posted
from chalicelib.webhooks.sending.retry import Means, NextStep


def settle(delivery: Delivery, attempt: Attempt, streak: int) -> bool:
    """Whether this settled it: another sender may have found our claim and done it first.

    `streak`: the endpoint's failures in a row.
    """
    if attempt.error is None:
        return deliveries.delivered(delivery, attempt)
    if attempt.error == attempts.EVENT_EXPIRED:
        return deliveries.given_up(delivery, attempt)
    if attempt.replay:
        return deliveries.replay_failed(delivery, attempt)
    following = _following(delivery, attempt, streak)
    if following.means is Means.GIVE_UP:
        return deliveries.given_up(delivery, attempt)
    message = Message(delivery.id, delivery.generation, following.step, due=following.at)
    if following.means is Means.PARK:
        parking.park(message, following.at)
    else:
        messages.send([Posted(message, delay=following.queue_delay)])
    return deliveries.retrying(delivery, attempt, following)


def interrupted(delivery: Delivery, endpoint: Endpoint | None) -> None:
    """Settles the attempt of an expired claim."""
    assert delivery.claim is not None
    begun = delivery.claim.until - deliveries.LEASE
    attempt = attempts.interrupted(delivery, begun, endpoint.url if endpoint else "")
    attempt = attempts.keep(delivery.id, attempt)
    ours = settle(delivery, attempt, endpoint.streak if endpoint else 0)
    if ours and endpoint and attempt.error == attempts.INTERRUPTED:
        health.interrupted(endpoint, begun)


def expired(delivery: Delivery, url: str) -> None:
    """Ends a claimed delivery, because the outbox no longer has its body."""
    attempt = attempts.keep(delivery.id, attempts.expired(delivery, url))
    settle(delivery, attempt, 0)


def _following(delivery: Delivery, attempt: Attempt, streak: int) -> NextStep:
    assert delivery.step is not None
    return retry.next_step(
        delivery.step,
        clock.parse(attempt.endedAt),
        _chance(delivery),
        status=attempt.status,
        retry_after=(attempt.headers or {}).get("retry-after"),
        failing_streak=streak,
        daily_since=delivery.daily_since,
        scale=settings.webhook_schedule_scale(),
    )


def _chance(delivery: Delivery) -> float:
    """Different for every attempt, the same each time one is settled."""
    return zlib.crc32(f"{delivery.id}#{delivery.attempts}".encode()) / 2**32
