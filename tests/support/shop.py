"""The application for tests: requests as API Gateway events, answers as from Lambda."""

import base64
import json
import uuid
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partialmethod
from time import sleep, time_ns
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from chalice.app import Chalice

from app import app
from chalicelib import listing, settings
from chalicelib.api_keys import store as api_keys
from chalicelib.api_keys.model import Role
from chalicelib.reindexing import store as reindexing
from chalicelib.storage import attributes, outbox, table
from tests.support import documented

PLENTY = 1_000_000


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @cached_property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def refused(self) -> list[str]:
        """The fields that an answer 422 refuses."""
        assert self.status == 422, self.text
        return [error["field"] for error in self.json["errors"]]


class Shop:
    """Calls the application as its Owner, unless another key is given.

    `key=None` sends no key. A body that is `bytes` is sent as it is, anything else as JSON.
    """

    def __init__(self, address: str = "203.0.113.7", served: Any = app) -> None:
        self.address = address
        self._app = served
        self._keys: dict[str, str] = {}

    @property
    def owner(self) -> str:
        return self.as_("OWNER")

    def as_(self, role: str) -> str:
        """A key of that role without effective limits."""
        if role not in self._keys:
            caller, self._keys[role] = api_keys.mint(f"a {role} of the tests", Role(role))
            _next_millisecond()
            api_keys.limit(caller.id, read=PLENTY, write=PLENTY)
            _next_millisecond()
            deploy()
        return self._keys[role]

    def mint(self, role: str = "STAFF") -> str:
        """A key with the usual limits."""
        _, key = api_keys.mint("Till", Role(role))
        _next_millisecond()
        return key

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        key: str | None = "",
    ) -> Answer:
        sent = dict(headers or {})
        if key is not None and path.startswith("/api/admin"):
            sent.setdefault("Authorization", f"Bearer {key or self.owner}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        event = api_gateway_event(self._app, method, path, body, headers=sent, address=self.address)
        reply = self._app(event, None)
        if method not in ("GET", "HEAD", "OPTIONS"):
            _next_millisecond()
        answer = Answer(reply["statusCode"], reply["headers"], _text(reply))
        asked = event["multiValueQueryStringParameters"] or {}
        documented.check(method, event["resource"], answer, has_fields="fields" in asked)
        return answer

    get = partialmethod(call, "GET")
    head = partialmethod(call, "HEAD")
    post = partialmethod(call, "POST")
    put = partialmethod(call, "PUT")
    patch = partialmethod(call, "PATCH")
    delete = partialmethod(call, "DELETE")
    options = partialmethod(call, "OPTIONS")

    def made(self, path: str, body: Any, **options: Any) -> Any:
        """What a POST created."""
        answer = self.post(path, body, **options)
        assert answer.status == 201, answer.text
        return answer.json

    def read(self, path: str, **options: Any) -> Any:
        answer = self.get(path, **options)
        assert answer.status == 200, answer.text
        return answer.json

    def pages(self, path: str, cursor: str | None = "*") -> Iterator[Answer]:
        """The pages of a list. `cursor`: the first one."""
        join = "&" if "?" in path else "?"
        while cursor is not None:
            answer = self.get(f"{path}{join}cursor={cursor}" if cursor else path)
            assert answer.status == 200, answer.text
            yield answer
            page = answer.json
            cursor = page["nextCursor"] if "nextCursor" in page else page["pagination"]["next"]

    def events(self) -> list[dict[str, Any]]:
        """Every event so far, oldest first: `{id, event, data}`."""
        items = sorted(self._scanned(settings.outbox_table()), key=lambda item: item["pk"])
        return [
            {"id": event.id, "event": event.event, "data": json.loads(event.body)["data"]}
            for item in items
            for event in outbox.events_of(item)
        ]

    def stored(self) -> list[dict[str, Any]]:
        """Every item of the main table."""
        return self._scanned(settings.table())

    def _scanned(self, name: str) -> list[dict[str, Any]]:
        asked: dict[str, Any] = {"TableName": name, "ConsistentRead": True}
        items: list[dict[str, Any]] = []
        while True:
            found = table.client().scan(**asked)
            items += [attributes.unpack(item) for item in found["Items"]]
            if "LastEvaluatedKey" not in found:
                return items
            asked["ExclusiveStartKey"] = found["LastEvaluatedKey"]


class Record(dict[str, Any]):
    """A record as the API returned it, and calls below its path."""

    def __init__(self, shop: Shop, kind: str, made: Any) -> None:
        super().__init__(made)
        self.shop, self.path = shop, f"{kind}/{made['id']}"

    def fetch(self, below: str = "", **options: Any) -> Answer:
        return self.shop.get(self.path + below, **options)

    def read(self) -> Self:
        """As it is now."""
        now = copy(self)
        now.clear()
        now.update(self.shop.read(self.path))
        return now

    def put(self, change: Any, **options: Any) -> Answer:
        return self.shop.put(self.path, change, **options)

    def patch(self, change: Any, **options: Any) -> Answer:
        return self.shop.patch(self.path, change, **options)

    def post(self, below: str, body: Any = None, **options: Any) -> Answer:
        return self.shop.post(self.path + below, body, **options)

    def delete(self, **options: Any) -> Answer:
        return self.shop.delete(self.path, **options)


def _next_millisecond() -> None:
    """What a fast machine writes within one millisecond has no order."""
    now = time_ns() // 1_000_000
    while time_ns() // 1_000_000 == now:
        sleep(0.0001)


def api_gateway_event(
    served: Chalice,
    method: str,
    target: str,
    body: bytes | None = None,
    *,
    headers: Mapping[str, str],
    address: str,
) -> dict[str, Any]:
    """An event of API Gateway's proxy integration. Path parameters stay escaped."""
    url = urlsplit(target)
    resource, parameters = _resource(served, url.path)
    values = parse_qs(url.query, keep_blank_values=True)
    media_type = next((v for k, v in headers.items() if k.lower() == "content-type"), "")
    binary = media_type.partition(";")[0].strip() in served.api.binary_types
    payload = None
    if body is not None:
        payload = base64.b64encode(body).decode() if binary else body.decode("utf-8", "replace")
    return {
        "resource": resource,
        "path": url.path,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": {name: each[-1] for name, each in values.items()} or None,
        "multiValueQueryStringParameters": values or None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "httpMethod": method,
            "path": f"/test{url.path}",
            "stage": "test",
            "requestId": str(uuid.uuid4()),
            "identity": {"sourceIp": address},
        },
        "body": payload,
        "isBase64Encoded": binary and body is not None,
    }


def _resource(served: Chalice, path: str) -> tuple[str, dict[str, str]]:
    """The route as API Gateway chooses it: literal paths before parameters before the rest."""
    found = [(route, _parameters(route, path)) for route in served.routes]
    fits = [(route, parameters) for route, parameters in found if parameters is not None]
    assert fits, f"API Gateway has no resource for {path}"
    return min(fits, key=lambda fit: [_rank(part) for part in fit[0].split("/")])


def _rank(part: str) -> int:
    return 2 if part.endswith("+}") else 1 if part.startswith("{") else 0


def _parameters(route: str, path: str) -> dict[str, str] | None:
    parts, given = route.split("/"), path.split("/")
    found: dict[str, str] = {}
    for at, part in enumerate(parts):
        if part.endswith("+}") and len(given) > at:
            found[part[1:-2]] = "/".join(given[at:])
            return found
        if at >= len(given) or not (part == given[at] or (part.startswith("{") and given[at])):
            return None
        if part.startswith("{"):
            found[part[1:-1]] = given[at]
    return found if len(parts) == len(given) else None


def _text(reply: Mapping[str, Any]) -> str:
    if reply.get("isBase64Encoded"):
        return base64.b64decode(reply["body"]).decode("utf-8", "replace")
    return str(reply["body"])


def deploy() -> None:
    """Note that all records are indexed as in this release, as a first deployment does."""
    pk, sk = listing.RELEASE
    numbers = {records.kind.name: records.kind.number for records in reindexing.ALL}
    table.put({"pk": pk, "sk": sk, "indexed": numbers})
