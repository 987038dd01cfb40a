"""Backroom on an emulated AWS, deployed once for all end-to-end tests."""

import time
from collections.abc import Iterator

import pytest

from tests.support.running import Stack, free_port, running

_DAY = 86_400
_LAST_SECONDS = 60


def pytest_runtest_setup() -> None:
    """No test begins just before midnight, when the day that it tells the shop would end."""
    left = _DAY - time.time() % _DAY
    if left < _LAST_SECONDS:
        time.sleep(left)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running(tmp_path_factory.mktemp("stack"), free_port(), "--fresh") as stack:
        yield stack
