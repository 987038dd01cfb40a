"""A walk over all pages with forms: no action and no refusal loses what is typed in any field, and
every refusal is at its field, in the shop's words."""

import re
from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.console.desk import Api, Desk, busy, held, press

RUN = uuid4().hex[:8].upper()
ADDRESS = {"address1": "Am Deich 1", "city": "Husum", "countryCode": "DE"}
# Fields of text, and boxes, as typed.js tells them apart.
CONTROLS = """scope => [...scope.querySelectorAll("[data-field] :is(input, textarea)[name]")]
  .filter(({ type, readOnly }) => !readOnly && !["file", "search"].includes(type)
    && !type.startsWith("date"))"""
KEYS = """({ controls, change }) => controls.map((each, at) => {
    const isBox = each.type === "checkbox";
    change(each, at, isBox);
    const { field } = each.closest("[data-field]").dataset;
    return [`${field} ${each.name} ${isBox ? each.value : ""}`, isBox ? each.checked : each.value];
  })"""
TYPE = f"""(scope, mark) => ({KEYS})({{ controls: ({CONTROLS})(scope), change(each, at, isBox) {{
    if (isBox) each.checked = !each.checked;
    else each.value = `${{mark}} ${{at}}`;
    each.dispatchEvent(new Event("input", {{ bubbles: true }}));
    each.dispatchEvent(new Event("change", {{ bubbles: true }}));
  }} }})"""
HOLDS = f"scope => ({KEYS})({{ controls: ({CONTROLS})(scope), change() {{}} }})"
# Text that no field takes.
WRONG = f"""scope => ({KEYS})({{ controls: ({CONTROLS})(scope), change(each, at, isBox) {{
    if (isBox) return;
    const numbers = ["decimal", "numeric"].includes(each.inputMode);
    each.value = numbers ? "cheap" : "y".repeat(6000);
    each.dispatchEvent(new Event("input", {{ bubbles: true }}));
  }} }})"""


def product(api: Api) -> dict:
    variants = [{"title": size, "price": 5, "stock": 9} for size in ("S", "M")]
    images = [{"url": f"https://example.com/{n}.png"} for n in range(2)]
    made: dict = api.product(f"Walked {uuid4().hex[:6]}", variants=variants, images=images)
    return made


def product_page(api: Api) -> str:
    return f"/products/{product(api)['id']}"


def order_page(api: Api) -> str:
    customer = {"id": customer_page(api).rpartition("/")[2]}
    order = api.order(product(api), 2, customer=customer, shippingAddress=ADDRESS)
    return f"/orders/{order['id']}"


def paid_order_page(api: Api) -> str:
    address = order_page(api)
    api.post(f"orders/{address.rpartition('/')[2]}/payments", {"amount": 5, "method": "CASH"})
    return address


def confirmed_order_page(api: Api) -> str:
    address = order_page(api)
    api.move({"id": address.rpartition("/")[2]}, "PAID")
    return address


def customer_page(api: Api) -> str:
    two = [ADDRESS, {**ADDRESS, "address1": "Am Deich 2"}]
    made = api.post("customers", {"email": f"{uuid4().hex[:8]}@walk.example", "addresses": two})
    return f"/customers/{made['id']}"


def webhook_page(api: Api) -> str:
    made = api.webhook("http://127.0.0.1:9/walk")
    return f"/settings/developer/webhooks/{made['id']}"


def mapping_page(api: Api) -> str:
    """An import that asks what the columns of its file are."""
    job = api.upload(f"Artikelname;Preis;Farbcode\nWalked {uuid4().hex[:6]};12,50;#fff\n")
    api.ended(job, "NEEDS_MAPPING")
    return f"/jobs/{job}"


def low_stock_page(api: Api) -> str:
    variants = [{"title": size, "stock": 1} for size in ("S", "M")]
    new = {"price": 5, "status": "ACTIVE", "lowStockThreshold": 3, "variants": variants}
    api.post("products", {"name": f"Low {uuid4().hex[:6]}", **new})
    return "/products/low-stock"


def count_page(api: Api) -> str:
    vendor = f"Walked {uuid4().hex[:6]}"
    variants = [{"title": size, "stock": 9} for size in ("S", "M", "L")]
    made = api.post(
        "products", {"name": vendor, "vendor": vendor, "price": 5, "variants": variants}
    )
    count = api.post("stock/counts", {"name": vendor, "filters": {"vendor": vendor}})
    counted = [{"variantId": each["id"], "counted": 1} for each in made["variants"]]
    api.call("PUT", f"stock/counts/{count['id']}/lines", {"lines": counted})
    return f"/products/counts/{count['id']}"


def bulk(of: str) -> Callable[[Api], str]:
    def page(api: Api) -> str:
        order_page(api)
        return f"/{of}"

    return page


def open_edit(desk: Desk) -> None:
    """Opens the form of a record, where the page has one behind a button."""
    if desk.page.locator("details.edit").count():
        desk.open_edit()


def scope(desk: Desk) -> Locator:
    """The dialog above the page, or the page."""
    return desk.dialog.last if desk.dialog.count() else desk.page.locator("main")


# Each page, and what draws it again: a button and perhaps the one that confirms it, in turn.
DRAWN_AGAIN = [
    (
        order_page,
        [
            ("Save",),
            ("Remove: shipping address", "Remove"),
            ("Copy from customer: shipping address",),
        ],
    ),
    (confirmed_order_page, [("Start production",), ("Start processing",)]),
    (customer_page, [("Save",), ("Make default address 2",), ("Remove address 1",)]),
    (product_page, [("Save",)]),
    (webhook_page, [("Save",), ("Pause",), ("Resume",)]),
    (mapping_page, [("Read again",)]),
]


@pytest.mark.parametrize(("page", "actions"), DRAWN_AGAIN)
def test_every_action_keeps_what_is_typed_in_every_field(
    desk: Desk, page: Callable[[Api], str], actions: list[tuple[str, ...]]
) -> None:
    address = page(desk.api)
    drawn = "main .field" if page is mapping_page else "main h1"  # what is drawn again
    desk.open("/")
    for action, *confirmed in actions:
        desk.open(address)
        open_edit(desk)
        main = desk.page.locator("main")
        if action == "Save":
            note = main.locator("[data-field] [name=note], [data-field] [name=description]")
            note.first.fill(f"Saved {RUN}")
        with held(desk) as answer:
            pressed = press(desk, action)
            for name in confirmed:
                desk.dialog.get_by_role("button", name=name).click()
            busy(pressed)
            typed = main.evaluate(TYPE, "typed during it")
            assert len(typed) > 1
            first = f"document.querySelector('{drawn}')"
            desk.page.evaluate(f"{first}.isOld = true")
            answer()
            desk.page.wait_for_function(f"() => !{first}.isOld")
        assert main.evaluate(HOLDS) == typed, action
        desk.page.evaluate("location.hash = '#/'")
        desk.dialog.get_by_role("button", name="Leave").click()
        desk.heading("Home")


NUMBERS = "main td [data-field] input"


@pytest.mark.parametrize("page", [count_page, low_stock_page])
def test_a_saved_number_keeps_what_is_typed_in_the_others(
    desk: Desk, page: Callable[[Api], str]
) -> None:
    desk.open(page(desk.api))
    numbers = desk.page.locator(NUMBERS)
    expect(numbers.nth(1)).to_be_visible()
    first, second = (desk.label(str(numbers.nth(n).get_attribute("aria-label"))) for n in (0, 1))
    first.evaluate("each => (each.isOld = true)")
    with held(desk) as answer:
        first.fill("4")
        first.press("Enter")
        second.fill("7")
        answer()
        if page is count_page:
            desk.page.wait_for_function("() => !document.querySelector('main td input').isOld")
        else:
            expect(desk.page.locator(".toast")).to_contain_text("stock is now 4.")
    expect(first).to_have_value("4")
    expect(second).to_have_value("7")
    expect(second).to_be_focused()


# Each form: its page, the buttons that open it, and the one that sends it.
FORMS = {
    "new product": (lambda _: "/products/new", [], "Create product"),
    "product": (product_page, [], "Save"),
    "new customer": (lambda _: "/customers/new", [], "Add customer"),
    "customer": (customer_page, [], "Save"),
    "customer's address": (customer_page, ["Add address"], "Save address"),
    "order": (order_page, [], "Save"),
    "order's address": (order_page, ["Edit: shipping address"], "Save address"),
    "new order": (
        lambda _: "/orders/new",
        ["Add a custom item", "Paid", "Split the payment"],
        "Create order",
    ),
    "payment": (order_page, ["Take payment"], "Take payment"),
    "void": (paid_order_page, ["Void Cash"], "Void payment"),
    "refund": (paid_order_page, ["Refund"], "Refund"),
    "edit of an order": (order_page, ["Edit items"], "Save changes"),
    "shipping": (confirmed_order_page, ["Ship"], "Ship"),
    "new webhook": (lambda _: "/settings/developer/webhooks", ["Add webhook"], "Add webhook"),
    "webhook": (webhook_page, [], "Save"),
    "secret": (webhook_page, ["Rotate secret"], "Rotate"),
    "new count": (lambda _: "/products/counts", ["New count"], "Start"),
    "low stock": (low_stock_page, [], "Save"),
    "columns of a file": (mapping_page, [], "Import"),
    "file": (mapping_page, [], "Read again"),
    "new key": (lambda _: "/settings/keys", ["Create API key"], "Create"),
    "products": (bulk("products"), ["More changes"], "Continue"),
    "orders": (bulk("orders"), ["Tags and sales rep"], "Continue"),
}
# Names of the API: of fields, of values, and paths to them.
RAW = re.compile(
    r"\b[a-z]+[A-Z]\w*|\b[A-Z]+_[A-Z_]+\b|[a-z]\w*\.\d+|\bnull\b|\bstring\b|\binteger\b"
)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_keeps_its_input_and_says_what_is_wrong_at_its_field(
    desk: Desk, name: str
) -> None:
    page, opening, submit = FORMS[name]
    desk.open(page(desk.api))
    open_edit(desk)
    if name in ("products", "orders"):
        desk.page.get_by_role("checkbox", name=re.compile("Select all")).check()
    for button in opening:
        press(desk, button)
    if opening and submit not in ("Create order",):
        expect(desk.dialog).to_be_visible()
    form = scope(desk)
    typed = form.evaluate(WRONG)
    assert typed
    if name == "low stock":
        form.get_by_label("Stock of").last.focus()  # which shows its button
    form.get_by_role("button", name=submit, exact=True).last.click()
    errors = form.locator(".error:not(:empty)")
    expect(errors.first).to_be_visible()
    expect(form.locator("[aria-invalid=true]")).not_to_have_count(0)
    assert form.evaluate(HOLDS) == typed
    said = [*errors.all_inner_texts(), *desk.page.locator(".toast").all_inner_texts()]
    rest = form.locator(".summary").all_inner_texts()
    assert not [text for text in [*said, *rest] if RAW.search(text)]
    assert not any(rest), rest
