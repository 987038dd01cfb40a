"""Moves all records to the index of the deployed code, while the shop is in use.

    python infra/reindex.py --stage prod                # all kinds, 10 records a second
    python infra/reindex.py --stage prod product --rate 50

Run it after a deployment that splits text into other words or adds a facet to a kind
(docs/listing.md, Changing the index), and after a release that was rolled back is deployed again.
It starts a job of the stage and follows it. The job goes on without it; run again, it follows the
same job.

The job ends after one pass over all records if that found nothing to do. Otherwise the last pass
begins when no function of the previous release runs any more, `--settle` seconds after the start.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, JobStatus, JobType
from chalicelib.listing import RELEASE
from chalicelib.reindexing.store import ALL
from chalicelib.storage import table
from infra import keys, refused

_LONGEST_FUNCTION: Final = 900  # seconds: .chalice/config.json
_BETWEEN_LOOKS: Final = 2  # seconds


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse_options(arguments)
    keys.connect_stage(options.stage, options.endpoint_url)
    job = _find_running()
    if job is None:
        asked = {"kinds": options.kinds, "rate": options.rate, "settle": options.settle}
        job = jobs.get(_start_job(options.stage, asked))
    print(f"{job.id}: {json.dumps(job.request)}", flush=True)
    _follow_job(job)


def _find_running() -> Job | None:
    """Return the job that was started last, unless it has ended."""
    job = jobs.find((table.get(RELEASE) or {}).get("job", ""))
    return None if job is None or job.has_ended else job


def _start_job(stage: str, asked: dict[str, object]) -> str:
    name = f"backroom-{stage}-jobs"
    os.environ["JOBS_QUEUE_URL"] = boto3.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]
    id = str(json.loads(jobs.create(JobType.REINDEX, asked, "infra/reindex.py"))["jobId"])
    table.update(RELEASE, assign={"job": id})
    return id


def _follow_job(job: Job) -> None:
    """Print the progress of a job until it is completed."""
    shown = ""
    while True:
        text = (
            f"{job.status}: {job.fields['processed']:,} of {job.fields.get('total', 0):,} records,"
        )
        text += f" {job.fields['updated']:,} moved"
        if text != shown:
            print(text, flush=True)
        if job.status is JobStatus.COMPLETED:
            return
        if job.has_ended:
            raise SystemExit(f"{job.id} was not completed: {job.fields.get('error', job.status)}")
        shown = text
        time.sleep(_BETWEEN_LOOKS)
        job = jobs.get(job.id)


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [records.kind.name for records in ALL]
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"{', '.join(names)}; default: all"
    )
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    parser.add_argument("--rate", type=float, default=10.0, help="records moved a second")
    parser.add_argument(
        "--settle",
        type=int,
        default=_LONGEST_FUNCTION,
        help="seconds for which functions of the previous release may run; 0 if there are none",
    )
    options = parser.parse_args(arguments)
    options.kinds = options.kinds or names
    if unknown := set(options.kinds) - set(names):
        # To do nothing would look as if nothing was left to be moved.
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    # Below, the function would end before a record's turn; what is no number, no answer can show.
    if not 0.1 <= options.rate < math.inf:
        parser.error("--rate must be a number of at least 0.1")
    return options


if __name__ == "__main__":
    refused.run(main)
