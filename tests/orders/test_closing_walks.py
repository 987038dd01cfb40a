"""Random walks of two clients that pay, refund, void, correct, move and close one order, with
functions that are killed; a model says what its money, stock and events must be. `WALKS=500` walks
more of them."""

import os
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.orders.build import (
    ORDERS,
    Client,
    Order,
    counts_agree,
    line,
    new_order,
    stock_of,
    variant,
)
from tests.stock.build import agrees, fanned_out, movements, moves_in
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

WALKS, PARTS = int(os.environ.get("WALKS", "120")), 3
STEPS, STOCK, PIECES, TOTAL = 7, 5, 2, Decimal(100)
ENDED = {"CANCELLED", "REFUNDED"}
BEFORE_SHIPPING = {"PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"}
NEXT = {"PAID": "IN_PRODUCTION", "IN_PRODUCTION": "PROCESSING", "PROCESSING": "SHIPPED"}


class Walk:
    """An order, and what the model knows of it."""

    def __init__(self, shop: Shop, dynamodb: Double, chance: random.Random, sold: str) -> None:
        self.shop, self.chance, self.sold = shop, chance, sold
        made = shop.made(ORDERS, new_order(line(sold, PIECES, price="50.00"), paymentMethod="CASH"))
        self.order = Order(shop, ORDERS, made)
        self.net, self.stock, self.status = Decimal(0), STOCK - PIECES, "PENDING"
        self.kept: Decimal | None = None
        self.events = Counter({"order.created": 1})  # all that receivers get of it
        self.moves = [("TRACKED", None, STOCK), ("SALE", -PIECES, self.stock)]  # of its stock
        self.client = Client(dynamodb, chance, self.note_meanwhile)

    def ask(self, path: str, body: Any) -> Answer:
        return self.client.ask(self.order, path, body)

    def note_meanwhile(self) -> None:
        assert self.order.patch({"note": f"{self.chance.random()}"}).status == 200
        self.events["order.updated"] += 1

    def accept(self, before: Any, after: Any) -> None:
        """Count the events of an acknowledged change, but those about its money records."""
        self.events["order.updated"] += 1
        self.events["order.paid"] += after["paidAt"] is not None and before["paidAt"] is None
        states = [{one["status"], one["paymentStatus"]} for one in (before, after)]
        self.events["order.refunded"] += "REFUNDED" in states[1] - states[0]

    def step(self) -> None:
        before = self.order.read()
        valid = [one for one in before["payments"] if not one["voidedAt"]]
        getattr(
            self, self.chance.choice(["pay", "pay", "refund", "void", "correct", "move", "close"])
        )(before, valid)

    def pay(self, before: Any, valid: Any) -> None:
        amount, due = Decimal(self.chance.randint(1, 60)), Decimal(before["balanceDue"])
        answer = self.ask("/payments", {"amount": str(amount), "method": "CASH"})
        refused = self.kept is not None or self.status in ENDED
        refused = refused or before["paymentStatus"] == "REFUNDED"
        if refused or amount > due:
            code = "order_closed" if refused else "overpaid"
            assert (answer.status, answer.json["code"]) == (422, code)
            return
        assert answer.status == 201, answer.text
        self.net += amount
        self.accept(before, answer.json)
        self.events["payment.created"] += 1
        if self.status == "PENDING" and amount == due:
            self.status = "PAID"

    def refund(self, before: Any, valid: Any) -> None:
        amount = Decimal(self.chance.randint(1, 60))
        answer = self.ask("/refunds", {"amount": str(amount), "method": "CASH"})
        if amount > self.net:
            assert answer.status == 422
            return
        assert answer.status == 201, answer.text
        self._gives(amount)
        self.accept(before, answer.json)
        self.events["refund.created"] += 1

    def void(self, before: Any, valid: Any) -> None:
        if not valid:
            return
        one = self.chance.choice(valid)
        answer = self.ask(f"/payments/{one['id']}/void", {})
        if Decimal(one["amount"]) > self.net:
            assert (answer.status, answer.json["code"]) == (409, "payment_refunded")
            return
        assert answer.status == 200, answer.text
        self._gives(Decimal(one["amount"]))
        self.accept(before, answer.json)
        self.events["payment.voided"] += 1

    def correct(self, before: Any, valid: Any) -> None:
        if not valid:
            return
        one = self.chance.choice(valid)
        method = "CARD" if one["method"] == "CASH" else "CASH"
        answer = self.ask(f"/payments/{one['id']}/correct", {"method": method})
        assert answer.status == 200, answer.text
        self.accept(before, answer.json)
        self.events["payment.voided"] += 1
        self.events["payment.created"] += 1

    def move(self, before: Any, valid: Any) -> None:
        to = NEXT.get(self.status, "DELIVERED")
        answer = self.order.patch({"status": to})
        if self.status in NEXT and self.kept is not None:
            assert (answer.status, answer.json["code"]) == (422, "order_closed")
        elif self.status in NEXT:
            assert answer.status == 200, answer.text
            self.status = to
            self.accept(before, answer.json)
            self.events["order.shipped"] += to == "SHIPPED"

    def close(self, before: Any, valid: Any) -> None:
        keep = Decimal(self.chance.choice([0, 0, self.chance.randint(1, 60), int(self.net)]))
        restock = self.chance.random() < 0.8
        body = {"keep": str(keep), "reason": "Stopped", "restock": restock}
        preview = self.order.post("/close", {**body, "dryRun": True})
        answer = self.ask("/close", body)
        if keep > self.net or (self.kept is None and self.status in ENDED):
            assert answer.status == preview.status == 422, answer.text
            assert answer.json == preview.json
            return
        assert answer.status == preview.status == 200, answer.text
        is_new, rest = self.kept is None, self.net - keep
        returns = is_new and restock and self.status in BEFORE_SHIPPING
        assert bool(preview.json["restocks"]) == returns
        if returns:
            self.stock += PIECES
            self.moves.append(("RETURN", PIECES, self.stock))
        refunds = len(answer.json["refunds"]) - len(before["refunds"])
        assert len(preview.json["refunds"]) == refunds
        assert sum(Decimal(one["amount"]) for one in preview.json["refunds"]) == rest
        self.events["refund.created"] += refunds
        if is_new and self.status == "PENDING":
            self.status = "CANCELLED"
            self.events["order.cancelled"] += 1
        elif self.status == "PAID" and self.net and not keep:
            self.status = "REFUNDED"
        assert preview.json["statusAfter"] == self.status
        if is_new or rest:
            self.accept(before, answer.json)
            self.events["order.closed"] += 1
        self.net = self.kept = keep

    def _gives(self, amount: Decimal) -> None:
        self.net -= amount
        if self.kept is not None:
            self.kept = self.net
            self.events["order.closed"] += 1

    def check(self) -> None:
        order = self.order.read()
        assert Decimal(order["amountPaid"]) - Decimal(order["amountRefunded"]) == self.net
        assert order["status"] == self.status
        assert (order["kept"] and Decimal(order["kept"])) == self.kept
        assert (order["closedAt"] is None) == (self.kept is None)
        if self.kept is not None:
            assert Decimal(order["balanceDue"]) == 0
        assert stock_of(self.shop, self.sold) == self.stock

    def check_traces(self, kinds: list[str]) -> None:
        """Each event was sent once for each acknowledged request, and so was each move of stock."""
        assert Counter(kinds) == +self.events
        assert moves_in(movements(self.shop, variantId=self.sold)) == self.moves


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_money_stock_ledger_and_events_are_those_of_the_model(
    shop: Shop, dynamodb: Double, part: int
) -> None:
    chance, walks = random.Random(part), list[Walk]()
    for _ in range(WALKS // PARTS):
        walk = Walk(shop, dynamodb, chance, variant(shop, STOCK))
        for _ in range(STEPS):
            walk.step()
            walk.check()
        walks.append(walk)
    assert any(walk.kept for walk in walks)
    told: dict[str, list[str]] = {}
    for event in shop.events():
        data = event["data"]
        told.setdefault(data.get("orderId") or data.get("id", ""), []).append(event["event"])
    fanned_out(dynamodb)
    assert agrees(shop) == sum(len(walk.moves) for walk in walks)
    for walk in walks:
        walk.check_traces(told[walk.order["id"]])
    summary = shop.get("/api/admin/summary").json
    open_orders = [w for w in walks if w.kept is None and w.status not in {*ENDED, "DELIVERED"}]
    assert summary["openOrders"]["total"] == len(open_orders)
    revenue = sum(min(walk.net, TOTAL) for walk in walks)
    assert Decimal(summary["today"]["revenue"]) == revenue
    assert counts_agree()
