"""Closing an order: what it keeps, what goes back, and what no longer follows."""

from decimal import Decimal
from typing import Any

import pytest

from tests.orders.build import (
    ORDERS,
    at_once,
    counts_agree,
    line,
    placed,
    stock_of,
    variant,
)
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop

MOVED = {
    "PENDING": (),
    "PAID": ("PAID",),
    "IN_PRODUCTION": ("PAID", "IN_PRODUCTION"),
    "PROCESSING": ("PAID", "PROCESSING"),
    "SHIPPED": ("PAID", "PROCESSING", "SHIPPED"),
    "DELIVERED": ("PAID", "PROCESSING", "SHIPPED", "DELIVERED"),
}


def close(order: Any, *, headers: Any = None, **fields: Any) -> Answer:
    answer: Answer = order.post("/close", {"reason": "Changed mind", **fields}, headers=headers)
    return answer


def begun(shop: Shop, status: str, paid: int = 40, **fields: Any) -> Any:
    """An order of 100 with this status, and money in hand."""
    pieces = line(variant(shop, 5), 2, price="50.00")
    order = placed(shop, pieces, paymentMethod="CASH", **fields)
    if paid:
        order.pay(paid, method="CASH")
    for step in MOVED[status]:
        more = {"paymentStatus": "PARTIALLY_PAID"} if step == "PAID" else {}
        assert order.patch({"status": step, **more}).status == 200
    return order


def in_stock(shop: Shop, order: Any) -> int | None:
    return stock_of(shop, order["lineItems"][0]["variantId"])


@pytest.mark.parametrize("keep", [0, "15.50", 40])
@pytest.mark.parametrize("status", MOVED)
def test_an_order_ends_in_any_status(shop: Shop, status: str, keep: Any) -> None:
    order = begun(shop, status)
    already = len(order.kinds())
    preview = close(order, keep=keep, dryRun=True)
    assert preview.status == 200 and order.read()["closedAt"] is None
    answer = close(order, keep=keep)
    closed = answer.json
    assert (answer.status, closed) == (200, order.read())
    kept, after = Decimal(str(keep)), status
    if status == "PENDING":
        after = "CANCELLED"
    elif status == "PAID" and not kept:
        after = "REFUNDED"
    assert closed["status"] == preview.json["statusAfter"] == after
    assert Decimal(closed["kept"]) == Decimal(preview.json["kept"]) == kept
    assert (closed["balanceDue"], closed["closeReason"]) == ("0.00", "Changed mind")
    assert closed["closedAt"] == closed["updatedAt"] and closed["closedBy"]
    back = [(one["amount"], one["method"]) for one in closed["refunds"]]
    assert back == [(f"{40 - kept:.2f}", "CASH")] * (kept < 40)
    assert back == [(one["amount"], one["method"]) for one in preview.json["refunds"]]
    assert closed["paymentStatus"] == ("PARTIALLY_PAID" if kept else "REFUNDED")
    is_there = status not in {"SHIPPED", "DELIVERED"}
    assert in_stock(shop, order) == (5 if is_there else 3)
    restocks = [{"variantId": order["lineItems"][0]["variantId"], "quantity": 2}] * is_there
    assert (preview.json["restocks"], preview.json["work"]) == (restocks, [])
    moves = ["order.cancelled"] * (after == "CANCELLED") + ["order.refunded"] * (not kept)
    assert order.kinds()[already:] == ["order.updated", *moves]
    mine = [one for one in shop.events() if one["data"].get("orderId") == order["id"]]
    kinds = [one["event"] for one in mine][1:]
    assert kinds == ["refund.created"] * len(back) + ["order.closed"]
    assert preview.json["events"] == ["order.updated", *moves, *kinds]
    assert mine[-1]["data"] == {
        **{name: closed[name] for name in ("closedAt", "closedBy", "closeReason", "kept")},
        **{"status": after, "customer": closed["customer"]},
        **{"orderId": order["id"], "orderNumber": order["number"]},
    }
    assert closed["retained"] == (closed["kept"] if kept and after == "CANCELLED" else None)
    assert counts_agree()


@pytest.mark.parametrize("status", ["PENDING", "PAID", "PROCESSING", "SHIPPED"])
def test_a_closed_order_takes_no_payment_edit_or_move(shop: Shop, status: str) -> None:
    order = begun(shop, status)
    closed = close(order, keep=10).json
    refused = [order.pay(1), order.edit(shipping=1), order.edit(source="FAIR", dryRun=True)]
    refused += [order.patch({"paymentStatus": "REFUNDED"}), order.patch({"retained": "5"})]
    if status == "PAID":
        refused += [order.patch({"status": "PROCESSING"}), order.patch({"status": "REFUNDED"})]
    assert [(one.status, one.json["code"]) for one in refused] == [(422, "order_closed")] * len(
        refused
    )
    # The specification's table comes first.
    assert order.patch({"status": "PENDING"}).json["code"] == "invalid_transition"
    assert order.read() == closed
    same = {name: value for name, value in closed.items() if name != "status"}
    assert order.patch({**same, "note": "Keeps the ring"}).json["kept"] == "10.00"


def test_an_order_that_nobody_paid_ends_without_a_refund(shop: Shop) -> None:
    order = begun(shop, "PAID", paid=0)
    order.void(order.pay(100).json["payments"][0])
    closed = close(order).json
    assert (closed["status"], closed["kept"], closed["refunds"]) == ("PAID", "0.00", [])
    assert (closed["paymentStatus"], closed["balanceDue"]) == ("PENDING", "0.00")
    assert in_stock(shop, order) == 5
    summary = shop.get("/api/admin/summary").json
    assert summary["openOrders"] == {
        "total": 0,
        "byStatus": dict.fromkeys(("PENDING", "PAID", "IN_PRODUCTION", "PROCESSING", "SHIPPED"), 0),
    }
    assert summary["receivables"] == {"orders": 0, "amount": "0.00"}
    assert counts_agree()


def test_open_orders_and_receivables_leave_closed_ones_out(shop: Shop) -> None:
    gone, still = (begun(shop, "IN_PRODUCTION") for _ in range(2))
    close(gone, keep=40)
    summary = shop.get("/api/admin/summary").json
    assert summary["openOrders"]["byStatus"]["IN_PRODUCTION"] == 1
    assert summary["receivables"] == {"orders": 1, "amount": "60.00"}
    for query, ids in {
        "closed=true": [gone["id"]],
        "closed=false": [still["id"]],
        "closed=true&status=IN_PRODUCTION": [gone["id"]],
        "closed=true&balance=due": [],
        "closed=false&balance=due": [still["id"]],
        "balance=due": [still["id"]],
    }.items():
        found = shop.get(f"{ORDERS}?{query}").json
        assert ([one["id"] for one in found["data"]], found["total"]) == (ids, len(ids))
    assert shop.get(f"{ORDERS}?closed=perhaps").refused == ["closed"]
    assert counts_agree()


def test_an_order_is_closed_again_only_with_less(shop: Shop) -> None:
    order = begun(shop, "PAID")
    first = close(order, keep=30).json
    assert close(order, keep=30).json == first
    more = close(order, keep=31)
    assert (more.status, more.json["code"], more.json["kept"]) == (422, "order_closed", "30.00")
    again = close(order, keep=20, reason="A complaint").json
    assert (again["kept"], again["status"], again["closeReason"]) == (
        "20.00",
        "PAID",
        "A complaint",
    )
    assert (again["closedAt"], again["amountRefunded"]) == (first["closedAt"], "20.00")
    # What else takes money out of a closed order is not kept either.
    assert order.refund(amount=5).json["kept"] == "15.00"
    last = close(order).json
    assert (last["status"], last["kept"], last["balanceDue"]) == ("REFUNDED", "0.00", "0.00")
    assert in_stock(shop, order) == 5
    events = [one["data"] for one in shop.events() if one["event"] == "order.closed"]
    assert [one["kept"] for one in events] == ["30.00", "20.00", "15.00", "0.00"]
    assert counts_agree()


def test_a_payment_that_bounces_after_all_is_not_kept(shop: Shop) -> None:
    for status in ("PENDING", "PROCESSING"):
        order = begun(shop, status)
        closed = close(order, keep=40).json
        voided = order.void(closed["payments"][0]).json
        assert (voided["kept"], voided["balanceDue"], voided["retained"]) == ("0.00", "0.00", None)
    assert counts_agree()


def test_what_goes_back_is_as_it_was_paid_unless_said(shop: Shop) -> None:
    def paid() -> Any:
        parts = [{"amount": 60, "method": "CASH"}, {"amount": 40, "method": "CARD"}]
        return placed(shop, line(variant(shop), price=100), payments=parts)

    def refunds(answer: Answer) -> list[tuple[str, str, str | None]]:
        assert answer.status == 200, answer.text
        found = answer.json["refunds"]
        return [(one["amount"], one["method"], one["paymentId"]) for one in found]

    assert refunds(close(paid())) == [("60.00", "CASH", None), ("40.00", "CARD", None)]
    assert refunds(close(paid(), keep=70)) == [("30.00", "CASH", None)]
    assert refunds(close(paid(), keep=10, method="BANK")) == [("90.00", "BANK", None)]
    order = paid()
    _, card = order["payments"]
    parts = [{"amount": 25, "paymentId": card["id"]}, {"amount": "5.50", "method": "CASH"}]
    over = close(order, keep="69.51", refunds=parts)
    assert (over.json["code"], over.json["refundable"]) == ("exceeds_refundable", "30.49")
    assert close(order, keep=69, refunds=parts).refused == ["refunds"]
    more = [{"amount": 41, "paymentId": card["id"]}]
    assert close(order, keep=59, refunds=more).json["code"] == "exceeds_refundable"
    assert close(order, refunds=parts, method="CASH").status == 422
    assert order.read()["closedAt"] is None
    assert refunds(close(order, keep="69.50", refunds=parts)) == [
        ("25.00", "CARD", card["id"]),
        ("5.50", "CASH", None),
    ]


def test_pieces_that_do_not_return_never_do(shop: Shop) -> None:
    order = begun(shop, "PENDING")
    assert close(order, restock=False, dryRun=True).json["restocks"] == []
    assert close(order, restock=False).json["status"] == "CANCELLED"
    assert in_stock(shop, order) == 3
    assert order.delete().status == 200
    assert in_stock(shop, order) == 3
    assert counts_agree()


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"keep": 41}, "keep"),
        ({"keep": -1}, "keep"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"restock": "yes"}, "restock"),
        ({"refunds": [{"amount": 0}]}, "refunds.0.amount"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_bad_closing_is_refused_by_field(shop: Shop, fields: Any, refused: str) -> None:
    order = begun(shop, "PAID")
    assert close(order, **fields).refused == [refused]
    assert close(order, dryRun=True, **fields).refused == [refused]


@pytest.mark.parametrize("status", ["CANCELLED", "REFUNDED"])
def test_an_order_that_has_ended_is_not_closed(shop: Shop, status: str) -> None:
    order = begun(shop, "PENDING" if status == "CANCELLED" else "PAID")
    order.moved(status)
    assert close(order).json["code"] == "order_closed"


def test_a_closing_is_done_once(shop: Shop) -> None:
    order = begun(shop, "PAID")
    stale, key = order.fetch().headers["ETag"], {"Idempotency-Key": "end"}
    order.patch({"note": "x"})
    assert close(order, headers={"If-Match": stale}).status == 412
    first = close(order, keep=10, headers=key)
    again = close(order, keep=10, headers=key)
    assert (again.text, again.headers["Idempotent-Replayed"]) == (first.text, "true")
    assert close(order, keep=9, headers=key).json["code"] == "idempotency_key_reused"
    assert len(order.read()["refunds"]) == 1


@pytest.mark.parametrize("rival", ["pay", "close"])
def test_of_two_requests_at_once_both_are_right(shop: Shop, rival: str) -> None:
    order = begun(shop, "PROCESSING")
    calls = [lambda: close(order, keep=10)]
    calls += [lambda: order.pay(60)] if rival == "pay" else calls
    answers = at_once(2, lambda n: calls[n]())
    assert answers[0].status == 200
    after = order.read()
    assert (after["kept"], after["balanceDue"]) == ("10.00", "0.00")
    expected = {"pay": (201, 422), "close": (200,)}[rival]
    assert answers[1].status in expected
    assert Decimal(after["amountPaid"]) - Decimal(after["amountRefunded"]) == 10
    assert in_stock(shop, order) == 5
    assert counts_agree()


@pytest.mark.parametrize("fault", list(Fault))
def test_a_closing_that_is_repeated_after_a_crash_is_done_once(
    shop: Shop, dynamodb: Double, fault: Fault
) -> None:
    order = begun(shop, "IN_PRODUCTION")
    dynamodb.fails(fault, "TransactWriteItems")
    key = {"Idempotency-Key": "end"}
    try:
        answer = close(order, keep=15, headers=key)
    except Crash:
        answer = close(order, keep=15, headers=key)
    assert (answer.status, answer.json["kept"]) == (200, "15.00")
    after = order.read()
    assert [one["amount"] for one in after["refunds"]] == ["25.00"]
    assert in_stock(shop, order) == 5
    assert [one["event"] for one in shop.events()].count("order.closed") == 1
    assert counts_agree()
