"""Deliveries from the event to the end: the API, the fan-out, the sender and the redrive."""

import itertools
import json
import threading
from datetime import timedelta
from typing import Any

import pytest

from chalicelib import deadline, telemetry
from chalicelib.safe_post.post import PostResult
from chalicelib.values import clock
from chalicelib.webhooks import signature
from chalicelib.webhooks.retry import SCHEDULE
from tests.support.webhook_world import DELIVERIES, OK, Posted, World, announce, failed
from tests.support.webhook_world import world as world_of
from tests.webhooks.build import add, failing

DAY = timedelta(days=1)


def test_messages_that_cannot_be_read_are_received_again_later_and_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.0)
    webhook = add(world)
    announce()
    announce()
    world.step()
    world.refusals["BatchGetItem"] = 10_000
    world.run(timedelta(minutes=2))
    assert world.posted == []
    assert len(world.queues[DELIVERIES]) == 2
    assert {one.received for one in world.queues[DELIVERIES]} == {4}  # 10, 20, 40, 80 s apart
    world.refusals.clear()
    world.run()
    assert webhook.statuses() == {"DELIVERED"}
    assert len(world.posted) == 2


def is_signed_by(posted: Posted, *secrets: str) -> bool:
    at = int(posted.headers["X-Service-Timestamp"])
    return posted.headers["X-Service-Signature"] == signature.sign(at, posted.body, [*secrets])


def test_a_delivery_without_success_fails_after_thirteen_attempts(world: World) -> None:
    webhook = failing(world)
    delivery = webhook.only()
    assert (delivery["status"], delivery["attemptCount"]) == ("FAILED", 13)
    assert [one["number"] for one in delivery["attempts"]] == list(range(1, 14))
    # A minute of jitter at most, and a second by which a delay is rounded up.
    first = itertools.pairwise(world.posted[:6])
    for (earlier, later), wait in zip(first, SCHEDULE[:5], strict=True):
        assert wait <= (later.at - earlier.at).total_seconds() <= wait + 61
    before_them = world.posted[5].at
    for number, posted in enumerate(world.posted[6:], 1):
        assert timedelta(0) <= posted.at - before_them - number * DAY <= timedelta(seconds=61)


def test_a_late_daily_retry_does_not_delay_the_next(world: World) -> None:
    """The state machine is unavailable for five minutes each day."""
    add(world)

    def answer(posted: Posted) -> PostResult:
        world.now += timedelta(seconds=10)
        world.refusals["send_message_batch"] = 90 if len(world.posted) > 5 else 0
        return failed()

    world.answer = answer
    announce()
    world.run()
    first, *retries = world.posted[5:]
    assert len(retries) == 7
    late = [one.at - first.at - number * DAY for number, one in enumerate(retries, 1)]
    assert max(late) > timedelta(minutes=2), "the state machine was away"
    assert all(timedelta(0) <= each <= timedelta(minutes=10) for each in late)


def test_retries_missed_in_a_long_pause_are_not_made_together(world: World) -> None:
    webhook = failing(world, days=2)
    before = len(world.posted)
    webhook.put({"enabled": False})
    world.sleep(days=9)
    webhook.put({"enabled": True})
    world.run()
    assert len(world.posted) == 13
    gaps = [later.at - earlier.at for earlier, later in itertools.pairwise(world.posted[before:])]
    assert gaps and all(abs(gap - DAY) <= timedelta(seconds=61) for gap in gaps)


def test_the_view_shows_the_time_of_the_next_attempt(world: World) -> None:
    webhook = failing(world, seconds=30)
    (before,) = webhook.listed()
    assert before["status"] == "RETRYING"
    world.run(timedelta(minutes=2))
    late = world.posted[1].at - clock.parse(before["nextAttemptAt"])
    assert timedelta(0) <= late <= timedelta(seconds=1), "a delay in a queue is whole seconds"


def test_retry_after_lengthens_the_first_waits(world: World) -> None:
    add(world)
    answers = iter([failed(429, headers={"retry-after": "3600"}), OK])
    world.answer = lambda posted: next(answers)
    announce()
    world.run()
    first, second = world.posted
    assert timedelta(hours=1) <= second.at - first.at <= timedelta(hours=1, minutes=7)


def test_an_unknown_message_is_redelivered_with_growing_delays(world: World) -> None:
    """A message that was received as often as the queue allows, after hours, is a dead letter."""
    world.put(DELIVERIES, "{}", world.now)
    waits = []
    for _ in range(8):
        with pytest.raises(AssertionError, match="message not understood"):
            world.step()
        (message,) = world.queues[DELIVERIES]
        waits.append((message.visible - world.now).total_seconds())
        world.now = message.visible
    assert waits == [10, 20, 40, 80, 160, 320, 360, 360]


def test_a_rotated_secret_overlaps_which_is_shown_and_then_expires(world: World) -> None:
    webhook = add(world)
    rotated = webhook.post("/rotate-secret", {"overlapHours": 1}).json
    assert rotated["secret"] != webhook["secret"] and rotated["previousSecretExpiresAt"]
    told = {notice["code"]: notice["message"] for notice in rotated["notices"]}
    assert "2 v1" in told["two_signatures"] and "current secret first" in told["two_signatures"]
    assert rotated["previousSecretExpiresAt"] in told["two_signatures"]
    assert webhook.fetch().json["notices"] == rotated["notices"]
    for _ in range(2):
        announce()
        world.sleep(hours=2)
    during, later = world.posted
    assert is_signed_by(during, rotated["secret"], webhook["secret"])
    assert is_signed_by(later, rotated["secret"])
    assert "two_signatures" not in str(webhook.fetch().json["notices"])


def test_a_fifth_overlapping_rotation_is_refused_with_the_first_expiry(world: World) -> None:
    webhook = add(world)
    secrets = [webhook["secret"]]
    ends = []
    for hours in (40, 30, 20, 50):
        rotated = webhook.post("/rotate-secret", {"overlapHours": hours}).json
        secrets.append(rotated["secret"])
        ends.append(clock.iso(world.now + timedelta(hours=hours)))
        world.sleep(minutes=1)
    refused = webhook.post("/rotate-secret", {"overlapHours": 1})
    assert (refused.status, refused.json["code"]) == (409, "too_many_secrets")
    assert refused.json["endsFirst"] == {"secretEndsIn": secrets[2][-4:], "expiresAt": ends[2]}
    assert ends[2] in refused.json["message"]
    announce()
    world.run()
    assert is_signed_by(world.posted[0], *secrets[::-1])
    world.sleep(hours=21)
    assert webhook.post("/rotate-secret", {"overlapHours": 1}).status == 200


def test_a_rotation_without_overlap_ends_every_older_secret(world: World) -> None:
    webhook = add(world)
    webhook.post("/rotate-secret", {"overlapHours": 72})
    newest = webhook.post("/rotate-secret", {"overlapHours": 0}).json
    announce()
    world.run()
    assert is_signed_by(world.posted[0], newest["secret"])


def test_a_delivery_whose_slot_ran_during_a_pause_continues_when_enabled(world: World) -> None:
    webhook = failing(world, hours=4)
    webhook.put({"enabled": False})
    due = clock.parse(webhook.only()["nextAttemptAt"])
    world.step()  # the execution of its slot
    assert world.now < due
    webhook.put({"enabled": True})
    world.run()
    assert webhook.only()["attemptCount"] == 13


def test_the_message_of_a_deleted_webhook_comes_once(world: World) -> None:
    webhook = failing(world, seconds=10)
    webhook.delete()
    ((message,),) = [queue for queue in world.queues.values() if queue]
    world.run(message.visible - world.now)
    assert not [queue for queue in world.queues.values() if queue]


def test_an_invalid_id_of_a_delivery_is_not_looked_up(world: World) -> None:
    world.shop.get("/api/admin/deliveries/x")
    before = len(world.calls)
    assert world.shop.get("/api/admin/deliveries/x").status == 404
    assert len(world.calls) - before <= 1, "the rate limit's"


@pytest.mark.parametrize("passed", [{"seconds": 10}, {"days": 1}], ids=["10 seconds", "a day"])
def test_deleting_an_endpoint_cancels_its_pending_deliveries(
    world: World, passed: dict[str, float]
) -> None:
    webhook = failing(world, **passed)
    id, posts = webhook.only()["id"], len(world.posted)
    answer = webhook.delete()
    assert answer.json == {"id": webhook["id"], "deleted": True}
    path = f"/api/admin/deliveries/{id}"
    assert world.shop.get(path).json["status"] == "CANCELLED"
    world.run()
    assert len(world.posted) == posts
    (stored,) = [item for item in world.stored() if item["sk"] == id]
    assert stored["status"] == "CANCELLED" and "step" not in stored
    assert world.shop.get(path).json["nextAttemptAt"] is None
    assert world.shop.post(f"{path}/replay").json["code"] == "webhook_deleted"


def test_a_test_event_is_delivered_as_any_event_to_one_endpoint(world: World) -> None:
    webhook = add(world, "order.paid", "order.created")
    add(world, "order.paid")
    made = webhook.post("/test")
    assert (made.status, made.json["status"], made.json["test"]) == (202, "PENDING", True)
    world.run()
    (posted,) = world.posted
    assert posted.delivery == made.json["id"]
    assert posted.headers["X-Service-Test"] == "true"
    assert posted.headers["X-Service-Event"] == "order.paid"
    data = json.loads(posted.body)["data"]
    assert {"id", "number", "total", "currency", "customer", "paidAt"} <= data.keys()
    assert webhook.only()["status"] == "DELIVERED"


def test_the_deliveries_of_a_batch_are_posted_concurrently() -> None:
    """Each answer waits until all ten posts have come."""
    with world_of(concurrent=True) as made:
        add(made)
        together = threading.Barrier(10, timeout=60)

        def answer(posted: Posted) -> PostResult:
            together.wait()
            return OK

        made.answer = answer
        for _ in range(10):
            announce()
        made.run()
        assert len(made.posted) == 10


def test_the_waits_of_deliveries_differ_by_a_tenth_or_a_minute_at_most(world: World) -> None:
    """So that the deliveries of an outage do not all come back in the same second."""
    webhook = failing(world, 40, seconds=1)
    waits = [
        (clock.parse(row["nextAttemptAt"]) - world.now).total_seconds()
        for row in webhook.listed("?limit=100")
    ]
    assert len(waits) == 40 and min(waits) >= 60 and max(waits) <= 66
    assert min(waits) < 62 and max(waits) > 64


@pytest.mark.parametrize("answer", [OK, failed()])
def test_an_attempt_is_counted_once_in_the_metrics(
    world: World, answer: PostResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Any] = []
    monkeypatch.setattr(
        telemetry,
        "log_metrics",
        lambda message, numbers, **fields: counted.append((numbers, fields)),
    )
    webhook = add(world)
    world.answer = lambda posted: answer
    announce()
    world.run(timedelta(seconds=1))
    (numbers, fields), *others = [each for each in counted if "Attempts" in each[0]]
    delivered = int(answer.error is None)
    assert numbers == {"Attempts": 1, "Delivered": delivered, "AttemptMs": answer.duration_ms}
    assert others == []
    assert fields.pop("deliveryId") == webhook.only()["id"]
    assert fields == {
        **{"event": "product.created", "attempt": 1, "status": answer.status},
        "error": answer.error and answer.error.value,
    }


def test_an_event_that_is_accepted_at_once_costs_two_writes_and_no_read_of_its_delivery(
    world: World,
) -> None:
    add(world)
    announce()
    world.step()
    world.calls.clear()
    world.step()
    assert len(world.posted) == 1
    calls = [call for call in world.calls if call not in ("BatchGetItem", "get_parameter")]
    assert calls == ["UpdateItem", "Post", "UpdateItem"]
