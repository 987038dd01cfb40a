"""From committed events to deliveries, and to the messages that send them.

Each webhook that gets an event has one delivery of it, and each delivery a first message.

A delivery is created unless it exists, and its first message is sent unless it was handled. So an
item may come again, late, or twice at once.
"""

from collections.abc import Container, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from chalicelib import threads
from chalicelib.storage.lockstep import TEMPORARY, Need, Work
from chalicelib.storage.outbox import Committed, Event
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries, messages, store
from chalicelib.webhooks.filter import lets_through
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import Delivery, Endpoint, delivery_id

# Clocks differ, so an endpoint also gets events from this long before its registration. An event
# that is republished does not go to endpoints registered later.
_SLACK: Final = timedelta(minutes=1)


def consume(batch: Sequence[Committed]) -> Work:
    """Create the deliveries of the events of these commits, and then send their first messages.

    It is a generator (`lockstep.Work`): it yields the keys of the feed's marks to read, and is sent
    the items that exist. A commit that has a mark, or has expired, was handled before: nothing is
    created for it unless it is republished. A defect is noted as the `failure` of its commit;
    temporary errors of DynamoDB and SQS are raised.
    """
    endpoints = store.load_all()
    known = (yield Need([committed.feed_mark_key for committed in batch])).items
    outgoing: list[Posted] = []
    for committed in batch:
        is_known = committed.has_expired or committed.feed_mark_key in known
        try:
            outgoing += _create_deliveries(
                committed, endpoints, is_repeated=is_known and not committed.is_republished
            )
        except TEMPORARY:
            raise
        except Exception as error:  # a defect must not stop the stream
            committed.failure = error
    messages.send(outgoing)


def _create_deliveries(
    committed: Committed, endpoints: Sequence[Endpoint], *, is_repeated: bool
) -> list[Posted]:
    """Create the deliveries of a commit's events; return the messages that are to be sent for them.

    That is the first message of a delivery without attempts, and the message of a step that is
    overdue, also of deliveries that an earlier run created. Each goes to the failing lane if it was
    attempted, or its endpoint fails. Endpoints get the events that `_find_takers` says.
    `is_repeated`: the stream brings what was handled before, after its trigger was made anew or a
    backup was restored, which has no messages. Then no delivery is created, as a webhook may have
    been paused at that time, but those that exist are looked at.
    """
    pairs = [
        (event, endpoint)
        for event in committed.events
        for endpoint in _find_takers(event, endpoints, committed.item.get("only"))
        if not is_repeated
    ]
    created: list[Delivery] = threads.run_together(
        [
            partial(deliveries.create, event, endpoint.id, test=committed.is_for_one_webhook)
            for event, endpoint in pairs
        ]
    )
    known = {delivery.id for delivery in created}
    created += _load_earlier_deliveries(committed, endpoints, known, is_repeated)
    failing = {endpoint.id for endpoint in endpoints if endpoint.failing}
    overdue = clock.iso(clock.now() - _SLACK)
    return [
        Posted(
            Message(delivery.id, delivery.schedule, delivery.step),
            failing_lane=delivery.attempts > 0 or delivery.endpoint_id in failing,
        )
        for delivery in created
        if delivery.step is not None
        and (delivery.attempts == 0 or (delivery.next_attempt_at or "") < overdue)
    ]


def _load_earlier_deliveries(
    committed: Committed, endpoints: Sequence[Endpoint], others: Container[str], is_repeated: bool
) -> list[Delivery]:
    """Load the deliveries of these events that an earlier run created, without those in `others`.

    `others`: ids of deliveries. These are deliveries to endpoints that were changed after the
    commit: they may not take the event any more, and the earlier run may not have sent the
    messages. With `is_repeated`: the deliveries to all endpoints.
    """
    since = ids.made_at(committed.id) - _SLACK
    changed = [
        endpoint
        for endpoint in endpoints
        if is_repeated or (endpoint.version > 1 and clock.parse(endpoint.updated_at) >= since)
    ]
    wanted = (
        delivery_id(event.id, endpoint.id) for endpoint in changed for event in committed.events
    )
    return deliveries.load(id for id in wanted if id not in others)


def _find_takers(
    event: Event, endpoints: Sequence[Endpoint], only: str | None
) -> Iterator[Endpoint]:
    """Yield the endpoints that get an event: enabled, not younger, its kind listed, filter passed.

    A filtered event makes no delivery and costs nothing. `only`: the id of the endpoint that a test
    event is for, which gets it in any case.
    """
    for endpoint in endpoints:
        if only is not None:
            if endpoint.id == only:
                yield endpoint
        elif _takes_kind(endpoint, event) and lets_through(endpoint.filter, event.body):
            yield endpoint


def _takes_kind(endpoint: Endpoint, event: Event) -> bool:
    """Return whether an endpoint is enabled, lists the event's kind, and is not younger than it.

    Up to _SLACK younger is accepted. The filter is not looked at.
    """
    was_there = ids.made_at(endpoint.id) <= ids.made_at(event.id) + _SLACK
    return endpoint.enabled and event.event in endpoint.events and was_there
