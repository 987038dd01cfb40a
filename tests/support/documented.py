"""Checks that every answer in a test matches the API's description."""

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter

from chalicelib.description import openapi
from chalicelib.request.routes import Operation, find_operation
from chalicelib.schemas import Sparse

if TYPE_CHECKING:
    from tests.support.shop import Answer

LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def check(method: str, resource: str, answer: "Answer", *, has_fields: bool = False) -> None:
    for name in LIMITS:
        assert answer.headers[name].isdigit(), f"{name} of {method} {resource}"
    assert answer.headers["X-Request-Id"]
    if not resource.startswith("/api/"):
        return
    if answer.status >= 400 and method != "HEAD":
        assert isinstance(answer.json["code"], str) and isinstance(answer.json["message"], str)
    operation = find_operation(method, resource)
    if operation is None:
        assert answer.status in {204, 401, 404, 405, 429, 500, 503}
        return
    refusals = {problem.status for problem in openapi.problems(operation)}
    declared = {*operation.answers, *refusals}
    assert answer.status in declared, f"{method} {resource} answers {answer.status}: {answer.text}"
    shape = operation.answers.get(answer.status)
    if isinstance(shape, str):
        assert answer.headers["Content-Type"].startswith(shape)
    elif shape is not None and method != "HEAD":
        if has_fields:
            _check_fields(operation, answer)
            return
        _shape(shape).validate_json(f"[{answer.text}]", strict=True)
    elif answer.status in operation.answers:
        assert answer.text == ""


def _check_fields(operation: Operation, answer: "Answer") -> None:
    """Checks the requested fields of those that are declared."""
    assert operation.query and issubclass(operation.query, Sparse)
    names = operation.query.shape.__annotations__.keys()
    assert all(record.keys() <= names for record in answer.json.get("data", [answer.json]))


@cache
def _shape(shape: Any) -> TypeAdapter[Any]:
    # In a list, because the configuration of a list, unlike its own, reaches a TypedDict.
    return TypeAdapter(list[shape], config=ConfigDict(extra="forbid"))
