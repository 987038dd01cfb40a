"""Editing the items and amounts of an order on its page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import PHONE, Desk, busy, held
from tests.e2e.console.test_payments import WIDE, order_of
from tests.e2e.console.test_scanner import scan_elsewhere


@pytest.mark.parametrize("viewport", [PHONE, WIDE])
def test_items_are_added_changed_and_paid(another: Callable[..., Desk], viewport: dict) -> None:
    desk = another(viewport=viewport)
    order = order_of(desk.api)
    desk.api.post(f"orders/{order['id']}/payments", {})
    desk.api.product("Chain", price="30.00", variants=[{"sku": f"CHAIN-{order['number']}"}])
    desk.open(f"/orders/{order['id']}")
    desk.button("Edit items").click()
    title = order["lineItems"][0]["title"]
    desk.dialog.get_by_label(f"Quantity of {title}").fill("1")
    desk.dialog.get_by_role("combobox", name="Add a product").fill(f"CHAIN-{order['number']}")
    desk.page.keyboard.press("Enter")
    expect(desk.dialog.get_by_label("Quantity of Chain")).to_have_value("1")
    desk.dialog.get_by_role("button", name="Add a custom item").click()
    expect(desk.dialog.get_by_label("Name of custom item 1")).to_be_focused()
    desk.page.keyboard.type("Engraving")
    desk.dialog.get_by_label("Price of custom item 1").fill("40,00")
    said = desk.dialog.locator("p.strong[role=status]")
    expect(said).to_have_text("Total $100.00 → $120.00 · $20.00 to pay")
    save = desk.dialog.get_by_role("button", name="Save changes")
    save.click()
    expect(desk.dialog.get_by_label("Reason")).to_be_focused()
    desk.dialog.get_by_label("Reason").fill("The customer called")
    save.dblclick()
    expect(desk.dialog).to_have_count(0)
    expect(desk.page.get_by_text("Engraving", exact=True)).to_be_visible()
    after = desk.api.get(f"orders/{order['id']}")
    assert [line["quantity"] for line in after["lineItems"]] == [1, 1, 1]
    assert (after["total"], after["balanceDue"]) == ("120.00", "20.00")
    assert [edit["reason"] for edit in after["edits"]] == ["The customer called"]
    assert after["lineItems"][2]["isCustom"]


def test_an_edit_asks_for_the_tax_and_says_who_was_first(desk: Desk) -> None:
    order = order_of(desk.api)
    desk.api.post(f"orders/{order['id']}/edit", {"tax": "19.00", "reason": "Tax"})
    desk.open(f"/orders/{order['id']}")
    desk.button("Edit items").click()
    desk.dialog.get_by_label("Shipping").fill("10")
    said = desk.dialog.locator("p.strong[role=status]")
    expect(said).to_have_text("Enter the tax: in proportion it is $20.90.")
    desk.dialog.get_by_label("Reason").fill("By post")
    save = desk.dialog.get_by_role("button", name="Save changes")
    save.click()
    expect(desk.dialog.get_by_text("In proportion it is 20.90")).to_be_visible()
    desk.dialog.get_by_label("Tax").fill("20.90")
    expect(said).to_have_text("Total $119.00 → $130.90 · $130.90 to pay")
    desk.api.post(f"orders/{order['id']}/payments", {"amount": 1})
    save.click()
    expect(desk.dialog.locator(".summary")).to_contain_text("changed meanwhile")
    desk.dialog.get_by_role("button", name="Cancel").click()
    expect(desk.page.get_by_text("$118.00", exact=True)).to_be_visible()
    assert desk.api.get(f"orders/{order['id']}")["shipping"] == "0.00"


def test_a_payment_an_edit_or_a_refund_whose_answer_is_lost_is_made_once_and_said(
    desk: Desk,
) -> None:
    order = desk.shown(order_of(desk.api))
    for opener, path, field, typed, said in (
        ("Take payment", "payments", "Amount", "40", ""),
        ("Edit items", "edit", "Shipping", "10", "$110.00"),
        ("Refund", "refunds", "Amount", "10", "$10.00"),
    ):
        desk.lost(f"**/{path}", lambda body: not body.get("dryRun"))
        desk.more(opener)
        desk.dialog.get_by_label(field, exact=True).fill(typed)
        if path == "payments":
            desk.dialog.get_by_role("button", name="Cash").click()
        if path == "edit":
            desk.dialog.get_by_label("Reason").fill("By post")
        if said:
            expect(desk.dialog.locator("p.strong[role=status]")).to_contain_text(said)
        desk.dialog.locator("button.main").click()
        expect(desk.dialog).to_contain_text("may or may not have been saved")
        if path == "refunds":
            # Another amount is only looked at, also if it is shown a moment later.
            looks = desk.kept(f"**/{path}")
            with desk.page.expect_request(f"**/{path}"):
                desk.dialog.get_by_label(field).fill("20")
            desk.dialog.locator("button.main").click()
            looks.release()
            expect(desk.dialog).to_contain_text("Check what will be done")
            desk.dialog.get_by_label(field).fill("10.00")
        desk.dialog.locator("button.main").click()
        expect(desk.page.locator("dialog")).to_have_count(0)
    expect(desk.page.locator(".toast").last).to_have_text("$10.00 refunded.")
    after = desk.api.get(f"orders/{order['id']}")
    amounts = [after[name] for name in ("total", "amountPaid", "amountRefunded")]
    assert amounts == ["110.00", "40.00", "10.00"]
    assert len(after["edits"]) == len(after["refunds"]) == 1


def test_what_is_not_in_stock_is_said_at_its_item(desk: Desk) -> None:
    for sku in ("SHORT-1", "SHORT-2"):
        desk.api.product(sku, variants=[{"sku": sku, "stock": 1}])
    desk.shown(order_of(desk.api))
    desk.button("Edit items").click()
    desk.dialog.get_by_label("Quantity of Paid for").fill("20")
    for sku in ("SHORT-1", "SHORT-2"):
        desk.dialog.get_by_role("combobox", name="Add a product").fill(sku)
        desk.page.keyboard.press("Enter")
        expect(desk.dialog.get_by_label(f"Quantity of {sku}")).to_have_value("1")
    desk.dialog.get_by_label("Quantity of SHORT-2").fill("5")
    desk.dialog.get_by_label("Reason").fill("More")
    desk.dialog.locator("button.main").click()
    expect(desk.field("change.0.quantity").locator(".error")).to_have_text("Only 7 in stock")
    expect(desk.field("lineItems.1.quantity").locator(".error")).to_have_text("Only 1 in stock")
    expect(desk.field("lineItems.0.quantity").locator(".error")).to_be_empty()


def test_a_new_order_takes_custom_items_a_discount_and_shipping(desk: Desk) -> None:
    desk.open("/orders/new")
    desk.button("Add a custom item").click()
    expect(desk.label("Name of custom item 1")).to_be_focused()
    desk.page.keyboard.type("Signet ring")
    desk.label("Discount").fill("200")
    desk.label("Shipping").fill("12,50")
    desk.button("Create order").click()
    error = desk.page.locator('[data-field="lineItems.0.price"] .error')
    expect(error).to_contain_text("is required")
    desk.label("Price of custom item 1").fill("1200")
    desk.total("$1,012.50")
    desk.button("Create order").dblclick()
    expect(desk.page.get_by_role("heading", name="Order #")).to_be_visible()
    expect(desk.page.get_by_text("Signet ring", exact=True)).to_be_visible()
    made = desk.api.get("orders?search=Signet&limit=1")["data"][0]
    assert (made["total"], made["shipping"], made["lineItems"][0]["isCustom"]) == (
        "1012.50",
        "12.50",
        True,
    )


def test_a_name_that_finds_nothing_becomes_a_custom_item_and_a_percent_is_no_amount(
    desk: Desk,
) -> None:
    desk.open("/orders/new")
    name = "Engraving of no catalogue"
    desk.label("Find a product").fill(name)
    desk.page.keyboard.press("Enter")
    desk.button("Add as a custom item").click()
    expect(desk.label("Name of custom item 1")).to_have_value(name)
    expect(desk.label("Price of custom item 1")).to_be_focused()
    desk.page.keyboard.type("45")
    desk.label("Discount").fill("10 %")
    desk.button("Create order").click()
    expect(desk.page.get_by_role("heading", name="Order #")).to_be_visible()
    path = f"orders/{desk.page.url.rpartition('/')[2]}"
    made = desk.api.get(path)
    assert (made["total"], made["discount"]["percent"]) == ("40.50", 10)
    desk.button("Edit items").click()
    expect(desk.dialog.get_by_label("Discount")).to_have_value("10 %")
    desk.dialog.get_by_label("Discount").fill("20%")
    said = desk.dialog.locator("p.strong[role=status]")
    expect(said).to_have_text("Total $40.50 → $36.00 · $36.00 to pay")
    desk.dialog.get_by_role("combobox", name="Add a product").fill("Gift wrap of no catalogue")
    desk.page.keyboard.press("Enter")
    desk.dialog.get_by_role("button", name="Add as a custom item").click()
    expect(desk.dialog.get_by_label("Price of custom item 1")).to_be_focused()
    desk.page.keyboard.type("5")
    expect(said).to_have_text("Total $40.50 → $40.00 · $40.00 to pay")
    desk.dialog.get_by_label("Reason").fill("As agreed")
    desk.dialog.get_by_role("button", name="Save changes").click()
    expect(desk.dialog).to_have_count(0)
    assert desk.api.get(path)["total"] == "40.00"


def test_an_item_is_scanned_wherever_the_focus_is(desk: Desk) -> None:
    order = order_of(desk.api)
    code = f"9{order['number']:0>12}"
    desk.api.product(f"Scanned {code}", price="30.00", variants=[{"barcode": code}])
    desk.open(f"/orders/{order['id']}")
    for _ in range(2):  # the dialog before it hears nothing
        desk.button("Edit items").click()
        desk.dialog.get_by_label("Reason").fill("More")
        scan_elsewhere(desk, code)
        expect(desk.dialog.get_by_label(f"Quantity of Scanned {code}")).to_have_value("1")
        expect(desk.dialog.get_by_label("Reason")).to_have_value("More")
        desk.dialog.get_by_role("button", name="Cancel").click()
        expect(desk.dialog).to_have_count(0)


def test_what_is_scanned_while_an_edit_is_saved_is_in_the_next_one(desk: Desk) -> None:
    order = order_of(desk.api)
    code = f"8{order['number']:0>12}"
    desk.api.product(f"Late {code}", price="30.00", variants=[{"barcode": code}])
    desk.open(f"/orders/{order['id']}")
    desk.button("Edit items").click()
    desk.dialog.get_by_label("Shipping").fill("10")
    desk.dialog.get_by_label("Reason").fill("By post")
    expect(desk.dialog.locator("p.strong[role=status]")).to_contain_text("$110.00")
    save = desk.dialog.get_by_role("button", name="Save changes")
    with held(desk, but="dryRun") as answer:
        save.click()
        busy(save)
        desk.dialog.get_by_label("Reason").press_sequentially("typed now")
        desk.dialog.get_by_role("combobox", name="Add a product").click()
        desk.page.keyboard.type(f"{code}\n")
        expect(desk.dialog.get_by_label(f"Quantity of Late {code}")).to_have_value("1")
        answer()
        expect(desk.dialog.get_by_label("Reason")).to_have_value("")
    expect(desk.dialog.get_by_label(f"Quantity of Late {code}")).to_have_value("1")
    expect(desk.dialog.get_by_label("Shipping")).to_have_value("10.00")
    after = desk.api.get(f"orders/{order['id']}")
    assert [edit["reason"] for edit in after["edits"]] == ["By post"]


def test_a_variant_gets_a_barcode_and_a_cost(desk: Desk) -> None:
    """A scanner ends with Enter, which saves nothing half entered."""
    made = desk.shown(
        desk.api.product("Priced", variants=[{"title": "S"}, {"title": "M"}], externalId="E-77")
    )
    desk.unfold("Dates and IDs")
    expect(desk.page.locator("code", has_text="E-77")).to_be_visible()
    desk.page.get_by_label("Barcode of variant 1").click()
    desk.page.keyboard.type("4000000000017\n")
    expect(desk.page.get_by_label("Barcode of variant 2")).to_be_focused()
    desk.page.keyboard.type("4000000000024\n")
    assert desk.api.get(f"products/{made['id']}")["variants"][0]["barcode"] is None
    desk.page.get_by_label("Cost of variant 2").fill("2,50")
    desk.save()
    _, medium = desk.api.get(f"products/{made['id']}")["variants"]
    assert (medium["barcode"], medium["cost"]) == ("4000000000024", "2.50")
