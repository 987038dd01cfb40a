from collections.abc import Iterator

import pytest

from chalicelib import deadline, settings
from chalicelib.aws import client
from tests.support.dynamodb_double import Double
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop


@pytest.fixture
def jobs(aws: Double, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobDesk]:
    """An empty shop with its tables, its bucket, and its queues of jobs and of imports."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    client("s3").create_bucket(Bucket=settings.bucket())
    for name, queue in (("JOBS", "jobs"), ("IMPORT", "import-chunks")):
        made = client("sqs").create_queue(QueueName=f"backroom-test-{queue}")
        monkeypatch.setenv(f"{name}_QUEUE_URL", made["QueueUrl"])
    desk = JobDesk(aws, shop)
    yield desk
    assert desk.failed == []
