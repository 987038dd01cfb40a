"""The client's iteration over lists, against the application in this process."""

import runpy
import sqlite3

import pytest

from chalicelib.request import size
from tests.client.inside import client
from tests.support.shop import Shop

PRODUCTS = 3_000


@pytest.mark.thorough
def test_thousands_of_products_are_iterated_by_cursor(shop: Shop) -> None:
    backroom, inside = client(shop)
    ids: list[str] = []
    for start in range(0, PRODUCTS, 500):
        new = [{"name": f"Mug {start + n}", "price": "9.50"} for n in range(500)]
        made = backroom.create_products(new)  # type: ignore[arg-type]
        ids += [row["id"] for row in made["data"]]
    assert len(set(ids)) == PRODUCTS
    del inside.requests[:]
    walk = backroom.iter_products(fields=["id"])
    found = [next(walk)["id"]]
    assert len(inside.requests) == 1, "a page is asked for when it is needed"
    found += [product["id"] for product in walk]
    assert sorted(found) == sorted(ids), "each exactly once"
    assert len(inside.requests) == PRODUCTS // 100
    assert all(b"page=" not in request.url.query for request in inside.requests)


def test_a_list_that_exceeds_an_answer_is_iterated(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    backroom, inside = client(shop)
    for number in range(5):
        backroom.create_product({"name": f"Mug {number}", "price": 1, "description": "x" * 8_000})
    monkeypatch.setattr(size, "LARGEST_ANSWER", 30_000)
    del inside.requests[:]
    assert len({product["id"] for product in backroom.iter_products()}) == 5
    assert len(inside.requests) > 1


def test_lists_without_a_cursor_are_iterated_by_page(shop: Shop) -> None:
    backroom, inside = client(shop)
    made = {backroom.create_api_key({"name": f"Till {n}", "role": "STAFF"})["id"] for n in range(5)}
    del inside.requests[:]
    assert made <= {key["id"] for key in backroom.iter_api_keys(limit=2)}
    assert len(inside.requests) == 3


def test_an_empty_list_is_iterated(shop: Shop) -> None:
    backroom, _ = client(shop)
    assert list(backroom.iter_orders(status="SHIPPED")) == []
    assert list(backroom.iter_deliveries()) == []
    assert list(backroom.iter_webhooks()) == []


def test_the_example_of_a_copy_of_all_orders_takes_edits_from_updates_and_deletions_last() -> None:
    apply = runpy.run_path("clients/python/examples/erp/sync.py")["apply"]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders (id PRIMARY KEY, updated, whole)")
    apply(database, {"event": "order.edited", "data": {"id": "edit_1", "orderId": "ord_1"}})
    apply(database, {"event": "order.closed", "data": {"orderId": "ord_1"}})
    apply(database, {"event": "order.updated", "data": {"id": "ord_1", "updatedAt": "T1"}})
    assert database.execute("SELECT id, updated FROM orders").fetchall() == [("ord_1", "T1")]
    order = {"id": "ord_1", "updatedAt": "T2"}
    for event in ("order.deleted", "order.updated"):  # in reverse order
        apply(database, {"event": event, "data": order})
    assert database.execute("SELECT whole FROM orders").fetchall() == [(None,)]
