import pytest

from tests.files.build import Darkroom
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


@pytest.fixture
def darkroom(aws: Double, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Darkroom:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return Darkroom(shop, aws)
