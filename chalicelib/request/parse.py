"""The validated request: `body` and `query`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Final, NoReturn, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from chalicelib.problems import (
    Invalid,
    MalformedJson,
    NotUtf8,
    PayloadTooLarge,
    UnsupportedMediaType,
)
from chalicelib.request.call import REPLACED, Call, current
from chalicelib.request.routes import JSON, Operation
from chalicelib.schemas import QueryParameters
from chalicelib.validation import DEEPEST, MOST_ERRORS, depth, invalid, is_blank, validate

Model = TypeVar("Model", bound=BaseModel)
Parameters = TypeVar("Parameters", bound=QueryParameters)

LONGEST_NUMBER: Final = 400  # characters; the largest double has 309 digits
_WHOLE_DIGITS: Final = 15  # from here on, a double is not an exact whole number
LARGEST_EXPONENT: Final = 307  # the limits of a double, which other JSON readers use
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)
_UTF_8: Final = {"utf-8", "utf8", "us-ascii"}
_NOT_UTF_8: Final = (
    "The body is not UTF-8: some bytes of it are no characters. Send UTF-8. If you mean U+FFFD,"
    " write \\ufffd."
)
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPED_NUL: Final = "\\u0000"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_IN_BRACKETS: Final = re.compile(r"\[[0-9]*\]$")


def body(model: type[Model]) -> Model:
    """Return the JSON object that was sent, as the model that the route declares.

    Raises Invalid with `errors: [{field, code, message}]`; a field is `variants.0.price`.
    """
    operation = current().operation
    assert operation and operation.body is model, "the route declares another"
    return validate(model, parsed_body())


def parsed_body() -> object:
    """Return the JSON value that was sent: numbers with a fraction are Decimals, names are unique.

    Raises UnsupportedMediaType, PayloadTooLarge, MalformedJson.
    """
    media_type, _, parameters = current().request.headers.get("content-type", JSON).partition(";")
    media_type = media_type.strip().lower()
    if media_type != JSON:
        raise UnsupportedMediaType(f"The body must be {JSON}; this is {media_type[:100]!r}.")
    charset = _CHARSET.search(parameters)
    if charset and charset[1].lower() not in _UTF_8:
        raise UnsupportedMediaType(f"The body must be UTF-8; this says {charset[1][:100]!r}.")
    try:
        text = raw_body().decode("utf-8-sig")
    except UnicodeError:
        raise MalformedJson(_NOT_UTF_8) from None
    # API Gateway decodes the body, and puts U+FFFD where it cannot; UTF-16 has NULs.
    if REPLACED in text or "\0" in text:
        raise MalformedJson(_NOT_UTF_8)
    return _load(text)


def explain_expected_body(operation: Operation) -> str:
    """Return a message that says which body an operation expects.

    For an operation that takes another type than JSON.
    """
    required = operation.body.get("required", []) if isinstance(operation.body, dict) else []
    fields = " and ".join(f"`{name}`" for name in required)
    example = "".join(f" -F {name}=@…" for name in required)
    return f"The body must be {operation.consumes} with the field {fields}: curl{example}"


def raw_body() -> bytes:
    """Return the raw body. Raises PayloadTooLarge beyond the route's limit."""
    sent, operation = current().request.raw_body, current().operation
    assert isinstance(sent, bytes) and operation, "only routes ask for it"
    if len(sent) > operation.largest_body:
        raise PayloadTooLarge(f"The body must be at most {operation.largest_body:,} bytes.")
    return sent


def _load(text: str) -> object:
    if not text.strip():
        raise MalformedJson("The body is empty; JSON is expected.")
    if depth(text) > DEEPEST:
        raise MalformedJson(f"The body is nested more than {DEEPEST} levels deep.")
    try:
        value = _decode(text)
        if _ESCAPED_SURROGATE.search(text):
            # A pair is a character; half of one is not, and cannot be stored.
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The body is not JSON: {error.msg} ({place}).") from None
    except UnicodeEncodeError:
        raise MalformedJson("The body contains half of a surrogate pair.") from None
    except (ValueError, InvalidOperation):
        raise MalformedJson("The body contains a number that is too large or too long.") from None
    if _ESCAPED_NUL in text:
        _refuse_nul(value, "")
    return value


def _refuse_nul(value: object, field: str) -> None:
    """Raise Invalid for a text with a NUL: neither a CSV nor a spreadsheet can hold it."""
    if isinstance(value, str) and "\0" in value:
        raise Invalid.field(field[:200] or "body", "invalid", "contains a NUL character")
    below: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        below = value.items()
        _refuse_nul("".join(value), field)
    elif isinstance(value, list):
        below = enumerate(value)
    for name, each in below:
        _refuse_nul(each, f"{field}.{name}" if field else str(name))


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of a JSON object. Raises MalformedJson for a name that is there twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in times if times[name] > 1)
        raise MalformedJson(f"The body names {twice[:100]!r} twice in one object.")
    return members


def _no_number(text: str) -> NoReturn:
    raise MalformedJson(f"The body contains {text}, which JSON does not have.")


def _number(text: str) -> Decimal | int:
    """Parse a number with a fraction or an exponent. `2.0` is 2, as in JavaScript."""
    if len(text) > LONGEST_NUMBER:
        raise ValueError("too many digits")
    number = Decimal(text)
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        raise ValueError("not a double, and hours of arithmetic")
    whole = number == number.to_integral_value() and number.adjusted() < _WHOLE_DIGITS
    return int(number) if whole else number


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > LARGEST_EXPONENT + 1:
        raise ValueError("no double")
    return int(text)


_decode: Final = json.JSONDecoder(
    object_pairs_hook=unique, parse_float=_number, parse_int=_integer, parse_constant=_no_number
).decode


def query(model: type[Parameters]) -> Parameters:
    """Return the query parameters, as the model that the route declares. Raises Invalid."""
    operation = current().operation
    assert operation and operation.query is model, "the route declares another"
    parameters = _parameters()
    _refuse_replaced(parameters, _declared_parameters(model))
    sent: dict[str, object] = {}
    for name, takes_list in _declared_parameters(model).items():
        values = [value for value in parameters.get(name, ()) if value.strip()]
        if values:
            sent[name] = values if takes_list else values[-1]
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise invalid(error) from None


def refuse_wrong_parameters(call: Call) -> None:
    """Raise Invalid, which names each parameter that is wrong.

    A mistyped or blank filter must not return everything, and of two values none may be ignored.
    """
    if call.operation is None:  # 404 or 405
        return
    model = call.operation.query
    takes_list = _declared_parameters(model) if model else {}
    sent = _parameters()
    _refuse_replaced(sent, sent)
    unknown = [name[:200] for name in sent if name not in takes_list]
    if unknown:
        message = f"is not a parameter here; there are {', '.join(sorted(takes_list)) or 'none'}"
        _refuse(unknown[:MOST_ERRORS], message, "unknown_parameter")
    _refuse(
        (
            name
            for name, values in sent.items()
            if any(is_blank(value, takes_list[name]) for value in values)
        ),
        "is blank: leave it out, or give it a value",
    )
    _refuse(
        (name for name, values in sent.items() if len(set(values)) > 1 and not takes_list[name]),
        "takes one value, and several were sent",
    )


def _refuse_replaced(parameters: Mapping[str, list[str]], names: Iterable[str]) -> None:
    """Raise NotUtf8 for a parameter that API Gateway could not decode."""
    for name in names:
        if REPLACED in "".join((name, *parameters.get(name, ()))):
            raise NotUtf8(f"The parameter {name[:200]} is not UTF-8.", field=name[:200])


def name_ignored_parameters(call: Call) -> dict[str, str]:
    """Return the header that names the unknown parameters of a public request, of ten at most."""
    model = call.operation.query if call.operation else None
    if model is None:
        return {}
    names = [name for name in _parameters() if name not in _declared_parameters(model)]
    texts = (quote(name[:100], safe="") for name in names[:10])
    return {"X-Ignored-Parameters": ", ".join(texts)} if names else {}


def _refuse(names: Iterable[str], message: str, code: str = "invalid") -> None:
    if errors := [{"field": name, "code": code, "message": message} for name in names]:
        raise Invalid.fields(errors)


def _parameters() -> Mapping[str, list[str]]:
    """Return the values of each query parameter.

    `status[]=A` and `status[0]=A`, as axios, jQuery and PHP write lists, are `status=A`.
    """
    if current().request.query_params is None:
        return {}
    sent = current().request.to_original_event()["multiValueQueryStringParameters"]
    parameters: dict[str, list[str]] = {}
    for written, values in sent.items():
        name = _IN_BRACKETS.sub("", written)
        if any(map(_SURROGATE.search, (name, *values))):
            raise Invalid.field(_SURROGATE.sub("\ufffd", name)[:200], "invalid", "must be UTF-8")
        parameters.setdefault(name, []).extend(values)
    return parameters


@cache
def _declared_parameters(model: type[QueryParameters]) -> dict[str, bool]:
    """Return the names of a route's query parameters, and whether each takes several values."""
    return {
        field.alias or name: any(text in str(field.annotation) for text in ("list[", "set["))
        for name, field in model.model_fields.items()
    }
