"""What the storefront reads, by the size of its catalogue: `python -m bench storefront`.

It prints the table of docs/listing.md; `python -m bench.storefront 1000` measures one size only.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, Final
from unittest.mock import patch

from bench.growth import SIZES, Catalogue, Costs, cost_of, show
from chalicelib.products import store
from chalicelib.products.schemas import BrowseProducts
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.shop import deploy

_STEPS: Final = 5  # pages that are read by cursor


def measure(shop: Catalogue) -> Costs:
    """Return the cost of each request of the storefront in this catalogue."""
    type_, vendor = str(shop.fields(7)["type"]), str(shop.fields(0)["vendor"])

    def browse(**asked: Any) -> Any:
        wanted = BrowseProducts.model_validate(asked)
        return store.browse(wanted.query(), (), wanted.available)

    def walk(**asked: Any) -> Callable[[], None]:
        def work() -> None:
            cursor = "*"
            for _ in range(_STEPS):
                cursor = browse(cursor=cursor, **asked).next or "*"

        return work

    requests: dict[str, Callable[[], object]] = {
        "newest": browse,
        "sort=price": lambda: browse(sort="price"),
        "sort=name, storefront=eu": lambda: browse(sort="name", storefront="eu"),
        "type": lambda: browse(type=[type_]),
        "type, sort=price": lambda: browse(type=[type_], sort="price"),
        "type, vendor, sort=-price": lambda: browse(type=[type_], vendor=[vendor], sort="-price"),
        "tag (20 products), sort=name": lambda: browse(tag=["rare"], sort="name"),
        "tag (10 %), sort=price": lambda: browse(tag=["common"], sort="price"),
        "maxPrice=20": lambda: browse(maxPrice="20"),
        "two prices, sort=price": lambda: browse(minPrice="20", maxPrice="25", sort="price"),
        "available, sort=price": lambda: browse(available=True, sort="price"),
        "search (20), sort=price": lambda: browse(search="zirconium", sort="price"),
        "what none has (two tags)": lambda: browse(tag=["nothing"], sort="price"),
        "page 100, sort=price": lambda: browse(page=100, sort="price"),
        f"{_STEPS} pages by cursor, sort=price": walk(sort="price"),
        "facets": lambda: store.public_facets(BrowseProducts().public_values()),
        "facets, storefront=eu": lambda: store.public_facets(
            BrowseProducts(storefront="eu").public_values()
        ),
    }
    return {name: cost_of(shop.dynamodb, work, runs=2) for name, work in requests.items()}


def main(sizes: tuple[int, ...] = SIZES) -> None:
    with patch.dict(os.environ, SETTINGS), Double() as dynamodb:
        by_size = []
        for size in sizes:
            dynamodb.empty()
            deploy()
            by_size.append(measure(Catalogue(dynamodb, size)))
        show(list(sizes), by_size)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
