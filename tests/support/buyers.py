"""Sixteen clients buy five products with little stock, over HTTP, and cancel some of the orders.

Afterwards the books must balance: stock = what there was − what was sold, the list holds every
order that was answered and no other, each was announced once, and nothing answered 5xx.
`python -m tests.support.buyers 60` runs for 60 seconds on a deployment of its own.
"""

import json
import random
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3

from infra.emulator import CREDENTIALS
from tests.support.running import Stack, free_port, running, tool

CLIENTS = 16
PATIENCE = 30  # seconds, for an answer; then the request is sent again
PRODUCTS = 5
STOCK = 12

_ME = "/api/admin/me"

Sale = dict[str, int]  # variant id → pieces


@dataclass
class Day:
    """The results of the clients. `sold`: order id → the stock it has taken."""

    statuses: Counter[int] = field(default_factory=Counter)
    sold: dict[str, Sale] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    repeated: int = 0
    unanswered: int = 0
    milliseconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Client:
    """Speaks HTTP with the Owner key of a deployment."""

    def __init__(self, stack: Stack, day: Day) -> None:
        self._stack, self._day = stack, day

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """`Idempotency_Key` in `headers` is sent as `Idempotency-Key`."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["Authorization"] = f"Bearer {self._stack.api_key}"
        sent["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._stack.base_url + path, data, sent, method=method)
        began = time.perf_counter()
        status, answer, tries = 0, None, 0
        while not status:
            tries += 1
            try:
                status, answer = _answered(request)
            except OSError:
                self._day.unanswered += 1
                if tries == 5:
                    raise
        self._day.statuses[status] += 1
        self._day.milliseconds.append(1_000 * (time.perf_counter() - began))
        if status >= 500:
            self._day.wrong.append(f"{method} {path} answered {status}: {answer}")
        return status, answer


def _answered(request: urllib.request.Request) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def shop(stack: Stack, seconds: float, clients: int = CLIENTS, stock: int = STOCK) -> Day:
    """A day of shopping with `stock` pieces of each product; `wrong` has the errors found."""
    day = Day()
    client = Client(stack, day)
    _, me = client.call("GET", _ME)
    tool(stack, "keys", "limits", me["id"], "--read", "1000000", "--write", "1000000")
    variants = [_stocked(client, stock) for _ in range(PRODUCTS)]
    before = _listed(client)
    with ThreadPoolExecutor(clients) as pool:
        # First start a function for each client; these requests do not count.
        for started in [pool.submit(client.call, "GET", _ME) for _ in range(2 * clients)]:
            started.result()
        day.milliseconds.clear()
        end = time.monotonic() + seconds
        for run in [pool.submit(_customer, client, day, variants, end) for _ in range(clients)]:
            run.result()
    _audit(client, day, dict.fromkeys(variants, stock), before, stack)
    return day


def _stocked(client: Client, stock: int) -> str:
    variants = [{"title": "One", "stock": stock}]
    new = {"name": "Little of it", "price": 5, "variants": variants}
    status, made = client.call("POST", "/api/admin/products", new)
    assert status == 201, made
    return str(made["variants"][0]["id"])


def _customer(client: Client, day: Day, variants: list[str], end: float) -> None:
    chance = random.Random()
    mine: list[str] = []
    while time.monotonic() < end:
        if mine and chance.random() < 0.3:
            id = mine.pop()
            status, answer = client.call(
                "PATCH", f"/api/admin/orders/{id}", {"status": "CANCELLED"}
            )
            # A request without an answer may have been carried out, and then cannot be repeated.
            if status == 200 or answer.get("from") == "CANCELLED":
                day.cancelled.add(id)
            else:
                day.wrong.append(f"{id} could not be cancelled: {answer}")
            continue
        wanted = {id: chance.randint(1, 2) for id in chance.sample(variants, chance.randint(1, 2))}
        lines = [{"variantId": id, "quantity": n} for id, n in wanted.items()]
        person = {"email": f"buyer{chance.randint(1, 40)}@example.com"}
        body, key = {"lineItems": lines, "customer": person}, str(uuid.uuid4())
        status, answer = client.call("POST", "/api/admin/orders", body, Idempotency_Key=key)
        if status == 201:
            day.sold[answer["id"]] = wanted
            mine.append(answer["id"])
            if chance.random() < 0.2:
                day.repeated += 1
                again = client.call("POST", "/api/admin/orders", body, Idempotency_Key=key)
                if again != (201, answer):
                    day.wrong.append(f"{answer['id']} repeated was answered {again}")
        elif answer.get("code") != "insufficient_stock":
            day.wrong.append(f"an order was refused: {status} {answer}")


def _audit(
    client: Client, day: Day, stocked: dict[str, int], before: set[str], stack: Stack
) -> None:
    held: Counter[str] = Counter()
    for id, wanted in day.sold.items():
        if id not in day.cancelled:
            held.update(wanted)
    for variant, first in stocked.items():
        _, product = client.call("GET", f"/api/admin/products/prod_{variant[4:30]}")
        stock = product["variants"][0]["stock"]
        if stock < 0 or stock != first - held[variant]:
            day.wrong.append(f"{variant} has {stock} left of {first}; {held[variant]} are sold")
    found = _listed(client) - before
    if found != day.sold.keys():
        day.wrong.append(f"lost or invented orders: {found ^ day.sold.keys()}")
    announced = Counter(_announced(stack))
    for event, ids in (("order.created", day.sold.keys()), ("order.cancelled", day.cancelled)):
        wrong = [id for id in ids if announced[event, id] != 1]
        if wrong:
            day.wrong.append(f"{event} was not announced once of {wrong}")


def _listed(client: Client) -> set[str]:
    ids: set[str] = set()
    page, pages = 1, 1
    while page <= pages:
        _, answer = client.call("GET", f"/api/admin/orders?limit=100&page={page}")
        ids |= {order["id"] for order in answer["data"]}
        page, pages = page + 1, answer["pagination"]["totalPages"]
        assert answer["total"] >= len(ids)
    return ids


def _announced(stack: Stack) -> list[tuple[str, str]]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=stack.aws_endpoint,
        region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    pages = client.get_paginator("scan").paginate(TableName="backroom-local-outbox")
    events = [e["M"] for page in pages for item in page["Items"] for e in item["events"]["L"]]
    return [
        (event["event"]["S"], json.loads(event["body"]["S"])["data"].get("id", ""))
        for event in events
    ]


def main(seconds: float = 60) -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        running(Path(home), free_port(), "--fresh") as stack,
    ):
        day = shop(stack, seconds)
    waited = sorted(day.milliseconds)
    statuses = ", ".join(f"{n} × {status}" for status, n in sorted(day.statuses.items()))
    print(f"{CLIENTS} clients, {seconds:.0f} s, {PRODUCTS} products of {STOCK} pieces: {statuses}")
    if day.unanswered:
        print(f"{day.unanswered} requests got no answer within {PATIENCE} s, and were sent again")
    print(
        f"{len(day.sold)} orders placed, {day.repeated} of them repeated, {len(day.cancelled)}"
        f" cancelled; half of the answers within {waited[len(waited) // 2]:.0f} ms, 99 % within"
        f" {waited[len(waited) * 99 // 100]:.0f} ms (the emulator's time, on a shared machine)"
    )
    for line in day.wrong or ["The books balance: no oversell, no lost order, no 5xx."]:
        print(line)
    if day.wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
