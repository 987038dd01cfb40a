"""Keys and rate limits of the deployed API. `tests/request` has the rules."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.e2e.calls import Api
from tests.e2e.spec_client import PRODUCTS, Client, word
from tests.support.running import Stack

pytestmark = pytest.mark.thorough

LIMIT, REMAINING, RESET = (f"X-RateLimit-{name}" for name in ("Limit", "Remaining", "Reset"))
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ROWS = [{"name": "Bulk", "price": 1} for _ in range(20)]


def operations(shop: Client) -> list[tuple[str, str]]:
    """Every method and path that the description has, with ids that nobody has."""
    paths: dict[str, Any] = shop.get("/api/openapi.json").json()["paths"]
    return [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, item in paths.items()
        for method in item
        if method in {"get", "post", "put", "patch", "delete"}
    ]


def test_every_admin_request_needs_a_key(shop: Client) -> None:
    admin = [one for one in operations(shop) if one[1].startswith("/api/admin")]
    addresses = (f"198.51.100.{n}" for n in range(1, 255))  # 60 failed sign-ins each
    wrong = []
    for method, path in admin:
        answer = shop.call(method, path, key_="", X_Forwarded_For=next(addresses))
        if answer.status_code != 401:
            wrong.append((method, path, answer.status_code))
    assert wrong == [] and len(admin) > 50


def let_through(call: Callable[[], httpx.Response]) -> tuple[int, httpx.Response]:
    """The number of requests answered in one minute, and the answer to the next."""
    answers: list[httpx.Response] = []
    for _ in range(1_500):
        answers.append(call())
        if answers[-1].status_code == 429:
            minute = answers[-1].headers[RESET]
            return sum(one.headers[RESET] == minute for one in answers) - 1, answers[-1]
    raise AssertionError("no limit was met")


def test_the_storefront_allows_300_requests_a_minute_and_a_key_120(shop: Client) -> None:
    address = {"X_Forwarded_For": "203.0.113.77"}  # the emulator takes it for the client's
    key = shop.key_of("STAFF")
    for most, call in (
        (300, lambda: shop.get("/api/products/none", key_="", **address)),
        (120, lambda: shop.get("/api/admin/me", key_=key)),
    ):
        count, refused = let_through(call)
        assert (count, refused.json()["code"]) == (most, "rate_limited")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert (refused.headers[LIMIT], refused.headers[REMAINING]) == (str(most), "0")


def left_in_one_minute(call: Callable[[], httpx.Response]) -> tuple[int, int]:
    """The remaining requests after each of two requests."""
    while True:
        first, second = call().headers, call().headers
        if first[RESET] == second[RESET]:
            return int(first[REMAINING]), int(second[REMAINING])


def test_every_answer_has_the_rate_limit_headers_and_a_request_id(shop: Client) -> None:
    paths = {path for _, path in operations(shop)}
    paths |= {"/", "/api", "/api/", "/api/admin", "/nothing", "/api/admin/Products", "/console"}
    wrong = []
    for path in sorted(paths):
        for method in METHODS:
            answer = shop.call(method, path)
            ours = all(answer.headers.get(name, "").isdigit() for name in (LIMIT, REMAINING, RESET))
            coded = answer.status_code < 400 or method == "HEAD" or bool(answer.json().get("code"))
            if not (ours and coded and answer.headers.get("X-Request-Id")):
                wrong.append((method, path, answer.status_code, answer.headers, answer.text[:100]))
    assert wrong == [] and len(paths) > 50


def test_a_bulk_call_counts_as_one_request(shop: Client) -> None:
    key = shop.key_of("STAFF")
    bulk = left_in_one_minute(lambda: shop.call("POST", f"{PRODUCTS}/bulk", ROWS, key_=key))
    assert bulk[0] - bulk[1] == 1


def test_the_rows_of_an_import_do_not_count(shop: Client, stack: Stack) -> None:
    key, mark = shop.key_of("STAFF"), word()
    rows = [f"{mark}-{n},Mug,5" for n in range(100)]
    job = Api(stack.base_url, key).upload("\n".join(["slug,name,price", *rows]))
    assert Api(stack.base_url, shop.key).ended(job)["created"] == 100
    assert shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=key).status_code == 404
