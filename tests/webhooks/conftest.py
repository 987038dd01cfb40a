from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shop import Shop
from tests.support.webhook_world import World
from tests.support.webhook_world import world as made
from tests.webhooks.certificates import Certificates, issue
from tests.webhooks.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    directory: Path = tmp_path_factory.mktemp("certificates")
    return issue(directory, "hooks.example.com", "127.0.0.1")


@pytest.fixture
def secure(certificates: Certificates) -> Iterator[Receiver]:
    with Receiver(tls=certificates.server, name="hooks.example.com") as listening:
        yield listening


@pytest.fixture
def world() -> Iterator[World]:
    with made() as world:
        yield world


@pytest.fixture
def merchant(world: World) -> Shop:
    """Calls the API of that world."""
    return Shop()
