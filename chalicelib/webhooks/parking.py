"""Messages that are due later than a queue can hold them, or when their endpoint is enabled again.

`due#<wh_…>` / `<time>#<dlv_…>#<attempt>`: the message, which `redrive.py` puts back on the queue.
The attempt is a replay, or `<schedule>.<step>`: a late duplicate must not replace the next one.
"""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.table import sk
from chalicelib.values import clock
from chalicelib.webhooks import executions, messages
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import delivery_expiry, endpoint_of


def park(message: Message, due: datetime) -> None:
    """Park a message until it is due, and schedule the redrive that sends it then.

    The entry is written before the execution is started, so that it is found.
    """
    _put(message, due)
    executions.schedule_redrive(endpoint_of(message.delivery), due)


def hold(message: Message) -> None:
    """Park a message, as due now, until its endpoint is enabled; no redrive is scheduled here.

    Call this before reading again whether the endpoint is enabled, so that one of both sees the
    other.
    """
    _put(message, clock.now())


def find_due(endpoint_id: str, until: datetime, limit: int) -> list[tuple[Key, Message]]:
    """Read up to `limit` parked messages that are due by `until`: (key of the entry, message).

    The earliest due is first. The entries stay.
    """
    before = sk.lt(f"{clock.iso(until)}~")
    rows = table.query(_partition(endpoint_id), where=before, limit=limit)
    return [((item["pk"], item["sk"]), messages.parse(item["message"])) for item in rows.items]


def list_deliveries(endpoint_id: str, after: str, limit: int) -> tuple[list[str], str | None]:
    """Read up to `limit` parked messages.

    Return the ids of their deliveries, each once, and a cursor. The first due are first; they stay
    parked. `after`: the cursor of this page; "": the first page. The cursor of the next is None at
    the end.
    """
    rows = table.query(_partition(endpoint_id), after=after or None, limit=limit, fields=("sk",))
    ids = (item["sk"].split("#")[1] for item in rows.items)
    return list(dict.fromkeys(ids)), rows.after


def count(endpoint_id: str) -> int:
    """Return how many messages are parked for an endpoint: all are read."""
    pages = table.pages(_partition(endpoint_id), fields=("sk",))
    return sum(map(len, pages))


def delete(entries: Sequence[Key]) -> None:
    """Delete the entries of parked messages; the messages are on the queue by then."""
    dynamodb.wait_for_results([table.delete.call(entry) for entry in entries])


def _put(message: Message, due: datetime) -> None:
    """Write the entry of a parked message, in place of one of this time, delivery and attempt."""
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
    """Return the partition key of an endpoint's parked messages."""
    return f"due#{endpoint_id}"
