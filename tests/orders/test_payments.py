"""Payments, deposits and refunds: what an order's records make of its money."""

import random
from decimal import Decimal
from itertools import product as combinations
from typing import Any

import pytest

from chalicelib.orders.model import refunded_tax
from chalicelib.values.forgetting import Person
from tests.orders.build import (
    ORDERS,
    at_once,
    counts_agree,
    line,
    new_order,
    placed,
    product_path,
    stock_of,
    variant,
    variants,
)
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Shop

TRANSACTIONS = "/api/admin/transactions"


def costing(shop: Shop, total: str = "100.00", **fields: Any) -> Any:
    """An order of one piece that costs this."""
    return placed(shop, line(variant(shop), price=total), **fields)


def revenue(shop: Shop) -> str:
    return str(shop.get("/api/admin/summary").json["today"]["revenue"])


def spent(shop: Shop, order: Any) -> str:
    """Of the only order of its customer, also as its fields tell it to a copy of the shop."""
    paid, refunded, due = (
        Decimal(order.read()[name]) for name in ("amountPaid", "amountRefunded", "balanceDue")
    )
    shown = shop.get(f"/api/admin/customers/{order['customer']['id']}").json["totalSpent"]
    assert Decimal(shown) == paid - refunded + min(due, Decimal(0))
    return str(shown)


def test_two_payments_pay_an_order_once(shop: Shop) -> None:
    order = costing(shop)
    first = order.pay("30", method="cash", reference="R-1")
    assert (first.status, first.json["paymentStatus"]) == (201, "PARTIALLY_PAID")
    assert (first.json["status"], first.json["balanceDue"]) == ("PENDING", "70.00")
    second = order.pay(70).json
    assert (second["paymentStatus"], second["status"]) == ("PAID", "PAID")
    assert (second["amountPaid"], second["balanceDue"]) == ("100.00", "0.00")
    assert second["paidAt"] and second == order.read()
    assert order.kinds().count("order.paid") == 1
    over = order.pay("0.01")
    assert (over.status, over.json["code"], over.json["balanceDue"]) == (422, "overpaid", "0.00")
    assert order.pay().json["code"] == "nothing_due"
    accepted = order.pay("0.01", allowOverpayment=True).json
    assert (accepted["balanceDue"], accepted["paymentStatus"]) == ("-0.01", "PAID")
    assert "more than is due, 0.00." in order.pay("0.01").json["message"]
    assert order.kinds().count("order.paid") == 1
    assert counts_agree()


def test_a_deposit_begins_production_before_the_order_is_paid(shop: Shop) -> None:
    order = costing(shop, deposit={"percent": 30})
    assert order["deposit"] == {"amount": "30.00", "percent": 30, "isReached": False}
    assert order.pay("29.99").json["status"] == "PENDING"
    reached = order.pay("0.01").json
    assert (reached["status"], reached["paymentStatus"]) == ("PAID", "PARTIALLY_PAID")
    assert reached["deposit"]["isReached"]
    assert order.moved("IN_PRODUCTION").status == 200
    assert "order.paid" not in order.kinds()
    rest = order.pay().json
    assert (rest["payments"][-1]["amount"], rest["paymentStatus"]) == ("70.00", "PAID")
    assert rest["status"] == "IN_PRODUCTION"
    assert order.kinds().count("order.paid") == 1


def test_amounts_below_one_are_money_too(shop: Shop) -> None:
    order = costing(shop, "0.80")
    assert order.patch({"deposit": {"percent": "0.5"}}).refused == ["deposit"]  # 0.00
    assert order.patch({"deposit": {"amount": "0.50"}}).status == 200
    part = order.pay("0.50").json
    assert (part["paymentStatus"], part["deposit"]["isReached"]) == ("PARTIALLY_PAID", True)
    over = costing(shop, "0.80")
    over.pay("1.10", allowOverpayment=True)
    for balance, one in (("due", order), ("owed", over)):
        found = shop.get(f"{ORDERS}?balance={balance}").json["data"]
        assert [each["id"] for each in found] == [one["id"]]
    receivables = shop.get("/api/admin/summary").json["receivables"]
    assert receivables == {"orders": 1, "amount": "0.30"}
    assert order.pay().json["payments"][1]["amount"] == "0.30"
    for amount in ("0.10", "0.70"):
        assert order.refund(amount=amount).status == 201
    assert costing(shop, "0.80", paymentStatus="PAID")["amountPaid"] == "0.80"
    assert costing(shop, "0.00", paymentStatus="PAID")["payments"] == []
    assert counts_agree()


def test_twenty_payments_at_once_never_take_more_than_is_due(shop: Shop) -> None:
    order = costing(shop)
    answers = at_once(20, lambda _: order.pay(10))
    assert sorted(answer.status for answer in answers) == [201] * 10 + [422] * 10
    assert {a.json["code"] for a in answers if a.status == 422} == {"overpaid"}
    assert order.read()["balanceDue"] == "0.00"
    assert counts_agree()


def test_the_parts_of_a_line_add_up_to_its_price(shop: Shop) -> None:
    order = placed(shop, line(variant(shop), 3, price="3.33"), tax="0.67", paymentStatus="PAID")
    assert order["total"] == "10.66"
    one = [order.first_line(quantity=1)]
    parts = []
    for _ in range(3):
        preview = order.refund(lines=one, dryRun=True)
        made = order.refund(lines=one)
        assert (preview.status, made.status) == (200, 201)
        parts.append(made.json["refunds"][-1])
        assert preview.json["amount"] == parts[-1]["amount"] == parts[-1]["lines"][0]["amount"]
        assert preview.json["balanceAfter"] == made.json["balanceDue"]
    assert {part["amount"] for part in parts} <= {"3.55", "3.56"}
    assert sum(Decimal(part["amount"]) for part in parts) == Decimal("10.66")
    assert sum(Decimal(part["lines"][0]["tax"]) for part in parts) == Decimal("0.67")
    moved = shop.get(f"{TRANSACTIONS}?kind=REFUND").json["data"]
    assert sum(Decimal(one["tax"]) for one in moved) == Decimal("-0.67")
    assert made.json["lineItems"][0]["refundedQuantity"] == 3
    assert (made.json["paymentStatus"], made.json["refundStatus"]) == ("REFUNDED", "FULL")
    again = order.refund(lines=one)
    assert (again.status, again.json["code"]) == (422, "nothing_to_refund")


def test_the_last_refund_has_the_tax_that_is_left_unless_the_order_is_cancelled(
    shop: Shop,
) -> None:
    pieces = line(variant(shop), 3, price="3.11")
    paid = placed(shop, pieces, tax="0.67", paymentStatus="PAID")
    cancelled = placed(shop, pieces, tax="0.67")
    cancelled.pay(7)
    cancelled.moved("CANCELLED")
    for order, rest, taxes in (
        (paid, "5.67", ["-0.45", "0.00", "-0.22"]),
        (cancelled, "2.67", ["0.00", "0.00", "0.00"]),
    ):
        order.refund(lines=[order.first_line(quantity=1)])
        order.refund(amount=1)
        assert order.refund(amount=rest).json["paymentStatus"] == "REFUNDED"
        moved = shop.get(f"{TRANSACTIONS}?orderId={order['id']}&kind=REFUND").json["data"]
        assert [one["tax"] for one in moved] == taxes


@pytest.mark.parametrize(
    ("sent", "tax"),
    [
        ({"amount": "0.01"}, "0.00"),
        ({"amount": "11"}, "1.00"),
        ({"amount": "55"}, "5.00"),
        ({"amount": "57"}, "5.00"),  # more than the pieces cost, of the shipping
        ({"amount": "11", "shipping": "5"}, "0.92"),
    ],
)
def test_a_refund_of_less_than_its_pieces_cost_has_that_part_of_their_tax(
    shop: Shop, sent: Any, tax: str
) -> None:
    piece = line(variant(shop), price=50)
    order = placed(shop, piece, tax="5", shipping="5", paymentStatus="PAID")
    wanted = {"lines": [order.first_line(quantity=1)], **sent}
    assert order.refund(dryRun=True, **wanted).json["tax"] == tax
    assert order.refund(**wanted).status == 201
    order.refund(amount=str(Decimal(60) - Decimal(sent["amount"])))
    last, first = shop.get(f"{TRANSACTIONS}?kind=REFUND").json["data"]
    assert Decimal(first["tax"]) == -Decimal(tax)
    expected = max(Decimal(tax) - 5, Decimal(last["amount"]))  # all that is left, or all its money
    assert Decimal(last["tax"]) == expected


def test_refunds_that_end_an_order_share_its_tax_by_their_money(shop: Shop) -> None:
    order = placed(shop, line(variant(shop), price=50), tax="5")
    order.pay(53, method="CARD")
    order.pay(2, method="CASH")
    order.patch({"paymentStatus": "REFUNDED"})
    moved = shop.get(f"{TRANSACTIONS}?kind=REFUND").json["data"]
    assert {one["amount"]: one["tax"] for one in moved} == {"-2.00": "-2.00", "-53.00": "-3.00"}


@pytest.mark.parametrize(
    ("kept", "tax"),
    [
        ((45, 20, 0), ["0.00", "-10.00", "-10.00", "0.00"]),
        ((55, 20, 0), ["-5.00", "-15.00", "0.00"]),  # nothing goes back at first
    ],
)
def test_the_tax_of_what_went_back_when_an_order_was_closed_stays(
    shop: Shop, kept: tuple[int, ...], tax: list[str]
) -> None:
    order = placed(shop, line(variant(shop), price=100), tax="20", paymentMethod="CASH")
    order.pay(60)
    order.patch({"status": "PAID", "paymentStatus": "PARTIALLY_PAID"})
    order.refund(amount=5)
    path = f"{TRANSACTIONS}?orderId={order['id']}&kind=REFUND"
    for keep in kept:
        assert order.post("/close", {"keep": keep, "reason": "A complaint"}).status == 200
        taxes = [one["tax"] for one in shop.get(path).json["data"]][::-1]
        assert taxes == tax[: len(taxes)]
    assert taxes == tax


@pytest.mark.thorough
def test_the_taxes_of_refunds_are_never_more_than_their_money_nor_the_orders_tax(
    shop: Shop,
) -> None:
    seeded = random.Random(64)
    for _ in range(25):
        price, tax = seeded.randint(1, 5000) / 100, seeded.randint(0, 2000) / 100
        pieces = line(variant(shop), 4, price=f"{price:.2f}")
        order = placed(shop, pieces, tax=f"{tax:.2f}", paymentStatus="PAID")
        for _ in range(4):
            sent: dict[str, Any] = {"amount": f"{seeded.randint(1, 3000) / 100:.2f}"}
            if seeded.random() < 0.7:
                sent["lines"] = [order.first_line(quantity=1)]
            if seeded.random() < 0.3:
                del sent["amount"]
            order.refund(**sent)  # may be more than is left
            lower = Decimal(order.read()["tax"]) * seeded.randint(50, 100) / 100
            if seeded.random() < 0.3:
                order.edit(tax=f"{lower:.2f}", total=order.read()["total"])
        if seeded.random() < 0.5:
            order.patch({"paymentStatus": "REFUNDED"})
        path = f"{TRANSACTIONS}?orderId={order['id']}&kind=REFUND"
        moved = [
            (Decimal(one["amount"]), Decimal(one["tax"])) for one in shop.get(path).json["data"]
        ]
        assert all(amount <= tax <= 0 for amount, tax in moved), moved
        assert -sum(tax for _, tax in moved) <= Decimal(order.read()["tax"])


def test_tax_above_what_a_line_cost_is_no_part_of_its_refund(shop: Shop) -> None:
    order = placed(shop, line(variant(shop), price=9), tax="2", total=1, paymentStatus="PAID")
    made = order.refund(lines=[order.first_line(quantity=1)]).json
    (refund,) = made["refunds"]
    assert [one["tax"] for one in refund["lines"]] == ["1.00"]
    of_1_0_0 = {**refund, "lines": [{**refund["lines"][0], "tax": "2.00"}]}
    assert refunded_tax(of_1_0_0) == 1
    (moved,) = shop.get(f"{TRANSACTIONS}?kind=REFUND").json["data"]
    assert (moved["amount"], moved["tax"]) == ("-1.00", "-1.00")


def test_no_more_pieces_are_refunded_than_were_sold(shop: Shop) -> None:
    order = placed(shop, line(variant(shop), 2, price="5"), line(variant(shop), price="5"))
    order.pay()
    assert order.refund(lines=[order.first_line(quantity=1)]).json["amountRefunded"] == "5.00"
    more = order.refund(lines=[order.first_line(quantity=2)])
    assert (more.status, more.json["code"]) == (422, "exceeds_quantity")
    assert more.json["lines"] == [order.first_line(requested=2, available=1)]
    unknown = order.refund(lines=[{"lineItemId": "li_x", "quantity": 1}])
    assert unknown.json["code"] == "unknown_line"
    assert order.refund(lines=[order.first_line(quantity=1)] * 2).refused == ["lines"]


@pytest.mark.parametrize("end", ["REFUNDED", "deleted"])
def test_pieces_that_came_back_never_come_back_again(shop: Shop, end: str) -> None:
    id = variant(shop, 5)
    order = placed(shop, line(id, 3), paymentStatus="PAID")
    one = [order.first_line(quantity=1)]
    preview = order.refund(lines=one, dryRun=True).json
    assert preview["restocks"] == [{"variantId": id, "quantity": 1}]
    made = order.refund(lines=one).json
    assert made["refunds"][0]["lines"][0]["restocked"] == 1
    assert stock_of(shop, id) == 3
    ended = order.delete() if end == "deleted" else order.moved(end)
    assert ended.status == 200
    assert stock_of(shop, id) == 5
    assert counts_agree()


def test_a_cancelled_order_returns_only_what_a_refund_left(shop: Shop) -> None:
    id = variant(shop, 5)
    order = placed(shop, line(id, 3, price=10))
    order.pay(20)
    order.refund(lines=[order.first_line(quantity=1)])
    assert stock_of(shop, id) == 3
    assert order.moved("CANCELLED").json["paymentStatus"] == "PARTIALLY_PAID"
    assert stock_of(shop, id) == 5


def test_a_piece_that_is_not_restocked_is_never_returned(shop: Shop) -> None:
    id = variant(shop, 5)
    order = placed(shop, line(id, 3), paymentStatus="PAID")
    broken = order.first_line(quantity=1, restock=False)
    order.refund(lines=[broken], reason="DAMAGED")
    assert stock_of(shop, id) == 2
    order.moved("REFUNDED")
    assert stock_of(shop, id) == 4


def test_a_shipped_piece_returns_to_the_stock_only_if_asked(shop: Shop) -> None:
    id = variant(shop, 5)
    order = placed(shop, line(id, 2), paymentStatus="PAID")
    order.moved("PROCESSING", "SHIPPED")
    one = order.first_line(quantity=1)
    order.refund(lines=[one])
    assert stock_of(shop, id) == 3
    order.refund(lines=[{**one, "restock": True}])
    assert stock_of(shop, id) == 4


def test_a_variant_that_is_gone_takes_no_stock(shop: Shop) -> None:
    first, second = variants(shop, 5, 5)
    order = placed(shop, line(first, 2), line(second, 2), paymentStatus="PAID")
    untracked = {"variants": [{"id": first, "stock": None}, {"id": second}]}
    assert shop.put(product_path(first), untracked).status == 200
    lines = [{"lineItemId": one["id"], "quantity": 1} for one in order["lineItems"]]
    preview = order.refund(lines=lines, dryRun=True).json
    assert preview["restocks"] == [{"variantId": second, "quantity": 1}]
    done = order.refund(lines=lines).json["refunds"][0]
    assert [one["restocked"] for one in done["lines"]] == [0, 1]
    assert (stock_of(shop, first), stock_of(shop, second)) == (None, 4)


def test_a_partial_refund_keeps_the_order_paid(shop: Shop) -> None:
    order = costing(shop, paymentStatus="PAID")
    assert (revenue(shop), spent(shop, order)) == ("100.00", "100.00")
    part = order.refund(amount=20).json
    assert (part["paymentStatus"], part["refundStatus"]) == ("PAID", "PARTIAL")
    assert (part["balanceDue"], part["amountCredited"]) == ("0.00", "20.00")
    assert (revenue(shop), spent(shop, order)) == ("80.00", "80.00")
    assert "order.refunded" not in order.kinds()
    too_much = order.refund(amount="80.01")
    assert (too_much.json["code"], too_much.json["refundable"]) == ("exceeds_refundable", "80.00")
    whole = order.refund(amount=80).json
    assert (whole["paymentStatus"], whole["refundStatus"]) == ("REFUNDED", "FULL")
    assert (revenue(shop), spent(shop, order)) == ("0.00", "0.00")
    assert order.kinds().count("order.refunded") == 1
    assert order.moved("REFUNDED").status == 200
    assert order.kinds().count("order.refunded") == 1
    assert order.pay(1).json["code"] == "order_closed"
    assert counts_agree()


def test_a_cancelled_order_may_keep_a_deposit(shop: Shop) -> None:
    order = costing(shop)
    order.pay(30)
    cancelled = order.patch({"status": "CANCELLED"}).json
    assert (cancelled["paymentStatus"], cancelled["balanceDue"]) == ("PARTIALLY_PAID", "-30.00")
    assert (revenue(shop), "order.paid" in order.kinds()) == ("0.00", False)
    assert order.patch({"retained": "30.01"}).refused == ["retained"]
    kept = order.patch({"retained": 30}).json
    assert (kept["retained"], kept["balanceDue"]) == ("30.00", "0.00")
    assert kept["history"][-1]["change"] == "retained none → 30.00"
    assert (revenue(shop), spent(shop, order)) == ("30.00", "30.00")
    refused = order.refund(amount=10).json
    assert (refused["code"], refused["refundable"]) == ("exceeds_refundable", "0.00")
    whole = order.patch({"paymentStatus": "REFUNDED"}).json
    assert (whole["code"], whole["refundable"]) == ("exceeds_refundable", "0.00")
    less = order.patch({"retained": 20}).json
    assert less["history"][-1]["change"] == "retained 30.00 → 20.00"
    assert order.refund(amount=10).status == 201
    assert order.read()["balanceDue"] == "0.00"
    assert order.pay(1).json["code"] == "order_closed"
    assert counts_agree()


def test_a_deposit_can_be_kept_in_the_request_that_cancels(shop: Shop) -> None:
    order = costing(shop)
    order.pay(30)
    sent = {"status": "CANCELLED", "retained": "30.00"}
    cancelled = order.patch(sent).json
    assert (cancelled["retained"], cancelled["balanceDue"]) == ("30.00", "0.00")
    early = costing(shop)
    refused = early.patch({"retained": 1})
    assert refused.refused == ["retained"]


def test_refunding_a_deposit_closes_the_account_of_an_open_order(shop: Shop) -> None:
    order = costing(shop)
    order.pay(30)
    made = order.refund(amount=30).json
    assert (made["status"], made["paymentStatus"]) == ("PENDING", "REFUNDED")
    assert made["balanceDue"] == "0.00"


STATUSES = ("PENDING", "PAID", "IN_PRODUCTION", "PROCESSING", "SHIPPED", "DELIVERED")
RECORDS = ("paid", "refunded in part", "refunded", "voided")


def in_state(shop: Shop, status: str, records: str) -> Any:
    """An order of the only piece, which costs 100.00."""
    order = placed(shop, line(variant(shop, 1), price="100.00"))
    if status == "PENDING":
        order.pay(60)
    else:
        order.moved(*STATUSES[1 : STATUSES.index(status) + 1])
    payment = order.read()["payments"][0]
    if records == "voided":
        assert order.void(payment).json["paymentStatus"] == "PENDING"
    elif records != "paid":
        order.refund(amount=10 if records == "refunded in part" else payment["amount"])
    return order.read()


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("status", STATUSES)
def test_staff_can_end_an_order_in_each_state(shop: Shop, status: str, records: str) -> None:
    """Also without closing it, nothing is owed then, and the piece is back."""
    order = in_state(shop, status, records)
    staff, path = shop.as_("STAFF"), f"{ORDERS}/{order['id']}"
    left = Decimal(order["amountPaid"]) - Decimal(order["amountRefunded"])
    is_shipped = status in {"SHIPPED", "DELIVERED"}
    if status in {"PENDING", "PAID"}:
        to = "CANCELLED" if status == "PENDING" else "REFUNDED"
        ended = shop.patch(path, {"status": to}, key=staff)
        assert ended.json["status"] == to
        if status == "PENDING" and left:
            ended = shop.patch(path, {"paymentStatus": "REFUNDED"}, key=staff)
    elif records == "refunded":
        ended = order.fetch()
        assert shop.patch(path, {"status": "REFUNDED"}, key=staff).status == 422
    elif records == "voided" and not is_shipped:
        free = {"title": "Cancelled", "price": 0, "quantity": 1}
        edit = {"add": [free], "remove": [order["lineItems"][0]["id"]], "reason": "It bounced"}
        ended = shop.post(f"{path}/edit", edit, key=staff)
    else:
        if records == "voided":
            shop.post(f"{path}/payments", {"method": "WRITE_OFF"}, key=staff)
        back = {"lines": [order.first_line(quantity=1, restock=True)], "amount": str(left or 100)}
        ended = shop.post(f"{path}/refunds", back, key=staff)
    assert (ended.status < 300, ended.json["balanceDue"]) == (True, "0.00"), ended.text
    assert shop.get(f"{ORDERS}?balance=due").json["total"] == 0
    assert revenue(shop) == "0.00"
    is_left_out = records == "refunded" and status not in {"PENDING", "PAID"}
    assert stock_of(shop, order["lineItems"][0]["variantId"]) == (0 if is_left_out else 1)
    assert counts_agree()


def test_a_begun_order_keeps_its_deposit_by_an_edit(shop: Shop) -> None:
    order = placed(shop, line(variant(shop, 1), price="100.00"), deposit={"percent": 30})
    sold = order["lineItems"][0]
    assert order.pay(30).json["status"] == "PAID"
    refused = order.patch({"status": "CANCELLED", "retained": 30})
    assert refused.json["code"] == "invalid_transition"
    assert "edit the total" in order.patch({"retained": 30}).json["errors"][0]["message"]
    assert "costs nothing" in order.edit(remove=[sold["id"]]).json["message"]
    kept = {"title": "Cancelled", "price": 30, "quantity": 1}
    after = order.edit(add=[kept], remove=[sold["id"]]).json
    assert (after["paymentStatus"], after["balanceDue"]) == ("PAID", "0.00")
    assert (revenue(shop), stock_of(shop, sold["variantId"])) == ("30.00", 1)


def test_an_order_that_nobody_pays_any_more_can_be_closed(shop: Shop) -> None:
    """Its status may become REFUNDED by the specification's table, whatever was paid."""
    order = costing(shop)
    order.void(order.pay().json["payments"][0])
    already = len(order.kinds())
    closed = order.moved("REFUNDED").json
    assert (closed["paymentStatus"], closed["refunds"]) == ("REFUNDED", [])
    assert order.kinds()[already:] == ["order.updated", "order.refunded"]
    again = order.patch({"paymentStatus": "PAID"}).json
    assert (again["code"], again["allowed"]) == ("invalid_transition", [])
    assert order.pay(1).json["code"] == "order_closed"


BAD_AMOUNTS = ["-1", 0, "1e400", "NaN", "1" * 13, "x", True]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *combinations(["amount", "tendered"], BAD_AMOUNTS),
        ("receivedAt", "2199-01-01T00:00:00Z"),
        ("reference", "x" * 101),
        ("note", "x" * 501),
        ("method", "cash!"),
        ("voidedAt", "2026-01-01T00:00:00Z"),
    ],
)
def test_a_bad_payment_is_refused_by_field(shop: Shop, field: str, value: object) -> None:
    order = costing(shop)
    assert order.pay(**{field: value}).refused == [field]
    several = order.post("/payments", {"payments": [{field: value}]})
    assert several.refused == [f"payments.0.{field}"]
    created = shop.post(ORDERS, new_order(line(variant(shop)), payments=[{field: value}]))
    assert created.refused == [f"payments.0.{field}"]


@pytest.mark.parametrize("value", BAD_AMOUNTS)
def test_a_bad_refund_is_refused_by_field(shop: Shop, value: object) -> None:
    order = costing(shop, paymentStatus="PAID")
    assert order.refund(amount=value).refused == ["amount"]
    lines = [order.first_line(quantity=0)]
    assert order.refund(lines=lines).refused == ["lines.0.quantity"]
    assert order.refund().json["code"] == "nothing_to_refund"


def test_cash_gets_change(shop: Shop) -> None:
    order = costing(shop, "19.50")
    part = order.pay(method="CASH", tendered="5").json["payments"][0]
    assert (part["amount"], part["tendered"], part["change"]) == ("5.00", "5.00", "0.00")
    rest = order.pay(method="CASH", tendered=20).json["payments"][1]
    assert (rest["amount"], rest["tendered"], rest["change"]) == ("14.50", "20.00", "5.50")
    other = costing(shop)
    short = {"amount": 10, "tendered": "9.99"}
    assert other.post("/payments", short).refused == ["tendered"]
    assert other.post("/payments", {"payments": [short]}).refused == ["payments.0.tendered"]
    sold = new_order(line(variant(shop)), payments=[short])
    assert shop.post(ORDERS, sold).refused == ["payments.0.tendered"]


def test_a_dry_run_of_payments_says_what_they_would_do(shop: Shop) -> None:
    order = costing(shop, "19.50")
    given = {"method": "CASH", "tendered": 5}
    preview = order.pay(dryRun=True, **given)
    assert (preview.status, order.read()) == (200, order)
    payment = {"amount": "5.00", "method": "CASH", "tendered": "5.00", "change": "0.00"}
    after = {"balanceAfter": "14.50", "statusAfter": "PENDING"}
    assert preview.json == {"payments": [payment], **after}
    parts = {"payments": [given, {"tendered": "20.00"}], "dryRun": True}
    both = order.post("/payments", parts).json
    assert [one["change"] for one in both["payments"]] == ["0.00", "5.50"]
    assert (both["balanceAfter"], both["statusAfter"]) == ("0.00", "PAID")
    over, stale = {"amount": 20, "dryRun": True}, {"If-Match": '"0"'}
    assert order.post("/payments", over).json["code"] == "overpaid"
    assert order.post("/payments", {"dryRun": True}, headers=stale).status == 412
    assert order.pay(**given).json["balanceDue"] == both["payments"][1]["amount"]
    assert order.kinds() == ["order.created", "order.updated"]


def test_several_payments_are_recorded_together_or_not_at_all(shop: Shop) -> None:
    order = costing(shop)
    parts = [{"amount": 60, "method": "CARD_TERMINAL"}, {"amount": 41, "method": "CASH"}]
    assert order.post("/payments", {"payments": parts}).json["code"] == "overpaid"
    assert order.read()["payments"] == []
    parts[1] = {"method": "CASH"}
    made = order.post("/payments", {"payments": parts})
    assert [one["amount"] for one in made.json["payments"]] == ["60.00", "40.00"]
    assert made.json["paymentMethod"] == "CARD_TERMINAL"
    mixed = order.post("/payments", {"payments": parts, "amount": 1})
    assert mixed.json["code"] == "validation_failed"
    assert order.post("/payments", {"payments": [{}] * 11}).refused == ["payments"]


def test_an_order_is_created_with_its_payments(shop: Shop) -> None:
    lines = [line(variant(shop), price=100)]
    parts = [{"amount": 30, "method": "CASH"}, {"amount": 70, "method": "CARD_TERMINAL"}]
    made = placed(shop, *lines, payments=parts)
    assert (made["status"], made["paymentStatus"], made["balanceDue"]) == ("PAID", "PAID", "0.00")
    assert made.kinds() == ["order.created", "order.paid"]
    mismatch = shop.post(ORDERS, new_order(*lines, payments=parts[:1], paymentStatus="PAID"))
    assert (mismatch.json["code"], mismatch.json["paymentStatus"]) == (
        "payment_mismatch", "PARTIALLY_PAID"
    )  # fmt: skip
    deposit = new_order(*lines, payments=parts[:1], deposit={"amount": "30.00"})
    begun = shop.post(ORDERS, {**deposit, "paymentStatus": "PARTIALLY_PAID"}).json
    assert (begun["status"], begun["paymentStatus"]) == ("PAID", "PARTIALLY_PAID")
    over = shop.post(ORDERS, new_order(*lines, payments=[{"amount": 101}]))
    assert (over.json["code"], over.json["balanceDue"]) == ("overpaid", "100.00")
    assert counts_agree()


def test_a_copied_order_is_not_booked_as_paid_if_it_was_refunded(shop: Shop) -> None:
    order = costing(shop, paymentStatus="PAID")
    copy = {name: value for name, value in order.items() if name != "status"}
    (refused,) = shop.post(ORDERS, {**copy, "trackingNumber": "1Z"}).json["errors"]
    assert (refused["field"], refused["code"]) == ("trackingNumber", "unknown_field")
    again = shop.post(ORDERS, copy).json
    assert (again["amountPaid"], len(again["payments"])) == ("100.00", 1)
    order.refund(amount=100)
    copy = {name: value for name, value in order.read().items() if name != "status"}
    assert shop.post(ORDERS, copy).json["code"] == "payment_mismatch"


def test_a_payment_status_leaves_a_record(shop: Shop) -> None:
    order = costing(shop, paymentStatus="PAID", paymentMethod="CARD_TERMINAL")
    (payment,) = order["payments"]
    assert (payment["implied"], payment["method"], payment["amount"]) == (
        True, "CARD_TERMINAL", "100.00"
    )  # fmt: skip
    free = costing(shop, "0", paymentStatus="PAID")
    assert (free["status"], free["payments"]) == ("PAID", []), "nothing was due"
    other = costing(shop)
    other.pay(40, method="CASH")
    for status in ("PENDING", "FAILED"):
        refused = other.patch({"paymentStatus": status}).json
        assert (refused["code"], refused["allowed"]) == ("invalid_transition", ["PAID", "REFUNDED"])
    assert other.patch({"paymentStatus": "PARTIALLY_PAID"}).status == 200
    paid = other.patch({"status": "PAID"}).json
    assert [(one["amount"], one["method"]) for one in paid["payments"]] == [
        ("40.00", "CASH"),
        ("60.00", "CASH"),
    ]
    refunded = other.patch({"status": "REFUNDED"}).json
    assert [(one["amount"], one["method"], one["implied"]) for one in refunded["refunds"]] == [
        ("100.00", "CASH", True)
    ]
    assert counts_agree()


def test_all_that_is_left_is_refunded_by_its_methods(shop: Shop) -> None:
    order = costing(shop)
    order.pay(30, method="CASH")
    order.pay(70, method="CARD_TERMINAL")
    assert order.refund(amount=20).refused == ["method"]
    order.refund(amount=20, method="CARD_TERMINAL")
    done = order.patch({"paymentStatus": "REFUNDED"}).json
    assert [(one["amount"], one["method"]) for one in done["refunds"][1:]] == [
        ("30.00", "CASH"),
        ("50.00", "CARD_TERMINAL"),
    ]
    assert (done["amountRefunded"], done["balanceDue"]) == ("100.00", "0.00")


@pytest.mark.parametrize(
    ("refunds", "left"),
    [
        # Nothing is left of BANK.
        ({"CARD": 20, "BANK": 10}, [("30.00", "CASH"), ("40.00", "CARD")]),
        # More was refunded in cash than was paid: it is taken off the last.
        ({"CASH": 35}, [("60.00", "CARD"), ("5.00", "BANK")]),
    ],
)
def test_what_is_left_of_each_method_is_refunded(shop: Shop, refunds: Any, left: Any) -> None:
    paid = {"CASH": 30, "CARD": 60, "BANK": 10}
    parts = [{"method": method, "amount": amount} for method, amount in paid.items()]
    order = costing(shop, payments=parts)
    for method, amount in refunds.items():
        order.refund(method=method, amount=amount)
    done = order.patch({"paymentStatus": "REFUNDED"}).json["refunds"][len(refunds) :]
    assert [(one["amount"], one["method"]) for one in done] == left


@pytest.mark.parametrize("many", [10, 11])
def test_money_of_more_than_ten_methods_is_refunded_as_one(shop: Shop, many: int) -> None:
    order = costing(shop, str(many))
    methods = [f"M_{n}" for n in range(many)]
    for method in methods:
        order.pay(1, method=method)
    refunds = order.patch({"paymentStatus": "REFUNDED"}).json["refunds"]
    assert [one["method"] for one in refunds] == (methods if many == 10 else ["OTHER"])


def test_a_void_takes_a_payment_back_once(shop: Shop) -> None:
    order = costing(shop)
    payment = order.pay().json["payments"][0]
    gone = order.void(payment).json
    assert (gone["paymentStatus"], gone["status"]) == ("PENDING", "PAID")
    assert (gone["amountPaid"], gone["balanceDue"]) == ("0.00", "100.00")
    assert gone["payments"][0]["voidReason"] == "Declined"
    again = order.void(payment)
    assert (again.status, again.json["code"]) == (409, "already_voided")
    assert order.void({"id": "pay_x"}).status == 404
    # Once it has payments, its payment status follows from them.
    assert order.patch({"paymentStatus": "FAILED"}).json["allowed"] == ["PAID"]
    assert order.pay().json["paymentStatus"] == "PAID"
    assert order.kinds().count("order.paid") == 1
    assert counts_agree()


def test_the_method_of_a_payment_is_corrected_in_one_step(shop: Shop) -> None:
    order = costing(shop)
    wrong = order.pay(60, method="CASH", reference="R-1", receivedAt="2026-01-05").json["payments"]
    before, path = order.read(), f"/payments/{wrong[0]['id']}/correct"
    assert order.post(path, {"method": "cash"}).refused == ["method"]
    key = {"Idempotency-Key": "wrong-button"}
    answers = [order.post(path, {"method": "CARD"}, headers=key) for _ in range(2)]
    assert answers[0].text == answers[1].text and answers[0].status == 200
    after = answers[0].json
    for name in ("status", "paymentStatus", "amountPaid", "balanceDue", "paidAt"):
        assert after[name] == before[name]
    old, new = after["payments"]
    assert old["voidedAt"] and new["method"] == after["paymentMethod"] == "CARD"
    for name in ("amount", "reference", "note", "receivedAt"):
        assert old[name] == new[name]
    events = [e["event"] for e in shop.events() if e["data"].get("orderId") == order["id"]]
    assert events == ["payment.created", "payment.voided", "payment.created"]
    again = order.post(path, {"method": "BANK"})
    assert (again.status, again.json["code"]) == (409, "already_voided")
    order.refund(amount=5, paymentId=new["id"])
    refunded = order.post(f"/payments/{new['id']}/correct", {"method": "CASH"})
    assert (refunded.status, refunded.json["code"]) == (409, "payment_refunded")
    assert counts_agree()


@pytest.mark.parametrize("ending", ["PATCH", "close"])
def test_the_method_of_a_kept_deposit_is_corrected(shop: Shop, ending: str) -> None:
    order = costing(shop)
    (paid,) = order.pay(60, method="CASH").json["payments"]
    if ending == "PATCH":
        order.patch({"status": "CANCELLED", "retained": 60})
    else:
        order.post("/close", {"keep": 60, "reason": "Stopped"})
    after = order.post(f"/payments/{paid['id']}/correct", {"method": "CARD"}).json
    assert (after["retained"], after["balanceDue"]) == ("60.00", "0.00")


def test_refunded_money_cannot_be_voided(shop: Shop) -> None:
    order = costing(shop)
    payment = order.pay().json["payments"][0]
    order.refund(amount=10, paymentId=payment["id"])
    refused = order.void(payment)
    assert (refused.status, refused.json["code"]) == (409, "payment_refunded")


def test_a_payment_that_bounces_after_a_refund_is_due_again(shop: Shop) -> None:
    order = costing(shop)
    bounces = order.pay(60, method="BANK_TRANSFER").json["payments"][0]
    order.pay(40, method="CASH")
    order.refund(amount=40, method="CASH")
    now = order.void(bounces).json
    assert (now["paymentStatus"], now["refundStatus"]) == ("PARTIALLY_PAID", "PARTIAL")
    assert (now["amountPaid"], now["amountRefunded"], now["balanceDue"]) == (
        "40.00",
        "40.00",
        "60.00",
    )
    assert "order.refunded" not in order.kinds()
    assert shop.get(f"{ORDERS}?balance=due").json["total"] == 1
    assert order.refund(amount=1, method="CASH").json["code"] == "nothing_to_refund"
    paid = order.pay(method="CASH").json
    assert (paid["paymentStatus"], paid["amountPaid"], paid["balanceDue"]) == (
        "PAID",
        "100.00",
        "0.00",
    )
    back = order.refund(amount=60, method="CASH").json
    assert (back["paymentStatus"], back["refundStatus"]) == ("REFUNDED", "FULL")
    assert counts_agree()


def test_a_refund_of_a_payment_is_at_most_that_payment(shop: Shop) -> None:
    order = costing(shop)
    first = order.pay(30, method="CASH").json["payments"][0]
    order.pay(70, method="CARD_TERMINAL")
    more = order.refund(amount=31, paymentId=first["id"])
    assert (more.json["code"], more.json["refundable"]) == ("exceeds_refundable", "30.00")
    assert order.refund(amount=1, paymentId="pay_x").json["code"] == "unknown_payment"
    made = order.refund(amount=30, paymentId=first["id"]).json["refunds"][0]
    assert (made["method"], made["paymentId"]) == ("CASH", first["id"])
    assert order.refund(shipping=1).json["code"] == "exceeds_shipping"


def test_a_reference_is_used_once_in_an_order(shop: Shop) -> None:
    order = costing(shop)
    assert order.refund(amount=1, reference="R-1").json["code"] == "nothing_to_refund"
    first = order.pay(10, method="CARD", reference="T-1").json["payments"][0]
    twice = order.pay(10, method="CARD", reference="T-1")
    assert (twice.status, twice.json["code"]) == (409, "duplicate_reference")
    assert twice.json["payment"] == first
    assert order.pay(10, method="CASH", reference="T-1").status == 201
    order.void(first)
    for status in (201, 409):  # the second is more than is due
        assert order.pay(90, method="CARD", reference="T-1").status == status
    assert order.pay(method="CARD", reference="T-1").json["code"] == "duplicate_reference"
    for status in (201, 409):  # the second is more than is there
        assert order.refund(amount=100, method="CARD", reference="R-1").status == status


def test_a_deposit_changes_only_while_nothing_is_paid(shop: Shop) -> None:
    order = costing(shop)
    wrong = [{"percent": percent} for percent in (0, 101, 1.234, "5_0")]
    for bad in (*wrong, {"amount": "100.01"}, {"amount": 0}, {}):
        field = order.patch({"deposit": bad}).json["errors"][0]["field"]
        assert field.startswith("deposit")
    set_ = order.patch({"deposit": {"percent": "33.33"}}).json
    assert set_["deposit"] == {"amount": "33.33", "percent": 33.33, "isReached": False}
    assert set_["history"][-1]["change"] == "deposit"
    assert order.patch({"deposit": None}).json["deposit"] is None
    order.patch({"deposit": {"amount": 50}})
    order.pay(10)
    late = order.patch({"deposit": {"amount": 40}})
    assert late.json["errors"][0]["code"] == "too_late"
    known = order.read()
    assert order.patch({"deposit": known["deposit"], "retained": None}).status == 200
    assert order.read()["history"] == known["history"]


def test_a_reference_that_is_a_word_of_many_orders_is_found(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.listing.lookup._ENTRIES", 1)
    monkeypatch.setattr("chalicelib.orders.store._LOADED", 2)
    line = {"title": "Ring", "price": 5, "quantity": 1}
    for _ in range(6):
        shop.made(ORDERS, {"lineItems": [line]})
    paid = {"method": "CASH", "reference": "ring"}
    for _ in range(6):
        shop.made(ORDERS, {"lineItems": [{**line, "title": "Mug"}], "payments": [paid]})
    assert shop.read(f"{TRANSACTIONS}?reference=ring")["total"] == 6
    monkeypatch.setattr("chalicelib.orders.store.MOST_MATCHES", 11)
    refused = shop.get(f"{TRANSACTIONS}?reference=ring")
    assert (refused.status, refused.json["code"]) == (422, "search_too_broad")


def test_transactions_are_listed_newest_first(shop: Shop, dynamodb: Double) -> None:
    order, other = costing(shop), costing(shop, paymentStatus="PAID", paymentMethod="CARD")
    date = "2026-01-02T10:00:00.000Z"
    paid = order.pay(30, method="CASH", reference="R-7", receivedAt=date)
    first = paid.json["payments"][0]
    order.void(first)
    order.pay(60, method="CASH")
    order.refund(amount=5)
    listed = shop.get(TRANSACTIONS).json
    assert [(one["kind"], one["amount"]) for one in listed["data"]] == [
        *(("REFUND", "-5.00"), ("PAYMENT", "60.00"), ("VOID", "-30.00")),
        *(("PAYMENT", "30.00"), ("PAYMENT", "100.00")),
    ]
    assert {one["tax"] for one in listed["data"]} == {"0.00"}
    assert [one["receivedAt"] for one in listed["data"]][2:4] == [None, date]
    assert {one["customerId"] for one in listed["data"][:4]} == {order["customer"]["id"]}
    assert {one["orderNumber"] for one in listed["data"]} == {order["number"], other["number"]}
    assert len({one["id"] for one in listed["data"]}) == listed["total"] == 5
    assert listed["data"][2]["id"] == f"void_{first['id'].removeprefix('pay_')}"

    def ids(query: str) -> list[str]:
        found = shop.get(f"{TRANSACTIONS}?{query}").json
        assert found["total"] == len(found["data"])
        return [one["id"] for one in found["data"]]

    everything = [one["id"] for one in listed["data"]]
    assert ids("kind=VOID,refund") == [everything[0], everything[2]]
    assert ids("method=card") == everything[4:]
    assert ids(f"orderId={order['id']}") == everything[:4]
    assert ids(f"orderId={order['id']}&kind=REFUND") == everything[:1]
    assert ids("reference=R-7") == [everything[2], everything[3]]
    assert (
        ids("reference=R-8") == ids("orderId=ord_x") == ids("from=2001-01-01&to=2001-01-01") == []
    )
    assert ids("from=2020-01-01") == everything
    for query in ("", f"&orderId={order['id']}"):
        pages = shop.pages(f"{TRANSACTIONS}?limit=2{query}")
        walked = [one["id"] for page in pages for one in page.json["data"]]
        assert walked == everything[: len(walked)] and len(walked) == (4 if query else 5)
        second = shop.get(f"{TRANSACTIONS}?limit=2&page=2{query}").json["data"]
        assert [one["id"] for one in second] == everything[2:4]
    later = dynamodb.asked("BatchWriteItem")
    dynamodb.meanwhile("BatchGetItem", order.delete, order["id"])
    assert [one["id"] for one in shop.get(TRANSACTIONS).json["data"]] == everything[4:]
    assert not later
    assert ids("") == everything[4:]
    assert counts_agree()


def test_orders_are_listed_by_what_is_due(shop: Shop) -> None:
    due, paid = costing(shop), costing(shop, paymentStatus="PAID")
    part = costing(shop, paymentStatus="PAID")
    part.refund(amount=1)
    over = costing(shop)
    over.pay(101, allowOverpayment=True)
    gone = costing(shop)
    gone.moved("CANCELLED")

    def found(query: str) -> set[str]:
        answer = shop.get(f"{ORDERS}?{query}").json
        assert answer["total"] == len(answer["data"])
        return {one["id"] for one in answer["data"]}

    assert found("balance=due") == {due["id"]}
    assert found("balance=owed") == {over["id"]}
    assert found("refundStatus=PARTIAL,FULL") == {part["id"]}
    assert found("refundStatus=NONE&status=PAID") == {paid["id"], over["id"]}
    summary = shop.get("/api/admin/summary").json
    assert summary["receivables"] == {"orders": 1, "amount": "100.00"}
    due.pay(40)
    summary = shop.get("/api/admin/summary").json
    assert summary["receivables"] == {"orders": 1, "amount": "60.00"}
    assert counts_agree()


def test_each_record_is_announced_with_its_order(shop: Shop) -> None:
    order = costing(shop)
    payment = order.pay(reference="T-1", note="By phone").json["payments"][0]
    assert (payment["reference"], payment["note"]) == ("T-1", "By phone")
    order.void(payment)
    order.pay()
    said = {"reference": "T-2", "reason": "DAMAGED", "note": "A scratch"}
    made = order.refund(amount=1, **said).json
    assert {name: made["refunds"][0][name] for name in said} == said
    records = [e for e in shop.events() if e["event"].split(".")[0] in {"payment", "refund"}]
    assert [event["event"] for event in records] == [
        "payment.created", "payment.voided", "payment.created", "refund.created"
    ]  # fmt: skip
    about = {"orderId": order["id"], "orderNumber": order["number"], "customer": order["customer"]}
    assert records[0]["data"] == {**payment, **about}
    assert records[3]["data"] == {**made["refunds"][0], **about}
    assert order.kinds().count("order.updated") == 4


def test_a_stale_etag_stops_a_payment(shop: Shop) -> None:
    order = costing(shop)
    old = {"If-Match": order.fetch().headers["ETag"]}
    assert order.post("/payments", {"amount": 1}, headers=old).status == 201
    for sent, below in (({"amount": 1}, "payments"), ({"amount": 1}, "refunds")):
        assert order.post(f"/{below}", sent, headers=old).status == 412


@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.value)
@pytest.mark.parametrize(
    ("begins", "below", "money", "stock"),
    [("PENDING", "payments", ("5.00", "0.00"), 3), ("PAID", "refunds", ("20.00", "10.00"), 4)],
    ids=["pay", "refund"],
)
def test_a_record_is_made_completely_or_not_at_all(  # noqa: PLR0917
    shop: Shop, dynamodb: Double, fault: Fault, begins: str, below: str, money: Any, stock: int
) -> None:
    id = variant(shop, 5)
    order = placed(shop, line(id, 2, price=10), paymentStatus=begins)
    piece = {"lines": [order.first_line(quantity=1)]}
    sent = piece if below == "refunds" else {"amount": 5}
    key = {"Idempotency-Key": "once"}
    dynamodb.fails(fault, "TransactWriteItems")
    try:
        first = order.post(f"/{below}", sent, headers=key)
    except Crash:
        first = None
    again = order.post(f"/{below}", sent, headers=key)
    assert again.status == 201 and (first is None or first.text == again.text)
    after = order.read()
    assert (after["amountPaid"], after["amountRefunded"]) == money
    assert stock_of(shop, id) == stock
    assert counts_agree()


def test_an_order_of_sixty_products_takes_ten_payments(shop: Shop) -> None:
    ids = [variant(shop, 3, name=f"Bowl number {n} of a long series") for n in range(60)]
    parts = [{"amount": 1, "method": f"M_{n}", "reference": f"R {n}"} for n in range(10)]
    made = placed(shop, *(line(id, price=1) for id in ids), payments=parts)
    assert made["amountPaid"] == "10.00"
    assert made.pay().json["paymentStatus"] == "PAID"
    done = made.moved("REFUNDED")
    assert (done.status, done.json["balanceDue"]) == (200, "0.00")
    assert stock_of(shop, ids[0]) == 3
    assert counts_agree()


def test_an_order_has_at_most_a_hundred_records(shop: Shop, dynamodb: Double) -> None:
    order = costing(shop, "1000")
    for count in (*[10] * 9, 9):
        assert order.post("/payments", {"payments": [{"amount": 1}] * count}).status == 201
    assert order.refund(amount=1).status == 201
    assert order.pay(1).json["code"] == order.refund(amount=1).json["code"] == "too_many"
    assert order.moved("CANCELLED").status == 200
    refunded = order.patch({"paymentStatus": "REFUNDED"})
    assert refunded.json["paymentStatus"] == "REFUNDED"
    assert order.delete().status == 200
    assert shop.get(TRANSACTIONS).json["total"] == 0
    sizes = dynamodb.partition_sizes("backroom-test")
    assert not any(sizes[pk] for pk in sizes if pk.startswith("list#transaction#"))
    assert counts_agree()


def test_an_erasure_covers_what_people_wrote_on_records(shop: Shop) -> None:
    order = costing(shop)
    order.pay(reference="Ada's IBAN", note="Ada paid")
    order.refund(amount=1, reference="IBAN", note="to Ada")
    more = order.pay(1, allowOverpayment=True).json["payments"][1]
    order.void(more, "Ada's card")
    person = Person(frozenset({order["customer"]["id"]}))
    left = person.forget_order(order.fetch().json)
    texts = [
        one[name]
        for one in (*left["payments"], *left["refunds"])
        for name in ("reference", "note", "voidReason")
        if name in one
    ]
    assert texts and not any(texts)
