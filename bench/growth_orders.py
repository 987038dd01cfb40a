"""How lists of orders and customers, and the search in everything, grow with the orders.

Continues the tables of `bench/growth.py`: an order a minute, ten orders per customer.
`python -m bench.growth_orders 1000 10000` measures at these sizes only. At last, one order is found
by its number among a million.
"""

import gc
import os
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest.mock import patch

from bench.growth import Cost, Costs, cost_of, show
from chalicelib import listing
from chalicelib.customers import store as customers
from chalicelib.customers.store import insert
from chalicelib.listing.entries import word_keys
from chalicelib.orders import lifecycle, store
from chalicelib.orders.model import KIND, NewOrder
from chalicelib.products import bulk
from chalicelib.products.model import NewProduct
from chalicelib.search.store import find
from chalicelib.storage.commit import Commit
from chalicelib.values import clock
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS

SIZES: Final = (1_000, 10_000, 100_000)
MANY: Final = (1_000, 1_000_000)
BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS_A_CUSTOMER: Final = 10
PAGE: Final = 20


class Shop:
    """A shop with `count` orders of 50 products, the newest last."""

    def __init__(self, dynamodb: Double, size: int) -> None:
        self.dynamodb, self.size = dynamodb, size
        rows = [NewProduct.model_validate({"name": f"P{n}", "price": 5}) for n in range(50)]
        made: Any = bulk.create_many(rows)  # type: ignore[arg-type]
        self.products = {product.id: product for product in made}
        gc.disable()  # millions of live objects and no garbage
        for number in range(size):
            self.fill(number)
        gc.freeze()
        gc.enable()

    def order(self, number: int) -> Commit:
        """The writes of one, as they are when an order is placed by somebody known."""
        product = list(self.products.values())[number % 50]
        line = {"variantId": product.fields["variants"][0]["id"], "quantity": 1}
        sent = {
            "lineItems": [line],
            "source": ("WEB", "IN_PERSON")[number % 2],
            "paymentStatus": "PAID" if number % 10 else "PENDING",
            "salesRepId": f"emp_{number % 20}",
            "tags": [*(["gift"] if number % 10 == 0 else ()), *self._rare(number)],
        }
        now = clock.iso(BEGAN + timedelta(minutes=number))
        if number % ORDERS_A_CUSTOMER == 0:
            person = {"email": f"ann{number}@example.com", "lastName": f"Smith{number}"}
            asked = NewOrder.model_validate({**sent, "customer": person}).customer
            assert asked
            self.customer = customers.created(asked, now)
            self._load(insert, self.customer)
        new = NewOrder.model_validate(sent)
        numbered = str(1_000 + number)
        placed = lifecycle.placed(
            new, self.products, self.customer, number=numbered, by="bench", now=now
        )
        commit = Commit()
        store._write(commit, None, placed)
        return commit

    def _rare(self, number: int) -> list[str]:
        return ["rare"] if number % max(1, self.size // PAGE) == 0 else []

    def fill(self, number: int) -> None:
        self.dynamodb.place(self.order(number))

    def _load(self, write: Callable[..., object], record: object) -> None:
        commit = Commit()
        write(commit, record)
        self.dynamodb.place(commit)


def measured(shop: Shop) -> Costs:
    """The cost of each request in this shop."""

    def page(
        where: Mapping[str, str] | None = None, search: str = "", of: Any = store, **options: Any
    ) -> Any:
        filters = {facet: frozenset({value}) for facet, value in (where or {}).items()}
        found = of.page(listing.Query(filters, search, **options))
        assert found.records or "cursor" in options
        return found

    def days(first: int, last: int) -> listing.Range:
        moments = (clock.iso(BEGAN + timedelta(minutes=minute)) for minute in (first, last))
        return listing.Range(*moments)

    second = page().next
    middle = shop.size // 2
    newest = {"customerId": shop.customer.id}
    requests: dict[str, Callable[[], object]] = {
        "orders, page 1": page,
        "page 2, by its cursor": lambda: page(cursor=second),
        "the oldest first": lambda: page(forward=True),
        "status=PAID (90 %)": lambda: page({"status": "PAID"}),
        "source (50 %)": lambda: page({"source": "WEB"}),
        "paymentStatus=PENDING (10 %)": lambda: page({"paymentStatus": "PENDING"}),
        "salesRepId (5 %)": lambda: page({"salesRepId": "emp_1"}),
        "salesRepId and status": lambda: page({"salesRepId": "emp_1", "status": "PAID"}),
        "customerId (10 orders)": lambda: page(newest),
        "tag (20 orders)": lambda: page({"tag": "rare"}),
        "tag (10 %)": lambda: page({"tag": "gift"}),
        "a range of 420 orders": lambda: page(between=days(middle, middle + 420)),
        "half of all orders": lambda: page(between=days(middle, shop.size)),
        "half of them, status=PAID": lambda: page(
            {"status": "PAID"}, between=days(middle, shop.size)
        ),
        "search by number": lambda: page(search=str(1_000 + middle)),
        "search by name (10 orders)": lambda: page(search=f"smith{middle // 10 * 10}"),
        "customers, page 1": lambda: page(of=customers),
        "customers, sort=name": lambda: page(of=customers, order="name", forward=True),
        "customers, search by e-mail": lambda: page(
            of=customers, search=f"ann{middle // 10 * 10}@example.com"
        ),
        "search in everything": lambda: find(str(1_000 + middle)),
    }
    return {name: cost_of(shop.dynamodb, work) for name, work in requests.items()}


def number_in_everything(dynamodb: Double, size: int) -> Cost:
    """What the search in everything costs for the number of one of so many orders.

    Of all but that one, only what such a search reads is there: the entries of their numbers.
    """
    dynamodb.empty()
    gc.disable()
    for n in range(size):
        now, number = clock.iso(BEGAN + timedelta(minutes=n)), str(1_000 + n)
        index = listing.Index.of(sort=now, facets={}, texts=[number], exact=[number])
        for pk, sk in word_keys(KIND, f"ord_{n:026}", index):
            item = {"pk": {"S": pk}, "sk": {"S": sk}}
            dynamodb.load([{"Put": {"TableName": SETTINGS["TABLE"], "Item": item}}])
    shop = Shop(dynamodb, 0)
    shop.fill(size)
    found = cost_of(dynamodb, lambda: find(str(1_000 + size)))
    assert [order.fields["number"] for order in find(str(1_000 + size))[0]] == [str(1_000 + size)]
    dynamodb.empty()
    return found


def main(sizes: tuple[int, ...] = SIZES) -> None:
    with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
        by_size: list[dict[str, Cost]] = []
        for size in sizes:
            dynamodb.empty()
            began = time.monotonic()
            shop = Shop(dynamodb, size)
            print(f"{size:,} orders after {time.monotonic() - began:.0f} s", flush=True)
            by_size.append(measured(shop))
        show(list(sizes), by_size, of="orders")
        for size in MANY:
            cost = number_in_everything(dynamodb, size)
            print(f"one of {size:,} by its number, in everything: {cost.calls:g} calls,", end=" ")
            print(f"{cost.read:g} read units, {cost.cpu:.1f} ms CPU", flush=True)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
