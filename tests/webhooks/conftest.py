from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.webhooks.certificates import Certificates, issue
from tests.webhooks.receiver import Receiver


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    directory: Path = tmp_path_factory.mktemp("certificates")
    return issue(directory, "hooks.example.com", "127.0.0.1")


@pytest.fixture
def secure(certificates: Certificates) -> Iterator[Receiver]:
    with Receiver(tls=certificates.server, name="hooks.example.com") as listening:
        yield listening
