"""Events: when each is sent, the delivery request, and its signature."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from backroom import InvalidSignature, verify

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


def test_sending_starts_immediately(shop: Client, receiver: Receiver) -> None:
    path = f"/ok/{word()}"
    made = shop.made(WEBHOOKS, {"url": receiver.url(path), "events": ["product.created"]})
    shop.product()
    until(lambda: [one for one in list(receiver.requests) if one.path == path])
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


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


def test_order_created_is_sent_on_post_of_an_order(shop: Client, receiver: Receiver) -> None:
    order = shop.order()
    assert data(received(receiver, "order.created", order["id"]))["number"] == order["number"]


def test_order_updated_is_sent_on_any_patch(shop: Client, receiver: Receiver) -> None:
    order = shop.order()
    shop.move(order, note="gift")
    assert data(received(receiver, "order.updated", order["id"]))["note"] == "gift"


def test_order_paid_is_sent_when_the_payment_status_becomes_paid(
    shop: Client, receiver: Receiver
) -> None:
    order = shop.order()
    shop.move(order, paymentStatus="PAID")
    assert data(received(receiver, "order.paid", order["id"]))["paymentStatus"] == "PAID"


def test_order_shipped_is_sent_when_the_status_becomes_shipped(
    shop: Client, receiver: Receiver
) -> None:
    order = shop.order(paymentStatus="PAID")
    for step in ("PROCESSING", "SHIPPED"):
        assert shop.move(order, status=step).status == 200
    assert data(received(receiver, "order.shipped", order["id"]))["status"] == "SHIPPED"


def test_order_shipped_includes_the_tracking_number(shop: Client, receiver: Receiver) -> None:
    order = shop.order(paymentStatus="PAID")
    shop.move(order, status="PROCESSING")
    shop.move(order, status="SHIPPED", trackingNumber="1Z999")
    assert data(received(receiver, "order.shipped", order["id"]))["trackingNumber"] == "1Z999"


def test_order_cancelled_is_sent_when_an_order_is_cancelled(
    shop: Client, receiver: Receiver
) -> None:
    order = shop.order()
    shop.move(order, status="CANCELLED")
    assert data(received(receiver, "order.cancelled", order["id"]))["status"] == "CANCELLED"


def test_order_refunded_is_sent_when_an_order_is_refunded(shop: Client, receiver: Receiver) -> None:
    order = shop.order(paymentStatus="PAID")
    shop.move(order, status="REFUNDED")
    assert data(received(receiver, "order.refunded", order["id"]))["status"] == "REFUNDED"


def test_customer_created_is_sent_for_a_new_customer(shop: Client, receiver: Receiver) -> None:
    customer = shop.order(customer={"email": f"{word()}@example.com"})["customer"]
    told = data(received(receiver, "customer.created", customer["id"]))
    assert told["email"] == customer["email"]


def test_product_created_is_sent_for_a_new_product(shop: Client, receiver: Receiver) -> None:
    product = shop.product()
    assert data(received(receiver, "product.created", product["id"]))["name"] == product["name"]


def test_product_updated_is_sent_for_a_modified_product(shop: Client, receiver: Receiver) -> None:
    product = shop.product()
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


def test_a_delivery_is_a_post(delivery: Any) -> None:
    assert delivery.method == "POST"


def test_its_content_type_is_application_json(delivery: Any) -> None:
    assert delivery.headers["Content-Type"] == "application/json"


def test_x_service_event_is_the_kind_of_event(delivery: Any) -> None:
    assert delivery.headers["X-Service-Event"] == "order.paid"


def test_x_service_delivery_has_the_prefix_dlv(delivery: Any) -> None:
    assert delivery.headers["X-Service-Delivery"].startswith("dlv_")


def test_x_service_timestamp_is_unix_time_in_seconds(delivery: Any) -> None:
    assert abs(int(delivery.headers["X-Service-Timestamp"]) - delivery.at) < 300


def test_the_body_is_event_and_data(delivery: Any) -> None:
    body = json.loads(delivery.body)
    assert set(body) == {"event", "data"} and body["event"] == "order.paid"


def test_the_data_of_order_paid_has_the_orders_id(delivery: Any, paid: Any) -> None:
    assert data(delivery)["id"] == paid["id"] and paid["id"].startswith("ord_")


def test_the_data_of_order_paid_has_its_number_as_a_string(delivery: Any, paid: Any) -> None:
    assert data(delivery)["number"] == paid["number"] and isinstance(paid["number"], str)


def test_the_data_of_order_paid_has_its_total_as_a_decimal_string(delivery: Any) -> None:
    assert data(delivery)["total"] == "6.00"


def test_the_data_of_order_paid_has_its_currency(delivery: Any) -> None:
    assert data(delivery)["currency"] == "USD"


def test_the_data_of_order_paid_has_the_customers_id_and_email(delivery: Any, paid: Any) -> None:
    told = data(delivery)["customer"]
    assert (told["id"], told["email"]) == (paid["customer"]["id"], paid["customer"]["email"])


def test_the_data_of_order_paid_has_paidAt_as_a_timestamp(delivery: Any) -> None:
    assert ISO.fullmatch(data(delivery)["paidAt"])


# --- The signature --------------------------------------------------------------------------------


def signature(secret: str, delivery: Any) -> str:
    """The header, computed as the contract says."""
    stamp = delivery.headers["X-Service-Timestamp"]
    signed = stamp.encode() + b"." + delivery.body
    return f"t={stamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def test_v1_is_the_hex_hmac_sha256_of_timestamp_and_raw_body(delivery: Any, webhook: Any) -> None:
    given = delivery.headers["X-Service-Signature"]
    assert given.split(",")[1] == signature(webhook["secret"], delivery).split(",")[1]


def test_t_is_the_timestamp(delivery: Any) -> None:
    stamp = delivery.headers["X-Service-Timestamp"]
    assert delivery.headers["X-Service-Signature"].split(",")[0] == f"t={stamp}"


def test_the_header_is_t_and_one_v1(delivery: Any, webhook: Any) -> None:
    assert delivery.headers["X-Service-Signature"] == signature(webhook["secret"], delivery)


def test_a_receiver_accepts_a_signed_delivery(delivery: Any, webhook: Any) -> None:
    assert verify(delivery.body, delivery.headers, webhook["secret"])["event"] == "order.paid"


def test_a_receiver_rejects_a_signature_that_differs(delivery: Any, webhook: Any) -> None:
    with pytest.raises(InvalidSignature):
        verify(delivery.body + b" ", delivery.headers, webhook["secret"])


@pytest.mark.parametrize("seconds", [-301, 301], ids=["301_seconds_ahead", "301_seconds_ago"])
def test_a_receiver_rejects_a_timestamp_of(delivery: Any, webhook: Any, seconds: int) -> None:
    now = int(delivery.headers["X-Service-Timestamp"]) + seconds
    with pytest.raises(InvalidSignature):
        verify(delivery.body, delivery.headers, webhook["secret"], now=now)


@pytest.mark.parametrize("seconds", [-300, 300], ids=["300_seconds_ahead", "300_seconds_ago"])
def test_a_receiver_accepts_a_timestamp_of(delivery: Any, webhook: Any, seconds: int) -> None:
    now = int(delivery.headers["X-Service-Timestamp"]) + seconds
    assert verify(delivery.body, delivery.headers, webhook["secret"], now=now)


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
