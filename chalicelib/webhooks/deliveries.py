"""Deliveries in the table, and all their changes.

| item | pk | sk |
|---|---|---|
| delivery | `deliveries#<wh_…>#<shard>` | `dlv_…` |
| given up | `failed#<wh_…>` | `<time>#<dlv_…>` |

`step` exists while the schedule runs, `claim` during a POST. The sender with the claim records the
attempt (`attempts.py`) and then settles it; every other change waits for that.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from chalicelib.problems import NotFound
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.outbox import Event
from chalicelib.values import clock, ids
from chalicelib.webhooks.model import (
    Delivery,
    DeliveryStatus,
    delivery_id,
    endpoint_of,
    is_delivery_id,
    read_delivery,
)
from chalicelib.webhooks.sending import attempts
from chalicelib.webhooks.sending.attempts import Attempt
from chalicelib.webhooks.sending.retry import NextStep

SHARDS: Final = 4  # a DynamoDB partition takes 1,000 write units a second, a delivery takes 4
KEPT_SECONDS: Final = 30 * 86_400  # from the last change of one that has ended
# One that has not ended, because its webhook is paused, outlives its event, so that it always ends.
UNFINISHED_SECONDS: Final = attempts.KEPT_SECONDS
# Longer than the sender's function may run (`.chalice/config.json`): no POST outlives its claim.
LEASE: Final = timedelta(seconds=75)

_LONGEST_NAME: Final = 100
_ENDED: Final = ("step", "nextAttemptAt", "claim")


class Taken(Exception):
    """The delivery changed before the claim. `current`: as it is now, None if it is gone."""

    def __init__(self, current: Delivery | None) -> None:
        super().__init__("claimed by another sender")
        self.current = current


def partitions(endpoint_id: str) -> list[str]:
    return [f"deliveries#{endpoint_id}#{shard}" for shard in range(SHARDS)]


def key(id: str) -> Key:
    return partitions(endpoint_of(id))[zlib.crc32(id.encode()) % SHARDS], id


def failed_partition(endpoint_id: str) -> str:
    return f"failed#{endpoint_id}"


def failed(endpoint_id: str, where: Condition, fields: Sequence[str] = ()) -> Iterator[list[Item]]:
    """The FAILED deliveries, the oldest first, in pages: there may be a million."""
    return table.pages(failed_partition(endpoint_id), where=where, fields=fields)


def find(id: str) -> Delivery | None:
    item = table.get(key(id))
    return read_delivery(item) if item else None


def load(wanted: Iterable[str]) -> list[Delivery]:
    """Those that exist, by their ids."""
    return [read_delivery(item) for item in table.batch_get(map(key, wanted)).values()]


def get(id: str) -> Delivery:
    """Raises NotFound, also for what is no id."""
    return NotFound.unless(find(id) if is_delivery_id(id) else None, "delivery", id)


def create(event: Event, endpoint_id: str, *, test: bool) -> Delivery:
    """The delivery of an event to an endpoint, created unless it exists."""
    now = clock.iso(clock.now())
    pk, sk = key(delivery_id(event.id, endpoint_id))
    item: Item = {
        "pk": pk,
        "sk": sk,
        "event": event.event,
        "status": DeliveryStatus.PENDING,
        "generation": 0,
        "step": 0,
        "attempts": 0,
        "nextAttemptAt": now,
        "createdAt": now,
        "updatedAt": now,
        "expiresAt": clock.unix() + UNFINISHED_SECONDS,
        **subject(event),
        **({"test": True} if test else {}),
    }
    try:
        table.put(item, when=table.absent)
    except table.ConditionFailed as failed:
        assert failed.old is not None
        return read_delivery(failed.old)
    return read_delivery(item)


def subject(event: Event) -> Item:
    """What a list of deliveries shows of the event: an order's number, a product's name. For a
    customer only the id: personal data stays in the body, which an erasure covers."""
    data = json.loads(event.body)["data"]
    id = data.get("id") or data.get("productId")
    if not isinstance(id, str):
        return {}
    named = data.get("number") or (None if id.startswith("cus_") else data.get("name"))
    name = named or data.get("productName")
    return {"subject": {"id": id, **({"name": str(name)[:_LONGEST_NAME]} if name else {})}}


# --- Claiming an attempt --------------------------------------------------------------------------


def claim_step(id: str, generation: int, step: int, now: datetime) -> Delivery:
    """Begins the next attempt of the schedule. Raises Taken."""
    its_turn = Attr("generation").eq(generation) & Attr("step").eq(step)
    return _claim(id, _lease(now, replay=False), {}, its_turn)


def claim_replay(delivery: Delivery, replay: str, now: datetime) -> Delivery:
    """Begins an attempt outside the schedule or, if it has ended, a new schedule. Raises Taken.

    `delivery`: as it was read.
    """
    unchanged = Attr("attempts").eq(delivery.attempts) & Attr("status").eq(delivery.status)
    if delivery.step is not None:
        return _claim(delivery.id, _lease(now, replay=True), {"replayed": replay}, unchanged)
    begun = {
        "replayed": replay,
        "generation": delivery.generation + 1,
        "step": 0,
        "status": DeliveryStatus.PENDING,
        "nextAttemptAt": clock.iso(now),
        "expiresAt": clock.unix() + UNFINISHED_SECONDS,
    }
    if delivery.failed_at is None:
        return _claim(delivery.id, _lease(now, replay=False), begun, unchanged)
    commit = Commit()
    commit.update(
        key(delivery.id),
        set={**begun, **_lease(now, replay=False)},
        add={"attempts": 1},
        remove=["failedAt"],
        when=unchanged,  # so it was not claimed either: a claim counts an attempt
        otherwise=lambda old: Taken(read_delivery(old) if old else None),
    )
    commit.delete(_failed_key(delivery.id, delivery.failed_at))
    commit.send()
    begun_now = find(delivery.id)
    assert begun_now is not None
    return begun_now


_unclaimed: Final = Attr("claim").not_exists()


def _lease(now: datetime, *, replay: bool) -> dict[str, Any]:
    return {"claim": {"until": clock.iso(now + LEASE), "replay": replay, "by": ids.ulid()}}


def _claim(id: str, lease: Mapping[str, Any], more: Mapping[str, Any], when: Any) -> Delivery:
    """Raises Taken, but not if the answer to this claim was lost: `by` says whose it is."""
    try:
        item = table.update(
            key(id), set={**more, **lease}, add={"attempts": 1}, when=when & _unclaimed
        )
    except table.ConditionFailed as failed:
        if failed.old is None or failed.old.get("claim") != lease["claim"]:
            raise Taken(read_delivery(failed.old) if failed.old else None) from None
        return read_delivery(failed.old)
    return read_delivery(item)


# --- Settling an attempt --------------------------------------------------------------------------


def delivered(delivery: Delivery, attempt: Attempt, *, first: bool = False) -> bool:
    """The receiver accepted it. `first`: a short first attempt, recorded by this write.

    Like the functions below, returns whether the claim was still ours.
    """
    more = {"first": attempt.fields()} if first else {}
    done = {"status": DeliveryStatus.DELIVERED, **_last_result(attempt), **more}
    return _settle(delivery, done, _ENDED)


def retrying(delivery: Delivery, attempt: Attempt, following: NextStep) -> bool:
    """The next step of the schedule is queued or parked."""
    waits = {
        "status": DeliveryStatus.RETRYING,
        "step": following.step,
        "nextAttemptAt": clock.iso(following.at),
        **_last_result(attempt),
    }
    if following.daily_since:
        waits["dailySince"] = clock.iso(following.daily_since)
    return _settle(delivery, waits, ["claim"], UNFINISHED_SECONDS)


def replay_failed(delivery: Delivery, attempt: Attempt) -> bool:
    """An attempt outside the schedule has failed: the schedule continues unchanged."""
    return _settle(delivery, _last_result(attempt), ["claim"], UNFINISHED_SECONDS)


def given_up(delivery: Delivery, attempt: Attempt) -> bool:
    """The last attempt of the schedule has failed."""
    error = attempt.message or attempt.error
    now = clock.iso(clock.now())
    pk, sk = _failed_key(delivery.id, now)
    entry = {"pk": pk, "sk": sk, "event": delivery.event, "error": error, "expiresAt": _expiry()}
    commit = Commit()
    commit.update(
        key(delivery.id),
        set={
            "status": DeliveryStatus.FAILED,
            "failedAt": now,
            "updatedAt": now,
            "expiresAt": _expiry(),
            **_last_result(attempt),
        },
        remove=_ENDED,
        when=_ours(delivery),
    )
    commit.put(entry)
    return commit.sent()


def _last_result(attempt: Attempt) -> dict[str, Any]:
    last = {"status": attempt.status, "error": attempt.error}
    return {"last": {name: value for name, value in last.items() if value is not None}}


def cancelled(delivery: Delivery) -> bool:
    """Its endpoint was deleted. There must be no claim."""
    return _update(
        delivery.id,
        {"status": DeliveryStatus.CANCELLED},
        _ENDED,
        Attr("attempts").eq(delivery.attempts) & Attr("step").exists() & _unclaimed,
    )


def _ours(delivery: Delivery) -> Any:
    return Attr("attempts").eq(delivery.attempts) & Attr("claim").exists()


def _settle(
    delivery: Delivery, changes: Mapping[str, Any], removed: Sequence[str], kept: int = KEPT_SECONDS
) -> bool:
    return _update(delivery.id, changes, removed, _ours(delivery), kept)


def _update(
    id: str,
    changes: Mapping[str, Any],
    removed: Sequence[str],
    when: Any,
    kept_seconds: int = KEPT_SECONDS,
) -> bool:
    expiry = clock.unix() + kept_seconds
    kept = {**changes, "updatedAt": clock.iso(clock.now()), "expiresAt": expiry}
    try:
        table.update(key(id), set=kept, remove=removed, when=when)
    except table.ConditionFailed:
        return False
    return True


def _failed_key(id: str, failed_at: str) -> Key:
    return failed_partition(endpoint_of(id)), f"{failed_at}#{id}"


def _expiry() -> int:
    return clock.unix() + KEPT_SECONDS
