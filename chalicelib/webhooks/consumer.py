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
    """Create the deliveries of these commits, then send their messages.

    It is a generator (`lockstep.Work`): it yields the marks it needs read, and is sent what was
    found. A defect is noted as the `failure` of its commit; temporary errors of DynamoDB and SQS
    are raised.
    """
    endpoints = store.load_all()
    known = (yield Need([committed.mark for committed in batch])).items
    posted: list[Posted] = []
    for committed in batch:
        is_known = committed.has_expired or committed.mark in known
        try:
            posted += _create_deliveries(
                committed, endpoints, is_repeated=is_known and not committed.is_republished
            )
        except TEMPORARY:
            raise
        except Exception as error:  # a defect must not stop the stream
            committed.failure = error
    messages.send(posted)


def _create_deliveries(
    committed: Committed, endpoints: Sequence[Endpoint], *, is_repeated: bool
) -> list[Posted]:
    """Return the messages of its deliveries that have none: new ones, and those that are overdue.

    `is_repeated`: the stream brings what was handled, after its trigger was made anew or a backup
    was restored, which has no messages. It makes no further delivery: a webhook may have been
    paused then.
    """
    pairs = [
        (event, endpoint)
        for event in committed.events
        for endpoint in _find_takers(event, endpoints, committed.item.get("only"))
        if not is_repeated
    ]
    made: list[Delivery] = threads.run_together(
        [
            partial(deliveries.create, event, endpoint.id, test=committed.is_test)
            for event, endpoint in pairs
        ]
    )
    made += _earlier_deliveries(committed, endpoints, {one.id for one in made}, is_repeated)
    failing = {endpoint.id for endpoint in endpoints if endpoint.failing}
    overdue = clock.iso(clock.now() - _SLACK)
    return [
        Posted(
            Message(one.id, one.schedule, one.step),
            failing_lane=one.attempts > 0 or one.endpoint_id in failing,
        )
        for one in made
        if one.step is not None and (one.attempts == 0 or (one.next_attempt_at or "") < overdue)
    ]


def _earlier_deliveries(
    committed: Committed, endpoints: Sequence[Endpoint], others: Container[str], is_repeated: bool
) -> list[Delivery]:
    """Return the deliveries, besides these others, that an earlier run made of these events.

    It made them, perhaps without their messages, for endpoints that were changed since and no
    longer take the event. With `is_repeated`, return those for all endpoints.
    """
    since = ids.made_at(committed.id) - _SLACK
    changed = [
        endpoint
        for endpoint in endpoints
        if is_repeated or (endpoint.version > 1 and clock.parse(endpoint.updated_at) >= since)
    ]
    wanted = (delivery_id(event.id, one.id) for one in changed for event in committed.events)
    return deliveries.load(id for id in wanted if id not in others)


def _find_takers(
    event: Event, endpoints: Sequence[Endpoint], only: str | None
) -> Iterator[Endpoint]:
    """Return the endpoints that get an event.

    A filtered event makes no delivery and costs nothing. `only`: the id of the endpoint that a test
    event is for.
    """
    for endpoint in endpoints:
        if only is not None:
            if endpoint.id == only:
                yield endpoint
        elif _takes_kind(endpoint, event) and lets_through(endpoint.filter, event.body):
            yield endpoint


def _takes_kind(endpoint: Endpoint, event: Event) -> bool:
    was_there = ids.made_at(endpoint.id) <= ids.made_at(event.id) + _SLACK
    return endpoint.enabled and event.event in endpoint.events and was_there
