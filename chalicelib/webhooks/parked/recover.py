"""Replays all deliveries of an endpoint that failed since a time, and sends those that are parked
for a later attempt now, at the pace of `redrive.py`.

The endpoint stores its progress. A message that is sent twice is one replay: both have the
recovery's id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.table import sk
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries, parking, replay, store, waking
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import Endpoint, has_expired


def count(endpoint_id: str, since: datetime) -> int:
    """How many deliveries failed since then and can still be replayed, or are parked."""
    pages = deliveries.failed(endpoint_id, sk.gte(clock.iso(since)), ("sk",))
    return sum(len(_replayable(page)) for page in pages) + parking.count(endpoint_id)


def begin(endpoint_id: str, since: datetime) -> Endpoint:
    """The endpoint with its recovery begun. Raises NotFound, WebhookPaused, Conflict.

    It takes over the rest of a recovery that is already running, also of one that begins at the
    same moment.
    """

    def write(endpoint: Endpoint) -> Endpoint:
        replay.require_enabled(endpoint)
        now = clock.now()
        first = min(since, now)
        if unfinished := running(endpoint):
            first = min(first, clock.parse(unfinished["since"]))
        recovery = {
            "id": ids.ulid(),
            "since": clock.iso(first),
            "startedAt": clock.iso(now),
            "count": count(endpoint_id, first),
            "sent": 0,
        }
        # First, so that a stored recovery is carried out even if this function crashes.
        waking.soon(endpoint_id)
        known, last = Attr("recovery.id"), endpoint.recovery
        unchanged = known.eq(last["id"]) if last else known.not_exists()
        commit = Commit()
        begun, there = {"recovery": recovery}, table.present & unchanged
        commit.update(store.key(endpoint_id), assign=begun, when=there)
        commit.audit(store.audited("recovered", endpoint, endpoint))
        commit.send()
        return replace(endpoint, recovery=recovery)

    return store.tried(write, endpoint_id)


def running(endpoint: Endpoint) -> Mapping[str, Any] | None:
    """Its recovery, until that is completed."""
    last = endpoint.recovery
    return last if last and "completedAt" not in last else None


def following(
    endpoint: Endpoint, recovery: Mapping[str, Any], limit: int
) -> tuple[list[Message], str | None]:
    """What a recovery sends next, and after which place the next part begins; None at the end."""
    rows = table.query(
        deliveries.failed_partition(endpoint.id),
        where=sk.between(recovery["since"], f"{recovery['startedAt']}~"),
        after=recovery.get("after"),
        limit=limit,
        fields=("sk",),
    )
    messages = [
        Message(id, replay=recovery["id"], only_failed=True) for id in _replayable(rows.items)
    ]
    return messages, rows.after


def sent(endpoint: Endpoint, recovery: Mapping[str, Any], number: int, after: str | None) -> None:
    """Stores the progress after so many messages were queued."""
    changes: dict[str, object] = {"recovery.sent": recovery["sent"] + number}
    changes |= {"recovery.after": after} if after else {"recovery.completedAt": clock.now_iso()}
    # Not if another recovery has taken over.
    store.note_if(endpoint.id, changes, Attr("recovery.id").eq(recovery["id"]))


def _replayable(entries: Sequence[Item]) -> list[str]:
    failed = [entry["sk"].partition("#")[2] for entry in entries]
    return [id for id in failed if not has_expired(id)]
