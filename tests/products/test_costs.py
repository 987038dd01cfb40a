"""Barcodes, costs and metadata of variants: who reads them, and who does not."""

from typing import Any

import pytest

from tests.orders.build import line, placed
from tests.products.build import new_product
from tests.support.shop import Shop

PRODUCTS = "/api/admin/products"
EAN = "4006381333931"
EXTRAS = {"barcode": EAN, "cost": "4.50", "metadata": {"shelf": [1, {"row": 2.5}]}}


@pytest.fixture
def product(shop: Shop) -> Any:
    variants = [{"title": "S", "sku": "S-1", "stock": 3, **EXTRAS}, {"title": "M"}]
    new = new_product(status="ACTIVE", published=True, variants=variants, metadata={"a": "b"})
    return shop.made(PRODUCTS, new)


def test_a_variant_keeps_them_until_they_are_cleared(shop: Shop, product: Any) -> None:
    small, medium = product["variants"]
    assert {name: small[name] for name in EXTRAS} == EXTRAS
    assert {name: medium[name] for name in EXTRAS} == {
        "barcode": None,
        "cost": None,
        "metadata": {},
    }
    path = f"{PRODUCTS}/{product['id']}"
    sent_back = shop.put(path, product)
    assert sent_back.json == product
    kept = {"id": small["id"], "price": "3.00"}
    small, _ = shop.put(path, {"variants": [kept, {"id": medium["id"]}]}).json["variants"]
    assert {name: small[name] for name in EXTRAS} == EXTRAS
    cleared = {"id": small["id"], "barcode": "", "cost": None, "metadata": None}
    small, _ = shop.put(path, {"variants": [cleared, {"id": medium["id"]}]}).json["variants"]
    assert {name: small[name] for name in EXTRAS} == {"barcode": None, "cost": None, "metadata": {}}


@pytest.mark.parametrize(
    ("field", "value"),
    [("barcode", "9" * 51), ("cost", -1), ("cost", "4.505"), ("metadata", [1]), ("metadata", "x")],
)
def test_each_is_refused_by_its_name(shop: Shop, field: str, value: object) -> None:
    sent = new_product(variants=[{"title": "S", field: value}])
    answer = shop.post(PRODUCTS, sent)
    assert answer.status == 422
    assert [error["field"] for error in answer.json["errors"]] == [f"variants.0.{field}"]


def test_two_variants_may_have_one_barcode_and_both_are_found(shop: Shop, product: Any) -> None:
    other = new_product(name="Other", variants=[{"title": "L", "barcode": EAN}])
    assert shop.post(PRODUCTS, other).status == 201
    assert shop.get(f"{PRODUCTS}?search={EAN}").json["total"] == 2
    number = {"title": "XL", "barcode": 12345678}  # as a program sends it
    made = shop.post(PRODUCTS, new_product(variants=[number])).json
    assert made["variants"][0]["barcode"] == "12345678"


def costs_in(shown: object) -> list[object]:
    """Every `cost` in an answer."""
    if isinstance(shown, dict):
        own = [shown["cost"]] if "cost" in shown else []
        return own + [cost for value in shown.values() for cost in costs_in(value)]
    return [cost for value in shown for cost in costs_in(value)] if isinstance(shown, list) else []


def test_costs_are_for_staff_and_in_no_event(shop: Shop, product: Any) -> None:
    order = placed(shop, line(product["variants"][0]["id"]))
    assert [each["cost"] for each in order["lineItems"]] == ["4.50"]
    shop.put(f"{PRODUCTS}/{product['id']}", {"name": "Renamed"})
    paths = (
        f"{PRODUCTS}/{product['id']}",
        PRODUCTS,
        f"/api/admin/orders/{order['id']}",
        "/api/admin/orders",
        "/api/admin/search?q=S-1",
    )
    for path in paths:
        assert "4.50" in costs_in(shop.get(path).json), path
        seen = costs_in(shop.get(path, key=shop.as_("READER")).json)
        assert seen
        assert set(seen) == {None}, path
    in_events = [cost for event in shop.events() for cost in costs_in(event["data"])]
    assert in_events
    assert set(in_events) == {None}


def test_a_line_keeps_the_cost_of_its_sale(shop: Shop, product: Any) -> None:
    small, medium = product["variants"]
    order = placed(shop, line(small["id"]), line(medium["id"]))
    dearer = {"variants": [{"id": small["id"], "cost": 7}, {"id": medium["id"]}]}
    assert shop.put(f"{PRODUCTS}/{product['id']}", dearer).status == 200
    shown = shop.get(f"/api/admin/orders/{order['id']}").json
    assert [each["cost"] for each in shown["lineItems"]] == ["4.50", None]
