"""The one client of DynamoDB, from which parts of botocore were taken out."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.credentials import Credentials

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


def test_a_signature_is_that_of_the_headers_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore's own signer, given a request with those headers only, comes to the same."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    sent: list[Any] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        sent.append(request)
        return AWSResponse(request.url, 200, {}, _Body())

    for token in ("", "token of a role"):
        with monkeypatch.context() as each:
            each.setenv("AWS_ACCESS_KEY_ID", "key")
            each.setenv("AWS_SECRET_ACCESS_KEY", "secret")
            each.setenv("AWS_SESSION_TOKEN", token)
            client = table.client.__wrapped__()
            client.meta.events.register_first("before-send.dynamodb", answer)
            client.get_item(TableName="t", Key={"pk": {"S": "é"}})
            request = sent.pop()
            told = request.headers["Authorization"].decode()
            names = ["content-type", "host", "x-amz-date", "x-amz-target"]
            names[3:3] = ["x-amz-security-token"] if token else []
            assert f"SignedHeaders={';'.join(names)}," in told

            plain = AWSRequest("POST", request.url, data=request.body)
            for name in ("Content-Type", "X-Amz-Target"):
                plain.headers[name] = request.headers[name].decode()
            date = request.headers["X-Amz-Date"].decode()
            at = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            each.setattr("botocore.auth.get_current_datetime", lambda at=at: at)
            signer = SigV4Auth(
                Credentials("key", "secret", token or None), "dynamodb", "eu-central-1"
            )
            signer.add_auth(plain)
            assert plain.headers["Authorization"] == told
