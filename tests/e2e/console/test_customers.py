"""Customers in the console: creating, changing, merging, erasing; and addresses of orders."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk, accessible

ADDRESS = {"address1": "7 Cliff Road", "city": "Whitby", "countryCode": "GB", "postalCode": "YO21"}


def fill_address(desk: Desk, **fields: str) -> None:
    for label, value in fields.items():
        desk.dialog.get_by_label(label.replace("_", " "), exact=True).fill(value)
    desk.dialog.get_by_label("Country", exact=True).select_option("GB")
    desk.dialog.get_by_role("button", name="Save address").click()


def test_a_customer_is_created_and_changed(desk: Desk) -> None:
    desk.open("/customers")
    desk.page.get_by_role("link", name="Add customer").first.click()
    desk.heading("New customer")
    desk.label("Note").fill("Comes on Fridays")
    desk.button("Add customer").click()
    expect(desk.field("email").locator(".error")).to_contain_text("unless there is a phone")
    desk.label("Email").fill("hilda@whitby.example")
    desk.label("First name").fill("Hilda")
    desk.label("Phone").fill("01947 600000")
    desk.button("Add customer").click()
    desk.heading("Hilda")
    desk.open_edit()
    desk.label("Last name").fill("Strand")
    desk.button("Save").click()
    desk.heading("Hilda Strand")
    desk.button("Add address").click()
    accessible(desk)
    fill_address(desk, Street_and_number="7 Cliff Road", City="")
    expect(desk.dialog.locator('[data-field="city"] .error')).not_to_be_empty()
    fill_address(desk, City="Whitby")
    expect(desk.page.locator("address")).to_contain_text("United Kingdom")
    desk.button("Add address").click()
    fill_address(desk, Street_and_number="1 Quay", City="Hull")
    expect(desk.page.locator("address")).to_have_count(2)
    desk.button("Make default address 2").click()
    expect(desk.button("Make default address 1")).to_be_visible()
    accessible(desk)
    made = desk.api.get(f"customers/{desk.page.url.rpartition('/')[2]}")
    assert (made["lastName"], made["note"]) == ("Strand", "Comes on Fridays")
    assert made["defaultAddressId"] == made["addresses"][1]["id"]
    desk.more("Delete")
    desk.dialog.get_by_role("button", name="Delete").click()
    desk.heading("Customers")


def test_a_taken_email_is_shown_at_its_field(desk: Desk) -> None:
    desk.api.post("customers", {"email": "taken@whitby.example"})
    desk.shown(desk.api.post("customers", {"email": "one@whitby.example", "firstName": "Una"}))
    desk.open_edit()
    desk.label("Email").fill("taken@whitby.example")
    desk.button("Save").click()
    expect(desk.field("email").locator(".error")).to_contain_text("Another customer")


def test_a_link_to_an_address_names_no_other_receiver(desk: Desk) -> None:
    email = "ann@shop.example?bcc=eve%40evil.example&body=x"
    customer = desk.shown(desk.api.post("customers", {"email": email}))
    sent_to = "mailto:ann@shop.example%3Fbcc%3Deve%2540evil.example%26body%3Dx"
    expect(desk.page.get_by_role("link", name=email).last).to_have_attribute("href", sent_to)
    product = desk.api.product("Sent", variants=[{"stock": 9}])
    desk.shown(desk.api.order(product, customer={"id": customer["id"]}))
    expect(desk.page.get_by_role("link", name=email).last).to_have_attribute("href", sent_to)


def test_two_customers_are_merged_and_one_is_erased(desk: Desk) -> None:
    twin = desk.api.order("Kipper", customer={"email": "bram@twin.example", "firstName": "Twin  I"})
    bram = desk.api.post("customers", {"email": "bram@whitby.example", "firstName": "Bram"})
    desk.open(f"/customers/{twin['customer']['id']}")
    desk.more("Merge")
    desk.dialog.get_by_role("combobox", name="Merge into").press_sequentially("bram@whitby")
    desk.dialog.get_by_role("option", name="Bram").click()
    desk.dialog.get_by_label("Type Twin I to confirm").fill("Twn")
    desk.dialog.get_by_role("button", name="Merge").click()
    expect(desk.dialog.locator('[data-field="confirm"] .error')).to_have_text("This is not Twin I.")
    accessible(desk)
    desk.dialog.get_by_label("Type Twin I to confirm").fill("Twin I")
    desk.dialog.get_by_role("button", name="Merge").click()
    desk.heading("Bram")
    number = f"#{twin['number']}"
    expect(desk.page.get_by_role("link", name=number, exact=True)).to_be_visible()
    desk.open("/customers")
    desk.open(f"/customers/{twin['customer']['id']}")  # who it is now
    desk.heading("Bram")
    desk.go_back()
    desk.heading("Customers")
    desk.go_forward()
    desk.heading("Bram")
    desk.more("Erase")
    desk.dialog.get_by_label("Type Bram to confirm").fill("Bram")
    desk.dialog.get_by_role("button", name="Erase").click()
    desk.heading("Erased customer")
    expect(desk.page.get_by_text("This customer was erased on")).to_be_visible()
    accessible(desk)
    assert desk.api.get(f"customers/{bram['id']}")["email"] is None
    desk.page.get_by_role("link", name=number, exact=True).click()
    expect(desk.page.get_by_role("link", name="No name")).to_be_visible()


def test_an_order_gets_addresses_and_a_label(desk: Desk) -> None:
    person = {"firstName": "Mina", "email": "mina@whitby.example", "addresses": [ADDRESS]}
    mina = desk.api.post("customers", person)
    order = desk.shown(desk.api.order("Lantern", customer={"id": mina["id"]}))
    desk.open_edit()
    desk.label("Tracking number").fill("1Z-7")
    desk.button("Copy from customer: shipping address").click()
    expect(desk.page.locator(".shippingAddress address")).to_contain_text("7 Cliff Road")
    expect(desk.label("Tracking number")).to_have_value("1Z-7")
    desk.unfold("Billing address")
    desk.button("Add: billing address").click()
    fill_address(desk, Company="Murray Ltd", Street_and_number="2 Bank", City="Exeter")
    expect(desk.page.locator(".billingAddress address")).to_contain_text("Murray Ltd")
    accessible(desk)
    place = desk.page.locator(".shippingAddress")
    label = place.get_by_role("button", name="Print label", include_hidden=True)
    printed = desk.print_page(label)
    assert "7 Cliff Road" in printed and "YO21 Whitby" in printed
    assert "Murray" not in printed and "Lantern" not in printed and "$" not in printed
    desk.page.emulate_media(media="screen")
    desk.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    place.get_by_role("button", name="Copy label").click()
    # The button says so for two seconds only.
    expect(desk.page.get_by_role("status").filter(has_text="Copied.")).to_have_count(1)
    now = desk.api.get(f"orders/{order['id']}")
    assert now["shippingAddress"]["postalCode"] == "YO21"
    assert now["billingAddress"]["company"] == "Murray Ltd"


def test_other_input_is_kept_while_an_address_is_saved(desk: Desk) -> None:
    person = {"firstName": "Ida", "email": "ida@whitby.example", "addresses": [ADDRESS, ADDRESS]}
    ida = desk.shown(desk.api.post("customers", person))
    desk.open_edit()
    desk.label("Note").fill("Rings twice")
    desk.button("Make default address 2").click()
    expect(desk.button("Make default address 1")).to_be_visible()
    expect(desk.label("Note")).to_have_value("Rings twice")
    # The address said "Saved.", too: what counts is the answer.
    with desk.page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
        desk.button("Save").click()
    assert saved.value.ok
    assert desk.api.get(f"customers/{ida['id']}")["note"] == "Rings twice"


@pytest.mark.parametrize("known", [True, False])
def test_a_new_order_with_an_address_takes_no_extra_keys(desk: Desk, known: bool) -> None:
    name = "Compass" if known else "Sextant"
    desk.api.product(name)
    query = ""
    if known:
        person = {"email": "lucy@whitby.example", "addresses": [ADDRESS]}
        query = f"?customer={desk.api.post('customers', person)['id']}"
    desk.open(f"/orders/new{query}")
    desk.label("Find a product").press_sequentially(name.lower())
    expect(desk.page.get_by_role("option", name=name)).to_be_visible()
    desk.page.keyboard.press("ArrowDown")
    desk.page.keyboard.press("Enter")
    desk.unfold("Shipping address")
    if known:
        desk.button("Copy from customer").click()
    else:
        desk.unfold("Customer")
        desk.label("Email").fill("quincey@whitby.example")
        desk.label("Phone").fill("01947 1")
        desk.button("Add address").click()
        fill_address(desk, Street_and_number="7 Cliff Road")
        expect(desk.dialog.locator('[data-field="city"] .error')).to_have_text("is required")
        fill_address(desk, City="Whitby")
    expect(desk.page.locator("address")).to_contain_text("Whitby")
    desk.label("Find a product").focus()
    desk.page.keyboard.press("Control+Enter")
    order = desk.placed_order()
    assert order["shippingAddress"]["city"] == "Whitby"
    assert order["customer"]["phone"] == (None if known else "01947 1")


def test_a_customer_has_a_phone_in_the_list_and_what_is_due_on_the_page(desk: Desk) -> None:
    own = {"firstName": "Dorothea", "lastName": "Owing", "phone": "030 55512"}
    person = desk.api.post("customers", {"email": "dorothea@owing.example", **own})
    for name, paid in (("Vase of Dorothea", "1"), ("Bowl of Dorothea", "5")):
        order = desk.api.order(name, customer={"id": person["id"]})
        payment = {"amount": paid, "method": "CASH"}
        desk.api.post(f"orders/{order['id']}/payments", payment)
    desk.open("/customers?search=owing")
    expect(desk.page.get_by_role("cell", name="030 55512")).to_be_visible()
    desk.shown(person)
    desk.page.get_by_role("link", name="$4.00 of 1 order").click()
    desk.heading("Orders")
    expect(desk.page.locator("tbody tr")).to_have_count(1)
    expect(desk.label("Balance")).to_have_value("due")


def test_what_happened_to_a_customer_is_shown_in_sentences(desk: Desk) -> None:
    person = desk.api.post("customers", {"email": "told@whitby.example", "firstName": "Thea"})
    order = desk.api.order("Tern in oak", customer={"id": person["id"]})
    desk.api.post(f"orders/{order['id']}/payments", {"amount": "2", "method": "CASH"})
    desk.api.move(order, "PAID", "PROCESSING")
    desk.api.call("PATCH", f"customers/{person['id']}", {"tags": ["regular"], "phone": "030 1"})
    entries = f"audit?customerId={person['id']}"
    until(lambda: len(desk.api.get(entries)["data"]) == 6, 120)
    desk.shown(person)
    expect(desk.page.locator(".history li")).to_have_count(6)
    entries_shown = [
        one.split("\n")[:-1] for one in desk.page.locator(".history li").all_inner_texts()
    ]
    its = f"Order #{order['number']}"
    assert sorted(entries_shown[0]) == ["Phone: 030 1", "Tags: regular added"]
    assert entries_shown[1:] == [
        [f"{its} in processing"],
        [f"{its} confirmed"],
        [f"{its}: $2.00 received by cash"],
        [f"{its} created, $5.00"],
        ["Created"],
    ]
    text = desk.page.locator("main").inner_text()
    assert not re.search("(cus|ord|pay|li)_|None|→", text), text
    desk.unfold("Every change")
    expect(desk.page.locator(".history").last).to_contain_text("Amount paid: 0.00 → 2.00")
