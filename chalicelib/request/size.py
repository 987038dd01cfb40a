"""How large an answer may be, and how many items of a list fit into one."""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from chalicelib.problems import Invalid

# AWS: Lambda answers at most 6 MB, of which headers and the envelope take some.
LARGEST_ANSWER: Final = 6_000_000
_AROUND: Final = 5_000  # what is around the items, the next cursor included
_WORST: Final = 12  # bytes that a character can take: an escaped pair of surrogates


class AnswerTooLarge(Invalid):
    """422 where a list's page is larger than an answer may be; `limit` is the largest that fits."""

    code = "answer_too_large"

    def __init__(self, limit: int) -> None:
        message = f"The answer would be larger than 6 MB. Ask for {limit} at a time."
        super().__init__(message, limit=limit)


def carried(text: str) -> int:
    """The bytes of an answer on its way out of Lambda: its runtime sends it as text in JSON and, up
    to Python 3.11, with everything but ASCII escaped."""
    return len(json.dumps(text))


def fits(text: str) -> bool:
    return len(text) * _WORST <= LARGEST_ANSWER or carried(text) <= LARGEST_ANSWER


def fitting(items: Sequence[str]) -> int:
    """How many of the first items, as JSON, fit into one answer."""
    sizes = accumulate(carried(item) + 1 for item in items)
    return sum(size <= LARGEST_ANSWER - _AROUND for size in sizes)


def largest_page(items: Sequence[str]) -> int:
    """The largest number of items, as JSON, of which any neighbours fit."""
    limit = len(items)
    while limit > 1 and any(
        fitting(items[start : start + limit]) < limit for start in range(len(items) - limit + 1)
    ):
        limit -= 1
    return limit
