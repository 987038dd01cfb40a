"""Thousands of operations by eight clients at once, in every way that changes stock, and the work
of their jobs, with conflicts, lost answers and crashes: at the end the entries of the ledger add up
to the stock of every variant."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from threading import Event, Lock
from typing import Any

import pytest

import app
from chalicelib.ledger import store as ledger
from chalicelib.outbox import fan_out
from tests.orders.build import ORDERS, line, new_order, product
from tests.stock.build import agrees, fanned_out, movements, traced
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.import_desk import Desk
from tests.support.job_desk import JobDesk
from tests.support.shop import Answer, Shop
from tests.support.webhook_events import stream

pytestmark = pytest.mark.thorough

PRODUCTS = "/api/admin/products"
COUNTS = "/api/admin/stock/counts"
CLIENTS = 8
ROUNDS, A_ROUND = 12, 32  # operations of a client in each
_FAULTS = [Fault.CONFLICT, Fault.LOST, Fault.LOST_AFTER, Fault.ERROR_AFTER]
_numbers = count()
_CRASHES = [Fault.CRASH, Fault.CRASH_AFTER]


def fresh(shop: Shop, *stocks: int | None) -> Any:
    variants = [
        {"title": f"V{n}", "sku": f"SKU-{next(_numbers)}", "stock": stock}
        for n, stock in enumerate(stocks)
    ]
    return product(shop, variants=variants)


class Client:
    """One of the clients: makes any operation that changes stock, on what all of them made."""

    def __init__(self, shop: Shop, seed: int, made: dict[str, Any], orders: list[str]) -> None:
        self.shop, self.random = shop, random.Random(seed)
        self.made, self.orders = made, orders
        self.answers = Counter[int]()
        self.jobs: list[str] = []

    def act(self) -> None:
        """One operation, a third of them in several requests."""
        operation = self.random.choices(
            [
                *(self.place, self.edit, self.status, self.refund, self.delete),
                *(self.move, self.put, self.count, self.bulk_edit, self.undo),
            ],
            [40, 10, 15, 8, 4, 12, 11, 8, 3, 3],
        )[0]
        with suppress(Crash):
            answer = operation()
            if answer is not None:
                assert answer.status != 500, answer.text
                self.answers[answer.status] += 1
                if answer.status == 202:
                    self.jobs.append(answer.json["jobId"])

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
        policy = self.random.choice(["CHECK", "CHECK", "FORCE", "SKIP"])
        order = new_order(*lines, customer=None, stockPolicy=policy, **paid)
        answer = self.shop.post(ORDERS, order)
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

    def count(self) -> Answer:
        """Of some products; sometimes it is applied before a line comes again, or by two."""
        chosen = [self._variant()["id"] for _ in range(3)]
        made = self.shop.post(COUNTS, {"name": "Shelf", "variantIds": chosen})
        if made.status != 201:
            return made
        path = f"{COUNTS}/{made.json['id']}"
        for id in chosen:
            counted = {"variantId": id, "counted": self.random.randint(0, 30)}
            again = {"Idempotency-Key": f"{made.json['id']} {id}"}
            for _ in range(self.random.choice([1, 2])):
                self.shop.put(f"{path}/lines", {"lines": [counted | {"add": True}]}, headers=again)
        if self.random.random() < 0.3:
            self.shop.post(f"{path}/apply")
        return self.shop.post(f"{path}/apply")

    def bulk_edit(self) -> Answer | None:
        ids = self.orders[-30:-25]
        change = {"status": self.random.choice(["CANCELLED", "PROCESSING"])}
        return (
            self.shop.post(f"{ORDERS}/bulk-edit", {"ids": ids, "change": change}) if ids else None
        )

    def undo(self) -> Answer | None:
        if not self.jobs:
            return None
        return self.shop.post(f"/api/admin/jobs/{self.random.choice(self.jobs)}/undo")

    def put(self) -> Answer:
        """A quantity, tracked or not; sometimes the whole product is deleted, and another made."""
        at = self.random.choice(list(self.made))
        one = self.made[at]
        if self.random.random() < 0.1:
            answer = self.shop.delete(f"{PRODUCTS}/{one['id']}")
            self.made[at] = fresh(self.shop, 20, 5, None)
            return answer
        wanted = [{"id": each["id"]} for each in one["variants"]]
        self.random.choice(wanted)["stock"] = self.random.choice([None, 4, 30])
        return self.shop.put(f"{PRODUCTS}/{one['id']}", {"variants": wanted})


@pytest.mark.thorough
def test_the_ledger_adds_up_after_a_random_walk(jobs: JobDesk) -> None:
    shop, dynamodb = jobs.shop, jobs.dynamodb
    shop.as_("OWNER")
    made = {str(n): fresh(shop, 30, 12, None) for n in range(6)}
    orders: list[str] = []
    chance, lock = random.Random(1), Lock()

    def faults(operation: str, request: Any) -> Fault | None:
        if operation != "TransactWriteItems":
            return None
        with lock:
            if chance.random() < 0.05:
                return chance.choice(_FAULTS)
            return chance.choice(_CRASHES) if chance.random() < 0.005 else None

    clients = [Client(shop, 100 + n, made, orders) for n in range(CLIENTS)]
    seen: list[Any] = []
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        for _ in range(ROUNDS):
            dynamodb.faults = faults
            acting = [pool.submit(_act, one) for one in clients]
            working = pool.submit(_work, jobs, _file(chance, list(made.values())))
            for future in (*acting, working):
                future.result()
            _some_arrive(dynamodb, seen, chance)
    dynamodb.faults = lambda operation, request: None
    _work(jobs)
    fanned_out(dynamodb)
    assert agrees(shop) > ROUNDS * CLIENTS * A_ROUND // 3
    assert ledger.recount().wrong == []
    entries = movements(shop)
    assert all(one["orderId"] for one in entries if one["cause"] == "SALE")
    assert all(one["countId"] for one in entries if one["cause"] == "COUNT")
    known = shop.get("/api/admin/jobs?limit=100").json["data"]
    ended = [one for one in known if (one["type"], one["status"]) != ("product_import", "QUEUED")]
    assert {one["status"] for one in ended} == {"COMPLETED"}
    assert {one["cause"] for one in entries} >= {
        *("SALE", "OVERSOLD", "RETURN", "EDIT", "MOVE", "IMPORT", "COUNT", "TRACKED"),
        "UNTRACKED",
    }
    kinds = {one["type"] for one in known}
    assert kinds >= {"product_import", "stock_count", "bulk_edit", "undo"}
    assert {200, 201, 202, 422} <= sum((one.answers for one in clients), Counter()).keys()


def _act(client: Client) -> None:
    for _ in range(A_ROUND):
        client.act()


def _file(chance: random.Random, made: list[Any]) -> str:
    """A stock for a variant of some products, and a new product."""
    rows = ["slug,name,price,sku,stock", f"new-{chance.random()},New,5,,4"]
    for one in chance.sample(made, 3):
        sku = one["variants"][0]["sku"]
        rows.append(f"{one['slug']},{one['name']},{one['price']},{sku},{chance.randint(0, 40)}")
    return "\n".join(rows)


def _work(jobs: JobDesk, csv: str = "") -> None:
    """What Lambda does meanwhile: the import of a file, and the steps of jobs. A message whose
    function crashed comes again."""
    desk = Desk(jobs.shop, jobs.dynamodb)
    answer = None
    with suppress(Crash):  # a job of it waits for the file
        answer = desk.post(csv) if csv else None
    while answer and answer.status == 202:
        with suppress(Crash):
            desk.uploaded(answer.json["jobId"])
            break
    desk.work()
    while messages := list(jobs.messages()):
        for message in messages:
            failed = True
            with suppress(Crash):
                failed = bool(app.run_job({"Records": [message]}, None)["batchItemFailures"])
            jobs.settle(message, failed)
            if failed and int(message["attributes"]["ApproximateReceiveCount"]) > 1:
                # Perhaps its job is just being written: on AWS, a message waits for minutes.
                Event().wait(1)


def _some_arrive(dynamodb: Double, seen: list[Any], chance: random.Random) -> None:
    """The stream brings what is new, in any order, and some of it again; the fan-out may fail."""
    known = {item["pk"]["S"] for item in seen}
    new = [item for item in traced(dynamodb) if item["pk"]["S"] not in known]
    seen += new
    brought = new + chance.sample(seen, min(20, len(seen)))
    chance.shuffle(brought)
    with suppress(Crash):
        fan_out.handle(stream(brought))
