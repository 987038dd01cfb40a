"""The cost of a request: round trips to DynamoDB, CPU of the function's process, units, dollars.

The application answers API Gateway's events in this process; DynamoDB is an emulator in another, so
that its CPU does not count. Peers: measured on a machine of this size, CPU of the app process only,
database excluded, 10,000 products (Vendure 3.7.3, Medusa 2.21.2, Saleor 3.24).
"""

import contextlib
import io
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench import stage
from bench.meter import Meter, Work, middle

PRODUCTS = 10_000
RUNS = 200

Send = Callable[[], Any]


class Served:
    """The application and its CPU, without the client's work."""

    def __init__(self, served: Any) -> None:
        self._served = served
        self.cpu = 0.0

    def __call__(self, event: Any, context: Any) -> Any:
        began = time.process_time()
        try:
            return self._served(event, context)
        finally:
            self.cpu += time.process_time() - began

    def __getattr__(self, name: str) -> Any:
        return getattr(self._served, name)


_MATERIALS = ("linen", "cotton", "wool", "silk", "denim")
_COLOURS = ("blue", "red", "green", "black", "white")
_KINDS = ("shirt", "hat", "coat", "scarf", "sock")

# Target round trips and CPU milliseconds, and what Vendure, Medusa and Saleor need.
TARGETS = {
    "get a product": (2, 2.0, (5.3, 14.2, 16.0)),
    "list 20": (4, 5.0, (19.9, 8.2, 15.8)),
    "search": (4, 6.0, (19.3, 37.6, 17.0)),
    "create a product": (3, 4.0, (15.5, 45.5, 30.9)),
    "update a product": (3, None, None),
}


def sample(number: int) -> dict[str, Any]:
    """A typical product: two variants, a picture, some text, words for the search."""
    material, colour = _MATERIALS[number % 5], _COLOURS[number // 5 % 5]
    kind = _KINDS[number // 25 % 5]
    return {
        "name": f"{colour} {material} {kind}",
        "slug": f"{colour}-{material}-{kind}-{number}",
        "description": "A good one. " * 20,
        "status": "ACTIVE" if number % 10 else "DRAFT",
        "price": f"{5 + number % 95}.90",
        "sku": f"SKU{number:06d}",
        "vendor": f"Vendor {number % 20}",
        "type": kind,
        "tags": [material, "sale" if number % 100 == 0 else "regular"],
        "images": [{"url": f"https://img.example/{number}.jpg", "alt": kind}],
        "variants": [
            {"title": "S", "sku": f"SKU{number:06d}S", "stock": number % 50},
            {"title": "M", "sku": f"SKU{number:06d}M", "stock": number % 30},
        ],
    }


def fill(count: int, first: int = 0) -> list[str]:
    """Creates products with the code of the bulk call; returns their ids."""
    from chalicelib.products import bulk
    from chalicelib.products.model import Product
    from chalicelib.products.schemas import NewProduct

    made: list[str] = []
    for start in range(first, first + count, 500):
        rows = [NewProduct.model_validate(sample(n)) for n in range(start, min(start + 500, count))]
        for outcome in bulk.create_many(rows):
            assert isinstance(outcome, Product), outcome
            made.append(outcome.id)
    return made


def measured(served: Served, send: Send, meter: Meter, runs: int) -> Work:
    """The median of several runs, all of which must succeed."""

    def once() -> None:
        with contextlib.redirect_stdout(io.StringIO()):  # the access log's time is the terminal's
            answer = send()
        assert answer.status < 300, answer.text

    def alone() -> Work:
        before = served.cpu
        work = meter.of(once)
        work.cpu = served.cpu - before
        return work

    once()
    return middle([alone() for _ in range(runs)])


def serving() -> Served:
    from app import app

    return Served(app)


def operations(served: Served, ids: Sequence[str]) -> dict[str, Send]:
    """The measured operations, by name."""
    from tests.support.shop import Shop

    shop = Shop(served=served)
    visitors = itertools.cycle([Shop(f"203.0.113.{n}", served) for n in range(10)])
    numbers = itertools.count(10_000_000)
    turns = itertools.cycle(ids)
    prices = itertools.count(1)
    assert shop.owner
    admin = "/api/admin/products"
    return {
        "get a product": lambda: shop.get(f"{admin}/{next(turns)}"),
        "list 20": lambda: shop.get(admin),
        "list 20, filtered": lambda: shop.get(f"{admin}?status=ACTIVE&type=hat"),
        "search": lambda: shop.get(f"{admin}?search=sku00001"),
        "search, filtered": lambda: shop.get(f"{admin}?search=sale&status=DRAFT"),
        "storefront list 20": lambda: next(visitors).get("/api/products"),
        "storefront get": lambda: next(visitors).get(f"/api/products/{next(turns)}"),
        "create a product": lambda: shop.post(admin, sample(next(numbers))),
        "update a product": lambda: shop.put(
            f"{admin}/{next(turns)}", {"price": f"{next(prices)}.50"}
        ),
    }


def main() -> None:
    count = PRODUCTS
    with stage.fast_tables():
        ids = [id for number, id in enumerate(fill(count)) if number % 10]
        print(f"{count:,} products; CPU: median of {RUNS} requests; units: median of 5\n")
        print(
            f"{'request':<20} {'calls':>5} {'trips':>5} {'target':>6} {'CPU ms':>7} {'target':>6} "
            f"{'botocore':>8} {'read':>6} {'write':>6} {'$/million':>9}   Vendure Medusa Saleor"
        )
        served = serving()
        for name, send in operations(served, ids).items():
            cpu = measured(served, send, Meter(units=False), RUNS)
            cost = measured(served, send, Meter(units=True), 5)
            trips, limit, peers = TARGETS.get(name, (None, None, None))
            share = cpu.botocore / cpu.cpu
            print(
                f"{name:<20} {len(cpu.calls):>5} {cost.trips:>5} {trips or '':>6} "
                f"{cpu.cpu * 1000:>7.2f} {limit or '':>6} {share:>8.0%} "
                f"{cost.read:>6.1f} {cost.write:>6.0f} {cost.dollars * 1e6:>9.2f}   "
                + " ".join(f"{peer:>7}" for peer in peers or ()),
                flush=True,
            )
    print(
        "\n$/million: write units × $0.625 + read units × $0.125 a million, on demand, us-east-1;\n"
        "Lambda and API Gateway come on top (docs/costs.md)."
    )


if __name__ == "__main__":
    sys.exit(main())
