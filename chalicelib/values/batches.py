"""Items in parts, each small enough for one call."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in their order, up to `size` at a time; no more of them are taken ahead."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
