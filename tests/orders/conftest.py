"""The shop on a DynamoDB that is fast, raises conflicts, and fails when told to."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import attributes
from tests.dynamodb_double import Double
from tests.environment import SETTINGS
from tests.shop import Shop


class QuickShop(Shop):
    """A shop on a Double."""

    def __init__(self, dynamodb: Double) -> None:
        super().__init__()
        self._dynamodb = dynamodb

    def _scanned(self, name: str) -> list[dict[str, Any]]:
        return [attributes.unpack(item) for item in self._dynamodb.items(name)]


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with Double() as double:
        yield double


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return QuickShop(dynamodb)
