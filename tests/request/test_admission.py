"""A request whose admission runs concurrently with its first reads is refused correctly.

Tests every order in which the calls of a request can arrive, and every moment at which its key can
be revoked or its limit used up.
"""

import re
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chalicelib.api_keys import store as api_keys
from chalicelib.request import authenticate
from chalicelib.storage import table
from chalicelib.storage.dynamodb import DynamoCall
from chalicelib.values import clock, ids
from tests.orders.build import line, new_order, variant
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.shop import Answer, Shop

ADMISSION, READ, WRITE = "admission", "read", "write"
ORDERS, PRODUCTS = "/api/admin/orders", "/api/admin/products"
PRODUCTS_OF_ALL, ADDRESS = "/api/products", "203.0.113.7"
SECRET = "a name that only an admitted caller may read"

Send = Callable[[str], Answer]  # with this key
Deed = Callable[[str], object]


@pytest.fixture(autouse=True)
def within_one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "unix", lambda: 1_800_000_020)


def get_product(shop: Shop) -> Send:
    id = shop.post(PRODUCTS, {"name": SECRET, "price": 1}).json["id"]
    return lambda key: shop.get(f"{PRODUCTS}/{id}", key=key)


def list_products(shop: Shop) -> Send:
    shop.post(PRODUCTS, {"name": SECRET, "price": 1})
    return lambda key: shop.get(PRODUCTS, key=key)


def place_order(shop: Shop) -> Send:
    sent = new_order(line(variant(shop)), note=SECRET)
    return lambda key: shop.post(ORDERS, sent, key=key)


def place_order_in_a_busy_shop(shop: Shop) -> Send:
    """It takes its number in a write of its own."""
    send = place_order(shop)

    def busy(key: str) -> Answer:
        with patch("chalicelib.orders.numbers._is_calm", return_value=False):
            return send(key)

    return busy


def change_order(shop: Shop) -> Send:
    id = shop.post(ORDERS, new_order(line(variant(shop)))).json["id"]
    return lambda key: shop.patch(f"{ORDERS}/{id}", {"note": SECRET}, key=key)


REQUESTS = [get_product, list_products, place_order, change_order]


class Schedule:
    """DynamoDB answers the calls of one request in this order, whatever order they were sent in,
    and `deed` happens before it answers the call at `moment`."""

    def __init__(self, calls: list[str], moment: int, deed: Deed, key: str) -> None:
        self._calls, self._moment, self._deed, self._key = calls, moment, deed, key
        self._at = 0
        self._sent: list[DynamoCall[Any]] = []
        self._send = DynamoCall.send

        def send(call: DynamoCall[Any]) -> None:
            self._defer(call)

        self._patch = patch.object(DynamoCall, "send", send)

    def __enter__(self) -> "Schedule":
        self._patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.stop()

    def _defer(self, call: DynamoCall[Any]) -> None:
        """DynamoDB gets an equal call, at its turn."""
        equal: DynamoCall[Any] = DynamoCall(call.operation, call.request)
        self._sent.append(equal)

        def receive() -> Any:
            while equal in self._sent:
                self._answer_next()
            return equal.read_reply()

        call._receive = receive

    def _answer_next(self) -> None:
        kinds = self._calls[self._at :][:1]
        fitting = (
            call
            for call in self._sent
            if [kind_of(call.operation, call.request)] == kinds or not kinds
        )
        next_ = next(fitting, None)
        assert next_, f"{kinds} was not sent yet: {self._calls}, at {self._at}"
        if self._at == self._moment:
            with patch.object(DynamoCall, "send", self._send):
                elsewhere = threading.Thread(target=self._deed, args=(self._key,))
                elsewhere.start()
                elsewhere.join(10)
        self._at += 1
        self._sent.remove(next_)
        self._send(next_)


def kind_of(operation: str, request: Any) -> str:
    if request.get("Key", {}).get("pk", {}).get("S", "").startswith("key#"):
        return ADMISSION
    return WRITE if re.match("Put|Update|Delete|Transact|BatchWrite", operation) else READ


def revoke(key: str) -> None:
    item = table.get((f"key#{api_keys.digest_of(key)}", "key"))
    assert item
    api_keys.revoke(str(item["id"]))


def expire(key: str) -> None:
    where = (f"key#{api_keys.digest_of(key)}", "key")
    table.update(where, assign={"until": "2026-01-01T00:00:00Z"})


def use_up(key: str) -> None:
    """Both limits, by other processes."""
    where = (f"key#{api_keys.digest_of(key)}", "key")
    minute = clock.unix() // 60
    table.update(where, assign={f"r{minute}": 120, f"w{minute}": 60})


def calls_of(dynamodb: Double, send: Callable[[], Answer]) -> list[str]:
    """The kinds of the calls of a request, in the order of arrival."""
    made: list[str] = []

    def note(operation: str, body: Any) -> None:
        made.append(kind_of(operation, body))

    dynamodb.faults = note
    try:
        assert send().status < 300
    finally:
        dynamodb.faults = lambda operation, body: None
    return made


def stored(shop: Shop) -> list[Any]:
    """Everything that a refused request must not change."""
    names = (SETTINGS["TABLE"], SETTINGS["OUTBOX_TABLE"])
    every = [item for name in names for item in shop._scanned(name)]
    kept = [item for item in every if not item["pk"].startswith(("key#", "keys", "rate#"))]
    # Nor does it matter that the deed itself is in the audit log.
    return [item for item in kept if '"key.revoked"' not in item.get("trace", "")]


@pytest.mark.thorough
@pytest.mark.parametrize(("deed", "status"), [(revoke, 401), (expire, 401), (use_up, 429)])
@pytest.mark.parametrize("prepare", REQUESTS)
def test_a_refused_request_returns_and_writes_nothing_in_any_order_of_calls(
    shop: Shop, dynamodb: Double, prepare: Any, deed: Deed, status: int
) -> None:
    try_every_order(shop, dynamodb, prepare(shop), deed, status)


def test_a_refused_order_takes_no_number_in_a_busy_shop(shop: Shop, dynamodb: Double) -> None:
    send = place_order_in_a_busy_shop(shop)
    try_every_order(shop, dynamodb, send, revoke, 401)


def try_every_order(shop: Shop, dynamodb: Double, send: Send, deed: Deed, status: int) -> None:
    key = warm(shop)
    usual = calls_of(dynamodb, lambda: send(key))
    others, writes = usual.count(READ), usual.count(WRITE)
    tried = 0
    for place in range(others + 1):  # the admission arrives behind so many reads
        calls = [READ] * others + [WRITE] * writes
        calls.insert(place, ADMISSION)
        for moment in range(len(calls) + 1):
            key = warm(shop)
            before = stored(shop)
            with Schedule(calls, moment, deed, key):
                answer = send(key)
            tried += 1
            if moment <= place:
                assert answer.status == status, (calls, moment)
                assert SECRET not in answer.text
                assert stored(shop) == before
                assert "X-RateLimit-Limit" in answer.headers
            else:
                assert answer.status < 300, (calls, moment, answer.text)
    assert tried >= 2 * len(usual)


def warm(shop: Shop) -> str:
    """A key that this process has just admitted."""
    key = shop.mint()
    assert shop.get(f"{PRODUCTS}/prod_none", key=key).status == 404
    return key


@pytest.mark.parametrize("deed", [revoke, expire, use_up])
def test_a_request_after_a_refused_one_reads_nothing(
    shop: Shop, dynamodb: Double, deed: Deed
) -> None:
    send = get_product(shop)
    key = warm(shop)
    deed(key)
    refused = send(key).status
    made: list[str] = []

    def note(operation: str, body: Any) -> None:
        if not body.get("Key", {}).get("pk", {}).get("S", "").startswith("rate#"):
            made.append(kind_of(operation, body))

    dynamodb.faults = note
    assert send(key).status == refused
    assert made == [ADMISSION]


@pytest.mark.parametrize(("later", "reads"), [(0, True), (59, True), (60, False), (-1, False)])
def test_a_caller_is_remembered_for_a_minute(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch, later: int, reads: bool
) -> None:
    """Its limit was used up by other processes; who is remembered has read before that is known."""
    send, key = get_product(shop), warm(shop)
    shop.get(PRODUCTS_OF_ALL, key="")
    monkeypatch.setattr(clock, "unix", lambda: 1_800_000_020 + later)
    use_up(key)
    here = (f"rate#{ids.key_part(ADDRESS)}#storefront", str(clock.unix() // 60))
    table.update(here, assign={"n": 300})
    for ask in (lambda: send(key), lambda: shop.get(PRODUCTS_OF_ALL, key="")):
        made: list[str] = []
        dynamodb.faults = lambda operation, body, made=made: made.append(kind_of(operation, body))
        assert ask().status == 429
        assert (READ in made) is reads


def test_an_address_beyond_its_limit_reads_nothing(shop: Shop, dynamodb: Double) -> None:
    shop.get(PRODUCTS_OF_ALL, key="")
    minute = clock.unix() // 60
    unseen = "198.51.100.7"
    for address in (ADDRESS, unseen):
        table.update((f"rate#{ids.key_part(address)}#storefront", str(minute)), assign={"n": 300})
    made: list[str] = []
    dynamodb.faults = lambda operation, body: made.append(operation)
    shop.get(PRODUCTS_OF_ALL, key="")
    made.clear()
    refused = shop.get(PRODUCTS_OF_ALL, key="")
    assert (refused.status, made) == (429, ["UpdateItem"])
    assert Shop("198.51.100.9").get(PRODUCTS_OF_ALL, key="").status == 200
    made.clear()
    refused = Shop(unseen).get(PRODUCTS_OF_ALL, key="")
    assert (refused.status, made) == (429, ["UpdateItem"])
    # OPTIONS shows how many requests are left in the minute, and is not counted.
    dynamodb.faults = lambda operation, body: None
    for _ in range(2):
        answered = Shop("198.51.100.1").options(PRODUCTS_OF_ALL, key="")
        assert answered.headers["X-RateLimit-Remaining"] == "300"
    assert shop.options(PRODUCTS_OF_ALL, key="").headers["X-RateLimit-Remaining"] == "0"


def test_reads_run_concurrently_with_the_admission_for_a_minute(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = get_product(shop)
    key = warm(shop)
    behind = [READ, ADMISSION]
    with Schedule(behind, -1, revoke, key):
        assert send(key).status == 200  # it could read first
    monkeypatch.setattr(clock, "unix", lambda: 1_800_000_080)
    assert calls_of(dynamodb, lambda: send(key)) == [ADMISSION, READ]
    for seconds in (1_800_000_139, 1_800_000_060):
        monkeypatch.setattr(clock, "unix", lambda seconds=seconds: seconds)
        expected = behind if seconds > 1_800_000_080 else [ADMISSION, READ]
        with Schedule(expected, -1, revoke, key):
            assert send(key).status == 200


def test_a_new_process_admits_before_it_reads(shop: Shop, dynamodb: Double) -> None:
    for prepare in REQUESTS:
        send, key = prepare(shop), shop.mint()
        authenticate._admitted.clear()
        assert calls_of(dynamodb, lambda send=send, key=key: send(key))[0] == ADMISSION  # type: ignore[misc]


def test_an_unknown_key_costs_one_call_and_a_malformed_one_none(
    shop: Shop, dynamodb: Double
) -> None:
    get_product(shop)
    asked: list[str] = []
    dynamodb.faults = lambda operation, body: asked.append(kind_of(operation, body))
    assert shop.get(PRODUCTS, key="bk_" + "A" * 43).status == 401
    assert asked == [ADMISSION]
    asked.clear()
    assert shop.get(PRODUCTS, key="none of ours").status == 401
    assert asked == []


def test_a_process_remembers_a_limited_number_of_keys(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authenticate, "_MOST_REMEMBERED", 2)
    authenticate._admitted.clear()
    kept = []
    for _ in range(5):
        assert shop.get("/api/admin/me", key=shop.mint()).status == 200
        kept.append(len(authenticate._admitted))
    assert kept == [1, 2, 1, 2, 1]


@pytest.mark.parametrize("role", ["STAFF", "ADMIN"])
def test_a_role_that_is_too_low_reads_nothing(shop: Shop, dynamodb: Double, role: str) -> None:
    id = shop.post(ORDERS, new_order(line(variant(shop)))).json["id"]
    key = shop.as_(role)
    assert shop.get(f"{ORDERS}/{id}", key=key).status == 200
    asked: list[str] = []
    dynamodb.faults = lambda operation, body: asked.append(kind_of(operation, body))
    assert shop.delete(f"{ORDERS}/{id}", key=key).status == 403
    assert asked == [ADMISSION, WRITE]  # its entry in the audit log


def test_a_refusal_takes_precedence_over_an_error_of_the_route(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = get_product(shop)
    key = warm(shop)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    with monkeypatch.context() as patched:
        patched.setattr("chalicelib.products.store.get", broken)
        assert send(key).status == 500
        revoke(key)
        refused = send(key)
    assert (refused.status, SECRET in refused.text) == (401, False)


def test_an_address_at_its_limit_gets_nothing_of_what_was_read_concurrently(
    shop: Shop, dynamodb: Double
) -> None:
    made = shop.post(PRODUCTS, {"name": SECRET, "price": 1, "status": "ACTIVE"}).json
    visitor = Shop("203.0.113.50")
    assert visitor.get("/api/products").status == 200
    minute = clock.unix() // 60
    table.update(("rate#203.0.113.50#storefront", str(minute)), assign={"n": 299})
    assert visitor.get(f"/api/products/{made['slug']}").status == 200
    refused = visitor.get(f"/api/products/{made['slug']}")
    assert (refused.status, SECRET in refused.text) == (429, False)
    assert refused.headers["Retry-After"]
