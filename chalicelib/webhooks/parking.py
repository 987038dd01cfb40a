"""Messages that are due later than a queue can hold them, or when their endpoint is enabled again.

`due#<wh_…>` / `<time>#<dlv_…>#<attempt>`: the message, which `parked/redrive.py` puts back on
the queue. The attempt is a replay, or `<schedule>.<step>`: a late duplicate must not replace the
next one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from chalicelib import settings
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.table import sk
from chalicelib.values import clock
from chalicelib.webhooks import messages, retry, waking
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import delivery_expiry, endpoint_of

_LAST: Final = "~"  # sorts after every time


def park(message: Message, due: datetime) -> None:
    """Until it is due. The entry is written before the execution is started, so that it is
    found."""
    _put(message, due)
    waking.at(endpoint_of(message.delivery), due)


def hold(message: Message) -> None:
    """Until its endpoint is enabled, which redrives it. Call it before reading again whether the
    endpoint is enabled, so that one of both sees the other."""
    _put(message, clock.now())


def due(
    endpoint_id: str, until: datetime | None, limit: int, after: str
) -> list[tuple[Key, Message]]:
    """The messages due by then, the first due first; without a time, all that are parked. `after`:
    only those that follow this sort key."""
    before = sk.lt(f"{clock.iso(until)}~" if until else _LAST)
    rows = table.query(_partition(endpoint_id), where=before, after=after or None, limit=limit)
    return [((item["pk"], item["sk"]), messages.parse(item["message"])) for item in rows.items]


def count(endpoint_id: str) -> int:
    """How many messages are parked."""
    pages = table.pages(_partition(endpoint_id), fields=("sk",))
    return sum(map(len, pages))


def wake(endpoint_id: str) -> None:
    """Starts the executions of all that is parked again, after an emulator lost them when it
    stopped."""
    now, scale = clock.now(), settings.webhook_schedule_scale()
    pages = table.pages(_partition(endpoint_id), fields=("sk",))
    dues = {item["sk"].partition("#")[0] for page in pages for item in page}
    for slot in {retry.slot(endpoint_id, clock.parse(due), now, scale) for due in dues}:
        waking.again(endpoint_id, slot)


def forget(entries: Sequence[Key]) -> None:
    """Deletes entries whose messages are on the queue."""
    dynamodb.wait_for_results([table.delete.call(entry) for entry in entries])


def _put(message: Message, due: datetime) -> None:
    attempt = message.replay or f"{message.schedule}.{message.step}"
    table.put(
        {
            "pk": _partition(endpoint_of(message.delivery)),
            "sk": f"{clock.iso(due)}#{message.delivery}#{attempt}",
            "message": message.text(),
            "expiresAt": delivery_expiry(message.delivery),
        }
    )


def _partition(endpoint_id: str) -> str:
    return f"due#{endpoint_id}"
