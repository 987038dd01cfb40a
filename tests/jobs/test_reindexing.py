"""A reindexing is a job: it may crash anywhere, run twice, be cancelled and be followed."""

import json
import re
from functools import partial
from typing import Any

import pytest

import app
import chalicelib
from chalicelib import listing
from chalicelib.jobs import queue, run, store
from chalicelib.jobs.model import JobType
from chalicelib.reindexing import store as reindexing
from chalicelib.reindexing import work
from chalicelib.storage import table
from chalicelib.values import clock
from infra import reindex
from tests.listing import things
from tests.listing.test_two_upgrades import (
    FIRST_RELEASE,
    SECOND_RELEASE,
    THIRD_RELEASE,
    Release,
    waits,
)
from tests.listing.things import Thing, thing
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough

JOBS = "/api/admin/jobs"
RED: Any = {"where": {"color": ["red"]}}


@pytest.fixture
def stock(jobs: JobDesk, monkeypatch: pytest.MonkeyPatch) -> list[Thing]:
    return stocked(jobs.shop, monkeypatch)


def stocked(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> list[Thing]:
    """Of the first release, half of them red; the second is deployed."""
    shop.get(JOBS)  # the first request of a test's shop notes the release
    table.delete(listing.RELEASE)
    monkeypatch.setattr(reindexing, "ALL", (SECOND_RELEASE.records, store.RECORDS))
    monkeypatch.setattr(work, "_LOOKED_AT_ONCE", 4)
    made = [add(FIRST_RELEASE, "red" if n % 2 else "blue") for n in range(20)]
    waits(SECOND_RELEASE, RED)
    return made


def add(release: Release, color: str) -> Thing:
    one = thing("shirt", color=color, brand="acme", size="s")
    release.writes(None, one).send()
    return one


def start(settle: int = 0) -> str:
    asked = {"kinds": ["thing", "job"], "rate": 1e9, "settle": settle}
    return str(json.loads(store.create(JobType.REINDEX, asked, "me"))["jobId"])


def one_message(jobs: JobDesk) -> None:
    (message,) = jobs.messages()
    jobs.handle(message)


def is_reindexed(jobs: JobDesk, job: str, red: int) -> None:
    """All things and jobs are, the job itself too."""
    assert SECOND_RELEASE.page(**RED).total == len(SECOND_RELEASE.page(**RED).records) == red
    assert job in [one["id"] for one in jobs.shop.get(JOBS).json["data"]]
    for records in reindexing.ALL:
        assert listing.recount(records.kind).wrong == []
    noted = table.get(listing.RELEASE)
    assert noted and noted["reindexed"] == chalicelib.__version__
    assert noted["indexed"] == {"thing": 2, "job": 1}


def test_everything_is_moved_the_job_too(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start()
    assert jobs.counted(jobs.finished(job)) == {"updated": 20, "unchanged": 1}
    is_reindexed(jobs, job, 10)
    again = start()
    assert jobs.counted(jobs.finished(again)) == {"unchanged": 22}
    shown = jobs.job(again)
    assert (shown["type"], shown["createdBy"], shown["progress"]) == ("reindex", "me", 100)
    answer = jobs.shop.post(f"{JOBS}/{job}/undo")
    assert (answer.status, answer.json["code"]) == (409, "nothing_to_undo")
    assert answer.json["message"] == "A job of type reindex cannot be undone."


@pytest.mark.parametrize("after", [False, True])
def test_a_reindexing_that_crashes_at_any_call_continues(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    at, crashed = 1, True
    while crashed:
        jobs.dynamodb.empty()
        jobs.shop = Shop()
        with monkeypatch.context() as deployed:
            stocked(jobs.shop, deployed)
            job = start()
            failed_calls = jobs.dynamodb.failed_calls
            jobs.dynamodb.crashes(nth=at, after=after)
            one_message(jobs)
            jobs.dynamodb.faults = lambda operation, request: None
            crashed = jobs.dynamodb.failed_calls > failed_calls
            jobs.counted(jobs.finished(job))
            is_reindexed(jobs, job, 10)
        at += 3
    assert at > 60


@pytest.mark.parametrize("nth", [1, 3, 5, 8, 20])
def test_two_workers_at_once_move_each_record_once(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    job = start()
    (message,) = jobs.messages()
    repeated = {**message, "attributes": {"ApproximateReceiveCount": "2"}}
    work = partial(app.run_job, {"Records": [repeated]}, None)  # as many steps as there are
    jobs.dynamodb.meanwhile("TransactWriteItems", work, nth=nth)
    jobs.handle(message)
    jobs.work()
    jobs.counted(jobs.job(job))
    is_reindexed(jobs, job, 10)


def test_a_cancelled_reindexing_is_not_noted_and_can_be_started_again(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_SECONDS", -1)  # one step a message
    job = start()
    for _ in range(5):
        one_message(jobs)
    assert jobs.shop.post(f"{JOBS}/{job}/cancel").status == 200
    jobs.work()
    assert jobs.job(job)["status"] == "CANCELLED" and 0 < jobs.job(job)["updated"] < 20
    assert table.get(listing.RELEASE) is None
    waits(SECOND_RELEASE, RED)
    assert SECOND_RELEASE.page().total == 20
    again = start()
    jobs.counted(jobs.finished(again))
    is_reindexed(jobs, again, 10)


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many seconds jobs waited. Meanwhile functions of the first release add red things."""
    now, found, send = [clock.unix()], list[int](), queue.send
    monkeypatch.setattr(clock, "unix", lambda: now[0])
    monkeypatch.setattr(run, "_SECONDS", -1)

    def sent(job_id: str, step: int, seconds: int = 0) -> None:
        send(job_id, step)
        if seconds:
            found.append(seconds)
            now[0] += seconds
            add(FIRST_RELEASE, "red")
            assert table.get(listing.RELEASE) is None
        if job := store.find(job_id):
            assert job.fields["processed"] <= job.fields.get("total", 0)

    monkeypatch.setattr(queue, "send", sent)
    return found


def test_the_last_pass_begins_when_no_function_of_the_release_before_runs(
    jobs: JobDesk, stock: list[Thing], waited: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(settle=1_000)
    assert jobs.counted(jobs.finished(job)) == {"updated": 22, "unchanged": 1}
    assert waited == [900, 100]
    is_reindexed(jobs, job, 12)
    again = start(settle=1_000)
    assert jobs.counted(jobs.finished(again)) == {"unchanged": 24}
    assert waited == [900, 100], "nothing was to be done"


def test_a_reindexing_waits_if_there_is_no_record_yet(
    jobs: JobDesk, stock: list[Thing], waited: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in stock:
        FIRST_RELEASE.writes(things.find(one.id), None).send()
    job = start(settle=10)
    jobs.work()
    assert waited == [10]
    is_reindexed(jobs, job, 1)


def test_progress_is_never_more_than_all_although_records_come_and_go(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_SECONDS", -1)
    job = start()
    seen = [0]
    for number in range(100):
        one_message(jobs)
        now = jobs.job(job)
        if now["status"] == "COMPLETED":
            break
        assert now["processed"] <= now["total"] and seen[-1] <= now["processed"]
        assert now["progress"] < 100
        seen.append(now["processed"])
        if number % 2:
            add(SECOND_RELEASE, "blue")
        else:
            gone = things.find(stock.pop().id)
            SECOND_RELEASE.writes(gone, None).send()
    assert len(set(seen)) > 5
    jobs.counted(now)
    is_reindexed(jobs, job, SECOND_RELEASE.page(**RED).total)


def test_another_release_that_is_deployed_meanwhile_starts_again(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_SECONDS", -1)
    job = start()
    for _ in range(4):
        one_message(jobs)
    assert 0 < jobs.job(job)["updated"] < 20
    monkeypatch.setattr(reindexing, "ALL", (THIRD_RELEASE.records, store.RECORDS))
    monkeypatch.setattr(work, "__version__", "9.9.9")
    jobs.counted(jobs.finished(job))
    assert THIRD_RELEASE.page({"size": ["s"]}).total == 20
    assert listing.recount(THIRD_RELEASE.kind).wrong == []


def test_a_step_ends_although_few_records_are_moved_a_second(
    jobs: JobDesk, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr(work, "_LOOKED_AT_ONCE", 100)
    held = {pk: table.query_all(pk) for pk in SECOND_RELEASE.kind.list_pks("*")}
    pk = max(held, key=lambda each: len(held[each]))  # an old one: of 20 at least 10
    newest_first = sorted((item["sk"] for item in held[pk]), reverse=True)
    after, looked, moved = work._move_page(SECOND_RELEASE.records, pk, "", 0.4)
    assert after == newest_first[4]
    assert (looked, moved) == (5, 5) and sum(slept) == pytest.approx(12.5)
    assert work._move_page(SECOND_RELEASE.records, pk, after, 1e9)[1] == len(newest_first) - 5 > 0


# --- infra/reindex.py -----------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(reindex.keys, "connect_stage", lambda stage, endpoint_url: None)  # type: ignore[attr-defined]
    return lambda *options: reindex.main(["--stage", "test", "--settle", "0", *options])


def test_the_command_starts_the_job_and_follows_it(
    jobs: JobDesk, command: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    jobs.product()
    monkeypatch.setattr("time.sleep", lambda seconds: jobs.work())
    command("product", "--rate", "50")
    noted = table.get(listing.RELEASE)
    assert noted and "reindexed" not in noted, "other kinds are still to be moved"
    command()
    noted = table.get(listing.RELEASE)
    assert noted and noted["reindexed"] == chalicelib.__version__
    assert noted["job"] in capsys.readouterr().out
    all_kinds, product = (one["about"] for one in jobs.shop.get(JOBS).json["data"])
    assert product == {"kinds": ["product"], "rate": 50, "settle": 0}
    assert all_kinds["kinds"] == ["product", "order", "customer", "job", "stock_count"]


def test_the_command_follows_a_job_that_is_running(
    jobs: JobDesk, command: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def left(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", left)
    with pytest.raises(KeyboardInterrupt):
        command()
    monkeypatch.setattr("time.sleep", lambda seconds: jobs.work())
    command()
    assert jobs.shop.get(JOBS).json["total"] == 1
    assert "COMPLETED: 1 of 1 records, 0 moved" in capsys.readouterr().out


def test_the_command_says_that_the_job_was_cancelled(
    jobs: JobDesk, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(seconds: float) -> None:
        (job,) = jobs.shop.get(JOBS).json["data"]
        jobs.shop.post(f"{JOBS}/{job['id']}/cancel")

    monkeypatch.setattr("time.sleep", cancelled)
    with pytest.raises(SystemExit, match="was not completed: CANCELLED"):
        command()


@pytest.mark.parametrize(
    "wrong", [["prodcut"], ["product", "order,job"], ["--rate", "0"], ["--rate", "inf"]]
)
def test_meaningless_arguments_are_refused(
    jobs: JobDesk, command: Any, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command(*wrong)
    assert re.search("no kind (prodcut|order,job);|at least 0.1", capsys.readouterr().err)
