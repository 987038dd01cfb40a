"""Functions that crash at random calls. `python -m bench kill` does it with 2,000 events."""

from collections import Counter

import pytest

from tests.support.kill import killed

pytestmark = pytest.mark.thorough


def test_every_event_arrives_despite_crashes_and_each_repeat_is_explained() -> None:
    tolls = [killed(150, seed) for seed in (1, 2)]
    for toll in tolls:
        assert toll.deaths > 5 and toll.doubled
        assert toll.arrived == toll.events
        assert toll.statuses == {"DELIVERED": 150}
    # The only reason for a repeat: the receiver got it, but the function crashed before recording.
    # Threads decide how many there are: of 150 events one to seven, seldom none.
    assert sum((toll.again for toll in tolls), Counter()).keys() == {"interrupted"}
