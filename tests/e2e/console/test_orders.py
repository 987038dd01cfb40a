"""Orders in the console: entering, moving, finding."""

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk

TRACKING = "1Z999AA10123456784"
PRINTS = ["Print order", "Print packing slip"]


def expect_actions(desk: Desk, *actions: str) -> None:
    """The main one, and those of the menu."""
    title = desk.page.locator("main .title .actions")
    expect(title.locator(":is(.main, [popover] > *)")).to_have_text([*actions, *PRINTS, "Delete"])


@pytest.mark.journey
def test_an_order_is_created_by_hand_and_moved_to_delivered(desk: Desk) -> None:
    desk.api.product("Gannet Lamp", price="80.00", variants=[{"title": "Brass", "stock": 5}])
    desk.open("/orders/new")
    # With the keyboard alone, as at a till.
    desk.label("Find a product").press_sequentially("gannet")
    expect(desk.page.get_by_role("option", name="Gannet Lamp")).to_be_visible()
    desk.page.keyboard.press("ArrowDown")
    desk.page.keyboard.press("Enter")
    expect(desk.label("Find a product")).to_be_focused()
    desk.label("Quantity of Gannet Lamp").fill("2")
    desk.label("Tax").fill("5")
    desk.total("$165.00")
    desk.unfold("Customer")
    desk.label("Email").fill("ada@example.com")
    desk.label("First name").fill("Ada")
    desk.unfold("Date, source and sales rep")
    desk.label("Sales rep").fill("7")
    desk.button("Create order").click()
    desk.placed_order()
    expect(desk.page.get_by_text("$165.00").first).to_be_visible()

    expect_actions(desk, "Take payment", "Close order", "New order")
    desk.pay("Card terminal")
    steps = ("Ship", "Start production", "Start processing", "Refund", "Hand over")
    expect_actions(desk, *steps, "Close order", "New order")
    desk.more("Start processing")
    desk.wait_for_status("Processing")
    desk.button("Ship").click()
    desk.dialog.get_by_label("Tracking number").fill(TRACKING)
    desk.dialog.get_by_role("button", name="Ship").click()
    expect(desk.page.get_by_role("link", name="Track with UPS")).to_be_visible()
    desk.button("Mark as delivered").click()
    expect(desk.page.locator("header .badge").first).to_have_text("Delivered")
    expect_actions(desk, "New order", "Refund")

    order = desk.api.get(f"orders/{desk.page.url.rpartition('/')[2]}")
    assert (order["status"], order["paymentStatus"]) == ("DELIVERED", "PAID")
    assert (order["trackingNumber"], order["salesRepId"]) == (TRACKING, "emp_7")
    assert (order["source"], order["total"]) == ("IN_PERSON", "165.00")
    assert order["customer"]["email"] == "ada@example.com"
    story = desk.page.locator(".history li")
    expect(story).to_contain_text(
        ["Delivered", "Shipped", "In processing", "Confirmed", "Order created"]
    )
    expect(story.nth(1)).to_contain_text(f"Tracking number: {TRACKING}")
    expect(story.nth(3)).to_contain_text("$165.00 received, card terminal")


def test_what_is_not_in_stock_is_sold_anyway_if_asked_and_the_history_says_so(desk: Desk) -> None:
    made = desk.api.product("Heron Cup", variants=[{"stock": 2}])
    desk.choose("Heron Cup")
    desk.label("Quantity of Heron Cup").fill("3")
    desk.unfold("Note and tags")
    desk.label("Note").fill("Kept while it is fixed")
    anyway = desk.page.get_by_label("Sell it anyway")
    expect(anyway).to_be_hidden()
    desk.button("Create order").click()
    expect(desk.field("lineItems.0.quantity").locator(".error")).to_have_text("Only 2 in stock")
    expect(desk.label("Note")).to_have_value("Kept while it is fixed")
    anyway.check()
    desk.button("Create order").click()
    desk.placed_order()
    (variant,) = desk.api.get(f"products/{made['id']}")["variants"]
    assert variant["stock"] == 0
    moves = f"stock/movements?productId={made['id']}"
    until(lambda: len(desk.api.get(moves)["data"]) == 3)
    until(lambda: desk.api.get(f"audit?recordId={made['id']}")["data"])
    desk.open(f"/products/{made['id']}")
    history = desk.page.get_by_role("region", name="Stock history")
    expect(history.get_by_role("row")).to_have_count(4)
    expect(history).to_contain_text("Oversold")
    expect(history).to_contain_text("1 missing")
    title = desk.page.get_by_role("heading", name="Timeline")
    trail = desk.page.locator(".card", has=title)
    expect(trail).to_contain_text("Created")
    expect(trail).not_to_contain_text("Heron Cup")
    desk.unfold("Every change")
    expect(trail).to_contain_text("Name: – → Heron Cup")
    history.get_by_role("link", name="Sale").click()
    desk.placed_order()


def test_a_retry_after_a_lost_answer_is_one_order(desk: Desk) -> None:
    desk.api.product("Shearwater")
    desk.choose("Shearwater")
    desk.unfold("Customer")
    desk.label("Email").fill("twice@example.com")
    lost = desk.lost("**/api/admin/orders")
    desk.button("Create order").click()
    expect(desk.page.locator(".summary")).to_contain_text("may or may not have been saved")
    desk.button("Create order").click()
    desk.placed_order()
    assert lost == [201]
    assert desk.api.get("orders?search=twice@example.com")["total"] == 1
    desk.button("More").click()
    desk.page.get_by_role("link", name="New order").click()
    desk.heading("New order")


def test_a_tracking_number_that_is_cleared_as_the_order_is_shipped_is_not_sent(desk: Desk) -> None:
    order = desk.api.order("Razorbill")
    desk.api.move(order, "PAID", "PROCESSING")
    desk.api.call("PATCH", f"orders/{order['id']}", {"trackingNumber": "1Z-OLD"})
    desk.open(f"/orders/{order['id']}")
    desk.button("Ship").click()
    expect(desk.dialog.get_by_label("Tracking number")).to_have_value("1Z-OLD")
    desk.dialog.get_by_label("Tracking number").fill("")
    desk.dialog.get_by_role("button", name="Ship").click()
    expect(desk.button("Mark as delivered")).to_be_visible()
    assert desk.api.get(f"orders/{order['id']}")["trackingNumber"] is None


def test_a_move_saves_unsaved_input(desk: Desk) -> None:
    order = desk.api.order("Razorbill")
    desk.api.move(order, "PAID", "PROCESSING")
    desk.open(f"/orders/{order['id']}")
    desk.open_edit()
    desk.label("Note").fill("Leave it with the neighbour")
    desk.label("Tracking number").fill("1Z-42")
    desk.button("Ship").click()
    expect(desk.dialog.get_by_label("Tracking number")).to_have_value("1Z-42")
    desk.dialog.get_by_role("button", name="Ship").click()
    expect(desk.button("Mark as delivered")).to_be_visible()
    expect(desk.label("Note")).to_have_value("Leave it with the neighbour")
    shipped = desk.api.get(f"orders/{order['id']}")
    assert (shipped["trackingNumber"], shipped["note"]) == ("1Z-42", "Leave it with the neighbour")


def test_an_outdated_move_shows_the_current_status(desk: Desk) -> None:
    order = desk.shown(desk.api.order("Fulmar", paymentStatus="PAID"))
    desk.api.move(order, "REFUNDED")
    desk.more("Start processing")
    expect(desk.page.locator(".toast")).to_contain_text("It is now refunded")
    expect(desk.page.locator("header .badge")).to_have_text(["Refunded"])
    expect_actions(desk, "New order")


def test_a_move_whose_answer_is_lost_is_said_to_be_made(desk: Desk) -> None:
    order = desk.shown(desk.api.order("Fulmar", paymentStatus="PAID"))
    desk.open_edit()
    desk.label("Note").fill("Rang the bell")
    lost = desk.lost(f"**/api/admin/orders/{order['id']}", method="PATCH")
    desk.more("Start processing")
    expect(desk.page.locator(".toast")).to_contain_text("may or may not have been saved")
    desk.more("Start processing")
    done = f"Order #{order['number']}: processing."
    expect(desk.page.locator(".toast", has_text=done)).to_be_visible()
    assert lost == [200]
    desk.page.evaluate("location.hash = '#/products'")  # no input is left to be saved
    desk.heading("Products")


def test_an_order_of_a_customer_who_was_deleted_meanwhile_is_refused_with_the_reason(
    desk: Desk,
) -> None:
    customer = desk.api.post("customers", {"email": "gone@example.com"})
    desk.open(f"/orders/new?customer={customer['id']}")
    desk.api.call("DELETE", f"customers/{customer['id']}")
    desk.button("Add a custom item").click()
    desk.label("Name of custom item 1").fill("Engraving")
    desk.label("Price of custom item 1").fill("5")
    desk.button("Create order").click()
    expect(desk.page.locator(".summary")).to_contain_text("Customer id")
    expect(desk.button("Change customer")).to_be_visible()


def test_a_tag_with_a_comma_is_changed_only_by_who_edits_the_tags(desk: Desk) -> None:
    given = {"tags": ["Berlin, Mitte"], "note": "one\r\ntwo"}
    order = desk.shown(
        desk.api.order("Smew", customer={"email": "smew@example.com"}, source="PHONE", **given)
    )
    desk.pay()
    desk.more("Start processing")
    desk.wait_for_status("Processing")
    desk.page.get_by_role("link", name="Customers", exact=True).click()
    desk.heading("Customers")
    after = desk.api.get(f"orders/{order['id']}")
    assert {name: after[name] for name in given} == given

    customer = desk.shown(desk.api.post("customers", {"email": "smew2@example.com", **given}))
    desk.open_edit()
    desk.label("First name").fill("Ada")
    desk.button("Save").click()
    desk.heading("Ada")
    desk.page.get_by_role("link", name="Orders", exact=True).click()
    desk.heading("Orders")
    after = desk.api.get(f"customers/{customer['id']}")
    assert {name: after[name] for name in given} == given


def test_an_order_that_was_refunded_offers_only_what_is_possible(desk: Desk) -> None:
    order = desk.api.order(desk.api.product("Given back", price="50.00"), 1)
    money = {"amount": "30", "method": "CASH"}
    for kind in ("payments", "refunds"):
        desk.api.post(f"orders/{order['id']}/{kind}", money)
    desk.open(f"/orders/{order['id']}")
    expect_actions(desk, "New order", "Close order")
    for refused in ("Edit items", "Take payment", "Refund", "Void Cash $30.00"):
        expect(desk.button(refused)).to_have_count(0)
