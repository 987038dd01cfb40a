"""States and transitions: every pair of statuses, and what a move emits."""

import json
from itertools import product as pairs
from typing import Any

import pytest

from tests.e2e.calls import until
from tests.e2e.spec_client import PRODUCTS, Client, events_of, received, word
from tests.webhooks.receiver import Receiver

MOVES = {
    "PENDING": ["PAID", "CANCELLED"],
    "PAID": ["IN_PRODUCTION", "PROCESSING", "REFUNDED"],
    "IN_PRODUCTION": ["PROCESSING"],
    "PROCESSING": ["SHIPPED"],
    "SHIPPED": ["DELIVERED"],
    "DELIVERED": [],
    "CANCELLED": [],
    "REFUNDED": [],
}
WAYS = {
    "PENDING": [],
    "PAID": ["PAID"],
    "IN_PRODUCTION": ["PAID", "IN_PRODUCTION"],
    "PROCESSING": ["PAID", "PROCESSING"],
    "SHIPPED": ["PAID", "PROCESSING", "SHIPPED"],
    "DELIVERED": ["PAID", "PROCESSING", "SHIPPED", "DELIVERED"],
    "CANCELLED": ["CANCELLED"],
    "REFUNDED": ["PAID", "REFUNDED"],
}
VALID = [(start, wanted) for start, all_wanted in MOVES.items() for wanted in all_wanted]
INVALID = [pair for pair in pairs(MOVES, MOVES) if pair not in VALID]


@pytest.fixture(scope="module")
def orders(shop: Client) -> dict[str, Any]:
    """One in each status."""
    return {status: brought(shop, status) for status in MOVES}


def brought(shop: Client, status: str) -> Any:
    """An order that was moved to a status."""
    order = shop.order()
    for step in WAYS[status]:
        answer = shop.move(order, status=step)
        assert answer.status == 200, answer.text
    return order


@pytest.mark.parametrize(("start", "wanted"), INVALID, ids=[f"{a}-{b}" for a, b in INVALID])
def test_any_other_move_is_422_invalid_transition_with_the_allowed_next_states(
    shop: Client, orders: dict[str, Any], start: str, wanted: str
) -> None:
    answer = shop.move(orders[start], status=wanted)
    assert (answer.status, answer.json["code"]) == (422, "invalid_transition")
    assert answer.json["allowed"] == MOVES[start]
    assert shop.get(f"/api/admin/orders/{orders[start]['id']}").json["status"] == start


# --- What a move emits ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moved(shop: Client, receiver: Receiver, webhook: Any) -> dict[tuple[str, str], str]:
    """For each move, the id of an order that made it last. The webhook was there before."""
    made = {}
    for start, wanted in VALID:
        order = brought(shop, start)
        more = {"trackingNumber": "1Z999"} if wanted == "SHIPPED" else {}
        answer = shop.move(order, status=wanted, **more)
        assert (answer.status, answer.json["status"]) == (200, wanted)
        made[start, wanted] = order["id"]
    return made


@pytest.mark.parametrize(("start", "wanted"), VALID, ids=[f"{a}-{b}" for a, b in VALID])
def test_the_move_is_valid_and_emits_order_updated(
    receiver: Receiver, moved: dict[tuple[str, str], str], start: str, wanted: str
) -> None:
    def told() -> bool:
        came = events_of(receiver, moved[start, wanted])
        updates = [one for one in came if one.headers["X-Service-Event"] == "order.updated"]
        return wanted in {json.loads(one.body)["data"]["status"] for one in updates}

    until(told)


def test_order_paid_is_emitted_when_the_payment_status_crosses_to_paid(
    receiver: Receiver, moved: dict[tuple[str, str], str]
) -> None:
    told = received(receiver, "order.paid", moved["PENDING", "PAID"])
    assert json.loads(told.body)["data"]["paymentStatus"] == "PAID"


def test_order_paid_is_not_emitted_before_the_payment_status_crosses(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    order = shop.order()
    shop.move(order, status="PAID", paymentStatus="PARTIALLY_PAID")
    shop.move(order, paymentStatus="PAID")
    (paid,) = until(lambda: named(receiver, "order.paid", order["id"]))
    updates = until(lambda: named(receiver, "order.updated", order["id"], 2))
    assert json.loads(paid.body)["data"]["paymentStatus"] == "PAID" and len(updates) == 2
    assert len(named(receiver, "order.paid", order["id"])) == 1


def test_order_shipped_is_emitted_with_the_tracking_number(
    receiver: Receiver, moved: dict[tuple[str, str], str]
) -> None:
    told = received(receiver, "order.shipped", moved["PROCESSING", "SHIPPED"])
    assert json.loads(told.body)["data"]["trackingNumber"] == "1Z999"


def test_post_of_an_order_emits_order_created(
    shop: Client, receiver: Receiver, webhook: Any
) -> None:
    order = shop.order()
    assert json.loads(received(receiver, "order.created", order["id"]).body)["data"] == order


def named(receiver: Receiver, event: str, id: str, least: int = 1) -> list[Any]:
    """All deliveries of an event about a resource, once there are so many."""
    came = [one for one in events_of(receiver, id) if one.headers["X-Service-Event"] == event]
    return came if len(came) >= least else []


# --- The status of a product ----------------------------------------------------------------------


@pytest.mark.parametrize("status", ["ACTIVE", "DRAFT", "ARCHIVED"])
def test_a_product_can_be_given_the_status(shop: Client, status: str) -> None:
    made = shop.product()
    answer = shop.call("PUT", f"{PRODUCTS}/{made['id']}", {"status": status})
    assert (answer.status, answer.json["status"]) == (200, status)


def test_the_storefront_lists_an_active_published_product(shop: Client) -> None:
    mark = word()
    live = shop.product(type=mark, status="ACTIVE")
    assert shop.ids(f"/api/products?type={mark}", key_="") == [live["id"]]


@pytest.mark.parametrize(
    "fields",
    [{"status": "DRAFT"}, {"status": "ARCHIVED"}, {"status": "ACTIVE", "published": False}],
    ids=["a_draft", "what_is_archived", "what_is_not_published"],
)
def test_the_storefront_does_not_return(shop: Client, fields: dict[str, Any]) -> None:
    mark = word()
    hidden = shop.product(type=mark, **fields)
    assert shop.ids(f"/api/products?type={mark}", key_="") == []
    for name in ("id", "slug"):
        assert shop.get(f"/api/products/{hidden[name]}", key_="").status == 404
