"""A commit happens whole or not at all, and once, whatever the network does to its answer."""

from collections.abc import Iterator

import pytest

from chalicelib import table
from chalicelib.commit import Commit
from tests.dynamodb_double import Double, Fault
from tests.environment import SETTINGS


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with Double() as double:
        yield double


@pytest.mark.parametrize("second", [Fault.THROTTLE, Fault.ERROR, Fault.LOST])
def test_a_commit_whose_answer_was_lost_does_not_fail_its_own_condition(
    dynamodb: Double, second: Fault
) -> None:
    faults = iter([Fault.LOST_AFTER, *[second] * 4])
    dynamodb.faults = lambda operation, request: next(faults, None)
    commit = Commit()
    commit.put({"pk": "a", "sk": "1"}, when=table.absent)
    commit.count("count", "a", 1)
    commit.send()
    assert table.get(("a", "1")) is not None
    assert [cell["n"] for cell in table.everything("count")] == [1]
