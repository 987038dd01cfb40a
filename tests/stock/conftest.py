"""The shop on the double, which is fast, raises conflicts, and fails on request."""

import pytest

from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()
