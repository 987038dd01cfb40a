"""The description has every route, and every status that a route answers.

The statuses are checked in every test: `tests/support/documented.py` compares each answer.
"""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from app import app
from chalicelib.description import public_names
from chalicelib.request import reply
from chalicelib.request.routes import operations
from tests.support.shop import Shop


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


def test_every_status_implied_by_a_routes_declaration_is_described(description: Any) -> None:
    create = description["paths"]["/api/admin/keys"]["post"]
    assert set(create["responses"]) == {
        "201", "400", "401", "403", "413", "415", "422", "429", "431", "500", "502", "503", "504"
    }  # fmt: skip
    revoke = description["paths"]["/api/admin/keys/{id}"]["delete"]
    assert {"404", "409"} <= set(revoke["responses"])


def test_an_undescribed_answer_fails_the_test_that_gets_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = app.routes["/api/admin/me"]["GET"]
    monkeypatch.setattr(entry, "view_function", lambda: reply(202, {}))
    with pytest.raises(AssertionError, match="answers 202"):
        shop.get("/api/admin/me")
    monkeypatch.setattr(entry, "view_function", lambda: reply(200, {"name": "no id"}))
    with pytest.raises(ValueError, match="id"):
        shop.get("/api/admin/me")


def test_exactly_the_admin_routes_need_a_key_and_are_so_described(description: Any) -> None:
    for (method, path), operation in operations.items():
        is_admin = path.startswith("/api/admin/")
        assert (operation.role is not None) == is_admin
        described = description["paths"][path][method.lower()]
        assert described["security"] == ([{"key": []}] if is_admin else [])


def test_parameters_come_from_the_models(description: Any) -> None:
    listing = description["paths"]["/api/admin/keys"]["get"]
    limit = next(each for each in listing["parameters"] if each["name"] == "limit")
    assert limit["in"] == "query"
    assert limit["schema"]["default"] == 20
    revoke = description["paths"]["/api/admin/keys/{id}"]["delete"]
    assert revoke["parameters"][0]["in"] == "path"


def test_enforced_limits_are_described(shop: Shop, description: Any) -> None:
    shortest = {
        path: next(
            each["schema"].get("minLength", 0)
            for each in description["paths"][path]["get"]["parameters"]
            if each["name"] == "search"
        )
        for path in ("/api/admin/products", "/api/products")
    }
    assert shortest == {"/api/admin/products": 1, "/api/products": 0}
    assert shop.get("/api/admin/products?search=").status == 422
    assert shop.get("/api/products?search=").status == 200
    reason = description["components"]["schemas"]["StockMove"]["properties"]["reason"]
    assert reason["pattern"] == "^[A-Z][A-Z0-9_]{0,49}$"


def test_the_storefronts_lists_describe_the_header_of_ignored_parameters(description: Any) -> None:
    name = "X-Ignored-Parameters"
    assert name in description["components"]["headers"]
    for path in ("/api/products", "/api/products/facets", "/api/admin/products"):
        headers = description["paths"][path]["get"]["responses"]["200"]["headers"]
        assert (name in headers) == ("admin" not in path)


def test_the_server_url_is_that_of_the_stage_or_of_the_base_path_setting(
    shop: Shop, description: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert description["servers"] == [{"url": "/test"}]
    monkeypatch.setenv("BASE_PATH", "/_aws/execute-api/backroom/local")
    servers = shop.get("/api/openapi.json").json["servers"]
    assert servers == [{"url": "/_aws/execute-api/backroom/local"}]
    monkeypatch.setenv("BASE_PATH", "")  # behind a proxy that hides the stage
    assert shop.get("/api/openapi.json").json["servers"] == [{"url": "/"}]


def test_an_unchanged_description_is_answered_with_304(shop: Shop) -> None:
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


def test_schema_names_are_words_of_commerce(description: Any) -> None:
    schemas = description["components"]["schemas"]
    assert {"Product", "Order", "Customer", "Webhook", "Delivery", "ImportJob"} <= schemas.keys()
    for name in schemas:
        assert re.fullmatch("[A-Z][A-Za-z]+", name), name
        assert not name.startswith(("Shown", "Walked")), name


def test_every_operation_has_a_unique_id(description: Any) -> None:
    ids = [operation["operationId"] for _, _, operation in _operations(description)]
    assert len(ids) == len(set(ids)) == len(operations)
    assert {"listOrders", "createOrder", "getOrder", "updateOrder", "deleteOrder"} <= set(ids)
    for id in ids:
        assert re.fullmatch("[a-z]+([A-Z][a-z]+)+", id), id


def test_every_field_and_parameter_has_a_description(description: Any) -> None:
    """A missing description belongs to the field: `about`, or `Field(description=…)`."""
    silent = [
        f"{name}.{own}"
        for name, schema in description["components"]["schemas"].items()
        for own, field in {**schema.get("properties", {}), "": schema}.items()
        if not field.get("description")
    ]
    silent += [
        f"{method} {path}: {described.get('name', 'itself')}"
        for method, path, operation in _operations(description)
        for described in [*operation["parameters"], *operation["responses"].values(), operation]
        if not described.get("description") and "$ref" not in described
    ]
    assert silent == []


def test_a_change_is_described_without_defaults(description: Any) -> None:
    """Clients that are generated from the description send defaults: a change of a note would also
    be one of the status."""
    schemas = description["components"]["schemas"]
    names = ("ProductEdit", "OrderEdit", "EditOrder")
    waiting = [f"#/components/schemas/{name}" for name in names]
    for method, _, operation in _operations(description):
        if method in ("put", "patch"):
            waiting += _references(operation["requestBody"])
    changes = set[str]()
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in changes:
            changes.add(name)
            waiting += _references(schemas[name])
    assert {"ProductChange", "OrderChange", "CustomerChange", "PriceChange"} <= changes
    assert not [
        f"{name}.{own}"
        for name in changes
        for own, field in schemas[name].get("properties", {}).items()
        if "default" in field
    ]


def test_every_tag_has_a_description(description: Any) -> None:
    assert public_names.TAGS.keys() == {tag["name"] for tag in description["tags"]}


def _operations(description: Any) -> Iterator[tuple[str, str, Any]]:
    for path, item in description["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def test_schemathesis_finds_every_operation(description: Any) -> None:
    import schemathesis  # takes seconds, which all other tests would wait for

    schema = schemathesis.openapi.from_dict(description)
    found = {each.ok().definition.raw["operationId"] for each in schema.get_all_operations()}
    assert found == {operation["operationId"] for _, _, operation in _operations(description)}


def test_every_example_matches_its_schema(description: Any) -> None:
    for item in [*description["paths"].values(), *description["webhooks"].values()]:
        for operation in item.values():
            for media in _bodies(operation):
                schema = {**media["schema"], "components": description["components"]}
                if "example" in media:
                    jsonschema_rs.validator_for(schema).validate(media["example"])
    for answer in description["components"]["responses"].values():
        if "API Gateway" in answer["description"]:
            assert answer.keys() == {"description"}
            continue
        (media,) = answer["content"].values()
        schema = {**media["schema"], "components": description["components"]}
        for example in media["examples"].values():
            jsonschema_rs.validator_for(schema).validate(example["value"])


def _bodies(operation: Any) -> Iterator[Any]:
    yield from operation.get("requestBody", {}).get("content", {}).values()
    for answer in operation["responses"].values():
        yield from answer.get("content", {}).values()


def test_no_tag_has_operations_of_the_api_and_of_receivers(description: Any) -> None:
    """Client generators write a file a tag, and one of the two would replace the other."""
    tags = [
        {
            tag
            for item in description[part].values()
            for each in item.values()
            for tag in each["tags"]
        }
        for part in ("paths", "webhooks")
    ]
    assert tags[0] and tags[1] and not tags[0] & tags[1]
