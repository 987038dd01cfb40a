"""From a committed event to one delivery for each endpoint that gets its kind.

The stream may bring a record again, late, or out of order, and the function may crash anywhere: a
delivery is created unless it exists, and its first message is queued unless it was handled.
"""

import json
import time
from collections.abc import Container, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, Literal, TypedDict

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws, settings, sqs, telemetry, threads
from chalicelib.audit import store as audit
from chalicelib.facets import store as facets
from chalicelib.ledger import store as ledger
from chalicelib.problems import Busy
from chalicelib.storage import attributes, feed, outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.outbox import Event
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries, messages, store
from chalicelib.webhooks.filter import lets_through
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import Delivery, Endpoint, delivery_id


class _Change(TypedDict):
    NewImage: dict[str, dict[str, str]]
    SequenceNumber: str


class _Record(TypedDict):
    """A record of the outbox's stream."""

    eventName: str
    dynamodb: _Change


class Stream(TypedDict, total=False):
    Records: list[_Record]
    republish: list[str] | Literal["lost"]


# Temporary failures; any other is permanent, caused by the record.
_OURS: Final = (Busy, BotoCoreError, ClientError, sqs.Unsent)
# Clocks differ, so an endpoint also gets events from this long before its registration. An event
# that is republished does not go to endpoints registered later.
_SLACK: Final = timedelta(minutes=1)

_LOST: Final = ("lost-events", "place")  # where the next run looks for them
_KEPT_BY_STREAM: Final = timedelta(hours=25)  # and an hour for an attempt that began before
_BETWEEN: Final = timedelta(hours=20)
_LOOKING_SECONDS: Final = 120


def records(event: Stream) -> sqs.Handled:
    """The outbox's stream, `{"Records": […]}`; by hand `{"republish": ["evt_…", …]}`; each hour
    `{"republish": "lost"}`.

    Returns `{"batchItemFailures": [{"itemIdentifier": …}]}`: the stream continues with that record.
    """
    if "republish" in event:
        _republish(event["republish"])
        return sqs.all_but(())
    arrived = [record for record in event["Records"] if record["eventName"] == "INSERT"]
    items = [_readable(record) for record in arrived]
    first: list[Posted] = []
    new = set[str]()
    done = 0
    try:
        endpoints = store.every()
        new = {item["pk"] for item in feed.missing(filter(None, items))}
        for record, item in zip(arrived, items, strict=True):
            first += _made(record, item, endpoints, new)
            done += 1
    except _OURS as error:
        telemetry.error("fan-out put off", error)
    try:
        messages.send(first)
        made = {item["pk"]: item for item in items[:done] if item}
        _enter([item for id, item in made.items() if id in new])
    except _OURS as error:
        telemetry.error("fan-out put off", error)
        done = 0
    return sqs.all_but(record["dynamodb"]["SequenceNumber"] for record in arrived[done : done + 1])


def _enter(items: Sequence[Item]) -> None:
    real = [item for item in items if "only" not in item]
    ledger.enter(real)
    facets.enter(real)
    audit.enter(items)
    # Last: what has its entry needs nothing more (`_republish_lost`).
    feed.enter(items)


def _readable(record: _Record) -> Item | None:
    try:
        item = attributes.unpack(record["dynamodb"]["NewImage"])
    except Exception:
        return None
    return item if _is_readable(item) else None


def _is_readable(item: Item) -> bool:
    """Otherwise it is in the dead letters (see `_made`)."""
    try:
        list(outbox.events_of(item))
    except Exception:
        return False
    return True


def _made(
    record: _Record, item: Item | None, endpoints: Sequence[Endpoint], new: Container[str]
) -> list[Posted]:
    """The deliveries of a record with this item; `new`: the ids of those that were not fanned out.
    An unreadable record has no item, and its id goes to the dead letters."""
    image = record["dynamodb"]["NewImage"]
    try:
        if item is None:
            return _fan_out(attributes.unpack(image), endpoints)  # raises what is logged
        return _fan_out(item, endpoints, again=item["pk"] not in new)
    except _OURS:
        raise
    except Exception as error:
        id = str(image.get("pk", {}).get("S", ""))
        telemetry.error("event was not fanned out", error, eventId=id)
        note = json.dumps({"republish": [id]})
        aws.client("sqs").send_message(QueueUrl=settings.fan_out_dead_queue_url(), MessageBody=note)
        return []


def _republish(those: list[str] | Literal["lost"]) -> None:
    """Events, or all events of commits; existing deliveries stay."""
    if those == "lost":
        _republish_lost()
        return
    for id in those:
        item = table.get(outbox.key(id), table=settings.outbox_table())
        if item is None:
            raise LookupError(f"The outbox has no {id}: it keeps events for 30 days.")
        _publish(item, store.every())


def _publish(item: Item, endpoints: Sequence[Endpoint]) -> None:
    messages.send(_fan_out(item, endpoints))
    _enter([item])


def _republish_lost() -> None:
    """Publishes what the stream no longer has and the feed never got. Reads the outbox for some
    minutes; the next run continues there. It begins once a day."""
    last = table.get(_LOST) or {"after": None, "ended": ""}
    after: Key | None = tuple(last["after"]) if last["after"] else None
    if after is None and last["ended"] > clock.iso(clock.now() - _BETWEEN):
        return
    until = time.monotonic() + _LOOKING_SECONDS
    endpoints = store.every()
    while time.monotonic() < until:
        items, after = table.scanned(settings.outbox_table(), after)
        for item in _lost(items):
            telemetry.warning("event was lost and is published again", eventId=item["pk"])
            _publish(item, endpoints)
        place = {"after": after, "ended": clock.now_iso()}
        table.put({"pk": _LOST[0], "sk": _LOST[1], **place})
        if after is None:
            return


def _lost(items: Sequence[Item]) -> list[Item]:
    before = clock.now() - _KEPT_BY_STREAM
    old = [item for item in items if _is_readable(item) and ids.made_at(item["pk"]) < before]
    return feed.missing(old)


def _fan_out(item: Item, endpoints: Sequence[Endpoint], *, again: bool = False) -> list[Posted]:
    """The messages of its deliveries that have none: new ones, and those that are overdue.

    `again`: the stream brings a record that was fanned out, after its trigger was made anew or a
    backup was restored, which has no messages. It makes no further delivery: a webhook may have
    been paused then."""
    pairs = [
        (event, endpoint)
        for event in outbox.events_of(item)
        for endpoint in _takers(event, endpoints, item.get("only"))
        if not again
    ]
    test = "only" in item
    made = threads.together(
        [partial(deliveries.create, event, endpoint.id, test=test) for event, endpoint in pairs]
    )
    made += _made_before(item, endpoints, {one.id for one in made}, again)
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


def _made_before(
    item: Item, endpoints: Sequence[Endpoint], others: Container[str], again: bool
) -> list[Delivery]:
    """The deliveries, besides these others, that an earlier run made, perhaps without sending their
    messages, for endpoints that were changed since and no longer take the event; or `again`."""
    since = ids.made_at(item["pk"]) - _SLACK
    asked = [
        one
        for one in endpoints
        if again or (one.version > 1 and clock.parse(one.updated_at) >= since)
    ]
    wanted = (delivery_id(event.id, one.id) for one in asked for event in outbox.events_of(item))
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
