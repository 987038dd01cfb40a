"""How a receiver that hangs delays deliveries to others.

Measured: ten endpoints at equal load, one of which fails; the real fan-out and sender, in real
time, over real sockets, with as many functions per lane as `infra/triggers.yaml` allows.
Simulated: 100,000 endpoints, 1 % of which fail together; the same lanes and `retry.py`.
"""

import base64
import contextlib
import heapq
import io
import json
import os
import random
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median, quantiles
from typing import Any
from unittest import mock

from chalicelib.webhooks import retry
from tests.webhooks.receiver import Receiver

LANES = (50, 20)  # triggers.yaml: concurrent functions for `deliveries` and for `retries`
BATCH = 10
HANG = 10.0  # seconds (docs/webhooks.md#answers-and-retries)


def main() -> None:
    for hangs in (True, False):
        with Receiver() as receiver:
            measured(receiver, hangs)
    simulated()


def p99(values: list[float]) -> float:
    return quantiles(values, n=100)[98] if len(values) > 1 else float("inf")


# --- Measured -------------------------------------------------------------------------------------

ENDPOINTS = 10
A_SECOND = 4  # events, each for all ten
WARM, WITHOUT, AFTER = 3, 25, 30  # seconds
ANSWER = 0.1  # what a healthy receiver takes


@dataclass
class Queues:
    """SQS in memory, in real time."""

    waiting: dict[str, list[tuple[float, int, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: int = 0

    def put(self, url: str, body: str, at: float) -> None:
        from tests.support.webhook_events import Waiting

        with self.lock:
            self.numbers += 1
            one = Waiting(str(self.numbers), body, datetime.now(UTC), 1)
            heapq.heappush(self.waiting[url], (at, self.numbers, one))

    def receive(self, url: str) -> list[Any]:
        found = []
        with self.lock:
            heap = self.waiting[url]
            while heap and heap[0][0] <= time.time() and len(found) < BATCH:
                found.append(heapq.heappop(heap)[2])
        return found

    def send_message_batch(self, QueueUrl: str, Entries: list[Any]) -> Any:
        for entry in Entries:
            self.put(QueueUrl, entry["MessageBody"], time.time() + entry["DelaySeconds"])
        return {}

    def change_message_visibility_batch(self, **_: Any) -> Any:
        return {}

    def start_execution(self, **_: Any) -> Any:
        return {}

    def get_parameter(self, **_: Any) -> Any:
        return {"Parameter": {"Value": base64.b64encode(bytes(32)).decode()}}


@contextlib.contextmanager
def running(queues: Queues) -> Iterator[None]:
    """The event source mappings: the number of functions per lane, each with its own threads."""
    from chalicelib import aws, threads
    from chalicelib.webhooks import deliver, waking
    from tests.support import webhook_events as events
    from tests.support import webhook_world as world
    from tests.support.dynamodb_double import Double

    mine = threading.local()
    own = aws.client
    over = threading.Event()

    def together(pieces: Sequence[Callable[[], object]]) -> list[Any]:
        if not hasattr(mine, "pool"):
            mine.pool = ThreadPoolExecutor(BATCH)
        works = [partial(copy_context().run, piece) for piece in pieces]
        return list(mine.pool.map(lambda work: work(), works))

    def poll(url: str) -> None:
        while not over.is_set():
            if turns := queues.receive(url):
                again = deliver.batch(events.batch_of(url, turns))["batchItemFailures"]
                for turn in turns:
                    if {"itemIdentifier": turn.id} in again:
                        queues.put(url, turn.body, time.time() + 12)
            else:
                over.wait(0.02)

    waking.forget()
    with (
        mock.patch.dict(os.environ, world.WEBHOOK_SETTINGS),
        Double(),
        mock.patch.object(
            aws, "client", lambda service: own(service) if service == "dynamodb" else queues
        ),
        mock.patch.object(threads, "together", together),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        pollers = [
            threading.Thread(target=poll, args=(url,))
            for url, many in zip((world.DELIVERIES, world.RETRIES), LANES, strict=True)
            for _ in range(many)
        ]
        for poller in pollers:
            poller.start()
        try:
            yield
        finally:
            over.set()
            for poller in pollers:
                poller.join()


def measured(receiver: Receiver, hangs: bool) -> None:
    """Whether one endpoint begins to hang; if not, it is the p99 of this machine alone."""
    from chalicelib import settings
    from chalicelib.storage import table
    from chalicelib.webhooks import fan_out, store
    from chalicelib.webhooks.model import EventKind, NewWebhook
    from tests.support import webhook_events as events
    from tests.support import webhook_world as world

    kind = EventKind.PRODUCT_CREATED
    committed: dict[str, float] = {}
    queues = Queues()
    detected = 0.0
    with running(queues):
        made = [
            store.create(NewWebhook(url=receiver.url(f"/as/{n}?delay={ANSWER}"), events=[kind]))[0]
            for n in range(ENDPOINTS)
        ]
        began = time.time()
        hung = began + WARM + WITHOUT
        warned = False
        end = hung + HANG + 5 + AFTER
        number = 0
        while time.time() < end:
            if not warned and time.time() >= hung:
                receiver.answers[str(ENDPOINTS - 1)] = 0 if hangs else 200
                warned, hung = True, time.time()
                if not hangs:
                    detected = hung + HANG
                    end = detected + AFTER
            item = world.outbox.item([(kind.value, world.outbox.body(kind.value, {"n": number}))])
            committed[str(number)] = time.time()
            table.put(item, table=settings.outbox_table())
            fan_out.records(events.stream([json.loads(json.dumps(_wire(item)))]))
            number += 1
            if (
                warned
                and not detected
                and _is_found_out(store.load({one.id for one in made}), made[-1].id)
            ):
                detected = time.time()
                end = detected + AFTER
            time.sleep(max(0.0, began + number / A_SECOND - time.time()))
        time.sleep(2)
    took: dict[str, list[float]] = {"without": [], "meanwhile": [], "after": []}
    for one in receiver.requests:
        if one.path.endswith(f"/{ENDPOINTS - 1}"):
            continue
        at = committed[str(json.loads(one.body)["data"]["n"])]
        if at >= began + WARM:
            phase = "without" if at < hung else "after" if at >= detected else "meanwhile"
            took[phase].append((one.at + ANSWER - at) * 1000)
    _print(took, hangs, detected - hung)


def _print(took: dict[str, list[float]], hangs: bool, found_out: float) -> None:
    print(
        f"{ENDPOINTS} endpoints, {A_SECOND * ENDPOINTS} deliveries a second, {LANES[0]} + "
        f"{LANES[1]} functions; a healthy receiver takes {ANSWER * 1000:.0f} ms\n"
        f"committed → answered, milliseconds, the nine that stay healthy\n"
    )
    for phase, values in took.items():
        middle = median(values or [0])
        print(f"  {phase:<10} n {len(values):>5}  p50 {middle:>6.0f}  p99 {p99(values):>6.0f}")
    if hangs:
        print(f"\nfound out {found_out:.1f} s after it began to hang")
    ratio = p99(took["after"]) / p99(took["without"])
    print(f"p99 after detection: {ratio:.2f} of what it is without (target at most 1.5)\n")


def _is_found_out(endpoints: dict[str, Any], bad: str) -> bool:
    """Whether it uses the other lane, and no other endpoint does."""
    others = [one for id, one in endpoints.items() if id != bad]
    return bool(endpoints[bad].failing_since) and not any(one.failing for one in others)


def _wire(item: dict[str, Any]) -> dict[str, Any]:
    from chalicelib.storage import attributes

    return attributes.pack(item)


# --- Simulated ------------------------------------------------------------------------------------

MANY, DEAD = 100_000, 0.01
OVERHEAD = 0.05  # of a batch: what its calls to DynamoDB and SQS take
DIES, ENDS = 60, 1_260  # seconds
_START = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass
class Lane:
    functions: int
    queue: deque[tuple[int, int, float]] = field(default_factory=deque)
    """(endpoint, step, committed)"""
    busy: int = 0
    used: float = 0.0


class Simulation:
    """Two lanes in order of arrival. `a_second`: events, each for one random endpoint."""

    def __init__(self, a_second: int, lanes: tuple[int, int], *, dead: float) -> None:
        self.chance = random.Random(1)
        self.a_second = a_second
        self.lanes = [Lane(functions) for functions in lanes]
        self.dead = int(MANY * dead)
        self.streak: dict[int, int] = defaultdict(int)
        self.detected: dict[int, float] = {}
        self.took: list[tuple[float, float]] = []
        self.coming: list[tuple[float, int, int, Any]] = []
        self.numbers = 0

    def run(self) -> "Simulation":
        self._at(0, 0, None)
        while self.coming:
            now, _, what, it = heapq.heappop(self.coming)
            if now > ENDS:
                break
            if what == 0:
                endpoint = self.chance.randrange(MANY)
                lane = 1 if self.streak[endpoint] >= retry.FAILING_STREAK else 0
                self.lanes[lane].queue.append((endpoint, 0, now))
                self._at(now + self.chance.expovariate(self.a_second), 0, None)
            elif what == 1:
                self.lanes[1].queue.append(it)
            else:
                self._ended(now, *it)
            for lane in (0, 1):
                self._take(now, lane)
        return self

    def _at(self, when: float, what: int, it: Any) -> None:
        self.numbers += 1
        heapq.heappush(self.coming, (when, self.numbers, what, it))

    def _take(self, now: float, number: int) -> None:
        lane = self.lanes[number]
        while lane.queue and lane.busy < lane.functions:
            batch = [lane.queue.popleft() for _ in range(min(BATCH, len(lane.queue)))]
            here = []
            for turn in batch:
                if number == 0 and self.streak[turn[0]] >= retry.FAILING_STREAK:
                    self.lanes[1].queue.append(turn)
                else:
                    here.append((turn, self._answer(turn[0], now)))
            takes = OVERHEAD + max((seconds for _, seconds in here), default=0)
            lane.busy += 1
            lane.used += takes
            self._at(now + takes, 2, (number, here))
            for (endpoint, step, committed), seconds in here:
                if endpoint >= self.dead and step == 0:
                    self.took.append((committed, now - committed + OVERHEAD + seconds))

    def _answer(self, endpoint: int, now: float) -> float:
        if endpoint < self.dead and now >= DIES:
            return HANG
        return 0.05 + self.chance.expovariate(4)

    def _ended(self, now: float, number: int, batch: list[Any]) -> None:
        self.lanes[number].busy -= 1
        for (endpoint, step, committed), seconds in batch:
            if seconds < HANG:
                self.streak[endpoint] = 0
                continue
            self.streak[endpoint] += 1
            if self.streak[endpoint] >= retry.FAILING_STREAK:
                self.detected.setdefault(endpoint, now)
            moment = _START + timedelta(seconds=now)
            following = retry.next_step(step, moment, self.chance.random())
            if following:
                due = (following.at - _START).total_seconds()
                self._at(due, 1, (endpoint, following.step, committed))

    def p99(self, since: float, until: float) -> float:
        return p99([seconds for committed, seconds in self.took if since <= committed < until])


def simulated() -> None:
    print(
        f"Simulation: {MANY:,} endpoints, {DEAD:.0%} hang from second {DIES} on; the others"
        " answer in 0.3 s\np99 of healthy first attempts, committed → answered, seconds\n"
    )
    print(
        f"{'events/s':>8}{'functions':>11}{'none hang':>11}{'1st min.':>10}{'2–10 min':>10}"
        f"{'10–20 min':>11}{'ratio':>7}{'failing':>9}{'after, p50':>12}{'retries lane':>14}"
    )
    for a_second, lanes in ((100, LANES), (300, LANES), (300, (100, 50)), (600, (200, 100))):
        calm = Simulation(a_second, lanes, dead=0).run()
        some = Simulation(a_second, lanes, dead=DEAD).run()
        without, late = calm.p99(DIES, ENDS), some.p99(DIES + 600, ENDS)
        found = [at - DIES for at in some.detected.values()]
        print(
            f"{a_second:>8,}{f'{lanes[0]} + {lanes[1]}':>11}{without:>11.2f}"
            f"{some.p99(DIES, DIES + 60):>10.2f}{some.p99(DIES + 60, DIES + 600):>10.2f}"
            f"{late:>11.2f}{late / without:>7.2f}{len(found) / some.dead:>9.0%}"
            f"{median(found):>10.0f} s{some.lanes[1].used / (ENDS - DIES) / lanes[1]:>14.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
