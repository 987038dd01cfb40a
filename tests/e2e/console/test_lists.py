"""Lists in the console: filters, sorting, saved views, exports."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import PHONE, Desk


def numbers(desk: Desk) -> list[str]:
    return desk.page.locator("td.key").all_inner_texts()


def test_orders_are_found_by_customer_day_payment_and_rep_and_sorted(desk: Desk) -> None:
    def placed(**more: Any) -> str:
        return f"#{desk.api.order('Filtered', salesRepId='emp_filtered', **more)['number']}"

    old = placed(orderDate="2026-01-05T12:00:00Z")
    customer = {"email": "grace@kittiwake.example", "firstName": "Grace", "lastName": "Tern"}
    paid, open_ = placed(paymentStatus="PAID", customer=customer), placed()
    desk.open("/orders?salesRepId=emp_filtered")
    expect(desk.page.locator("td.key")).to_have_text([open_, paid, old])
    desk.label("Sort").select_option("orderDate")
    expect(desk.page.locator("td.key")).to_have_text([old, paid, open_])
    heading = desk.page.get_by_role("columnheader", name="Date")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    heading.get_by_role("button").click()
    expect(desk.page.locator("td.key")).to_have_text([open_, paid, old])
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("button").click()
    expect(desk.label("Sort")).to_have_value("orderDate")
    desk.page.get_by_text("More filters").click()
    desk.label("Payment").select_option("PAID")
    expect(desk.page.locator("td.key")).to_have_text([paid])
    desk.button("Clear Payment").click()
    desk.label("Search").fill("grace@kittiwake")
    expect(desk.page.locator("td.key")).to_have_text([paid])
    desk.label("Search").fill("")
    expect(desk.page.locator("td.key")).to_have_count(3)
    desk.label("Date").select_option("6")
    expect(desk.page.locator("td.key")).to_have_text([paid, open_])
    # A date and a range replace each other.
    expect(desk.button("Clear Date")).to_be_visible()
    desk.page.locator("[name=from]").fill("2026-01-05")
    expect(desk.label("Date")).to_have_value("")
    expect(desk.button("Clear Date")).to_have_count(0)
    desk.page.locator("[name=to]").fill("2026-01-05")
    expect(desk.page.locator("td.key")).to_have_text([old])
    desk.reload()
    expect(desk.page.locator("td.key")).to_have_text([old])
    desk.label("Date").select_option("0")
    expect(desk.page.locator("[name=from]")).to_have_value("")
    desk.open("/customers?search=tern")
    desk.page.get_by_role("link", name="Grace Tern").click()
    desk.heading("Grace Tern")
    expect(desk.page.get_by_role("row").filter(has_text=paid)).to_be_visible()


def test_rows_selected_before_the_last_list_of_a_search_stay_selected(desk: Desk) -> None:
    for name in ("Unhurried stool", "Unhurried lamp"):
        desk.api.post("products", {"name": name, "price": 5})
    desk.open("/products?search=unhurried")
    selected = desk.page.locator(".chosen b")
    held = desk.kept("**/api/admin/products?*")
    for text, left in (("unhurried ", "2 selected"), ("unhurried st", "1 selected")):
        with desk.page.expect_request("**/api/admin/products?*"):
            desk.label("Search").fill(text)
        expect(desk.page.locator("td.tick input")).to_have_count(2)
        desk.label("Select all products on this page").check()
        held.pop().continue_()
        expect(desk.page.locator(".results")).not_to_have_attribute("aria-busy", "true")
        expect(selected).to_have_text(left)
    expect(desk.label("Select Unhurried stool")).to_be_checked()
    desk.page.unroute_all()
    desk.label("Search").fill("unhurried lamp")
    expect(desk.label("Select Unhurried lamp")).not_to_be_checked()
    expect(selected).to_have_count(0)


def test_an_address_with_what_no_field_can_hold_leads_to_the_list(desk: Desk) -> None:
    order = desk.api.order("Addressed")
    for wrong in ("period=x", "from=soon", "status=none&sort=none", "page=abc", "page=999999"):
        desk.open(f"/orders?{wrong}")
        if "page" in wrong:
            desk.page.get_by_role("link", name="Go to the first page").click()
        expect(desk.page.get_by_role("link", name=f"#{order['number']}")).to_be_visible()
    desk.api.webhook("http://127.0.0.1:9/addressed")
    desk.open("/settings/developer/deliveries?status=none&event=none&since=none")
    expect(desk.page.get_by_role("main").get_by_role("alert")).to_have_count(0)


def test_blanks_around_a_text_are_no_part_of_a_filter(desk: Desk) -> None:
    desk.api.post("products", {"name": "Blanched almond", "price": 5})
    order = desk.api.order("Blanched", tags=["blanched"])
    desk.open("/products")
    desk.label("Search").fill(" ")
    desk.page.wait_for_timeout(500)
    expect(desk.page.locator(".results")).not_to_have_attribute("aria-busy", "true")
    expect(desk.page.get_by_role("link", name="Blanched almond")).to_be_visible()
    desk.open("/orders")
    desk.page.get_by_text("More filters").click()
    desk.label("Tag").fill(" blanched ")
    expect(desk.page.locator("td.key")).to_have_text([f"#{order['number']}"])


def test_the_orders_of_a_customer_are_filtered_by_the_name(desk: Desk) -> None:
    person = {"email": "quince@example.com", "firstName": "Ada", "lastName": "Quince"}
    order = desk.api.order("Quince tart", customer=person)
    customer = order["customer"]["id"]
    desk.open(f"/orders?customerId={customer}")
    expect(desk.page.locator("td.key")).to_have_text([f"#{order['number']}"])
    expect(desk.page.locator(".chip")).to_contain_text("Customer: Ada Quince")
    assert "cus_" not in desk.page.locator("main").inner_text()
    desk.page.get_by_role("link", name="← Ada Quince").click()
    desk.heading("Ada Quince")
    desk.open(f"/orders?customerId={customer}")
    desk.button("Clear Customer").click()
    expect(desk.page.locator("td.key")).not_to_have_count(1)
    desk.open("/orders?customerId=cus_nobody")
    expect(desk.page.locator(".chip")).to_contain_text("Customer who is gone")


def test_unchanged_rows_are_not_redrawn(desk: Desk) -> None:
    desk.api.post("products", {"name": "Unmoved stool", "price": 5})
    desk.open("/products?search=unmove")
    desk.page.get_by_role("link", name="Unmoved stool").evaluate("each => (each.isSame = true)")
    with desk.page.expect_response(lambda answer: "search=unmoved" in answer.url):
        desk.label("Search").fill("unmoved")
    expect(desk.page.get_by_role("status")).to_have_text("1 product found.")
    expect(desk.page.locator(".results")).not_to_have_attribute("aria-busy", "true")
    link = desk.page.get_by_role("link", name="Unmoved stool")
    assert link.evaluate("each => each.isSame === true")
    desk.label("Search").fill("nothing of the kind")
    expect(desk.page.get_by_text("No products match")).to_be_visible()
    desk.label("Search").fill("unmoved")
    expect(link).to_be_visible()


def test_a_view_is_saved_by_name_in_the_browser(desk: Desk) -> None:
    desk.open("/products?status=DRAFT&sort=name")
    desk.button("Save view").click()
    desk.dialog.get_by_label("Name").fill("Drafts by name")
    desk.dialog.get_by_role("button", name="Save").click()
    desk.open("/products")
    desk.page.get_by_role("link", name="Drafts by name").click()
    expect(desk.label("Status")).to_have_value("DRAFT")
    expect(desk.label("Sort")).to_have_value("name")
    kept = desk.page.evaluate("JSON.stringify(localStorage)")
    assert desk.api.key not in kept
    desk.button("Delete the view Drafts by name").click()
    expect(desk.page.get_by_role("link", name="Drafts by name")).to_have_count(0)


@pytest.mark.journey
def test_a_filtered_list_is_exported(desk: Desk) -> None:
    for name in ("Export one", "Export two"):
        desk.api.post("products", {"name": name, "price": 5, "type": "Exported"})
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    desk.open("/products?type=Exported")
    expect(desk.page.locator(".count")).to_have_text("2 products")
    assert any("fields=id%2Cname" in url for url in asked)
    desk.button("Export").click()
    expect(desk.dialog.get_by_role("button", name="Export")).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator("dialog")).to_have_count(0)
    desk.button("Export").click()
    with desk.page.expect_download() as downloading:
        desk.dialog.get_by_role("button", name="Export").click()
    expect(desk.dialog).to_contain_text("2 of 2 products exported")
    expect(desk.dialog.get_by_role("link", name="Download again")).to_be_visible()
    text = downloading.value.path().read_text("utf-8-sig")
    assert len(text.splitlines()) == 3 and "Export two" in text


def test_on_a_phone_a_list_begins_on_the_first_screen_with_its_filters_folded(
    another: Callable[..., Desk],
) -> None:
    desk = another(viewport=PHONE)
    desk.api.order(desk.api.product("Folded"), customer={"email": "folded@example.com"})
    for page, hidden in (("/orders", "Status"), ("/products", "Status"), ("/customers", "Tag")):
        desk.open(page)
        expect(desk.label(hidden)).to_be_hidden()
        box = desk.page.locator("tbody tr").first.bounding_box()
        assert box and box["y"] < 400, (page, box)
        desk.button("Filters").click()
        expect(desk.label(hidden)).to_be_visible()


def test_a_sale_has_the_name_of_its_key_as_its_rep(
    desk: Desk, another: Callable[..., Desk]
) -> None:
    sku = f"REP-{uuid4().hex[:6]}".upper()
    desk.api.product("Sold by Mia", sku=sku, variants=[{"stock": 5}])
    desk.begin_order(sku)
    desk.unfold("Date, source and sales rep")
    expect(desk.label("Sales rep")).to_have_value("Desk of owner")
    desk.page.keyboard.press("Control+Enter")
    order = desk.placed_order()
    assert order["salesRepId"] == "emp_Desk-of-owner"
    other = another()
    other.open("/orders")
    row = other.page.get_by_role("row").filter(has_text=f"#{order['number']}")
    expect(row).to_contain_text("Desk of owner")
    other.label("Sales rep").press_sequentially("desk")
    other.page.get_by_role("option", name="Desk of owner").click()
    expect(row).to_be_visible()
