"""A Reader is offered no action that the API would refuse, on any page."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.console.desk import Api, Desk

# Buttons that change nothing in the shop.
HARMLESS = {
    "Print order",
    "Print packing slip",
    "Print label: shipping address",
    "Copy label",
    "Save view",
    "Add up again",
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
  .map((each) => each.name || each.ariaLabel)
"""
BUTTONS = """
() => [...document.querySelectorAll("main button")]
  .filter((each) => each.checkVisibility() || each.closest("[popover]"))
  .filter((each) => !each.closest("th"))  // those sort
  .map((each) => each.ariaLabel ?? each.textContent)
"""
# The links whose pages say that they need another key.
CLOSED = """
async () => {
  const from = document.querySelector("script[type=module]").src;
  const { $ } = await import(new URL("start.js", from));
  const { match } = $["router.js"];
  const { may } = $["session.js"];
  return [...document.querySelectorAll("a[href^='#/']")]
    .map((each) => each.getAttribute("href").slice(1))
    .filter((address) => !may(match(address).role));
}
"""


@pytest.fixture(scope="module")
def addresses(owner: Api) -> list[str]:
    """The address of each page that a Reader can see, with content that others can change."""
    variants = [{"title": str(size), "sku": f"RE-{size}", "stock": 1} for size in range(25)]
    new = {"name": "Readable", "price": 5, "status": "ACTIVE", "variants": variants}
    product = owner.post("products", {**new, "images": [{"url": "https://example.com/a.png"}]})
    line = {"variantId": product["variants"][0]["id"], "quantity": 1}
    address = {"address1": "1 Road", "city": "Berlin", "countryCode": "DE"}
    customer = {"email": "reads@example.com", "firstName": "Ada", "lastName": "Reads"}
    known = owner.post("customers", {**customer, "addresses": [address]})
    order = owner.post(
        "orders",
        {"lineItems": [line], "customer": {"id": known["id"]}, "shippingAddress": address},
    )
    other = owner.post("customers", {"firstName": "Without", "lastName": "Orders"})
    edit = {"ids": [product["id"]], "change": {"addTags": ["read"]}}
    edited = owner.post("products/bulk-edit", edit)["jobId"]
    columns = {"fileName": "unknown.csv"}
    asked = owner.post("products/import/uploads", columns)["jobId"]
    return [
        "/",
        "/reports",
        "/products",
        "/products?search=Readable",
        "/products/low-stock",
        f"/products/{product['id']}",
        "/orders",
        f"/orders/{order['id']}",
        "/customers",
        "/customers?search=nobody",
        f"/customers/{known['id']}",
        f"/customers/{other['id']}",
        "/jobs",
        f"/jobs/{edited}",
        f"/jobs/{asked}",
        "/reference",
    ]


def offered(page: Page) -> dict[str, Any]:
    buttons = set(page.evaluate(BUTTONS)) - HARMLESS
    return {
        "buttons": {each for each in buttons if not each.startswith(("Clear ", "Show more"))},
        "controls": page.evaluate(CONTROLS),
        "closed": page.evaluate(CLOSED),
    }


def test_a_reader_is_offered_no_action_that_would_be_refused(
    another: Callable[..., Desk], addresses: list[str]
) -> None:
    desk = another(role="READER")
    sent: list[str] = []
    desk.page.on("request", lambda asked: sent.append(f"{asked.method} {asked.url}"))
    refused: list[str] = []
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
    assert refused == []
    written = [each for each in sent if not each.startswith("GET ")]
    assert [each for each in written if not each.endswith("/admin/reports")] == []
    # A page that a Reader may not open says so and offers no action.
    for address in ("/products/new", "/orders/new", "/import", "/settings/keys"):
        desk.open(address)
        expect(desk.page.get_by_text("This page needs an API key with the")).to_be_visible()
        assert not offered(desk.page)["buttons"]


def test_read_only_pages_show_all_values(
    another: Callable[..., Desk], addresses: list[str]
) -> None:
    desk = another(role="READER")
    (product,) = [each for each in addresses if each.startswith("/products/prod_")]
    desk.open(product)
    expect(desk.label("Name")).to_have_value("Readable")
    expect(desk.label("SKU of variant 25")).to_be_hidden()
    desk.page.get_by_role("button", name="Show more").click()
    expect(desk.label("SKU of variant 25")).to_have_value("RE-24")
    expect(desk.label("Status")).to_be_disabled()
    desk.page.get_by_role("link", name="Orders", exact=True).click()
    desk.heading("Orders")  # nothing is unsaved
