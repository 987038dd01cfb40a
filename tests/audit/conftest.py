"""The shop on the double, which is fast, raises conflicts, and fails on request."""

from collections.abc import Iterator

import pytest

from tests.jobs.conftest import jobs
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop
from tests.support.webhook_world import World
from tests.support.webhook_world import world as a_world

__all__ = ["jobs"]


@pytest.fixture
def world() -> Iterator[World]:
    """A shop with webhooks."""
    with a_world() as made:
        yield made


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()
