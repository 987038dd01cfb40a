"""Resources and their fields: the product, its variants, the order, its customer."""

import re
from typing import Any

import pytest

from tests.e2e.spec_client import ISO, ORDERS, PRODUCTS, Client, word

# --- The fields of a product that is created ------------------------------------------------------

PRODUCT_FIELDS: list[tuple[str, Any, Any]] = [
    ("name", "Linen shirt", "Linen shirt"),
    ("description", "Cool in summer.", "Cool in summer."),
    ("status", "ACTIVE", "ACTIVE"),
    ("status", "DRAFT", "DRAFT"),
    ("status", "ARCHIVED", "ARCHIVED"),
    ("price", 49.9, "49.90"),
    ("compareAtPrice", 59, "59.00"),
    ("sku", "LIN-1", "LIN-1"),
    ("vendor", "Acme", "Acme"),
    ("tags", ["summer", "linen"], ["summer", "linen"]),
]


@pytest.mark.parametrize(
    ("field", "sent", "shown"), PRODUCT_FIELDS, ids=[f"{f}={v}" for f, v, _ in PRODUCT_FIELDS]
)
def test_a_product_takes_the_field(shop: Client, field: str, sent: Any, shown: Any) -> None:
    made = shop.product(**{field: sent})
    assert made[field] == shown
    assert shop.get(f"{PRODUCTS}/{made['id']}").json[field] == shown


def test_a_product_takes_a_slug(shop: Client) -> None:
    slug = word()
    assert shop.product(slug=slug)["slug"] == slug


@pytest.mark.parametrize(
    ("field", "sent", "shown"),
    [("title", "S", "S"), ("sku", "LIN-S", "LIN-S"), ("price", 52.5, "52.50"), ("stock", 12, 12)],
    ids=["title", "sku", "price", "stock"],
)
def test_a_variant_takes_the_field(shop: Client, field: str, sent: Any, shown: Any) -> None:
    (variant,) = shop.product(variants=[{"title": "One", field: sent}])["variants"]
    assert variant[field] == shown


# --- The fields of a product that is answered -----------------------------------------------------


def test_a_product_that_has_only_a_name_and_a_price(shop: Client) -> None:
    product = shop.product(name="Mug", price=2.5)
    assert re.fullmatch(r"prod_\w+", product["id"]) and re.fullmatch(r"[a-z0-9-]+", product["slug"])
    assert product["name"] == "Mug" and product["status"] in {"ACTIVE", "DRAFT", "ARCHIVED"}
    assert product["price"] == "2.50" and re.fullmatch("[A-Z]{3}", product["currency"])
    assert ISO.fullmatch(product["createdAt"])
    assert [variant["price"] for variant in product["variants"]] == ["2.50"]
    assert (product["images"], product["seo"]) == ([], {"title": None, "description": None})


def test_seo_has_title_and_description_that_are_strings(shop: Client) -> None:
    seo = {"title": "A mug", "description": "For tea."}
    assert shop.product(seo=seo)["seo"] == seo


def test_get_of_a_product_has_its_variants_and_images(shop: Client) -> None:
    images = [{"url": "https://img.example/1.jpg", "alt": None}]
    made = shop.product(variants=[{"title": "S"}, {"title": "M"}], images=images)
    assert [variant["title"] for variant in made["variants"]] == ["S", "M"]
    assert made["images"] == images
    assert shop.get(f"{PRODUCTS}/{made['id']}").json == made


# --- The fields of an order that is created -------------------------------------------------------

ORDER_FIELDS: list[tuple[str, Any, Any]] = [
    ("source", "IN_PERSON", "IN_PERSON"),
    ("source", "PRIVATE_COMMISSION", "PRIVATE_COMMISSION"),
    ("source", "MARKET_STALL", "MARKET_STALL"),  # the list continues
    ("salesRepId", "emp_7", "emp_7"),
    ("currency", "USD", "USD"),
    ("tax", 1, "1.00"),
    ("subtotal", 6, "6.00"),
    ("total", 6, "6.00"),
    ("paymentStatus", "PAID", "PAID"),
    ("paymentMethod", "CARD_TERMINAL", "CARD_TERMINAL"),
    ("note", "gift", "gift"),
    ("orderDate", "2025-01-02T03:04:05.000Z", "2025-01-02T03:04:05.000Z"),
    ("tags", ["vip"], ["vip"]),
]


@pytest.mark.parametrize(
    ("field", "sent", "shown"), ORDER_FIELDS, ids=[f"{f}={v}" for f, v, _ in ORDER_FIELDS]
)
def test_an_order_takes_the_field(shop: Client, field: str, sent: Any, shown: Any) -> None:
    made = shop.order(**{field: sent})
    assert made[field] == shown
    assert shop.get(f"{ORDERS}/{made['id']}").json[field] == shown


@pytest.fixture(scope="module")
def order(shop: Client) -> Any:
    person = {"email": f"{word()}@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    return shop.order(customer=person)


@pytest.mark.parametrize("field", ["email", "firstName", "lastName"])
def test_a_customer_is_created_inline_with(shop: Client, field: str) -> None:
    person = {"email": f"{word()}@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    made = shop.order(customer=person)
    assert made["customer"][field] == person[field]
    assert shop.get(f"/api/admin/customers/{made['customer']['id']}").json[field] == person[field]


def test_an_order_takes_an_existing_customer_by_id(shop: Client, order: Any) -> None:
    assert shop.order(customer={"id": order["customer"]["id"]})["customer"] == order["customer"]


def test_an_order_shows_its_line_its_customer_and_their_ids(order: Any) -> None:
    (line,) = order["lineItems"]
    assert (line["quantity"], line["price"]) == (2, "3.00")
    ids = {"var": line["variantId"], "ord": order["id"], "cus": order["customer"]["id"]}
    for prefix, id in ids.items():
        assert re.fullmatch(rf"{prefix}_\w+", id)
    assert re.fullmatch(r"\d+", order["number"])
    assert {"id", "number", "total", "currency", "customer", "paidAt"} <= order.keys()
    assert {"id", "email"} <= order["customer"].keys()
