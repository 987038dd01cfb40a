"""Shipments in parts: what is shipped, what is left, and what becomes of the order."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

from chalicelib import listing
from chalicelib.nightly import check
from chalicelib.orders import shipments
from chalicelib.orders import store as orders
from chalicelib.orders.pieces import restored_id
from chalicelib.storage import table
from tests.orders.build import (
    ORDERS,
    at_once,
    counts_agree,
    keys_written,
    line,
    placed,
    stock_of,
    variant,
)
from tests.stock.build import fanned_out
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop

SHIPMENTS = "/api/admin/shipments"


def ship(order: Any, *parts: tuple[int, int], headers: Any = None, **fields: Any) -> Answer:
    """Ships pieces of lines, (place, pieces) each; everything without parts."""
    lines = [{"lineItemId": order["lineItems"][n]["id"], "quantity": many} for n, many in parts]
    body = {**({"lines": lines} if parts else {}), **fields}
    answer: Answer = order.post("/shipments", body, headers=headers)
    return answer


def parcel(number: str, url: str | None = None) -> dict[str, Any]:
    return {"trackingNumber": number, **({"trackingUrl": url} if url else {})}


def paid(shop: Shop, *lines: Any, **fields: Any) -> Any:
    return placed(shop, *lines, paymentStatus="PAID", **fields)


def test_an_order_is_shipped_in_parts(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3), line(variant(shop, 9), 2))
    preview = ship(order, (0, 1), dryRun=True)
    assert (preview.status, preview.json["statusAfter"]) == (200, "PROCESSING")
    assert [one["quantity"] for one in preview.json["left"]] == [2, 2]
    assert preview.json["events"] == ["order.updated", "shipment.created"]
    answer = ship(order, (0, 1), carrier="Post", parcels=[parcel("A1")], note="Fragile")
    first = answer.json
    assert (answer.status, first) == (201, order.read())
    assert (first["status"], first["shippingStatus"]) == ("PROCESSING", "PARTIAL")
    assert (first["trackingNumber"], first["shippedAt"]) == ("A1", None)
    pieces = [(one["shippedQuantity"], one["toShip"]) for one in first["lineItems"]]
    assert pieces == [(1, 2), (0, 2)]
    (made,) = first["shipments"]
    assert made["lines"] == [{"lineItemId": order["lineItems"][0]["id"], "quantity": 1}]
    assert (made["method"], made["carrier"], made["note"]) == ("PARCEL", "Post", "Fragile")
    assert (made["deliveredAt"], made["cancelledAt"], made["implied"]) == (None, None, False)
    last = ship(order, parcels=[parcel("A2"), parcel("A3")]).json
    assert (last["status"], last["shippingStatus"]) == ("SHIPPED", "ALL")
    assert (last["trackingNumber"], last["shippedAt"]) == ("A2", last["updatedAt"])
    assert [(one["shippedQuantity"], one["toShip"]) for one in last["lineItems"]] == [
        (3, 0),
        (2, 0),
    ]
    assert order.kinds().count("order.shipped") == 1
    events = [one for one in shop.events() if one["data"].get("orderId") == order["id"]]
    shipped = [one for one in events if one["event"] == "shipment.created"]
    assert [one["data"]["id"] for one in shipped] == [one["id"] for one in last["shipments"]]
    assert shipped[0]["data"] == {
        **made,
        **{"orderId": order["id"], "orderNumber": order["number"], "customer": order["customer"]},
    }
    (told,) = [one["data"] for one in shop.events() if one["event"] == "order.shipped"]
    assert told["trackingNumber"] == "A2"
    assert counts_agree()


def test_the_same_quantity_of_a_line_ships_twice(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 4))
    ship(order, (0, 2))
    last = ship(order, (0, 2)).json
    assert (last["status"], last["lineItems"][0]["shippedQuantity"]) == ("SHIPPED", 4)
    assert len(last["shipments"]) == 2


@pytest.mark.parametrize("keyed", [False, True])
def test_no_piece_ships_twice(shop: Shop, keyed: bool) -> None:
    order = paid(shop, line(variant(shop, 10), 10), line(variant(shop)))
    headers = {"Idempotency-Key": "one"} if keyed else None
    answers = at_once(20, lambda n: ship(order, (0, 1), headers=headers))
    made = [one.text for one in answers if one.status == 201]
    after = order.read()["lineItems"][0]
    if keyed:
        assert len(made) == 20 and len(set(made)) == 1
        assert (after["shippedQuantity"], after["toShip"]) == (1, 9)
        return
    refused = [one.json["code"] for one in answers if one.status != 201]
    assert (len(made), refused) == (10, ["exceeds_quantity"] * 10)
    assert (after["shippedQuantity"], after["toShip"]) == (10, 0)


def test_a_cancelled_part_ships_again(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    ship(order, (0, 2), parcels=[parcel("A1")])
    (made,) = order.read()["shipments"]
    path = f"/shipments/{made['id']}/cancel"
    answer = order.post(path, {"reason": "Still here"})
    after = answer.json
    assert (answer.status, after["status"], after["shippingStatus"]) == (200, "PROCESSING", "NONE")
    assert (after["lineItems"][0]["toShip"], after["trackingNumber"]) == (3, None)
    (gone,) = after["shipments"]
    assert gone["cancelReason"] == "Still here" and gone["cancelledAt"]
    again = order.post(path, {})
    assert (again.status, again.json["code"]) == (409, "shipment_cancelled")
    assert order.patch_shipment(made, note="x").json["code"] == "shipment_cancelled"
    last = ship(order).json
    assert (last["status"], last["lineItems"][0]["shippedQuantity"]) == ("SHIPPED", 3)
    late = order.post(f"/shipments/{last['shipments'][-1]['id']}/cancel", {})
    assert (late.status, late.json["code"]) == (422, "too_late")
    assert order.post("/shipments/shp_none/cancel", {}).status == 404
    events = [one["event"] for one in shop.events() if one["event"].startswith("shipment.")]
    assert events == ["shipment.created", "shipment.cancelled", "shipment.created"]
    assert counts_agree()


def test_a_part_that_came_back_is_not_cancelled(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    (made,) = ship(order, (0, 1)).json["shipments"]
    order.refund(lines=[order.first_line(quantity=1, returned=1)])
    answer = order.post(f"/shipments/{made['id']}/cancel", {})
    assert (answer.status, answer.json["code"]) == (422, "pieces_returned")


def test_the_status_shipped_ships_the_rest(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    ship(order, (0, 1), parcels=[parcel("A1")])
    shipped = order.patch({"status": "SHIPPED", "trackingNumber": "A2"}).json
    first, implied = shipped["shipments"]
    assert (implied["implied"], implied["lines"][0]["quantity"]) == (True, 2)
    assert [one["parcels"][0]["trackingNumber"] for one in (first, implied)] == ["A1", "A2"]
    corrected = order.patch({"trackingNumber": "A3"}).json
    numbers = [one["parcels"][0]["trackingNumber"] for one in corrected["shipments"]]
    assert (numbers, corrected["trackingNumber"]) == (["A1", "A3"], "A3")
    delivered = order.patch({"status": "DELIVERED"}).json
    assert all(one["deliveredAt"] for one in delivered["shipments"])
    listed = shop.get(f"{SHIPMENTS}?state=DELIVERED").json
    assert [one["id"] for one in listed["data"]] == [implied["id"], first["id"]]
    assert [one["event"] for one in shop.events()].count("shipment.created") == 1
    assert counts_agree()


@pytest.mark.parametrize("number", ["", "B1"])
def test_an_order_without_parts_is_shipped_as_before(shop: Shop, number: str) -> None:
    order = paid(shop)
    if number:
        order.patch({"trackingNumber": number})
    order.moved("PROCESSING", "SHIPPED")
    (implied,) = order.read()["shipments"]
    assert [one["trackingNumber"] for one in implied["parcels"]] == [number] * bool(number)
    assert order.read()["shippingStatus"] == "ALL"
    order.patch({"trackingNumber": "B2"})
    assert order.read()["shipments"][0]["parcels"] == [
        {"trackingNumber": "B2", "trackingUrl": None}
    ]


def test_a_refund_says_what_came_back(shop: Shop) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 3, price=10))
    ship(order, (0, 1))

    def refund(**fields: Any) -> Answer:
        return order.refund(lines=[order.first_line(**fields)])

    def left() -> tuple[int, int | None]:
        return order.read()["lineItems"][0]["toShip"], stock_of(shop, sold)

    assert left() == (2, 6)
    preview = order.refund(lines=[order.first_line(quantity=1)], dryRun=True).json
    assert preview["restocks"] == [{"variantId": sold, "quantity": 1}]
    assert refund(quantity=1).json["refunds"][-1]["lines"][0]["returned"] == 0
    assert left() == (1, 7)
    over = refund(quantity=1, returned=2)
    line_id = order["lineItems"][0]["id"]
    assert (over.json["code"], over.json["lines"]) == (
        "exceeds_quantity",
        [{"lineItemId": line_id, "requested": 2, "available": 1}],
    )
    few = refund(quantity=2, returned=0)
    assert few.json["lines"] == [{"lineItemId": line_id, "requested": 2, "available": 1}]
    assert refund(quantity=1, returned=1).status == 201
    assert left() == (1, 7)
    assert order.delete().status == 200
    assert stock_of(shop, sold) == 8
    assert counts_agree()


def test_a_returned_piece_is_restocked_if_asked(shop: Shop) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 3, price=10))
    ship(order, (0, 1))
    part = order.first_line(quantity=1, returned=1, restock=True)
    assert order.refund(lines=[part]).status == 201
    assert stock_of(shop, sold) == 7
    order.delete()
    assert stock_of(shop, sold) == 9


@pytest.mark.parametrize("end", ["delete", "close"])
def test_what_is_at_the_customer_never_comes_back(shop: Shop, end: str) -> None:
    sold = variant(shop, 1)
    order = paid(shop, line(sold, 3), stockPolicy="FORCE")
    ship(order, (0, 2))
    if end == "delete":
        order.delete()
    else:
        closed = order.post("/close", {"reason": "Enough"}).json
        (kept,) = closed["lineItems"]
        assert (kept["shippedQuantity"], kept["toShip"]) == (2, 0)
        assert (closed["shippingStatus"], closed["status"]) == ("ALL", "PROCESSING")
        assert ship(order).json["code"] == "order_closed"
    assert stock_of(shop, sold) == 0


def test_a_closing_returns_what_did_not_ship(shop: Shop) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 5))
    ship(order, (0, 2))
    preview = order.post("/close", {"reason": "Enough", "dryRun": True}).json
    assert preview["restocks"] == [{"variantId": sold, "quantity": 3}]
    order.post("/close", {"reason": "Enough"})
    assert stock_of(shop, sold) == 7


def test_what_comes_back_after_a_closing_returns_by_a_refund(shop: Shop) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 5, price=10), paymentMethod="CASH")
    ship(order, (0, 2))
    assert order.post("/close", {"reason": "Enough", "keep": "40"}).status == 200
    assert stock_of(shop, sold) == 7

    def refund(**fields: Any) -> int:
        """How many pieces a refund restocks; all of them are counted once."""
        answer = order.refund(amount="1.00", lines=[order.first_line(**fields)])
        assert answer.status == 201, answer.text
        (part,) = answer.json["refunds"][-1]["lines"]
        return int(part["restocked"])

    assert refund(quantity=3, returned=0, restock=True) == 0
    assert refund(quantity=1, returned=1, restock=True) == 1
    assert order.patch({"note": "One is still there"}).status == 200
    assert stock_of(shop, sold) == 8
    assert refund(quantity=1, returned=1) == 0
    order.delete()
    assert stock_of(shop, sold) == 8
    assert counts_agree()


def test_an_edit_leaves_what_was_shipped(shop: Shop) -> None:
    sold, other = variant(shop, 9), variant(shop, 9)
    order = paid(shop, line(sold, 3), line(other, 2))
    ship(order, (0, 2))
    first, second = (one["id"] for one in order["lineItems"])
    few = order.edit(change=[{"lineItemId": first, "quantity": 1}])
    assert (few.status, few.json["code"]) == (422, "below_shipped")
    for change in ({"remove": [first]}, {"change": [{"lineItemId": first, "quantity": 0}]}):
        assert order.edit(**change).json["code"] == "below_shipped"
    assert order.edit(change=[{"lineItemId": first, "price": "5.00"}]).status == 200
    less = order.edit(change=[{"lineItemId": first, "quantity": 2}], remove=[second]).json
    assert (less["shippingStatus"], less["status"]) == ("ALL", "PROCESSING")
    assert (stock_of(shop, sold), stock_of(shop, other)) == (7, 9)
    assert ship(order).json["code"] == "nothing_to_ship"
    shipped = order.patch({"status": "SHIPPED"}).json
    assert len(shipped["shipments"]) == 1
    assert order.kinds().count("order.shipped") == 1


def test_added_lines_of_a_partly_shipped_order_are_to_ship(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 2))
    ship(order, (0, 1))
    added = order.edit(add=[{"title": "Box", "price": 3, "quantity": 2}]).json
    assert [one["toShip"] for one in added["lineItems"]] == [1, 2]
    assert ship(order).json["status"] == "SHIPPED"


def test_everything_handed_over_is_delivered(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    already = len(order.kinds())
    after = ship(order, method="PICKUP").json
    assert (after["status"], after["shippingStatus"]) == ("DELIVERED", "ALL")
    (made,) = after["shipments"]
    assert made["deliveredAt"] == made["shippedAt"] and after["shippedAt"]
    moves = [one["change"].partition(",")[0] for one in after["history"][1:]]
    assert moves == [
        "status PAID → PROCESSING",
        "status PROCESSING → SHIPPED",
        "status SHIPPED → DELIVERED",
    ]
    assert order.kinds()[already:] == ["order.updated", "order.shipped"]


def test_the_last_delivery_delivers_the_order(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    ship(order, (0, 1))
    ship(order)
    first, last = order.read()["shipments"]
    assert order.patch_shipment(last, deliveredAt="2026-01-02").json["status"] == "SHIPPED"
    assert order.patch_shipment(last, deliveredAt=None).json["status"] == "SHIPPED"
    order.patch_shipment(last, deliveredAt="2026-01-02")
    assert order.patch_shipment(first, deliveredAt="2026-01-03").json["status"] == "DELIVERED"
    assert order.patch_shipment(first, deliveredAt=None).refused == ["deliveredAt"]
    assert order.patch_shipment(first, note="By the door").json["status"] == "DELIVERED"
    assert counts_agree()


def test_a_shipment_is_corrected_at_any_time(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    (made,) = ship(order, parcels=[parcel("A1")]).json["shipments"]
    already = len(shop.events())
    changed = order.patch_shipment(made, parcels=[parcel("A9")], carrier="Post", note="x").json
    assert (changed["trackingNumber"], changed["status"]) == ("A9", "SHIPPED")
    assert shop.get(f"{ORDERS}?search=A9").json["total"] == 1
    assert shop.get(f"{ORDERS}?search=A1").json["total"] == 0
    events = [one["event"] for one in shop.events()[already:]]
    assert events == ["order.updated", "shipment.updated"]
    same = order.patch_shipment(made, **changed["shipments"][0])
    assert (same.json, same.headers["ETag"]) == (changed, order.fetch().headers["ETag"])
    assert len(shop.events()) == already + 2
    assert order.patch_shipment(made).status == 422
    assert order.patch_shipment(made, carrier=None, note="").json["shipments"][0]["note"] is None


def test_sixty_numbers_find_an_order_and_no_more_fit(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 99), 5))
    numbers = [f"1Z {n:03d} {n * 7919:08d}" for n in range(60)]
    for place in range(3):
        some = [parcel(number) for number in numbers[20 * place : 20 * place + 20]]
        assert ship(order, (0, 1), parcels=some).status == 201
    full = ship(order, (0, 1), parcels=[parcel("more")])
    assert (full.status, full.refused) == (422, ["parcels"])
    for number in numbers:
        assert shop.get(f"{ORDERS}?search={number}").json["total"] == 1
        (found,) = shop.get(f"{SHIPMENTS}?trackingNumber={number}").json["data"]
        assert number in [one["trackingNumber"] for one in found["parcels"]]
    assert shop.get(f"{ORDERS}?search={numbers[7][:9]}").json["total"] == 1
    assert ship(order, parcels=[parcel(str(n)) for n in range(21)]).refused == ["parcels"]
    assert counts_agree()


def test_an_order_has_at_most_thirty_shipments(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 99), 40))
    for _ in range(30):
        assert ship(order, (0, 1)).status == 201
    assert ship(order, (0, 1)).json["code"] == "too_many"
    assert len(order.patch({"status": "SHIPPED"}).json["shipments"]) == 31
    assert order.patch({"status": "DELIVERED"}).status == 200
    assert counts_agree()
    order.delete()
    assert shop.get(SHIPMENTS).json["total"] == 0
    assert counts_agree()


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "https://" + "x" * 2_000, "http://post.example/1", "https:///x"),
        *("https://post.example@evil.example/1", "https://post.example:1@evil.example"),
        *("https://post.example/1 2", "https://post.example/\n1"),
    ],
)
def test_only_https_addresses_follow_a_parcel(shop: Shop, url: str) -> None:
    order = paid(shop)
    assert ship(order, parcels=[parcel("1", url)]).refused == ["parcels.0.trackingUrl"]


@pytest.mark.parametrize("status", ["PENDING", "SHIPPED", "CANCELLED", "DELIVERED", "REFUNDED"])
def test_an_order_ships_between_paid_and_shipped(shop: Shop, status: str) -> None:
    order, shipped = placed(shop), ("PAID", "PROCESSING", "SHIPPED")
    steps = {"CANCELLED": ("CANCELLED",), "REFUNDED": ("PAID", "REFUNDED"), "SHIPPED": shipped}
    steps |= {"PENDING": (), "DELIVERED": (*shipped, "DELIVERED")}
    for step in steps[status]:
        order.moved(step)
    answer = ship(order)
    assert (answer.status, answer.json["code"]) == (422, "not_shippable")
    assert answer.json["status"] == status


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"lines": [{"lineItemId": "li_none", "quantity": 1}]}, "unknown_line"),
        ({"lines": [("first", 1), ("first", 1)]}, "duplicate_line"),
        ({"lines": [("first", 3)]}, "exceeds_quantity"),
        ({"lines": []}, "nothing_to_ship"),
    ],
)
def test_what_cannot_be_shipped_is_named(shop: Shop, fields: Any, code: str) -> None:
    order = paid(shop, line(variant(shop), 2))
    id = order["lineItems"][0]["id"]
    lines = [
        one if isinstance(one, dict) else {"lineItemId": id, "quantity": one[1]}
        for one in fields["lines"]
    ]
    answer = order.post("/shipments", {"lines": lines})
    assert (answer.status, answer.json["code"]) == (422, code)
    if code == "exceeds_quantity":
        assert answer.json["lines"] == [{"lineItemId": id, "requested": 3, "available": 2}]
    assert order.read()["shipments"] == []


def test_an_order_sent_back_changes_nothing(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    ship(order, (0, 1), carrier="Post", parcels=[parcel("A1")])
    before = order.read()
    sent = {name: one for name, one in before.items() if name not in {"status", "paymentStatus"}}
    after = order.patch(sent).json
    changing = {"updatedAt", "history"}
    assert {n: v for n, v in after.items() if n not in changing} == {
        n: v for n, v in before.items() if n not in changing
    }
    copy = {name: one for name, one in sent.items() if name != "trackingNumber"}
    assert shop.post(ORDERS, copy).json["shipments"] == []


def test_a_reader_ships_nothing_nor_does_a_stale_version(shop: Shop) -> None:
    order = paid(shop)
    assert ship(order, headers={"If-Match": '"99"'}).status == 412
    reader = shop.as_("READER")
    assert shop.post(f"{ORDERS}/{order['id']}/shipments", {}, key=reader).status == 403
    assert order.read()["shipments"] == []
    assert shop.get(SHIPMENTS, key=reader).status == 200


def test_shipments_are_listed_by_when_they_left(shop: Shop) -> None:
    order, other = paid(shop, line(variant(shop), 3)), paid(shop)
    ship(order, (0, 1), carrier="Post", shippedAt="2026-01-02T10:00:00Z")
    ship(order, (0, 1), method="PICKUP", shippedAt="2026-01-03T10:00:00Z")
    ship(other, carrier="Van", shippedAt="2026-01-04T10:00:00Z")
    first, second = order.read()["shipments"]
    (third,) = other.read()["shipments"]
    for query, found in {
        "": [third, second, first],
        "carrier=Post": [first],
        "method=pickup": [second],
        "state=SHIPPED": [third, first],
        "from=2026-01-03&to=2026-01-03": [second],
        f"orderId={order['id']}": [second, first],
        f"orderId={order['id']}&carrier=Post": [first],
        "orderId=ord_none": [],
        "trackingNumber=none": [],
    }.items():
        listed = shop.get(f"{SHIPMENTS}?{query}").json
        assert [one["id"] for one in listed["data"]] == [one["id"] for one in found], query
        assert listed["total"] == len(found)
    one = shop.get(f"{SHIPMENTS}?carrier=Van").json["data"][0]
    assert (one["orderNumber"], one["state"]) == (other["number"], "SHIPPED")
    assert other.patch_shipment(one, **one).json == other.read()
    assert shop.get(f"{ORDERS}?shippingStatus=partial").json["total"] == 1
    assert shop.get(f"{ORDERS}?shippingStatus=ALL").refused == ["shippingStatus"]
    assert shop.get(f"{ORDERS}?fields=shippingStatus,number").json["data"][0] == {
        "shippingStatus": "ALL",
        "number": other["number"],
    }
    ship(order)
    assert shop.get(f"{ORDERS}?shippingStatus=PARTIAL").json["total"] == 0
    assert counts_agree()


def test_a_known_carrier_makes_the_address(shop: Shop) -> None:
    path = "/api/admin/settings/shipping"
    first = shop.get(path)
    assert (first.json, first.headers["ETag"]) == ({"carriers": []}, '"0"')
    known = {"name": "Post", "trackingUrl": "https://post.example/t?id={number}&l=de"}
    wanted = {"carriers": [known, {"name": "Van", "trackingUrl": "https://van.example/{number}"}]}
    saved = shop.put(path, wanted, headers={"If-Match": '"0"'})
    assert (saved.status, saved.json, shop.get(path).json) == (200, wanted, wanted)
    assert shop.put(path, {"carriers": []}, headers={"If-Match": '"0"'}).status == 412
    assert shop.put(path, wanted, key=shop.as_("STAFF")).status == 403
    order = paid(shop, line(variant(shop), 2))
    own = parcel("A2", "https://own.example/a2")
    answer = ship(order, (0, 1), carrier="post", parcels=[parcel("A 1"), own, {}])
    (made,) = answer.json["shipments"]
    urls = [one["trackingUrl"] for one in made["parcels"]]
    assert urls == ["https://post.example/t?id=A%201&l=de", "https://own.example/a2", None]
    (moved,) = order.patch_shipment(made, carrier="Van").json["shipments"]
    urls = [one["trackingUrl"] for one in moved["parcels"]]
    assert urls == ["https://van.example/A%201", "https://own.example/a2", None]
    (patched,) = order.patch({"trackingNumber": "B/7"}).json["shipments"]
    assert patched["parcels"][0]["trackingUrl"] == "https://van.example/B%2F7"
    for carriers in (
        [known, {**known, "name": "POST"}],
        [{"name": "", "trackingUrl": "https://x.example/{number}"}],
        [{"name": "X", "trackingUrl": "https://x.example/"}],
        [{"name": "X", "trackingUrl": "http://x.example/{number}"}],
        *(
            [{"name": "X", "trackingUrl": f"https://{host}"}]  # a number would be a part of it
            for host in ("{number}", "x.example{number}", "x{number}.example/{number}")
        ),
        [{"name": str(n), "trackingUrl": "https://x.example/{number}"} for n in range(21)],
    ):
        assert shop.put(path, {"carriers": carriers}).status == 422
    assert shop.get(path).json == wanted


@pytest.mark.parametrize("fault", list(Fault))
def test_a_shipment_that_is_repeated_after_a_crash_is_one(
    shop: Shop, dynamodb: Double, fault: Fault
) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    dynamodb.fails(fault, "TransactWriteItems")
    key = {"Idempotency-Key": "part"}
    try:
        answer = ship(order, (0, 2), headers=key)
    except Crash:
        answer = ship(order, (0, 2), headers=key)
    assert answer.status == 201
    assert order.read()["lineItems"][0]["toShip"] == 1
    assert [one["event"] for one in shop.events()].count("shipment.created") == 1
    assert counts_agree()


@contextmanager
def release_1_0_0(order: Any) -> Iterator[None]:
    """Moves this order as release 1.0.0 does, which knows no shipments and no `returned`."""
    with mock.patch.object(shipments, "follow_patch", lambda before, after, by, now: after):
        yield
    item = table.get((order["id"], "order"))
    assert item
    for part in (part for refund in item["refunds"] for part in refund["lines"]):
        del part["returned"]
    known = [one for one in item["shipments"] if one["id"] != restored_id(order["id"])]
    item["shipments"] = known
    table.put(item if known else {k: v for k, v in item.items() if k != "shipments"})


@pytest.mark.parametrize("status", ["SHIPPED", "DELIVERED"])
def test_what_release_1_0_0_shipped_is_one_implied_shipment(shop: Shop, status: str) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 4, price=10))
    order.refund(lines=[order.first_line(quantity=1)])
    with release_1_0_0(order):
        order.patch({"trackingNumber": "A1"})
        order.moved("PROCESSING", "SHIPPED")
        order.refund(lines=[order.first_line(quantity=1)])
        if status == "DELIVERED":
            order.moved("DELIVERED")
    read = order.read()
    (old,) = read["shipments"]
    assert old["lines"] == [{"lineItemId": order["lineItems"][0]["id"], "quantity": 3}]
    assert old["parcels"] == [{"trackingNumber": "A1", "trackingUrl": None}]
    assert (old["shippedAt"], old["by"]) == (read["shippedAt"], "a OWNER of the tests")
    assert old["deliveredAt"] == (read["updatedAt"] if status == "DELIVERED" else None)
    (whole,) = read["lineItems"]
    assert (whole["shippedQuantity"], whole["toShip"], read["shippingStatus"]) == (3, 0, "ALL")
    assert [one["lines"][0]["returned"] for one in read["refunds"]] == [0, 1]
    for name in ("shippingStatus", "lineItems", "refunds", "shipments"):
        assert order.fetch(f"?fields={name}").json == {name: read[name]}
    assert shop.get(SHIPMENTS).json["total"] == 0
    assert shop.get(f"{SHIPMENTS}?orderId={order['id']}").json["data"][0]["id"] == old["id"]
    # A write of this release stores it, and still no list has it.
    corrected = order.patch({"trackingNumber": "A2"}).json
    numbers = [one["trackingNumber"] for one in corrected["shipments"][0]["parcels"]]
    assert (numbers, corrected["shipments"][0]["id"]) == (["A2"], old["id"])
    assert order.patch_shipment(old, note="Signed").status == 200
    back = order.refund(lines=[order.first_line(quantity=1)]).json["refunds"][-1]["lines"][0]
    assert (back["returned"], back["restocked"], stock_of(shop, sold)) == (1, 0, 6)
    assert order.delete().status == 200
    assert (stock_of(shop, sold), shop.get(SHIPMENTS).json["total"]) == (6, 0)
    assert counts_agree()


def test_nothing_is_lost_by_a_roll_back(shop: Shop) -> None:
    sold = variant(shop, 9)
    order = paid(shop, line(sold, 3, price=10))
    first = ship(order, (0, 1), parcels=[parcel("A1")]).json["shipments"][0]
    with release_1_0_0(order):
        order.refund(lines=[order.first_line(quantity=1)])
        order.moved("SHIPPED")
    read = order.read()
    assert read["shipments"][0] == first
    assert [one["lines"][0]["quantity"] for one in read["shipments"]] == [1, 1]
    (whole,) = read["lineItems"]
    assert (whole["shippedQuantity"], whole["toShip"], read["shippingStatus"]) == (2, 0, "ALL")
    assert order.patch({"status": "DELIVERED"}).json["shipments"][1]["deliveredAt"]
    assert shop.get(f"{SHIPMENTS}?state=DELIVERED").json["total"] == 1
    order.delete()
    assert shop.get(SHIPMENTS).json["total"] == 0
    assert counts_agree()


def test_the_nightly_check_finds_an_entry_without_its_shipment(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    order, other = paid(shop, line(variant(shop), 2)), paid(shop)
    (made,) = ship(order, (0, 1)).json["shipments"]
    ship(order)
    with release_1_0_0(other):
        other.moved("PROCESSING", "SHIPPED")
    assert orders.compare_shipments() == listing.Recount(2, [])
    item = table.get((order["id"], "order"))
    assert item
    table.put({**item, "shipments": item["shipments"][1:]})  # as by hand
    check.check_totals()
    assert f"shipment/{made['id']}@{order['id']} SHIPPED" in capsys.readouterr().out
    (wrong,) = orders.compare_shipments().wrong
    assert (wrong.stored, wrong.counted) == (1, 0)


def test_orders_of_1_0_0_are_not_reindexed_for_it(shop: Shop) -> None:
    order = paid(shop)
    with release_1_0_0(order):
        order.patch({"note": "x"})
    assert not listing.reindex(orders.RECORDS, order["id"])
    ship(order)
    assert not listing.reindex(orders.RECORDS, order["id"])


def test_the_audit_log_says_who_shipped(shop: Shop, dynamodb: Double) -> None:
    order = paid(shop, line(variant(shop), 3))
    (made,) = ship(order, (0, 1), note="Fragile").json["shipments"]
    order.patch_shipment(made, note="Very fragile")
    order.post(f"/shipments/{made['id']}/cancel", {"reason": "Still here"})
    shop.put("/api/admin/settings/shipping", {"carriers": []})  # as they are: no new version
    carrier = {"name": "Post", "trackingUrl": "https://post.example/{number}"}
    shop.put("/api/admin/settings/shipping", {"carriers": [carrier]})
    fanned_out(dynamodb)
    found = shop.get("/api/admin/audit?limit=100").json["data"]
    actions = [one["action"] for one in found if one["record"]["type"] in {"order", "settings"}]
    assert actions == [
        *("settings.updated", "shipment.cancelled", "shipment.updated", "shipment.created"),
        "order.created",
    ]
    changed = {one["field"] for one in found[2]["changes"]}
    assert f"shipments[{made['id']}].note" in changed


def test_a_small_part_is_a_small_transaction(shop: Shop, dynamodb: Double) -> None:
    order = paid(shop, line(variant(shop, 9), 5), customer=None, source="FAIR")
    for most in (18, 10, 10):
        written = keys_written(dynamodb)
        assert ship(order, (0, 1), parcels=[parcel("A1")]).status == 201
        assert len(written) <= most, written
    written = keys_written(dynamodb)
    assert ship(order).status == 201
    assert len(written) <= 24, written
