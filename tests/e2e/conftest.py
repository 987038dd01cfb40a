"""Backroom on an emulated AWS, deployed once for all end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests.support.running import Stack, free_port, running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running(tmp_path_factory.mktemp("stack"), free_port(), "--fresh") as stack:
        yield stack
