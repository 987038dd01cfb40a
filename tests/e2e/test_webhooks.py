"""Webhooks on the emulated AWS, with its stream and queues and with real receivers. For the
schedule of retries see `test_spec/test_6_retries.py`."""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

PATIENCE = 150.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening


class Merchant:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self._stack.base_url}/api/admin{path}",
            None if body is None else json.dumps(body).encode(),
            {
                "Authorization": f"Bearer {self._stack.api_key}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        for _ in range(60):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise AssertionError(f"{error.code}: {error.read().decode()}") from None
                time.sleep(float(error.headers["Retry-After"]))
        raise AssertionError("always 429")

    def webhook(self, url: str, *events: str) -> dict[str, Any]:
        asked = {"url": url, "events": list(events or ["product.created"])}
        made: dict[str, Any] = self.call("POST", "/webhooks", asked)
        return made

    def delete(self, webhook: dict[str, Any]) -> None:
        self.call("DELETE", f"/webhooks/{webhook['id']}")

    def product(self) -> str:
        new = {"name": f"Mug {time.time_ns()}", "price": 9.5, "status": "ACTIVE"}
        return str(self.call("POST", "/products", new)["id"])

    def delivery(self, webhook: dict[str, Any]) -> dict[str, Any]:
        """The only delivery of that webhook, with all fields."""
        (found,) = self.call("GET", f"/webhooks/{webhook['id']}/deliveries")["data"]
        full: dict[str, Any] = self.call("GET", f"/deliveries/{found['id']}")
        return full

    def wait(self, webhook: dict[str, Any], done: Callable[[dict[str, Any]], bool]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            listed = self.call("GET", f"/webhooks/{webhook['id']}/deliveries")["data"]
            if listed and done(full := self.delivery(webhook)):
                return full
            time.sleep(1)
        raise AssertionError(f"not done: {listed}")


def has_ended(delivery: dict[str, Any]) -> bool:
    return delivery["status"] not in {"PENDING", "RETRYING"}


def verified(secret: str, received: Any) -> bool:
    timestamp, sign = (
        part.partition("=")[2] for part in received.headers["X-Service-Signature"].split(",")
    )
    signed = timestamp.encode() + b"." + received.body
    return hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), sign)


def test_an_event_arrives_at_the_first_attempt(stack: Stack, receiver: Receiver) -> None:
    merchant = Merchant(stack)
    webhook = merchant.webhook(receiver.url("/ok"))
    product = merchant.product()
    (received,) = receiver.wait_for(1)
    assert verified(webhook["secret"], received)
    assert json.loads(received.body)["data"]["id"] == product
    assert received.headers["X-Service-Event"] == "product.created"
    delivery = merchant.wait(webhook, has_ended)
    assert delivery["status"] == "DELIVERED" and delivery["id"] == received.delivery
    assert delivery["body"].encode() == received.body
    merchant.delete(webhook)


def test_a_test_event_and_a_replay_arrive(stack: Stack, receiver: Receiver) -> None:
    merchant = Merchant(stack)
    webhook = merchant.webhook(receiver.url("/ok"), "order.paid")
    made = merchant.call("POST", f"/webhooks/{webhook['id']}/test", {})
    receiver.wait_for(1)
    merchant.wait(webhook, has_ended)
    merchant.call("POST", f"/deliveries/{made['id']}/replay", {})
    test, replay = receiver.wait_for(2)
    assert test.delivery == replay.delivery == made["id"]
    assert test.headers["X-Service-Test"] == replay.headers["X-Service-Test"] == "true"
    assert test.body == replay.body
    merchant.delete(webhook)
