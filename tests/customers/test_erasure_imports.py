"""An erasure deletes every uploaded file, and waits for imports that are running."""

import json
from typing import Any

import pytest

from chalicelib import aws, settings
from chalicelib.imports import files
from chalicelib.jobs import queue as jobs_queue
from chalicelib.jobs.store import WORKER_SECONDS
from chalicelib.storage import table
from chalicelib.values import clock
from tests.customers.build import customer
from tests.customers.test_erasure import HOME, PERSON, in_tables, mentions
from tests.imports.test_workbooks import xlsx
from tests.orders.build import placed
from tests.support.dynamodb_double import Crash
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


def objects() -> list[str]:
    found = aws.client("s3").list_objects_v2(Bucket=settings.bucket())
    return [each["Key"] for each in found.get("Contents", [])]


def later(jobs: JobDesk, job_id: str) -> Any:
    """The job, after its delayed message was handled."""
    found = table.get((job_id, "job"))
    assert found and found["status"] == "RUNNING"
    jobs_queue.send(job_id, int(found["step"]))
    return jobs.finished(job_id)


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "cp1250"])
def test_an_uploaded_file_in_any_encoding_is_deleted(
    jobs: JobDesk, desk: Desk, made: Any, encoding: str
) -> None:
    who = f"Zénobia Quillfeather,{PERSON['phone']},7 Obelisk Lane"
    desk.imported(f"slug,name,sku,price\n{who},\n".encode(encoding))
    desk.imported(f"Wer,Telefon,Wo\n{who}\n".encode(encoding))
    assert mentions(jobs, ["obelisk"])
    assert jobs.done(f"{made.path}/erase")["touched"]["imports"] == 2
    assert objects() == [] and mentions(jobs) == []


def test_a_rejected_workbook_is_deleted(jobs: JobDesk, desk: Desk, made: Any) -> None:
    data = xlsx(["slug", "name"], ["a", PERSON["email"]])
    assert desk.imported(data, sheet="of another name")["status"] == "FAILED"
    assert objects()
    jobs.done(f"{made.path}/erase")
    assert objects() == []


def test_an_import_shows_that_its_file_was_deleted(jobs: JobDesk, desk: Desk, made: Any) -> None:
    written, failed = desk.imported(GOOD), desk.imported(BAD)
    tried = desk.imported("slug,name,price\njug,Jug,5\n", dryRun="true")
    asks = desk.imported(UNKNOWN)
    assert failed["errorReportUrl"] and tried["preview"] and asks["columns"]
    jobs.done(f"{made.path}/erase")
    for before in (written, failed, tried):
        job = desk.job(before["id"])
        assert job["status"] == "COMPLETED" and job["failed"] == before["failed"]
        assert [each["code"] for each in job["warnings"]] == ["file_erased"]
        assert job["errorReportUrl"] is None
        assert job["errors"] == job["preview"] == job["columns"] == []
    ended = desk.job(asks["id"])
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "customer_erased")
    for id, again in ((failed["id"], "retry"), (asks["id"], "retry"), (tried["id"], "run")):
        refused = jobs.shop.post(f"/api/admin/jobs/{id}/{again}")
        assert (refused.status, refused.json["code"]) == (409, "file_missing")
    answer = jobs.shop.post(f"/api/admin/jobs/{asks['id']}/mapping", {"columns": {"Who": "name"}})
    assert (answer.status, answer.json["code"]) == (409, "job_not_waiting")
    # What it wrote belongs to the shop, and can still be undone.
    assert jobs.shop.get("/api/admin/products?search=mug").json["total"] == 1
    assert jobs.done(f"/api/admin/jobs/{written['id']}/undo")["deleted"] == 1


def test_column_names_with_personal_data_are_deleted(jobs: JobDesk, desk: Desk, made: Any) -> None:
    """A list of customers without a header."""
    mapping = {"jar": "slug", "Mug": "name", "4.00": "price", PERSON["email"]: None}
    data = f"jar,Mug,4.00,{PERSON['email']}\ncup,Cup,3.00,x\n"
    assert desk.imported(data, mapping=json.dumps(mapping))["created"] == 1
    desk.imported(f"slug,name,price,Quillfeather\n,,,{PERSON['email']}\n", onUnknownColumns="fail")
    assert in_tables(jobs, ["palmyra"]) and in_tables(jobs, ["quillfeather"])
    jobs.done(f"{made.path}/erase")
    assert mentions(jobs) == []


def test_words_of_a_rejected_file_are_deleted(jobs: JobDesk, desk: Desk, made: Any) -> None:
    data = "slug,name,price\na,červené tričko,1\n".encode("cp1250")
    rejected = desk.imported(data, onUnknownColumns="fail")
    assert rejected["error"]["code"] == "unknown_encoding"
    assert "erven" in rejected["error"]["message"]
    jobs.done(f"{made.path}/erase")
    error = desk.job(rejected["id"])["error"]
    assert (error["code"], error["row"]) == ("unknown_encoding", 1)
    assert "erven" not in error["message"]


def test_an_erasure_waits_for_a_running_import(jobs: JobDesk, desk: Desk, made: Any) -> None:
    rows = "".join(f"mug-{n},Mug,4.00\n" for n in range(30))
    running = desk.send(f"slug,name,price\n{rows}mug,Rose,{PERSON['email']}\n")
    just_there = desk.send(BAD)
    desk.uploaded(running)
    never = jobs.shop.post(f"{IMPORT}/uploads", {"fileName": "Quillfeather.csv"}).json["jobId"]
    erasure = jobs.start(f"{made.path}/erase")
    jobs.work()
    assert jobs.job(erasure)["status"] == "RUNNING"
    assert made.read()["email"] is None  # it waits with nothing else
    desk.work()
    assert desk.job(running)["created"] == 30 and desk.job(running)["failed"] == 1
    assert later(jobs, erasure)["status"] == "RUNNING"
    desk.finished(just_there)
    job = later(jobs, erasure)
    assert (job["status"], job["touched"]["imports"]) == ("COMPLETED", 2)
    assert objects() == [] and mentions(jobs) == []
    # An import without a file is not waited for, and uses the file that is uploaded later.
    files.put(never, GOOD.encode())
    assert desk.finished(never)["status"] == "COMPLETED"


def test_an_erasure_waits_for_workers_of_a_stopped_import(
    jobs: JobDesk, desk: Desk, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = desk.started(BAD)
    (message,) = desk.messages()
    erasure = jobs.start(f"{made.path}/erase")
    keep = files.keep

    def late(*args: Any) -> None:
        desk.cancel(stopped)
        jobs.work()
        keep(*args)

    monkeypatch.setattr(files, "keep", late)
    desk.handle(message)
    assert desk.job(stopped)["status"] == "CANCELLED"
    assert objects() and jobs.job(erasure)["status"] == "RUNNING"
    before = clock.iso(clock.after(-WORKER_SECONDS - 1))
    table.update((stopped, "job"), assign={"completedAt": before})
    assert later(jobs, erasure)["status"] == "COMPLETED"
    assert objects() == [] and mentions(jobs) == []


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_file_being_copied_for_a_retry_is_deleted(
    jobs: JobDesk, desk: Desk, made: Any, is_copied: bool
) -> None:
    failed = desk.imported(BAD)
    erasure = jobs.start(f"{made.path}/erase")
    again = jobs.shop.post(f"/api/admin/jobs/{failed['id']}/retry").json["jobId"]
    table.update((again, "job"), assign={"createdAt": clock.iso(clock.after(60))})
    if is_copied:
        desk.work()
    jobs.work()
    assert jobs.job(erasure)["status"] == "RUNNING"
    desk.work()  # finds no file to copy
    if is_copied:
        desk.finished(again)
    else:
        table.update((again, "job"), assign={"uploadBy": clock.iso(clock.after(-1))})
    assert later(jobs, erasure)["status"] == "COMPLETED"
    assert objects() == [] and mentions(jobs) == []


def test_a_file_uploaded_after_the_request_stays(jobs: JobDesk, desk: Desk, made: Any) -> None:
    erasure = jobs.start(f"{made.path}/erase")
    new = desk.imported(BAD)
    asks = desk.imported(UNKNOWN)
    for job in (new, asks):
        table.update((job["id"], "job"), assign={"createdAt": clock.iso(clock.after(60))})
    assert jobs.finished(erasure)["status"] == "COMPLETED"
    assert desk.job(new["id"])["errors"] and desk.job(asks["id"])["status"] == "NEEDS_MAPPING"
    assert len(objects()) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_an_erasure_that_crashes_between_files_is_completed(
    jobs: JobDesk, desk: Desk, made: Any, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        desk.imported(BAD)
    calls, remove = 0, files.remove

    def dies(keys: list[str]) -> None:
        nonlocal calls
        calls += 1
        remove(keys[: len(keys) // 2] if calls == nth else keys)
        if calls == nth:
            raise Crash

    monkeypatch.setattr(files, "remove", dies)
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    assert calls > nth and objects() == [] and mentions(jobs) == []


@pytest.mark.thorough
def test_many_items_of_an_import_are_deleted_in_several_steps(
    jobs: JobDesk, desk: Desk, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.imports.forgotten.store._AT_ONCE", 5)
    monkeypatch.setattr("chalicelib.erasures.work._SECONDS", -1)
    rows = "".join(f"mug-{n},{PERSON['email']},4.00\n" for n in range(40))
    desk.imported(f"slug,name,price\n{rows}", dryRun="true")
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    assert objects() == [] and mentions(jobs) == []


def test_the_input_of_a_continued_job_is_deleted(jobs: JobDesk, made: Any) -> None:
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
    assert jobs.job(edit)["status"] == "COMPLETED" and jobs.job(export)["status"] == "FAILED"
    assert mentions(jobs) == []


def test_the_tags_in_a_bulk_edits_undo_data_are_deleted_for_this_customer_only(
    jobs: JobDesk,
) -> None:
    tags = ["for Quillfeather", "gift"]
    order = placed(jobs.shop, customer=PERSON, tags=tags)
    other = placed(jobs.shop, customer={"email": "q@example.com"}, tags=tags)
    ids = [order["id"], other["id"]]
    edit = jobs.done("/api/admin/orders/bulk-edit", {"ids": ids, "change": {"removeTags": tags}})
    jobs.done(f"{order.customer.path}/erase")
    assert jobs.done(f"/api/admin/jobs/{edit['id']}/undo")["updated"] == 2
    assert jobs.now(order)["tags"] == ["gift"]
    assert jobs.now(other)["tags"] == tags
