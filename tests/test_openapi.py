"""The description tells of every route, and of every status that a route answers.

The second half is checked in every test: `tests/documented.py` looks at each answer.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from app import app
from chalicelib.request import reply
from chalicelib.request.routes import operations
from tests.shop import Shop


@pytest.fixture
def description(shop: Shop) -> Any:
    return shop.get("/api/openapi.json").json


def test_every_route_is_described(description: Any) -> None:
    described = {
        (method.upper(), path) for path, item in description["paths"].items() for method in item
    }
    served = {
        (method, path)
        for path, methods in app.routes.items()
        for method, entry in methods.items()
        if path.startswith("/api/")
        and method != "HEAD"
        and not entry.view_name.startswith("rest of ")
    }
    assert described == served


def test_every_status_that_follows_from_a_declaration_is_described(description: Any) -> None:
    create = description["paths"]["/api/admin/keys"]["post"]
    assert set(create["responses"]) == {
        "201", "400", "401", "403", "413", "415", "422", "429", "500", "503"
    }  # fmt: skip
    revoke = description["paths"]["/api/admin/keys/{id}"]["delete"]
    assert {"404", "409"} <= set(revoke["responses"])


def test_an_answer_that_is_not_described_fails_the_test_that_got_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = app.routes["/api/admin/me"]["GET"]
    monkeypatch.setattr(entry, "view_function", lambda: reply(202, {}))
    with pytest.raises(AssertionError, match="answers 202"):
        shop.get("/api/admin/me")
    monkeypatch.setattr(entry, "view_function", lambda: reply(200, {"name": "no id"}))
    with pytest.raises(ValueError, match="id"):
        shop.get("/api/admin/me")


def test_every_reference_leads_somewhere(description: Any) -> None:
    found = set(_references(description))
    assert found
    for reference in found:
        place = description
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_admin_routes_need_a_key_and_only_they() -> None:
    for operation in operations.values():
        assert (operation.role is not None) == operation.path.startswith("/api/admin/")


def test_parameters_come_from_the_models(description: Any) -> None:
    listing = description["paths"]["/api/admin/keys"]["get"]
    limit = next(each for each in listing["parameters"] if each["name"] == "limit")
    assert limit["in"] == "query"
    assert limit["schema"]["default"] == 20
    revoke = description["paths"]["/api/admin/keys/{id}"]["delete"]
    assert revoke["parameters"][0]["in"] == "path"


def test_its_addresses_are_those_of_the_stage(description: Any) -> None:
    assert description["servers"] == [{"url": "/test"}]


def test_its_addresses_are_right_where_api_gateway_does_not_know(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASE_PATH", "/_aws/execute-api/backroom/local")
    servers = shop.get("/api/openapi.json").json["servers"]
    assert servers == [{"url": "/_aws/execute-api/backroom/local"}]


def test_a_client_that_has_it_is_told_so(shop: Shop) -> None:
    etag = shop.get("/api/openapi.json").headers["ETag"]
    assert shop.get("/api/openapi.json", headers={"If-None-Match": etag}).status == 304


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _references(inner)
