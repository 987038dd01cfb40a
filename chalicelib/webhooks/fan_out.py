"""From a committed event to one delivery for each endpoint that gets its kind.

The stream may bring a record again, late, or out of order, and the function may crash anywhere: a
delivery is created unless it exists, and its first message is queued unless it was handled.
"""

import json
from collections.abc import Container, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, TypedDict

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws, settings, sqs, telemetry, threads
from chalicelib.problems import Busy
from chalicelib.storage import attributes, feed, outbox, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.outbox import Event
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries, messages, store
from chalicelib.webhooks.filter import lets_through
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import Delivery, DeliveryStatus, Endpoint, delivery_id


class _Change(TypedDict):
    NewImage: dict[str, dict[str, str]]
    SequenceNumber: str


class _Record(TypedDict):
    """A record of the outbox's stream."""

    eventName: str
    dynamodb: _Change


class Stream(TypedDict, total=False):
    Records: list[_Record]
    republish: list[str]


# Temporary failures; any other is permanent, caused by the record.
_OURS: Final = (Busy, BotoCoreError, ClientError, sqs.Unsent)
# Clocks differ, so an endpoint also gets events from this long before its registration. An event
# that is republished does not go to endpoints registered later.
_SLACK: Final = timedelta(minutes=1)


def records(event: Stream) -> sqs.Handled:
    """The outbox's stream, `{"Records": […]}`, or by hand `{"republish": ["evt_…", …]}`.

    Returns `{"batchItemFailures": [{"itemIdentifier": …}]}`: the stream continues with that record.
    """
    if "republish" in event:
        for id in event["republish"]:
            _republish(id)
        return sqs.all_but(())
    arrived = [record for record in event["Records"] if record["eventName"] == "INSERT"]
    first: list[Posted] = []
    done = 0
    try:
        endpoints = store.every()
        feed.enter([item for item in map(_readable, arrived) if item])
        for record in arrived:
            first += _made(record, endpoints)
            done += 1
        messages.send_many(first)
    except _OURS as error:
        telemetry.error("fan-out put off", error)
        return _again_from(arrived, done, first)
    return sqs.all_but(())


def _again_from(arrived: Sequence[_Record], done: int, first: Sequence[Posted]) -> sqs.Handled:
    """The record to continue with: the failed one, if the messages of those before can be sent."""
    try:
        if done < len(arrived):
            messages.send_many(first)
        else:
            done = 0
    except _OURS:
        done = 0
    return sqs.all_but([arrived[done]["dynamodb"]["SequenceNumber"]])


def _readable(record: _Record) -> Item | None:
    """The records of the feed: without tests and unreadable ones (see `_made`)."""
    try:
        item = attributes.unpack(record["dynamodb"]["NewImage"])
        list(outbox.events_of(item))
    except Exception:
        return None
    return None if "only" in item else item


def _made(record: _Record, endpoints: Sequence[Endpoint]) -> list[Posted]:
    """The deliveries of a record. An unreadable record's id goes to the dead letters."""
    image = record["dynamodb"]["NewImage"]
    try:
        return _fan_out(attributes.unpack(image), endpoints)
    except _OURS:
        raise
    except Exception as error:
        id = str(image.get("pk", {}).get("S", ""))
        telemetry.error("event was not fanned out", error, eventId=id)
        note = json.dumps({"republish": [id]})
        aws.client("sqs").send_message(QueueUrl=settings.fan_out_dead_queue_url(), MessageBody=note)
        return []


def _republish(id: str) -> None:
    """An event, or all events of a commit; existing deliveries stay."""
    item = table.get(outbox.key(id), table=settings.outbox_table())
    if item is None:
        raise LookupError(f"The outbox has no {id}: it keeps events for 60 days.")
    if "only" not in item:
        feed.enter([item])
    messages.send_many(_fan_out(item, store.every()))


def _fan_out(item: Item, endpoints: Sequence[Endpoint]) -> list[Posted]:
    pairs = [
        (event, endpoint)
        for event in outbox.events_of(item)
        for endpoint in _takers(event, endpoints, item.get("only"))
    ]
    test = item.get("test", False)
    made = threads.together(
        [partial(deliveries.create, event, endpoint.id, test=test) for event, endpoint in pairs]
    )
    made += _made_before(item, endpoints, {one.id for one in made})
    of = {endpoint.id: endpoint for endpoint in endpoints}
    return [
        Posted(Message(delivery.id), failing_lane=of[delivery.endpoint_id].failing)
        for delivery in made
        if delivery.status is DeliveryStatus.PENDING and delivery.attempts == 0
    ]


def _made_before(
    item: Item, endpoints: Sequence[Endpoint], others: Container[str]
) -> list[Delivery]:
    """The deliveries, besides these others, that an earlier run made, perhaps without sending their
    messages, for endpoints that were changed since and no longer take the event."""
    since = ids.made_at(item["pk"]) - _SLACK
    changed = [one for one in endpoints if one.version > 1 and clock.parse(one.updated_at) >= since]
    wanted = (delivery_id(event.id, one.id) for one in changed for event in outbox.events_of(item))
    return deliveries.load(id for id in wanted if id not in others)


def _takers(event: Event, endpoints: Sequence[Endpoint], only: str | None) -> Iterator[Endpoint]:
    """The endpoints that get it. A filtered event makes no delivery and costs nothing."""
    if only is not None:
        yield from (endpoint for endpoint in endpoints if endpoint.id == only)
        return
    for endpoint in endpoints:
        if _takes(endpoint, event) and lets_through(endpoint.filter, event.body):
            yield endpoint


def _takes(endpoint: Endpoint, event: Event) -> bool:
    was_there = ids.made_at(endpoint.id) <= ids.made_at(event.id) + _SLACK
    return endpoint.enabled and event.event in endpoint.events and was_there
