"""A sequence in parts, each small enough for one call."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """The items in their order, up to `most` at a time."""
    return (items[at : at + most] for at in range(0, len(items), most))
