"""A table that throttles: background work waits for it, and does nothing twice."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

import app
from chalicelib.jobs import queue
from tests.infra.test_templates import queues
from tests.jobs.test_exports import file_of, in_pieces_of_three, rows
from tests.support.dynamodb_double import Fault
from tests.support.dynamodb_faults import refused_after, refused_for_an_hour
from tests.support.job_desk import JobDesk

pytestmark = pytest.mark.thorough


def four_of_five_calls_are_refused(jobs: JobDesk) -> None:
    calls = count()
    jobs.dynamodb.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    jobs.work()


def the_first_message_is_refused_for_an_hour(jobs: JobDesk, transactions: int = 0) -> None:
    jobs.dynamodb.faults = refused_after(transactions)
    (message,) = jobs.messages()
    most = queues()["Jobs"]["RedrivePolicy"]["maxReceiveCount"]
    refused_for_an_hour(app.run_job, message, queue, most)
    jobs.dynamodb.faults = lambda *call: None
    jobs.handle(message)
    jobs.work()


def a_step_is_refused_for_an_hour(jobs: JobDesk) -> None:
    the_first_message_is_refused_for_an_hour(jobs, transactions=1)


@pytest.fixture(
    params=[
        four_of_five_calls_are_refused,
        the_first_message_is_refused_for_an_hour,
        a_step_is_refused_for_an_hour,
    ]
)
def done(jobs: JobDesk, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A job after its end, most calls of which were refused."""

    def done(path: str, body: Any = None) -> Any:
        job_id = jobs.start(path, body)
        request.param(jobs)
        jobs.dynamodb.faults = lambda *call: None
        job = jobs.job(job_id)
        assert (job["status"], job["errors"]) == ("COMPLETED", [])
        return job

    return done


def test_a_bulk_edit_and_its_undo_change_each_product_once(
    jobs: JobDesk, done: Callable[..., Any]
) -> None:
    products = [jobs.product(price="10.00") for _ in range(30)]
    change = {
        "ids": [product["id"] for product in products],
        "change": {"price": {"percent": 10}},
    }
    edited = done("/api/admin/products/bulk-edit", change)
    assert jobs.counted(edited) == {"updated": 30}
    assert {jobs.now(product)["price"] for product in products} == {"11.00"}
    undone = done(f"/api/admin/jobs/{edited['id']}/undo")
    assert jobs.counted(undone) == {"updated": 30}
    assert {jobs.now(product)["price"] for product in products} == {"10.00"}


def test_an_export_has_each_record_once(
    jobs: JobDesk, done: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_pieces_of_three(monkeypatch)
    made = [jobs.product(name=f"Shirt {n}", price=f"{n}.50") for n in range(10)]
    job = done("/api/admin/exports", {"type": "products", "all": True})
    assert job["processed"] == 10
    found = [(row["slug"], row["name"], row["price"]) for row in rows(file_of(job))]
    assert sorted(found) == sorted((each["slug"], each["name"], each["price"]) for each in made)


def test_an_erasure_completes(jobs: JobDesk, done: Callable[..., Any]) -> None:
    sent = {"email": "ann@example.com", "firstName": "Ann", "lastName": "Lee"}
    made = jobs.shop.post("/api/admin/customers", sent).json
    path = f"/api/admin/customers/{made['id']}"
    done(f"{path}/erase")
    assert jobs.shop.get(path).json["email"] is None
