"""The search for everything, by keyboard, from any page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import Api, Desk


@pytest.fixture(scope="module")
def order(owner: Api) -> dict:
    customer = {"email": "sloop@search.example", "firstName": "Sally", "lastName": "Sloop"}
    return owner.order(owner.product("Searched sloop", sku="SLOOP-1"), customer=customer)


def go(desk: Desk, text: str) -> None:
    desk.page.keyboard.press("/")
    desk.scan(text)


@pytest.mark.journey
def test_an_order_a_product_and_a_customer_are_found_with_a_few_keys(
    desk: Desk, order: dict
) -> None:
    desk.open("/nowhere")
    go(desk, order["number"])
    desk.heading(f"Order #{order['number']}")
    go(desk, "sloop-1")
    desk.heading("Searched sloop")
    go(desk, "sloop@search.example")
    desk.heading("Sally Sloop")
    expect(desk.page.locator("dialog")).to_have_count(0)


def test_a_customer_without_a_name_is_listed_by_company_or_phone(desk: Desk) -> None:
    names = {"company": "Sloop & Sons", "phone": "+49 30 7777123"}
    for known, text in names.items():
        desk.api.post("customers", {known: text})
    for text in names.values():
        desk.open("/customers")
        expect(desk.page.get_by_role("link", name=text)).to_be_visible()
        desk.page.keyboard.press("/")
        desk.page.keyboard.type(text)
        expect(desk.page.get_by_role("option", name=text)).to_be_visible()
        desk.page.keyboard.press("Enter")
        desk.heading(text)


def test_pages_actions_and_ids_are_found(desk: Desk, order: dict) -> None:
    webhook = desk.api.webhook("http://127.0.0.1:9/s")
    delivery = desk.api.post(f"webhooks/{webhook['id']}/test", {})
    desk.open("/")
    desk.page.keyboard.press("Control+k")
    desk.page.keyboard.type("new ord")
    expect(desk.page.get_by_role("option").last).to_contain_text("New order")
    desk.page.keyboard.press("ArrowUp")
    desk.page.keyboard.press("Enter")
    desk.heading("New order")
    desk.page.keyboard.press("Control+k")
    desk.scan(delivery["id"])
    desk.heading("order.paid")


def test_actions_of_the_page_reps_and_other_words_are_found(desk: Desk, order: dict) -> None:
    desk.api.order("Sold by a rep", salesRepId="emp_Sloopina")
    desk.api.wait_for_value("orders", "salesRepId", "emp_Sloopina")
    desk.shown(order)
    for words, name in (
        ("take pay", "Take payment"),
        ("create ord", "New order"),
        ("tax", "Tax"),
        ("cash", "Money by method"),
        ("settings", "API keys"),
        ("print", "Print order"),
    ):
        desk.page.keyboard.press("Control+k")
        desk.page.keyboard.type(words)
        expect(desk.page.get_by_role("option", name=name).first).to_be_visible()
        desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Control+k")
    desk.page.keyboard.type("take pay")
    desk.page.get_by_role("option", name="Take payment").click()
    expect(desk.dialog.get_by_role("button", name="Take payment")).to_be_visible()
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Control+k")
    desk.page.keyboard.type("sloopin")
    desk.page.get_by_role("option", name="Sloopina").click()
    desk.heading("Orders")
    expect(desk.page.locator("tbody tr")).to_have_count(1)


def test_the_search_opens_from_a_checkbox_and_closes_with_escape(desk: Desk, order: dict) -> None:
    desk.open("/products")
    tick = desk.label("Select all products on this page")
    tick.focus()
    desk.page.keyboard.press("/")
    expect(desk.label("Search everything").last).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(desk.page.locator("dialog")).to_have_count(0)
    expect(tick).to_be_focused()


def test_a_search_that_a_deployment_has_replaced_offers_to_reload(desk: Desk) -> None:
    desk.open("/")
    desk.page.route("**/search.js", lambda route: route.fulfill(status=404))
    desk.button("Search everything").click()
    expect(desk.page.locator(".toast")).to_contain_text("The search could not be loaded.")
    desk.page.unroute_all()
    desk.button("Reload the page").click()
    expect(desk.page.locator(".toast")).to_have_count(0)
    desk.stands()
    desk.button("Search everything").click()
    expect(desk.dialog).to_be_visible()


def test_a_late_answer_of_the_search_is_ignored(desk: Desk, order: dict) -> None:
    desk.open("/products")
    kept = desk.kept("**/api/admin/search?*")
    with desk.page.expect_request("**/api/admin/search?*"):
        go(desk, order["number"])
    desk.page.keyboard.press("Escape")
    kept.release()
    desk.page.wait_for_timeout(300)
    desk.heading("Products")


def test_the_search_offers_only_what_the_role_may_see(another: Callable[..., Desk]) -> None:
    desk = another("STAFF")
    desk.open("/")
    desk.page.keyboard.press("/")
    desk.page.keyboard.type("webhooks")
    expect(desk.page.get_by_role("option")).to_have_text(["Nothing found"])


SETTINGS = {
    "employees": "API keys",
    "events": "Webhooks",
    "retries": "Deliveries",
    "workshop": "Stages",
    "dhl": "Carriers",
    "saved map": "Import",
    "time zone": "Guide",
}


def test_each_page_of_settings_is_found_by_the_words_of_people(desk: Desk) -> None:
    desk.open("/")
    found = set()
    for words, name in SETTINGS.items():
        desk.page.keyboard.press("Control+k")
        desk.page.keyboard.type(words)
        expect(desk.page.get_by_role("option", name=name).first).to_be_visible()
        found.add(name)
        desk.page.keyboard.press("Escape")
    links = desk.page.get_by_role("navigation", name="Console").locator("a[href*=settings]")
    assert {*links.all_inner_texts()} <= found
    desk.page.keyboard.press("Control+k")
    desk.page.keyboard.type("currency")
    with desk.page.expect_navigation(url="**/console/guide"):
        desk.page.get_by_role("option", name="Guide").click()
