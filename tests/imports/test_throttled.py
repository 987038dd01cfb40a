"""An import into a table that throttles."""

from itertools import count

import pytest

import app
from chalicelib import deadline
from chalicelib.imports.steps import queue
from tests.infra.test_templates import queues
from tests.support.dynamodb_double import Fault
from tests.support.dynamodb_faults import refused_after
from tests.support.import_desk import Desk
from tests.support.shop import Shop

HOUR = 3_600


def completed(desk: Desk, job_id: str) -> None:
    desk.dynamodb.faults = lambda *call: None
    desk.work()
    job = desk.job(job_id)
    assert (job["status"], job["created"], job["failed"]) == ("COMPLETED", 60, 0)
    assert Shop().get("/api/admin/products").json["total"] == 60


def planned(desk: Desk) -> str:
    rows = "".join(f"p{n},P{n},{n + 1}\n" for n in range(60))
    job_id = desk.send(f"slug,name,price\n{rows}")
    desk.uploaded(job_id)
    return job_id


def test_an_import_completes_and_makes_each_product_once(desk: Desk) -> None:
    job_id, calls = planned(desk), count()
    desk.dynamodb.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    desk.work()
    completed(desk, job_id)


@pytest.mark.parametrize("transactions", [0, 1])
def test_a_chunk_that_is_refused_for_an_hour_is_imported_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, transactions: int
) -> None:
    """Its message is given back each time, and is received as often as the queue allows."""
    job_id, waits = planned(desk), list[int]()
    desk.dynamodb.faults = refused_after(transactions)
    message, *others = desk.messages()
    with monkeypatch.context() as patched:
        patched.setattr(deadline, "PATIENCE_SECONDS", -1.0)  # one attempt
        patched.setattr(queue, "show_again", lambda receipt, seconds: waits.append(seconds))
        for received in range(1, queues()["ImportChunks"]["RedrivePolicy"]["maxReceiveCount"]):
            message["attributes"]["ApproximateReceiveCount"] = str(received)
            assert app.import_chunk({"Records": [message]}, None)["batchItemFailures"]
    assert sum(waits) >= HOUR
    desk.dynamodb.faults = lambda *call: None
    for each in (message, *others):
        desk.handle(each)
    completed(desk, job_id)
