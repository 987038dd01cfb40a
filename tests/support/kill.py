"""Functions that crash at random: which deliveries still arrive, and which arrive twice.

The real fan-out, sender and redrive run in the world of the webhook tests. A function can crash at
each call to DynamoDB, SQS, Step Functions or a receiver, before or after its effect. The threads of
a batch crash together. The queue delivers some messages twice, and receivers fail now and then.
"""

import contextlib
import io
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock

from chalicelib import settings
from chalicelib.webhooks import deliveries
from tests.support import webhook_world as worlds

DEATHS = 0.02  # of all calls
FAILURES = 0.05  # of all posts
TWICE = 0.03  # of all messages


@dataclass
class Toll:
    events: int
    functions: int = 0
    deaths: int = 0
    doubled: int = 0
    arrived: int = 0
    """Events that a receiver has answered with 2xx."""
    again: Counter[str | None] = field(default_factory=Counter)
    """Of every further 2xx of the same delivery: the recorded error of the attempt before it."""
    statuses: Counter[str] = field(default_factory=Counter)


class Fate:
    """Whether a call is the last of its function. The threads of a crashed one end at the next."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.dead = False

    def __call__(self, operation: str) -> bool | None:
        self.dead = self.dead or self.chance.random() < DEATHS
        return self.chance.random() < 0.5 if self.dead else None


def killed(events: int, seed: int) -> Toll:
    """The results of `events` deliveries."""
    toll, chance = Toll(events), random.Random(seed)
    fate = Fate(chance)
    accepted: defaultdict[str, list[int]] = defaultdict(list)  # delivery → numbers of attempts
    with (
        contextlib.redirect_stdout(io.StringIO()),
        worlds.world(concurrent=True) as world,
    ):
        hook = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
        world.shop.made("/api/admin/webhooks", hook)
        for number in range(events):
            worlds.announce("order.paid", n=number)

        def answer(posted: worlds.Posted) -> worlds.PostResult:
            if chance.random() < FAILURES:
                return worlds.failed()
            item = world.double.at(settings.table(), *deliveries.key(posted.delivery))
            assert item
            accepted[posted.delivery].append(int(item["attempts"]["N"]))
            return worlds.OK

        put = world.put

        def put_perhaps_twice(url: str, body: str, visible: Any) -> None:
            put(url, body, visible)
            if chance.random() < TWICE:
                toll.doubled += 1
                put(url, body, visible + timedelta(seconds=chance.choice([0, 1, 60, 400])))

        world.answer, world.fate = answer, fate
        with mock.patch.object(world, "put", put_perhaps_twice):
            while world.step():
                toll.functions += 1
                toll.deaths += fate.dead
                fate.dead = False
        stored = world.stored()
    records = {(one["pk"], one["number"]): one.get("error") for one in stored if "endedAt" in one}
    toll.statuses = Counter(one["status"] for one in stored if one["sk"].startswith("dlv_"))
    toll.arrived = len(accepted)
    for delivery, numbers in accepted.items():
        toll.again.update(records.get((delivery, number)) for number in numbers[:-1])
    return toll
