"""Common variants of input are accepted if their meaning is clear."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, get_args

import pytest
from pydantic import ValidationError

import app
from chalicelib.schemas import Choice, Input
from tests.orders.build import ORDERS, line, move_stock, new_order, placed, variant
from tests.products.build import PRODUCTS, new_product, stored
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough

COUNTS = "/api/admin/stock/counts"


def test_an_integer_may_be_written_with_a_zero_fraction(shop: Shop) -> None:
    made = stored(shop, variants=[{"title": "S", "stock": 5.0}], lowStockThreshold=2e0)
    assert (made["variants"][0]["stock"], made["lowStockThreshold"]) == (5, 2)
    body = b'{"lineItems": [{"variantId": "%s", "quantity": 2.0}]}'
    sent = body % made["variants"][0]["id"].encode()
    order = shop.post(ORDERS, sent, headers={"Content-Type": "application/json"})
    assert order.json["lineItems"][0]["quantity"] == 2
    for quantity in (2.5, "2", True):
        refused = shop.post(ORDERS, new_order(line(variant(shop), quantity)))  # type: ignore[arg-type]
        assert refused.json["errors"][0]["field"] == "lineItems.0.quantity"


@pytest.mark.parametrize(
    ("written", "sku"), [(4711, "4711"), (1.50, "1.5"), ("007", "007"), ("", None), (None, None)]
)
def test_a_numeric_sku_becomes_text(shop: Shop, written: object, sku: str | None) -> None:
    sent = new_product(sku=written, variants=[{"title": "S", "sku": written}])
    made = shop.post(PRODUCTS, sent).json
    assert (made["sku"], made["variants"][0]["sku"]) == (sku, sku)


@pytest.mark.parametrize("written", [True, ["A"]])
def test_a_sku_is_text_or_a_number(shop: Shop, written: object) -> None:
    refused = shop.post(PRODUCTS, new_product(sku=written))
    assert refused.refused == ["sku"]


def test_currencies_and_enumerations_are_accepted_in_any_case(shop: Shop) -> None:
    made = stored(shop, status="active", currency="usd")
    assert (made["status"], made["currency"]) == ("ACTIVE", "USD")
    words = {"paymentStatus": "paid", "source": "in_person", "paymentMethod": "card"}
    order = placed(shop, currency="Usd", **words)
    known = (order["status"], order["source"], order["paymentMethod"])
    assert known == ("PAID", "IN_PERSON", "CARD")
    assert order.moved("in_production").json["status"] == "IN_PRODUCTION"
    assert shop.get(f"{ORDERS}?status=In_Production&source=in_person").json["total"] == 1
    assert shop.get(f"{ORDERS}?excludeStatus[]=in_production").json["total"] == 0
    assert shop.post("/api/admin/keys", {"name": "Till", "role": "staff"}).json["role"] == "STAFF"
    counted = move_stock(shop, variant(shop), "counted", to=5, by=None)
    assert counted.json["variants"][0]["stock"] == 5, counted.text
    assert shop.events()[-1]["data"]["stockMoves"][0]["reason"] == "COUNTED"
    for unknown in ("ſhipped", "ACT IVE", "PAİD"):
        refused = order.patch({"status": unknown})
        assert refused.json["code"] == "validation_failed"


def test_null_means_the_default(shop: Shop) -> None:
    names = ("slug", "status", "published", "lowStockThreshold", "tags", "variants", "images")
    nothing = dict.fromkeys((*names, "seo"))
    made = shop.post(PRODUCTS, {"name": "Shirt", "price": 1, **nothing}).json
    plain = shop.post(PRODUCTS, {"name": "Shirt", "price": 1}).json
    own = dict.fromkeys(("id", "slug", "createdAt", "updatedAt", "variants"))
    assert made | own == plain | own
    live = shop.put(f"{PRODUCTS}/{made['id']}", {"status": "ACTIVE", "published": False}).json
    assert (live["status"], live["published"]) == ("ACTIVE", False)
    cleared = shop.put(f"{PRODUCTS}/{made['id']}", {"status": None, "published": None}).json
    assert (cleared["status"], cleared["published"]) == ("DRAFT", True)
    for name in ("name", "slug"):
        assert shop.put(f"{PRODUCTS}/{made['id']}", {name: None}).status == 422


# Of a change: absent means as before, and these cannot be cleared. A rotation without an overlap
# cannot be taken back: its hours are a number, or absent.
NEVER_NULL = {
    ("FileChange", "name"),
    ("ImageInput", "url"),  # without a pictureId
    ("OrderChange", "status"),
    ("OrderChange", "paymentStatus"),
    ("ProductChange", "name"),
    ("ProductChange", "slug"),
    ("ProductRow", "name"),
    ("ProductRow", "slug"),
    ("RotateSecret", "overlapHours"),
    ("WebhookChange", "url"),
    ("WebhookChange", "events"),
    ("WebhookChange", "enabled"),
    ("WorkChange", "stage"),
    ("WorkChange", "made"),
    ("WorkChange", "priority"),
}


def shapes(base: type[Input] = Input) -> Iterator[type[Input]]:
    """Every shape of a body, or of a part of one, of all routes."""
    for shape in base.__subclasses__():
        if shape.__module__.startswith("chalicelib."):
            yield shape
        yield from shapes(shape)


def refused(shape: type[Input], sent: dict[str, Any]) -> set[str]:
    """The fields of `sent` that are refused."""
    try:
        shape.model_validate(sent)
    except ValidationError as error:
        return {str(found["loc"][0]) for found in error.errors() if found["loc"]} & sent.keys()
    return set()


def enumerations(annotation: Any) -> Iterator[type[StrEnum]]:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        yield annotation
    for inner in get_args(annotation):
        yield from enumerations(inner)


def test_null_for_a_field_with_a_default_is_accepted_in_every_body() -> None:
    assert app.app.routes  # all slices are imported
    refusing = {
        (shape.__name__, field.alias or name)
        for shape in shapes()
        for name, field in shape.model_fields.items()
        if not field.is_required() and refused(shape, {field.alias or name: None})
    }
    assert refusing == NEVER_NULL


def test_enumerations_are_accepted_in_any_case_in_every_body() -> None:
    assert app.app.routes  # all slices are imported
    found = {
        (shape.__name__, name, enumeration)
        for shape in shapes()
        for name, field in shape.model_fields.items()
        for enumeration in enumerations(field.annotation)
    }
    assert len(found) > 10
    assert [one for one in found if not issubclass(one[2], Choice)] == []


def test_posting_a_product_as_it_was_read_creates_another(shop: Shop) -> None:
    sent = new_product(variants=[{"title": "S", "sku": "A", "stock": 3}, {"title": "M"}])
    first = shop.made(PRODUCTS, sent)
    copied = shop.made(PRODUCTS, {**first, "slug": "a-copy"})
    assert copied["id"] != first["id"]
    ids = {variant["id"] for variant in first["variants"] + copied["variants"]}
    assert len(ids) == 4
    known, kept = ([each | {"id": ""} for each in one["variants"]] for one in (first, copied))
    assert kept == known
    bulk = shop.post(f"{PRODUCTS}/bulk", [{**first, "slug": "another"}]).json
    assert bulk["summary"] == {"created": 1, "failed": 0}


def test_posting_an_order_as_it_was_read_without_its_status_creates_another(shop: Shop) -> None:
    first = placed(shop, tax=1, note="gift", tags=["vip"])
    copied = shop.made(ORDERS, {n: v for n, v in first.items() if n != "status"})
    assert copied["number"] != first["number"]
    same: tuple[str, ...] = ("total", "tax", "note", "tags", "customer", "orderDate")
    assert {n: copied[n] for n in same} == {n: first[n] for n in same}
    refused: Any = shop.post(ORDERS, first).json["errors"]
    assert [(e["field"], e["code"]) for e in refused] == [("status", "unknown_field")]


def test_a_refund_a_count_and_its_line_can_be_sent_as_they_were_read(shop: Shop) -> None:
    sold = variant(shop, 5)
    order = placed(shop, line(sold, 2, price="10"), paymentStatus="PAID")
    back = {"lines": [order.first_line(quantity=1)], "note": "Too small"}
    first = order.refund(**back).json["refunds"][0]
    second = order.refund(**first).json["refunds"][1]
    own = {"id", "createdAt"}
    assert {n: second[n] for n in second.keys() - own} == {n: first[n] for n in first.keys() - own}
    assert all(first[name] != second[name] for name in own)

    count = shop.made(COUNTS, {"name": "Shelf A", "variantIds": [sold]})
    (read,) = shop.read(f"{COUNTS}/{count['id']}/lines")["data"]
    entered = shop.put(f"{COUNTS}/{count['id']}/lines", {"lines": [{**read, "counted": 4}]})
    (now,) = entered.json["lines"]
    assert (now["expected"], now["counted"], now["difference"]) == (5, 4, -1)
    first = shop.made(COUNTS, {"name": "Hats", "filters": {"status": "ACTIVE"}})
    again = shop.made(COUNTS, shop.read(f"{COUNTS}/{first['id']}"))
    assert again["id"] != first["id"]
    assert {**again, **{name: first[name] for name in own}} == first


def test_an_unknown_field_is_refused_by_name_at_any_depth(shop: Shop) -> None:
    sent = new_product(prize=1, variants=[{"title": "S", "stok": 1}], seo={"titel": "x"})
    refused = shop.post(PRODUCTS, sent).json["errors"]
    assert {e["field"] for e in refused} == {"prize", "variants.0.stok", "seo.titel"}
