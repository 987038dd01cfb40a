"""docs/storefront.html browses the storefront from a site of another origin."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.calls import Api, call, until
from tests.support.running import Stack

DOCS = Path(__file__).resolve().parents[3] / "docs"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *values: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a web server with the docs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(DOCS))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_sample_page_has_a_menu_filters_sorting_and_a_search(
    browser: Browser, stack: Stack, owner: Api, site: str
) -> None:
    for name, price, stock in (("Zither A", "30", 1), ("Zither B", "10", 0), ("Zither C", "20", 2)):
        variants = [{"title": "One", "stock": stock}]
        made = {"name": f"{name} <b>", "price": price, "type": "Zithers", "variants": variants}
        owner.post("products", {**made, "status": "ACTIVE"})
    owner.post("products", {"name": "Zither hidden", "price": "5", "type": "Zithers"})

    def are_counted() -> bool:
        kinds = call(f"{stack.base_url}/api/products/facets")[1]["types"]["data"]
        return any((one["value"], one["count"]) == ("Zithers", 3) for one in kinds)

    until(are_counted)
    page = browser.new_page()
    page.goto(f"{site}/storefront.html?api={quote(stack.base_url + '/api', safe='')}")
    names = page.locator("li strong")
    expect(page.get_by_label("Zithers (3)")).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()
    page.get_by_label("Zithers (3)").check()
    expect(names).to_have_text(["Zither C <b>", "Zither B <b>", "Zither A <b>"])
    expect(page.get_by_role("status")).to_have_text("3 products")
    page.get_by_label("Sort by").select_option("price")
    expect(names).to_have_text(["Zither B <b>", "Zither C <b>", "Zither A <b>"])
    page.get_by_label("Price to").fill("25")
    expect(names).to_have_text(["Zither B <b>", "Zither C <b>"])
    page.get_by_label("In stock").check()
    expect(names).to_have_text(["Zither C <b>"])
    page.get_by_label("Price to").fill("")
    page.get_by_label("Search").fill("zither a")
    expect(names).to_have_text(["Zither A <b>"])
    page.get_by_label("Price to").fill("cheap")
    expect(page.get_by_role("alert")).to_be_visible()
    page.close()
