"""The API, called over HTTP, and waiting for the effects."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from tests.support.forms import form
from tests.support.running import Stack

# No connection is kept: the service of its address may be another one.
_HTTP = httpx.Client(timeout=120, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


def asked(
    method: str, url: str, key: str | None = None, body: Any = None, **headers: str
) -> httpx.Response:
    """`body`: bytes, or anything else, as JSON. `If_Match` is sent as `If-Match`."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        sent.setdefault("Authorization", f"Bearer {key}")
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    return _HTTP.request(method, url, content=body, headers=sent)


def call(url: str, key: str | None = None) -> tuple[int, Any]:
    """The status and the JSON of a GET."""
    answer = asked("GET", url, key)
    return answer.status_code, answer.json()


def until(found: Callable[[], Any], seconds: float = 90, pause: float = 0.3) -> Any:
    """The first non-empty result of `found`. Fails after `seconds`. It asks less and less often:
    a key may read 120 times a minute."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(pause)
        pause *= 1.1
    return value


@dataclass
class Api:
    """The API below `/api/admin`. A refusal is an AssertionError with its body."""

    base_url: str
    key: str
    webhooks: list[str] = field(default_factory=list)  # made by `webhook`, by id

    @classmethod
    def of(cls, stack: Stack) -> "Api":
        """As its Owner."""
        return cls(stack.base_url, stack.api_key)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = asked(method, f"{self.base_url}/api/admin/{path}", self.key, body, **headers)
        assert answer.is_success, f"{answer.status_code}: {answer.text}"
        return answer.json()

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
        made = self.post("webhooks", {"url": url, "events": [event]})
        self.webhooks.append(made["id"])
        return made

    def delete_webhooks(self) -> None:
        """Deletes those made by `webhook`: their failing deliveries would keep other tests busy."""
        while self.webhooks:
            url = f"{self.base_url}/api/admin/webhooks/{self.webhooks.pop()}"
            assert asked("DELETE", url, self.key).status_code in (200, 404)

    def upload(self, csv: str | bytes) -> str:
        """Posts the file as a browser's form does; returns the id of the job."""
        body, kind = form({}, csv)
        return str(self.call("POST", "products/import", body, Content_Type=kind)["jobId"])

    def wait_for_value(self, of: str, field: str, value: str) -> None:
        """Until a value is offered: events are fanned out a moment after their commit."""

        def is_offered() -> bool:
            found = self.get(f"facets?type={of}&field={field}&search={quote(value)}")
            return value in [each["value"] for each in found["data"]]

        until(is_offered, 150)

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
