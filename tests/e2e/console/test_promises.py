"""Small promises of pages: what someone else changed, what was left and comes back, what is undone,
and what is found where."""

import json
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.e2e.calls import until
from tests.e2e.console.desk import Desk, press

RUN = uuid4().hex[:8]


def away(page: Page, is_hidden: bool) -> None:
    """Another tab is in front of this one, or no longer."""
    page.evaluate(
        f"""Object.defineProperty(document, "hidden", {{
          configurable: true, get: () => {json.dumps(is_hidden)} }});
        document.dispatchEvent(new Event("visibilitychange"))"""
    )


def test_a_product_that_someone_else_changed_is_not_deleted(desk: Desk) -> None:
    made = desk.shown(desk.api.product(f"Wanted {RUN}"))
    desk.api.call("PUT", f"products/{made['id']}", {"description": "Needed"})
    press(desk, "Delete")
    expect(desk.dialog).to_contain_text(f"Delete Wanted {RUN}?")
    desk.dialog.get_by_role("button", name="Delete").click()
    expect(desk.page.locator(".toast.bad")).to_be_visible()
    assert desk.api.get(f"products/{made['id']}")["description"] == "Needed"
    expect(desk.label("Description")).to_have_value("Needed")
    press(desk, "Delete")
    desk.dialog.get_by_role("button", name="Delete").click()
    desk.heading("Products")


def test_stock_is_moved_by_pieces_with_a_reason_on_the_page_of_its_product(desk: Desk) -> None:
    sizes = [{"title": "S", "stock": 4}, {"title": "M", "stock": 9}]
    made = desk.shown(desk.api.post("products", {"name": "Hawser", "price": 5, "variants": sizes}))
    small, medium = (desk.field(f"variants.{n}.stock") for n in range(2))
    expect(desk.label("Why the stock changes")).to_be_hidden()
    small.locator("input").fill("+5")
    medium.locator("input").fill("-30")
    desk.label("Description").fill("Of hemp")
    desk.button("Save").click()
    expect(medium.locator(".error")).to_have_text("Only 9 in stock")
    expect(small.locator("input")).to_have_value("+5")
    medium.locator("input").fill("-3")
    desk.label("Why the stock changes").select_option("LOST")
    desk.save()
    expect(small.locator("input")).to_have_value("9")
    expect(medium.locator("input")).to_have_value("6")
    assert desk.api.get(f"products/{made['id']}")["description"] == "Of hemp"
    moves = f"stock/movements?productId={made['id']}&cause=MOVE"
    until(lambda: len(desk.api.get(moves)["data"]) == 2)
    moved = {(each["by"], each["reason"]) for each in desk.api.get(moves)["data"]}
    assert moved == {(5, "LOST"), (-3, "LOST")}


def test_a_refused_note_of_a_move_is_at_its_field(desk: Desk) -> None:
    order = desk.shown(desk.api.order(f"Kept {RUN}", paymentStatus="PAID"))
    desk.open_edit()
    desk.label("Note").fill("y" * 6000)
    desk.more("Start processing")
    expect(desk.field("note").locator(".error")).not_to_be_empty()
    expect(desk.label("Note")).to_have_value("y" * 6000)
    assert desk.api.get(f"orders/{order['id']}")["status"] == "PAID"


def test_a_list_is_read_again_when_the_user_comes_back(desk: Desk) -> None:
    desk.page.clock.install()
    desk.open(f"/orders?tag=back-{RUN}")
    expect(desk.page.locator(".results")).to_contain_text("No orders match")
    for minutes, rows in (("00:05", 0), ("01:00", 2)):
        away(desk.page, True)
        if not rows:
            desk.api.order(f"Kept {RUN}", tags=[f"back-{RUN}"])
        desk.page.clock.fast_forward(minutes)
        away(desk.page, False)
        desk.page.wait_for_timeout(500)
        expect(desk.page.get_by_role("row")).to_have_count(rows)


def test_a_bulk_edit_leaves_the_keyboard_in_its_list_and_an_undo_with_the_focus_stays(
    desk: Desk,
) -> None:
    made = desk.api.product(f"Keyed{RUN}")
    desk.page.clock.install()
    desk.open(f"/products?search=keyed{RUN}")
    every = desk.label("Select all products on this page")
    every.press("Space")
    desk.button("Set to archived").press("Enter")
    desk.dialog.get_by_role("button", name="Change 1 product").press("Enter")
    expect(desk.page.locator(".toast").last).to_contain_text("1 product changed.")
    expect(every).to_be_focused()
    expect(desk.page.locator(".results tbody tr")).to_contain_text("Archived")
    desk.button("Undo").focus()
    desk.page.clock.run_for(120_000)
    expect(desk.button("Undo")).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".toast").last).to_contain_text("Undone: 1 record.")
    assert desk.api.get(f"products/{made['id']}")["status"] == "ACTIVE"


def test_a_message_stays_until_it_was_in_sight_for_its_time(desk: Desk) -> None:
    product = desk.api.product(f"Read later {RUN}")
    desk.page.clock.install()
    desk.shown(product)
    desk.field("description").locator("textarea").fill("Needed")
    away(desk.page, True)
    desk.button("Save").click()
    message = desk.page.locator(".toast")
    expect(message).to_have_text("Saved.")
    desk.page.clock.run_for(120_000)
    expect(message).to_have_text("Saved.")
    away(desk.page, False)
    desk.page.clock.run_for(10_000)
    expect(message).to_have_count(0)


def test_the_option_marked_in_the_search_stays_when_its_answer_comes(desk: Desk) -> None:
    desk.api.product(f"Deliveries cardigan {RUN}")
    kept = desk.kept("**/api/admin/search?*")
    desk.open("/")
    desk.page.keyboard.press("/")
    with desk.page.expect_request("**/api/admin/search?*"):
        desk.page.keyboard.type("deliveries")
    failed = desk.page.get_by_role("option").filter(has_text="Failed deliveries")
    desk.page.keyboard.press("ArrowDown")
    expect(failed).to_have_attribute("aria-selected", "true")
    kept.release()  # of the beginning of the word, too, if its letters came slowly
    expect(desk.page.get_by_role("option").first).to_contain_text("cardigan")
    expect(failed).to_have_attribute("aria-selected", "true")
    desk.page.keyboard.press("Enter")
    desk.heading("Deliveries")


def test_a_scanned_variant_opens_at_its_row(desk: Desk) -> None:
    variants = [{"title": str(n), "sku": f"ROW-{RUN}-{n}", "stock": 1} for n in range(60)]
    desk.api.product(f"Many rows {RUN}", variants=variants)
    desk.open("/")
    desk.page.keyboard.press("/")
    desk.scan(f"row-{RUN}-57")
    desk.heading(f"Many rows {RUN}")
    expect(desk.label("Stock of variant 58")).to_be_focused()


def test_a_new_customer_is_kept_while_another_is_chosen(desk: Desk) -> None:
    known = {"email": f"known-{RUN}@promise.example", "firstName": "Known", "lastName": RUN}
    desk.api.post("customers", known)
    desk.open("/orders/new")
    desk.unfold("Customer")
    desk.label("First name").fill("Nell")
    desk.label("Email").fill("nell@promise.example")
    desk.label("Find a customer").fill(f"known-{RUN}@promise.example")
    desk.page.get_by_role("option").filter(has_text=f"Known {RUN}").click()
    desk.button("Change customer").click()
    expect(desk.label("First name")).to_have_value("Nell")
    expect(desk.label("Email")).to_have_value("nell@promise.example")
