"""Imports on the deployed stack: killed workers, and a fair queue."""

import json
import os
import random
import signal
import time
import uuid
from collections import Counter
from typing import Any

import pytest

from tests.e2e.calls import Api
from tests.e2e.recorded import client
from tests.support.forms import posted
from tests.support.running import Stack, processes

pytestmark = pytest.mark.thorough

QUEUE = "backroom-local-import-chunks"
PRODUCTS = 700
KILLS = 8


@pytest.fixture
def shop(stack: Stack) -> Api:
    return Api.of(stack)


def prepared(shop: Api) -> Any:
    return shop.post("products/import/uploads", {"fileName": "supplier.csv"})


@pytest.fixture
def impatient(stack: Stack) -> Any:
    """Makes the queue redeliver messages after seconds, any number of times."""
    sqs = client(stack.aws_endpoint, "sqs")
    url = sqs.get_queue_url(QueueName=QUEUE)["QueueUrl"]
    names = ["VisibilityTimeout", "RedrivePolicy"]
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    policy = {**json.loads(before["RedrivePolicy"]), "maxReceiveCount": 1_000}
    patched = {"VisibilityTimeout": "4", "RedrivePolicy": json.dumps(policy)}
    sqs.set_queue_attributes(QueueUrl=url, Attributes=patched)
    yield
    sqs.set_queue_attributes(QueueUrl=url, Attributes=before)


def workers(stack: Stack) -> list[int]:
    """The processes in which the emulator runs chunks of this stack."""
    function = "AWS_LAMBDA_FUNCTION_NAME=backroom-local-import_chunk\0"
    found = processes(function, f"AWS_ENDPOINT_URL={stack.aws_endpoint}\0")
    return [int(process.name) for process in found]


@pytest.mark.usefixtures("impatient")
def test_killed_workers_lose_no_row_and_count_none_twice(stack: Stack, shop: Api) -> None:
    chance, mark = random.Random(7), f"k{uuid.uuid4().hex[:8]}"
    rows = [f"{mark}-{number},Thing {number},{number % 90 + 1}" for number in range(PRODUCTS)]
    rows += [f"{mark}-{number},Thing {number},99" for number in range(0, PRODUCTS, 10)]
    rows += [f"{mark}-bad-{number},Bad,free" for number in range(5)]
    upload = prepared(shop)
    posted(upload, "slug,name,price\n" + "\n".join(rows) + "\n")
    path = f"jobs/{upload['jobId']}"
    killed = 0
    while killed < KILLS and shop.get(path)["status"] in ("QUEUED", "RUNNING"):
        time.sleep(chance.uniform(0.3, 1.5))
        running = workers(stack)
        if running:
            os.kill(chance.choice(running), signal.SIGKILL)
            killed += 1
    assert killed >= 3, "the import was over before anything could happen to it"

    job = shop.ended(upload["jobId"])
    assert (job["status"], job["failed"], job["total"]) == ("COMPLETED", 5, PRODUCTS + 5), job
    # A product with a second row is written once.
    assert (job["created"], job["updated"], job["unchanged"]) == (PRODUCTS, 0, 0)
    assert announced(stack, mark) == {"product.created": PRODUCTS}
    last = shop.get("products?search=Thing%20690")
    assert [p["price"] for p in last["data"] if p["slug"].startswith(mark)] == ["99.00"]


def announced(stack: Stack, mark: str) -> Counter[str]:
    """The number of events of each kind about products with this mark."""
    found: Counter[str] = Counter()
    pages = (
        client(stack.aws_endpoint, "dynamodb")
        .get_paginator("scan")
        .paginate(TableName="backroom-local-outbox")
    )
    for page in pages:
        for item in page["Items"]:
            for entry in item.get("events", {}).get("L", ()):
                event = entry["M"]
                if f'"slug":"{mark}-' in event["body"]["S"]:
                    found[event["event"]["S"]] += 1
    return found


def test_a_small_import_overtakes_a_large_one(shop: Api) -> None:
    mark = f"f{uuid.uuid4().hex[:8]}"
    large, small = prepared(shop), prepared(shop)
    posted(large, "slug,name,price\n" + "".join(f"{mark}-{n},L,{n % 9}\n" for n in range(8_000)))
    path = f"jobs/{large['jobId']}"
    shop.ended(large["jobId"], "RUNNING")
    posted(small, "slug,name,price\n" + "".join(f"{mark}-s{n},S,1\n" for n in range(20)))
    assert shop.ended(small["jobId"])["created"] == 20
    unfinished = shop.get(path)
    assert unfinished["status"] == "RUNNING"
    assert unfinished["processed"] < 8_000
    shop.post(f"{path}/cancel", {})
