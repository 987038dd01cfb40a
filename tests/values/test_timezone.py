"""Days in the shop's time zone: each moment is in exactly one, also around clock changes."""

import zoneinfo
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.values import timezone

ZONES = sorted(zoneinfo.available_timezones())


@pytest.fixture(autouse=True)
def new_york(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMEZONE", "America/New_York")


def hours(day: date) -> float:
    return (
        timezone.start_of_day(day + timedelta(days=1)) - timezone.start_of_day(day)
    ).total_seconds() / 3_600


def test_a_day_has_23_24_or_25_hours() -> None:
    assert hours(date(2026, 11, 1)) == 25
    assert hours(date(2026, 3, 8)) == 23
    assert hours(date(2026, 7, 1)) == 24


def test_a_sale_late_in_the_evening_belongs_to_that_day() -> None:
    assert timezone.day_at(datetime(2026, 11, 2, 4, 30, tzinfo=UTC)) == date(2026, 11, 1)


def test_a_period_includes_its_first_and_last_day() -> None:
    first, end = timezone.parse_period("2026-11-01", "2026-11-01")
    assert (first, end) == ("2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z")
    assert timezone.parse_period("", "") == ("", "")
    moment = "2026-11-01T10:00:00.000Z"
    assert timezone.parse_period(moment, moment) == (moment, "2026-11-01T10:00:00.001Z")
    assert timezone.parse_period("", "9999-12-31") == ("", "")
    with pytest.raises(OverflowError):
        timezone.parse_period("", "0001-01-01T00:00:00+05:00")
    for wrong in ("x", "2026-02-30", "2026-13-01"):
        with pytest.raises(ValueError, match=r".+"):
            timezone.parse_period(wrong, "")


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(ZONES), st.datetimes(datetime(1990, 1, 1), datetime(2037, 12, 31)))
def test_a_moment_is_within_its_day(zone: str, moment: datetime) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TIMEZONE", zone)
        at = moment.replace(tzinfo=UTC)
        day = timezone.day_at(at)
        begins, ends = timezone.start_of_day(day), timezone.start_of_day(day + timedelta(days=1))
        assert begins <= at and timezone.day_at(begins) == day
        # In a few zones midnight has occurred twice; in between, it was the day before again.
        midnight = datetime.combine(timezone.day_at(ends), time(), zoneinfo.ZoneInfo(zone))
        is_twice = midnight.replace(fold=1).astimezone(UTC) > midnight.astimezone(UTC)
        assert at < ends or is_twice


def test_a_day_without_midnight_begins_at_the_clock_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMEZONE", "America/Sao_Paulo")  # 2018-11-04: from 00:00 to 01:00
    assert timezone.start_of_day(date(2018, 11, 4)) == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert hours(date(2018, 11, 4)) == 23
