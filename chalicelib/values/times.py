"""A time that a client sends: ISO 8601, with or without an offset."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from chalicelib.values import clock


def refuse_blank_offset(sent: str) -> None:
    """Raise an error for a time of a query in which the + of its offset was not escaped."""
    if re.search(r":[0-9.]+ [0-9]{2}:?[0-9]{2}$", sent):
        raise PydanticCustomError("value_error", "must have %2B for the + of its offset")


def _parse_time(sent: object) -> datetime:
    """Return the time of a text in UTC; pydantic would read more: 20261123 as a day of 1970."""
    if not isinstance(sent, str):
        raise PydanticCustomError("datetime_type", "must be a time")
    refuse_blank_offset(sent)
    try:
        return clock.parse(sent).astimezone(UTC)
    except ValueError:
        raise PydanticCustomError("datetime_parsing", "must be a time") from None
    except OverflowError:
        raise ValueError("must be a time in the years 1 to 9999, in UTC") from None


ZONE = "Without an offset it is a time of the shop's zone."  # of each field that takes a time

# A time that a client sends: ISO 8601. Without an offset it is one of the shop's zone, as days are.
Time = Annotated[datetime, BeforeValidator(_parse_time)]
