"""The monthly cost of a small, a medium and a large shop, from what each operation was measured to
ask for (`requests`, `orders`, `webhooks` and `releases`). Arithmetic; it runs in no time.

Prices: US East (N. Virginia), on demand, US dollars, as AWS lists them; no free tier but that of
CloudWatch's alarms and metrics, and of SQS's requests. Assumed: 5 ms for a call to DynamoDB; 40 KB
a product and 6 KB an order with their entries, a year of orders.
"""

from dataclasses import dataclass
from typing import Final

GATEWAY: Final = 3.50e-6  # a request of a REST API
LAMBDA_SECOND: Final = 16.6667e-6  # of 1 GB
LAMBDA_REQUEST: Final = 0.20e-6
LOG_GB: Final = 0.50
EGRESS_GB: Final = 0.09
STORED_GB: Final = 0.25 + 0.20  # and its point-in-time recovery
ALARM: Final = 0.10  # a metric of an alarm; 10 are free
METRIC: Final = 0.30  # of our own; 10 are free
QUEUES: Final = 8  # infra/triggers.yaml: Lambda asks each 15 times a minute, if nothing is there
POLLS: Final = 15 * 60 * 24 * 30  # a month
SQS_FREE: Final = 1_000_000  # requests a month
SQS_REQUEST: Final = 0.40e-6
MEMORY_GB: Final = 1.0
VCPU: Final = 1024 / 1769  # AWS: one at 1,769 MB
CALL: Final = 0.005  # seconds
LOG_LINE: Final = 600e-9  # GB a request
ALARM_METRICS: Final = 41  # infra/alarms.yaml
OWN_METRICS: Final = 20  # of telemetry.log_metrics, and of the filters in infra/alarms.yaml


@dataclass(frozen=True)
class Operation:
    """One operation: DynamoDB in dollars per million, CPU in ms, round trips, kilobytes sent."""

    name: str
    table: float
    cpu: float
    trips: int
    answer: float

    @property
    def seconds(self) -> float:
        return self.cpu / 1000 / VCPU + self.trips * CALL

    @property
    def dollars(self) -> dict[str, float]:
        return {
            "API Gateway": GATEWAY,
            "Lambda": self.seconds * MEMORY_GB * LAMBDA_SECOND + LAMBDA_REQUEST,
            "DynamoDB": self.table * 1e-6,
            "logs": LOG_LINE * LOG_GB,
            "traffic": self.answer * 1e-6 * EGRESS_GB,
        }


LIST: Final = Operation("list or search", 6.00, 2.9, 2, 24)
GET: Final = Operation("get", 0.88, 0.8, 1, 1.5)
WRITE: Final = Operation("create a product", 54.38, 1.7, 2, 1.5)
CHANGE: Final = Operation("update a product", 8.38, 1.8, 2, 1.5)
ORDER: Final = Operation("order", 58.75, 2.5, 2, 1.5)  # of one line, and pay it
STEP: Final = Operation("move an order", 29.50, 2.3, 2, 1.5)
DELIVERY: Final = 3.45e-6  # full batches; alone in its batch:
LONE_DELIVERY: Final = 8.64e-6


@dataclass(frozen=True)
class Shop:
    name: str
    products: int
    requests: dict[Operation, int]
    deliveries: int
    delivery: float

    @property
    def dollars(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for operation, times in self.requests.items():
            for what, dollars in operation.dollars.items():
                found[what] = found.get(what, 0) + dollars * times
        gigabytes = self.products * 40e-6 + self.requests[ORDER] * 12 * 6e-6
        found["webhooks"] = self.deliveries * self.delivery
        found["storage"] = gigabytes * STORED_GB
        found["polling"] = max(0, QUEUES * POLLS - SQS_FREE) * SQS_REQUEST
        found["alarms"] = (ALARM_METRICS - 10) * ALARM
        found["metrics"] = (OWN_METRICS - 10) * METRIC if sum(self.requests.values()) else 0
        return found


SHOPS: Final = (
    Shop("idle", 0, dict.fromkeys((LIST, GET, WRITE, CHANGE, ORDER, STEP), 0), 0, 0),
    Shop(
        "small",
        1_000,
        {LIST: 60_000, GET: 40_000, WRITE: 100, CHANGE: 2_000, ORDER: 500, STEP: 1_500},
        4_000,
        LONE_DELIVERY,
    ),
    Shop(
        "100 orders a day",
        3_000,
        {LIST: 450_000, GET: 450_000, WRITE: 300, CHANGE: 15_000, ORDER: 3_000, STEP: 9_000},
        30_000,
        LONE_DELIVERY,
    ),
    Shop(
        "medium",
        20_000,
        {
            LIST: 3_000_000,
            GET: 3_000_000,
            WRITE: 2_000,
            CHANGE: 100_000,
            ORDER: 20_000,
            STEP: 60_000,
        },
        200_000,
        LONE_DELIVERY,
    ),
    Shop(
        "1,000 orders a day",
        30_000,
        {
            LIST: 4_500_000,
            GET: 4_500_000,
            WRITE: 3_000,
            CHANGE: 150_000,
            ORDER: 30_000,
            STEP: 90_000,
        },
        300_000,
        LONE_DELIVERY,
    ),
    Shop(
        "large",
        500_000,
        {
            LIST: 100_000_000,
            GET: 100_000_000,
            WRITE: 50_000,
            CHANGE: 5_000_000,
            ORDER: 1_000_000,
            STEP: 3_000_000,
        },
        10_000_000,
        DELIVERY,
    ),
)


def render_requests() -> str:
    """Return the table of what a million of each request costs, as docs/costs.md has it."""
    names = list(LIST.dollars)
    rows = ["| Dollars a million | " + " | ".join([*names, "total"]) + " |"]
    rows.append("|---" * (len(names) + 2) + "|")
    for operation in (LIST, GET, WRITE, CHANGE, ORDER, STEP):
        costs = [operation.dollars[name] * 1e6 for name in names]
        cells = " | ".join(f"{cost:.2f}" for cost in [*costs, sum(costs)])
        rows.append(f"| {operation.name} | {cells} |")
    return "\n".join(rows)


def render_months() -> str:
    """Return the table of what a month of each shop costs, as docs/costs.md has it."""
    rows = ["| Dollars a month | " + " | ".join(shop.name for shop in SHOPS) + " |"]
    rows.append("|---" * (len(SHOPS) + 1) + "|")
    counts = {"products": [shop.products for shop in SHOPS]}
    named = {"orders": ORDER, "lists and searches": LIST, "gets": GET}
    counts |= {name: [shop.requests[one] for shop in SHOPS] for name, one in named.items()}
    counts["deliveries"] = [shop.deliveries for shop in SHOPS]
    for name, numbers in counts.items():
        rows.append(f"| {name} | " + " | ".join(f"{n:,}" if n else "" for n in numbers) + " |")
    for what in SHOPS[0].dollars:
        cells = " | ".join(f"{shop.dollars[what]:,.2f}" for shop in SHOPS)
        rows.append(f"| {what} | {cells} |")
    total = " | ".join(f"**{sum(shop.dollars.values()):,.2f}**" for shop in SHOPS)
    return "\n".join([*rows, f"| **total** | {total} |"])


def main() -> None:
    print(f"{render_requests()}\n\n{render_months()}")


if __name__ == "__main__":
    main()
