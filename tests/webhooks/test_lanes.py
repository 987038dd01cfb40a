"""A failing receiver does not delay deliveries to others: it uses the lane of retries."""

import itertools
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import messages
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.retry import SCHEDULE
from tests.support.shop import Shop
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.webhooks.test_delivery import add, listed, only

DEAD, ALIVE = "http://127.0.0.1:9/dead", "http://127.0.0.1:9/alive"


def one_is_dead(posted: Posted) -> PostResult:
    return failed() if posted.url == DEAD else OK


def step_until_empty(world: World, queue: str) -> None:
    world.step()  # the fan-out
    while world.queues[queue]:
        world.step()


def test_queued_deliveries_of_a_failing_endpoint_move_to_the_retry_lane(
    world: World, merchant: Shop
) -> None:
    add(merchant, url=DEAD)
    alive = add(merchant, url=ALIVE)
    world.answer = one_is_dead
    for _ in range(40):
        announce()
    step_until_empty(world, DELIVERIES)
    dead_posts = [posted for posted in world.posted if posted.url == DEAD]
    assert len(dead_posts) <= 10, "those of one batch"
    assert {one["status"] for one in listed(merchant, alive, "?limit=100")} == {"DELIVERED"}
    waiting = [one.content["step"] for one in world.queues[RETRIES]]
    assert waiting.count(0) == 40 - len(dead_posts)
    world.answer = lambda posted: OK
    world.run()
    assert len({posted.delivery for posted in world.posted}) == 80


def test_new_events_of_a_failing_endpoint_use_the_retry_lane_until_a_success(
    world: World, merchant: Shop
) -> None:
    webhook, other = add(merchant, "order.paid"), add(merchant, "product.created")
    path = f"/api/admin/webhooks/{webhook['id']}"
    world.answer = lambda posted: failed()
    for failing in (False, False, True):
        announce("order.paid")
        world.run(timedelta(seconds=1))
        assert bool(merchant.get(path).json["failingSince"]) == failing
    announce("order.paid")
    announce("product.created")
    world.step()
    (new,) = world.queues[DELIVERIES]
    assert new.content["delivery"].endswith(other["id"][3:])
    assert [one.content["step"] for one in world.queues[RETRIES]].count(0) == 1
    world.answer = lambda posted: OK
    world.run(timedelta(seconds=1))
    assert merchant.get(path).json["failingSince"] is None
    announce("order.paid")
    world.step()
    assert len(world.queues[DELIVERIES]) == 1


def test_messages_that_cannot_change_lanes_are_redelivered(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    world.answer = lambda posted: failed()
    for _ in range(20):
        announce()
    world.step()
    world.step()
    world.refusals["send_message_batch"] = 1
    world.answer = lambda posted: OK
    world.run()
    assert world.refusals["send_message_batch"] == 0
    assert {one["status"] for one in listed(merchant, webhook, "?limit=100")} == {"DELIVERED"}


def failing_four_times(world: World) -> None:
    """Until the waits of 30 minutes and 2 hours, which exceed the longest delay of SQS."""
    world.answer = lambda posted: failed() if len(world.posted) < 5 else OK
    announce()


def kept_the_schedule(world: World) -> bool:
    waits = [then.at - one.at for one, then in itertools.pairwise(world.posted)]
    return all(
        timedelta(seconds=step) <= wait <= timedelta(seconds=1.2 * step)
        for step, wait in zip(SCHEDULE, waits, strict=False)
    )


def test_a_wait_beyond_the_longest_delay_is_kept_by_visibility(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    failing_four_times(world)
    world.run(timedelta(hours=4))
    assert only(merchant, webhook)["attemptCount"] == 5 and kept_the_schedule(world)
    assert world.calls.count("change_message_visibility_batch") == 2, "once for each wait"


def test_many_waiting_messages_are_resent_instead_of_hidden(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQS allows 120,000 messages in flight per queue, but any number of delayed ones."""
    monkeypatch.setattr(messages, "CROWD", 0)
    webhook = add(merchant)
    failing_four_times(world)
    world.run(timedelta(hours=4))
    assert only(merchant, webhook)["attemptCount"] == 5 and kept_the_schedule(world)
    assert "change_message_visibility_batch" not in world.calls


def test_messages_in_flight_stay_below_the_limit_of_a_queue(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "CROWD", 100)
    monkeypatch.setattr(messages, "HIDDEN_A_MINUTE", 40)
    for number in range(400):
        add(merchant, url=f"http://127.0.0.1:9/{number}")
    world.answer = lambda posted: failed()
    announce()
    most, until = 0, world.now + timedelta(hours=3)
    while world.now < until and world.step():
        most = max(most, world.in_flight(RETRIES))
    assert 100 <= most <= 100 + 3 * 40, "what one process hides until SQS tells"
    assert len(world.posted) == 5 * 400


def test_a_process_hides_300_messages_a_minute_while_fewer_than_30_000_are_in_flight(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_flight = iter([29_999, 30_000, 29_999])

    def counted(QueueUrl: str, AttributeNames: list[str]) -> Any:
        return {"Attributes": {AttributeNames[0]: str(next(in_flight))}}

    monkeypatch.setattr(world, "get_queue_attributes", counted)
    world.now = world.now.replace(minute=0, second=50, microsecond=0)
    assert not messages.may_hide(RETRIES, 301)
    assert messages.may_hide(RETRIES, 299) and messages.may_hide(RETRIES, 1)
    world.now += timedelta(seconds=9)
    assert not messages.may_hide(RETRIES, 1)
    messages.forget()
    assert not messages.may_hide(RETRIES, 1), "30,000 are in flight"
    world.now += timedelta(seconds=1)
    assert messages.may_hide(RETRIES, 300), "another minute, and other ten seconds"


def test_a_message_is_read_as_it_was_written_and_needs_only_its_delivery() -> None:
    assert messages.parse('{"delivery": "dlv_1"}') == Message("dlv_1", 0, 0, None, "", False)
    for message in (
        Message("dlv_1", 2, 3),
        Message("dlv_1", 0, 1, due=clock.parse("2026-11-20T06:12:14.000Z")),
        Message("dlv_1", replay="r", only_failed=True),
    ):
        assert messages.parse(message.text()) == message


@pytest.mark.parametrize("lost", ["get_queue_attributes", "change_message_visibility_batch"])
def test_a_wait_is_kept_whatever_sqs_refuses(lost: str, world: World, merchant: Shop) -> None:
    add(merchant)
    failing_four_times(world)
    world.run(timedelta(minutes=10))
    world.refusals[lost] = 2
    world.run()
    assert world.refusals[lost] == 0
    assert len(world.posted) == 5 and kept_the_schedule(world)


def test_a_message_that_could_not_be_hidden_is_hidden_again(world: World, merchant: Shop) -> None:
    add(merchant)
    failing_four_times(world)
    world.run(timedelta(minutes=10))
    world.refused_entries = 1
    world.run()
    assert len(world.posted) == 5 and kept_the_schedule(world)
    assert world.calls.count("change_message_visibility_batch") == 3


def test_a_message_that_cannot_be_resent_keeps_its_wait(
    world: World, merchant: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "CROWD", 0)
    add(merchant)
    failing_four_times(world)
    world.run(timedelta(minutes=10))
    world.refusals["send_message_batch"] = 2
    world.run()
    assert world.refusals["send_message_batch"] == 0
    assert len(world.posted) == 5
    assert world.posted[3].at - world.posted[2].at >= timedelta(minutes=30)


def test_a_slot_is_scheduled_once_for_all_its_deliveries(world: World, merchant: Shop) -> None:
    add(merchant)
    world.answer = lambda posted: failed()
    for _ in range(100):
        announce()
    world.run(timedelta(minutes=30))
    parked = [one for one in world.stored() if one["pk"].startswith("due#")]
    assert len(parked) == 100
    assert world.calls.count("start_execution") == len(world.executions) < 5


def test_a_message_that_could_not_be_parked_is_redelivered_and_not_posted_again(
    world: World, merchant: Shop
) -> None:
    """An account can start a few hundred executions a second."""
    webhook = add(merchant)
    world.answer = lambda posted: failed()
    announce()
    world.refusals["start_execution"] = 3
    world.run()
    delivery = only(merchant, webhook)
    assert world.refusals["start_execution"] == 0
    assert (delivery["status"], delivery["attemptCount"], len(world.posted)) == ("FAILED", 13, 13)
