"""Late and concurrent writes to a delivery, concurrent recoveries, expired events."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib import settings
from chalicelib.storage import table
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock, ids
from chalicelib.webhooks import (
    attempts,
    deliveries,
    executions,
    health,
    model,
    parking,
    recover,
    redrive,
    store,
)
from chalicelib.webhooks.attempts import Attempt
from chalicelib.webhooks.deliveries import Taken
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import Delivery, event_of
from infra import local
from tests.support.webhook_world import DELIVERIES, OK, RETRIES, World, announce, failed
from tests.webhooks.build import add, failing, given_up

pytestmark = pytest.mark.thorough

SINCE = {"since": "2026-01-01T00:00:00Z", "dryRun": False}


def found(world: World, webhook: dict[str, Any]) -> Delivery:
    return deliveries.get(webhook.listed()[0]["id"])


# --- concurrent writes ---


def claimed(world: World) -> Delivery:
    """A delivery that is claimed by a sender."""
    webhook = add(world)
    announce()
    world.step()
    return deliveries.claim_step(Message(found(world, webhook).id), world.now)


def tried(delivery: Delivery) -> Attempt:
    return attempts.build_expired_attempt(delivery, "")


@pytest.mark.parametrize("late", ["save_delivered", "save_failed", "save_failed_replay"])
@pytest.mark.parametrize("now", ["delivered", "claimed by another"])
def test_a_late_result_changes_nothing(late: str, now: str, world: World) -> None:
    mine = claimed(world)
    if now == "delivered":
        assert deliveries.save_delivered(mine, tried(mine))
    else:
        assert deliveries.save_failed_replay(mine, tried(mine))
        deliveries.claim_step(Message(mine.id), world.now)
    stands = deliveries.find(mine.id)
    assert getattr(deliveries, late)(mine, tried(mine)) is False
    assert deliveries.find(mine.id) == stands
    assert not world.stored("failed#")


@pytest.mark.parametrize(
    ("deleted", "refusals", "seconds"),
    [(False, 0, 12), (True, 0, 12), (False, 1, 360)],  # the last is hidden by its queue only
)
def test_a_message_whose_delivery_another_sender_posts_comes_again_after_twelve_seconds(
    deleted: bool, refusals: int, seconds: int, world: World
) -> None:
    mine = claimed(world)
    world.refusals["change_message_visibility_batch"] = refusals
    if deleted:
        assert world.shop.delete(f"/api/admin/webhooks/{mine.endpoint_id}").status == 200
    begun = world.now
    assert world.step()
    (message,) = world.queues[DELIVERIES]
    assert message.visible == begun + timedelta(seconds=seconds) and world.posted == []


@pytest.mark.parametrize(
    ("state", "then"),
    [
        ("FAILED", "claimed"),
        ("FAILED", "save_delivered"),
        ("RETRYING", "save_failed_replay"),
        ("RETRYING", "cancelled"),
    ],
)
def test_a_replay_of_an_outdated_state_is_refused(state: str, then: str, world: World) -> None:
    webhook = given_up(world) if state == "FAILED" else failing(world, seconds=10)
    seen = found(world, webhook)
    assert seen.status == state
    if then == "cancelled":
        assert deliveries.save_cancelled(seen)
    else:
        first = deliveries.claim_replay(seen, ids.ulid(), world.now)
        assert then == "claimed" or getattr(deliveries, then)(first, tried(first))
    with pytest.raises(Taken):
        deliveries.claim_replay(seen, ids.ulid(), world.now)


def test_failures_count_until_it_is_failing_and_not_for_a_deleted_webhook(world: World) -> None:
    seen = store.get(add(world)["id"])
    key = store.key(seen.id)
    writes = world.double.asked("UpdateItem")
    for streak, written in ((1, 1), (2, 2), (3, 4), (3, 5)):
        health.record_outcomes({seen.id: seen}, [(seen.id, False)])
        found = table.get(key) or {}
        assert (found["streak"], "failingSince" in found) == (streak, streak == 3)
        assert len(writes) == written
    health.count_failures(store.get(seen.id), 1)
    assert len(writes) == 5
    world.shop.delete(f"/api/admin/webhooks/{seen.id}")
    health.record_outcomes({seen.id: seen}, [(seen.id, False)])
    health.count_failures(seen, 1)
    assert table.get(key) is None


@pytest.mark.parametrize("success", [False, True])
def test_what_another_sender_notes_while_the_third_failure_is_noted_stands(
    success: bool, world: World
) -> None:
    """The receiver answered, or since when it is failing is noted already."""
    seen = store.get(add(world)["id"])
    left: list[Any] = []

    def other() -> None:
        world.now += timedelta(minutes=1)
        health.record_outcomes({seen.id: store.get(seen.id)}, [(seen.id, success)])
        left.append(table.get(store.key(seen.id)))

    world.double.meanwhile("UpdateItem", other, nth=2)
    health.count_failures(seen, 3)
    assert ("failingSince" in left[0]) is not success
    assert [table.get(store.key(seen.id))] == left


def test_a_late_message_of_an_ended_schedule_is_refused(world: World) -> None:
    mine = deliveries.claim_replay(found(world, given_up(world)), ids.ulid(), world.now)
    assert deliveries.save_failed_replay(mine, tried(mine))
    with pytest.raises(Taken):
        deliveries.claim_step(Message(mine.id), world.now)
    assert deliveries.claim_step(Message(mine.id, mine.schedule), world.now).attempts > 1


def test_only_waiting_unclaimed_deliveries_are_cancelled(world: World) -> None:
    mine = claimed(world)
    assert not deliveries.save_cancelled(mine), "somebody is posting it"
    assert deliveries.save_failed_replay(mine, tried(mine))
    seen = deliveries.get(mine.id)
    again = deliveries.claim_step(Message(mine.id), world.now)
    assert deliveries.save_failed_replay(again, tried(again))
    assert not deliveries.save_cancelled(seen), "it was tried again meanwhile"
    last = deliveries.claim_step(Message(mine.id), world.now)
    assert deliveries.save_delivered(last, tried(last))
    ended = deliveries.get(mine.id)
    assert not deliveries.save_cancelled(ended), "it has ended"
    assert deliveries.find(mine.id) == ended


def test_a_recovery_does_not_send_delivered_ones(world: World) -> None:
    webhook = given_up(world)
    id = webhook.only()["id"]
    world.shop.post(f"/api/admin/deliveries/{id}/replay")
    webhook.post("/recover", SINCE)
    endpoint = store.get(webhook["id"])
    recovery = recover.running_recovery(endpoint)
    assert recovery
    (message,) = recover.next_page(endpoint, recovery, 10).messages
    assert message.delivery == id
    world.run()
    assert len(world.posted) == 1
    world.put(RETRIES, message.text(), world.now)
    world.run()
    assert len(world.posted) == 1


def test_a_delivery_held_while_its_webhook_is_enabled_is_sent(world: World) -> None:
    """Everything started by enabling has run before the sender records that the message waits."""
    webhook = add(world)
    announce()
    world.step()
    webhook.put({"enabled": False})

    def enabled_and_looked() -> None:
        webhook.put({"enabled": True})
        world.now += timedelta(minutes=1)
        for execution in list(world.executions.values()):
            world._redrive(execution)

    world.meanwhile("PutItem", enabled_and_looked)
    world.run()
    assert webhook.only()["status"] == "DELIVERED"


def test_two_replays_during_a_pause_are_both_sent(world: World) -> None:
    webhook = add(world)
    announce()
    world.run()
    id = webhook.only()["id"]
    for _ in range(2):
        assert world.shop.post(f"/api/admin/deliveries/{id}/replay").status == 202
    webhook.put({"enabled": False})
    world.run(timedelta(seconds=1))
    held = world.stored("due#")
    assert len(held) == 2
    due = clock.iso(world.now)
    assert redrive.run({"endpoint": webhook["id"], "due": due}) == {"more": False, "wait": 0}
    assert not any(world.queues.values())
    webhook.put({"enabled": True})
    world.run()
    assert len(world.posted) == webhook.only()["attemptCount"] == 3


def test_a_late_duplicate_that_a_pause_holds_does_not_replace_the_next_attempt(
    world: World,
) -> None:
    """Both are held in the same millisecond."""
    webhook = add(world)
    world.answer = lambda posted: failed() if len(world.posted) == 1 else OK
    announce()
    world.run(timedelta(seconds=1))
    webhook.put({"enabled": False})
    id = webhook.only()["id"]
    ((lane, waiting),) = [(url, queue) for url, queue in world.queues.items() if queue]
    for late in (Message(id, 0, 0), Message(id, 0, 0)):
        world.put(lane, late.text(), waiting[0].visible)
    world.run(timedelta(minutes=2))
    assert len(world.stored("due#")) == 2
    webhook.put({"enabled": True})
    world.run()
    assert webhook.only()["status"] == "DELIVERED"


# --- recoveries ---


def test_two_concurrent_recoveries_are_both_completed(world: World) -> None:
    webhook = failing(world)
    world.sleep(days=1)
    between = clock.iso(world.now)
    announce()
    world.run()
    world.answer = lambda posted: OK
    world.posted.clear()
    answers = []
    world.meanwhile("TransactWriteItems", lambda: answers.append(webhook.post("/recover", SINCE)))
    answers.append(webhook.post("/recover", {"since": between, "dryRun": False}))
    assert [one.status for one in answers] == [202, 202]
    world.run()
    assert webhook.statuses() == {"DELIVERED"}
    assert len(world.posted) == 2


def outlived(world: World, count: int) -> dict[str, Any]:
    """A webhook with `count` deliveries that failed, and that expire in nine days."""
    webhook = failing(world, count, seconds=10)
    world.sleep(days=21)
    assert webhook.statuses() == {"FAILED"}
    return webhook


def test_a_recovery_skips_too_old_deliveries_and_sends_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 3)
    webhook = outlived(world, 7)
    announce()
    world.sleep(days=9, minutes=1)
    assert len(world.stored("failed#")) == 8, "DynamoDB deletes them later"
    world.answer = lambda posted: OK
    world.posted.clear()
    asked = webhook.post("/recover", SINCE)
    assert (asked.status, asked.json["count"]) == (202, 1)
    world.run()
    assert len(world.posted) == 1
    recovery = webhook.fetch().json["recovery"]
    assert recovery["sent"] == 1 and recovery["completedAt"]


@pytest.mark.parametrize("minutes", [7, 40, 240, 3_000])
def test_a_recovery_sends_what_waits_for_a_later_attempt_now(world: World, minutes: int) -> None:
    webhook = given_up(world)
    world.answer = lambda posted: OK
    announce()
    world.run()  # it is not failing any more
    world.answer = lambda posted: failed()
    announce()
    world.sleep(minutes=minutes)
    failed_before, _, waiting = webhook.listed()[::-1]
    assert waiting["status"] == "RETRYING"
    world.posted.clear()
    world.answer = lambda posted: OK
    assert webhook.post("/recover", {"since": clock.iso(world.now)}).json["count"] == 1
    assert webhook.post("/recover", SINCE).json["count"] == 2
    world.run(timedelta(seconds=40))
    assert {posted.delivery for posted in world.posted} == {failed_before["id"], waiting["id"]}
    world.run()
    assert webhook.statuses() == {"DELIVERED"}
    assert len(world.posted) == 2, "nothing is sent twice"
    assert world.stored("due#") == []


def test_an_attempt_of_a_recovery_that_fails_changes_nothing(world: World) -> None:
    webhook = add(world)
    world.answer = lambda posted: failed()
    announce()
    world.sleep(hours=4)
    for _ in range(20):
        (before,) = webhook.listed()
        webhook.post("/recover", SINCE)
        world.sleep(minutes=5)
        assert len(world.posted) == before["attemptCount"] + 1
        (after,) = webhook.listed()
        for name in ("status", "nextAttemptAt"):
            assert after[name] == before[name]
    world.run()
    assert webhook.only()["status"] == "FAILED"
    assert len(world.posted) == 13 + 20


def backlog(world: World, hours: int = 4) -> dict[str, Any]:
    """A webhook that answers again after some hours, of which each had an event."""
    webhook = add(world)
    world.answer = lambda posted: failed()
    for _ in range(hours):
        announce()
        world.sleep(hours=1)
    assert webhook.statuses() == {"RETRYING"}
    world.answer = lambda posted: OK
    world.posted.clear()
    return webhook


def test_the_first_success_of_a_failing_endpoint_sends_what_waits_oldest_first(
    world: World,
) -> None:
    webhook = backlog(world)
    new = announce()
    world.run(timedelta(minutes=2, seconds=10))
    events = [event_of(posted.delivery) for posted in world.posted]
    assert events == [new, *sorted(events[1:])] and len(set(events)) == 5
    assert webhook.statuses() == {"DELIVERED"}
    begun = len(world.executions)
    announce()
    world.run()
    assert len(world.posted) == 6, "nothing is sent twice"
    assert world.stored("due#") == []
    assert len(world.executions) == begun, "and a success after a success starts nothing"


def test_an_endpoint_that_fails_again_is_sent_a_page_of_what_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 3)
    webhook = backlog(world, 9)
    before = {one["id"]: one["nextAttemptAt"] for one in webhook.listed()}
    new = announce()
    world.answer = lambda posted: OK if event_of(posted.delivery) == new else failed()
    world.run(timedelta(minutes=5))
    early = [one.delivery for one in world.posted if event_of(one.delivery) != new]
    assert len(early) == len(set(early)) == 3
    after = {one["id"]: one["nextAttemptAt"] for one in webhook.listed()}
    assert {id: after[id] for id in early} == {id: before[id] for id in early}
    assert webhook.fetch().json["recovery"]["completedAt"]
    world.answer = lambda posted: OK
    announce()
    world.run(timedelta(minutes=62))  # an hour after the last
    assert webhook.statuses() == {"DELIVERED"}


def test_a_recovery_sends_each_that_waits_once_though_it_fails(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 3)
    webhook = backlog(world, 8)
    world.answer = lambda posted: failed()
    webhook.post("/recover", SINCE)
    world.run(timedelta(minutes=10))
    sent = [one.delivery for one in world.posted]
    assert len(sent) == len(set(sent)) == 8


def test_what_a_receiver_always_refuses_is_sent_by_recoveries_once_an_hour(world: World) -> None:
    webhook = add(world)
    refused = {announce(), announce(), announce()}
    world.answer = lambda posted: failed() if event_of(posted.delivery) in refused else OK
    world.sleep(hours=3)  # each waits for 12 hours
    world.posted.clear()
    for _ in range(60):
        announce()
        world.sleep(minutes=10)
    assert {event_of(one.delivery) for one in world.posted[:20]} > refused
    by_themselves = len(world.posted)
    assert by_themselves in {60 + 3 * 9, 60 + 3 * 10}
    webhook.post("/recover", SINCE)
    world.sleep(minutes=5)
    assert len(world.posted) == by_themselves + 3, "a person need not wait"
    world.answer = lambda posted: OK
    webhook.post("/recover", SINCE)
    world.sleep(minutes=5)
    assert len(world.posted) == by_themselves + 3 * 2, "also for what was just refused"
    assert webhook.statuses() == {"DELIVERED"}


def test_a_recovery_takes_over_the_rest_of_one_that_is_under_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 2)
    webhook = backlog(world, 5)
    webhook.post("/recover", SINCE)
    world.run(timedelta(seconds=30))
    assert 0 < len(world.posted) < 5
    webhook.post("/recover", {"since": clock.iso(world.now), "dryRun": False})
    world.run(timedelta(minutes=2))
    assert webhook.statuses() == {"DELIVERED"} and len(world.posted) == 5


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_what_waits_is_sent_though_functions_crash(world: World, after: bool) -> None:
    n, crashed = 1, True
    while crashed:
        webhook = backlog(world, 3)
        announce()
        world.crash = (n, after)
        world.run(timedelta(minutes=10))
        crashed, world.crash = world.crash is None, None
        announce()  # if the crash was the success's own, the next one counts
        world.run(timedelta(minutes=10))
        # An attempt that was interrupted may have arrived: it waits for its own time.
        left = [one for one in webhook.listed() if one["status"] != "DELIVERED"]
        assert {one["lastError"] for one in left} <= {"interrupted"}, n
        webhook.delete()
        world.run()
        n += 1
    assert n > 15


def test_parked_deliveries_are_sent_though_their_executions_were_lost(world: World) -> None:
    webhook = failing(world, hours=4)
    world.executions.clear()  # the emulator was stopped
    world.answer = lambda posted: OK
    world.run()
    assert [one["status"] for one in webhook.listed()] == ["RETRYING"]
    local.restart_waits()
    world.run()
    assert [one["status"] for one in webhook.listed()] == ["DELIVERED"]


@pytest.mark.parametrize(("scale", "end"), [("1", 60), ("0.1", 24), ("0.001", 21)])
def test_one_execution_a_minute_is_started_for_a_webhook_that_answers_again(
    world: World, monkeypatch: pytest.MonkeyPatch, scale: str, end: int
) -> None:
    monkeypatch.setenv("WEBHOOK_SCHEDULE_SCALE", scale)
    world.now = datetime.fromtimestamp(1_800_000_020, UTC)
    endpoint = store.get(add(world)["id"])
    executions.schedule_recovery(endpoint)
    executions.schedule_recovery(endpoint)
    executions.schedule_redrive_soon(endpoint.id)
    (name, recovers), (_, redrives) = world.executions.items()
    assert name == f"{endpoint.id}-recovery-{1_800_000_000 + end}"
    assert [json.loads(one.input)["recover"] for one in (recovers, redrives)] == [True, False]


def test_a_webhook_recovers_by_itself_an_hour_after_the_last_recovery(world: World) -> None:
    world.now = datetime.fromtimestamp(1_800_000_020, UTC)
    before = {"startedAt": clock.iso(world.now - timedelta(minutes=20))}
    executions.schedule_recovery(replace(store.get(add(world)["id"]), recovery=before))
    (execution,) = world.executions.values()
    assert execution.at - world.now == timedelta(minutes=40, seconds=70)


def test_a_second_execution_for_a_webhook_waits_for_the_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = failing(world, hours=4)
    (parked,) = world.stored("due#")

    def run() -> Any:
        due = parked["sk"].partition("#")[0]
        return redrive.run({"endpoint": webhook["id"], "due": due})

    world.now = clock.parse(parked["sk"].partition("#")[0])
    other = {"by": "another", "until": int(world.now.timestamp()) + 60}
    store.note(webhook["id"], {"redriving": other}, Attr("redriving").not_exists())
    assert run() == {"more": True, "wait": 60}
    with monkeypatch.context() as patched:
        patched.setenv("WEBHOOK_SCHEDULE_SCALE", "0.1")
        assert run() == {"more": True, "wait": 6}
    assert parked in world.stored()
    world.now += timedelta(seconds=61)  # it died
    answer = run()
    assert (answer["more"], answer["wait"]) == (False, 1)
    assert parked not in world.stored()
    kept = webhook.stored()
    assert "redriving" not in kept


def test_a_shortened_schedule_shortens_the_wait_after_enabling(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = add(world)
    waits = []
    for scale in ("1", "0.1", "0.01"):
        monkeypatch.setenv("WEBHOOK_SCHEDULE_SCALE", scale)
        world.executions.clear()
        for enabled in (False, True):
            webhook.put({"enabled": enabled})
        (execution,) = world.executions.values()
        waits.append((execution.at - world.now).total_seconds())
    assert waits == [30, 3, 2]


def test_a_note_does_not_recreate_a_deleted_webhook(world: World) -> None:
    webhook = add(world)
    webhook.delete()
    with pytest.raises(table.ConditionFailed):
        store.note(webhook["id"], {"redriving": {"by": "x"}}, Attr("redriving").not_exists())
    assert table.get(store.key(webhook["id"])) is None


# --- events that are not there ---


def lose_events(world: World) -> None:
    """As a table that was restored to a time before them."""
    for item in list(world.double.items(settings.outbox_table())):
        world.double._store(settings.outbox_table(), (item["pk"]["S"], "events"), None)


def test_a_delivery_that_waits_for_30_days_is_gone_with_its_event(world: World) -> None:
    webhook = failing(world, hours=1)
    posts = len(world.posted)
    webhook.put({"enabled": False})
    world.sleep(days=33)
    webhook.put({"enabled": True})
    world.run()
    assert webhook.listed() == [] and len(world.posted) == posts
    assert not [queue for queue in world.queues.values() if queue]
    assert world.stored("deliveries#") == world.stored("due#") == world.stored("dlv_") == []


def test_a_delivery_whose_event_is_lost_fails(world: World) -> None:
    webhook = failing(world, hours=1)
    posts = len(world.posted)
    webhook.put({"enabled": False})
    lose_events(world)
    webhook.put({"enabled": True})
    world.run()
    delivery = webhook.only()
    assert (delivery["status"], delivery["nextAttemptAt"]) == ("FAILED", None)
    last = delivery["attempts"][-1]
    assert (last["error"], last["response"], last["request"]) == (
        "event_expired",
        None,
        {"headers": {}},
    )
    assert last["durationMs"] == 0
    assert "no longer kept" in last["message"] and len(world.posted) == posts
    assert not [queue for queue in world.queues.values() if queue]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_while_failing_a_delivery_without_event_is_repaired(
    after: bool, world: World
) -> None:
    webhook = add(world)
    world.answer = lambda posted: failed()
    for number in range(1, 12):
        announce()
        world.run(timedelta(hours=1))
        webhook.put({"enabled": False})
        lose_events(world)
        webhook.put({"enabled": True})
        world.crash = (number, after)
        world.run()
        assert world.crash is None, "there was no such call"
        newest = webhook.listed()[0]
        assert newest["status"] == "FAILED"
        full = world.shop.get(f"/api/admin/deliveries/{newest['id']}").json
        numbers = [one["number"] for one in full["attempts"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert full["attempts"][-1]["error"] == "event_expired"


def test_the_deliveries_of_a_webhook_are_in_four_partitions() -> None:
    assert deliveries.partitions("wh_1") == [f"deliveries#wh_1#{shard}" for shard in range(4)]
    id = "dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV0001ARZ3NDEKTSV4RRFFQ69G5FAV"
    assert deliveries.key(id) == ("deliveries#wh_01ARZ3NDEKTSV4RRFFQ69G5FAV#1", id)


def test_a_delivery_and_its_attempts_expire_with_their_event(world: World) -> None:
    webhook = add(world)
    id = announce()
    items = world.double.items(settings.outbox_table())
    (event,) = [item for item in items if id.startswith(item["pk"]["S"])]
    world.answer = lambda posted: failed()
    world.sleep(days=9)
    assert webhook.only()["status"] == "FAILED"
    assert world.shop.post(f"/api/admin/deliveries/{webhook.only()['id']}/replay").status == 202
    world.run(timedelta(hours=1))
    stored = [one for begin in ("deliveries#", "dlv_", "due#") for one in world.stored(begin)]
    assert len(stored) > 12
    assert {str(one["expiresAt"]) for one in stored} == {event["expiresAt"]["N"]}


def test_a_message_of_a_delivery_that_is_gone_is_dropped(world: World) -> None:
    webhook = given_up(world)
    delivery = found(world, webhook)
    where = deliveries.key(delivery.id)
    world.meanwhile("TransactWriteItems", lambda: table.delete(where))
    world.shop.post(f"/api/admin/deliveries/{delivery.id}/replay")
    world.run()
    for message in (Message(delivery.id, 0, 1), Message(delivery.id, replay=ids.ulid())):
        world.put(RETRIES, message.text(), world.now)
    world.run()
    assert world.posted == [] and not world.queues[RETRIES] and table.get(where) is None


def test_a_redrive_sends_a_hundred_messages_a_second(world: World) -> None:
    webhook = given_up(world)
    id = found(world, webhook).id
    for step in range(100):
        parking.hold(Message(id, 0, step))
    now = clock.iso(world.now)
    answer = redrive.run({"endpoint": webhook["id"], "due": now, "until": now})
    assert (answer["more"], answer["wait"]) == (False, 1)
    assert answer["paced"] == clock.iso(world.now + timedelta(seconds=1))
    delays = [one.visible - world.now for one in world.queues[RETRIES]]
    assert len(delays) == 100 and set(delays) == {timedelta(0)}


def test_a_message_that_is_long_due_is_sent_at_once(world: World) -> None:
    webhook = given_up(world)
    id = found(world, webhook).id
    parking.hold(Message(id, 0, 3, due=world.now - timedelta(hours=1)))

    def slowly() -> None:
        world.now += timedelta(seconds=3)

    world.meanwhile("Query", slowly)
    now = clock.iso(world.now)
    redrive.run({"endpoint": webhook["id"], "due": now, "until": now})
    (message,) = world.queues[RETRIES]
    assert message.visible == world.now


def test_a_redrive_for_later_leaves_parked_what_a_queue_cannot_hold_so_long(world: World) -> None:
    """An operator invoked it without the state machine, which would wait."""
    webhook = given_up(world)
    later = world.now + timedelta(hours=2)
    parking.park(Message(found(world, webhook).id, 0, 3, due=later), later)
    redrive.run({"endpoint": webhook["id"], "due": clock.iso(later)})
    assert not any(world.queues.values())


def test_a_replay_that_meets_another_replay_of_the_failed_delivery_completes_it(
    world: World,
) -> None:
    """The other one has begun, and its function has crashed."""
    webhook = given_up(world)
    delivery = found(world, webhook)
    assert world.shop.post(f"/api/admin/deliveries/{delivery.id}/replay").status == 202
    world.meanwhile(
        "TransactWriteItems", lambda: deliveries.claim_replay(delivery, ids.ulid(), world.now)
    )
    world.run()
    replayed = webhook.only()
    assert replayed["status"] == "DELIVERED"
    assert [one["error"] for one in replayed["attempts"][13:]] == ["interrupted", None]


def test_a_run_of_a_redrive_sends_at_most_a_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redrive, "PAGE", 4)
    webhook = given_up(world, 9)
    ids_of = [row["id"] for row in webhook.listed()]
    webhook.post("/recover", SINCE)
    for id in ids_of[:7]:
        parking.hold(Message(id, 0, 1))
        world.queues[RETRIES].clear()
    now = clock.iso(world.now)
    parked, sent, more, waits = [], [], [], []
    answer: dict[str, Any] = {}
    later = clock.iso(world.now + timedelta(minutes=5))
    for _ in range(6):
        asked = {"endpoint": webhook["id"], "due": now, "until": now}
        answer = redrive.run({**asked, "redriven": answer})
        if answer["more"]:
            assert redrive.run({**asked, "due": later}) == {"more": True, "wait": 60}, "it waits"
        sent.append(len(world.queues[RETRIES]) - sum(sent))
        parked.append(len(world.stored("due#")))
        more.append(answer["more"])
        waits.append(answer["wait"])
    assert (parked, sent) == ([3, 0, 0, 0, 0, 0], [4, 4, 4, 4, 0, 0])
    assert answer["paced"] == clock.iso(world.now + timedelta(seconds=0.16))
    assert more == [True] * 5 + [False] and waits == [1, 1, 1, 1, 0, 0]


def test_a_failed_delivery_is_kept_as_long_as_its_event(world: World) -> None:
    webhook = given_up(world)
    assert webhook.only()["status"] == "FAILED"
    (entry,) = world.stored("failed#")
    assert entry["expiresAt"] == model.delivery_expiry(webhook.only()["id"])
    world.sleep(days=33)
    assert webhook.listed() == []
    assert webhook.post("/recover", {"since": SINCE["since"]}).json == {"count": 0}
