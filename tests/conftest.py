"""Fixtures: `shop`, the application on tables of its own, and `faults`, what can go wrong below."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib import clock, settings, table
from chalicelib.request import authenticate
from tests.environment import SETTINGS, account
from tests.faults import Faults
from tests.shop import Shop

# `make test` gives whole files to processes: what takes longest has to begin first.
_LONGEST = ("e2e/test_roles.py", "deploy", "e2e/test_webhooks.py", "e2e/test_description.py", "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    path = item.path.relative_to(Path(__file__).parent).as_posix()
    turns = (turn for turn, begin in enumerate(_LONGEST) if path.startswith(begin))
    return next(turns, len(_LONGEST))


@dataclass
class Clock:
    """Unix seconds."""

    seconds: int


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An AWS account in memory, with both tables as `infra/resources.yaml` makes them."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    authenticate.forget()
    with account():
        for name in (settings.table(), settings.outbox_table()):
            table.client().create_table(
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "S"},
                ],
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
            )
        yield


@pytest.fixture
def shop(aws: None) -> Shop:
    return Shop()


@pytest.fixture
def time_stands(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which minutes are counted: it stands, 20 s into a minute, until it is moved."""
    clock_of_test = Clock(1_800_000_020)
    monkeypatch.setattr(clock, "unix", lambda: clock_of_test.seconds)
    return clock_of_test


@pytest.fixture
def faults(aws: None) -> Iterator[Faults]:
    faults = Faults()
    events = table.client().meta.events
    events.register_first("before-send.dynamodb", faults.before_send)
    yield faults
    events.unregister("before-send.dynamodb", faults.before_send)
