"""Recoveries: the replay of an endpoint's deliveries that did not arrive.

All that FAILED since a time, and those that are RETRYING, are replayed, at the pace of
`redrive.py`.

A person begins one, or an endpoint that answers again. The endpoint stores its progress: `after`,
the place among the failed deliveries; then `waiting`, the place among the parked messages. These
stay parked: a replay that succeeds ends their schedule, one that fails changes nothing. A message
that is sent twice is one replay: both have the recovery's id.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.storage import table
from chalicelib.storage.attributes import Fields, Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.table import sk
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries, executions, parking, replay, store
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import Endpoint, has_expired

Recovery = Fields


@dataclass(frozen=True)
class RecoveryPage:
    """What a recovery sends next, and the attributes of its progress after that."""

    messages: list[Message]
    progress: dict[str, str]

    @property
    def is_last(self) -> bool:
        """Whether the recovery is complete after this page."""
        return "completedAt" in self.progress


def count(endpoint_id: str, since: datetime) -> int:
    """Return how many deliveries failed since a time and have not expired, plus parked messages.

    All are read. Parked messages count whenever they were parked.
    """
    pages = deliveries.list_failed(endpoint_id, sk.gte(clock.iso(since)), ("sk",))
    return sum(len(_replayable(page)) for page in pages) + parking.count(endpoint_id)


def begin(endpoint_id: str, since: datetime) -> Endpoint:
    """Begin a recovery of what failed since a time, and is parked; return the endpoint with it.

    First a redrive is scheduled, which sends its messages; then the recovery is stored, with an
    audit entry. It replaces a recovery that is still running, also one that begins at the same
    moment, and then reaches back as far as that. A time in the future is now. Raises NotFound,
    WebhookPaused, Conflict.
    """

    def write_recovery(endpoint: Endpoint) -> Endpoint:
        """Count what it sends, schedule a redrive, then write the recovery, with an audit entry.

        Return the endpoint with it. A recovery that is still running is replaced, and its `since`
        taken if that is earlier. Raises WebhookPaused; ConditionFailed if the endpoint was deleted,
        or has another recovery.
        """
        replay.require_enabled(endpoint)
        first = min(since, clock.now())
        if unfinished := running_recovery(endpoint):
            first = min(first, clock.parse(unfinished["since"]))
        recovery = _new_recovery(first, count(endpoint_id, first))
        # First, so that a stored recovery is carried out even if this function crashes.
        executions.schedule_redrive_soon(endpoint_id)
        commit = Commit()
        unchanged = table.present & _has_same_recovery(endpoint)
        commit.update(store.key(endpoint_id), assign={"recovery": recovery}, when=unchanged)
        commit.audit(store.audit_entry("recovered", endpoint, endpoint))
        commit.send()
        return replace(endpoint, recovery=recovery)

    return store.write_current(write_recovery, endpoint_id)


def begin_by_itself(endpoint: Endpoint, due: str) -> Endpoint:
    """Store a new recovery of an endpoint's parked messages; return the endpoint with it.

    It is marked `byItself`, and leaves FAILED deliveries alone. The caller sends its messages;
    there is no audit entry. None is begun, and the endpoint is returned as it is, if it fails
    again, if a recovery is running or was begun since `due`, the time of the execution, or if
    nothing is parked.
    """
    last = endpoint.recovery
    if endpoint.failing or running_recovery(endpoint) or (last and last["startedAt"] >= due):
        return endpoint
    if not (waiting := parking.count(endpoint.id)):
        return endpoint
    recovery = _new_recovery(clock.now(), waiting) | {"waiting": "", "byItself": True}
    begun = store.note_if(endpoint.id, {"recovery": recovery}, _has_same_recovery(endpoint))
    return replace(endpoint, recovery=recovery) if begun else endpoint


def _new_recovery(since: datetime, count: int) -> dict[str, object]:
    """Return the attribute `recovery` of one that begins now: {id, since, startedAt, count, sent}.

    `count`: of its deliveries.
    """
    times = {"since": clock.iso(since), "startedAt": clock.now_iso()}
    return {"id": ids.ulid(), **times, "count": count, "sent": 0}


def _has_same_recovery(endpoint: Endpoint) -> Condition:
    """Return the condition that the endpoint still has the recovery it was read with, or none."""
    known, last = Attr("recovery.id"), endpoint.recovery
    return known.eq(last["id"]) if last else known.not_exists()


def running_recovery(endpoint: Endpoint) -> Recovery | None:
    """Return the recovery of an endpoint that is not complete; None if it has none."""
    last = endpoint.recovery
    return last if last and "completedAt" not in last else None


def next_page(endpoint: Endpoint, recovery: Recovery, limit: int) -> RecoveryPage:
    """Read the next messages of a recovery, up to `limit`; return them and its progress after them.

    First come the deliveries that failed before it began, page by page in the order in which they
    failed, without those that have expired; then those with parked messages, which stay parked.
    Each page is sorted by id; its messages are replays `only_failed`. The progress is one
    attribute: `after` or `waiting` (a cursor), or `completedAt` at the end. A page may be empty and
    not the last. Nothing is sent or stored. A recovery that began by itself ends, without messages,
    when the endpoint fails again.
    """
    if recovery.get("byItself") and endpoint.failing:
        return RecoveryPage([], {"completedAt": clock.now_iso()})
    if "waiting" in recovery:
        ids_found, after = parking.list_deliveries(endpoint.id, recovery["waiting"], limit)
        progress = {"waiting": after} if after else {"completedAt": clock.now_iso()}
    else:
        rows = table.query(
            deliveries.failed_partition(endpoint.id),
            where=sk.between(recovery["since"], f"{recovery['startedAt']}~"),
            after=recovery.get("after"),
            limit=limit,
            fields=("sk",),
        )
        ids_found = _replayable(rows.items)
        progress = {"after": rows.after} if rows.after else {"waiting": ""}
    messages = [Message(id, replay=recovery["id"], only_failed=True) for id in sorted(ids_found)]
    return RecoveryPage(messages, progress)


def note_progress(endpoint: Endpoint, recovery: Recovery, page: RecoveryPage) -> None:
    """Store a recovery's progress, and how many messages were sent, after those of a page.

    Nothing is stored if another recovery has taken over.
    """
    changes = {f"recovery.{name}": value for name, value in page.progress.items()}
    sent = {"recovery.sent": recovery["sent"] + len(page.messages)}
    store.note_if(endpoint.id, {**changes, **sent}, Attr("recovery.id").eq(recovery["id"]))


def _replayable(entries: Sequence[Item]) -> list[str]:
    """Return the ids of the deliveries of these failed entries that have not expired, in order."""
    failed = [entry["sk"].partition("#")[2] for entry in entries]
    return [id for id in failed if not has_expired(id)]
