"""The environment of a benchmark: empty tables in a separate process, whose CPU does not count."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3

from bench import dynamodb
from chalicelib import aws
from infra.emulator import CREDENTIALS, Emulator

_PYTHON = Path(__file__).resolve().parent.parent / ".venv-emulator/bin/python"
TABLE = "backroom-bench"


@contextmanager
def tables() -> Iterator[str]:
    """The endpoint of an emulator with both tables; the settings of this process point to them."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        emulator = Emulator(_PYTHON, port, Path(home), keeps=False)
        emulator.start()
        try:
            _point_to(emulator.endpoint)
            for name in (TABLE, f"{TABLE}-outbox"):
                _create(name)
            yield emulator.endpoint
        finally:
            aws.forget()
            emulator.stop()


@contextmanager
def fast_tables() -> Iterator[str]:
    """The endpoint of a fast DynamoDB, without other services: see `dynamodb.py`."""
    with dynamodb.running() as endpoint:
        _point_to(endpoint)
        try:
            yield endpoint
        finally:
            aws.forget()


def _point_to(endpoint: str) -> None:
    os.environ.update(
        CREDENTIALS,
        AWS_ENDPOINT_URL=endpoint,
        STAGE="bench",
        TABLE=TABLE,
        OUTBOX_TABLE=f"{TABLE}-outbox",
    )
    aws.forget()  # a benchmark before this one may have had another endpoint


def _create(name: str) -> None:
    boto3.client("dynamodb").create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
