"""Presigned URLs of the bucket: they name its region."""

from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib import aws, settings
from chalicelib.imports import files
from tests.support.environment import SETTINGS

BUCKET = SETTINGS["BUCKET"]


@pytest.fixture(
    params=[
        ("us-east-1", "amazonaws.com"),
        ("eu-central-1", "amazonaws.com"),
        ("ap-southeast-5", "amazonaws.com"),
        ("us-gov-west-1", "amazonaws.com"),
        ("cn-north-1", "amazonaws.com.cn"),
    ],
    ids=lambda param: param[0],
)
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    region, domain = request.param
    for name, value in {**SETTINGS, "AWS_DEFAULT_REGION": region, "AWS_REGION": region}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(aws, "client", aws._client.__wrapped__)
    return f"{BUCKET}.s3.{region}.{domain}"


def test_an_upload_is_posted_to_the_region_of_the_bucket(host: str) -> None:
    url, fields = files.upload_form("job_1", 60)
    assert url == f"https://{host}/"
    assert fields["x-amz-credential"].split("/")[2:4] == [host.split(".")[2], "s3"]


def test_a_report_is_fetched_from_the_region_of_the_bucket(host: str) -> None:
    url = urlsplit(files.report_url("job_1", "products.csv"))
    assert (url.netloc, url.path) == (host, "/reports/job_1.csv")
    assert parse_qs(url.query)["X-Amz-Credential"][0].split("/")[2:4] == [host.split(".")[2], "s3"]


def test_the_console_may_post_to_the_bucket(host: str) -> None:
    assert settings.upload_origin() == f"https://{host}"


def test_an_emulator_has_one_url_for_all_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": "http://localhost:4566"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(aws, "client", aws._client.__wrapped__)
    assert files.upload_form("job_1", 60)[0] == f"http://localhost:4566/{BUCKET}"
    assert settings.upload_origin() == "http://localhost:4566"
