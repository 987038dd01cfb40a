"""How long calls that AWS refuses for a moment are sent again: two policies.

*A client waits*: seconds count, and what throttles is heard of. *Background work* (imports, jobs,
fan-out, deliveries) waits within the remaining time of its function; then its message comes again.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar

from chalicelib import settings, telemetry
from chalicelib.problems import Busy

PATIENCE_SECONDS = 6.0  # how long a client waits for conflicts and throttles before 503
_LEFT_SECONDS: Final = 8  # of a function's time, to give its messages back
T = TypeVar("T")


class Patience(NamedTuple):
    times: float  # PATIENCE_SECONDS in all
    attempt: float  # seconds of one call, whatever arrives meanwhile
    pause: float  # the longest one, in seconds


A_CLIENT_WAITS: Final = Patience(1, 1.25, 0.6)
BACKGROUND: Final = Patience(12.5, 5, 10)

# The end of the function's time (of `time.monotonic`); None where a client waits.
_ends: ContextVar[float | None] = ContextVar("ends", default=None)


def patience() -> Patience:
    return A_CLIENT_WAITS if _ends.get() is None else BACKGROUND


def in_background(function: Callable[[Any, Any], T]) -> Callable[[Any, Any], T]:
    """Let calls of a function of Lambda, for which no client waits, be repeated for longer."""

    @wraps(function)
    def run_handler(event: Any, context: Any) -> T:
        telemetry.begin(context)
        left = context.get_remaining_time_in_millis() / 1000 if context else float("inf")
        return at_most(left - _LEFT_SECONDS, partial(function, event, context))

    return run_handler


def at_most(seconds: float, work: Callable[[], T]) -> T:
    """Do the work; its calls are given up after so many seconds, in the background too."""
    inside = copy_context()
    inside.run(_ends.set, deadline_after(seconds))
    return inside.run(work)


def deadline_after(seconds: float | None = None) -> float:
    """Return the deadline (of `time.monotonic`) after so many seconds.

    By default those of the policy.
    """
    mine = PATIENCE_SECONDS * patience().times if seconds is None else seconds
    return min(time.monotonic() + mine, _ends.get() or float("inf"))


def of_conflicts() -> float:
    """Return the deadline for retries of a write that conflicts with others.

    In a request it is earlier than the deadline for throttled calls; in background work it is the
    same.
    """
    return deadline_after(settings.conflict_seconds() if _ends.get() is None else None)


def attempts(end: float | None = None) -> Iterator[int]:
    """Yield the numbers of attempts, from 0, with a pause before each but the first.

    Full jitter, from 20 ms doubling to that of the policy. It ends when the next attempt, as long
    as the last, would end after `end` (`within()` by default); then the caller raises.
    """
    end = deadline_after() if end is None else end
    for attempt in count():
        began = time.monotonic()
        yield attempt
        now = time.monotonic()
        pause = random.uniform(0, min(patience().pause, 0.02 * 2 ** min(attempt, 9)))
        if now + pause + (now - began) > end:
            return
        time.sleep(pause)


def retry_on_conflict(
    attempt: Callable[[], T], *changed: type[Exception], end: float | None = None
) -> T:
    """Return what `attempt` returns; after one of these exceptions, a concurrent change, try again.

    `end`: the deadline, as that of `attempts`. Raises Busy.
    """
    for _ in attempts(end):
        with suppress(*changed):
            return attempt()
    raise Busy
