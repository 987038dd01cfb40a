"""The shop's days: the time zone in which it counts them (`--timezone`, IANA; UTC unless given)."""

from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from chalicelib import clock, settings


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def day(moment: datetime) -> date:
    """The day of a moment in the shop."""
    return moment.astimezone(_zone(settings.timezone())).date()


def today() -> date:
    return day(clock.now())


def start(day_of_shop: date) -> datetime:
    """The moment at which a day of the shop begins, in UTC: 23, 24 or 25 hours before the next,
    where clocks are changed."""
    zone = _zone(settings.timezone())
    midnight = datetime(day_of_shop.year, day_of_shop.month, day_of_shop.day, tzinfo=zone)
    moments = (midnight.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    # A midnight that there is twice begins the day the second time; one that there is not is the
    # moment at which clocks are changed.
    return next(
        (moment for moment in moments if day(moment) == day_of_shop),
        midnight.astimezone(UTC),
    )


def period(first: str, last: str) -> tuple[str, str]:
    """From which moment on, and before which, as `clock.iso` writes them: of a day, such as
    2026-11-01, all of it; of a moment, from it and up to it. Empty: no bound. Raises ValueError."""
    return (_moment(first, whole_day=False) if first else "", _end(last) if last else "")


def _end(last: str) -> str:
    if len(last) == 10:
        return _moment(last, whole_day=True)
    # The millisecond itself is in it.
    return clock.iso(clock.parse(last).astimezone(UTC) + timedelta(milliseconds=1))


def _moment(text: str, *, whole_day: bool) -> str:
    if len(text) != 10:
        return clock.iso(clock.parse(text))
    return clock.iso(start(date.fromisoformat(text) + timedelta(days=whole_day)))
