"""Shipments at their limits: the most of them, numbers that are used again, the largest orders."""

import json
from typing import Any

import pytest

from chalicelib.storage import table
from tests.orders.build import Order, counts_agree, line, new_order, placed, variant
from tests.orders.test_shipments import paid, parcel, ship
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough


def test_more_shipments_than_a_client_may_send_are_still_corrected(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 99), 40))
    for _ in range(30):
        ship(order, (0, 1))
    first, *_, implied = order.patch({"status": "SHIPPED"}).json["shipments"]
    assert order.patch_shipment(first, parcels=[parcel("A1")]).status == 200
    assert order.patch_shipment(implied, deliveredAt="2026-01-02").status == 200


def test_more_parcels_than_a_client_may_send_are_still_corrected(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 99), 5))
    for place in range(3):
        ship(order, (0, 1), parcels=[parcel(f"{place}-{n}") for n in range(20)])
    ship(order, (0, 1))
    first, *_, last = order.patch({"trackingNumber": "A1"}).json["shipments"]
    assert last["parcels"] == [parcel("A1") | {"trackingUrl": None}]
    assert order.patch_shipment(first, note="By the door").status == 200
    more = [parcel(str(n)) for n in range(2)]
    assert order.patch_shipment(last, parcels=more).refused == ["parcels"]
    assert order.post(f"/shipments/{first['id']}/cancel", {}).status == 200


def test_the_number_of_a_cancelled_shipment_is_used_again(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    (made,) = ship(order, (0, 1), parcels=[parcel("A1")]).json["shipments"]
    order.post(f"/shipments/{made['id']}/cancel", {})
    order.patch({"trackingNumber": "A1"})
    assert ship(order, (0, 1)).json["trackingNumber"] == "A1"
    last = order.patch({"status": "SHIPPED", "trackingNumber": "A1"}).json
    assert [one["trackingNumber"] for one in last["shipments"][-1]["parcels"]] == ["A1"]


def test_a_cleared_tracking_number_stays_cleared(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3))
    ship(order, (0, 1), parcels=[parcel("A1")])
    _, last = ship(order, (0, 1), parcels=[parcel("A2"), parcel("A3")]).json["shipments"]
    assert order.patch({"trackingNumber": None}).json["trackingNumber"] is None
    assert order.patch_shipment(last, note="x").json["trackingNumber"] is None
    assert ship(order, parcels=[parcel("A4")]).json["trackingNumber"] == "A4"


@pytest.mark.parametrize(
    ("url", "number", "after"),
    [
        ("https://post1.example/1", "B2", "https://post1.example/B2"),
        ("https://post1.example", "B2", None),
        ("https://post.example/1?n=1", "B2", None),
        ("https://post.example/1?" + "x" * 1_970, "B" * 100, None),
    ],
)
def test_another_number_replaces_the_old_one_in_an_address_behind_its_host(
    shop: Shop, url: str, number: str, after: str | None
) -> None:
    order = paid(shop)
    (made,) = ship(order, parcels=[parcel("1", url)]).json["shipments"]
    (changed,) = order.patch({"trackingNumber": number}).json["shipments"]
    assert changed["parcels"] == [{"trackingNumber": number, "trackingUrl": after}]
    assert order.patch_shipment(made, **changed).status == 200


def test_a_carrier_that_became_known_makes_the_address(shop: Shop) -> None:
    order = paid(shop)
    (made,) = ship(order, carrier="Post", parcels=[parcel("A1")]).json["shipments"]
    known = [
        {"name": name, "trackingUrl": f"https://{name}.example/{{number}}"}
        for name in ("post", "van")
    ]
    shop.put("/api/admin/settings/shipping", {"carriers": known})
    (changed,) = order.patch_shipment(made, carrier="Van").json["shipments"]
    assert changed["parcels"][0]["trackingUrl"] == "https://van.example/A1"


def test_an_address_of_a_carrier_is_as_long_as_a_client_may_send(shop: Shop) -> None:
    url = "https://post.example/" + "{number}" * 200
    known = [{"name": "Post", "trackingUrl": url}]
    assert shop.put("/api/admin/settings/shipping", {"carriers": known}).status == 200
    (made,) = ship(paid(shop), carrier="Post", parcels=[parcel("🎁" * 9)]).json["shipments"]
    assert made["parcels"][0]["trackingUrl"] is None


def test_what_a_closed_order_did_not_ship_is_refunded_as_not_returned(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 5, price=10), paymentMethod="CASH")
    ship(order, (0, 2))
    assert order.post("/close", {"reason": "Enough", "keep": "50"}).status == 200
    assert order.refund(lines=[order.first_line(quantity=3, returned=0)]).status == 201
    more = order.refund(lines=[order.first_line(quantity=1, returned=0)])
    assert more.json["lines"][0]["available"] == 0
    assert order.refund(lines=[order.first_line(quantity=2, returned=2)]).status == 201


def test_a_shipment_of_a_line_that_release_1_0_0_removed_is_cancelled(shop: Shop) -> None:
    order = paid(shop, line(variant(shop, 9), 3), line(variant(shop, 9), 2))
    (made,) = ship(order, (0, 2), (1, 1)).json["shipments"]
    item = table.get((order["id"], "order"))
    assert item
    table.put({**item, "lineItems": item["lineItems"][1:]})
    assert [one["toShip"] for one in order.read()["lineItems"]] == [1]
    assert order.post(f"/shipments/{made['id']}/cancel", {}).status == 200
    assert ship(order).json["status"] == "SHIPPED"
    assert counts_agree()


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_deletion_that_is_killed_leaves_no_shipment_in_the_list(
    shop: Shop, dynamodb: Double, fault: Fault
) -> None:
    order = paid(shop, line(variant(shop, 99), 40))
    for _ in range(30):
        ship(order, (0, 1))
    order.patch({"status": "SHIPPED"})
    dynamodb.faults = lambda operation, _: fault if operation == "TransactWriteItems" else None
    with pytest.raises(Crash):
        order.delete()
    dynamodb.faults = lambda operation, _: Fault.CRASH if operation == "BatchWriteItem" else None
    assert order.delete().status == (200 if fault is Fault.CRASH else 404)
    assert counts_agree()


@pytest.mark.parametrize("products", [31, 59, 60])
def test_an_order_of_most_products_and_shipments_is_deleted(shop: Shop, products: int) -> None:
    lines = [line(variant(shop, 99), 40, price=1) for _ in range(products)]
    order = paid(shop, *lines, tags=[f"tag {n}" for n in range(20)], externalId="E1")
    for place in range(30):
        ship(order, (0, 1), (1, 1), method=("PARCEL", "PICKUP")[place % 2])
    for _ in range(12):
        order.refund(amount="1.00")
    order.post(f"/shipments/{order.read()['shipments'][0]['id']}/cancel", {})
    assert order.delete().status == 200
    assert counts_agree()


def _place_large_order(shop: Shop, size: int) -> Order:
    """An order whose JSON, without what it says of shipping, has so many bytes."""
    customer = {"id": shop.made("/api/admin/customers", {"email": "large@example.com"})["id"]}
    money = {"paymentStatus": "PAID", "paymentMethod": "CASH", "customer": customer}

    def make(*notes: int) -> dict[str, Any]:
        lines = [{"title": "T", "price": 1, "quantity": 1, "note": "n" * note} for note in notes]
        return new_order(*lines, **money)

    rest = size - _count_bytes(placed(shop, **make(*[1] * 200)))
    notes = [1 + rest // 200 + (place < rest % 200) for place in range(200)]
    order = placed(shop, **make(*notes))
    assert _count_bytes(order) == size
    return order


def _count_bytes(order: Any) -> int:
    fields = {name: one for name, one in order.items() if name not in {"shipments"}}
    del fields["shippingStatus"]
    fields["lineItems"] = [
        {name: one for name, one in part.items() if name not in {"shippedQuantity", "toShip"}}
        for part in order["lineItems"]
    ]
    return len(json.dumps(fields, ensure_ascii=False).encode())


def test_the_largest_order_takes_as_many_refunds_as_before_when_it_is_shipped(shop: Shop) -> None:
    order = _place_large_order(shop, 82_000)
    order.moved("PROCESSING", "SHIPPED")
    for _ in range(15):
        assert order.refund(amount="1.00").status == 201, _count_bytes(order.read())


def test_the_largest_order_is_edited_after_a_part_was_shipped(shop: Shop) -> None:
    order = _place_large_order(shop, 82_000)
    assert ship(order, (0, 1), note="Fragile").status == 201
    assert order.edit(source="Fair").status == 200
