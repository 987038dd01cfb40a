"""Each step of an import counts its rows once, and only for an existing job."""

import pytest

from chalicelib.imports import store
from chalicelib.imports.model import JobStatus, Options, ProductOutcome
from chalicelib.imports.steps import queue
from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from tests.support.import_desk import Desk


def test_a_chunk_that_is_delivered_twice_is_counted_once(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    assert store.finish_chunk(job_id, "rows-1", {ProductOutcome.UPDATED: 3})
    assert not store.finish_chunk(job_id, "rows-1", {ProductOutcome.UPDATED: 3})
    job = desk.job(job_id)
    assert (job["processed"], job["updated"]) == (3, 3)


def test_a_file_planned_twice_is_counted_once(desk: Desk) -> None:
    job_id = desk.started("name,price\nHat,2\n")
    store.mark_planned(job_id, 2, 9, 5)
    job = store.get_job(job_id)
    assert (job.fields["parts"], job.fields["total"]) == (1, 1)


def test_a_late_step_does_not_recreate_a_deleted_job(desk: Desk) -> None:
    assert not store.finish_chunk("job_gone", "rows-1", {ProductOutcome.CREATED: 1})
    store.note_report("job_gone")
    store.mark_planned("job_gone", 1, 1, 1)
    jobs.end("job_gone", JobStatus.COMPLETED)
    assert table.get(jobs.key("job_gone")) is None
    assert table.query_all("job_gone") == []


@pytest.mark.parametrize("step", ["copy", "chunk", "report"])
def test_a_late_step_of_a_job_that_is_gone_or_has_ended_does_nothing(
    desk: Desk, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = desk.imported("name,price\nHat,2\nCap,free\n")
    ended.pop("errorReportUrl")
    assert capsys.readouterr().out.count("import finished") == 1
    message = {"step": step, "chunk": "rows-0000000002", "from": "job_1"}
    queue.send({**message, "job": job, "report": False} for job in ("job_gone", ended["id"]))
    desk.work()
    assert ended.items() <= desk.job(ended["id"]).items()
    assert "import finished" not in capsys.readouterr().out


def test_a_mapping_is_not_stored_for_a_queued_or_cancelled_job(desk: Desk) -> None:
    job_id = desk.send("name,price\nHat,2\n")
    assert store.store_answer(job_id, Options(), 60) is None
    assert store.ask_user(store.get_job(job_id), None)
    jobs.cancel(job_id)
    assert store.store_answer(job_id, Options(), 60) is None
    assert store.get_job(job_id).status is JobStatus.CANCELLED


def test_a_worker_that_finds_its_chunk_finished_starts_the_next_step(desk: Desk) -> None:
    job_id = desk.started("name,price\nHat,2\n")
    (message,) = desk.messages()
    assert store.finish_chunk(job_id, "rows-0000000002", {ProductOutcome.CREATED: 1})
    assert desk.job(job_id)["status"] == "RUNNING"
    desk.handle(message)
    assert desk.job(job_id)["status"] == "COMPLETED"
