"""Imports for tests: files are uploaded over HTTP, and messages handled as in Lambda."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

import app
from chalicelib import aws, settings
from chalicelib.imports import files
from chalicelib.imports.steps import queue
from chalicelib.storage import attributes, outbox
from tests.support import process
from tests.support.dynamodb_double import Crash, Double
from tests.support.forms import form
from tests.support.shop import Answer, Shop
from tests.support.webhook_events import received

_ROUNDS = 1_000

IMPORT = "/api/admin/products/import"


def counts(job: Any) -> list[int]:
    return [job[name] for name in ("created", "updated", "unchanged", "failed", "total")]


class Desk:
    """`send` a file, `work` until the queue is empty, and read the `job`."""

    def __init__(self, shop: Shop, dynamodb: Double) -> None:
        self.shop = shop
        self.dynamodb = dynamodb
        self.meanwhile = dynamodb.meanwhile
        self.errors: list[BaseException | None] = []
        self._buried: Callable[[], None] = process.rests

    def imported(self, csv: str | bytes, **options: str) -> Any:
        """Imports a file; the job after its end."""
        return self.finished(self.send(csv, **options))

    def send(self, csv: str | bytes, name: str = "products.csv", **options: str) -> str:
        answer = self.post(csv, name, **options)
        assert answer.status == 202, answer.text
        return str(answer.json["jobId"])

    def started(self, csv: str | bytes, **options: str) -> str:
        """The job of a file that is planned."""
        job_id = self.send(csv, **options)
        self.uploaded(job_id)
        return job_id

    def waiting(self, csv: str | bytes, **options: str) -> Any:
        """The job of a file that waits for an answer about it."""
        job = self.imported(csv, **options)
        assert job["status"] == "NEEDS_MAPPING", job
        return job

    def faults(self, csv: str | bytes, **options: str) -> list[tuple[int, str, str]]:
        """The row, field and code of each error of a file."""
        errors = self.imported(csv, **options)["errors"]
        return [(error["row"], error["field"], error["code"]) for error in errors]

    def put(self, data: bytes, **options: Any) -> str:
        """The job of a file that is uploaded directly to S3."""
        upload = self.shop.made(f"{IMPORT}/uploads", {"fileName": "large.csv", **options})
        files.put_upload(upload["jobId"], data)
        return str(upload["jobId"])

    def post(self, csv: str | bytes, name: str = "products.csv", **options: str) -> Answer:
        body, kind = form(options, csv, name)
        return self.shop.post(IMPORT, body, headers={"Content-Type": kind})

    def job(self, job_id: str) -> Any:
        return self.shop.read(f"/api/admin/jobs/{job_id}")

    def uploaded(self, job_id: str) -> None:
        """Handles S3's event about the file, as EventBridge delivers it."""
        app.plan_import(self.upload_event(job_id), None)

    def upload_event(self, job_id: str) -> dict[str, Any]:
        key = f"imports/{job_id}.csv"
        stored = {"key": key, "size": 1, "etag": "not looked at"}
        detail = {"bucket": {"name": settings.bucket()}, "object": stored}
        return {"source": "aws.s3", "detail-type": "Object Created", "detail": detail}

    def messages(self) -> list[dict[str, Any]]:
        """The waiting messages, as Lambda receives them."""
        return received(settings.import_queue_url())

    def work(self, shuffled: random.Random | None = None) -> None:
        """Handles messages until none is left; one whose handler crashes is redelivered."""
        for _ in range(_ROUNDS):
            messages = self.messages()
            if not messages:
                return
            if shuffled:
                shuffled.shuffle(messages)
            for message in messages:
                self.handle(message)
        raise AssertionError("the queue does not become empty")

    def handle(self, message: dict[str, Any]) -> None:
        """Handles a message as Lambda does. A failure without an injected fault fails the test."""
        failed_calls = self.dynamodb.failed_calls
        self.errors.clear()
        try:
            failed = app.import_chunk({"Records": [message]}, None)["batchItemFailures"]
        except Crash:
            failed = [message]
            self._buried()
        if self.errors and failed_calls == self.dynamodb.failed_calls:
            raise AssertionError(f"{message['body']} failed by itself") from self.errors[0]
        if failed:
            queue.show_again(message["receiptHandle"], 0)
        else:
            self.done_with(message)

    def handle_again(self, message: dict[str, Any]) -> None:
        """Delivers a message a second time, with an expired receipt handle."""
        message["attributes"]["ApproximateReceiveCount"] = "2"
        with suppress(Crash, ClientError):
            app.import_chunk({"Records": [message]}, None)

    def done_with(self, message: dict[str, Any]) -> None:
        queue = {"QueueUrl": settings.import_queue_url()}
        aws.client("sqs").delete_message(**queue, ReceiptHandle=message["receiptHandle"])

    def finished(self, job_id: str) -> Any:
        """Imports an uploaded file; the job after its end."""
        self.uploaded(job_id)
        self.work()
        return self.job(job_id)

    def answered(self, job: Any, **answer: Any) -> Any:
        """The job after an answer about its file, at its end or next question."""
        reply = self.shop.post(f"/api/admin/jobs/{job['id']}/mapping", answer)
        assert reply.status == 200, reply.text
        self.work()
        return self.finished(job["id"])

    def refused_answer(self, job: Any, **answer: Any) -> tuple[str, str]:
        """The field and the code of a refused answer."""
        reply = self.shop.post(f"/api/admin/jobs/{job['id']}/mapping", answer)
        (error,) = reply.json["errors"]
        assert reply.status == 422, reply.text
        return error["field"], error["code"]

    def retried(self, job_id: str, action: str = "retry") -> Any:
        """The job of a retry, after its file was copied, at its end. `run`: of a dry run."""
        reply = self.shop.post(f"/api/admin/jobs/{job_id}/{action}")
        assert reply.status == 202, reply.text
        self.work()
        return self.finished(reply.json["jobId"])

    def cancel(self, job_id: str) -> None:
        assert self.shop.post(f"/api/admin/jobs/{job_id}/cancel").status == 200

    # --- Faults ---

    def lose_files(self, job_id: str) -> None:
        """Delete the file of a job, and all that was made of it, as S3 does after 30 days."""
        s3, bucket = aws.client("s3"), {"Bucket": settings.bucket()}
        for prefix in (f"imports/{job_id}", f"reports/{job_id}"):
            for each in s3.list_objects_v2(**bucket, Prefix=prefix).get("Contents", ()):
                s3.delete_object(**bucket, Key=each["Key"])

    def crash(self, operation: str, nth: int = 1) -> None:
        """The worker crashes after the nth call of an operation, with all its threads."""
        before = self.dynamodb.faults

        def buried() -> None:
            process.rests()
            self.dynamodb.faults = before

        self.dynamodb.crashes(operation, nth)
        self._buried = buried

    # --- Results ---

    def products(self) -> dict[str, Any]:
        """Every product as the API shows it, by slug."""
        pages = [page.json for page in self.shop.pages("/api/admin/products?limit=100")]
        found = {product["slug"]: product for page in pages for product in page["data"]}
        assert len(found) == pages[0]["total"]
        return found

    def events(self) -> list[tuple[str, str]]:
        """(kind, slug) of every event about products, unordered."""
        return [(event, data["slug"]) for event, data in self.event_data() if "slug" in data]

    def event_data(self) -> Iterator[tuple[str, Any]]:
        for item in self.dynamodb.items(settings.outbox_table()):
            for event in outbox.events_of(attributes.unpack(item)):
                yield event.event, json.loads(event.body)["data"]

    def report(self, job_id: str) -> str:
        reply = aws.client("s3").get_object(Bucket=settings.bucket(), Key=f"reports/{job_id}.csv")
        return str(reply["Body"].read().decode("utf-8-sig"))
