"""Python values ↔ DynamoDB's attribute values, and the expressions of a request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from pydantic.alias_generators import to_camel

from chalicelib.storage.conditions import Condition

Item = dict[str, Any]
Fields = Mapping[str, Any]  # attributes of an item, which nobody changes in place
Key = tuple[str, str]
T = TypeVar("T")


def _pack(value: Any) -> dict[str, object]:
    """Return a value in DynamoDB's JSON, such as {"S": "a"}. Raises TypeError for other types.

    Int and Decimal are N, without zeros at the end of decimals; list and tuple L, dict M, set and
    frozenset of texts SS, None NULL; floats and bytes are not stored.
    """
    kind = type(value)
    if isinstance(value, str):
        return {"S": value}
    if value is None:
        return {"NULL": True}
    if kind is int or kind is Decimal:
        text = str(value)
        # The emulator drops zeros at the end, also in the request that it compares with a repeat.
        return {"N": text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text}
    if kind is dict:
        return {"M": pack(value)}
    if kind is list or kind is tuple:
        return {"L": [_pack(member) for member in value]}
    if kind is bool:
        return {"BOOL": value}
    if kind is frozenset or kind is set:
        return {"SS": sorted(value)}
    raise TypeError(f"{kind.__name__} cannot be stored")


def _unpack(value: Item) -> object:
    """Return the Python value of a value in DynamoDB's JSON: S, N, M, L, BOOL, or SS (frozenset).

    NULL, and any other type, is None.
    """
    # One look-up for each type, the most frequent first: a quarter of a list's time is spent here.
    if "S" in value:
        return value["S"]
    if "N" in value:
        text = value["N"]
        return int(text) if text.isdigit() else _number(text)
    if "M" in value:
        return unpack(value["M"])
    if "L" in value:
        return [_unpack(member) for member in value["L"]]
    if "BOOL" in value:
        return value["BOOL"]
    if "SS" in value:
        return frozenset(value["SS"])
    return None


def _number(text: str) -> int | Decimal:
    """Return the number of a text: an int of digits and perhaps a minus, else a Decimal."""
    return int(text) if text.removeprefix("-").isdigit() else Decimal(text)


def pack(item: Mapping[str, object]) -> dict[str, object]:
    """Return an item in DynamoDB's JSON, as a request has it: {"n": 1} → {"n": {"N": "1"}}."""
    # Most are text; this saves a call for each. (orjson takes no member of an enumeration as name.)
    return {
        str(name): {"S": value} if type(value) is str else _pack(value)
        for name, value in item.items()
    }


def unpack(stored: Item) -> Item:
    """Return an item in DynamoDB's JSON, of a reply or a stream record, as Python values."""
    return {name: value["S"] if "S" in value else _unpack(value) for name, value in stored.items()}


def read(shape: Callable[..., T], item: Item, **more: object) -> T:
    """Return the dataclass `shape` made of an item's attributes, and of `more` in their place.

    A field is stored under its name in camelCase; it may be absent if it has a default. Other
    attributes are passed over. `more`: the values of fields that are stored in another form.
    """
    own = {name: item[stored] for name, stored in _stored_names(shape) if stored in item}
    return shape(**{**own, **more})


@cache
def _stored_names(shape: Any) -> list[tuple[str, str]]:
    """Return the fields of a dataclass as pairs: (name, name of its attribute in camelCase)."""
    return [(field.name, to_camel(field.name)) for field in fields(shape)]


def pack_key(key: Key) -> dict[str, object]:
    """Return a key in DynamoDB's JSON: {"pk": {"S": …}, "sk": {"S": …}}."""
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


class Expressions:
    """The expressions of one request, and the names and values that they use."""

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._values: dict[str, object] = {}

    def condition(self, condition: Condition) -> str:
        """Return the text of a condition with placeholders, which it registers here."""
        return condition.write(self)

    def name(self, path: str) -> str:
        """Return the placeholder of a path, and register it once: `stock.var_1` → `#0.#1`."""
        known = self._placeholders
        return ".".join([known.setdefault(part, f"#{len(known)}") for part in path.split(".")])

    def value(self, value: object) -> str:
        """Return a new placeholder, `:0`, `:1` …, registered for this value (`add_to` packs it)."""
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def update(
        self, assign: Mapping[str, object], add: Mapping[str, object], remove: Iterable[str]
    ) -> str:
        """Return the text of an UpdateExpression with placeholders, which it registers here.

        `assign`: values by path (SET); `remove`: paths; `add`: numbers by path (ADD). A path with a
        dot has to exist; an attribute without one begins with 0. "" if nothing changes, which
        DynamoDB refuses.
        """
        clauses = {
            "SET": [f"{self.name(path)} = {self.value(value)}" for path, value in assign.items()],
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

    def add_to(self, request: Item) -> Item:
        """Add the registered names and values to `request`, if there are some, and return it."""
        if self._placeholders:
            request["ExpressionAttributeNames"] = {
                placeholder: part for part, placeholder in self._placeholders.items()
            }
        if self._values:
            request["ExpressionAttributeValues"] = pack(self._values)
        return request


def write_request(
    table: str,
    target: Item,
    when: Condition | None = None,
    expressions: Expressions | None = None,
) -> Item:
    """Return the request of a write of one item, alone or in a transaction; it is not sent.

    `target`: the members of the request that say what is written: the `Item`, or the `Key`, with
    `UpdateExpression` if it is an update. `expressions`: those that this uses, to which the
    condition is added; None: new ones. With `when`, a failed condition answers with the old item.
    """
    expressions = expressions or Expressions()
    request = {"TableName": table, **target}
    if when is not None:
        request["ConditionExpression"] = expressions.condition(when)
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return expressions.add_to(request)


def update_request(
    table: str,
    key: Key,
    *,
    assign: Mapping[str, object] | None = None,
    add: Mapping[str, object] | None = None,
    remove: Iterable[str] = (),
    when: Condition | None = None,
) -> Item:
    """Return the request of an update of one item, alone or in a transaction; it is not sent.

    Its arguments are those of `table.update`; something has to change.
    """
    expressions = Expressions()
    update = expressions.update(assign or {}, add or {}, remove)
    target = {"Key": pack_key(key), "UpdateExpression": update}
    return write_request(table, target, when, expressions)
