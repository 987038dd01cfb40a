"""What holds of each kind of record: versions, absence, repeated creations, concurrent changes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.customers.build import CUSTOMERS, new_customer
from tests.orders.build import ORDERS, line, new_order, variant
from tests.products.build import PRODUCTS, new_product
from tests.support.shop import Shop
from tests.support.webhook_world import World
from tests.webhooks.build import PATH, URL


class Kind(NamedTuple):
    path: str
    verb: str  # of a change
    one: dict[str, Any]
    other: dict[str, Any]
    new: Callable[[Shop], dict[str, Any]]


KINDS = {
    "product": Kind(PRODUCTS, "PUT", {"vendor": "A"}, {"type": "B"}, lambda _: new_product()),
    "order": Kind(
        *(ORDERS, "PATCH", {"note": "a"}, {"tags": ["b"]}),
        lambda shop: new_order(line(variant(shop))),
    ),
    "customer": Kind(CUSTOMERS, "PATCH", {"note": "a"}, {"phone": "1"}, lambda _: new_customer()),
    "webhook": Kind(
        *(PATH, "PUT", {"description": "a"}, {"email": "b@example.com"}),
        lambda _: {"url": URL, "events": ["order.paid"]},
    ),
}
of_each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@of_each_kind
def test_a_stale_if_match_is_refused(world: World, kind: Kind) -> None:
    shop = world.shop
    made = shop.post(kind.path, kind.new(shop))
    path, seen = f"{kind.path}/{made.json['id']}", {"If-Match": made.headers["ETag"]}
    assert shop.get(path, headers={"If-None-Match": made.headers["ETag"]}).status == 304
    changed = shop.call(kind.verb, path, kind.one, headers=seen)
    assert changed.status == 200 and changed.headers["ETag"] != made.headers["ETag"]
    stale = [shop.call(kind.verb, path, kind.other, headers=seen), shop.delete(path, headers=seen)]
    for refused in stale:
        assert (refused.status, refused.json["code"]) == (412, "precondition_failed")
    assert shop.delete(path, headers={"If-Match": changed.headers["ETag"]}).status == 200
    assert shop.get(path).status == 404


@of_each_kind
def test_two_concurrent_changes_are_both_kept(world: World, kind: Kind) -> None:
    shop = world.shop
    path = f"{kind.path}/{shop.made(kind.path, kind.new(shop))['id']}"
    world.meanwhile("TransactWriteItems", lambda: shop.call(kind.verb, path, kind.one))
    assert shop.call(kind.verb, path, kind.other).status == 200
    now = shop.read(path)
    assert {name: now[name] for name in kind.one | kind.other} == kind.one | kind.other


@of_each_kind
def test_a_repeated_creation_makes_one_record(world: World, kind: Kind) -> None:
    shop, key = world.shop, {"Idempotency-Key": "once"}
    sent = kind.new(shop)
    first, again = (shop.post(kind.path, sent, headers=key) for _ in range(2))
    assert first.status == 201 and "Idempotent-Replayed" not in first.headers
    assert (again.status, again.text) == (201, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    other = shop.post(kind.path, {**sent, **kind.one}, headers=key)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert shop.get(kind.path).json["total"] == 1


@of_each_kind
@pytest.mark.parametrize("id", ["prod_1", "cus_none", "%2E%2E", "x" * 500, "ord_" * 600])
def test_what_is_not_there_is_not_found(world: World, kind: Kind, id: str) -> None:
    shop, path = world.shop, f"{kind.path}/{id}"
    for answer in (shop.get(path), shop.call(kind.verb, path, kind.one), shop.delete(path)):
        assert (answer.status, answer.json["code"]) == (404, "not_found")
