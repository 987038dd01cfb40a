"""JSON without spaces, for answers and events: what is stored is returned byte for byte."""

import json
from decimal import Decimal
from typing import Final

import orjson


def encode(value: object) -> str:
    """Return the JSON text of a value. Raise TypeError if it has no form in JSON."""
    try:
        return orjson.dumps(value, default=_to_plain).decode()
    except TypeError:  # also of an integer beyond 64 bits, which JSON may have
        return _encode_any(value)


def _to_plain(value: object) -> object:
    """Return a number that a client stored as it pleased; amounts are strings long before."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_encode_any: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_to_plain
).encode
