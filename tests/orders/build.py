"""Valid orders, and products to sell; a test overrides the fields it is about."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any

from chalicelib.nightly import check
from tests.products.build import new_product
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Record, Shop

ORDERS = "/api/admin/orders"
FAULTS = [None, None, Fault.CRASH, Fault.CRASH_AFTER, Fault.CONFLICT, Fault.LOST_AFTER]
_people = count(1)


def product(shop: Shop, *stocks: int | None, **fields: Any) -> Any:
    """A product for sale, with a variant for each of the stocks, as the API returns it."""
    variants = [{"title": f"V{n}", "stock": stock} for n, stock in enumerate(stocks or (None,))]
    fields = {"status": "ACTIVE", "variants": variants, **fields}
    return shop.made("/api/admin/products", new_product(**fields))


def variants(shop: Shop, *stocks: int | None, **fields: Any) -> list[str]:
    """The ids of the variants of a new product."""
    return [one["id"] for one in product(shop, *stocks, **fields)["variants"]]


def variant(shop: Shop, stock: int | None = None, **fields: Any) -> str:
    """The id of the only variant of a new product."""
    return variants(shop, stock, **fields)[0]


def line(variant_id: str, quantity: int = 1, **fields: Any) -> dict[str, Any]:
    return {"variantId": variant_id, "quantity": quantity, **fields}


def new_order(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A cash sale in the shop to a new customer."""
    person = {
        "email": f"ada{next(_people)}@example.com",
        "firstName": "Ada",
        "lastName": "Lovelace",
    }
    return {"source": "IN_PERSON", "customer": person, "lineItems": list(lines), **fields}


class Order(Record):
    """An order as the API returned it."""

    @property
    def customer(self) -> Record:
        return Record(self.shop, "/api/admin/customers", self["customer"])

    def moved(self, *statuses: str) -> Answer:
        """Makes the moves; returns the last answer."""
        for status in statuses:
            answer = self.patch({"status": status})
        return answer

    def pay(self, amount: Any = None, **fields: Any) -> Answer:
        """All that is due, unless an amount is given."""
        return self.post("/payments", fields if amount is None else {"amount": amount, **fields})

    def void(self, payment: Any, reason: str = "Declined") -> Answer:
        return self.post(f"/payments/{payment['id']}/void", {"reason": reason})

    def refund(self, **fields: Any) -> Answer:
        return self.post("/refunds", fields)

    def patch_shipment(self, shipment: Any, **fields: Any) -> Answer:
        path = f"{ORDERS}/{self['id']}/shipments/{shipment['id']}"
        return self.shop.patch(path, fields)

    def edit(self, *, headers: Any = None, **fields: Any) -> Answer:
        return self.post("/edit", {"reason": "The customer asked", **fields}, headers=headers)

    def first_line(self, **fields: Any) -> dict[str, Any]:
        """What a request says about the first line."""
        return {"lineItemId": self["lineItems"][0]["id"], **fields}

    def kinds(self) -> list[str]:
        """The kinds of its events so far."""
        events = self.shop.events()
        return [one["event"] for one in events if one["data"].get("id") == self["id"]]


def placed(shop: Shop, *lines: dict[str, Any], **fields: Any) -> Order:
    """A new order, of an untracked variant unless lines are given, as the API returns it."""
    made = shop.made(ORDERS, new_order(*(lines or [line(variant(shop))]), **fields))
    return Order(shop, ORDERS, made)


def counts_agree() -> bool:
    return not [name for name, found in check.list_recounts() if found.wrong]


def at_once(count: int, call: Callable[[int], Answer]) -> list[Answer]:
    """The answers of concurrent requests, which begin together."""
    start = threading.Barrier(count)

    def run(number: int) -> Answer:
        start.wait()
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def product_path(variant_id: str) -> str:
    return f"/api/admin/products/prod_{variant_id[4:30]}"


def set_stock(shop: Shop, variant_id: str, stock: int | None) -> Answer:
    """Of the only variant of its product."""
    change = {"variants": [{"id": variant_id, "stock": stock}]}
    return shop.put(product_path(variant_id), change)


def move_stock(shop: Shop, variant_id: str, reason: str = "RECEIVED", **how: Any) -> Answer:
    """`by` a number, or `to` a count."""
    moves = [{"variantId": variant_id, "reason": reason, **how}]
    return shop.post(f"{product_path(variant_id)}/stock", {"moves": moves})


def stock_of(shop: Shop, variant_id: str) -> int | None:
    product = shop.get(product_path(variant_id)).json
    return next((v["stock"] for v in product["variants"] if v["id"] == variant_id), None)


def kinds(shop: Shop) -> list[str]:
    """The kinds of the events so far, except of products, payments and refunds."""
    others = ("product.", "payment.", "refund.")
    found = [event["event"] for event in shop.events()]
    return [kind for kind in found if not kind.startswith(others)]


def keys_written(dynamodb: Double) -> list[tuple[str, str]]:
    """The keys of the items that transactions write or check, filled from now on."""
    written: list[tuple[str, str]] = []

    def note(operation: str, request: Any) -> None:
        for action in request.get("TransactItems", []):
            (one,) = action.values()
            key = one.get("Key", one.get("Item"))
            written.append((key["pk"]["S"], key["sk"]["S"]))

    dynamodb.faults = note
    return written


def before_the_commit(dynamodb: Double, action: Callable[[], object]) -> None:
    """Calls `action` just before the commit of the next request. The test fails without one."""
    dynamodb.meanwhile("TransactWriteItems", action)


class Client:
    """Makes requests about an order, whose first commit may fail. Perhaps another client acts
    before it, so that the request is computed again."""

    def __init__(self, dynamodb: Double, chance: random.Random, meanwhile: Callable[[], object]):
        self.dynamodb, self.chance = dynamodb, chance
        self.meanwhile, self.asked = meanwhile, count(1)

    def ask(self, order: Order, path: str, body: Any) -> Answer:
        """The answer, repeated with its key after a crash."""
        key = {"Idempotency-Key": f"{order['id']} {next(self.asked)}"}
        fault, other = self.chance.choice(FAULTS), self.chance.random() < 0.25

        def inject(operation: str, request: Any) -> Fault | None:
            if operation != "TransactWriteItems":
                return None
            self.dynamodb.faults = lambda operation, request: None
            if other:
                self.meanwhile()
            return fault

        self.dynamodb.faults = inject
        try:
            with suppress(Crash):
                return order.post(path, body, headers=key)
            return order.post(path, body, headers=key)
        finally:
            self.dynamodb.faults = lambda operation, request: None
