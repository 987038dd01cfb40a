"""POST /api/admin/products/{id}/stock: receipts, counts and corrections."""

import time
from typing import Any

import pytest

from tests.orders.build import at_once, before_the_commit, line, placed
from tests.products.build import new_product
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

Moves = list[dict[str, Any]]


def made(shop: Shop, *stock: int | None, **fields: Any) -> Any:
    variants = [{"title": str(n), "sku": f"V-{n}", "stock": s} for n, s in enumerate(stock)]
    return shop.made("/api/admin/products", new_product(variants=variants, **fields))


def moving(shop: Shop, product: Any, *moves: dict[str, Any], **options: Any) -> Answer:
    path = f"/api/admin/products/{product['id']}/stock"
    return shop.post(path, {"moves": list(moves)}, **options)


def by(product: Any, n: int, place: int = 0, reason: str = "RECEIVED") -> dict[str, Any]:
    return {"variantId": product["variants"][place]["id"], "by": n, "reason": reason}


def to(product: Any, n: int, place: int = 0) -> dict[str, Any]:
    return {"variantId": product["variants"][place]["id"], "to": n, "reason": "COUNTED"}


def stock_of(shop: Shop, product: Any) -> list[int | None]:
    shown = shop.get(f"/api/admin/products/{product['id']}").json
    return [variant["stock"] for variant in shown["variants"]]


def test_stock_changes_by_a_number_or_to_a_count(shop: Shop) -> None:
    product = made(shop, 10, 3, None)
    moves = (by(product, 5), by(product, -2), to(product, 7, 1), to(product, 4, 2))
    answer = moving(shop, product, *moves)
    assert answer.status == 200, answer.text
    assert [variant["stock"] for variant in answer.json["variants"]] == [13, 7, 4]
    assert stock_of(shop, product) == [13, 7, 4]
    event, low = shop.events()[-2:]
    assert (event["event"], low["event"]) == ("product.updated", "inventory.low")
    assert low["data"]["stock"] == 4
    assert event["data"]["stockMoves"] == [
        {"variantId": product["variants"][0]["id"], "by": 5, "stock": 15, "reason": "RECEIVED"},
        {"variantId": product["variants"][0]["id"], "by": -2, "stock": 13, "reason": "RECEIVED"},
        {"variantId": product["variants"][1]["id"], "by": 4, "stock": 7, "reason": "COUNTED"},
        {"variantId": product["variants"][2]["id"], "by": None, "stock": 4, "reason": "COUNTED"},
    ]
    del event["data"]["stockMoves"]
    assert event["data"] == answer.json


def test_a_move_below_zero_is_refused_completely(shop: Shop) -> None:
    product = made(shop, 10, 1)
    answer = moving(shop, product, by(product, 5), by(product, -2, 1))
    assert (answer.status, answer.json["code"]) == (422, "insufficient_stock")
    assert answer.json["lines"] == [
        {"variantId": product["variants"][1]["id"], "requested": 2, "available": 1}
    ]
    assert stock_of(shop, product) == [10, 1]
    assert moving(shop, product, by(product, -1, 1), to(product, 0)).status == 200
    assert stock_of(shop, product) == [0, 0]


def test_a_variant_has_up_to_a_billion_pieces(shop: Shop) -> None:
    product = made(shop, 10)
    assert moving(shop, product, by(product, 10**9 - 10)).status == 200
    assert stock_of(shop, product) == [10**9]
    refused = moving(shop, product, by(product, 1))
    assert refused.refused == ["moves.0.by"]
    assert moving(shop, product, by(product, -(10**9))).status == 200
    assert stock_of(shop, product) == [0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"by": 0}, "moves.0"),
        ({"by": 1, "to": 1}, "moves.0"),
        ({"by": 1.5}, "moves.0.by"),
        ({"by": "5"}, "moves.0.by"),
        ({"by": 10**10}, "moves.0.by"),
        ({"by": 10**9}, "moves.0.by"),
        ({"by": None, "to": -1}, "moves.0.to"),
        ({"by": 1, "reason": "broken glass"}, "moves.0.reason"),
        ({"by": 1, "reason": None}, "moves.0.reason"),
        ({"by": 1, "variantId": "var_1"}, "moves.0.variantId"),
        ({"by": 1, "sku": "V-0"}, "moves.0.sku"),
    ],
)
def test_a_bad_move_is_refused_by_field(shop: Shop, change: dict[str, Any], field: str) -> None:
    product = made(shop, 10)
    sent = {name: v for name, v in (by(product, 1) | change).items() if v is not None}
    answer = moving(shop, product, sent)
    assert (answer.status, answer.json["code"]) == (422, "validation_failed"), answer.text
    assert answer.refused == [field]
    assert stock_of(shop, product) == [10]


def test_an_untracked_variant_needs_a_count(shop: Shop) -> None:
    product = made(shop, None)
    answer = moving(shop, product, by(product, 1))
    assert [(e["field"], e["code"]) for e in answer.json["errors"]] == [
        ("moves.0.by", "not_tracked")
    ]


def test_a_count_without_a_difference_announces_nothing(shop: Shop) -> None:
    product = made(shop, 10)
    before = len(shop.events())
    assert moving(shop, product, to(product, 10)).status == 200
    assert len(shop.events()) == before


def test_moves_that_add_up_to_zero_say_the_stock_after_a_concurrent_sale(
    shop: Shop, dynamodb: Double
) -> None:
    product = made(shop, 10)
    moving(shop, product, by(product, 1))
    before_the_commit(dynamodb, lambda: placed(shop, line(product["variants"][0]["id"], 2)))
    answer = moving(shop, product, by(product, 5), by(product, -5))
    assert [variant["stock"] for variant in answer.json["variants"]] == [9]
    (event,) = [one for one in shop.events() if len(one["data"].get("stockMoves", ())) == 2]
    assert [one["stock"] for one in event["data"]["stockMoves"]] == [14, 9]


@pytest.mark.parametrize(
    "id", ["prod_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nothing", "ord_1", "prod_" * 500]
)
def test_a_missing_product_is_not_found(shop: Shop, id: str) -> None:
    sent = {"moves": [{"variantId": "var_1", "by": 1, "reason": "RECEIVED"}]}
    assert shop.post(f"/api/admin/products/{id}/stock", sent).status == 404


def test_a_repeated_move_is_made_once(shop: Shop) -> None:
    product, key = made(shop, 10), {"Idempotency-Key": "delivery-7"}
    first = moving(shop, product, by(product, 5), headers=key)
    again = moving(shop, product, by(product, 5), headers=key)
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert stock_of(shop, product) == [15]
    other = made(shop, 1)
    assert moving(shop, other, by(product, 5), headers=key).json["code"] == "idempotency_key_reused"


def test_a_repeat_that_reads_the_reduced_stock_gets_the_first_answer(
    shop: Shop, dynamodb: Double
) -> None:
    """It misses the key and yet sees the reduced stock."""
    product, key = made(shop, 5), {"Idempotency-Key": "broken-7"}
    first = moving(shop, product, by(product, -5), headers=key)
    hidden = dynamodb.hides("idem#")
    again = moving(shop, product, by(product, -5), headers=key)
    assert (again.status, again.text, len(hidden)) == (200, first.text, 1)


def test_concurrent_sales_and_corrections_end_in_the_sum(shop: Shop, dynamodb: Double) -> None:
    dynamodb.pause = lambda: time.sleep(0.001)
    product = made(shop, 100)
    line = {"variantId": product["variants"][0]["id"], "quantity": 2, "price": 1}

    def one(n: int) -> Answer:
        if n % 2:
            return moving(shop, product, by(product, 3 if n % 4 == 1 else -1))
        return shop.post("/api/admin/orders", {"lineItems": [line]})

    answers = at_once(40, one)
    assert {answer.status for answer in answers} == {200, 201}
    assert stock_of(shop, product) == [100 - 20 * 2 + 10 * 3 - 10]


def test_a_variant_removed_meanwhile_gets_no_stock(shop: Shop, dynamodb: Double) -> None:
    product = made(shop, None, None)
    first = {"id": product["variants"][0]["id"]}
    path = f"/api/admin/products/{product['id']}"
    before_the_commit(dynamodb, lambda: shop.put(path, {"variants": [first]}))
    assert moving(shop, product, to(product, 4, 1)).status == 422
    assert stock_of(shop, product) == [None]


def test_a_move_of_many_variants_fits_the_expression_limit(shop: Shop, dynamodb: Double) -> None:
    product = made(shop, *range(100))
    commits = dynamodb.asked("TransactWriteItems")
    answer = moving(shop, product, *(by(product, 1, n) for n in range(100)))
    assert answer.status == 200
    emptied = [{"id": v["id"], "stock": None} for v in product["variants"]]
    shop.put(f"/api/admin/products/{product['id']}", {"variants": emptied})
    assert stock_of(shop, product) == [None] * 100
    writes = [write for one in commits for item in one["TransactItems"] for write in item.values()]
    sent = [one[name] for one in writes for name in one if name.endswith("Expression")]
    assert max(map(len, sent)) <= 4_096  # AWS
