"""A change whose answer was lost is made again: it is said to be made, and was made once."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk, press


def typed(desk: Desk, fields: dict[str, str]) -> None:
    for name, text in fields.items():
        desk.field(name).locator("input, textarea").last.fill(text)


def address(desk: Desk) -> None:
    typed(desk, {"address1": "Am Deich 1", "city": "Husum"})
    desk.dialog.get_by_label("Country").select_option("DE")


def customer(desk: Desk) -> dict:
    made: dict = desk.api.post("customers", {"email": f"{uuid4().hex[:8]}@again.example"})
    return made


def cancelled(desk: Desk) -> dict:
    order = desk.api.order("Kept", 7)
    desk.api.post(f"orders/{order['id']}/payments", {"amount": 30, "method": "CASH"})
    desk.api.move(order, "CANCELLED")
    return dict(order)


# Of a record: the button that opens its form, what is typed, and the button that sends it.
CHANGES: dict[str, tuple[Callable[[Desk], dict], str, Callable[[Desk], None], str]] = {
    "variant": (
        lambda desk: desk.api.product("Sized", variants=[{"title": "S", "stock": 2}]),
        "Add a variant",
        lambda desk: typed(
            desk, {"price": "6", "variants.1.title": "M", "variants.1.price": "7,5", "tags": "a, a"}
        ),
        "Save",
    ),
    "address of a customer": (customer, "Add address", address, "Save address"),
    "address of an order": (
        lambda desk: desk.api.order("Sent"),
        "Add: shipping address",
        address,
        "Save address",
    ),
    "kept deposit": (
        cancelled,
        "Keep a deposit",
        lambda desk: typed(desk, {"retained": "30"}),
        "Save",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_a_record_is_not_asked_about(desk: Desk, name: str) -> None:
    make, opener, fill, send = CHANGES[name]
    desk.shown(make(desk))
    path = desk.page.url.rpartition("#/")[2]
    press(desk, opener)
    fill(desk)
    lost = desk.lost(f"**/api/admin/{path}", method="PUT" if name == "variant" else "PATCH")
    desk.button(send).last.click()
    expect(desk.page.locator("body")).to_contain_text("may or may not have been saved")
    done = desk.api.get(path)
    if name == "kept deposit":
        typed(desk, {"retained": "30.00"})
    desk.button(send).last.click()
    expect(desk.page.locator(".toast").last).to_contain_text("saved", ignore_case=True)
    expect(desk.dialog).to_have_count(0)
    assert lost == [200]
    assert desk.api.get(path) == done


def test_a_new_variant_is_added_once_also_if_someone_else_edits_it(desk: Desk) -> None:
    make, opener, fill, send = CHANGES["variant"]
    made = desk.shown(make(desk))
    press(desk, opener)
    fill(desk)
    path = f"products/{made['id']}"
    desk.lost(f"**/api/admin/{path}", method="PUT")
    desk.button(send).click()
    expect(desk.page.locator("body")).to_contain_text("may or may not have been saved")
    small, medium = ({"id": each["id"]} for each in desk.api.get(path)["variants"])
    theirs = [small, {**medium, "price": 8}, {"title": "L", "stock": 1}]
    desk.api.call("PUT", path, {"variants": theirs})
    desk.button(send).click()
    price = desk.dialog.get_by_role("row", name="M · Price")
    expect(price.get_by_role("cell").nth(2)).to_have_text("8.00")
    expect(price.get_by_role("cell").nth(3)).to_have_text("7.50")
    desk.button("Save my version").click()
    expect(desk.page.locator(".toast").last).to_have_text("Saved.")
    now = [(each["title"], each["price"]) for each in desk.api.get(path)["variants"]]
    assert sorted(now) == [("L", "6.00"), ("M", "7.50"), ("S", "6.00")]


def test_a_move_of_stock_is_made_once_whatever_is_typed_after_its_lost_answer(desk: Desk) -> None:
    made = desk.api.product("Moved once", variants=[{"title": "S", "stock": 2}, {"title": "M"}])
    variant = made["variants"][0]["id"]
    desk.open("/products/low-stock")
    desk.lost("**/stock")
    field = desk.label("Stock of Moved once · S")
    for typed in ("+5", "+6"):
        field.fill(typed)
        field.press("Enter")
        if typed == "+5":
            expect(desk.page.locator("main")).to_contain_text("may or may not have been saved")
    expect(desk.page.locator("main")).to_contain_text("What you sent before is saved now.")
    expect(field).to_have_value("7")
    desk.page.unroute_all()
    for typed, said in (("+9", "Nothing was sent."), ("+1", "stock is now 8")):
        desk.page.context.set_offline(typed == "+9")
        field.fill(typed)
        field.press("Enter")
        expect(desk.page.locator("body")).to_contain_text(said)
    expect(field).to_have_value("8")
    desk.shown(made)
    desk.lost("**/stock")
    stock = desk.field("variants.0.stock").locator("input")
    for typed in ("+1", "+3"):
        stock.fill(typed)
        desk.button("Save").click()
        said = "may or may not" if typed == "+1" else "What you sent before is saved now."
        expect(desk.page.locator("main")).to_contain_text(said)
    expect(stock).to_have_value("+3")
    assert desk.api.get(f"products/{made['id']}")["variants"][0]["stock"] == 9
    desk.button("Save").click()
    expect(stock).to_have_value("12")
    moves = f"stock/movements?variantId={variant}"
    until(lambda: [each["by"] for each in desk.api.get(moves)["data"]][:2] == [3, 1])


def test_what_is_deleted_is_said_to_be_deleted(desk: Desk) -> None:
    made = desk.shown(desk.api.product("Deleted twice"))
    lost = desk.lost(f"**/products/{made['id']}", method="DELETE")
    for said in ("may or may not have been saved", "Deleted twice deleted."):
        press(desk, "Delete")
        desk.dialog.get_by_role("button", name="Delete").click()
        expect(desk.page.locator(".toast").last).to_contain_text(said)
    desk.heading("Products")
    assert lost == [200]


def test_a_key_that_is_revoked_leaves_the_list(desk: Desk) -> None:
    name = f"Lost {uuid4().hex[:8]}"
    key = desk.api.post("keys", {"name": name, "role": "READER"})
    desk.open("/settings/keys")
    desk.lost(f"**/keys/{key['id']}", method="DELETE")
    for said in ("may or may not have been saved", f"{name} revoked."):
        desk.button(f"Revoke {name}").click()
        desk.dialog.get_by_role("button", name="Revoke").click()
        expect(desk.page.locator(".toast").last).to_contain_text(said)
    expect(desk.button(f"Revoke {name}")).to_have_count(0)


def test_a_count_that_is_applied_is_said_to_be_applied(desk: Desk) -> None:
    product = desk.api.product("Counted twice", variants=[{"stock": 5}])
    variant = product["variants"][0]["id"]
    count = desk.api.post("stock/counts", {"name": "Shelf", "variantIds": [variant]})
    lines = {"lines": [{"variantId": variant, "counted": 3}]}
    desk.api.call("PUT", f"stock/counts/{count['id']}/lines", lines)
    desk.open(f"/products/counts/{count['id']}")
    desk.lost("**/apply")
    for said in ("may or may not have been saved", "1 variant changed."):
        desk.button("Apply").click()
        desk.dialog.get_by_role("button", name="Apply").click()
        expect(desk.page.locator(".toast").last).to_contain_text(said)
    assert desk.api.get(f"products/{product['id']}")["variants"][0]["stock"] == 3
