"""Random walks of two clients that ship, cancel, refund, edit, move, close and delete orders, with
functions that are killed; a model says where each piece is, and what stock and lists must be.

`WALKS=500` walks them all.
"""

import os
import random
from dataclasses import dataclass
from typing import Any

import pytest

from tests.orders.build import (
    ORDERS,
    Client,
    Order,
    counts_agree,
    line,
    move_stock,
    new_order,
    stock_of,
    variant,
)
from tests.stock.build import agrees, fanned_out
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

WALKS, PARTS, STEPS = int(os.environ.get("WALKS", "100")), 10, 10
OPEN = {"PAID", "PROCESSING"}


@dataclass
class Line:
    """Where the pieces of a line are. `taken`: of the stock, and not decided about. `untaken`: how
    many pieces the line may have that the stock never had (SKIP)."""

    id: str
    variant: str
    quantity: int
    taken: int
    stock: int
    untaken: int
    shipped: int = 0
    withdrawn: int = 0
    returned: int = 0

    @property
    def to_ship(self) -> int:
        return self.quantity - self.shipped - self.withdrawn

    @property
    def rest(self) -> int:
        """Pieces that are not refunded, and were not taken."""
        return self.quantity - self.withdrawn - self.returned - self.taken

    @property
    def in_house(self) -> int:
        return max(0, self.taken - (self.shipped - self.returned))


class Walk:
    """An order, and what the model knows of it."""

    def __init__(self, shop: Shop, dynamodb: Double, chance: random.Random) -> None:
        self.shop, self.chance = shop, chance
        self.policy = chance.choices(["CHECK", "FORCE", "SKIP"], [4, 3, 3])[0]
        stocks = [chance.randint(0, 3) if self.policy == "FORCE" else 20 for _ in range(2)]
        sold = [(variant(shop, stock), chance.randint(1, 5)) for stock in stocks]
        lines = [line(id, pieces, price="10.00") for id, pieces in sold]
        asked = new_order(*lines, paymentStatus="PAID", stockPolicy=self.policy)
        made = shop.made(ORDERS, asked)
        self.order, self.lines = Order(shop, ORDERS, made), list[Line]()
        for one, (id, pieces), stock in zip(made["lineItems"], sold, stocks, strict=True):
            taken = 0 if self.policy == "SKIP" else min(pieces, stock)
            untaken = pieces if self.policy == "SKIP" else 0
            self.lines.append(Line(one["id"], id, pieces, taken, stock - taken, untaken))
        self.status, self.is_closed, self.is_deleted = "PAID", False, False
        self.shipments: list[tuple[dict[str, int], list[str]]] = []  # pieces, state
        self.client = Client(dynamodb, chance, self.ship_meanwhile)

    def ask(self, path: str, body: Any) -> Answer:
        return self.client.ask(self.order, path, body)

    def ship_meanwhile(self) -> None:
        one = self.lines[0]
        if self.can_ship() and one.to_ship:
            parts = {one.id: 1}
            body = {"lines": [{"lineItemId": one.id, "quantity": 1}]}
            assert self.order.post("/shipments", body).status == 201
            self.note_shipped(parts, "SHIPPED")

    def can_ship(self) -> bool:
        return self.status in OPEN and not self.is_closed

    def note_shipped(self, parts: dict[str, int], state: str) -> None:
        for one in self.lines:
            one.shipped += parts.get(one.id, 0)
        self.shipments.append((parts, [state]))
        self.status = "PROCESSING" if any(one.to_ship for one in self.lines) else "SHIPPED"
        states = {states[0] for _, states in self.shipments} - {"CANCELLED"}
        if self.status == "SHIPPED" and states == {"DELIVERED"}:
            self.status = "DELIVERED"

    def step(self) -> None:
        acts = [self.ship] * 4 + [self.cancel, self.refund, self.refund, self.edit, self.move]
        acts += [self.receive, self.deliver]
        acts += [self.close, self.delete] * (self.chance.random() < 0.15)
        self.chance.choice(acts)()

    def ship(self) -> None:
        parts = {one.id: self.chance.randint(1, 3) for one in self.lines}
        if self.chance.random() < 0.5:
            del parts[self.chance.choice(list(parts))]
        is_all = self.chance.random() < 0.2
        lines = [{"lineItemId": id, "quantity": pieces} for id, pieces in parts.items()]
        state = self.chance.choice(["SHIPPED", "DELIVERED"])
        body: dict[str, Any] = {"method": "PICKUP" if state == "DELIVERED" else "PARCEL"}
        body |= {} if is_all else {"lines": lines}
        answer = self.ask("/shipments", body)
        if is_all:
            parts = {one.id: one.to_ship for one in self.lines if one.to_ship}
        code = None
        if self.is_closed:
            code = "order_closed"
        elif not self.can_ship():
            code = "not_shippable"
        elif any(parts.get(one.id, 0) > one.to_ship for one in self.lines):
            code = "exceeds_quantity"
        elif not parts:
            code = "nothing_to_ship"
        assert (answer.status, answer.json.get("code")) == (422 if code else 201, code)
        if not code:
            self.note_shipped(parts, state)

    def cancel(self) -> None:
        if not self.shipments:
            return
        place = self.chance.randrange(len(self.shipments))
        parts, state = self.shipments[place]
        id = self.order.read()["shipments"][place]["id"]
        answer = self.ask(f"/shipments/{id}/cancel", {"reason": "Still here"})
        stays = any(one.shipped - one.returned < parts.get(one.id, 0) for one in self.lines)
        if state[0] == "CANCELLED":
            assert (answer.status, answer.json["code"]) == (409, "shipment_cancelled")
        elif self.is_closed or self.status not in OPEN or stays:
            codes = {"order_closed", "too_late", "pieces_returned"}
            assert answer.status == 422 and answer.json["code"] in codes
        else:
            assert answer.status == 200, answer.text
            state[0] = "CANCELLED"
            for one in self.lines:
                one.shipped -= parts.get(one.id, 0)

    def refund(self) -> None:
        one, pieces = self.chance.choice(self.lines), self.chance.randint(1, 2)
        said = self.chance.choice([None, None, 0, 1, 2])
        restock = self.chance.choice([None, None, True, False])
        part: dict[str, Any] = {"lineItemId": one.id, "quantity": pieces}
        part |= {} if said is None else {"returned": said}
        part |= {} if restock is None else {"restock": restock}
        answer = self.ask("/refunds", {"amount": "0.01", "lines": [part]})
        at_customer = one.shipped - one.returned
        to_ship = 0 if self.is_closed else one.to_ship
        returned = min(max(0, pieces - to_ship), at_customer) if said is None else said
        is_refused = pieces > one.quantity - one.withdrawn - one.returned
        is_refused |= said is not None and (
            said > min(pieces, at_customer) or pieces - said > to_ship
        )
        if self.is_closed:
            assert answer.status == 422  # no money is left
            return
        assert answer.status == (422 if is_refused else 201), answer.text
        if is_refused:
            assert answer.json["code"] == "exceeds_quantity"
            return
        back = min(pieces - returned, one.in_house) if restock is None else 0
        back = min(one.taken, pieces) if restock else back
        one.untaken = max(0, one.untaken - max(0, pieces - one.taken))
        one.taken -= min(one.taken, pieces)
        one.stock += back
        one.returned += returned
        one.withdrawn += pieces - returned

    def receive(self) -> None:
        one = self.chance.choice(self.lines)
        assert move_stock(self.shop, one.variant, by=3).status == 200
        one.stock += 3

    def edit(self) -> None:
        one, quantity = self.chance.choice(self.lines), self.chance.randint(1, 6)
        change = {"change": [{"lineItemId": one.id, "quantity": quantity}], "reason": "Asked"}
        answer = self.ask("/edit", change)
        more = quantity - one.quantity
        taken = one.taken + max(0, more - max(0, one.untaken - one.rest))
        if more < 0:  # first what was missing, then what was taken and is here
            fewer = max(0, -more - one.rest) if self.policy == "FORCE" else -more
            taken = max(min(one.taken, one.shipped - one.returned), one.taken - fewer)
        if self.is_closed or self.status not in OPEN:
            assert answer.json["code"] in {"order_closed", "too_late"}
        elif quantity < one.withdrawn + one.returned:
            assert answer.json["code"] == "below_refunded"
        elif one.shipped and quantity < one.withdrawn + one.shipped:
            assert answer.json["code"] == "below_shipped"
        elif taken - one.taken > one.stock:
            assert answer.json["code"] == "insufficient_stock"
        else:
            assert answer.status == 200, answer.text
            one.stock -= taken - one.taken
            one.quantity, one.taken = quantity, taken

    def move(self) -> None:
        to = {"PAID": "PROCESSING", "PROCESSING": "SHIPPED"}.get(self.status, "DELIVERED")
        answer = self.order.patch({"status": to})
        if self.is_closed or self.status == "DELIVERED":
            assert answer.status == 422
            return
        assert answer.status == 200, answer.text
        if to == "SHIPPED" and (rest := {one.id: one.to_ship for one in self.lines if one.to_ship}):
            self.note_shipped(rest, "SHIPPED")
        if to == "DELIVERED":
            for _, state in self.shipments:
                state[0] = "CANCELLED" if state[0] == "CANCELLED" else "DELIVERED"
        self.status = to

    def deliver(self) -> None:
        shown = self.order.read()["shipments"]
        places = [n for n, (_, state) in enumerate(self.shipments) if state[0] == "SHIPPED"]
        if not places:
            return
        place = self.chance.choice(places)
        answer = self.order.patch_shipment(shown[place], deliveredAt="2026-01-02")
        assert answer.status == 200, answer.text
        self.shipments[place][1][0] = "DELIVERED"
        states = {state[0] for _, state in self.shipments} - {"CANCELLED"}
        if self.status == "SHIPPED" and states == {"DELIVERED"} and not self.is_closed:
            self.status = "DELIVERED"

    def close(self) -> None:
        answer = self.ask("/close", {"reason": "Stopped"})
        assert answer.status == 200, answer.text
        if not self.is_closed and self.status in OPEN:
            for one in self.lines:
                one.stock, one.taken = one.stock + one.in_house, 0
        self.is_closed = True
        self.status = "REFUNDED" if self.status == "PAID" else self.status

    def delete(self) -> None:
        assert self.order.delete().status == 200
        for one in self.lines:
            one.stock += one.in_house if self.status in OPEN else 0
        self.is_deleted = True

    def check(self) -> None:
        for one in self.lines:
            assert stock_of(self.shop, one.variant) == one.stock
        if self.is_deleted:
            return
        order = self.order.read()
        has_ended = self.is_closed or self.status == "REFUNDED"
        shown = [
            (one["quantity"], one["shippedQuantity"], one["toShip"]) for one in order["lineItems"]
        ]
        assert shown == [
            (one.quantity, one.shipped, 0 if has_ended else one.to_ship) for one in self.lines
        ]
        left = 0 if has_ended else sum(one.to_ship for one in self.lines)
        whole = "PARTIAL" if left else "ALL"
        expected = whole if any(one.shipped for one in self.lines) else "NONE"
        assert (order["status"], order["shippingStatus"]) == (self.status, expected)
        assert len(order["shipments"]) == len(self.shipments)
        assert (order["shippedAt"] is not None) == (self.status in {"SHIPPED", "DELIVERED"})


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_pieces_stock_and_lists_are_those_of_the_model(
    shop: Shop, dynamodb: Double, part: int
) -> None:
    chance, walks = random.Random(part), list[Walk]()
    for _ in range(WALKS // PARTS):
        walk = Walk(shop, dynamodb, chance)
        walks.append(walk)
        for _ in range(STEPS):
            walk.step()
            walk.check()
            if walk.is_deleted:
                break
    assert any(walk.status == "DELIVERED" for walk in walks)
    there = [walk for walk in walks if not walk.is_deleted]
    for state in ("SHIPPED", "DELIVERED", "CANCELLED"):
        known = sum(states == [state] for walk in there for _, states in walk.shipments)
        listed = shop.get(f"/api/admin/shipments?state={state}&limit=100").json
        assert (listed["total"], len(listed["data"])) == (known, min(100, known))
    partly = [walk for walk in there if walk.order.read()["shippingStatus"] == "PARTIAL"]
    assert shop.get(f"{ORDERS}?shippingStatus=PARTIAL").json["total"] == len(partly)
    kinds = [(one["event"], one["data"].get("id")) for one in shop.events()]
    for walk in there:
        shipped = walk.status in {"SHIPPED", "DELIVERED"}
        assert kinds.count(("order.shipped", walk.order["id"])) == shipped
    fanned_out(dynamodb)
    assert agrees(shop)
    assert counts_agree()
