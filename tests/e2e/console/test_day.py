"""What a day at the counter asks for: many rows at once, and second thoughts."""

from playwright.sync_api import expect

from tests.e2e.console.desk import Desk


def test_a_row_clicked_with_shift_ticks_those_between(desk: Desk) -> None:
    for n in range(5):
        desk.api.post("products", {"name": f"Shifted {n}", "price": 5, "type": "Shifted"})
    desk.open("/products?type=Shifted&sort=name")
    boxes = desk.page.get_by_role("checkbox", name="Select Shifted")
    boxes.nth(3).click()
    boxes.nth(1).click(modifiers=["Shift"])
    expect(desk.page.get_by_text("3 selected")).to_be_visible()
    boxes.nth(2).click()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(desk.page.get_by_text("4 selected")).to_be_visible()
    expect(boxes.nth(0)).not_to_be_checked()


def test_the_actions_stay_in_sight_below_many_rows(desk: Desk) -> None:
    for n in range(30):
        desk.api.post("products", {"name": f"Long {n:02}", "price": 5, "type": "Long"})
    desk.open("/products?type=Long&sort=name")
    last = desk.page.get_by_role("checkbox", name="Select Long 29")
    last.scroll_into_view_if_needed()
    last.click()
    expect(desk.page.get_by_text("1 selected")).to_be_in_viewport()
    expect(last).to_be_in_viewport()


def test_an_answer_that_never_comes_is_given_up(desk: Desk) -> None:
    desk.open("/products/new")
    desk.page.route("**/api/admin/products", lambda route: None)
    desk.label("Name").fill("Hangs")
    gone = "AbortSignal.abort(new DOMException('', 'TimeoutError'))"
    desk.page.evaluate(f"AbortSignal.timeout = () => {gone}")
    desk.button("Create product").click()
    expect(desk.page.get_by_text("The connection was lost. This may or may not")).to_be_visible()
    expect(desk.label("Name")).to_have_value("Hangs")
    desk.page.unroute("**/api/admin/products")


def test_an_address_or_a_variant_in_stock_is_removed_after_a_question(desk: Desk) -> None:
    address = {"address1": "1 High Street", "city": "Bath", "countryCode": "GB"}
    order = desk.shown(desk.api.order("Addressed", shippingAddress=address))
    desk.more("Remove: shipping address")
    expect(desk.dialog).to_contain_text("1 High Street")
    desk.dialog.get_by_role("button", name="Cancel").click()
    assert desk.api.get(f"orders/{order['id']}")["shippingAddress"]["city"] == "Bath"

    variants = [{"title": "Red", "stock": 9}, {"title": "Blue"}]
    desk.shown(desk.api.post("products", {"name": "In stock", "price": 5, "variants": variants}))
    desk.button("Remove variant 2").click()
    desk.button("Remove variant 1").click()
    expect(desk.dialog).to_contain_text("9 pieces in stock")
    desk.dialog.get_by_role("button", name="Cancel").click()
    expect(desk.field("variants.0.title").locator("input")).to_have_value("Red")
    desk.button("Remove variant 1").click()
    desk.dialog.get_by_role("button", name="Remove").click()
    expect(desk.field("variants.0.title")).to_have_count(0)
