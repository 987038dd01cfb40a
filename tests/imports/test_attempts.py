"""Retrying a job: a worker copies its file."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import settings
from chalicelib.imports import files
from chalicelib.imports.steps import plan
from tests.support.dynamodb_double import Crash
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

ROWS = "slug,name,price\na,A,free\n"
LARGE = ROWS.encode() + b"".join(b"p%d,%s,1\n" % (n, b"x" * 90_000) for n in range(130))


@pytest.fixture
def calls(desk: Desk) -> Iterator[list[str]]:
    """The calls to S3, in their order."""
    made: list[str] = []
    files.client().meta.events.register_first(
        "before-call.s3", note := lambda model, **_: made.append(model.name)
    )
    yield made
    files.client().meta.events.unregister("before-call.s3", note)


def retry(desk: Desk, job_id: str) -> Any:
    return desk.shop.post(f"/api/admin/jobs/{job_id}/retry")


def failed(desk: Desk, data: bytes) -> str:
    """A failed job whose file exists and was not read."""
    job_id = desk.put(data)
    desk.cancel(job_id)
    return job_id


def copied(job_id: str) -> bytes:
    return b"".join(files.Upload(job_id))


def test_a_retry_is_answered_before_the_file_is_copied_and_copies_none_if_it_is_cancelled(
    desk: Desk, calls: list[str]
) -> None:
    job_id = failed(desk, LARGE)
    calls.clear()
    answer = retry(desk, job_id)
    assert (answer.status, calls) == (202, ["HeadObject"])
    desk.cancel(answer.json["jobId"])
    calls.clear()
    desk.work()
    assert calls == []


def test_a_crashed_copy_is_repeated(desk: Desk) -> None:
    answer = retry(desk, failed(desk, LARGE))
    events, crashed = files.client().meta.events, []

    def die(model: Any, **_: Any) -> None:
        if model.name == "CopyObject" and not crashed:
            crashed.append(model.name)
            raise Crash("CopyObject")

    events.register_first("after-call.s3", die)
    desk.work()
    events.unregister("after-call.s3", die)
    assert crashed
    assert copied(answer.json["jobId"]) == LARGE


def test_a_file_deleted_before_the_copy_ends_the_job(desk: Desk) -> None:
    job_id = failed(desk, LARGE)
    answer = retry(desk, job_id)
    files.client().delete_object(Bucket=settings.bucket(), Key=f"imports/{job_id}.csv")
    desk.work()
    job = desk.job(answer.json["jobId"])
    assert (job["status"], job["error"]["code"]) == ("FAILED", "file_changed")


def test_a_file_too_large_to_plan_in_time_ends_the_job_with_a_reason(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_PLANNING_SECONDS", -1)
    job = desk.imported(ROWS)
    assert (job["status"], job["error"]["code"]) == ("FAILED", "too_many_rows")
    assert desk.products() == {}
