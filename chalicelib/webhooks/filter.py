"""Which events a webhook gets: a pattern like EventBridge's for the body of a delivery.

`{"data": {"source": ["IN_PERSON"], "total": [{"numeric": [">=", 500]}]}}`: every member must
match one of its values (docs/webhooks.md#filters). A number also matches text that is that number,
such as an amount. No regular expressions, and a bounded pattern: time grows with the body only.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final

from chalicelib.webhooks.model import DEEPEST_FILTER, LARGEST_FILTER, MOST_FILTER_VALUES

_COMPARE: Final[Mapping[object, Callable[[Decimal, Decimal], bool]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_AMOUNT: Final = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_MATCHERS: Final = (
    'must be a value, {"prefix": "…"}, {"anything-but": value, [values] or {"prefix": "…"}},'
    ' {"exists": true or false}, or {"numeric": [">=", 1]}, perhaps with a second comparison'
)


def lets_through(pattern: str | None, body: str) -> bool:
    """Whether a body matches a pattern without `faults`; both are JSON. None matches any."""
    exactly = partial(json.loads, parse_float=Decimal)
    return pattern is None or _all_fit(exactly(pattern), exactly(body))


def _all_fit(pattern: Mapping[str, object], body: Mapping[str, object]) -> bool:
    return all(_fits(wanted, body, name) for name, wanted in pattern.items())


def _fits(wanted: Any, body: Mapping[str, object], name: str) -> bool:
    values = _as_list(body[name]) if name in body else []
    if isinstance(wanted, dict):
        objects = [each for each in values if isinstance(each, dict)]
        return any(_all_fit(wanted, each) for each in objects or [{}])
    there = {"exists": name in body}
    return any(one == there or any(map(_matcher(one), values)) for one in wanted)


def _matcher(one: object) -> Callable[[object], bool]:
    """Return a function that tells whether a value matches `one` of a list.

    Raises ValueError if `one` is not a valid matcher.
    """
    match [*one.items()] if isinstance(one, dict) else ():
        case [("exists", bool())]:
            return lambda value: False  # tests the member, not a value
        case [("prefix", str(start))]:
            return lambda value: isinstance(value, str) and value.startswith(start)
        case [("anything-but", {"prefix": _} as inner)]:
            begins = _matcher(inner)
            return lambda value: not begins(value)
        case [("anything-but", but)] if but != []:
            refused = [*map(_plain, _as_list(but))]
            return lambda value: not any(fits(value) for fits in refused)
        case [("numeric", [*of])] if len(of) in {2, 4}:
            bounds = [*map(_build_bound, of[::2], of[1::2])]
            return lambda value: all(bound(value) for bound in bounds)
    return _plain(one)


def _plain(one: object) -> Callable[[object], bool]:
    if isinstance(one, dict | list):
        raise ValueError
    return partial(_equals, one)


def _build_bound(sign: object, than: object) -> Callable[[object], bool]:
    if not (isinstance(sign, str) and sign in _COMPARE and _is_number(than)):
        raise ValueError
    return lambda value: (n := _number(value)) is not None and _COMPARE[sign](n, Decimal(str(than)))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _equals(wanted: object, value: object) -> bool:
    if _is_number(wanted):
        return _number(value) == Decimal(str(wanted))
    return type(wanted) is type(value) and bool(wanted == value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _number(value: object) -> Decimal | None:
    is_one = _is_number(value) or (isinstance(value, str) and _AMOUNT.fullmatch(value))
    return Decimal(str(value)) if is_one else None


def faults(pattern: object, field: str) -> Iterator[tuple[str, str]]:
    """(field, message) for each error in a pattern; `field` is the place in it."""
    text = json.dumps(pattern, ensure_ascii=False, separators=(",", ":"), default=float)
    if _size(pattern) > MOST_FILTER_VALUES or len(text.encode()) > LARGEST_FILTER:
        yield (
            field,
            f"must have at most {MOST_FILTER_VALUES} values and {LARGEST_FILTER:,} bytes",
        )
        return
    for name in pattern if isinstance(pattern, dict) else ():
        if name not in {"event", "data"}:
            yield f"{field}.{name}", "is not in the body of an event: `event` and `data` are"
    yield from _faults(pattern, field, DEEPEST_FILTER)


def _size(node: object) -> int:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
    return 1 if inner is None else sum(map(_size, inner))


def _faults(pattern: object, at: str, deep: int) -> Iterator[tuple[str, str]]:
    if not isinstance(pattern, dict) or not pattern or not deep:
        yield (
            at,
            f"must be an object with at least one member, at most {DEEPEST_FILTER} levels deep",
        )
        return
    for name, wanted in pattern.items():
        where = f"{at}.{name}"
        if isinstance(wanted, dict):
            yield from _faults(wanted, where, deep - 1)
        elif not isinstance(wanted, list) or not wanted:
            yield where, 'must be a list of values that match, such as ["PAID"], or an object'
        else:
            for place, one in enumerate(wanted):
                try:
                    _matcher(one)
                except ValueError:
                    yield f"{where}.{place}", _MATCHERS
