"""What a client sent, checked: `body` and `query`."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from chalicelib.problems import MalformedJson, PayloadTooLarge, UnsupportedMediaType
from chalicelib.request.call import current
from chalicelib.request.routes import JSON
from chalicelib.schemas import Query
from chalicelib.validation import invalid, validate

Model = TypeVar("Model", bound=BaseModel)
Parameters = TypeVar("Parameters", bound=Query)

_LARGEST_EXPONENT: Final = 308  # of what JSON's other readers take, a double
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def body(model: type[Model]) -> Model:
    """The JSON object that was sent, as the model that the route declares.

    Raises Invalid with `errors: [{field, code, message}]`; a field is `variants.0.price`.
    """
    declared = current().operation
    if declared is None or declared.body is not model:
        raise TypeError(f"the route does not declare the body {model.__name__}")
    return validate(model, parsed_body())


def parsed_body() -> Any:
    """The JSON value that was sent: numbers with a fraction are Decimals, names are unique.

    Raises UnsupportedMediaType, PayloadTooLarge, MalformedJson.
    """
    media_type = current().request.headers.get("content-type", JSON)
    media_type = media_type.partition(";")[0].strip().lower()
    if media_type != JSON:
        raise UnsupportedMediaType(f"The body must be {JSON}, not {media_type[:100]!r}.")
    try:
        return _load(raw_body().decode("utf-8"))
    except UnicodeError:
        raise MalformedJson("The body is not UTF-8.") from None


def raw_body() -> bytes:
    """The bytes that were sent. Raises PayloadTooLarge beyond what the route declares."""
    request, operation = current().request, current().operation
    raw = request.raw_body
    sent = raw.encode("utf-8") if isinstance(raw, str) else raw
    limit = operation.largest_body if operation else 0
    if len(sent) > limit:
        raise PayloadTooLarge(f"The body must be at most {limit:,} bytes.")
    return sent


def _load(text: str) -> Any:
    if not text.strip():
        raise MalformedJson("The body is empty; JSON is expected.")
    try:
        value = _decode(text)
        if _ESCAPED_SURROGATE.search(text):
            # A pair is a character; half of one is not, and no storage would take it.
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The body is not JSON: {error.msg} ({place}).") from None
    except UnicodeEncodeError:
        raise MalformedJson("The body contains half of a surrogate pair.") from None
    except RecursionError:
        raise MalformedJson("The body is nested too deeply.") from None
    except (ValueError, InvalidOperation):
        raise MalformedJson("The body contains a number that is too large or too long.") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in times if times[name] > 1)
        raise MalformedJson(f"The body names {twice[:100]!r} twice in one object.")
    return members


def _no_number(text: str) -> NoReturn:
    raise MalformedJson(f"The body contains {text}, which JSON does not have.")


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if number and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("nobody's number, and hours of arithmetic")
    return number


_decode: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_number, parse_constant=_no_number
).decode


def query(model: type[Parameters]) -> Parameters:
    """The query parameters, as the model that the route declares. Raises Invalid."""
    declared = current().operation
    if declared is None or declared.query is not model:
        raise TypeError(f"the route does not declare the query {model.__name__}")
    given: Mapping[str, list[str]] = {}
    if current().request.query_params is not None:
        given = current().request.to_original_event()["multiValueQueryStringParameters"]
    sent: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        values = [value for value in given.get(field.alias or name, ()) if value.strip()]
        if values:
            sent[field.alias or name] = values if _is_list(field.annotation) else values[-1]
    try:
        return model.model_validate(sent, by_alias=True, by_name=False)
    except ValidationError as error:
        raise invalid(error) from None


def _is_list(annotation: Any) -> bool:
    return "list[" in str(annotation) or "set[" in str(annotation)
