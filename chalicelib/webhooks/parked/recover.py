"""Replays all that an endpoint has given up since a time, at the pace of `redrive.py`.

The endpoint carries how far it has come. A turn that is sent twice is one replay: both carry the
recovery's id.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from chalicelib import clock, ids, table
from chalicelib.conditions import Attr
from chalicelib.problems import NotFound
from chalicelib.table import sk
from chalicelib.webhooks import deliveries, replay, store
from chalicelib.webhooks.model import Endpoint
from chalicelib.webhooks.parked import waking
from chalicelib.webhooks.sending.messages import Message


def count(endpoint_id: str, since: datetime) -> int:
    """How many deliveries gave up since then and were not replayed."""
    return sum(map(len, deliveries.failed(endpoint_id, sk.gte(clock.iso(since)), ("sk",))))


def begin(endpoint_id: str, since: datetime) -> Endpoint:
    """The endpoint with its recovery begun. Raises NotFound, WebhookPaused.

    One that runs already is taken over with all that it had left to do.
    """
    endpoint = replay.receiving(endpoint_id)
    now = clock.now()
    since = min(since, now)
    running = endpoint.recovery
    if running and not running.get("completedAt"):
        since = min(since, clock.parse(running["since"]))
    recovery = {
        "id": ids.ulid(),
        "since": clock.iso(since),
        "startedAt": clock.iso(now),
        "count": count(endpoint_id, since),
        "sent": 0,
    }
    # First, so that a recovery that was written down is carried out, whatever becomes of us.
    waking.soon(endpoint_id)
    try:
        return store.note(endpoint_id, {"recovery": recovery})
    except table.ConditionFailed:
        raise NotFound.of("webhook", endpoint_id) from None  # deleted meanwhile


def page(endpoint: Endpoint, limit: int) -> tuple[list[Message], str | None]:
    """The next turns of the endpoint's recovery, and where those behind them begin: None when
    these are the last."""
    recovery = endpoint.recovery
    if not recovery or recovery.get("completedAt"):
        return [], None
    after = recovery.get("after")
    if limit <= 0:
        return [], after or recovery["since"]
    rows = table.query(
        deliveries.failed_partition(endpoint.id),
        where=sk.between(recovery["since"], f"{recovery['startedAt']}~"),
        after=after,
        limit=limit,
        fields=("sk",),
    )
    failed = [item["sk"].partition("#")[2] for item in rows.items]
    turns = [
        Message(id, replay=recovery["id"], only_failed=True)
        for id in failed
        if not replay.is_too_old(id)
    ]
    return turns, rows.after


def note(endpoint: Endpoint, turns: Sequence[Message], after: str | None) -> None:
    """The turns are on the queue."""
    recovery = endpoint.recovery
    if not recovery or recovery.get("completedAt"):
        return
    changes: dict[str, Any] = {"recovery.sent": recovery["sent"] + len(turns)}
    if after is None:
        changes["recovery.completedAt"] = clock.iso(clock.now())
    elif turns:
        changes["recovery.after"] = after
    try:
        store.note(endpoint.id, changes, Attr("recovery.id").eq(recovery["id"]))
    except table.ConditionFailed:
        return  # another recovery has taken over
