"""The description of the API, OpenAPI 3.1, made from the routes and the models themselves."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from chalice.app import Response
from pydantic import TypeAdapter

from chalicelib import settings
from chalicelib.problems import (
    Busy,
    Forbidden,
    Invalid,
    MalformedJson,
    NotFound,
    PayloadTooLarge,
    PreconditionFailed,
    Problem,
    RateLimited,
    Unauthorized,
    UnsupportedMediaType,
)
from chalicelib.request import Routes, reply
from chalicelib.request.call import current
from chalicelib.request.middleware import InternalError
from chalicelib.request.routes import JSON, METHODS, Operation, operations

Schema = dict[str, Any]

PATH: Final = "/api/openapi.json"
_REFERENCE: Final = "#/components/schemas/{model}"
_INTRODUCTION: Final = (
    "Products, orders and webhooks of one shop. Requests below `/api/admin` carry an API key;"
    " the others are open. Times are ISO 8601 in UTC, amounts are strings with the decimals of"
    " the shop's currency. Limits are per minute: 120 reads and 60 writes a key, 300 requests a"
    " source address without one."
)
_PARAMETER: Final = re.compile(r"{(\w+)}")

routes = Routes(__name__, "API")


@routes.get(PATH, "This description", answers={200: dict[str, Any], 304: None})
def describe() -> Response:
    description = document()
    called = str(current().request.context.get("path", ""))
    # The stage, or whatever prefix a custom domain has; relative, so that any host name works.
    server = {"url": settings.base_path() or called.removesuffix(PATH) or "/"}
    return reply(
        200,
        {**description, "servers": [server]},
        etag=_version(),
        headers={"Cache-Control": "public, max-age=300"},
    )


def problems(operation: Operation) -> frozenset[type[Problem]]:
    """The families that an operation may answer: what it declares, and what follows from that."""
    follow: set[type[Problem]] = {RateLimited, InternalError, Busy, *operation.problems}
    if operation.role is not None:
        follow |= {Unauthorized, Forbidden, Invalid}
    if operation.body is not None:
        follow |= {MalformedJson, PayloadTooLarge, UnsupportedMediaType, Invalid}
    if operation.query is not None:
        follow |= {Invalid}
    if "{" in operation.path:
        follow |= {NotFound}
    return frozenset(follow)


def statuses(operation: Operation) -> frozenset[int]:
    """Every status that an operation may answer."""
    refusals = {problem.status for problem in problems(operation)}
    return frozenset({*operation.answers, *refusals})


@cache
def document() -> Schema:
    """The whole description but for `servers`. Made once per process."""
    schemas, definitions = _schemas()
    paths: dict[str, Schema] = {}
    refusals: dict[str, Schema] = {}
    for _, operation in _in_order():
        described = _operation(operation, schemas, definitions, refusals)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Backroom", "version": "1", "description": _INTRODUCTION},
        "tags": [{"name": tag} for tag in sorted({each.tag for each in operations.values()})],
        "paths": paths,
        "components": {
            "schemas": {**definitions, "Error": _ERROR},
            "responses": refusals,
            "headers": _HEADERS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


@cache
def _version() -> str:
    return hashlib.sha256(repr(document()).encode()).hexdigest()[:16]


def _in_order() -> list[tuple[tuple[str, str], Operation]]:
    """By path, whatever was imported first: every process gives the same description."""
    return sorted(operations.items(), key=lambda each: (each[0][1], METHODS.index(each[0][0])))


def _schemas() -> tuple[dict[Any, Schema], dict[str, Schema]]:
    """The schemas of every model that an operation names, and the definitions that they share."""
    named = [(place, mode, TypeAdapter(model)) for place, mode, model in _models()]
    schemas, shared = TypeAdapter.json_schemas(
        named, ref_template=_REFERENCE, schema_generator=_plain_schemas()
    )
    found = {place: schema for (place, _), schema in schemas.items()}
    return found, shared.get("$defs", {})


def _plain_schemas() -> Any:
    """pydantic's generator, without what says nothing: titles made from names, blank defaults."""
    from pydantic.json_schema import GenerateJsonSchema

    class Plain(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def default_schema(self, schema: Any) -> Any:
            made = super().default_schema(schema)
            if made.get("default", ...) in ("", None, []):
                del made["default"]
            return made

    return Plain


def _models() -> Iterator[tuple[Any, Any, Any]]:
    for at, operation in _in_order():
        if operation.body is not None and not isinstance(operation.body, Mapping):
            yield (at, "body"), "validation", operation.body
        if operation.query is not None:
            yield (at, "query"), "validation", operation.query
        for status, model in operation.answers.items():
            if model is not None and not isinstance(model, str):
                yield (at, status), "serialization", model


def _operation(
    operation: Operation,
    schemas: Mapping[Any, Schema],
    definitions: Mapping[str, Schema],
    refusals: dict[str, Schema],
) -> Schema:
    at = (operation.method, operation.path)
    described: Schema = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": " ".join(operation.description.split()),
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in _PARAMETER.findall(operation.path)
            ),
            *_query_parameters(schemas.get((at, "query")), definitions),
            *_header_parameters(operation),
        ],
        "responses": {
            **{
                str(status): _answer(model, schemas.get((at, status)))
                for status, model in operation.answers.items()
            },
            **_refusals(problems(operation), refusals),
        },
    }
    if operation.role is not None:
        described["security"] = [{"key": []}]
        described["x-role"] = operation.role.value
    if operation.body is not None:
        schema = schemas.get((at, "body"), operation.body)
        described["requestBody"] = {
            "required": True,
            "content": {operation.consumes: {"schema": schema}},
        }
    return described


def _query_parameters(schema: Schema | None, definitions: Mapping[str, Schema]) -> Iterator[Schema]:
    if schema is None:
        return
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for name, field in schema["properties"].items():
        described = {key: value for key, value in field.items() if key != "description"}
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": field.get("description", ""),
            "schema": described,
        }


def _header_parameters(operation: Operation) -> Iterator[Schema]:
    headers = dict(operation.headers)
    if PreconditionFailed in operation.problems:
        headers["If-Match"] = "The ETag that the resource must still have."
    if 304 in operation.answers:
        headers["If-None-Match"] = "The ETag of what the client has: 304 when it is still so."
    for name, does in headers.items():
        yield {"name": name, "in": "header", "description": does, "schema": {"type": "string"}}


def _answer(model: Any, schema: Schema | None) -> Schema:
    described: Schema = {
        "description": "As asked." if model is not None else "Nothing.",
        "headers": _EVERY_ANSWER,
    }
    if schema is not None:
        described["content"] = {JSON: {"schema": schema}}
    elif isinstance(model, str):
        described["content"] = {model: {"schema": _TEXT}}
    return described


def _refusals(
    families: Iterable[type[Problem]], components: dict[str, Schema]
) -> dict[str, Schema]:
    """The responses of these families by status; what they say is kept once, in `components`."""
    by_status: dict[int, list[type[Problem]]] = {}
    for family in sorted(families, key=lambda family: (family.status, family.__name__)):
        by_status.setdefault(family.status, []).append(family)
    responses = {}
    for status, sharing in by_status.items():
        name = "Or".join(family.__name__ for family in sharing)
        codes = ", ".join(f"`{family.code}`" for family in sharing)
        told = " ".join(" ".join((family.__doc__ or "").split()) for family in sharing)
        waits = _RETRY_AFTER if status in {429, 503} else {}
        components[name] = {
            "description": f"{codes}. {told}".strip(),
            "headers": {**_EVERY_ANSWER, **waits},
            "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        responses[str(status)] = {"$ref": f"#/components/responses/{name}"}
    return responses


_TEXT: Final = {"type": "string"}
_ERROR: Final[Schema] = {
    "type": "object",
    "description": "Some codes have fields of their own beside these.",
    "required": ["code", "message"],
    "properties": {
        "code": {**_TEXT, "description": "What happened, for programs."},
        "message": {**_TEXT, "description": "What happened, for people."},
        "errors": {
            "type": "array",
            "description": "With `validation_failed`: each field that is wrong.",
            "items": {
                "type": "object",
                "required": ["field", "code", "message"],
                "properties": {"field": _TEXT, "code": _TEXT, "message": _TEXT},
            },
        },
    },
}
_RETRY_AFTER: Final = {"Retry-After": {"$ref": "#/components/headers/Retry-After"}}
_HEADERS: Final[dict[str, Schema]] = {
    "X-RateLimit-Limit": {
        "description": "Requests per minute.",
        "schema": {"type": "integer"},
    },
    "X-RateLimit-Remaining": {
        "description": "Requests left in this minute.",
        "schema": {"type": "integer"},
    },
    "X-RateLimit-Reset": {
        "description": "When the next minute begins, in Unix seconds.",
        "schema": {"type": "integer"},
    },
    "X-Request-Id": {"description": "Names the request in the log.", "schema": _TEXT},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
}
_EVERY_ANSWER: Final = {
    name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS if name != "Retry-After"
}
