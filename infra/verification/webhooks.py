"""Checks of webhooks: attempts, retries by each means, and events that cannot be read."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from chalicelib.values import clock
from chalicelib.webhooks import retry
from infra import stacks, steps
from infra.receiver import is_signed
from infra.verification import receiver
from infra.verification.stage import Stage, send_request, wait_until
from infra.verification.statements import DoesNotHoldError, NotShownError

_HERE: Final = Path(__file__).parent
_SOON: Final = 120.0  # seconds that queues, the stream and cold starts may take
_LONGEST: Final = 600.0  # seconds that a check waits for a schedule


@contextmanager
def run_receiver(stage: Stage) -> Iterator[str]:
    """Yield the address of a receiver: on loopback for the emulator, or else a function."""
    if stage.is_emulated:
        with _on_loopback() as url:
            yield url
        return
    name = steps.stack_name(stage.name, "receiver")
    code = (_HERE / "receiver.py").read_text()
    try:
        api = stage.aws("lambda").get_function_configuration(FunctionName=f"backroom-{stage.name}")
        parameters = {"Name": name, "Code": code, "Runtime": api["Runtime"]}
        made = stacks.apply(name, (_HERE / "receiver.yaml").read_text(), parameters)
        url = made["Url"].rstrip("/")
        wait_until(
            lambda: send_request("POST", f"{url}/ok", b"{}").status == 200, _SOON, f"no {url}"
        )
        yield url
    finally:
        stacks.delete(name)


@contextmanager
def _on_loopback() -> Iterator[str]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            names = {name.lower(): value for name, value in self.headers.items()}
            status, headers, text = receiver.answer(self.path, names, body)
            with suppress(BrokenPipeError):  # nobody waits for /slow
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

        def log_message(self, file_format: str, *args: object) -> None:
            """Print nothing: the receiver is asked for what it got."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def deliver_signed(stage: Stage) -> str:
    """Check that a signed delivery reaches the receiver, with our signature and our bytes."""
    with _make_webhook(stage, "/ok") as (webhook, secret):
        delivery = _send_sample(stage, webhook, lambda found: found["status"] == "DELIVERED")
        attempt = delivery["attempts"][-1]
        got, body = json.loads(attempt["response"]["body"]), delivery["body"].encode()
        if not is_signed(secret, got["signature"], body, time.time()):
            raise DoesNotHoldError(f"the signature that arrived is wrong: {got['signature']}")
        if got["sha256"] != hashlib.sha256(body).hexdigest():
            raise DoesNotHoldError("other bytes arrived than were sent")
        return f"delivered in {attempt['durationMs']} ms to {attempt['address']}, signed"


def retry_failed(stage: Stage) -> str:
    """Answer 500, and then 204: the first retry waits in the queue."""
    with _make_webhook(stage, "/flaky") as (webhook, _):
        delivery = _send_sample(stage, webhook, lambda found: found["status"] == "DELIVERED")
        statuses = [attempt["response"]["status"] for attempt in delivery["attempts"]]
        if statuses[-1] != 204 or set(statuses[:-1]) != {500}:
            raise DoesNotHoldError(f"the attempts were answered {statuses}")
        return f"answered {statuses}"


def slow_and_redirect(stage: Stage) -> str:
    """Check that a slow receiver fails after ten seconds, and that a redirect is not followed."""
    seen = []
    for path, expected in (("/slow", "timeout"), ("/redirect", "status")):
        with _make_webhook(stage, path) as (webhook, _):
            delivery = _send_sample(stage, webhook, lambda found: found["attempts"])
            attempt = delivery["attempts"][0]
            seen.append(f"{path}: {attempt['error']} after {attempt['durationMs']} ms")
            if attempt["error"] != expected:
                raise DoesNotHoldError("; ".join(seen))
    return "; ".join(seen)


def schedule(stage: Stage) -> str:
    """Deliver to a receiver that always fails: each attempt comes at its time.

    Attempts wait by SQS's delay and by the state machine.
    """
    scale = float(stage.function_settings().get("WEBHOOK_SCHEDULE_SCALE", "1"))
    waits = [wait * scale for wait in retry.SCHEDULE[: retry.FIRST_DAILY + 1]]
    if sum(waits) > _LONGEST:
        hours = sum(waits) / 3_600
        raise NotShownError(
            f"the schedule of this stage takes {hours:.0f} hours; the emulator's is scaled"
        )
    with _make_webhook(stage, "/fail") as (webhook, _):
        enough = len(waits) + 1
        patience = sum(waits) * (1 + retry.MOST_JITTER) + 4 * _SOON
        delivery = _send_sample(
            stage, webhook, lambda found: len(found["attempts"]) >= enough, patience
        )
        times = [_to_seconds(attempt["at"]) for attempt in delivery["attempts"][:enough]]
    real = [later - earlier for earlier, later in pairwise(times)]
    early = [f"{r:.0f} s, not {w:.0f}" for r, w in zip(real, waits, strict=True) if r < w - 1]
    if early:
        raise DoesNotHoldError(f"too early: {', '.join(early)}")
    means = "two by delay, four by the state machine"
    return f"waits of {', '.join(f'{wait:.0f}' for wait in real)} s: {means}"


def unreadable_event(stage: Stage) -> str:
    """Check that an unreadable record of the stream becomes a dead letter; the next go on."""
    if not (stage.is_trial or stage.is_emulated):
        raise NotShownError("it would start the alarm fan-out-dead of a stage that is in use")
    sqs, dynamodb = stage.aws("sqs"), stage.aws("dynamodb")
    key = {"pk": {"S": f"evt_verify_{time.time_ns()}"}, "sk": {"S": "events"}}
    soon = {"N": str(int(time.time()) + 86_400)}
    dynamodb.put_item(
        TableName=stage.resource_outputs["OutboxTable"],
        Item={**key, "events": soon, "expiresAt": soon},
    )
    url = stage.resource_outputs["FanOutDeadQueueUrl"]

    def receive_letter() -> Any:
        found = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5, MaxNumberOfMessages=10)
        ours = [one for one in found.get("Messages", []) if key["pk"]["S"] in one["Body"]]
        for one in ours:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
        return ours

    try:
        wait_until(receive_letter, _SOON, "no dead letter came")
    finally:
        dynamodb.delete_item(TableName=stage.resource_outputs["OutboxTable"], Key=key)
    with _make_webhook(stage, "/ok") as (webhook, _):
        _send_sample(stage, webhook, lambda found: found["status"] == "DELIVERED")
    return "its id became a dead letter, and the next event was delivered"


def botocore_of_lambda(stage: Stage) -> str:
    """Which botocore Lambda's runtime has: the receiver has no other."""
    with _make_webhook(stage, "/ok") as (webhook, _):
        delivery = _send_sample(stage, webhook, lambda found: found["status"] == "DELIVERED")
    version = json.loads(delivery["attempts"][-1]["response"]["body"])["botocore"]
    return f"botocore {version} of the runtime made every call of these checks"


@contextmanager
def _make_webhook(stage: Stage, path: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the secret of a webhook that lives as long as the check."""
    hook = {"url": stage.receiver + path, "events": ["order.created"]}
    made = stage.call_json("POST", "/webhooks", hook, role="ADMIN")
    try:
        yield made["id"], made["secret"]
    finally:
        stage.call_json("DELETE", f"/webhooks/{made['id']}", role="ADMIN")


def _send_sample(stage: Stage, webhook: str, enough: Any, seconds: float = 0) -> Mapping[str, Any]:
    """Return a delivery of sample data, once it is `enough`."""
    scale = float(stage.function_settings().get("WEBHOOK_SCHEDULE_SCALE", "1"))
    first = retry.SCHEDULE[0] * scale * (1 + retry.MOST_JITTER)
    id = stage.call_json("POST", f"/webhooks/{webhook}/test", {}, role="ADMIN")["id"]
    found: Mapping[str, Any] = {}

    def has_reached_state() -> bool:
        nonlocal found
        found = stage.call_json("GET", f"/deliveries/{id}", role="ADMIN")
        return bool(enough(found))

    try:
        wait_until(has_reached_state, seconds or _SOON + first, "")
    except TimeoutError:
        attempts = [(each["error"], each["message"]) for each in found["attempts"]]
        raise DoesNotHoldError(f"the delivery is {found['status']}; attempts: {attempts}") from None
    return found


def _to_seconds(moment: str) -> float:
    return clock.parse(moment).timestamp()
