"""The shop on a DynamoDB that is fast, raises conflicts, and fails when told to."""

from collections.abc import Iterator

import pytest

from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.shop import Shop


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with Double() as double:
        yield double


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()
