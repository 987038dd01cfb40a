"""A commit happens whole or not at all, and once, whatever the network does to its answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import deadline, table
from chalicelib.commit import Commit, send_all
from chalicelib.problems import Busy
from tests.support.dynamodb_double import Double, Fault
from tests.support.environment import SETTINGS


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with Double() as double:
        yield double


@pytest.mark.parametrize("second", [Fault.THROTTLE, Fault.ERROR, Fault.UNAVAILABLE, Fault.LOST])
@pytest.mark.parametrize(
    "first",
    [Fault.LOST_AFTER, Fault.ERROR_AFTER, Fault.UNAVAILABLE_AFTER, Fault.IN_PROGRESS_AFTER],
)
def test_a_commit_whose_answer_was_lost_does_not_fail_its_own_condition(
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
def test_a_service_that_never_answers_well_is_busy_and_no_error_of_ours(
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
    """Commits that go in one call: the second's condition never holds."""
    commits = [Commit(), Commit()]
    commits[0].put({"pk": "a", "sk": "1"})
    commits[1].put({"pk": "b", "sk": "1"}, when=table.present)
    return commits


def sizes(dynamodb: Double, fault: Fault | None = None) -> list[int]:
    """How many items each transaction has, from now on."""
    found: list[int] = []

    def note(operation: str, request: Any) -> Fault | None:
        found.append(len(request.get("TransactItems", ())))
        return fault

    dynamodb.faults = note
    return found


def test_of_commits_that_go_together_none_fails_for_another(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    fine, failed = send_all(two(), lanes=1)
    assert fine is None and isinstance(failed, table.ConditionFailed)
    assert sent == [2, 1, 1]
    assert table.get(("a", "1")) and not table.get(("b", "1"))


def test_a_commit_that_goes_alone_is_sent_once(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    (failed,) = send_all(two()[1:], lanes=1)
    assert isinstance(failed, table.ConditionFailed) and sent == [1]


def test_commits_of_which_nobody_knows_whether_they_happened_are_not_made_again_one_by_one(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    sent = sizes(dynamodb, Fault.LOST)
    outcomes = send_all(two(), lanes=1)
    assert [type(one) for one in outcomes] == [Busy, Busy]
    assert set(sent) == {2}
