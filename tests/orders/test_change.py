"""Changing and deleting orders: every move, its events, and its effect on the stock."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.customers import store as customers
from chalicelib.orders import lifecycle, store
from chalicelib.orders.model import to_item
from chalicelib.orders.schemas import OrderChange
from chalicelib.storage import table
from tests.orders.build import (
    ORDERS,
    Order,
    keys_written,
    line,
    placed,
    product,
    product_path,
    set_stock,
    stock_of,
    variant,
    variants,
)
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop

# The moves of an order's status, and what each announces.
MOVES = {
    ("PENDING", "PAID"): ["order.updated", "order.paid"],
    ("PENDING", "CANCELLED"): ["order.updated", "order.cancelled"],
    ("PAID", "IN_PRODUCTION"): ["order.updated"],
    ("PAID", "PROCESSING"): ["order.updated"],
    ("PAID", "REFUNDED"): ["order.updated", "order.refunded"],
    ("IN_PRODUCTION", "PROCESSING"): ["order.updated"],
    ("PROCESSING", "SHIPPED"): ["order.updated", "order.shipped"],
    ("SHIPPED", "DELIVERED"): ["order.updated"],
}
ROUTES = {
    "PENDING": [],
    "PAID": ["PAID"],
    "IN_PRODUCTION": ["PAID", "IN_PRODUCTION"],
    "PROCESSING": ["PAID", "PROCESSING"],
    "SHIPPED": ["PAID", "PROCESSING", "SHIPPED"],
    "DELIVERED": ["PAID", "IN_PRODUCTION", "PROCESSING", "SHIPPED", "DELIVERED"],
    "CANCELLED": ["CANCELLED"],
    "REFUNDED": ["PAID", "REFUNDED"],
}
PAYMENT_MOVES = {
    "PENDING": {"PARTIALLY_PAID", "PAID", "FAILED"},
    "FAILED": {"PENDING", "PARTIALLY_PAID", "PAID"},
    "PARTIALLY_PAID": {"PAID", "REFUNDED"},
    "PAID": {"REFUNDED"},
    "REFUNDED": set[str](),
}
CELLS = [(start, to) for start in ROUTES for to in ROUTES]


def order_in(shop: Shop, status: str, *lines: dict[str, Any]) -> Order:
    order = placed(shop, *lines)
    for step in ROUTES[status]:
        order.moved(step)
    return order.read()


@pytest.mark.parametrize(("start", "to"), CELLS, ids=[f"{a}-{b}" for a, b in CELLS])
def test_only_allowed_status_moves_are_made(shop: Shop, start: str, to: str) -> None:
    order = order_in(shop, start)
    already = len(order.kinds())
    answer = order.patch({"status": to})
    if (start, to) in MOVES:
        assert (answer.status, answer.json["status"]) == (200, to)
        assert order.kinds()[already:] == MOVES[start, to]
        last = [event for event in shop.events() if event["event"].startswith("order.")][-1]
        assert last["data"] == answer.json
        assert answer.json["history"][-1]["change"].startswith(f"status {start} → {to}")
        assert answer.json == order.fetch().json
    else:
        assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
        assert (answer.json["from"], answer.json["to"]) == (start, to)
        allowed = [b for a, b in MOVES if a == start]
        assert answer.json["allowed"] == allowed
        follows = f"only {' or '.join(allowed)}" if allowed else "nothing"
        message = f"The status {start} cannot become {to}: {follows} can follow."
        is_begun = start in {"IN_PRODUCTION", "PROCESSING", "SHIPPED", "DELIVERED"}
        if is_begun and to in {"CANCELLED", "REFUNDED"}:
            message += " What was paid goes back with paymentStatus REFUNDED."
        assert answer.json["message"] == message
        assert order.fetch().json == order
        assert len(order.kinds()) == already


def test_each_move_sets_its_timestamps(shop: Shop) -> None:
    order = placed(shop)
    paid = order.moved("PAID").json
    assert paid["paymentStatus"] == "PAID" and paid["paidAt"] == paid["updatedAt"]
    processing = order.moved("PROCESSING").json
    assert (processing["paidAt"], processing["shippedAt"]) == (paid["paidAt"], None)
    change = {"status": "SHIPPED", "trackingNumber": "1Z 999"}
    shipped = order.patch(change).json
    assert shipped["shippedAt"] == shipped["updatedAt"] and shipped["trackingNumber"] == "1Z 999"
    event = shop.events()[-1]
    assert (event["event"], event["data"]["trackingNumber"]) == ("order.shipped", "1Z 999")
    refunded = placed(shop).moved("PAID", "REFUNDED").json
    assert refunded["paymentStatus"] == "REFUNDED" and refunded["paidAt"]


PAYMENT_CELLS = [
    (status, start, to)
    for status in ("PENDING", "SHIPPED", "CANCELLED")
    for start in PAYMENT_MOVES
    for to in PAYMENT_MOVES
    if status != "SHIPPED" or start not in {"PENDING", "FAILED"}  # it is paid, at least in part
]


@pytest.mark.parametrize(
    ("status", "start", "to"), PAYMENT_CELLS, ids=["-".join(cell) for cell in PAYMENT_CELLS]
)
def test_only_allowed_payment_moves_are_made(shop: Shop, status: str, start: str, to: str) -> None:
    order = order_paid(shop, start, status)
    assert (order["status"], order["paymentStatus"]) == (status, start)
    events = len(order.kinds())
    answer = order.patch({"paymentStatus": to})
    follow = PAYMENT_MOVES[start] & ({"REFUNDED"} if status == "CANCELLED" else {*PAYMENT_MOVES})
    if to in follow | {start}:
        assert (answer.status, answer.json["paymentStatus"]) == (200, to)
        assert answer.json["status"] == order["status"]
        crossed = ["order.paid"] * (to == "PAID" and order["paidAt"] is None)
        given_back = ["order.refunded"] * (to == "REFUNDED" != start)
        assert order.kinds()[events:] == ["order.updated", *crossed, *given_back]
    else:
        assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
        shown = {name: answer.json[name] for name in ("field", "from", "to")}
        assert shown == {"field": "paymentStatus", "from": start, "to": to}
        assert set(answer.json["allowed"]) == follow
        assert order.fetch().json == order
        assert len(order.kinds()) == events


def order_paid(shop: Shop, payment: str, status: str) -> Order:
    if status == "SHIPPED":
        order = placed(shop)
        paid = payment if payment == "PARTIALLY_PAID" else "PAID"
        order.patch({"status": "PAID", "paymentStatus": paid})
        order.moved("PROCESSING", "SHIPPED")
        if payment == "REFUNDED":
            order.patch({"paymentStatus": payment})
        return order.read()
    order = placed(shop, paymentStatus="PENDING" if payment == "PAID" else payment)
    if payment == "PAID":  # an order created as PAID has the status PAID
        order.patch({"paymentStatus": payment})
    if status == "CANCELLED":
        order.moved(status)
    return order.read()


def test_an_order_placed_as_refunded_does_not_become_paid_by_its_status(shop: Shop) -> None:
    refused = placed(shop, paymentStatus="REFUNDED").moved("PAID")
    assert (refused.json["code"], refused.json["field"]) == ("invalid_transition", "paymentStatus")


def test_a_change_keeps_the_omitted_fields(shop: Shop) -> None:
    order = placed(shop, salesRepId="emp_1", note="a", tags=["x"])
    change = {"salesRepId": None, "note": "b", "tags": ["y", "y"], "trackingNumber": "T"}
    change |= {"externalId": "4711", "metadata": {"a": 1}}
    changed = order.patch(change).json
    assert [changed[name] for name in change] == [None, "b", ["y"], "T", "4711", {"a": 1}]
    assert [entry["change"] for entry in changed["history"]] == [
        "created",
        "salesRepId emp_1 → none, trackingNumber none → T, note, tags, externalId, metadata",
    ]
    kept = {name for name in order if name not in {*change, "history", "updatedAt"}}
    assert {name: order[name] for name in kept} == {name: changed[name] for name in kept}
    cleared = order.patch({"note": "", "tags": None, "trackingNumber": None}).json
    assert [cleared[name] for name in ("note", "tags", "trackingNumber")] == [None, [], None]
    same = order.patch({"salesRepId": None}).json
    assert same["history"] == cleared["history"]
    assert order.kinds().count("order.updated") == 3


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "body"),
        ({"status": None}, "status"),
        ({"status": "LOST"}, "status"),
        ({"paymentStatus": None}, "paymentStatus"),
        ({"salesRepId": "x"}, "salesRepId"),
        ({"trackingNumber": "x" * 101}, "trackingNumber"),
        ({"note": "x" * 5_001}, "note"),
        ({"total": 1, "lineItems": []}, "body"),
        ({"paid": True}, "paid"),
        ({"id": "ord_1", "number": "7"}, "body"),
        ({"status": "PAID", "paymentStatus": "FAILED"}, "paymentStatus"),
    ],
)
def test_a_bad_change_is_refused_by_field_and_changes_nothing(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    order = placed(shop)
    assert order.patch(sent).refused == [field]
    assert order.fetch().json == order
    assert order.kinds() == ["order.created"]


@pytest.mark.thorough
def test_the_history_keeps_the_first_and_the_99_latest_entries(shop: Shop) -> None:
    order = placed(shop)
    for number in range(120):
        answer = order.patch({"trackingNumber": f"T{number}"})
    history = answer.json["history"]
    assert (len(history), history[0]["change"]) == (100, "created")
    assert [entry["change"].split()[-1] for entry in history[1:]] == [
        f"T{number}" for number in range(21, 120)
    ]


def test_the_history_keeps_up_to_15000_bytes_of_the_latest_changes(shop: Shop) -> None:
    made = placed(shop)
    order, into = store.get(made["id"]), customers.sample()
    text = f"customer {made['customer']['id']} → {into.id}"
    first = {"at": "then", "by": "me", "change": "created"}
    more = [{"at": "then", "by": "é" * 10, "change": f"{n:02d}".ljust(180)} for n in range(74)]
    before = replace(order, fields={**order.fields, "history": [first, *more]})
    for size, kept in ((200, more), (201, more[1:])):
        by = "b" * (size - len(text.encode()))
        after = lifecycle.apply_merge(before, into, by, "now")
        last = {"at": "now", "by": by, "change": text}
        assert after.fields["history"] == [first, *kept, last]


def test_a_change_in_the_history_has_up_to_200_characters(shop: Shop) -> None:
    order = placed(shop, salesRepId="emp_" + "a" * 60)
    change = {"salesRepId": "emp_" + "b" * 60, "trackingNumber": "x" * 100}
    answer = order.patch(change).json
    reps = f"salesRepId {order['salesRepId']} → {change['salesRepId']}, trackingNumber none → "
    assert answer["history"][-1]["change"] == (reps + "x" * 100)[:200]
    assert len(answer["history"][-1]["change"]) == 200


# --- Stock ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ROUTES)
def test_cancellation_refund_and_deletion_before_shipping_restore_the_stock(
    shop: Shop, status: str
) -> None:
    id = variant(shop, 10)
    order = order_in(shop, status, line(id, 2), line(id, 1))
    assert stock_of(shop, id) == (10 if status in {"CANCELLED", "REFUNDED"} else 7)
    assert order.delete().json == {"id": order["id"], "deleted": True}
    assert stock_of(shop, id) == (7 if status in {"SHIPPED", "DELIVERED"} else 10)
    assert order.fetch().status == 404
    assert shop.get(ORDERS).json["total"] == 0


def test_only_an_owner_can_delete_orders(shop: Shop) -> None:
    order = placed(shop)
    for role in ("STAFF", "ADMIN"):
        answer = order.delete(key=shop.as_(role))
        assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert order.delete(key=shop.as_("OWNER")).status == 200
    assert order.kinds() == ["order.created", "order.deleted"]


def test_stock_is_restored_only_to_existing_tracked_variants(shop: Shop) -> None:
    kept, uncounted, dropped = product(shop, 5, 5, 5)["variants"]
    gone = product(shop, 5)
    late = variant(shop)
    ids = [v["id"] for v in (kept, uncounted, dropped, *gone["variants"])]
    order = placed(shop, *(line(id, 2) for id in ids), line(late))
    shop.put(
        f"/api/admin/products/prod_{kept['id'][4:30]}",
        {"variants": [{"id": kept["id"]}, {"id": uncounted["id"], "stock": None}]},
    )
    shop.delete(f"/api/admin/products/{gone['id']}")
    set_stock(shop, late, 1)
    assert order.moved("CANCELLED").status == 200
    stocks = [stock_of(shop, id) for id in (kept["id"], uncounted["id"], dropped["id"], late)]
    assert stocks == [5, None, None, 1]
    assert shop.get(f"/api/admin/products/{gone['id']}").status == 404


def test_an_order_of_many_deleted_products_can_be_cancelled(shop: Shop, dynamodb: Double) -> None:
    ids = [variant(shop, 9) for _ in range(30)]
    orders = [placed(shop, *(line(id) for id in ids)) for _ in range(2)]
    for id in ids[1:]:
        shop.delete(product_path(id))
    with dynamodb.metered() as calls:
        assert orders[0].moved("CANCELLED").status == 200
        assert orders[1].delete().status == 200
    assert stock_of(shop, ids[0]) == 9
    assert len(calls) <= 2 * 6


def test_the_history_has_who_and_when(shop: Shop) -> None:
    order = placed(shop)
    answer = order.patch({"status": "PAID"}, key=shop.as_("STAFF"))
    first, second = answer.json["history"]
    assert (first["at"], second["at"]) == (order["createdAt"], answer.json["updatedAt"])
    assert (
        first["by"] != second["by"] == shop.get("/api/admin/me", key=shop.as_("STAFF")).json["name"]
    )


def test_a_cancellation_takes_three_calls_in_two_round_trips(shop: Shop, dynamodb: Double) -> None:
    order = placed(shop, line(variant(shop, 9)))
    with dynamodb.metered() as calls:
        order.moved("CANCELLED")
    *together, last = [call.operation for call in calls]
    assert (sorted(together), last) == (["BatchGetItem", "UpdateItem"], "TransactWriteItems")


def test_the_largest_order_with_the_longest_history_fits_its_events(shop: Shop) -> None:
    ids = variants(shop, *[9] * 100, name="🎁" * 28)
    order = placed(shop, *(line(id) for id in [*ids, *ids[:62]]))
    assert len(str(order).encode()) > 60_000
    change = {"note": "🎁" * 5_000, "tags": [f"{n:02d}" + "🎁" * 48 for n in range(50)]}
    assert order.patch(change).status == 200
    now, changed = order["createdAt"], store.get(order["id"])
    for number in range(100):
        rep = f"emp_{number}" + "x" * 50
        given = {"trackingNumber": f"{number}" + "🎁" * 90, "salesRepId": rep}
        asked = OrderChange.model_validate(given)
        changed = lifecycle.apply_change(changed, asked, "🎁" * 100, now)
    index = store.get(order["id"]).index.to_stored()
    table.put({"pk": changed.id, "sk": "order", **to_item(changed), "index": index})
    assert order.patch({"paymentStatus": "PARTIALLY_PAID"}).status == 200
    change = {"status": "CANCELLED", "paymentStatus": "REFUNDED", "note": "🎁" * 4_999}
    assert order.patch(change).status == 200
    assert order.kinds()[-3:] == ["order.updated", "order.cancelled", "order.refunded"]


def test_an_order_can_be_sent_back_as_it_was_read_with_changes(
    shop: Shop, dynamodb: Double
) -> None:
    order = placed(shop)
    written = keys_written(dynamodb)
    steps = ("status", "paymentStatus")  # each step is made once
    sent = {name: value for name, value in order.items() if name not in steps}
    changed = order.patch({**sent, "note": "By bike"}).json
    assert {**changed, "note": None, "history": [], "updatedAt": ""} == {
        **order, "note": None, "history": [], "updatedAt": ""
    }  # fmt: skip
    assert changed["note"] == "By bike"
    assert (order["id"], "order") in written
    assert (order["customer"]["id"], "customer") not in written  # whose totals stay
