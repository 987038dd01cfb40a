"""Pages that load, that cannot be loaded, and that are empty."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.console.desk import DESKTOP, PHONE, Desk

ANY = "**/api/admin/**"


def broken(route: Route) -> None:
    route.fulfill(status=500, json={"code": "internal_error", "message": "Something broke."})


def test_a_loading_page_shows_a_skeleton(desk: Desk) -> None:
    desk.open("/nowhere")
    kept = desk.kept(ANY)
    for address in ("/", "/orders", "/products/low-stock"):
        desk.page.evaluate("address => (location.hash = address)", address)
        while not kept:  # its modules come first
            desk.page.wait_for_timeout(50)
        expect(desk.page.locator("main .skeleton")).to_be_visible()
        kept.clear()


def test_the_page_shows_something_before_the_first_script(another: Callable[..., Desk]) -> None:
    desk = another()
    desk.page.route("**/*.js", lambda route: route.abort())
    desk.page.goto(desk.console_url)
    expect(desk.page.locator("main .skeleton")).to_be_visible()
    desk.went_wrong.clear()


def test_a_failed_page_has_its_title_a_retry_and_a_link_back(desk: Desk) -> None:
    product = desk.api.post("products", {"name": "Second try", "price": 5})
    desk.open("/customers")
    desk.page.route(ANY, broken)
    desk.page.evaluate("id => (location.hash = `/products/${id}`)", product["id"])
    desk.heading("This could not be loaded")
    assert desk.page.title() == "This could not be loaded · Backroom"
    expect(desk.page.get_by_role("main").get_by_role("link", name="Products")).to_be_visible()
    desk.page.unroute(ANY)
    desk.button("Try again").click()
    desk.heading("Second try")
    assert desk.page.title() == "Second try · Backroom"


def test_a_missing_record_has_a_link_back(desk: Desk) -> None:
    desk.open("/orders/ord_nothing")
    desk.heading("Not found")
    desk.page.get_by_role("main").get_by_role("link", name="Orders").click()
    desk.heading("Orders")


def test_an_outage_at_the_start_keeps_the_key(desk: Desk) -> None:
    asked: list[Route] = []
    desk.page.route("**/api/admin/me", lambda route: (asked.append(route), route.abort()))
    desk.page.goto(desk.console_url)
    expect(desk.page.get_by_role("alert")).to_contain_text("No connection to the service")
    assert len(asked) > 1, "a lost answer is asked for again"
    expect(desk.page.get_by_label("API key")).to_have_count(0)
    desk.page.unroute("**/api/admin/me")
    desk.button("Try again").click()
    desk.heading("Home")


def test_a_page_says_that_it_is_offline_and_comes_back_with_the_connection(desk: Desk) -> None:
    browser, title = desk.page.context, "You are offline"
    desk.open("/customers")
    browser.set_offline(True)
    expect(desk.page.locator(".offline")).to_contain_text(title)
    desk.label("Search").fill("nobody of this name")
    expect(desk.page.get_by_role("heading", name=title)).to_be_visible()
    browser.set_offline(False)
    expect(desk.page.locator(".offline")).to_be_hidden()
    expect(desk.page.get_by_text("No customers match")).to_be_visible()
    browser.set_offline(True)
    desk.page.get_by_role("link", name="Products", exact=True).click()
    expect(desk.page.locator("main")).to_contain_text(title)
    browser.set_offline(False)
    desk.heading("Products")
    desk.page.get_by_role("link", name="Add product").first.click()
    desk.label("Name").fill("Offline")
    browser.set_offline(True)
    desk.button("Create product").click()
    expect(desk.page.get_by_text(f"{title}. Nothing was sent.")).to_be_visible()
    expect(desk.label("Name")).to_have_value("Offline")


def test_an_empty_shop_shows_the_first_three_steps(desk: Desk) -> None:
    nothing = {
        "last30Days": {"orders": 0, "paid": 0, "revenue": "0.00"},
        "openOrders": {"total": 0, "byStatus": {}},
    }
    summary = desk.api.get("summary") | nothing
    none = desk.api.get("products?search=nothing-of-this-name")
    desk.page.route("**/api/admin/summary?*", lambda route: route.fulfill(json=summary))
    desk.page.route("**/api/admin/products?*", lambda route: route.fulfill(json=none))
    desk.open("/")
    steps = desk.page.locator(".first-steps")
    expect(steps.get_by_role("link")).to_have_text(
        ["Import products", "Add product", "Create order", "Add webhook"]
    )
    steps.get_by_role("link", name="Import products").click()
    desk.heading("Import")


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_large_amounts_and_words_are_not_cut_off(
    another: Callable[..., Desk], viewport: dict
) -> None:
    desk = another(viewport=viewport)
    product = desk.api.product("Y" * 90, price="99999.99", variants=[{"title": "Y" * 30}])
    order = desk.api.order(product, 90, paymentStatus="PAID")
    for address in (f"/orders/{order['id']}", "/"):
        desk.open(address)
        desk.filled()
        cut = "all => all.filter((each) => each.scrollWidth > each.clientWidth).length"
        parts = desk.page.locator("html, .tile, .sum, [aria-label=Items]")
        assert parts.evaluate_all(cut) == 0, address
    desk.open(f"/orders/{order['id']}")
    heights = desk.page.locator(".sums dd").evaluate_all(
        "all => all.map((each) => each.offsetHeight)"
    )
    assert max(heights) < 30, "one line"


def test_prices_and_names_are_not_cut_off_on_a_phone(another: Callable[..., Desk]) -> None:
    desk = another(viewport=PHONE)
    new = {"name": "A lamp of a long name, hand-made", "price": "12345.50", "status": "ACTIVE"}
    sizes = [{"title": "S", "stock": 125_313}, {"title": "L", "stock": 1}]
    desk.api.post("products", {**new, "variants": sizes})
    desk.open("/products?search=lamp")
    price = desk.page.get_by_role("cell", name="$12,345.50")
    box, table = price.bounding_box(), desk.page.locator(".table").bounding_box()
    card = desk.page.get_by_role("row").filter(has=price).bounding_box()
    assert box and table and card
    assert card["height"] < 70, "two lines"
    assert box["x"] + box["width"] <= table["x"] + table["width"] + 1
