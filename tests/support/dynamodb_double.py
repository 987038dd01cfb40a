"""DynamoDB in this process: fast, and as strict as the service in everything the shop relies on.

It answers below botocore, so clients, retries and parsers are the real ones:

    with Double() as dynamodb: …  # chalicelib.storage.table now talks to it

It deletes expired items as late as AWS may: two days after `expiresAt`.

Beyond moto it raises a conflict when two threads write one item, remembers client tokens, enforces
AWS's limits, meters the units of every call, and fails when asked to (`faults`). Moto copies the
table for each item of a transaction; this does not. `make conformance` compares its answers with
those of AWS's own engine.
"""

import itertools
import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Final

from botocore.awsrequest import AWSResponse

from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from chalicelib.values import clock
from tests.support import process, units
from tests.support.dynamodb_expressions import Scope, ValidationError, Wire, condition, update
from tests.support.dynamodb_faults import Crash, Fault, Refused, cancelled, inject
from tests.support.dynamodb_partition import Partition, between, bounds, check, key_of

__all__ = ["Call", "Crash", "Double", "Fault"]

ANSWER_BYTES: Final = 1 << 20  # AWS: what one query looks at
BATCH_BYTES: Final = 16 << 20  # AWS: what one batch-get returns
TRANSACTION_BYTES: Final = 4 << 20
EXPIRES_LATE = 2 * 86_400  # AWS: "typically deleted within two days"


@dataclass(frozen=True)
class Call:
    """One answered call, with the units that AWS would bill."""

    operation: str
    read_units: float
    write_units: float


class Double:
    """All tables; a table exists from its first use.

    `faults`: called before each call, (operation, request) → Fault or None. `pause`: called inside
    every transaction, after locking its items and before writing them; other writes then conflict.
    `calls`: the answered calls. `heat`: transactions' write units by partition key. `cpu`: seconds
    spent answering, which benchmarks subtract. `failed_calls`: the calls with a fault.
    `scan_bytes`: the size of a page of a scan. `planned`: what has to happen before the end.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.heat: Counter[str] = Counter()
        self.cpu = 0.0
        self.failed_calls = 0
        self.scan_bytes = 1 << 20
        self.planned: list[object] = []
        self.faults: Callable[[str, Wire], Fault | None] = lambda operation, request: None
        self.pause: Callable[[], None] = lambda: None
        self._tables: dict[str, dict[str, Partition]] = {}
        self._tokens: dict[str, int] = {}
        self._held: set[tuple[str, str, str]] = set()
        self._lock = threading.RLock()

    def __enter__(self) -> "Double":
        process.begins()
        table.client().meta.events.register_first("before-send.dynamodb", self._answer)
        return self

    def __exit__(self, *_: object) -> None:
        table.client().meta.events.unregister("before-send.dynamodb", self._answer)
        assert not self.planned, "no call came at which this was to happen"

    # --- for tests ---

    def items(self, name: str) -> Iterator[Wire]:
        """Every item of a table, as on the wire."""
        for partition in list(self._tables.get(name, {}).values()):
            yield from _there(json.loads(partition.items[sk]) for sk in list(partition.order))

    def partitions(self, name: str, keys: Iterable[str]) -> list[Wire]:
        """The items of some partitions of a table, as on the wire."""
        found = [self._tables[name][pk] for pk in keys]
        return list(_there(json.loads(p.items[sk]) for p in found for sk in p.order))

    def at(self, name: str, pk: str, sk: str) -> Wire | None:
        return self._item(name, {"pk": {"S": pk}, "sk": {"S": sk}})

    def partition_sizes(self, name: str) -> Counter[str]:
        return Counter({pk: len(p.order) for pk, p in self._tables.get(name, {}).items()})

    def load(self, actions: list[Wire]) -> None:
        """Applies writes of a transaction without calls, checks or units: to fill a table."""
        for action in actions:
            ((verb, request),) = action.items()
            if verb != "ConditionCheck":
                self._store(request["TableName"], *self._written(verb, request)[1:])

    def place(self, commit: Commit) -> None:
        """Applies the writes of a commit in the same way."""
        self.load(commit._build_call().request["TransactItems"])

    def empty(self) -> None:
        """Deletes every item and every token."""
        self._tables.clear()
        self._tokens.clear()
        self.heat.clear()

    @contextmanager
    def metered(self) -> Iterator[list[Call]]:
        """The calls that are answered inside the `with` block."""
        start, calls = len(self.calls), list[Call]()
        yield calls
        calls += self.calls[start:]

    # --- what happens from now on ---

    def fails(self, fault: Fault, operation: str, nth: int = 1, *, perhaps: bool = False) -> None:
        """The nth such call fails, and no other. `perhaps`: there may be fewer."""
        calls = itertools.count(1)

        def faults(called: str, request: Wire) -> Fault | None:
            if called != operation or next(calls) != nth:
                return None
            self.planned = [one for one in self.planned if one is not faults]
            return fault

        self.planned += [] if perhaps else [faults]
        self.faults = faults

    def crashes(self, operation: str = "", nth: int = 1, *, after: bool = True) -> None:
        """The process crashes at the nth such call, or call of any kind, with all its threads: no
        later call takes effect."""
        seen, usual = 0, self.faults

        def faults(called: str, request: Wire) -> Fault | None:
            nonlocal seen
            is_one = operation in ("", called)
            with self._lock:
                seen += is_one
                now = seen
            if now < nth:
                return usual(called, request)
            return Fault.CRASH_AFTER if after and is_one and now == nth else Fault.CRASH

        self.faults = faults

    def hides(self, beginning: str) -> list[Wire]:
        """From now on no batch-get finds keys that begin so: it is no snapshot, and may miss what
        was just written. The keys that were asked for."""
        missed: list[Wire] = []

        def hide(operation: str, request: Wire) -> None:
            asked_of = request["RequestItems"] if operation == "BatchGetItem" else {}
            for asked in asked_of.values():
                found = [key for key in asked["Keys"] if key["pk"]["S"].startswith(beginning)]
                missed.extend(found)
                asked["Keys"] = [key for key in asked["Keys"] if key not in found]

        self.faults = hide
        return missed

    def meanwhile(
        self, operation: str, action: Callable[[], object], text: str = "", nth: int = 1
    ) -> None:
        """Calls `action` just before the nth such call with `text` in its request arrives. The
        test fails without one."""
        calls, faults = itertools.count(1), self.faults

        def act(called: str, request: Wire) -> Fault | None:
            fault = faults(called, request)
            if called == operation and text in str(request) and next(calls) == nth:
                self.planned.remove(action)
                action()
            return fault

        self.planned.append(action)
        self.faults = act

    def asked(self, operation: str) -> list[Wire]:
        """The requests of such calls, as they arrive."""
        arrived, faults = list[Wire](), self.faults

        def note(called: str, request: Wire) -> Fault | None:
            if called == operation:
                arrived.append(request)
            return faults(called, request)

        self.faults = note
        return arrived

    # --- the wire ---

    def answer(self, operation: str, body: Wire) -> tuple[int, Wire]:
        """The status and the JSON of a call."""
        fault = self.faults(operation, body)
        if fault is Fault.CONFLICT and body.get("ClientRequestToken") in self._tokens:
            fault = None  # AWS: it succeeded, so the same token answers successfully again
        try:
            answer: Wire = {} if fault and not fault.after else self._performed(operation, body)
            if fault:
                self.failed_calls += 1
                inject(fault, operation, body)
            return 200, answer
        except Refused as refused:
            error = {"__type": f"com.amazonaws.dynamodb.v20120810#{refused.code}"}
            return refused.status, {**error, "message": refused.message, **refused.more}

    def _answer(self, event_name: str, request: Any, **_: Any) -> AWSResponse:
        start = time.thread_time()
        operation = event_name.rpartition(".")[2]
        try:
            return _response(request.url, *self.answer(operation, json.loads(request.body)))
        finally:
            with self._lock:
                self.cpu += time.thread_time() - start

    def _performed(self, operation: str, request: Wire) -> Wire:
        perform = getattr(self, f"_on_{operation}", None)
        assert perform is not None, f"the double has no {operation}"
        try:
            answer, read, written = perform(request)
        except ValidationError as error:
            raise Refused("ValidationException", str(error)) from error
        self.calls.append(Call(operation, read, written))
        return answer

    # --- reads ---

    def _on_GetItem(self, request: Wire) -> tuple[Wire, float, float]:
        item = self._item(request["TableName"], request["Key"])
        units_read = units.read_units([_size(item)], consistent=_consistent(request))
        return {"Item": item} if item else {}, units_read, 0

    def _on_BatchGetItem(self, request: Wire) -> tuple[Wire, float, float]:
        found: dict[str, list[Wire]] = {}
        left: Wire = {}
        read, size = 0.0, 0
        for name, asked in request["RequestItems"].items():
            keys = [key_of(key) for key in asked["Keys"]]
            if not 1 <= len(keys) <= 100 or len(set(keys)) < len(keys):
                raise ValidationError("Too many items requested, or provided list has duplicates")
            found[name], scope = [], Scope(asked)
            for key in asked["Keys"]:
                item = self._item(name, key)
                size += _size(item)
                if size > BATCH_BYTES:
                    left.setdefault(name, {**asked, "Keys": []})["Keys"].append(key)
                    continue
                read += units.read_units([_size(item)], consistent=_consistent(asked))
                found[name] += [scope.projected(item)] if item else []
        return {"Responses": found, "UnprocessedKeys": left}, read, 0

    def _on_Query(self, request: Wire) -> tuple[Wire, float, float]:
        scope = Scope(request)
        wanted = condition(request["KeyConditionExpression"])
        passes = condition(request.get("FilterExpression", "attribute_exists(pk)"))
        pk, low, high = bounds(request)
        seen, looked, kept, after = list[str](), 0, list[Wire](), None
        limit = request.get("Limit", 1 << 60)
        if limit < 1:
            raise ValidationError("Limit must be at least 1")
        if "ExclusiveStartKey" in request:
            key_of(request["ExclusiveStartKey"])  # refuses one without a text
        with self._lock:
            partition = self._tables.get(request["TableName"], {}).get(pk, Partition())
            for sk in between(partition.order, low, high, request):
                item = json.loads(partition.items[sk])
                if _is_gone(item) or not wanted(item, scope):  # the bound of a strict comparison
                    continue
                seen.append(sk)
                looked += units.item_size(item)
                if passes(item, scope):
                    kept.append(scope.projected(item))
                if len(seen) == limit or looked >= ANSWER_BYTES:
                    after = {"pk": {"S": pk}, "sk": {"S": sk}}
                    break
        answer: Wire = {"Items": kept, "Count": len(kept), "ScannedCount": len(seen)}
        if request.get("Select") == "COUNT":
            del answer["Items"]
        if after:
            answer["LastEvaluatedKey"] = after
        return answer, units.read_units([looked], consistent=_consistent(request)), 0

    def _on_Scan(self, request: Wire) -> tuple[Wire, float, float]:
        scope = Scope(request)
        passes = condition(request.get("FilterExpression", "attribute_exists(pk)"))
        items, answer = self._scan_page(request), Wire()
        if sum(map(units.item_size, items)) > self.scan_bytes:
            items = items[:-1] or items  # a large item is a page of its own
            answer["LastEvaluatedKey"] = {name: items[-1][name] for name in ("pk", "sk")}
        kept = [scope.projected(item) for item in items if passes(item, scope)]
        read = units.read_units([units.item_size(item) for item in items])
        answer |= {"Items": kept, "Count": len(kept), "ScannedCount": len(items)}
        return answer, read, 0

    def _scan_page(self, request: Wire) -> list[Wire]:
        """The items of one page, in the order of their keys."""
        found, size, start = list[Wire](), 0, request.get("ExclusiveStartKey")
        behind = key_of(start) if start else None
        for item in sorted(self.items(request["TableName"]), key=key_of):
            if behind is None or key_of(item) > behind:
                found.append(item)
                size += units.item_size(item)
                if size > self.scan_bytes:
                    break
        return found

    # --- writes ---

    def _on_BatchWriteItem(self, request: Wire) -> tuple[Wire, float, float]:
        ((name, writes),) = request["RequestItems"].items()
        asked = [
            (verb.removesuffix("Request"), {"TableName": name, **of})
            for write in writes
            for verb, of in write.items()
        ]
        if not 1 <= len({_place(*each) for each in asked}) == len(asked) <= 25:
            raise ValidationError("Too many items requested, or provided list has duplicates")
        left, written = [], 0.0
        for write, each in zip(writes, asked, strict=True):
            try:
                written += self._single(*each)[2]
            except Refused:
                left.append(write)
        return {"UnprocessedItems": {name: left} if left else {}}, 0, written

    def _single(self, verb: str, request: Wire) -> tuple[Wire, float, float]:
        with self._lock:
            if _place(verb, request) in self._held:
                raise Refused("TransactionConflictException")
            old, key, new = self._written(verb, request)
            if not _holds(request, old):
                shown = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and old
                more = {"Item": old} if shown else {}
                raise Refused("ConditionalCheckFailedException", **more)
            self._store(request["TableName"], key, new)
        answer = {"Attributes": new} if new and request.get("ReturnValues") == "ALL_NEW" else {}
        return answer, 0, units.write_units(old, new, transaction=False)

    _on_PutItem = partialmethod(_single, "Put")
    _on_UpdateItem = partialmethod(_single, "Update")
    _on_DeleteItem = partialmethod(_single, "Delete")

    def _on_TransactWriteItems(self, request: Wire) -> tuple[Wire, float, float]:
        actions = [next(iter(action.items())) for action in request["TransactItems"]]
        places = [_place(verb, part) for verb, part in actions]
        if not 1 <= len(actions) <= 100:
            raise ValidationError("Member must have length less than or equal to 100")
        if len(set(places)) < len(places):
            raise ValidationError(
                "Transaction request cannot include multiple operations on one item"
            )
        if len(json.dumps(request["TransactItems"])) > TRANSACTION_BYTES * 2:
            raise ValidationError("Transaction is larger than 4 MB")
        token = request.get("ClientRequestToken")
        print_of = zlib.crc32(json.dumps(request["TransactItems"], sort_keys=True).encode())
        with self._lock:
            if token in self._tokens:
                if self._tokens[token] != print_of:
                    raise Refused("IdempotentParameterMismatchException")
                return {}, 2.0 * len(actions), 0
            held = [place in self._held for place in places]
            if any(held):
                codes = ["TransactionConflict" if one else "None" for one in held]
                raise cancelled([{"Code": code} for code in codes])
            self._held.update(places)
        try:
            self.pause()
            with self._lock:
                written = self._all(actions)
                if token:
                    self._tokens[token] = print_of
        finally:
            with self._lock:
                self._held.difference_update(places)
        return {}, 0, written

    def _all(self, actions: list[tuple[str, Wire]]) -> float:
        planned, reasons, written = [], list[Wire](), 0
        for verb, request in actions:
            old, key, new = self._written(verb, request)
            holds = _holds(request, old)
            reasons.append({"Code": "None"} if holds else {"Code": "ConditionalCheckFailed"})
            asked = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
            if not holds and asked and old:
                reasons[-1]["Item"] = old
            planned.append((request["TableName"], key, new))
            taken = units.write_units(old, new, transaction=True)
            self.heat[key[0]] += taken
            written += taken
        if any(reason["Code"] != "None" for reason in reasons):
            raise cancelled(reasons)
        for (verb, _), plan in zip(actions, planned, strict=True):
            if verb != "ConditionCheck":
                self._store(*plan)
        return written

    def _written(
        self, verb: str, request: Wire
    ) -> tuple[Wire | None, tuple[str, str], Wire | None]:
        """The old item, its key, and the new item."""
        at = request["Item"] if verb == "Put" else request["Key"]
        key, old = key_of(at), self._item(request["TableName"], at)
        new: Wire | None = None
        if verb == "Put":
            new = request["Item"]
        elif verb == "Update" and not _holds(request, old):
            new = old
        elif verb == "Update":
            scope = Scope(request)
            new = update(request["UpdateExpression"])(old or at, scope)
            if key_of(new) != key:
                raise ValidationError("Cannot update attribute. This attribute is part of the key")
        elif verb == "ConditionCheck":
            new = old
        if new:
            check(new)
        return old, key, new

    def _store(self, name: str, key: tuple[str, str], new: Wire | None) -> None:
        pk, sk = key
        self._tables.setdefault(name, {}).setdefault(pk, Partition()).put(sk, new)

    def _item(self, name: str, key: Wire) -> Wire | None:
        pk, sk = key_of(key)
        with self._lock:
            partition = self._tables.get(name, {}).get(pk)
            return next(_there([partition.get(sk)]), None) if partition else None


def _is_gone(item: Wire) -> bool:
    """Whether TTL has deleted it. Merely expired items still exist."""
    expires = item.get("expiresAt", {}).get("N")
    return expires is not None and int(expires) + EXPIRES_LATE < clock.unix()


def _there(items: Iterable[Wire | None]) -> Iterator[Wire]:
    return (item for item in items if item and not _is_gone(item))


def _size(item: Wire | None) -> int:
    return units.item_size(item) if item else 0


def _consistent(request: Wire) -> bool:
    return bool(request.get("ConsistentRead"))


def _place(verb: str, request: Wire) -> tuple[str, str, str]:
    return (request["TableName"], *key_of(request["Item"] if verb == "Put" else request["Key"]))


def _holds(request: Wire, old: Wire | None) -> bool:
    scope = Scope(request)
    text = request.get("ConditionExpression")
    if text and not condition(text)(old or {}, scope):
        return False
    # Only now: an update of a missing item is no error if the condition allows it.
    if "UpdateExpression" in request:
        update(request["UpdateExpression"])(old or {}, scope)
    return True


class _Raw:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self._body


def _response(url: str, status: int, answer: Mapping[str, Any]) -> AWSResponse:
    body = json.dumps(answer).encode()
    headers = {"x-amz-crc32": str(zlib.crc32(body)), "x-amzn-requestid": str(time.monotonic_ns())}
    return AWSResponse(url, status, headers, _Raw(body))
