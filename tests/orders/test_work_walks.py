"""Random walks of orders with what is made, of one client and of eight at once, with functions that
are killed: work exists and is open by its rule, and lists and counts are those of the orders."""

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

from chalicelib.customers import store as customers
from chalicelib.orders import store as orders
from tests.orders.build import ORDERS, Order, line, new_order, product, stock_of
from tests.orders.test_work import STAGES, WORK, agrees, announced, custom
from tests.stock.build import agrees as ledger_agrees
from tests.stock.build import fanned_out
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Shop

WALKS = int(os.environ.get("WALKS", "60"))
STEPS, CLIENTS = 9, 8
FAULTS = [None, None, None, Fault.CRASH, Fault.CRASH_AFTER, Fault.CONFLICT, Fault.LOST_AFTER]
WORKED_ON = {"PAID", "IN_PRODUCTION", "PROCESSING"}
DAYS = [None, "2027-01-01", "2027-01-02", "2001-01-01"]


class Walk:
    """Orders of a product that is made and one that is not, and requests about them."""

    def __init__(self, shop: Shop, chance: random.Random) -> None:
        self.shop, self.chance, self.orders = shop, chance, list[Order]()
        self.made = product(shop, 9, madeToOrder=True)["variants"][0]["id"]
        self.sold = product(shop, 90_000)["variants"][0]["id"]

    def place(self) -> None:
        chance = self.chance
        lines = [line(self.made, 3), custom(quantity=2), line(self.sold, 3)]
        paid = chance.choice(["PAID", "PENDING"])
        sent = new_order(*lines, paymentMethod="CASH", dueOn=chance.choice(DAYS))
        made = self.shop.made(ORDERS, {**sent, "paymentStatus": paid})
        self.orders.append(Order(self.shop, ORDERS, made))

    def step(self, chance: random.Random) -> None:
        """Make a request that may come at any time. It never fails in the service."""
        order = chance.choice(self.orders)
        path = f"{ORDERS}/{order['id']}"
        read = self.shop.get(path)
        if read.status == 404:
            return
        now = read.json
        known = chance.choice(now["lineItems"])
        part = {"lineItemId": known["id"], "quantity": chance.randint(1, 3)}
        stages = [one["id"] for one in self.shop.read(STAGES)["stages"]]
        stage, day = chance.choice([*stages, stages[-1]]), chance.choice(DAYS)
        edit = {"lineItemId": known["id"], "make": chance.random() < 0.7, "dueOn": day}
        add = chance.choice([custom(), line(self.made), line(self.sold)])
        work = {"stage": stage, "note": chance.choice([None, "Left", "Right"])}
        made = {"made": chance.randint(0, 3), "assignee": chance.choice([None, "emp_ann"])}
        post, patch = self.shop.post, self.shop.patch
        why = {"reason": "Asked", "unlock": chance.random() < 0.8}
        requests: list[tuple[float, Callable[[], Any]]] = [
            (9, lambda: patch(f"{path}/work/{known['id']}", work)),
            (3, lambda: patch(f"{path}/work/{known['id']}", made)),
            (1, lambda: patch(path, {"dueOn": day})),
            (2, lambda: post(f"{path}/edit", {"change": [edit], **why})),
            (2, lambda: post(f"{path}/edit", {"change": [part], **why})),
            (1, lambda: post(f"{path}/edit", {"add": [add], **why})),
            (1, lambda: post(f"{path}/edit", {"remove": [known["id"]], **why})),
            (2, lambda: post(f"{path}/payments", {})),
            (2, lambda: post(f"{path}/refunds", {"lines": [part], "method": "CASH"})),
            (2, lambda: post(f"{path}/shipments", {"lines": [part]})),
            (1, lambda: patch(path, {"status": chance.choice([*WORKED_ON, "REFUNDED"])})),
            (0.5, lambda: patch(path, {"status": "SHIPPED"})),
            (0.5, lambda: post(f"{path}/close", {"reason": "Stopped", "method": "CASH"})),
            (0.3, lambda: self.shop.delete(path)),
            (0.5, lambda: self.change_stages(chance)),
            (0.5, lambda: self.merge(now)),
        ]
        (ask,) = chance.choices([one for _, one in requests], [n for n, _ in requests])
        answer = ask()
        assert answer is None or answer.status < 500, answer.text

    def merge(self, order: Any) -> None:
        """Move an order to the customer of another, as the job of a merge does."""
        into = customers.get(self.orders[0]["customer"]["id"])
        orders.move_to_customer(order["id"], order["customer"]["id"], into, "a merge")

    def change_stages(self, chance: random.Random) -> Any:
        """Add a stage, or remove one; perhaps it is in use."""
        first, *others, last = self.shop.read(STAGES)["stages"]
        if len(others) > 1 and chance.random() < 0.6:
            others.remove(chance.choice(others))
        else:
            others.append({"name": f"Stage {chance.randrange(10**9)}"})
        return self.shop.put(STAGES, {"stages": [first, *others, last]})

    def check(self) -> None:
        """Compare work with the orders by its rule, and the lists and counts with both."""
        expected, ended, by_stage, overdue = set[str](), Counter[str](), Counter[str](), 0
        due: list[tuple[str, str]] = []
        stages = [one["id"] for one in self.shop.read(STAGES)["stages"]]
        found = announced(self.shop, "order.produced")
        events = Counter(one["data"]["orderId"] for one in found)
        for order in self.orders:
            read = self.shop.get(f"{ORDERS}/{order['id']}")
            if read.status == 404:
                continue
            if day := due_day(read.json):
                due.append((day, order["id"]))
            shown = self.shop.get(f"{ORDERS}/{order['id']}/work")
            works = shown.json["data"] if shown.status == 200 else []
            assert (shown.status == 404) == (read.json["status"] == "PENDING")
            check_order(read.json, works)
            produced = [one["change"] for one in read.json["history"]].count("produced")
            assert produced == events[order["id"]], read.json["history"]
            for one in works:
                ended[one["state"]] += one["state"] != "OPEN"
                if one["state"] == "OPEN":
                    expected.add(one["lineItemId"])
                    by_stage[one["stage"]["id"]] += 1
                    overdue += one["dueOn"] == "2001-01-01"
        board = list(self.shop.pages(f"{WORK}?limit=100"))
        listed = [one for page in board for one in page.json["data"]]
        assert {one["lineItemId"] for one in listed} == expected
        days = [one["dueOn"] or "9999" for one in listed]
        assert days == sorted(days)
        first = board[0].json
        assert (first["total"], first["overdue"]) == (len(expected), overdue)
        assert first["counts"] == {id: by_stage[id] for id in stages[:-1]}
        assert set(by_stage) <= set(stages[:-1])
        for state in ("DONE", "CANCELLED"):
            assert self.shop.read(f"{WORK}?state={state}")["total"] == ended[state]
        listed = self.shop.read(f"{ORDERS}/due?limit=100")
        assert [one["id"] for one in listed["data"]] == [id for _, id in sorted(due)]
        assert listed["total"] == len(due)
        assert agrees(self.shop)


def due_day(now: Any) -> str | None:
    """The day by which an order is due: its own, or the first of what is still to ship."""
    if now["status"] not in {"PENDING", *WORKED_ON} or now["closedAt"]:
        return None
    days = [one["dueOn"] for one in now["lineItems"] if one["dueOn"] and one["toShip"]]
    found: str | None = now["dueOn"] or min(days, default=None)
    return found


def check_order(order: Any, works: Iterable[Any]) -> None:
    """The rule of docs/production.md#work, by what is shown."""
    by_line = {one["lineItemId"]: one for one in works}
    is_worked_on = order["status"] in WORKED_ON and not order["closedAt"]
    for one in order["lineItems"]:
        work = by_line.pop(one["id"], None)
        if is_worked_on and one["make"] and one["toShip"]:
            assert work, (one, order)
            if work["state"] == "OPEN":
                continue
            assert work["state"] == "DONE" and work["made"] >= work["toMake"], (work, one)
        elif work:
            assert work["state"] != "OPEN", (work, one)
    assert all(gone["state"] != "OPEN" for gone in by_line.values())
    if is_worked_on:
        states = {one["state"] for one in works}
        assert bool(order["producedAt"]) == ("DONE" in states and "OPEN" not in states), works


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_work_follows_its_rule(shop: Shop, dynamodb: Double, part: int) -> None:
    chance = random.Random(part)
    walk = Walk(shop, chance)

    def inject(operation: str, request: Any) -> Fault | None:
        return chance.choice(FAULTS) if operation == "TransactWriteItems" else None

    for _ in range(WALKS // 4):
        walk.place()
        for _ in range(STEPS):
            dynamodb.faults = inject
            with suppress(Crash):
                walk.step(chance)
            dynamodb.faults = lambda operation, request: None
    walk.check()
    assert stock_of(shop, walk.made) is not None
    fanned_out(dynamodb)
    ledger_agrees(shop)


@pytest.mark.thorough
def test_work_follows_its_rule_with_eight_clients_at_once(shop: Shop, dynamodb: Double) -> None:
    chance, lock = random.Random(8), threading.Lock()
    walk = Walk(shop, chance)
    for _ in range(6):
        walk.place()

    def inject(operation: str, request: Any) -> Fault | None:
        with lock:
            return chance.choice(FAULTS) if operation == "TransactWriteItems" else None

    def run(number: int) -> None:
        own = random.Random(number)
        for _ in range(max(8, WALKS // 8)):
            try:
                with suppress(Crash):
                    walk.step(own)
            except BaseException as error:
                failed.append(error)
                return

    failed = list[BaseException]()
    dynamodb.faults = inject
    threads = [threading.Thread(target=run, args=[number]) for number in range(CLIENTS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    dynamodb.faults = lambda operation, request: None
    assert not failed, failed[0]
    walk.check()
    created = [one["data"]["lineItemId"] for one in announced(shop, "work.created")]
    assert len(created) == len(set(created))
