"""Conditions on attributes: `Attr("version").eq(3) & Attr("n").lt(60)`.

The spelling is that of boto3's `dynamodb.conditions`. Importing that costs a cold start 60 ms,
because it loads all of boto3 with its S3 transfer; this module costs none, and has all we use.
"""

from collections.abc import Callable, Iterable
from typing import Protocol


class Names(Protocol):
    """What gives attributes and values their placeholders in one request."""

    def name(self, path: str) -> str: ...
    def value(self, value: object) -> str: ...


class Condition:
    """A condition. `write(names)` returns its text, with the placeholders of one request."""

    def __init__(self, write: Callable[[Names], str]) -> None:
        self.write = write

    def __and__(self, other: "Condition") -> "Condition":
        return all_of([self, other])

    def __or__(self, other: "Condition") -> "Condition":
        return Condition(lambda names: f"({self.write(names)} OR {other.write(names)})")


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all of these hold. There has to be one: DynamoDB refuses none.

    Of one, it is that one itself.
    """
    parts = list(conditions)
    if len(parts) == 1:
        return parts[0]
    return Condition(lambda names: f"({' AND '.join(part.write(names) for part in parts)})")


class Attr:
    """An attribute, or with dots a member of a map: `Attr("quantities.var_1")`.

    It is compared with a value, or with another attribute of the item, an Attr.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def eq(self, value: object) -> Condition:
        """Return the condition that the attribute is this value; `value` may be another Attr."""
        return self._compare("=", value)

    def lt(self, value: object) -> Condition:
        """Return the condition that the attribute is below this value, or Attr."""
        return self._compare("<", value)

    def lte(self, value: object) -> Condition:
        """Return the condition that the attribute is at most this value, or Attr."""
        return self._compare("<=", value)

    def gt(self, value: object) -> Condition:
        """Return the condition that the attribute is above this value, or Attr."""
        return self._compare(">", value)

    def gte(self, value: object) -> Condition:
        """Return the condition that the attribute is at least this value, or Attr."""
        return self._compare(">=", value)

    def between(self, low: object, high: object) -> Condition:
        """Return the condition that the value is from `low` to `high`, both included."""
        return Condition(
            lambda names: (
                f"{names.name(self._path)} BETWEEN {names.value(low)} AND {names.value(high)}"
            )
        )

    def is_in(self, values: Iterable[object]) -> Condition:
        """Return the condition that the attribute is one of at most 100 (AWS) values."""
        options = list(values)
        return Condition(
            lambda names: f"{names.name(self._path)} IN ({', '.join(map(names.value, options))})"
        )

    def begins_with(self, text: str) -> Condition:
        """Return the condition that the attribute, a text, begins with this one."""
        return Condition(
            lambda names: f"begins_with({names.name(self._path)}, {names.value(text)})"
        )

    def contains(self, text: str) -> Condition:
        """Return the condition that the attribute, a set, has this member."""
        return Condition(lambda names: f"contains({names.name(self._path)}, {names.value(text)})")

    def exists(self) -> Condition:
        """Return the condition that the item has this attribute, also if it is null."""
        return Condition(lambda names: f"attribute_exists({names.name(self._path)})")

    def not_exists(self) -> Condition:
        """Return the condition that there is no such attribute, or no such item."""
        return Condition(lambda names: f"attribute_not_exists({names.name(self._path)})")

    def _compare(self, operator: str, other: object) -> Condition:
        """Return a comparison with a value, or with another attribute (`Attr`) of the same item."""

        def write_comparison(names: Names) -> str:
            """Return the text of the comparison, and register its names and values."""
            operand = names.name(other._path) if isinstance(other, Attr) else names.value(other)
            return f"{names.name(self._path)} {operator} {operand}"

        return Condition(write_comparison)
