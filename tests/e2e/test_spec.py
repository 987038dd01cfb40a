"""The interface, statement by statement and in its order, through HTTP against the deployed stack.

Each test is one statement and is named after it. How the parts work is tested elsewhere; here is
what a client may rely on (docs/contract.md), seen by a client that knows nothing else.
"""

import hashlib
import hmac
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from tests.e2e.spec_client import Client, Got
from tests.e2e.test_main_job import ended, upload
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
PRODUCTS, ORDERS = "/api/admin/products", "/api/admin/orders"
MOVES = {
    "PENDING": ["PAID", "CANCELLED"],
    "PAID": ["IN_PRODUCTION", "PROCESSING", "REFUNDED"],
    "IN_PRODUCTION": ["PROCESSING"],
    "PROCESSING": ["SHIPPED"],
    "SHIPPED": ["DELIVERED"],
    "DELIVERED": [],
    "CANCELLED": [],
    "REFUNDED": [],
}
WAYS = {
    "PENDING": [],
    "PAID": ["PAID"],
    "IN_PRODUCTION": ["PAID", "IN_PRODUCTION"],
    "PROCESSING": ["PAID", "PROCESSING"],
    "SHIPPED": ["PAID", "PROCESSING", "SHIPPED"],
    "DELIVERED": ["PAID", "PROCESSING", "SHIPPED", "DELIVERED"],
    "CANCELLED": ["CANCELLED"],
    "REFUNDED": ["PAID", "REFUNDED"],
}
EVENTS = (
    *("order.created", "order.updated", "order.paid", "order.shipped", "order.cancelled"),
    *("order.refunded", "customer.created", "product.created", "product.updated", "inventory.low"),
)


@pytest.fixture(scope="module")
def shop(stack: Stack) -> Client:
    return Client(stack)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening


@pytest.fixture(scope="module")
def webhook(shop: Client, receiver: Receiver) -> Iterator[Any]:
    """One that gets every kind of event."""
    made = shop.made("/api/admin/webhooks", {"url": receiver.url("/ok"), "events": list(EVENTS)})
    yield made
    shop.call("DELETE", f"/api/admin/webhooks/{made['id']}")


def word() -> str:
    return "w" + uuid.uuid4().hex


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.3)
    return value


def received(receiver: Receiver, event: str, id: str) -> Any:
    """The delivery of an event about the resource with this id."""

    def found() -> Any:
        for each in list(receiver.requests):
            if each.headers.get("X-Service-Event") == event:
                data = json.loads(each.body)["data"]
                if id in {data.get("id"), data.get("productId")}:
                    return each
        return None

    return until(found)


def names(answer: Got) -> list[str]:
    assert answer.status == 200, answer.text
    return [each["id"] for each in answer.json["data"]]


# --- Product --------------------------------------------------------------------------------------


def test_product_fields_sent_are_answered(shop: Client) -> None:
    sent = {
        "name": "Linen shirt",
        "slug": word(),
        "description": "Cool.",
        "status": "ACTIVE",
        "price": 49.9,
        "compareAtPrice": 59,
        "sku": word(),
        "vendor": "Acme",
        "tags": ["summer"],
        "variants": [{"title": "S", "sku": word(), "price": 49.9, "stock": 12}],
    }
    made = shop.product(**sent)
    amounts = {"price": "49.90", "compareAtPrice": "59.00"}
    expected = {**sent, **amounts, "variants": [{**sent["variants"][0], "price": "49.90"}]}  # type: ignore[index]
    assert {name: made[name] for name in expected if name != "variants"} == {
        name: value for name, value in expected.items() if name != "variants"
    }
    assert {n: made["variants"][0][n] for n in ("title", "sku", "price", "stock")} == expected[
        "variants"
    ][0]


def test_created_product_has_the_response_fields(shop: Client) -> None:
    made = shop.product()
    assert made["id"].startswith("prod_") and made["slug"] and made["status"] == "DRAFT"
    assert made["price"] == "2.50" and re.fullmatch("[A-Z]{3}", made["currency"])
    assert ISO.fullmatch(made["createdAt"])
    assert isinstance(made["variants"], list) and made["images"] == []
    assert made["seo"] == {"title": None, "description": None}


def test_get_of_a_product_has_its_variants_and_images(shop: Client) -> None:
    images = [{"url": "https://img.example/1.jpg", "alt": None}]
    made = shop.product(variants=[{"title": "S"}, {"title": "M"}], images=images)
    found = shop.get(f"{PRODUCTS}/{made['id']}").json
    assert [variant["title"] for variant in found["variants"]] == ["S", "M"]
    assert found["images"] == images


@pytest.mark.parametrize("field", ["name", "sku", "vendor", "tags"])
def test_products_are_searched_by_name_sku_vendor_and_tags(shop: Client, field: str) -> None:
    mark = word()
    made = shop.product(**{field: [mark] if field == "tags" else mark})
    assert names(shop.get(f"{PRODUCTS}?search={mark}")) == [made["id"]]


@pytest.mark.parametrize("field", ["type", "storefront"])
def test_products_are_filtered_by_type_and_storefront(shop: Client, field: str) -> None:
    mark = word()
    made = shop.product(**{field: mark})
    assert names(shop.get(f"{PRODUCTS}?{field}={mark}")) == [made["id"]]


# --- Order ----------------------------------------------------------------------------------------


def test_order_fields_sent_are_answered(shop: Client) -> None:
    mail = f"{word()}@example.com"
    sent = {
        "source": "PRIVATE_COMMISSION",
        "customer": {"email": mail, "firstName": "Ada", "lastName": "Lovelace"},
        "salesRepId": "emp_7",
        "currency": "USD",
        "tax": 1,
        "subtotal": 6,
        "total": 7,
        "paymentStatus": "PAID",
        "paymentMethod": "CARD_TERMINAL",
        "note": "gift",
        "orderDate": "2025-01-02T03:04:05.000Z",
        "tags": ["vip"],
    }
    made = shop.order(**sent)
    assert made["id"].startswith("ord_") and made["number"].isdigit()
    assert made["customer"]["id"].startswith("cus_") and made["customer"]["email"] == mail
    amounts = {"tax": "1.00", "subtotal": "6.00", "total": "7.00"}
    for name, value in {**sent, **amounts}.items():
        if name != "customer":
            assert made[name] == value, name
    assert shop.order(customer={"id": made["customer"]["id"]})["customer"] == made["customer"]


def test_a_line_has_variant_quantity_and_price(shop: Client) -> None:
    (line,) = shop.order()["lineItems"]
    assert line["variantId"].startswith("var_")
    assert (line["quantity"], line["price"]) == (2, "3.00")


# --- States and transitions -----------------------------------------------------------------------


@pytest.mark.parametrize("start", MOVES)
def test_only_the_moves_of_the_table_are_valid_and_the_answer_names_them(
    shop: Client, start: str
) -> None:
    for wanted in MOVES:
        order = shop.order()
        for step in WAYS[start]:
            assert shop.move(order, status=step).status == 200
        answer = shop.move(order, status=wanted)
        if wanted in MOVES[start]:
            assert (answer.status, answer.json["status"]) == (200, wanted)
        else:
            assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
            assert answer.json["allowed"] == MOVES[start]


def test_the_storefront_returns_only_active_published_products(shop: Client) -> None:
    mark = word()
    live = shop.product(type=mark, status="ACTIVE")
    for hidden in ({"status": "DRAFT"}, {"status": "ARCHIVED"}, {"published": False}):
        other = shop.product(**{"type": mark, "status": "ACTIVE", **hidden})
        assert shop.get(f"/api/products/{other['id']}", key_="").status == 404
    assert names(shop.get(f"/api/products?type={mark}", key_="")) == [live["id"]]
    assert shop.get(f"/api/products/{live['slug']}", key_="").json["id"] == live["id"]


# --- Endpoints ------------------------------------------------------------------------------------


def test_put_answers_the_updated_product(shop: Client) -> None:
    made = shop.product()
    answer = shop.call("PUT", f"{PRODUCTS}/{made['id']}", {"vendor": "Acme"})
    assert (answer.status, answer.json["vendor"]) == (200, "Acme")
    assert shop.get(f"{PRODUCTS}/{made['id']}").json == answer.json


def test_delete_of_a_product_answers_a_result(shop: Client) -> None:
    made = shop.product()
    assert shop.call("DELETE", f"{PRODUCTS}/{made['id']}").status == 200
    assert shop.get(f"{PRODUCTS}/{made['id']}").status == 404


def test_bulk_answers_success_or_error_for_each_row(shop: Client) -> None:
    rows = [{"name": "A", "price": 1}, {"name": "B"}, {"name": "C", "price": 2}]
    answer = shop.call("POST", f"{PRODUCTS}/bulk", rows)
    assert answer.status == 200
    assert [row["status"] for row in answer.json["data"]] == ["created", "error", "created"]


def test_bulk_takes_500_products_and_no_more(shop: Client) -> None:
    rows = [{"name": "Bulk", "price": 1} for _ in range(501)]
    assert shop.call("POST", f"{PRODUCTS}/bulk", rows).status == 422
    done = shop.call("POST", f"{PRODUCTS}/bulk", rows[:500])
    assert done.json["summary"] == {"created": 500, "failed": 0}


def test_an_import_answers_a_job_that_is_polled(shop: Client, stack: Stack) -> None:
    sku = word()
    job = upload(stack, shop.key, f"slug,name,price,sku\n{sku},Mug,5,{sku}\n".encode())
    assert job.startswith("job_")
    assert ended(stack, shop.key, job)["status"] == "COMPLETED"
    assert len(names(shop.get(f"{PRODUCTS}?search={sku}"))) == 1


def test_a_list_has_data_pagination_and_total(shop: Client) -> None:
    mark = word()
    for _ in range(3):
        shop.product(type=mark)
    found = shop.get(f"{PRODUCTS}?type={mark}&limit=2").json
    assert len(found["data"]) == 2
    assert found["pagination"]["page"] == 1 and found["pagination"]["totalPages"] == 2
    assert found["total"] == 3


def test_products_are_filtered_by_status(shop: Client) -> None:
    mark = word()
    made = {s: shop.product(type=mark, status=s)["id"] for s in ("ACTIVE", "DRAFT", "ARCHIVED")}
    for status, id in made.items():
        assert names(shop.get(f"{PRODUCTS}?type={mark}&status={status}")) == [id]


def test_an_order_is_answered_with_its_lines(shop: Client) -> None:
    order = shop.order()
    found = shop.get(f"{ORDERS}/{order['id']}")
    assert (found.status, found.json) == (200, order)
    assert len(found.json["lineItems"]) == 1


def test_a_sales_rep_is_assigned_by_patch(shop: Client) -> None:
    order = shop.order()
    assert shop.move(order, salesRepId="emp_9").json["salesRepId"] == "emp_9"


def test_an_order_is_deleted_by_the_owner_only(shop: Client) -> None:
    order = shop.order()
    for role in ("STAFF", "ADMIN"):
        key = shop.made("/api/admin/keys", {"name": "spec", "role": role})["key"]
        refused = shop.call("DELETE", f"{ORDERS}/{order['id']}", key_=key)
        assert refused.status == 403
    assert shop.call("DELETE", f"{ORDERS}/{order['id']}").status == 200


def test_orders_are_searched_by_number_name_and_email(shop: Client) -> None:
    mark = word()
    order = shop.order(customer={"email": f"{mark}@example.com", "lastName": f"x{mark}"})
    for search in (order["number"], f"x{mark}", f"{mark}@example.com"):
        assert order["id"] in names(shop.get(f"{ORDERS}?search={search}"))


def test_orders_are_filtered_by_status_excluded_status_and_source(shop: Client) -> None:
    source = word().upper()
    waiting, paid = shop.order(source=source), shop.order(source=source, paymentStatus="PAID")
    asked = f"{ORDERS}?source={source}"
    assert names(shop.get(asked)) == [paid["id"], waiting["id"]]
    assert names(shop.get(f"{asked}&status=PAID")) == [paid["id"]]
    assert names(shop.get(f"{asked}&excludeStatus=PAID")) == [waiting["id"]]
    both = "excludeStatus[]=PAID&excludeStatus[]=PENDING"
    assert names(shop.get(f"{asked}&{both}")) == []


def test_an_idempotency_key_places_an_order_once(shop: Client) -> None:
    variant = shop.product()["variants"][0]["id"]
    body = {"lineItems": [{"variantId": variant, "quantity": 1}]}
    first, again = (shop.call("POST", ORDERS, body, Idempotency_Key=variant) for _ in range(2))
    assert (again.status, again.text) == (first.status, first.text) == (201, first.text)


# --- Authentication -------------------------------------------------------------------------------


def test_admin_requests_need_a_bearer_key(shop: Client) -> None:
    assert shop.get(PRODUCTS).status == 200
    for wrong in ({}, {"Authorization": shop.key}, {"Authorization": "Bearer bk_x"}):
        assert shop.get(PRODUCTS, key_="", **wrong).status == 401


# --- Events ---------------------------------------------------------------------------------------


def test_each_event_kind_is_sent_when_it_says(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    product = shop.product(variants=[{"title": "S", "stock": 9}])
    shop.call("PUT", f"{PRODUCTS}/{product['id']}", {"vendor": "Acme"})
    stock = [{"id": product["variants"][0]["id"], "stock": 1}]
    shop.call("PUT", f"{PRODUCTS}/{product['id']}", {"variants": stock})
    for event in ("product.created", "product.updated", "inventory.low"):
        assert received(receiver, event, product["id"])
    shipped = shop.order(customer={"email": f"{word()}@example.com"})
    assert received(receiver, "customer.created", shipped["customer"]["id"])
    for step in ("PAID", "PROCESSING"):
        shop.move(shipped, status=step)
    shop.move(shipped, status="SHIPPED", trackingNumber="1Z999")
    for event in ("order.created", "order.updated", "order.paid"):
        assert received(receiver, event, shipped["id"])
    told = received(receiver, "order.shipped", shipped["id"])
    assert json.loads(told.body)["data"]["trackingNumber"] == "1Z999"
    cancelled, refunded = shop.order(), shop.order(paymentStatus="PAID")
    shop.move(cancelled, status="CANCELLED")
    shop.move(refunded, status="REFUNDED")
    assert received(receiver, "order.cancelled", cancelled["id"])
    assert received(receiver, "order.refunded", refunded["id"])


def test_order_paid_carries_what_the_interface_lists(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    order = shop.order(customer={"email": f"{word()}@example.com"}, paymentStatus="PAID")
    body = json.loads(received(receiver, "order.paid", order["id"]).body)
    assert set(body) == {"event", "data"} and body["event"] == "order.paid"
    data = body["data"]
    assert data["id"] == order["id"] and data["number"] == order["number"]
    assert (data["total"], data["currency"]) == ("6.00", "USD")
    assert data["customer"]["id"] == order["customer"]["id"]
    assert data["customer"]["email"] == order["customer"]["email"]
    assert ISO.fullmatch(data["paidAt"])


def test_a_delivery_is_signed_as_the_interface_says(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    product = shop.product()
    came = received(receiver, "product.created", product["id"])
    assert came.method == "POST"
    assert came.headers["Content-Type"] == "application/json"
    assert came.headers["X-Service-Delivery"].startswith("dlv_")
    stamp = came.headers["X-Service-Timestamp"]
    assert abs(int(stamp) - time.time()) < 300
    signed = stamp.encode() + b"." + came.body
    expected = hmac.new(webhook["secret"].encode(), signed, hashlib.sha256).hexdigest()
    assert came.headers["X-Service-Signature"] == f"t={stamp},v1={expected}"


def test_rotating_one_secret_leaves_the_others_and_one_signature(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    other = shop.made(
        "/api/admin/webhooks", {"url": receiver.url("/ok/other"), "events": ["product.created"]}
    )
    rotated = shop.made(f"/api/admin/webhooks/{other['id']}/rotate-secret", {})
    assert rotated["secret"] not in {other["secret"], webhook["secret"]}
    product = shop.product()

    def came() -> list[Any]:
        found = [r for r in list(receiver.requests) if product["id"].encode() in r.body]
        return found if len(found) == 2 else []

    for each in until(came):
        secret = (rotated if each.path.startswith("/ok/other") else webhook)["secret"]
        stamp = each.headers["X-Service-Timestamp"]
        signed = stamp.encode() + b"." + each.body
        v1 = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        assert each.headers["X-Service-Signature"] == f"t={stamp},v1={v1}"
    shop.call("DELETE", f"/api/admin/webhooks/{other['id']}")


def test_what_is_no_2xx_is_tried_again_a_minute_later(shop: Client, receiver: Receiver) -> None:
    failing = shop.made(
        "/api/admin/webhooks", {"url": receiver.url("/status/500"), "events": ["product.created"]}
    )
    shop.product()
    path = f"/api/admin/webhooks/{failing['id']}/deliveries"

    def retrying() -> Any:
        return [each for each in shop.get(path).json["data"] if each["status"] == "RETRYING"]

    (delivery,) = until(retrying)
    full = shop.get(f"/api/admin/deliveries/{delivery['id']}").json
    (attempt,) = full["attempts"]
    moments = [datetime.fromisoformat(text) for text in (attempt["at"], full["nextAttemptAt"])]
    assert 60 <= (moments[1] - moments[0]).total_seconds() <= 60 + 6 + 10
    assert shop.call("POST", f"/api/admin/deliveries/{delivery['id']}/replay", {}).status == 202
    shop.call("DELETE", f"/api/admin/webhooks/{failing['id']}")


# --- Errors and limits ----------------------------------------------------------------------------


def test_every_answer_says_the_limit_what_is_left_and_when_it_resets(shop: Client) -> None:
    for method, path in (
        *(("GET", PRODUCTS), ("GET", f"{PRODUCTS}/prod_x"), ("POST", ORDERS), ("GET", "/api/x")),
        *(("GET", "/api/products"), ("PUT", "/api/products"), ("GET", "/"), ("GET", "/nothing")),
    ):
        answer = shop.call(method, path)
        for name in ("Limit", "Remaining", "Reset"):
            assert answer.headers[f"X-RateLimit-{name}"].isdigit(), (method, path)


def test_a_key_has_120_reads_and_60_writes_and_the_storefront_300_requests(shop: Client) -> None:
    key = shop.made("/api/admin/keys", {"name": "spec", "role": "STAFF"})["key"]
    assert shop.get("/api/admin/me", key_=key).headers["X-RateLimit-Limit"] == "120"
    assert shop.call("POST", ORDERS, {}, key_=key).headers["X-RateLimit-Limit"] == "60"
    assert shop.get("/api/products", key_="").headers["X-RateLimit-Limit"] == "300"


def test_beyond_the_limit_is_429_with_retry_after(shop: Client) -> None:
    key = shop.made("/api/admin/keys", {"name": "spec", "role": "STAFF"})["key"]
    for _ in range(125):  # the minute may end meanwhile: then there are 60 more
        answer = shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=key)
        if answer.status == 429:
            break
    assert (answer.status, answer.json["code"]) == (429, "rate_limited")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_bulk_counts_as_one_request(shop: Client) -> None:
    key = shop.made("/api/admin/keys", {"name": "spec", "role": "STAFF"})["key"]
    rows = [{"name": "Bulk", "price": 1} for _ in range(20)]
    for _ in range(2):  # both in one minute, sooner or later
        left = [
            int(shop.call("POST", f"{PRODUCTS}/bulk", rows, key_=key).headers[name])
            for name in ["X-RateLimit-Remaining"] * 2
        ]
        if left[0] > left[1]:
            break
    assert left[0] - left[1] == 1


def test_a_page_has_20_items_and_at_most_100(shop: Client) -> None:
    assert shop.get(PRODUCTS).json["pagination"]["page"] == 1
    assert len(shop.get(PRODUCTS).json["data"]) == 20
    assert len(shop.get(f"{PRODUCTS}?limit=1000").json["data"]) == 100
