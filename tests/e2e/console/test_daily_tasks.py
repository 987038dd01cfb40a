"""Clicks and keys of daily tasks, starting at Home. `-s` prints the table."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.console.desk import Api, Desk

TRACKING = "1Z999AA10123456784"


@dataclass
class Hands:
    desk: Desk
    clicks: int = 0
    keys: int = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def type(self, text: str) -> None:
        """As a hand does: faster keys before an Enter are a scan."""
        self.desk.page.keyboard.type(text, delay=80)
        self.keys += len(text)

    def press(self, key: str) -> None:
        self.desk.page.keyboard.press(key)
        self.keys += 1

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def go(self, name: str) -> None:
        """From Home to a page of the menu."""
        self.begin()
        self.click(self.page.locator("#menu").get_by_role("link", name=name))

    def begin(self, address: str = "/") -> None:
        self.desk.open(address)
        self.clicks = self.keys = 0

    @property
    def page(self) -> Page:
        return self.desk.page


@pytest.fixture(scope="module")
def shop(owner: Api) -> Api:
    variants = [
        {"title": "Brass", "sku": "DAY-LAMP-B", "stock": 2, "price": 80},
        {"title": "Steel", "sku": "DAY-LAMP-S", "stock": 40, "price": 70},
        {"title": "Spare", "sku": "DAY-LAMP-P", "stock": 1, "price": 9},
    ]
    new = {"name": "Day lamp", "price": 80, "status": "ACTIVE", "variants": variants}
    owner.post("products", {**new, "lowStockThreshold": 5})
    rows = [{"name": f"Newgoods {n}", "price": 5, "status": "ACTIVE"} for n in range(2)]
    owner.post("products/bulk", rows)
    return owner


def placed(shop: Api, **fields: str) -> dict:
    (lamp,) = shop.get("products?search=day-lamp")["data"]
    return shop.order({"variants": lamp["variants"][1:]}, **fields)


def ship_it(hands: Hands, shop: Api) -> None:
    order = placed(shop)
    shop.move(order, "PAID", "PROCESSING")
    hands.begin(f"/orders/{order['id']}")
    hands.click(hands.desk.button("Ship"))
    hands.enter(TRACKING)
    expect(hands.page.get_by_role("link", name="Track with UPS")).to_be_visible()
    assert shop.get(f"orders/{order['id']}")["trackingNumber"] == TRACKING


def price_a_variant(hands: Hands, shop: Api) -> None:
    hands.begin()
    hands.press("/")
    hands.enter("day-lamp")
    hands.desk.heading("Day lamp")
    hands.click(hands.desk.label("Price of variant 1"))
    hands.press("Control+a")
    hands.enter("85")
    expect(hands.page.locator(".toast").last).to_have_text("Saved.")


def correct_low_stock(hands: Hands, shop: Api) -> None:
    hands.begin("/products/low-stock")
    hands.click(hands.desk.label("Stock of Day lamp · Brass"))
    hands.enter("25")
    expect(hands.page.locator(".toast").last).to_contain_text("stock is now 25")


def filter_by_date(hands: Hands, shop: Api) -> None:
    hands.go("Orders")
    hands.desk.label("Date").select_option("6")
    hands.clicks += 2  # opened, chosen
    expect(hands.page.locator(".chips")).to_contain_text("Date: Last 7 days")
    expect(hands.page.locator(".results")).not_to_have_attribute("aria-busy", "true")


def receive_five(hands: Hands, shop: Api) -> None:
    hands.begin("/products/low-stock")
    hands.click(hands.desk.label("Stock of Day lamp · Spare"))
    hands.enter("+5")
    expect(hands.page.locator(".toast").last).to_contain_text("stock is now 6")


def raise_prices_and_undo(hands: Hands, shop: Api) -> None:
    hands.go("Products")
    hands.click(hands.desk.label("Search"))
    hands.type("newgood")
    expect(hands.page.locator(".count")).to_have_text("2 products")
    hands.click(hands.desk.label("Select all products on this page"))
    hands.click(hands.desk.button("More changes"))
    hands.click(hands.desk.dialog.get_by_label("Change prices by percent"))
    hands.enter("10")
    expect(hands.desk.dialog.get_by_role("button", name="Change 2 products")).to_be_focused()
    hands.press("Enter")
    expect(hands.page.locator(".toast").last).to_contain_text("2 products changed.")
    hands.press("Control+z")
    expect(hands.page.locator(".toast").last).to_contain_text("Undone: 2 records.")


def export_what_a_rep_is_owed(hands: Hands, shop: Api) -> None:
    placed(shop, salesRepId="emp_owed")
    hands.go("Orders")
    hands.desk.label("Balance").select_option("due")
    hands.clicks += 2
    hands.click(hands.desk.label("Sales rep ID"))
    hands.type("emp_owed")
    expect(hands.page.locator(".results tbody tr")).to_have_count(1)
    hands.click(hands.desk.button("Export"))
    with hands.page.expect_download():
        hands.press("Enter")


# Each with the sum of clicks and keys in the best of the other systems.
JOBS: dict[str, tuple[Callable[[Hands, Api], None], int]] = {
    "ship it": (ship_it, 3 + 18),
    "price of one variant": (price_a_variant, 4 + 13),
    "low stock, correct it": (correct_low_stock, 2 + 3),
    "orders of the last 7 days": (filter_by_date, 3),
    # No more than before.
    "receive five pieces": (receive_five, 6 + 20),
    "prices + 10 %, then undo": (raise_prices_and_undo, 7 + 11),
    "unpaid orders of a rep, exported": (export_what_a_rep_is_owed, 8 + 16),
}


def test_daily_tasks_take_no_more_clicks_and_keys_than_elsewhere(
    desk: Desk, shop: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    hands = Hands(desk)
    rows, worse = [], []
    for name, (job, most) in JOBS.items():
        job(hands, shop)
        rows.append(f"| {name} | {hands.clicks} + {hands.keys} | {most} |")
        if hands.clicks + hands.keys > most:
            worse.append(name)
    with capsys.disabled():
        print("\n| Job | Clicks + keys | Elsewhere, together |\n|---|---|---|", *rows, sep="\n")
    assert worse == []
