"""Requests, drawing and dialogs of a page end with it, and an action is done once."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Error, Request, Route, expect

from tests.e2e.console.desk import Api, Desk, busy

ASKED = re.compile(r"/api/")
LATE = 200  # milliseconds in which a late answer would be drawn
MOST_AWAITS = 8
DRAWN = 'main:not([aria-busy]) h1:not(:text-is("Page not found"))'


@pytest.fixture(scope="module")
def order(owner: Api) -> dict:
    product = owner.product("Left behind", variants=[{"stock": 9}])
    return owner.order(product, customer={"email": "left@behind.example", "firstName": "Lea"})


@contextmanager
def held(desk: Desk, which: int = 1, method: str = "") -> Iterator[list[Route]]:
    """Holds request number `which` of that method; later ones are not held."""
    kept: list[Route] = []
    seen = 0

    def hold(route: Route) -> None:
        nonlocal seen
        seen += not method or route.request.method == method
        if seen == which and not kept:
            desk.hold_back(route)
            kept.append(route)
        else:
            route.continue_()

    desk.page.route(ASKED, hold)
    yield kept
    desk.page.unroute(ASKED, hold)


def go(desk: Desk, address: str) -> None:
    desk.page.evaluate("address => (location.hash = address)", address)


def screen(desk: Desk) -> tuple[str, str, int]:
    page = desk.page
    return page.title(), page.inner_html("main"), page.locator("dialog").count()


def release(desk: Desk, route: Route) -> None:
    with suppress(Error):  # it was given up, as it should be
        route.fulfill(response=route.fetch())
    desk.page.wait_for_timeout(LATE)


def test_a_page_left_at_any_await_draws_nothing(desk: Desk, pages: list[str], order: dict) -> None:
    desk.open("/nowhere")
    gave_up: list[Request] = []

    def note(asked: Request) -> None:
        gave_up.append(asked)

    desk.page.on("requestfailed", note)
    awaits = {}
    # The same page with other parameters has the same awaits.
    bare = [each for each in pages if each.partition("?")[0] not in pages or "?" not in each]
    pages = [*bare, f"/orders/new?customer={order['customer']['id']}"]
    for address in pages:
        for which in range(1, MOST_AWAITS):
            with held(desk, which) as kept:
                go(desk, address)
                desk.wait_until(lambda: bool(kept or desk.page.locator(DRAWN).count()))
                desk.page.wait_for_timeout(30)
                go(desk, "/nowhere")
                desk.heading("Page not found")
                if not kept:
                    break
                before = screen(desk)
                release(desk, kept[0])
                assert screen(desk) == before, f"{address}, await {which}"
                assert kept[0].request in gave_up, f"{address}, request {which} goes on"
                awaits[address] = which
    assert {*awaits} == {*pages}


DIALOGS = [
    ("orders", "Close order"),
    ("orders", "Delete"),
    ("paid", "Ship"),
    ("products", "Delete"),
    ("products", "Remove variant 1"),
    ("webhooks", "Send test"),
    ("webhooks", "Rotate secret"),
    ("webhooks", "Delete"),
    ("keys", "Create API key"),
]


@pytest.fixture(scope="module")
def things(owner: Api, order: dict) -> dict[str, str]:
    paid = owner.order("Paid for")
    owner.move(paid, "PAID", "PROCESSING")
    webhook = owner.webhook("http://127.0.0.1:9/d", "product.deleted")
    return {
        "orders": f"/orders/{order['id']}",
        "paid": f"/orders/{paid['id']}",
        "products": f"/products/{order['lineItems'][0]['productId']}",
        "webhooks": f"/settings/developer/webhooks/{webhook['id']}",
        "keys": "/settings/keys",
    }


def test_a_dialog_closes_with_its_page(desk: Desk, things: dict[str, str]) -> None:
    for kind, button in DIALOGS:
        desk.open("/customers")
        go(desk, things[kind])
        expect(desk.page.locator(DRAWN)).to_be_visible()
        desk.more(button)
        expect(desk.dialog).to_be_visible()
        desk.go_back()
        desk.heading("Customers")
        expect(desk.page.locator("dialog")).to_have_count(0)
        desk.page.keyboard.press("Enter")
        desk.heading("Customers")
    assert desk.api.get(things["orders"][1:])["status"] == "PENDING"
    assert desk.api.get(things["paid"][1:])["status"] == "PROCESSING"


@contextmanager
def left_while_paying(desk: Desk) -> Iterator[tuple[Route, str]]:
    """The held request of a change whose page was left, and the id of its order."""
    order = desk.shown(desk.api.order("Dabchick", paymentStatus="PAID"))
    with held(desk, method="PATCH") as kept:
        busy(desk.more("Start processing"))
        go(desk, "/nowhere")
        desk.heading("Page not found")
        yield kept[0], order["id"]


def test_the_result_of_a_pending_change_is_shown_on_the_next_page(desk: Desk) -> None:
    with left_while_paying(desk) as (request, id):
        before = screen(desk)
        release(desk, request)
    order = desk.api.get(f"orders/{id}")
    expect(desk.page.locator(".toast")).to_have_text(f"Order #{order['number']}: processing.")
    assert screen(desk) == before
    assert order["status"] == "PROCESSING"


def test_a_change_that_fails_after_leaving_is_reported_with_its_page(desk: Desk) -> None:
    with left_while_paying(desk) as (request, id):
        request.fulfill(status=500, json={"code": "internal_error", "message": "It broke."})
    number = desk.api.get(f"orders/{id}")["number"]
    expect(desk.page.locator(".toast")).to_have_text(f"Order #{number}: It broke.")


def twice(desk: Desk, button: str) -> None:
    desk.button(button).dblclick()


def thrice(desk: Desk, button: str) -> None:
    # In one script: after the first answer the button is gone.
    desk.button(button).evaluate("button => { for (let n = 0; n < 3; n++) button.click() }")


def by_a_held_key(desk: Desk, button: str) -> None:
    desk.button(button).focus()
    for _ in range(5):
        desk.page.keyboard.down("Enter")
    desk.page.keyboard.up("Enter")


@pytest.mark.parametrize("pressed", [twice, thrice, by_a_held_key])
def test_an_action_pressed_repeatedly_is_sent_once(
    desk: Desk, pressed: Callable[[Desk, str], None]
) -> None:
    order = desk.api.order("Dabchick", paymentStatus="PAID")
    desk.api.move(order, "IN_PRODUCTION")
    desk.shown(order)
    sent = desk.sent("PATCH")
    pressed(desk, "Start processing")
    expect(desk.button("Ship")).to_be_visible()
    desk.page.wait_for_timeout(LATE)
    expect(desk.page.locator(".toast")).to_have_text([f"Order #{order['number']}: processing."])
    assert len(sent) == 1
    assert desk.api.get(f"orders/{order['id']}")["status"] == "PROCESSING"


def test_leaving_asks_once_for_repeated_back_presses(desk: Desk) -> None:
    order = desk.api.order("Dabchick")
    desk.open("/customers")
    go(desk, "/orders")
    desk.stands()
    go(desk, f"/orders/{order['id']}")
    desk.open_edit()
    desk.label("Note").fill("Half a")
    desk.go_back()
    expect(desk.dialog).to_be_visible()
    desk.go_back()
    desk.page.wait_for_timeout(LATE)
    expect(desk.page.locator("dialog")).to_have_count(1)
    desk.dialog.get_by_role("button", name="Stay").click()
    expect(desk.label("Note")).to_have_value("Half a")
    assert desk.page.url.endswith(order["id"])
    desk.go_back()
    desk.dialog.get_by_role("button", name="Leave").click()
    desk.heading("Orders")
    desk.go_back()
    desk.heading("Customers")


def test_changes_of_two_users_that_do_not_overlap_are_both_saved_without_a_question(
    desk: Desk,
) -> None:
    """One user's price and the other's stock do not conflict, and neither is lost."""
    made = desk.api.product("Two hands", variants=[{"title": "S", "stock": 4}, {"title": "L"}])
    path = f"products/{made['id']}"
    desk.open(f"/{path}")
    desk.field("variants.0.price").locator("input").fill("7")
    small, large = made["variants"]
    theirs = [{"id": small["id"], "stock": 9}, {"id": large["id"]}, {"title": "XL"}]
    desk.api.call("PUT", path, {"variants": theirs})
    desk.button("Save").click()
    expect(desk.page.locator(".toast")).to_have_text("Saved.")
    saved = desk.api.get(path)["variants"]
    assert [(v["title"], v["price"], v["stock"]) for v in saved] == [
        ("S", "7.00", 9),
        ("L", "5.00", None),
        ("XL", "5.00", None),
    ]
