"""A million deliveries fail together, and their receivers are down for six hours.

By simulation: cohorts of deliveries go through `retry.py` and the lane of retries, which has as
many functions as `infra/triggers.yaml` allows; a redrive has the pace of `redrive.py`. What an
attempt writes is measured on the double, which bills as AWS does.
"""

import contextlib
import heapq
import io
import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bench.isolation import BATCH, LANES
from bench.webhooks import LAMBDA_GB_SECOND, LAMBDA_REQUEST, SENDER_GB, SQS_REQUEST, TRANSITION
from chalicelib.webhooks import retry
from chalicelib.webhooks.parked import redrive
from tests.support.units import WRITE_PRICE

DELIVERIES = 1_000_000
OUTAGE = 6 * 3_600
COHORT = 250
HEALTHY = 0.3  # seconds an answer takes
OVERHEAD = 0.05  # of a batch
TABLE = 4_000  # AWS: write units a second that a new table on demand takes
IN_FLIGHT = 120_000  # AWS, of a queue
OPEN = 1_000_000  # AWS, executions of an account
_START = datetime(2026, 11, 20, tzinfo=UTC)


def main() -> None:
    units = written()
    print(
        f"{DELIVERIES:,} deliveries, receivers away for {OUTAGE // 3600} h, {LANES[1]} functions on"
        " the lane of retries\n"
        f"write units: a failed attempt {units['failed']:.0f}, one that parks"
        f" {units['parked']:.0f}, the one that succeeds {units['succeeded']:.0f}\n"
    )
    print(
        f"{'endpoints':>10}{'away':>9}{'attempts':>11}{'in flight':>11}{'delayed':>11}"
        f"{'executions':>12}{'open':>11}{'write units':>13}{'half by':>9}{'gone by':>9}"
        f"{'dollars':>9}"
    )
    for endpoints in (1, 1_000, 100_000, 1_000_000):
        for name, seconds in (("refuses", 0.05), ("hangs", 10.0)):
            seen = Outage(endpoints, seconds, LANES[1], units).run()
            print(
                f"{endpoints:>10,}{name:>9}{seen.attempts:>11,}{seen.most_in_flight:>11,}"
                f"{seen.most_delayed:>11,}{seen.executions:>12,}{seen.most_open:>11,}"
                f"{seen.units:>13,.0f}{seen.half / 3600:>7.1f} h"
                f"{seen.gone / 3600:>7.1f} h{seen.dollars():>9.2f}",
                flush=True,
            )
    print(
        f"\nlimits: {IN_FLIGHT:,} in flight a queue, {OPEN:,} open executions an account,"
        f" {TABLE:,} write units a second of a new table"
    )


def written() -> dict[str, float]:
    """Write units of one attempt by outcome, measured on single deliveries."""

    def life(failures: int) -> float:
        from tests.support import webhook_world as worlds
        from tests.support.shop import Shop

        with contextlib.redirect_stdout(io.StringIO()), worlds.world() as world:
            made = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
            assert Shop().post("/api/admin/webhooks", made).status == 201
            world.answer = lambda posted: (
                worlds.failed() if len(world.posted) <= failures else worlds.OK
            )
            worlds.announce("order.paid", text="x" * 700)
            with world.double.metered() as calls:
                world.run()
            return sum(call.write_units for call in calls)

    lives = [life(failures) for failures in (0, 1, 2, 5, 6)]
    # The endpoint's own counter is written by the first failures only: left out of a million.
    return {
        "failed": lives[2] - lives[1],
        "parked": lives[4] - lives[3],
        "succeeded": 2.0,
    }


@dataclass
class Outage:
    endpoints: int
    hang: float
    functions: int
    written: dict[str, float]
    attempts: int = 0
    executions: int = 0
    units: float = 0.0
    busy: float = 0.0
    half: float = 0.0
    gone: float = 0.0
    most_in_flight: int = 0
    most_delayed: int = 0
    most_open: int = 0
    slots: set[tuple[int, float]] = field(default_factory=set)
    redriven: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    changes: list[tuple[float, str, int]] = field(default_factory=list)

    def run(self) -> "Outage":
        """Handles cohorts in the order of their due times. Those in the same slot of an endpoint
        share an execution, and leave it at the rate of a redrive."""
        chance = random.Random(1)
        cohorts = DELIVERIES // COHORT
        # When it is due, whose it is, for which step.
        coming = [(0.0, number, 0) for number in range(cohorts)]
        free, left = 0.0, cohorts
        while coming:
            due, cohort, step = heapq.heappop(coming)
            begins = max(due, free)
            away = begins < OUTAGE
            seconds = (self.hang if away else HEALTHY) + OVERHEAD
            moment = _START + timedelta(seconds=begins)
            after = retry.next_step(step, moment, chance.random())
            assert after is not None, "the outage is shorter than a schedule"
            parks = after.queue_delay is None
            outcome = "succeeded" if not away else "parked" if parks else "failed"
            lane = COHORT / BATCH * seconds / self.functions
            takes = max(lane, COHORT * self.written[outcome] / TABLE)
            free = begins + takes
            self.busy += COHORT / BATCH * seconds
            self.attempts += COHORT
            self._during(begins, free, "in flight", min(COHORT, self.functions * BATCH))
            self.units += COHORT * self.written[outcome]
            if not away:
                left -= 1
                self.half = free if left >= cohorts // 2 else self.half
                self.gone = free
                continue
            wakes = (after.at - _START).total_seconds() + takes
            if parks:
                endpoint = cohort % self.endpoints
                slot = (retry.slot(f"wh_{endpoint}", after.at, moment).at - _START).total_seconds()
                wakes = self._parked(endpoint, free, slot, wakes)
            else:
                self._during(free, wakes, "delayed", COHORT)
            heapq.heappush(coming, (wakes, cohort, after.step))
        self.most_in_flight = self._most("in flight")
        self.most_delayed = self._most("delayed")
        self.most_open = self._most("open")
        return self

    def _parked(self, endpoint: int, now: float, slot: float, due: float) -> float:
        """When a cohort in this slot arrives on the queue, on which it is put from the start of the
        slot, with a delay."""
        # A cohort belongs to one endpoint, or stands for many that have few deliveries each.
        alone = min(COHORT, max(1, self.endpoints * COHORT // DELIVERIES))
        if (endpoint, slot) not in self.slots or alone > 1:
            self.slots.add((endpoint, slot))
            self.executions += alone
            self._during(now, slot, "open", alone)
        wakes = max(slot, due, self.redriven[endpoint])
        self._during(max(slot, wakes - retry.SLOT), wakes, "delayed", COHORT)
        self.redriven[endpoint] = wakes + COHORT / alone / redrive.PER_SECOND
        return wakes

    def dollars(self) -> float:
        return (
            self.units * WRITE_PRICE
            + self.attempts * 3 / BATCH * SQS_REQUEST
            + SENDER_GB * self.busy * LAMBDA_GB_SECOND
            + self.attempts / BATCH * LAMBDA_REQUEST
            + self.executions * 5 * TRANSITION
        )

    def _during(self, since: float, until: float, what: str, many: int) -> None:
        self.changes += [(since, what, many), (until, what, -many)]

    def _most(self, wanted: str) -> int:
        now = most = 0
        for _, what, many in sorted(self.changes):
            if what == wanted:
                now += many
                most = max(most, now)
        return most


if __name__ == "__main__":
    main()
