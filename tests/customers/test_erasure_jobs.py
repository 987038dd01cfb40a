"""What an erasure does to jobs: files end by themselves, names and requests are rewritten."""

from typing import Any

import pytest

from chalicelib import aws, settings
from chalicelib.imports import files
from chalicelib.jobs import queue as jobs_queue
from chalicelib.storage import table
from tests.customers.build import customer
from tests.customers.test_erasure import HOME, PERSON, mentions
from tests.support.import_desk import IMPORT, Desk
from tests.support.job_desk import JobDesk

GOOD = "slug,name,price\nmug,Mug,4.00\n"
BAD = f"slug,name,price\nmug,Rose,{PERSON['email']}\n"
UNKNOWN = f"E-Mail,Who\n{PERSON['email']},Quillfeather\n"


@pytest.fixture
def desk(jobs: JobDesk) -> Desk:
    return Desk(jobs.shop, jobs.dynamodb)


@pytest.fixture
def made(jobs: JobDesk) -> Any:
    return customer(jobs.shop, **PERSON, addresses=[HOME])


def later(jobs: JobDesk, job_id: str) -> Any:
    """The job, after its delayed message was handled."""
    found = table.get((job_id, "job"))
    assert found and found["status"] == "RUNNING"
    jobs_queue.send(job_id, int(found["step"]))
    return jobs.finished(job_id)


def test_files_and_what_is_shown_of_them_stay_until_they_end(
    jobs: JobDesk, desk: Desk, made: Any
) -> None:
    written, failed = desk.imported(GOOD), desk.imported(BAD, name="Quillfeather.csv")
    objects = aws.client("s3").list_objects_v2(Bucket=settings.bucket())["Contents"]
    assert jobs.done(f"{made.path}/erase")["touched"]["jobs"] == 1
    again = aws.client("s3").list_objects_v2(Bucket=settings.bucket())["Contents"]
    assert [one["Key"] for one in again] == [one["Key"] for one in objects]
    now = desk.job(failed["id"])
    assert (now["fileName"], now["errors"]) == ("[erased].csv", failed["errors"])
    assert desk.job(written["id"]) == written
    assert jobs.done(f"/api/admin/jobs/{written['id']}/undo")["deleted"] == 1


def test_a_file_from_before_an_erasure_is_not_copied(jobs: JobDesk, desk: Desk, made: Any) -> None:
    """A copy would be kept for 30 days more."""
    failed = desk.imported(BAD)
    tried = desk.imported("slug,name,price\njug,Jug,5\n", dryRun="true")
    asks = desk.imported(UNKNOWN)
    jobs.done(f"{made.path}/erase")
    for id, again in ((failed["id"], "retry"), (asks["id"], "retry"), (tried["id"], "run")):
        refused = jobs.shop.post(f"/api/admin/jobs/{id}/{again}")
        assert (refused.status, refused.json["code"]) == (409, "file_missing")
    ended = desk.job(asks["id"])
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "customer_erased")
    answer = jobs.shop.post(f"/api/admin/jobs/{asks['id']}/mapping", {"columns": {"Who": "name"}})
    assert (answer.status, answer.json["code"]) == (409, "job_not_waiting")
    new = desk.imported(BAD)
    assert jobs.shop.post(f"/api/admin/jobs/{new['id']}/retry").status == 202
    desk.work()


def test_words_of_a_rejected_file_are_deleted(jobs: JobDesk, desk: Desk, made: Any) -> None:
    data = "slug,name,price\na,červené tričko,1\n".encode("cp1250")
    rejected = desk.imported(data, onUnknownColumns="fail")
    assert rejected["error"]["code"] == "unknown_encoding"
    assert "erven" in rejected["error"]["message"]
    jobs.done(f"{made.path}/erase")
    error = desk.job(rejected["id"])["error"]
    assert (error["code"], error["row"]) == ("unknown_encoding", 1)
    assert "erven" not in error["message"]


def test_an_erasure_does_not_wait_for_imports(jobs: JobDesk, desk: Desk, made: Any) -> None:
    running = desk.send(BAD, name="Quillfeather.csv")
    desk.uploaded(running)
    never = jobs.shop.post(f"{IMPORT}/uploads", {"fileName": "Quillfeather.csv"}).json["jobId"]
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    assert mentions(jobs) == []
    desk.work()
    assert (desk.job(running)["failed"], desk.job(running)["fileName"]) == (1, "[erased].csv")
    files.put_upload(never, GOOD.encode())
    assert desk.finished(never)["status"] == "COMPLETED"


def test_a_job_at_work_that_names_the_person_ends_first(jobs: JobDesk, made: Any) -> None:
    filters = {"search": "quillfeather"}
    export = jobs.start("/api/admin/exports", {"type": "customers", "filters": filters})
    tags = {"filters": filters, "change": {"addTags": ["x"]}}
    edit = jobs.start("/api/admin/orders/bulk-edit", tags)
    for id in (export, edit):
        table.update((id, "job"), assign={"status": "RUNNING"})
    erasure = jobs.start(f"{made.path}/erase")
    *others, message = jobs.messages()
    jobs.handle(message)
    assert jobs.job(erasure)["status"] == "RUNNING"
    for other in others:
        jobs.handle(other)
    assert later(jobs, erasure)["status"] == "COMPLETED"
    assert jobs.job(edit)["status"] == jobs.job(export)["status"] == "COMPLETED"
    assert jobs.job(edit)["about"]["filters"] == {"search": "[erased]"}
    assert mentions(jobs) == []


def test_a_name_that_is_a_word_of_requests_breaks_none(jobs: JobDesk, desk: Desk) -> None:
    """Whoever is called Orders, Name or CSV."""
    person = customer(jobs.shop, email=None, firstName="Orders", lastName="name", company="csv")
    export = jobs.done("/api/admin/exports", {"type": "orders", "format": "csv", "all": True})
    mapped = desk.imported("A,B,C\nmug,Mug,4\n", mapping='{"A":"slug","B":"name","C":"price"}')
    jobs.done(f"{person.path}/erase")
    assert jobs.job(export["id"])["about"] == export["about"]
    assert jobs.job(export["id"])["downloadUrl"]
    now = desk.job(mapped["id"])
    assert [one["field"] for one in now["columns"]] == ["slug", "name", "price"]
