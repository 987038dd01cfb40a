"""Functions that crash at random calls. `python -m bench kill` does it with 2,000 events."""

import pytest

from tests.support.kill import killed


@pytest.mark.parametrize("seed", [1, 2])
def test_every_event_arrives_despite_crashes_and_each_repeat_is_explained(seed: int) -> None:
    toll = killed(150, seed)
    assert toll.deaths > 5 and toll.doubled
    assert toll.arrived == toll.events
    assert toll.statuses == {"DELIVERED": 150}
    # The only reason for a repeat: the receiver got it, but the function crashed before recording.
    # Threads decide how many there are: of 150 events none to seven.
    assert toll.again.keys() <= {"interrupted"}
