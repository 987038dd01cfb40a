"""The waits between attempts, the means of waiting, and the slots of parked deliveries."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.webhooks.retry import (
    FIRST_DAILY,
    SCHEDULE,
    NextStep,
    next_step,
    slot,
)

NOW = datetime(2026, 11, 20, 6, 12, 14, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3_600, 86_400
MICROSECONDS = 2e-6  # times are rounded to them

steps = st.integers(0, len(SCHEDULE) - 1)
chances = st.floats(0, 1, exclude_max=True)
scales = st.floats(1e-5, 1)
statuses = st.sampled_from([None, 301, 410, 429, 500, 503])
moments = st.datetimes(datetime(2024, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))
waits = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.integers(-10, 10**12).map(str),
    moments.map(lambda moment: format_datetime(moment, usegmt=True)),
)

facts = st.fixed_dictionaries({"status": statuses, "retry_after": waits})


def wait(step: NextStep, now: datetime = NOW) -> float:
    return (step.at - now).total_seconds()


def life() -> list[NextStep]:
    """The step after each failed attempt but the last."""
    path, following = [], next_step(0, NOW, 0)
    while following:
        path.append(following)
        following = next_step(following.step, following.at, 0, daily_since=following.daily_since)
    return path


def test_a_receiver_that_never_answers_gets_13_attempts_on_the_schedule():
    attempts = [NOW, *(step.at for step in life())]
    assert len(attempts) == 13
    assert [(after - before).total_seconds() for before, after in pairwise(attempts)] == [
        *(1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR),
        *(1 * DAY, 1 * DAY, 1 * DAY, 1 * DAY, 1 * DAY, 1 * DAY, 1 * DAY),
    ]


def test_a_message_waits_in_its_queue_for_15_minutes_at_most():
    assert [step.queue_delay for step in life()] == [1 * MINUTE, 5 * MINUTE, *[None] * 10]
    for seconds, delay in ((900, 900), (901, None)):
        step = next_step(0, NOW, 0, status=503, retry_after=str(seconds))
        assert (wait(step), step.queue_delay) == (seconds, delay)
    assert next_step(0, NOW, 0.99, status=503, retry_after="860").queue_delay is None


def test_jitter_is_a_part_of_a_tenth_or_a_minute():
    assert wait(next_step(0, NOW, 0.5)) == 63
    assert wait(next_step(3, NOW, 0.5)) == 2 * HOUR + 30
    assert wait(next_step(7, NOW, 0.5, daily_since=NOW - 2 * timedelta(days=1))) == DAY + 30


def test_daily_retries_are_counted_anew_after_a_delay_of_more_than_half_a_day():
    assert next_step(5, NOW, 0, daily_since=NOW - timedelta(hours=1)).daily_since == NOW
    known = NOW - timedelta(days=1.5)
    assert next_step(6, NOW, 0, daily_since=known).daily_since == known
    later = NOW + timedelta(seconds=1)
    assert next_step(6, later, 0, daily_since=known).daily_since == later - timedelta(days=1)


def test_a_shortened_schedule_has_the_same_steps_in_the_queue_and_shorter_waits():
    first, third = (next_step(step, NOW, 0, scale=0.1) for step in (0, 2))
    assert (wait(first), first.queue_delay) == (6, 6)
    assert (wait(third), third.queue_delay) == (180, None)
    known = NOW - timedelta(days=0.15)
    assert next_step(6, NOW, 0, daily_since=known, scale=0.1).daily_since == known
    later = NOW + timedelta(seconds=1)
    daily = next_step(6, later, 0, daily_since=known, scale=0.1)
    assert daily.daily_since == later - timedelta(days=0.1)
    shortest = slot("wh_1", NOW, NOW, scale=0.003)
    assert shortest.at == NOW + timedelta(seconds=2)
    assert shortest.until == NOW + timedelta(seconds=3)


@given(steps, chances, facts)
def test_jitter_adds_at_most_a_tenth_and_never_more_than_a_minute(step, chance, facts):
    plain = wait(next_step(step, NOW, 0, **facts))
    jittered = wait(next_step(step, NOW, chance, **facts))
    assert plain <= jittered <= plain + min(plain / 10, MINUTE) + MICROSECONDS


@given(st.lists(st.tuples(chances, st.floats(0, 8 * MINUTE)), min_size=7, max_size=7))
def test_seven_daily_retries_end_within_7_days_and_10_minutes_of_the_first_failure(week):
    """With any jitter, delay and duration of the attempts."""
    following = next_step(FIRST_DAILY, NOW, week[0][0])
    for number, (chance, late) in enumerate(week[1:], 1):
        assert 0 <= (following.at - NOW).total_seconds() - number * DAY <= MINUTE
        ended = following.at + timedelta(seconds=late)
        following = next_step(following.step, ended, chance, daily_since=following.daily_since)
    last_ends = following.at + timedelta(seconds=week[-1][1])
    assert last_ends - NOW <= timedelta(days=7, minutes=10)
    assert next_step(following.step, last_ends, 0) is None


@given(steps, chances, moments, facts, scales)
def test_a_wait_is_at_least_the_schedule_and_in_the_queue_at_most_its_limit(
    step, chance, now, facts, scale
):
    following = next_step(step, now, chance, **facts)
    assert following.step == step + 1
    seconds = wait(following, now)
    assert SCHEDULE[step] <= seconds <= max(SCHEDULE[step], 2 * HOUR) * 1.1
    shrunken = next_step(step, now, chance, **facts, scale=scale)
    assert wait(shrunken, now) == pytest.approx(seconds * scale, abs=MICROSECONDS)
    if following.queue_delay is None:
        assert seconds >= 15 * MINUTE and shrunken.queue_delay is None
    else:
        assert seconds <= following.queue_delay <= 900
        assert wait(shrunken, now) <= shrunken.queue_delay <= following.queue_delay


@given(st.integers(0, 3), st.integers(0, 10**9), st.sampled_from([429, 503]), st.booleans())
def test_retry_after_lengthens_the_steps_of_up_to_2_hours_to_2_hours_at_most(
    step, asked, status, as_date
):
    asked %= 10 * DAY
    date = format_datetime(NOW + timedelta(seconds=asked), usegmt=True)
    following = next_step(step, NOW, 0, status=status, retry_after=date if as_date else str(asked))
    assert wait(following) == max(SCHEDULE[step], min(asked, 2 * HOUR))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Fri, 20 Nov 2026 07:12:14 GMT", HOUR),
        ("Friday, 20-Nov-26 07:12:14 GMT", HOUR),
        ("Fri Nov 20 07:12:14 2026", HOUR),
        ("Fri, 20 Nov 2026 09:12:14 +0200", HOUR),
        (" 3600 ", HOUR),
        ("Thu, 01 Jan 1970 00:00:00 GMT", MINUTE),
        ("-3600", MINUTE),
        ("1e9", MINUTE),
        ("٣٦٠٠", MINUTE),
        ("Fri, 99 Nov 2026 07:12:14 GMT", MINUTE),
        ("soon", MINUTE),
        ("", MINUTE),
        (None, MINUTE),
    ],
)
def test_retry_after_is_read_in_every_form_and_nonsense_is_ignored(text, seconds):
    assert wait(next_step(0, NOW, 0, status=429, retry_after=text)) == seconds


def test_retry_after_counts_only_with_429_and_503_and_never_for_the_long_steps():
    assert wait(next_step(0, NOW, 0, status=500, retry_after="3600")) == MINUTE
    assert wait(next_step(0, NOW, 0, retry_after="3600")) == MINUTE
    assert wait(next_step(5, NOW, 0, status=503, retry_after="999999")) == DAY


endpoints = st.from_regex(r"wh_[0-9A-HJKMNP-TV-Z]{26}", fullmatch=True)


@given(endpoints, moments, st.floats(-2 * DAY, 2 * DAY), scales)
def test_a_slot_is_in_the_future_and_ends_after_the_due_time(endpoint, now, delay, scale):
    due = now + timedelta(seconds=delay)
    found = slot(endpoint, due, now, scale)
    length, margin = max(1, round(300 * scale)), max(2, 60 * scale)
    assert found.at >= now + timedelta(seconds=margin - 0.001)
    assert due < found.until == found.at + timedelta(seconds=length)
    assert re.fullmatch("[A-Za-z0-9_-]{1,80}", found.name)
    assert found.name.startswith(f"{endpoint}-")
    late = (found.at - max(now, due)).total_seconds()
    assert late <= (margin + length if delay < margin + length else 0)


@given(endpoints, moments)
def test_deliveries_due_in_the_same_5_minutes_share_a_slot(endpoint, moment):
    begin = datetime.fromtimestamp(moment.timestamp() // 300 * 300, UTC)
    parked = begin - timedelta(hours=12)
    names = {
        slot(endpoint, begin + timedelta(seconds=later), parked).name for later in (0, 150, 299.9)
    }
    assert len(names) == 1
    assert slot(endpoint, begin + timedelta(seconds=300), parked).name not in names
    assert slot(f"{endpoint}X", begin + timedelta(seconds=1), parked).name not in names
