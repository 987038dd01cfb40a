"""Up to 500 products in one request."""

import pytest

from chalicelib import deadline
from tests.products.build import new_product
from tests.support.faults import Faults
from tests.support.shop import Shop

BULK = "/api/admin/products/bulk"


def test_each_row_succeeds_or_fails_independently(shop: Shop) -> None:
    shop.post("/api/admin/products", new_product(slug="taken"))
    rows = [
        {"name": "Hat", "price": 1},
        {"name": "Hat", "price": 2},
        {"name": "", "price": 1},
        new_product(slug="taken"),
        new_product(slug="mine"),
        new_product(slug="mine"),
        "no product",
        {"name": "Cap"},
    ]
    answer = shop.post(BULK, rows)
    assert answer.status == 200
    data = answer.json["data"]
    assert [row["index"] for row in data] == list(range(8))
    assert [row["status"] == "created" for row in data] == [
        *(True, True, False, False, True, False, False, False),
    ]
    assert [row["product"]["slug"] for row in data if "product" in row] == ["hat", "hat-2", "mine"]
    codes = [row["error"]["code"] for row in data if "error" in row]
    assert codes == [
        *("validation_failed", "slug_taken", "slug_taken", "validation_failed", "validation_failed")
    ]
    assert answer.json["summary"] == {"created": 3, "failed": 5}
    assert shop.get("/api/admin/products").json["total"] == 4
    assert [e["event"] for e in shop.events()] == ["product.created"] * 4


def test_more_than_500_are_refused_before_anything_is_written(shop: Shop) -> None:
    answer = shop.post(BULK, {"products": [new_product() for _ in range(501)]})
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "products")
    assert shop.get("/api/admin/products").json["total"] == 0


def test_a_conflict_is_retried(shop: Shop, faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.owner
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 60.0)  # moto needs seconds for so many items
    faults.conflict("TransactWriteItems", times=2)
    answer = shop.post(BULK, [new_product() for _ in range(12)])
    assert answer.json["summary"] == {"created": 12, "failed": 0}
    assert shop.get("/api/admin/products").json["total"] == 12


def test_a_row_whose_answer_was_lost_is_written_once(shop: Shop, faults: Faults) -> None:
    assert shop.owner
    faults.timeout("TransactWriteItems", after=True)
    answer = shop.post(BULK, [new_product()])
    assert answer.json["summary"] == {"created": 1, "failed": 0}
    assert shop.get("/api/admin/products").json["total"] == 1
    assert len(shop.events()) == 1
