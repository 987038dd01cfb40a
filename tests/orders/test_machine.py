"""Random actions on orders, products and customers, in any order and with failures.

The state machine sells, changes, deletes, repeats and edits. Other writers act between a request's
reads and its commit; calls conflict or get lost; functions crash before and after their commit. A
simple model says exactly what must then be stored, listed, counted and announced.
"""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import app
from tests.orders.build import ORDERS, counts_agree, line
from tests.orders.test_change import MOVES, PAYMENT_MOVES, ROUTES
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.environment import SETTINGS
from tests.support.shop import Answer, Shop

pytestmark = pytest.mark.thorough

CUSTOMERS = "/api/admin/customers"
THRESHOLDS = (3, 5)
VARIANTS = 4  # of two products
PRICES = {"USD": "2.50", "JPY": "251", "KWD": "2.505"}

faults = st.sampled_from([None, None, None, *Fault])
quantities = st.integers(1, 4)
carts = st.lists(st.tuples(st.integers(0, VARIANTS - 1), quantities), min_size=1, max_size=3)
people = st.sampled_from([None, "ada@example.com", "ADA@example.com", "emil@example.com"])
statuses = st.sampled_from(list(ROUTES))
payments = st.sampled_from(list(PAYMENT_MOVES))
which = st.integers(0, 50)


@dataclass
class Known:
    """An order that must exist."""

    status: str
    total: Decimal
    taken: Counter[str]
    payment: str
    paid: bool
    customer: str | None
    line: tuple[str, str, int] = ("", "", 0)  # its first: id, variant, pieces that are not refunded
    pieces: int = 0  # of an order of one line
    payments: list[Decimal] = field(default_factory=list)  # 0: voided
    refunds: list[Decimal] = field(default_factory=list)
    credited: Decimal = Decimal(0)
    retained: Decimal = Decimal(0)

    @property
    def net(self) -> Decimal:
        return sum(self.payments, Decimal(0)) - sum(self.refunds, Decimal(0))

    @property
    def owed(self) -> Decimal:
        if self.payment == "REFUNDED":
            return Decimal(0)
        return self.retained if self.status == "CANCELLED" else self.total - self.credited

    @property
    def refundable(self) -> Decimal:
        return self.net - (self.retained if self.status == "CANCELLED" else 0)

    def pays(self, payment: str) -> set[str]:
        """Sets the payment status; returns the events of that."""
        events = set()
        if payment == "PAID" != self.payment and self.owed > self.net:
            self.payments.append(self.owed - self.net)
            events.add("payment.created")
        if payment == "REFUNDED" != self.payment and self.net:
            self.gives(self.net)
            events.add("refund.created")
        return events | self.becomes(payment)

    def becomes(self, payment: str) -> set[str]:
        events = set()
        if payment == "PAID" and not self.paid:
            self.paid = True
            events.add("order.paid")
        if payment == "REFUNDED" != self.payment:
            events.add("order.refunded")
        self.payment = payment
        return events

    def gives(self, amount: Decimal) -> None:
        self.credited += amount - min(amount, max(self.net - self.owed, Decimal(0)))
        self.refunds.append(amount)

    def follows(self) -> set[str]:
        """Sets the payment status that the payments make; returns the events of that."""
        if self.payment == "REFUNDED":
            return set()
        if self.status == "CANCELLED":
            return set()
        if not any(self.payments):
            return self.becomes("PENDING")
        return self.becomes("PARTIALLY_PAID" if self.owed > self.net else "PAID")

    def may_pay(self, payment: str) -> bool:
        follow = PAYMENT_MOVES[self.payment]
        if self.payments:
            follow = follow & {"PAID", "REFUNDED"}
        if self.status == "CANCELLED":
            follow = follow & {"REFUNDED"}
        return payment in follow | {self.payment}


class Shopping(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.opened.enter_context(patch.dict("os.environ", SETTINGS))
        self.opened.enter_context(patch("time.sleep"))
        self.opened.enter_context(redirect_stdout(StringIO()))
        self.dynamodb = self.opened.enter_context(Double())
        self.shop = Shop()
        assert self.shop.owner
        self.orders: dict[str, Known] = {}
        self.stock: dict[str, int | None] = {}
        self.thresholds: dict[str, int] = {}
        self.placed: list[tuple[str, Any, Answer]] = []  # key, body, answer
        self.people: set[str] = set()
        self.merged: dict[str, set[str]] = {}  # the merged customer → the remaining one
        self.messages: list[dict[str, Any]] = []
        self.opened.enter_context(patch("chalicelib.jobs.queue.send", self.asked_for))
        self.announced: Counter[tuple[str, str]] = Counter()
        self.requests = 0

    def teardown(self) -> None:
        self.opened.close()

    @initialize(
        stocks=st.lists(st.integers(0, 9), min_size=VARIANTS, max_size=VARIANTS),
        currency=st.sampled_from(list(PRICES)),
    )
    def stock_up(self, stocks: list[int], currency: str) -> None:
        self.opened.enter_context(patch.dict("os.environ", {"CURRENCY": currency}))
        self.price = Decimal(PRICES[currency])
        for pair in (stocks[:2], stocks[2:]):
            variants = [{"title": f"V{n}", "stock": stock} for n, stock in enumerate(pair)]
            sent: dict[str, Any] = {"name": "Mug", "price": str(self.price), "variants": variants}
            sent["lowStockThreshold"] = THRESHOLDS[0]
            made = self.shop.post("/api/admin/products", sent).json
            self.thresholds[made["id"]] = THRESHOLDS[0]
            for variant in made["variants"]:
                self.stock[variant["id"]] = None
                self.set_stock(variant["id"], variant["stock"])
            self.announced["product.created", made["id"]] += 1

    # --- Actions ----------------------------------------------------------------------------------

    @rule(cart=carts, person=people, paid=st.booleans(), fault=faults, meanwhile=st.none() | which)
    def buy(
        self,
        cart: list[tuple[int, int]],
        person: str | None,
        paid: bool,
        fault: Fault | None,
        meanwhile: int | None,
    ) -> None:
        ids = list(self.stock)
        customer = {"email": person} if person else None
        lines = [line(ids[variant], quantity) for variant, quantity in cart]
        body = {"lineItems": lines, "customer": customer}
        body |= {"paymentStatus": "PAID"} if paid else {}
        self.requests += 1
        key = {"Idempotency-Key": str(self.requests)}
        rival = person or "rival@example.com"  # the same person, at the same time
        other = None
        if meanwhile is not None:
            other = lambda: self.buy_one(ids[meanwhile % VARIANTS], rival)  # noqa: E731
        answer = self.sent(lambda: self.shop.post(ORDERS, body, headers=key), fault, other)
        self.expect_placed(body, answer)
        if answer.status == 201:
            self.placed.append((key["Idempotency-Key"], body, answer))

    def buy_one(self, variant: str, email: str = "rival@example.com") -> None:
        body = {"lineItems": [line(variant)], "customer": {"email": email}}
        self.expect_placed(body, self.shop.post(ORDERS, body))

    def expect_placed(self, body: Any, answer: Answer) -> None:
        wanted: Counter[str] = Counter()
        for each in body["lineItems"]:
            wanted[each["variantId"]] += each["quantity"]
        tracked = {id: n for id, n in wanted.items() if self.stock[id] is not None}
        short = {id for id, n in tracked.items() if n > (self.stock[id] or 0)}
        if short:
            assert (answer.status, answer.json["code"]) == (422, "insufficient_stock")
            assert {each["variantId"] for each in answer.json["lines"]} == short
            return
        assert answer.status == 201, answer.text
        id, paid = answer.json["id"], answer.json["paidAt"] is not None
        total = self.price * sum(wanted.values())
        assert Decimal(answer.json["total"]) == total
        status = "PAID" if paid else "PENDING"
        customer = answer.json["customer"] and answer.json["customer"]["id"]
        self.orders[id] = Known(status, total, Counter(tracked), status, paid, customer)
        first = answer.json["lineItems"][0]
        self.orders[id].line = first["id"], first["variantId"], first["quantity"]
        self.orders[id].payments += [total] if paid else []
        self.orders[id].pieces = first["quantity"] if len(body["lineItems"]) == 1 else 0
        self.announced["order.created", id] += 1
        self.announced["order.paid", id] += paid
        self.announced["payment.created", id] += paid
        if body["customer"] and body["customer"]["email"].lower() not in self.people:
            self.people.add(body["customer"]["email"].lower())
            self.announced["customer.created", answer.json["customer"]["id"]] += 1
        for variant, n in tracked.items():
            self.set_stock(variant, (self.stock[variant] or 0) - n)

    def set_stock(self, variant: str, stock: int | None, was: int | None = None) -> None:
        """`was`: the old threshold."""
        before, self.stock[variant] = self.stock[variant], stock
        threshold = self.thresholds[f"prod_{variant[4:30]}"]
        was_low = before is not None and before < (was or threshold)
        if stock is not None and stock < threshold and not was_low:
            self.announced["inventory.low", variant] += 1

    @precondition(lambda self: self.placed)
    @rule(which=which)
    def repeat(self, which: int) -> None:
        key, body, first = self.placed[which % len(self.placed)]
        again = self.shop.post(ORDERS, body, headers={"Idempotency-Key": key})
        assert (again.status, again.text) == (201, first.text)
        assert again.headers["Idempotent-Replayed"] == "true"

    @precondition(lambda self: self.orders)
    @rule(
        which=which,
        to=statuses,
        paying=st.none() | payments,
        fault=faults,
        rival=st.none() | statuses,
    )
    def move(
        self, which: int, to: str, paying: str | None, fault: Fault | None, rival: str | None
    ) -> None:
        id = list(self.orders)[which % len(self.orders)]
        body = {"status": to} | ({"paymentStatus": paying} if paying else {})
        call = lambda: self.shop.patch(f"{ORDERS}/{id}", body)  # noqa: E731
        answer = self.sent(call, fault, (lambda: self.move_now(id, rival)) if rival else None)
        if answer.status == 422 and fault and fault.after:
            # The first try crashed after its commit: the step was made, and cannot be made again.
            answer = self.shop.get(f"{ORDERS}/{id}")
            if answer.json["status"] == self.orders[id].status:
                return
        self.expect_moved(id, to, paying, answer)

    def move_now(self, id: str, to: str) -> None:
        answer = self.shop.patch(f"{ORDERS}/{id}", {"status": to})
        self.expect_moved(id, to, None, answer)

    def expect_moved(self, id: str, to: str, paying: str | None, answer: Answer) -> None:
        order = self.orders[id]
        if (order.status, to) not in MOVES:
            assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
            assert answer.json["field"] == "status"
            return
        fitting = {"PAID": {"PAID", "PARTIALLY_PAID"}, "REFUNDED": {"REFUNDED"}}.get(to)
        if fitting and paying and paying not in fitting:
            assert (answer.status, answer.json["code"]) == (422, "validation_failed")
            return
        payment = paying or (to if fitting else order.payment)
        before, order.status = order.status, to
        if to != "REFUNDED" and not order.may_pay(payment):
            order.status = before
            assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
            assert answer.json["field"] == "paymentStatus"
            return
        assert (answer.status, answer.json["status"]) == (200, to)
        events = set(MOVES[before, to]) - {"order.paid", "order.refunded"}
        if to in {"CANCELLED", "REFUNDED"}:
            self.give_back(order)
        self.announced.update((event, id) for event in events | order.pays(payment))

    @precondition(lambda self: self.orders)
    @rule(which=which, to=payments)
    def pay(self, which: int, to: str) -> None:
        """In any status."""
        id = list(self.orders)[which % len(self.orders)]
        order = self.orders[id]
        answer = self.shop.patch(f"{ORDERS}/{id}", {"paymentStatus": to})
        if not order.may_pay(to):
            assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
            assert (answer.json["field"], answer.json["from"]) == ("paymentStatus", order.payment)
            return
        assert (answer.status, answer.json["paymentStatus"]) == (200, to)
        self.announced.update((event, id) for event in {"order.updated"} | order.pays(to))

    @precondition(lambda self: self.orders)
    @rule(
        which=which,
        what=st.sampled_from(["payments", "void", "refunds", "lines", "retain"]),
        share=st.integers(1, 4),
        restock=st.none() | st.booleans(),
        fault=faults,
        rival=st.none() | statuses,
    )
    def record(  # noqa: PLR0917
        self,
        which: int,
        what: str,
        share: int,
        restock: bool | None,
        fault: Fault | None,
        rival: str | None,
    ) -> None:
        """Takes, voids or refunds money, while the order moves."""
        id = list(self.orders)[which % len(self.orders)]
        amount = (self.price * share / 2).quantize(self.price, ROUND_HALF_UP)
        path, sent = f"{ORDERS}/{id}", {"amount": str(amount)}
        self.requests += 1
        key = {"Idempotency-Key": f"record {self.requests}"}
        place = share % len(self.orders[id].payments) if self.orders[id].payments else None
        if what == "retain":
            call = lambda: self.shop.patch(path, {"retained": str(amount)})  # noqa: E731
        elif what == "void":
            known = self.shop.get(path).json["payments"]
            payment = known[place]["id"] if place is not None else "pay_none"
            to = f"{path}/payments/{payment}/void"
            call = lambda: self.shop.post(to, {}, headers=key)  # noqa: E731
        elif what == "lines":
            line = {"lineItemId": self.orders[id].line[0], "quantity": 1, "restock": restock}
            body = {"lines": [line], **sent}
            call = lambda: self.shop.post(f"{path}/refunds", body, headers=key)  # noqa: E731
        else:
            call = lambda: self.shop.post(f"{path}/{what}", sent, headers=key)  # noqa: E731
        answer = self.sent(call, fault, (lambda: self.move_now(id, rival)) if rival else None)
        self.expect_recorded(id, what, amount, place, restock, answer)

    def expect_recorded(  # noqa: PLR0917
        self,
        id: str,
        what: str,
        amount: Decimal,
        place: int | None,
        restock: bool | None,
        answer: Answer,
    ) -> None:
        order, events = self.orders[id], {"order.updated"}
        if what == "retain":
            fits = order.status == "CANCELLED" and amount <= order.net
            assert answer.status == (200 if fits or amount == order.retained else 422)
            if answer.status == 200:
                order.retained = amount
                self.announced["order.updated", id] += 1
            return
        if what == "payments":
            closed = order.status in {"CANCELLED", "REFUNDED"} or order.payment == "REFUNDED"
            if closed or amount > order.owed - order.net:
                code = "order_closed" if closed else "overpaid"
                assert (answer.status, answer.json["code"]) == (422, code)
                return
            order.payments.append(amount)
            events |= {"payment.created", *order.follows()}
            if order.status == "PENDING" and order.payment == "PAID":
                order.status = "PAID"
        elif what == "void":
            if place is None:
                assert answer.status == 404
                return
            if not order.payments[place] or order.payments[place] > order.refundable:
                assert answer.status == 409
                return
            order.payments[place] = Decimal(0)
            events |= {"payment.voided", *order.follows()}
        else:
            line, variant, left = order.line
            if order.net <= 0 or amount > order.refundable or (what == "lines" and not left):
                assert answer.status == 422
                return
            order.gives(amount)
            follow = order.follows() if order.net else order.becomes("REFUNDED")
            events |= {"refund.created", *follow}
            if what == "lines":
                order.line = line, variant, left - 1
                self.return_one(order, variant, restock)
        assert answer.status in {200, 201}, answer.text
        assert answer.json["status"] == order.status
        self.announced.update((event, id) for event in events)

    def return_one(self, order: Known, variant: str, restock: bool | None) -> None:
        early = order.status in {"PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"}
        if order.taken[variant]:
            order.taken[variant] -= 1
            if (early if restock is None else restock) and self.stock[variant] is not None:
                self.set_stock(variant, (self.stock[variant] or 0) + 1)

    @precondition(lambda self: self.orders)
    @rule(
        which=which,
        pieces=st.none() | quantities,
        share=st.integers(-4, 4),
        fault=faults,
        rival=st.none() | statuses,
    )
    def edit_lines(
        self, which: int, pieces: int | None, share: int, fault: Fault | None, rival: str | None
    ) -> None:
        """Changes the pieces of an order's only line, and its total, while the order moves."""
        id = list(self.orders)[which % len(self.orders)]
        order = self.orders[id]
        amount = (self.price * share / 2).quantize(self.price, ROUND_HALF_UP)
        pieces = pieces if order.pieces else None
        change = [{"lineItemId": order.line[0], "quantity": pieces}] if pieces else []
        more = (pieces or order.pieces) - order.pieces
        total = order.total + more * self.price + amount
        sent = {"change": change, "total": str(total), "reason": "Asked"}
        self.requests += 1
        key = {"Idempotency-Key": f"edit {self.requests}"}
        call = lambda: self.shop.post(f"{ORDERS}/{id}/edit", sent, headers=key)  # noqa: E731
        answer = self.sent(call, fault, (lambda: self.move_now(id, rival)) if rival else None)
        if rival and answer.status == 200 and not more and not amount:
            return  # nothing is written, so it may be answered as before the move
        self.expect_edited(id, more, total, answer)

    def expect_edited(self, id: str, more: int, total: Decimal, answer: Answer) -> None:
        order = self.orders[id]
        line, variant, left = order.line
        stock = self.stock[variant]
        is_open = order.status in {"PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"}
        if (
            (not is_open or order.payment == "REFUNDED")
            or total < max(order.credited, Decimal(0))
            or left + more < 0
            or (stock is not None and more > stock)
        ):
            assert answer.status == 422, answer.text
            return
        assert answer.status == 200, answer.text
        assert answer.json["total"] == f"{total:f}"
        assert Decimal(answer.json["originalTotal"]) >= 0
        if not more and total == order.total:
            return
        order.total, order.line = total, (line, variant, left + more)
        if more:
            order.pieces += more
            taken = order.taken[variant] + (more if more > 0 and stock is not None else 0)
            kept = min(taken, left + more)
            if stock is not None:
                self.set_stock(variant, stock - kept + order.taken[variant])
            order.taken[variant] = kept
        events = {"order.updated", "order.edited"}
        if order.payments:
            events |= order.follows()
        elif order.payment == "PAID" and total:
            order.payment = "PENDING"
        self.announced.update((event, id) for event in events)

    @precondition(lambda self: self.orders)
    @rule(which=which, fault=faults)
    def delete(self, which: int, fault: Fault | None) -> None:
        id = list(self.orders)[which % len(self.orders)]
        answer = self.sent(lambda: self.shop.delete(f"{ORDERS}/{id}"), fault, None)
        assert answer.status == 200 or (answer.status == 404 and fault and fault.after)
        order = self.orders.pop(id)
        self.announced["order.deleted", id] += 1
        if order.status not in {"SHIPPED", "DELIVERED"}:
            self.give_back(order)

    def give_back(self, order: Known) -> None:
        for variant, n in order.taken.items():
            if self.stock[variant] is not None:
                self.stock[variant] = (self.stock[variant] or 0) + n
        order.taken = Counter()

    @rule(
        which=which,
        stock=st.none() | st.integers(0, 9),
        threshold=st.sampled_from(THRESHOLDS),
        fault=faults,
        rival=st.none() | st.integers(0, VARIANTS - 1),
    )
    def edit(
        self, which: int, stock: int | None, threshold: int, fault: Fault | None, rival: int | None
    ) -> None:
        """Sets the stock of a variant, or stops tracking it, during a sale."""
        variant = list(self.stock)[which % VARIANTS]
        product = f"prod_{variant[4:30]}"
        path = f"/api/admin/products/{product}"
        siblings = [id for id in self.stock if id[4:30] == variant[4:30]]
        # Renaming it too makes every edit a change of the record.
        self.requests += 1
        body = {
            "name": f"Mug {self.requests}",
            "lowStockThreshold": threshold,
            "variants": [
                {"id": id, **({"stock": stock} if id == variant else {})} for id in siblings
            ],
        }
        # Values that the editor did not change stay as sold: as if the edit had come first.
        was = self.thresholds[product]
        differs = (stock, threshold) != (self.stock[variant], was)
        # Sent again after a crash, it would apply to what the rival wrote.
        alone = rival is None or fault in {Fault.CRASH, Fault.CRASH_AFTER}
        other = None if alone else lambda: self.buy_one(list(self.stock)[rival or 0])
        assert self.sent(lambda: self.shop.put(path, body), fault, other).status == 200
        if differs:
            self.thresholds[product] = threshold
            for sibling in siblings:
                now = stock if sibling == variant else self.stock[sibling]
                self.set_stock(sibling, now, was)
        self.announced["product.updated", product] += 1

    def sent(
        self, call: Callable[[], Answer], fault: Fault | None, meanwhile: Callable[[], None] | None
    ) -> Answer:
        """The answer. `meanwhile` and the fault happen when the commit is sent. After a crash the
        request is repeated, as its client would."""

        def inject(operation: str, request: Any) -> Fault | None:
            if operation != "TransactWriteItems":
                return None
            self.dynamodb.faults = lambda operation, request: None
            if meanwhile:
                meanwhile()
            return fault

        self.dynamodb.faults = inject
        try:
            return call()
        except Crash:
            return call()
        finally:
            self.dynamodb.faults = lambda operation, request: None

    # --- Invariants -------------------------------------------------------------------------------

    @invariant()
    def stock_is_reduced_by_what_was_sold(self) -> None:
        stored = {
            id: stock
            for item in self.shop.stored()
            if item["sk"] == "stock"
            for id, stock in item["quantities"].items()
        }
        assert stored == {id: n for id, n in self.stock.items() if n is not None}
        assert all(stock >= 0 for stock in stored.values())

    @invariant()
    def the_outbox_holds_the_events_of_accepted_requests_only(self) -> None:
        found = Counter(
            (event["event"], data.get("variantId") or data.get("orderId") or data["id"])
            for event in self.shop.events()
            for data in [event["data"]]
        )
        assert found == +self.announced

    @invariant()
    def lists_words_counts_and_sales_agree_with_the_orders(self) -> None:
        items = self.shop.stored()
        records = {item["id"]: item for item in items if item["sk"] == "order"}
        states = {id: (item["status"], item["paymentStatus"]) for id, item in records.items()}
        assert states == {id: (one.status, one.payment) for id, one in self.orders.items()}
        entries = Counter(
            f"{item['pk'].split('#')[0]} {item['sk'].rsplit('#', 1)[1]}"
            for item in items
            if item["pk"].startswith(("list#order#", "word#order#"))
        )
        assert entries == Counter(
            # All by date and by last change, its status, source and payment, and its customer's.
            {f"list {id}": 5 + bool(item["customer"]) for id, item in records.items()}
            | {f"word {id}": len(item["index"]["words"].split()) for id, item in records.items()}
        )
        for id, order in self.orders.items():
            stored = records[id]
            assert Decimal(stored["balanceDue"]) == order.owed - order.net
            assert Decimal(stored["amountCredited"]) == order.credited
            amounts = [0 if one["voidedAt"] else one["amount"] for one in stored["payments"]]
            assert list(map(Decimal, amounts)) == order.payments
            assert [Decimal(one["amount"]) for one in stored["refunds"]] == order.refunds
        moves = [item for item in items if item["pk"].startswith("list#transaction#")]
        assert len(moves) == sum(
            len(one["payments"]) + len(one["refunds"]) + sum(map(bool, voids))
            for one in records.values()
            for voids in [[payment["voidedAt"] for payment in one["payments"]]]
        )
        assert counts_agree()

    @precondition(lambda self: self.people)
    @rule(which=which, fault=faults, rival=st.none() | st.integers(0, VARIANTS - 1))
    def correct(self, which: int, fault: Fault | None, rival: int | None) -> None:
        """Changes a customer during a sale to the same e-mail."""
        email = sorted(self.people)[which % len(self.people)]
        customer = self.shop.get(f"{CUSTOMERS}?search={email}").json["data"][0]
        self.requests += 1
        body = {"phone": f"+49 30 {self.requests}", "tags": [f"t{self.requests}"]}
        path = f"{CUSTOMERS}/{customer['id']}"
        other = None
        if rival is not None:
            other = lambda: self.buy_one(list(self.stock)[rival], email)  # noqa: E731
        answer = self.sent(lambda: self.shop.patch(path, body), fault, other)
        assert (answer.status, answer.json["phone"]) == (200, body["phone"])
        self.announced["customer.updated", customer["id"]] += 1

    @precondition(lambda self: len(self.people) > 1)
    @rule(which=which, other=which, fault=faults)
    def merge(self, which: int, other: int, fault: Fault | None) -> None:
        """Merges two customers with a worker that crashes and is repeated."""
        one, two = self.customer(which), self.customer(other)
        path = f"{CUSTOMERS}/{one['id']}/merge"
        answer = self.shop.post(path, {"into": two["id"]})
        if one["id"] == two["id"]:
            assert answer.refused == ["into"]
            return
        self.finish(answer, fault)
        self.people.remove(one["email"].lower())
        gone = {one["id"]} | self.merged.pop(one["id"], set())
        self.merged.setdefault(two["id"], set()).update(gone)
        self.announced["customer.deleted", one["id"]] += 1
        self.announced["customer.updated", two["id"]] += 1
        for id, order in self.orders.items():
            if order.customer == one["id"]:
                order.customer = two["id"]
                self.announced["order.updated", id] += 1
        assert self.shop.get(f"{CUSTOMERS}/{one['id']}").json["into"] == two["id"]

    @precondition(lambda self: self.people)
    @rule(which=which, fault=faults)
    def erase(self, which: int, fault: Fault | None) -> None:
        one = self.customer(which)
        self.finish(self.shop.post(f"{CUSTOMERS}/{one['id']}/erase"), fault)
        self.people.remove(one["email"].lower())
        self.merged.pop(one["id"], None)
        self.announced["customer.updated", one["id"]] += 1
        for id, order in self.orders.items():
            if order.customer == one["id"]:
                self.announced["order.updated", id] += 1

    def customer(self, which: int) -> Any:
        email = sorted(self.people)[which % len(self.people)]
        (found,) = (
            one
            for one in self.shop.get(f"{CUSTOMERS}?limit=100").json["data"]
            if (one["email"] or "").lower() == email
        )
        return found

    def asked_for(self, job_id: str, step: int) -> None:
        self.messages.append({"job": job_id, "step": step})

    def finish(self, answer: Answer, fault: Fault | None) -> None:
        assert answer.status == 202, answer.text

        def work() -> Answer:
            while self.messages:
                message = self.messages[0]
                attributes = {"ApproximateReceiveCount": "2"}
                record = {"body": json.dumps(message), "attributes": attributes}
                record |= {"messageId": "m", "receiptHandle": "r"}
                assert app.run_job({"Records": [record]}, None) == {"batchItemFailures": []}
                self.messages.remove(message)
            return self.shop.get(f"/api/admin/jobs/{answer.json['jobId']}")

        assert self.sent(work, fault, None).json["status"] == "COMPLETED"

    @invariant()
    def the_totals_of_a_customer_are_those_of_the_orders(self) -> None:
        for item in self.shop.stored():
            if item["sk"] == "customer" and item["pk"].startswith("cus_"):
                own = [order for order in self.orders.values() if order.customer == item["id"]]
                living = [order for order in own if order.status != "CANCELLED"]
                assert item["orders"] == len(own)
                assert item["ordersCount"] == len(living)
                assert item["totalSpent"] == sum(min(one.net, one.owed) for one in own)

    @invariant()
    def each_customer_exists_once(self) -> None:
        items = self.shop.stored()
        people = [item for item in items if item["pk"].startswith("cus_") and "email" in item]
        emails = [item["email"].lower() for item in people if item["email"]]
        assert sorted(emails) == sorted(self.people)
        assert sum(item["pk"].startswith("email#") for item in items) == len(emails)

    @invariant()
    def each_low_product_is_noted(self) -> None:
        named = {
            id
            for item in self.shop.stored()
            if item["pk"] == "low-stock"
            for id in item["products"]
        }
        for variant, stock in self.stock.items():
            product = f"prod_{variant[4:30]}"
            assert stock is None or stock >= self.thresholds[product] or product in named


TestShopping = Shopping.TestCase
TestShopping.settings = settings(
    max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
