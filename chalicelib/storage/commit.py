"""Writes that happen together or not at all."""

import json
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from botocore.exceptions import ClientError

from chalicelib import deadline, settings, telemetry
from chalicelib.problems import Busy, Invalid, Problem
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import (
    Item,
    Key,
    pack,
    pack_key,
    unpack,
    update_request,
    write_request,
)
from chalicelib.storage.conditions import Condition
from chalicelib.storage.dynamodb import NO_ANSWER, THROTTLED, DynamoCall, Wire, may_repeat
from chalicelib.storage.table import ConditionFailed
from chalicelib.threads import run_together
from chalicelib.values import ids
from chalicelib.values.compact_json import encode

Otherwise = Exception | Callable[[Item | None], Exception]

TRANSACTION_ITEMS: Final = 100  # AWS: at most 100 actions in a TransactWriteItems call
OUTBOX_BYTES: Final = 300_000  # of bodies; DynamoDB: 400 KB an item
_ITEM_BYTES: Final = 400 * 1024 - 1_001  # with the item's other attributes
_AUDIT: Final = "audit"
_AUDIT_BYTES: Final = 1_500  # of an entry without changes
_EVENT_BYTES: Final = 50  # of an event without its body
COUNT_SHARDS: Final = 32  # concurrent transactions on one cell would cancel each other
HOMES: Final = 4  # parts of the shards; what has a home is in a shard of this part
_AT_ONCE: Final = 4  # transactions of one function underway at once
_THROTTLED_SECONDS: Final = 2.2  # longer than conflicts: capacity comes back each second
_CONFLICTS: Final = frozenset(
    {"None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)


# An action as in the request, what is raised if its condition fails, and whether a conflict waits.
# (A row of an import has thirty; a named tuple takes ten times as long.)
_Write = tuple[Wire, Otherwise | None, bool]


class Commit:
    """Writes that happen together or not at all: one TransactWriteItems call.

    Each condition may name what is raised when it fails (`otherwise`: an exception, or a function
    from the existing item to one). If several fail, the exception of the first is raised, so add
    conditions in the order in which they should be reported.

    Counts of one cell are merged; events become one outbox item. At most 100 items and 4 MB
    (AWS); `len` is the number of items. Items that have no effect alone, and no room in it, are
    written before it (`write_before`) and deleted after it (`delete_after`).
    """

    def __init__(self) -> None:
        self._table = settings.table()
        self._writes: dict[Key, _Write] = {}
        self._counts: dict[tuple[Key, int | None], dict[str, int | Decimal]] = {}
        self._events: list[tuple[str, str]] = []
        self._traced: dict[str, list[str]] = {}
        self._announced = 0  # bytes of events and of what is traced
        self._audited = 0  # bytes of what the audit log gets of it
        self._before: list[Item] = []
        self._after: list[Key] = []
        self._refusal: Problem | None = None
        self._excess: tuple[str, str] | None = None

    def __len__(self) -> int:
        """Return the number of items: writes, checks, changed counters, and one of the outbox."""
        counted = sum(map(any, map(dict.values, self._counts.values())))
        return len(self._writes) + counted + (1 if self._events or self._traced else 0)

    def put(
        self,
        item: Item,
        *,
        when: Condition | None = None,
        otherwise: Otherwise | None = None,
    ) -> None:
        """Add a write of a whole item, in place of any that has its key.

        `when`: a condition on the item that is there; `otherwise`: what `send` raises if it fails
        (None: ConditionFailed). An item can have one action in a commit; raises ValueError for a
        second.
        """
        put = write_request(self._table, {"Item": pack(item)}, when)
        self._add((item["pk"], item["sk"]), "Put", put, otherwise)

    def put_each(self, keys: Iterable[Key], attributes: Mapping[str, object]) -> None:
        """Add a write of an item at each of these keys, all with the same other attributes.

        Such as a record's list entries. The attributes are packed once; there is no condition.
        """
        common = pack(attributes)
        for key in keys:
            self._add(key, "Put", {"TableName": self._table, "Item": pack_key(key) | common})

    def update(
        self,
        key: Key,
        *,
        assign: Mapping[str, object] | None = None,
        add: Mapping[str, object] | None = None,
        remove: Iterable[str] = (),
        when: Condition | None = None,
        otherwise: Otherwise | None = None,
        waits: bool = True,
    ) -> None:
        """Add an update of an item, which is created if it is not there and `when` allows that.

        `assign`, `add`, `remove`: as of `table.update`. `otherwise`: as of `put`. Without `waits`,
        a conflict on the item is not tried again, but counts as a failed condition.
        """
        update = update_request(self._table, key, assign=assign, add=add, remove=remove, when=when)
        self._add(key, "Update", update, otherwise, waits)

    def delete(
        self,
        key: Key,
        *,
        when: Condition | None = None,
        otherwise: Otherwise | None = None,
    ) -> None:
        """Add a deletion of an item, which need not be there. `when`, `otherwise`: as of `put`."""
        delete = write_request(self._table, {"Key": pack_key(key)}, when)
        self._add(key, "Delete", delete, otherwise)

    def check(self, key: Key, when: Condition, otherwise: Otherwise | None = None) -> None:
        """Add a condition on an item that this commit does not write; if it fails, `send` raises.

        `otherwise`: what is raised; None: ConditionFailed. The item is in the main table.
        """
        check = write_request(self._table, {"Key": pack_key(key)}, when)
        self._add(key, "ConditionCheck", check, otherwise)

    def count(
        self, cell: Key, numbers: Mapping[str, int | Decimal], home: int | None = None
    ) -> None:
        """Add numbers to the attributes of a sharded counter, whose items are `<cell>#<shard>`.

        Numbers for one cell and home are added up here; a sum of 0 is not written. The attributes
        are `n`, and sums such as `revenue`. `home`: the part of the shards to use (below HOMES);
        None: any. `send` chooses the shard.
        """
        counter = self._counts.setdefault((cell, home), {})
        for name, number in numbers.items():
            counter[name] = counter.get(name, 0) + number

    def write_before(self, item: Item) -> None:
        """Note an item that `send` writes before the transaction; without that it has no effect."""
        self._before.append(item)

    def delete_after(self, key: Key) -> None:
        """Note a key that `send` deletes after the transaction; its item has no effect any more."""
        self._after.append(key)

    def announce(self, event: str, data: Mapping[str, object]) -> None:
        """Add an event, encoded at once, to the commit's outbox item, and count its bytes.

        `data`: the resource as the API shows it.
        """
        body = outbox.body(event, data)
        self._events.append((event, body))
        self._announced += len(body.encode())

    def trace(self, name: str, entry: Mapping[str, object]) -> None:
        """Add an entry for a log, encoded at once, to the outbox item; count its bytes.

        The log keeps it for good. `name`: of the list of entries, such as `moves`, of stock
        (`ledger/store.py`).
        """
        text = encode(entry)
        self._traced.setdefault(name, []).append(text)
        self._announced += len(text.encode())

    def audit(self, entry: Mapping[str, object]) -> None:
        """Add an audit entry, as `outbox.audit_entry` returns it, to the commit's outbox item."""
        text = encode(entry)
        self._traced.setdefault(_AUDIT, []).append(text)
        self._audited += len(text.encode())

    def refuse(self, problem: Problem) -> None:
        """Note a problem that `send` raises instead of making the transaction. The first counts.

        Of many commits that are sent together, only this one fails.
        """
        self._refusal = self._refusal or problem

    def explain_excess(self, field: str, message: str) -> None:
        """Set the field and the message of the Invalid that `send` raises if this is too large."""
        self._excess = field, message

    @property
    def overflows(self) -> bool:
        """Whether this has too many items or events, or more than OUTBOX_BYTES of events.

        What is traced counts as events, audit entries do not. `send` raises later, at what DynamoDB
        takes.
        """
        return not self._fits(OUTBOX_BYTES)

    def _fits(self, most_bytes: int) -> bool:
        """Return whether this has not too many items or events, and at most `most_bytes` of them.

        `most_bytes`: of events and of what is traced; audit entries do not count.
        """
        return (
            len(self) <= TRANSACTION_ITEMS
            and len(self._events) <= outbox.MOST_COMMIT_EVENTS
            and self._announced <= most_bytes
        )

    @property
    def _bytes(self) -> int:
        """The bytes of events, of what is traced, and of audit entries."""
        return self._announced + self._audited

    def has_room_for(self, other: "Commit") -> bool:
        """Return whether this and `other`, which writes none of its items, fit in one transaction.

        The limits are the number of items, and the number and the bytes of what is in the outbox
        item, audit entries too (the records are about as large as their events). Items to write
        before or delete after do not count.
        """
        return (
            len(self) + len(other) <= TRANSACTION_ITEMS
            and len(self._events) + len(other._events) <= outbox.MOST_COMMIT_EVENTS
            and self._bytes + other._bytes <= OUTBOX_BYTES
        )

    def join(self, other: "Commit") -> None:
        """Add all that `other` writes, before, in and after it, counts, announces and traces.

        It takes also its audit entries. If this has no refusal, it takes that of `other`; it keeps
        its own `explain_excess`. `other` is not changed. Whether there is room is not checked
        (`has_room_for`).
        """
        self._writes.update(other._writes)
        for (cell, home), numbers in other._counts.items():
            self.count(cell, numbers, home)
        self._events += other._events
        for name, entries in other._traced.items():
            self._traced.setdefault(name, []).extend(entries)
        self._announced += other._announced
        self._audited += other._audited
        self._before += other._before
        self._after += other._after
        self._refusal = self._refusal or other._refusal

    def send(self, conflicts_until: float | None = None) -> None:
        """Write all of the commit in one transaction, and wait until it is made.

        It waits until this context may write (`table.await_permission`). Items of `write_before`
        are written first, also if the commit is then refused or fails; those of `delete_after` are
        deleted last. Raises the exception of the first failed condition, what `refuse` noted,
        Invalid (422) if it exceeds a transaction or the outbox, or Busy (503) after conflicts until
        the usual deadline or `conflicts_until` (`deadline_after`); a throttled one is tried 2.2 s
        longer.

        After a time-out the outcome is unknown. The same request with the same token is idempotent
        for ten minutes, so that is what is retried, also if the retry is throttled. Only a
        cancellation is definite; the attempt after it is a new request with a new token.
        """
        table.await_permission()
        table.batch_write(self._before)
        self._send_transaction(conflicts_until)
        _delete_leftovers([self])

    @property
    def _room(self) -> int:
        """The bytes of the outbox item, less what each event and audit entry takes besides."""
        entries = len(self._traced.get(_AUDIT, ()))
        return _ITEM_BYTES - _EVENT_BYTES * len(self._events) - _AUDIT_BYTES * entries

    def try_send(self) -> bool:
        """Send the commit; return False if a condition without an `otherwise` failed, else True.

        It waits as `send` does, and raises what else that raises.
        """
        try:
            self.send()
        except ConditionFailed:
            return False
        return True

    def raise_if_refused(self) -> None:
        """Raise the problem that `refuse` noted, or Invalid if this is too large for DynamoDB.

        The limits are those of one transaction, and `_room` for the outbox item. Nothing is sent.
        `overflows` is stricter: it leaves room for growth.
        """
        if self._refusal:
            raise self._refusal
        if not self._fits(self._room):
            raise self._excess_problem()

    def _excess_problem(self) -> Invalid:
        """Return an Invalid (`too_large`), not raised, for a commit that is too large.

        Its field and message are those of `explain_excess`, or a general message.
        """
        if self._excess is None:
            message = "This change exceeds one transaction. Change less at a time."
            return Invalid(message, code="too_large")
        field, message = self._excess
        error = {"field": field, "code": "too_large", "message": message}
        return Invalid(f"{field}: {message}", code=error["code"], errors=[error])

    def _send_transaction(self, conflicts_until: float | None) -> None:
        """Send the transaction until it is made, without what is written before and after it.

        Before anything is sent, `raise_if_refused`. If it is cancelled, for a conflict or a
        throttle, it is sent again with a new token and in another shard; otherwise, as after no
        answer, with the same one. Raises the error of a failed condition, a ClientError that no
        repetition helps, and Busy at the usual deadline, or after conflicts from `conflicts_until`
        on (`time.monotonic`; None: the deadline), throttled 2.2 s later. It does not wait for
        permission to write, nor for `underway`; it only reports throttles and success to it.
        """
        self.raise_if_refused()
        call = self._build_call()
        last: Exception | None = None
        for _ in deadline.attempts():
            call.send()
            try:
                call.read_reply()
                underway.allow_one_more()
                return
            except ClientError as error:
                code = error.response["Error"]["Code"]
                if last and code == "IdempotentParameterMismatchException":
                    break  # the service does not recognise what it did not answer
                last = error
                reasons = error.response.get("CancellationReasons", [])
                if code == "TransactionCanceledException":
                    self._raise_reason(reasons, error)
                    call = self._build_call()
                elif not may_repeat(error):
                    raise
                more = 0.0
                codes = [code, *(str(reason.get("Code")) for reason in reasons)]
                if any(each.startswith(THROTTLED) for each in codes):
                    underway.halve_in_background()
                    more = _THROTTLED_SECONDS
                if conflicts_until is not None and time.monotonic() >= conflicts_until + more:
                    break
            except NO_ANSWER as error:
                last = error
        telemetry.given_up("TransactWriteItems", last)
        raise Busy

    def _add(
        self,
        key: Key,
        action: str,
        request: Wire,
        otherwise: Otherwise | None = None,
        waits: bool = True,
    ) -> None:
        """Note an action, such as `Put`, on one item. Raises ValueError if it has one already."""
        if key in self._writes:
            raise ValueError(f"{key} is written twice in one commit")
        self._writes[key] = {action: request}, otherwise, waits

    def _build_call(self) -> DynamoCall[None]:
        """Return a new unsent call, with a new token, of all writes, counts and the outbox item.

        All counts use one shard, by chance, within their home; sums of 0 are left out. The outbox
        item, if there are events or traces, is new too, with a new id. If it is too large, its
        audit entries lose their changes. Errors of the call are not changed.
        """
        # One for all cells: two commits conflict at all of their cells, or at none.
        shard = random.randrange(COUNT_SHARDS)
        actions = [action for action, _, _ in self._writes.values()]
        for ((pk, cell), home), numbers in self._counts.items():
            if changes := {name: number for name, number in numbers.items() if number}:
                at = shard if home is None else shard - shard % HOMES + home
                update = update_request(self._table, (pk, f"{cell}#{at}"), add=changes)
                actions.append({"Update": update})
        if self._events or self._traced:
            traced = self._traced
            if self._bytes > self._room and _AUDIT in traced:
                # A change is never refused because of its audit entry.
                whole = map(json.loads, traced[_AUDIT])
                bare = [encode({**entry, "changes": []}) for entry in whole]
                traced = traced | {_AUDIT: bare}
            item = pack(outbox.build_item(self._events, traced))
            actions.append({"Put": {"TableName": settings.outbox_table(), "Item": item}})
        return DynamoCall(
            "TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": ids.ulid()}
        )

    def _raise_reason(self, reasons: Sequence[Mapping[str, Any]], error: ClientError) -> None:
        """Raise the error of the first failed condition; `error` if something else failed.

        A conflict on a write that does not wait counts as its failed condition. After other
        conflicts, and throttles, it returns: the commit may be sent again. `error`: the whole
        cancellation. `reasons`: of the cancellation, one for each action.
        """
        for (key, write), reason in zip(self._writes.items(), reasons, strict=False):
            _, otherwise, waits = write
            is_held = reason.get("Code") == "TransactionConflict"
            if reason.get("Code") == "ConditionalCheckFailed" or (is_held and not waits):
                old = unpack(reason["Item"]) if reason.get("Item") else None
                if otherwise is None:
                    raise ConditionFailed(key, old) from None
                if isinstance(otherwise, Exception):
                    raise otherwise from None
                raise otherwise(old) from None
        if not reasons or any(reason.get("Code", "None") not in _CONFLICTS for reason in reasons):
            raise error


class _Underway:
    """How many transactions of background work are underway at once in this process.

    Half as many after a throttle, one more after each that was taken.
    """

    def __init__(self) -> None:
        self._number = _AT_ONCE

    @property
    def allowed(self) -> int:
        """How many transactions may be underway: in a client's request always the most."""
        return self._number if deadline.patience() is deadline.BACKGROUND else _AT_ONCE

    def halve_in_background(self) -> None:
        """Halve how many may be underway, to one at least; do nothing in a client's request."""
        if deadline.patience() is deadline.BACKGROUND:
            self._number = max(1, self._number // 2)

    def allow_one_more(self) -> None:
        """Let one more be underway, up to the most."""
        self._number = min(_AT_ONCE, self._number + 1)


underway: Final = _Underway()


def send_all(commits: Sequence[Commit], at_once: int = _AT_ONCE) -> list[Exception | None]:
    """Send independent commits, several in one transaction if they fit; return the outcome of each.

    That is what `send` would have raised, None if nothing: no failure of a commit is raised. It
    waits until this context may write. What goes before any of them is written first; what goes
    after those that were made is deleted last. Commits that write the same item are sent in order.
    If a transaction of several fails, each is sent alone, so that none fails because of another; if
    its outcome is unknown, that of all of them is Busy. `at_once`: how many transactions at a time.
    """
    outcomes: list[Exception | None] = [None] * len(commits)

    def send_joint_or_each(call: _JointCommit) -> None:
        """Send a joint commit, and write the outcome of each of its commits into `outcomes`.

        If it fails, each is sent alone. But Busy is then the outcome of all: none is sent again.
        """
        failure = _try_transaction(call.joint)
        is_for_all = len(call.places) == 1 or failure is None or isinstance(failure, Busy)
        for place in call.places:
            outcomes[place] = failure if is_for_all else _try_transaction(commits[place])

    table.batch_write(item for commit in commits for item in commit._before)
    for wave in _group_into_waves(commits):
        waiting = deque(wave)
        run_together(
            [
                partial(_send_waiting, send_joint_or_each, waiting, sender)
                for sender in range(min(at_once, underway.allowed))
            ]
        )
    _delete_leftovers([commit for place, commit in enumerate(commits) if outcomes[place] is None])
    return outcomes


def _delete_leftovers(made: Iterable[Commit]) -> None:
    """Delete the items of `delete_after` of these commits. If DynamoDB is busy, they may stay.

    They have no effect; readers remove them.
    """
    with suppress(Busy):
        table.batch_write(deletes=[key for commit in made for key in commit._after])


def _try_transaction(commit: Commit) -> Exception | None:
    """Send a commit's transaction; return what it raised, None if it was made."""
    try:
        commit._send_transaction(None)
    except Exception as error:
        return error
    return None


class _JointCommit(NamedTuple):
    places: list[int]  # the commits in it
    joint: Commit


def _send_waiting(
    send: Callable[[_JointCommit], None], waiting: deque[_JointCommit], sender: int
) -> None:
    """Take commits from `waiting` and send each, until none waits or fewer may be underway.

    Several threads do so. `sender`: the number of this thread, from 0: it stops when that many may
    not be underway.
    """
    while sender < underway.allowed:
        try:
            call = waiting.popleft()
        except IndexError:
            return
        send(call)


def _group_into_waves(commits: Sequence[Commit]) -> Iterator[list[_JointCommit]]:
    """Yield the commits in waves of joint commits, in order; no two of a wave write the same item.

    A commit joins the last one of the wave if that has room. For no commits, there is one empty
    wave. The commits themselves are not changed.
    """
    wave: list[_JointCommit] = []
    written: dict[Key, _Write] = {}
    for place, commit in enumerate(commits):
        if not written.keys().isdisjoint(commit._writes):
            yield wave
            wave, written = [], {}
        if not wave or not wave[-1].joint.has_room_for(commit):
            wave.append(_JointCommit([], Commit()))
        wave[-1].places.append(place)
        wave[-1].joint.join(commit)
        written.update(commit._writes)
    yield wave
