"""The status of up to 500 products in one request."""

from typing import Any

import pytest

from chalicelib import deadline
from tests.orders.build import line, placed, variant
from tests.products.build import PRODUCTS, stored
from tests.support.dynamodb_double import Double, Fault
from tests.support.shop import Shop

BULK = f"{PRODUCTS}/bulk-status"


def test_each_product_succeeds_or_fails_independently(shop: Shop) -> None:
    first, active, last = (stored(shop, status=one)["id"] for one in ("DRAFT", "ACTIVE", "DRAFT"))
    ids = [first, "prod_nothing", active, last]
    answer = shop.post(BULK, {"ids": [*ids, ids[0]], "status": "ACTIVE"})
    assert answer.status == 200
    data = answer.json["data"]
    assert [(row["index"], row["id"]) for row in data] == [*enumerate([*ids, ids[0]])]
    assert [row["status"] for row in data] == ["updated", "error", *["updated"] * 3]
    assert answer.json["data"][1]["error"]["code"] == "not_found"
    assert answer.json["summary"] == {"updated": 4, "failed": 1}
    assert shop.get("/api/products").json["total"] == 3
    assert [event["event"] for event in shop.events()].count("product.updated") == 2


def test_a_product_changed_concurrently_keeps_both_changes(shop: Shop, dynamodb: Double) -> None:
    ids = [stored(shop)["id"], stored(shop)["id"]]
    path = f"{PRODUCTS}/{ids[0]}"
    dynamodb.meanwhile("TransactWriteItems", lambda: shop.put(path, {"vendor": "Acme"}))
    answer = shop.post(BULK, {"ids": ids, "status": "ARCHIVED"})
    assert answer.json["summary"] == {"updated": 2, "failed": 0}
    product = shop.get(path).json
    assert (product["vendor"], product["status"]) == ("Acme", "ARCHIVED")
    dynamodb.meanwhile("TransactWriteItems", lambda: shop.delete(path))
    (gone, kept) = shop.post(BULK, {"ids": ids, "status": "DRAFT"}).json["data"]
    assert (gone["error"]["code"], kept["status"]) == ("not_found", "updated")


def test_a_sale_does_not_conflict_with_a_status(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 9)
    commits = dynamodb.asked("TransactWriteItems")
    dynamodb.meanwhile("TransactWriteItems", lambda: placed(shop, line(id)))
    shop.post(BULK, {"ids": [f"prod_{id[4:30]}"], "status": "ARCHIVED"})
    assert len(commits) == 2  # the sale's, and one


def test_products_that_could_not_be_written_are_answered_as_busy(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [stored(shop)["id"], "prod_nothing", stored(shop, status="ACTIVE")["id"]]
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.05)
    dynamodb.faults = lambda operation, _: (
        Fault.CONFLICT if operation == "TransactWriteItems" else None
    )
    answer = shop.post(BULK, {"ids": ids, "status": "ACTIVE"})
    errors = [row.get("error", {}).get("code") for row in answer.json["data"]]
    assert (answer.status, errors) == (200, ["busy", "not_found", None])


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"ids": [], "status": "ACTIVE"}, "ids"),
        ({"ids": ["prod_1"] * 501, "status": "ACTIVE"}, "ids"),
        ({"ids": ["prod_1"], "status": "LIVE"}, "status"),
        ({"ids": ["prod_1"]}, "status"),
        ({"ids": [5], "status": "ACTIVE"}, "ids.0"),
    ],
)
def test_bad_input_is_refused_by_field(shop: Shop, sent: Any, field: str) -> None:
    assert shop.post(BULK, sent).refused == [field]
