"""Nothing that is typed is lost: by an answer that draws the page again, by a change of page, by a
dialog that closes."""

import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Api, Desk, busy, held

RUN = uuid4().hex[:8].upper()


def sku(name: str) -> str:
    return f"TYPED-{name}-{RUN}"


def placed(api: Api, name: str, **fields: Any) -> Any:
    customer = {"email": f"{name.lower()}@typed.example", "firstName": name}
    return api.order(name, customer=customer, **fields)


def test_text_typed_during_a_move_stays_with_its_cursor(desk: Desk) -> None:
    order = desk.shown(placed(desk.api, "Whimbrel", paymentStatus="PAID"))
    desk.open_edit()
    with held(desk, "Start processing") as answer:
        desk.label("Note").click()
        desk.page.keyboard.type("call ")
        answer()
        desk.wait_for_status("Processing")
        desk.page.keyboard.type("before")
    expect(desk.label("Note")).to_have_value("call before")
    desk.save()
    assert desk.api.get(f"orders/{order['id']}")["note"] == "call before"


def test_a_question_about_unsaved_input_stays_while_it_is_not_saved(desk: Desk) -> None:
    """When a save that was under way ends well, the page is left."""
    desk.shown(placed(desk.api, "Dunlin"))
    desk.open_edit()
    desk.label("Note").fill("kept")
    wrong = {"code": "invalid", "errors": [{"field": "note", "message": "is too long"}]}
    for refused in (True, False):
        with held(desk, "Save") as answer:
            desk.page.evaluate("location.hash = '#/customers'")
            expect(desk.dialog).to_contain_text("have not been saved")
            if not refused:
                answer()
                continue
            answer(status=422, json={"message": "It is wrong.", **wrong})
            expect(desk.field("note").locator(".error")).to_have_text("is too long")
            desk.dialog.get_by_role("button", name="Stay").click()
            expect(desk.label("Note")).to_have_value("kept")
    desk.heading("Customers")
    expect(desk.dialog).to_have_count(0)


def test_a_question_about_a_dialog_ends_when_it_is_saved(desk: Desk) -> None:
    desk.shown(placed(desk.api, "Knot"))
    desk.button("Add: shipping address").click()
    for name, value in (("Street and number", "Am Deich 1"), ("City", "Husum")):
        desk.dialog.get_by_label(name).fill(value)
    desk.dialog.get_by_label("Country").select_option("DE")
    with held(desk) as answer:
        desk.button("Save address").click()
        desk.page.keyboard.press("Escape")
        expect(desk.button("Discard")).to_be_visible()
        answer()
        expect(desk.page.locator("address")).to_contain_text("Husum")
        expect(desk.dialog).to_have_count(0)


def test_text_typed_over_someone_elses_edit_is_asked_about(desk: Desk) -> None:
    order = desk.shown(placed(desk.api, "Bittern", paymentStatus="PAID"))
    desk.open_edit()
    desk.label("Note").fill("mine")
    desk.api.call("PATCH", f"orders/{order['id']}", {"note": "theirs"})
    desk.more("Start processing")
    expect(desk.page.locator(".toast")).to_contain_text("It is now confirmed")
    expect(desk.label("Note")).to_have_value("mine")
    desk.button("Save").click()
    expect(desk.dialog.get_by_role("row").filter(has_text="Note")).to_contain_text("theirs")
    desk.dialog.get_by_role("button", name="Save my version").click()
    expect(desk.page.locator(".toast").last).to_have_text("Saved.")
    assert desk.api.get(f"orders/{order['id']}")["note"] == "mine"


THEIRS = {"address1": "Hafen 2", "city": "Tönning", "countryCode": "DE"}


@pytest.mark.parametrize("theirs", [{"note": "theirs"}, {"shippingAddress": THEIRS}])
def test_an_address_is_saved_after_someone_elses_edit(desk: Desk, theirs: dict) -> None:
    """Without a question, unless it was the same address."""
    order = desk.shown(placed(desk.api, "Curlew"))
    desk.button("Add: shipping address").click()
    desk.dialog.get_by_label("Street and number").fill("Am Deich 1")
    desk.dialog.get_by_label("City").fill("Husum")
    desk.dialog.get_by_label("Country").select_option("DE")
    desk.api.call("PATCH", f"orders/{order['id']}", theirs)
    desk.button("Save address").click()
    if "shippingAddress" in theirs:
        row = desk.dialog.get_by_role("row").filter(has_text="Shipping address").get_by_role("cell")
        expect(row).to_have_text(
            ["Shipping address", "none", "Hafen 2, Tönning, DE", "Am Deich 1, Husum, DE"]
        )
        desk.button("Save my version").click()
    expect(desk.page.locator("address")).to_contain_text("Husum")
    expect(desk.label("Note")).to_have_value(str(theirs.get("note", "")))


def test_a_date_that_is_half_typed_is_asked_for(desk: Desk) -> None:
    """A browser has no value for it: a key would never expire, and an order would be of now."""
    desk.open("/settings/keys")
    desk.button("Create API key").click()
    desk.label("Name").fill("Half a date")
    desk.label("Expires").press_sequentially("12")
    desk.dialog.get_by_role("button", name="Create").click()
    expect(desk.field("expiresAt").locator(".error")).to_have_text("is incomplete")
    assert "Half a date" not in str(desk.api.get("keys"))
    desk.page.keyboard.press("Escape")
    desk.button("Discard").click()
    desk.api.product("Dated")
    desk.choose("Dated")
    desk.unfold("Date, source and sales rep")
    desk.label("Order date").press_sequentially("11202026")  # no time
    desk.button("Create order").click()
    expect(desk.field("orderDate").locator(".error")).to_have_text("is incomplete")
    expect(desk.label("Order date")).to_be_focused()


def test_a_refusal_is_shown_where_it_can_be_seen(desk: Desk) -> None:
    """At its field, though the page was drawn again; as a message, if the dialog was closed."""
    two = [THEIRS, {**THEIRS, "address1": "Am Deich 2"}]
    new = {"email": f"sanderling@{RUN}.example", "addresses": two}
    desk.shown(desk.api.post("customers", new))
    desk.open_edit()
    desk.label("Email").fill("no address")
    with held(desk, "Save") as answer:
        desk.button("Make default address 2").click()
        expect(desk.button("Make default address 1")).to_be_visible()
        answer()
        expect(desk.field("email").locator(".error")).not_to_be_empty()
    expect(desk.label("Email")).to_have_value("no address")
    desk.button("Add address").click()
    with held(desk, "Save address") as answer:
        desk.dialog.get_by_role("button", name="Cancel").click()
        answer()
        expect(desk.page.locator(".toast").last).to_contain_text("required")


def test_a_scan_during_a_sale_is_on_the_next_order(desk: Desk) -> None:
    desk.api.product("First", variants=[{"title": "A", "sku": sku("1")}])
    desk.api.product("Second", variants=[{"title": "B", "sku": sku("2")}])
    desk.begin_order(sku("1"))
    with held(desk) as answer:
        desk.page.keyboard.press("Control+Enter")
        busy(desk.button("Create order"))
        desk.scan(sku("2"))
        answer()
        expect(desk.page.locator(".toast").first).to_contain_text("created")
    expect(desk.page.locator(".order-lines .what")).to_have_count(1)
    expect(desk.page.locator(".order-lines .what")).to_contain_text("Second")
    desk.page.keyboard.press("Control+Enter")
    desk.placed_order()
    expect(desk.page.get_by_role("region", name="Items")).to_contain_text("Second")
    expect(desk.page.get_by_role("region", name="Items")).not_to_contain_text("First")


@pytest.mark.parametrize(
    ("address", "given", "create", "label"),
    [
        ("/products/new", {"Name": "Dotterel", "Price": "5"}, "Create product", "Description"),
        (
            "/customers/new",
            {"First name": "Dora", "Phone": "+49 1"},
            "Add customer",
            "Note",
        ),
    ],
)
def test_text_typed_during_a_create_goes_to_the_records_page(
    desk: Desk, address: str, given: dict[str, str], create: str, label: str
) -> None:
    text = "Small and tame"
    desk.open(address)
    for name, value in given.items():
        desk.label(name).fill(value)
    with held(desk, create) as answer:
        desk.label(label).fill(text)
        answer()
        expect(desk.button("Save")).to_be_visible()
    expect(desk.label(label)).to_have_value(text)
    desk.save()
    desk.reload()
    expect(desk.label(label)).to_have_value(text)


def test_a_scan_does_not_confirm_a_question(desk: Desk) -> None:
    draft = [{"title": "C", "sku": sku("DRAFT")}]
    desk.api.product("Drafted", status="DRAFT", variants=draft)
    desk.api.product("Third", variants=[{"title": "D", "sku": sku("3")}])
    desk.begin_order(sku("DRAFT"))
    sent = desk.sent()
    desk.page.keyboard.press("Control+Enter")
    expect(desk.dialog.get_by_role("button", name="Create order")).to_be_focused()
    desk.scan(sku("3"))
    expect(desk.page.locator("[name=quantity]")).to_have_count(2)
    expect(desk.dialog).to_be_visible()
    assert sent == []
    desk.dialog.get_by_role("button", name="Create order").click()
    table = desk.page.get_by_role("region", name="Items")
    expect(table).to_contain_text("Third")
    expect(table).to_contain_text("Drafted")


def test_a_test_of_a_webhook_goes_to_the_address_on_the_page(desk: Desk) -> None:
    webhook = desk.shown(desk.api.webhook("http://127.0.0.1:9/old"))
    desk.label("Endpoint URL").fill("http://127.0.0.1:9/new")
    desk.page.get_by_role("checkbox", name="order.created").check()
    desk.button("Send test").click()
    desk.dialog.get_by_role("button", name="Save and send").click()
    expect(desk.page.get_by_role("heading", level=1)).not_to_contain_text("127.0.0.1")
    saved = desk.api.get(f"webhooks/{webhook['id']}")
    assert (saved["url"], saved["events"]) == (
        "http://127.0.0.1:9/new",
        ["order.created", "order.paid"],
    )


def test_a_bulk_edit_that_is_confirmed_cannot_be_dismissed_unseen(desk: Desk) -> None:
    """What goes on is said, wherever the user is when it ends; and it can be undone there."""
    made = [desk.api.product(f"Bulk{RUN} {n}") for n in range(3)]

    def states() -> list[str]:
        return [desk.api.get(f"products/{each['id']}")["status"] for each in made]

    desk.select_all(f"/products?search=bulk{RUN}")
    desk.label(f"Select Bulk{RUN} 1").uncheck()
    desk.button("Set to archived").click()
    expect(desk.dialog).to_contain_text("2 products will be changed.")
    assert states() == ["ACTIVE"] * 3
    apply = desk.dialog.get_by_role("button", name="Change 2 products")
    with held(desk) as answer:
        apply.click()
        busy(apply)
        desk.page.keyboard.press("Escape")
        expect(desk.dialog.get_by_role("button", name="Cancel")).to_have_count(0)
        expect(desk.dialog).to_be_visible()
        answer()
        expect(desk.dialog).to_have_count(0)
    desk.page.evaluate("location.hash = '/customers'")
    desk.heading("Customers")
    expect(desk.page.locator(".toast").last).to_contain_text("2 products changed.")
    assert states() == ["ARCHIVED", "ACTIVE", "ARCHIVED"]
    desk.button("Undo").click()
    expect(desk.page.locator(".toast").last).to_contain_text("Undone: 2 records.")
    assert states() == ["ACTIVE"] * 3


def test_a_dialog_with_input_asks_before_it_closes(desk: Desk) -> None:
    desk.open("/customers")
    desk.page.evaluate("location.hash = '/settings/developer/webhooks'")
    desk.heading("Webhooks")
    desk.button("Add webhook").first.click()
    desk.dialog.get_by_label("Endpoint URL").fill("https://kept.example")
    for close in (lambda: desk.page.keyboard.press("Escape"), desk.go_back):
        close()
        question = desk.dialog.filter(has_text="will be lost")
        expect(question).to_be_visible()
        question.get_by_role("button", name=re.compile("Keep|Stay")).click()
        expect(desk.dialog.get_by_label("Endpoint URL")).to_have_value("https://kept.example")


def test_a_new_customer_with_a_known_email_is_asked_about(desk: Desk) -> None:
    known = {"email": f"ada@{RUN}.example", "firstName": "Ada", "lastName": "Byron"}
    ada = desk.api.post("customers", known)
    desk.api.product("Fourth", variants=[{"title": "E", "sku": sku("4")}])
    desk.begin_order(sku("4"))
    desk.unfold("Customer")
    desk.label("Email").fill(f"ada@{RUN}.example")
    desk.label("First name").fill("Bob")
    desk.label("Phone").fill("+44 20 7946 0000")
    desk.page.keyboard.press("Control+Enter")
    expect(desk.dialog).to_contain_text("Ada Byron")
    desk.dialog.get_by_role("button", name="Back").click()
    expect(desk.label("First name")).to_have_value("Bob")
    desk.button("Create order").click()
    desk.dialog.get_by_role("button", name="Use Ada Byron").click()
    desk.placed_order()
    assert desk.api.get(f"customers/{ada['id']}")["phone"] == "+44 20 7946 0000"


def test_a_wrong_bulk_change_keeps_the_others_and_names_the_field(desk: Desk) -> None:
    made = desk.api.product(f"Percent{RUN}", price="154.00")
    desk.select_all(f"/products?search=percent{RUN}")
    desk.button("More changes").click()
    desk.dialog.get_by_label("Add tags").fill("autumn")
    desk.dialog.get_by_label("Change prices by percent").fill("abc")
    desk.button("Continue").click()
    expect(desk.dialog.locator('[data-field="percent"] .error')).to_contain_text("must be a number")
    expect(desk.dialog.get_by_label("Add tags")).to_have_value("autumn")
    desk.dialog.get_by_label("Change prices by percent").fill("10 %")
    desk.button("Continue").click()
    row = desk.dialog.get_by_role("row").filter(has_text=f"Percent{RUN}")
    expect(row).to_contain_text("154.00 → 169.40")
    desk.button("Change 1 product").click()
    expect(desk.page.locator(".toast").last).to_contain_text("1 product changed.")
    after = desk.api.get(f"products/{made['id']}")
    assert (after["price"], after["tags"]) == ("169.40", ["autumn"])


def test_prices_are_rounded_without_a_percent_and_the_job_says_so(desk: Desk) -> None:
    made = desk.api.product(f"Round{RUN}", price="10.03")
    desk.select_all(f"/products?search=round{RUN}")
    desk.button("More changes").click()
    desk.dialog.get_by_label("Round prices to").fill("0,05")
    desk.button("Continue").click()
    desk.button("Change 1 product").click()
    expect(desk.page.locator(".toast").last).to_contain_text("1 product changed.")
    assert desk.api.get(f"products/{made['id']}")["price"] == "10.05"
    desk.open("/jobs")
    desk.page.get_by_role("link", name="Bulk edit").first.click()
    overview = desk.page.locator(".facts").last
    for said in ("prices rounded to 0.05", "1 selected", "Desk of owner"):
        expect(overview).to_contain_text(said)
    expect(desk.button("Undo bulk edit")).to_be_visible()


def test_a_price_is_typed_with_a_comma(desk: Desk) -> None:
    made = desk.shown(desk.api.product("Comma"))
    desk.label("Price").fill("12,50")
    desk.save()
    assert desk.api.get(f"products/{made['id']}")["price"] == "12.50"
    desk.label("Price").fill("cheap")
    desk.button("Save").click()
    expect(desk.field("price").locator(".error")).to_have_text("must be an amount, such as 12.50")


def test_what_was_begun_survives_a_reload_and_a_key_that_ended(desk: Desk, owner: Api) -> None:
    """A product's fields, rows and moves of stock, beside what somebody else has saved."""
    begun = desk.page.get_by_text("What was begun here before is not saved yet.")
    rows = [{"title": "S", "sku": sku("S"), "stock": 4}, {"title": "M"}, {"title": "L"}]
    made = desk.shown(desk.api.product("Turnstone", vendor="Old", variants=rows))
    desk.label("Price").fill("7")
    desk.label("Stock of variant 1").fill("+5")
    desk.button("Remove variant 2").click()
    desk.button("Add a variant").click()
    desk.label("Title of variant 3").fill("XL")
    owner.call("PUT", f"products/{made['id']}", {"vendor": "New"})
    owner.call("DELETE", f"keys/{desk.api.get('me')['id']}")
    desk.reload()
    desk.page.get_by_label("API key").fill(owner.mint().key)
    desk.button("Sign in").click()
    expect(begun).to_be_visible()
    expect(desk.label("Price")).to_have_value("7")
    expect(desk.label("Stock of variant 1")).to_have_value("+5")
    expect(desk.label("Vendor")).to_have_value("New")
    expect(desk.label("Title of variant 3")).to_have_value("XL")
    desk.button("Save").click()
    expect(begun).to_have_count(0)
    # The stock is saved by a request of its own, before the rest.
    until(lambda: owner.get(f"products/{made['id']}")["price"] == "7.00")
    saved = owner.get(f"products/{made['id']}")
    assert saved["vendor"] == "New"
    assert [(v["title"], v["stock"]) for v in saved["variants"]] == [
        ("S", 9),
        ("L", None),
        ("XL", None),
    ]
    desk.reload()
    desk.heading("Turnstone")
    expect(begun).to_have_count(0)


def test_what_is_discarded_or_left_is_gone(desk: Desk) -> None:
    begun = desk.page.get_by_text("What was begun here before is not saved yet.")
    desk.open("/customers/new")
    desk.label("Phone").fill("030 7")
    desk.reload()
    expect(begun).to_be_visible()
    expect(desk.label("Phone")).to_have_value("030 7")
    desk.button("Discard").click()
    expect(desk.label("Phone")).to_have_value("")
    desk.label("Phone").fill("030 8")
    desk.page.get_by_role("link", name="Orders", exact=True).click()
    desk.dialog.get_by_role("button", name="Leave").click()
    desk.heading("Orders")
    desk.open("/customers/new")
    expect(desk.label("Phone")).to_have_value("")
    expect(begun).to_have_count(0)


def test_goods_that_were_scanned_are_added_once_over_a_reload(desk: Desk) -> None:
    one = desk.api.product("Godwit", sku=sku("GOD"), variants=[{"stock": 1}])
    desk.open("/products/receive")
    desk.scan(sku("GOD"))
    received = desk.page.get_by_label("Received of Godwit")
    expect(received).to_have_value("1")
    received.fill("4")
    desk.reload()
    expect(received).to_have_value("4")
    # The answer is lost, and so is the page.
    lost = "**/stock"
    desk.page.route(lost, lambda route: (route.fetch(), route.abort()))
    desk.button("Add to stock").click()
    expect(desk.button("Try again")).to_be_visible()
    desk.page.unroute(lost)
    desk.reload()
    expect(desk.page.locator(".toast").last).to_have_text("4 pieces added to the stock.")
    assert desk.api.get(f"products/{one['id']}")["variants"][0]["stock"] == 5
