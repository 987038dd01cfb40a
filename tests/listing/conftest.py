from collections.abc import Iterator

import pytest

from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    """Empty tables, in this process."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with Double() as double:
        yield double
