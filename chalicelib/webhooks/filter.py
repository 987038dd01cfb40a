"""Which events a webhook takes: a pattern like EventBridge's on the body of a delivery.

`{"data": {"source": ["IN_PERSON"], "total": [{"numeric": [">=", 500]}]}}`: every name must fit, by
one of its values. https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html;
beside that, a number also fits text that is one, as amounts are, and a list of objects fits by one
of them. No regular expressions, and a bounded pattern: time grows with the body alone.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final

MOST_VALUES: Final = 50
LARGEST: Final = 4_096  # bytes of JSON
DEEPEST: Final = 8

_COMPARE: Final[Mapping[Any, Callable[[Decimal, Decimal], bool]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_AMOUNT: Final = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")


def lets_through(pattern: str | None, body: str) -> bool:
    """Whether a body fits a pattern in which `faults` finds nothing; both are JSON. None: any."""
    exactly = partial(json.loads, parse_float=Decimal)
    return pattern is None or _all_fit(exactly(pattern), exactly(body))


def _all_fit(pattern: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    return all(_fits(wanted, body, name) for name, wanted in pattern.items())


def _fits(wanted: Any, body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    values = value if isinstance(value, list) else [value] if name in body else []
    if isinstance(wanted, dict):
        objects = [each for each in values if isinstance(each, dict)]
        return any(_all_fit(wanted, each) for each in objects or [{}])
    return any(_one_fits(one, values, name in body) for one in wanted)


def _one_fits(wanted: Any, values: list[Any], is_there: bool) -> bool:
    if not isinstance(wanted, dict):
        return any(_equals(wanted, each) for each in values)
    ((kind, operand),) = wanted.items()
    if kind == "exists":
        return is_there is operand
    if kind == "prefix":
        return any(isinstance(each, str) and each.startswith(operand) for each in values)
    if kind == "anything-but":
        refused = operand if isinstance(operand, list) else [operand]
        return any(not any(_one_fits(one, [each], True) for one in refused) for each in values)
    numbers = [number for each in values if (number := _number(each)) is not None]
    return any(
        all(
            _COMPARE[sign](each, Decimal(str(than)))
            for sign, than in zip(operand[::2], operand[1::2], strict=True)
        )
        for each in numbers
    )


def _equals(wanted: Any, value: Any) -> bool:
    if _is_number(wanted):
        return _number(value) == Decimal(str(wanted))
    return type(wanted) is type(value) and bool(wanted == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _number(value: Any) -> Decimal | None:
    is_one = _is_number(value) or (isinstance(value, str) and _AMOUNT.fullmatch(value))
    return Decimal(str(value)) if is_one else None


def faults(pattern: Any, field: str) -> Iterator[tuple[str, str]]:
    """(field, message) for what is wrong with a pattern; `field` is its own name."""
    if _size(pattern) > MOST_VALUES or len(json.dumps(pattern, default=str)) > LARGEST:
        yield field, f"must have at most {MOST_VALUES} values and {LARGEST:,} characters"
        return
    for name in pattern if isinstance(pattern, dict) else ():
        if name not in {"event", "data"}:
            yield f"{field}.{name}", "is not in the body of an event: `event` and `data` are"
    yield from _faults(pattern, field, DEEPEST)


def _size(node: Any) -> int:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
    return 1 if inner is None else sum(map(_size, inner))


def _faults(pattern: Any, at: str, deep: int) -> Iterator[tuple[str, str]]:
    if not isinstance(pattern, dict) or not pattern or not deep:
        yield at, f"must be an object with at least one name, at most {DEEPEST} levels deep"
        return
    for name, wanted in pattern.items():
        where = f"{at}.{name}"
        if isinstance(wanted, dict):
            yield from _faults(wanted, where, deep - 1)
        elif not isinstance(wanted, list) or not wanted:
            yield where, 'must be a list of what fits, such as ["PAID"], or an object'
        else:
            wrong = [place for place, one in enumerate(wanted) if not _is_matcher(one)]
            yield from ((f"{where}.{place}", _MATCHERS) for place in wrong)


_MATCHERS: Final = (
    'must be a value, {"prefix": "…"}, {"anything-but": value, [values] or {"prefix": "…"}},'
    ' {"exists": true or false}, or {"numeric": [">=", 1]}, perhaps with a second comparison'
)


def _is_matcher(one: Any) -> bool:
    if not isinstance(one, dict):
        return not isinstance(one, list)
    match [*one.items()]:
        case [("exists", bool())] | [("prefix" | "anything-but", str())]:
            return True
        case [("anything-but", [_, *_] as refused)]:
            return not any(isinstance(each, dict | list) for each in refused)
        case [("anything-but", dict() as refused)]:
            return [*refused] == ["prefix"] and _is_matcher(refused)
        case [("anything-but", value)]:
            return not isinstance(value, list)
        case [("numeric", [*pairs])] if len(pairs) in {2, 4}:
            signs, numbers = pairs[::2], pairs[1::2]
            return all(isinstance(sign, str) and sign in _COMPARE for sign in signs) and all(
                map(_is_number, numbers)
            )
    return False
