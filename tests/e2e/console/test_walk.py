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
    new = {"name": f"Walked {uuid4().hex[:6]}", "price": 5, "variants": variants, "images": images}
    made: dict = api.post("products", {**new, "status": "ACTIVE"})
    return made


def product_page(api: Api) -> str:
    return f"/products/{product(api)['id']}"


def order_page(api: Api) -> str:
    line = {"variantId": product(api)["variants"][0]["id"], "quantity": 2}
    customer = {"id": customer_page(api).rpartition("/")[2]}
    new = {"lineItems": [line], "customer": customer, "shippingAddress": ADDRESS}
    return f"/orders/{api.post('orders', new)['id']}"


def paid_order_page(api: Api) -> str:
    address = order_page(api)
    api.post(f"orders/{address.rpartition('/')[2]}/payments", {"amount": 5, "method": "CASH"})
    return address


def customer_page(api: Api) -> str:
    two = [ADDRESS, {**ADDRESS, "address1": "Am Deich 2"}]
    made = api.post("customers", {"email": f"{uuid4().hex[:8]}@walk.example", "addresses": two})
    return f"/customers/{made['id']}"


def webhook_page(api: Api) -> str:
    made = api.post("webhooks", {"url": "http://127.0.0.1:9/walk", "events": ["order.paid"]})
    return f"/settings/developer/webhooks/{made['id']}"


def bulk(of: str) -> Callable[[Api], str]:
    def page(api: Api) -> str:
        order_page(api)
        return f"/{of}"

    return page


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
            ("Mark as paid",),
            ("Start processing",),
        ],
    ),
    (customer_page, [("Save",), ("Make default address 2",), ("Remove address 1",)]),
    (product_page, [("Save",)]),
    (webhook_page, [("Save",), ("Pause",), ("Resume",)]),
]


@pytest.mark.parametrize(("page", "actions"), DRAWN_AGAIN)
def test_every_action_keeps_what_is_typed_in_every_field(
    desk: Desk, page: Callable[[Api], str], actions: list[tuple[str, ...]]
) -> None:
    address = page(desk.api)
    for action, *confirmed in actions:
        desk.open("/")
        desk.open(address)
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
            assert len(typed) > 3
            desk.page.evaluate("document.querySelector('main h1').isOld = true")
            answer()
            desk.page.wait_for_function("() => !document.querySelector('main h1').isOld")
        assert main.evaluate(HOLDS) == typed, action
        desk.page.evaluate("location.hash = '#/'")
        desk.dialog.get_by_role("button", name="Leave").click()


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
        ["Add a custom item", "Split the payment"],
        "Create order",
    ),
    "payment": (order_page, ["Take payment"], "Take payment"),
    "void": (paid_order_page, ["Void Cash"], "Void payment"),
    "refund": (paid_order_page, ["Refund"], "Refund"),
    "edit of an order": (order_page, ["Edit items"], "Save changes"),
    "shipping": (order_page, ["Mark as paid", "Start processing", "Ship"], "Ship"),
    "new webhook": (lambda _: "/settings/developer/webhooks", ["Add webhook"], "Add webhook"),
    "webhook": (webhook_page, [], "Save"),
    "secret": (webhook_page, ["Rotate secret"], "Rotate"),
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
    if name in ("products", "orders"):
        desk.page.get_by_role("checkbox", name=re.compile("Select all")).check()
    for button in opening:
        press(desk, button)
    if opening and submit not in ("Create order",):
        expect(desk.dialog).to_be_visible()
    form = scope(desk)
    typed = form.evaluate(WRONG)
    assert typed
    form.get_by_role("button", name=submit, exact=True).last.click()
    errors = form.locator(".error:not(:empty)")
    expect(errors.first).to_be_visible()
    assert form.evaluate(HOLDS) == typed
    said = [*errors.all_inner_texts(), *desk.page.locator(".toast").all_inner_texts()]
    rest = form.locator(".summary").all_inner_texts()
    assert not [text for text in [*said, *rest] if RAW.search(text)]
    assert not any(rest), rest
