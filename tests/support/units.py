"""DynamoDB's request units, as AWS bills them on demand: from the sizes of the items.

Source: the Amazon DynamoDB Developer Guide, "DynamoDB item sizes and formats" and "Capacity unit
consumption". Items are as on the wire: attribute name → `{type: value}`.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, Final

WRITE_BYTES: Final = 1_024  # a write unit; a transactional write takes two
READ_BYTES: Final = 4_096  # a consistent read unit; an eventually consistent read takes half

# US East (N. Virginia), on demand, US dollars a unit.
WRITE_PRICE: Final = 0.625e-6
READ_PRICE: Final = 0.125e-6


def item_size(item: Mapping[str, Any]) -> int:
    """Bytes: the names of the attributes and their values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return _number_size(inner)
        case "M":
            return 3 + len(inner) + item_size(inner)
        case "L":
            return 3 + len(inner) + sum(map(_value_size, inner))
        case "SS":
            return sum(len(member.encode()) for member in inner)
        case _:
            return 1  # BOOL, NULL


def _number_size(text: str) -> int:
    """One byte for two significant digits, one more, and one for a sign."""
    digits = text.lstrip("-").replace(".", "").strip("0")
    return min(21, ceil(len(digits) / 2) + 1 + text.startswith("-"))


def write_units(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, *, transaction: bool
) -> int:
    """Of one item: the larger of its old and new size, in steps of 1 KB."""
    size = max(item_size(item) if item else 0 for item in (before, after))
    return max(1, ceil(size / WRITE_BYTES)) * (2 if transaction else 1)


def read_units(sizes: Iterable[int], *, consistent: bool = True) -> float:
    """Of one item (get, each one of a batch), or of all items that a query read, in steps of 4 KB.

    A filter drops items after they were counted, a projection does not make them smaller, and
    looking for what is not there costs the least there is.
    """
    return max(1, ceil(sum(sizes) / READ_BYTES)) * (1.0 if consistent else 0.5)
