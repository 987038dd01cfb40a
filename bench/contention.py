"""Concurrent writes to the same items: orders, a flash sale, an import.

The real code in simulated time: the double of the tests locks the items of a transaction for
LOCK_MS and refuses other writes to them meanwhile. Each call takes CALL_MS; Python's own time does
not count. `python -m bench.contention 10` sets another lock time.
"""

import contextlib
import heapq
import io
import json
import math
import os
import random
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median, quantiles
from typing import Any, Final
from unittest import mock

LOCK_MS: Final = 15
CALL_MS: Final = 5
SECONDS: Final = 8
PIECES: Final = 200  # of the flash sale
SENDERS: Final = 80  # concurrent transactions of an import: twenty functions with four each
FUNCTIONS: Final = 20
IMPORTED: Final = 36_000  # products
PARTITIONS: Final = 4
PARTITION_UNITS: Final = 1_000  # a second
BURST_SECONDS: Final = 300  # whose units a partition has saved
PREPARES_MS: Final = 40  # CPU that a sender takes to make the next transaction of four products


class Time:
    """Threads that run one at a time. When one sleeps, the next in time continues."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._idle = threading.Semaphore(0)

    def at(self, moment: float, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            finally:
                self._idle.release()

        heapq.heappush(
            self._heap, (moment, next(self._numbers), threading.Thread(target=run).start)
        )

    def sleep(self, seconds: float) -> None:
        turn = threading.Event()
        heapq.heappush(self._heap, (self.now + seconds, next(self._numbers), turn.set))
        self._idle.release()
        turn.wait()

    def monotonic(self) -> float:
        return self.now

    def run(self) -> None:
        while self._heap:
            self.now, _, step = heapq.heappop(self._heap)
            step()
            self._idle.acquire()


@dataclass
class Answers:
    """Seconds by kind of answer."""

    took: list[tuple[str, float]] = field(default_factory=list)

    def of(self, time: Time, work: Callable[[], object]) -> Callable[[], None]:
        from chalicelib.problems import Problem

        def answered() -> None:
            began, kind = time.now, "201"
            try:
                work()
            except Problem as problem:
                kind = str(problem.status)
            self.took.append((kind, time.now - began))

        return answered

    @property
    def kinds(self) -> dict[str, int]:
        return dict(sorted(Counter(kind for kind, _ in self.took).items()))

    @property
    def seconds(self) -> list[float]:
        return [took for _, took in self.took]

    @property
    def p99(self) -> float:
        return quantiles(self.seconds, n=100)[98]

    def __str__(self) -> str:
        kinds = ", ".join(f"{n} × {kind}" for kind, n in self.kinds.items())
        return f"{median(self.seconds):>8.3f}{self.p99:>8.3f}{max(self.seconds):>8.3f}   {kinds}"


@contextlib.contextmanager
def world(lock_ms: float) -> Iterator[tuple[Time, Any]]:
    from chalicelib import settings
    from chalicelib.storage import table
    from chalicelib.values import clock
    from tests.support.dynamodb_double import Double
    from tests.support.environment import SETTINGS

    time, together = Time(), threading.local()
    real = {**SETTINGS}
    del real["CONFLICT_SECONDS"]

    def wait_for_results(calls: Sequence[Any]) -> list[Any]:
        """Concurrent calls take as long as one."""
        try:
            for call in calls:
                call.send()
                together.beside = True
        finally:
            together.beside = False
        return [call.wait_for_result() for call in calls]

    def arrives(operation: str, request: Any) -> None:
        if not getattr(together, "beside", False):
            time.sleep(CALL_MS / 1000)

    with (
        mock.patch.dict(os.environ, real),
        Double() as dynamodb,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        assert settings.conflict_seconds() < 1
        _fill(time, dynamodb)
        with (
            mock.patch("time.sleep", time.sleep),
            mock.patch("time.monotonic", time.monotonic),
            mock.patch.object(clock, "unix_ms", lambda: 1_800_000_000_000 + int(time.now * 1000)),
            mock.patch.object(table, "wait_for_results", wait_for_results),
        ):
            dynamodb.faults = arrives
            dynamodb.pause = lambda: time.sleep(lock_ms / 1000)
            yield time, dynamodb


_VARIANTS: list[str] = []


def _fill(time: Time, dynamodb: Any) -> None:
    """300 products with stock, and one with PIECES for the flash sale, which is the last."""
    from chalicelib.products import bulk
    from chalicelib.products.model import NewProduct

    def made(number: int, stock: int) -> Any:
        return NewProduct.model_validate(
            {"name": f"P{number}", "price": 5, "variants": [{"title": "S", "stock": stock}]}
        )

    rows = [*(made(n, 100_000) for n in range(300)), made(300, PIECES)]
    products: Any = bulk.create_many(rows)
    _VARIANTS[:] = [product.fields["variants"][0]["id"] for product in products]


def order(variant: str, number: int) -> Callable[[], object]:
    from chalicelib.orders import store
    from chalicelib.orders.model import NewOrder

    new = NewOrder.model_validate(
        {
            "source": "IN_PERSON",
            "paymentStatus": "PAID",
            "customer": {"email": f"a{number}@example.com"},
            "lineItems": [{"variantId": variant, "quantity": 1}],
        }
    )
    return lambda: store.place(new, "bench", None)


def arrivals(a_second: float, chance: random.Random) -> Iterator[float]:
    now = 0.0
    while (now := now + chance.expovariate(a_second)) < SECONDS:
        yield now


def orders(a_second: int, lock_ms: float) -> Answers:
    chance, answers = random.Random(1), Answers()
    with world(lock_ms) as (time, _):
        for number, at in enumerate(arrivals(a_second, chance)):
            work = order(_VARIANTS[chance.randrange(300)], number)
            time.at(at, answers.of(time, work))
        time.run()
    return answers


def flash_sale(a_second: int, others: int, lock_ms: float) -> tuple[Answers, Answers, int]:
    """The answers to the buyers and to the others, and the number of pieces sold."""
    from chalicelib.products import store

    chance, buyers, beside = random.Random(2), Answers(), Answers()
    with world(lock_ms) as (time, dynamodb):
        for number, at in enumerate(arrivals(a_second, chance)):
            time.at(at, buyers.of(time, order(_VARIANTS[-1], number)))
        for number, at in enumerate(arrivals(others, chance), 1_000_000):
            work = order(_VARIANTS[chance.randrange(300)], number)
            time.at(at, beside.of(time, work))
        time.run()
        dynamodb.faults = lambda operation, request: None
        left = store.get(f"prod_{_VARIANTS[-1][4:30]}").quantities[_VARIANTS[-1]]
    return buyers, beside, PIECES - left


def imported(senders: int, lock_ms: float) -> tuple[float, float]:
    """Attempts per commit, and transactions per second."""
    from chalicelib.products import store
    from chalicelib.products.model import NewProduct
    from chalicelib.storage.commit import Commit

    sent = Counter[str]()
    numbers = count()
    with world(lock_ms) as (time, dynamodb):
        usual = dynamodb.faults

        def arrives(operation: str, request: Any) -> None:
            sent[operation] += 1
            usual(operation, request)

        def product() -> Commit:
            number = next(numbers)
            new = NewProduct.model_validate({"name": f"I{number}", "price": 5})
            return store.writes(None, store.drafted(new.given(), f"i-{number}"))

        def sender() -> None:
            while time.now < SECONDS:
                time.sleep(random.uniform(0.5, 1.5) * PREPARES_MS / 1000)
                commit = Commit()
                for _ in range(4):
                    commit.join(product())
                commit.send()
                sent["commits"] += 1

        dynamodb.faults = arrives
        for _ in range(senders):
            time.at(random.random() / 10, sender)
        time.run()
    return sent["TransactWriteItems"] / sent["commits"], sent["commits"] / SECONDS


# --- An import that is larger than the table's capacity, and orders meanwhile ---------------------


class Capacity:
    """Write units of a table with four partitions, each of which has saved those of five minutes.
    A transaction costs twice the size of its items, in units of 1 KB."""

    def __init__(self, time: Time) -> None:
        self._time, self._seen = time, 0.0
        self._left = [float(PARTITION_UNITS * BURST_SECONDS)] * PARTITIONS

    def takes(self, request: Any) -> bool:
        """Whether a transaction is taken; otherwise it is throttled."""
        passed, self._seen = self._time.now - self._seen, self._time.now
        most = float(PARTITION_UNITS * BURST_SECONDS)
        self._left = [min(most, left + PARTITION_UNITS * passed) for left in self._left]
        cost = Counter[int]()
        for action in request["TransactItems"]:
            ((_, write),) = action.items()
            stored = write.get("Item") or write["Key"]
            partition = zlib.crc32(stored["pk"]["S"].encode()) % PARTITIONS
            cost[partition] += 2 * math.ceil(len(json.dumps(stored)) / 1024)
        if any(units > self._left[partition] for partition, units in cost.items()):
            return False
        for partition, units in cost.items():
            self._left[partition] -= units
        return True


class Import:
    """An import by twenty functions, each with four senders of its own. A message whose function
    ran out of patience comes again."""

    def __init__(self, time: Time) -> None:
        from chalicelib.storage import commit

        self._time, self._thread = time, threading.local()
        self._tills = commit._Underway()
        self._functions = [commit._Underway() for _ in range(FUNCTIONS)]
        self.sent, self.under_way = Counter[str](), FUNCTIONS * len(self._functions[0])

    @property
    def is_sending(self) -> bool:
        """Whether the call that is made now is the import's."""
        return "senders" in self._thread.__dict__

    def __getattr__(self, name: str) -> Any:
        return getattr(self._senders, name)

    def __len__(self) -> int:
        return len(self._senders)

    @property
    def _senders(self) -> Any:
        """Those of this thread's function."""
        return self._thread.__dict__.get("senders", self._tills)

    def start(self) -> None:
        for senders in self._functions:
            for number in range(len(senders)):
                self._time.at(random.random() / 10, partial(self._sender, number, senders))

    def _sender(self, number: int, senders: Any) -> None:
        from chalicelib.problems import Busy

        self._thread.senders = senders
        while self.sent["products"] < IMPORTED:
            self.sent["products"] += 4
            commit = self._commit(self.sent["products"])
            while True:
                while number >= _in_background(senders.__len__):
                    self._time.sleep(1)  # there are fewer senders for a time
                self._time.sleep(random.uniform(0.5, 1.5) * PREPARES_MS / 1000)
                try:
                    _in_background(commit.send)
                    break
                except Busy:
                    self.sent["messages"] += 1
            self.sent["commits"] += 1
        self.under_way -= 1

    def _commit(self, number: int) -> Any:
        from chalicelib.products import store
        from chalicelib.products.model import NewProduct
        from chalicelib.storage.commit import Commit

        commit = Commit()
        for at in range(4):
            new = NewProduct.model_validate({"name": f"I{number}-{at}", "price": 5})
            commit.join(store.writes(None, store.drafted(new.given(), f"i-{number}-{at}")))
        return commit


def _in_background(call: Callable[[], Any]) -> Any:
    from chalicelib import deadline

    return deadline.in_background(lambda event, context: call())(None, None)


def imports_and_orders(lock_ms: float) -> tuple[int, float, float, Answers]:
    """The products written, attempts per commit, the seconds that the import took, and the answers
    to one order a second meanwhile."""
    from chalicelib.storage import commit
    from tests.support.dynamodb_double import Fault

    answers = Answers()
    with world(lock_ms) as (time, dynamodb):
        usual, capacity, importing = dynamodb.faults, Capacity(time), Import(time)

        def arrives(operation: str, request: Any) -> Any:
            usual(operation, request)
            if operation != "TransactWriteItems":
                return None
            importing.sent["calls"] += importing.is_sending
            return None if capacity.takes(request) else Fault.THROTTLE

        def till() -> None:
            for number in count():
                if not importing.under_way:
                    return
                began = time.now
                answers.of(time, order(_VARIANTS[number % 300], number))()
                time.sleep(max(0.0, 1 - (time.now - began)))

        dynamodb.faults = arrives
        importing.start()
        time.at(0.5, till)
        with mock.patch.object(commit, "underway", importing):
            time.run()
        took = time.now
    sent = importing.sent
    return sent["commits"] * 4, sent["calls"] / sent["commits"], took, answers


def main(lock_ms: float = LOCK_MS) -> None:
    random.seed(1)
    print(f"A transaction holds its items {lock_ms:g} ms, a call takes {CALL_MS} ms; {SECONDS} s\n")
    print(f"{'':32}{'p50 s':>8}{'p99 s':>8}{'max s':>8}   answers")
    for a_second in (50, 100, 200, 500):
        print(f"{f'{a_second} orders a second':32}{orders(a_second, lock_ms)}", flush=True)
    buyers, beside, sold = flash_sale(300, 20, lock_ms)
    print(f"{'flash sale, 300 a second':32}{buyers}; {sold} of {PIECES} sold")
    print(f"{'beside it, 20 orders a second':32}{beside}\n", flush=True)
    for senders in (10, 20, SENDERS):
        attempts, commits = imported(senders, lock_ms)
        print(
            f"import, {senders} at once: {attempts:.2f} attempts a commit, {commits:.0f} a second"
        )
    products, attempts, took, answers = imports_and_orders(lock_ms)
    in_time = sum(kind == "201" and seconds <= 3 for kind, seconds in answers.took)
    print(
        f"\nimports and orders: {products:,} products in {took:.0f} s, {attempts:.1f} attempts a"
        f" commit; {in_time} of {len(answers.took)} orders 201 within 3 s\n{'':32}{answers}"
    )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
