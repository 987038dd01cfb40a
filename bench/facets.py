"""The first read of a list, its keys and its counts, by how many values of facets a shop uses.

`python -m bench facets` prints the table of docs/listing.md. Each shop is old: each count cell has
all of its shards. CPU is that of the whole page, without the double's own. The ratio is that to the
first shop of its kind.
"""

import contextlib
import io
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from statistics import median
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
ROUNDS: Final = 45
RUNS: Final = 10
FORK: Final = multiprocessing.get_context("fork")
_STATES: Final = [(s, p) for s in ("ACTIVE", "DRAFT", "ARCHIVED") for p in (True, False)]
_ORDER_STATES: Final = [
    f"{status}|{payment}|{refund}|{due}"
    for status, payment in (("PENDING", "PENDING"), ("PAID", "PAID"), ("SHIPPED", "PAID"))
    for refund, due in (("NONE", ""), ("NONE", "due"), ("PARTIAL", ""), ("FULL", ""))
]


Measured = tuple[float, float, float]
Pages = Mapping[str, Callable[[], object]]


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


def measure_load(dynamodb: Double, load_page: Callable[[], object]) -> Measured:
    """Return the read units of the first read and of the page, and the page's CPU in ms."""
    times = []
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(RUNS):
            own, began = dynamodb.cpu, time.process_time()
            with dynamodb.metered() as calls:
                load_page()
            times.append(time.process_time() - began - (dynamodb.cpu - own))
    first = sum(call.read_units for call in calls if call.operation == "Query")
    return first, sum(call.read_units for call in calls), 1_000 * median(times)


def load_products(**filters: str) -> object:
    where = {facet: frozenset({value}) for facet, value in filters.items()}
    return products.page(listing.Query(where))


def load_public_products() -> object:
    where = {"status": {"ACTIVE"}, "published": {"yes"}, "storefront": {"store-0", ""}}
    return products.page(
        listing.Query({facet: frozenset(accepted) for facet, accepted in where.items()})
    )


def load_orders() -> object:
    return orders.page(listing.Query())


PAGES: Final[dict[str, Callable[[], object]]] = {
    "products": load_products,
    "of a storefront": lambda: load_products(storefront="store-0"),
    "public, of a storefront": load_public_products,
    "of a type": lambda: load_products(type="shirt"),
    "of a vendor": lambda: load_products(vendor="Vendor 0"),
}


class Shop:
    """A shop in a process of its own, with its own DynamoDB double."""

    def __init__(self, name: str, fill: Callable[[Double], None], pages: Pages) -> None:
        self.name, self.pages = name, pages
        self._fill = fill
        self._asking, answering = FORK.Pipe()
        FORK.Process(target=self._answer_measurements, args=[answering], daemon=True).start()

    def measure_page(self, name: str) -> Measured:
        self._asking.send(name)
        measured: Measured = self._asking.recv()
        return measured

    def _answer_measurements(self, answering: Connection) -> None:
        with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
            self._fill(dynamodb)
            while True:
                answering.send(measure_load(dynamodb, self.pages[answering.recv()]))


def product_shop(storefronts: int, vendors: int) -> Shop:
    def fill_shop(dynamodb: Double) -> None:
        Values(dynamodb, storefronts, vendors)
        age(dynamodb, count_products(storefronts))

    return Shop(f"{storefronts:,} storefronts, {vendors:,} vendors", fill_shop, PAGES)


def order_shop(states: int) -> Shop:
    def fill_shop(dynamodb: Double) -> None:
        fill_orders()
        age(dynamodb, count_orders(states))

    return Shop(f"{states + 2} combinations of states", fill_shop, {"orders": load_orders})


def compare_shops(shops: Sequence[Shop]) -> None:
    """Print a row for each page of each shop, with the ratio of its CPU to that of the first shop.

    The shops take turns, because the speed of a machine changes within seconds.
    """
    for page in shops[0].pages:
        rounds = [[shop.measure_page(page) for shop in shops] for _ in range(ROUNDS)]
        for shop, measured in zip(shops, zip(*rounds, strict=True), strict=True):
            read, units, _ = measured[0]
            cpu = median(ms for _, _, ms in measured)
            ratio = median(own[2] / row[0][2] for own, row in zip(measured, rounds, strict=True))
            print(f"| {page}: {shop.name} | {read:.0f} | {units:.0f} | {cpu:.1f} | {ratio:.2f} |")


def main() -> None:
    print("| page 1 of 20 | first read, units | page, units | CPU, ms | ratio |")
    print("|---|---|---|---|---|")
    sizes = ((1, 20), (12, 20), (100, 20), (1, 3_000), (100, 3_000))
    compare_shops([product_shop(storefronts, vendors) for storefronts, vendors in sizes])
    compare_shops([order_shop(states) for states in (1, len(_ORDER_STATES))])


if __name__ == "__main__":
    main()
