"""Python values ↔ DynamoDB's attribute values, and the expressions of a request."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from boto3.dynamodb.conditions import ConditionBase, ConditionExpressionBuilder

Item = dict[str, Any]
Key = tuple[str, str]


def _pack(value: Any) -> dict[str, Any]:
    kind = type(value)
    if kind is str:
        return {"S": value}
    if kind is bool:
        return {"BOOL": value}
    if kind is int or kind is Decimal:
        return {"N": str(value)}
    if value is None:
        return {"NULL": True}
    if kind is dict:
        return {"M": {name: _pack(inner) for name, inner in value.items()}}
    if kind is list or kind is tuple:
        return {"L": [_pack(inner) for inner in value]}
    if kind is frozenset or kind is set:
        return {"SS": sorted(value)}
    if isinstance(value, str):  # an Enum member that is also text
        return {"S": str(value)}
    raise TypeError(f"{kind.__name__} cannot be stored")


def _unpack(value: Mapping[str, Any]) -> Any:
    ((kind, inner),) = value.items()
    if kind == "S" or kind == "BOOL":
        return inner
    if kind == "N":
        return int(inner) if inner.isdigit() else _number(inner)
    if kind == "M":
        return {name: _unpack(member) for name, member in inner.items()}
    if kind == "L":
        return [_unpack(member) for member in inner]
    if kind == "SS":
        return frozenset(inner)
    return None


def _number(text: str) -> int | Decimal:
    return int(text) if text.removeprefix("-").isdigit() else Decimal(text)


def pack(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _pack(value) for name, value in item.items()}


def unpack(stored: Mapping[str, Any]) -> Item:
    """An item as the reply of a call, or a stream record, writes it."""
    return {name: _unpack(value) for name, value in stored.items()}


def pack_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


class Expressions:
    """Collects the parts of one request's expressions, and the names and values they use."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def condition(self, condition: ConditionBase, *, is_key: bool = False) -> str:
        prefix = "k" if is_key else "c"
        built = ConditionExpressionBuilder().build_expression(condition, is_key)
        text = built.condition_expression
        # The builder numbers from 0 in each expression; two in one request must not collide.
        text = text.replace("#n", f"#{prefix}").replace(":v", f":{prefix}")
        for name, attribute in built.attribute_name_placeholders.items():
            self.names[name.replace("#n", f"#{prefix}")] = attribute
        for name, value in built.attribute_value_placeholders.items():
            self.values[name.replace(":v", f":{prefix}")] = _pack(value)
        return str(text)

    def name(self, path: str) -> str:
        """`stock.var_1` → `#u0.#u1`: an attribute, or a member of a map."""
        return ".".join(self._part(part) for part in path.split("."))

    def _part(self, part: str) -> str:
        placeholder = f"#u{len(self.names)}"
        self.names[placeholder] = part
        return placeholder

    def value(self, value: Any) -> str:
        placeholder = f":u{len(self.values)}"
        self.values[placeholder] = _pack(value)
        return placeholder

    def update(self, set: Mapping[str, Any], add: Mapping[str, Any], remove: Iterable[str]) -> str:
        clauses = {
            "SET": [f"{self.name(path)} = {self.value(value)}" for path, value in set.items()],
            "ADD": [],
            "REMOVE": [self.name(path) for path in remove],
        }
        for path, value in add.items():
            place, number = self.name(path), self.value(value)
            if "." in path:  # AWS: ADD is for top-level attributes only; the member has to exist
                clauses["SET"].append(f"{place} = {place} + {number}")
            else:
                clauses["ADD"].append(f"{place} {number}")
        return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)

    def into(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        if self.values:
            request["ExpressionAttributeValues"] = self.values
        return request
