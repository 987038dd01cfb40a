"""A user of the console: a tab of a real browser, signed in with its own key."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    APIResponse,
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
)

from tests.support.running import Stack

PATIENCE = 45_000  # milliseconds; the emulator shares its machine with others
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
# A window of 1280 pixels at 400 %, which is more than a reader at 200 % has (WCAG 2.2, 1.4.10).
NARROW = {"width": 320, "height": 640}

expect.set_options(timeout=PATIENCE)


@dataclass
class Api:
    """The API, called directly. A refusal is an AssertionError with its body."""

    base_url: str
    key: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.base_url}/api/admin/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.code}: {error.read().decode()}") from None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any) -> Any:
        return self.call("POST", path, body)

    def mint(self, role: str = "OWNER") -> "Api":
        made = self.post("keys", {"name": f"Desk of {role.lower()}", "role": role})
        return Api(self.base_url, made["key"])


@dataclass
class Desk:
    page: Page
    api: Api
    console_url: str
    went_wrong: list[str] = field(default_factory=list)

    def open(self, address: str) -> None:
        """Goes to a page such as `/orders`, and waits until it is drawn."""
        if not self.page.url.endswith(f"#{address}"):  # which would draw nothing again
            self.page.evaluate(
                "for (const each of document.querySelectorAll('h1')) each.className += ' left'"
            )
        # Not until its last picture is loaded.
        self.page.goto(f"{self.console_url}#{address}", wait_until="commit")
        expect(self.page.locator("main:not([aria-busy]) h1:not(.left)")).to_be_visible()

    def filled(self) -> None:
        """Waits for the parts that load themselves."""
        expect(self.page.locator("main .skeleton")).to_have_count(0)

    def stands(self) -> None:
        expect(self.page.locator("main:not([aria-busy]) h1")).to_be_visible()

    def heading(self, text: str) -> None:
        expect(self.page.get_by_role("heading", name=text, level=1)).to_be_visible()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def label(self, name: str) -> Locator:
        return self.page.get_by_label(name, exact=True)

    def more(self, name: str) -> None:
        """Presses a button, which may be in a menu."""
        pressed = self.page.get_by_role("button", name=name, exact=True, include_hidden=True)
        pressed.wait_for(state="attached")
        if pressed.evaluate("button => !!button.closest('[popover]')"):
            # One locator, which finds the button also of a page that is drawn again meanwhile.
            named = f"normalize-space()='{name}' or @aria-label='{name}'"
            menu = f"//*[@popover][.//button[{named}]]/@id"
            self.page.locator(f"xpath=//button[@popovertarget={menu}]").click()
        pressed.click()

    def unfold(self, name: str) -> None:
        """Opens what is folded, unless it is open."""
        folded = self.page.locator("details", has=self.page.locator("summary", has_text=name)).last
        folded.evaluate("each => (each.open = true)")

    def field(self, name: str) -> Locator:
        """The control, hint and error of the API's field, such as `variants.0.price`."""
        return self.page.locator(f'[data-field="{name}"]')

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")


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
    desk.page.on("pageerror", lambda error: desk.went_wrong.append(str(error)))
    desk.page.on("console", lambda message: _note(desk, message))
    return desk


def _note(desk: Desk, message: ConsoleMessage) -> None:
    """Records errors. The browser also reports refused requests, which are no errors here."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        desk.went_wrong.append(message.text)


ASKED = re.compile(r"/api/")


@contextmanager
def held(desk: Desk, but: str = "\0") -> Iterator[Callable[..., None]]:
    """The next change is made, unless its body says `but`, and its answer waits until it is let
    through, or until another is given."""
    asked: list[Route] = []
    kept: list[APIResponse] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET" or asked or but in (route.request.post_data or ""):
            route.continue_()
            return
        asked.append(route)
        kept.append(route.fetch())

    def answer(**other: Any) -> None:
        for _ in range(PATIENCE // 20):
            if kept:
                break
            desk.page.wait_for_timeout(20)
        asked[0].fulfill(**(other or {"response": kept[0]}))

    desk.page.route(ASKED, hold)
    yield answer
    desk.page.unroute(ASKED, hold)


def busy(button: Locator) -> None:
    expect(button).to_have_attribute("aria-busy", "true")


def press(desk: Desk, name: str) -> Locator:
    """Clicks the button whose name begins so, perhaps in a menu."""
    named = re.compile(f"^{name}(?! all)")
    button = desk.page.get_by_role("button", name=named, include_hidden=True).first
    expect(button).to_be_attached()
    if not button.is_visible():
        menu = button.locator("xpath=ancestor::*[@popover]").get_attribute("id")
        desk.page.locator(f"[popovertarget={menu}]").click()
    button.click()
    return button
