"""For each write operation in the description, one request leaves one entry: of a write, and of one
that is refused because of the key's role."""

import re
from typing import Any

import pytest

import app
from chalicelib.api_keys.model import Role
from chalicelib.description import openapi
from chalicelib.request.routes import operations
from tests.audit.build import entries, of_request
from tests.stock.build import fanned_out
from tests.support import examples
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


@pytest.fixture(scope="module")
def written() -> list[tuple[str, str]]:
    """The method and path of every write."""
    app.app.serve(openapi.PATH)
    return [one for one in operations if one[0] != "GET"]


class Noted(examples.Day):
    """A day that keeps the id of each request."""

    requests: list[tuple[str, str, bool]]

    def _keep(self, method: str, path: str, body: Any, answer: Any) -> None:
        super()._keep(method, path, body, answer)
        if method == "GET":
            return
        operation = examples.operation(method, path)
        usual = operation.endswith(("/recover", "/preview"))  # dry, unless asked otherwise
        asked = body.get("dryRun", usual) if isinstance(body, dict) else usual
        is_dry = asked in (True, "true")
        self.requests.append((operation, answer.headers["X-Request-Id"], is_dry))


def test_each_write_is_one_entry_and_each_dry_run_none(written: list[tuple[str, str]]) -> None:
    with examples.day(Noted) as day:
        day.requests = []
        examples.walk(day)
        fanned_out(day.world.double)
        owner = day.shop.get("/api/admin/keys?limit=100").json["data"][-1]
        found = entries(day.shop)
    assert {operation for operation, *_ in day.requests} == {f"{m} {p}" for m, p in written}
    by_request: dict[str, list[Any]] = {}
    for entry in found:
        by_request.setdefault(entry["requestId"] or "", []).append(entry)
    assert sum(is_dry for *_, is_dry in day.requests) >= 3
    for operation, id, is_dry in day.requests:
        made = by_request.get(id, [])
        assert len(made) == (0 if is_dry else 1), (operation, made)
        for entry in made:
            assert entry["actor"] == {"keyId": owner["id"], "keyName": owner["name"]}
            assert (entry["via"], entry["jobId"]) == ("API", None)
            assert entry["record"]["id"], operation
            if re.match("PUT|PATCH", operation):
                assert entry["changes"], operation
            # That customer was deleted, or erased.
            for one in entry["changes"] if entry["record"]["type"] != "customer" else ():
                assert one["before"] != one["after"], operation
    # What jobs changed, each record by itself.
    of_jobs = [entry for entry in found if entry["via"] == "JOB"]
    assert {entry["requestId"] for entry in of_jobs} == {None}
    started = {entry["record"]["id"] for entry in found if entry["action"] == "job.started"}
    assert {entry["jobId"] for entry in of_jobs} <= started
    assert {"product.updated", "order.updated", "customer.erased", "customer.merged"} <= {
        entry["action"] for entry in of_jobs
    }
    assert {entry["actor"]["keyId"] for entry in of_jobs} == {owner["id"]}


def test_each_write_that_a_role_refuses_is_one_entry(
    shop: Shop, dynamodb: Double, written: list[tuple[str, str]]
) -> None:
    reader = shop.as_("READER")
    answers = {}
    for method, path in written:
        if operations[method, path].role is Role.READER:
            continue
        called = re.sub(r"\{\w+\}", "ord_01M885HCAHP5MRZJTSA4K1S9MT", path)
        answer = shop.call(method, called, {}, key=reader)
        refused = (answer.status, answer.json["code"])
        assert refused == (403, "forbidden"), (method, path, answer.text)
        answers[answer.headers["X-Request-Id"]] = f"{method} {path}"
    assert len(answers) > 20
    assert shop.get("/api/admin/keys", key=reader).status == 403  # no write
    fanned_out(dynamodb)
    found = entries(shop, action="request.refused")
    assert {entry["requestId"]: entry["request"] for entry in found} == answers
    assert {entry["actor"]["keyName"] for entry in found} == {"a READER of the tests"}
    by_request = {entry["request"]: entry["record"] for entry in found}
    refused = by_request["DELETE /api/admin/orders/{id}"]
    assert (refused["type"], refused["id"]) == ("order", "ord_01M885HCAHP5MRZJTSA4K1S9MT")
    assert by_request["POST /api/admin/orders"]["id"] is None


def test_a_refused_path_is_kept_only_as_an_id(shop: Shop, dynamodb: Double) -> None:
    path = "/api/admin/customers/ann%40example.com"
    answer = shop.delete(path, key=shop.as_("READER"))
    (entry,) = of_request(shop, dynamodb, answer)
    assert entry["record"] == {"type": "customer", "id": None, "number": None, "name": None}
