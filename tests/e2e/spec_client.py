"""A client that uses only what the contract promises: URLs, headers and JSON."""

import json
import re
import uuid
from typing import Any

import httpx

from tests.e2e.calls import asked, until
from tests.e2e.fuzz import unlimited_key
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

PRODUCTS, WEBHOOKS = "/api/admin/products", "/api/admin/webhooks"
DELIVERIES = "/api/admin/deliveries"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
EVENTS = (
    *("order.created", "order.updated", "order.paid", "order.shipped", "order.cancelled"),
    *("order.refunded", "customer.created", "product.created", "product.updated", "inventory.low"),
)


class Client:
    """Calls as an Owner without effective limits, unless another `key` is given."""

    def __init__(self, stack: Stack) -> None:
        self._url = stack.base_url
        self.key = unlimited_key(stack)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """`key_`: another key, or "" for none."""
        key = headers.pop("key_", self.key)
        return asked(method, self._url + path, key or None, body, **headers)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.call("GET", path, **headers)

    def made(self, path: str, body: Any, **headers: str) -> Any:
        """The answer of a POST that must succeed."""
        answer = self.call("POST", path, body, **headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def product(self, **fields: Any) -> Any:
        sent = {"name": f"Mug {uuid.uuid4().hex}", "price": "2.50", **fields}
        return self.made("/api/admin/products", sent)

    def order(self, **fields: Any) -> Any:
        variant = self.product()["variants"][0]["id"]
        sent = {"lineItems": [{"variantId": variant, "quantity": 2, "price": 3}], **fields}
        return self.made("/api/admin/orders", sent)

    def move(self, order: Any, **change: Any) -> httpx.Response:
        return self.call("PATCH", f"/api/admin/orders/{order['id']}", change)

    def key_of(self, role: str) -> str:
        """A new key, with the limits that every key has."""
        return str(self.made("/api/admin/keys", {"name": "spec", "role": role})["key"])


def word() -> str:
    return "w" + uuid.uuid4().hex


def events_of(receiver: Receiver, id: str) -> list[Any]:
    """The deliveries so far about the resource with this id."""
    return [one for one in list(receiver.requests) if id in _subjects(one.body)]


def received(receiver: Receiver, event: str, id: str) -> Any:
    """The delivery of an event about the resource with this id."""

    def found() -> Any:
        came = events_of(receiver, id)
        return next((one for one in came if one.headers["X-Service-Event"] == event), None)

    return until(found)


def _subjects(body: bytes) -> set[Any]:
    data = json.loads(body)["data"]
    return {data.get("id"), data.get("productId")}
