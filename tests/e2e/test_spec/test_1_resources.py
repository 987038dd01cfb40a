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


def test_a_product_takes_an_array_of_variants(shop: Client) -> None:
    made = shop.product(variants=[{"title": "S"}, {"title": "M"}])
    assert [variant["title"] for variant in made["variants"]] == ["S", "M"]


@pytest.mark.parametrize(
    ("field", "sent", "shown"),
    [("title", "S", "S"), ("sku", "LIN-S", "LIN-S"), ("price", 52.5, "52.50"), ("stock", 12, 12)],
    ids=["title", "sku", "price", "stock"],
)
def test_a_variant_takes_the_field(shop: Client, field: str, sent: Any, shown: Any) -> None:
    (variant,) = shop.product(variants=[{"title": "One", field: sent}])["variants"]
    assert variant[field] == shown


# --- The fields of a product that is answered -----------------------------------------------------


@pytest.fixture(scope="module")
def product(shop: Client) -> Any:
    return shop.product(name="Mug", price=2.5)


def test_a_products_id_has_the_prefix_prod(product: Any) -> None:
    assert re.fullmatch(r"prod_\w+", product["id"])


def test_a_created_product_has_a_slug(product: Any) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", product["slug"])


def test_a_created_product_has_its_name(product: Any) -> None:
    assert product["name"] == "Mug"


def test_a_created_product_has_one_of_three_statuses(product: Any) -> None:
    assert product["status"] in {"ACTIVE", "DRAFT", "ARCHIVED"}


def test_a_products_price_is_a_decimal_as_a_string(product: Any) -> None:
    assert product["price"] == "2.50"


def test_a_created_product_has_a_currency_code(product: Any) -> None:
    assert re.fullmatch("[A-Z]{3}", product["currency"])


def test_createdAt_is_iso_8601_in_utc_with_milliseconds(product: Any) -> None:
    assert ISO.fullmatch(product["createdAt"])


def test_a_created_product_has_an_array_of_variants(product: Any) -> None:
    assert [variant["price"] for variant in product["variants"]] == ["2.50"]


def test_images_are_an_empty_array_if_there_are_none(product: Any) -> None:
    assert product["images"] == []


def test_seo_has_title_and_description_that_are_null(product: Any) -> None:
    assert product["seo"] == {"title": None, "description": None}


def test_seo_has_title_and_description_that_are_strings(shop: Client) -> None:
    seo = {"title": "A mug", "description": "For tea."}
    assert shop.product(seo=seo)["seo"] == seo


def test_get_of_a_product_has_its_variants(shop: Client) -> None:
    made = shop.product(variants=[{"title": "S"}, {"title": "M"}])
    found = shop.get(f"{PRODUCTS}/{made['id']}").json
    assert found["variants"] == made["variants"] and len(made["variants"]) == 2


def test_get_of_a_product_has_its_images(shop: Client) -> None:
    images = [{"url": "https://img.example/1.jpg", "alt": None}]
    made = shop.product(images=images)
    assert shop.get(f"{PRODUCTS}/{made['id']}").json["images"] == images


@pytest.mark.parametrize("field", ["name", "sku", "vendor", "tags"])
def test_products_are_searchable_by(shop: Client, field: str) -> None:
    mark = word()
    made = shop.product(**{field: [mark] if field == "tags" else mark})
    assert shop.ids(f"{PRODUCTS}?search={mark}") == [made["id"]]


@pytest.mark.parametrize("field", ["type", "storefront"])
def test_a_product_has_a(shop: Client, field: str) -> None:
    assert shop.product(**{field: "shirts"})[field] == "shirts"


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


def test_a_line_takes_a_variant_by_its_id_with_the_prefix_var(order: Any) -> None:
    assert re.fullmatch(r"var_\w+", order["lineItems"][0]["variantId"])


def test_a_line_takes_a_quantity(order: Any) -> None:
    assert order["lineItems"][0]["quantity"] == 2


def test_a_line_takes_a_price(order: Any) -> None:
    assert order["lineItems"][0]["price"] == "3.00"


def test_an_orders_id_has_the_prefix_ord(order: Any) -> None:
    assert re.fullmatch(r"ord_\w+", order["id"])


def test_an_order_has_a_number_for_people_that_is_a_string(order: Any) -> None:
    assert re.fullmatch(r"\d+", order["number"])


def test_a_customers_id_has_the_prefix_cus(order: Any) -> None:
    assert re.fullmatch(r"cus_\w+", order["customer"]["id"])


def test_an_order_has_id_number_total_currency_customer_and_paidAt(order: Any) -> None:
    assert {"id", "number", "total", "currency", "customer", "paidAt"} <= order.keys()
    assert {"id", "email"} <= order["customer"].keys()
