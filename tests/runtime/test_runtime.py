"""The unpacked package under Lambda's runtime client, which can import only what Lambda has: each
function with a valid event, a bad one, and one at the size limit.

Lambda's limits of memory, time, network and file system are not tested.
"""

import base64
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from app import app
from chalicelib import aws as clients
from chalicelib.api_keys import store as api_keys
from chalicelib.api_keys.model import Role
from chalicelib.values import clock
from infra import package
from tests.products.build import new_product
from tests.runtime.aws import on_loopback
from tests.runtime.lambda_api import Function, Result, runtime_folder
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS, account
from tests.support.forms import form
from tests.support.shop import api_gateway_event
from tests.webhooks.receiver import Receiver

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="awslambdaric is for Linux"),
]

SIX_MB = 6_291_556  # AWS: bytes of an event, and of an answer, of a synchronous call
MESSAGE = 1 << 20  # AWS: bytes of an SQS message, and of an asynchronous event
QUEUES = ("import-chunks", "jobs", "deliveries", "retries", "fan-out-dead")


@dataclass
class Cloud:
    """The functions of one shop, each started when it is first called."""

    task: Path
    runtime: Path
    settings: dict[str, str]
    dynamodb: Double
    queues: dict[str, str]
    key: str = ""
    running: dict[str, Function] = field(default_factory=dict)

    def invoke(self, name: str, event: Any) -> Result:
        if name not in self.running:
            self.running[name] = Function(self.task, self.runtime, f"app.{name}", self.settings)
        result = self.running[name].invoke(event)
        assert len(result.body) <= SIX_MB
        return result

    def works(self, name: str, event: Any) -> Any:
        result = self.invoke(name, event)
        assert result.kind == "response", result.body
        return result.json

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer of the API to a request, as API Gateway gets it."""
        event = self.request(method, path, body, **headers)
        return self.works("app", event)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        if self.key and "/admin" in path:
            headers.setdefault("Authorization", f"Bearer {self.key}")
        return api_gateway_event(app, method, path, body, headers=headers, address="203.0.113.7")

    def made(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.call(method, path, body, **headers)
        assert answer["statusCode"] < 300, answer
        return json.loads(answer["body"])

    # --- What AWS hands on ---

    def messages(self, queue: str) -> dict[str, Any] | None:
        """The event with the messages of a queue, which are then deleted."""
        sqs, url = clients.client("sqs"), self.queues[queue]
        found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", ())
        event = batch(queue, [one["Body"] for one in found])
        for record, one in zip(event["Records"], found, strict=True):
            record["receiptHandle"] = one["ReceiptHandle"]
        return event if found else None

    def stream(self, ids: set[str]) -> dict[str, Any]:
        """The event of the outbox's stream for these records."""
        items = self.dynamodb.items(SETTINGS["OUTBOX_TABLE"])
        about = [item for item in items if any(id in json.dumps(item) for id in ids)]
        return {"Records": [stream_record(item, n) for n, item in enumerate(about)]}


def batch(queue: str, bodies: list[str]) -> dict[str, Any]:
    """https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html"""
    return {
        "Records": [
            {
                "messageId": f"059f36b4-87a3-44ab-83d2-{n:012d}",
                "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1545082649183",
                    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
                    "ApproximateFirstReceiveTimestamp": "1545082649185",
                },
                "messageAttributes": {},
                "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:backroom-test-{queue}",
                "awsRegion": "us-east-1",
            }
            for n, body in enumerate(bodies)
        ]
    }


def stream_record(item: Any, number: int) -> dict[str, Any]:
    """https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html"""
    return {
        "eventID": f"{number:032x}",
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_545_082_649,
            "Keys": {name: item[name] for name in ("pk", "sk") if name in item},
            "NewImage": item,
            "SequenceNumber": f"{111 + number}",
            "SizeBytes": len(json.dumps(item)),
            "StreamViewType": "NEW_IMAGE",
        },
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/outbox/stream/2026",
    }


def created(key: str) -> dict[str, Any]:
    """https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html"""
    return {
        "version": "0",
        "id": "17793124-05d4-b198-2fde-7ededc63b103",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "account": "123456789012",
        "time": "2026-11-22T05:00:00Z",
        "region": "us-east-1",
        "resources": ["arn:aws:s3:::backroom-test-bucket"],
        "detail": {
            "version": "0",
            "bucket": {"name": "backroom-test-bucket"},
            "object": {
                "key": key,
                "size": 5,
                "etag": "b1946ac92492d2347c6235b4d2611184",
                "sequencer": "617f08299329d189",
            },
            "request-id": "N4N7GDK58NMKJ12R",
            "requester": "123456789012",
            "source-ip-address": "203.0.113.7",
            "reason": "PostObject",
        },
    }


def scheduled(**detail: str) -> dict[str, Any]:
    """https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html"""
    return {
        "version": "0",
        "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": "2026-11-22T03:30:00Z",
        "region": "us-east-1",
        "resources": ["arn:aws:events:us-east-1:123456789012:rule/backroom-test-nightly"],
        "detail": detail,
    }


def filled(event: dict[str, Any], size: int, fill: Callable[[str], None]) -> dict[str, Any]:
    """The event, filled by `fill` up to the size."""
    fill("")
    fill("x" * (size - len(json.dumps(event))))
    assert len(json.dumps(event)) == size
    return event


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("lambda")
    with zipfile.ZipFile(package.build(package.CACHE).zip) as zipped:
        zipped.extractall(folder / "task")
    environment = {name: v for name, v in os.environ.items() if name != "AWS_ENDPOINT_URL"}
    given = mock.patch.dict(os.environ, {**environment, **SETTINGS}, clear=True)
    with given, account(), Double() as dynamodb:
        clients.client("s3").create_bucket(Bucket=SETTINGS["BUCKET"])
        secret = base64.b64encode(bytes(range(32))).decode()
        parameter = {"Name": "/backroom/test/master-key", "Type": "SecureString", "Value": secret}
        clients.client("ssm").put_parameter(**parameter)
        queues = {
            name: clients.client("sqs").create_queue(
                QueueName=f"backroom-test-{name}", Attributes={"VisibilityTimeout": "900"}
            )["QueueUrl"]
            for name in QUEUES
        }
        with on_loopback(dynamodb) as address:
            settings = {
                **SETTINGS,
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": address,
                "IMPORT_QUEUE_URL": queues["import-chunks"],
                "JOBS_QUEUE_URL": queues["jobs"],
                "DELIVERIES_QUEUE_URL": queues["deliveries"],
                "RETRIES_QUEUE_URL": queues["retries"],
                "FAN_OUT_DEAD_QUEUE_URL": queues["fan-out-dead"],
                "REDRIVE_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:1:stateMachine:redrive",
                "MASTER_KEY_PARAMETER": parameter["Name"],
                "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
                "MAIL_FROM": "shop@example.com",
            }
            runtime = runtime_folder(folder / "runtime")
            cloud = Cloud(folder / "task", runtime, settings, dynamodb, queues)
            owner, cloud.key = api_keys.mint("Owner", Role.OWNER)
            api_keys.limit(owner.id, read=1_000_000, write=1_000_000)
            yield cloud
            for function in cloud.running.values():
                function.stop()


def test_every_function_has_tests_here() -> None:
    """A new function needs tests here."""
    names = {function.name for function in app.pure_lambda_functions} | {"app"}
    text = Path(__file__).read_text()
    assert [name for name in names if not re.search(rf'"{name}"[,\]]', text)] == []


# --- The API --------------------------------------------------------------------------------------


def test_the_api_handles_a_request(cloud: Cloud) -> None:
    product = cloud.made("POST", "/api/admin/products", new_product(name="Straße 青い🙂"))
    shown = cloud.made("GET", f"/api/admin/products/{product['id']}")
    assert shown == product and shown["name"] == "Straße 青い🙂"
    for path in ("/api/products", "/api/openapi.json", "/console", "/", "/api/admin/orders"):
        answer = cloud.works("app", cloud.request("GET", path))
        assert answer["statusCode"] == 200, path
        assert answer["headers"]["X-RateLimit-Limit"]


def test_the_api_handles_a_bad_event(cloud: Cloud) -> None:
    for method, path, body, status in [
        ("POST", "/api/admin/products", b'{"name": ', 400),
        ("POST", "/api/admin/products", b"\xff\xfe", 400),
        ("POST", "/api/admin/products", {"name": ""}, 422),
        ("DELETE", "/api/nothing/of/this", None, 404),
        ("GET", "/api/admin/products?limit=many", None, 422),
    ]:
        answer = cloud.works("app", cloud.request(method, path, body, **_JSON))
        assert (answer["statusCode"], bool(json.loads(answer["body"])["code"])) == (status, True)


_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("letter", ["x", "é", '"', "青"])
def test_the_largest_bulk_is_answered(cloud: Cloud, letter: str) -> None:
    """As large as API Gateway's event to a function may be, escapes and all."""
    many = [new_product(name=f"N {n}") for n in range(500)]
    room = (SIX_MB - len(json.dumps(cloud.request("POST", _BULK, many, **_JSON)))) // 500
    a_letter = len(json.dumps(json.dumps(letter, ensure_ascii=False), ensure_ascii=False).encode())
    for one in many:
        one["description"] = letter * ((room - 40) // (a_letter - 6))
    body = json.dumps(many, ensure_ascii=False).encode()
    event = cloud.request("POST", _BULK, body, **_JSON)
    assert 5_000_000 < len(json.dumps(event, ensure_ascii=False).encode()) <= SIX_MB
    answer = cloud.works("app", event)
    shown = json.loads(answer["body"])
    if answer["statusCode"] == 200:
        assert len(shown["data"]) == 500
    else:
        assert shown["code"] == "payload_too_large"


_BULK = "/api/admin/products/bulk"


def test_the_largest_page_is_answered(cloud: Cloud) -> None:
    alt = [{"url": f"https://example.com/{n}", "alt": '"é' * 250} for n in range(80)]
    for _ in range(50):
        cloud.made("POST", "/api/admin/products", new_product(vendor="Large", images=alt))
    path = "/api/admin/products?vendor=Large&limit=100"
    refused = cloud.call("GET", path)
    limit = json.loads(refused["body"])["limit"]
    assert refused["statusCode"] == 422 and limit < 50
    assert cloud.call("GET", path.replace("100", str(limit)))["statusCode"] == 200
    count, cursor = 0, "*"
    while cursor:
        page = cloud.made("GET", f"{path}&cursor={cursor}")
        count, cursor = count + len(page["data"]), page["pagination"]["next"]
    assert count == 50


# --- Imports --------------------------------------------------------------------------------------


def begun_import(cloud: Cloud, csv: bytes) -> str:
    body, kind = form({}, csv)
    return str(
        cloud.made("POST", "/api/admin/products/import", body, **{"Content-Type": kind})["jobId"]
    )


def job(cloud: Cloud, id: str) -> Any:
    return cloud.made("GET", f"/api/admin/jobs/{id}")


def test_the_largest_form_is_imported(cloud: Cloud) -> None:
    """4.4 MB of file are 5.9 MB of event."""
    filler = "é" * 9_000
    rows = "".join(f"Imported {n},{n}.50,I-{n},{filler}\n" for n in range(240))
    csv = ("name,price,sku,description\n" + rows).encode()
    assert 4_300_000 < len(csv) < 4_400_000
    id = begun_import(cloud, csv)
    assert cloud.works("plan_import", created(f"imports/{id}.csv")) is None
    while event := cloud.messages("import-chunks"):
        for record in event["Records"]:
            one = {"Records": [record]}
            assert cloud.works("import_chunk", one) == {"batchItemFailures": []}
    done = job(cloud, id)
    assert (done["status"], done["created"], done["failed"]) == ("COMPLETED", 240, 0)


def test_an_unknown_upload_is_not_a_failure(cloud: Cloud) -> None:
    for key in ("imports/of-nobody.csv", "imports/", "imports/" + "x" * 1_016):
        assert cloud.works("plan_import", created(key)) is None
    event = created("imports/of-nobody.csv")
    large = filled(event, MESSAGE, lambda text: event["detail"].update(reason=text))
    assert cloud.works("plan_import", large) is None
    assert cloud.invoke("plan_import", {"detail": {}}).kind == "error"


@pytest.mark.parametrize("name", ["import_chunk", "run_job"])
def test_an_unknown_step_is_returned_or_dropped(cloud: Cloud, name: str) -> None:
    """A malformed message returns to its queue, and becomes a dead letter in the end."""
    queue = {"import_chunk": "import-chunks", "run_job": "jobs"}[name]
    assert cloud.invoke(name, batch(queue, ["no JSON"])).kind == "error"
    step: Any = {"import_chunk": "report", "run_job": 0}[name]
    message = json.dumps({"job": "job_of-nobody", "step": step})
    padded = message + " " * (MESSAGE - len(message))
    clients.client("sqs").send_message(QueueUrl=cloud.queues[queue], MessageBody=padded[:200_000])
    event = cloud.messages(queue)
    assert event
    event["Records"][0]["body"] = padded
    failures = cloud.works(name, event)["batchItemFailures"]
    assert len(failures) == (name == "run_job")  # its job may be written soon
    clients.client("sqs").purge_queue(QueueUrl=cloud.queues[queue])


def test_dead_letters_fail_their_jobs(cloud: Cloud) -> None:
    id = begun_import(cloud, b"name,price\nHat,1\n")
    envelope = {"version": "1.0", "requestPayload": created(f"imports/{id}.csv")}
    letters = [json.dumps(envelope), "no JSON", "[]", '{"detail": 7}']
    padded = [letter + " " * (200_000 - len(letter)) for letter in letters]
    done = cloud.works("import_dead_letters", batch("plan-import-dead", padded * 2))
    assert done == {"batchItemFailures": []}
    assert (job(cloud, id)["status"], job(cloud, id)["error"]["code"]) == (
        "FAILED",
        "planning_failed",
    )


def test_an_upload_of_nobody_is_dropped_and_a_malformed_message_comes_again(cloud: Cloud) -> None:
    unknown = json.dumps(created("uploads/pic_" + "0" * 26))
    done = cloud.works("render_file", batch("files", [unknown, "no JSON"]))
    assert len(done["batchItemFailures"]) == 1
    assert cloud.works("render_file", {"sweep": "uploads"}) == {"batchItemFailures": []}


def test_a_job_is_done_step_by_step(cloud: Cloud) -> None:
    cloud.made("POST", "/api/admin/products", new_product(vendor="Acme"))
    asked = {"filters": {"vendor": "Acme"}, "change": {"status": "ARCHIVED"}}
    id = cloud.made("POST", "/api/admin/products/bulk-edit", asked)["jobId"]
    while event := cloud.messages("jobs"):
        assert cloud.works("run_job", event) == {"batchItemFailures": []}
    assert job(cloud, id)["status"] == "COMPLETED"
    export = cloud.made(
        "POST", "/api/admin/exports", {"type": "products", "format": "csv", "all": True}
    )
    while event := cloud.messages("jobs"):
        assert cloud.works("run_job", event) == {"batchItemFailures": []}
    assert job(cloud, export["jobId"])["status"] == "COMPLETED"


# --- Webhooks -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_an_event_is_fanned_out_and_delivered(cloud: Cloud, receiver: Receiver) -> None:
    url = receiver.url("/ok")
    hook = cloud.made("POST", "/api/admin/webhooks", {"url": url, "events": ["product.created"]})
    made = {cloud.made("POST", "/api/admin/products", new_product())["id"] for _ in range(10)}
    assert cloud.works("fan_out", cloud.stream(made)) == {"batchItemFailures": []}
    while event := cloud.messages("deliveries"):
        for record in event["Records"]:
            record["body"] += " " * (100_000 - len(record["body"]))  # but valid JSON
        assert cloud.works("deliver", event) == {"batchItemFailures": []}
    ids = {json.loads(one.body)["data"]["id"] for one in receiver.requests}
    assert ids == made and len(receiver.requests) == 10
    shown = cloud.made("GET", f"/api/admin/webhooks/{hook['id']}/deliveries?limit=100")["data"]
    assert {one["status"] for one in shown} == {"DELIVERED"}


def test_fan_out_handles_the_largest_batch_of_the_stream(cloud: Cloud) -> None:
    """AWS: a batch is 6 MB at most. The ids of unreadable records become dead letters."""
    body = json.dumps({"event": "product.deleted", "data": {"id": "prod_1", "note": "é" * 30_000}})
    items = [
        {
            "pk": {"S": f"evt_{clock.unix():010d}{n:016d}"},
            "sk": {"S": "event"},
            "at": {"S": clock.iso(clock.now())},
            "expiresAt": {"N": str(clock.unix() + 60)},
            "events": {"L": [{"M": {"event": {"S": "product.deleted"}, "body": {"S": body}}}]},
        }
        for n in range(27)
    ]
    event = {"Records": [stream_record(item, n) for n, item in enumerate(items)]}
    assert 4_500_000 < len(json.dumps(event)) < SIX_MB
    assert cloud.works("fan_out", event) == {"batchItemFailures": []}
    broken = stream_record({"pk": {"S": "evt_broken"}, "events": {"S": "none"}}, 0)
    assert cloud.works("fan_out", {"Records": [broken]}) == {"batchItemFailures": []}
    put_aside = cloud.messages("fan-out-dead")
    assert put_aside and json.loads(put_aside["Records"][0]["body"])["republish"] == ["evt_broken"]


def test_malformed_delivery_messages_are_returned_to_the_queue(cloud: Cloud) -> None:
    sqs, url = clients.client("sqs"), cloud.queues["deliveries"]
    sqs.purge_queue(QueueUrl=url)
    for body in ("no JSON", "{}", '{"delivery": 7}', "long"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    event = cloud.messages("deliveries")
    assert event
    event["Records"][-1]["body"] = "x" * (MESSAGE - 2_000)
    assert len(cloud.works("deliver", event)["batchItemFailures"]) == 4


def test_the_redrive_ends_if_no_message_is_due(cloud: Cloud) -> None:
    now = clock.iso(clock.now())
    hook = {"url": "https://example.com/hook", "events": ["order.paid"]}
    id = cloud.made("POST", "/api/admin/webhooks", hook)["id"]
    event = {"endpoint": id, "due": now, "until": now}
    assert cloud.works("redrive", event)["more"] is False
    assert cloud.works("redrive", {**event, "endpoint": "wh_of-nobody"})["more"] is False
    assert cloud.works("redrive", {**event, "filler": "x" * 250_000})["more"] is False
    assert cloud.invoke("redrive", {"endpoint": id}).kind == "error"


# --- On schedule ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["send_summaries", "check_counts"])
def test_a_function_runs_on_schedule(cloud: Cloud, name: str) -> None:
    event = scheduled()
    assert cloud.works(name, event) is None
    large = filled(event, MESSAGE, lambda text: event["detail"].update(text=text))
    assert cloud.works(name, large) is None
    assert cloud.works(name, {}) is None


# --- What can be imported -------------------------------------------------------------------------


def test_only_modules_that_lambda_has_can_be_imported(cloud: Cloud) -> None:
    """The functions' folders contain no tests, no tools, and no other Chalice."""
    task = {path.name for path in cloud.task.iterdir()}
    runtime = {path.name.partition(".")[0] for path in cloud.runtime.iterdir()}
    assert not (task | runtime) & {"pip", "moto", "pytest", "tests", "setuptools", "httpx"}
    assert "chalice" in task and "chalice" not in runtime
