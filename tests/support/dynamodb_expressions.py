"""DynamoDB's expressions as functions: conditions, filters, key conditions and updates.

Of the grammar in the Amazon DynamoDB Developer Guide ("Expressions") what `chalicelib/storage`
writes; anything else is a syntax error.
"""

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from typing import Any

Wire = dict[str, Any]  # attribute name → {type: value}


class ValidationError(Exception):
    """DynamoDB's ValidationException."""


class Scope:
    """The names and values of one request. DynamoDB refuses unused ones, and missing ones."""

    def __init__(self, request: Wire) -> None:
        self._names = request.get("ExpressionAttributeNames", {})
        self._values = request.get("ExpressionAttributeValues", {})
        self._projection = request.get("ProjectionExpression")
        for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if request.get(name) == {}:
                raise ValidationError(f"{name} must not be empty")
        texts = (text for name, text in request.items() if name.endswith("Expression"))
        differing = {*self._names, *self._values} ^ set(re.findall(r"[#:]\w+", " ".join(texts)))
        if differing:
            raise ValidationError(f"not defined, or unused in expressions: {sorted(differing)}")

    def name(self, token: str) -> str:
        return str(self._names.get(token, token))

    def read(self, item: Wire, operand: str) -> Wire | None:
        """The value of a placeholder, or of an attribute or a member of a map."""
        if operand.startswith(":"):
            return dict(self._values[operand])
        value: Wire | None = {"M": item}
        for part in operand.split("."):
            value = (value or {}).get("M", {}).get(self.name(part))
        return value

    def projected(self, item: Wire) -> Wire:
        if self._projection is None:
            return item
        names = map(self.name, self._projection.split(", "))
        return {name: item[name] for name in names if name in item}


_OPERAND = r"(?:[#:]\w+|[a-z]\w*)(?:\.#\w+)*"
_OPERANDS = rf"{_OPERAND}(?:, {_OPERAND})*"
_TEST = re.compile(
    rf"(?P<function>attribute_exists|attribute_not_exists|begins_with|contains)\((?P<of>{_OPERANDS})\)"
    rf"|(?P<left>{_OPERAND}) (?:(?P<sign><=|>=|[<=>]) (?P<right>{_OPERAND})"
    rf"|BETWEEN (?P<low>{_OPERAND}) AND (?P<high>{_OPERAND})|IN \((?P<options>{_OPERANDS})\))"
)
_LOGIC = re.compile(r"(?:[() ]|AND|OR|t\[\d+\])*")
_OPERATORS = re.compile(r"<=|>=|[<=>+]|\b(?:AND|OR|BETWEEN|IN)\b|[a-z]\(")
_UPDATE = re.compile(r"(SET|ADD|REMOVE) (.+?)(?= (?:SET|ADD|REMOVE) |$)")
_STEPS = {
    "SET": re.compile(rf"({_OPERAND}) = ({_OPERAND})(?: \+ ({_OPERAND}))?"),
    "ADD": re.compile(rf"({_OPERAND}) ({_OPERAND})()"),
    "REMOVE": re.compile(rf"({_OPERAND})()()"),
}
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Read = Callable[[str], Wire | None]  # the value of an operand


def _check_size(text: str) -> None:
    if len(text.encode()) > 4_096:
        raise ValidationError("Expression size has exceeded the maximum allowed size of 4096")
    if len(_OPERATORS.findall(text)) > 300:
        raise ValidationError("The expression contains too many operators; maximum is 300")


# --- Conditions -----------------------------------------------------------------------------------


@cache
def condition(text: str) -> Callable[[Wire, Scope], bool]:
    """Its tests are calls of Python, which joins what they answer."""
    _check_size(text)
    tests: list[Callable[[Read], bool]] = []

    def numbered(found: re.Match[str]) -> str:
        tests.append(_test(found))
        return f"t[{len(tests) - 1}]"

    logic = _TEST.sub(numbered, text)
    try:
        if not _LOGIC.fullmatch(logic):
            raise SyntaxError
        joined = eval(f"lambda t: {logic.lower()}")
    except SyntaxError:
        raise ValidationError(f"Syntax error in {text!r}") from None

    def holds(item: Wire, scope: Scope) -> bool:
        read = partial(scope.read, item)
        return bool(joined([test(read) for test in tests]))

    return holds


def _test(found: re.Match[str]) -> Callable[[Read], bool]:
    parts = found.groupdict()
    if parts["function"]:
        function, operands = _FUNCTIONS[parts["function"]], parts["of"].split(", ")
        return lambda read: function(*map(read, operands))
    left = parts["left"]
    if parts["sign"]:
        return lambda read: _compared(read(left), read(parts["right"]), parts["sign"])
    if parts["low"]:
        return lambda read: _within(read(left), read(parts["low"]), read(parts["high"]))
    options = parts["options"].split(", ")
    if len(options) > 100:
        raise ValidationError("The IN operator is provided with too many operands")
    return lambda read: any(_compared(read(left), read(option)) for option in options)


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


def _compared(left: Wire | None, right: Wire | None, sign: str = "=") -> bool:
    if left is None or right is None or left.keys() != right.keys():
        return False
    if sign == "=":
        return bool(plain(left) == plain(right))
    return left.keys() <= {"S", "N"} and bool(_SIGNS[sign](plain(left), plain(right)))


def _within(value: Wire | None, low: Wire | None, high: Wire | None) -> bool:
    if not _compared(low, high, "<="):
        raise ValidationError("BETWEEN requires upper bound to be greater than or equal to lower")
    return _compared(value, low, ">=") and _compared(value, high, "<=")


def _contains(whole: Wire | None, part: Wire | None) -> bool:
    if whole is None or part is None:
        return False
    ((kind, inner),) = whole.items()
    if kind == "L":
        return plain(part) in plain(whole)
    return kind in ("S", "SS") and "S" in part and part["S"] in inner


_FUNCTIONS: dict[str, Callable[..., bool]] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "begins_with": lambda value, start: (
        value is not None and "S" in value and value["S"].startswith(start["S"])
    ),
    "contains": _contains,
}


# --- Updates --------------------------------------------------------------------------------------


@cache
def update(text: str) -> Callable[[Wire, Scope], Wire]:
    _check_size(text)
    steps = [
        (verb, _STEPS[verb].fullmatch(part))
        for verb, parts in _UPDATE.findall(text)
        for part in parts.split(", ")
    ]
    if not steps or not all(step for _, step in steps):
        raise ValidationError(f"Syntax error in {text!r}")

    def updated(item: Wire, scope: Scope) -> Wire:
        new = _copied(item)
        for verb, step in steps:
            path, *operands = step.groups() if step else ()
            place, name = _place(new, path, scope)
            first, second = (scope.read(item, one) if one else None for one in operands)
            match verb:
                case "REMOVE":
                    place.pop(name, None)
                case "ADD":
                    place[name] = _sum(scope.read(item, path) or _nothing(first), first)
                case _ if operands[1]:
                    place[name] = _sum(first, second)
                case _ if first is None:
                    raise ValidationError("The provided expression refers to an absent attribute")
                case _:
                    place[name] = first
        return new

    return updated


def _place(item: Wire, path: str, scope: Scope) -> tuple[Wire, str]:
    """What has the member that a path names, and its name."""
    *maps, name = map(scope.name, path.split("."))
    for each in maps:
        held = item.get(each, {}).get("M")
        if held is None:
            raise ValidationError("The document path provided in the update expression is invalid")
        item = held
    return item, name


def _nothing(value: Wire | None) -> Wire:
    return {"SS": []} if "SS" in (value or {}) else {"N": "0"}


def _sum(value: Wire | None, by: Wire | None) -> Wire:
    """Of two numbers or two sets."""
    match value, by:
        case {"N": number}, {"N": other}:
            return {"N": format((Decimal(number) + Decimal(other)).normalize(), "f")}
        case {"SS": some}, {"SS": others}:
            return {"SS": sorted({*some, *others})}
    raise ValidationError("An operand in the update expression has an incorrect type")


def _copied(item: Wire) -> Wire:
    return {
        name: {"M": _copied(value["M"])} if "M" in value else value for name, value in item.items()
    }
