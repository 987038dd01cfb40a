"""The life of a delivery: its states, and each change of them, in the order in which they happen.

```
create ──► PENDING ──┬──► RETRYING ──┬──► DELIVERED    a 2xx arrived
              ▲      │     ▲    │    ├──► FAILED       the last step failed, or the event is gone
              │      │     └────┘    └──► CANCELLED    its endpoint was deleted
              │      └──► (DELIVERED, FAILED, CANCELLED)
              └── a replay of one that is DELIVERED or FAILED begins a new schedule
```

One attempt: a message arrives → `begin_attempt` judges it and claims the delivery → the sender
posts → `finish_attempt` records the attempt, queues or parks the message of the next step, and
stores the new state.
A sender may stop anywhere. Its claim stays, so the message of this step or of the next finds it,
and settles the attempt by its record, or records that it was interrupted.

| item | pk | sk |
|---|---|---|
| delivery | `deliveries#<wh_…>#<shard>` | `dlv_…` |
| failed delivery | `failed#<wh_…>` | `<time>#<dlv_…>` |
| attempt | `dlv_…` | `attempt#<n>`, from 1 without gaps |

`step` exists while the schedule runs, `claim` during an attempt.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from itertools import chain, islice
from typing import Final

from chalicelib import settings
from chalicelib.problems import NotFound
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.outbox import Event
from chalicelib.values import clock, ids
from chalicelib.webhooks import attempts, health, messages, parking, retry
from chalicelib.webhooks.attempts import Attempt
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import (
    MOST_ATTEMPTS,
    Delivery,
    DeliveryStatus,
    Endpoint,
    delivery_expiry,
    delivery_id,
    endpoint_of,
    has_expired,
    is_delivery_id,
    read_delivery,
)
from chalicelib.webhooks.retry import NextStep

SHARDS: Final = 4  # a DynamoDB partition takes 1,000 write units a second, a delivery takes 4
# Longer than the sender's function may run (`.chalice/config.json`): no POST outlives its claim.
LEASE: Final = timedelta(seconds=75)

_LONGEST_NAME: Final = 100
_ENDED: Final = ("step", "nextAttemptAt", "claim")
_RECOVERED: Final = {DeliveryStatus.FAILED, DeliveryStatus.RETRYING}


class NotNow(Exception):
    """Another sender posts the delivery, or has just changed it: the message must come again."""


class Taken(Exception):
    """The delivery changed before the claim. `current`: as it is now, None if it is gone."""

    def __init__(self, stored: Item | None) -> None:
        self.current = read_delivery(stored) if stored else None


# --- Reading --------------------------------------------------------------------------------------


def partitions(endpoint_id: str) -> list[str]:
    """Return the partition keys of an endpoint's deliveries, one for each of SHARDS shards."""
    return [f"deliveries#{endpoint_id}#{shard}" for shard in range(SHARDS)]


def key(id: str) -> Key:
    """Return the key of a delivery: (one of its endpoint's partitions, by a hash of the id; id)."""
    return partitions(endpoint_of(id))[zlib.crc32(id.encode()) % SHARDS], id


def failed_partition(endpoint_id: str) -> str:
    """Return the partition key of the entries of an endpoint's failed deliveries."""
    return f"failed#{endpoint_id}"


def list_failed(
    endpoint_id: str, where: Condition, fields: Sequence[str] = ()
) -> Iterator[list[Item]]:
    """Read the entries of an endpoint's FAILED deliveries; yield them in pages, first failed first.

    There may be a million. `where`: a condition on `sk`, `<time>#<dlv_…>`. `fields`: only these;
    none: all.
    """
    return table.pages(failed_partition(endpoint_id), where=where, fields=fields)


def find(id: str) -> Delivery | None:
    """Read the delivery with this id; return None if it is not there."""
    item = table.get(key(id))
    return read_delivery(item) if item else None


def load(wanted: Iterable[str]) -> list[Delivery]:
    """Read the deliveries with these ids; return those that exist, in no particular order."""
    return [read_delivery(item) for item in table.batch_get(map(key, wanted)).values()]


def get(id: str) -> Delivery:
    """Read the delivery with this id. Raises NotFound if there is none.

    Without a read, also for what is no delivery's id, or one that has expired.
    """
    may_be = is_delivery_id(id) and not has_expired(id)
    return NotFound.unless(find(id) if may_be else None, "delivery", id)


def load_attempts(delivery: Delivery) -> list[Attempt]:
    """Read a delivery's ended attempts; return the newest MOST_ATTEMPTS of them, oldest first.

    The first may be in the delivery itself (`first`).
    """
    where = table.sk.begins_with("attempt#")
    pages = table.pages(delivery.id, where=where, forward=False, limit=MOST_ATTEMPTS)
    first = [delivery.first] if delivery.first else []
    newest = islice(chain(chain.from_iterable(pages), first), MOST_ATTEMPTS)
    return [attempts.read(item) for item in reversed([*newest])]


# --- A new delivery -------------------------------------------------------------------------------


def create(event: Event, endpoint_id: str, *, test: bool) -> Delivery:
    """Write a PENDING delivery of an event to an endpoint unless it exists; return what is stored.

    One that exists is returned as it is now, in whatever state. `test`: it is of a test event. No
    message is sent.
    """
    now = clock.now_iso()
    pk, sk = key(delivery_id(event.id, endpoint_id))
    item: Item = {
        "pk": pk,
        "sk": sk,
        "event": event.event,
        "status": DeliveryStatus.PENDING,
        "schedule": 0,
        "step": 0,
        "attempts": 0,
        "nextAttemptAt": now,
        "createdAt": now,
        "updatedAt": now,
        "expiresAt": delivery_expiry(sk),
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
    """Return the attribute `subject` of an event's delivery: `{"subject": {id, name}}`, or {}.

    `name` is an order's number, also for its payments and edits, or a product's name; it may be
    absent. A customer has none: personal data stays in the body, which an erasure covers. {} if the
    data has no id.
    """
    data = event.data
    id = data.get("orderId") or data.get("id") or data.get("productId")
    if not isinstance(id, str):
        return {}
    number = data.get("orderNumber") or data.get("number")
    named = number or (None if id.startswith("cus_") else data.get("name"))
    name = named or data.get("productName")
    return {"subject": {"id": id, **({"name": str(name)[:_LONGEST_NAME]} if name else {})}}


# --- An attempt begins ----------------------------------------------------------------------------


class Verdict(Enum):
    """What a message means for a delivery in its current state."""

    CLAIM = auto()
    """It is due."""
    DROP = auto()
    """The attempt was made, or will never be."""
    WAIT = auto()
    """Another sender is posting. Come back when its claim has expired."""
    INTERRUPTED = auto()
    """Another sender stopped: its attempt must be settled first."""


def begin_attempt(message: Message, endpoint: Endpoint) -> Delivery | None:
    """Claim the delivery of a message for an attempt; return it, None if there is nothing to do.

    The claim is a write that counts the attempt. Raises NotNow if another sender has it, or it
    changed meanwhile. The attempt of a sender that has stopped is settled first
    (`_settle_expired_claim`); then NotNow is raised, too: the message comes again.
    """
    now = clock.now()
    try:
        if not message.replay:
            # Nearly always it is due, so it is claimed without a read.
            return claim_step(message, now)
        seen = find(message.delivery)
        if seen and judge(message, seen, now) is Verdict.CLAIM:
            return claim_replay(seen, message.replay, now)
    except Taken as taken:
        seen = taken.current
    verdict = judge(message, seen, now)
    if seen is None or verdict is Verdict.DROP:
        return None
    if verdict is Verdict.INTERRUPTED:
        _settle_expired_claim(seen, endpoint)
    raise NotNow


def judge(message: Message, delivery: Delivery | None, now: datetime) -> Verdict:
    """Return what a message means for its delivery, by the state that was read. Nothing is written.

    No delivery, or an attempt that was made or will never be: DROP. A claim: WAIT, or INTERRUPTED
    if it has run out. Without a claim: the next step is a CLAIM, any other a DROP; a replay is a
    CLAIM, unless it is `only_failed` and the delivery is neither FAILED nor RETRYING. When a step
    is due does not matter: its message comes then. A duplicate message is not dropped during its
    attempt: if the sender crashes, the duplicate detects it.
    """
    if delivery is None or _is_over(message, delivery):
        return Verdict.DROP
    if delivery.claim:
        return Verdict.WAIT if now < delivery.claim.until else Verdict.INTERRUPTED
    if not message.replay:
        # A future step was queued by a sender that crashed before it stored that; the lines above
        # found its claim. Without a claim, nothing is due.
        is_next = (delivery.schedule, delivery.step) == (message.schedule, message.step)
        return Verdict.CLAIM if is_next else Verdict.DROP
    is_needless = message.only_failed and delivery.status not in _RECOVERED
    return Verdict.DROP if is_needless else Verdict.CLAIM


def _is_over(message: Message, delivery: Delivery) -> bool:
    """Return whether the attempt of a message was made, or will never be.

    That is a step before the next one, any step of an ended schedule or an earlier one, or a replay
    that was begun and has no claim now.
    """
    if message.replay:
        return message.replay <= delivery.replayed and not delivery.claim
    if message.schedule != delivery.schedule:
        return message.schedule < delivery.schedule
    return delivery.step is None or message.step < delivery.step


def claim_step(message: Message, now: datetime) -> Delivery:
    """Claim a delivery for the step of a message; return it. Raises Taken if that is not next.

    It is one write, without a read before, and counts the attempt. Taken is raised also if somebody
    has a claim.
    """
    its_turn = Attr("schedule").eq(message.schedule) & Attr("step").eq(message.step)
    return _claim(message.delivery, _lease(now, replay=False), {}, its_turn)


def claim_replay(delivery: Delivery, replay: str, now: datetime) -> Delivery:
    """Claim a delivery for a replay, and return it. Raises Taken if it changed since it was read.

    If its schedule has ended, a new one begins: the status is PENDING again, and in the same commit
    its entry among the failed deliveries is deleted. Otherwise the attempt is outside the schedule.
    Either way the attempt is counted, and `replay` noted as begun.
    """
    unchanged = Attr("attempts").eq(delivery.attempts) & Attr("status").eq(delivery.status)
    if delivery.step is not None:
        return _claim(delivery.id, _lease(now, replay=True), {"replayed": replay}, unchanged)
    begun = {
        "replayed": replay,
        "schedule": delivery.schedule + 1,
        "step": 0,
        "status": DeliveryStatus.PENDING,
        "nextAttemptAt": clock.iso(now),
    }
    if delivery.failed_at is None:
        return _claim(delivery.id, _lease(now, replay=False), begun, unchanged)
    commit = Commit()
    commit.update(
        key(delivery.id),
        assign={**begun, **_lease(now, replay=False)},
        add={"attempts": 1},
        remove=["failedAt"],
        when=unchanged,  # so it was not claimed either: a claim counts an attempt
        otherwise=Taken,
    )
    commit.delete(_failed_key(delivery.id, delivery.failed_at))
    commit.send()
    begun_now = find(delivery.id)
    assert begun_now is not None
    return begun_now


_unclaimed: Final = Attr("claim").not_exists()


def _lease(now: datetime, *, replay: bool) -> dict[str, object]:
    """Return a new attribute `claim`, `{"claim": {until, replay, by}}`; its `by` is unique."""
    return {"claim": {"until": clock.iso(now + LEASE), "replay": replay, "by": ids.ulid()}}


def _claim(
    id: str, lease: Mapping[str, object], changes: Mapping[str, object], when: Condition
) -> Delivery:
    """Claim a delivery that nobody has claimed, count its attempt, and return it.

    `lease`: the claim. `changes`: other attributes to write. `when`: a condition besides. Raises
    Taken if one of these does not hold, but not if the answer to this claim was lost: `by` says
    whose it is.
    """
    try:
        item = table.update(
            key(id), assign={**changes, **lease}, add={"attempts": 1}, when=when & _unclaimed
        )
    except table.ConditionFailed as failed:
        if failed.old is None or failed.old.get("claim") != lease["claim"]:
            raise Taken(failed.old) from None
        return read_delivery(failed.old)
    return read_delivery(item)


# --- An attempt ends ------------------------------------------------------------------------------


def finish_attempt(delivery: Delivery, attempt: Attempt) -> None:
    """Record an ended attempt, and settle its delivery: its next step is queued or parked.

    See `settle`. A first attempt that succeeded with a short response needs one write: it is stored
    in the delivery.
    """
    if attempt.error is None and attempt.number == 1 and attempt.is_short:
        # Nearly all end here, with record and state in one write.
        save_delivered(delivery, attempt, first=True)
    else:
        settle(delivery, record(delivery.id, attempt))


def cancel(message: Message) -> None:
    """Store that the delivery of a message is CANCELLED, because its endpoint was deleted.

    Nothing happens to one whose schedule has ended, or that is gone. Raises NotNow if it has a
    claim or has just changed. If the claim has run out, its attempt is settled first.
    """
    delivery = find(message.delivery)
    if delivery is None or delivery.step is None:
        return
    if delivery.claim and delivery.claim.until <= clock.now():
        _settle_expired_claim(delivery, None)
    if delivery.claim or not save_cancelled(delivery):
        raise NotNow


def _settle_expired_claim(delivery: Delivery, endpoint: Endpoint | None) -> None:
    """Settle the attempt of an expired claim: by its record, or else as INTERRUPTED.

    That is recorded, too. An INTERRUPTED attempt that this call settles counts as a failure of the
    endpoint (`health`). `endpoint`: None if it was deleted.
    """
    assert delivery.claim is not None
    begun = delivery.claim.until - LEASE
    attempt = attempts.build_interrupted_attempt(delivery, begun, endpoint.url if endpoint else "")
    attempt = record(delivery.id, attempt)
    ours = settle(delivery, attempt)
    if ours and endpoint and attempt.error == attempts.INTERRUPTED:
        health.count_failures(endpoint, 1)


def record(delivery_id: str, attempt: Attempt) -> Attempt:
    """Store an attempt unless its number has a record; return the record that is stored then.

    The first record of attempt n decides its result, and every sender settles the delivery by it.
    """
    item = {
        "pk": delivery_id,
        "sk": f"attempt#{attempt.number:06d}",
        "expiresAt": delivery_expiry(delivery_id),
        **attempt.fields(),
    }
    try:
        table.put(item, when=table.absent)
    except table.ConditionFailed as failed:
        assert failed.old is not None
        return attempts.read(failed.old)
    return attempt


def settle(delivery: Delivery, attempt: Attempt) -> bool:
    """End a delivery by its attempt's result, or queue or park its next step and then store that.

    A success is DELIVERED. An expired event is FAILED, and so is the last step; a failed replay
    outside the schedule changes no status. Return whether the claim was still ours; otherwise no
    state is stored, though a message may have been sent. After a crash in between, another sender
    settles the attempt again: by the same record and with the same jitter, so for the same time.
    """
    if attempt.error is None:
        return save_delivered(delivery, attempt)
    if attempt.error == attempts.EVENT_EXPIRED:
        return save_failed(delivery, attempt)
    if delivery.claim and delivery.claim.replay:
        return save_failed_replay(delivery, attempt)
    following = _following_step(delivery, attempt)
    if following is None:
        return save_failed(delivery, attempt)
    message = Message(delivery.id, delivery.schedule, following.step, due=following.at)
    if following.queue_delay is None:
        parking.park(message, following.at)
    else:
        messages.send([Posted(message, delay=following.queue_delay)])
    return save_retrying(delivery, attempt, following)


def _following_step(delivery: Delivery, attempt: Attempt) -> NextStep | None:
    """Return the step of the schedule after a failed attempt; None after the last.

    When it is due counts from the attempt's end, with the response's status and Retry-After.
    """
    assert delivery.step is not None
    return retry.next_step(
        delivery.step,
        clock.parse(attempt.endedAt),
        _chance(delivery),
        status=attempt.status,
        retry_after=(attempt.headers or {}).get("retry-after"),
        daily_since=delivery.daily_since,
        scale=settings.webhook_schedule_scale(),
    )


def _chance(delivery: Delivery) -> float:
    """Return a number in [0, 1) that differs by attempt, the same each time one is settled."""
    return zlib.crc32(f"{delivery.id}#{delivery.attempts}".encode()) / 2**32


# --- The states that an attempt ends in -----------------------------------------------------------


def save_delivered(delivery: Delivery, attempt: Attempt, *, first: bool = False) -> bool:
    """Store that the receiver accepted a delivery; return whether the claim was still ours.

    Its schedule and the claim end. `first`: this write also stores the attempt, a short first one,
    in the delivery.
    """
    record_of_first = {"first": attempt.fields()} if first else {}
    done = {"status": DeliveryStatus.DELIVERED, **_last_result(attempt), **record_of_first}
    return _update_delivery(delivery, done, _ENDED)


def save_retrying(delivery: Delivery, attempt: Attempt, following: NextStep) -> bool:
    """Store a delivery's next step, queued or parked; return whether the claim was still ours.

    The claim ends.
    """
    waits = {
        "status": DeliveryStatus.RETRYING,
        "step": following.step,
        "nextAttemptAt": clock.iso(following.at),
        **_last_result(attempt),
    }
    if following.daily_since:
        waits["dailySince"] = clock.iso(following.daily_since)
    return _update_delivery(delivery, waits)


def save_failed_replay(delivery: Delivery, attempt: Attempt) -> bool:
    """Store that an attempt outside the schedule failed; return whether the claim was still ours.

    The claim ends, and the schedule continues unchanged.
    """
    return _update_delivery(delivery, _last_result(attempt))


def save_failed(delivery: Delivery, attempt: Attempt) -> bool:
    """Store that a delivery has FAILED with this attempt; return whether the claim was still ours.

    Its schedule and the claim end; an entry among the failed deliveries is in the same commit.
    Nothing is stored if the claim is another's.
    """
    now = clock.now_iso()
    pk, sk = _failed_key(delivery.id, now)
    entry = {"pk": pk, "sk": sk, "event": delivery.event, "error": attempt.message or attempt.error}
    changes = {"status": DeliveryStatus.FAILED, "failedAt": now, **_last_result(attempt)}
    commit = Commit()
    commit.update(
        key(delivery.id),
        assign={**changes, "updatedAt": clock.next_iso(delivery.updated_at, now)},
        remove=_ENDED,
        when=_has_our_claim(delivery),
    )
    commit.put({**entry, "expiresAt": delivery_expiry(delivery.id)})
    return commit.try_send()


def save_cancelled(delivery: Delivery) -> bool:
    """Store that a delivery is CANCELLED; its schedule ends. Return whether it was stored.

    It is not if the delivery changed since it was read, has no next step, or has a claim.
    """
    unchanged = Attr("attempts").eq(delivery.attempts) & Attr("step").exists() & _unclaimed
    return _update_delivery(delivery, {"status": DeliveryStatus.CANCELLED}, _ENDED, unchanged)


def _last_result(attempt: Attempt) -> dict[str, object]:
    """Return `{"last": {status, error, durationMs}}` of an attempt, without those that are None."""
    last = {
        "status": attempt.status,
        "error": attempt.error,
        "durationMs": attempt.durationMs,
    }
    return {"last": {name: value for name, value in last.items() if value is not None}}


def _has_our_claim(delivery: Delivery) -> Condition:
    """Return the condition that the delivery has a claim, and as many attempts as when it was read.

    A claim counts an attempt, so it is the same claim.
    """
    return Attr("attempts").eq(delivery.attempts) & Attr("claim").exists()


def _update_delivery(
    delivery: Delivery,
    changes: Mapping[str, object],
    removed: Sequence[str] = ("claim",),
    when: Condition | None = None,
) -> bool:
    """Write changes and a new `updatedAt`, and remove attributes: by default the claim.

    Return whether it was written: not if `when` does not hold. By default that is that the delivery
    still has the claim with which it was read.
    """
    updated = clock.next_iso(delivery.updated_at, clock.now_iso())
    return table.update_if(
        key(delivery.id),
        when or _has_our_claim(delivery),
        assign={**changes, "updatedAt": updated},
        remove=removed,
    )


def _failed_key(id: str, failed_at: str) -> Key:
    """Return the key of the entry of a delivery that FAILED at this time."""
    return failed_partition(endpoint_of(id)), f"{failed_at}#{id}"
