"""What a sale of stock depends on: whether it crosses the threshold, as it was read."""

from dataclasses import replace

import pytest

from chalicelib.orders.schemas import MOST_LINES
from chalicelib.products import low, store
from chalicelib.products.model import Product
from chalicelib.storage.commit import Commit
from tests.orders.build import (
    before_the_commit,
    keys_written,
    line,
    placed,
    product,
    stock_of,
    variant,
)
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


def sale(read: Product, pieces: int, number: int = 1) -> Commit:
    commit = Commit()
    tracked = list(read.quantities)[:number]
    store.sell_pieces(commit, [(read, dict.fromkeys(tracked, pieces))], order_id="ord_1")
    return commit


@pytest.mark.parametrize(
    ("read", "pieces", "now", "sold"),
    [
        # Above the threshold of 5, and after it too.
        (20, 3, 8, True),
        (20, 3, 7, False),
        (8, 3, 20, True),
        # It crosses the threshold: the event has the stock that is left.
        (7, 3, 7, True),
        (7, 3, 8, False),
        (5, 1, 6, False),
        # Below it already.
        (4, 2, 2, True),
        (4, 2, 4, True),
        (4, 2, 1, False),
        (3, 2, 5, False),
    ],
)
def test_a_sale_that_read_other_stock_is_made_only_on_the_same_side_of_the_threshold(
    shop: Shop, read: int, pieces: int, now: int, sold: bool
) -> None:
    made = product(shop, read, lowStockThreshold=5)
    seen = store.get(made["id"])
    shop.put(f"/api/admin/products/{made['id']}", {"variants": [{"title": "V0", "stock": now}]})
    if sold:
        sale(seen, pieces).send()
    else:
        with pytest.raises(store.StockMoved):
            sale(seen, pieces).send()
    assert stock_of(shop, made["variants"][0]["id"]) == (now - pieces if sold else now)


@pytest.mark.parametrize("number", [40, 41])
def test_a_sale_of_many_variants_depends_on_all_of_them(shop: Shop, number: int) -> None:
    made = product(shop, *[9] * number, lowStockThreshold=5)
    path, seen = f"/api/admin/products/{made['id']}", store.get(made["id"])
    last = {"variantId": made["variants"][-1]["id"], "reason": "COUNTED"}
    shop.post(f"{path}/stock", {"moves": [{**last, "to": 5}]})
    with pytest.raises(store.StockMoved):
        sale(seen, 1, number).send()
    sale(store.get(made["id"]), 1, number).send()
    assert stock_of(shop, made["variants"][0]["id"]) == 8
    shop.put(path, {"lowStockThreshold": 6})
    with pytest.raises(store.StockMoved):
        sale(replace(store.get(made["id"]), fields=seen.fields), 1).send()


def test_a_sale_that_crosses_no_threshold_notes_no_low_stock(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 7, lowStockThreshold=5)
    placed(shop, line(id, 2))
    assert "low-stock" not in dynamodb.partition_sizes("backroom-test")
    placed(shop, line(id))
    assert dynamodb.partition_sizes("backroom-test")["low-stock"] == 1
    (shown,) = low.newest_low_stock(store.load, 9)
    assert (shown["variantId"], shown["stock"], shown["threshold"]) == (id, 4, 5)


def test_a_change_of_stock_does_not_conflict_with_a_sale_of_another_variant(
    shop: Shop, dynamodb: Double
) -> None:
    made = product(shop, 20, 20, 20)
    counted, sold, third = (one["id"] for one in made["variants"])
    other = sale(replace(store.get(made["id"]), quantities={sold: 20}), 1)
    commits = dynamodb.asked("TransactWriteItems")
    dynamodb.meanwhile("TransactWriteItems", other.send)
    stocks = [{"id": counted, "stock": 30}, {"id": sold}, {"id": third}]
    assert shop.put(f"/api/admin/products/{made['id']}", {"variants": stocks}).status == 200
    assert len(commits) == 2  # the sale's, and one
    assert [stock_of(shop, id) for id in (counted, sold, third)] == [30, 19, 20]


def test_a_change_of_a_name_does_not_conflict_with_sales(shop: Shop, dynamodb: Double) -> None:
    id = product(shop, 20)["id"]
    written = keys_written(dynamodb)
    shop.put(f"/api/admin/products/{id}", {"name": "Cape"})
    assert (id, "product") in written and (id, "stock") not in written


def test_the_stock_of_more_variants_than_an_expression_names_is_changed_and_removed(
    shop: Shop,
) -> None:
    made = product(shop, *range(1, 46))
    path = f"/api/admin/products/{made['id']}"
    variants = [{"id": one["id"], "stock": None} for one in made["variants"][:43]]
    kept = [{"id": one["id"], "stock": 99} for one in made["variants"][43:]]
    changed = shop.put(path, {"variants": [*variants, *kept]}).json["variants"]
    assert [one["stock"] for one in changed] == [None] * 43 + [99, 99]
    assert shop.get(path).json["variants"] == changed
    few = [{"id": one["id"], "stock": None} for one in made["variants"][43:]]
    changed = shop.put(path, {"variants": [*variants, *few]}).json["variants"]
    assert {one["stock"] for one in changed} == {None}


def test_an_order_of_200_variants_of_a_product_takes_their_stock_and_returns_it(
    shop: Shop, dynamodb: Double
) -> None:
    made = product(shop, *[9] * MOST_LINES)
    path, first = f"/api/admin/products/{made['id']}", made["variants"][0]["id"]
    order = placed(shop, *(line(one["id"], 2) for one in made["variants"]))
    assert {one["stock"] for one in shop.get(path).json["variants"]} == {7}
    assert set(store.get(made["id"]).moves.values()) == {1}
    kept = [{"id": one["id"]} for one in made["variants"]]
    shop.put(path, {"variants": [*kept[:-1], {**kept[-1], "stock": None}]})
    before_the_commit(dynamodb, lambda: placed(shop, line(first)))
    assert order.moved("CANCELLED").status == 200
    stocks = [one["stock"] for one in shop.get(path).json["variants"]]
    assert stocks == [8, *[9] * (MOST_LINES - 2), None]
    assert shop.put(path, {"variants": kept[:1]}).status == 200
    assert store.get(made["id"]).moves == {first: 2}
