"""Metadata: any data of the shop on a record.

It is stored as JSON text, because its shape is unknown.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from chalicelib.validation import DEEPEST, depth

LARGEST: Final = 16_384  # bytes of JSON
# Less than a body may be, because a body can hold records in lists and objects of its own.
LEVELS: Final = DEEPEST - 4
_NO_FIELDS: Final = frozenset({"pk", "sk", "version"})
_NONE: Final = "{}"  # nearly all have none: neither written nor read as JSON
ABOUT: Final = "Any data of the shop: JSON up to 16 KB, 28 levels deep."


def _check(value: dict[str, object]) -> dict[str, object]:
    text = json.dumps(value, ensure_ascii=False, default=_as_number)
    if depth(text) > LEVELS:
        raise ValueError(f"must be nested at most {LEVELS} levels deep")
    if len(text.encode()) > LARGEST:
        raise ValueError(f"must be at most {LARGEST >> 10} KB of JSON")
    # As it will be read again, so that sending it back is no change.
    return parse(text)


def _as_number(value: object) -> float:
    """Return a non-integer number of a request's JSON: it is bounded, so it is a finite double."""
    assert isinstance(value, Decimal)
    return float(value)


Metadata = Annotated[dict[str, object], AfterValidator(_check)]


def to_stored(fields: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a record, with the metadata as text."""
    own = fields["metadata"]
    return {**fields, "metadata": json.dumps(own, ensure_ascii=False) if own else _NONE}


def parse(text: str) -> dict[str, object]:
    value: dict[str, object] = {} if text == _NONE else json.loads(text)
    return value


def from_stored(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a stored record, without its keys and its version.

    The metadata, if it is among them, becomes data.
    """
    fields = {name: value for name, value in stored.items() if name not in _NO_FIELDS}
    if "metadata" in fields:
        fields["metadata"] = parse(fields["metadata"])
    return fields
