"""The one client of DynamoDB, from which parts of botocore were taken out."""

import re
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from chalicelib import table


class _Body:
    def stream(self) -> list[bytes]:
        return [b"{}"]


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-central-1", "dynamodb.eu-central-1.amazonaws.com"),
        ("cn-north-1", "dynamodb.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_a_call_goes_to_its_region_and_is_signed_for_it(
    region: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a function: nothing says where DynamoDB is but the region."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    sent: list[Any] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        sent.append(request)
        return AWSResponse(request.url, 200, {}, _Body())

    client = table.client.__wrapped__()
    client.meta.events.register_first("before-send.dynamodb", answer)
    assert client.get_item(TableName="t", Key={"pk": {"S": "a"}})["ResponseMetadata"]
    (request,) = sent
    assert request.url == f"https://{host}/"
    signed = request.headers["Authorization"].decode()
    assert re.search(rf"Credential=key/\d{{8}}/{region}/dynamodb/aws4_request", signed)
    assert request.headers["X-Amz-Security-Token"] == b"token"
