"""The API, called directly, and waiting for the effects."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.forms import form
from tests.support.running import Stack


def call(url: str, key: str | None = None, *, send: object = None) -> tuple[int, Any]:
    """GET, or POST of `send` as JSON; returns the status and the JSON."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    body = None
    if send is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(send).encode()
    try:
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def until(found: Callable[[], Any], seconds: float = 90, pause: float = 0.3) -> Any:
    """The first non-empty result of `found`. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(pause)
    return value


@dataclass
class Api:
    """The API, called directly. A refusal is an AssertionError with its body."""

    base_url: str
    key: str

    @classmethod
    def of(cls, stack: Stack) -> "Api":
        """As its Owner."""
        return cls(stack.base_url, stack.api_key)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """`body`: bytes of that kind, or anything else, as JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        url = f"{self.base_url}/api/admin/{path}"
        request = urllib.request.Request(url, sent, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code}: {error.read().decode()}") from None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any) -> Any:
        return self.call("POST", path, body)

    def product(self, name: str, **fields: Any) -> Any:
        return self.post("products", {"name": name, "price": 5, "status": "ACTIVE", **fields})

    def order(self, of: Any, quantity: int = 1, **fields: Any) -> Any:
        """Of the first variant of a product, or of a new product of that name."""
        product = self.product(of) if isinstance(of, str) else of
        line = {"variantId": product["variants"][0]["id"], "quantity": quantity}
        return self.post("orders", {"lineItems": [line], **fields})

    def move(self, order: Any, *statuses: str) -> None:
        for status in statuses:
            self.call("PATCH", f"orders/{order['id']}", {"status": status})

    def webhook(self, url: str, event: str = "order.paid") -> Any:
        return self.post("webhooks", {"url": url, "events": [event]})

    def upload(self, csv: str | bytes) -> str:
        """Posts the file as a browser's form does; returns the id of the job."""
        return str(self.call("POST", "products/import", *form({}, csv))["jobId"])

    def ended(self, job: str, *ends: str) -> Any:
        """The job, as soon as it has one of these ends, or any."""

        def found() -> Any:
            shown = self.get(f"jobs/{job}")
            runs = shown["status"] in ("QUEUED", "RUNNING")
            return shown if (shown["status"] in ends if ends else not runs) else None

        return until(found, 240, pause=1)

    def mint(self, role: str = "OWNER") -> "Api":
        made = self.post("keys", {"name": f"Desk of {role.lower()}", "role": role})
        return Api(self.base_url, made["key"])
