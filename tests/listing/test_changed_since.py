"""Lists of orders, customers and products by their last change, and since a time."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib import listing
from chalicelib.customers import model as customers
from chalicelib.nightly import check
from chalicelib.orders import lifecycle
from chalicelib.storage import table
from chalicelib.values import clock
from tests.customers.build import CUSTOMERS
from tests.orders.build import ORDERS, line, placed, variant
from tests.products.build import PRODUCTS, new_product
from tests.support.reindexing import reindex
from tests.support.shop import Shop


def order(shop: Shop, number: int) -> Any:
    return placed(shop, line(variant(shop)), customer=None, tags=["odd"] * (number % 2))


def customer(shop: Shop, number: int) -> Any:
    return shop.made(CUSTOMERS, {"email": f"a{number}@example.com", "tags": ["odd"] * (number % 2)})


def product(shop: Shop, number: int) -> Any:
    return shop.made(PRODUCTS, new_product(name=f"P {number}", tags=["odd"] * (number % 2)))


_numbers = count()


def note(shop: Shop, path: str) -> Any:
    return shop.patch(path, {"note": f"changed {next(_numbers)}"})


def describe(shop: Shop, path: str) -> Any:
    return shop.put(path, {"description": f"changed {next(_numbers)}"})


CHANGES: dict[str, tuple[Callable[[Shop, int], Any], Callable[[Shop, str], Any]]] = {
    ORDERS: (order, note),
    CUSTOMERS: (customer, note),
    PRODUCTS: (product, describe),
}


@pytest.fixture(params=sorted(CHANGES))
def lists(request: pytest.FixtureRequest, shop: Shop) -> Any:
    """Five records of a kind; the second, the fourth and then the first have changed since."""
    path = request.param
    make, change = CHANGES[path]
    made = [make(shop, number)["id"] for number in range(5)]
    before = shop.read(f"{path}?sort=-updatedAt")["data"][0]["updatedAt"]
    for place in (1, 3, 0):
        assert change(shop, f"{path}/{made[place]}").status == 200
    return path, made, before, lambda id: change(shop, f"{path}/{id}")


def ids(shop: Shop, path: str) -> list[str]:
    answer = shop.read(path)
    assert answer["total"] == len(answer["data"]), answer["total"]
    return [one["id"] for one in answer["data"]]


def test_what_changed_since_a_time_is_listed_in_either_order(shop: Shop, lists: Any) -> None:
    path, made, before, _ = lists
    changed = [made[place] for place in (1, 3, 0)]
    every = [made[2], made[4], *changed]
    assert ids(shop, f"{path}?sort=updatedAt") == every
    assert ids(shop, f"{path}?sort=-updatedAt") == every[::-1]
    after = clock.iso(clock.parse(before) + timedelta(milliseconds=1))
    assert ids(shop, f"{path}?sort=updatedAt&updatedFrom={after}") == changed
    assert ids(shop, f"{path}?sort=-updatedAt&updatedFrom={after}&fields=id") == changed[::-1]
    assert ids(shop, f"{path}?sort=updatedAt&updatedFrom={before}") == [made[4], *changed]
    assert ids(shop, f"{path}?sort=updatedAt&updatedFrom={after}&tag=odd") == [made[1], made[3]]
    assert ids(shop, f"{path}?sort=updatedAt&updatedFrom=2999-01-01") == []
    page = f"{path}?sort=updatedAt&updatedFrom={after}&limit=2"
    assert [one["id"] for one in shop.read(f"{page}&page=2")["data"]] == [made[0]]
    cursor = quote(shop.read(page)["pagination"]["next"])
    following = shop.read(f"{page}&cursor={cursor}")
    assert [one["id"] for one in following["data"]] == [made[0]]
    assert shop.get(f"{path}?sort=updatedAt&limit=2&cursor={cursor}").refused == ["cursor"]


def test_a_search_of_what_changed_since_a_time(shop: Shop) -> None:
    first, _, third = (placed(shop, line(variant(shop)), customer=None) for _ in range(3))
    for one in (third, first):
        changed = shop.patch(f"{ORDERS}/{one['id']}", {"tags": ["gift"]}).json["updatedAt"]
    assert ids(shop, f"{ORDERS}?sort=updatedAt&search=gift") == [third["id"], first["id"]]
    since = f"sort=updatedAt&updatedFrom={changed}"
    assert ids(shop, f"{ORDERS}?{since}&search=gift") == [first["id"]]
    assert ids(shop, f"{ORDERS}?{since}&number={third['number']}") == []
    assert ids(shop, f"{ORDERS}?{since}&number={first['number']}") == [first["id"]]


def test_a_record_that_changes_while_the_list_is_read_is_read_again(shop: Shop, lists: Any) -> None:
    path, made, _, change = lists
    seen = list[str]()
    for page in shop.pages(f"{path}?sort=updatedAt&limit=2&fields=id"):
        seen += [one["id"] for one in page.json["data"]]
        if len(seen) == 2:  # the one was read, the other was not
            change(made[2])
            change(made[0])
    assert seen == [made[place] for place in (2, 4, 1, 3, 2, 0)]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        (ORDERS, "updatedFrom=2026-11-01", "updatedFrom"),
        (ORDERS, "sort=orderDate&updatedFrom=2026-11-01", "updatedFrom"),
        (CUSTOMERS, "sort=name&updatedFrom=2026-11-01", "updatedFrom"),
        (CUSTOMERS, "sort=updatedAt&updatedFrom=yesterday", "updatedFrom"),
        (PRODUCTS, "sort=updatedAt&updatedFrom=", "updatedFrom"),
        (ORDERS, "sort=updatedAt&from=2026-11-01", "sort"),
        (ORDERS, "sort=-updatedAt&to=2026-11-01", "sort"),
    ],
)
def test_a_time_of_change_needs_its_order(shop: Shop, path: str, query: str, field: str) -> None:
    assert shop.get(f"{path}?{query}").refused == [field]


def without_updated(index_of: Callable[[Any], listing.Index]) -> Callable[[Any], listing.Index]:
    """The index of 1.0.0, which had no order by the last change."""

    def index_of_1_0_0(fields: Any) -> listing.Index:
        index = index_of(fields)
        kept = {name: key for name, key in index.orders.items() if name != "updated"}
        return replace(index, orders=kept)

    return index_of_1_0_0


@pytest.mark.thorough
@pytest.mark.parametrize("path", [ORDERS, CUSTOMERS])
def test_a_shop_of_1_0_0_lists_changes_once_it_is_reindexed(
    shop: Shop, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, change = CHANGES[path]
    with monkeypatch.context() as release:
        for module in (lifecycle, customers):
            release.setattr(module, "index_of", without_updated(module.index_of))
        made = [make(shop, number)["id"] for number in range(4)]
    table.update(listing.RELEASE, assign={"indexed": {"order": 1, "customer": 1}})
    answer = shop.get(f"{path}?sort=updatedAt")
    assert (answer.status, answer.json["code"]) == (503, "reindexing")
    assert answer.json["message"].startswith("Not available yet: sorting by updatedAt.")
    assert ids(shop, path) == made[::-1]
    change(shop, f"{path}/{made[1]}")  # beside the reindexing
    reindex()
    assert ids(shop, f"{path}?sort=-updatedAt") == [made[1], made[3], made[2], made[0]]
    assert not any(found.wrong for _, found in check.list_recounts())
