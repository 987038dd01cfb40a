"""Signing in, and what each role sees."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Request, Route, expect

from tests.e2e.console.desk import Desk

MOST_FILES = 6
# Of the files that a page needs when it is the first one, as they are sent (compressed).
MOST_BYTES = {
    "/": 26_000,
    "/products": 44_900,
    "/orders/{order}": 61_600,
    "/import": 57_500,
    "/settings/developer/webhooks": 57_500,
}
ROUND_TRIP = 0.4  # seconds, of a slow line
BYTES_A_SECOND = 50_000
HEADERS = 300  # bytes of a request and its answer


def entered(desk: Desk, key: str) -> None:
    desk.label("API key").fill(key)
    desk.button("Sign in").click()


@pytest.mark.journey
@pytest.mark.parametrize("address", MOST_BYTES)
def test_a_first_page_needs_few_files_and_bytes(desk: Desk, address: str) -> None:
    order = desk.api.order(desk.api.product("First page", variants=[{"stock": 9}]))
    files: list[Request] = []
    desk.page.on("requestfinished", lambda sent: "/console" in sent.url and files.append(sent))
    desk.open(address.format(order=order["id"]))
    desk.filled()
    size = sum(file.sizes()["responseBodySize"] for file in files)
    print(len(files), "files", size, "bytes", sorted(each.url.rpartition("/")[2] for each in files))
    assert len(files) <= MOST_FILES
    assert size <= MOST_BYTES[address]


@pytest.mark.journey
def test_a_key_is_never_in_the_url(another: Callable[..., Desk]) -> None:
    desk = another(signed_in=False)
    addresses: list[str] = []
    desk.page.on("request", lambda request: addresses.append(request.url))
    desk.page.goto(desk.console_url)
    entered(desk, desk.api.key)
    desk.heading("Home")
    desk.stands()
    desk.page.get_by_role("link", name="Products", exact=True).click()
    desk.heading("Products")
    assert len(addresses) > 5
    assert not [address for address in [*addresses, desk.page.url] if desk.api.key in address]
    desk.reload()
    desk.heading("Products")
    desk.button("Sign out").click()
    expect(desk.label("API key")).to_be_visible()
    desk.reload()
    expect(desk.label("API key")).to_be_visible()


def test_a_wrong_key_is_reported_at_its_field(another: Callable[..., Desk]) -> None:
    desk = another(signed_in=False)
    desk.page.goto(desk.console_url)
    entered(desk, "bk_wrong")
    expect(desk.field("key").locator(".error")).to_have_text("Invalid API key")
    expect(desk.label("API key")).to_have_value("bk_wrong")
    expect(desk.label("API key")).to_be_focused()


def test_the_menu_shows_what_the_role_may_do(another: Callable[..., Desk]) -> None:
    seen = {}
    for role in ("STAFF", "ADMIN", "OWNER"):
        desk = another(role)
        desk.open("/products")
        seen[role] = set(desk.page.locator("#menu a").all_inner_texts())
    assert seen["ADMIN"] - seen["STAFF"] == {"Webhooks", "Deliveries", "Stages", "Carriers"}
    assert seen["OWNER"] - seen["ADMIN"] == {"API keys"}


def test_a_truncated_address_shows_not_found(desk: Desk) -> None:
    desk.open("/products/%e")
    desk.heading("Page not found")


def test_unsaved_input_survives_a_revoked_key(desk: Desk, another: Callable[..., Desk]) -> None:
    desk.open("/products/new")
    desk.label("Name").fill("Typed before the key was revoked")
    desk.label("Price").fill("12")
    me = desk.api.get("me")
    successor = another().api
    successor.call("DELETE", f"keys/{me['id']}")
    desk.button("Create product").click()
    expect(desk.dialog).to_contain_text("Your work is still here")
    desk.sign_in_again(successor.key)
    desk.heading("Typed before the key was revoked")


@pytest.mark.parametrize(
    ("status", "says"), [(429, "limit of requests per minute."), (503, "is busy at the moment.")]
)
def test_a_refusal_that_passes_is_named_and_waited_for(desk: Desk, status: int, says: str) -> None:
    refused = {"status": status, "headers": {"Retry-After": "12"}, "json": {"code": "busy"}}
    customers = "**/api/admin/customers?*"
    desk.page.route(customers, lambda route: route.fulfill(**refused), times=1)
    desk.page.goto(f"{desk.console_url}#/customers", wait_until="commit")
    expect(desk.page.locator(".toast.waiting")).to_contain_text(f"{says} Continuing in")
    desk.heading("Customers")
    expect(desk.page.locator(".results")).not_to_be_empty()
    expect(desk.page.locator(".toast.waiting")).to_have_count(0)


def test_a_cold_list_takes_less_than_3_seconds_of_a_slow_line(desk: Desk) -> None:
    """Counted, not timed: what is asked for at once waits for the line once."""
    for n in range(50):
        desk.api.post("products", {"name": f"Cold {n}", "price": 5, "type": "Cold"})
    asked = desk.kept("**/*")
    desk.page.evaluate(f"location.href = '{desk.console_url}#/products?status=DRAFT'")
    rounds, size = 0, 0
    while together := asked_together(desk, asked):
        rounds += 1
        for route in together:
            answer = route.fetch()
            size += int(answer.headers["content-length"]) + HEADERS
            route.fulfill(response=answer)
    expect(desk.page.locator(".results tbody tr")).to_have_count(50)
    print(f"{rounds} round trips, {size} bytes")
    assert rounds * ROUND_TRIP + size / BYTES_A_SECOND < 3, (rounds, size)


@pytest.mark.parametrize(
    ("address", "script"),
    [
        ("/products", "lists.js"),
        ("/products/new", "uploads.js"),
        ("/settings/shipping", "stock.js"),
    ],
)
def test_what_the_first_page_needs_is_asked_for_before_the_console_has_started(
    desk: Desk, address: str, script: str
) -> None:
    for files in ("chunk-*.js", "console.css"):
        desk.page.route(f"**/{files}", lambda route: None)  # which never come
    with desk.page.expect_request(f"**/{script}"), desk.page.expect_request("**/admin/me"):
        desk.page.goto(f"{desk.console_url}#{address}", wait_until="commit")


def asked_together(desk: Desk, asked: list[Route]) -> list[Route]:
    """What is asked for until nothing is added for a while."""
    before = -1
    while len(asked) != before:
        before = len(asked)
        desk.page.wait_for_timeout(1500)
    together, asked[:] = asked[:], []
    return together
