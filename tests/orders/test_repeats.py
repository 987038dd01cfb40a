"""Idempotency-Key: a repeated request is carried out once and gets the same answer."""

import time
from typing import Any

import pytest

from chalicelib.values import clock
from tests.orders.build import (
    ORDERS,
    at_once,
    before_the_commit,
    kinds,
    line,
    new_order,
    placed,
    set_stock,
    stock_of,
    variant,
)
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop

KEY = {"Idempotency-Key": "till-7/receipt-99"}
EDIT = {"shipping": 1, "reason": "Asked"}


@pytest.fixture(autouse=True)
def slow_transactions(dynamodb: Double) -> None:
    """Slow transactions, so that concurrent requests conflict."""
    dynamodb.pause = lambda: time.sleep(0.005)


def test_a_repeated_order_is_placed_once(shop: Shop) -> None:
    id = variant(shop, 5)
    sent = new_order(line(id, 2, price=1.50), paymentStatus="PAID")
    first = shop.post(ORDERS, sent, headers=KEY)
    assert first.status == 201 and "Idempotent-Replayed" not in first.headers
    shop.patch(f"{ORDERS}/{first.json['id']}", {"note": "changed since"})
    reordered = {**dict(reversed(sent.items())), "lineItems": [line(id, 2, price=1.5)]}
    for same in (sent, reordered):
        again = shop.post(ORDERS, same, headers=KEY)
        assert (again.status, again.text) == (201, first.text)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert again.headers["ETag"] == first.headers["ETag"]
    assert stock_of(shop, id) == 3
    assert shop.get(ORDERS).json["total"] == 1
    assert kinds(shop).count("order.created") == 1


def test_another_body_with_the_same_key_is_refused_even_if_invalid(shop: Shop) -> None:
    id = variant(shop)
    shop.post(ORDERS, new_order(line(id)), headers=KEY)
    for other in (new_order(line(id, 2)), {"lineItems": []}, [], "x", {"a": 1}):
        answer = shop.post(ORDERS, other, headers=KEY)
        assert (answer.status, answer.json["code"]) == (422, "idempotency_key_reused")
    assert shop.get(ORDERS).json["total"] == 1


def test_a_key_is_not_reusable_on_another_path(shop: Shop) -> None:
    sent = new_order(line(variant(shop)))
    first = shop.post(ORDERS, sent, headers=KEY)
    for path, other in (
        ("/api/admin/customers", {"firstName": "Zoe"}),
        (f"{ORDERS}/bulk-edit", {}),
    ):
        answer = shop.post(path, other, headers=KEY)
        assert (answer.status, answer.json["code"]) == (422, "idempotency_key_reused"), path
    assert shop.get("/api/admin/customers?search=zoe").json["total"] == 0
    assert shop.post(ORDERS, sent, headers=KEY).text == first.text


@pytest.mark.parametrize(
    "quantity", [2, "1", True, [1], [["number", "1"]], ["number", "1"], {"number": "1"}, None]
)
def test_a_body_with_a_different_value_or_type_is_another_request(
    shop: Shop, quantity: Any
) -> None:
    one = line(variant(shop))
    sent = new_order(one)
    assert shop.post(ORDERS, sent, headers=KEY).status == 201
    other = {**sent, "lineItems": [{**one, "quantity": quantity}]}
    assert shop.post(ORDERS, other, headers=KEY).json["code"] == "idempotency_key_reused"


def test_refusals_are_not_kept(shop: Shop) -> None:
    id = variant(shop, 1)
    sent = new_order(line(id, 2))
    assert shop.post(ORDERS, sent, headers=KEY).json["code"] == "insufficient_stock"
    assert shop.post(ORDERS, {"lineItems": []}, headers=KEY).json["code"] == "validation_failed"
    set_stock(shop, id, 2)
    assert shop.post(ORDERS, sent, headers=KEY).status == 201


def test_a_key_belongs_to_its_caller_and_lasts_a_day(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.unix()
    monkeypatch.setattr(clock, "unix", lambda: now)
    sent = new_order(line(variant(shop)))
    first = shop.post(ORDERS, sent, headers=KEY).json
    other = shop.post(ORDERS, sent, headers=KEY, key=shop.as_("STAFF")).json
    monkeypatch.setattr(clock, "unix", lambda: now + 86_399)
    assert shop.post(ORDERS, sent, headers=KEY).json == first
    monkeypatch.setattr(clock, "unix", lambda: now + 86_400)
    late = shop.post(ORDERS, sent, headers=KEY)
    assert late.status == 201 and "Idempotent-Replayed" not in late.headers
    assert len({first["id"], other["id"], late.json["id"]}) == 3
    assert shop.post(ORDERS, sent, headers=KEY).json == late.json


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_one_to_255_characters(shop: Shop, key: str) -> None:
    answer = shop.post(ORDERS, new_order(line(variant(shop))), headers={"Idempotency-Key": key})
    assert answer.refused == ["Idempotency-Key"]
    sent = new_order(line(variant(shop)))
    for valid in ("é#" * 127 + "é", "x"):
        headers = {"Idempotency-Key": valid}
        first = shop.post(ORDERS, sent, headers=headers)
        assert first.status == 201 and first.json == shop.post(ORDERS, sent, headers=headers).json


def test_twelve_concurrent_requests_with_one_key_place_one_order(shop: Shop) -> None:
    id = variant(shop, 100)
    sent = new_order(line(id, 3), paymentStatus="PAID")
    assert shop.owner
    answers = at_once(12, lambda number: shop.post(ORDERS, sent, headers=KEY))
    assert {(answer.status, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert stock_of(shop, id) == 97
    assert shop.get(ORDERS).json["total"] == shop.get("/api/admin/customers").json["total"] == 1
    assert sorted(kinds(shop)) == ["customer.created", "order.created", "order.paid"]


@pytest.mark.parametrize(
    ("below", "sent", "records", "status"),
    [("payments", {"amount": 1}, "payments", 201), ("edit", EDIT, "edits", 200)],
)
def test_concurrent_requests_with_one_key_change_an_order_once(
    shop: Shop, below: str, sent: Any, records: str, status: int
) -> None:
    order = placed(shop, line(variant(shop), price=100))
    answers = at_once(12, lambda _: order.post(f"/{below}", sent, headers=KEY))
    assert {(answer.status, answer.text) for answer in answers} == {(status, answers[0].text)}
    assert len(order.read()[records]) == 1


def test_a_repeat_that_reads_the_reduced_stock_returns_the_order(
    shop: Shop, dynamodb: Double
) -> None:
    """It misses the key and yet sees the reduced stock."""
    id = variant(shop, 1)
    sent = new_order(line(id))
    first = shop.post(ORDERS, sent, headers=KEY)
    hidden = dynamodb.hides("idem#")
    again = shop.post(ORDERS, sent, headers=KEY)
    assert (again.status, again.text, len(hidden)) == (201, first.text, 1)


def test_concurrent_repeats_return_the_first_answer(shop: Shop, dynamodb: Double) -> None:
    sent = new_order(line(variant(shop)), customer=None)  # only the key is contended
    overtaking: list[Answer] = []
    before_the_commit(dynamodb, lambda: overtaking.append(shop.post(ORDERS, sent, headers=KEY)))
    overtaken = shop.post(ORDERS, sent, headers=KEY)
    assert (overtaken.status, overtaken.text) == (201, overtaking[0].text)
    assert overtaken.headers["Idempotent-Replayed"] == "true"
    assert shop.get(ORDERS).json["total"] == 1


def test_a_customer_created_meanwhile_is_created_once(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop)
    person = {"email": "ada@example.com"}
    other: list[Any] = []
    before_the_commit(dynamodb, lambda: other.append(placed(shop, line(id), customer=person)))
    assert placed(shop, line(id), customer=person)["customer"] == other[0]["customer"]
    assert kinds(shop).count("customer.created") == 1


def test_a_change_after_a_concurrent_move_is_validated_again(shop: Shop, dynamodb: Double) -> None:
    order = placed(shop)
    before_the_commit(dynamodb, lambda: order.moved("PAID"))
    late = order.moved("CANCELLED")
    assert (late.status, late.json["from"]) == (422, "PAID")
    before_the_commit(dynamodb, lambda: order.moved("PROCESSING"))
    assert order.patch({"note": "x"}).json["status"] == "PROCESSING"
    before_the_commit(dynamodb, order.delete)
    assert order.moved("SHIPPED").status == 404
    assert shop.get(ORDERS).json["total"] == 0


def test_one_of_two_concurrent_bodies_with_one_key_wins(shop: Shop) -> None:
    id = variant(shop, 9)
    assert shop.owner
    answers = at_once(
        4, lambda number: shop.post(ORDERS, new_order(line(id, number + 1)), headers=KEY)
    )
    assert sorted(answer.status for answer in answers) == [201, 422, 422, 422]
    codes = {answer.json["code"] for answer in answers if answer.status == 422}
    assert codes == {"idempotency_key_reused"}
    assert shop.get(ORDERS).json["total"] == 1


def test_concurrent_orders_sell_exactly_the_remaining_stock(shop: Shop) -> None:
    id = variant(shop, 7)
    assert shop.owner
    answers = at_once(12, lambda number: shop.post(ORDERS, new_order(line(id))))
    assert sorted(answer.status for answer in answers) == [201] * 7 + [422] * 5
    assert stock_of(shop, id) == 0
    assert shop.get(ORDERS).json["total"] == shop.get("/api/admin/customers").json["total"] == 7
    assert kinds(shop).count("inventory.low") == 1


def test_concurrent_changes_make_each_move_once(shop: Shop) -> None:
    order = placed(shop)
    answers = at_once(8, lambda number: order.patch({"status": "PAID"}))
    assert sorted(answer.status for answer in answers) == [200] + [422] * 7
    notes = at_once(8, lambda number: order.patch({"tags": [str(number)]}))
    assert {answer.status for answer in notes} == {200}
    assert order.kinds().count("order.paid") == 1
    assert order.kinds().count("order.updated") == 9
    assert len(order.fetch().json["history"]) == 10


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
def test_an_order_is_stored_completely_or_not_at_all(
    shop: Shop, dynamodb: Double, fault: Fault
) -> None:
    id = variant(shop, 5)
    sent = new_order(line(id, 2), paymentStatus="PAID")
    dynamodb.fails(fault, "TransactWriteItems")
    try:
        answer = shop.post(ORDERS, sent, headers=KEY)
        assert answer.status == 201
    except Crash:
        there = shop.get(ORDERS).json["total"]
        assert there == (1 if fault.after else 0)
        assert stock_of(shop, id) == 5 - 2 * there
        assert len(kinds(shop)) == 4 * there
    assert shop.post(ORDERS, sent, headers=KEY).status == 201
    assert shop.get(ORDERS).json["total"] == 1
    assert stock_of(shop, id) == 3
    assert sorted(kinds(shop)) == [
        *("customer.created", "inventory.low", "order.created", "order.paid")
    ]


@pytest.mark.parametrize("note", ["[" * 700 + "]" * 700, "1e9999999", "1e400"])
def test_a_body_that_cannot_be_compared_is_malformed_json(shop: Shop, note: str) -> None:
    answer = shop.call(
        "POST",
        "/api/admin/orders",
        f'{{"note": {note}}}'.encode(),
        headers={"Content-Type": "application/json", "Idempotency-Key": "once"},
    )
    assert (answer.status, answer.json["code"]) == (400, "malformed_json")


def test_a_repeated_edit_that_changed_nothing_changes_nothing_later(shop: Shop) -> None:
    order = placed(shop, line(variant(shop, 9), 2))
    two, five = ({"change": [order.first_line(quantity=n)]} for n in (2, 5))
    first = order.edit(headers=KEY, **two)
    assert (first.status, first.json["edits"]) == (200, [])
    assert order.edit(**five).status == 200
    again = order.edit(headers=KEY, **two)
    assert (again.text, again.headers["Idempotent-Replayed"]) == (first.text, "true")
    assert order.read()["itemsCount"] == 5
    assert order.edit(headers=KEY, **five).json["code"] == "idempotency_key_reused"
