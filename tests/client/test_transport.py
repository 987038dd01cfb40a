"""When the client retries a request, after how long, and with which headers."""

import json
import uuid
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import httpx
import pytest
from backroom import (
    ApiError,
    Backroom,
    Forbidden,
    Invalid,
    Policy,
    RateLimited,
    ServerError,
    Unreachable,
    __version__,
    etag_of,
)

from tests.client.answering import Answering, Step


def json_answer(status: int, body: Any = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={} if body is None else body, headers=named)


class Scripted(Answering):
    def shop(self, chance: Callable[[], float] = lambda: 0.5) -> Backroom:
        policy = Policy(sleep=self.waits.append, chance=chance)
        return Backroom("https://shop.test/v1", "key_secret", http=self.client(), policy=policy)


LIMITED = json_answer(429, {"code": "rate_limited", "message": "Wait."})
LIMITED_FOR = json_answer(429, {"code": "rate_limited", "message": "Wait."}, Retry_After="17")
LOST = httpx.ReadTimeout("no answer")
ORDER = json_answer(201, {"id": "ord_1"})
NEW: Any = {"lineItems": [{"variantId": "var_1", "quantity": 1}]}


def test_a_request_has_the_key_the_escaped_path_and_the_fields() -> None:
    scripted = Scripted(json_answer(200, {"id": "ord_a b"}, ETag='"7"'))
    order = scripted.shop().get_order("ord_a b/../x", fields=["id", "total"])
    (request,) = scripted.requests
    assert request.url.raw_path == b"/v1/api/admin/orders/ord_a%20b%2F..%2Fx?fields=id&fields=total"
    assert request.headers["Authorization"] == "Bearer key_secret"
    assert request.headers["User-Agent"] == f"backroom-python/{__version__}"
    assert etag_of(order) == '"7"' and order["id"] == "ord_a b"


def test_omitted_parameters_are_not_sent() -> None:
    scripted = Scripted(json_answer(200, {"data": []}))
    scripted.shop().list_products(published=True, status=["ACTIVE", "DRAFT"])
    query = scripted.requests[0].url.query
    assert query == b"status=ACTIVE&status=DRAFT&published=true"


def test_an_empty_filter_does_not_mean_everything() -> None:
    """The shop refuses a blank one."""
    scripted = Scripted(json_answer(200, {"data": []}))
    scripted.shop().list_orders(status=[], source=None)
    assert scripted.requests[0].url.query == b"status="


def test_a_value_without_a_form_in_json_is_not_sent_as_its_name() -> None:
    scripted, id = Scripted(ORDER), uuid.uuid4()
    new: Any = {"tax": Decimal("1.50"), "orderDate": date(2026, 11, 2), "externalId": id}
    scripted.shop().create_order(new)
    sent = {"tax": "1.50", "orderDate": "2026-11-02", "externalId": str(id)}
    assert json.loads(scripted.requests[0].content) == sent
    for wrong in (b"Mug", {1, 2}):
        with pytest.raises(TypeError, match="no form in JSON"):
            scripted.shop().create_order({**new, "note": wrong})
    assert len(scripted.requests) == 1


def test_a_retry_waits_at_least_retry_after() -> None:
    scripted = Scripted(LIMITED_FOR, LIMITED_FOR, json_answer(200, {"id": "ord_1"}))
    assert scripted.shop().get_order("ord_1")["id"] == "ord_1"
    assert scripted.waits == [17 + 0.5 * 2, 17 + 0.5 * 4]


@pytest.mark.parametrize(("chance", "waits"), [(1.0, [2, 4, 8, 16, 32]), (0.0, [0] * 5)])
def test_a_retry_without_retry_after_waits_with_full_jitter(
    chance: float, waits: list[int]
) -> None:
    scripted = Scripted(*[LIMITED] * 5, json_answer(200, {"id": "ord_1"}))
    scripted.shop(chance=lambda: chance).get_order("ord_1")
    assert scripted.waits == waits


def test_a_request_fails_after_five_retries() -> None:
    scripted = Scripted(*[LIMITED] * 9)
    with pytest.raises(RateLimited):
        scripted.shop().get_order("ord_1")
    assert len(scripted.requests) == 6 and len(scripted.waits) == 5


@pytest.mark.parametrize("first", [LIMITED, httpx.ConnectError("refused")])
def test_a_change_that_was_refused_for_its_rate_or_was_not_sent_is_retried(first: Step) -> None:
    scripted = Scripted(first, json_answer(200, {"id": "ord_1"}))
    scripted.shop().update_order("ord_1", {"status": "PAID"})
    assert len(scripted.requests) == 2


GARBLED = httpx.DecodingError("a compressed answer that is none")


@pytest.mark.parametrize(
    "lost", [LOST, GARBLED, httpx.RemoteProtocolError("cut"), json_answer(504)]
)
def test_a_creation_without_an_answer_is_retried_with_the_same_key_and_body(lost: Step) -> None:
    scripted = Scripted(lost, ORDER)
    assert scripted.shop().create_order(NEW)["id"] == "ord_1"
    first, again = scripted.requests
    assert first.headers["Idempotency-Key"] == again.headers["Idempotency-Key"]
    assert uuid.UUID(first.headers["Idempotency-Key"])
    assert first.content == again.content


def test_each_creation_has_a_new_or_the_given_idempotency_key() -> None:
    scripted = Scripted(ORDER, ORDER, ORDER)
    shop = scripted.shop()
    shop.create_order(NEW)
    shop.create_order(NEW)
    shop.create_order(NEW, idempotency_key="till-1-42")
    keys = [request.headers["Idempotency-Key"] for request in scripted.requests]
    assert len(set(keys)) == 3 and keys[2] == "till-1-42"


@pytest.mark.parametrize(
    "lost", [LOST, GARBLED, json_answer(503, {"code": "busy"}, Retry_After="1")]
)
def test_a_change_without_an_answer_is_not_retried(lost: Step) -> None:
    scripted = Scripted(lost, ORDER)
    with pytest.raises((Unreachable, ServerError)):
        scripted.shop().update_customer("cus_1", {"firstName": "Ada"})
    assert len(scripted.requests) == 1


def test_a_change_of_an_order_is_repeated_with_the_same_key() -> None:
    scripted = Scripted(LOST, ORDER)
    scripted.shop().update_order("ord_1", {"status": "SHIPPED"})
    keys = [request.headers["Idempotency-Key"] for request in scripted.requests]
    assert len(keys) == 2 and len(set(keys)) == 1


def test_a_rate_limit_that_is_not_the_shop_s_is_no_failure() -> None:
    names = ("X_RateLimit_Limit", "X_RateLimit_Remaining", "X_RateLimit_Reset")
    scripted = Scripted(json_answer(200, {"id": "ord_1"}, **dict.fromkeys(names, "1795681500000")))
    shop = scripted.shop()
    assert shop.get_order("ord_1")["id"] == "ord_1"
    assert shop.rate_limit is None


def test_a_file_is_retried_byte_for_byte() -> None:
    scripted = Scripted(LOST, json_answer(202, {"jobId": "job_1"}))
    scripted.shop().start_import(b"slug,name\n", "s.csv", mode="create")
    first, again = scripted.requests
    assert first.content == again.content and b'filename="s.csv"' in first.content
    assert first.headers["Content-Type"] == again.headers["Content-Type"]


def test_a_refusal_has_the_errors_of_the_api() -> None:
    fields = [{"field": "price", "code": "missing", "message": "is required"}]
    body = {"code": "validation_failed", "message": "Some fields are wrong.", "errors": fields}
    scripted = Scripted(json_answer(422, body, X_Request_Id="r1"))
    with pytest.raises(Invalid, match="price: is required") as refused:
        scripted.shop().create_product({"name": "Mug"})
    error = refused.value
    assert (error.code, error.errors, error.request_id) == ("validation_failed", fields, "r1")
    assert "key_secret" not in repr(error) + repr(scripted.shop())


def test_an_answer_of_api_gateway_has_no_code() -> None:
    scripted = Scripted(httpx.Response(403, text="<html>"))
    with pytest.raises(Forbidden, match="<html>") as refused:
        scripted.shop().get_order("ord_1")
    assert isinstance(refused.value, ApiError) and refused.value.code == ""


def test_the_callback_is_called_before_each_wait() -> None:
    http, waits = Scripted(LIMITED_FOR, ORDER).client(), []
    policy = Policy(sleep=lambda seconds: None, chance=lambda: 0.0, on_wait=waits.append)
    Backroom("https://shop.test", "k", http=http, policy=policy).create_order(NEW)
    assert [(each.seconds, each.retry, each.reason) for each in waits] == [(17, 1, "HTTP 429")]
