"""The sender: makes the attempts of a batch of messages in parallel, and arranges the next steps.

A receiver's failure is never a failure of the function: that would slow the queue down for all.
Reported as failed are the messages that must come again: those with another sender, and those on
which our code failed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from chalicelib import settings, sqs, telemetry, threads
from chalicelib.safe_post import post as safe_post
from chalicelib.safe_post.post import PostResult
from chalicelib.storage import outbox, table
from chalicelib.storage.outbox import Event
from chalicelib.values import clock
from chalicelib.webhooks import (
    attempts,
    deliveries,
    executions,
    health,
    master_key,
    messages,
    parking,
    signature,
    store,
)
from chalicelib.webhooks.attempts import Attempt
from chalicelib.webhooks.deliveries import NotNow
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import RECEIVER_SECONDS, Delivery, Endpoint, endpoint_of, event_of

_Record = sqs.Received
Post = Callable[..., PostResult]

_LOOK_AGAIN: Final = 12  # seconds: a POST that runs now has ended after that
_LONGEST_BACKOFF: Final = 360  # seconds


@dataclass(frozen=True)
class _Known:
    """The data for a batch, read in parallel."""

    endpoints: Mapping[str, Endpoint]
    events: Mapping[str, Event]


@dataclass
class _Batch:
    """The results of a batch.

    `again`: message id → receipt handle and seconds until the message comes again. The health of
    endpoints is (id, success) in the order of the answers.
    """

    again: dict[str, tuple[str, int]] = field(default_factory=dict)
    health: list[tuple[str, bool]] = field(default_factory=list)

    def hide(self, record: _Record, seconds: int) -> None:
        """Note that a message is to come again after so many seconds.

        The visibility in SQS is changed later.
        """
        self.again[record["messageId"]] = record["receiptHandle"], seconds

    def put_off(self, record: _Record) -> None:
        """Note that a message is to come again: after ten seconds, twice as long each time it came.

        At most after _LONGEST_BACKOFF. So it becomes a dead letter only after hours. The
        visibility in SQS is changed later.
        """
        received = int(record["attributes"]["ApproximateReceiveCount"])
        self.hide(record, min(_LONGEST_BACKOFF, 5 * 2 ** min(received, 7)))


def batch(event: sqs.Batch, post: Post = safe_post.post) -> sqs.Handled:
    """Handle a batch of messages; return those that must come again, as SQS expects it.

    Each is attempted, in parallel: claimed, posted and settled. Messages of failing endpoints that
    came on the other lane are only moved to theirs. Then the endpoints' health is stored, and the
    messages that must come again are hidden in the queue until then. Nothing is raised: after any
    failure of our code, the messages come again later. `post`: sends a request.
    """
    results = _Batch()
    received = _parse_messages(event["Records"], results)
    try:
        known = _load_known([message for _, message in received])
        received = _keep_own_lane(received, known, results)
        threads.run_together(
            [partial(_take_or_put_off, *pair, known, post, results) for pair in received]
        )
        health.record_outcomes(known.endpoints, results.health)
    except Exception as error:
        telemetry.error("batch failed", error)
        for record, _ in received:
            results.put_off(record)
    _hide_put_off(event["Records"][0], results)
    return sqs.all_but(results.again)


def _parse_messages(records: Sequence[_Record], results: _Batch) -> list[tuple[_Record, Message]]:
    """Return each record with its message; log and put off those that cannot be parsed."""
    parsed = []
    for record in records:
        try:
            parsed.append((record, messages.parse(record["body"])))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            telemetry.error("message not understood", error, messageId=record["messageId"])
            results.put_off(record)
    return parsed


def _keep_own_lane(
    due: Sequence[tuple[_Record, Message]], known: _Known, results: _Batch
) -> list[tuple[_Record, Message]]:
    """Return the messages that are posted on this lane; send the others to the failing lane.

    The others came from the lane of new events, and their endpoint is failing: there may be a
    million of them, and each can hang for 10 seconds. If they cannot be sent, that is logged, and
    they are put off.
    """
    here, over = [], []
    for record, message in due:
        endpoint = known.endpoints.get(endpoint_of(message.delivery))
        if endpoint and endpoint.failing and _came_from(record, settings.deliveries_queue_url()):
            over.append((record, Posted(message)))
        else:
            here.append((record, message))
    try:
        messages.send([posted for _, posted in over])
    except Exception as error:
        telemetry.error("messages were not sent on", error)
        for record, _ in over:
            results.put_off(record)
    return here


def _came_from(record: _Record, queue_url: str) -> bool:
    """Return whether a record came from this queue."""
    name = record["eventSourceARN"].rpartition(":")[2]
    return bool(name == queue_url.rpartition("/")[2])


def _load_known(due: Sequence[Message]) -> _Known:
    """Read the endpoints, and the events from the outbox, of these messages, both by id.

    Those that are gone are left out.
    """
    endpoints = {endpoint_of(each.delivery) for each in due}
    outbox_keys = {outbox.key(event_of(each.delivery)) for each in due}
    endpoints_found, items = threads.run_together(
        [
            lambda: store.load(endpoints),
            lambda: table.batch_get(outbox_keys, table=settings.outbox_table()),
        ]
    )
    events = (event for item in items.values() for event in outbox.events_of(item))
    return _Known(endpoints_found, {event.id: event for event in events})


def _take_or_put_off(
    record: _Record, message: Message, known: _Known, post: Post, results: _Batch
) -> None:
    """Handle one message; note in `results` if it must come again. Nothing is raised.

    If another sender has its delivery, it comes again in seconds; if our code failed, that is
    logged, and it comes ever later (`put_off`).
    """
    try:
        _handle_message(message, known, post, results)
    except NotNow:
        results.hide(record, _LOOK_AGAIN)
    except Exception as error:
        telemetry.error("message failed", error, deliveryId=message.delivery)
        results.put_off(record)


def _handle_message(message: Message, known: _Known, post: Post, results: _Batch) -> None:
    """Handle one message: claim its delivery, post its event, store the attempt, and settle.

    If its endpoint is gone, the delivery is cancelled; if that is paused, the message is parked. If
    the event is gone, the attempt is recorded as failed, without a post. Nothing happens if the
    message is not due. The outcome of a post is added to `results.health`, and logged as metrics.
    Raises NotNow if another sender has the delivery.
    """
    endpoint = known.endpoints.get(endpoint_of(message.delivery))
    if endpoint is None:
        deliveries.cancel(message)
        return
    if not endpoint.enabled:
        _park_until_enabled(message)
        return
    delivery = deliveries.begin_attempt(message, endpoint)
    if delivery is None:
        return
    event = known.events.get(event_of(message.delivery))
    if event is None:
        deliveries.finish_attempt(delivery, attempts.build_expired_attempt(delivery, endpoint.url))
        return
    attempt = _post_event(delivery, endpoint, event, post)
    results.health.append((endpoint.id, attempt.error is None))
    deliveries.finish_attempt(delivery, attempt)
    telemetry.log_metrics(
        "delivery attempt",
        {
            "Attempts": 1,
            "Delivered": int(attempt.error is None),
            "AttemptMs": attempt.durationMs,
        },
        deliveryId=delivery.id,
        event=delivery.event,
        attempt=attempt.number,
        status=attempt.status,
        error=attempt.error,
    )


def _post_event(delivery: Delivery, endpoint: Endpoint, event: Event, post: Post) -> Attempt:
    """Post an event to an endpoint, signed now; return the attempt, which is not stored yet.

    A failure of the receiver is in the attempt, not raised.
    """
    at = clock.now()
    body = event.body.encode()
    secrets = master_key.valid_secrets(endpoint)
    sent = signature.headers(
        event, delivery.id, int(at.timestamp()), body, secrets, test=delivery.test
    )
    outcome = post(
        endpoint.url,
        sent,
        body,
        allowed_networks=settings.webhook_allowed_networks(),
        timeout=RECEIVER_SECONDS,
    )
    return attempts.build_posted_attempt(delivery, endpoint.url, at, sent, outcome)


def _park_until_enabled(message: Message) -> None:
    """Park a message until its endpoint is enabled again.

    If it was enabled or deleted meanwhile, a redrive is scheduled.
    """
    parking.hold(message)
    id = endpoint_of(message.delivery)
    endpoint = store.find(id)
    if endpoint is None or endpoint.enabled:
        # It may have been enabled, and the redrive may have read, before our entry was written.
        executions.schedule_redrive_soon(id)


def _hide_put_off(record: _Record, results: _Batch) -> None:
    """Make the messages that were put off invisible in their queue until they are to come again.

    `record`: any record of the batch, which names the queue. No message, no call. A failure is only
    logged: they come back after the queue's visibility timeout, which does no harm.
    """
    if not results.again:
        return
    urls = (settings.deliveries_queue_url(), settings.retries_queue_url())
    try:
        sqs.hide(next(url for url in urls if _came_from(record, url)), dict(results.again.values()))
    except Exception as error:
        telemetry.error("messages were not hidden", error)
