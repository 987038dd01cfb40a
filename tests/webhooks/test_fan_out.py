"""From the outbox's stream to the queue: repeated and late records, in any order, with crashes."""

from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

import app
from chalicelib import deadline, settings
from chalicelib.outbox import fan_out
from chalicelib.problems import Busy
from chalicelib.safe_post.post import PostResult
from chalicelib.storage import outbox, table
from chalicelib.webhooks import deliveries, store
from chalicelib.webhooks.model import EventKind
from chalicelib.webhooks.schemas import NewWebhook
from tests.support.dynamodb_double import Crash, Fault
from tests.support.webhook_events import stream
from tests.support.webhook_world import DEAD_EVENTS, DELIVERIES, OK, Posted, World, announce, failed
from tests.support.webhook_world import world as world_of
from tests.webhooks.build import URL, add


@pytest.mark.parametrize("answer", [OK, failed()], ids=["delivered", "waits for a retry"])
def test_a_repeated_record_makes_no_second_delivery_during_the_first_attempt_or_after_it(
    world: World, answer: PostResult
) -> None:
    webhook = add(world)
    announce()
    announce()
    items = world.unread_events()

    def queued_by_a_repeat() -> int:
        before = sum(map(len, world.queues.values()))
        fan_out.handle(stream(items[: len(world.posted)][::-1]))
        return sum(map(len, world.queues.values())) - before

    queued: list[int] = []

    def repeated_meanwhile(posted: Posted) -> PostResult:
        queued.append(queued_by_a_repeat())
        return answer

    world.answer = repeated_meanwhile
    fan_out.handle(stream(items))
    world.run(timedelta(seconds=1))
    assert [*queued, queued_by_a_repeat()] == [0, 0, 0]
    world.run(timedelta(seconds=1))
    assert len(world.posted) == len(webhook.listed()) == 2


def test_a_stream_that_is_read_anew_makes_no_delivery_for_a_webhook_that_was_paused(
    world: World,
) -> None:
    """As after `deploy.py --destroy` and the next deployment, which make its trigger again."""
    paused = add(world)
    world.shop.put(paused.path, {"enabled": False})
    announce()
    items = world.unread_events()
    world.run()
    world.shop.put(paused.path, {"enabled": True})
    fan_out.handle(stream(items))
    assert paused.listed() == []


@pytest.mark.parametrize("died", [False, True])
def test_a_stream_that_is_read_anew_sends_what_is_overdue(world: World, died: bool) -> None:
    """A restored backup has no messages, and perhaps an attempt that was being made."""
    webhook = add(world)
    announce()
    items = world.unread_events()
    fan_out.handle(stream(items))
    world.answer = lambda posted: failed()
    world.fate = lambda operation: True if died and operation == "Post" else None
    world.run(timedelta(seconds=1))
    world.queues.clear()
    world.sleep(minutes=20)
    world.fate = lambda operation: None
    world.answer = lambda posted: OK
    for _ in range(2):
        fan_out.handle(stream(items))
    world.run()
    assert [one["status"] for one in webhook.listed()] == ["DELIVERED"]
    assert len(world.posted) == 2


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_of_the_fan_out_at_any_call_loses_no_delivery(after: bool) -> None:
    crashed: list[str] = []
    while not crashed or crashed[-1] != "TransactWriteItems":  # its last call
        with world_of() as world:
            webhook = add(world)
            announce()
            world.calls.clear()
            world.crash = (len(crashed) + 1, after)
            world.step()
            crashed.append(world.calls[-1])
            assert world.crash is None, f"{crashed}"
            world.run()
            assert len(world.posted) == len(webhook.listed()) == 1, f"{crashed}"
    assert {"PutItem", "send_message_batch"} <= {*crashed}


@pytest.mark.parametrize(
    "change",
    [{"enabled": False}, {"events": ["order.paid"]}, {"filter": {"event": ["order.paid"]}}],
    ids=["paused", "other events", "filtered"],
)
def test_a_delivery_made_before_its_webhook_changed_is_sent_though_the_fan_out_crashed(
    world: World, change: dict[str, Any]
) -> None:
    webhook = add(world)
    world.sleep(hours=1)
    announce()
    world.fate = lambda operation: False if operation == "send_message_batch" else None
    world.step()
    world.fate = lambda operation: None
    announce()  # no delivery is made of this one
    assert webhook.put(change).status == 200
    world.run()
    assert len(world.posted) == ("enabled" not in change)
    webhook.put({"enabled": True})
    world.run()
    (delivery,) = webhook.fetch("/deliveries").json["data"]
    assert delivery["status"] == "DELIVERED" and len(world.posted) == 1


def test_deliveries_made_before_are_looked_for_only_after_a_change_of_their_webhook(
    world: World,
) -> None:
    webhook = add(world, "order.paid")

    def reads() -> int:
        announce()
        world.calls.clear()
        world.step()
        return world.calls.count("BatchGetItem")

    never = reads()
    webhook.put({"description": "changed"})
    assert reads() == never + 1
    world.sleep(minutes=2)
    assert reads() == never


def test_an_event_after_a_change_of_its_webhook_makes_one_message_without_delay(
    world: World,
) -> None:
    add(world).put({"description": "changed"})
    announce()
    world.step()
    (message,) = world.queues[DELIVERIES]
    assert message.visible == world.now


@pytest.mark.parametrize("fault", [Busy(), LookupError("a defect")])
def test_a_record_that_fails_is_repeated_with_its_batch_or_put_aside_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    webhook = add(world)
    ids = [announce(), announce(), announce()]
    create, calls = deliveries.create, count(1)

    def fail_second(*given: Any, **named: Any) -> Any:
        if next(calls) == 2:
            raise fault
        return create(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(deliveries, "create", fail_second)
        answer = fan_out.handle(stream(world.unread_events()))
    is_temporary = isinstance(fault, Busy)
    again = [{"itemIdentifier": ids[0][:30]}] if is_temporary else []
    assert answer == {"batchItemFailures": again}
    assert len(world.queues.get(DELIVERIES, ())) == (0 if is_temporary else 2)
    dead = [one.content for one in world.queues.get(DEAD_EVENTS, ())]
    assert dead == ([] if is_temporary else [{"republish": [ids[1][:30]]}])
    for letter in dead:
        fan_out.handle(letter)
    world.run()
    assert len(world.posted) == len(webhook.listed()) == 3


@pytest.mark.parametrize("refusals", [1, 99])
def test_records_whose_messages_cannot_be_sent_are_all_repeated(
    world: World, refusals: int
) -> None:
    add(world)
    ids = [announce(), announce(), announce()]
    items = world.unread_events()
    world.meanwhile("PutItem", lambda: world.refusals.update(send_message_batch=refusals))
    answer = fan_out.handle(stream(items))
    assert answer == {"batchItemFailures": [{"itemIdentifier": ids[0][:30]}]}
    world.refusals.clear()
    world.run()
    assert len(world.posted) == 3


def test_a_poison_record_is_sent_to_the_dead_letters_and_blocks_no_other(world: World) -> None:
    add(world)
    announce()
    (good,) = world.unread_events()
    poison = {"pk": {"S": "evt_01BROKEN"}, "sk": {"S": "events"}, "events": {"L": [{"M": {}}]}}
    assert fan_out.handle(stream([poison, good])) == {"batchItemFailures": []}
    world.run()
    assert len(world.posted) == 1
    (dead,) = world.queues[DEAD_EVENTS]
    assert dead.content == {"republish": ["evt_01BROKEN"]}


def test_an_event_can_be_republished_without_a_second_delivery(world: World) -> None:
    got_it = add(world)
    event = announce()
    world.run()
    missed_it = add(world)
    assert fan_out.handle({"republish": [event]}) == {"batchItemFailures": []}
    world.run()
    assert len(got_it.listed()) == len(missed_it.listed()) == 1
    assert len(world.posted) == 2
    with pytest.raises(LookupError, match="keeps events for 30 days"):
        fan_out.handle({"republish": ["evt_01ARZ3NDEKTSV4RRFFQ69G5FAV00"]})


def test_an_endpoint_gets_the_events_of_the_minute_before_it(world: World) -> None:
    """The clocks of functions differ."""
    event = announce()
    world.now += timedelta(minutes=1)
    webhook = add(world)
    world.now += timedelta(milliseconds=2)
    later = add(world)
    fan_out.handle({"republish": [event]})
    assert len(webhook.listed()) == 1 and later.listed() == []


@pytest.mark.thorough
def test_a_thousand_endpoints_each_get_a_delivery(world: World) -> None:
    for _ in range(1_000):
        store.create(NewWebhook(url=URL, events=[EventKind.PRODUCT_CREATED]))
    announce()
    (item,) = world.unread_events()
    fan_out.handle(stream([item]))
    fan_out.handle(stream([item]))
    sent = {one.content["delivery"] for one in world.queues[DELIVERIES]}
    made = [one["sk"] for one in world.stored() if one["sk"].startswith("dlv_")]
    assert sent == {*made} and len(made) == 1_000


def test_deletions_in_the_outbox_are_ignored(world: World) -> None:
    add(world)
    announce()
    items = world.unread_events()
    world.run()
    assert fan_out.handle(stream(items, "REMOVE")) == {"batchItemFailures": []}
    assert not world.queues.get(DELIVERIES)


@pytest.mark.thorough
def test_every_event_of_the_largest_commit_is_delivered(world: World) -> None:
    add(world)
    kind = "product.created"
    bodies = [outbox.body(kind, {"n": number}) for number in range(outbox.MOST_COMMIT_EVENTS)]
    table.put(outbox.build_item([(kind, text) for text in bodies]), table=settings.outbox_table())
    world.run()
    assert {posted.body.decode() for posted in world.posted} == set(bodies)
    assert len(world.posted) == len(bodies)


def test_the_identifier_of_an_event_ends_in_its_place_in_the_commit() -> None:
    """Stored identifiers of deliveries are made of it."""
    item = outbox.build_item([("product.created", "{}")] * outbox.MOST_COMMIT_EVENTS)
    made = [event.id for event in outbox.events_of(item)]
    places = {0: "00", 99: "99", 100: "A0", 135: "AZ", 136: "B0", 999: "YZ"}
    assert {place: made[place] for place in places} == {
        place: f"{item['pk']}{end}" for place, end in places.items()
    }
    assert {outbox.key(id) for id in made} == {(item["pk"], "events")}


def test_the_body_of_an_event_is_kept_for_30_days(world: World) -> None:
    item = outbox.build_item([("product.created", "{}")])
    assert item["expiresAt"] - world.now.timestamp() == 30 * 86_400


def test_events_are_fanned_out_once_while_the_table_throttles(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 6.0)
    for _ in range(5):
        add(world)
    announce()
    items, calls = world.unread_events(), count()
    world.double.faults = lambda operation, request: Fault.THROTTLE if next(calls) % 5 else None
    answer = app.fan_out(stream(items), None)
    world.double.faults = lambda operation, request: None
    assert answer == {"batchItemFailures": []}
    sent = [one.content["delivery"] for one in world.queues[DELIVERIES]]
    assert len(sent) == len(set(sent)) == 5


def test_whole_batches_that_the_stream_loses_are_published_again_once(world: World) -> None:
    add(world)
    world.sleep(minutes=2)
    announce()
    world.run()
    lost = [announce() for _ in range(120)]
    fan_out.handle(stream(world.unread_events()[:1]))  # a part of the first batch
    world.lose_events()
    world.sleep(hours=24)
    assert fan_out.handle({"republish": "lost"}) == {"batchItemFailures": []}
    world.run()
    assert len(world.posted) == 2, "the stream may still bring them"
    world.sleep(hours=22)
    for _ in range(3):
        fan_out.handle({"republish": "lost"})
        world.run()
    assert len(world.posted) == 1 + len(lost)
    world.sleep(minutes=1)
    entered = world.stored("feed#")
    assert len([item for item in entered if item["kinds"]]) == 1 + len(lost)
    scans = world.double.asked("Scan")
    fan_out.handle({"republish": "lost"})
    assert scans == [], "it begins once a day"


def test_an_event_that_expires_after_its_mark_is_not_published_again(world: World) -> None:
    """AWS deletes what has expired in any order, within days."""
    add(world)
    id = announce()
    world.run()
    items = list(world.double.items(settings.outbox_table()))
    world.sleep(days=30, minutes=1)
    table.delete((id[:30], "feed"))
    fan_out.handle({"republish": "lost"})
    fan_out.handle(stream(items))
    world.run()
    assert len(world.posted) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_while_lost_events_are_published_loses_none(after: bool) -> None:
    crashed: list[str] = []
    while not crashed or crashed[-1] != "none":
        with world_of() as world:
            add(world)
            world.sleep(minutes=2)
            announce()
            announce()
            world.lose_events()
            world.sleep(hours=26)
            world.calls.clear()
            world.crash = (len(crashed) + 1, after)
            with suppress(Crash):
                fan_out.handle({"republish": "lost"})
            crashed.append("none" if world.crash else world.calls[-1])
            world.crash = None
            world.sleep(hours=21)
            fan_out.handle({"republish": "lost"})
            world.run()
            assert len(world.posted) == 2, crashed
    assert {"Scan", "TransactWriteItems", "send_message_batch"} <= {*crashed}
