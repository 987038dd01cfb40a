"""Which requests reach the emulated AWS of `make run`."""

from typing import Final

import pytest

from infra.emulator_guard import admit_headers

OWN: Final = "AKIAOWN"
SESSION: Final = "ASIASESSION"
SCAN: Final = "DynamoDB_20120810.Scan"
API: Final = "/_aws/execute-api/backroom/local/api/products"
PRESIGNED: Final = (
    f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={SESSION}%2F20261128&X-Amz-Signature=0"
)
FORM: Final = {"Content-Type": "multipart/form-data; boundary=b"}


def signed(key: str) -> dict[str, str]:
    return {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/20261128/us-east-1/s3/aws4_request"
    }


def admitted(
    method: str, path: str, headers: dict[str, str], query: str = "", host: str = "127.0.0.1:4566"
) -> list[str] | None:
    """The names of the headers that reach the emulator."""
    sent = [("Host", host), *headers.items()] if host else headers.items()
    scope = {
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), text.encode()) for name, text in sent],
    }
    found = admit_headers(scope, OWN, SESSION.__eq__)
    return None if found is None else sorted(name for name, _ in found)


@pytest.mark.parametrize("host", ["127.0.0.1:4566", "localhost", "[::1]:8080"])
def test_the_folders_own_programs_are_served(host: str) -> None:
    assert admitted("POST", "/", {**signed(OWN), "X-Amz-Target": SCAN}, host=host)
    assert admitted("GET", "/_ministack/ses/messages", {}, f"X-Amz-Credential={OWN}", host=host)
    own_page = {"Origin": f"http://{host}"}
    assert admitted("POST", "/", {**signed(OWN), **own_page}, host=host)


def test_everybody_sees_a_picture_as_on_aws() -> None:
    bucket = "/backroom-local-pictures-000000000000-us-east-1"
    seen = f"{bucket}/pic_01M8GYF1JWZ9ES5VA500J2A6E5/small.webp"
    page = {"Origin": "https://shop.example", "X-Amz-Target": SCAN}
    assert admitted("GET", seen, page) == ["host"]
    for method, path, query in (
        ("PUT", seen, ""),
        ("DELETE", seen, ""),
        ("GET", seen, "acl"),
        ("GET", f"{bucket}/", ""),
        ("GET", seen.replace("-pictures-", "-"), ""),
        ("GET", seen.replace("pic_01", "../backroom-local/pic_01"), ""),
    ):
        assert admitted(method, path, {}, query) is None


def test_functions_are_served_where_their_signature_is_checked() -> None:
    assert admitted("POST", "/", {**signed(SESSION), "X-Amz-Target": SCAN})
    assert admitted("GET", "/bucket/exports/1.csv", {}, PRESIGNED)
    for path in ("/_ministack/config", "/_localstack/health", "/_aws/ses", "/_ministack/reset"):
        assert admitted("POST", path, signed(SESSION)) is None
        assert admitted("GET", path, {}, PRESIGNED) is None


def test_the_api_is_open_as_it_is_on_aws() -> None:
    for method in ("GET", "OPTIONS", "POST"):
        assert admitted(method, API, {"Origin": "https://shop.example", "X-Amz-Target": SCAN})
    for path in ("/_aws/execute-api/", "/_aws/execute-api/backroom", f"/x{API}"):
        assert admitted("GET", path, {}) is None


def test_a_form_reaches_its_bucket_and_nothing_else() -> None:
    other = {**FORM, "Origin": "https://shop.example", "X-Amz-Target": SCAN, **signed(SESSION)}
    assert admitted("POST", "/bucket", other) == ["content-type", "host", "origin"]
    assert admitted("POST", "/bucket", {"Content-Type": "text/plain"}) is None
    assert admitted("PUT", "/bucket", FORM) is None
    assert admitted("POST", "/bucket/object", FORM) is None
    assert admitted("POST", "/", FORM) is None
    assert admitted("POST", "/bucket", FORM, "Action=ListQueues") is None


@pytest.mark.parametrize(
    "host", ["evil.example:4566", "127.0.0.1.evil.example", "bucket.s3.localhost", ""]
)
def test_another_host_is_refused_even_with_the_key(host: str) -> None:
    assert admitted("POST", "/", signed(OWN), host=host) is None
    assert admitted("GET", API, {}, host=host) is None


@pytest.mark.parametrize("key", ["test", "000000000000", "AKIAOTHER", "", "-"])
def test_another_key_is_refused(key: str) -> None:
    assert admitted("POST", "/", {**signed(key), "X-Amz-Target": SCAN}) is None
    assert admitted("GET", "/bucket/object", {}, PRESIGNED.replace(SESSION, key)) is None
    assert admitted("POST", "/", {"X-Amz-Target": SCAN}) is None


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:4566"])
def test_a_page_of_another_site_is_refused_even_with_the_key(origin: str) -> None:
    assert admitted("POST", "/", {**signed(OWN), "Origin": origin}) is None
    assert admitted("OPTIONS", "/", {"Origin": origin}) is None


@pytest.mark.parametrize(
    ("method", "path", "query", "headers"),
    [
        ("POST", "/bucket/object", PRESIGNED, {}),
        ("GET", "/bucket", PRESIGNED, {}),
        ("GET", "/bucket/object", PRESIGNED, {"X-Amz-Target": SCAN}),
        ("GET", "/bucket/object", PRESIGNED, {"Authorization": "AWS test:0"}),
        ("GET", "/bucket/object", PRESIGNED.replace("Algorithm", "Other"), {}),
        ("GET", "/bucket/object", PRESIGNED.partition("&X-Amz-Signature")[0], {}),
        ("GET", "/bucket/object", f"{PRESIGNED}&X-Amz-Credential={SESSION}", {}),
        ("GET", "/bucket/object", f"AWSAccessKeyId={SESSION}&Signature=0", {}),
        ("GET", "/bucket/object", PRESIGNED, signed(SESSION)),
    ],
)
def test_what_the_emulator_would_take_as_unsigned_is_refused(
    method: str, path: str, query: str, headers: dict[str, str]
) -> None:
    assert admitted(method, path, headers, query) is None
