"""`fields=`: other fields are neither returned nor read."""

from typing import Any

import pytest

from tests.customers.build import CUSTOMERS, customer
from tests.orders.build import ORDERS, line, placed
from tests.products.build import PRODUCTS, stored
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


def product(shop: Shop) -> Any:
    variants = [{"title": "S", "price": 3, "stock": 4}]
    return stored(shop, name="Hat", variants=variants, metadata={"a": 1})


def order(shop: Shop) -> Any:
    return placed(shop, note="quickly")


@pytest.mark.parametrize(
    ("path", "make"), [(PRODUCTS, product), (ORDERS, order), (CUSTOMERS, customer)]
)
def test_each_field_alone_has_the_value_of_the_whole_record(
    shop: Shop, path: str, make: Any
) -> None:
    made = make(shop)
    whole = shop.get(f"{path}/{made['id']}").json
    for name in whole:
        got = shop.get(f"{path}/{made['id']}?fields={name}")
        assert got.json == {name: whole[name]}
        assert "ETag" not in got.headers
        listed = shop.get(f"{path}?fields={name}&limit=1").json["data"]
        newest = shop.get(f"{path}?limit=1").json["data"][0]
        assert listed == [{name: newest[name]}]
    some = shop.get(f"{path}/{made['id']}?fields=createdAt,id").json
    assert some == {"id": whole["id"], "createdAt": whole["createdAt"]}


@pytest.mark.parametrize("path", [PRODUCTS, ORDERS])
def test_an_unknown_field_is_refused_by_name(shop: Shop, path: str) -> None:
    make = product if path == PRODUCTS else order
    id = make(shop)["id"]
    for address in (path, f"{path}/{id}"):
        for wrong in ("id,nonsense", "index", "version", "variants.price"):
            refused = shop.get(f"{address}?fields={wrong}")
            assert refused.status == 422
            (error,) = refused.json["errors"]
            assert (error["field"], error["code"]) == ("fields", "not_allowed")
            assert wrong.split(",")[-1] in error["message"]


def test_a_reader_sees_no_cost_of_a_line(shop: Shop) -> None:
    sold = stored(shop, variants=[{"title": "S", "cost": "4.50"}])["variants"][0]["id"]
    order = placed(shop, line(sold))
    assert order["lineItems"][0]["cost"] == "4.50"
    for role, cost in (("STAFF", "4.50"), ("READER", None)):
        shown = shop.get(f"{ORDERS}/{order['id']}", key=shop.as_(role)).json
        listed = shop.get(ORDERS, key=shop.as_(role)).json["data"][0]
        assert shown["lineItems"][0]["cost"] == listed["lineItems"][0]["cost"] == cost
    events = [one["data"]["lineItems"] for one in shop.events() if "lineItems" in one["data"]]
    assert [one["cost"] for (one,) in events] == [None]


def reads(asked: list[Any]) -> list[Any]:
    """The reads of several items."""
    return [read for one in asked for read in one["RequestItems"].values()]


def test_omitted_fields_are_not_read(shop: Shop, dynamodb: Double) -> None:
    product(shop)
    asked = dynamodb.asked("BatchGetItem")
    shop.get(f"{PRODUCTS}?fields=id,name,status,createdAt")
    (light,) = reads(asked)
    assert [key["sk"]["S"] for key in light["Keys"]] == ["product"]
    assert not {"variants", "quantities", "description"} & {
        *light["ExpressionAttributeNames"].values()
    }
    asked.clear()
    shop.get(f"{PRODUCTS}?fields=variants")
    (with_stock,) = reads(asked)
    assert [key["sk"]["S"] for key in with_stock["Keys"]] == ["product", "stock"]


@pytest.mark.parametrize(("path", "make"), [(ORDERS, order), (CUSTOMERS, customer)])
def test_only_the_requested_fields_of_orders_and_customers_are_read(
    shop: Shop, dynamodb: Double, path: str, make: Any
) -> None:
    id = make(shop)["id"]
    asked = dynamodb.asked("BatchGetItem")
    shop.get(f"{path}?fields=id,createdAt")
    shop.get(f"{path}/{id}?fields=id,createdAt")
    assert len(reads(asked)) == 2
    for one in reads(asked):
        read = {*one["ExpressionAttributeNames"].values()}
        assert read - {"into"} == {"pk", "sk", "id", "version", "createdAt"}


def test_the_storefront_reads_and_returns_only_the_requested_fields(
    shop: Shop, dynamodb: Double
) -> None:
    made = product(shop)
    live = {"status": "ACTIVE", "slug": "hat"}
    assert shop.put(f"{PRODUCTS}/{made['id']}", live).status == 200
    whole = shop.get("/api/products/hat").json
    for name in whole:
        for address in ("hat", made["id"]):
            assert shop.get(f"/api/products/{address}?fields={name}").json == {name: whole[name]}
        listed = shop.get(f"/api/products?fields={name}").json["data"]
        assert listed == [{name: whole[name]}]
    for address in ("/api/products", "/api/products/hat"):
        for private in ("stock", "status", "metadata", "nonsense"):
            refused = shop.get(f"{address}?fields=id,{private}")
            assert refused.refused == ["fields"]
    etags = {shop.get(f"/api/products/hat?fields={name}").headers["ETag"] for name in whole}
    assert len(etags) == len(whole), "each answer has its own"
    asked = dynamodb.asked("BatchGetItem")
    shop.get("/api/products?fields=id,name,price")
    keys = [key["sk"]["S"] for one in reads(asked) for key in one["Keys"]]
    assert keys == ["product"], "and no stock"
    assert shop.put(f"{PRODUCTS}/{made['id']}", {"published": False}).status == 200
    assert shop.get("/api/products/hat?fields=name").status == 404
