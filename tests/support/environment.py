"""The environment of the functions under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any
from unittest import mock

from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

SETTINGS = {
    "STAGE": "test",
    "TABLE": "backroom-test",
    "OUTBOX_TABLE": "backroom-test-outbox",
    "BUCKET": "backroom-test-bucket",
    "PICTURES_BUCKET": "backroom-test-pictures",
    "TIMEZONE": "UTC",
    "CONFLICT_SECONDS": "6",  # the threads of a test share a process
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
}


@contextmanager
def account() -> Iterator[None]:
    """An AWS account in memory that answers one call at a time, because moto is not safe with
    several threads."""
    lock, answer = RLock(), BotocoreStubber.process_request

    def one_by_one(*args: Any) -> Any:
        with lock:
            return answer(*args)

    with mock_aws(), mock.patch.object(BotocoreStubber, "process_request", one_by_one):
        yield
