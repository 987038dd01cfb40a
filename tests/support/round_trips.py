"""Counts round trips: calls that waited for one another."""

from collections.abc import Sequence


def in_a_row(spans: Sequence[tuple[float, float]]) -> int:
    """The length of the longest chain of calls in which each began after the end of the one before.
    `spans`: beginnings and ends."""
    count, reached = 0, -1.0
    for end, start in sorted((end, start) for start, end in spans):
        if start >= reached:
            count, reached = count + 1, end
    return count
