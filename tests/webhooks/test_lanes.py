"""A failing receiver does not delay deliveries to others: it uses the lane of retries."""

from datetime import timedelta

from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import messages
from chalicelib.webhooks.messages import Message
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, Posted, World, announce, failed
from tests.webhooks.build import add, failing

DEAD, ALIVE = "http://127.0.0.1:9/dead", "http://127.0.0.1:9/alive"


def one_is_dead(posted: Posted) -> PostResult:
    return failed() if posted.url == DEAD else OK


def step_until_empty(world: World, queue: str) -> None:
    world.step()  # the fan-out
    while world.queues[queue]:
        world.step()


def test_queued_deliveries_of_a_failing_endpoint_move_to_the_retry_lane(world: World) -> None:
    add(world, url=DEAD)
    alive = add(world, url=ALIVE)
    world.answer = one_is_dead
    for _ in range(40):
        announce()
    step_until_empty(world, DELIVERIES)
    dead_posts = [posted for posted in world.posted if posted.url == DEAD]
    assert len(dead_posts) <= 10, "those of one batch"
    assert alive.statuses() == {"DELIVERED"}
    waiting = [one.content["step"] for one in world.queues[RETRIES]]
    assert waiting.count(0) == 40 - len(dead_posts)
    world.answer = lambda posted: OK
    world.run()
    assert len({posted.delivery for posted in world.posted}) == 80


def test_new_events_of_a_failing_endpoint_use_the_retry_lane_until_a_success(world: World) -> None:
    webhook, other = add(world, "order.paid"), add(world, "product.created")
    world.answer = lambda posted: failed()
    for is_failing in (False, False, True):
        announce("order.paid")
        world.run(timedelta(seconds=1))
        assert bool(webhook.fetch().json["failingSince"]) == is_failing
    announce("order.paid")
    announce("product.created")
    world.step()
    (new,) = world.queues[DELIVERIES]
    assert new.content["delivery"].endswith(other["id"][3:])
    assert [one.content["step"] for one in world.queues[RETRIES]].count(0) == 1
    world.answer = lambda posted: OK
    world.run(timedelta(seconds=1))
    assert webhook.fetch().json["failingSince"] is None
    announce("order.paid")
    world.step()
    assert len(world.queues[DELIVERIES]) == 1


def test_messages_that_cannot_change_lanes_are_redelivered(world: World) -> None:
    webhook = add(world)
    world.answer = lambda posted: failed()
    for _ in range(20):
        announce()
    world.step()
    world.step()
    world.refusals["send_message_batch"] = 1
    world.answer = lambda posted: OK
    world.run()
    assert world.refusals["send_message_batch"] == 0
    assert webhook.statuses() == {"DELIVERED"}


def test_a_message_is_read_as_it_was_written_and_needs_only_its_delivery() -> None:
    assert messages.parse('{"delivery": "dlv_1"}') == Message("dlv_1", 0, 0, None, "", False)
    for message in (
        Message("dlv_1", 2, 3),
        Message("dlv_1", 0, 1, due=clock.parse("2026-11-20T06:12:14.000Z")),
        Message("dlv_1", replay="r", only_failed=True),
        Message("dlv_1", 2, 3),
    ):
        assert messages.parse(message.text()) == message


def test_a_slot_is_scheduled_once_for_all_its_deliveries(world: World) -> None:
    failing(world, 100, minutes=30)
    parked = world.stored("due#")
    assert len(parked) == 100
    assert world.calls.count("start_execution") == len(world.executions) < 5


def test_a_message_that_could_not_be_parked_is_redelivered_and_not_posted_again(
    world: World,
) -> None:
    """An account can start a few hundred executions a second."""
    webhook = add(world)
    world.answer = lambda posted: failed()
    announce()
    world.refusals["start_execution"] = 3
    world.run()
    delivery = webhook.only()
    assert world.refusals["start_execution"] == 0
    assert (delivery["status"], delivery["attemptCount"], len(world.posted)) == ("FAILED", 13, 13)
