"""How lists, searches and writes grow with the catalogue: calls, request units, CPU.

On the double of the tests, which bills every call as AWS does and takes any number of products. Its
own CPU is subtracted. `python -m bench.growth 1000 10000` measures at these sizes only.
"""

import contextlib
import gc
import io
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final
from unittest.mock import patch

from bench.requests import sample
from chalicelib import listing
from chalicelib.products import merge, store
from chalicelib.products.model import Product
from chalicelib.values import clock
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS

SIZES: Final = (1_000, 10_000, 100_000)
TYPES: Final = 5_000
CONSTANT: Final = 20  # products with the rare word, at every size

# AWS, on demand, write units a second.
NEW_TABLE: Final = 4_000
ACCOUNT_QUOTA: Final = 40_000
PARTITION: Final = 1_000


@dataclass(frozen=True)
class Cost:
    """The cost of one request; `cpu` in milliseconds."""

    calls: float
    read: float
    write: float
    cpu: float


Costs = dict[str, Cost]


class Catalogue:
    """A shop with this many products, newest last."""

    def __init__(self, dynamodb: Double, size: int, types: int | None = None) -> None:
        self.dynamodb, self.size, self._types = dynamodb, size, types
        self._rare = max(1, size // CONSTANT)
        gc.disable()  # millions of live objects and no garbage
        self.ids = [self._fill(number) for number in range(size)]
        gc.freeze()
        gc.enable()

    def fields(self, number: int) -> dict[str, Any]:
        fields = sample(number)
        if self._types:
            fields["type"] = f"type {number % self._types}"
        if number % self._rare == 0:
            fields["name"] += " zirconium"
        fields["tags"] = [*fields.get("tags", ()), *(["common"] if number % 10 == 0 else ())]
        if number % self._rare == 0:
            fields["tags"].append("rare")
        fields["published"] = number % 50 != 0
        return {**fields, "storefront": ("eu", "us", "")[number % 3]}

    def product(self, number: int) -> Product:
        fields = self.fields(number)
        created = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
        return merge.create_product(fields, fields["slug"], clock.iso(created))

    def _fill(self, number: int) -> str:
        product = self.product(number)
        self.dynamodb.place(store.build_commit(None, product))
        return product.id

    def cost(self, work: Callable[[], object], runs: int = 5) -> Cost:
        return cost_of(self.dynamodb, work, runs)


def cost_of(dynamodb: Double, work: Callable[[], object], runs: int = 5) -> Cost:
    """The mean of some runs, after a warm-up."""
    with contextlib.redirect_stdout(io.StringIO()):
        work()
        own, began = dynamodb.cpu, time.process_time()
        with dynamodb.metered() as calls:
            for _ in range(runs):
                work()
    cpu = time.process_time() - began - (dynamodb.cpu - own)
    return Cost(
        len(calls) / runs,
        sum(call.read_units for call in calls) / runs,
        sum(call.write_units for call in calls) / runs,
        1_000 * cpu / runs,
    )


def measured(shop: Catalogue) -> Costs:
    """The cost of each request in this catalogue."""
    numbers, middle = count(shop.size), shop.ids[shop.size // 2]

    def page(where: Mapping[str, str] | None = None, search: str = "", **options: Any) -> int:
        filters = {facet: frozenset({value}) for facet, value in (where or {}).items()}
        query = listing.Query(filters, search, **options)
        return len(store.page(query).records)

    def create() -> None:
        store.build_commit(None, shop.product(next(numbers))).send()

    def update() -> None:
        before = store.get(middle)
        price = "1.00" if before.price != "1.00" else "2.00"
        store.build_commit(
            before, merge.apply_change(before, {"price": price}, clock.iso(clock.now()))
        ).send()

    def rename() -> None:
        before = store.get(middle)
        new = {"name": f"{before.fields['name'].split()[0]} renamed{next(numbers):07d}"}
        store.build_commit(before, merge.apply_change(before, new, clock.iso(clock.now()))).send()

    def of_many(number: int) -> dict[str, Any]:
        skus = (f"LARGE-{number:06d}-{variant:03d}" for variant in range(500))
        variants = [{"title": sku[-3:], "sku": sku, "price": "1"} for sku in skus]
        return {"name": f"Large {number}", "price": "1", "variants": variants}

    def large() -> None:
        number = next(numbers)
        new = merge.create_product(of_many(number), f"large-{number}", clock.iso(clock.now()))
        store.build_commit(None, new).send()
        made.append(new.id)

    def grow() -> None:
        before = store.get(made[-1])
        new = {"name": f"Large renamed{next(numbers):07d}"}
        store.build_commit(before, merge.apply_change(before, new, clock.iso(clock.now()))).send()

    made: list[str] = []
    second = store.page(listing.Query()).next or ""
    requests: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(middle),
        "page 1": page,
        "page 2, by its cursor": lambda: page(cursor=second),
        "jump to page 400, or last": lambda: page(page=min(400, shop.size // 20)),
        "jump to the middle": lambda: page(page=shop.size // 40),
        "last page": lambda: page(page=shop.size // 20),
        "status=ACTIVE (90 %)": lambda: page({"status": "ACTIVE"}),
        "status=DRAFT (10 %)": lambda: page({"status": "DRAFT"}),
        "type": lambda: page({"type": str(shop.fields(7)["type"])}),
        "storefront=eu (33 %)": lambda: page({"storefront": "eu"}),
        "status and type": lambda: page({"status": "DRAFT", "type": str(shop.fields(0)["type"])}),
        "public, of a storefront": lambda: store.page(listing.Query(_PUBLIC)),
        "vendor": lambda: page({"vendor": str(shop.fields(0)["vendor"])}),
        "vendor and status=DRAFT": lambda: page(
            {"vendor": str(shop.fields(0)["vendor"]), "status": "DRAFT"}
        ),
        "tag (20 products)": lambda: page({"tag": "rare"}),
        "tag (10 %)": lambda: page({"tag": "common"}),
        "tag (10 %), status=DRAFT": lambda: page({"tag": "common", "status": "DRAFT"}),
        "published=false": lambda: page({"published": "no"}),
        "sort=name": lambda: page(order="name", forward=True),
        "sort=name, status=DRAFT": lambda: page({"status": "DRAFT"}, order="name", forward=True),
        "sort=-updatedAt": lambda: page(order="updated"),
        "sort=name, search, 1 %": lambda: page(search="sale", order="name", forward=True),
        "created in 7 minutes (420)": lambda: page(between=_MINUTES),
        "500 variants, created": large,
        "500 variants, one more word": grow,
        f"search, {CONSTANT} matches": lambda: page(search="zirconium"),
        "search, 1 %": lambda: page(search="sale"),
        "search, 1 %, status=DRAFT": lambda: page({"status": "DRAFT"}, "sale"),
        "search, 1 % of two words": lambda: page(search="sale linen"),
        "create": create,
        "change a price": update,
        "rename": rename,
    }
    costs = {name: shop.cost(work) for name, work in requests.items()}
    costs["all pages by cursor, each"] = walk(shop)
    return costs


_MINUTES: Final = listing.Range("2026-01-01T00:05", "2026-01-01T00:12")  # 420 products
_PUBLIC: Final = {
    "status": frozenset({"ACTIVE"}),
    "published": frozenset({"yes"}),
    "storefront": frozenset({"eu", ""}),
}


def walk(shop: Catalogue) -> Cost:
    """All pages of 100; the mean cost of one."""
    pages = shop.size // 100

    def work() -> None:
        cursor: str | None = ""
        for _ in range(pages):
            found = store.page(listing.Query(limit=100, cursor=cursor or ""))
            cursor = found.next
            assert found.records

    whole = shop.cost(work, runs=1)
    return Cost(*(part / pages for part in (whole.calls, whole.read, whole.write, whole.cpu)))


def law(sizes: list[int], costs: list[Cost]) -> str:
    """The growth of a request's units over these sizes, as a power of the size."""
    first, last = (cost.read + cost.write for cost in (costs[0], costs[-1]))
    if len(sizes) < 2 or last <= first * 1.2:
        return "flat"
    return f"n^{math.log(last / first) / math.log(sizes[-1] / sizes[0]):.2f}"


def heat(shop: Catalogue, creates: int = 200) -> dict[str, float]:
    """Write units of one creation in the hottest partitions of words, lists and counts."""
    shop.dynamodb.heat.clear()
    for number in range(2 * shop.size, 2 * shop.size + creates):
        store.build_commit(None, shop.product(number)).send()
    hottest: dict[str, float] = {}
    for pk, units in shop.dynamodb.heat.most_common():
        if pk.partition("#")[0] not in {other.partition("#")[0] for other in hottest}:
            hottest[pk] = units / creates
    return {pk: units for pk, units in hottest.items() if pk.startswith(("word", "list", "count"))}


def ceilings(create: Cost, hottest: Mapping[str, float]) -> None:
    (pk, units), *_ = hottest.items()
    print(f"\nA creation takes {create.write:.0f} write units. Creations a second, at most:\n")
    print(f"  {NEW_TABLE / create.write:7,.0f}  a new table ({NEW_TABLE:,} units a second)")
    print(f"  {ACCOUNT_QUOTA / create.write:7,.0f}  an account's default quota ({ACCOUNT_QUOTA:,})")
    print(f"  {PARTITION / units:7,.0f}  one partition key, {pk} ({PARTITION:,}; {units:.1f} each)")
    for pk, units in list(hottest.items())[1:]:
        print(f"  {PARTITION / units:7,.0f}  {pk} ({units:.1f} each)")


def show(sizes: list[int], by_size: list[Costs], of: str = "products") -> None:
    print(f"\n{'':30}" + "".join(f"{f'{size:,} {of}':>31}" for size in sizes) + "  units grow")
    print(f"{'':30}" + f"{'calls':>9}{'RU':>8}{'WU':>6}{'CPU ms':>8}" * len(sizes))
    for name in by_size[0]:
        costs = [costs[name] for costs in by_size]
        cells = "".join(
            f"{cost.calls:9.1f}{cost.read:8.1f}{cost.write:6.1f}{cost.cpu:8.1f}" for cost in costs
        )
        print(f"{name:30}{cells}  {law(sizes, costs)}")


def main(sizes: tuple[int, ...] = SIZES) -> None:
    with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
        by_size, hottest = [], {}
        for size in sizes:
            dynamodb.empty()
            began = time.monotonic()
            shop = Catalogue(dynamodb, size)
            print(f"{size:,} products after {time.monotonic() - began:.0f} s", flush=True)
            by_size.append(measured(shop))
            hottest = heat(shop)
        show(list(sizes), by_size)
        ceilings(by_size[-1]["create"], hottest)
        dynamodb.empty()
        size = min(10_000, max(sizes))
        print(f"\nWith {TYPES:,} types:")
        show([size], [measured(Catalogue(dynamodb, size, types=TYPES))])


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
