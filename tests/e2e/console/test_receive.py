"""Goods that arrive: scanned, corrected, and added to the stock once."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import Api, Desk, held


@pytest.fixture
def mugs(owner: Api) -> Any:
    code = f"IN-{uuid4().hex[:6].upper()}"
    variants = [
        {"title": each, "sku": f"{code}-{each.upper()}", "stock": 3} for each in ("Red", "Blue")
    ]
    return owner.post("products", {"name": f"Arriving {code}", "price": 9, "variants": variants})


def stock(desk: Desk, product: Any) -> list[int]:
    return [one["stock"] for one in desk.api.get(f"products/{product['id']}")["variants"]]


def received(product: Any, title: str) -> str:
    return f"Received of {product['name']} · {title}"


def test_what_is_scanned_and_corrected_is_added_to_the_stock(desk: Desk, mugs: Any) -> None:
    red, blue = (each["sku"] for each in mugs["variants"])
    desk.open("/products")
    desk.page.get_by_role("link", name="Receive").click()
    desk.heading("Receive")
    for sku in (red, red, blue):
        desk.scan(sku)
    expect(desk.label(received(mugs, "Red"))).to_have_value("2")
    desk.label(received(mugs, "Blue")).fill("a dozen")
    desk.button("Add to stock").click()
    error = desk.field(mugs["variants"][1]["id"]).locator(".error")
    expect(error).to_have_text("Type a whole number.")
    expect(desk.label(received(mugs, "Blue"))).to_have_value("a dozen")
    desk.label(received(mugs, "Blue")).fill("12")
    with held(desk) as answer:
        desk.button("Add to stock").click()
        expect(desk.page.get_by_text("Nothing yet")).to_be_visible()
        desk.scan(red)
        expect(desk.label(received(mugs, "Red"))).to_have_value("1")
        answer()
        expect(desk.page.locator(".toast")).to_contain_text("14 pieces added to the stock.")
    assert stock(desk, mugs) == [5, 15]
    expect(desk.label(received(mugs, "Red"))).to_have_value("1")  # of the next time
    desk.page.evaluate("location.hash = '#/'")
    desk.dialog.get_by_role("button", name="Stay").click()
    expect(desk.label(received(mugs, "Red"))).to_have_value("1")
    desk.button(f"Remove {mugs['name']} · Red").click()
    expect(desk.page.get_by_text("Nothing yet")).to_be_visible()


def test_a_lost_answer_adds_once_and_a_refusal_gives_the_lines_back(desk: Desk, mugs: Any) -> None:
    red, _ = (each["sku"] for each in mugs["variants"])
    desk.open("/products/receive")
    desk.lost("**/api/admin/products/*/stock")
    desk.scan(red)
    expect(desk.label(received(mugs, "Red"))).to_have_value("1")
    desk.button("Add to stock").click()
    desk.button("Try again").click()
    expect(desk.page.locator(".toast")).to_contain_text("1 piece added to the stock.")
    assert stock(desk, mugs) == [4, 3]
    desk.scan(red)
    there = desk.page.get_by_role("row").filter(has_text=red).get_by_role("cell").nth(1)
    expect(there).to_have_text("4")
    desk.label(received(mugs, "Red")).fill("9999999999")
    desk.button("Add to stock").click()
    expect(desk.field(mugs["variants"][0]["id"]).locator(".error")).not_to_be_empty()
    expect(desk.label(received(mugs, "Red"))).to_have_value("9999999999")
    assert stock(desk, mugs) == [4, 3]
