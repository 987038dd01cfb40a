"""Functions that crash at random: which deliveries still arrive, and which arrive twice.

The real fan-out, sender and redrive run in the world of the webhook tests. A function can crash at
each call to DynamoDB, SQS, Step Functions or a receiver, before or after its effect. The threads of
a batch crash together. The queue delivers some messages twice, and receivers fail now and then.
"""

import contextlib
import io
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock

from tests.support import webhook_world as worlds

EVENTS = 2_000
DEATHS = 0.02  # of all calls
FAILURES = 0.05  # of all posts
TWICE = 0.03  # of all messages

Try = tuple[str, int]
"""A delivery and the number of its attempt."""


def main() -> None:
    toll = killed(EVENTS, seed=1)
    print(f"{toll.events:,} events, {DEATHS:.0%} of all calls are the last of their function\n")
    print(f"functions run {toll.functions:,}, died {toll.deaths:,}; by their last call:")
    for call, times in toll.last_calls.most_common():
        print(f"  {call:<32}{times:>6,}")
    print(f"messages that the queue brought twice {toll.doubled:,}")
    print(f"\narrived            {toll.arrived:>6,}")
    print(f"never arrived      {toll.events - toll.arrived:>6,}")
    print(f"arrived again      {sum(toll.again.values()):>6,}, because the function had died")
    for reason, times in toll.again.most_common():
        print(f"  {reason:<60}{times:>6,}")


@dataclass
class Toll:
    events: int
    functions: int = 0
    deaths: int = 0
    doubled: int = 0
    arrived: int = 0
    """Events that a receiver has answered with 2xx."""
    last_calls: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    """Of every further 2xx of the same delivery: what the attempt before it met."""
    statuses: Counter[str] = field(default_factory=Counter)


class Fate:
    """Which function crashes at which call. The threads of a crashed function end at the next."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.dead = False
        self.toll_of: Counter[str] = Counter()
        # By thread: its attempt, and the call at which its function crashed.
        self.trying: dict[int, Try] = {}
        self.last_call: dict[int, str] = {}
        self.ended: dict[Try, str] = {}

    def __call__(self, operation: str) -> bool | None:
        if not self.dead and self.chance.random() >= DEATHS:
            return None
        after = self.chance.random() < 0.5
        last_call = f"{'after' if after else 'before'} {operation}"
        if not self.dead:
            self.toll_of[last_call] += 1
        self.dead = True
        thread = threading.get_ident()
        self.last_call[thread] = last_call
        if thread in self.trying:
            self.ended.setdefault(self.trying[thread], last_call)
        return after

    def begins(self) -> None:
        """This thread starts with a message."""
        self.trying.pop(threading.get_ident(), None)
        self.last_call.pop(threading.get_ident(), None)

    def tries(self, attempt: Try) -> None:
        """This thread's post arrives; it may crash afterwards."""
        thread = threading.get_ident()
        self.trying[thread] = attempt
        if thread in self.last_call:
            self.ended[attempt] = self.last_call[thread]


class _Together:
    """The threads of a function, which all crash together."""

    def __init__(self, fate: Fate) -> None:
        self._pool = ThreadPoolExecutor(10)
        self._fate = fate

    def map(self, work: Callable[[Any], Any], each: Iterable[Any]) -> list[Any]:
        futures = [self._pool.submit(self._one, work, one) for one in each]
        wait(futures)
        return [future.result() for future in futures]

    def _one(self, work: Callable[[Any], Any], turn: Any) -> Any:
        self._fate.begins()
        return work(turn)


def killed(events: int, seed: int) -> Toll:
    """The results of `events` deliveries."""
    from chalicelib import settings
    from chalicelib.webhooks import deliver, deliveries
    from tests.support.shop import Shop

    toll = Toll(events)
    chance = random.Random(seed)
    fate = Fate(chance)
    accepted: list[Try] = []
    with (
        contextlib.redirect_stdout(io.StringIO()),
        worlds.world() as world,
        mock.patch.object(deliver, "_threads", lambda: together),
    ):
        together = _Together(fate)
        hook = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
        assert Shop().post("/api/admin/webhooks", hook).status == 201
        for number in range(events):
            worlds.announce("order.paid", n=number)

        def answer(posted: worlds.Posted) -> worlds.PostResult:
            item = world.double.at(settings.table(), *deliveries.key(posted.delivery))
            assert item
            attempt = (posted.delivery, int(item["attempts"]["N"]))
            fate.tries(attempt)
            if chance.random() < FAILURES:
                return worlds.failed()
            accepted.append(attempt)
            return worlds.OK

        put = world.put

        def put_perhaps_twice(url: str, body: str, visible: Any) -> None:
            put(url, body, visible)
            if chance.random() < TWICE:
                toll.doubled += 1
                put(url, body, visible + timedelta(seconds=chance.choice([0, 1, 60, 400])))

        world.answer = answer
        world.fate = fate
        with mock.patch.object(world, "put", put_perhaps_twice):
            while world.step():
                toll.functions += 1
                toll.deaths += fate.dead
                fate.dead = False
        stored = world.stored()
    records = {(one["pk"], one["number"]): one.get("error") for one in stored if "endedAt" in one}
    toll.statuses = Counter(one["status"] for one in stored if one["sk"].startswith("dlv_"))
    toll.last_calls = fate.toll_of
    times: dict[str, list[Try]] = {}
    for attempt in accepted:
        times.setdefault(attempt[0], []).append(attempt)
    toll.arrived = len(times)
    for tries in times.values():
        for before in tries[:-1]:
            what = fate.ended.get(before, "nothing that we know of")
            toll.again[f"{what}; recorded as {records.get(before)}"] += 1
    return toll


if __name__ == "__main__":
    main()
