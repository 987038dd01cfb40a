"""The time, and its one format (docs/api.md#requests-and-answers)."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from chalicelib import settings

# Python also reads weeks (2026-W47), and days without hyphens.
_FORM: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt _].+)?")


def now() -> datetime:
    return datetime.now(UTC)


def seconds_from_now(seconds: int) -> datetime:
    return now() + timedelta(seconds=seconds)


def unix() -> int:
    """Return whole seconds since 1970, for TTLs, signatures and rate-limit windows."""
    return int(time.time())


def unix_ms() -> int:
    return int(time.time() * 1000)


def iso(moment: datetime) -> str:
    """Return `2026-11-20T06:12:14.123Z`, which sorts as text by time, for four-digit years."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def now_iso() -> str:
    return iso(now())


def next_iso(last: str, now: str) -> str:
    """Return `now`, or the millisecond after `last` if `now` is not after it.

    Clocks of two functions differ. Receivers keep the newer of two versions by their `updatedAt`.
    """
    return max(now, iso(parse(last) + timedelta(milliseconds=1)))


def parse(text: str) -> datetime:
    """Return the time of an ISO 8601 text, such as `iso` writes or 2026-11-20. Raise ValueError.

    A text without an offset is of the shop's time zone; if it occurs twice there, the first is
    meant. The time may be in the years 1 to 9999 there only, not in UTC.
    """
    if not _FORM.fullmatch(text):
        raise ValueError("must be a day, such as 2026-11-20, or a time of it")
    moment = datetime.fromisoformat(text.upper().replace("\u2212", "-"))  # a minus of ISO 8601
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(settings.timezone()))
