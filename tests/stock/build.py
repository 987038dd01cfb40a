"""The ledger in tests: the fan-out of the events so far, and the sum that anybody can make."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from chalicelib import settings
from chalicelib.outbox import fan_out
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop
from tests.support.webhook_events import stream

MOVEMENTS = "/api/admin/stock/movements"


def traced(dynamodb: Double) -> list[Any]:
    """The items of the outbox, as the stream brings them."""
    return list(dynamodb.items(settings.outbox_table()))


def fanned_out(dynamodb: Double, items: Sequence[Any] | None = None) -> None:
    """The stream brings these items, or everything since the beginning."""
    answer = fan_out.handle(stream(list(items if items is not None else traced(dynamodb))))
    assert answer["batchItemFailures"] == []


def movements(shop: Shop, **filters: str) -> list[Any]:
    return walked(shop, MOVEMENTS, **filters)


def walked(shop: Shop, path: str, **filters: str) -> list[Any]:
    """All of a list that fit, the oldest first."""
    query = "".join(f"&{name}={value}" for name, value in filters.items())
    pages = shop.pages(f"{path}?limit=100{query}")
    return [one for page in pages for one in page.json["data"]][::-1]


def moves_in(entries: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Cause, difference and stock of each."""
    return [(one["cause"], one["by"], one["stock"]) for one in entries]


def added_up(entries: Sequence[Any]) -> dict[str, int | None]:
    """The stock of each variant by its entries, the oldest first."""
    stock: defaultdict[str, int | None] = defaultdict(lambda: None)
    for one in entries:
        before = stock[one["variantId"]]
        if one["by"] is None:
            stock[one["variantId"]] = one["stock"]
        elif before is not None:  # a move in the moment in which tracking ended counts no more
            stock[one["variantId"]] = before + one["by"]
    return dict(stock)


def in_stock(shop: Shop) -> Iterator[tuple[str, int | None]]:
    """Every variant of the shop with its stock."""
    for page in shop.pages("/api/admin/products?limit=100&fields=variants"):
        for product in page.json["data"]:
            yield from ((one["id"], one["stock"]) for one in product["variants"])


def agrees(shop: Shop) -> int:
    """The number of entries, after all of them add up to the stock of every variant."""
    entries = movements(shop)
    assert len({one["id"] for one in entries}) == len(entries)
    begun = Counter(one["variantId"] for one in entries if one["cause"] == "TRACKED")
    # A move that was on its way while tracking ended and began again may be listed on the other
    # side of it: `ledger.recount` compares these variants, too.
    sums = {id: n for id, n in added_up(entries).items() if begun[id] == 1}
    there = dict(in_stock(shop))
    tracked = {id: n for id, n in there.items() if n is not None and begun[id] < 2}
    wrong = {id: [one for one in entries if one["variantId"] == id] for id in tracked}
    wrong = {id: own for id, own in wrong.items() if sums.get(id) != tracked[id]}
    assert not wrong, wrong
    assert all(sums[id] is None for id in sums.keys() - there.keys())
    return len(entries)
