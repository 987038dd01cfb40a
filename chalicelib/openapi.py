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

from chalicelib import money, public_names, settings
from chalicelib.api_keys.model import READS_PER_MINUTE, WRITES_PER_MINUTE
from chalicelib.bulk_edits.model import MOST_IDS
from chalicelib.customers.model import MOST_ADDRESSES
from chalicelib.events.model import MOST_EVENTS
from chalicelib.idempotency import LONGEST_KEY
from chalicelib.imports.model import (
    LARGEST_CELLS,
    LARGEST_FORM,
    LARGEST_GROUP,
    LARGEST_ROW,
    LARGEST_SHEET,
    LARGEST_UNPACKED,
    LARGEST_UPLOAD,
    LARGEST_WORKBOOK,
    LONGEST_HEADER,
    LONGEST_MAPPING_NAME,
    MOST_COLUMNS,
    MOST_MAPPINGS,
    MOST_ROWS,
)
from chalicelib.listing import MOST_WORD_BYTES
from chalicelib.listing.lists import MOST_COUNTED
from chalicelib.listing.query import MOST_VALUES
from chalicelib.listing.search import MOST_MATCHES
from chalicelib.orders.model import (
    LARGEST_HISTORY,
    LARGEST_ORDER,
    MOST_HISTORY,
    MOST_LINES,
    MOST_PIECES,
    MOST_PRODUCTS,
)
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
from chalicelib.products.model import (
    BULK_PRODUCTS,
    DEEPEST_METADATA,
    DEEPEST_PUBLIC,
    LARGEST_BULK,
    LARGEST_DESCRIPTION,
    LARGEST_METADATA,
    LARGEST_PRODUCT,
    MOST_PARTS,
    MOST_STOCK,
    MOST_VARIANTS,
)
from chalicelib.request import Routes, reply
from chalicelib.request.call import current
from chalicelib.request.middleware import InternalError
from chalicelib.request.parse import LARGEST_EXPONENT, LONGEST_NUMBER
from chalicelib.request.rate import LIMITS, STOREFRONT
from chalicelib.request.routes import JSON, LARGEST_BODY, METHODS, Operation, operations
from chalicelib.request.size import LARGEST_ANSWER
from chalicelib.safe_post.destination import LONGEST_URL
from chalicelib.safe_post.response import LONGEST_HEAD, MOST_HEADERS
from chalicelib.safe_post.wire import MOST_RECEIVED
from chalicelib.schemas import LARGEST_PAGE
from chalicelib.validation import DEEPEST, MOST_ERRORS
from chalicelib.webhooks.model import (
    DEEPEST_FILTER,
    LARGEST_FILTER,
    LONGEST_OVERLAP,
    MOST_FILTER_VALUES,
    MOST_SECRETS,
    EventKind,
)
from chalicelib.webhooks.shown import announced

Schema = dict[str, Any]

PATH: Final = "/api/openapi.json"
_REFERENCE: Final = "#/components/schemas/{model}"
_SUCCESS: Final = {
    200: "Done.",
    201: "Created.",
    202: "Accepted: it happens after this answer.",
    304: "Not modified: the client has it.",
}
_INTRODUCTION: Final = (
    "Products, orders and webhooks of one shop. Requests below `/api/admin` carry an API key;"
    " the others are open. Times are ISO 8601 in UTC, amounts are strings with the decimals of"
    f" the shop's currency. Limits are per minute: {READS_PER_MINUTE} reads and {WRITES_PER_MINUTE}"
    f" writes a key, {LIMITS[STOREFRONT]} requests a source address without one."
)
# What protects the service, besides what the schemas say of single fields; docs/api.md#limits has
# the same (tests/test_limits.py).
_LIMITS: Final = {
    "bytes of a body": LARGEST_BODY,
    "bytes of the body of a bulk call": LARGEST_BULK,
    "levels of objects and lists in a body": DEEPEST,
    "characters of a number": LONGEST_NUMBER,
    "as the exponent of a number": LARGEST_EXPONENT,
    "of an amount, which is below that": money.LARGEST,
    "characters of an `Idempotency-Key`": LONGEST_KEY,
    "bytes of an answer": LARGEST_ANSWER,
    "errors in an answer": MOST_ERRORS,
    "items of a page": LARGEST_PAGE,
    "values of a filter": MOST_VALUES,
    "matches that a search reads": MOST_MATCHES,
    "records that are counted by their keys for a total": MOST_COUNTED,
    "results that the storefront's pages reach": DEEPEST_PUBLIC,
    "bytes of a product": LARGEST_PRODUCT,
    "bytes of its `description`": LARGEST_DESCRIPTION,
    "bytes of its `metadata`": LARGEST_METADATA,
    "levels in its `metadata`": DEEPEST_METADATA,
    "variants of a product": MOST_VARIANTS,
    "bytes of words that it is found by": MOST_WORD_BYTES,
    "pieces in stock": MOST_STOCK,
    "products of a bulk call": BULK_PRODUCTS,
    "variants, tags and words of all of them": MOST_PARTS,
    "records of a bulk edit by `ids`": MOST_IDS,
    "bytes of an order": LARGEST_ORDER,
    "lines of an order": MOST_LINES,
    "pieces of each": MOST_PIECES,
    "products of an order": MOST_PRODUCTS,
    "entries of its history, of which the first and the latest stay": MOST_HISTORY,
    "bytes of these": LARGEST_HISTORY,
    "addresses of a customer": MOST_ADDRESSES,
    "events of a page of the feed": MOST_EVENTS,
    "bytes of a file by form": LARGEST_FORM,
    "bytes of an upload": LARGEST_UPLOAD,
    "bytes of a workbook": LARGEST_WORKBOOK,
    "bytes of a workbook that is unpacked": LARGEST_UNPACKED,
    "bytes of its cells in memory": LARGEST_CELLS,
    "bytes of its sheet as CSV": LARGEST_SHEET,
    "columns of a file": MOST_COLUMNS,
    "characters of its header": LONGEST_HEADER,
    "bytes of a row of it": LARGEST_ROW,
    "rows of one product in it": MOST_ROWS,
    "bytes of these rows": LARGEST_GROUP,
    "saved mappings": MOST_MAPPINGS,
    "characters of the name of one": LONGEST_MAPPING_NAME,
    "characters of a webhook's URL": LONGEST_URL,
    "values in its filter": MOST_FILTER_VALUES,
    "bytes of its filter": LARGEST_FILTER,
    "levels of its filter": DEEPEST_FILTER,
    "secrets of it that sign at once": MOST_SECRETS,
    "hours in which an earlier secret signs": LONGEST_OVERLAP,
    "lines of the head of a receiver's answer": MOST_HEADERS,
    "bytes of this head": LONGEST_HEAD,
    "bytes that a receiver sends, encryption and all": MOST_RECEIVED,
}
_INFO: Final = {
    "title": "Backroom",
    "version": "1",
    "description": f"{_INTRODUCTION}\n\nAt most: "
    + "; ".join(f"{most:,} {what}" for what, most in _LIMITS.items())
    + ".",
    "contact": {"name": "Backroom"},
    "license": {"name": "MIT", "identifier": "MIT"},
}
_PARAMETER: Final = re.compile(r"{(\w+)}")

routes = Routes(__name__, "API")


@routes.get(PATH, "This description", answers={200: dict[str, Any], 304: None})
def get_description() -> Response:
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
    definitions = {**definitions, **dict(_event_schema(kind, schemas[kind]) for kind in EventKind)}
    told = {kind.value: {"post": _event(kind)} for kind in EventKind}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "tags": [
            {"name": tag, "description": public_names.TAGS[tag]}
            for tag in sorted({each.tag for each in operations.values()})
        ],
        "paths": paths,
        "webhooks": told,
        "components": {
            "schemas": {**_named([paths, told], definitions), "Error": _ERROR},
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


def _schemas() -> tuple[dict[Any, Schema], dict[str, Schema]]:
    """The schemas of every model that an operation names, and the definitions that they share."""
    named = [(place, mode, TypeAdapter(model)) for place, mode, model in _models()]
    schemas, shared = TypeAdapter.json_schemas(
        named, ref_template=_REFERENCE, schema_generator=_plain_schemas()
    )
    found = {place: _public(schema) for (place, _), schema in schemas.items()}
    return found, {
        public_names.schema(name): _public(schema)
        for name, schema in shared.get("$defs", {}).items()
    }


def _public(node: Any) -> Any:
    """With public names. Titles go: generators take them for names, and some repeat."""
    if isinstance(node, list):
        return [_public(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    made = {
        key: (
            {name: _public(inner) for name, inner in value.items()}
            if key == "properties"
            else _public(value)
        )
        for key, value in node.items()
        if key != "title"
    }
    if "$ref" in made:
        name = str(made["$ref"]).rpartition("/")[2]
        made["$ref"] = _REFERENCE.format(model=public_names.schema(name))
    return made


def _named(paths: Any, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schemas that something refers to, each with its words."""
    named: dict[str, Schema] = {}
    wanted = list(_references(paths))
    while wanted:
        name = wanted.pop()
        if name in definitions and name not in named:
            named[name] = _with_words(name, definitions[name])
            wanted += _references(named[name])
    return dict(sorted(named.items()))


def _references(node: Any) -> Iterator[str]:
    """The names of the schemas that it refers to."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _references(inner)


def _with_words(name: str, schema: Schema) -> Schema:
    made = {**schema, "description": _line(schema.get("description"), public_names.summary(name))}
    if "properties" in schema:
        made["properties"] = {
            own: {
                **field,
                "description": _line(field.get("description"), public_names.property(name, own)),
            }
            for own, field in schema["properties"].items()
        }
    return made


def _line(*texts: str | None) -> str:
    """The first that there is, on one line."""
    return " ".join(next((text for text in texts if text), "").split())


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
    for kind in EventKind:
        yield kind, "serialization", announced(kind)[0]


@cache
def examples() -> dict[str, Any]:
    """What the code answered when it was asked (`tests/examples.py`): `operations`, such as `POST
    /api/admin/orders`, with `path`, `query`, `request` and `answers` by status; `events`, by kind;
    `problems`, by status and code.
    """
    text = (Path(__file__).parent / "examples.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _event_schema(kind: EventKind, data: Schema) -> tuple[str, Schema]:
    schema = {
        "type": "object",
        "description": announced(kind)[1],
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "const": kind.value, "description": "Kind of the event."},
            "data": {**data, "description": "What it is about."},
        },
    }
    return public_names.event_schema(kind.value), schema


def _event(kind: EventKind) -> Schema:
    schema = {"$ref": _REFERENCE.format(model=public_names.event_schema(kind.value))}
    return {
        "operationId": public_names.event(kind.value),
        "tags": ["Webhooks"],
        "summary": kind.value,
        "description": announced(kind)[1],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": says, "schema": _TEXT}
            for name, says in _DELIVERED.items()
        ],
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": schema, "example": examples()["events"].get(kind.value)}},
        },
        "responses": {
            "2XX": {"description": "Delivered, if it comes within 10 seconds."},
            "default": {"description": "Not delivered: it is sent again, for 8 days."},
        },
        "security": [],
    }


def _operation(
    operation: Operation,
    schemas: Mapping[Any, Schema],
    definitions: Mapping[str, Schema],
    refusals: dict[str, Schema],
) -> Schema:
    at = (operation.method, operation.path)
    example = _example(operation)
    described: Schema = {
        "operationId": public_names.operation(operation.name),
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": _line(operation.description, f"{operation.summary}."),
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
            *_query_parameters(schemas.get((at, "query")), definitions, example.get("query", {})),
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
    if operation.role is not None:
        described["x-role"] = operation.role.value
    if operation.body is not None:
        schema = schemas.get((at, "body"), operation.body)
        described["requestBody"] = {
            "required": True,
            "content": {operation.consumes: {"schema": schema}},
        }
        if "request" in example:
            described["requestBody"]["content"][operation.consumes]["example"] = example["request"]
    return described


def _example(operation: Operation) -> dict[str, Any]:
    """A call of it and what was answered; empty where there is none."""
    if operation.path == PATH:
        return {"answers": {"200": {"openapi": "3.1.0", "info": _INFO}}}
    found: dict[str, Any] = examples()["operations"].get(f"{operation.method} {operation.path}", {})
    return found


def _query_parameters(
    schema: Schema | None, definitions: Mapping[str, Schema], example: Mapping[str, str]
) -> Iterator[Schema]:
    if schema is None:
        return
    query = ""
    if "$ref" in schema:
        query = schema["$ref"].rpartition("/")[2]
        schema = definitions[query]
    for name, field in schema["properties"].items():
        described = {key: value for key, value in field.items() if key != "description"}
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": _line(field.get("description"), public_names.property(query, name)),
            "schema": described,
            **({"example": _read(example[name], described)} if name in example else {}),
        }


def _read(text: str, schema: Schema) -> Any:
    """A value of the query, as its schema has it."""
    if schema.get("type") == "array":
        return text.split(",")
    return int(text) if schema.get("type") == "integer" else text


def _header_parameters(operation: Operation) -> Iterator[Schema]:
    headers = dict(operation.headers)
    if PreconditionFailed in operation.problems:
        headers["If-Match"] = "The ETag that the resource must still have."
    if 304 in operation.answers:
        headers["If-None-Match"] = "The ETag of what the client has: 304 when it is still so."
    for name, does in headers.items():
        yield {"name": name, "in": "header", "description": does, "schema": {"type": "string"}}


def _answer(
    status: int,
    model: Any,
    schema: Schema | None,
    definitions: Mapping[str, Schema],
    example: Mapping[str, Any],
) -> Schema:
    name = next(_references(schema), "")
    about = public_names.summary(name) or definitions.get(name, {}).get("description")
    described: Schema = {
        "description": _line(f"{_SUCCESS[status]} {about or ''}"),
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


# API Gateway's own, where no function was asked or none answered: docs/api.md. What is said of the
# body would be more than is known.
_GATEWAYS_ANSWERS: Final = {
    "HeadersTooLarge": {
        "description": "From API Gateway: request line and headers have more than 10,240 bytes."
    },
    "NoFunctionAnswered": {
        "description": "From API Gateway: a function died or was not free. It may have happened."
    },
    "NoAnswerInTime": {
        "description": "From API Gateway: nothing came within 29 seconds. It may have happened."
    },
}
_GATEWAY: Final = tuple(zip(("431", "502", "504"), _GATEWAYS_ANSWERS, strict=True))
_TEXT: Final = {"type": "string"}
_DELIVERED: Final = {
    "X-Service-Event": "Kind of the event.",
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
