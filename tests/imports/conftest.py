from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import aws, deadline, settings, telemetry
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS, account
from tests.support.import_desk import Desk
from tests.support.shop import Shop


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """An empty shop with its tables, bucket and import queue."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    # Retries do not wait, and there are few.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    with account(), Double() as dynamodb:
        aws.client("s3").create_bucket(Bucket=settings.bucket())
        made = aws.client("sqs").create_queue(QueueName="backroom-test-import-chunks")
        monkeypatch.setenv("IMPORT_QUEUE_URL", made["QueueUrl"])
        desk = Desk(Shop(), dynamodb)
        log = telemetry.error

        def error(message: str, cause: BaseException | None = None, **fields: Any) -> None:
            desk.errors.append(cause)
            log(message, cause, **fields)

        monkeypatch.setattr(telemetry, "error", error)
        yield desk
