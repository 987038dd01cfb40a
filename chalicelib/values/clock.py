"""The time, and its one format (docs/api.md#requests-and-answers)."""

import time
from datetime import UTC, datetime, timedelta


def now() -> datetime:
    return datetime.now(UTC)


def after(seconds: int) -> datetime:
    return now() + timedelta(seconds=seconds)


def unix() -> int:
    """Whole seconds since 1970, for TTLs, signatures and rate-limit windows."""
    return int(time.time())


def unix_ms() -> int:
    return int(time.time() * 1000)


def iso(moment: datetime) -> str:
    """`2026-11-20T06:12:14.123Z`: sorts as text in the order of time, for four-digit years."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def now_iso() -> str:
    return iso(now())


def parse(text: str) -> datetime:
    """The time of any ISO 8601 text, such as `iso` writes; without an offset it is UTC.

    Raises ValueError.
    """
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
