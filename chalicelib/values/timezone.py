"""The shop's days, in its time zone (`--timezone`, IANA; UTC unless given)."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from chalicelib import settings
from chalicelib.values import clock


def day_at(moment: datetime) -> date:
    """Return the shop's day at a time."""
    return moment.astimezone(ZoneInfo(settings.timezone())).date()


def today() -> date:
    return day_at(clock.now())


def start_of_day(day_of_shop: date) -> datetime:
    """Return the time at which a day of the shop begins, in UTC.

    It is 23, 24 or 25 hours before the next, as clocks change.
    """
    # If midnight occurs twice, the day begins at the first; if it does not occur, when the clocks
    # change.
    return datetime.combine(day_of_shop, time(), ZoneInfo(settings.timezone())).astimezone(UTC)


def parse_period(first: str, last: str) -> tuple[str, str]:
    """Return the start and the (exclusive) end of a range, as `clock.iso` writes them.

    A day, such as 2026-11-01, counts as a whole, a time exactly. Empty: no bound. Raises
    ValueError.
    """
    return (_parse_start(first) if first else "", _parse_end(last) if last else "")


def _parse_start(first: str) -> str:
    day = _parse_day(first)
    return clock.iso(start_of_day(day) if day else clock.parse(first))


def _parse_end(last: str) -> str:
    day = _parse_day(last)
    try:
        if day:
            return clock.iso(start_of_day(day + timedelta(days=1)))
        # The millisecond itself is included.
        return clock.iso(clock.parse(last).astimezone(UTC) + timedelta(milliseconds=1))
    except OverflowError:
        if last.startswith("9999"):
            return ""  # how many programs write that there is no end
        raise


def _parse_day(text: str) -> date | None:
    """Return the day of a text without a time, such as 2026-11-01; None if it has a time."""
    return clock.parse(text).date() if len(text) == len("2026-11-01") else None
