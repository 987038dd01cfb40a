"""A user of the console: a tab of a real browser, signed in with its own key."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    APIResponse,
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    Route,
    expect,
)

from tests.e2e.calls import Api
from tests.support.running import Stack

PATIENCE = 90_000  # milliseconds; the emulator shares its machine with others
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
# A window of 1280 pixels at 400 %, which is more than a reader at 200 % has (WCAG 2.2, 1.4.10).
NARROW = {"width": 320, "height": 640}

PAGES = {
    "ord": "/orders",
    "prod": "/products",
    "cus": "/customers",
    "wh": "/settings/developer/webhooks",
}

expect.set_options(timeout=PATIENCE)


def day_from_today(days: int) -> str:
    """The day that is so many days after today, or before it."""
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"


# What runs on a page: while it does, the page ignores its other buttons. A dialog belongs to the
# button that opened it, which is busy until the dialog is closed.
RUNNING = "body:not(:has(dialog[open])) :is(button, .work)[aria-busy=true]"


class Kept(list[Route]):
    """Requests that are held back, until they are released; later ones are not held then."""

    are_released = False

    def __init__(self, desk: "Desk"):
        super().__init__()
        self.desk = desk

    def keep(self, route: Route) -> None:
        if self.are_released:
            route.continue_()
        else:
            self.desk.hold_back(route)
            self.append(route)

    def release(self) -> None:
        self.are_released = True
        for route in self:
            with suppress(Error):  # it was given up
                route.continue_()


@dataclass
class Desk:
    page: Page
    api: Api
    console_url: str
    went_wrong: list[str] = field(default_factory=list)
    unanswered: list[Request] = field(default_factory=list)  # changes that its pages have sent
    held_back: list[Request] = field(default_factory=list)  # requests that a test does not answer

    def settle(self) -> None:
        """Waits until each change is answered and nothing runs on the page. A test that leaves a
        page or acts while a change is sent holds that back: it is not waited for."""

        def is_answered() -> bool:
            if self.held_back:
                # The page answers: what it has sent before is known then.
                expect(self.page.locator("html")).to_have_count(1)
            else:
                expect(self.page.locator(RUNNING)).to_have_count(0)
            return all(asked in self.held_back for asked in self.unanswered)

        self.wait_until(is_answered)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Waits until `is_so()` is true; the page runs meanwhile. Fails after PATIENCE."""
        for _ in range(PATIENCE // 20):
            if is_so():
                return
            self.page.wait_for_timeout(20)
        unanswered = [asked.url for asked in self.unanswered]
        raise AssertionError(f"it did not happen; not answered: {unanswered}")

    def hold_back(self, route: Route) -> None:
        """Notes a request that the test does not answer yet."""
        self.held_back.append(route.request)

    def note_request(self, asked: Request) -> None:
        if asked.method != "GET":
            self.unanswered.append(asked)

    def note_end(self, asked: Request) -> None:
        for noted in (self.unanswered, self.held_back):
            if asked in noted:
                noted.remove(asked)

    def reload(self) -> None:
        self.settle()
        self.page.reload()

    def go_back(self) -> None:
        self.settle()
        self.page.go_back()

    def go_forward(self) -> None:
        self.settle()
        self.page.go_forward()

    def open(self, address: str) -> None:
        """Goes to a page such as `/orders`, and waits until it is drawn."""
        self.settle()
        if not self.page.url.endswith(f"#{address}"):  # which would draw nothing again
            self.page.evaluate(
                "for (const each of document.querySelectorAll('h1')) each.className += ' left'"
            )
        # Not until its last picture is loaded.
        self.page.goto(f"{self.console_url}#{address}", wait_until="commit")
        expect(self.page.locator("main:not([aria-busy]) h1:not(.left)")).to_be_visible()

    def shown(self, record: Any) -> Any:
        """The record, whose page is then open."""
        self.open(f"{PAGES[record['id'].partition('_')[0]]}/{record['id']}")
        return record

    def placed_order(self) -> Any:
        """The order on the page, as soon as it is placed."""
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("Order #")
        return self.api.get(f"orders/{self.page.url.rpartition('/')[2]}")

    def save(self) -> None:
        self.button("Save").click()
        expect(self.page.locator(".toast").last).to_have_text("Saved.")
        self.settle()  # the message may be of an earlier save

    def filled(self) -> None:
        """Waits for the parts that load themselves."""
        expect(self.page.locator("main .skeleton")).to_have_count(0)

    def stands(self) -> None:
        expect(self.page.locator("main:not([aria-busy]) h1")).to_be_visible()

    def heading(self, text: str) -> None:
        expect(self.page.get_by_role("heading", name=text, level=1)).to_be_visible()

    def button(self, name: str) -> Locator:
        """The button, once it can be pressed."""
        self.settle()
        return self.page.get_by_role("button", name=name, exact=True)

    def label(self, name: str) -> Locator:
        return self.page.get_by_label(name, exact=True)

    def pay(self, method: str = "Cash", **typed: str) -> None:
        """Takes what is due, or other amounts, from the page of an order."""
        self.button("Take payment").click()
        self.dialog.get_by_role("button", name=method, exact=True).click()
        for label, text in typed.items():
            self.dialog.get_by_label(label.replace("_", " "), exact=True).fill(text)
        self.dialog.get_by_role("button", name="Take payment").click()
        expect(self.dialog).to_have_count(0)

    def total(self, text: str) -> None:
        """Waits for the total of a new order, as the API says it."""
        row = self.page.locator(".totals .strong")
        expect(row).to_have_text(f"Total{text}")

    def wait_for_status(self, word: str) -> None:
        """Waits until the record on the page has this status."""
        expect(self.page.locator("header .badge").first).to_have_text(word)

    def more(self, name: str) -> Locator:
        """Presses a button, which may be in a menu, and returns it."""
        self.settle()
        pressed = self.page.get_by_role("button", name=name, exact=True, include_hidden=True)
        pressed.wait_for(state="attached")
        if pressed.evaluate("button => !!button.closest('[popover]')"):
            # One locator, which finds the button also of a page that is drawn again meanwhile.
            named = f"normalize-space()='{name}' or @aria-label='{name}'"
            menu = f"//*[@popover][.//button[{named}]]/@id"
            self.page.locator(f"xpath=//button[@popovertarget={menu}]").click()
        pressed.click()
        return pressed

    def unfold(self, name: str) -> None:
        """Opens what is folded, unless it is open."""
        folded = self.page.locator("details", has=self.page.locator("summary", has_text=name)).last
        folded.evaluate("each => (each.open = true)")

    def open_edit(self) -> None:
        """Opens the form of a record whose values are shown as text."""
        self.page.locator("details.edit").evaluate("each => (each.open = true)")

    def choose(self, name: str) -> None:
        """Opens a new order, and finds a product of that name by its first word."""
        self.open("/orders/new")
        self.label("Find a product").press_sequentially(name.split(maxsplit=1)[0].lower())
        self.page.get_by_role("option", name=name).click()

    def scan(self, code: str) -> None:
        """Types a code and Enter into the field that finds products."""
        self.page.keyboard.type(f"{code}\n")

    def begin_order(self, code: str) -> None:
        """Opens a new order, and scans its first item."""
        self.open("/orders/new")
        self.scan(code)
        expect(self.page.locator("[name=quantity]")).to_have_count(1)

    def select_all(self, address: str) -> None:
        """All rows of a list."""
        self.open(address)
        self.page.get_by_role("checkbox", name=re.compile("^Select all .* on this page$")).check()

    def send_file(self, file: Any, button: str = "Import") -> None:
        self.open("/import")
        self.page.locator("input[type=file]").set_input_files(file)
        self.button(button).click()

    def sign_in_again(self, key: str) -> None:
        self.dialog.get_by_label("API key").fill(key)
        self.dialog.get_by_role("button", name="Sign in").click()

    def sent(self, method: str = "POST") -> list[str]:
        """The addresses of the following requests, but dry runs of an order."""
        found: list[str] = []

        def note(asked: Request) -> None:
            if asked.method == method and not is_trial(asked):
                found.append(asked.url)

        self.page.on("request", note)
        return found

    def kept(self, address: str | re.Pattern[str]) -> Kept:
        """The following requests to an address, which are held back."""
        found = Kept(self)
        self.page.route(address, found.keep)
        return found

    def lost(
        self,
        address: str,
        is_meant: Callable[[Any], bool] | None = None,
        method: str = "POST",
    ) -> list[int]:
        """Loses the first answer to such a change, which was done. The statuses of those lost."""
        found: list[int] = []

        def lose(route: Route) -> None:
            asked = route.request
            other = not is_meant(asked.post_data_json) if is_meant else is_trial(asked)
            if asked.method != method or found or other:
                return route.continue_()
            found.append(route.fetch().status)
            return route.abort()

        self.page.route(address, lose)
        return found

    def print_page(self, button: Locator) -> str:
        """The text on the paper, after a button that prints."""
        self.page.evaluate("window.print = () => (window.printed = document.body.innerText)")
        pressed = button.element_handle()  # on paper, dialogs and buttons are hidden
        self.page.emulate_media(media="print")
        pressed.evaluate("button => button.click()")
        return str(self.page.evaluate("window.printed"))

    def field(self, name: str) -> Locator:
        """The control, hint and error of the API's field, such as `variants.0.price`."""
        return self.page.locator(f'[data-field="{name}"]')

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    @property
    def main_action(self) -> Locator:
        """The main button or link of the page; there may be one."""
        return self.page.locator("main :is(button, a).main:visible")


def sit_down(
    browser: Browser,
    stack: Stack,
    api: Api,
    *,
    signed_in: bool = True,
    **settings: Any,
) -> Desk:
    context = browser.new_context(viewport=settings.pop("viewport", DESKTOP), **settings)
    context.set_default_timeout(PATIENCE)
    if signed_in:
        kept = f"sessionStorage.setItem('backroom-key', {json.dumps(api.key)})"
        context.add_init_script(f"if (!sessionStorage.length) {kept}")
    desk = Desk(context.new_page(), api, stack.console_url)
    context.on("request", desk.note_request)
    for end in ("requestfinished", "requestfailed"):
        context.on(end, desk.note_end)
    desk.page.on("pageerror", lambda error: desk.went_wrong.append(str(error)))
    desk.page.on("console", lambda message: _note(desk, message))
    return desk


def _note(desk: Desk, message: ConsoleMessage) -> None:
    """Records errors. The browser also reports refused requests, which are no errors here."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        desk.went_wrong.append(message.text)


# Nothing loads or moves: a color in transition has another contrast.
STILL = """() => !document.querySelector(":is(.results, .totals, .work)[aria-busy=true]")
  && document.getAnimations().every(({ playState, effect }) =>
    playState !== "running" || effect.getComputedTiming().iterations === Infinity)"""


def serious_findings(desk: Desk) -> list[tuple[str, ...]]:
    """What axe finds on the page: its rule, the element, and what is wrong."""
    desk.page.wait_for_function(STILL)
    found = Axe().run(desk.page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    nodes = [(each["id"], each["nodes"][0]) for each in serious]
    return [(rule, node["html"], node["failureSummary"]) for rule, node in nodes]


def accessible(desk: Desk) -> None:
    assert serious_findings(desk) == []


ASKED = re.compile(r"/api/")


def is_trial(asked: Request) -> bool:
    """Whether a request only asks what an order would come to, or which change is given."""
    return asked.url.endswith(("/orders", "/payments")) and '"dryRun":true' in (
        asked.post_data or ""
    )


@contextmanager
def held(desk: Desk, pressed: str = "", but: str = "\0") -> Iterator[Callable[..., None]]:
    """The next change is made, unless its body says `but`, and its answer waits until it is let
    through, or until another is given. `pressed`: the button that makes it."""
    asked: list[Route] = []
    kept: list[APIResponse] = []

    def hold(route: Route) -> None:
        if (
            route.request.method == "GET"
            or asked
            or is_trial(route.request)
            or but in (route.request.post_data or "")
        ):
            route.continue_()
            return
        desk.hold_back(route)
        asked.append(route)
        kept.append(route.fetch())

    def answer(**other: Any) -> None:
        desk.wait_until(lambda: bool(kept))
        asked[0].fulfill(**(other or {"response": kept[0]}))

    desk.page.route(ASKED, hold)
    if pressed:
        busy(desk.more(pressed))
    yield answer
    desk.page.unroute(ASKED, hold)


def busy(button: Locator) -> None:
    expect(button).to_have_attribute("aria-busy", "true")


def press(desk: Desk, name: str) -> Locator:
    """Clicks the button whose name begins so, perhaps in a menu."""
    desk.settle()
    named = re.compile(f"^{name}(?! all)")
    button = desk.page.get_by_role("button", name=named, include_hidden=True).first
    expect(button).to_be_attached()
    if not button.is_visible():
        menu = button.locator("xpath=ancestor::*[@popover]").get_attribute("id")
        desk.page.locator(f"[popovertarget={menu}]").click()
    button.click()
    return button
