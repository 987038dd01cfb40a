"""The cost of a delivery: CPU of the sender, deliveries per second, time to arrival, dollars.

The sender runs in this process; DynamoDB is an emulator in another, the receiver in a third.
Dollars are counted on the double, which bills as AWS does, for one life of a delivery from the
stream on.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.request import Request, urlopen

import boto3

from bench import stage
from tests.support.units import READ_PRICE, WRITE_PRICE

DELIVERIES = 600
EVENTS = 60
_QUEUES = "https://sqs.us-east-1.amazonaws.com/000000000000/backroom-bench-"

# US East (N. Virginia), US dollars.
SQS_REQUEST = 0.40e-6
LAMBDA_GB_SECOND = 0.0000166667
LAMBDA_REQUEST = 0.20e-6
TRANSITION = 25e-6
SENDER_GB = 0.5
ANSWER_SECONDS = 0.3  # assumed: what a receiver takes, and DynamoDB around it
FAN_OUT_SECONDS = 0.1  # assumed, for a batch


def main() -> None:
    print("The sender, one process, 10 in flight, receiver and DynamoDB on this machine\n")
    with receiver() as url:
        sender(url)
    arrival()
    dollars()


_RECEIVER = """
import json, threading
from tests.webhooks.receiver import Receiver
with Receiver() as receiver:
    print(json.dumps({"url": receiver.url("")}), flush=True)
    threading.Event().wait()
"""


@contextlib.contextmanager
def receiver() -> Iterator[str]:
    """The URL of a receiver in a separate process."""
    command = [sys.executable, "-c", _RECEIVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


# --- CPU and throughput ---------------------------------------------------------------------------


def sender(url: str) -> None:
    """CPU milliseconds per delivery, and deliveries per second."""

    with stage.tables():
        turns = prepared(url)
        spent, took = [], []
        with contextlib.redirect_stdout(io.StringIO()):
            send(turns[:100])
            for start in range(100, len(turns), 10):
                wall, cpu = time.perf_counter(), time.process_time()
                send(turns[start : start + 10])
                took.append((time.perf_counter() - wall) / 10)
                spent.append((time.process_time() - cpu) * 100)
    print(f"CPU a delivery           {median(spent):6.2f} ms   (target 2; median of batches)")
    print(f"deliveries a second      {1 / median(took):6.0f}      with ten in flight")
    print(f"  as far as its CPU goes {1000 / median(spent):6.0f}\n", flush=True)


def prepared(url: str) -> list[Any]:
    """Queued new deliveries in batches of ten, as SQS delivers them."""
    from chalicelib import settings
    from chalicelib.storage import outbox, table
    from chalicelib.webhooks import deliveries, store
    from chalicelib.webhooks.messages import Message
    from chalicelib.webhooks.model import EventKind
    from chalicelib.webhooks.schemas import NewWebhook

    os.environ.update(
        DELIVERIES_QUEUE_URL=f"{_QUEUES}deliveries",
        RETRIES_QUEUE_URL=f"{_QUEUES}retries",
        MASTER_KEY_PARAMETER="/backroom/bench/master-key",
        WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8",
    )
    boto3.client("ssm").put_parameter(
        Name="/backroom/bench/master-key", Type="SecureString", Value="A" * 44
    )
    kind = EventKind.ORDER_PAID
    endpoint, *_ = store.create(NewWebhook(url=f"{url}/ok", events=[kind]))
    records = []
    for number in range(DELIVERIES + 100):
        item = outbox.build_item(
            [(kind.value, outbox.body(kind.value, {"n": number, "x": "x" * 700}))]
        )
        table.put(item, table=settings.outbox_table())
        (event,) = outbox.events_of(item)
        message = Message(deliveries.create(event, endpoint.id, test=False).id)
        records.append(
            {
                "messageId": str(number),
                "receiptHandle": str(number),
                "body": message.text(),
                "attributes": {"ApproximateReceiveCount": "1"},
                "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:backroom-bench-deliveries",
            }
        )
    return records


def send(records: list[Any]) -> None:
    from chalicelib.webhooks import deliver

    for start in range(0, len(records), 10):
        answer = deliver.batch({"Records": records[start : start + 10]})
        assert answer == {"batchItemFailures": []}


# --- From commit to arrival -----------------------------------------------------------------------


def arrival() -> None:
    """Milliseconds from the commit of an event to its POST, on the complete emulated AWS."""
    from tests.support.running import free_port, running
    from tests.webhooks.receiver import Receiver

    with (
        Receiver() as receiver,
        tempfile.TemporaryDirectory() as home,
        running(Path(home), free_port(), "--fresh") as shop,
    ):
        hook = {"url": receiver.url("/ok?bench"), "events": ["product.created"]}
        _call(f"{shop.base_url}/api/admin/webhooks", shop.api_key, hook)
        began = time.perf_counter()
        _call(f"{shop.base_url}/api/admin/products", shop.api_key, {"name": "First", "price": 1})
        receiver.wait_for(1)
        cold = time.perf_counter() - began
        committed: dict[str, float] = {}
        for number in range(EVENTS):
            new = {"name": f"Mug {number}", "price": 1}
            made = _call(f"{shop.base_url}/api/admin/products", shop.api_key, new)
            committed[made["id"]] = datetime.fromisoformat(made["createdAt"]).timestamp()
            time.sleep(1.1)  # 60 writes a minute are what a key may do
        time.sleep(2)
    took = []
    for one in receiver.requests[1:]:
        id = json.loads(one.body)["data"]["id"]
        took.append((one.at - committed[id]) * 1000)
    print(f"event committed → POST received, {len(took)} of {EVENTS} events, one a second")
    p90 = quantiles(took, n=10)[8]
    print(f"p50 {median(took):.0f} ms (target 1000), p90 {p90:.0f} ms; cold {cold:.1f} s\n")


def _call(url: str, key: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(url, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


# --- Dollars --------------------------------------------------------------------------------------


@dataclass
class Life:
    """The calls of one delivery, from the stream to its end."""

    read: float = 0
    write: float = 0
    attempts: int = 0
    receives: int = 0
    redrives: int = 0
    calls: dict[str, int] = field(default_factory=dict)

    def dollars(self, *, per_batch: int, per_slot: int) -> dict[str, float]:
        """A million of them; so many travel in one SQS batch, and so many wait in one slot."""
        sends = self.receives  # each receive ends in a delete, or in a change of visibility
        seconds = self.attempts * ANSWER_SECONDS / per_batch
        invocations = (self.receives + 1) / per_batch + self.redrives / per_slot
        gb_seconds = SENDER_GB * (seconds + FAN_OUT_SECONDS * invocations)
        costs = {
            "DynamoDB": self.read * READ_PRICE + self.write * WRITE_PRICE,
            "SQS": (3 * sends) / per_batch * SQS_REQUEST,
            "Lambda": gb_seconds * LAMBDA_GB_SECOND + invocations * LAMBDA_REQUEST,
            # Start, wait, redrive, choice, end.
            "Step Functions": self.redrives * 5 / per_slot * TRANSITION,
        }
        return {name: cost * 1e6 for name, cost in costs.items()}


def lived(*, answers: bool) -> Life:
    from tests.support import webhook_world as worlds
    from tests.support.shop import Shop

    with contextlib.redirect_stdout(io.StringIO()), worlds.world() as world:
        made = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
        assert Shop().post("/api/admin/webhooks", made).status == 201
        headers = {f"x-header-{n}": "v" * 30 for n in range(10)}
        ok = worlds.PostResult(status=200, headers=headers, body=b'{"received": true}')
        world.answer = lambda posted: ok if answers else worlds.failed(headers=headers, body=b"no")
        worlds.announce("order.paid", text="x" * 700)
        world.calls.clear()
        with world.double.metered() as calls:
            world.run()
        asked = {name: world.calls.count(name) for name in dict.fromkeys(world.calls)}
        return Life(
            read=sum(call.read_units for call in calls),
            write=sum(call.write_units for call in calls),
            attempts=asked["Post"],
            receives=asked["send_message_batch"] + asked.get("change_message_visibility_batch", 0),
            redrives=asked.get("start_execution", 0),
            calls=asked,
        )


def dollars() -> None:
    delivered, exhausted = lived(answers=True), lived(answers=False)
    print("Dollars a million, with the attempt log; us-east-1, on demand\n")
    print(f"{'':<36}{'DynamoDB':>9}{'SQS':>7}{'Lambda':>8}{'States':>8}{'total':>9}  target")
    rows: list[tuple[str, Life, int, int, str]] = [
        ("delivered, full batches", delivered, 10, 1, "6"),
        ("delivered, each alone in its batch", delivered, 1, 1, ""),
        ("exhausted, 1,000 in a slot", exhausted, 10, 1_000, ""),
        ("exhausted, each alone", exhausted, 1, 1, ""),
    ]
    for name, life, per_batch, per_slot, target in rows:
        costs = life.dollars(per_batch=per_batch, per_slot=per_slot)
        figures = "".join(
            f"{cost:>{width}.2f}" for cost, width in zip(costs.values(), (9, 7, 8, 8), strict=True)
        )
        print(f"{name:<36}{figures}{sum(costs.values()):>9.2f}  {target}")
    for name, life in (("delivered", delivered), ("exhausted", exhausted)):
        print(
            f"\n{name}: {life.write:.0f} write and {life.read:.1f} read units, {life.attempts}"
            f" attempts, {life.receives} receives, {life.redrives} executions"
        )
    print(
        "\nformula: write units × $0.625/M + read units × $0.125/M"
        "\n  + (send + receive + delete) × receives ÷ batch × $0.40/M"
        f"\n  + {SENDER_GB} GB × ({ANSWER_SECONDS} s × attempts ÷ batch + {FAN_OUT_SECONDS} s ×"
        " invocations) × $16.67/M + $0.20/M × invocations"
        "\n  + 5 transitions × executions ÷ deliveries in the slot × $25/M"
        "\nThe reads of a batch are shared by its deliveries; the table counts them once for each."
    )


if __name__ == "__main__":
    main()
