"""Events: when each is sent, the delivery request, and its signature."""

import hashlib
import hmac
import json
import time
from functools import partial
from typing import Any

import pytest
from backroom import verify

from tests.e2e.calls import until
from tests.e2e.spec_client import (
    EVENTS,
    ISO,
    PRODUCTS,
    WEBHOOKS,
    Client,
    events_of,
    received,
    word,
)
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.usefixtures("webhook")


def data(delivery: Any) -> Any:
    return json.loads(delivery.body)["data"]


# --- Registration ---------------------------------------------------------------------------------


def test_each_registered_url_gets_the_events_that_were_selected(
    shop: Client, receiver: Receiver
) -> None:
    kinds = ["product.created", "product.updated"]
    hooks = {
        f"/ok/{word()}": shop.made(WEBHOOKS, {"url": receiver.url("/"), "events": [kind]})
        for kind in kinds
    }
    for path, made in hooks.items():
        shop.call("PUT", f"{WEBHOOKS}/{made['id']}", {"url": receiver.url(path)})
    product = shop.product()
    shop.call("PUT", f"{PRODUCTS}/{product['id']}", {"vendor": "Acme"})

    def came() -> list[Any]:
        found = [one for one in events_of(receiver, product["id"]) if one.path in hooks]
        return found if len(found) >= 2 else []

    told = {one.path: one.headers["X-Service-Event"] for one in until(came)}
    assert [told[path] for path in hooks] == kinds
    for made in hooks.values():
        shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


# --- The kinds of events --------------------------------------------------------------------------


def test_each_kind_of_event_is_sent_with_its_record(shop: Client, receiver: Receiver) -> None:
    changes: list[tuple[str, dict[str, str]]] = [
        ("order.updated", {"note": "gift"}),
        ("order.paid", {"status": "PAID"}),
        ("order.updated", {"status": "PROCESSING"}),
        ("order.shipped", {"status": "SHIPPED", "trackingNumber": "1Z999"}),
    ]
    order = shop.order(customer={"email": f"{word()}@example.com"})
    other, third = shop.order(), shop.order(paymentStatus="PAID")
    expected = [("order.created", order), ("customer.created", order["customer"])]
    expected += [(event, shop.move(order, **change).json()) for event, change in changes]
    expected.append(("order.cancelled", shop.move(other, status="CANCELLED").json()))
    expected.append(("order.refunded", shop.move(third, status="REFUNDED").json()))
    product = shop.product(variants=[{"title": "S", "stock": 9}])
    low = {"variants": [{"id": product["variants"][0]["id"], "stock": 1}]}
    changed = shop.call("PUT", f"{PRODUCTS}/{product['id']}", low).json()
    expected += [("product.created", product), ("product.updated", changed)]
    (small,) = low["variants"]
    expected.append(("inventory.low", {"productId": product["id"], "variantId": small["id"]}))
    assert {event for event, _ in expected} == set(EVENTS)

    def came(event: str, record: Any) -> list[Any]:
        sent = events_of(receiver, record.get("id", product["id"]))
        found = [data(one) for one in sent if one.headers["X-Service-Event"] == event]
        return [one for one in found if {**one, **record} == one]

    for event, record in expected:
        until(partial(came, event, record))


# --- The delivery request -------------------------------------------------------------------------


def signature(secret: str, delivery: Any) -> str:
    """The header, computed as the contract says."""
    stamp = delivery.headers["X-Service-Timestamp"]
    signed = stamp.encode() + b"." + delivery.body
    return f"t={stamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def test_a_delivery_is_a_signed_post_of_event_and_data(
    webhook: Any, receiver: Receiver, shop: Client
) -> None:
    paid = shop.order(customer={"email": f"{word()}@example.com"}, paymentStatus="PAID")
    delivery = received(receiver, "order.paid", paid["id"])
    assert delivery.method == "POST"
    assert delivery.headers["Content-Type"] == "application/json"
    assert delivery.headers["X-Service-Event"] == "order.paid"
    assert delivery.headers["X-Service-Delivery"].startswith("dlv_")
    assert abs(int(delivery.headers["X-Service-Timestamp"]) - delivery.at) < 300
    body = json.loads(delivery.body)
    assert set(body) == {"event", "data"} and body["event"] == "order.paid"
    told, customer = body["data"], body["data"]["customer"]
    assert (told["id"], told["number"]) == (paid["id"], paid["number"])
    assert (told["total"], told["currency"]) == ("6.00", "USD")
    assert (customer["id"], customer["email"]) == (
        paid["customer"]["id"],
        paid["customer"]["email"],
    )
    assert ISO.fullmatch(told["paidAt"])
    assert delivery.headers["X-Service-Signature"] == signature(webhook["secret"], delivery)
    assert verify(delivery.body, delivery.headers, webhook["secret"])["event"] == "order.paid"


@pytest.mark.thorough
def test_a_rotation_signs_with_the_new_secret_only_and_does_not_affect_other_endpoints(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    path = f"/ok/{word()}"
    made = shop.made(WEBHOOKS, {"url": receiver.url(path), "events": ["product.created"]})
    rotated = shop.made(f"{WEBHOOKS}/{made['id']}/rotate-secret", {})
    assert len({webhook["secret"], made["secret"], rotated["secret"]}) == 3
    product = shop.product()

    def came() -> list[Any]:
        found = events_of(receiver, product["id"])
        return found if len(found) == 2 else []

    for each in until(came):
        secret = (rotated if each.path == path else webhook)["secret"]
        assert each.headers["X-Service-Signature"] == signature(secret, each)
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


# --- How they are sent ----------------------------------------------------------------------------


@pytest.mark.thorough
def test_webhooks_are_sent_asynchronously(shop: Client, receiver: Receiver) -> None:
    """No request waits for a slow receiver."""
    made = shop.made(
        WEBHOOKS, {"url": receiver.url("/ok/slow?delay=6"), "events": ["product.created"]}
    )
    product = shop.product()
    answered = time.time()
    came = until(
        lambda: [one for one in events_of(receiver, product["id"]) if one.path == "/ok/slow"]
    )
    assert answered < came[0].at + 6
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


@pytest.mark.thorough
def test_webhooks_are_not_rate_limited(shop: Client, receiver: Receiver) -> None:
    """More deliveries than any of the API's rate limits."""
    rows = [{"name": f"Bulk {n}", "price": 1} for n in range(310)]
    made = shop.made(f"{PRODUCTS}/bulk", rows)["data"]
    wanted = {row["product"]["id"] for row in made}

    def all_came() -> bool:
        came = [one for one in list(receiver.requests) if b'"product.created"' in one.body[:40]]
        return wanted <= {data(one)["id"] for one in came}

    until(all_came, 180)
