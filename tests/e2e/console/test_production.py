"""Production in the console: a board that several people use at once, and the cards on it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.calls import Api, until
from tests.e2e.console.desk import DESKTOP, PHONE, Desk, accessible, day_from_today, held
from tests.e2e.console.test_typed import RUN

pytestmark = pytest.mark.usefixtures("same_day")

WINDOWS = [PHONE, DESKTOP | {"width": 1440}]
NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"


def commission(api: Api, title: str, *, quantity: int = 8, **line: Any) -> Any:
    """A paid order of one line that is made."""
    what = {} if "variantId" in line else {"title": f"{title} {RUN}", "price": "90"}
    made = {**what, "quantity": quantity, "make": True, **line}
    person = {"firstName": "Ada", "lastName": "Wright", "email": f"ada{RUN}@example.com"}
    paid = {"paymentStatus": "PAID", "paymentMethod": "CASH"}
    return api.post("orders", {"lineItems": [made], "customer": person, **paid})


def work(api: Api, order: Any) -> Any:
    (found,) = api.get(f"orders/{order['id']}/work")["data"]
    return found


def change(api: Api, order: Any, fields: Any) -> Any:
    return api.call("PATCH", f"orders/{order['id']}/work/{order['lineItems'][0]['id']}", fields)


def column(desk: Desk, name: str) -> Locator:
    return desk.page.locator(f'section[aria-label="{name}"]')


def card(desk: Desk, order: Any, stage: str = "") -> Locator:
    place = column(desk, stage) if stage else desk.page
    return place.locator(".work").filter(has_text=f"#{order['number']} ")


def opener(desk: Desk, order: Any) -> Locator:
    return card(desk, order).get_by_role("button").first


@pytest.mark.parametrize("window", WINDOWS)
def test_a_card_moves_by_menu_and_by_keys_and_its_order_follows(
    another: Callable[..., Desk], window: Any
) -> None:
    desk = another(viewport=window)
    order = commission(desk.api, "Moved", dueOn=day_from_today(-3))
    desk.open("/production?due=overdue")
    expect(card(desk, order, "To do")).to_contain_text("0 of 8")
    expect(card(desk, order)).to_contain_text("Overdue since")
    accessible(desk)
    assert desk.page.evaluate(NO_OVERFLOW)
    if window == PHONE:
        desk.open("/production")
        desk.more(f"More: #{order['number']} Moved {RUN}")
        desk.page.get_by_role("button", name="Move to In work").locator("visible=true").click()
        expect(card(desk, order, "To do")).to_have_count(0)
        desk.page.locator(".tabs").get_by_role("button", name="In work").click()
        desk.reload()  # the address has the stage
        expect(card(desk, order, "In work")).to_be_visible()
        accessible(desk)
        opener(desk, order).focus()
        desk.page.keyboard.press("ArrowRight")
        expect(column(desk, "Done").locator(".work").first).to_contain_text(f"#{order['number']}")
    else:
        desk.open("/production")
        opener(desk, order).focus()
        steps = (("Right", "In work"), ("Right", "Done"), ("Left", "In work"))
        for step, stage in steps:
            desk.page.keyboard.press(f"Arrow{step}")
            expect(card(desk, order, stage)).not_to_have_attribute("aria-busy", "true")
            expect(opener(desk, order)).to_be_focused()
        card(desk, order).drag_to(column(desk, "Done"))
    expect(card(desk, order, "Done")).not_to_have_attribute("aria-busy", "true")
    assert (work(desk.api, order)["state"], work(desk.api, order)["made"]) == ("DONE", 8)
    made = desk.api.get(f"orders/{order['id']}")
    assert made["status"] == "IN_PRODUCTION" and made["producedAt"]
    desk.shown(order)
    expect(desk.main_action).to_have_text(["Ship"])
    expect(desk.button(f"Made, 8 of 8: Moved {RUN}")).to_be_visible()


@pytest.mark.parametrize("way", ["twice", "lost answer", "refused", "moved elsewhere"])
def test_a_move_is_made_once_or_put_back_with_the_reason(desk: Desk, way: str) -> None:
    order = commission(desk.api, f"Once {way}")
    desk.open("/production")
    opener(desk, order).focus()
    stays, reason, moves = "In work", "", ["stg_work"]
    if way == "twice":
        with held(desk) as answer:
            desk.page.keyboard.press("ArrowRight")
            desk.page.keyboard.press("ArrowRight")
            answer()
    elif way == "lost answer":
        lost = desk.lost("**/work/*", method="PATCH")
        desk.page.keyboard.press("ArrowRight")
        expect(desk.page.locator(".toast.bad")).to_contain_text("may or may not have been saved")
        assert lost == [200]
        opener(desk, order).focus()
        expect(card(desk, order, "In work")).to_be_visible()  # as it is read again
    elif way == "refused":
        desk.api.post(f"orders/{order['id']}/close", {"reason": "Gone", "method": "CASH"})
        desk.page.keyboard.press("ArrowRight")
        stays, reason, moves = "", "it cannot change", []
    else:
        change(desk.api, order, {"stage": "stg_done"})
        desk.page.keyboard.press("ArrowRight")
        stays, reason, moves = "Done", "Somebody else has moved it to Done", ["stg_done"]
    if reason:
        expect(desk.page.locator(".toast.bad")).to_contain_text(reason)
    if stays:
        expect(card(desk, order, stays)).not_to_have_attribute("aria-busy", "true")
    else:
        expect(card(desk, order)).to_have_count(0)
    assert [one["stage"] for one in work(desk.api, order)["moves"]] == moves


def test_two_at_one_board_see_each_others_moves_and_keep_what_they_type(
    another: Callable[..., Desk],
) -> None:
    one, other = another(), another("STAFF")
    order = commission(one.api, "Shared")
    typed = commission(one.api, "Typed")
    for desk in (one, other):
        desk.open("/production")
    opener(one, typed).click()
    one.dialog.get_by_label("Note of the workshop").fill("Wax ordered")
    opener(other, order).focus()
    other.page.keyboard.press("ArrowRight")
    expect(card(one, order, "In work")).to_be_attached()  # within 15 s
    change(other.api, typed, {"priority": 9})
    one.dialog.get_by_label("Made, of 8").fill("5")
    one.dialog.get_by_role("button", name="Save").click()
    expect(one.dialog).to_have_count(0)
    expect(card(one, typed)).to_contain_text("5 of 8")
    found = work(one.api, typed)
    assert (found["note"], found["made"], found["priority"]) == ("Wax ordered", 5, 9)
    opener(one, typed).click()
    expect(one.dialog).to_be_visible()
    change(other.api, typed, {"note": "Theirs"})
    one.dialog.get_by_label("Note of the workshop").fill("Mine")
    one.dialog.get_by_role("button", name="Save").click()
    expect(one.dialog).to_contain_text("Somebody else has changed the same")
    assert work(one.api, typed)["note"] == "Theirs"


@pytest.mark.parametrize("window", WINDOWS)
def test_a_card_says_what_is_made_and_prints_it_without_prices(
    another: Callable[..., Desk], window: Any
) -> None:
    desk = another(viewport=window)
    asked = [{"name": "Size", "required": True}, {"name": "Metal"}]
    fields = {"madeToOrder": True, "specification": asked, "leadDays": 3}
    product = desk.api.product(f"Ring {window['width']} {RUN}", price=90, **fields)
    line = {"variantId": product["variants"][0]["id"], "note": "Polished"}
    order = commission(
        desk.api,
        "Ring",
        **line,
        specification=[
            {"name": "Metal", "value": "Gold"},
        ],
    )
    desk.open(f"/production?product={product['id']}")
    expect(card(desk, order)).to_contain_text("Details missing")
    opener(desk, order).click()
    expect(desk.dialog).to_contain_text("Gold")
    accessible(desk)
    desk.dialog.get_by_label("Blocked, because").fill("No gold")
    desk.dialog.get_by_label("Assigned to").fill("Ann Lee")
    desk.dialog.get_by_role("button", name="Save").click()
    expect(card(desk, order)).to_contain_text("Blocked: No gold")
    expect(card(desk, order)).to_contain_text("Ann Lee")
    change(desk.api, order, {"stage": "stg_work"})
    wanted = {"lineItemId": order["lineItems"][0]["id"], "quantity": 7}
    edit = {"change": [wanted], "reason": "One less", "unlock": True}
    desk.api.post(f"orders/{order['id']}/edit", edit)
    desk.reload()
    if window == PHONE:
        desk.page.locator(".tabs").get_by_role("button", name="In work").click()
    expect(card(desk, order)).to_contain_text("Quantity 8 → 7")
    opener(desk, order).click()
    expect(desk.dialog).to_contain_text("Changed after start")
    text = desk.print_page(desk.dialog.get_by_role("button", name="Print job card"))
    for said in (order["number"], "× 7", "Gold", "Polished", "Wright", "Revision 2", "missing"):
        assert said in text, said
    assert "$" not in text and "Save" not in text
    pdf = desk.page.pdf(prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") == 1 and b"/MediaBox [0 0 420 594" in pdf


def test_what_is_made_is_said_with_the_product_the_order_and_its_edit(desk: Desk) -> None:
    desk.open("/products/new")
    desk.label("Name").first.fill(f"Commission {RUN}")
    desk.label("Price").first.fill("90")
    desk.label("Status").select_option("ACTIVE")
    desk.unfold("Made to order")
    desk.label("Made when it is ordered").check()
    desk.label("Days until it is due").fill("3")
    desk.button("Add a question").click()
    desk.field("specification.0.name").locator("input").fill("Size")
    desk.field("specification.0.required").locator("select").select_option("Required")
    desk.button("Create product").click()
    desk.heading(f"Commission {RUN}")
    desk.choose(f"Commission {RUN}")
    line = desk.page.locator(".order-lines .line")
    expect(line.get_by_label("Promised date of")).to_have_value(day_from_today(3))
    expect(line.get_by_label("Details of")).to_have_value("Size: ")
    desk.button("Add a custom item").click()
    line.last.get_by_label("Name").fill("Engraving")
    line.last.get_by_label("Price").fill("5")
    desk.button("Make custom item 1").click()
    line.last.get_by_label("Details of").fill("Text: For ever: A")
    desk.reload()  # what was begun is still there
    desk.button("Create order").click()
    order = desk.placed_order()
    due = [(one["make"], one["dueOn"]) for one in order["lineItems"]]
    assert due == [(True, day_from_today(3)), (True, None)]
    assert order["lineItems"][1]["specification"] == [{"name": "Text", "value": "For ever: A"}]
    desk.open_edit()
    desk.label("Promised for").fill(day_from_today(-3))
    desk.save()
    expect(desk.page.locator(".about")).to_contain_text("Overdue since")
    desk.pay()
    change(desk.api, order, {"stage": "stg_work"})
    desk.reload()
    expect(desk.button(f"In work, 0 of 1: Commission {RUN}")).to_be_visible()
    desk.button("Edit items").click()
    desk.dialog.get_by_label("Details of Commission").fill("Size: 52")
    desk.dialog.get_by_label("Reason").fill("She called")
    desk.dialog.get_by_label("The workshop has begun").check()
    expect(desk.dialog.locator("p.strong[role=status]")).to_contain_text("Total")
    desk.dialog.get_by_role("button", name="Save changes").click()
    expect(desk.dialog).to_have_count(0)
    assert desk.api.get(f"orders/{order['id']}/work")["data"][0]["missing"] == []
    desk.open("/orders/due?due=overdue")
    expect(desk.page.get_by_role("row").filter(has_text=f"#{order['number']}")).to_be_visible()
    accessible(desk)
    desk.open("/")
    desk.page.get_by_role("link", name="overdue").last.click()
    expect(card(desk, order, "To do")).to_contain_text("Engraving")


def test_an_admin_names_the_stages_and_one_in_use_stays(desk: Desk) -> None:
    order = commission(desk.api, "Staged")
    before = desk.api.get("settings/production")
    desk.open("/settings/production")
    desk.button("Add a stage").click()
    desk.label("Stage 3").fill("Polish")
    desk.button("Save").click()
    expect(desk.page.locator(".toast").last).to_have_text("Saved.")
    change(desk.api, order, {"stage": desk.api.get("settings/production")["stages"][2]["id"]})
    desk.button("Remove stage 3").click()
    desk.button("Save").click()
    expect(desk.page.locator(".error").filter(has_text="Polish")).to_contain_text("Move them first")
    accessible(desk)
    change(desk.api, order, {"stage": "stg_done"})
    with desk.page.expect_response("**/settings/production"):
        desk.button("Save").click()
    assert desk.api.get("settings/production") == before


def test_a_move_is_made_also_if_the_page_is_loaded_again_at_once(desk: Desk) -> None:
    order = commission(desk.api, "Reloaded")
    desk.open("/production")
    sent = desk.kept("**/work/**")
    opener(desk, order).focus()
    desk.page.keyboard.press("ArrowRight")
    desk.wait_until(lambda: bool(sent))
    desk.reload()
    sent.release()
    until(lambda: work(desk.api, order)["stage"]["id"] == "stg_work")
