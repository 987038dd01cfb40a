"""Concurrent writes and deletions: nothing is restored twice, lost, or recreated."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.customers import store as customers
from chalicelib.orders import store as orders
from chalicelib.storage import table
from chalicelib.values.forgetting import Person
from tests.orders.build import (
    ORDERS,
    before_the_commit,
    line,
    new_order,
    placed,
    product,
    product_path,
    stock_of,
    variant,
)
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

PRODUCTS = "/api/admin/products"


@pytest.mark.parametrize(
    ("first", "then", "status"),
    [("cancel", "delete", 200), ("delete", "cancel", 404), ("delete", "delete", 404)],
)
def test_an_order_that_ends_in_two_ways_at_once_restores_stock_once(
    shop: Shop, dynamodb: Double, first: str, then: str, status: int
) -> None:
    id = variant(shop, 10)
    order = placed(shop, line(id, 3))
    ways: dict[str, Callable[[], Answer]] = {
        "cancel": lambda: order.moved("CANCELLED"),
        "delete": order.delete,
    }
    before_the_commit(dynamodb, ways[first])
    assert ways[then]().status == status
    assert stock_of(shop, id) == 10
    assert order.kinds().count("order.cancelled") == (first == "cancel")
    assert shop.get(ORDERS).json["total"] == 0


def test_a_job_changes_only_orders_that_still_belong_to_its_customer(
    shop: Shop, dynamodb: Double
) -> None:
    order, other, nobody = placed(shop), placed(shop), placed(shop, customer=None)
    source, id = order["customer"]["id"], order["id"]
    into = customers.get(other["customer"]["id"])
    for one in (other, nobody):
        assert not orders.move_to_customer(one["id"], source, into, "me")
        assert one.fetch().json == one
    assert not orders.move_to_customer("ord_nothing", source, into, "me")
    assert not orders.forget("ord_nothing", Person(frozenset({source})))
    # Two workers do the same step: one of them changes the order.
    before_the_commit(dynamodb, lambda: orders.move_to_customer(id, source, into, "me"))
    assert not orders.move_to_customer(id, source, into, "me")
    moved_order = shop.get(f"{ORDERS}/{id}").json
    assert moved_order["customer"]["id"] == into.id
    assert moved_order["history"][-1]["change"] == f"customer {source} → {into.id}"
    assert moved_order["history"][-1]["by"] == "me"
    assert len(moved_order["history"]) == 2
    assert shop.get(f"{ORDERS}/{id}").headers["ETag"] == '"2"'
    assert orders.forget(id, Person(frozenset({into.id}), frozenset({"Lovelace"})))
    assert not orders.forget(id, Person(frozenset({into.id}), frozenset({"Lovelace"})))
    forgotten = shop.get(f"{ORDERS}/{id}")
    assert (forgotten.json["customer"]["lastName"], forgotten.headers["ETag"]) == (None, '"3"')
    assert forgotten.json["updatedAt"] > moved_order["updatedAt"]


def test_a_product_edited_during_its_deletion_is_in_no_list(shop: Shop, dynamodb: Double) -> None:
    made = product(shop, 5, status="ACTIVE", type="Mugs")
    path = f"{PRODUCTS}/{made['id']}"
    change = {"slug": "renamed", "type": "Cups", "name": "Cup"}
    before_the_commit(dynamodb, lambda: shop.put(path, change))
    assert shop.delete(path).status == 200
    for query in ("", "?type=Mugs", "?type=Cups", "?search=cup", "?status=ACTIVE"):
        assert shop.get(f"{PRODUCTS}{query}").json["total"] == 0
    again = shop.post(PRODUCTS, {"name": "Cup", "price": 1, "slug": "renamed"})
    assert again.status == 201, "its slug is free again"


@pytest.mark.parametrize(("what", "name", "stock"), [("edit", "Cup", 9), ("sale", "Mug", 7)])
def test_a_write_during_a_deletion_with_if_match_keeps_the_product(
    shop: Shop, dynamodb: Double, what: str, name: str, stock: int
) -> None:
    id = variant(shop, 9, name="Mug")
    path = product_path(id)
    writes: dict[str, Callable[[], Answer]] = {
        "edit": lambda: shop.put(path, {"name": "Cup"}),
        "sale": lambda: shop.post(ORDERS, new_order(line(id, 2))),
    }
    etag = shop.get(path).headers["ETag"]
    before_the_commit(dynamodb, writes[what])
    refused = shop.delete(path, headers={"If-Match": etag})
    assert (refused.status, refused.json["code"]) == (412, "precondition_failed")
    assert (shop.read(path)["name"], stock_of(shop, id)) == (name, stock)


def test_a_product_deleted_during_a_sale_is_not_sold(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 9)
    before_the_commit(dynamodb, lambda: shop.delete(product_path(id)))
    refused = shop.post(ORDERS, new_order(line(id, 2)))
    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "unknown_variant")
    assert shop.get(ORDERS).json["total"] == 0
    assert [item for item in shop.stored() if item["sk"] == "stock"] == []


def test_a_product_deleted_during_an_edit_is_not_recreated(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 9)
    path = product_path(id)
    before_the_commit(dynamodb, lambda: shop.delete(path))
    assert shop.put(path, {"name": "Cup", "variants": [{"title": "V0", "stock": 1}]}).status == 404
    assert [item["sk"] for item in shop.stored() if item["pk"] == f"prod_{id[4:30]}"] == []


def test_an_edit_of_a_product_that_keeps_changing_ends_as_a_conflict(
    shop: Shop, dynamodb: Double
) -> None:
    id = product(shop)["id"]
    commits = 0

    def change(operation: str, request: Any) -> None:
        nonlocal commits
        if operation == "TransactWriteItems":
            commits += 1
            table.update((id, "product"), add={"version": 1})

    dynamodb.faults = change
    refused = shop.put(f"{PRODUCTS}/{id}", {"name": "Cup"})
    assert (refused.status, refused.json["code"], commits) == (409, "version_conflict", 8)


def test_concurrent_orders_have_different_numbers(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 10)
    others: list[str] = []
    before_the_commit(dynamodb, lambda: others.append(placed(shop, line(id))["number"]))
    first = placed(shop, line(id))["number"]
    before_the_commit(dynamodb, lambda: others.append(placed(shop, line(id))["number"]))
    second = placed(shop, line(id))["number"]
    assert len({first, second, *others}) == 4


def test_a_stock_set_during_a_sale_is_applied_after_the_sale(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 10)
    path = product_path(id)
    before_the_commit(dynamodb, lambda: placed(shop, line(id, 3)))
    assert shop.put(path, {"variants": [{"id": id, "stock": 20}]}).status == 200
    assert stock_of(shop, id) == 20
