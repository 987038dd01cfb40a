"""The function that reads the outbox's stream, and runs the consumers of what it brings.

The stream may bring a record again, late, or out of order, and the function may crash anywhere.
Each consumer detects what it has done, so a batch that failed comes again as a whole.
"""

import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Literal, TypedDict

from chalicelib import aws, settings, sqs, telemetry
from chalicelib.audit import consumer as audit
from chalicelib.events import consumer as feed
from chalicelib.facets import consumer as values_in_use
from chalicelib.ledger import consumer as ledger
from chalicelib.storage import attributes, lockstep, outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.lockstep import TEMPORARY, Work
from chalicelib.storage.outbox import Committed
from chalicelib.values import clock, ids
from chalicelib.webhooks import consumer as deliveries


class _Change(TypedDict):
    NewImage: dict[str, dict[str, str]]
    SequenceNumber: str


class _Record(TypedDict):
    """A record of the outbox's stream."""

    eventName: str
    dynamodb: _Change


class Stream(TypedDict, total=False):
    """What the function gets: records, or what an operator or the hourly rule asks for."""

    Records: list[_Record]
    republish: list[str] | Literal["lost"]


# They share their reads and transactions. The feed's entry says that all have handled a commit.
CONSUMERS: Final[Sequence[Callable[[Sequence[Committed]], Work]]] = (
    deliveries.consume,
    ledger.consume,
    values_in_use.consume,
    audit.consume,
    feed.consume,
)

_LOST: Final = ("lost-events", "place")  # where the next search for lost events begins
_KEPT_BY_STREAM: Final = timedelta(hours=25)  # and an hour for an attempt that began before
_BETWEEN: Final = timedelta(hours=20)  # two searches
_SEARCH_SECONDS: Final = 120


def handle(event: Stream) -> sqs.Handled:
    """Handle a batch of the outbox's stream, `{"Records": […]}`.

    By hand `{"republish": ["evt_…", …]}`; each hour `{"republish": "lost"}`.

    Return `{"batchItemFailures": [{"itemIdentifier": …}]}`: the stream continues with that record.
    """
    if "republish" in event:
        if event["republish"] == "lost":
            _republish_lost()
        else:
            _consume([_find_commit(id) for id in event["republish"]])
        return sqs.all_but(())
    new = [record["dynamodb"] for record in event["Records"] if record["eventName"] == "INSERT"]
    try:
        _consume(_read_commits(change["NewImage"] for change in new))
    except (*TEMPORARY, sqs.Unsent) as error:
        telemetry.error("fan-out put off", error)
        return sqs.all_but(change["SequenceNumber"] for change in new[:1])
    return sqs.all_but(())


def _consume(batch: Sequence[Committed]) -> None:
    """Run all consumers. What they cannot handle becomes a dead letter."""
    # The small objects of a batch have no cycles. The collector would scan them again and again.
    gc.disable()
    try:
        lockstep.run(consume(batch) for consume in CONSUMERS)
    finally:
        gc.enable()
    for committed in batch:
        if committed.failure:
            _put_aside(committed.id, committed.failure)


def _read_commits(images: Iterable[Item]) -> list[Committed]:
    """Return the commits of stream records, each once. An unreadable one becomes a dead letter."""
    commits: dict[str, Committed] = {}
    for image in images:
        try:
            committed = Committed(attributes.unpack(image))
        except Exception as error:
            _put_aside(str(image.get("pk", {}).get("S", "")), error)
        else:
            commits[committed.id] = committed
    return list(commits.values())


def _put_aside(id: str, error: Exception) -> None:
    """Send the id of a commit to the dead letters, from which it can be republished."""
    telemetry.error("event was not fanned out", error, eventId=id)
    note = json.dumps({"republish": [id]})
    aws.client("sqs").send_message(QueueUrl=settings.fan_out_dead_queue_url(), MessageBody=note)


# --- Publishing again -----------------------------------------------------------------------------


def _find_commit(id: str) -> Committed:
    """Return the commit of an event, or of an outbox item, with this id. Raises LookupError."""
    item = table.get(outbox.key(id), table=settings.outbox_table())
    if item is None:
        raise LookupError(f"The outbox has no {id}: it keeps events for 30 days.")
    return Committed(item, is_republished=True)


def _republish_lost() -> None:
    """Publish the events that the stream no longer has and the feed never got.

    This reads the outbox for some minutes; the next run continues there. It begins once a day.
    """
    last = table.get(_LOST) or {"after": None, "ended": ""}
    after: Key | None = tuple(last["after"]) if last["after"] else None
    if after is None and last["ended"] > clock.iso(clock.now() - _BETWEEN):
        return
    until = time.monotonic() + _SEARCH_SECONDS
    while time.monotonic() < until:
        items, after = table.scan(settings.outbox_table(), after)
        lost = find_unhandled(items, made_before=clock.now() - _KEPT_BY_STREAM)
        for committed in lost:
            telemetry.warning("event was lost and is published again", eventId=committed.id)
        _consume(lost)
        place = {"after": after, "ended": clock.now_iso()}
        table.put({"pk": _LOST[0], "sk": _LOST[1], **place})
        if after is None:
            return


def find_unhandled(items: Iterable[Item], *, made_before: datetime) -> list[Committed]:
    """Return the commits of these outbox items, made before a time, that are not in the feed.

    An unreadable item is left out: it is in the dead letters.
    """
    commits = list[Committed]()
    for item in items:
        if ids.made_at(item["pk"]) < made_before:
            with suppress(Exception):
                commits.append(Committed(item))
    current = [committed for committed in commits if not committed.has_expired]
    known = table.batch_get(committed.feed_mark_key for committed in current)
    return [committed for committed in current if committed.feed_mark_key not in known]
