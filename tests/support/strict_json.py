"""Parses JSON as parsers outside of Python do: numbers are doubles, and names are unique."""

import json
import math
from typing import Any


def strict(text: str) -> Any:
    """Refuses NaN, numbers beyond a double, duplicate names and lone surrogates."""
    found = json.loads(
        text,
        parse_int=_number,
        parse_float=_number,
        parse_constant=_constant,
        object_pairs_hook=_members,
    )
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _number(written: str) -> float:
    assert math.isfinite(float(written)), written
    return float(written)


def _constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({name for name, _ in members}) == len(members), "a name occurs twice"
    return dict(members)
