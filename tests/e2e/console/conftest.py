"""Fixtures: `desk`, a signed-in Owner; `another` makes more of them; `pages`, their addresses."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from infra import browser as installed
from tests.e2e.console import pages as of_records
from tests.e2e.console.desk import Api, Desk, sit_down
from tests.support.running import Stack

# What Playwright disables, too: of two such flags, the browser heeds the last.
_PLAYWRIGHT_DISABLES = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "AvoidCorsURLLoaderRestartOnRedirect", "AimEnabled"),
    *("DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"),
    *("PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"),
)
# Pages of the browser's own window, and a process for a page that is not asked for: two thirds of
# the CPU of a new window.
_UNSEEN_PARTS = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess")
# Options for a headless browser that runs as root in a container.
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join([*_PLAYWRIGHT_DISABLES, *_UNSEEN_PARTS])}",
]

_DAY = 86_400
_LAST_SECONDS = 60  # of a day

_DESKS = pytest.StashKey[list[Desk]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are thorough, but those of the journey."""
    for item in items:
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("journey"):
            item.add_marker(pytest.mark.thorough)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test that failed says what its pages show."""
    report = yield
    if report.failed:
        for desk in item.stash.get(_DESKS, []):
            with suppress(Error):  # it may be closed
                shown = desk.page.locator("body").inner_text(timeout=1_000)
                report.sections.append((desk.page.url, shown))
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = installed.find()
    if path is None:
        pytest.skip(installed.missing())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def same_day() -> None:
    """A test that names days does not begin just before midnight, when its day would end."""
    left = _DAY - time.time() % _DAY
    if left < _LAST_SECONDS:
        time.sleep(left)


@pytest.fixture(scope="session")
def owner(stack: Stack) -> Api:
    return Api.of(stack).mint()


@pytest.fixture(scope="session")
def pages(owner: Api) -> list[str]:
    return of_records.filled(owner)


@pytest.fixture
def another(
    browser: Browser, stack: Stack, owner: Api, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Desk]]:
    """Makes desks: `another(role="STAFF", signed_in=False, viewport=PHONE)`. Errors in any of them,
    such as a script that the policy blocked, fail the test."""
    desks = request.node.stash[_DESKS] = []

    def make(role: str = "OWNER", **settings: Any) -> Desk:
        desks.append(sit_down(browser, stack, owner.mint(role), **settings))
        return desks[-1]

    yield make
    for desk in desks:
        if desk.unanswered and not desk.page.is_closed():
            desk.settle()
    for desk in desks:
        # A delayed request may still be under way.
        for page in desk.page.context.pages:
            page.unroute_all(behavior="ignoreErrors")
        desk.page.context.close()
        desk.api.delete_webhooks()
    assert [desk.went_wrong for desk in desks] == [[] for _ in desks]


@pytest.fixture
def desk(another: Callable[..., Desk]) -> Desk:
    return another()
