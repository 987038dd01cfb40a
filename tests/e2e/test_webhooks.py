"""Webhooks on the emulated AWS, with real receivers: the stream, the queues, the state machine and
the clocks are not ours, only the schedule is shorter."""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.running import Stack, free_port, running
from tests.webhooks.certificates import issue
from tests.webhooks.receiver import Receiver

# The week of retries in half a minute, and what queues and polling add to each step.
SCALE = "0.00005"
PATIENCE = 150.0


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("fast")
    setting = f"WEBHOOK_SCHEDULE_SCALE={SCALE}"
    with running(home, free_port(), "--fresh", "--setting", setting) as stack:
        yield stack


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
        """The only one of that webhook, in full."""
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


def was_tried(delivery: dict[str, Any]) -> bool:
    return len(delivery["attempts"]) > 0


def verified(secret: str, received: Any) -> bool:
    timestamp, sign = (
        part.partition("=")[2] for part in received.headers["X-Service-Signature"].split(",")
    )
    signed = timestamp.encode() + b"." + received.body
    return hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), sign)


def test_an_event_arrives_at_the_first_try(stack: Stack, receiver: Receiver) -> None:
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


def test_a_week_of_failures_passes_through_queues_and_state_machine(
    fast: Stack, receiver: Receiver
) -> None:
    merchant = Merchant(fast)
    never = merchant.webhook(receiver.url("/status/500"))
    third = merchant.webhook(receiver.url("/nth/3"))
    merchant.product()
    lucky = merchant.wait(third, has_ended)
    assert (lucky["status"], len(lucky["attempts"])) == ("DELIVERED", 3)
    failed = merchant.wait(never, has_ended)
    assert failed["status"] == "FAILED"
    assert [one["number"] for one in failed["attempts"]] == list(range(1, 14))
    posts = [one for one in receiver.requests if one.path == "/status/500"]
    assert len(posts) == 13
    assert {one.delivery for one in posts} == {failed["id"]}
    assert len({one.body for one in posts}) == 1
    assert all(verified(never["secret"], one) for one in posts)
    since = {"since": "2026-01-01T00:00:00Z"}
    assert merchant.call("POST", f"/webhooks/{never['id']}/recover", since) == {"count": 1}
    merchant.delete(never)
    merchant.delete(third)


# What the receiver does → how its first attempt is told.
STRANGE = {
    "/hang": ("timeout", None),
    "/reset": ("reset", None),
    "/redirect": ("status", 301),
    "/gone": ("status", 410),
    "/busy?after=120": ("status", 429),
    "/big?bytes=1000000": ("status", 500),
    "/garbage": ("protocol", None),
}


def test_every_failure_is_told_and_tried_again(
    fast: Stack, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    merchant = Merchant(fast)
    certificate = issue(tmp_path_factory.mktemp("certificate"), "127.0.0.1")
    with Receiver(tls=certificate.server) as stranger:
        webhooks = {path: merchant.webhook(receiver.url(path)) for path in STRANGE}
        untrusted = merchant.webhook(stranger.url("/ok"))
        merchant.product()
        for path, (error, status) in STRANGE.items():
            delivery = merchant.wait(webhooks[path], was_tried)
            first = delivery["attempts"][0]
            assert (first["error"], (first["response"] or {}).get("status")) == (error, status)
            assert delivery["status"] == "RETRYING" and first["message"]
            if path.startswith("/big"):
                assert len(first["response"]["body"]) == 16_384 and first["response"]["truncated"]
        first = merchant.wait(untrusted, was_tried)["attempts"][0]
        assert first["error"] == "tls" and stranger.requests == []
        for webhook in [*webhooks.values(), untrusted]:
            merchant.delete(webhook)
        cancelled = merchant.call("GET", f"/deliveries/{delivery['id']}")
        assert cancelled["status"] == "CANCELLED"
