"""Each step of an import counts its rows once, and only for an existing job."""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

import app
from chalicelib.imports import store
from chalicelib.imports.model import JobStatus, Options, ProductOutcome
from chalicelib.imports.steps import queue, tally
from chalicelib.imports.steps.waiting import Waiting, first_waiting, put_waiting, settle
from chalicelib.imports.upsert import ProductRows
from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from tests.support.import_desk import Desk

ROWS = [Waiting("hat", 10 * n, 10, n, named=True, priced=False) for n in range(2, 5)]


def counted(job_id: str) -> tuple[int, int]:
    job = store.get(job_id)
    return int(job.fields["processed"]), int(job.fields["updated"])


@pytest.mark.parametrize("many", [3, 95])  # in one transaction, and in two
def test_waiting_rows_settled_repeatedly_count_once(desk: Desk, many: int) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    rows = [replace(ROWS[0], line=n) for n in range(many)]
    put_waiting(job_id, rows)
    for _ in range(2):
        settle(job_id, rows, ProductOutcome.UPDATED)
        assert counted(job_id) == (many, many)
    assert first_waiting(job_id, 10) == []


def test_rows_that_wait_since_before_an_upgrade_are_counted(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    put_waiting(job_id, ROWS[:1])
    table.update(ROWS[0].key(job_id), remove=["alone"])
    settle(job_id, first_waiting(job_id, 10), ProductOutcome.UPDATED)
    assert counted(job_id) == (1, 1)


def test_rows_settled_by_another_step_are_not_counted_again(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    put_waiting(job_id, ROWS)
    keys = [row.key(job_id) for row in ROWS]
    assert store.finish(job_id, "swept#1", {ProductOutcome.UPDATED: 3}, settled=keys)
    assert not store.finish(job_id, "swept#2", {ProductOutcome.UPDATED: 3}, settled=keys)
    assert counted(job_id) == (3, 3)


def test_a_chunk_that_is_delivered_twice_is_counted_once(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    assert store.finish(job_id, "chunk#1", {ProductOutcome.UPDATED: 3})
    assert not store.finish(job_id, "chunk#1", {ProductOutcome.UPDATED: 3})
    assert counted(job_id) == (3, 3)


def test_repeated_products_of_a_chunk_that_is_counted_twice_count_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = tally.count

    def twice(job_id: str, chunk: str, rows: Sequence[ProductRows]) -> None:
        for _ in range(2):
            count(job_id, chunk, rows)

    monkeypatch.setattr(tally, "count", twice)
    job = desk.imported("slug,name,price\nhat,Hat,2\ncap,Cap,2\nhat,Hat,3\n")
    assert (job["created"], job["processed"], job["total"]) == (2, 2, 2)
    assert store.get(job["id"]).fields["handled"] == 3


def test_only_a_chunk_of_the_file_counts_as_a_chunk(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    for step in ("chunk#1", "ordered#1", "swept#1"):
        assert store.finish(job_id, step, {})
    assert store.get(job_id).fields["done"] == 1


def test_a_file_planned_twice_is_counted_once(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    desk.uploaded(job_id)
    commit = Commit()
    store.count(
        commit, job_id, {ProductOutcome.CREATED: 1}, total=1
    )  # which the planner cannot know
    commit.send()
    store.planned(job_id, 1, 1, 1, repeats=False)
    assert store.get(job_id).fields["total"] == 2


def test_a_late_step_does_not_recreate_a_deleted_job(desk: Desk) -> None:
    assert not store.finish("job_gone", "chunk#1", {ProductOutcome.CREATED: 1})
    for number in ("", "1"):
        with contextlib.suppress(table.ConditionFailed):
            store.follow("job_gone", number)
    store.has_report("job_gone")
    store.planned("job_gone", 1, 1, 1, repeats=False)
    store.complete("job_gone")
    assert table.get(jobs.key("job_gone")) is None
    assert table.everything("job_gone") == []


@pytest.mark.parametrize("step", ["copy", "chunk", "ordered", "leftover", "report"])
def test_a_late_step_of_a_job_that_is_gone_or_has_ended_does_nothing(
    desk: Desk, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = desk.imported("name,price\nHat,2\nCap,free\n")
    ended.pop("errorReportUrl")
    assert capsys.readouterr().out.count("import finished") == 1
    message = {"step": step, "number": "00000000", "repeated": [], "from": "job_1"}
    queue.send({**message, "job": job, "report": False} for job in ("job_gone", ended["id"]))
    desk.work()
    assert ended.items() <= desk.job(ended["id"]).items()
    assert "import finished" not in capsys.readouterr().out


def test_a_mapping_is_not_stored_for_a_queued_or_cancelled_job(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    assert store.answer(job_id, Options(), 60) is None
    assert store.ask(store.get(job_id), None)
    jobs.cancel(job_id)
    assert store.answer(job_id, Options(), 60) is None
    assert store.get(job_id).status is JobStatus.CANCELLED


def test_the_step_after_a_step_is_started_once(desk: Desk) -> None:
    job_id = desk.send("slug,name,price\nhat,Hat,2\ncap,Cap,2\nhat,Hat,3\n")
    desk.uploaded(job_id)
    for step in ("chunk", "ordered", "leftover"):
        (message,) = desk.messages()
        assert json.loads(message["body"])["step"] == step
        desk.handle(message)
        desk.handle_again(message)
    assert (desk.messages(), desk.job(job_id)["status"]) == ([], "COMPLETED")


def test_a_worker_that_finds_its_step_finished_waits_for_the_next(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    desk.uploaded(job_id)
    (message,) = desk.messages()
    assert store.finish(job_id, "chunk#00000000", {ProductOutcome.CREATED: 1})
    waits, show_again = [], queue.show_again
    with monkeypatch.context() as patched:
        patched.setattr(queue, "show_again", lambda receipt, seconds: waits.append(seconds))
        assert app.import_chunk({"Records": [message]}, None)["batchItemFailures"]
    assert waits == [5]
    show_again(message["receiptHandle"], 0)
    assert desk.job(job_id)["status"] == "RUNNING"
    desk.work()
    assert desk.job(job_id)["status"] == "COMPLETED"
