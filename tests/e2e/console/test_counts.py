"""Counting with a scanner: each scan is a piece, and the differences are applied after a look."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Api, Desk, held
from tests.e2e.console.test_scanner import scan_elsewhere


@pytest.fixture(scope="module")
def mugs(owner: Api) -> dict:
    variants = [
        {"title": each, "sku": f"COUNT-{each.upper()}", "stock": stock}
        for each, stock in (("Red", 3), ("Blue", 5), ("Green", 7))
    ]
    new = {"name": "Counted mug", "price": 9, "vendor": "Countery", "variants": variants}
    owner.post(
        "products",
        {"name": "Elsewhere", "price": 3, "sku": "COUNT-OTHER", "variants": [{"stock": 1}]},
    )
    made: dict = owner.post("products", new)
    until(lambda: owner.get("facets?type=products&field=vendor&search=countery")["data"])
    return made


def begun(desk: Desk, name: str) -> None:
    desk.open("/products/counts")
    desk.button("New count").click()
    desk.dialog.get_by_label("Name").fill(name)
    desk.dialog.get_by_label("Only this vendor").fill("countery ")  # as people type it
    desk.page.keyboard.press("Enter")
    desk.heading(name)


def test_a_shelf_is_counted_while_the_shop_sells(desk: Desk, mugs: dict) -> None:
    begun(desk, "Shelf by scanner")
    expect(desk.label("Find a product")).to_be_focused()
    for sku in ("COUNT-RED", "COUNT-RED", "COUNT-BLUE", "COUNT-RED", "COUNT-RED"):
        desk.scan(sku)
    desk.page.get_by_role("link", name="Counted mug / Blue").wait_for()
    red = desk.label("Counted of Counted mug / Red")
    expect(red).to_have_value("4")
    line = desk.page.get_by_role("region", name="Lines").get_by_role("row", name="mug / Red")
    expect(line.locator("td.number").first).to_have_text("3")
    expect(line.locator("td.number").last).to_have_text("+1")
    desk.scan("COUNT-OTHER")
    toasts = desk.page.locator(".toasts")
    expect(toasts).to_contain_text("Elsewhere is not in this count.")
    blue = desk.label("Counted of Counted mug / Blue")
    blue.fill("4")
    scan_elsewhere(desk, "COUNT-RED")
    expect(red).to_have_value("5")
    expect(blue).to_have_value("4")  # as it was typed before the scan
    expect(desk.page.get_by_text("2 of 3 variants counted, 2 different")).to_be_visible()
    desk.api.order({"variants": mugs["variants"][1:]}, 2)
    desk.label("Show").select_option("UNCOUNTED")
    expect(desk.label("Counted of Counted mug / Green")).to_have_value("")
    desk.button("Apply").click()
    expect(desk.dialog).to_contain_text("Change the stock of 2 variants?")
    expect(desk.dialog.get_by_role("row", name="Counted mug / Blue")).to_contain_text("-1")
    desk.dialog.get_by_role("button", name="Apply").click()
    expect(desk.page.locator("header .badge")).to_have_text("Applied")
    expect(toasts).to_contain_text("2 variants changed.")
    stock = [one["stock"] for one in desk.api.get(f"products/{mugs['id']}")["variants"]]
    assert stock == [5, 2, 7]
    desk.button("Undo").click()
    expect(toasts).to_contain_text("Undone: 1 record")
    stock = [one["stock"] for one in desk.api.get(f"products/{mugs['id']}")["variants"]]
    assert stock == [3, 3, 7]


def test_a_number_that_is_corrected_while_it_is_saved_counts(desk: Desk, mugs: dict) -> None:
    begun(desk, "Shelf corrected")
    desk.scan("COUNT-RED")
    red = desk.label("Counted of Counted mug / Red")
    expect(red).to_have_value("1")
    path = f"stock/counts/{desk.page.url.rpartition('/')[2]}/lines?state=COUNTED"
    with held(desk) as answer:
        red.fill("5")
        red.blur()
        red.fill("1")
        red.blur()
        answer()
    until(lambda: [line["counted"] for line in desk.api.get(path)["data"]] == [1])
    expect(desk.page.get_by_text("1 different")).to_be_visible()
    expect(red).to_have_value("1")


def test_what_two_count_at_once_is_shown_and_never_overwritten(
    desk: Desk, another: Callable[..., Desk], mugs: dict
) -> None:
    begun(desk, "Shelf of both")
    desk.scan("COUNT-RED")
    desk.scan("COUNT-BLUE")
    red, blue = (desk.label(f"Counted of Counted mug / {one}") for one in ("Red", "Blue"))
    expect(blue).to_have_value("1")
    looks = desk.kept(re.compile("/stock/counts/[^/]+$"))  # the page would follow the other one
    other = another()
    other.open(desk.page.url.rpartition("#")[2])
    for number in ("2", "3"):
        other.scan("COUNT-RED")
        expect(other.label("Counted of Counted mug / Red")).to_have_value(number)
    expect(red).to_have_value("1")
    red.fill("9")
    looks.release()
    scan_elsewhere(desk, "COUNT-BLUE")
    line = desk.page.get_by_role("row", name="Counted mug / Red")
    expect(line).to_contain_text(re.compile("counted 3 meanwhile"))
    expect(red).to_have_value("9")
    expect(blue).to_have_value("2")  # the scan of the same moment
    desk.button("Apply").click()
    expect(desk.page.locator(".toast.bad")).to_contain_text("has not been saved yet")
    desk.button("Save 9").click()
    expect(line).not_to_contain_text("meanwhile")
    # The other page follows by itself.
    expect(other.label("Counted of Counted mug / Red")).to_have_value("9")
    other.scan("COUNT-RED")
    expect(red).to_have_value("10")


@pytest.mark.parametrize(("focus", "keys"), [("field", 5), ("field", 10), ("link", 5)])
def test_a_scan_is_counted_though_its_place_is_drawn_again_after_some_keys(
    desk: Desk, mugs: dict, focus: str, keys: int
) -> None:
    begun(desk, "Shelf that is drawn again")
    desk.scan("COUNT-RED")
    red, blue = (desk.label(f"Counted of Counted mug / {one}") for one in ("Red", "Blue"))
    expect(red).to_have_value("1")
    lines = "**/api/admin/stock/counts/*/lines?*"
    held = desk.kept(lines)
    with desk.page.expect_request(lines):
        desk.scan("COUNT-BLUE")
    red.fill("3")
    if focus == "link":
        desk.page.get_by_role("link", name="Counted mug / Red").focus()

    def drawn() -> None:
        held.pop().continue_()
        desk.page.unroute(lines)
        blue.wait_for()

    scan_elsewhere(desk, "COUNT-BLUE", interruption=(keys, drawn))
    expect(blue).to_have_value("2")
    expect(red).to_have_value("3")
    expect(desk.page.locator(".error:not(:empty)")).to_have_count(0)


def test_a_scan_whose_request_failed_is_counted_once(desk: Desk, mugs: dict) -> None:
    begun(desk, "Shelf without a line")
    lost = "**/api/admin/stock/counts/*/lines"
    desk.page.route(
        lost,
        lambda route: (
            (route.fetch(), route.abort()) if route.request.method == "PUT" else route.continue_()
        ),
    )
    desk.scan("COUNT-GREEN")
    again = desk.button("Try again")
    expect(again).to_be_visible()
    desk.page.unroute(lost)
    desk.scan("COUNT-GREEN")
    again.click()
    expect(desk.label("Counted of Counted mug / Green")).to_have_value("2")
    expect(again).to_have_count(0)
    desk.button("Cancel count").click()
    desk.dialog.get_by_role("button", name="Cancel count").click()
    expect(desk.page.locator("header .badge")).to_have_text("Cancelled")
    expect(desk.label("Find a product")).to_have_count(0)


@pytest.mark.parametrize("done", ["scan", "Apply", "Cancel count"])
def test_a_count_that_somebody_else_has_ended_is_shown_as_it_is(
    desk: Desk, mugs: dict, done: str
) -> None:
    begun(desk, "Shelf of two")
    count = f"stock/counts/{desk.page.url.rpartition('/')[2]}"
    ended = "apply" if done == "Cancel count" else "cancel"
    desk.api.call("POST", f"{count}/{ended}")
    if done == "scan":
        desk.scan("COUNT-GREEN")
    else:
        desk.button(done).click()
        desk.dialog.get_by_role("button", name=done).click()
    expect(desk.page.locator(".toast.bad")).to_contain_text("The count is")
    expect(desk.page.locator("header .badge")).not_to_have_text("Open")
    desk.open("/products")  # no input is left to be saved
