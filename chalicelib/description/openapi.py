"""The description of the API, OpenAPI 3.1, made from the routes and the models themselves."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from chalice.app import Response
from pydantic import TypeAdapter

from chalicelib import settings
from chalicelib.description import public_names
from chalicelib.description.components import (
    REFERENCE,
    Schema,
    describe_defaults,
    one_line,
    plain_schemas,
    public,
    referenced_schemas,
    references,
)
from chalicelib.description.limits import DESCRIPTION
from chalicelib.problems import (
    Busy,
    Forbidden,
    Invalid,
    MalformedJson,
    NotFound,
    NotUtf8,
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
from chalicelib.storage.idempotency import LONGEST_KEY
from chalicelib.webhooks.model import RECEIVER_SECONDS, RETRIED_DAYS, EventKind
from chalicelib.webhooks.schemas import event_shape

PATH: Final = "/api/openapi.json"
_SUCCESS: Final = {
    200: "Done.",
    201: "Created.",
    202: "Accepted: it happens after this answer.",
    304: "Not modified: the client has it.",
}
_INFO: Final = {
    "title": "Backroom",
    "version": "1",
    "description": DESCRIPTION,
    "contact": {"name": "Backroom"},
    "license": {"name": "MIT", "identifier": "MIT"},
}
_FORM: Final = "multipart/form-data"
_PARAMETER: Final = re.compile(r"{(\w+)}")

routes = Routes(__name__, "API")


@routes.get(PATH, "This description", answers={200: dict[str, object], 304: None})
def get_description() -> Response:
    description = document()
    base = settings.base_path()
    called = str(current().request.context.get("path", ""))
    # The stage, or whatever prefix a custom domain has; relative, so that any host name works.
    server = {"url": (called.removesuffix(PATH) if base is None else base) or "/"}
    return reply(
        200,
        {**description, "servers": [server]},
        etag=_version(),
        headers={"Cache-Control": "public, max-age=300", "Vary": "Accept-Encoding"},
    )


def problems(operation: Operation) -> frozenset[type[Problem]]:
    """Return the families of problems that an operation may answer.

    They are what it declares, and what follows from that.
    """
    follow: set[type[Problem]] = {RateLimited, InternalError, Busy, *operation.problems}
    if operation.role is not None:
        follow |= {Unauthorized, Forbidden, Invalid, NotUtf8}
    if operation.body is not None:
        follow |= {MalformedJson, PayloadTooLarge, UnsupportedMediaType, Invalid}
    if operation.query is not None:
        follow |= {Invalid, NotUtf8}
    if "{" in operation.path:
        follow |= {NotFound}
    return frozenset(follow)


@cache
def document() -> Schema:
    """Return the whole description but for `servers`; it is made once per process."""
    schemas, definitions = _schemas()
    paths: dict[str, Schema] = {}
    refusals: dict[str, Schema] = {}
    for _, operation in _in_order():
        described = _operation(operation, schemas, definitions, refusals)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    definitions = {**definitions, **dict(_event_schema(kind, schemas[kind]) for kind in EventKind)}
    webhooks = {kind.value: {"post": _event(kind)} for kind in EventKind}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "tags": [
            {"name": tag, "description": public_names.TAGS[tag]}
            for tag in sorted({_RECEIVED, *(each.tag for each in operations.values())})
        ],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": {**referenced_schemas([paths, webhooks], definitions), "Error": _ERROR},
            "responses": {**refusals, **_GATEWAYS_ANSWERS},
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


def _schemas() -> tuple[dict[object, Schema], dict[str, Schema]]:
    """Return the schema of every model that an operation names, and their shared definitions."""
    models = [(place, mode, TypeAdapter(model)) for place, mode, model in _models()]
    schemas, shared = TypeAdapter.json_schemas(
        models, ref_template=REFERENCE, schema_generator=plain_schemas()
    )
    schema_by_place = {place: public(schema) for (place, _), schema in schemas.items()}
    definitions = {
        public_names.schema(name): public(schema)
        for name, schema in shared.get("$defs", {}).items()
    }
    bodies = [schema_by_place.get((at, "body")) for at, _ in _in_order()]
    for name, schema in referenced_schemas(bodies, definitions).items():
        definitions[name] = describe_defaults(schema)
    return schema_by_place, definitions


def _models() -> Iterator[tuple[object, Any, Any]]:
    for at, operation in _in_order():
        if operation.body is not None and not isinstance(operation.body, Mapping):
            yield (at, "body"), "validation", operation.body
        if operation.query is not None:
            yield (at, "query"), "validation", operation.query
        for status, model in operation.answers.items():
            if model is not None and not isinstance(model, str):
                yield (at, status), "serialization", model
    for kind in EventKind:
        yield kind, "serialization", event_shape(kind)


@cache
def examples() -> dict[str, Any]:
    """Return what the code answered when it was asked (`tests/support/examples.py`).

    `operations`, such as `POST /api/admin/orders`, with `path`, `query`, `request` and `answers` by
    status; `events`, by kind; `problems`, by status and code.
    """
    text = (Path(__file__).parent / "examples.json").read_text(encoding="utf-8")
    parsed: dict[str, object] = json.loads(text)
    return parsed


def _event_schema(kind: EventKind, data: Schema) -> tuple[str, Schema]:
    schema = {
        "type": "object",
        "description": kind.when,
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "const": kind.value, "description": "Kind of the event."},
            "data": {**data, "description": "What it is about."},
        },
    }
    return public_names.event_schema(kind.value), schema


def _event(kind: EventKind) -> Schema:
    schema = {"$ref": REFERENCE.format(model=public_names.event_schema(kind.value))}
    return {
        "operationId": public_names.event(kind.value),
        "tags": [_RECEIVED],
        "summary": kind.value,
        "description": kind.when,
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": says, "schema": _TEXT}
            for name, says in _DELIVERED.items()
        ],
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": schema, "example": examples()["events"].get(kind.value)}},
        },
        "responses": {
            "2XX": {"description": f"Delivered, if it comes within {RECEIVER_SECONDS} seconds."},
            "default": {
                "description": f"Not delivered: it is retried for up to {RETRIED_DAYS} days."
            },
        },
        "security": [],
    }


def _operation(
    operation: Operation,
    schemas: Mapping[object, Schema],
    definitions: Mapping[str, Schema],
    refusals: dict[str, Schema],
) -> Schema:
    at = (operation.method, operation.path)
    example = _example(operation)
    described: Schema = {
        "operationId": public_names.operation(operation.name),
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": one_line(operation.description or f"{operation.summary}."),
        "parameters": [
            *(
                {
                    "name": name,
                    "in": "path",
                    "required": True,
                    "description": public_names.parameter(operation.path, name),
                    "schema": _TEXT,
                    "example": example.get("path", {}).get(name, "…"),
                }
                for name in _PARAMETER.findall(operation.path)
            ),
            *_query_parameters(
                schemas.get((at, "query")),
                definitions,
                example.get("query", {}),
                refuses_blank=operation.role is not None,
            ),
            *_header_parameters(operation),
        ],
        "responses": {
            **{
                str(status): _answer(status, model, schemas.get((at, status)), definitions, example)
                for status, model in operation.answers.items()
            },
            **_refusals(problems(operation), refusals),
            **{status: {"$ref": f"#/components/responses/{name}"} for status, name in _GATEWAY},
        },
    }
    described["security"] = [{"key": []}] if operation.role else []
    if operation.role is None and operation.query is not None:
        for status in operation.answers:
            described["responses"][str(status)]["headers"] = {**_EVERY_ANSWER, **_IGNORED}
    if operation.role is not None:
        described["x-role"] = operation.role.value
    if operation.body is not None:
        schema: Any = schemas.get((at, "body"), operation.body)
        if operation.consumes == _FORM:
            sent = schemas.get((at, "query"))
            schema = _add_fields(schema, _query_parameters(sent, definitions, {}))
        described["requestBody"] = {
            "required": not operation.optional_body,
            "content": {operation.consumes: {"schema": schema}},
        }
        if "request" in example:
            described["requestBody"]["content"][operation.consumes]["example"] = example["request"]
    return described


def _add_fields(form: Schema, parameters: Iterable[Schema]) -> Schema:
    """Return the schema of a form, which takes the parameters of its query as fields, too."""
    fields = {
        each["name"]: {
            "description": each["description"],
            **{name: value for name, value in each["schema"].items() if name != "default"},
        }
        for each in parameters
    }
    return {**form, "properties": {**form["properties"], **fields}}


def _example(operation: Operation) -> dict[str, Any]:
    """Return a call of an operation and what was answered; empty where there is none."""
    if operation.path == PATH:
        return {"answers": {"200": {"openapi": "3.1.0", "info": _INFO}}}
    known: dict[str, object] = examples()["operations"].get(
        f"{operation.method} {operation.path}", {}
    )
    return known


def _query_parameters(
    schema: Schema | None,
    definitions: Mapping[str, Schema],
    example: Mapping[str, str],
    *,
    refuses_blank: bool = False,
) -> Iterator[Schema]:
    if schema is None:
        return
    query = ""
    if "$ref" in schema:
        query = schema["$ref"].rpartition("/")[2]
        schema = definitions[query]
    for name, field in schema["properties"].items():
        described = _describe_as_text(field)
        if refuses_blank:
            described = _describe_not_blank(described)
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": field["description"],
            "schema": described,
            **({"example": _read(example[name], described)} if name in example else {}),
        }


def _describe_as_text(field: Schema) -> Schema:
    """Return the schema of a parameter: a query has no null, and an amount looks as a number."""
    options = [one for one in field.get("anyOf", ()) if one != {"type": "null"}]
    if len(options) == 1 or (options and options[0].get("type") == "number"):
        return _describe_as_text(options[0])
    described = {key: value for key, value in field.items() if key != "description"}
    return {**described, "anyOf": options} if options else described


def _describe_not_blank(schema: Schema) -> Schema:
    """Return the schema of a parameter of which nothing but blanks is refused."""
    if schema.get("type") == "array" and schema["items"].get("type") == "string":
        several = {"minLength": 1, "pattern": r"[^\s,]", **schema["items"]}
        return schema if "enum" in several else {**schema, "items": several}
    if schema.get("type") != "string" or "format" in schema:
        return schema
    return {"pattern": r"\S", **schema, "minLength": max(1, schema.get("minLength", 0))}


def _read(text: str, schema: Schema) -> object:
    """Return a value of the query, as its schema has it."""
    if schema.get("type") == "array":
        return text.split(",")
    return int(text) if schema.get("type") == "integer" else text


def _header_parameters(operation: Operation) -> Iterator[Schema]:
    headers = dict(operation.headers)
    if PreconditionFailed in operation.problems:
        headers["If-Match"] = "The ETag that the resource must still have."
    if 304 in operation.answers:
        headers["If-None-Match"] = "The ETag of the client's copy: 304 if it is still current."
    for name, does in headers.items():
        schema: Schema = {"type": "string"}
        if name == "Idempotency-Key":
            schema |= {"minLength": 1, "maxLength": LONGEST_KEY}
        yield {"name": name, "in": "header", "description": does, "schema": schema}


def _answer(
    status: int,
    model: object,
    schema: Schema | None,
    definitions: Mapping[str, Schema],
    example: Mapping[str, Any],
) -> Schema:
    name = next(references(schema), "")
    about = definitions.get(name, {}).get("description")
    described: Schema = {
        "description": one_line(f"{_SUCCESS[status]} {about or ''}"),
        "headers": _EVERY_ANSWER,
    }
    media, shape = (model, _TEXT) if isinstance(model, str) else (JSON, schema)
    if shape is not None:
        described["content"] = {media: {"schema": shape}}
        if str(status) in example.get("answers", {}):
            described["content"][media]["example"] = example["answers"][str(status)]
    return described


def _refusals(
    families: Iterable[type[Problem]], components: dict[str, Schema]
) -> dict[str, Schema]:
    """Return the responses of these families by status.

    What they say is kept once, in `components`.
    """
    by_status: dict[int, list[type[Problem]]] = {}
    for family in sorted(families, key=lambda family: (family.status, family.__name__)):
        by_status.setdefault(family.status, []).append(family)
    responses = {}
    for status, sharing in by_status.items():
        name = "Or".join(family.__name__ for family in sharing)
        codes = ", ".join(f"`{family.code}`" for family in sharing)
        details = " ".join(" ".join((family.__doc__ or "").split()) for family in sharing)
        waits = _RETRY_AFTER if status in {429, 503} else {}
        components[name] = {
            "description": f"{codes}. {details}".strip(),
            "headers": {**_EVERY_ANSWER, **waits},
            "content": {
                JSON: {
                    "schema": {"$ref": "#/components/schemas/Error"},
                    "examples": {
                        code: {"summary": problem["operation"], "value": problem["answer"]}
                        for code, problem in examples()["problems"].get(str(status), {}).items()
                    },
                }
            },
        }
        responses[str(status)] = {"$ref": f"#/components/responses/{name}"}
    return responses


# API Gateway's own answers, if no function was called or none answered (docs/api.md). AWS does not
# document their bodies.
_GATEWAYS_ANSWERS: Final = {
    "HeadersTooLarge": {
        "description": "From API Gateway: request line and headers have more than 10,240 bytes."
    },
    "NoFunctionAnswered": {
        "description": "From API Gateway: a function crashed, or none was free. The request"
        " may have taken effect."
    },
    "NoAnswerInTime": {
        "description": "From API Gateway: no answer within 29 seconds. The request may"
        " have taken effect."
    },
}
_GATEWAY: Final = tuple(zip(("431", "502", "504"), _GATEWAYS_ANSWERS, strict=True))
_TEXT: Final = {"type": "string"}
_DELIVERED: Final = {
    "X-Service-Event": "Kind of the event.",
    "X-Service-Event-Id": "Id of the event, as the change feed has it.",
    "X-Service-Occurred-At": "When it was committed, as the change feed has it.",
    "X-Service-Delivery": "Id of the delivery; the same when it is sent again.",
    "X-Service-Timestamp": "When it was sent, in Unix seconds.",
    "X-Service-Signature": "`t=<timestamp>,v1=<hex>`: HMAC-SHA256 of `<timestamp>.<body>` keyed"
    " with the secret; one `v1` for each secret that signs.",
    "webhook-id": "Id of the delivery, as Standard Webhooks has it.",
    "webhook-timestamp": "When it was sent, in Unix seconds.",
    "webhook-signature": "`v1,<base64>`: HMAC-SHA256 of `<id>.<timestamp>.<body>`, as Standard"
    " Webhooks has it.",
}
_ERROR: Final[Schema] = {
    "type": "object",
    "description": "Some codes have further fields of their own.",
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
                "properties": {
                    "field": {**_TEXT, "description": "Where it is, such as `lineItems.0.price`."},
                    "code": {**_TEXT, "description": "What is wrong, for programs."},
                    "message": {**_TEXT, "description": "What is wrong, for people."},
                },
            },
        },
    },
}
# A tag is a file of a generated client: one for both kinds of operations would replace the other.
_RECEIVED: Final = "Received events"
_HEADERS: Final[dict[str, Schema]] = {
    name: {"description": says, "schema": {"type": of}}
    for name, of, says in (
        ("X-RateLimit-Limit", "integer", "Requests per minute."),
        ("X-RateLimit-Remaining", "integer", "Requests left in this minute."),
        ("X-RateLimit-Reset", "integer", "When the next minute begins, in Unix seconds."),
        ("X-Request-Id", "string", "Names the request in the log."),
        ("Retry-After", "integer", "Seconds to wait."),
        ("X-Ignored-Parameters", "string", "Unknown parameters, percent-encoded; at most ten."),
    )
}
_EVERY_ANSWER, _RETRY_AFTER, _IGNORED = (
    {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    for names in (list(_HEADERS)[:4], ["Retry-After"], ["X-Ignored-Parameters"])
)
