from typing import Any

import pytest

from chalicelib import deadline, settings, telemetry
from chalicelib.aws import client
from tests.support.dynamodb_double import Double
from tests.support.import_desk import Desk
from tests.support.shop import Shop


@pytest.fixture
def desk(aws: Double, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty shop with its tables, bucket and import queue."""
    # Retries do not wait, and there are few.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    client("s3").create_bucket(Bucket=settings.bucket())
    made = client("sqs").create_queue(QueueName="backroom-test-import-chunks")
    monkeypatch.setenv("IMPORT_QUEUE_URL", made["QueueUrl"])
    desk, log = Desk(shop, aws), telemetry.error

    def error(message: str, cause: BaseException | None = None, **fields: Any) -> None:
        desk.errors.append(cause)
        log(message, cause, **fields)

    monkeypatch.setattr(telemetry, "error", error)
    return desk
