"""Thousands of operations by eight clients at once, with conflicts, lost answers and crashes: at
the end the entries of the ledger add up to the stock of every variant."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

import pytest

from chalicelib import deadline
from chalicelib.stock import store as ledger
from chalicelib.webhooks import fan_out
from tests.orders.build import ORDERS, line, new_order, product
from tests.stock.build import agrees, fanned_out, movements, traced
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop
from tests.support.webhook_events import stream

PRODUCTS = "/api/admin/products"
CLIENTS = 8
OPERATIONS = 5_120
_FAULTS = [Fault.CONFLICT, Fault.LOST, Fault.LOST_AFTER, Fault.ERROR_AFTER]
_CRASHES = [Fault.CRASH, Fault.CRASH_AFTER]


class Client:
    """One of the clients: makes any operation that changes stock, on what all of them made."""

    def __init__(self, shop: Shop, seed: int, made: dict[str, Any], orders: list[str]) -> None:
        self.shop, self.random = shop, random.Random(seed)
        self.made, self.orders = made, orders
        self.answers: dict[int, int] = {}

    def act(self) -> None:
        operation = self.random.choices(
            [self.place, self.edit, self.status, self.refund, self.delete, self.move, self.put],
            [40, 10, 15, 8, 4, 12, 11],
        )[0]
        with suppress(Crash):
            answer = operation()
            if answer is not None:
                assert answer.status != 500, answer.text
                self.answers[answer.status] = self.answers.get(answer.status, 0) + 1

    def _variant(self) -> Any:
        return self.random.choice(self.random.choice(list(self.made.values()))["variants"])

    def _order(self) -> Any:
        if not self.orders:
            return None
        found = self.shop.get(f"{ORDERS}/{self.random.choice(self.orders[-60:])}")
        return found.json if found.status == 200 else None

    def place(self) -> Answer:
        lines = [line(self._variant()["id"], self.random.randint(1, 3)) for _ in range(2)]
        paid = self.random.choice([{}, {"paymentStatus": "PAID"}])
        answer = self.shop.post(ORDERS, new_order(*lines, customer=None, **paid))
        if answer.status == 201:
            self.orders.append(answer.json["id"])
        return answer

    def edit(self) -> Answer | None:
        order = self._order()
        if order is None:
            return None
        first = order["lineItems"][0]["id"]
        change: dict[str, Any] = {"reason": "Asked", "add": [line(self._variant()["id"])]}
        if self.random.random() < 0.5:
            quantity = self.random.randint(1, 4)
            change["change"] = [{"lineItemId": first, "quantity": quantity}]
        else:
            change["remove"] = [first]
        return self.shop.post(f"{ORDERS}/{order['id']}/edit", change)

    def status(self) -> Answer | None:
        order = self._order()
        wanted = self.random.choice(["CANCELLED", "PROCESSING", "SHIPPED", "REFUNDED"])
        return order and self.shop.patch(f"{ORDERS}/{order['id']}", {"status": wanted})

    def refund(self) -> Answer | None:
        order = self._order()
        if order is None:
            return None
        piece = {"lineItemId": order["lineItems"][-1]["id"], "quantity": 1}
        return self.shop.post(f"{ORDERS}/{order['id']}/refunds", {"lines": [piece]})

    def delete(self) -> Answer | None:
        order = self._order()
        return order and self.shop.delete(f"{ORDERS}/{order['id']}")

    def move(self) -> Answer:
        id = self._variant()["id"]
        how = self.random.choice([{"by": self.random.choice([-2, 3, 9])}, {"to": 12}])
        moves = [{"variantId": id, "reason": "COUNTED", **how}]
        return self.shop.post(f"{PRODUCTS}/prod_{id[4:30]}/stock", {"moves": moves})

    def put(self) -> Answer:
        """A quantity, tracked or not; sometimes the whole product is deleted, and another made."""
        at = self.random.choice(list(self.made))
        one = self.made[at]
        if self.random.random() < 0.1:
            answer = self.shop.delete(f"{PRODUCTS}/{one['id']}")
            self.made[at] = product(self.shop, 20, 5, None)
            return answer
        wanted = [{"id": each["id"]} for each in one["variants"]]
        self.random.choice(wanted)["stock"] = self.random.choice([None, 4, 30])
        return self.shop.put(f"{PRODUCTS}/{one['id']}", {"variants": wanted})


@pytest.mark.parametrize("seed", [1])
def test_the_ledger_adds_up_after_a_random_walk(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    shop.as_("OWNER")
    made = {str(n): product(shop, 30, 12, None) for n in range(6)}
    orders: list[str] = []
    chance, lock = random.Random(seed), Lock()

    def faults(operation: str, request: Any) -> Fault | None:
        if operation != "TransactWriteItems":
            return None
        with lock:
            if chance.random() < 0.05:
                return chance.choice(_FAULTS)
            return chance.choice(_CRASHES) if chance.random() < 0.005 else None

    clients = [Client(shop, seed * 100 + n, made, orders) for n in range(CLIENTS)]
    seen: list[Any] = []
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(20):
            dynamodb.faults = faults
            work: list[Callable[[], None]] = [one.act for one in clients]
            list(pool.map(lambda act: [act() for _ in range(OPERATIONS // 160)], work))
            _some_arrive(dynamodb, seen, chance)
    dynamodb.faults = lambda operation, request: None
    fanned_out(dynamodb)
    assert agrees(shop) > OPERATIONS // 3
    assert ledger.recount().wrong == []
    sales = [one for one in movements(shop) if one["cause"] == "SALE"]
    assert sales and all(one["orderId"] for one in sales)
    answered = {status for one in clients for status in one.answers}
    assert {200, 201, 422} <= answered


def _some_arrive(dynamodb: Double, seen: list[Any], chance: random.Random) -> None:
    """The stream brings what is new, in any order, and some of it again; the fan-out may fail."""
    known = {item["pk"]["S"] for item in seen}
    new = [item for item in traced(dynamodb) if item["pk"]["S"] not in known]
    seen += new
    brought = new + chance.sample(seen, min(20, len(seen)))
    chance.shuffle(brought)
    with suppress(Crash):
        fan_out.records(stream(brought))
