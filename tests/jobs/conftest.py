from collections.abc import Iterator

import pytest

from chalicelib import aws, deadline, settings
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS, account
from tests.support.job_desk import JobDesk


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[JobDesk]:
    """An empty shop with its tables, its bucket, and its queues of jobs and of imports."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    with account(), Double() as dynamodb:
        aws.client("s3").create_bucket(Bucket=settings.bucket())
        for name, queue in (("JOBS", "jobs"), ("IMPORT", "import-chunks")):
            made = aws.client("sqs").create_queue(QueueName=f"backroom-test-{queue}")
            monkeypatch.setenv(f"{name}_QUEUE_URL", made["QueueUrl"])
        desk = JobDesk(dynamodb)
        yield desk
        assert desk.failed == []
