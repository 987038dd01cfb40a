"""Log lines name the request: Lambda's, and that of the service that refused."""

import json
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from chalicelib import telemetry
from chalicelib.problems import Busy
from chalicelib.storage import table
from chalicelib.storage.dynamodb import DynamoCall
from tests.support.dynamodb_double import Double


class _Context:
    aws_request_id = "of-lambda"


@pytest.fixture(autouse=True)
def no_invocation() -> Iterator[None]:
    yield
    telemetry._invocation.pop("lambdaRequestId", None)
    telemetry._logger.remove_keys(["lambdaRequestId"])


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_failure_has_the_request_ids_of_lambda_and_of_the_service(
    capsys: pytest.CaptureFixture[str],
) -> None:
    telemetry.begin(_Context())
    response = {"Error": {"Code": "X"}, "ResponseMetadata": {"RequestId": "of-dynamodb"}}
    telemetry.error("it failed", ClientError(response, "PutItem"))  # type: ignore[arg-type]
    telemetry.log_metrics("request", {"Requests": 1})
    failed, measured = lines(capsys)
    assert (failed["lambdaRequestId"], failed["awsRequestId"]) == ("of-lambda", "of-dynamodb")
    assert measured["lambdaRequestId"] == "of-lambda"


def test_a_call_that_was_given_up_is_logged(
    dynamodb: Double, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.deadline.PATIENCE_SECONDS", 0.01)
    throttled = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"RequestId": "r"}}

    def refuse(call: DynamoCall[object]) -> None:
        raise ClientError(throttled, call.operation)  # type: ignore[arg-type]

    monkeypatch.setattr(DynamoCall, "read_reply", refuse)
    with pytest.raises(Busy):
        table.get(("a", "1"))
    (line,) = lines(capsys)
    assert (line["message"], line["operation"], line["awsRequestId"]) == (
        "call given up",
        "GetItem",
        "r",
    )
