"""Vendors, types, tags, sales reps and payment methods are chosen from what the shop has used."""

from uuid import uuid4

from playwright.sync_api import expect

from tests.e2e.console.desk import Desk

RUN = uuid4().hex[:8]


def test_a_filter_offers_the_values_in_use_with_their_numbers(desk: Desk) -> None:
    kind = f"Rain Jackets {RUN}"
    for name, of in (("Skua one", kind), ("Skua two", kind), ("Skua three", f"Beanies {RUN}")):
        desk.api.post("products", {"name": f"{name} {RUN}", "price": 5, "type": of})
    desk.api.wait_for_value("products", "type", f"Beanies {RUN}")  # of the last one
    desk.open(f"/products?search={RUN}")
    expect(desk.page.get_by_role("row")).to_have_count(4)
    desk.label("Type").press_sequentially("JACK")
    option = desk.page.get_by_role("option").filter(has_text=kind)
    expect(option).to_contain_text("2")
    desk.page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    desk.page.keyboard.press("Enter")
    expect(desk.label("Type")).to_have_value(kind)
    expect(desk.page.locator(".count")).to_have_text("2 products")
    desk.label("Type").press("ArrowDown")
    desk.page.wait_for_timeout(1000)
    expect(desk.page.locator(".found li")).to_have_count(0)
    # Text that is no value selects the value with a word that begins with it.
    desk.label("Type").fill("bean")
    expect(desk.page.locator(".count")).to_have_text(f"1 product · Type: Beanies {RUN}")
    desk.label("Type").fill("Anchors")
    expect(desk.page.locator(".results")).to_contain_text("No products match")


def test_tags_are_added_one_after_the_other_and_new_ones_typed(desk: Desk) -> None:
    tags = [f"autumn{RUN}", f"moss{RUN}"]
    desk.api.post("products", {"name": "Tagged", "price": 5, "tags": tags})
    desk.api.wait_for_value("products", "tag", tags[1])
    made = desk.shown(
        desk.api.post("products", {"name": "Untagged", "price": 5, "tags": ["fresh"]})
    )
    desk.label("Tags").press("End")
    desk.label("Tags").press_sequentially(", autu")
    desk.page.get_by_role("option", name=tags[0]).click()
    expect(desk.label("Tags")).to_have_value(f"fresh, {tags[0]}, ")
    expect(desk.label("Tags")).to_be_focused()
    desk.label("Tags").press_sequentially(f"{RUN}-new")
    desk.save()
    assert desk.api.get(f"products/{made['id']}")["tags"] == ["fresh", tags[0], f"{RUN}-new"]


def test_the_till_offers_sales_reps_and_payment_methods(desk: Desk) -> None:
    sku = f"CHOICE-{RUN}".upper()
    before = {"salesRepId": f"emp_{RUN}", "paymentMethod": f"VOUCHER_{RUN.upper()}"}
    desk.api.order(desk.api.product("Sold", variants=[{"title": "One", "sku": sku}]), **before)
    desk.api.wait_for_value("orders", "salesRepId", before["salesRepId"])
    desk.api.wait_for_value("orders", "paymentMethod", before["paymentMethod"])
    desk.begin_order(sku)
    desk.button("Paid").click()
    expect(desk.button("Bank transfer")).to_be_visible()
    expect(desk.label("Payment method")).to_be_hidden()
    desk.button("Other").click()
    desk.label("Payment method").press_sequentially("vouch")
    desk.page.get_by_role("option", name=f"Voucher {RUN}").click()
    desk.unfold("Date, source and sales rep")
    desk.label("Sales rep").clear()  # of the name of the key
    desk.label("Sales rep").press_sequentially(RUN[:4])
    desk.page.get_by_role("option", name=RUN).click()
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Control+Enter")
    desk.placed_order()
    made = desk.api.get(f"orders?salesRepId={before['salesRepId']}")["data"][0]
    assert {name: made[name] for name in before} == before
