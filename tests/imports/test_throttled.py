"""An import into a table that throttles."""

import json
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

import app
from chalicelib import aws, deadline
from chalicelib.imports.steps import queue
from chalicelib.problems import Busy
from chalicelib.values import clock
from tests.infra.test_templates import queues
from tests.support.dynamodb_double import Fault
from tests.support.dynamodb_faults import refused_after, refused_for_an_hour
from tests.support.import_desk import Desk
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough


def completed(desk: Desk, job_id: str) -> None:
    desk.dynamodb.faults = lambda *call: None
    desk.work()
    job = desk.job(job_id)
    assert (job["status"], job["created"], job["failed"]) == ("COMPLETED", 60, 0)
    assert Shop().get("/api/admin/products").json["total"] == 60


SIXTY = "slug,name,price\n" + "".join(f"p{n},P{n},{n + 1}\n" for n in range(60))


def test_an_import_completes_and_makes_each_product_once(desk: Desk) -> None:
    job_id, calls = desk.started(SIXTY), count()
    desk.dynamodb.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    desk.work()
    completed(desk, job_id)


@pytest.mark.parametrize("transactions", [0, 1])
def test_a_chunk_that_is_refused_for_an_hour_is_imported_once(
    desk: Desk, transactions: int
) -> None:
    job_id = desk.started(SIXTY)
    desk.dynamodb.faults = refused_after(transactions)
    message, *others = desk.messages()
    most = queues()["ImportChunks"]["RedrivePolicy"]["maxReceiveCount"]
    refused_for_an_hour(app.import_chunk, message, queue, most)
    desk.dynamodb.faults = lambda *call: None
    for each in (message, *others):
        desk.handle(each)
    completed(desk, job_id)


# --- Its planning ---------------------------------------------------------------------------------


class _Empty:
    def stream(self) -> list[bytes]:
        return [b""]


@pytest.fixture
def started(desk: Desk) -> Iterator[list[Any]]:
    """The events with which the planner is started again."""
    found: list[Any] = []

    def start(request: Any, **_: Any) -> AWSResponse:
        assert "/functions/backroom-test-plan_import/" in request.url
        assert request.headers["X-Amz-Invocation-Type"] in {"Event", b"Event"}
        found.append(json.loads(request.body))
        return AWSResponse(request.url, 202, {}, _Empty())

    events = aws.client("lambda").meta.events
    events.register_first("before-send.lambda.Invoke", start)
    yield found
    events.unregister("before-send.lambda.Invoke", start)


def put_aside(event: Any, error_type: str) -> None:
    """The planner has failed as often as Lambda runs it."""
    letter = {"requestPayload": event, "responsePayload": {"errorType": error_type}}
    record = {"messageId": "m1", "body": json.dumps(letter), "attributes": {}}
    assert app.import_dead_letters({"Records": [record]}, None) == {"batchItemFailures": []}


def refused_planning(desk: Desk, event: Any, service: str, calls: int) -> None:
    """The service refuses all calls after so many."""
    made = count()

    def refuses(*_: object) -> Fault | None:
        return Fault.THROTTLE if next(made) >= calls else None

    def unavailable(request: Any, **_: Any) -> AWSResponse | None:
        return AWSResponse(request.url, 503, {}, _Empty()) if refuses() else None

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Busy) as failed:
        patched.setattr(deadline, "PATIENCE_SECONDS", -1.0)  # one attempt
        patched.setattr("time.sleep", lambda seconds: None)
        events = aws.client(service).meta.events
        if service == "dynamodb":
            patched.setattr(desk.dynamodb, "faults", refuses)
        else:
            events.register_first(f"before-send.{service}", unavailable)
        try:
            app.plan_import(event, None)
        finally:
            events.unregister(f"before-send.{service}", unavailable)
    put_aside(event, failed.type.__name__)


@pytest.mark.parametrize(
    "refused", [("dynamodb", 0), ("dynamodb", 1), ("dynamodb", 3), ("s3", 0), ("sqs", 0)]
)
@pytest.mark.parametrize("minutes", [59, 60])
def test_a_planner_that_is_refused_is_started_again_for_an_hour(
    desk: Desk,
    started: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    refused: tuple[str, int],
    minutes: int,
) -> None:
    job_id, began = desk.send(SIXTY), clock.now()
    started.append(desk.upload_event(job_id))
    for passed in (0, 7, 30, minutes):
        monkeypatch.setattr(clock, "now", lambda now=began + timedelta(minutes=passed): now)
        refused_planning(desk, started[-1], *refused)
    if minutes < 60:
        assert len(started) == 5
        app.plan_import(started[-1], None)
        completed(desk, job_id)
    else:
        job = desk.job(job_id)
        assert (job["status"], job["error"]["code"]) == ("FAILED", "planning_failed")
        assert len(started) == 4


@pytest.mark.parametrize("error_type", ["Runtime.ExitError", "Sandbox.Timedout", "KeyError"])
def test_a_planner_that_dies_ends_its_job_after_three_attempts(
    desk: Desk, started: list[Any], error_type: str
) -> None:
    job_id = desk.send(SIXTY)
    put_aside(desk.upload_event(job_id), error_type)
    job = desk.job(job_id)
    assert (job["status"], job["error"]["code"], started) == ("FAILED", "planning_failed", [])
