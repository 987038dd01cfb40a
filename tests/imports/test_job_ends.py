"""How jobs end: cancelled, without an upload, by dead letters; and how failed rows are retried."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import app
from chalicelib import aws, deadline, settings
from chalicelib.imports import chunks, files
from chalicelib.imports.steps import plan as planner
from chalicelib.imports.steps import queue
from chalicelib.values import clock
from tests.support.dynamodb_double import Fault
from tests.support.import_desk import IMPORT, Desk, counts

pytestmark = pytest.mark.thorough

HEADER = "slug,name,price\n"
LONG = HEADER + "".join(f"p{n},P{n},1\n" for n in range(450))


def failure(desk: Desk, job_id: str) -> str:
    """The code with which a job failed."""
    job = desk.job(job_id)
    assert job["status"] == "FAILED"
    return str(job["error"]["code"])


def refused(desk: Desk, job_id: str, action: str) -> str:
    """The code with which `cancel` or `retry` is refused."""
    answer = desk.shop.post(f"/api/admin/jobs/{job_id}/{action}")
    assert answer.status == 409
    return str(answer.json["code"])


def test_a_job_without_an_upload_fails_and_a_late_upload_is_imported(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = desk.shop.post(f"{IMPORT}/uploads", {"fileName": "a.csv"}).json["jobId"]
    assert desk.job(job_id)["status"] == "QUEUED"
    later = datetime.now(UTC) + timedelta(hours=2, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert failure(desk, job_id) == "upload_missing"
    assert desk.job(job_id)["completedAt"]
    assert desk.shop.get("/api/admin/jobs").json["data"][0]["status"] == "FAILED"
    assert refused(desk, job_id, "retry") == "file_missing"
    files.put_upload(job_id, f"{HEADER}a,A,1\n".encode())
    assert desk.finished(job_id)["status"] == "COMPLETED"


def planned_in_part(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    """A job whose planner died while it cut the file."""

    def dies(*_: Any, **__: Any) -> None:
        raise MemoryError

    job_id = desk.send(LONG)
    with monkeypatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(chunks, "cut", dies)
        desk.uploaded(job_id)
    return job_id


def test_a_file_that_another_release_began_to_cut_is_not_cut_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = planned_in_part(desk, monkeypatch)
    monkeypatch.setattr(planner, "__version__", "9.0.0")
    desk.uploaded(job_id)
    assert failure(desk, job_id) == "planning_failed"
    assert not desk.messages()


def test_a_job_whose_planning_never_ended_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = planned_in_part(desk, monkeypatch)
    assert desk.job(job_id)["status"] == "RUNNING"
    later = datetime.now(UTC) + timedelta(hours=3)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert failure(desk, job_id) == "planning_failed"
    assert desk.shop.post(f"/api/admin/jobs/{job_id}/retry").status == 202


def test_a_cancelled_job_stops_and_counts_its_writes_and_is_retried_completely(desk: Desk) -> None:
    job_id = desk.started(LONG)
    first, *others = desk.messages()
    desk.handle(first)
    answer = desk.shop.post(f"/api/admin/jobs/{job_id}/cancel")
    assert (answer.status, answer.json["status"]) == (200, "CANCELLED")
    for message in others:
        desk.handle(message)
    desk.work()
    job = desk.job(job_id)
    assert (job["status"], job["created"], job["processed"]) == ("CANCELLED", 200, 200)
    assert len(desk.products()) == 200
    desk.cancel(job_id)  # once more
    again = desk.retried(job_id)
    assert (again["unchanged"], again["created"]) == (200, 250)


def test_what_an_import_has_created_is_unchanged_by_its_retries(desk: Desk) -> None:
    desk.imported(HEADER + "p1,Old,1\n")
    job_id = desk.started(LONG, mode="create")
    first, *others = desk.messages()
    desk.handle(first)
    desk.cancel(job_id)
    for message in others:
        desk.handle(message)
    for _ in range(2):
        reply = desk.shop.post(f"/api/admin/jobs/{job_id}/retry")
        job_id = reply.json["jobId"]
        desk.work()
        desk.uploaded(job_id)
        second = desk.messages()[1]
        desk.handle(second)
        desk.cancel(job_id)
        desk.work()
    again = desk.retried(job_id)
    assert counts(again) == [50, 0, 399, 1, 450]
    assert [error["slug"] for error in again["errors"]] == ["p1"]


def test_a_dry_run_that_is_run_twice_creates_nothing_twice(desk: Desk) -> None:
    dry = desk.imported(HEADER + "a,A,1\n", mode="create", dryRun="true")
    ran = [counts(desk.retried(dry["id"], "run")) for _ in range(2)]
    assert ran == [[1, 0, 0, 0, 1], [0, 0, 0, 1, 1]]


def test_a_running_chunk_counts_its_writes_before_the_cancellation(desk: Desk) -> None:
    job_id = desk.started(LONG)
    first, *_ = desk.messages()
    desk.meanwhile("TransactWriteItems", lambda: desk.cancel(job_id))
    desk.handle(first)
    job = desk.job(job_id)
    assert (job["status"], job["created"]) == ("CANCELLED", len(desk.products()))


def test_writes_of_a_crashed_worker_before_a_cancellation_are_counted(desk: Desk) -> None:
    job_id = desk.started(LONG)
    first, *others = desk.messages()
    desk.crash("TransactWriteItems", nth=4)
    desk.handle(first)
    desk.cancel(job_id)
    for message in others:
        desk.done_with(message)
    desk.work()
    assert 0 < len(desk.products()) < 200
    assert desk.job(job_id)["created"] == len(desk.products())


def test_an_ended_job_without_failed_rows_can_neither_be_cancelled_nor_retried(desk: Desk) -> None:
    job = desk.imported(HEADER + "a,A,1\n")
    assert job["errorReportUrl"] is None
    assert refused(desk, job["id"], "cancel") == "job_finished"
    assert refused(desk, job["id"], "retry") == "nothing_to_retry"
    assert refused(desk, desk.send(LONG), "retry") == "job_not_finished"


def test_a_report_is_shown_for_30_days_after_the_end_of_its_job(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = desk.waiting("Titel,Preis\nMug,free\n")
    requested = clock.parse(asked["createdAt"])

    def pass_to(day: int, seconds: int = 0) -> None:
        since = timedelta(days=day, seconds=seconds)
        monkeypatch.setattr(clock, "now", lambda: requested + since)

    pass_to(5)
    job = desk.answered(asked, columns={"Titel": "name", "Preis": "price"})
    path = f"/api/admin/jobs/{job['id']}"
    assert (job["status"], job["failed"]) == ("COMPLETED", 1)
    pass_to(35)
    known = desk.shop.get(path)
    assert known.json["errorReportUrl"]
    pass_to(35, 1)
    aws.client("s3").delete_object(  # as S3 does
        Bucket=settings.bucket(), Key=f"reports/{job['id']}.csv"
    )
    after = desk.shop.get(path, headers={"If-None-Match": known.headers["ETag"]})
    assert (after.status, after.json["errorReportUrl"]) == (200, None)
    answer = desk.shop.post(f"{path}/retry")
    assert (answer.status, answer.json["code"]) == (409, "file_missing")
    assert answer.json["message"] == "The report of the failed rows no longer exists."


def test_a_job_cancelled_before_its_upload_imports_nothing(desk: Desk) -> None:
    job_id = desk.send(HEADER + "a,A,1\n")
    desk.cancel(job_id)
    desk.uploaded(job_id)
    assert desk.messages() == []
    assert desk.job(job_id)["status"] == "CANCELLED"


def test_only_failed_rows_are_retried_and_unreadable_ones_fail_until_they_are_fixed(
    desk: Desk,
) -> None:
    """Their cells may be cut: half a text, a price without its cents."""
    rows = 'a,"first line,1\nb,B,1,50\nc\nd,D,1\re,E,2\nf,"F" x,1\ng,G,1\n'
    job = desk.imported(HEADER + rows)
    codes = [error["code"] for error in job["errors"]]
    assert codes == [
        *("unclosed_quote", "too_many_cells", "too_few_cells"),
        *("stray_line_break", "misplaced_quote"),
    ]
    again = desk.retried(job["id"])
    assert (again["failed"], again["total"], again["ignoredColumns"]) == (5, 5, [])
    assert [(error["field"], error["code"]) for error in again["errors"]] == [
        ("error code", code) for code in codes
    ]
    assert list(desk.products()) == ["g"]
    report = desk.report(again["id"])
    assert report.startswith("slug,name,price,error row,error field,error code,error message\r\n")
    fixed = desk.imported(report.replace('"""first line"', "First").replace("unclosed_quote", ""))
    assert (fixed["created"], fixed["failed"]) == (1, 4)
    assert desk.products()["a"]["name"] == "First"


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("slug,name,price,description,,", "a,A,free,text,,"),
        ("slug,name,price,description", "a,A,free,text,, "),
        ("sep=^\nslug^name^price^description", "a^A^free^text"),
        ('URL handle;Title;"Price";Description;"a, b, or c, or none"', "a;A;free;text;b"),
    ],
)
def test_importing_a_fixed_report_equals_importing_the_fixed_file(
    desk: Desk, header: str, row: str
) -> None:
    job = desk.imported(f"{header}\n{row}\n")
    assert [error["code"] for error in job["errors"]] == ["not_an_amount"]
    fixed = desk.imported(desk.report(job["id"]).replace("free", "5"))
    assert (fixed["created"], fixed["failed"]) == (1, 0)
    assert desk.products()["a"]["description"] == "text"


def dead(body: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"Records": [{"messageId": "m1", "body": text, "attributes": {}}]}


def test_a_chunk_that_failed_five_times_ends_the_job_with_a_reason(desk: Desk) -> None:
    job_id = desk.started(LONG)
    poison, *others = desk.messages()
    answer = app.import_dead_letters(dead(poison["body"]), None)
    assert answer == {"batchItemFailures": []}
    for message in others:
        desk.handle(message)
    desk.work()
    assert failure(desk, job_id) == "chunk_failed"
    assert json.loads(poison["body"])["chunk"] == "rows-0000000002"
    assert "from line 2 on" in desk.job(job_id)["error"]["message"]


@pytest.mark.parametrize("enveloped", [False, True])
def test_an_upload_that_cannot_be_planned_ends_the_job_with_a_reason(
    desk: Desk, enveloped: bool
) -> None:
    job_id = desk.send(HEADER + "a,A,1\n")
    event = desk.upload_event(job_id)
    letter = {"requestContext": {"condition": "RetriesExhausted"}, "requestPayload": event}
    app.import_dead_letters(dead(letter if enveloped else event), None)
    assert failure(desk, job_id) == "planning_failed"


@pytest.mark.parametrize(
    ("step", "code", "message"),
    [
        ("chunk", "chunk_failed", "A part of the file could not be imported within an hour. "),
        (3, "step_failed", "Undo a bulk edit or a count before you make it again."),
    ],
    ids=["of an import", "of another job"],
)
def test_a_step_without_a_line_that_failed_five_times_ends_the_job(
    desk: Desk, step: object, code: str, message: str
) -> None:
    job_id = desk.started(LONG)
    app.import_dead_letters(dead({"job": job_id, "step": step}), None)
    error = desk.job(job_id)["error"]
    assert error["code"] == code
    assert message in error["message"]


def test_a_dead_letter_of_an_ended_job_changes_nothing_and_an_unknown_one_is_logged(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    job = desk.imported(HEADER + "a,A,1\n")
    app.import_dead_letters(
        dead({"job": job["id"], "step": "chunk", "chunk": "rows-0000000002"}), None
    )
    assert desk.job(job["id"]) == job
    for body in ("not json", "[]", '{"detail": 5}', "7"):
        assert app.import_dead_letters(dead(body), None) == {"batchItemFailures": []}
    assert capsys.readouterr().out.count("dead letter not understood") == 4


def test_a_dead_letter_is_redelivered_while_the_table_is_unavailable(desk: Desk) -> None:
    job_id = desk.send(HEADER + "a,A,1\n")
    desk.dynamodb.faults = lambda called, _: Fault.CONFLICT if called == "UpdateItem" else None
    answer = app.import_dead_letters(dead(desk.upload_event(job_id)), None)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}


def test_replacing_the_file_during_an_import_ends_the_job(desk: Desk) -> None:
    job_id = desk.started(LONG)
    files.put_upload(job_id, (HEADER + "other,Other,1\n").encode())
    desk.uploaded(job_id)
    desk.work()
    assert failure(desk, job_id) == "file_changed"
    assert desk.products() == {}


def test_a_job_whose_rows_are_gone_ends(desk: Desk) -> None:
    job_id = desk.started(LONG)
    desk.lose_files(job_id)
    desk.work()
    assert failure(desk, job_id) == "file_changed"


def test_a_file_that_is_gone_or_replaced_when_it_is_read_ends_the_job(desk: Desk) -> None:
    gone, replaced = desk.send(LONG), desk.send(LONG)
    files.client().delete_object(Bucket=settings.bucket(), Key=f"imports/{gone}.csv")
    desk.uploaded(replaced)
    files.put_upload(replaced, (HEADER + "other,Other,1\n").encode())
    for job_id in (gone, replaced):
        desk.uploaded(job_id)
        assert failure(desk, job_id) == "file_changed"


def test_a_file_that_is_too_large_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "LARGEST_UPLOAD", 100)
    assert failure(desk, desk.started(LONG)) == "file_too_large"


def test_a_step_that_fails_is_retried_at_growing_intervals(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = desk.started(HEADER + "a,A,1\n")
    (message,) = desk.messages()
    waits: list[int] = []
    monkeypatch.setattr(queue, "show_again", lambda receipt, seconds: waits.append(seconds))
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)

    def busy(operation: str, request: Any) -> Fault | None:
        writes = operation == "TransactWriteItems" and "{'S': 'product'}" in str(request)
        return Fault.CONFLICT if writes else None

    desk.dynamodb.faults = busy
    for received in range(1, 6):
        message["attributes"]["ApproximateReceiveCount"] = str(received)
        answer = app.import_chunk({"Records": [message]}, None)
        assert answer == {"batchItemFailures": [{"itemIdentifier": message["messageId"]}]}
    assert waits == [5, 20, 60, 180, 180]
    desk.dynamodb.faults = lambda operation, request: None
    desk.handle_again(message)
    assert (desk.job(job_id)["status"], desk.job(job_id)["created"]) == ("COMPLETED", 1)


def test_a_product_that_no_transaction_can_write_fails_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.storage.commit._ITEM_BYTES", 8_000)
    job = desk.imported(f"slug,name,price,description\na,A,1,{'x' * 9_000}\nb,B,1,\n")
    assert (job["created"], job["failed"]) == (1, 1)
    (error,) = job["errors"]
    assert (error["row"], error["code"]) == (2, "too_large")
    assert "too large an event" in error["message"]
