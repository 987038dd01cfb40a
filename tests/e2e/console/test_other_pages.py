"""While `make run` is up: a web page of another origin, and a program of another user."""

import json
import os
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser

from tests.e2e.console.desk import Desk
from tests.e2e.recorded import client
from tests.support.running import Stack, processes

CALLS = {
    "dynamodb": ("DynamoDB_20120810.Scan", {"TableName": "backroom-local"}),
    "ssm": (
        "AmazonSSM.GetParameter",
        {"Name": "/backroom/local/master-key", "WithDecryption": True},
    ),
    "sqs": ("AmazonSQS.ListQueues", {}),
    "logs": ("Logs_20140328.DescribeLogGroups", {}),
    "states": ("AWSStepFunctions.ListStateMachines", {}),
}
PLAIN = {
    "lambda": "/2015-03-31/functions/backroom-local/invocations",
    "s3": "/backroom-local-000000000000-us-east-1?list-type=2",
    "mails": "/_ministack/ses/messages",
    "reset": "/_ministack/reset",
    "health": "/_localstack/health",
}
FETCH = """
async ([url, options]) => {
  try {
    const answer = await fetch(url, options);
    return `${answer.type} ${answer.status} ${await answer.text()}`;
  } catch (error) {
    return String(error);
  }
}
"""


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Any]:
    """A tab with a page of another origin of this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Another site</title>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    yield page
    page.close()
    server.shutdown()


def authorization(service: str, key: str) -> str:
    scope = f"{key}/20261128/us-east-1/{service}/aws4_request"
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature={'0' * 64}"


def curl(url: str, *options: str) -> int:
    """The status of the answer to a program that knows nothing of the folder."""
    command = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *options, url]
    return int(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def test_a_page_of_another_site_reads_and_changes_nothing(stack: Stack, other_page: Any) -> None:
    aws = stack.aws_endpoint
    got = {}
    for service, (target, body) in CALLS.items():
        for mode in ("cors", "no-cors"):
            options = {"method": "POST", "body": json.dumps(body), "mode": mode}
            # Without a preflight, and with one.
            got[service, mode] = other_page.evaluate(
                FETCH, [f"{aws}/?X-Amz-Target={target}", options]
            )
        headers = {"X-Amz-Target": target, "Authorization": authorization(service, "test")}
        options = {"method": "POST", "body": json.dumps(body), "headers": headers}
        got[service, "signed"] = other_page.evaluate(FETCH, [f"{aws}/", options])
    for name, path in PLAIN.items():
        got[name, "get"] = other_page.evaluate(FETCH, [aws + path, {}])
        got[name, "post"] = other_page.evaluate(FETCH, [aws + path, {"method": "POST"}])
    no_answer = {"TypeError: Failed to fetch", "opaque 0 "}
    assert {each: text for each, text in got.items() if text not in no_answer} == {}
    # The storefront is open to all pages, as on AWS.
    storefront = other_page.evaluate(FETCH, [f"{stack.base_url}/api/products", {}])
    assert storefront.startswith("cors 200 ")


def test_a_program_of_another_user_is_refused(stack: Stack) -> None:
    aws = stack.aws_endpoint
    keys = ("test", "000000000000", "AKIAAAAAAAAAAAAAAAAA", *function_keys(stack))
    for service, (target, body) in CALLS.items():
        call = ("-d", json.dumps(body), "-H", f"X-Amz-Target: {target}")
        kind = ("-H", "Content-Type: application/x-amz-json-1.0")
        assert curl(aws, *call, *kind) == 403
        for key in keys:
            signed = ("-H", f"Authorization: {authorization(service, key)}")
            assert curl(aws, *call, *kind, *signed) in {400, 403}, (service, key)
    for path in PLAIN.values():
        assert curl(aws + path) == curl(aws + path, "-X", "POST") == 403
        for key in keys:
            signed = ("-H", f"Authorization: {authorization('lambda', key)}")
            assert curl(aws + path, "-X", "POST", *signed) == 403, (path, key)
    assert curl(f"{aws}/", "-H", "Host: rebound.example") == 403
    assert curl(stack.base_url + "/api/products", "-H", "Host: rebound.example") == 403


def function_keys(stack: Stack) -> list[str]:
    """The ids of keys of functions, which stand in addresses of downloads and in forms."""
    made = client(stack.aws_endpoint, "lambda").list_functions()["Functions"]
    assert made
    page = f"{stack.base_url}/api/admin/products/import/uploads"
    authorized = ("-H", f"Authorization: Bearer {stack.api_key}")
    sent = ("-H", "Content-Type: application/json", "-d", '{"fileName": "a.csv"}')
    answer = subprocess.run(
        ["curl", "-s", *authorized, *sent, page], capture_output=True, text=True, check=True
    )
    fields = json.loads(answer.stdout)["fields"]
    return [fields["x-amz-credential"].partition("/")[0]]


def test_an_upload_without_a_signature_is_refused(stack: Stack, desk: Desk) -> None:
    upload = desk.api.post("products/import/uploads", {"fileName": "a.csv"})
    bucket = f"{stack.aws_endpoint}{urlsplit(upload['url']).path}"
    fields = {name: f"{name}={text}" for name, text in upload["fields"].items()}

    def sent(**changed: str | None) -> int:
        kept = {**fields, **{name.replace("_", "-"): text for name, text in changed.items()}}
        parts = [part for text in kept.values() if text for part in ("--form-string", text)]
        return curl(bucket, *parts, "-F", "file=sku,name;filename=a.csv")

    assert sent(x_amz_signature=f"x-amz-signature={'0' * 64}") == 403
    key = "x-amz-credential"
    date = upload["fields"][key].partition("/")[2]
    assert sent(x_amz_credential=f"{key}=test/{date}", x_amz_security_token=None) == 403
    unsigned = ("key", "content-type")
    assert sent(**{name: None for name in fields if name.lower() not in unsigned}) == 403
    assert sent() in {200, 204}


def test_a_download_is_not_read_with_another_signature(stack: Stack, desk: Desk) -> None:
    job = desk.api.post("exports", {"type": "products", "format": "csv", "all": True})
    url = desk.api.ended(job["jobId"])["downloadUrl"]
    assert parse_qs(urlsplit(url).query)["X-Amz-Signature"]
    assert curl(url) == 200
    changed = url.replace("X-Amz-Signature=", "X-Amz-Signature=0")
    for other in (changed, url.partition("?")[0], url.replace("X-Amz-Algorithm", "X-Amz-Other")):
        assert curl(other) == 403


def test_the_files_of_the_shop_are_its_owners_alone(stack: Stack) -> None:
    port = urlsplit(stack.aws_endpoint).port
    environments = [
        (process / "environ").read_bytes().split(b"\0")
        for process in processes(f"GATEWAY_PORT={port}", "STATE_DIR=")
    ]
    (state,) = {
        entry.partition(b"=")[2]
        for environment in environments
        for entry in environment
        if entry.startswith(b"STATE_DIR=")
    }
    home = os.path.dirname(state)
    assert os.stat(home).st_mode & 0o077 == 0
