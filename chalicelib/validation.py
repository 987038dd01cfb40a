"""What is wrong with data that a model does not take, in the API's own words."""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.problems import Invalid

Model = TypeVar("Model", bound=BaseModel)

_MOST_ERRORS: Final = 100


def validate(model: type[Model], sent: Any, field: str = "") -> Model:
    """`sent` as the model. Errors are named below `field`, such as `products.3`. Raises Invalid."""
    if not isinstance(sent, dict):
        raise Invalid.field(field or "body", "invalid_type", "must be a JSON object")
    try:
        return model.model_validate(sent, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid(error, field) from None


def invalid(error: ValidationError, below: str = "") -> Invalid:
    """The errors of a model as a problem: `errors: [{field, code, message}]`."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    errors = [
        {
            "field": _field(below, problem["loc"]),
            "code": _code(problem["type"]),
            "message": _MESSAGES.get(problem["type"])
            or problem["msg"].removeprefix("Value error, "),
        }
        for problem in found[:_MOST_ERRORS]
    ]
    return Invalid.fields(errors)


def _field(below: str, location: tuple[int | str, ...]) -> str:
    parts = [below, *(str(part) for part in location)]
    return ".".join(part for part in parts if part)[:200] or "body"


# pydantic has a hundred types of error; a client tells these apart.
_CODES: Final = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    "enum": "not_allowed",
    "literal_error": "not_allowed",
    "value_error": "invalid",
    "assertion_error": "invalid",
    "string_pattern_mismatch": "invalid",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "too_short": "too_short",
    "too_long": "too_long",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
}


_MESSAGES: Final = {
    "missing": "is required",
    "extra_forbidden": "is not a field that can be sent here",
}


def _code(kind: str) -> str:
    if kind in _CODES:
        return _CODES[kind]
    return "invalid_type" if kind.endswith(("_type", "_parsing", "_from_float")) else kind
