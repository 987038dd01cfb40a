"""The page of an order reads like a story: its state, its money, what is next, what happened."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.console.desk import PHONE, Api, Desk, accessible


def commissioned(api: Api, lines: int = 1) -> dict:
    """With a deposit that is paid, an edit, a voided payment, and a refund of too much."""
    made = api.product("A commission of a very long name in oak and brass", price="1250.00")
    line = {"variantId": made["variants"][0]["id"], "quantity": 1}
    more = [{"title": f"Engraving {n}", "price": 10, "quantity": 1} for n in range(lines - 1)]
    person = {"firstName": "Wilhelmina", "lastName": "Featherstonehaugh", "email": "w@f.example"}
    new = {"lineItems": [line, *more], "customer": person, "deposit": {"percent": 30}}
    order: dict = api.post("orders", new | {"source": "PRIVATE_COMMISSION"})
    return order


NEXT = [
    ([], "Take payment", "Pending"),
    (["payments:375"], "Start production", "Confirmed"),
    (["payments:375", "IN_PRODUCTION"], "Start processing", "In production"),
    (["payments:1250", "PROCESSING", "SHIPPED"], "Mark as delivered", "Shipped"),
    (["payments:375", "PROCESSING", "SHIPPED", "DELIVERED"], "Take payment", "Delivered"),
    (["payments:1250", "PROCESSING", "SHIPPED", "DELIVERED"], "New order", "Delivered"),
    (["payments:20", "CANCELLED"], "Refund", "Cancelled"),
    (["payments:375", "void"], "Take payment", "Confirmed"),
]


@pytest.mark.parametrize(("done", "step", "status"), NEXT, ids=[f"{s}-{n}" for _, n, s in NEXT])
def test_what_is_next_and_the_money_are_on_the_first_screen_of_a_phone(
    another: Callable[..., Desk], done: list[str], step: str, status: str
) -> None:
    desk = another(viewport=PHONE)
    order = commissioned(desk.api)
    for each in done:
        kind, _, amount = each.partition(":")
        if kind == "void":
            (paid,) = desk.api.get(f"orders/{order['id']}")["payments"]
            desk.api.post(f"orders/{order['id']}/payments/{paid['id']}/void", {})
        elif amount:
            money = {"amount": amount, "method": "CASH"}
            desk.api.post(f"orders/{order['id']}/{kind}", money)
        else:
            desk.api.call("PATCH", f"orders/{order['id']}", {"status": kind})
    desk.open(f"/orders/{order['id']}")
    expect(desk.main_action).to_have_text([step])
    state = desk.page.locator("header .badge").first
    expect(state).to_have_text(status)
    money = desk.page.get_by_role("region", name="Payments")
    for shown in (desk.main_action, state, money):
        box = shown.bounding_box()
        assert box is not None and box["y"] >= 0
        assert box["y"] + box["height"] <= PHONE["height"], f"{box} is below the first screen"
    assert desk.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    accessible(desk)


def test_everything_that_happened_is_one_list(desk: Desk) -> None:
    order = commissioned(desk.api)
    path = f"orders/{order['id']}"
    paid = {"amount": "375", "method": "CARD_TERMINAL", "reference": "T-88"}
    desk.api.post(f"{path}/payments", paid)
    wrong = desk.api.post(f"{path}/payments", {"amount": "50", "method": "CASH", "tendered": "60"})
    desk.open(f"/{path}")
    desk.button("Void Cash $50.00").click()
    desk.dialog.get_by_label("Reason").fill("Typed twice")
    desk.button("Void payment").click()
    expect(desk.dialog).to_have_count(0)
    added = {"title": "A box", "price": 20, "quantity": 1}
    desk.api.post(f"{path}/edit", {"add": [added], "reason": "Asked by telephone"})
    back = {"amount": "5", "method": "CARD_TERMINAL", "reason": "GOODWILL", "note": "Late"}
    desk.api.post(f"{path}/refunds", back)
    desk.api.call("PATCH", path, {"note": "Call before", "status": "IN_PRODUCTION"})
    desk.reload()
    desk.stands()
    told = [one.split("\n")[:-1] for one in desk.page.locator(".history li").all_inner_texts()]
    assert told == [
        ["In production", "Note changed"],
        ["$5.00 refunded, card terminal", "Goodwill · Late"],
        [
            "Items edited: total $1,250.00 → $1,270.00",
            "Asked by telephone",
            "added 1 × A box at 20.00",
        ],
        ["Voided payment $50.00, cash", "Typed twice"],
        ["$50.00 received, cash", "$60.00 in cash, $10.00 change"],
        ["Confirmed", "$375.00 received, card terminal · T-88"],
        ["Order created"],
    ]
    assert wrong["payments"][1]["change"] == "10.00"
    expect(desk.page.locator(".history del")).to_have_text("$50.00 received, cash")
    expect(desk.page.locator(".history li").first).to_contain_text(desk.api.get("me")["name"])


def test_a_deposit_is_taken_in_two_steps(desk: Desk) -> None:
    order = desk.shown(commissioned(desk.api))
    desk.button("Take payment").click()
    expect(desk.dialog).to_contain_text("$375.00 deposit")
    desk.page.keyboard.press("Enter")
    expect(desk.dialog.locator(".error:visible")).to_have_text("must be chosen")
    desk.dialog.get_by_role("button", name="Bank transfer").click()
    desk.dialog.get_by_role("button", name="Take payment").click()
    expect(desk.button("Start production")).to_be_visible()
    paid = desk.api.get(f"orders/{order['id']}")
    assert (paid["amountPaid"], paid["deposit"]["isReached"]) == ("375.00", True)


def test_an_order_of_many_lines_shows_its_customer_first_and_all_lines_on_demand(
    another: Callable[..., Desk],
) -> None:
    desk = another(viewport=PHONE)
    desk.shown(commissioned(desk.api, lines=40))
    customer = desk.page.get_by_role("link", name="Wilhelmina Featherstonehaugh").first
    box = customer.bounding_box()
    assert box is not None and box["y"] < PHONE["height"]
    rows = desk.page.get_by_role("region", name="Items").locator("tbody tr:visible")
    expect(rows).to_have_count(12)
    desk.button("Show all 40 items").click()
    expect(rows).to_have_count(40)
    desk.pay()
    expect(desk.button("Start production")).to_be_visible()
    expect(rows).to_have_count(40)


def test_each_page_has_one_main_button_and_deleting_is_in_a_menu(desk: Desk) -> None:
    order = commissioned(desk.api)
    webhook = desk.api.webhook("http://127.0.0.1:9/one", "order.created")
    records = {
        f"/orders/{order['id']}": "Delete",
        f"/products/{order['lineItems'][0]['productId']}": "Delete",
        f"/customers/{order['customer']['id']}": "Erase",
        f"/settings/developer/webhooks/{webhook['id']}": "Delete",
    }
    lists = ["/orders", "/orders/new", "/products", "/products/new", "/customers", "/import"]
    many = {}
    for address in [*records, *lists, "/jobs", "/settings/keys"]:
        desk.open(address)
        main = desk.main_action.all_inner_texts()
        if len(main) > 1:
            many[address] = main
        if address in records:
            expect(desk.button(records[address])).to_have_count(0)
            desk.button("More").click()
            expect(desk.button(records[address])).to_be_visible()
            desk.page.keyboard.press("Escape")
            expect(desk.button(records[address])).to_be_hidden()
            expect(desk.button("More")).to_be_focused()
    assert many == {}
    desk.api.call("DELETE", f"webhooks/{webhook['id']}")


def test_an_empty_list_has_one_main_button(desk: Desk) -> None:
    none = {"data": [], "total": 0, "pagination": {"page": 1, "limit": 1, "total": 0, "next": None}}
    desk.page.route(
        re.compile("/api/admin/(orders|products|customers|jobs|webhooks)[?]"),
        lambda route: route.fulfill(json=none),
    )
    for address in ("/orders", "/products", "/customers", "/jobs", "/settings/developer/webhooks"):
        desk.open(address)
        expect(desk.page.locator("main .empty")).to_be_visible()
        expect(desk.main_action).to_have_count(1)
