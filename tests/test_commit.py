"""A commit is made completely or not at all, and once, even if its answer is lost."""

from typing import Any

import pytest

from chalicelib import deadline, outbox, table
from chalicelib.commit import Commit, send_all
from chalicelib.problems import Busy, Invalid
from tests.support.dynamodb_double import Double, Fault
from tests.support.dynamodb_faults import cancelled


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.mark.parametrize("second", [Fault.THROTTLE, Fault.ERROR, Fault.UNAVAILABLE, Fault.LOST])
@pytest.mark.parametrize(
    "first",
    [Fault.LOST_AFTER, Fault.ERROR_AFTER, Fault.UNAVAILABLE_AFTER, Fault.IN_PROGRESS_AFTER],
)
def test_a_retry_after_a_lost_answer_does_not_fail_its_own_condition(
    dynamodb: Double, first: Fault, second: Fault
) -> None:
    faults = iter([first, *[second] * 4])
    dynamodb.faults = lambda operation, request: next(faults, None)
    commit = Commit()
    commit.put({"pk": "a", "sk": "1"}, when=table.absent)
    commit.count("count", "a", 1)
    commit.send()
    assert table.get(("a", "1")) is not None
    assert [cell["n"] for cell in table.everything("count")] == [1]


@pytest.mark.parametrize("fault", [Fault.THROTTLE, Fault.ERROR, Fault.UNAVAILABLE, Fault.LOST])
def test_repeated_service_errors_raise_busy(
    dynamodb: Double, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    dynamodb.faults = lambda operation, request: fault
    commit = Commit()
    commit.put({"pk": "a", "sk": "1"})
    for call in (
        commit.send,
        lambda: table.get(("a", "1")),
        lambda: table.put({"pk": "a", "sk": "2"}),
    ):
        with pytest.raises(Busy):
            call()


def two() -> list[Commit]:
    """Two commits for one call. The condition of the second is never true."""
    commits = [Commit(), Commit()]
    commits[0].put({"pk": "a", "sk": "1"})
    commits[1].put({"pk": "b", "sk": "1"}, when=table.present)
    return commits


def sizes(dynamodb: Double, fault: Fault | None = None) -> list[int]:
    """The number of items of each following transaction."""
    found: list[int] = []

    def note(operation: str, request: Any) -> Fault | None:
        found.append(len(request.get("TransactItems", ())))
        return fault

    dynamodb.faults = note
    return found


def test_a_commit_in_a_batch_does_not_fail_because_of_another(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    fine, failed = send_all(two(), lanes=1)
    assert fine is None and isinstance(failed, table.ConditionFailed)
    assert sent == [2, 1, 1]
    assert table.get(("a", "1")) and not table.get(("b", "1"))


def test_a_single_commit_is_sent_once(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    (failed,) = send_all(two()[1:], lanes=1)
    assert isinstance(failed, table.ConditionFailed) and sent == [1]


def test_commits_with_an_unknown_outcome_are_not_repeated_one_by_one(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    sent = sizes(dynamodb, Fault.LOST)
    outcomes = send_all(two(), lanes=1)
    assert [type(one) for one in outcomes] == [Busy, Busy]
    assert set(sent) == {2}


@pytest.mark.parametrize("alone", [True, False])
def test_delete_after_deletes_only_if_the_commit_was_made(dynamodb: Double, alone: bool) -> None:
    for pk in "ab":
        table.put({"pk": pk, "sk": "left"})
    commits = two()
    for commit, pk in zip(commits, "ab", strict=True):
        commit.delete_after((pk, "left"))
    if alone:
        commits[0].send()
        with pytest.raises(table.ConditionFailed):
            commits[1].send()
    else:
        send_all(commits)
    assert table.get(("a", "left")) is None and table.get(("b", "left")) is not None


def test_a_batch_of_commits_has_at_most_the_events_of_one_item(dynamodb: Double) -> None:
    for more, fits in ((0, True), (1, False)):
        first, second = Commit(), Commit()
        for _ in range(outbox.MOST_COMMIT_EVENTS - 10 + more):
            first.announce("product.deleted", {})
        for _ in range(10):
            second.announce("product.deleted", {})
        assert first.takes(second) is second.takes(first) is fits


def test_a_commit_has_at_most_the_events_of_one_item(dynamodb: Double) -> None:
    commit = Commit()
    for _ in range(outbox.MOST_COMMIT_EVENTS):
        commit.announce("product.deleted", {})
    assert not commit.overflows
    commit.announce("product.deleted", {})
    assert commit.overflows
    with pytest.raises(Invalid):
        commit.send()


def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The following pauses, each of its maximal length."""
    found: list[float] = []
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    monkeypatch.setattr("time.sleep", found.append)
    return found


@pytest.mark.parametrize(("held", "longest"), [("a", 0.6), ("count", 0.08)])
def test_a_conflict_on_counts_alone_is_retried_soon_in_another_shard(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, held: str, longest: float
) -> None:
    commit = Commit()
    commit.put({"pk": "a", "sk": "1"})
    commit.count("count", "all", 1)
    shards = hold(dynamodb, held, times=8)
    waited = pauses(monkeypatch)
    commit.send()
    assert max(waited) == longest and len(waited) == 8 and len(set(shards)) > 1


def test_a_write_that_does_not_wait_raises_its_error_on_the_first_conflict(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    for waits in (True, False):
        commit = Commit()
        taken = ValueError("taken")
        commit.update(("a", "1"), set={"n": 1}, when=table.absent, otherwise=taken, waits=waits)
        hold(dynamodb, "a", times=1)
        waited = pauses(monkeypatch)
        if waits:
            commit.send()
            assert len(waited) == 1
            table.delete(("a", "1"))
            continue
        with pytest.raises(ValueError, match="taken"):
            commit.send()
        assert waited == [] and table.get(("a", "1")) is None


def hold(dynamodb: Double, pk: str, *, times: int) -> list[str]:
    """The item of `pk` conflicts for so many calls. Returns the shards of the counts."""
    usual, shards = dynamodb._on_TransactWriteItems, list[str]()

    def meets(request: Any) -> Any:
        keys = [next(iter(action.values())) for action in request["TransactItems"]]
        keys = [each.get("Key") or each["Item"] for each in keys]
        shards.extend(key["sk"]["S"] for key in keys if key["pk"]["S"] == "count")
        if next(left, None) is None:
            return usual(request)
        codes = ["TransactionConflict" if key["pk"]["S"] == pk else "None" for key in keys]
        raise cancelled([{"Code": code} for code in codes])

    left = iter(range(times))
    dynamodb._on_TransactWriteItems = meets  # type: ignore[method-assign]
    return shards
