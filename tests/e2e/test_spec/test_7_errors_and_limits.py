"""Rate limits, and the errors beyond them. `test_2_states` has the invalid moves."""

import time
from collections.abc import Callable

import pytest

from tests.e2e.spec_client import ORDERS, PRODUCTS, Client, Got, word
from tests.e2e.test_main_job import ended, upload
from tests.e2e.test_spec.test_4_authentication import operations
from tests.support.running import Stack, tool

LIMIT, REMAINING, RESET = (f"X-RateLimit-{name}" for name in ("Limit", "Remaining", "Reset"))
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ROWS = [{"name": "Bulk", "price": 1} for _ in range(20)]


def let_through(call: Callable[[], Got]) -> tuple[int, Got]:
    """The number of requests answered in one minute, and the answer to the next."""
    answers: list[Got] = []
    for _ in range(1_500):
        answers.append(call())
        if answers[-1].status == 429:
            minute = answers[-1].headers[RESET]
            return sum(one.headers[RESET] == minute for one in answers) - 1, answers[-1]
    raise AssertionError("no limit was met")


@pytest.fixture(scope="module")
def writes(shop: Client) -> tuple[int, Got]:
    key = shop.key_of("STAFF")
    return let_through(lambda: shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=key))


def test_beyond_the_limit_is_429_with_retry_after_in_seconds(writes: tuple[int, Got]) -> None:
    assert (writes[1].status, writes[1].json["code"]) == (429, "rate_limited")
    assert 1 <= int(writes[1].headers["Retry-After"]) <= 60


# --- Limits ---------------------------------------------------------------------------------------


def test_the_admin_api_allows_120_reads_a_minute(shop: Client) -> None:
    key = shop.key_of("READER")
    assert let_through(lambda: shop.get("/api/admin/me", key_=key))[0] == 120


def test_the_admin_api_allows_60_writes_a_minute(writes: tuple[int, Got]) -> None:
    assert writes[0] == 60


def test_the_storefront_allows_300_requests_a_minute(shop: Client) -> None:
    address = {"X_Forwarded_For": "203.0.113.77"}  # the emulator takes it for the client's
    count, refused = let_through(lambda: shop.get("/api/products/none", key_="", **address))
    assert (count, refused.json["code"]) == (300, "rate_limited")


def test_reads_and_writes_are_counted_separately(shop: Client) -> None:
    key = shop.key_of("STAFF")
    let_through(lambda: shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=key))
    assert shop.get("/api/admin/me", key_=key).status == 200


def test_another_key_has_its_own_limits(shop: Client) -> None:
    first, second = shop.key_of("STAFF"), shop.key_of("STAFF")
    let_through(lambda: shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=first))
    assert shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=second).status == 404


def test_x_ratelimit_limit_is_the_number_of_requests_in_a_window(shop: Client) -> None:
    key = shop.key_of("STAFF")
    assert shop.get("/api/admin/me", key_=key).headers[LIMIT] == "120"
    assert shop.call("POST", ORDERS, {}, key_=key).headers[LIMIT] == "60"
    assert shop.get("/api/products", key_="").headers[LIMIT] == "300"


def test_x_ratelimit_remaining_is_the_number_left(shop: Client) -> None:
    key = shop.key_of("STAFF")
    first, second = left_in_one_minute(lambda: shop.get("/api/admin/me", key_=key))
    assert first - second == 1


def test_x_ratelimit_reset_is_when_the_window_ends(shop: Client) -> None:
    before = time.time()
    reset = int(shop.get("/api/admin/me").headers[RESET])
    assert reset % 60 == 0 and before < reset <= time.time() + 60


def left_in_one_minute(call: Callable[[], Got]) -> tuple[int, int]:
    """The remaining requests after each of two requests."""
    while True:
        first, second = call().headers, call().headers
        if first[RESET] == second[RESET]:
            return int(first[REMAINING]), int(second[REMAINING])


def test_every_answer_has_the_rate_limit_headers_and_a_request_id(
    shop: Client,
) -> None:
    paths = {path for _, path in operations(shop)}
    paths |= {"/", "/api", "/api/", "/api/admin", "/nothing", "/api/admin/Products", "/console"}
    wrong = []
    for path in sorted(paths):
        for method in METHODS:
            answer = shop.call(method, path)
            ours = all(answer.headers.get(name, "").isdigit() for name in (LIMIT, REMAINING, RESET))
            coded = answer.status < 400 or method == "HEAD" or bool(answer.json.get("code"))
            if not (ours and coded and answer.headers.get("X-Request-Id")):
                wrong.append((method, path, answer.status, answer.headers, answer.text[:100]))
    assert wrong == [] and len(paths) > 50


def test_a_bulk_call_counts_as_one_request(shop: Client) -> None:
    key = shop.key_of("STAFF")
    bulk = left_in_one_minute(lambda: shop.call("POST", f"{PRODUCTS}/bulk", ROWS, key_=key))
    assert bulk[0] - bulk[1] == 1


def test_the_rows_of_an_import_do_not_count(shop: Client, stack: Stack) -> None:
    key, mark = shop.key_of("STAFF"), word()
    rows = [f"{mark}-{n},Mug,5" for n in range(100)]
    job = upload(stack, key, "\n".join(["slug,name,price", *rows]).encode())
    assert ended(stack, shop.key, job)["created"] == 100
    assert shop.call("DELETE", f"{PRODUCTS}/prod_x", key_=key).status == 404


def test_a_key_can_have_higher_limits(shop: Client, stack: Stack) -> None:
    made = shop.made("/api/admin/keys", {"name": "spec", "role": "STAFF"})
    tool(stack, "keys", "limits", made["id"], "--read", "500")
    assert shop.get("/api/admin/me", key_=made["key"]).headers[LIMIT] == "500"
