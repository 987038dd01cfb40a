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
    """Return whether a body matches a pattern without faults (both are JSON); None matches any."""
    exactly = partial(json.loads, parse_float=Decimal)
    return pattern is None or _all_fit(exactly(pattern), exactly(body))


def _all_fit(pattern: Mapping[str, object], body: Mapping[str, object]) -> bool:
    """Return whether an object fits each member of a pattern, which may ask for a missing one."""
    return all(_fits(wanted, body, name) for name, wanted in pattern.items())


def _fits(wanted: Any, body: Mapping[str, object], name: str) -> bool:
    """Return whether the member `name` of `body` fits `wanted`: a pattern, or a list of matchers.

    One matcher has to fit; if the member is a list, one of its values. A missing member, or one
    without an object, is {} for a pattern within.
    """
    values = _as_list(body[name]) if name in body else []
    if isinstance(wanted, dict):
        objects = [each for each in values if isinstance(each, dict)]
        return any(_all_fit(wanted, each) for each in objects or [{}])
    existence = {"exists": name in body}
    return any(
        matcher == existence or any(map(_build_matcher(matcher), values)) for matcher in wanted
    )


def _build_matcher(matcher: object) -> Callable[[object], bool]:
    """Return a function that tells whether a value matches a matcher: a plain value, or an object.

    Objects are {"prefix"}, {"anything-but"}, {"numeric"} and {"exists"}; that of the last is always
    false, as it is about the member, not a value. Raises ValueError if the matcher is not valid.
    """
    match [*matcher.items()] if isinstance(matcher, dict) else ():
        case [("exists", bool())]:
            return lambda value: False  # tests the member, not a value
        case [("prefix", str(start))]:
            return lambda value: isinstance(value, str) and value.startswith(start)
        case [("anything-but", {"prefix": _} as inner)]:
            begins = _build_matcher(inner)
            return lambda value: not begins(value)
        case [("anything-but", but)] if but != []:
            refused = [*map(_build_equality, _as_list(but))]
            return lambda value: not any(fits(value) for fits in refused)
        case [("numeric", [*of])] if len(of) in {2, 4}:
            bounds = [*map(_build_bound, of[::2], of[1::2])]
            return lambda value: all(bound(value) for bound in bounds)
    return _build_equality(matcher)


def _build_equality(wanted: object) -> Callable[[object], bool]:
    """Return a test whether a value equals `wanted`. Raises ValueError for a list or dict."""
    if isinstance(wanted, dict | list):
        raise ValueError
    return partial(_equals, wanted)


def _build_bound(sign: object, than: object) -> Callable[[object], bool]:
    """Return a function that tells whether a value is a number on this side of the bound `than`.

    Raises ValueError if `sign` is no comparison, or `than` no number.
    """
    if not (isinstance(sign, str) and sign in _COMPARE and _is_number(than)):
        raise ValueError
    bound = Decimal(str(than))
    return lambda value: (n := _to_number(value)) is not None and _COMPARE[sign](n, bound)


def _as_list(value: object) -> list[object]:
    """Return the value itself if it is a list, else a list of it alone."""
    return value if isinstance(value, list) else [value]


def _equals(wanted: object, value: object) -> bool:
    """Return whether a value equals `wanted` in type and value.

    A number equals any number, or text of one, with its value.
    """
    if _is_number(wanted):
        return _to_number(value) == Decimal(str(wanted))
    return type(wanted) is type(value) and bool(wanted == value)


def _is_number(value: object) -> bool:
    """Return whether a value is a number; true and false are none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _to_number(value: object) -> Decimal | None:
    """Return a number, or a text that is one, as a Decimal; None for any other value."""
    is_number = _is_number(value) or (isinstance(value, str) and _AMOUNT.fullmatch(value))
    return Decimal(str(value)) if is_number else None


def find_faults(pattern: object, field: str) -> Iterator[tuple[str, str]]:
    """Yield (place, message) for each error in a pattern; none if it is valid.

    `field`: the place of the pattern, with which each place begins. Its top level may have only
    `event` and `data`. If it has too many values or bytes, that is the only error.
    """
    text = json.dumps(pattern, ensure_ascii=False, separators=(",", ":"), default=float)
    if _count_values(pattern) > MOST_FILTER_VALUES or len(text.encode()) > LARGEST_FILTER:
        yield (
            field,
            f"must have at most {MOST_FILTER_VALUES} values and {LARGEST_FILTER:,} bytes",
        )
        return
    for name in pattern if isinstance(pattern, dict) else ():
        if name not in {"event", "data"}:
            yield f"{field}.{name}", "is not in the body of an event: `event` and `data` are"
    yield from _find_faults_within(pattern, field, DEEPEST_FILTER)


def _count_values(node: object) -> int:
    """Return how many values are in a pattern, at any depth."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
    return 1 if inner is None else sum(map(_count_values, inner))


def _find_faults_within(pattern: object, at: str, deep: int) -> Iterator[tuple[str, str]]:
    """Yield (place, message) for each error in the pattern at `at`, and in those within it.

    The place of a wrong value in a list ends with its index. `deep`: how many levels are allowed.
    """
    if not isinstance(pattern, dict) or not pattern or not deep:
        yield (
            at,
            f"must be an object with at least one member, at most {DEEPEST_FILTER} levels deep",
        )
        return
    for name, wanted in pattern.items():
        where = f"{at}.{name}"
        if isinstance(wanted, dict):
            yield from _find_faults_within(wanted, where, deep - 1)
        elif not isinstance(wanted, list) or not wanted:
            yield where, 'must be a list of values that match, such as ["PAID"], or an object'
        else:
            for place, matcher in enumerate(wanted):
                try:
                    _build_matcher(matcher)
                except ValueError:
                    yield f"{where}.{place}", _MATCHERS
