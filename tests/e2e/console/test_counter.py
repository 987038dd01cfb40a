"""An owner's day at the counter, step by step, with the number of clicks that each may take
(docs/console.md#clicks)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import PHONE, Api, Desk, accessible

WIDE = {"width": 1440, "height": 900}
COUNT = """() => { window.clicks = 0;
  const count = ({ isTrusted, detail }) => (window.clicks += isTrusted && detail > 0);
  addEventListener("click", count, true);
}"""


@contextmanager
def clicks(desk: Desk, most: int) -> Iterator[None]:
    """Counts those of the mouse on the page that is open."""
    desk.page.evaluate(COUNT)
    yield
    assert desk.page.evaluate("window.clicks") <= most


def product(api: Api, price: str = "34.90") -> tuple[str, Any]:
    sku = f"COUNTER-{uuid4().hex[:6].upper()}"
    variants = [{"title": size, "sku": f"{sku}-{size}", "stock": 9} for size in "SML"]
    return sku, api.product(f"Counter {sku}", price=price, variants=variants)


def stock(api: Api, made: Any) -> int:
    return int(api.get(f"products/{made['id']}")["variants"][0]["stock"])


def commission(api: Api, *paid: dict) -> Any:
    """848.00 with a deposit of 240.00."""
    made = product(api, "848.00")[1]
    order = api.order(made, deposit={"amount": 240}, payments=list(paid))
    assert stock(api, made) == 8
    return order, made


@pytest.mark.journey
def test_a_sale_in_cash_with_change(desk: Desk) -> None:
    sku, made = product(desk.api)
    desk.begin_order(f"{sku}-S")
    with clicks(desk, 3):
        desk.button("Paid").click()
        desk.button("Cash").click()
        desk.label("Discount").fill("5 %")
        desk.label("Cash received").fill("50")
        desk.total("$33.15")  # half a cent is the API's to round
        expect(desk.page.locator(".totals")).to_contain_text("Change$16.85")
        desk.button("Create order").click()
        order = desk.placed_order()
    (payment,) = order["payments"]
    assert (order["total"], order["balanceDue"], order["status"]) == ("33.15", "0.00", "PAID")
    assert (payment["method"], payment["change"]) == ("CASH", "16.85")
    assert stock(desk.api, made) == 8
    expect(desk.page.locator("header .badge")).to_have_text(["Confirmed", "Paid"])


def test_a_deposit_in_cash(desk: Desk) -> None:
    sku, _ = product(desk.api, "848.00")
    desk.begin_order(f"{sku}-S")
    with clicks(desk, 3):
        desk.button("Deposit").click()
        desk.label("Deposit").fill("30 %")
        desk.button("Cash").click()
        desk.label("Cash received").fill("300")
        totals = desk.page.locator(".totals")
        expect(totals).to_contain_text("Due now$254.40")
        expect(totals).to_contain_text("Change$45.60")
        expect(totals).to_contain_text("Due later$593.60")
        desk.button("Create order").click()
        order = desk.placed_order()
    assert [(one["method"], one["amount"]) for one in order["payments"]] == [("CASH", "254.40")]
    assert (order["balanceDue"], order["deposit"]["isReached"]) == ("593.60", True)
    expect(desk.page.locator("header .badge")).to_have_text(["Confirmed", "Partly paid"])


def test_nothing_is_booked_without_a_method(desk: Desk) -> None:
    sku, _ = product(desk.api)
    desk.begin_order(f"{sku}-S")
    desk.button("Paid").click()
    sent = desk.sent()
    desk.button("Create order").click()
    error = desk.field("payments.0.method").locator(".error")
    expect(error).to_have_text("must be chosen")
    desk.button("Split the payment").click()
    desk.page.get_by_role("group", name="Payment 1").get_by_label("Amount").fill("5")
    desk.button("Create order").click()
    expect(desk.page.get_by_role("group", name="Payment 1")).to_contain_text("must be chosen")
    desk.button("Remove payment 1").click()
    desk.button("Not paid").click()
    desk.button("Create order").click()
    order = desk.placed_order()
    assert (order["payments"], order["paymentStatus"], len(sent)) == ([], "PENDING", 1)
    expect(desk.main_action).to_have_text(["Take payment"])
    desk.button("More").click()
    expect(desk.button("Mark as paid")).to_have_count(0)


def test_a_sale_of_last_month_is_entered_today(desk: Desk) -> None:
    sku, _ = product(desk.api)
    desk.begin_order(f"{sku}-S")
    with clicks(desk, 4):
        desk.page.get_by_text("Date, source and sales rep").click()
        desk.label("Order date").fill("2026-01-30T12:00")
        desk.button("Paid").click()
        desk.button("Card terminal").click()
        desk.button("Create order").click()
        order = desk.placed_order()
    days = [order["orderDate"][:10], order["payments"][0]["receivedAt"][:10]]
    assert days == ["2026-01-30", "2026-01-30"]
    expect(desk.page.locator(".history")).to_contain_text("On Jan 30")


def test_a_transfer_of_last_week_is_taken_with_its_day(desk: Desk) -> None:
    order = desk.shown(desk.api.order("By transfer"))
    with clicks(desk, 3):
        desk.button("Take payment").click()
        desk.dialog.get_by_role("button", name="Bank transfer").click()
        expect(desk.dialog.get_by_label("Cash received")).to_be_hidden()
        desk.dialog.get_by_label("Received", exact=True).fill("2026-01-30T12:00")
        desk.dialog.get_by_role("button", name="Take payment").click()
        expect(desk.dialog).to_have_count(0)
    (paid,) = desk.api.get(f"orders/{order['id']}")["payments"]
    assert (paid["method"], paid["receivedAt"][:10]) == ("BANK_TRANSFER", "2026-01-30")


def closed(desk: Desk, *, keep: str = "", reason: str = "The customer withdrew") -> None:
    if keep:
        desk.dialog.get_by_label("Amount to keep").fill(keep)
    desk.dialog.get_by_label("Reason").fill(reason)


@pytest.mark.parametrize("status", ["PAID", "IN_PRODUCTION"])
def test_a_part_of_the_deposit_is_kept_and_the_order_ends(desk: Desk, status: str) -> None:
    order, made = commission(desk.api, {"amount": 240, "method": "CASH"})
    if status != "PAID":
        desk.api.move(order, status)
    desk.shown(order)
    with clicks(desk, 3):
        desk.button("More").click()
        desk.button("Close order").click()
        closed(desk, keep="100")
        said = desk.dialog.get_by_role("status")
        expect(said).to_contain_text("$100.00 kept · $140.00 back by cash · 1 piece to the stock")
        expect(said).to_contain_text("connected systems are told")
        desk.dialog.get_by_role("button", name="Refund $140.00, and close").click()
        expect(desk.dialog).to_have_count(0)
    after = desk.api.get(f"orders/{order['id']}")
    assert (after["status"], after["kept"], after["balanceDue"]) == (status, "100.00", "0.00")
    assert (after["amountRefunded"], after["closedBy"] is None) == ("140.00", False)
    assert stock(desk.api, made) == 9
    expect(desk.page.locator("header .badge")).to_contain_text(["Closed"])
    expect(desk.main_action).to_have_text(["New order"])
    accessible(desk)


def test_a_transfer_that_never_came_ends_the_order(desk: Desk) -> None:
    order, made = commission(desk.api, {"amount": 848, "method": "BANK_TRANSFER"})
    desk.shown(order)
    with clicks(desk, 4):
        desk.button("Void Bank transfer $848.00").click()
        desk.button("Void payment").click()
        expect(desk.dialog).to_contain_text("It is confirmed, and $848.00 is due again.")
        desk.dialog.get_by_role("button", name="Close order").click()
        closed(desk, reason="The transfer never came")
        expect(desk.dialog.get_by_role("status")).to_contain_text("1 piece to the stock")
        desk.dialog.get_by_role("button", name="Close order").click()
        expect(desk.dialog).to_have_count(0)
    after = desk.api.get(f"orders/{order['id']}")
    money = (after["amountPaid"], after["amountRefunded"], after["balanceDue"])
    assert money == ("0.00", "0.00", "0.00")
    assert stock(desk.api, made) == 9


def test_a_method_is_corrected(desk: Desk) -> None:
    order = desk.shown(commission(desk.api, {"amount": 240, "method": "CASH"})[0])
    with clicks(desk, 3):
        desk.button("Correct Cash $240.00").click()
        desk.dialog.get_by_role("button", name="Card terminal").click()
        desk.dialog.get_by_role("button", name="Correct method").click()
        expect(desk.dialog).to_have_count(0)
    after = desk.api.get(f"orders/{order['id']}")
    counted = [one["method"] for one in after["payments"] if not one["voidedAt"]]
    assert (counted, after["amountPaid"], after["status"]) == (["CARD_TERMINAL"], "240.00", "PAID")


def test_all_is_given_back_with_its_amounts_and_methods(desk: Desk) -> None:
    paid = [{"amount": 100, "method": "CASH"}, {"amount": 748, "method": "CARD_TERMINAL"}]
    order, made = commission(desk.api, *paid)
    desk.shown(order)
    desk.more("Close order")
    closed(desk)
    said = desk.dialog.get_by_role("status")
    for part in ("$100.00 back by cash", "$748.00 back by card terminal", "1 piece", "Refunded"):
        expect(said).to_contain_text(part)
    desk.dialog.locator("button.main").click()
    expect(desk.dialog).to_have_count(0)
    after = desk.api.get(f"orders/{order['id']}")
    assert (after["status"], after["amountRefunded"]) == ("REFUNDED", "848.00")
    assert stock(desk.api, made) == 9


def test_deleting_names_the_money_and_offers_to_close(
    desk: Desk, another: Callable[..., Desk]
) -> None:
    order, _ = commission(desk.api, {"amount": 300, "method": "CASH", "receivedAt": "2026-01-30"})
    desk.shown(order)
    desk.more("Delete")
    expect(desk.dialog).to_contain_text("$300.00 received, cash, Jan 30, 2026")
    desk.dialog.get_by_role("button", name="Close it instead").click()
    expect(desk.dialog).to_contain_text(f"Close order #{order['number']}")
    assert desk.api.get(f"orders/{order['id']}")["status"] == "PAID"
    admin = another(role="ADMIN")
    admin.shown(order)
    admin.button("More").click()
    expect(admin.button("Close order")).to_be_visible()
    expect(admin.button("Delete")).to_have_count(0)


def test_an_order_that_was_begun_survives_a_reload_and_other_pages(desk: Desk) -> None:
    sku, _ = product(desk.api)
    desk.begin_order(f"{sku}-S")
    desk.page.get_by_role("button", name="Add a note to").click()
    desk.page.get_by_label("Note of").fill("Ring size 54")
    desk.button("Add a custom item").click()
    desk.label("Name of custom item 1").fill("Engraving")
    desk.label("Price of custom item 1").fill("12,50")
    desk.unfold("Customer")
    desk.label("Phone").fill("030 12345")
    desk.button("Paid").click()
    desk.button("Cash").click()
    desk.label("Cash received").fill("50")
    desk.total("$47.40")
    desk.reload()
    desk.heading("New order")
    desk.total("$47.40")
    desk.page.get_by_role("link", name="Customers", exact=True).click()
    desk.heading("Customers")
    desk.go_back()
    desk.heading("New order")
    expect(desk.label("Phone")).to_have_value("030 12345")
    expect(desk.button("Cash")).to_have_attribute("aria-pressed", "true")
    expect(desk.page.get_by_label("Note of").first).to_have_value("Ring size 54")
    desk.page.keyboard.press("Control+Enter")
    order = desk.placed_order()
    assert [line["note"] for line in order["lineItems"]] == ["Ring size 54", None]
    assert (order["customer"]["phone"], order["customer"]["email"]) == ("030 12345", None)
    assert order["payments"][0]["change"] == "2.60"
    desk.open("/orders/new")
    expect(desk.page.locator("[name=quantity]")).to_have_count(0)
    desk.scan(f"{sku}-M")
    expect(desk.page.locator("[name=quantity]")).to_have_count(1)
    desk.reload()
    desk.button("Discard").click()
    expect(desk.page.locator("[name=quantity]")).to_have_count(0)


def test_an_order_that_was_begun_for_a_known_customer_survives_a_reload(desk: Desk) -> None:
    sku, _ = product(desk.api)
    customer = desk.api.post("customers", {"email": f"{sku.lower()}@example.com"})
    desk.open(f"/orders/new?customer={customer['id']}")
    desk.scan(f"{sku}-S")
    desk.total("$34.90")
    desk.reload()
    desk.heading("New order")
    desk.total("$34.90")
    expect(desk.page.locator("[data-field=customer]")).to_contain_text(customer["email"])
    desk.page.keyboard.press("Control+Enter")
    assert desk.placed_order()["customer"]["id"] == customer["id"]


@pytest.mark.parametrize("viewport", [PHONE, WIDE])
def test_the_till_is_one_page_and_on_a_phone_the_payment_follows_the_items(
    another: Callable[..., Desk], viewport: dict
) -> None:
    desk = another(viewport=viewport)
    sku, _ = product(desk.api)
    desk.open("/orders/new")
    for size in "SML":
        desk.scan(f"{sku}-{size}")
    expect(desk.page.locator("[name=quantity]")).to_have_count(3)
    desk.button("Paid").click()
    desk.button("Cash").click()
    desk.total("$104.70")
    accessible(desk)
    width, height = desk.page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    assert width <= viewport["width"]
    cards = desk.page.locator(".till > *")
    tops = [cards.nth(at).bounding_box()["y"] for at in range(3)]  # type: ignore[index]
    items, folded, payment = tops
    if viewport is WIDE:
        assert height <= viewport["height"]
    else:
        assert items < payment < folded


@pytest.mark.parametrize(
    ("typed", "said"), [("200 %", "Discount"), ("zehn", "Discount must be an amount")]
)
def test_what_the_api_refuses_is_said_before_the_order_is_created(
    desk: Desk, typed: str, said: str
) -> None:
    sku, _ = product(desk.api)
    desk.begin_order(f"{sku}-S")
    desk.total("$34.90")
    desk.label("Discount").fill(typed)
    expect(desk.page.locator(".totals")).to_contain_text(said)
