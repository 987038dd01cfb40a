"""Retry until a deadline: calls that AWS refuses temporarily are sent again after a pause."""

import random
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

PATIENCE_SECONDS = 6.0  # how long conflicts and throttles are retried before 503
LONGEST_PAUSE: Final = 0.6


def within(seconds: float | None = None) -> float:
    """The deadline (of `time.monotonic`) after so many seconds, by default PATIENCE_SECONDS."""
    return time.monotonic() + (PATIENCE_SECONDS if seconds is None else seconds)


def attempts(
    deadline: float | None = None, longest: Callable[[], float] = lambda: LONGEST_PAUSE
) -> Iterator[int]:
    """The numbers of attempts, from 0, with a pause before each but the first.

    Full jitter, from 20 ms doubling to 0.6 s, or to `longest()`, called each time. It ends when
    the next pause would end after the deadline (`within()` by default); then the caller raises.
    """
    end = within() if deadline is None else deadline
    for attempt in count():
        yield attempt
        pause = random.uniform(0, min(longest(), 0.02 * 2 ** min(attempt, 8)))
        if time.monotonic() + pause > end:
            return
        time.sleep(pause)
