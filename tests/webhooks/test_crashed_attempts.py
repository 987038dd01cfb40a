"""Receivers that crash the function that posts to them."""

from datetime import timedelta
from unittest import mock

import pytest

from chalicelib.problems import Busy
from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import fan_out, health, store
from tests.support.dynamodb_double import Crash, Fault
from tests.support.shop import Shop
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.webhooks.test_delivery import add, failing, listed, only

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
    assert kept["streak"] == 1


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
    world.double.fails(Fault.LOST_AFTER, "UpdateItem")
    begun = world.now
    world.run()
    delivery = only(merchant, webhook)
    assert [one["error"] for one in delivery["attempts"]] == [None] * (1 + replayed)
    assert {posted.at for posted in world.posted} == {begun}
    (kept,) = [item for item in world.stored() if item["sk"] == webhook["id"]]
    assert "streak" not in kept


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
        store.note(webhook["id"], {"streak": 2})
        endpoint = store.find(webhook["id"])
        assert endpoint is not None
        health.note({endpoint.id: endpoint}, [(endpoint.id, success) for success in outcomes])
        noted = store.find(webhook["id"])
        assert noted is not None and noted.streak == streak


def test_an_interrupted_last_attempt_fails_its_delivery(world: World, merchant: Shop) -> None:
    webhook = failing(world, merchant, days=7)

    world.answer = crash
    world.run()
    delivery = only(merchant, webhook)
    assert (delivery["status"], delivery["attempts"][-1]["error"]) == ("FAILED", "interrupted")


def test_an_interrupted_attempt_is_parked(world: World, merchant: Shop) -> None:
    webhook = failing(world, merchant, minutes=5)
    assert only(merchant, webhook)["attemptCount"] == 2
    world.answer = crash
    world.run(timedelta(minutes=20))
    last = only(merchant, webhook)["attempts"][-1]
    assert (last["error"], last["durationMs"]) == ("interrupted", 0)
    (parked,) = [item for item in world.stored() if item["pk"].startswith("due#")]
    assert parked["pk"] == f"due#{webhook['id']}"


def test_an_unexpected_function_error_fails_the_test(world: World) -> None:
    announce()
    with (
        mock.patch.object(fan_out.store, "every", side_effect=Busy),
        pytest.raises(AssertionError, match="nothing was injected"),
    ):
        world.run()
