"""Errors of invalid data, in the API's terms."""

import re
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.problems import Invalid

Model = TypeVar("Model", bound=BaseModel)

MOST_ERRORS: Final = 100
MOST_VALUES: Final = 100  # of a filter; AWS: operands of IN
DEEPEST: Final = 32  # objects and arrays inside each other
_STRINGS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKETS: Final = re.compile(r"[^][{}]+")
_LEVELS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def depth(text: str) -> int:
    """Return the depth of a JSON text, before it is decoded.

    It takes no recursion: every Python version refuses the same, and accepted text can be encoded
    again on any stack.
    """
    brackets = _NO_BRACKETS.sub("", _STRINGS.sub("", text))
    return max(accumulate(map(_LEVELS.__getitem__, brackets)), default=0)


def validate(model: type[Model], sent: object, field: str = "") -> Model:
    """Return `sent` as the model. Raises Invalid.

    Errors are named below `field`, such as `products.3`.
    """
    try:
        return model.model_validate(sent, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid(error, field) from None


# Parameters of a list's query that are not filters.
_PAGING: Final = frozenset({"page", "limit", "cursor", "sort", "fields"})


def filters(model: type[Model], sent: object, below: str) -> Model:
    """Return the filters of a list, which were sent as JSON, as the query model of the list.

    Each has a value or a list of values. Raises Invalid, also for blank values and names that are
    not filters of the list.
    """
    if not isinstance(sent, dict):
        raise Invalid.field(below, "invalid_type", "must be a JSON object")
    known = {
        field.alias or name: field
        for name, field in model.model_fields.items()
        if name not in _PAGING
    }
    for name in sent:
        if name not in known:
            message = f"is not a filter here; there are {', '.join(sorted(known))}"
            raise Invalid.field(f"{below}.{name[:200]}", "unknown_parameter", message)
    given = {}
    for name, value in sent.items():
        takes_several = known[name].default_factory is list
        values = value if isinstance(value, list) else [value]
        if value == [] or any(is_blank(one, takes_several) for one in values):
            raise Invalid.field(f"{below}.{name}", "invalid", "is blank: leave it out")
        if isinstance(value, list):
            refuse_many(f"{below}.{name}", value)
        given[name] = [value] if takes_several and not isinstance(value, list) else value
    return validate(model, given, below)


def refuse_many(field: str, values: Collection[object]) -> None:
    """Raise Invalid for too many values of a filter."""
    if len(values) > MOST_VALUES:
        raise Invalid.field(field, "too_many", f"takes at most {MOST_VALUES} values")


def is_blank(value: object, takes_several: bool) -> bool:
    """Tell whether a filter has this value by an accident, such as a variable that is not set.

    It must not mean everything. Commas part the values of one that `takes_several`.
    """
    if isinstance(value, str):
        return not (value.replace(",", " ") if takes_several else value).strip()
    return value is None


def invalid(error: ValidationError, below: str = "") -> Invalid:
    """Return the errors of a model as a problem: `errors: [{field, code, message}]`."""
    found = error.errors(include_url=False)
    errors = [
        {
            "field": _field(below, problem["loc"]),
            "code": _code(kind),
            "message": _message(kind, problem["msg"], problem.get("ctx", {})),
        }
        for problem in found[:MOST_ERRORS]
        for kind in [_kind(problem["type"], problem["input"])]
    ]
    return Invalid.fields(errors)


def _kind(kind: str, sent: object) -> str:
    """Return pydantic's type of an error.

    Of a text that is changed before it is measured, pydantic names the type that a list would have.
    """
    return f"string_{kind}" if kind.startswith("too_") and isinstance(sent, str) else kind


def _field(below: str, location: tuple[int | str, ...]) -> str:
    parts = [below, *(str(part) for part in location)]
    return ".".join(part for part in parts if part)[:200] or "body"


# pydantic has a hundred types of error; clients distinguish these.
_CODES: Final = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    "enum": "not_allowed",
    "literal_error": "not_allowed",
    "value_error": "invalid",
    "assertion_error": "invalid",
    "string_pattern_mismatch": "invalid",
    "decimal_max_places": "invalid",
    "none_required": "invalid",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "too_short": "too_short",
    "too_long": "too_long",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "int_parsing_size": "out_of_range",
    "finite_number": "invalid_type",
}


_WHOLE: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TEXT: Final = "must be text"
_OBJECT: Final = "must be a JSON object"
_TRUTH: Final = "must be true or false"
# By pydantic's type of error, with the limits of the field; others have pydantic's message.
_MESSAGES: Final = {
    "missing": "is required",
    "extra_forbidden": "is not a field that can be sent here",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "string_type": _TEXT,
    "string_pattern_mismatch": "must have the form {pattern}",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "must have {max_length} characters or fewer",
    "too_short": "must have {min_length} items or more",
    "too_long": "must have {max_length} items or fewer",
    "list_type": "must be a list",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "has too many digits",
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "none_required": "must be null",
    "decimal_max_places": "must have {decimal_places} decimals or fewer",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
}
_TIME: Final = "must be a time such as 2026-11-20T06:12:14Z"


def _message(kind: str, message: str, limits: Mapping[str, object]) -> str:
    if kind.startswith(("date_", "datetime_")):
        return _TIME
    if kind == "string_too_short" and limits["min_length"] == 1:
        return "must not be blank"
    if kind == "too_short" and limits["min_length"] == 1:
        return "must not be empty"
    if kind in _MESSAGES:
        return _MESSAGES[kind].format_map(limits)
    return message.removeprefix("Value error, ")


def _code(kind: str) -> str:
    if kind in _CODES:
        return _CODES[kind]
    return "invalid_type" if kind.endswith(("_type", "_parsing", "_from_float")) else kind
