"""Receivers that crash the function that posts to them."""

import threading
import time
from datetime import timedelta
from unittest import mock

import pytest

from chalicelib.problems import Busy
from chalicelib.safe_post.post import PostResult
from chalicelib.webhooks import fan_out
from tests.support.dynamodb_double import Crash
from tests.support.shop import Shop
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.support.webhook_world import world as world_of
from tests.webhooks.test_delivery import add, listed, only

KILLER = "http://127.0.0.1:9/kills"


def test_an_attempt_whose_function_crashed_is_a_failure_and_three_change_the_lane(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant, url=KILLER)
    path = f"/api/admin/webhooks/{webhook['id']}"

    def kill(posted: Posted) -> PostResult:
        raise Crash("Post")

    world.answer = kill
    announce()
    world.run(timedelta(hours=4))
    attempts = only(merchant, webhook)["attempts"]
    assert len(attempts) >= 3
    assert {(one["error"], one["durationMs"]) for one in attempts} == {("interrupted", 0)}
    assert merchant.get(path).json["failingSince"]
    announce()
    before = len(world.queues[RETRIES])
    world.step()
    assert not world.queues[DELIVERIES] and len(world.queues[RETRIES]) == before + 1
    world.answer = lambda posted: OK
    world.run()
    assert {one["status"] for one in listed(merchant, webhook)} == {"DELIVERED"}
    assert merchant.get(path).json["failingSince"] is None


def test_an_interrupted_attempt_counts_once(world: World, merchant: Shop) -> None:
    webhook = add(merchant)

    def kill(posted: Posted) -> PostResult:
        raise Crash("Post")

    world.answer = kill
    announce()
    world.step()
    (message,) = world.queues[DELIVERIES]
    for _ in range(5):
        world.put(DELIVERIES, message.body, world.now + timedelta(minutes=5))
    world.step()
    world.answer = lambda posted: OK
    world.run(timedelta(minutes=5))
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    assert kept["streak"] == 1 and kept["suspect"] is True


def test_an_interrupted_last_attempt_makes_its_webhook_suspect(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    world.answer = lambda posted: failed()
    announce()
    world.run(timedelta(days=7))

    def kill(posted: Posted) -> PostResult:
        raise Crash("Post")

    world.answer = kill
    world.run()
    delivery = only(merchant, webhook)
    assert (delivery["status"], delivery["attempts"][-1]["error"]) == ("FAILED", "interrupted")
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    assert kept["suspect"] is True


def test_deliveries_posted_with_a_crashing_one_are_delayed_once() -> None:
    """Deliveries posted concurrently crash together. Afterwards each is posted alone."""
    with world_of(threads=True) as made:
        merchant = Shop()
        killer = add(merchant, url=KILLER)
        healthy = [add(merchant, url=f"http://127.0.0.1:9/{number}") for number in range(9)]
        lock, flying = threading.Lock(), list[str]()

        def answer(posted: Posted) -> PostResult:
            with lock:
                flying.append(posted.url)
            time.sleep(0.05)
            with lock:
                dies = KILLER in flying
            time.sleep(0.05)
            with lock:
                flying.remove(posted.url)
            if dies:
                raise Crash("Post")
            return OK

        made.answer = answer
        for _ in range(8):
            announce()
            made.run(timedelta(minutes=10))
        made.run(timedelta(hours=2))
        for webhook in healthy:
            path = f"/api/admin/webhooks/{webhook['id']}"
            assert merchant.get(path).json["failingSince"] is None
            found = listed(merchant, webhook)
            assert {one["status"] for one in found} == {"DELIVERED"}
            assert sum(one["attemptCount"] - 1 for one in found) <= 1
        assert merchant.get(f"/api/admin/webhooks/{killer['id']}").json["failingSince"]


def test_a_late_interruption_does_not_count_after_a_success(world: World, merchant: Shop) -> None:
    """Four functions crash together; the last crash is detected after the endpoint recovered."""
    webhook = add(merchant)

    def kill(posted: Posted) -> PostResult:
        raise Crash("Post")

    world.answer = kill
    for _ in range(4):
        announce()
        world.step()
        world.step()
    for late, message in enumerate(world.queues[DELIVERIES]):
        message.visible += timedelta(minutes=10 * late)
    world.answer = lambda posted: OK
    streaks = list[tuple[int, bool]]()
    while world.step():
        (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
        streaks.append((kept.get("streak", 0), kept.get("suspect", False)))
    healthy = streaks.index((0, False), streaks.index((1, True)))
    assert set(streaks) == {(0, False), (1, True)} and set(streaks[healthy:]) == {(0, False)}
    assert {one["status"] for one in listed(merchant, webhook)} == {"DELIVERED"}


def test_an_unexpected_function_error_fails_the_test(world: World) -> None:
    announce()
    with (
        mock.patch.object(fan_out.store, "all", side_effect=Busy),
        pytest.raises(AssertionError, match="nothing was injected"),
    ):
        world.run()
