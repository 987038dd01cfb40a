"""Every answer has the same shape, contains no secrets, and logs one line."""

import json
from typing import Any

import pytest

from chalicelib import deadline
from tests.support.dynamodb_double import Double, Fault
from tests.support.shop import Shop


def lines(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_unexpected_error_is_a_500_with_only_the_request_id(
    trial: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = trial.get("/api/trial/broken")
    assert answer.status == 500
    assert set(answer.json) == {"code", "message", "requestId"}
    assert answer.json["code"] == "internal_error"
    assert "secret" not in answer.text
    failure, request = lines(capsys)
    assert failure["requestId"] == request["requestId"] == answer.json["requestId"]
    assert "in broken" in failure["exception"]
    assert (failure["level"], request["status"]) == ("ERROR", 500)
    assert (request["ClientErrors"], request["ServerErrors"]) == (0, 1)


def test_a_request_logs_one_line_with_its_metrics(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint()
    answer = shop.get("/api/admin/me", key=key)
    (line,) = lines(capsys)
    assert line["requestId"] == answer.headers["X-Request-Id"]
    assert line["keyId"] == answer.json["id"]
    assert (line["method"], line["route"], line["status"]) == ("GET", "/api/admin/me", 200)
    assert line["LatencyMs"] > 0
    assert (line["Requests"], line["ClientErrors"], line["ServerErrors"]) == (1, 0, 0)
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["Stage"]]
    for metric in directive["Metrics"]:
        assert isinstance(line[metric["Name"]], int | float)
    assert key not in json.dumps(line)


def test_no_key_is_logged_even_if_it_is_wrong(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.get("/api/admin/me", key="bk_mistyped")
    shop.post("/api/admin/keys", {"name": "Till", "role": "bk_mistyped"})
    shop.get("/api/admin/keys/bk_mistyped")
    logged = lines(capsys)
    assert [line["status"] for line in logged] == [401, 422, 405]
    assert "bk_mistyped" not in json.dumps(logged)


@pytest.mark.parametrize(
    ("asked", "limit"),
    [("GET /api/admin/me", "120"), ("POST /api/admin/me", "60"), ("GET /api/products", "300")],
)
def test_an_unreachable_storage_is_503_with_retry_after(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch, asked: str, limit: str
) -> None:
    key = shop.owner
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.2)
    dynamodb.faults = lambda operation, _: Fault.LOST if operation == "UpdateItem" else None
    answer = shop.call(*asked.split(), key=key)
    assert (answer.status, answer.json["code"]) == (503, "busy")
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.headers["X-RateLimit-Limit"] == limit


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Basic abc", "bk_x", "Bearer é"]
)
def test_admin_routes_need_a_key(shop: Shop, authorization: str) -> None:
    for path in ("/api/admin/me", "/api/admin/keys", "/api/admin/nothing", "/api/admin"):
        answer = shop.get(path, key=None, headers={"authorization": authorization})
        assert (answer.status, answer.json["code"]) == (401, "unauthorized")


def test_the_bearer_scheme_may_be_in_any_case_and_head_answers_without_the_body(
    shop: Shop,
) -> None:
    headers = {"authorization": f"bearer {shop.owner}"}
    answer = shop.head("/api/admin/me", key=None, headers=headers)
    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["Content-Type"] == "application/json"


def test_a_missing_path_is_404_and_a_missing_method_405(shop: Shop) -> None:
    for path in ("/api/admin/nothing", "/api/nothing/at/all", "/api/admin/keys/1/2"):
        assert shop.get(path).json["code"] == "not_found"
    for method, query in (("PUT", ""), ("PATCH", "?limit=1"), ("DELETE", "?blank=")):
        answer = shop.call(method, f"/api/admin/keys{query}")
        assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, HEAD, POST, OPTIONS"


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/api", "/api/", "/apis", "/API/admin/products", "/favicon.ico", "/a/b/c"),
        *("/api//products", "/api/admin/", "/console", "/console/x", "/%2e%2e/etc/passwd"),
    ],
)
def test_every_path_and_method_is_answered_by_the_application(shop: Shop, path: str) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = shop.call(method, path)
        assert answer.headers["X-Request-Id"]
        assert int(answer.headers["X-RateLimit-Limit"]) > 0
        assert int(answer.headers["X-RateLimit-Reset"]) > 0
        if answer.status >= 400 and method != "HEAD":
            assert answer.json["code"] in {"not_found", "method_not_allowed"}
        else:
            assert answer.status in {200, 204, 302, 404}


def test_the_root_links_to_the_console_and_the_description(shop: Shop) -> None:
    for path in ("/", "/api"):
        found = shop.get(path)
        assert (found.status, found.headers["Content-Type"]) == (200, "application/json")
        links = found.json["links"]
        assert links["description"] == "/test/api/openapi.json"
        assert shop.get(links["description"].removeprefix("/test")).status == 200
        browser = shop.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*"})
        assert (browser.status, browser.headers["Location"]) == (302, "/test/console")
        assert browser.headers["Content-Type"].startswith("text/html")
        assert "/test/api/openapi.json" in browser.text
        assert shop.post(path).headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("/api/admin/product", "/api/admin/products"),
        ("/api/admin/orders/ord_1/", "/api/admin/orders/{id}"),
        ("/api/admin/webhook", "/api/admin/webhooks"),
        ("/API/products", "/api/products"),
        ("/admin/orders", "/api/admin/orders"),
        ("/wp-login.php", None),
        ("/" + "x" * 5_000, None),
    ],
)
def test_an_unknown_path_gets_the_nearest_as_a_hint(
    shop: Shop, asked: str, near: str | None
) -> None:
    answer = shop.get(asked)
    assert (answer.status, answer.json["code"]) == (404, "not_found")
    assert answer.json.get("nearest") == near
    assert near is None or near in answer.json["message"]


def test_a_body_of_the_wrong_type_is_refused_with_the_expected_one(shop: Shop) -> None:
    for kind, body in (("application/json", b"{}"), ("text/csv", b"name\nx"), (None, b"x")):
        headers = {"Content-Type": kind} if kind else {}
        refused = shop.post("/api/admin/products/import", body, headers=headers)
        assert (refused.status, refused.json["code"]) == (415, "unsupported_media_type")
        assert "multipart/form-data with the field `file`" in refused.json["message"]
    csv = shop.post("/api/admin/products", b"name", headers={"Content-Type": "text/csv"})
    assert csv.json["message"] == "The body must be application/json; this is 'text/csv'."


def test_a_preflight_of_an_unknown_path_is_404_and_refusals_are_counted(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in ("/api/nothing", "/api/admin/nothing"):
        assert shop.options(path).status == 404
    assert shop.options("/api/admin/orders").headers["Allow"] == "GET, HEAD, POST, OPTIONS"
    broken = shop.post("/api/admin/products", b"{", headers={"Content-Type": "application/json"})
    assert broken.status == 400
    names = ("status", "ClientErrors", "ServerErrors")
    measured = [tuple(line[name] for name in names) for line in lines(capsys)]
    assert measured == [(404, 1, 0), (404, 1, 0), (204, 0, 0), (400, 1, 0)]
    console = shop.options("/console")
    assert (console.status, console.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


def test_a_role_includes_those_below_it(trial: Shop) -> None:
    for role, status in (("STAFF", 403), ("ADMIN", 200), ("OWNER", 200)):
        assert trial.get("/api/admin/trial/admins", key=trial.as_(role)).status == status


def test_cors_allows_any_origin_on_the_storefront_and_none_on_admin_routes(shop: Shop) -> None:
    for path in ("/api/openapi.json", "/api/nothing"):
        answer = shop.get(path)
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "X-RateLimit-Remaining" in answer.headers["Access-Control-Expose-Headers"]
    preflight = shop.options("/api/openapi.json")
    # Others than those of Fetch's safelist: tools of a page add them to each of its requests.
    assert {"*", "Authorization"} <= set(
        preflight.headers["Access-Control-Allow-Headers"].split(", ")
    )
    assert "GET" in preflight.headers["Access-Control-Allow-Methods"]
    for answer in (shop.get("/api/admin/me"), shop.options("/api/admin/me")):
        assert not [name for name in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize("tags", ['"v1"', 'W/"v1"', '"v0", "v1"', "*"])
def test_a_matching_etag_is_answered_with_304(trial: Shop, tags: str) -> None:
    answer = trial.get("/api/trial/things/7", headers={"If-None-Match": tags})
    assert (answer.status, answer.text) == (304, "")
    assert answer.headers["ETag"] == '"v1"'
    assert trial.get("/api/trial/things/7", headers={"If-None-Match": '"v2"'}).status == 200


@pytest.mark.parametrize(
    ("tags", "status"),
    [(None, 200), ('"v1"', 200), ('"v0", "v1"', 200), ("*", 200), ('"v0"', 412), ("", 412)],
)
def test_if_match_refuses_a_change_of_another_version(
    trial: Shop, tags: str | None, status: int
) -> None:
    headers = {} if tags is None else {"If-Match": tags}
    answer = trial.put("/api/trial/things/7", headers=headers)
    assert answer.status == status
