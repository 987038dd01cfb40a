"""Shipments in the console: an order leaves in parts, by keyboard and scanner, each part once."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import DESKTOP, PHONE, Desk, accessible
from tests.e2e.console.test_typed import RUN

PLACE = {"address1": "7 Cliff Road", "city": "Whitby", "countryCode": "GB"}


def two_lines(desk: Desk, status: str = "PROCESSING", **fields: Any) -> Any:
    """An order of 3 pieces of SKU S-A and 2 of S-B."""
    lines = []
    for sku, pieces in (("S-A", 3), ("S-B", 2)):
        variant = {"sku": f"{sku}{RUN}", "title": "Default"}
        made = desk.api.product(f"Shipped {sku} {RUN}", variants=[variant])
        lines.append({"variantId": made["variants"][0]["id"], "quantity": pieces})
    paid = {"paymentStatus": "PAID", "paymentMethod": "CASH"}
    order = desk.api.post("orders", {"lineItems": lines, **paid, **fields})
    if status != "PAID":
        desk.api.move(order, status)
    return desk.shown(order)


def now(desk: Desk, order: Any) -> Any:
    return desk.api.get(f"orders/{order['id']}")


def ship(desk: Desk, button: str = "Ship") -> None:
    desk.dialog.get_by_role("button", name=button, exact=True).click()
    expect(desk.dialog).to_have_count(0)


@pytest.mark.parametrize("window", [PHONE, DESKTOP | {"width": 1440}])
def test_an_order_is_shipped_in_two_parts_with_a_slip_of_each(
    another: Callable[..., Desk], window: Any
) -> None:
    desk = another(viewport=window)
    order = two_lines(desk, shippingAddress=PLACE)
    desk.button("Ship").click()
    first = desk.dialog.get_by_label("pieces of 3")
    expect(first).to_have_value("3")
    expect(desk.dialog.get_by_role("status")).to_have_text("This ships the whole order.")
    first.click()
    desk.scan(f"s-a{RUN.lower()}")
    expect(first).to_have_value("1")
    expect(desk.dialog.get_by_label("pieces of 2")).to_have_value("0")
    expect(desk.dialog.get_by_role("status")).to_contain_text("4 pieces stay")
    desk.dialog.get_by_label("Tracking number", exact=True).fill("1Z1")
    desk.page.keyboard.press("Enter")
    desk.page.keyboard.type("1Z2")
    accessible(desk)
    ship(desk)
    part = now(desk, order)
    assert (part["status"], part["shippingStatus"]) == ("PROCESSING", "PARTIAL")
    (sent,) = part["shipments"]
    assert [one["trackingNumber"] for one in sent["parcels"]] == ["1Z1", "1Z2"]
    assert [one["quantity"] for one in sent["lines"]] == [1]
    desk.button("Ship").click()
    expect(desk.dialog.get_by_label("Tracking number", exact=True)).to_have_value("")
    ship(desk)
    expect(desk.button("Mark as delivered")).to_be_visible()
    whole = now(desk, order)
    assert (whole["status"], whole["shippingStatus"]) == ("SHIPPED", "ALL")
    shown = desk.page.locator(".shipment")
    expect(shown).to_have_count(2)
    expect(shown.first).to_contain_text("1Z2")
    accessible(desk)
    name = "Packing slip: shipment 1"
    text = desk.print_page(desk.page.get_by_role("button", name=name, include_hidden=True))
    assert "In this shipment" in text and "7 Cliff Road" in text and "S-B" not in text
    (row,) = [line for line in text.splitlines() if f"Shipped S-A {RUN}" in line]
    assert row.split()[-3:] == ["1", "0", "2"] and "$" not in text


MADE = {"lineItems": [{"title": "A ring", "price": 5, "quantity": 1, "make": True}]}
DEPOSIT = {"paymentStatus": "PENDING", "deposit": {"amount": "5"}}
NEXT = [
    ("PAID", {}, "Ship"),
    ("PAID", DEPOSIT, "Start processing"),
    ("PAID", MADE, "Start production"),
    ("IN_PRODUCTION", MADE, "Start processing"),
    ("PROCESSING", MADE, "Ship"),
]


@pytest.mark.parametrize(("status", "fields", "step"), NEXT, ids=[f"{s}-{n}" for s, _, n in NEXT])
def test_ship_is_the_main_button_of_what_is_paid_and_made(
    desk: Desk, status: str, fields: Any, step: str
) -> None:
    order = two_lines(desk, status, **fields)
    if fields is DEPOSIT:
        desk.api.post(f"orders/{order['id']}/payments", {"amount": "5", "method": "CASH"})
        desk.reload()
    expect(desk.main_action).to_have_text([step])
    if step == "Ship":
        desk.main_action.click()
        ship(desk)
        desk.wait_for_status("Shipped")
        assert [one["implied"] for one in now(desk, order)["shipments"]] == [False]


@pytest.mark.parametrize("way", ["twice", "lost answer", "second tab"])
def test_a_shipment_is_made_once(desk: Desk, way: str) -> None:
    order = two_lines(desk)
    desk.button("Ship").click()
    press = desk.dialog.get_by_role("button", name="Ship", exact=True)
    if way == "twice":
        press.dblclick()
    elif way == "lost answer":
        lost = desk.lost("**/shipments")
        press.click()
        expect(desk.dialog).to_contain_text("may or may not have been saved")
        press.click()
        assert lost == [201]
    else:
        desk.api.post(f"orders/{order['id']}/shipments", {})
        press.click()
        expect(desk.dialog).to_contain_text("the order was changed meanwhile")
    expect(desk.page.locator(".shipment")).to_have_count(1)
    assert len(now(desk, order)["shipments"]) == 1


def test_an_order_is_handed_over_after_what_is_due(desk: Desk) -> None:
    order = two_lines(desk, "PAID", paymentStatus="PENDING", deposit={"amount": "5"})
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "5", "method": "CASH"})
    desk.open("/orders")
    desk.shown(order)
    desk.more("Hand over")
    expect(desk.dialog).to_contain_text("$20.00 is due.")
    desk.dialog.get_by_role("button", name="Take payment").click()
    desk.dialog.get_by_role("button", name="Cash").click()
    ship(desk, "Take payment")
    desk.more("Hand over")
    expect(desk.dialog).not_to_contain_text("is due")
    ship(desk, "Hand over")
    expect(desk.page.locator("header .badge").first).to_have_text("Delivered")
    assert [one["method"] for one in now(desk, order)["shipments"]] == ["PICKUP"]


def test_a_part_is_delivered_or_cancelled_and_the_day_lists_it(desk: Desk) -> None:
    order = two_lines(desk)
    lines = [{"lineItemId": order["lineItems"][0]["id"], "quantity": 1}]
    for number in ("Z-1", "Z-2"):
        sent = {"lines": lines, "parcels": [{"trackingNumber": number + RUN}]}
        desk.api.post(f"orders/{order['id']}/shipments", sent)
    desk.open("/orders")
    desk.shown(order)
    desk.button("Delivered: shipment 1").click()
    expect(desk.button("Delivered: shipment 1")).to_have_count(0)
    desk.button("Cancel: shipment 2").click()
    desk.dialog.get_by_label("Reason").fill("It never left")
    ship(desk, "Cancel shipment")
    expect(desk.page.locator(".shipment").last).to_contain_text("Cancelled")
    assert [one["toShip"] for one in now(desk, order)["lineItems"]] == [2, 2]
    desk.open("/orders?shippingStatus=PARTIAL")
    expect(desk.page.get_by_role("link", name=f"#{order['number']}")).to_be_visible()
    desk.page.get_by_role("link", name="Shipments", exact=True).click()
    desk.heading("Shipments")
    row = desk.page.get_by_role("row").filter(has_text=f"Z-2{RUN}")
    expect(row).to_contain_text("Cancelled")
    accessible(desk)
    desk.label("State").select_option("CANCELLED")
    expect(desk.page.get_by_role("row").filter(has_text=f"Z-1{RUN}")).to_have_count(0)
    desk.button("Export").click()
    ship_export = desk.dialog.get_by_role("button", name="Export")
    ship_export.click()
    expect(desk.dialog).to_contain_text("exported")


def test_an_admin_names_carriers_whose_parcels_are_followed(another: Callable[..., Desk]) -> None:
    desk = another(role="ADMIN")
    before = desk.api.get("settings/shipping")
    desk.open("/settings/shipping")
    desk.button("Add a carrier").click()
    number = len(before["carriers"]) + 1
    desk.label(f"Name of carrier {number}").fill(f"Kite {RUN}")
    address = desk.label(f"Tracking address of carrier {number}")
    address.fill("https://kite.example/track")
    desk.button("Save").click()
    expect(desk.page.locator(".error").filter(has_text="number")).to_be_visible()
    accessible(desk)
    address.fill("https://kite.example/track/{number}")
    desk.save()
    desk.page.reload()  # the page is drawn again, and says no more that something was saved
    desk.heading("Carriers")
    assert desk.api.get("settings/shipping")["carriers"][:-1] == before["carriers"]
    desk.button(f"Remove carrier {number}").click()
    desk.save()
    assert desk.api.get("settings/shipping") == before
