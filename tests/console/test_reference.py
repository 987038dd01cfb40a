"""The reference of the API, which Swagger UI draws from the description."""

import re

import pytest

from chalicelib.console import reference
from infra import guide
from tests.support.shop import Shop

PAGE = "/console/reference"


def test_the_page_links_files_that_are_there_and_stay(shop: Shop) -> None:
    page = shop.get(PAGE)
    linked = re.findall(r'(?:src|href)="(reference/[^"]+)"', page.text)
    assert (page.status, len(linked)) == (200, 3)
    for address in linked:
        file = shop.get(f"/console/{address}")
        assert file.status == 200 and "immutable" in file.headers["Cache-Control"]
    assert "SwaggerUIBundle" in shop.get(f"/console/{linked[2]}").text


def test_the_policy_of_the_page_allows_only_own_scripts(shop: Shop) -> None:
    policy = shop.get(PAGE).headers["Content-Security-Policy"]
    consoles = shop.get("/console").headers["Content-Security-Policy"]
    assert policy == consoles.replace("trusted-types 'none'", "trusted-types default dompurify")
    assert "<script>" not in shop.get(PAGE).text and "style=" not in shop.get(PAGE).text


@pytest.mark.parametrize("name", ["index.html", "../routes.py", "", "oauth2.py"])
def test_nothing_else_is_served(shop: Shop, name: str) -> None:
    assert shop.get(f"{PAGE}/{reference.version()}/{name}").status == 404
    assert shop.get(f"{PAGE}/0123456789ab/swagger-ui.min.css").status == 404


def test_an_address_with_a_slash_leads_to_the_page(shop: Shop) -> None:
    answer = shop.get(f"{PAGE}/")
    assert (answer.status, answer.headers["Location"]) == (302, "../../console/reference")


def test_the_guide_is_that_of_the_docs_and_links_only_itself(shop: Shop) -> None:
    assert guide.PAGE.read_text() == guide.render_page(), "run `make examples`"
    page = shop.get("/console/guide")
    styles, back, *links = re.findall(r'href="((?!data:)[^"]+)"', page.text)
    assert shop.get(f"/console/{styles}").status == 200 and back == "../console"
    named = set(re.findall(r' id="([^"]+)"', page.text))
    assert len(links) > 12 and {link.removeprefix("#") for link in links} <= named
    assert "style=" not in page.text and "<script" not in page.text


def test_the_links_of_the_service_lead_to_it(shop: Shop) -> None:
    assert shop.get("/").json["links"]["reference"].endswith(PAGE)
    browser = shop.get("/api", headers={"Accept": "text/html"})
    assert f'{PAGE}">API reference<' in browser.text
