"""A change that is sent twice with one `Idempotency-Key` takes effect once."""

from typing import Any

import pytest

from tests.products.build import PRODUCTS, new_product, path_of
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Shop

ORDERS = "/api/admin/orders"
ONCE = {"Idempotency-Key": "nightly-1"}
AGAIN = {"Idempotent-Replayed": "true"}


def test_a_repeated_put_undoes_no_later_change(shop: Shop) -> None:
    path = path_of(shop.made(PRODUCTS, new_product(price="5")))
    first = shop.put(path, {"price": "6"}, headers=ONCE)
    assert shop.put(path, {"price": "7"}).status == 200
    again = shop.put(path, {"price": "6"}, headers=ONCE)
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["ETag"] == first.headers["ETag"]
    assert AGAIN.items() <= again.headers.items() and not AGAIN.items() <= first.headers.items()
    assert shop.read(path)["price"] == "7.00"
    other = shop.put(path, {"price": "8"}, headers=ONCE)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_a_put_that_changed_nothing_is_not_done_later(shop: Shop) -> None:
    path = path_of(shop.made(PRODUCTS, new_product(price="5")))
    first = shop.put(path, {"price": "5"}, headers=ONCE)
    assert shop.put(path, {"price": "7"}).status == 200
    assert shop.put(path, {"price": "5"}, headers=ONCE).text == first.text
    assert shop.read(path)["price"] == "7.00"


def test_a_repeated_put_with_if_match_gets_its_answer_not_412(shop: Shop) -> None:
    path = path_of(shop.made(PRODUCTS, new_product(price="5")))
    headers = {**ONCE, "If-Match": shop.get(path).headers["ETag"]}
    first = shop.put(path, {"price": "6"}, headers=headers)
    again = shop.put(path, {"price": "6"}, headers=headers)
    assert (first.status, again.status, again.text) == (200, 200, first.text)


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_put_that_crashed_is_done_once(dynamodb: Double, shop: Shop, fault: Fault) -> None:
    path = path_of(shop.made(PRODUCTS, new_product(price="5")))
    is_write = "TransactWriteItems"
    dynamodb.faults = lambda operation, request: fault if operation == is_write else None
    with pytest.raises(Crash):
        shop.put(path, {"price": "6"}, headers=ONCE)
    dynamodb.faults = lambda operation, request: None
    assert shop.put(path, {"price": "6"}, headers=ONCE).json["price"] == "6.00"
    assert shop.put(path, {"price": "6"}, headers=ONCE).headers.items() >= AGAIN.items()


def test_a_repeated_patch_of_an_order_moves_it_once(shop: Shop) -> None:
    product = shop.made(PRODUCTS, new_product(price="5"))
    line: dict[str, Any] = {"variantId": product["variants"][0]["id"], "quantity": 1}
    path = f"{ORDERS}/{shop.made(ORDERS, {'lineItems': [line]})['id']}"
    first = shop.patch(path, {"status": "PAID"}, headers=ONCE)
    assert shop.patch(path, {"status": "PROCESSING"}).status == 200
    again = shop.patch(path, {"status": "PAID"}, headers=ONCE)
    assert (again.status, again.text) == (200, first.text)
    assert shop.read(path)["status"] == "PROCESSING"
    other = shop.patch(path, {"note": "x"}, headers=ONCE)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_a_repeated_bulk_status_undoes_no_later_change(shop: Shop) -> None:
    ids = [shop.made(PRODUCTS, new_product(name=f"Mug {n}"))["id"] for n in range(3)]
    asked = {"ids": [*ids, "prod_none"], "status": "ACTIVE"}
    first = shop.post(f"{PRODUCTS}/bulk-status", asked, headers=ONCE)
    assert shop.put(f"{PRODUCTS}/{ids[0]}", {"status": "ARCHIVED"}).status == 200
    again = shop.post(f"{PRODUCTS}/bulk-status", asked, headers=ONCE)
    assert (again.status, again.text) == (200, first.text)
    assert shop.read(f"{PRODUCTS}/{ids[0]}")["status"] == "ARCHIVED"


@pytest.mark.parametrize("then", ["moved", "deleted"])
def test_a_change_by_external_id_is_repeated_though_nobody_has_the_id_now(
    shop: Shop, then: str
) -> None:
    line = {"title": "Work", "price": 1, "quantity": 1}
    order = shop.made(ORDERS, {"lineItems": [line], "externalId": "O-1"})
    mug = shop.made(PRODUCTS, new_product(externalId="P-1"))
    sent = {"externalId": "NEW"} if then == "moved" else {"metadata": {"a": 1}}
    first = [
        shop.patch(f"{ORDERS}/externalId:O-1", sent, headers=ONCE),
        shop.put(f"{PRODUCTS}/externalId:P-1", sent, headers={"Idempotency-Key": "other"}),
    ]
    if then == "deleted":
        shop.delete(f"{ORDERS}/{order['id']}")
        shop.delete(path_of(mug))
    again = [
        shop.patch(f"{ORDERS}/externalId:O-1", sent, headers=ONCE),
        shop.put(f"{PRODUCTS}/externalId:P-1", sent, headers={"Idempotency-Key": "other"}),
    ]
    assert [(one.status, one.text) for one in again] == [(200, one.text) for one in first]
    missing = shop.patch(f"{ORDERS}/externalId:O-1", sent)
    assert (missing.status, missing.json["code"]) == (404, "not_found")
