"""When and how a failed delivery is retried. Pure: time and randomness are arguments.

`step` counts the attempts of one schedule: 0 is the first attempt, 12 the last.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

MINUTE, HOUR, DAY = 60, 3_600, 86_400

# docs/webhooks.md#answers-and-retries: seconds from the end of attempt n to attempt n + 1.
SCHEDULE = (1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR, *[1 * DAY] * 7)
FIRST_DAILY = 5
"""The step whose failure begins the daily retries. All seven are counted from that time, so that a
delay of one does not delay the next."""
LAST_STEP = len(SCHEDULE)

LONGEST_QUEUE_DELAY = 15 * MINUTE  # SQS

LONGEST_RETRY_AFTER = 2 * HOUR
MOST_JITTER = 0.1
"""Of the wait."""
MOST_JITTER_SECONDS = 1 * MINUTE

FAILING_STREAK = 3
"""Failures in a row after which even first attempts to an endpoint go to the `retries` queue."""

SLOT = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class NextStep:
    step: int
    at: datetime
    """When it is due, including jitter."""
    queue_delay: int | None
    """DelaySeconds of its message. None: it is longer than a queue can wait, so the message is
    parked, from where it can also be sent earlier."""
    daily_since: datetime | None
    """The time from which the daily retries are counted, once they have begun."""


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    """Name of the execution: `<endpoint id>-<slot in Unix seconds>`."""
    at: datetime
    """When it begins, and the execution starts."""
    until: datetime
    """When it ends: messages due before that are queued with the remaining delay."""


def next_step(
    step: int,
    now: datetime,
    chance: float,
    *,
    status: int | None = None,
    retry_after: str | None = None,
    daily_since: datetime | None = None,
    scale: float = 1,
) -> NextStep | None:
    """Return what follows if the attempt of `step` failed at `now`; None after the last step.

    `chance` in [0, 1) becomes a jitter that only adds: 10 % of the wait, at most a minute. `status`
    and `retry_after`: the response's status and raw Retry-After header; on 429 and 503 it lengthens
    waits of up to 2 h, to at most 2 h. `daily_since`: of the previous step. `scale` multiplies the
    final delays, so that a test runs a week in a minute, with the same steps in the queue.
    """
    if step >= LAST_STEP:
        return None
    wait = float(SCHEDULE[step])
    if status in (429, 503):
        wait = max(wait, min(_parse_retry_after(retry_after, now), LONGEST_RETRY_AFTER))
    jitter = min(wait * MOST_JITTER, MOST_JITTER_SECONDS) * chance
    fits = wait + jitter <= LONGEST_QUEUE_DELAY
    queue_delay = math.ceil((wait + jitter) * scale) if fits else None
    since = None
    if step >= FIRST_DAILY:
        since = _daily_since(step, now, daily_since, scale)
        wait = (since - now).total_seconds() / scale + (step - FIRST_DAILY + 1) * DAY
    at = now + timedelta(seconds=(wait + jitter) * scale)
    return NextStep(step + 1, at, queue_delay, since)


def _daily_since(step: int, now: datetime, known: datetime | None, scale: float) -> datetime:
    """Return the time from which daily retries are counted, after `step` failed at `now`.

    At FIRST_DAILY, that is `now`. Later it is `known`, the time of the step before, unless that is
    None, or this failure came more than half a day late, because the webhook was paused: then it is
    the time by which this failure is punctual. Otherwise the missed retries would all follow at
    once.
    """
    days = timedelta(seconds=(step - FIRST_DAILY) * DAY * scale)
    late = timedelta(seconds=DAY * scale / 2)
    if step > FIRST_DAILY and known and known + days + late >= now:
        return known
    return now - days


def slot_seconds(scale: float) -> int:
    """Return the length of a slot: five minutes in this scale, at least 1 second."""
    return max(1, round(SLOT * scale))


def slot(endpoint_id: str, due: datetime, now: datetime, scale: float = 1) -> Slot:
    """Return the slot of 5 minutes, named after its start, in which messages due at `due` are sent.

    It starts at least a minute from now, the time to write the due entry and start the execution.
    So a message that is parked late, after a crash, never gets the name of an execution that has
    already run: Step Functions refuses a used name for 90 days, and the message would be stuck.
    """
    length = slot_seconds(scale)
    earliest = now.timestamp() + max(2, MINUTE * scale)
    begin = math.floor(due.timestamp() / length) * length
    if begin < earliest:
        begin = math.ceil(earliest / length) * length
    at = datetime.fromtimestamp(begin, UTC)
    return Slot(f"{endpoint_id}-{begin}", at, at + timedelta(seconds=length))


def _parse_retry_after(retry_after: str | None, now: datetime) -> float:
    """Return Retry-After as seconds from `now` (RFC 9110, 10.2.3); 0 if it is not usable."""
    text = (retry_after or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return int(text)
    try:
        moment = parsedate_to_datetime(text)
        # The oldest of the three formats has no zone; all mean GMT.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    except (ValueError, OverflowError):
        return 0
