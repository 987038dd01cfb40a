"""The first read of a list, its keys and its counts, by how many values of facets a shop uses.

`python -m bench facets` prints the table of docs/listing.md. Each shop is old: each count cell has
all of its shards. CPU is that of the whole page, without the double's own: the least of some
runs. The ratio is that to the first shop of its kind.
"""

import contextlib
import io
import os
import time
from collections.abc import Callable
from typing import Any, Final
from unittest.mock import patch

from bench.growth import Catalogue
from chalicelib import listing
from chalicelib.listing.entries import count_record
from chalicelib.orders import store as orders
from chalicelib.orders.model import KIND as ORDER
from chalicelib.orders.schemas import NewOrder
from chalicelib.products import bulk
from chalicelib.products import store as products
from chalicelib.products.model import KIND as PRODUCT
from chalicelib.products.model import Product
from chalicelib.products.schemas import NewProduct
from chalicelib.storage.commit import COUNT_SHARDS, Commit
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS

PRODUCTS: Final = 1_200
ORDERS: Final = 60
RUNS: Final = 80
_STATES: Final = [(s, p) for s in ("ACTIVE", "DRAFT", "ARCHIVED") for p in (True, False)]
_ORDER_STATES: Final = [
    f"{status}|{payment}|{refund}|{due}"
    for status, payment in (("PENDING", "PENDING"), ("PAID", "PAID"), ("SHIPPED", "PAID"))
    for refund, due in (("NONE", ""), ("NONE", "due"), ("PARTIAL", ""), ("FULL", ""))
]


class Values(Catalogue):
    """Products in every state, in so many storefronts and of so many vendors."""

    def __init__(self, dynamodb: Double, storefronts: int, vendors: int) -> None:
        self._storefronts, self._vendors = storefronts, vendors
        super().__init__(dynamodb, PRODUCTS)

    def fields(self, number: int) -> dict[str, Any]:
        status, published = _STATES[number // self._storefronts % len(_STATES)]
        return super().fields(number) | {
            "status": status,
            "published": published,
            "storefront": f"store-{number % self._storefronts}",
            "vendor": f"Vendor {number % self._vendors}",
        }


def age(dynamodb: Double, changes: Callable[[Commit, int], None]) -> None:
    """Give each count cell all of its shards and attributes, as in a shop that was open for long.

    `changes` adds the counts of all records that the shop ever had, and then takes them away.
    """
    for shard in range(0, COUNT_SHARDS):
        with patch("random.randrange", lambda end, shard=shard: shard):
            for step in (1, -1):
                commit = Commit()
                changes(commit, step)
                dynamodb.place(commit)


def count_products(storefronts: int) -> Callable[[Commit, int], None]:
    """Return what counts a product in each state and storefront, of the types and vendors that are
    asked for."""

    def add(commit: Commit, step: int) -> None:
        for status, published in _STATES:
            for number in range(storefronts):
                facets = {"status": status, "published": "yes" if published else "no"}
                facets |= {"storefront": f"store-{number}", "type": "shirt", "vendor": "Vendor%200"}
                index = listing.Index(sort="", facets=facets)
                count_record(commit, PRODUCT, index, step)

    return add


def fill_orders() -> None:
    """Place some orders, paid and unpaid."""
    (product,) = bulk.create_many([NewProduct.model_validate({"name": "Mug", "price": 5})])
    assert isinstance(product, Product)
    line = {"variantId": product.fields["variants"][0]["id"], "quantity": 1}
    for number in range(ORDERS):
        sent = {"lineItems": [line], "paymentStatus": "PAID" if number % 2 else "PENDING"}
        orders.create(NewOrder.model_validate(sent), "bench", None)


def count_orders(states: int) -> Callable[[Commit, int], None]:
    def add(commit: Commit, step: int) -> None:
        for state in _ORDER_STATES[:states]:
            facets = dict(zip(ORDER.counted, state.split("|"), strict=True))
            count_record(commit, ORDER, listing.Index(sort="", facets=facets), step)

    return add


def measure(dynamodb: Double, load_page: Callable[[], object]) -> tuple[float, float, float]:
    """Return the read units of the first read and of the page, and the page's CPU in ms."""
    load_page()
    times = []
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(RUNS):
            own, began = dynamodb.cpu, time.process_time()
            with dynamodb.metered() as calls:
                load_page()
            times.append(time.process_time() - began - (dynamodb.cpu - own))
    first = sum(call.read_units for call in calls if call.operation == "Query")
    return first, sum(call.read_units for call in calls), 1_000 * min(times)


def load_products(**filters: str) -> object:
    where = {facet: frozenset({value}) for facet, value in filters.items()}
    return products.page(listing.Query(where))


def load_public_products() -> object:
    where = {"status": {"ACTIVE"}, "published": {"yes"}, "storefront": {"store-0", ""}}
    return products.page(
        listing.Query({facet: frozenset(accepted) for facet, accepted in where.items()})
    )


def show(name: str, measured: tuple[float, float, float], first_cpu: float) -> None:
    read, page, cpu = measured
    print(f"| {name} | {read:.0f} | {page:.0f} | {cpu:.1f} | {cpu / first_cpu:.2f} |")


def main() -> None:
    print("| page 1 of 20 | first read, units | page, units | CPU, ms | ratio |")
    print("|---|---|---|---|---|")
    requests: dict[str, Callable[[], object]] = {
        "products": load_products,
        "of a storefront": lambda: load_products(storefront="store-0"),
        "public, of a storefront": load_public_products,
        "of a type": lambda: load_products(type="shirt"),
        "of a vendor": lambda: load_products(vendor="Vendor 0"),
    }
    first: dict[str, float] = {}
    with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
        for storefronts, vendors in ((1, 20), (12, 20), (100, 20), (1, 3_000), (100, 3_000)):
            dynamodb.empty()
            Values(dynamodb, storefronts, vendors)
            age(dynamodb, count_products(storefronts))
            for name, load_page in requests.items():
                measured = measure(dynamodb, load_page)
                shop = f"{name}: {storefronts:,} storefronts, {vendors:,} vendors"
                show(shop, measured, first.setdefault(name, measured[2]))
        for states in (1, len(_ORDER_STATES)):
            dynamodb.empty()
            fill_orders()
            age(dynamodb, count_orders(states))
            measured = measure(dynamodb, lambda: orders.page(listing.Query()))
            shop = f"orders in {states + 2} combinations of states"
            show(shop, measured, first.setdefault("orders", measured[2]))


if __name__ == "__main__":
    main()
