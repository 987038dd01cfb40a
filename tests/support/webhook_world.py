"""Webhooks from commit to receiver in one process, on a clock that jumps to the next event.

The code is real and DynamoDB is the double. The queues, the stream, the state machine, the
parameter store and the mail are simulated here. `answer` gives the receivers' answers. A function
can crash at any call.
"""

import base64
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import ClientError

from chalicelib import aws, settings, telemetry, threads
from chalicelib.outbox import fan_out
from chalicelib.safe_post.post import Failure, PostResult
from chalicelib.storage import attributes, outbox, table
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliver, redrive
from tests.support import process
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.environment import SETTINGS
from tests.support.shop import Shop
from tests.support.webhook_events import Waiting, batch_of, stream

ACCOUNT = "https://sqs.us-east-1.amazonaws.com/000000000000/"
DELIVERIES = f"{ACCOUNT}backroom-test-deliveries"
RETRIES = f"{ACCOUNT}backroom-test-retries"
DEAD_EVENTS = f"{ACCOUNT}backroom-test-fan-out-dead"
MASTER_KEY = bytes(range(32))
VISIBILITY = timedelta(seconds=360)
_STREAM_BATCH = 50
WEBHOOK_SETTINGS = {
    **SETTINGS,
    "DELIVERIES_QUEUE_URL": DELIVERIES,
    "RETRIES_QUEUE_URL": RETRIES,
    "FAN_OUT_DEAD_QUEUE_URL": DEAD_EVENTS,
    "REDRIVE_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:redrive",
    "MASTER_KEY_PARAMETER": "/backroom/test/master-key",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
    "MAIL_FROM": "shop@example.com",
}
_error = telemetry.error
OK = PostResult(status=200, headers={"server": "test"}, body=b"thanks", duration_ms=3)


def failed(status: int = 500, **more: Any) -> PostResult:
    message = f"The receiver answered {status}."
    return PostResult(status=status, error=Failure.STATUS, message=message, duration_ms=3, **more)


@dataclass(frozen=True)
class Posted:
    """A request that a receiver got."""

    at: datetime
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def delivery(self) -> str:
        return self.headers["X-Service-Delivery"]


@dataclass
class Execution:
    name: str
    input: str
    at: datetime
    waiting: bool = True
    redriven: dict[str, Any] = field(default_factory=dict)


@dataclass
class World:
    now: datetime = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)
    answer: Callable[[Posted], PostResult] = field(default=lambda posted: OK)
    """What receivers answer."""
    posted: list[Posted] = field(default_factory=list)
    queues: dict[str, list[Waiting]] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    mails: list[dict[str, Any]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """Operations of all services, in their order."""
    crash: tuple[int, bool] | None = None
    """(n, after): the nth call from now is the last of its function, before or after its effect."""
    fate: Callable[[str], bool | None] = field(default=lambda operation: None)
    """Asked before each call: None lets it live, otherwise it is the last of its function, after
    (True) or before (False) its effect."""
    refusals: dict[str, int] = field(default_factory=dict)
    """How often the next calls of an operation are refused by the service."""
    double: Double = field(default_factory=Double)
    shop: Shop = field(default_factory=Shop)
    """Its API."""

    # --- time ---

    def step(self, within: timedelta = timedelta(days=365)) -> bool:
        """Handles the next event; False if there is none."""
        found = min(self._coming(), key=lambda one: one[0], default=None)
        if found is None or found[0] > self.now + within:
            return False
        self.now = max(self.now, found[0])
        failed_calls = self._failed_calls
        self._errors.clear()
        try:
            found[1]()
        except Crash:
            process.begins()  # the process is gone, with its memory
        if self._errors and failed_calls == self._failed_calls:
            message, cause = self._errors[0]
            raise AssertionError(f"{message}, though nothing was injected") from cause
        return True

    def run(self, within: timedelta = timedelta(days=365)) -> None:
        """Runs until nothing is left to do, or for the given time."""
        end = self.now + within
        for _ in range(20_000):
            if not self.step(end - self.now):
                return
        raise AssertionError("it never comes to rest")

    def sleep(self, **much: float) -> None:
        """Runs for exactly that time."""
        end = self.now + timedelta(**much)
        self.run(end - self.now)
        self.now = end

    def _coming(self) -> Iterator[tuple[datetime, Callable[[], None]]]:
        if new := self.unread_events():
            yield self.now, lambda: self._stream(new)
        for url, waiting in self.queues.items():
            if url != DEAD_EVENTS and waiting:
                yield min(one.visible for one in waiting), lambda url=url: self._receive(url)
        for execution in self.executions.values():
            if execution.waiting:
                yield execution.at, lambda one=execution: self._redrive(one)

    # --- functions ---

    def unread_events(self) -> list[dict[str, Any]]:
        """One batch of the stream, without commits that have no event but only an audit entry
        (tests/audit)."""
        keys = self.double.partition_sizes(settings.outbox_table())
        unread = (pk for pk in keys if pk not in self._read)
        while batch := list(itertools.islice(unread, _STREAM_BATCH)):
            items = self.double.partitions(settings.outbox_table(), batch)
            silent = [item for item in items if item.get("events") == {"L": []}]
            self._read |= {item["pk"]["S"] for item in silent}
            if len(silent) < len(items):
                return [item for item in items if item not in silent]
        return []

    def lose_events(self) -> None:
        """The stream never brings what is unread."""
        self._read |= set(self.double.partition_sizes(settings.outbox_table()))

    def stored(self, begin: str = "") -> list[dict[str, Any]]:
        """Every item of the main table whose partition key begins so."""
        items = map(attributes.unpack, self.double.items(settings.table()))
        return [item for item in items if item["pk"].startswith(begin)]

    def _stream(self, items: list[dict[str, Any]]) -> None:
        answer = fan_out.handle(stream(items))
        again = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
        for item in items:
            if item["pk"]["S"] in again:
                return
            self._read.add(item["pk"]["S"])

    def _receive(self, url: str) -> None:
        due = [one for one in self.queues[url] if one.visible <= self.now][:10]
        for one in due:
            one.visible, one.received = self.now + VISIBILITY, one.received + 1
        answer = deliver.batch(batch_of(url, due), post=self._post)
        again = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
        for one in due:
            if one.id not in again:
                self.queues[url].remove(one)

    def _redrive(self, execution: Execution) -> None:
        try:
            given = {**json.loads(execution.input), "redriven": execution.redriven}
            answer = redrive.run(json.loads(json.dumps(given)))
        except (Crash, ClientError) as fault:
            execution.at = self.now + timedelta(seconds=5)  # the state machine tries again
            if isinstance(fault, ClientError):
                return
            raise
        execution.redriven, execution.waiting = answer, answer["more"]
        execution.at = self.now + timedelta(seconds=answer["wait"])

    def _post(self, url: str, headers: Mapping[str, str], body: bytes, **_: Any) -> PostResult:
        posted = Posted(self.now, url, dict(headers), body)
        with self._call("Post"):
            self.posted.append(posted)
            return self.answer(posted)

    # --- services ---

    def client(self, service: str) -> Any:
        return table.client() if service == "dynamodb" else _Service(self)

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> Any:
        for entry in Entries:
            assert 0 <= entry["DelaySeconds"] <= 900 and entry["MessageGroupId"].startswith("wh_")
            visible = self.now + timedelta(seconds=entry["DelaySeconds"])
            self.put(QueueUrl, entry["MessageBody"], visible)
        return {}

    def put(self, url: str, body: str, visible: datetime) -> None:
        id = f"message-{next(self._numbers)}"
        self.queues.setdefault(url, []).append(Waiting(id, body, visible))

    def send_message(self, QueueUrl: str, MessageBody: str) -> None:
        self.put(QueueUrl, MessageBody, self.now)

    def change_message_visibility_batch(self, QueueUrl: str, Entries: list[Any]) -> Any:
        for entry in Entries:
            assert 0 <= entry["VisibilityTimeout"] <= 360, "few are in flight for long"
            found = [one for one in self.queues[QueueUrl] if one.id == entry["ReceiptHandle"]]
            if not found:
                pytest.fail("a receipt of another queue")  # no Exception, which would be logged
            found[0].visible = self.now + timedelta(seconds=entry["VisibilityTimeout"])
        return {}

    def start_execution(self, stateMachineArn: str, name: str, **asked: str) -> Any:
        assert len(name) <= 80
        text = asked["input"]
        if name in self.executions:
            assert self.executions[name].input == text, "the name stands for another input"
            raise ClientError({"Error": {"Code": "ExecutionAlreadyExists"}}, "StartExecution")
        self.executions[name] = Execution(name, text, clock.parse(json.loads(text)["due"]))
        return {}

    def get_parameter(self, Name: str, WithDecryption: bool) -> Any:
        assert Name == settings.master_key_parameter() and WithDecryption
        return {"Parameter": {"Value": base64.b64encode(MASTER_KEY).decode()}}

    def send_email(self, **mail: Any) -> Any:
        self.mails.append(mail)
        return {}

    # --- faults ---

    def _fault(self, operation: str, request: Any) -> Fault | None:
        if self._refused(operation):
            return Fault.THROTTLE
        after = self._crashes(operation)
        if after is None:
            return None
        return Fault.CRASH_AFTER if after else Fault.CRASH

    def _refused(self, operation: str) -> bool:
        left = self.refusals.get(operation, 0)
        self.refusals[operation] = max(0, left - 1)
        self._failed_calls += left > 0
        return left > 0

    def _crashes(self, operation: str) -> bool | None:
        """Whether the function crashes at this call, and if so, whether after its effect."""
        self.calls.append(operation)
        after = self._next_fate(operation)
        self._failed_calls += after is not None
        return after

    def _next_fate(self, operation: str) -> bool | None:
        if self.crash is None:
            return self.fate(operation)
        left, after = self.crash
        self.crash = (left - 1, after) if left > 1 else None
        return after if left <= 1 else None

    def _noted(self, message: str, cause: BaseException | None = None, **fields: Any) -> None:
        self._errors.append((message, cause or sys.exc_info()[1]))
        _error(message, cause, **fields)

    @contextmanager
    def _call(self, operation: str) -> Iterator[None]:
        """Applies faults around a call to a service other than DynamoDB."""
        if self._refused(operation):
            raise ClientError({"Error": {"Code": "ServiceUnavailable"}}, operation)
        after = self._crashes(operation)
        if after is False:
            raise Crash(operation)
        yield
        if after:
            raise Crash(operation)

    def __post_init__(self) -> None:
        self._read: set[str] = set()
        self._numbers = itertools.count()
        self._failed_calls = 0  # calls that were made to fail
        self._errors: list[tuple[str, BaseException | None]] = []  # of the last function
        self.double.faults = self._fault
        self.meanwhile = self.double.meanwhile


class _Service:
    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        perform = getattr(self._world, operation)

        def call(**request: Any) -> Any:
            with self._world._call(operation):
                return perform(**request)

        return call


def _one_after_the_other(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    return [call() for call in calls]


@contextmanager
def world(*, concurrent: bool = False) -> Iterator[World]:
    """A world with its own environment, clocks and services.

    Without `concurrent`, work of several threads is done in order, so that the nth call of a run is
    always the same.
    """
    made = World()
    ulids = itertools.count()

    def ulid() -> str:
        return ids.first_at(made.now)[:16] + f"{next(ulids):010d}"

    in_order = ExitStack()
    if not concurrent:
        in_order.enter_context(mock.patch.object(threads, "run_together", _one_after_the_other))
    with (
        in_order,
        mock.patch.dict(os.environ, WEBHOOK_SETTINGS),
        mock.patch.object(clock, "now", lambda: made.now),
        mock.patch.object(clock, "unix", lambda: int(made.now.timestamp())),
        mock.patch.object(ids, "ulid", ulid),
        mock.patch.object(aws, "client", made.client),
        mock.patch.object(telemetry, "error", made._noted),
        made.double,
    ):
        os.environ.pop("AWS_ENDPOINT_URL", None)
        yield made


def announce(event: str = "product.created", **data: Any) -> str:
    """Commits an event; returns its id."""
    item = outbox.build_item([(event, outbox.body(event, data or {"id": "prod_1"}))])
    table.put(item, table=settings.outbox_table())
    return next(outbox.events_of(item)).id
