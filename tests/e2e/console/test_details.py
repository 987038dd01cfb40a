"""Names and details that pages show, also when printed."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk
from tests.webhooks.receiver import Receiver

ARABIC = "مصباح"
A4 = 680  # pixels between its margins


def ordered(desk: Desk, name: str, **fields: Any) -> Any:
    return desk.api.order(desk.api.product(name, price="12.00"), 2, **fields)


def test_a_delivery_shows_its_order_and_the_answer(desk: Desk) -> None:
    with Receiver() as receiver:
        urls = [receiver.url(f"/status/503?shop={n}") for n in range(2)]
        hooks = [desk.api.webhook(u, "order.created") for u in urls]
        order = ordered(desk, "Told of")
        for hook in hooks:  # each is tried, and waits
            waiting = f"webhooks/{hook['id']}/deliveries?status=RETRYING"
            until(lambda waiting=waiting: desk.api.get(waiting)["data"])
        desk.open(f"/settings/developer/deliveries?webhook={hooks[0]['id']}")
        row = desk.page.get_by_role("row").filter(has_text=f"Order #{order['number']}")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("HTTP 503")
        expect(row.get_by_role("cell").nth(3)).not_to_be_empty()  # the next attempt
        desk.label("Status").select_option("DELIVERED")
        expect(row).to_have_count(0)
        desk.open(f"/orders/{order['id']}")
        expect(desk.page.locator(".deliveries > *")).to_have_count(1)
        line = desk.page.locator(".deliveries summary")
        expect(line).to_have_text(re.compile(r"^Webhooks: 0 of \d+ delivered$"))
        line.click()
        deliveries = desk.page.get_by_role("region", name="Deliveries")
        expect(deliveries).to_contain_text("order.created")
        expect(deliveries).to_contain_text("HTTP 503")
        # Webhooks of one host have titles of their own.
        titles = set()
        for hook in hooks:
            desk.open(f"/settings/developer/webhooks/{hook['id']}")
            titles.add(desk.page.locator("h1").inner_text())
        assert len(titles) == 2
        for hook in hooks:
            desk.api.call("DELETE", f"webhooks/{hook['id']}")


@pytest.mark.journey
def test_orders_are_bulk_edited_after_a_confirmation_and_undone(desk: Desk) -> None:
    orders = [ordered(desk, f"Together {n}", salesRepId="emp_together") for n in range(2)]
    desk.select_all("/orders?salesRepId=emp_together")
    desk.button("Tags and sales rep").click()
    desk.dialog.get_by_label("Add tags").fill("van-2")
    desk.dialog.get_by_role("button", name="Continue").click()
    change = desk.dialog.get_by_role("button", name="Change 2 orders")
    expect(change).to_be_focused()
    assert [desk.api.get(f"orders/{order['id']}")["tags"] for order in orders] == [[], []]
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".toast").last).to_contain_text("2 orders changed.")
    assert [desk.api.get(f"orders/{order['id']}")["tags"] for order in orders] == [["van-2"]] * 2
    # Once the list is drawn again, the focus is somewhere in it.
    expect(desk.page.locator("main :focus")).to_be_visible()
    expect(desk.button("Undo")).to_be_visible()
    desk.page.keyboard.press("Control+z")
    expect(desk.page.locator(".toast").last).to_have_text("Undone: 2 records.")
    assert [desk.api.get(f"orders/{order['id']}")["tags"] for order in orders] == [[], []]


@pytest.mark.parametrize("width", [768, 1920])
def test_columns_are_shown_if_there_is_room(another: Callable[..., Desk], width: int) -> None:
    desk = another(viewport={"width": width, "height": 900})
    order = ordered(desk, "Wide", source="IN_PERSON", paymentStatus="PAID")
    desk.open("/orders")
    names = ("Order", "Date", "Customer", "Status", "Payment", "Source", "Items", "Total")
    for name in names:
        expect(desk.page.get_by_role("columnheader", name=name, exact=True)).to_be_visible()
    titles = desk.page.get_by_role("columnheader").all_inner_texts()
    row = desk.page.get_by_role("row").filter(has_text=f"#{order['number']}")
    expect(row.get_by_role("cell").nth(titles.index("Items"))).to_have_text("2")
    expect(desk.page.get_by_role("cell", name="In person").first).to_be_visible()
    desk.api.post("customers", {"email": f"{width}@wide.example", "firstName": "Wide"})
    desk.open(f"/customers?search={width}@wide.example")
    email = desk.page.get_by_role("table").get_by_text(f"{width}@wide.example")
    expect(email.locator("visible=true")).to_have_count(1)


def test_an_order_prints_as_an_invoice_and_a_packing_slip_without_prices(desk: Desk) -> None:
    place = {"address1": "7 Cliff Road", "city": "Whitby", "countryCode": "GB"}
    bill = {"address1": "2 Bank", "city": "Exeter", "countryCode": "GB"}
    order = ordered(desk, "On paper", shippingAddress=place, billingAddress=bill)
    box = {"title": "Gift box", "price": 9, "quantity": 1, "discount": {"amount": 4}}
    edit = {"add": [box | {"note": "With a ribbon"}], "discount": {"amount": 5}, "shipping": 3}
    desk.api.post(f"orders/{order['id']}/edit", edit | {"reason": "Asked"})
    desk.open(f"/orders/{order['id']}")
    desk.filled()
    desk.page.emulate_media(media="print", color_scheme="dark")
    ink = "getComputedStyle(document.body).color"
    assert desk.page.evaluate(ink) == "rgb(32, 36, 31)", "dark, on white paper"
    whole, slip = (
        desk.print_page(desk.page.get_by_role("button", name=name, include_hidden=True))
        for name in ("Print order", "Print packing slip")
    )
    for text in (f"Order #{order['number']}", "On paper", "7 Cliff Road", "With a ribbon"):
        assert text in whole and text in slip
    assert "Discount $4.00" in whole and "$27.00" in whole and "2 Bank" in whole
    assert "$" not in slip and "2 Bank" not in slip and order["id"] not in whole
    for text in ("History", "Sign out", "Webhook", "Print", "Save"):
        assert text not in whole and text not in slip
    desk.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert desk.page.locator("body").inner_text() == whole, "what Ctrl+P prints"


def test_a_slip_has_the_pieces_to_send_and_the_order_its_payments(desk: Desk) -> None:
    order = ordered(desk, "Slipped")
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "20", "method": "CASH"})
    line = {"lineItemId": order["lineItems"][0]["id"], "quantity": 1}
    desk.api.post(f"orders/{order['id']}/refunds", {"lines": [line], "method": "CASH"})
    desk.api.call("PATCH", f"orders/{order['id']}", {"note": "Ring twice"})
    desk.open(f"/orders/{order['id']}")
    desk.page.emulate_media(media="print")
    body = desk.page.locator("body")
    expect(body).to_contain_text("$20.00 paid, cash")
    expect(body).to_contain_text("refunded, cash")
    quantity = desk.page.get_by_role("region", name="Items").locator("td.number").first
    expect(quantity).to_have_text("2", use_inner_text=True)
    slip = desk.page.get_by_role("button", name="Print packing slip", include_hidden=True)
    text = desk.print_page(slip)
    expect(quantity).to_have_text("1", use_inner_text=True)
    assert "Ring twice" in text and "$" not in text and "refunded" not in text


@pytest.mark.parametrize("page", ["/orders", "/products", "/customers", "/orders/shipments"])
def test_a_list_prints_all_its_columns_and_no_controls(desk: Desk, page: str) -> None:
    long = {"firstName": "Wilhelmina Charlotte", "lastName": "von Hohenfels-Oldenburg"}
    many = {"customer": {"email": "wilhelmina@long-names.example", **long}}
    sku = "LONG-SKU-OF-A-SUPPLIER-1"
    made = desk.api.product("Chair with arms", sku=sku, variants=[{"cost": "2", "stock": 9}])
    order = desk.api.order(made, salesRepId="emp_annegret", source="PRIVATE_COMMISSION", **many)
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "1", "method": "CASH"})
    desk.page.set_viewport_size({"width": A4, "height": 900})
    desk.open(page)
    desk.filled()
    desk.page.emulate_media(media="print")
    width = desk.page.evaluate("document.documentElement.scrollWidth")
    assert width <= A4
    heads = desk.page.locator("th:not(.tick)")
    for head in heads.all():
        box = head.bounding_box()
        assert box and box["x"] + box["width"] <= A4, head.inner_text()
    if page == "/orders":
        expect(heads).to_have_count(10)
    controls = desk.page.locator("button:not(.sort), select, input, .button").filter(visible=True)
    expect(controls).to_have_count(0)
    assert desk.page.pdf(format="A4").startswith(b"%PDF")


def test_an_order_shows_names_instead_of_codes(desk: Desk) -> None:
    order = ordered(desk, ARABIC, source="IN_PERSON", paymentMethod="CARD_TERMINAL")
    desk.api.move(order, "PAID")
    desk.open(f"/orders/{order['id']}")
    for said in ("In person", "received, card terminal", "Confirmed"):
        expect(desk.page.locator("main")).to_contain_text(said)
    text = desk.page.locator("main").inner_text()
    for code in ("IN_PERSON", "CARD_TERMINAL", "none →", "PENDING"):
        assert code not in text
    # A right-to-left name does not swap with the numbers next to it.
    expect(desk.page.locator("bdi", has_text=ARABIC)).to_have_count(1)


@pytest.mark.parametrize(("typed", "made_it"), [("+12", 14), ("20", 20)])
def test_an_undone_stock_move_leaves_sales_since_the_page_was_drawn(
    desk: Desk, typed: str, made_it: int
) -> None:
    name = f"Backstaff {made_it}"
    variants = [{"title": "Default", "stock": 4}]
    product = desk.api.product(name, variants=variants)
    desk.open("/products/low-stock")
    (variant,) = product["variants"]
    sold = {"variantId": variant["id"], "by": -2, "reason": "SOLD"}
    desk.api.post(f"products/{product['id']}/stock", {"moves": [sold]})
    field = desk.label(f"Stock of {name} · Default")
    field.fill(typed)
    field.press("Enter")
    expect(field).to_have_value(str(made_it))
    desk.button("Undo").click()
    expect(field).to_have_value("2")
    (after,) = desk.api.get(f"products/{product['id']}")["variants"]
    assert after["stock"] == 2
