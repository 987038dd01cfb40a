"""The shop on a DynamoDB that is fast, raises conflicts, and fails when asked to."""

import pytest

from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()
