"""The master key, from which all signing secrets are derived."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import aws
from chalicelib.webhooks import master_key


class Ssm:
    def __init__(self) -> None:
        self.key, self.asked = b"1" * 32, 0

    def get_parameter(self, **asked: Any) -> Any:
        self.asked += 1
        assert asked == {"Name": "/backroom/test/master-key", "WithDecryption": True}
        return {"Parameter": {"Value": base64.b64encode(self.key).decode()}}


@pytest.fixture
def ssm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ssm]:
    ssm = Ssm()
    monkeypatch.setenv("MASTER_KEY_PARAMETER", "/backroom/test/master-key")
    monkeypatch.setattr(aws, "client", lambda service: ssm)
    master_key._parameters.cache_clear()
    yield ssm
    master_key._parameters.cache_clear()


def test_the_key_is_read_once_for_many_signatures(ssm: Ssm) -> None:
    secrets = {master_key.current_secret("wh_1", 1) for _ in range(20)}
    assert len(secrets) == 1 and ssm.asked == 1


def test_a_rotated_key_needs_no_deployment(ssm: Ssm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master_key, "_KEPT_SECONDS", -1)
    before = master_key.current_secret("wh_1", 1)
    ssm.key = b"2" * 32
    assert master_key.current_secret("wh_1", 1) != before
