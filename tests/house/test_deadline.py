"""Retries end at their deadline, with random pauses until then."""

import pytest

from chalicelib import deadline


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, each of its maximal length, on a clock that only they advance."""
    found: list[float] = []
    monkeypatch.setattr("random.uniform", lambda least, most: most if least == 0 else 99)
    monkeypatch.setattr("time.monotonic", lambda: 100 + sum(found))
    monkeypatch.setattr("time.sleep", found.append)
    return found


def test_pauses_double_from_20_ms_to_600_ms_and_end_within_six_seconds(waited: list[float]) -> None:
    numbers = list(deadline.attempts())
    assert waited == [0.02, 0.04, 0.08, 0.16, 0.32, *[0.6] * 8]
    assert numbers == list(range(14))


def test_attempts_end_at_the_callers_deadline_after_at_least_one(waited: list[float]) -> None:
    assert list(deadline.attempts(100.14)) == [0, 1, 2, 3] and waited == [0.02, 0.04, 0.08]
    assert list(deadline.attempts(99)) == [0] and len(waited) == 3


def test_a_deadline_is_so_many_seconds_from_now_or_six(waited: list[float]) -> None:
    assert (deadline.deadline_after(2), deadline.deadline_after(0), deadline.deadline_after()) == (
        102,
        100,
        106,
    )


def test_only_a_client_waits_less_for_conflicts_than_for_throttled_calls(
    waited: list[float],
) -> None:
    assert deadline.of_conflicts() == 100.8
    assert deadline.at_most(300, deadline.of_conflicts) == 175


class _Context:
    aws_request_id = "r-1"

    def __init__(self, seconds: float) -> None:
        self._milliseconds = int(seconds * 1000)

    def get_remaining_time_in_millis(self) -> int:
        return self._milliseconds


@pytest.mark.parametrize(("remaining", "most"), [(300, 75), (48, 40)])
def test_background_work_waits_for_a_table_that_throttles_within_its_functions_time(
    waited: list[float], remaining: float, most: float
) -> None:
    def refused(event: object, context: object) -> int:
        return len(list(deadline.attempts()))

    assert deadline.in_background(refused)({}, _Context(remaining)) == len(waited) + 1
    assert waited[:9] == [0.02 * 2**n for n in range(9)] and set(waited[9:]) <= {10}
    assert most - 10.24 < sum(waited) <= most
    assert deadline.deadline_after() == 100 + sum(waited) + 6, "afterwards a client waits again"


@pytest.mark.parametrize(
    ("policy", "patience", "expected"), [("A_CLIENT_WAITS", 6, 4), ("BACKGROUND", 75, 10)]
)
def test_the_next_attempt_ends_within_the_patience_if_it_takes_as_long_as_the_last(
    waited: list[float], policy: str, patience: float, expected: int
) -> None:
    made: list[int] = []

    def hangs(event: object, context: object) -> None:
        for attempt in deadline.attempts():
            made.append(attempt)
            waited.append(deadline.patience().attempt)

    run = deadline.in_background(hangs) if policy == "BACKGROUND" else hangs
    run({}, None)
    assert len(made) == expected and sum(waited) <= patience
