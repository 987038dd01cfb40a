"""`infra/dead_letters.py` while what it repeats takes long, or fails again."""

import io
import json
from typing import Any

import boto3
import pytest
from botocore.config import Config

from infra import dead_letters
from tests.support.dynamodb_double import Double

pytestmark = pytest.mark.thorough

QUEUE = "backroom-test-schedules-dead"
LONGEST = 900  # seconds of a function


def test_letters_that_were_not_retried_are_there_at_once(
    aws: Double, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sqs, client = boto3.client("sqs"), boto3.client
    url = sqs.create_queue(QueueName=QUEUE)["QueueUrl"]
    for _ in range(12):
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps({"resources": ["rule/nightly"]}))
    runs = list[str]()

    class Functions:
        """The third run fails."""

        def invoke(self, FunctionName: str, Payload: str) -> Any:
            names = ["ApproximateNumberOfMessagesNotVisible"]
            found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
            assert found[names[0]] == "1", "the others would come again while this one runs"
            runs.append(FunctionName)
            failed = {"FunctionError": "Unhandled", "Payload": io.BytesIO(b"no memory")}
            return failed if len(runs) == 3 else {}

    def made(service: str, config: Config | None = None) -> Any:
        if service != "lambda":
            return client(service)
        assert config is not None and config.read_timeout > LONGEST
        assert config.retries["total_max_attempts"] == 1
        return Functions()

    monkeypatch.setattr(boto3, "client", made)
    with pytest.raises(SystemExit, match="check_counts failed again: no memory"):
        dead_letters.main(["--stage", "test", "schedules", "--again"])
    for again in ([], [], ["--again"]):
        capsys.readouterr()
        dead_letters.main(["--stage", "test", "schedules", *again])
        assert "10 dead letters" in capsys.readouterr().out
    assert len(runs) == 13
