"""The cost of an import: CPU per row, the rate relative to the bare emulator, and memory.

Planner and worker run as in Lambda, in one process; tables, bucket and queue are an emulator in
another. Other systems on a machine of this size: Vendure 3.0 ms CPU a row (and 4.5
for indexing), 155 rows/s, 295 MB; Medusa 3.6 ms, 271 rows/s, 1,080 MB; Saleor 10.9 ms, 72 rows/s.
"""

import contextlib
import http.client
import io
import os
import queue as queues
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3

from bench import stage
from bench.requests import sample
from chalicelib import aws
from chalicelib.imports import files

ROWS = 5_000
ROUNDS, ROUND = 5, 2_000  # of the first import, in turns with the bare emulator
SIZES = (1_000, 100_000, 1_000_000)
FAILING = (60_000, 250_000, 1_000_000)
WORKERS = 2  # concurrently, as infra/triggers.yaml has it on one machine
LANES = 8  # theirs, of commit.send_all
_BESIDE, _SMALL = 50_000, 20
_PRODUCTS = 1_000  # of the memory runs: the emulator keeps all it is given in memory
_ADJACENT = 500  # rows of one product that stand together there
_QUEUE = "backroom-bench-import-chunks"
_HIDDEN = 1800  # seconds: the visibility timeout in infra/resources.yaml


def main() -> None:
    with _desk() as endpoint:
        _rate(endpoint)
        _fairness()
        _memory()


@contextlib.contextmanager
def _desk() -> Iterator[str]:
    with stage.tables() as endpoint:
        os.environ["BUCKET"] = "backroom-bench-bucket"
        boto3.client("s3").create_bucket(Bucket=os.environ["BUCKET"])
        made = boto3.client("sqs").create_queue(QueueName=_QUEUE)
        os.environ["IMPORT_QUEUE_URL"] = made["QueueUrl"]
        aws.forget()  # a benchmark before this one may have had another endpoint
        yield endpoint


def _tables(name: str) -> None:
    """A pair of empty tables like the stage's."""
    client = boto3.client("dynamodb")
    like = client.describe_table(TableName=stage.TABLE)["Table"]
    for each in (name, f"{name}-outbox"):
        client.create_table(
            TableName=each,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=like["AttributeDefinitions"],
            KeySchema=like["KeySchema"],
        )


@contextlib.contextmanager
def _empty_shop(number: int) -> Iterator[None]:
    """The settings point to tables of their own inside; beside them are the replay's."""
    for kind in ("bench", "plain"):
        _tables(f"backroom-{kind}-{number}")
    before = {name: os.environ[name] for name in ("TABLE", "OUTBOX_TABLE")}
    os.environ["TABLE"] = f"backroom-bench-{number}"
    os.environ["OUTBOX_TABLE"] = f"backroom-bench-{number}-outbox"
    yield
    os.environ.update(before)


# --- CPU and rate ---------------------------------------------------------------------------------


def _rate(endpoint: str) -> None:
    print(f"{ROWS:,} rows, each a product; the first import: {ROUNDS} × {ROUND:,}\n")
    print(f"{'':34}{'ms CPU a row':>14}{'target':>8}{'rows/s':>9}")
    cpu = seconds = bare = 0.0
    transactions = 0
    # Alternately, so that other load on the machine affects both equally.
    for number in range(ROUNDS):
        with _empty_shop(number), _recorded() as sent:
            spent = _import(_catalogue(number * ROUND, (number + 1) * ROUND))
        cpu, seconds = cpu + spent[0], seconds + spent[1]
        bare += _replayed(endpoint, sent)
        transactions += len(sent)
    rows = ROUNDS * ROUND
    _line("a first import", rows, cpu, seconds, "0.8")
    half = ROWS // 2
    _import(_catalogue(0, half))
    _line("new products beside others", half, *_import(_catalogue(half, ROWS)), "0.8")
    whole = _catalogue(0, ROWS)
    _line("the same again", ROWS, *_import(whole))
    _line("every price changed", ROWS, *_import(whole.replace(".90,", ".95,")))
    print(
        f"\nThe bare emulator takes the {transactions:,} transactions of the first import at"
        f" {rows / bare:.0f} rows/s: the import reaches {bare / seconds:.0%} of that"
        " (target: 70 %)."
    )


def _line(what: str, rows: int, cpu: float, seconds: float, target: str = "") -> None:
    print(f"{what:34}{cpu / rows * 1e3:>14.2f}{target:>8}{rows / seconds:>9.0f}", flush=True)


@contextlib.contextmanager
def _recorded() -> Iterator[list[bytes]]:
    """The bodies of the transactions sent inside the `with` block."""
    from chalicelib.storage import table

    sent: list[bytes] = []
    events, name = table.client().meta.events, "before-send.dynamodb.TransactWriteItems"

    def record(request: Any, **_: Any) -> None:
        sent.append(bytes(request.body))

    events.register_first(name, record)
    yield sent
    events.unregister(name, record)


def _catalogue(first: int, last: int) -> str:
    header = "slug,name,description,status,price,sku,vendor,type,tags,stock,imageUrl\n"
    return header + "".join(map(_row, range(first, last)))


def _row(number: int) -> str:
    product = sample(number)
    image = product["images"][0]["url"]
    return (
        f"{product['slug']},{product['name']},{product['description'].strip()},ACTIVE,"
        f"{product['price']},{product['sku']},{product['vendor']},{product['type']},"
        f'"{", ".join(product["tags"])}",{number % 50},{image}\n'
    )


def _import(text: str) -> tuple[float, float]:
    """CPU and wall seconds of the worker."""
    job_id = _uploaded(text.encode())
    plan(job_id)
    began, cpu = time.perf_counter(), time.process_time()
    work(WORKERS)
    spent = time.process_time() - cpu, time.perf_counter() - began
    _completed(job_id)
    return spent


def _replayed(endpoint: str, sent: list[bytes]) -> float:
    """Seconds that the emulator needs for the same transactions, sent unchanged into separate
    tables by clients that do nothing else."""
    bodies: queues.SimpleQueue[bytes] = queues.SimpleQueue()
    for body in sent:
        fresh = body.replace(b'"ClientRequestToken":"0', b'"ClientRequestToken":"9')
        assert fresh != body
        bodies.put(fresh.replace(b'"backroom-bench', b'"backroom-plain'))
    began = time.perf_counter()
    with ThreadPoolExecutor(LANES) as clients:
        list(clients.map(_drain, [(endpoint, bodies)] * LANES))
    return time.perf_counter() - began


def _drain(work: tuple[str, "queues.SimpleQueue[bytes]"]) -> None:
    endpoint, bodies = work
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc)
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "DynamoDB_20120810.TransactWriteItems",
        "X-Amz-Date": "20300101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256"
        f" Credential={os.environ['AWS_ACCESS_KEY_ID']}/20300101/us-east-1/dynamodb"
        "/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + "0" * 64,
    }
    while True:
        try:
            body = bodies.get_nowait()
        except queues.Empty:
            return
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text[:500]


# --- Fairness -------------------------------------------------------------------------------------


def _fairness() -> None:
    """How long a small import takes during a large one."""
    from chalicelib.imports import store
    from chalicelib.jobs import store as jobs
    from chalicelib.jobs.model import JobStatus

    with _empty_shop(ROUNDS):
        large = _uploaded(_catalogue(0, _BESIDE).encode())
        plan(large)
        with ThreadPoolExecutor(1) as beside:
            working = beside.submit(work, WORKERS)
            while store.get_job(large).fields["processed"] < _BESIDE // 50:
                time.sleep(0.1)
            began = time.perf_counter()
            small = _uploaded(_catalogue(_BESIDE, _BESIDE + _SMALL).encode())
            plan(small)
            while store.get_job(small).status is not JobStatus.COMPLETED:
                time.sleep(0.05)
            seconds = time.perf_counter() - began
            done = store.get_job(large).fields["processed"]
            jobs.cancel(large)
            working.result()
    print(
        f"\n{_SMALL} products during {_BESIDE:,} rows, of which {done:,} were done:"
        f" {seconds:.1f} s (target: 10 s)"
    )


# --- Memory ---------------------------------------------------------------------------------------


def _memory() -> None:
    print(
        f"\nPeak memory (target: below 200 MB); rows are repeated upserts of {_PRODUCTS:,} products"
    )
    _peaks(SIZES, _repeated, lambda rows: min(rows // _ADJACENT, _PRODUCTS), fail=False)
    print("\nThe same where every row fails, and is in the report")
    _peaks(FAILING, _bad, lambda rows: rows, fail=True)


def _peaks(
    sizes: Sequence[int],
    file: Callable[[int], bytes],
    products: Callable[[int], int],
    *,
    fail: bool,
) -> None:
    print(f"{'rows':>12}{'file MB':>10}{'planner MB':>13}{'worker MB':>12}{'seconds':>10}")
    for rows in sizes:
        text = file(rows)
        job_id = _uploaded(text)
        began = time.perf_counter()
        planner = _peak("plan", job_id)
        worker = _peak("work", job_id)
        seconds = time.perf_counter() - began
        job = _completed(job_id, failed=products(rows) if fail else 0)
        assert job.fields["processed"] == products(rows), job.fields
        print(
            f"{rows:>12,}{len(text) / 1e6:>10.1f}{planner:>13.0f}{worker:>12.0f}{seconds:>10.0f}",
            flush=True,
        )


def _bad(rows: int) -> bytes:
    """Rows that each are a product with an invalid price."""
    lines = (f"bad-{number},Bad {number},free,A description\n" for number in range(rows))
    return ("slug,name,price,description\n" + "".join(lines)).encode()


def _repeated(rows: int) -> bytes:
    """Some adjacent rows for each product, repeatedly."""
    text = io.StringIO()
    text.write("slug,name,price,variantTitle,variantSku,stock,description\n")
    for number in range(rows):
        group = number // _ADJACENT
        product, variant = group % _PRODUCTS, number % _ADJACENT % 5
        text.write(
            f"again-{product},Again {product},{group // _PRODUCTS + 1}.50,V{variant},"
            f"AG-{product}-{variant},{number % 90},A description of some length\n"
        )
    return text.getvalue().encode()


def _peak(step: str, job_id: str) -> float:
    """The peak memory of a step in a separate process, in megabytes."""
    command = [sys.executable, "-m", "bench.imports", step, job_id]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


# --- The functions, as Lambda runs them -----------------------------------------------------------


def _uploaded(data: bytes) -> str:
    from chalicelib.imports import store
    from chalicelib.imports.model import Options

    job = store.create_job("bench.csv", Options(), 600)
    files.put_upload(job.id, data)
    return job.id


def _completed(job_id: str, failed: int = 0) -> Any:
    from chalicelib.imports import store
    from chalicelib.jobs.model import JobStatus

    job = store.get_job(job_id)
    assert (job.status, job.fields["failed"]) == (JobStatus.COMPLETED, failed), job.fields
    return job


def plan(job_id: str) -> None:
    from chalicelib.imports.steps import plan as planner

    with contextlib.redirect_stdout(io.StringIO()):
        planner.plan_upload({"detail": {"object": {"key": f"imports/{job_id}.csv"}}})


def work(workers: int = 1) -> None:
    """Handles messages until there are none. Threads receive and delete them, like Lambda's
    poller."""
    from chalicelib.imports.steps import run

    def handle(_: int) -> None:
        sqs, url = boto3.client("sqs"), os.environ["IMPORT_QUEUE_URL"]
        for record in _received(sqs, url):
            failed = run.batch({"Records": [record]})["batchItemFailures"]
            # One that failed is received again, as Lambda's poller has it.
            if not failed:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=record["receiptHandle"])

    log = io.StringIO()
    with contextlib.redirect_stdout(log), ThreadPoolExecutor(workers) as pool:
        list(pool.map(handle, range(workers)))
    for line in log.getvalue().splitlines():
        if '"ERROR"' in line:
            print(f"a step failed and was repeated: {line[:2_000]}", file=sys.stderr, flush=True)


def _received(sqs: Any, url: str) -> Iterator[dict[str, Any]]:
    asked = {"QueueUrl": url, "AttributeNames": ["ApproximateReceiveCount"]}
    while messages := sqs.receive_message(**asked, VisibilityTimeout=_HIDDEN).get("Messages", []):
        for message in messages:
            yield {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }


if __name__ == "__main__":
    {"plan": plan, "work": lambda job_id: work()}[sys.argv[1]](sys.argv[2])

    # Of this process alone: getrusage would count what its parent had before it.
    status = Path("/proc/self/status").read_text().split()
    print(int(status[status.index("VmHWM:") + 1]) / 1024)
