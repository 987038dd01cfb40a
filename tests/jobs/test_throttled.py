"""A table that throttles: background work waits for it, and does nothing twice."""

from itertools import count
from typing import Any

from tests.support.dynamodb_double import Fault
from tests.support.job_desk import JobDesk


def throttled(jobs: JobDesk) -> "count[int]":
    """Four of five calls of functions are refused; the numbers of calls so far."""
    calls = count()
    jobs.dynamodb.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    return calls


def work(jobs: JobDesk, job_id: str) -> Any:
    throttled(jobs)
    jobs.work()
    jobs.dynamodb.faults = lambda operation, request: None
    job = jobs.job(job_id)
    assert (job["status"], job["errors"]) == ("COMPLETED", []) and jobs.failed == []
    return job


def test_a_bulk_edit_and_its_undo_change_each_product_once(jobs: JobDesk) -> None:
    products = [jobs.product(price="10.00") for _ in range(30)]
    change = {
        "ids": [product["id"] for product in products],
        "change": {"price": {"percent": 10}},
    }
    edited = work(jobs, jobs.start("/api/admin/products/bulk-edit", change))
    assert jobs.counted(edited) == {"updated": 30}
    assert {jobs.now(product)["price"] for product in products} == {"11.00"}
    undone = work(jobs, jobs.start(f"/api/admin/jobs/{edited['id']}/undo"))
    assert jobs.counted(undone) == {"updated": 30}
    assert {jobs.now(product)["price"] for product in products} == {"10.00"}


def test_an_export_has_each_record_once(jobs: JobDesk) -> None:
    for _ in range(30):
        jobs.product()
    job = work(jobs, jobs.start("/api/admin/exports", {"type": "products", "all": True}))
    assert job["processed"] == 30


def test_an_erasure_completes(jobs: JobDesk) -> None:
    sent = {"email": "ann@example.com", "firstName": "Ann", "lastName": "Lee"}
    made = jobs.shop.post("/api/admin/customers", sent).json
    path = f"/api/admin/customers/{made['id']}"
    work(jobs, jobs.start(f"{path}/erase"))
    assert jobs.shop.get(path).json["email"] is None
