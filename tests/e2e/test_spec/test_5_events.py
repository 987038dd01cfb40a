"""Events: when each is sent, the delivery request, and its signature."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from backroom import verify

from tests.e2e.calls import until
from tests.e2e.spec_client import (
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


# Event → how the order is made, and the changes of which the last sends it.
CHANGES: dict[str, tuple[dict[str, str], list[dict[str, str]]]] = {
    "order.created": ({}, []),
    "order.updated": ({}, [{"note": "gift"}]),
    "order.paid": ({}, [{"paymentStatus": "PAID"}]),
    "order.shipped": (
        {"paymentStatus": "PAID"},
        [{"status": "PROCESSING"}, {"status": "SHIPPED", "trackingNumber": "1Z999"}],
    ),
    "order.cancelled": ({}, [{"status": "CANCELLED"}]),
    "order.refunded": ({"paymentStatus": "PAID"}, [{"status": "REFUNDED"}]),
}


@pytest.mark.parametrize("event", CHANGES)
def test_an_order_sends(shop: Client, receiver: Receiver, event: str) -> None:
    made, changes = CHANGES[event]
    order = shop.order(**made)
    for change in changes:
        answer = shop.move(order, **change)
        assert answer.status == 200, answer.text
        order = answer.json
    assert data(received(receiver, event, order["id"])) == order


def test_customer_created_is_sent_for_a_new_customer(shop: Client, receiver: Receiver) -> None:
    customer = shop.order(customer={"email": f"{word()}@example.com"})["customer"]
    told = data(received(receiver, "customer.created", customer["id"]))
    assert told["email"] == customer["email"]


def test_a_product_sends_when_it_is_created_and_modified(shop: Client, receiver: Receiver) -> None:
    product = shop.product()
    assert data(received(receiver, "product.created", product["id"]))["name"] == product["name"]
    shop.call("PUT", f"{PRODUCTS}/{product['id']}", {"vendor": "Acme"})
    assert data(received(receiver, "product.updated", product["id"]))["vendor"] == "Acme"


def test_inventory_low_is_sent_when_stock_falls_below_the_threshold(
    shop: Client, receiver: Receiver
) -> None:
    product = shop.product(variants=[{"title": "S", "stock": 9}])
    stock = [{"id": product["variants"][0]["id"], "stock": 1}]
    shop.call("PUT", f"{PRODUCTS}/{product['id']}", {"variants": stock})
    told = data(received(receiver, "inventory.low", product["id"]))
    assert told["variantId"] == product["variants"][0]["id"]


# --- The delivery request -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paid(shop: Client) -> Any:
    return shop.order(customer={"email": f"{word()}@example.com"}, paymentStatus="PAID")


@pytest.fixture(scope="module")
def delivery(webhook: Any, receiver: Receiver, paid: Any) -> Any:
    return received(receiver, "order.paid", paid["id"])


def test_a_delivery_is_a_post_of_json_with_three_headers_and_a_signature(delivery: Any) -> None:
    assert delivery.method == "POST"
    assert delivery.headers["Content-Type"] == "application/json"
    assert delivery.headers["X-Service-Event"] == "order.paid"
    assert delivery.headers["X-Service-Delivery"].startswith("dlv_")
    assert abs(int(delivery.headers["X-Service-Timestamp"]) - delivery.at) < 300


def test_the_body_is_event_and_data(delivery: Any, paid: Any) -> None:
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


# --- The signature --------------------------------------------------------------------------------


def signature(secret: str, delivery: Any) -> str:
    """The header, computed as the contract says."""
    stamp = delivery.headers["X-Service-Timestamp"]
    signed = stamp.encode() + b"." + delivery.body
    return f"t={stamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def test_the_header_is_t_and_one_v1(delivery: Any, webhook: Any) -> None:
    assert delivery.headers["X-Service-Signature"] == signature(webhook["secret"], delivery)


def test_a_receiver_accepts_a_signed_delivery(delivery: Any, webhook: Any) -> None:
    assert verify(delivery.body, delivery.headers, webhook["secret"])["event"] == "order.paid"


@pytest.fixture(scope="module")
def rotated(shop: Client, receiver: Receiver) -> Iterator[tuple[Any, Any]]:
    """Another webhook, and the answer to rotating its secret."""
    path = f"/ok/{word()}"
    made = shop.made(WEBHOOKS, {"url": receiver.url(path), "events": ["product.created"]})
    yield made, shop.made(f"{WEBHOOKS}/{made['id']}/rotate-secret", {})
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def test_each_endpoint_has_its_own_secret(webhook: Any, rotated: Any) -> None:
    assert len({webhook["secret"], rotated[0]["secret"], rotated[1]["secret"]}) == 3


def test_a_rotation_signs_with_the_new_secret_only_and_does_not_affect_other_endpoints(
    shop: Client, receiver: Receiver, webhook: Any, rotated: Any
) -> None:
    product = shop.product()

    def came() -> list[Any]:
        found = events_of(receiver, product["id"])
        return found if len(found) == 2 else []

    own = rotated[0]["url"].rpartition("/")[2]
    for each in until(came):
        secret = (rotated[1] if each.path.endswith(own) else webhook)["secret"]
        assert each.headers["X-Service-Signature"] == signature(secret, each)


# --- How they are sent ----------------------------------------------------------------------------


def test_webhooks_are_sent_asynchronously(shop: Client, receiver: Receiver) -> None:
    """No request waits for a slow receiver."""
    made = shop.made(
        WEBHOOKS, {"url": receiver.url("/ok/slow?delay=6"), "events": ["product.created"]}
    )
    began = time.time()
    product = shop.product()
    answered = time.time()
    came = until(
        lambda: [one for one in events_of(receiver, product["id"]) if one.path == "/ok/slow"]
    )
    assert answered < came[0].at + 6 and answered - began < 6
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def test_webhooks_are_not_rate_limited(shop: Client, receiver: Receiver) -> None:
    """More deliveries than any of the API's rate limits."""
    rows = [{"name": f"Bulk {n}", "price": 1} for n in range(310)]
    made = shop.made(f"{PRODUCTS}/bulk", rows)["data"]
    wanted = {row["product"]["id"] for row in made}

    def all_came() -> bool:
        came = [one for one in list(receiver.requests) if b'"product.created"' in one.body[:40]]
        return wanted <= {data(one)["id"] for one in came}

    until(all_came, 180)
