"""Jobs for tests: started over HTTP, and their messages handled as in Lambda."""

import json
from collections.abc import Iterator
from typing import Any

import app
from chalicelib import aws, settings
from tests.support import process
from tests.support.dynamodb_double import Crash, Double
from tests.support.shop import Answer, Shop
from tests.support.webhook_events import received

PRODUCTS = "/api/admin/products"


class JobDesk:
    """A shop with a queue of jobs: `start` a job, `work` until the queue is empty, read the job."""

    def __init__(self, dynamodb: Double, shop: Shop) -> None:
        self.dynamodb, self.shop = dynamodb, shop
        self.failed: list[str] = []  # messages whose handling failed though nothing was injected
        self._crash_is_due = False

    def done(self, path: str, body: Any = None, **options: Any) -> Any:
        """Starts a job; the job after its end."""
        return self.finished(self.start(path, body, **options))

    def start(self, path: str, body: Any = None, **options: Any) -> str:
        answer: Answer = self.shop.post(path, body, **options)
        assert answer.status == 202, answer.text
        return str(answer.json["jobId"])

    def undone(self, job: Any) -> Any:
        """The undo of a job, after its end."""
        return self.finished(self.undoing(job))

    def undoing(self, job: Any) -> str:
        return self.start(f"/api/admin/jobs/{job['id']}/undo")

    def finished(self, job_id: str) -> Any:
        self.work()
        return self.job(job_id)

    def job(self, job_id: str) -> Any:
        return self.shop.read(f"/api/admin/jobs/{job_id}")

    def work(self) -> None:
        """Handles messages until none is left; one whose handler crashed is redelivered."""
        while messages := list(self.messages()):
            for message in messages:
                self.handle(message)
        assert not self._crash_is_due, "the jobs ended before the crash"

    def handle(self, message: dict[str, Any]) -> None:
        try:
            failed = app.run_job({"Records": [message]}, None)["batchItemFailures"]
            if failed:
                self.failed.append(message["body"])
                assert len(self.failed) < 20, "a step fails again and again: see the log"
        except Crash:
            failed = [message]
            self._crash_is_due = False
            process.rests()
            self.dynamodb.faults = lambda operation, request: None
        self.settle(message, bool(failed))

    def settle(self, message: dict[str, Any], failed: bool) -> None:
        """As the trigger does: a failed message comes again."""
        queue = {"QueueUrl": settings.jobs_queue_url(), "ReceiptHandle": message["receiptHandle"]}
        if failed:
            aws.client("sqs").change_message_visibility(**queue, VisibilityTimeout=0)
        else:
            aws.client("sqs").delete_message(**queue)

    def messages(self) -> Iterator[dict[str, Any]]:
        yield from received(settings.jobs_queue_url())

    def crash(
        self, operation: str, nth: int = 1, *, after: bool = True, perhaps: bool = False
    ) -> None:
        """The worker crashes at the nth call of an operation, with all its threads. `perhaps`: its
        jobs may make fewer calls."""
        self._crash_is_due = not perhaps
        self.dynamodb.crashes(operation, nth, after=after)

    # --- Results ---

    def product(self, **fields: Any) -> Any:
        return self.shop.made(PRODUCTS, {"name": "Shirt", "price": "10.00", **fields})

    def now(self, record: Any) -> Any:
        """The current product or order, or None."""
        kind = "orders" if record["id"].startswith("ord_") else "products"
        answer = self.shop.get(f"/api/admin/{kind}/{record['id']}")
        return answer.json if answer.status == 200 else None

    def counted(self, job: Any) -> dict[str, int]:
        names = ("created", "updated", "deleted", "unchanged", "failed")
        assert job["status"] == "COMPLETED", json.dumps(job)
        assert job["processed"] == sum(job[name] for name in names) == job["total"]
        return {name: job[name] for name in names if job[name]}
