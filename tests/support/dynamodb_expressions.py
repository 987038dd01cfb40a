"""DynamoDB's expressions, compiled to functions: conditions, filters, key conditions and updates.

Of the grammar in the Amazon DynamoDB Developer Guide ("Expressions") what `chalicelib/storage`
writes; anything else is a syntax error.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from typing import Any

Wire = dict[str, Any]  # attribute name → {type: value}


class ValidationError(Exception):
    """DynamoDB's ValidationException."""


class Scope:
    """The names and values of one request. Finds unused ones, which DynamoDB refuses."""

    def __init__(self, request: Wire) -> None:
        self._names = request.get("ExpressionAttributeNames", {})
        self._values = request.get("ExpressionAttributeValues", {})
        for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if request.get(name) == {}:
                raise ValidationError(f"{name} must not be empty")
        self.used: set[str] = set()

    def name(self, token: str) -> str:
        self.used.add(token)
        if not token.startswith("#"):
            return token
        if token not in self._names:
            raise ValidationError(f"An expression attribute name is not defined: {token}")
        return str(self._names[token])

    def value(self, token: str) -> Wire:
        self.used.add(token)
        if token not in self._values:
            raise ValidationError(f"An expression attribute value is not defined: {token}")
        return dict(self._values[token])

    def check_used(self) -> None:
        unused = {*self._names, *self._values} - self.used
        if unused:
            raise ValidationError(f"unused in expressions: {sorted(unused)}")


# Every part of an expression is evaluated, so that the names in it count as used.
Operand = Callable[[Wire, Scope], Wire | None]
Test = Callable[[Wire, Scope], bool]

_OPERATORS = {"=", "<", "<=", ">", ">=", "+", "AND", "OR", "NOT", "BETWEEN", "IN"}
_TOKENS = re.compile(r"\s*(#\w+|:\w+|\w+|<=|>=|[=<>(),.+])")


def _tokens(text: str) -> list[str]:
    if len(text.encode()) > 4_096:
        raise ValidationError("Expression size has exceeded the maximum allowed size of 4096")
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKENS.match(text, at)
        if not match:
            raise ValidationError(f"Syntax error in {text!r} at {at}")
        found.append(match[1])
        at = match.end()
    if sum(token in _OPERATORS or token.islower() for token in found) > 300:
        raise ValidationError("The expression contains too many operators; maximum is 300")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens, self.at = _tokens(text), 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if not token or (expected and token.upper() not in expected):
            raise ValidationError(f"Syntax error; token: {token!r}, expected {expected}")
        self.at += 1
        return token

    def skip(self, token: str) -> bool:
        found = self.peek().upper() == token
        self.at += found
        return found

    def listed(self, read: Callable[[], Any]) -> list[Any]:
        found = [read()]
        while self.skip(","):
            found.append(read())
        return found

    # --- operands ---

    def path(self) -> tuple[str, ...]:
        parts = [self.take()]
        while self.skip("."):
            parts.append(self.take())
        return tuple(parts)

    def operand(self) -> Operand:
        token = self.peek()
        if token.startswith(":"):
            self.take()
            return lambda item, scope: scope.value(token)
        path = self.path()
        return lambda item, scope: at(item, path, scope)

    # --- conditions ---

    def disjunction(self) -> Test:
        tests = [self.conjunction()]
        while self.skip("OR"):
            tests.append(self.conjunction())
        return lambda item, scope: True in [test(item, scope) for test in tests]

    def conjunction(self) -> Test:
        tests = [self.negation()]
        while self.skip("AND"):
            tests.append(self.negation())
        return lambda item, scope: False not in [test(item, scope) for test in tests]

    def negation(self) -> Test:
        if self.skip("NOT"):
            test = self.negation()
            return lambda item, scope: not test(item, scope)
        if self.skip("("):
            test = self.disjunction()
            self.take(")")
            return test
        return self.comparison()

    def comparison(self) -> Test:
        token = self.peek()
        if token in _FUNCTIONS:
            self.take()
            self.take("(")
            arguments = self.listed(self.operand)
            self.take(")")
            function = _FUNCTIONS[token]
            return lambda item, scope: function(*[read(item, scope) for read in arguments])
        left = self.operand()
        if self.skip("BETWEEN"):
            low = self.operand()
            self.take("AND")
            high = self.operand()
            return partial(_within, left, low, high)
        if self.skip("IN"):
            self.take("(")
            options = self.listed(self.operand)
            self.take(")")
            if len(options) > 100:
                raise ValidationError("The IN operator is provided with too many operands")
            return lambda item, scope: (
                True in [_compared(left, option, "=", item, scope) for option in options]
            )
        sign = self.take("=", "<", "<=", ">", ">=")
        right = self.operand()
        return lambda item, scope: _compared(left, right, sign, item, scope)

    # --- updates ---

    def update(self) -> Callable[[Wire, Scope], Wire]:
        steps: list[Callable[[Wire, Wire, Scope], None]] = []
        clauses = {"SET": self._set, "ADD": self._add, "REMOVE": self._remove}
        while self.peek():
            clause = clauses.pop(self.take(*clauses).upper())
            steps += self.listed(clause)

        def updated(item: Wire, scope: Scope) -> Wire:
            new = _copied(item)
            for step in steps:
                step(item, new, scope)
            return new

        return updated

    def _set(self) -> Callable[[Wire, Wire, Scope], None]:
        path = self.path()
        self.take("=")
        first = self.operand()
        second = self.operand() if self.skip("+") else None

        def step(old: Wire, new: Wire, scope: Scope) -> None:
            value = first(old, scope)
            if second is not None:
                by = second(old, scope)
                if value is None or by is None or "N" not in value or "N" not in by:
                    raise ValidationError(
                        "An operand in the update expression has an incorrect type"
                    )
                value = {"N": _text(Decimal(value["N"]) + Decimal(by["N"]))}
            if value is None:
                raise ValidationError(
                    "The provided expression refers to an attribute that is absent"
                )
            _place(new, path, scope)[scope.name(path[-1])] = value

        return step

    def _add(self) -> Callable[[Wire, Wire, Scope], None]:
        path, read = self.path(), self.operand()

        def step(old: Wire, new: Wire, scope: Scope) -> None:
            value, present = read(old, scope) or {}, at(old, path, scope)
            ((kind, inner),) = value.items()
            if kind not in {"N", "SS"} or (present and kind not in present):
                raise ValidationError("An operand in the update expression has an incorrect type")
            if kind == "N":
                value = {"N": _text(Decimal(inner) + Decimal((present or {"N": "0"})["N"]))}
            else:
                value = {"SS": sorted({*inner, *(present or {"SS": []})["SS"]})}
            _place(new, path, scope)[scope.name(path[-1])] = value

        return step

    def _remove(self) -> Callable[[Wire, Wire, Scope], None]:
        path = self.path()
        return lambda old, new, scope: (
            _place(new, path, scope).pop(scope.name(path[-1]), None) and None
        )


def at(item: Wire, path: tuple[str, ...], scope: Scope) -> Wire | None:
    names = [scope.name(part) for part in path]
    place: Wire = item
    for name in names[:-1]:
        place = place.get(name, {}).get("M", {})
    return place.get(names[-1])


def _place(item: Wire, path: tuple[str, ...], scope: Scope) -> Wire:
    place = item
    for part in path[:-1]:
        held = place.get(scope.name(part), {}).get("M")
        if held is None:
            raise ValidationError("The document path provided in the update expression is invalid")
        place = held
    return place


def _copied(item: Wire) -> Wire:
    return {
        name: {"M": _copied(value["M"])} if "M" in value else value for name, value in item.items()
    }


def _text(number: Decimal) -> str:
    return format(number.normalize(), "f")


def plain(value: Wire | None) -> Any:
    """A value that compares as in DynamoDB: numbers by amount, sets without order."""
    if value is None:
        return None
    ((kind, inner),) = value.items()
    match kind:
        case "N":
            return Decimal(inner)
        case "M":
            return {name: plain(member) for name, member in inner.items()}
        case "L":
            return [plain(member) for member in inner]
        case "SS":
            return frozenset(inner)
        case _:
            return inner


def _kind(value: Wire) -> str:
    return next(iter(value))


def _compared(left: Operand, right: Operand, sign: str, item: Wire, scope: Scope) -> bool:
    a, b = left(item, scope), right(item, scope)
    if a is None or b is None or _kind(a) != _kind(b):
        return False
    x, y = plain(a), plain(b)
    if sign == "=":
        return bool(x == y)
    if _kind(a) not in {"S", "N"}:
        return False
    return bool({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[sign])


def _within(one: Operand, low: Operand, high: Operand, item: Wire, scope: Scope) -> bool:
    if not _compared(low, high, "<=", item, scope):
        raise ValidationError("BETWEEN requires upper bound to be greater than or equal to lower")
    not_below = _compared(one, low, ">=", item, scope)
    return _compared(one, high, "<=", item, scope) and not_below


def _contains(whole: Wire | None, part: Wire | None) -> bool:
    if whole is None or part is None:
        return False
    kind = _kind(whole)
    if kind == "S":
        return _kind(part) == "S" and part["S"] in whole["S"]
    if kind == "SS":
        return part.get("S") in whole["SS"]
    return kind == "L" and plain(part) in [plain(member) for member in whole["L"]]


_FUNCTIONS: dict[str, Callable[..., bool]] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "begins_with": lambda value, start: (
        value is not None and "S" in value and value["S"].startswith(start["S"])
    ),
    "contains": _contains,
}


@cache
def condition(text: str) -> Test:
    reader = _Reader(text)
    test = reader.disjunction()
    if reader.peek():
        raise ValidationError(f"Syntax error; token: {reader.peek()!r}")
    return test


@cache
def update(text: str) -> Callable[[Wire, Scope], Wire]:
    return _Reader(text).update()


@cache
def projection(text: str) -> list[tuple[str, ...]]:
    reader = _Reader(text)
    return list(reader.listed(reader.path))
