"""What is made for an order, and the day by which it is due."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.values import clock
from tests.orders.build import (
    ORDERS,
    counts_agree,
    line,
    new_order,
    placed,
    product,
    stock_of,
    variant,
)
from tests.orders.test_change import ROUTES, order_in
from tests.support.shop import Shop

DUE = f"{ORDERS}/due"


def custom(**fields: Any) -> dict[str, Any]:
    return {"title": "Ring", "price": "90.00", "quantity": 1, **fields}


def due_ids(shop: Shop, query: str = "") -> list[str]:
    """The ids of the due orders; the total is exact."""
    answer = shop.get(f"{DUE}?fields=id,dueOn&{query}")
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["data"])
    return [one["id"] for one in answer.json["data"]]


def test_what_is_made_takes_no_stock(shop: Shop) -> None:
    made = product(shop, 0, madeToOrder=True)["variants"][0]["id"]
    order = placed(shop, line(made, 2), paymentStatus="PAID")
    (own,) = order["lineItems"]
    assert (own["make"], own["oversold"], stock_of(shop, made)) == (True, 0, 0)
    movements = shop.get(f"/api/admin/stock/movements?orderId={order['id']}").json
    assert movements["total"] == 0
    answer = shop.post(ORDERS, new_order(line(made, make=False)))
    assert (answer.status, answer.json["code"]) == (422, "insufficient_stock")
    shown = shop.get(f"/api/products/{own['productId']}").json
    assert shown["madeToOrder"] and shown["variants"][0]["available"]
    found = shop.get("/api/products?available=true").json["data"]
    assert [one["id"] for one in found] == [own["productId"]]
    refund = order.refund(lines=[order.first_line(quantity=1, restock=True)])
    assert refund.json["refunds"][0]["lines"][0]["restocked"] == 0
    assert order.moved("REFUNDED").status == 200
    assert stock_of(shop, made) == 0
    assert counts_agree()


@pytest.mark.parametrize("policy", ["CHECK", "FORCE", "SKIP"])
def test_a_line_that_is_made_takes_none_with_any_policy(policy: str, shop: Shop) -> None:
    tracked = variant(shop, 5)
    order = placed(shop, line(tracked, 3, make=True), line(tracked, 2), stockPolicy=policy)
    assert [one["make"] for one in order["lineItems"]] == [True, False]
    assert stock_of(shop, tracked) == (5 if policy == "SKIP" else 3)
    assert order.delete().status == 200
    assert stock_of(shop, tracked) == 5


@pytest.mark.thorough
@pytest.mark.parametrize("start", ROUTES)
def test_the_moves_of_an_order_are_the_same_with_what_is_made(start: str, shop: Shop) -> None:
    tracked, answers = variant(shop, 50), list[Any]()
    for to in ROUTES:
        for made in (True, False):
            there = stock_of(shop, tracked)
            order = order_in(shop, start, line(tracked, make=made))
            answer = order.patch({"status": to})
            said = [answer.json.get(name) for name in ("status", "code", "message", "allowed")]
            changes = [entry["change"] for entry in answer.json.get("history", [])]
            answers.append((answer.status, said, changes, order.kinds()))
            if made:
                ledger = shop.get(f"/api/admin/stock/movements?orderId={order['id']}").json
                assert (ledger["total"], stock_of(shop, tracked)) == (0, there)
    assert answers[::2] == answers[1::2]


def test_an_edit_takes_a_line_out_of_the_stock_or_into_it(shop: Shop) -> None:
    tracked = variant(shop, 5)
    order = placed(shop, line(tracked, 3))
    answer = order.edit(change=[order.first_line(make=True, quantity=4)])
    assert (answer.status, stock_of(shop, tracked)) == (200, 5)
    assert "make False → True" in answer.json["edits"][0]["changes"][0]
    assert answer.json["lineItems"][0]["make"]
    assert order.edit(change=[order.first_line(make=False)]).status == 200
    assert stock_of(shop, tracked) == 1
    assert order.edit(change=[order.first_line(make=True)]).status == 200
    assert order.edit(change=[order.first_line(quantity=6)]).status == 200
    refused = order.edit(change=[order.first_line(make=False)])
    assert (refused.status, refused.json["code"]) == (422, "insufficient_stock")
    assert stock_of(shop, tracked) == 5
    order.moved("PAID")
    assert order.refund(lines=[order.first_line(quantity=2)]).status == 201
    assert order.edit(change=[order.first_line(make=False)]).status == 200
    assert stock_of(shop, tracked) == 1, "two of the six were refunded"
    assert counts_agree()


def test_the_lead_time_gives_a_line_its_day(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 12, 20, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: now)
    ring = product(shop, madeToOrder=True, leadDays=14)
    id = ring["variants"][0]["id"]
    order = placed(shop, line(id), orderDate="2026-12-20")
    assert order["lineItems"][0]["dueOn"] == "2027-01-03"
    assert (order["dueOn"], due_ids(shop)) == (None, [order["id"]])
    shop.put(f"/api/admin/products/{ring['id']}", {"leadDays": 7})
    assert order.read()["lineItems"][0]["dueOn"] == "2027-01-03"
    of_order = placed(shop, line(id), line(id, dueOn="2026-12-30"), dueOn="2026-12-24")
    assert [one["dueOn"] for one in of_order["lineItems"]] == [None, "2026-12-30"]
    assert due_ids(shop) == [of_order["id"], order["id"]]
    added = of_order.edit(add=[line(id)]).json["lineItems"][-1]
    assert added["dueOn"] is None
    assert order.edit(add=[line(id)]).json["lineItems"][-1]["dueOn"] == "2026-12-27"


def test_the_due_orders_come_earliest_first(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 12, 20, 12, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: now)
    late, today, week, later = (
        placed(shop, custom(), dueOn=day, paymentStatus="PAID")
        for day in ("2026-12-19", "2026-12-20", "2026-12-26", "2026-12-27")
    )
    placed(shop, custom())
    every = [one["id"] for one in (late, today, week, later)]
    assert due_ids(shop) == every
    assert due_ids(shop, "due=overdue") == every[:1]
    assert due_ids(shop, "due=today") == every[1:2]
    assert due_ids(shop, "due=week") == every[1:3]
    assert due_ids(shop, "from=2026-12-20&to=2026-12-26") == every[1:3]
    assert due_ids(shop, "due=week&from=2026-12-21") == every[2:3]
    first = shop.get(f"{DUE}?limit=3&cursor=*").json
    rest = shop.get(f"{DUE}?limit=3&cursor={first['pagination']['next']}").json
    assert [one["id"] for one in first["data"] + rest["data"]] == every
    assert (first["total"], first["data"][0]) == (4, late.read())
    assert late.patch({"dueOn": None}).json["dueOn"] is None
    assert today.patch({"dueOn": "2027-02-01"}).status == 200
    assert due_ids(shop) == [week["id"], later["id"], today["id"]]
    week.moved("PROCESSING", "SHIPPED")
    later.moved("REFUNDED")
    assert due_ids(shop) == [today["id"]]
    answer = week.patch({"dueOn": "2027-01-01"})
    assert (answer.status, answer.json["errors"][0]["code"]) == (422, "too_late")
    assert week.patch({"dueOn": week["dueOn"], "note": "x"}).status == 200
    assert "dueOn 2026-12-20 → 2027-02-01" in today.read()["history"][-1]["change"]
    assert today.delete().status == 200
    assert due_ids(shop) == []
    assert counts_agree()


def test_the_day_is_that_of_what_is_left(shop: Shop) -> None:
    order = placed(
        *(shop, custom(dueOn="2027-01-10"), custom(dueOn="2027-01-05")), paymentStatus="PAID"
    )
    ahead = placed(shop, custom(), dueOn="2027-01-07")
    assert due_ids(shop) == [order["id"], ahead["id"]]
    part = {"lineItemId": order["lineItems"][1]["id"], "quantity": 1}
    assert order.post("/shipments", {"lines": [part]}).status == 201
    assert due_ids(shop) == [ahead["id"], order["id"]]
    assert order.post("/close", {"keep": order["total"], "reason": "Gone"}).status == 200
    assert due_ids(shop) == [ahead["id"]]
    assert counts_agree()


@pytest.mark.parametrize(
    ("zone_day", "at", "overdue"),
    [
        ("2026-03-29", datetime(2026, 3, 29, 21, 59, tzinfo=UTC), False),
        ("2026-03-29", datetime(2026, 3, 29, 22, 1, tzinfo=UTC), True),
        ("2026-10-25", datetime(2026, 10, 25, 22, 59, tzinfo=UTC), False),
        ("2026-10-25", datetime(2026, 10, 25, 23, 1, tzinfo=UTC), True),
    ],
)
def test_overdue_begins_the_day_after(
    zone_day: str, at: datetime, overdue: bool, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEZONE", "Europe/Berlin")
    order = placed(shop, custom(), dueOn=zone_day)
    monkeypatch.setattr(clock, "now", lambda: at)
    assert (due_ids(shop, "due=overdue") == [order["id"]]) is overdue
    assert (due_ids(shop, "due=today") == [order["id"]]) is not overdue


@pytest.mark.parametrize(
    ("day", "code"),
    [
        ("2026-02-30", "invalid"),
        ("0000-01-01", "invalid"),
        ("tomorrow", "invalid"),
        ("2026-12-24T10:00:00Z", "invalid"),
        ("1999-12-31", "out_of_range"),
        ("2101-01-01", "out_of_range"),
    ],
)
def test_a_day_is_a_real_one(day: str, code: str, shop: Shop) -> None:
    for sent, field in (
        ({"dueOn": day}, "dueOn"),
        ({"lineItems": [custom(dueOn=day)]}, "lineItems.0.dueOn"),
    ):
        answer = shop.post(ORDERS, {**new_order(custom()), **sent})
        assert answer.status == 422
        assert [(one["field"], one["code"]) for one in answer.json["errors"]] == [(field, code)]
    assert shop.get(f"{DUE}?from={day[:10]}").status == (200 if "T" in day else 422)


def test_a_specification_is_kept_as_it_was_sent(shop: Shop) -> None:
    details = [
        {"name": "Size", "value": "17"},
        {"name": "גודל", "value": "💍 <script>"},
        {"name": "Engraving", "value": None},
    ]
    sent = [*details[:2], {"name": "Engraving", "value": "\u200b"}]
    order = placed(shop, custom(specification=sent, make=True))
    assert order["lineItems"][0]["specification"] == details
    changed = [{"name": "Size", "value": "18"}]
    after = order.edit(change=[order.first_line(specification=changed)]).json
    assert after["lineItems"][0]["specification"] == changed
    assert after["edits"][0]["changes"] == ["Ring: specification"]


@pytest.mark.parametrize(
    ("details", "field", "code"),
    [
        ([{"name": f"N{n}"} for n in range(31)], "specification", "too_long"),
        ([{"name": "A"}, {"name": "x" * 61}], "specification.1.name", "too_long"),
        ([{"name": "A"}, {"name": "B", "value": "x" * 501}], "specification.1.value", "too_long"),
        ([{"name": "Size"}, {"name": "SIZE"}], "specification", "duplicate"),
        (
            [{"name": f"{n:02}", "value": "é" * 250} for n in range(16)],
            "specification",
            "too_large",
        ),
    ],
)
def test_a_specification_has_limits(details: Any, field: str, code: str, shop: Shop) -> None:
    answer = shop.post(ORDERS, new_order(custom(specification=details)))
    assert answer.status == 422
    found = [(one["field"], one["code"]) for one in answer.json["errors"]]
    assert found == [(f"lineItems.0.{field}", code)]


def test_a_product_says_what_must_be_known(shop: Shop) -> None:
    names = [{"name": "Size", "required": True, "choices": ["16", "17"]}, {"name": "Engraving"}]
    ring = product(shop, madeToOrder=True, leadDays=0, specification=names)
    shown = [names[0], {"name": "Engraving", "required": False, "choices": []}]
    assert (ring["specification"], ring["leadDays"]) == (shown, 0)
    path = f"/api/admin/products/{ring['id']}"
    assert shop.put(path, ring).json == ring
    cleared = shop.put(path, {"specification": None, "leadDays": None, "madeToOrder": None}).json
    assert (cleared["specification"], cleared["leadDays"]) == ([], None)
    assert cleared["madeToOrder"] is False
    unseen = [{"name": "Size", "choices": ["\u200b"]}]
    for wrong in (
        {"specification": unseen},
        {"leadDays": 731},
        {"leadDays": -1},
        {"specification": [{"name": ""}]},
    ):
        assert shop.put(path, wrong).status == 422
    twice = shop.put(path, {"specification": [{"name": "Size"}, {"name": "size"}]})
    assert twice.json["errors"][0]["code"] == "duplicate"
