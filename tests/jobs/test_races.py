"""Concurrent workers: each change is made and counted once."""

from dataclasses import replace

import pytest

from chalicelib.jobs import store
from chalicelib.jobs.model import Job, JobStatus, RecordOutcome, Step
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from chalicelib.undo import store as undo
from tests.support.job_desk import PRODUCTS, JobDesk

pytestmark = pytest.mark.thorough

JOB, OTHER = "job_1", "job_2"


def noted(record: str) -> undo.Entry:
    commit = Commit()
    undo.note(commit, JOB, record, {"fields": {"vendor": ["A", "B"]}})
    commit.send()
    return undo.entry(JOB, record)


def marked(entry: undo.Entry, by: str) -> None:
    commit = Commit()
    undo.mark(commit, [entry], by)
    commit.send()


def running(jobs: JobDesk) -> Job:
    edit = {"ids": [jobs.product()["id"]], "change": {"vendor": "B"}}
    return store.begin(store.get(jobs.start(f"{PRODUCTS}/bulk-edit", edit)))


def processed(job: Job) -> tuple[JobStatus, int]:
    now = store.get(job.id)
    return now.status, int(now.fields["processed"])


def test_an_entry_and_a_request_take_no_more_room_than_their_letters(jobs: JobDesk) -> None:
    commit = Commit()
    undo.note(commit, JOB, "prod_1", {"deleted": {"name": "衬衫"}})
    commit.send()
    (item,) = table.query_all(JOB)
    assert "衬衫" in item["change"]
    edit = {"ids": [jobs.product()["id"]], "change": {"vendor": "衬衫"}}
    started = table.get(store.key(jobs.start(f"{PRODUCTS}/bulk-edit", edit)))
    assert started is not None and "衬衫" in started["asked"]


def test_all_entries_of_the_last_record_of_a_step_are_read(jobs: JobDesk) -> None:
    for id, version in (("prod_1", 1), ("prod_1", 2), ("prod_2", 1)):
        commit = Commit()
        undo.note(commit, JOB, id, {"created": "T1"}, version)
        commit.send()
    first, more = undo.entries(JOB, "", 1)
    assert ({id: len(entries) for id, entries in first.items()}, more) == ({"prod_1": 2}, True)
    last, more = undo.entries(JOB, "prod_1", 1)
    assert ([*last], more) == (["prod_2"], False)


def test_a_missing_entry_is_not_reverted(jobs: JobDesk) -> None:
    entry = replace(noted("prod_1"), job=OTHER)
    with pytest.raises(undo.Raced):
        marked(entry, "undo_1")
    assert table.query_all(OTHER) == []


def test_one_of_two_concurrent_undos_reverts_an_entry_and_only_it_can_restore_it(
    jobs: JobDesk,
) -> None:
    entry = noted("prod_1")
    marked(entry, "undo_1")
    with pytest.raises(undo.Raced):
        marked(entry, "undo_2")
    assert undo.entry(JOB, "prod_1").undone_by == "undo_1"
    for by, is_given in (("undo_2", False), ("undo_1", True)):
        commit = Commit()
        undo.unmark(commit, [entry.sk], JOB, by)
        if is_given:
            commit.send()
        else:
            with pytest.raises(undo.Raced):
                commit.send()
        assert (undo.entry(JOB, "prod_1").undone_by is None) == is_given


def test_a_job_that_runs_is_begun_without_a_call(jobs: JobDesk) -> None:
    job = running(jobs)
    with jobs.dynamodb.metered() as calls:
        assert store.begin(job) is job
    assert calls == []


def test_a_late_message_of_a_finished_step_is_ignored(jobs: JobDesk) -> None:
    """Unless it was received before: then its worker may have died before it sent the next step."""
    job = running(jobs)
    advanced = store.advance(job, Step(cursor="1", counts={}))
    assert advanced is not None and advanced.step == 1
    (message,) = jobs.messages()
    with jobs.dynamodb.metered() as calls:
        jobs.handle(message)
    assert {call.operation for call in calls} == {"BatchGetItem"}
    assert processed(job) == (JobStatus.RUNNING, 0)


def test_a_step_finished_by_two_workers_counts_once(jobs: JobDesk) -> None:
    job = running(jobs)
    step = Step(cursor="next", counts={RecordOutcome.UPDATED: 2})
    assert store.advance(job, step) is not None
    assert store.advance(job, step) is None
    assert processed(job) == (JobStatus.RUNNING, 2)
    # A worker that was suspended, and assumes that it has reached the end.
    assert store.advance(job, replace(step, cursor=None)) is None
    assert processed(job) == (JobStatus.RUNNING, 2)


def test_a_late_step_does_not_recreate_a_deleted_job(jobs: JobDesk) -> None:
    with pytest.raises(table.ConditionFailed):
        store.new_number(JOB)
    assert table.query_all(JOB) == []


def test_the_last_step_of_a_cancelled_job_counts_and_the_job_stays_cancelled(jobs: JobDesk) -> None:
    job = running(jobs)
    store.cancel(job.id)
    assert store.advance(job, Step(counts={RecordOutcome.UPDATED: 2})) is not None
    assert processed(job) == (JobStatus.CANCELLED, 2)
