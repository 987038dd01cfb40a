"""Endpoints: products, the storefront, orders, and where webhooks are registered."""

from typing import Any

import pytest

from tests.e2e.spec_client import ORDERS, PRODUCTS, Client, word
from tests.e2e.test_main_job import ended, upload
from tests.support.running import Stack

# --- Products -------------------------------------------------------------------------------------


def test_post_of_a_product_returns_the_created_product(shop: Client) -> None:
    answer = shop.call("POST", PRODUCTS, {"name": "Mug", "price": 2})
    assert answer.status == 201
    assert shop.get(f"{PRODUCTS}/{answer.json['id']}").json == answer.json


def test_put_of_a_product_returns_the_updated_product(shop: Client) -> None:
    made = shop.product()
    answer = shop.call("PUT", f"{PRODUCTS}/{made['id']}", {"vendor": "Acme"})
    assert (answer.status, answer.json["vendor"]) == (200, "Acme")
    assert shop.get(f"{PRODUCTS}/{made['id']}").json == answer.json


def test_delete_of_a_product_returns_a_result(shop: Client) -> None:
    made = shop.product()
    answer = shop.call("DELETE", f"{PRODUCTS}/{made['id']}")
    assert (answer.status, answer.json) == (200, {"id": made["id"], "deleted": True})
    assert shop.get(f"{PRODUCTS}/{made['id']}").status == 404


def test_bulk_takes_an_array_and_returns_success_or_error_for_each_row(shop: Client) -> None:
    rows = [{"name": "A", "price": 1}, {"name": "B"}, {"name": "C", "price": 2}]
    answer = shop.call("POST", f"{PRODUCTS}/bulk", rows)
    assert answer.status == 200
    assert [row["status"] for row in answer.json["data"]] == ["created", "error", "created"]


def test_bulk_takes_500_products(shop: Client) -> None:
    rows = [{"name": "Bulk", "price": 1} for _ in range(500)]
    done = shop.call("POST", f"{PRODUCTS}/bulk", rows)
    assert done.json["summary"] == {"created": 500, "failed": 0}


def test_bulk_refuses_501_products(shop: Client) -> None:
    mark = word()
    rows = [{"name": "Bulk", "price": 1, "type": mark} for _ in range(501)]
    assert shop.call("POST", f"{PRODUCTS}/bulk", rows).status == 422
    assert shop.ids(f"{PRODUCTS}?type={mark}") == []


def test_an_imported_form_returns_a_job_that_is_polled_until_it_has_ended(
    shop: Client, stack: Stack
) -> None:
    sku = word()
    job = upload(stack, shop.key, f"slug,name,price,sku\n{sku},Mug,5,{sku}\n".encode())
    assert shop.get(f"/api/admin/jobs/{job}").json["status"] in {"QUEUED", "RUNNING", "COMPLETED"}
    done = ended(stack, shop.key, job)
    assert (done["status"], done["created"]) == ("COMPLETED", 1)
    assert len(shop.ids(f"{PRODUCTS}?search={sku}")) == 1


@pytest.mark.parametrize("field", ["name", "sku", "vendor", "tags"])
def test_search_of_products_matches(shop: Client, field: str) -> None:
    """The beginning of a word, in any case."""
    mark = word()
    made = shop.product(**{field: [f"{mark}-blue"] if field == "tags" else f"{mark}-blue"})
    assert shop.ids(f"{PRODUCTS}?search={mark.upper()}") == [made["id"]]


@pytest.mark.parametrize("status", ["ACTIVE", "DRAFT", "ARCHIVED"])
def test_products_are_filtered_by_status(shop: Client, status: str) -> None:
    mark = word()
    made = {s: shop.product(type=mark, status=s)["id"] for s in ("ACTIVE", "DRAFT", "ARCHIVED")}
    assert shop.ids(f"{PRODUCTS}?type={mark}&status={status}") == [made[status]]


@pytest.mark.parametrize("field", ["type", "storefront"])
def test_products_are_filtered_by(shop: Client, field: str) -> None:
    mark = word()
    made = shop.product(**{field: mark})
    assert shop.ids(f"{PRODUCTS}?{field}={mark}") == [made["id"]]


@pytest.fixture(scope="module")
def three(shop: Client) -> tuple[str, list[str]]:
    """The type of three products, and their ids, the newest first."""
    mark = word()
    return mark, [shop.product(type=mark)["id"] for _ in range(3)][::-1]


def test_a_list_has_data_pagination_and_total(shop: Client, three: Any) -> None:
    mark, made = three
    asked = f"{PRODUCTS}?type={mark}&limit=2"
    for number, path in ((1, asked), (2, f"{asked}&page=2")):
        found = shop.get(path).json
        assert [one["id"] for one in found["data"]] == made[2 * number - 2 : 2 * number]
        assert (found["pagination"]["page"], found["pagination"]["totalPages"]) == (number, 2)
        assert found["total"] == 3


@pytest.fixture(scope="module")
def many(shop: Client) -> str:
    """The type of 101 products."""
    mark = word()
    rows = [{"name": "Many", "price": 1, "type": mark} for _ in range(101)]
    assert shop.made(f"{PRODUCTS}/bulk", rows)["summary"]["created"] == 101
    return mark


def test_limit_is_20_by_default(shop: Client, many: str) -> None:
    assert len(shop.ids(f"{PRODUCTS}?type={many}")) == 20


def test_limit_is_100_at_most(shop: Client, many: str) -> None:
    assert len(shop.ids(f"{PRODUCTS}?type={many}&limit=101")) == 100


# --- The storefront -------------------------------------------------------------------------------


def test_the_storefront_has_what_a_listing_page_needs(shop: Client) -> None:
    mark = word()
    made = shop.product(type=mark, status="ACTIVE")
    (found,) = shop.get(f"/api/products?type={mark}", key_="").json["data"]
    assert {n: found[n] for n in ("id", "slug", "name", "price")} == {
        n: made[n] for n in ("id", "slug", "name", "price")
    }


@pytest.mark.parametrize("name", ["id", "slug"])
def test_the_storefront_has_a_detail_page_by(shop: Client, name: str) -> None:
    made = shop.product(status="ACTIVE", variants=[{"title": "S", "stock": 2}])
    found = shop.get(f"/api/products/{made[name]}", key_="").json
    assert found["id"] == made["id"]
    assert [variant["title"] for variant in found["variants"]] == ["S"]


# --- Orders ---------------------------------------------------------------------------------------


def test_get_of_orders_is_a_paginated_list(shop: Client) -> None:
    shop.order()
    found = shop.get(f"{ORDERS}?limit=1").json
    assert len(found["data"]) == 1 and found["total"] >= 1
    assert found["pagination"]["page"] == 1 and found["pagination"]["totalPages"] == found["total"]


def test_post_of_an_order_returns_the_created_order(shop: Client) -> None:
    variant = shop.product()["variants"][0]["id"]
    sent = {"lineItems": [{"variantId": variant, "quantity": 1}]}
    answer = shop.call("POST", ORDERS, sent)
    assert answer.status == 201
    assert shop.get(f"{ORDERS}/{answer.json['id']}").json == answer.json
    assert [line["variantId"] for line in answer.json["lineItems"]] == [variant]


def test_an_idempotency_key_is_optional_and_places_an_order_once(shop: Client) -> None:
    variant = shop.product()["variants"][0]["id"]
    body = {"lineItems": [{"variantId": variant, "quantity": 1}]}
    first, again = (shop.call("POST", ORDERS, body, Idempotency_Key=variant) for _ in range(2))
    assert (again.status, again.text) == (first.status, first.text) == (201, first.text)
    assert shop.call("POST", ORDERS, body).json["id"] != first.json["id"]


def test_patch_changes_status_and_sales_rep_together(shop: Client) -> None:
    order = shop.order()
    changed = shop.move(order, status="PAID", salesRepId="emp_9").json
    assert (changed["status"], changed["salesRepId"]) == ("PAID", "emp_9")
    assert shop.get(f"{ORDERS}/{order['id']}").json == changed


def test_delete_of_an_order_returns_a_result(shop: Client) -> None:
    order = shop.order()
    answer = shop.call("DELETE", f"{ORDERS}/{order['id']}")
    assert (answer.status, answer.json) == (200, {"id": order["id"], "deleted": True})
    assert shop.get(f"{ORDERS}/{order['id']}").status == 404


@pytest.fixture(scope="module")
def known(shop: Client) -> Any:
    """An order whose customer has names that no other has."""
    mark = word()
    return shop.order(customer={"email": f"e{mark}@example.com", "lastName": f"n{mark}"})


def test_search_of_orders_matches_number_name_and_email(shop: Client, known: Any) -> None:
    assert known["id"] in shop.ids(f"{ORDERS}?search={known['number']}")
    for name in ("lastName", "email"):
        assert shop.ids(f"{ORDERS}?search={known['customer'][name]}") == [known["id"]]


@pytest.fixture(scope="module")
def sold(shop: Client) -> dict[str, str]:
    """Orders of a source of their own, by status; and `source`."""
    source = word().upper()
    made = {"PENDING": shop.order(source=source), "PAID": shop.order(source=source)}
    made["CANCELLED"] = shop.order(source=source)
    for status in ("PAID", "CANCELLED"):
        assert shop.move(made[status], status=status).status == 200
    return {status: order["id"] for status, order in made.items()} | {"source": source}


def test_orders_are_filtered_by_source(shop: Client, sold: dict[str, str]) -> None:
    all_three = {sold[status] for status in ("PENDING", "PAID", "CANCELLED")}
    assert set(shop.ids(f"{ORDERS}?source={sold['source']}")) == all_three


@pytest.mark.parametrize("status", ["PENDING", "PAID", "CANCELLED"])
def test_orders_are_filtered_by_status(shop: Client, sold: dict[str, str], status: str) -> None:
    asked = f"{ORDERS}?source={sold['source']}&status={status}"
    assert shop.ids(asked) == [sold[status]]


# What clients make of a list of values (docs/api.md).
SPELLINGS = {
    "excludeStatus=PENDING,PAID": "CANCELLED",
    "excludeStatus=PENDING&excludeStatus=PAID": "CANCELLED",
    "excludeStatus[]=PENDING&excludeStatus[]=PAID": "CANCELLED",
    "excludeStatus=pending,Cancelled": "PAID",
    "status[]=CANCELLED": "CANCELLED",
    "status=paid": "PAID",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_statuses_are_included_or_excluded(
    shop: Client, sold: dict[str, str], spelling: str
) -> None:
    asked = f"{ORDERS}?source={sold['source']}&{spelling}"
    assert shop.ids(asked) == [sold[SPELLINGS[spelling]]]


def test_the_status_of_an_order_can_be_nothing_else(shop: Client) -> None:
    assert shop.get(f"{ORDERS}?status=LOST").status == 422


@pytest.mark.parametrize("path", [PRODUCTS, ORDERS])
def test_an_unknown_parameter_is_refused_by_its_name(shop: Client, path: str) -> None:
    answer = shop.get(f"{path}?statsu=PAID")
    assert answer.status == 422 and "statsu" in answer.text


def test_page_and_limit_apply_to_orders(shop: Client, sold: dict[str, str]) -> None:
    asked = f"{ORDERS}?source={sold['source']}&limit=2"
    first, second = shop.ids(asked), shop.ids(f"{asked}&page=2")
    assert (len(first), len(second)) == (2, 1) and not set(first) & set(second)


# --- Webhooks -------------------------------------------------------------------------------------


def test_the_administration_pages_where_webhooks_are_registered_are_served(shop: Client) -> None:
    page = shop.get("/console", key_="")
    assert page.status == 200 and page.headers["Content-Type"].startswith("text/html")
