"""Sales with a scanner, which types fast and ends with Enter, or with the keyboard alone."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.console.desk import Api, Desk, busy


@pytest.fixture(scope="module", autouse=True)
def shirts(owner: Api) -> dict:
    variants = [
        {
            "title": f"{colour} / {size}",
            "sku": f"LIN-SHIRT-{colour[:3].upper()}-{size}",
            "stock": 50,
        }
        for colour in ("Blue", "Moss")
        for size in ("S", "XL", "3XL")
    ]
    owner.post("products", {"name": "Old kilt", "price": 3, "sku": "KILT", "status": "ARCHIVED"})
    owner.post("products", {"name": "New kilt", "price": 3, "sku": "KILT-2", "status": "DRAFT"})
    new = {"name": "Linen till shirt", "price": 49, "status": "ACTIVE", "variants": variants}
    return owner.post("products", new)


SCANNER = 0.005  # seconds between two keys
HAND = 0.2


def scan_elsewhere(
    desk: Desk,
    code: str,
    pause: float = SCANNER,
    interruption: tuple[int, Callable[[], object]] = (-1, lambda: None),
) -> None:
    """The same where another element has the focus. There the page tells a scanner from a hand by
    the times of the keys, which are set here: this machine may take longer between two of them.
    `interruption`: after how many keys something else happens, and what."""
    session = desk.page.context.new_cdp_session(desk.page)
    moment = time.time() - len(code) * pause
    for number, key in enumerate((*code, "\r")):
        if number == interruption[0]:
            interruption[1]()
        code_of = {"\r": 13, " ": 32}.get(key, 0)
        pressed = {"key": "Enter" if key == "\r" else key, "windowsVirtualKeyCode": code_of}
        down = {"type": "keyDown", "text": key, "timestamp": moment, **pressed}
        session.send("Input.dispatchKeyEvent", down)
        session.send("Input.dispatchKeyEvent", {"type": "keyUp", "timestamp": moment, **pressed})
        moment += pause
    session.detach()


def has_lines(desk: Desk, lines: dict[str, str]) -> None:
    expect(desk.page.locator(".order-lines .what .named b")).to_have_text([*lines])
    for at, pieces in enumerate(lines.values()):
        expect(desk.page.locator("[name=quantity]").nth(at)).to_have_value(pieces)


def slowly(desk: Desk, *seconds: float) -> None:
    """Delays the answers to searches, in the order of the requests."""
    left = list(seconds)

    def answer(route: Route) -> None:
        pause = left.pop(0) if left else 0
        answer = route.fetch()
        time.sleep(pause)
        route.fulfill(response=answer)

    desk.page.route("**/api/admin/products?*", answer)


def test_an_exact_sku_and_enter_adds_that_variant_also_50_milliseconds_apart(desk: Desk) -> None:
    desk.open("/orders/new")
    expect(desk.label("Find a product")).to_be_focused()
    desk.scan("LIN-SHIRT-BLU-XL")
    expect(desk.page.locator(".order-lines .what .named b")).to_have_text(
        ["Linen till shirt · Blue / XL"]
    )
    expect(desk.label("Find a product")).to_be_focused()
    expect(desk.label("Find a product")).to_have_value("")
    desk.scan("lin-shirt-blu-xl")
    expect(desk.page.locator("[name=quantity]")).to_have_value("2")
    for code in ("LIN-SHIRT-BLU-XL", "LIN-SHIRT-BLU-XL", "LIN-SHIRT-MOS-XL", "LIN-SHIRT-BLU-XL"):
        desk.scan(code)
        desk.page.wait_for_timeout(50)
    expect(desk.page.locator("[name=quantity]").first).to_have_value("5")
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    has_lines(desk, {"Linen till shirt · Blue / XL": "5", "Linen till shirt · Moss / XL": "1"})


def test_scans_are_added_in_their_order_despite_late_answers(desk: Desk) -> None:
    desk.open("/orders/new")
    slowly(desk, 1.0, 0.1)
    for code in ("LIN-SHIRT-MOS-S", "LIN-SHIRT-BLU-3XL"):
        desk.scan(code)
    expect(desk.page.locator(".order-lines .what .named b")).to_have_text(
        ["Linen till shirt · Moss / S", "Linen till shirt · Blue / 3XL"]
    )


def test_an_exact_sku_is_found_among_more_products_than_are_listed(desk: Desk) -> None:
    """An older product whose SKU is the beginning of many others."""
    desk.api.product("Screw", sku="700")
    more = [{"name": f"Screw {n}", "price": 5, "sku": f"700{n}"} for n in range(60)]
    desk.api.post("products/bulk", more)
    desk.open("/orders/new")
    desk.scan("700")
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    has_lines(desk, {"Screw": "1"})


def test_an_inexact_match_must_be_chosen(desk: Desk) -> None:
    desk.open("/orders/new")
    desk.scan("LIN-SHIRT-BLU-X")
    option = desk.page.get_by_role("option", name="Blue / XL")
    expect(option).to_have_attribute("aria-selected", "true")
    has_lines(desk, {})
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    desk.scan("4006381333931")
    expect(desk.field("lineItems").locator(".missed")).to_contain_text("4006381333931: Not found")
    expect(desk.label("Find a product")).to_be_focused()
    desk.page.keyboard.press("Control+Enter")
    expect(desk.page.locator(".summary")).to_contain_text("Add or dismiss it first")
    desk.button("Dismiss 4006381333931").click()
    desk.page.keyboard.press("Control+Enter")
    desk.placed_order()


def test_a_scan_whose_request_failed_is_not_lost(desk: Desk) -> None:
    desk.open("/orders/new")
    asked = re.compile(r"/api/admin/products\?search=LIN-SHIRT-BLU-S&")
    desk.page.route(asked, lambda route: route.abort(), times=1)
    desk.scan("LIN-SHIRT-BLU-S")
    expect(desk.field("lineItems").locator(".missed")).to_contain_text(
        "LIN-SHIRT-BLU-S: The service cannot"
    )
    desk.button("Search again").click()
    desk.page.get_by_role("option", name="Blue / S").click()
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    expect(desk.field("lineItems").locator(".missed li")).to_have_count(0)


def test_a_failed_search_for_the_beginning_of_a_text_is_no_missed_item(desk: Desk) -> None:
    desk.open("/orders/new")
    find = desk.label("Find a product")
    held = desk.kept(re.compile(r"/api/admin/products\?search=L&"))
    with desk.page.expect_request(re.compile(r"search=L&")) as asked:
        find.press_sequentially("L")
    find.evaluate("field => (field.value = 'LIN')")
    with desk.page.expect_event("requestfailed", lambda failed: failed == asked.value):
        held[0].abort()
    desk.page.wait_for_timeout(200)
    expect(desk.field("lineItems").locator(".missed li")).to_have_count(0)


def test_only_ctrl_enter_places_an_order(desk: Desk) -> None:
    desk.open("/orders/new")
    sent = desk.sent()
    desk.scan("LIN-SHIRT-MOS-S")
    quantity = desk.label("Quantity of Linen till shirt · Moss / S")
    quantity.fill("2")
    quantity.press("Enter")
    expect(desk.label("Find a product")).to_be_focused()
    for folded in ("Customer", "Note and tags", "Date, source and sales rep"):
        desk.unfold(folded)
    desk.button("Paid").click()
    desk.button("Cash").click()
    for label in ("Tax", "Email", "Tags", "Cash received", "Order date"):
        desk.label(label).press("Enter")
    desk.button("Create order").press("Enter")
    desk.page.wait_for_timeout(300)
    assert sent == []
    desk.label("Tax").press("Control+Enter")
    desk.placed_order()
    assert len(sent) == 1


def test_a_scan_adds_an_item_wherever_the_focus_is_and_a_number_by_hand_none(desk: Desk) -> None:
    desk.begin_order("LIN-SHIRT-MOS-S")
    quantity = desk.label("Quantity of Linen till shirt · Moss / S")
    quantity.fill("3")
    scan_elsewhere(desk, "LIN-SHIRT-MOS-XL")
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    desk.button("Create order").focus()
    scan_elsewhere(desk, "LIN-SHIRT-MOS-XL")
    expect(desk.page.locator("[name=quantity]").last).to_have_value("2")
    has_lines(desk, {"Linen till shirt · Moss / S": "3", "Linen till shirt · Moss / XL": "2"})
    quantity.fill("")
    scan_elsewhere(desk, "12000", HAND)
    expect(desk.label("Find a product")).to_be_focused()
    expect(quantity).to_have_value("12000")
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    expect(desk.field("lineItems").locator(".missed li")).to_have_count(0)


def test_variants_are_found_by_their_titles(desk: Desk) -> None:
    desk.open("/orders/new")
    desk.label("Find a product").press_sequentially("moss 3xl")
    expect(desk.page.locator(".found li")).to_have_count(1)
    expect(desk.page.locator(".found li")).to_contain_text("Linen till shirt · Moss / 3XL")


def test_drafts_and_archived_products_are_labelled_and_confirmed(desk: Desk) -> None:
    desk.open("/orders/new")
    desk.label("Find a product").press_sequentially("kilt", delay=20)
    expect(desk.page.get_by_role("option", name="Old kilt")).to_contain_text("Archived")
    expect(desk.page.get_by_role("option", name="New kilt")).to_contain_text("Draft")
    desk.label("Find a product").fill("")
    desk.scan("KILT")
    expect(desk.page.locator(".order-lines .badge")).to_have_text("Archived")
    desk.page.keyboard.press("Control+Enter")
    expect(desk.dialog).to_contain_text("Old kilt (archived)")
    desk.dialog.get_by_role("button", name="Back").click()
    desk.heading("New order")
    desk.page.keyboard.press("Control+Enter")
    desk.dialog.get_by_role("button", name="Create order").click()
    desk.placed_order()


def test_a_scan_of_a_shared_sku_or_barcode_asks_each_time_which_is_meant(desk: Desk) -> None:
    for name in ("Twin mug", "Twin bowl"):
        new = {"name": name, "price": 3, "sku": "TWIN-1", "status": "ACTIVE"}
        desk.api.post("products", new)
    desk.open("/orders/new")
    for _ in range(2):
        desk.scan("TWIN-1")
        desk.page.get_by_role("option", name="Twin mug").click()
        expect(desk.label("Find a product")).to_have_value("")
    has_lines(desk, {"Twin mug": "2"})
    desk.scan("TWIN-1")
    options = desk.page.locator(".found").get_by_role("option")
    expect(options).to_have_count(2)
    has_lines(desk, {"Twin mug": "2"})
    pen = [{"title": "One", "barcode": "4012345678901"}]
    desk.api.product("Till pen", variants=pen)
    shared = [{"title": each, "barcode": "5901234123457"} for each in ("Left", "Right")]
    desk.api.product("Gloves", variants=shared)
    desk.label("Find a product").fill("")
    desk.scan("4012345678901")
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    desk.scan("5901234123457")
    expect(options).to_have_count(2)
    options.filter(has_text="Right").click()
    expect(desk.page.locator("[name=quantity]")).to_have_count(3)
    has_lines(desk, {"Twin mug": "2", "Till pen": "1", "Gloves · Right": "1"})


def test_a_scan_leaves_the_chosen_option_of_a_list_as_it_is(desk: Desk) -> None:
    desk.api.post("products", {"name": "Refill", "price": 3, "sku": "REFILL", "status": "ACTIVE"})
    desk.open("/orders/new")
    desk.button("Paid").click()
    method = desk.button("Cash")
    method.click()
    scan_elsewhere(desk, "REFILL")
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    has_lines(desk, {"Refill": "1"})
    expect(method).to_have_attribute("aria-pressed", "true")


def test_the_total_of_a_blank_price_is_that_of_the_variant(desk: Desk) -> None:
    desk.begin_order("LIN-SHIRT-MOS-S")
    desk.label("Quantity of Linen till shirt · Moss / S").fill("2")
    desk.label("Price of Linen till shirt · Moss / S").fill("")
    desk.total("$98.00")
    desk.button("Create order").click()
    order = desk.placed_order()
    assert order["total"] == "98.00"


@pytest.mark.parametrize("sku", ["TILL/BAG", "TILL BAG"])
def test_a_scan_with_a_slash_or_a_blank_presses_no_button(desk: Desk, sku: str) -> None:
    desk.api.post("products", {"name": f"Bag {sku}", "price": 1, "sku": sku, "status": "ACTIVE"})
    desk.begin_order("LIN-SHIRT-MOS-S")
    sent = desk.sent()
    desk.button("Create order").focus()
    scan_elsewhere(desk, sku)
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    desk.heading("New order")
    assert sent == []
    expect(desk.dialog).to_have_count(0)
    has_lines(desk, {"Linen till shirt · Moss / S": "1", f"Bag {sku}": "1"})


def test_an_order_waits_for_the_customer_who_was_searched_for(desk: Desk) -> None:
    desk.api.post("customers", {"email": "slow@till.example", "firstName": "Slow"})
    desk.begin_order("LIN-SHIRT-MOS-S")
    desk.unfold("Customer")
    customer = desk.label("Find a customer")
    customer.fill("nobody at all")
    customer.press("Control+Enter")
    expect(desk.page.locator(".summary")).to_contain_text("The customer who was searched for")
    held = desk.kept("**/api/admin/customers?*")
    customer.fill("slow@till.example")
    customer.press("Enter")
    customer.press("Control+Enter")
    busy(desk.button("Create order"))
    held.release()
    order = desk.placed_order()
    assert order["customer"]["email"] == "slow@till.example"


def test_a_key_that_a_program_types_is_not_searched_for(
    desk: Desk, another: Callable[..., Desk]
) -> None:
    successor = another().api
    asked = desk.sent("GET")
    desk.open("/orders/new")
    successor.call("DELETE", f"keys/{desk.api.get('me')['id']}")
    desk.scan("LIN-SHIRT-BLU-S")
    desk.dialog.get_by_label("API key").focus()
    desk.page.keyboard.type(f"{successor.key}\n")
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    assert not [address for address in asked if successor.key in address]


def test_the_enter_of_an_input_method_begins_no_search(desk: Desk) -> None:
    desk.open("/orders/new")
    find = desk.label("Find a product")
    find.fill("つくえ")
    event = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
    find.evaluate(f"field => field.dispatchEvent({event})")
    expect(find).to_have_value("つくえ")
