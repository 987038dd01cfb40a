"""No request makes more calls to DynamoDB, or more round trips, than in the last release.

`bench/calls.json` has the numbers of the last release; `python -m tests.storage.test_round_trips`
rewrites it. Only calls are counted, no times.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from chalicelib.storage.dynamodb import DynamoCall, Wire
from tests.products.build import new_product
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.round_trips import in_a_row
from tests.support.shop import Answer, Shop

KEPT = Path(__file__).parents[2] / "bench/calls.json"
_RUNS = 4

Send = Callable[[], Answer]


def requests(shop: Shop) -> Iterator[tuple[str, Send]]:
    """The requests that are counted; each is sent several times."""
    products, orders = "/api/admin/products", "/api/admin/orders"
    made = [
        shop.post(products, new_product(name=f"Hat {n}", status="ACTIVE", published=True)).json
        for n in range(30)
    ]
    one = made[0]
    variant = one["variants"][0]["id"]
    sent = {"source": "IN_PERSON", "lineItems": [{"variantId": variant, "quantity": 1}]}
    order = shop.post(orders, sent).json
    prices = iter(range(100, 1_000))
    visitor = Shop("203.0.113.99")
    yield "get a product", lambda: shop.get(f"{products}/{one['id']}")
    yield "get an order", lambda: shop.get(f"{orders}/{order['id']}")
    yield "list 20", lambda: shop.get(products)
    yield "list 20, five fields", lambda: shop.get(f"{products}?fields=id,name,slug,status,sku")
    yield "list 20, one filter", lambda: shop.get(f"{products}?status=ACTIVE")
    yield "list 20, two filters", lambda: shop.get(f"{products}?status=ACTIVE&published=true")
    yield "search", lambda: shop.get(f"{products}?search=hat")
    yield "list orders", lambda: shop.get(orders)
    yield "storefront list", lambda: visitor.get("/api/products")
    yield "storefront get by slug", lambda: visitor.get(f"/api/products/{one['slug']}")
    yield "create a product", lambda: shop.post(products, new_product())
    yield (
        "update a product",
        lambda: shop.put(f"{products}/{one['id']}", {"price": next(prices)}),
    )
    yield "place an order", lambda: shop.post(orders, sent)
    customers, people = "/api/admin/customers", iter(range(1_000_000))

    def person() -> dict[str, Any]:
        email = f"nobody.known{next(people)}@example.com"
        return {"email": email, "firstName": "Ann", "lastName": "Lee", "phone": "+49 30 1234567"}

    known = shop.post(customers, person()).json
    yield (
        "place an order, new customer",
        lambda: shop.post(orders, {**sent, "customer": person()}),
    )
    yield (
        "place an order, known customer",
        lambda: shop.post(orders, {**sent, "customer": {"id": known["id"]}}),
    )
    yield "get a customer", lambda: shop.get(f"{customers}/{known['id']}")
    yield "list customers", lambda: shop.get(customers)
    yield "create a customer", lambda: shop.post(customers, person())
    yield (
        "change a customer",
        lambda: shop.patch(f"{customers}/{known['id']}", {"note": str(next(people))}),
    )
    money = f"{orders}/{shop.post(orders, sent).json['id']}"
    cash = {"amount": "0.01", "method": "CASH"}
    yield "take a payment", lambda: shop.post(f"{money}/payments", cash)
    yield "refund an amount", lambda: shop.post(f"{money}/refunds", cash)
    theirs = shop.post(orders, {**sent, "externalId": "E-1"}).json["externalId"]
    yield "list orders by external id", lambda: shop.get(f"{orders}?externalId={theirs}")
    numbers = iter(range(1_000_000))
    yield (
        "place an order, external id",
        lambda: shop.post(orders, {**sent, "externalId": f"N-{next(numbers)}"}),
    )
    yield "change an order", lambda: shop.patch(f"{orders}/{order['id']}", {"note": "x"})


@contextmanager
def recorded() -> Iterator[list[tuple[int, int]]]:
    """The calls of a block: when each was sent, and when its reply was read, in steps."""
    spans: list[tuple[int, int]] = []
    began: dict[DynamoCall[Any], int] = {}
    steps, send, read_reply = itertools.count(), DynamoCall.send, DynamoCall.read_reply

    def note_begin(call: DynamoCall[Any]) -> None:
        began[call] = next(steps)
        send(call)

    def note_end(call: DynamoCall[Any]) -> Wire:
        try:
            return read_reply(call)
        finally:
            spans.append((began[call], next(steps)))

    with (
        patch.object(DynamoCall, "send", note_begin),
        patch.object(DynamoCall, "read_reply", note_end),
    ):
        yield spans


def counted(send: Send) -> tuple[int, int]:
    """Calls and round trips: the fewest of some runs."""
    assert send().status < 300  # so that this process knows the key
    found = []
    for _ in range(_RUNS):
        with recorded() as spans:
            assert send().status < 300
        found.append((len(spans), in_a_row(spans)))
    return min(calls for calls, _ in found), min(trips for _, trips in found)


def all_counted() -> dict[str, dict[str, int]]:
    found = {name: counted(send) for name, send in requests(Shop())}
    return {name: {"calls": calls, "roundTrips": trips} for name, (calls, trips) in found.items()}


def test_a_request_makes_no_more_calls_than_in_the_last_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with Double():
        now = all_counted()
    kept = json.loads(KEPT.read_text())
    assert kept.keys() == now.keys()
    more = {
        name: (kept[name], numbers)
        for name, numbers in now.items()
        if any(numbers[what] > kept[name][what] for what in numbers)
    }
    assert more == {}


if __name__ == "__main__":
    import os

    os.environ.update(SETTINGS)
    with Double():
        lines = [f"  {json.dumps(name)}: {json.dumps(n)}" for name, n in all_counted().items()]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
