"""Random walks of orders with what is made, with functions that are killed: the list of what is due
and the stock are those of a model."""

import random
from contextlib import suppress
from typing import Any

import pytest

from tests.orders.build import ORDERS, Order, counts_agree, line, new_order, product, stock_of
from tests.stock.build import agrees, fanned_out
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Shop

WALKS, STEPS, STOCK = 100, 8, 30
FAULTS = [None, None, Fault.CRASH, Fault.CRASH_AFTER, Fault.CONFLICT, Fault.LOST_AFTER]
OPEN = {"PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"}
DAYS = [None, "2027-01-01", "2027-01-02", "2027-03-01"]


class Walk:
    """One order of a product that is made, and one that is not."""

    def __init__(self, shop: Shop, dynamodb: Double, chance: random.Random) -> None:
        self.shop, self.dynamodb, self.chance = shop, dynamodb, chance
        made = product(shop, STOCK, madeToOrder=True, leadDays=chance.choice([None, 7]))
        self.made, self.sold = (
            made["variants"][0]["id"],
            product(shop, STOCK)["variants"][0]["id"],
        )
        lines = [line(self.made, 3), line(self.sold, 3)]
        sent = new_order(*lines, paymentMethod="CASH", dueOn=chance.choice(DAYS))
        self.order = Order(shop, ORDERS, shop.made(ORDERS, sent))

    def step(self) -> None:
        """A request, whose function may be killed; perhaps it is made again."""
        now = self.order.read()
        line = self.chance.choice(now["lineItems"])
        day, pieces = self.chance.choice(DAYS), self.chance.randint(1, 3)
        part = {"lineItemId": line["id"], "quantity": pieces}
        change = {"lineItemId": line["id"], "dueOn": day, "make": self.chance.random() < 0.5}
        add = {"variantId": self.chance.choice([self.made, self.sold]), "quantity": pieces}
        requests: list[Any] = [
            lambda: self.order.patch({"dueOn": day}),
            lambda: self.order.edit(change=[change]),
            lambda: self.order.edit(change=[{**part, "dueOn": day}]),
            lambda: self.order.edit(add=[{**add, "dueOn": day}]),
            lambda: self.order.edit(remove=[line["id"]]),
            self.order.pay,
            lambda: self.order.refund(lines=[part]),
            lambda: self.order.post("/shipments", {"lines": [part]}),
            lambda: self.order.moved(self.chance.choice([*OPEN, "SHIPPED", "REFUNDED"])),
            lambda: self.order.post("/close", {"reason": "Stopped", "method": "CASH"}),
        ]
        weights = [3, 3, 2, 2, 1, 2, 2, 2, 1, 0.3]
        (ask,) = self.chance.choices(requests, weights)
        fault = self.chance.choice(FAULTS)

        def inject(operation: str, request: Any) -> Fault | None:
            if operation != "TransactWriteItems":
                return None
            self.dynamodb.faults = lambda operation, request: None
            return fault

        self.dynamodb.faults = inject
        try:
            with suppress(Crash):
                assert ask().status < 500
        finally:
            self.dynamodb.faults = lambda operation, request: None

    def due_day(self, now: Any) -> str | None:
        """The day by which the model expects the order, as it is shown now."""
        if now["status"] not in OPEN or now["closedAt"]:
            return None
        days = [one["dueOn"] for one in now["lineItems"] if one["dueOn"] and one["toShip"]]
        found: str | None = now["dueOn"] or min(days, default=None)
        return found

    def check_stock(self, now: Any) -> None:
        """What is made took nothing; the rest is there, sold and not back, or at a customer."""
        for id in (self.made, self.sold):
            stock = stock_of(self.shop, id)
            pieces = sum(
                one["quantity"]
                for one in now["lineItems"]
                if one["variantId"] == id and not one["make"]
            )
            assert stock is not None and STOCK - pieces <= stock <= STOCK, (id, now)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(5))
def test_the_due_list_and_the_stock_are_those_of_the_model(
    shop: Shop, dynamodb: Double, part: int
) -> None:
    chance, walks = random.Random(part), list[Walk]()
    for _ in range(WALKS // 5):
        walks.append(Walk(shop, dynamodb, chance))
        for _ in range(STEPS):
            chance.choice(walks).step()
    for walk in chance.sample(walks, 3):
        while walk.order.delete().status != 200:
            walk.order.moved("PAID")
        walks.remove(walk)
    expected = []
    for walk in walks:
        now = walk.order.read()
        walk.check_stock(now)
        if day := walk.due_day(now):
            expected.append((day, now["id"]))
    found = shop.get(f"{ORDERS}/due?limit=100").json
    assert [one["id"] for one in found["data"]] == [id for _, id in sorted(expected)]
    assert found["total"] == len(expected) > 0
    fanned_out(dynamodb)
    agrees(shop)
    assert counts_agree()
