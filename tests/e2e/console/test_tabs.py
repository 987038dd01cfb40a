"""Several tabs of one browser share one sign-in, which ends with the last tab."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.console.desk import Desk


def tab(desk: Desk, address: str) -> Page:
    """Another tab of the same browser, as opened by Ctrl and a click, without stored data."""
    page = desk.page.context.new_page()
    page.goto(f"{desk.console_url}#{address}")
    return page


@pytest.fixture
def desk(another: Callable[..., Desk]) -> Desk:
    """Signed in by hand: its key is in one tab only."""
    desk = another(signed_in=False)
    desk.page.goto(desk.console_url)
    desk.label("API key").fill(desk.api.key)
    desk.button("Sign in").click()
    desk.heading("Home")
    return desk


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", name=text, level=1)).to_be_visible()


def nothing_is_loaded(page: Page) -> None:
    """Otherwise a pending request would open the dialog when the key is revoked."""
    expect(page.locator("main:not([aria-busy]) h1")).to_be_visible()
    page.wait_for_load_state("networkidle")


def test_a_link_in_a_new_tab_is_signed_in(desk: Desk) -> None:
    with desk.page.context.expect_page() as opened:
        desk.page.get_by_role("link", name="Products", exact=True).click(modifiers=["Control"])
    heading(opened.value, "Products")
    desk.heading("Home")
    assert opened.value.evaluate("JSON.stringify(localStorage)") == "{}"


def test_a_new_tab_is_signed_in_though_another_answers_late(desk: Desk) -> None:
    second = tab(desk, "/products")
    heading(second, "Products")
    for page in (desk.page, second):
        page.evaluate("""() => {
            const post = BroadcastChannel.prototype.postMessage;
            const late = [];
            BroadcastChannel.prototype.postMessage = function (message) {
                if (message.kind === "answer") late.push(() => post.call(this, message));
                else post.call(this, message);
            };
            window.answer = () => late.forEach((send) => send());
        }""")
    asked = []
    third = desk.page.context.new_page()
    third.on("request", lambda request: asked.append(request.url))
    third.goto(f"{desk.console_url}#/customers")
    expect(third.get_by_label("API key")).to_be_visible()
    for page in (desk.page, second):
        page.evaluate("answer()")
    heading(third, "Customers")
    expect(third.get_by_label("API key")).to_have_count(0)
    third.wait_for_load_state("networkidle")
    assert len([url for url in asked if url.endswith("/api/admin/me")]) == 1


def test_closing_the_last_tab_signs_out(desk: Desk) -> None:
    second = tab(desk, "/products")
    heading(second, "Products")
    desk.page.close()
    third = tab(desk, "/customers")
    heading(third, "Customers")
    second.close()
    third.close()
    last = tab(desk, "/products")
    expect(last.get_by_label("API key")).to_be_visible()


def test_a_revoked_key_is_asked_for_once_in_all_tabs(
    desk: Desk, another: Callable[..., Desk]
) -> None:
    """A tab that asked for nothing meanwhile takes the new key of another."""
    successor = another().api
    second, later = tab(desk, "/products"), tab(desk, "/products")
    pages = (desk.page, second)
    for page in (*pages, later):
        nothing_is_loaded(page)
    successor.call("DELETE", f"keys/{desk.api.get('me')['id']}")
    for page in pages:
        page.get_by_role("link", name="Customers", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("no longer valid")
    second.get_by_role("dialog").get_by_label("API key").fill(successor.key)
    second.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    for page in pages:
        heading(page, "Customers")
        expect(page.locator("dialog")).to_have_count(0)
    # Both tabs have the new key.
    assert desk.page.evaluate("sessionStorage.getItem('backroom-key')") == successor.key
    later.get_by_role("link", name="Orders", exact=True).click()
    heading(later, "Orders")
    expect(later.get_by_role("search")).to_be_visible()
    expect(later.locator("dialog")).to_have_count(0)


def test_signing_out_with_unsaved_input_asks_once(desk: Desk) -> None:
    asked: list[str] = []
    desk.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    desk.page.get_by_role("link", name="Products", exact=True).click()
    desk.page.get_by_role("link", name="Add product").first.click()
    desk.label("Name").fill("Half done")
    desk.button("Sign out").click()
    desk.dialog.get_by_role("button", name="Stay").click()
    expect(desk.label("Name")).to_have_value("Half done")
    desk.reload()
    desk.heading("New product")
    desk.label("Name").fill("Half done")
    asked.clear()
    desk.button("Sign out").click()
    desk.dialog.get_by_role("button", name="Sign out").click()
    expect(desk.label("API key")).to_be_visible()
    assert asked == []


def test_signing_out_signs_out_every_tab_and_keeps_unsaved_input(desk: Desk) -> None:
    idle, busy = tab(desk, "/products"), tab(desk, "/products/new")
    heading(idle, "Products")
    busy.get_by_label("Name", exact=True).fill("Half done")
    desk.button("Sign out").click()
    expect(desk.label("API key")).to_be_visible()
    expect(idle.get_by_label("API key")).to_be_visible()
    expect(busy.get_by_role("dialog").get_by_label("API key")).to_be_visible()
    expect(busy.get_by_label("Name", exact=True)).to_have_value("Half done")
