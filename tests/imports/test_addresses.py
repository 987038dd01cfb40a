"""Presigned URLs of the bucket: they name its region."""

from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib import aws, settings
from chalicelib.imports import files
from tests.support.environment import SETTINGS

BUCKET = SETTINGS["BUCKET"]


@pytest.mark.parametrize(
    ("region", "domain"),
    [
        ("us-east-1", "amazonaws.com"),
        ("eu-central-1", "amazonaws.com"),
        ("ap-southeast-5", "amazonaws.com"),
        ("us-gov-west-1", "amazonaws.com"),
        ("cn-north-1", "amazonaws.com.cn"),
    ],
)
def test_the_bucket_is_addressed_in_its_region(
    monkeypatch: pytest.MonkeyPatch, region: str, domain: str
) -> None:
    for name, value in {**SETTINGS, "AWS_DEFAULT_REGION": region, "AWS_REGION": region}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(aws, "client", aws._client.__wrapped__)
    host = f"{BUCKET}.s3.{region}.{domain}"
    url, fields = files.upload_form("job_1", 60)
    assert url == f"https://{host}/"
    report = urlsplit(files.report_url("job_1", "products.csv"))
    assert (report.netloc, report.path) == (host, "/reports/job_1.csv")
    signed = parse_qs(report.query)["X-Amz-Credential"][0]
    for credential in (fields["x-amz-credential"], signed):
        assert credential.split("/")[2:4] == [region, "s3"]
    assert settings.upload_origin() == f"https://{host}", "the console may post there"


def test_an_emulator_has_one_url_for_all_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": "http://localhost:4566"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(aws, "client", aws._client.__wrapped__)
    assert files.upload_form("job_1", 60)[0] == f"http://localhost:4566/{BUCKET}"
    assert settings.upload_origin() == "http://localhost:4566"
