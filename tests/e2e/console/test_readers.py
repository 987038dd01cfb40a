"""A Reader is offered no action that the API would refuse, on any page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.console.desk import Desk
from tests.e2e.console.pages import LONG_NAME, SKU

# Buttons that change nothing in the shop.
HARMLESS = {
    "Print order",
    "Print packing slip",
    "Print label: shipping address",
    "Copy label",
    "Save view",
    "Refresh",
    "Export report",
    "Show all columns",
    "Last 30 days",
    "Other days",
    "Today",
    "This month",
    "Last month",
    "This year",
    "Filters",
    "Copy",
    "Copy ID",
    "More",
    "Older",
    "More: shipping address",
}
# Visible inputs outside the filters of a list.
CONTROLS = """
() => [...document.querySelectorAll("main input, main select, main textarea")]
  .filter((each) => each.checkVisibility() && !each.disabled && !each.readOnly)
  .filter((each) => !each.closest("[role=search]") && each.type !== "search")
  .filter((each) => !["state", "csv"].includes(each.name))  // how it is shown
  .map((each) => each.name || each.ariaLabel)
"""
BUTTONS = """
() => [...document.querySelectorAll("main button")]
  .filter((each) => each.checkVisibility() || each.closest("[popover]"))
  .filter((each) => !each.closest("th"))  // those sort
  .map((each) => each.ariaLabel ?? each.textContent)
"""
LINKS = """
() => [...document.querySelectorAll("a[href^='#/']")]
  .map((each) => each.getAttribute("href").slice(1))
"""
# The addresses whose pages say that they need another key.
CLOSED = re.findall(
    r'\["(/[^"]*)", "[a-z-]+", "[A-Z]+"\]', Path("console/src/router.js").read_text()
)


@pytest.fixture(scope="module")
def addresses(pages: list[str]) -> list[str]:
    """Those that a Reader can see."""
    return [address for address in pages if not address.startswith("/settings")]


def is_closed(address: str) -> bool:
    path = address.partition("?")[0]
    patterns = (re.sub(":[a-z]+", "(?!new$)[^/]+", closed) for closed in CLOSED)
    return any(re.fullmatch(pattern, path) for pattern in patterns)


def offered(page: Page) -> dict[str, Any]:
    buttons = set(page.evaluate(BUTTONS)) - HARMLESS
    # A card of the board is looked at; a menu is opened, whose buttons are among these.
    harmless = re.compile(r"Clear |Show more|More: |Print |.* × \d+ #\d+ ?$")
    return {
        "buttons": {each for each in buttons if not harmless.match(each)},
        "controls": page.evaluate(CONTROLS),
        "closed": [link for link in page.evaluate(LINKS) if is_closed(link)],
    }


def test_a_reader_is_offered_no_action_that_would_be_refused(
    another: Callable[..., Desk], addresses: list[str]
) -> None:
    desk = another(role="READER")
    sent: list[str] = []
    desk.page.on("request", lambda asked: sent.append(f"{asked.method} {asked.url}"))
    refused: list[str] = []
    assert is_closed("/settings/keys") and is_closed("/orders/new?customer=cus_1")
    desk.page.on(
        "response", lambda got: refused.append(got.url) if got.status in (401, 403) else None
    )
    found = {}
    for address in addresses:
        desk.open(address)
        expect(desk.page.locator(".skeleton, main[aria-busy]")).to_have_count(0)
        here = offered(desk.page)
        if any(here.values()):
            found[address] = here
    assert found == {}
    written = [each for each in sent if not each.startswith("GET ")]
    assert [each for each in written if not each.endswith("/admin/reports")] == []
    # A page that a Reader may not open says so and offers no action.
    for address in ("/products/new", "/orders/new", "/import", "/settings/keys"):
        desk.open(address)
        desk.heading("No access")
        expect(desk.page.get_by_text("This page needs an API key with the")).to_be_visible()
        assert not offered(desk.page)["buttons"]
    assert refused == []


def test_read_only_pages_show_all_values(
    another: Callable[..., Desk], addresses: list[str]
) -> None:
    desk = another(role="READER")
    (product,) = [each for each in addresses if each.startswith("/products/prod_")]
    desk.open(product)
    expect(desk.label("Name")).to_have_value(LONG_NAME)
    expect(desk.label("SKU of variant 25")).to_be_hidden()
    desk.page.get_by_role("button", name="Show more").click()
    expect(desk.label("SKU of variant 25")).to_have_value(SKU.format(24))
    expect(desk.label("Status")).to_be_disabled()
    desk.page.get_by_role("link", name="Orders", exact=True).click()
    desk.heading("Orders")  # nothing is unsaved
