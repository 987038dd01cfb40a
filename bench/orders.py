"""The cost of an order: round trips, CPU, units and dollars, alone and with many orders.

The costs of one request are measured as those of products are (`bench/requests.py`), the growth on
the double of the tests (`bench/growth.py`). Peers: CPU ms of the app process per order, measured on
a machine of this size (Vendure 3.7.3, Medusa 2.21.2, Saleor 3.24): a draft with one line, and an
order that is placed.
"""

import contextlib
import gc
import io
import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest.mock import patch

from bench import stage
from bench.growth import SIZES, Cost, Costs, law
from bench.meter import Meter
from bench.requests import Send, Served, fill, measured, serving
from chalicelib import listing
from chalicelib.values import clock
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS

ORDERS: Final = "/api/admin/orders"
RUNS: Final = 200

_LETTERS: Final = str.maketrans("0123456789", "abcdefghij")
_DRAFT: Final = (14.2, 65.8, 104.6)
_PLACED: Final = (58.2, 97.5, None)
# Target round trips and CPU milliseconds, and what Vendure, Medusa and Saleor need.
TARGETS: Final[dict[str, tuple[int, float, Sequence[float | None]]]] = {
    "create, untracked": (5, 5.0, _DRAFT),
    "create and pay, 1 line": (5, 5.0, _PLACED),
    "create, known customer": (5, 5.0, _PLACED),
    "create, 5 products": (5, 5.0, ()),
    "patch, a step": (3, 4.0, ()),
    "patch, cancelled": (3, 4.0, ()),
}


def order(variants: Sequence[str], number: int, **fields: Any) -> dict[str, Any]:
    """A typical order: by a new customer, of one piece of each variant."""
    name = f"{number:06d}".translate(_LETTERS)  # digits would be found by their endings too
    person = {"email": f"ada.{name}@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    lines = [{"variantId": id, "quantity": 1} for id in variants]
    return {"source": "IN_PERSON", "customer": person, "lineItems": lines, **fields}


def operations(served: Served) -> dict[str, Send]:
    """The measured operations, by name."""
    from chalicelib.products import store
    from tests.support.shop import Shop

    shop = Shop(served=served)
    assert shop.owner
    products = store.load(fill(50))
    turns = itertools.cycle(products)
    numbers = itertools.count(1)
    stocked = 1_000_000

    def tracked() -> str:
        return str(next(turns).fields["variants"][0]["id"])

    for product in products:
        variants = [{"id": v["id"], "stock": stocked} for v in product.fields["variants"]]
        shop.put(f"/api/admin/products/{product.id}", {"variants": variants})
    untracked = shop.post("/api/admin/products", {"name": "Gift card", "price": 10}).json
    card = untracked["variants"][0]["id"]

    def place(*variants: str, **fields: Any) -> Any:
        number = next(numbers)
        key = {"Idempotency-Key": f"key-{number}"}
        return shop.post(ORDERS, order(variants, number, **fields), headers=key)

    known = place(card).json["customer"]
    last = [place(card).json for _ in range(30)][-1]
    pending = [place(tracked()).json["id"] for _ in range(2 * RUNS + 20)]
    five = {"lineItems": [{"variantId": card, "quantity": 5}], "paymentStatus": "PAID"}
    paid = [place(card, **five).json for _ in range(2 * RUNS + 20)]
    parcels = [{"trackingNumber": "RR100"}]

    def ship(made: Any, **fields: Any) -> Any:
        return shop.post(f"{ORDERS}/{made['id']}/shipments", {"parcels": parcels, **fields})

    def ship_part() -> Any:
        made = paid.pop()
        part = {"lineItemId": made["lineItems"][0]["id"], "quantity": 1}
        return ship(made, lines=[part])

    ring = {"title": "Ring", "price": "90.00", "quantity": 1, "make": True, "dueOn": "2026-12-24"}
    two = {"lineItems": [ring, {**ring, "title": "Chain"}], "paymentStatus": "PAID"}
    begun = place(**two).json
    stages = itertools.cycle(["stg_work", "stg_todo"])

    def move_work(made: Any, place: int, stage: str) -> Any:
        line = made["lineItems"][place]["id"]
        return shop.patch(f"{ORDERS}/{made['id']}/work/{line}", {"stage": stage})

    move_work(begun, 0, "stg_work")
    finishing = [place(**two).json for _ in range(RUNS + 20)]
    for made in finishing:
        move_work(made, 0, "stg_done")
    for _ in range(100):  # first in the list
        place(lineItems=[{**ring, "dueOn": "2026-12-23"}], paymentStatus="PAID")
    replayed = order([card], 0)
    once = {"Idempotency-Key": "once"}
    return {
        "create, untracked": lambda: place(card),
        "create and pay, 1 line": lambda: place(tracked(), paymentStatus="PAID"),
        "create, known customer": lambda: place(tracked(), paymentStatus="PAID", customer=known),
        "create, 5 products": lambda: place(*(tracked() for _ in range(5))),
        "the same again": lambda: shop.post(ORDERS, replayed, headers=once),
        "patch, a note": lambda: shop.patch(f"{ORDERS}/{last['id']}", {"note": "x"}),
        "patch, a step": lambda: shop.patch(f"{ORDERS}/{pending.pop()}", {"status": "PAID"}),
        "patch, cancelled": lambda: shop.patch(
            f"{ORDERS}/{pending.pop()}", {"status": "CANCELLED"}
        ),
        "ship, the first part": ship_part,
        "ship, all of it": lambda: ship(paid.pop()),
        "work, a move": lambda: move_work(begun, 1, next(stages)),
        "work, the last is done": lambda: move_work(finishing.pop(), 1, "stg_done"),
        "work, 100 cards": lambda: shop.get("/api/admin/work?limit=100"),
        "get": lambda: shop.get(f"{ORDERS}/{last['id']}"),
        "list 20": lambda: shop.get(ORDERS),
        "list 20, PAID": lambda: shop.get(f"{ORDERS}?status=PAID"),
        "search a number": lambda: shop.get(f"{ORDERS}?search={last['number']}"),
        "summary": lambda: shop.get("/api/admin/summary"),
    }


def requests() -> None:
    with stage.fast_tables():
        print(f"CPU: median of {RUNS} requests; units: median of 5\n")
        print(
            f"{'request':<24} {'calls':>5} {'trips':>5} {'target':>6} {'CPU ms':>7} {'target':>6} "
            f"{'botocore':>8} {'read':>6} {'write':>6} {'$/million':>9}   Vendure Medusa Saleor"
        )
        served = serving()
        with contextlib.redirect_stdout(io.StringIO()):
            prepared = operations(served)
        for name, send in prepared.items():
            cpu = measured(served, send, Meter(units=False), RUNS)
            cost = measured(served, send, Meter(units=True), 5)
            trips, limit, peers = TARGETS.get(name, ("", "", ()))
            print(
                f"{name:<24} {len(cpu.calls):>5} {cost.trips:>5} {trips:>6} "
                f"{cpu.cpu * 1000:>7.2f} {limit:>6} {cpu.botocore / cpu.cpu:>8.0%} "
                f"{cost.read:>6.1f} {cost.write:>6.0f} {cost.dollars * 1e6:>9.2f}   "
                + " ".join(f"{peer or '–':>7}" for peer in peers),
                flush=True,
            )


# --- Growth ---------------------------------------------------------------------------------------


class Ledger:
    """A shop with this number of orders and of customers, over the last hundred days."""

    def __init__(self, dynamodb: Double, size: int) -> None:
        from chalicelib.orders import store
        from chalicelib.products import bulk
        from chalicelib.products.model import Product
        from chalicelib.products.schemas import NewProduct

        self.dynamodb, self.size = dynamodb, size
        new = NewProduct.model_validate({"name": "Gift card", "price": 10})
        (product,) = bulk.create_many([new])
        assert isinstance(product, Product)
        self.variant = product.fields["variants"][0]["id"]
        self.numbers = itertools.count()
        gc.disable()  # millions of live objects and no garbage
        with patch(
            "chalicelib.storage.commit.Commit.send", lambda commit, *_: self.dynamodb.place(commit)
        ):
            self.ids = [self.place(store) for _ in range(size)]
        gc.freeze()
        gc.enable()

    def place(self, store: Any) -> str:
        from chalicelib.orders.schemas import NewOrder

        number = next(self.numbers)
        start = datetime.now(UTC) - timedelta(days=100)
        dated = clock.iso(start + timedelta(days=100) * number / (2 * self.size))
        paid = "PAID" if number % 3 else "PENDING"
        sent = order([self.variant], number, orderDate=dated, paymentStatus=paid)
        placed, _ = store.create(NewOrder.model_validate(sent), "bench", None)
        return str(placed.id)

    def cost(self, work: Callable[[], object], runs: int = 5) -> Cost:
        """The mean of some runs, after a warm-up."""
        with contextlib.redirect_stdout(io.StringIO()):
            work()
            own, began = self.dynamodb.cpu, time.process_time()
            with self.dynamodb.metered() as calls:
                for _ in range(runs):
                    work()
        cpu = time.process_time() - began - (self.dynamodb.cpu - own)
        return Cost(
            len(calls) / runs,
            sum(call.read_units for call in calls) / runs,
            sum(call.write_units for call in calls) / runs,
            1_000 * cpu / runs,
        )


def grown(ledger: Ledger) -> Costs:
    """The cost of each operation with this number of orders."""
    from chalicelib.customers import store as customers
    from chalicelib.orders import store
    from chalicelib.orders.schemas import MoneyClock, OrderChange
    from chalicelib.summary import store as summary

    steps = iter(ledger.ids[1::3])
    asked = OrderChange.model_validate({"status": "PROCESSING"})
    noted = OrderChange.model_validate({"note": "x"})
    middle, number = ledger.ids[ledger.size // 2], str(1_001 + ledger.size // 2)

    def page(search: str = "", **where: str) -> int:
        filters = {facet: frozenset({value}) for facet, value in where.items()}
        return len(store.page(listing.Query(filters, search)).records)

    work: dict[str, Callable[[], object]] = {
        "create": lambda: ledger.place(store),
        "a step": lambda: store.update(next(steps), asked, store.ChangeRequest("bench")),
        "a note": lambda: store.update(middle, noted, store.ChangeRequest("bench")),
        "delete": lambda: store.delete(ledger.ids.pop(), store.ChangeRequest()),
        "list 20": page,
        "list 20, PENDING": lambda: page(status="PENDING"),
        "search a number": lambda: page(number),
        "search an e-mail": lambda: page(f"ada.{ledger.size // 2:06d}".translate(_LETTERS)),
        "customers": lambda: customers.page(listing.Query()),
        "summary": lambda: summary.show_summary(clock.now().date(), MoneyClock.RECORDED),
    }
    return {name: ledger.cost(each) for name, each in work.items()}


def growth(sizes: Sequence[int]) -> None:
    by_size = []
    with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
        for size in sizes:
            dynamodb.empty()
            began = time.monotonic()
            ledger = Ledger(dynamodb, size)
            print(f"{size:,} orders after {time.monotonic() - began:.0f} s", flush=True)
            by_size.append(grown(ledger))
    print(f"\n{'':24}" + "".join(f"{f'{size:,} orders':>31}" for size in sizes) + "  units grow")
    print(f"{'':24}" + f"{'calls':>9}{'RU':>8}{'WU':>6}{'CPU ms':>8}" * len(sizes))
    for name in by_size[0]:
        costs = [each[name] for each in by_size]
        cells = "".join(f"{c.calls:9.1f}{c.read:8.1f}{c.write:6.1f}{c.cpu:8.1f}" for c in costs)
        print(f"{name:24}{cells}  {law(list(sizes), costs)}", flush=True)


def main(sizes: Sequence[int] = SIZES) -> None:
    requests()
    print()
    growth(sizes)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
