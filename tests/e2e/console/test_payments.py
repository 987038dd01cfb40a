"""Payments and refunds on the page of an order."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import PHONE, Api, Desk

WIDE = {"width": 1440, "height": 900}


def order_of(api: Api, pieces: int = 2, price: str = "50.00") -> Any:
    product = api.product("Paid for", price=price, variants=[{"title": "P", "stock": 9}])
    return api.order(product, pieces)


@pytest.mark.journey
@pytest.mark.parametrize("viewport", [PHONE, WIDE])
def test_a_payment_in_cash_and_a_refund_of_one_piece_by_keyboard(
    another: Callable[..., Desk], viewport: dict
) -> None:
    desk = another(viewport=viewport)
    order = desk.shown(order_of(desk.api))
    keys = desk.page.keyboard
    desk.button("Take payment").focus()
    keys.press("Enter")
    expect(desk.dialog.get_by_label("Amount", exact=True)).to_be_focused()
    keys.type("30,00")
    desk.dialog.get_by_role("button", name="Cash").press("Enter")
    desk.dialog.get_by_label("Cash received").fill("50")
    expect(desk.dialog.get_by_role("status")).to_contain_text("20.00")
    keys.press("Enter")
    expect(desk.dialog).to_have_count(0)
    paid = desk.api.get(f"orders/{order['id']}")
    assert (paid["amountPaid"], paid["balanceDue"]) == ("30.00", "70.00")
    assert (paid["payments"][0]["method"], paid["payments"][0]["change"]) == ("CASH", "20.00")
    expect(desk.main_action).to_have_text(["Take payment"])
    desk.button("Take payment").focus()
    keys.press("Enter")
    desk.dialog.get_by_role("button", name="Cash").press("Enter")
    desk.dialog.get_by_label("Amount", exact=True).press("Enter")
    expect(desk.dialog).to_have_count(0)
    expect(desk.button("Take payment")).to_have_count(0)
    desk.button("More").focus()
    keys.press("Enter")
    desk.button("Refund").press("Enter")
    keys.type("1")
    desk.dialog.get_by_label("Payment method").select_option("CASH")
    confirm = desk.dialog.locator("button.main")
    expect(confirm).to_have_text("Refund $50.00")
    said = "$50.00 goes back · 1 piece to the stock · $0.00 due afterwards"
    expect(desk.dialog.get_by_role("status")).to_have_text(said)
    confirm.press("Enter")
    expect(desk.dialog).to_have_count(0)
    after = desk.api.get(f"orders/{order['id']}")
    assert (after["amountRefunded"], after["balanceDue"]) == ("50.00", "0.00")
    expect(desk.page.get_by_role("region", name="Items")).to_contain_text("1 refunded")
    assert after["refunds"][0]["lines"][0]["restocked"] == 1


def test_the_change_is_of_what_is_due_where_the_amount_is_blank(desk: Desk) -> None:
    order = desk.shown(order_of(desk.api))
    desk.button("Take payment").click()
    desk.dialog.get_by_label("Amount", exact=True).fill("")
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.dialog.get_by_label("Cash received").fill("120")
    expect(desk.dialog.get_by_role("status")).to_have_text("Change $20.00")
    desk.dialog.get_by_role("button", name="Take payment").click()
    expect(desk.dialog).to_have_count(0)
    assert desk.api.get(f"orders/{order['id']}")["payments"][0]["change"] == "20.00"


def test_the_same_balance_is_not_taken_in_two_tabs(desk: Desk) -> None:
    order = desk.shown(order_of(desk.api))
    desk.button("Take payment").click()
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.dialog.get_by_label("Amount", exact=True).fill("40")
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "40", "method": "CASH"})
    pay = desk.dialog.get_by_role("button", name="Take payment")
    pay.click()
    expect(desk.dialog).to_contain_text("Now $40.00 is paid, $0.00 refunded and $60.00 due.")
    pay.click()
    expect(desk.dialog).to_have_count(0)
    assert desk.api.get(f"orders/{order['id']}")["amountPaid"] == "80.00"
    desk.button("Take payment").click()
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "15", "method": "CASH"})
    for said in ("Now $95.00 is paid", "This is too much: $5.00 due."):
        pay.click()
        expect(desk.dialog).to_contain_text(said)
    desk.dialog.get_by_label("Take more than is due").check()
    pay.click()
    expect(desk.dialog).to_have_count(0)
    desk.more("Refund")
    desk.dialog.get_by_label("Amount", exact=True).fill("5")
    expect(desk.dialog.get_by_role("status")).to_contain_text("$10.00 owed to the customer")


@pytest.mark.parametrize("viewport", [PHONE, WIDE])
def test_the_till_splits_a_payment_and_takes_a_deposit(
    another: Callable[..., Desk], viewport: dict
) -> None:
    desk = another(viewport=viewport)
    sku = f"SPLIT-{viewport['width']}"
    desk.api.product("Split", price="100.00", variants=[{"title": "P", "sku": sku, "stock": 9}])
    desk.open("/orders/new")
    desk.page.get_by_role("combobox", name="Find a product").fill(sku)
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_label("Quantity")).to_have_count(1)
    desk.button("Deposit").click()
    desk.page.get_by_label("Deposit").fill("30 %")
    for at, (amount, method) in enumerate([("10,00", "Cash"), ("20", "Card terminal")]):
        desk.button("Split the payment" if at == 0 else "Add a payment").click()
        row = desk.page.get_by_role("group", name=f"Payment {at + 1}")
        row.get_by_label("Amount").fill(amount)
        row.get_by_label("Method").fill(method)
    expect(desk.page.get_by_label("Payment method")).to_be_hidden()
    desk.button("Add a payment").click()
    desk.button("Remove payment 3").click()
    expect(desk.button("Add a payment")).to_be_focused()
    desk.page.keyboard.press("Control+Enter")
    order = desk.placed_order()
    assert order["lineItems"][0]["sku"] == sku
    assert [(one["method"], one["amount"]) for one in order["payments"]] == [
        ("CASH", "10.00"),
        ("CARD_TERMINAL", "20.00"),
    ]
    assert order["deposit"] == {"amount": "30.00", "percent": 30, "isReached": True}
    assert (order["status"], order["paymentStatus"]) == ("PAID", "PARTIALLY_PAID")


def test_more_than_is_due_is_taken_only_if_asked(desk: Desk) -> None:
    order = desk.shown(order_of(desk.api))
    desk.button("Take payment").click()
    more = desk.dialog.get_by_label("Take more than is due")
    expect(more).to_be_hidden()
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.dialog.get_by_label("Amount", exact=True).fill("110")
    desk.dialog.get_by_role("button", name="Take payment").click()
    expect(desk.dialog.locator(".summary")).to_contain_text("This is too much: $100.00 due.")
    assert desk.api.get(f"orders/{order['id']}")["amountPaid"] == "0.00"
    more.check()
    desk.dialog.get_by_role("button", name="Take payment").click()
    expect(desk.dialog).to_have_count(0)
    assert desk.api.get(f"orders/{order['id']}")["balanceDue"] == "-10.00"


def test_a_wrong_number_of_pieces_to_refund_is_shown_at_its_item(desk: Desk) -> None:
    lines = [{"title": title, "price": 50, "quantity": 2} for title in ("Ring", "Engraving")]
    order = desk.api.post("orders", {"lineItems": lines, "paymentStatus": "PAID"})
    desk.shown(order)
    desk.more("Refund")
    desk.dialog.get_by_label("Engraving: pieces of 2").fill("1.5")
    desk.dialog.locator("button.main").click()
    expect(desk.field("lines.1.quantity").locator(".error")).not_to_be_empty()
    desk.dialog.get_by_label("Engraving: pieces of 2").fill("3")
    desk.dialog.locator("button.main").click()
    expect(desk.field("lines.1.quantity").locator(".error")).to_have_text("Only 2 left")
    expect(desk.field("lines.0.quantity").locator(".error")).to_be_empty()


def test_a_cancelled_order_keeps_a_deposit(desk: Desk) -> None:
    order = order_of(desk.api)
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "30", "method": "CASH"})
    desk.api.move(order, "CANCELLED")
    desk.open(f"/orders/{order['id']}")
    expect(desk.button("Void Cash $30.00")).to_be_visible()
    desk.button("Keep a deposit").click()
    desk.dialog.get_by_label("Amount to keep").fill("30,00")
    desk.dialog.get_by_role("button", name="Save").click()
    expect(desk.dialog).to_have_count(0)
    expect(desk.page.get_by_text("Kept of the deposit", exact=True)).to_be_visible()
    for refused in ("Refund", "Void Cash $30.00"):  # what is kept
        expect(desk.button(refused)).to_have_count(0)
    kept = desk.api.get(f"orders/{order['id']}")
    assert (kept["retained"], kept["balanceDue"]) == ("30.00", "0.00")


def test_of_a_deposit_above_a_lowered_total_only_the_rest_is_asked(desk: Desk) -> None:
    lines = [{"title": title, "price": 50, "quantity": 1} for title in ("Ring", "Engraving")]
    order = desk.api.post("orders", {"lineItems": lines, "deposit": {"amount": 80}})
    gone = [order["lineItems"][1]["id"]]
    desk.api.post(f"orders/{order['id']}/edit", {"remove": gone, "reason": "As it is"})
    desk.shown(order)
    desk.button("Take payment").click()
    expect(desk.dialog).to_contain_text("$50.00 due")
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.dialog.get_by_role("button", name="Take payment").click()
    expect(desk.dialog).to_have_count(0)
    money = desk.page.get_by_role("region", name="Payments")
    expect(money).not_to_contain_text("not paid yet")
    assert desk.api.get(f"orders/{order['id']}")["balanceDue"] == "0.00"
