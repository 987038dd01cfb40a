"""Every answer has one shape, says nothing secret, and leaves one line in the log."""

import json
from typing import Any

import pytest

from chalicelib import deadline
from tests.faults import Faults
from tests.shop import Shop


def lines(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_nobody_expected_is_a_500_with_the_request_id_only(
    trial: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = trial.get("/api/trial/broken")
    assert answer.status == 500
    assert set(answer.json) == {"code", "message", "requestId"}
    assert answer.json["code"] == "internal_error"
    assert "secret" not in answer.text
    failure, request = lines(capsys)
    assert failure["requestId"] == request["requestId"] == answer.json["requestId"]
    assert "in broken" in failure["traceback"]
    assert (failure["level"], request["status"]) == ("ERROR", 500)


def test_a_request_leaves_one_line_that_is_its_metrics_too(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    key = shop.mint()
    answer = shop.get("/api/admin/me", key=key)
    (line,) = lines(capsys)
    assert line["requestId"] == answer.headers["X-Request-Id"]
    assert line["keyId"] == answer.json["id"]
    assert (line["method"], line["route"], line["status"]) == ("GET", "/api/admin/me", 200)
    assert line["LatencyMs"] > 0
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["Stage"]]
    for metric in directive["Metrics"]:
        assert isinstance(line[metric["Name"]], int | float)
    assert key not in json.dumps(line)


def test_no_key_reaches_the_log_even_when_it_is_wrong(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.get("/api/admin/me", key="bk_mistyped")
    shop.post("/api/admin/keys", {"name": "Till", "role": "bk_mistyped"})
    shop.get("/api/admin/keys/bk_mistyped")
    assert "bk_mistyped" not in capsys.readouterr().out


def test_a_storage_that_does_not_answer_is_503_and_worth_a_retry(
    shop: Shop, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = shop.owner
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.2)
    faults.timeout("UpdateItem", times=1_000)
    answer = shop.get("/api/admin/me", key=key)
    assert (answer.status, answer.json["code"]) == (503, "busy")
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Basic abc", "bk_x", "Bearer é"]
)
def test_without_a_key_there_is_no_admin_interface(shop: Shop, authorization: str) -> None:
    for path in ("/api/admin/me", "/api/admin/keys", "/api/admin/nothing", "/api/admin"):
        answer = shop.get(path, key=None, headers={"authorization": authorization})
        assert (answer.status, answer.json["code"]) == (401, "unauthorized")


def test_the_scheme_of_a_key_may_be_written_in_any_case(shop: Shop) -> None:
    headers = {"authorization": f"bearer {shop.owner}"}
    assert shop.get("/api/admin/me", key=None, headers=headers).status == 200


def test_what_is_not_there_is_404_and_what_is_not_possible_405(shop: Shop) -> None:
    for path in ("/api/admin/nothing", "/api/nothing/at/all", "/api/admin/keys/1/2"):
        assert shop.get(path).json["code"] == "not_found"
    for method in ("PUT", "PATCH", "DELETE"):
        answer = shop.call(method, "/api/admin/keys")
        assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, HEAD, POST, OPTIONS"


def test_head_is_a_get_without_the_body(shop: Shop) -> None:
    answer = shop.head("/api/admin/me")
    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["Content-Type"] == "application/json"


def test_a_role_includes_those_below_it(trial: Shop) -> None:
    statuses = {
        role: trial.get("/api/admin/trial/admins", key=trial.as_(role)).status
        for role in ("STAFF", "ADMIN", "OWNER")
    }
    assert statuses == {"STAFF": 403, "ADMIN": 204, "OWNER": 204}


def test_browsers_of_any_origin_may_read_the_storefront_and_no_admin_route(shop: Shop) -> None:
    for path in ("/api/openapi.json", "/api/nothing"):
        answer = shop.get(path)
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "X-RateLimit-Remaining" in answer.headers["Access-Control-Expose-Headers"]
    preflight = shop.options("/api/openapi.json")
    assert "GET" in preflight.headers["Access-Control-Allow-Methods"]
    for answer in (shop.get("/api/admin/me"), shop.options("/api/admin/me")):
        assert not [name for name in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize("tags", ['"v1"', 'W/"v1"', '"v0", "v1"', "*"])
def test_what_a_client_has_is_not_sent_again(trial: Shop, tags: str) -> None:
    answer = trial.get("/api/trial/things/7", headers={"If-None-Match": tags})
    assert (answer.status, answer.text) == (304, "")
    assert answer.headers["ETag"] == '"v1"'
    assert trial.get("/api/trial/things/7", headers={"If-None-Match": '"v2"'}).status == 200


@pytest.mark.parametrize(
    ("tags", "status"),
    [(None, 204), ('"v1"', 204), ('"v0", "v1"', 204), ("*", 204), ('"v0"', 412), ("", 412)],
)
def test_a_change_of_what_has_changed_is_refused(
    trial: Shop, tags: str | None, status: int
) -> None:
    headers = {} if tags is None else {"If-Match": tags}
    answer = trial.put("/api/trial/things/7", headers=headers)
    assert answer.status == status
