"""A commit happens whole or not at all, and once, whatever the network does to its answer."""

from collections.abc import Iterator

import pytest

from chalicelib import deadline, table
from chalicelib.commit import Commit
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
