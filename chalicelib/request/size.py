"""The maximum size of an answer, and how many items of a list fit into it."""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from chalicelib.problems import Invalid

# AWS: Lambda answers at most 6 MB, of which headers and the envelope take some.
LARGEST_ANSWER: Final = 6_000_000
_AROUND: Final = 5_000  # the rest of the answer, including the next cursor
_WORST: Final = 12  # bytes that a character can take: an escaped pair of surrogates


class AnswerTooLarge(Invalid):
    """422 if a list's page exceeds the maximum answer; `limit` is the largest that fits."""

    code = "answer_too_large"

    def __init__(self, limit: int) -> None:
        message = f"The answer would be larger than 6 MB. Ask for {limit} at a time."
        super().__init__(message, limit=limit)


def count_sent_bytes(text: str) -> int:
    """Return the bytes of an answer as Lambda's runtime sends it.

    That is a JSON string and, up to Python 3.11, all its non-ASCII characters are escaped.
    """
    return len(json.dumps(text))


def fits(text: str) -> bool:
    return len(text) * _WORST <= LARGEST_ANSWER or count_sent_bytes(text) <= LARGEST_ANSWER


def fitting(items: Sequence[str]) -> int:
    """Return how many of the first items, as JSON, fit into one answer."""
    sizes = accumulate(count_sent_bytes(item) + 1 for item in items)
    return sum(size <= LARGEST_ANSWER - _AROUND for size in sizes)


def largest_page(items: Sequence[str]) -> int:
    """Return the largest page size at which every page of these items, as JSON, fits."""
    limit = len(items)
    while limit > 1 and any(
        fitting(items[start : start + limit]) < limit for start in range(len(items) - limit + 1)
    ):
        limit -= 1
    return limit
