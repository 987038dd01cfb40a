"""Receivers that crash the function that posts to them."""

from datetime import timedelta
from unittest import mock

import pytest

from chalicelib.problems import Busy
from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import health, store
from tests.support.dynamodb_double import Crash, Fault
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.webhooks.build import add, failing

pytestmark = pytest.mark.thorough

KILLER = "http://127.0.0.1:9/kills"


def crash(posted: Posted) -> PostResult:
    raise Crash("Post")


def test_an_attempt_whose_function_crashed_is_a_failure_and_three_change_the_lane(
    world: World,
) -> None:
    webhook = add(world, url=KILLER)
    world.answer = crash
    announce()
    world.run(timedelta(hours=4))
    attempts = webhook.only()["attempts"]
    assert len(attempts) >= 3
    assert {(one["error"], one["durationMs"]) for one in attempts} == {("interrupted", 0)}
    begun = {clock.iso(posted.at) for posted in world.posted}
    assert {one["at"] for one in attempts} == begun
    assert webhook.fetch().json["failingSince"]
    announce()
    before = len(world.queues[RETRIES])
    world.step()
    assert not world.queues[DELIVERIES] and len(world.queues[RETRIES]) == before + 1
    world.answer = lambda posted: OK
    world.run()
    assert webhook.statuses() == {"DELIVERED"}
    assert webhook.fetch().json["failingSince"] is None


def test_an_interrupted_attempt_counts_once(world: World) -> None:
    webhook = add(world)
    world.answer = crash
    announce()
    world.step()
    (message,) = world.queues[DELIVERIES]
    for _ in range(5):
        world.put(DELIVERIES, message.body, world.now + timedelta(minutes=5))
    world.step()
    world.answer = lambda posted: OK
    world.run(timedelta(minutes=5))
    kept = webhook.stored()
    assert kept["streak"] == 1


@pytest.mark.parametrize("replayed", [False, True])
def test_an_attempt_whose_claim_gets_no_answer_from_the_table_is_made_and_no_interruption(
    world: World, replayed: bool
) -> None:
    webhook = add(world)
    announce()
    world.step()
    if replayed:
        world.run()
        id = webhook.only()["id"]
        assert world.shop.post(f"/api/admin/deliveries/{id}/replay").status == 202
    world.double.fails(Fault.LOST_AFTER, "UpdateItem")
    begun = world.now
    world.run()
    delivery = webhook.only()
    assert [one["error"] for one in delivery["attempts"]] == [None] * (1 + replayed)
    assert {posted.at for posted in world.posted} == {begun}
    kept = webhook.stored()
    assert "streak" not in kept


def test_an_attempt_recorded_before_its_function_crashed_is_no_interruption(world: World) -> None:
    webhook = add(world)

    def crash_after_the_record(posted: Posted) -> PostResult:
        world.crash = (1, True)
        return failed()

    world.answer = crash_after_the_record
    announce()
    world.step()
    world.step()
    world.answer = lambda posted: OK
    world.step()
    kept = webhook.stored()
    (attempt,) = webhook.only()["attempts"]
    assert attempt["error"] == "status" and "streak" not in kept


def test_a_crashed_attempt_to_a_webhook_that_is_deleted_meanwhile_is_recorded(world: World) -> None:
    webhook = add(world)
    world.answer = crash
    announce()
    world.step()
    world.step()
    id = webhook.only()["id"]
    assert webhook.delete().status == 200
    world.run()
    (attempt,) = [item for item in world.stored() if item["pk"] == id]
    assert attempt["error"] == "interrupted"
    (delivery,) = [item for item in world.stored() if item["sk"] == id]
    assert delivery["status"] == "CANCELLED"


def test_only_failures_after_the_last_success_are_in_a_row(world: World) -> None:
    webhook = add(world)
    for outcomes, streak in (([True, False, False], 2), ([False, True, False], 1)):
        store.note(webhook["id"], {"streak": 2})
        endpoint = store.get(webhook["id"])
        health.record_outcomes(
            {endpoint.id: endpoint}, [(endpoint.id, success) for success in outcomes]
        )
        assert store.get(webhook["id"]).streak == streak


def test_an_interrupted_last_attempt_fails_its_delivery(world: World) -> None:
    webhook = failing(world, days=7)
    world.answer = crash
    world.run()
    delivery = webhook.only()
    assert (delivery["status"], delivery["attempts"][-1]["error"]) == ("FAILED", "interrupted")


def test_an_unexpected_function_error_fails_the_test(world: World) -> None:
    announce()
    with (
        mock.patch.object(store, "load_all", side_effect=Busy),
        pytest.raises(AssertionError, match="nothing was injected"),
    ):
        world.run()
