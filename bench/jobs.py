"""The costs of a bulk edit, an undo and an export, and the memory of an export.

On the double of the tests, which bills every call as AWS does. Its own CPU is subtracted.
`python -m bench.jobs 1000` uses a thousand records of each kind.
"""

import contextlib
import gc
import io
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

from bench.growth import Catalogue
from chalicelib import aws, settings
from chalicelib.exports import store
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS, account
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk
from tests.support.shop import Shop

EDITED, EXPORTED, IMPORTED = 10_000, (10_000, 100_000), 50_000


def main(*sizes: int) -> None:
    edited, exported, rows = EDITED, EXPORTED, IMPORTED
    if sizes:
        edited, exported, rows = sizes[0], sizes, sizes[0]
    with shop() as jobs:
        Catalogue(jobs.dynamodb, edited)
        body = {"filters": {"status": "ACTIVE,DRAFT"}, "change": {"price": {"percent": "10"}}}
        show("bulk edit", jobs, lambda: jobs.done(f"{PRODUCTS}/bulk-edit", body))
    with shop() as jobs:
        text = "slug,name,price,stock\n" + "".join(
            f"p-{number},Product {number},5.00,{number % 90}\n" for number in range(rows)
        )
        imports = Desk(jobs.shop, jobs.dynamodb)

        def imported() -> Any:
            job_id = imports.put(text.encode())
            imports.uploaded(job_id)
            return imports.finished(job_id)

        job, first = show("import", jobs, imported)
        back, second = show("undo of the import", jobs, lambda: undone(jobs, job))
        assert back["deleted"] == job["created"] == rows
        print(f"undo ÷ import, CPU: {second / first:.2f} (at most 2)")
    for size in exported:
        with shop() as jobs:
            Catalogue(jobs.dynamodb, size)
            job, _ = show("export", jobs, partial(exported_by, jobs))
            assert job["total"] == size
            tracemalloc.start()
            with contextlib.redirect_stdout(io.StringIO()), _no_s3():
                exported_by(jobs)
            print(f"  memory at most {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
            tracemalloc.stop()


def _no_s3() -> Any:
    """Replaces the emulated S3, which keeps the whole file in this process."""
    pieces = {"begin": lambda job: "upload", "end": lambda job, upload, etags: None}
    pieces["add"] = lambda job, upload, number, data: f"etag-{number}"
    return patch.multiple(store, **pieces)


def undone(jobs: JobDesk, job: Any) -> Any:
    return jobs.done(f"/api/admin/jobs/{job['id']}/undo")


def exported_by(jobs: JobDesk) -> Any:
    return jobs.done("/api/admin/exports", {"type": "products", "format": "csv", "all": True})


@contextlib.contextmanager
def shop() -> Iterator[JobDesk]:
    """Like the fixture `jobs`."""
    aws.forget()
    with patch.dict(os.environ, SETTINGS), account(), Double() as dynamodb:
        aws.client("s3").create_bucket(Bucket=settings.bucket())
        for name, queue in (("JOBS", "jobs"), ("IMPORT", "import-chunks")):
            made = aws.client("sqs").create_queue(QueueName=f"backroom-test-{queue}")
            os.environ[f"{name}_QUEUE_URL"] = made["QueueUrl"]
        yield JobDesk(dynamodb, Shop())
    aws.forget()
    gc.collect()


def show(name: str, jobs: JobDesk, work: Callable[[], Any]) -> tuple[Any, float]:
    """The job, and its seconds of CPU without DynamoDB's."""
    own, began = jobs.dynamodb.cpu, time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), jobs.dynamodb.metered() as calls:
        job = work()
    assert job["status"] == "COMPLETED" and job["failed"] == 0, job
    cpu = time.process_time() - began - (jobs.dynamodb.cpu - own)
    records = job["total"]
    read = sum(call.read_units for call in calls) / records
    write = sum(call.write_units for call in calls) / records
    print(
        f"{name}, {records:,} records: {len(calls) / records:.2f} calls, {read:.1f} read and"
        f" {write:.1f} write units, {1_000 * cpu / records:.2f} ms CPU each",
        flush=True,
    )
    return job, cpu


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
