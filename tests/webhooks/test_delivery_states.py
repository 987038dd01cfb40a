"""One delivery with random events: repeated and late messages, crashes at any call, replays,
pauses, rotations, recoveries, deletion."""

import itertools
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chalicelib.safe_post.post import PostResult
from tests.support.dynamodb_double import Crash
from tests.support.webhook_world import DELIVERIES, OK, Posted, World, announce, failed, world
from tests.webhooks.build import add, given_up

ENDED = {"DELIVERED", "FAILED", "CANCELLED"}


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.world: World = self.stack.enter_context(world())
        self.world.answer = self.answer
        self.answers = True
        self.turns: list[tuple[Any, ...]] = []
        self.asked = 0  # replays and recoveries
        self.delivered: set[int] = set()
        self.ended_at = {-1: 0}  # schedule → attempts up to its end
        self.deleted = self.paused = False
        self.seen: dict[int, Any] = {}
        self.promises: list[int] = []  # attempts when a 202 promised another

    def teardown(self) -> None:
        try:
            if hasattr(self, "webhook"):
                self.ends_without_further_failures()
        finally:
            self.stack.close()

    # --- what the receiver sees ---

    def answer(self, posted: Posted) -> PostResult:
        item = self.delivery()
        claim = item["claim"]
        assert claim["until"] > posted.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if claim["replay"]:
            turn: tuple[Any, ...] = ("replay", item["replayed"])
        else:
            turn = (item["schedule"], item["step"])
        note(f"posted {turn}: {'ok' if self.answers else 'failed'}")
        assert turn not in self.turns, "a turn is posted once"
        self.turns.append(turn)
        assert item["schedule"] not in self.delivered, "nothing is posted after a success"
        assert item["schedule"] <= self.asked, "unless somebody asked for it"
        assert posted.body == self.world.posted[0].body
        assert posted.delivery == self.world.posted[0].delivery
        return OK if self.answers else failed()

    # --- what happens ---

    @initialize(answers=st.sampled_from([False, False, True]))
    def an_event_is_announced(self, answers: bool) -> None:
        self.answers = answers
        self.webhook = add(self.world)
        self.began = self.world.now
        announce()

    @rule()
    def handle_the_next_event(self) -> None:
        self.world.step()

    @rule(n=st.integers(1, 14), after=st.booleans())
    def a_function_crashes(self, n: int, after: bool) -> None:
        self.world.crash = (n, after)
        for _ in range(3):
            self.world.step()
        self.world.crash = None

    @rule(minutes=st.sampled_from([0.5, 6, 40, 800, 3_000, 30_000]))
    def time_passes(self, minutes: float) -> None:
        self.world.sleep(minutes=minutes)

    @rule(data=st.data())
    def a_message_is_received_twice(self, data: st.DataObject) -> None:
        messages = [(url, one) for url, queue in self.world.queues.items() for one in queue]
        if messages:
            url, one = data.draw(st.sampled_from(messages))
            self.world.put(url, one.body, self.world.now)

    @rule(step=st.integers(0, 12), schedule=st.integers(0, 1))
    def an_old_message_is_received_again(self, step: int, schedule: int) -> None:
        item = self.delivery()
        now = (item.get("schedule", 0), item.get("step", 99)) if item else (-1, 0)
        if (schedule, step) < now:
            body = f'{{"delivery":"{item["sk"]}","schedule":{schedule},"step":{step}}}'
            self.world.put(next(iter(self.world.queues)), body, self.world.now)

    @rule()
    def the_receiver_changes_its_answer(self) -> None:
        self.answers = not self.answers

    @precondition(lambda self: not self.deleted and self.delivery())
    @rule()
    def replay(self) -> None:
        answer = self.world.shop.post(f"/api/admin/deliveries/{self.delivery()['sk']}/replay")
        self.asked += answer.status == 202
        self.promised(answer)

    @precondition(lambda self: not self.deleted)
    @rule()
    def recover(self) -> None:
        self.recovered()

    @precondition(lambda self: not self.deleted)
    @rule(
        n=st.integers(1, 6),
        after=st.booleans(),
        what=st.sampled_from(["replay", "recover", "pause", "enable", "rotate"]),
    )
    def a_request_crashes(self, n: int, after: bool, what: str) -> None:
        """A crashed request promises nothing. What it began may be carried out."""
        calls: dict[str, Any] = {
            "replay": self.replay if self.delivery() else lambda: None,
            "recover": self.recovered,
            "pause": lambda: self.pause_or_enable(enabled=False),
            "enable": lambda: self.pause_or_enable(enabled=True),
            "rotate": lambda: self.rotate_the_secret(hours=1),
        }
        self.asked += what in ("replay", "recover")
        self.paused |= what == "pause"
        self.world.crash = (n, after)
        with suppress(Crash):
            calls[what]()
        self.world.crash = None

    def recovered(self, since: str = "2020-01-01T00:00:00Z") -> None:
        answer = self.webhook.post("/recover", {"since": since, "dryRun": False})
        self.asked += answer.status == 202
        if self.delivery().get("status") == "FAILED" and answer.json.get("count"):
            self.promised(answer)

    def promised(self, answer: Any) -> None:
        """A 202 promises a further attempt, unless the webhook is deleted."""
        if answer.status == 202:
            self.promises.append(self.delivery()["attempts"])

    @precondition(lambda self: not self.deleted)
    @rule(enabled=st.booleans())
    def pause_or_enable(self, enabled: bool) -> None:
        assert self.webhook.put({"enabled": enabled}).status == 200
        self.paused |= not enabled

    @precondition(lambda self: not self.deleted)
    @rule(hours=st.integers(0, 72))
    def rotate_the_secret(self, hours: int) -> None:
        self.webhook.post("/rotate-secret", {"overlapHours": hours})

    @precondition(lambda self: not self.deleted and len(self.turns) > 2)
    @rule()
    def delete_the_webhook(self) -> None:
        assert self.webhook.delete().status == 200
        self.deleted = True

    # --- what holds ---

    @invariant()
    def attempts_are_numbered_without_gaps(self) -> None:
        item = self.delivery()
        if item:
            under_way = 1 if "claim" in item else 0
            numbers = [one["number"] for one in self.records(item)]
            assert numbers == [*range(1, len(numbers) + 1)]
            assert item["attempts"] - under_way <= len(numbers) <= item["attempts"]

    @invariant()
    def a_record_of_an_attempt_never_changes(self) -> None:
        item = self.delivery()
        for record in self.records(item) if item else []:
            assert self.seen.setdefault(record["number"], record) == record

    @invariant()
    def the_state_agrees_with_the_attempts(self) -> None:
        item = self.delivery()
        if not item:
            return
        assert (item["status"] in ENDED) == ("step" not in item)
        assert ("nextAttemptAt" in item) == ("step" in item)
        assert ("failedAt" in item) == (item["status"] == "FAILED")
        entries = [one for one in self.world.stored() if one["pk"].startswith("failed#")]
        assert len(entries) == (item["status"] == "FAILED")
        schedule = item["schedule"]
        tried = sum(not one["replay"] for one in self.records(item))
        if item["status"] == "DELIVERED":
            self.delivered.add(schedule)
        expired = any(one.get("error") == "event_expired" for one in self.records(item))
        whole = item["status"] == "FAILED" and not expired
        if whole and schedule - 1 in self.ended_at:
            assert tried - self.ended_at[schedule - 1] == 13, "a whole schedule, replays apart"
        if item["status"] in ENDED:
            self.ended_at[schedule] = tried

    def ends_without_further_failures(self) -> None:
        """Without further failures, the delivery ends."""
        if not self.deleted:
            assert self.webhook.put({"enabled": True}).status == 200
        self.world.run()
        item = self.delivery()
        if not item:
            kept = self.world.now - self.began > timedelta(days=30)
            assert self.paused or kept, "a paused endpoint gets no new deliveries"
            return
        assert item["status"] in ENDED and "claim" not in item
        assert self.deleted or item["status"] != "CANCELLED"
        if not self.deleted:
            assert item["attempts"] > max(self.promises, default=0), "every 202 is honoured"
        assert not [queue for queue in self.world.queues.values() if queue]
        assert not [one for one in self.world.stored() if one["pk"].startswith("due#")]
        self.attempts_are_numbered_without_gaps()
        self.the_state_agrees_with_the_attempts()

    # --- the table ---

    def delivery(self) -> Any:
        found = [one for one in self.world.stored() if one["sk"].startswith("dlv_")]
        return found[0] if found else {}

    def records(self, item: Any) -> list[Any]:
        stored = [one for one in self.world.stored() if one["pk"] == item["sk"]]
        return [*([item["first"]] if "first" in item else []), *stored]


Life.TestCase.settings = settings(
    max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLife = Life.TestCase


def lucky_at_last(made: World) -> None:
    """Fails until every means of waiting was used, then succeeds."""
    add(made)
    made.answer = lambda posted: failed() if len(made.posted) < 7 else OK
    announce()
    made.calls.clear()


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_call_of_a_function_loses_no_delivery(after: bool) -> None:
    with world() as made:
        lucky_at_last(made)
        made.run()
        calls = list(made.calls)
    record = len(calls) - calls[::-1].index("PutItem")  # of the attempt that succeeds
    assert {"PutItem", "UpdateItem", "send_message_batch", "start_execution", "Post"} <= {*calls}
    for n in range(1, len(calls) + 1):
        with world() as made:
            lucky_at_last(made)
            made.crash = (n, after)
            made.run()
            (delivery,) = [one for one in made.stored() if one["sk"].startswith("dlv_")]
            crash = f"crashed {'after' if after else 'before'} call {n}, {calls[n - 1]}"
            assert delivery["status"] == "DELIVERED", crash
            # An attempt that was not recorded is repeated once; a recorded one is not.
            recorded = n > record or (n == record and after)
            assert len(made.posted) <= (7 if recorded else 8), crash
            assert delivery["attempts"] <= 8, crash


def delivered_before(made: World) -> None:
    lucky_at_last(made)
    made.run()


def running_before(made: World) -> None:
    lucky_at_last(made)
    made.run(timedelta(minutes=2))


def delivery_of(made: World) -> Any:
    (found,) = [one for one in made.stored() if one["sk"].startswith("dlv_")]
    return found


def replayed(made: World) -> None:
    path = f"/api/admin/deliveries/{delivery_of(made)['sk']}/replay"
    assert made.shop.post(path).status == 202


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("scenario", [delivered_before, given_up, running_before])
def test_a_crash_at_any_call_of_a_replay_keeps_its_promise(scenario: Any, after: bool) -> None:
    for n in itertools.count(1):
        with world() as made:
            scenario(made)
            posts = len(made.posted)
            made.answer = lambda posted: OK
            replayed(made)
            made.crash = (n, after)
            made.run()
            crashed, made.crash = made.crash is None, None
            item = delivery_of(made)
            assert item["status"] == "DELIVERED" and "claim" not in item, f"died at call {n}"
            assert 1 <= len(made.posted) - posts <= 1 + crashed
        if not crashed:
            break  # it makes fewer calls


def test_a_replay_during_an_attempt_waits_for_its_end() -> None:
    with world() as made:
        running_before(made)
        made.calls.clear()
        made.run(timedelta(minutes=7))
        third_post = made.calls.index("Post") + 1
    with world() as made:
        running_before(made)
        made.crash = (third_post, True)
        made.step()
        assert made.crash is None
        assert "claim" in delivery_of(made)
        replayed(made)
        made.run(timedelta(minutes=3))
        records = [one for one in made.stored() if one["pk"] == delivery_of(made)["sk"]]
        assert records[-2]["error"] == "interrupted" and records[-1]["replay"] is True


def test_a_sender_whose_claim_has_expired_changes_nothing() -> None:
    with world() as made:
        add(made)
        announce()
        made.step()
        (message,) = made.queues[DELIVERIES]

        def sleepy(posted: Posted) -> PostResult:
            made.answer = lambda posted: OK
            made.now += timedelta(seconds=80)
            made.put(DELIVERIES, message.body, made.now)
            made.step()
            assert delivery_of(made)["status"] == "RETRYING"
            return OK

        made.answer = sleepy
        made.run()
        item = delivery_of(made)
        records = [one for one in made.stored() if one["pk"] == item["sk"]]
        assert [one.get("error") for one in records] == ["interrupted", None]
        assert item["status"] == "DELIVERED" and "first" not in item
