"""Accessibility of every page: no serious finding of axe, nothing cut off in a narrow window, and
everything reachable by keyboard."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import DESKTOP, NARROW, PHONE, Desk, serious_findings
from tests.e2e.console.pages import SKU


@pytest.fixture(scope="module")
def addresses(pages: list[str]) -> list[str]:
    return [*pages, "/import", "/orders/new", "/customers/new", "/nowhere"]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_page_has_a_serious_finding(
    another: Callable[..., Desk], addresses: list[str], look: str
) -> None:
    # The console's policy would block the script of the checks.
    desk = another(
        color_scheme=look,
        reduced_motion="reduce",
        bypass_csp=True,
        viewport=PHONE if look == "dark" else DESKTOP,
    )
    found = {}
    for address in addresses:
        desk.open(address)
        desk.page.evaluate(
            "for (const each of document.querySelectorAll('details')) each.open = true"
        )
        desk.filled()
        found[address] = serious_findings(desk)
    assert {address: serious for address, serious in found.items() if serious} == {}


TOO_WIDE = "node => ((node ??= document.documentElement), node.scrollWidth - node.clientWidth)"


def test_nothing_is_cut_off_in_a_narrow_window(
    another: Callable[..., Desk], addresses: list[str]
) -> None:
    desk = another(viewport=NARROW)
    wide = {}
    for address in addresses:
        desk.open(address)
        desk.filled()
        wide[address] = desk.page.evaluate(TOO_WIDE)
    desk.open(next(each for each in addresses if each.startswith("/orders/ord_")))
    desk.button("Edit items").click()
    wide["a dialog"] = desk.dialog.evaluate(TOO_WIDE)
    desk.begin_order(SKU.format(1))
    wide["an item at the till"] = desk.page.evaluate(TOO_WIDE)
    assert {where: over for where, over in wide.items() if over > 0} == {}


def test_the_menu_opens_on_a_phone(another: Callable[..., Desk]) -> None:
    desk = another(viewport=PHONE)
    desk.open("/")
    orders = desk.page.get_by_role("link", name="Orders", exact=True)
    expect(orders).to_be_hidden()
    desk.button("Menu").click()
    orders.click()
    desk.heading("Orders")
    expect(orders).to_be_hidden()


def test_the_keyboard_reaches_the_content_first(desk: Desk) -> None:
    desk.open("/products")
    desk.page.keyboard.press("Tab")
    expect(desk.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    desk.page.keyboard.press("Enter")
    desk.page.keyboard.press("Tab")
    expect(desk.page.get_by_role("link", name="Low stock")).to_be_focused()
    assert desk.page.url.endswith("#/products")


def test_a_dialog_gives_the_focus_back(desk: Desk) -> None:
    """To what opened it, or to the heading of a page that was drawn again meanwhile."""
    desk.shown(desk.api.order("Focused"))
    more = desk.button("More").first
    more.press("Enter")
    desk.button("Delete").press("Enter")
    expect(desk.dialog).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(more).to_be_focused()
    desk.button("Take payment").press("Enter")
    desk.dialog.get_by_role("button", name="Cash").click()
    desk.dialog.get_by_role("button", name="Take payment").press("Enter")
    expect(desk.page.locator("dialog")).to_have_count(0)
    expect(desk.page.get_by_role("heading", level=1)).to_be_focused()


def test_a_new_page_has_a_title_and_focuses_its_heading(desk: Desk) -> None:
    desk.open("/products")
    desk.page.get_by_role("link", name="Customers", exact=True).click()
    desk.heading("Customers")
    expect(desk.page.get_by_role("heading", level=1)).to_be_focused()
    assert desk.page.title() == "Customers · Backroom"
