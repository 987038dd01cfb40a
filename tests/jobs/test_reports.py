"""POST /api/admin/reports: exactly what the exports of the same period add up to."""

import csv
import io
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib import aws, settings
from chalicelib.values import clock
from tests.jobs.test_exports import file_of
from tests.orders.build import ORDERS, line, placed, variant
from tests.support.job_desk import JobDesk

REPORTS = "/api/admin/reports"
ZONE = ZoneInfo("America/New_York")  # its clocks change on 2026-03-08 and on 2026-11-01
WHOLE = {"from": "2026-02-25", "to": "2026-11-10"}
SUMS = ("orders", "pieces", "gross", "discounts", "refunds", "net", "tax", "shipping", "kept")

Sums = dict[str, Decimal]


def reported(jobs: JobDesk, kind: str, by: str = "day", **period: str) -> Any:
    job = jobs.done(REPORTS, {"type": kind, "by": by, **(period or WHOLE)})
    assert job["status"] == "COMPLETED" and job["processed"] == job["total"], job
    return job["report"]


def exported(jobs: JobDesk, kind: str) -> list[dict[str, Any]]:
    """The records of the period, as an export has them."""
    asked = {"type": kind, "format": "jsonl", "filters": WHOLE}
    job = jobs.done("/api/admin/exports", asked)
    return [json.loads(line) for line in file_of(job, "jsonl").splitlines()]


def day_of_order(order: Any) -> dict[str, str]:
    """The period of a report."""
    return {"from": order["orderDate"][:10], "to": order["orderDate"][:10]}


def products_of(jobs: JobDesk, order: Any) -> dict[str, Any]:
    """The rows of the sales of its day, by the names of the products."""
    report = reported(jobs, "sales", "product", **day_of_order(order))
    return {row["label"]: row for row in report["rows"]}


def at(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr(clock, "now", lambda: moment)


# --- Months of a shop -----------------------------------------------------------------------------


class Trade:
    """Orders of some products, and what happens to them, by chance."""

    def __init__(self, jobs: JobDesk, chance: random.Random) -> None:
        self.shop, self.chance = jobs.shop, chance
        self.products = [
            variant(self.shop, name=f"Vase {n}", price=f"{n}.{n}7") for n in range(1, 7)
        ]
        self.orders: list[Any] = []
        self.done: dict[str, int] = defaultdict(int)

    def next(self) -> None:
        acts: list[Callable[[Any], Any]] = [self.pays] * 6 + [self.refunds] * 5
        acts += [self.voids] * 4 + [self.gives_all_back] * 3 + [self.edits] * 2 + [self.cancels]
        acts += [self.closes] * 2
        if len(self.orders) < 5 or self.chance.random() < 0.35:
            self.orders.append(self.sells())
            return
        act = self.chance.choice(acts)
        order = self.chance.choice(self.orders).read()
        answer = act(order)
        if answer is not None and answer.status < 300:
            self.done[act.__name__] += 1

    def sells(self) -> Any:
        chance = self.chance
        chosen = chance.sample(self.products, chance.randint(1, 3))
        lines = [line(id, chance.randint(1, 4)) for id in chosen]
        if chance.random() < 0.3:
            lines.append({"title": "Engraving", "price": "9.99", "quantity": 1})
        if chance.random() < 0.4:
            lines[0]["discount"] = {"percent": 12.5}
        more: dict[str, Any] = {"source": chance.choice(["IN_PERSON", "WEBSITE", "FAIR"])}
        more["salesRepId"] = chance.choice([None, "emp_ann", "emp_ben"])
        more["paymentMethod"] = chance.choice([None, "CASH", "CARD"])
        more |= {"shipping": "4.90"} if chance.random() < 0.3 else {}
        more |= {"tax": f"{chance.randint(0, 300) / 100:.2f}"} if chance.random() < 0.7 else {}
        more |= {"discount": {"percent": 5}} if chance.random() < 0.3 else {}
        return placed(self.shop, *lines, **more)

    def pays(self, order: Any) -> Any:
        due = Decimal(order["balanceDue"])
        amount = due if self.chance.random() < 0.6 else (due / 3).quantize(Decimal("0.01"))
        return order.pay(str(amount), method=self.chance.choice(["CASH", "CARD"]))

    def refunds(self, order: Any) -> Any:
        if self.chance.random() < 0.3:
            return order.refund(amount="1.11", method="CASH")
        one = self.chance.choice(order["lineItems"])
        shipping = order["shipping"] if self.chance.random() < 0.2 else "0"
        lines = [{"lineItemId": one["id"], "quantity": 1}]
        return order.refund(lines=lines, shipping=shipping, method="CARD")

    def edits(self, order: Any) -> Any:
        change = [{"lineItemId": order["lineItems"][0]["id"], "quantity": 5}]
        sent = {"change": change, "reason": "One more", "tax": order["tax"]}
        return self.shop.post(f"{ORDERS}/{order['id']}/edit", sent)

    def voids(self, order: Any) -> Any:
        return order.void(order["payments"][0]) if order["payments"] else None

    def cancels(self, order: Any) -> Any:
        paid = Decimal(order["amountPaid"]) - Decimal(order["amountRefunded"])
        kept = str((paid / 2).quantize(Decimal("0.01"))) if paid else None
        sent = {"status": "CANCELLED", "retained": kept}
        return order.patch(sent)

    def closes(self, order: Any) -> Any:
        paid = Decimal(order["amountPaid"]) - Decimal(order["amountRefunded"])
        kept = str((paid / 3).quantize(Decimal("0.01")))
        return order.post("/close", {"keep": kept, "reason": "Stopped"})

    def gives_all_back(self, order: Any) -> Any:
        return order.patch({"paymentStatus": "REFUNDED"})


# --- The test's own calculation -------------------------------------------------------------------


def day_of(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(ZONE).date().isoformat()


def sales_of(order: Any) -> Sums:
    """What an exported order adds to sales."""
    amount = {name: Decimal(order[name]) for name in ("total", "tax", "shipping")}
    lines = order["lineItems"]
    taken_off = [one["discount"]["amount"] for one in (order, *lines) if one["discount"]]
    goods = amount["total"] - amount["tax"] - amount["shipping"]
    back = Decimal(order["amountCredited"])
    for parts in ([p["tax"] for r in order["refunds"] for p in r["lines"]], order["refunds"]):
        back -= min(back, sum(Decimal(p if isinstance(p, str) else p["shipping"]) for p in parts))
    if order["refundStatus"] == "FULL" or order["closedAt"]:
        back = goods
    if order["status"] == "CANCELLED":
        kept = Decimal(order["retained"] or 0)
        return dict.fromkeys(SUMS, Decimal(0)) | {"net": kept, "kept": kept}
    kept = Decimal(order["kept"] or 0)
    return {
        "orders": Decimal(1),
        "pieces": Decimal(sum(one["quantity"] for one in lines)),
        "gross": sum((Decimal(one["price"]) * one["quantity"] for one in lines), Decimal(0)),
        "discounts": sum(map(Decimal, taken_off), Decimal(0)),
        "refunds": back,
        "net": goods - back + kept,
        "tax": amount["tax"],
        "shipping": amount["shipping"],
        "kept": kept,
    }


def added(parts: Iterable[tuple[str | None, Sums]]) -> dict[str | None, Sums]:
    """The sums by key, without those of nothing."""
    found: dict[str | None, Sums] = defaultdict(lambda: defaultdict(Decimal))
    for key, sums in parts:
        for name, amount in sums.items() if any(sums.values()) else ():
            found[key][name] += amount
    return found


def money_of(transaction: Any) -> Sums:
    column = {"PAYMENT": "payments", "REFUND": "refunds", "VOID": "voids"}[transaction["kind"]]
    amount = Decimal(transaction["amount"])
    return dict.fromkeys(("payments", "refunds", "voids"), Decimal(0)) | {
        column: abs(amount),
        "net": amount,
    }


def plain(sums: Any) -> Sums:
    """The sums of a row."""
    return {name: Decimal(value) for name, value in sums.items() if name not in {"key", "label"}}


def rows_of(report: Any) -> dict[str | None, Sums]:
    rows = {row["key"]: plain(row) for row in report["rows"]}
    assert not report["truncated"] and len(rows) == len(report["rows"])
    return rows


def assert_adds_up(report: Any) -> None:
    """Each row of sales, and the totals, unless an order came with sums of its own."""
    for row in (*report["rows"], report["totals"]):
        sums = plain(row)
        less = sums["discounts"] + sums["refunds"]
        assert sums["gross"] - less + sums["kept"] == sums["net"], row


def assert_same(report: Any, expected: dict[str | None, Sums]) -> None:
    assert rows_of(report) == {key: dict(sums) for key, sums in expected.items()}
    assert plain(report["totals"]) == added(("", sums) for sums in expected.values())[""]


@pytest.mark.thorough
def test_each_report_is_what_the_exports_add_up_to(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEZONE", ZONE.key)
    monkeypatch.setattr("chalicelib.reports.work._PAGE", 7)
    monkeypatch.setattr("chalicelib.reports.work._PAGES", 3)
    chance = random.Random(39)
    edges = [datetime(2026, 3, 8, 4, 59, tzinfo=UTC), datetime(2026, 11, 1, 3, 59, tzinfo=UTC)]
    days = [datetime(2026, 2, 24, tzinfo=UTC) + timedelta(days=n) for n in range(262)]
    moments = [day + timedelta(minutes=chance.randrange(1440)) for day in days * 2]
    near = [edge + timedelta(minutes=61 * n) for edge in edges for n in range(26)]
    trade = Trade(jobs, chance)
    for moment in sorted(moments + near):
        at(monkeypatch, moment)
        trade.next()
    assert len(trade.orders) > 180 and min(trade.done.values()) >= 8, trade.done
    assert len(trade.done) == 7, trade.done
    orders, transactions = exported(jobs, "orders"), exported(jobs, "transactions")
    assert len({day_of(one["orderDate"]) for one in orders}) > 100
    sold = [(order, sales_of(order)) for order in orders]
    keys: dict[str, Callable[[Any], str | None]] = {
        "day": lambda order: day_of(order["orderDate"]),
        "source": lambda order: order["source"],
        "salesRep": lambda order: order["salesRepId"],
        "paymentMethod": lambda order: order["paymentMethod"],
    }
    for by, key in keys.items():
        report = reported(jobs, "sales", by)
        assert_same(report, added((key(order), sums) for order, sums in sold))
        assert_adds_up(report)
    assert_adds_up(reported(jobs, "sales", "product"))
    moved_money = [(one, money_of(one)) for one in transactions]
    by_day = added((day_of(one["at"]), sums) for one, sums in moved_money)
    assert_same(reported(jobs, "money"), by_day)
    by_method = added((one["method"], sums) for one, sums in moved_money)
    assert_same(reported(jobs, "money", "paymentMethod"), by_method)
    zero = Decimal(0)
    taxes = [
        (day_of(order["orderDate"]), sums["tax"], zero)
        for order, sums in sold
        if order["refunds"] or not order["closedAt"]  # closed without a refund it has no tax
    ]
    taxes += [(day_of(one["at"]), zero, -Decimal(one["tax"])) for one in transactions]
    parts = ((day, {"charged": a, "refunded": b, "net": a - b}) for day, a, b in taxes)
    tax = {row["key"]: plain(row) for row in reported(jobs, "tax")["rows"]}
    assert {day: sums for day, sums in tax.items() if any(sums.values())} == added(parts)
    by_product = reported(jobs, "sales", "product")
    _assert_products(by_product, orders, sold)
    for row in by_product["rows"][:2]:
        of_one = reported(jobs, "sales", **WHOLE, productId=row["key"])
        assert of_one["totals"] == {name: row[name] for name in SUMS}
        pieces = added(
            (day_of(order["orderDate"]), {"pieces": Decimal(one["quantity"])})
            for order in orders
            if order["status"] != "CANCELLED"
            for one in order["lineItems"]
            if one["productId"] == row["key"]
        )
        days = {day: sums["pieces"] for day, sums in rows_of(of_one).items() if sums["orders"]}
        assert days == {day: sums["pieces"] for day, sums in pieces.items()}


def _assert_products(report: Any, orders: Any, sold: Any) -> None:
    """Rows add up to the totals exactly; each is what its lines have, and its share of the rest."""
    rows = rows_of(report)
    totals = added(("", sums) for _, sums in sold)[""]
    assert plain(report["totals"]) == totals
    for name in set(SUMS) - {"orders"}:
        assert sum(row[name] for row in rows.values()) == totals[name], name
    own: dict[str | None, Sums] = defaultdict(lambda: defaultdict(Decimal))
    lines = 0
    for order in orders:
        if order["status"] == "CANCELLED":
            continue
        lines += len(order["lineItems"])
        for id in {one["productId"] for one in order["lineItems"]}:
            own[id]["orders"] += 1
        whole = sum(Decimal(one["total"]) for one in order["lineItems"])
        for one in order["lineItems"]:
            own[one["productId"]]["pieces"] += one["quantity"]
            own[one["productId"]]["gross"] += Decimal(one["price"]) * one["quantity"]
            own[one["productId"]]["tax"] += Decimal(order["tax"]) * Decimal(one["total"]) / whole
    assert rows.keys() == own.keys() and {row["label"] for row in report["rows"]} == {
        *(f"Vase {n}" for n in range(1, 7)),
        None,
    }
    for key, row in rows.items():
        for name in ("orders", "pieces", "gross"):
            assert row[name] == own[key][name], (key, name)
        assert abs(row["tax"] - own[key]["tax"]) <= lines * Decimal("0.005")


def test_a_cent_off_an_order_is_off_one_of_its_products(jobs: JobDesk) -> None:
    lines = [line(variant(jobs.shop), price="1.00") for _ in range(2)]
    order = placed(jobs.shop, *lines, discount={"amount": "0.01"}, paymentStatus="PAID")
    report = reported(jobs, "sales", "product", **day_of_order(order))
    assert_adds_up(report)
    assert [row["discounts"] for row in report["rows"]] == ["0.00", "0.01"]


def test_a_refund_of_a_line_is_of_its_product(jobs: JobDesk) -> None:
    ids = [variant(jobs.shop, name=name, price=price) for name, price in (("A", 10), ("B", 20))]
    order = placed(jobs.shop, line(ids[0], 3), line(ids[1]), tax="5", shipping="4")
    order.pay()
    one = order["lineItems"][0]
    back = {"lines": [{"lineItemId": one["id"], "quantity": 1}], "shipping": "4"}
    made = order.refund(**back).json["refunds"][0]
    assert (made["amount"], made["lines"][0]["tax"]) == ("15.00", "1.00")
    rows = products_of(jobs, order)
    assert [rows[name][column] for name in "AB" for column in ("gross", "refunds", "net")] == [
        *("30.00", "10.00", "20.00"),
        *("20.00", "0.00", "20.00"),
    ]
    assert [rows[name]["tax"] for name in "AB"] == ["3.00", "2.00"]
    order.patch({"paymentStatus": "REFUNDED"})
    assert {row["net"] for row in products_of(jobs, order).values()} == {"0.00"}
    assert reported(jobs, "tax", **day_of_order(order))["totals"] == {
        "charged": "5.00",
        "refunded": "5.00",
        "net": "0.00",
    }


@pytest.mark.parametrize(
    ("paid", "back", "refunds"),
    [
        ("30", {"amount": "7"}, ["7.00", "0.00"]),  # 3 are kept for the unpacking
        ("36", {}, ["4.00", "0.00"]),  # 6 were paid too much
        ("40", {}, ["0.00", "0.00"]),
        ("30", {"amount": "12"}, ["10.00", "2.00"]),  # 2 more because both were late
    ],
)
def test_a_refund_of_a_line_is_of_no_other_product(
    jobs: JobDesk, paid: str, back: Any, refunds: list[str]
) -> None:
    ids = [variant(jobs.shop, name=name, price=price) for name, price in (("A", 10), ("B", 20))]
    order = placed(jobs.shop, *map(line, ids))
    order.pay(paid, allowOverpayment=True)
    assert order.refund(lines=[order.first_line(quantity=1)], **back).status == 201
    rows = products_of(jobs, order)
    assert [rows[name]["refunds"] for name in "AB"] == refunds
    b = order["lineItems"][1]["productId"]
    of_b = reported(jobs, "sales", **day_of_order(order), productId=b)
    assert of_b["totals"]["refunds"] == refunds[1]


def test_each_product_of_an_order_that_was_refunded_in_full_has_a_net_of_0(jobs: JobDesk) -> None:
    ids = [variant(jobs.shop, name=name, price=price) for name, price in (("A", 50), ("B", 20))]
    order = placed(jobs.shop, line(ids[0], 2), line(ids[1]))
    order.pay()
    assert order.refund(lines=[order.first_line(quantity=1)]).status == 201
    assert order.edit(change=[order.first_line(price=15)]).status == 200
    order.patch({"paymentStatus": "REFUNDED"})
    rows = products_of(jobs, order)
    assert {name: (row["refunds"], row["net"]) for name, row in rows.items()} == {
        "A": ("30.00", "0.00"),
        "B": ("20.00", "0.00"),
    }


def test_a_refund_in_june_changes_only_the_sales_of_may(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, datetime(2026, 5, 12, 9, tzinfo=UTC))
    order = placed(jobs.shop, line(variant(jobs.shop), price="100"), tax="20")
    order.pay(method="CARD")
    may, june = ({"from": f"2026-0{n}-01", "to": f"2026-0{n}-30"} for n in (5, 6))
    asked = [("money", "day"), ("money", "paymentMethod"), ("tax", "day")]
    before = [reported(jobs, kind, by, **may) for kind, by in asked]
    at(monkeypatch, datetime(2026, 6, 3, 9, tzinfo=UTC))
    lines = [{"lineItemId": order["lineItems"][0]["id"], "quantity": 1}]
    assert order.refund(lines=lines).status == 201
    assert [reported(jobs, kind, by, **may) for kind, by in asked] == before
    sales = reported(jobs, "sales", **may)["totals"]
    assert (sales["gross"], sales["refunds"], sales["net"]) == ("100.00", "100.00", "0.00")
    assert reported(jobs, "sales", **june)["rows"] == []
    assert reported(jobs, "tax", **june)["totals"]["net"] == "-20.00"
    assert reported(jobs, "money", **june)["totals"]["refunds"] == "120.00"


def test_money_is_counted_when_it_was_recorded_or_received(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEZONE", "America/New_York")

    def sum_days(by: str) -> dict[str, dict[str, str]]:
        """The payments, voids and net of each day of two months."""
        period = {"from": "2026-05-01", "to": "2026-06-30"}
        rows = reported(jobs, "money", "day", **period, clock=by)["rows"]
        wanted = ("payments", "refunds", "voids", "net")
        return {row["key"]: {name: row[name] for name in wanted} for row in rows}

    def take(received: str | None, **payment: str) -> Any:
        order = placed(jobs.shop, line(variant(jobs.shop), price="100"))
        paid = order.pay(method="CASH", **payment, **({"receivedAt": received} if received else {}))
        assert paid.status == 201, paid.text
        return order, paid.json["payments"][-1]["id"]

    def row(payments: str, refunds: str, voids: str, net: str) -> dict[str, str]:
        return {"payments": payments, "refunds": refunds, "voids": voids, "net": net}

    today = datetime(2026, 6, 10, 14, tzinfo=UTC)  # 10 o'clock in the shop
    at(monkeypatch, today)
    take(None, amount="10")
    assert sum_days("recorded") == sum_days("received")
    # Received late on the 9th of May of the shop, and at the latest possible time tomorrow.
    old, old_id = take("2026-05-10T03:30:00Z", amount="20")
    take("2026-06-11T14:00:00Z", amount="5")
    assert sum_days("received") == {
        "2026-05-09": row("20.00", "0.00", "0.00", "20.00"),
        "2026-06-10": row("10.00", "0.00", "0.00", "10.00"),
        "2026-06-11": row("5.00", "0.00", "0.00", "5.00"),
    }
    assert sum_days("recorded") == {"2026-06-10": row("35.00", "0.00", "0.00", "35.00")}
    # A correction, which is a void and a payment, leaves the drawer of today.
    path = f"{ORDERS}/{old['id']}/payments/{old_id}"
    assert jobs.shop.post(f"{path}/correct", {"method": "CARD"}).status == 200
    found = sum_days("received")
    assert found["2026-05-09"] == row("40.00", "0.00", "20.00", "20.00")
    assert found["2026-06-10"] == row("10.00", "0.00", "0.00", "10.00")
    tomorrow = {"from": "2026-06-11", "to": "2026-06-11", "clock": "received"}
    assert reported(jobs, "money", "paymentMethod", **tomorrow)["totals"]["net"] == "5.00"
    may = {"from": "2026-05-09", "to": "2026-05-09", "clock": "received"}
    methods = reported(jobs, "money", "paymentMethod", **may)["rows"]
    assert {one["key"]: one["net"] for one in methods} == {"CARD": "20.00", "CASH": "0.00"}

    def sum_today(**query: str) -> dict[str, str]:
        path = "/api/admin/summary" + "".join(f"?{name}={value}" for name, value in query.items())
        return {one["method"]: one["amount"] for one in jobs.shop.get(path).json["moneyToday"]}

    assert sum_today() == sum_today(clock="recorded") == {"CARD": "20.00", "CASH": "15.00"}
    assert sum_today(clock="received") == {"CASH": "10.00"}
    # The next day has what was recorded 24 hours before; its void counts there, too.
    at(monkeypatch, today + timedelta(days=1))
    assert sum_today() == {}
    assert sum_today(clock="received") == {"CASH": "5.00"}
    new, new_id = take(None, amount="7")
    assert jobs.shop.post(f"{ORDERS}/{new['id']}/payments/{new_id}/void", {}).status == 200
    old, old_id = take("2026-05-01T12:00:00Z", amount="3")
    assert jobs.shop.post(f"{ORDERS}/{old['id']}/payments/{old_id}/void", {}).status == 200
    assert sum_today(clock="received") == {"CASH": "5.00"}
    assert sum_days("received")["2026-05-01"] == row("3.00", "0.00", "3.00", "0.00")
    monkeypatch.setattr("chalicelib.summary.store.MOST_COUNTED", 2)
    assert jobs.shop.get("/api/admin/summary?clock=received").json["moneyToday"] is None


def test_a_report_has_at_most_a_thousand_rows_and_its_file_all(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.reports.store.MOST_ROWS", 2)
    for n in range(1, 5):
        placed(jobs.shop, line(variant(jobs.shop, name=f"=P{n}", price=n)))
    today = clock.iso(clock.now())[:10]
    asked = {"type": "sales", "by": "product", "from": today, "to": today}
    job = jobs.done(REPORTS, asked)
    report = job["report"]
    assert report["truncated"] and [row["label"] for row in report["rows"]] == ["=P4", "=P3"]
    assert report["totals"]["net"] == "10.00"
    found = list(csv.DictReader(io.StringIO(file_of(job, "csv")[1:], newline="")))
    assert [row["label"] for row in found] == ["'=P4", "'=P3", "'=P2", "'=P1"]
    assert sum(Decimal(row["net"]) for row in found) == 10
    monkeypatch.setattr("chalicelib.reports.sums.MOST_KEPT", 1)
    kept = jobs.done(REPORTS, asked)["report"]
    assert kept["truncated"] and len(kept["rows"]) == 1
    assert kept["totals"] == report["totals"]


def test_a_file_is_gone_after_30_days(jobs: JobDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"type": "sales", "from": "2026-01-01", "to": "2026-12-31"}
    done = [
        jobs.done(REPORTS, asked),
        jobs.done("/api/admin/exports", {"type": "orders", "all": True}),
    ]
    month = clock.parse(done[0]["createdAt"]) + timedelta(days=30)
    at(monkeypatch, month)
    assert all(jobs.job(job["id"])["downloadUrl"] for job in done)
    at(monkeypatch, month + timedelta(hours=1))
    for file in aws.client("s3").list_objects_v2(Bucket=settings.bucket())["Contents"]:
        aws.client("s3").delete_object(Bucket=settings.bucket(), Key=file["Key"])  # as S3 does
    for job in done:
        now = jobs.job(job["id"])
        assert (now["status"], now["downloadUrl"], now["bytes"]) == (
            "COMPLETED",
            None,
            job["bytes"],
        )
    assert jobs.job(done[0]["id"])["report"] is None


def test_a_readers_key_gets_reports(jobs: JobDesk) -> None:
    key = jobs.shop.as_("READER")
    asked = {"type": "money", "from": "2026-01-01", "to": "2026-12-31"}
    id = jobs.start(REPORTS, asked, key=key)
    assert jobs.shop.get(f"/api/admin/jobs/{id}", key=key).json["report"] is None
    jobs.work()
    job = jobs.shop.get(f"/api/admin/jobs/{id}", key=key).json
    assert job["report"]["rows"] == [] and job["downloadUrl"]


def test_profit_is_of_what_has_a_cost_and_for_nobody_who_may_not_see_it(jobs: JobDesk) -> None:
    known = variant(jobs.shop, name="Known", variants=[{"price": "10", "cost": "4"}])
    other = variant(jobs.shop, name="Other", price="7", variants=[{}])
    order = placed(jobs.shop, line(known, 3), line(other), discount={"amount": "3.70"})
    sold = next(each for each in order["lineItems"] if each["cost"])
    order.pay(order["total"])
    order.refund(lines=[{"lineItemId": sold["id"], "quantity": 1}], method="CASH")
    period = day_of_order(order)
    asked = {"type": "sales", "by": "product", "costs": True, "csv": "semicolon", **period}
    job = jobs.done(REPORTS, asked)
    rows = {row["label"]: row for row in job["report"]["rows"]}
    assert [rows["Other"][name] for name in ("netWithCost", "cost", "profit")] == [None] * 3
    net = Decimal(rows["Known"]["net"])
    assert rows["Known"]["net"] == "18.00"  # 30.00 less 3.00 of the discount, a third refunded
    assert (rows["Known"]["cost"], rows["Known"]["profit"]) == ("8.00", str(net - 8))
    by_day = jobs.done(REPORTS, {**asked, "by": "day"})["report"]
    totals = by_day["totals"]
    assert (totals["netWithCost"], totals["cost"]) == ("18.00", "8.00"), "of a net with more in it"
    assert Decimal(totals["net"]) > Decimal(totals["netWithCost"])
    assert by_day["totals"]["profit"] == job["report"]["totals"]["profit"] == "10.00"
    lines = file_of(job, "csv").splitlines()
    assert lines[1].endswith(";18,00;8,00;10,00") and lines[2].endswith(";;;")
    assert f"sales-by-product-{period['from']}-to-{period['to']}.csv" in job["downloadUrl"]
    key = jobs.shop.as_("READER")
    shown = jobs.shop.get(f"/api/admin/jobs/{job['id']}", key=key).json
    assert (shown["report"], shown["downloadUrl"]) == (None, None)
    assert jobs.shop.post(REPORTS, asked, key=key).status == 403
    order.post("/close", {"keep": "5", "reason": "Stopped"})
    closed = jobs.done(REPORTS, asked)["report"]
    row = next(each for each in closed["rows"] if each["label"] == "Known")
    assert (row["cost"], row["profit"]) == ("0.00", row["kept"])


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"to": "2026-02-24"}, "to"),
        ({"to": "2027-02-26"}, "to"),
        ({"from": "25.2.2026"}, "from"),
        ({"from": 20260225}, "from"),
        ({"productId": ""}, "productId"),
        ({"by": "product", "productId": "prod_1"}, "productId"),
        ({"type": "money", "productId": "prod_1"}, "productId"),
        ({"from": "20260225"}, "from"),
        ({"from": "2011-12-30", "to": "2011-12-30"}, "to"),
        ({"from": "0001-01-01", "to": "0001-01-02"}, "from"),
        ({"to": None}, "to"),
        ({"type": "sales", "by": "colour"}, "by"),
        ({"type": "profit"}, "type"),
        ({"type": "tax", "by": "product"}, "by"),
        ({"type": "money", "by": "salesRep"}, "by"),
        ({"type": "money", "clock": "later"}, "clock"),
        ({"clock": "received"}, "clock"),
        ({"type": "tax", "costs": True}, "costs"),
        ({"csv": "tabs"}, "csv"),
    ],
)
def test_a_wrong_request_names_its_field(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, sent: dict[str, Any], field: str
) -> None:
    monkeypatch.setenv("TIMEZONE", "Pacific/Apia")  # which left out the 30th of December 2011
    answer = jobs.shop.post(REPORTS, {"type": "sales", **WHOLE, **sent})
    assert (answer.status, [e["field"] for e in answer.json["errors"]]) == (422, [field])


@pytest.mark.thorough
@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("after", [False, True])
def test_a_report_that_crashes_anywhere_counts_each_order_once(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, nth: int, after: bool
) -> None:
    monkeypatch.setattr("chalicelib.reports.work._PAGE", 2)
    monkeypatch.setattr("chalicelib.reports.work._PAGES", 1)
    id = variant(jobs.shop, price="1.10")
    for _ in range(7):
        placed(jobs.shop, line(id))
    today = clock.iso(clock.now())[:10]
    job = jobs.start(REPORTS, {"type": "sales", "by": "source", "from": today, "to": today})
    jobs.crash("TransactWriteItems", nth, after=after)
    done = jobs.finished(job)
    assert (done["status"], done["processed"], done["total"]) == ("COMPLETED", 7, 7)
    assert (done["report"]["totals"]["orders"], done["report"]["totals"]["net"]) == (7, "7.70")
    text = file_of(done, "csv")
    assert text.count("\n") == 2
    assert text[1:].startswith("source,label,orders,")  # as release 1.0.0 has it
