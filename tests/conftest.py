"""Fixtures: `shop`, the application with its own tables; `aws`, its account; `jobs`, its jobs."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import hypothesis
import pytest

from chalicelib import deadline, settings
from chalicelib.aws import client
from chalicelib.values import clock
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS, account
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop
from tests.support.webhook_world import World
from tests.support.webhook_world import world as a_world
from tests.webhooks.receiver import Receiver

pytest_plugins = ["tests.support.schedule"]

# No test asserts a time: other programs may have the machine at that moment. Examples are the same
# in every run; `make fuzz` tries others.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.register_profile("random", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@dataclass
class Clock:
    """Unix seconds."""

    seconds: int


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def dynamodb(configured: None) -> Iterator[Double]:
    """Empty tables in this process, and no other AWS service."""
    with Double() as double:
        yield double


@pytest.fixture
def aws(dynamodb: Double, monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    """An AWS account in memory: the double as DynamoDB, moto for the rest."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with account():
        yield dynamodb


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()


@pytest.fixture
def jobs(aws: Double, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobDesk]:
    """An empty shop with its tables, its bucket, and its queues of jobs and of imports."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    client("s3").create_bucket(Bucket=settings.bucket())
    for name, queue in (("JOBS", "jobs"), ("IMPORT", "import-chunks")):
        made = client("sqs").create_queue(QueueName=f"backroom-test-{queue}")
        monkeypatch.setenv(f"{name}_QUEUE_URL", made["QueueUrl"])
    desk = JobDesk(aws, shop)
    yield desk
    assert desk.failed == []


@pytest.fixture
def world() -> Iterator[World]:
    """A shop with webhooks, on a clock of its own."""
    with a_world() as made:
        yield made


@pytest.fixture
def time_stands(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the rate limits. It stands still, 20 s into a minute, until a test moves it."""
    clock_of_test = Clock(1_800_000_020)
    monkeypatch.setattr(clock, "unix", lambda: clock_of_test.seconds)
    return clock_of_test


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening
