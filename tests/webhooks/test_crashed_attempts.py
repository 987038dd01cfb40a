"""Receivers that crash the function that posts to them."""

import threading
import time
from datetime import timedelta
from unittest import mock

import pytest

from chalicelib.problems import Busy
from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import fan_out, store
from chalicelib.webhooks.sending import health
from tests.support.dynamodb_double import Crash
from tests.support.shop import Shop
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.support.webhook_world import world as world_of
from tests.webhooks.test_delivery import add, listed, only
from tests.webhooks.test_endpoints import no_answer

KILLER = "http://127.0.0.1:9/kills"


def crash(posted: Posted) -> PostResult:
    raise Crash("Post")


def test_an_attempt_whose_function_crashed_is_a_failure_and_three_change_the_lane(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant, url=KILLER)
    path = f"/api/admin/webhooks/{webhook['id']}"

    world.answer = crash
    announce()
    world.run(timedelta(hours=4))
    attempts = only(merchant, webhook)["attempts"]
    assert len(attempts) >= 3
    assert {(one["error"], one["durationMs"]) for one in attempts} == {("interrupted", 0)}
    begun = {clock.iso(posted.at) for posted in world.posted}
    assert {one["at"] for one in attempts} == begun
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

    world.answer = crash
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


@pytest.mark.parametrize("replayed", [False, True])
def test_an_attempt_whose_claim_gets_no_answer_from_the_table_is_made_and_no_interruption(
    world: World, merchant: Shop, replayed: bool
) -> None:
    webhook = add(merchant)
    announce()
    world.step()
    if replayed:
        world.run()
        id = only(merchant, webhook)["id"]
        assert merchant.post(f"/api/admin/deliveries/{id}/replay").status == 202
    no_answer(world, "UpdateItem", 1)
    begun = world.now
    world.run()
    delivery = only(merchant, webhook)
    assert [one["error"] for one in delivery["attempts"]] == [None] * (1 + replayed)
    assert {posted.at for posted in world.posted} == {begun}
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    assert "suspect" not in kept


def test_an_attempt_recorded_before_its_function_crashed_is_no_interruption(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)

    def crash_after_the_record(posted: Posted) -> PostResult:
        world.crash = (1, True)
        return failed()

    world.answer = crash_after_the_record
    announce()
    world.step()
    world.step()
    world.answer = lambda posted: OK
    world.step()
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    (attempt,) = only(merchant, webhook)["attempts"]
    assert attempt["error"] == "status" and "suspect" not in kept


def test_the_webhooks_likeliest_to_crash_the_function_are_posted_to_last(
    world: World, merchant: Shop
) -> None:
    streaks = {2: True, 0: True, 1: True, 9: False}
    for streak, suspect in streaks.items():
        webhook = add(merchant, url=f"http://127.0.0.1:9/{streak}")
        store.note(webhook["id"], {"streak": streak, "suspect": suspect or None})
    announce()
    world.run()
    assert [posted.url[-1] for posted in world.posted] == ["9", "0", "1", "2"]


def test_a_crashed_attempt_to_a_webhook_that_is_deleted_meanwhile_is_recorded(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)

    world.answer = crash
    announce()
    world.step()
    world.step()
    id = only(merchant, webhook)["id"]
    assert merchant.delete(f"/api/admin/webhooks/{webhook['id']}").status == 200
    world.run()
    (attempt,) = [item for item in world.stored() if item["pk"] == id]
    assert attempt["error"] == "interrupted"
    (delivery,) = [item for item in world.stored() if item["sk"] == id]
    assert delivery["status"] == "CANCELLED"


def test_only_failures_after_the_last_success_are_in_a_row(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    for outcomes, streak in (([True, False, False], 2), ([False, True, False], 1)):
        store.note(webhook["id"], {"streak": 2, "suspect": True})
        endpoint = store.find(webhook["id"])
        assert endpoint is not None
        health.note({endpoint.id: endpoint}, [(endpoint.id, success) for success in outcomes])
        noted = store.find(webhook["id"])
        assert noted is not None and (noted.streak, noted.suspect) == (streak, False)


def test_an_interruption_from_before_the_suspect_was_cleared_does_not_count(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    store.note(webhook["id"], {"clearedAt": clock.iso(world.now)})
    for later, streak in ((0, 0), (1, 1)):
        endpoint = store.find(webhook["id"])
        assert endpoint is not None
        health.interrupted(endpoint, world.now + timedelta(milliseconds=later))
        noted = store.find(webhook["id"])
        assert noted is not None and noted.streak == streak


def test_a_suspect_is_marked_once(world: World, merchant: Shop) -> None:
    add(merchant)

    world.answer = crash
    announce()
    updates = []
    for _ in range(2):
        world.run(timedelta(minutes=2))
        before = world.calls.count("UpdateItem")
        world.step()
        updates.append(world.calls.count("UpdateItem") - before)
    assert updates[1] == updates[0] - 1


def test_an_interrupted_last_attempt_makes_its_webhook_suspect(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    world.answer = lambda posted: failed()
    announce()
    world.run(timedelta(days=7))

    world.answer = crash
    world.run()
    delivery = only(merchant, webhook)
    assert (delivery["status"], delivery["attempts"][-1]["error"]) == ("FAILED", "interrupted")
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    assert kept["suspect"] is True


def test_an_interrupted_attempt_to_a_long_failing_webhook_is_parked(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    world.answer = lambda posted: failed()
    announce()
    world.run(timedelta(minutes=5))
    assert only(merchant, webhook)["attemptCount"] == 2
    store.note(webhook["id"], {"streak": 10})

    world.answer = crash
    world.run(timedelta(minutes=20))
    last = only(merchant, webhook)["attempts"][-1]
    assert (last["error"], last["durationMs"]) == ("interrupted", 0)
    (parked,) = [item for item in world.stored() if item["pk"].startswith("due#")]
    assert parked["pk"] == f"due#{webhook['id']}"


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

    world.answer = crash
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
