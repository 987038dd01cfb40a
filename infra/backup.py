"""Copies all data of a stage into a folder, and back into an empty stage (docs/backup.md).

    python infra/backup.py --stage prod --to backup
    python infra/backup.py --stage prod --from backup     # replaces what a new stage has: its keys

The folder gets both tables (`table.jsonl.gz`, `outbox.jsonl.gz`), the bucket's files (`files/`),
the pictures of products (`pictures/`), the master key (`master-key`), and currency and time zone
(`shop.json`; not of a stage whose functions are deleted). Keep the folder secret: it has all data
and the key that protects secrets.
`--stage local` is what `make run` started.
"""

import argparse
import base64
import gzip
import json
import os
import sys
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import quote, unquote

import boto3
from botocore.exceptions import ClientError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib import listing
from chalicelib.exports.store import KINDS
from chalicelib.files.objects import PUBLISHED
from chalicelib.jobs import queue
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType
from chalicelib.reindexing.store import LISTED
from chalicelib.values.batches import batches
from infra import keys, refused, steps

_OWN: Final = "deployments/"  # in the bucket: what is deployed, which is no data
# All that a new stage has in its table: its first key, what the audit log says about it, counters
# of requests, and how far the hourly look for lost events is.
_NEW: Final = (
    *("key#", "keys", "release", "aud_", "list#audit#", "count#audit", "evt_", "feed"),
    *("rate#", "lost-events"),
)
_LISTED: Final = {kind.name: kind for kind in LISTED}
_AT_ONCE: Final = 25  # items of one write: DynamoDB's limit


def save(stage: str, folder: Path, tables: Sequence[str]) -> None:
    """Make the folder, whole or not at all. Only its owner may read it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as around:
        unfinished = Path(around) / folder.name
        unfinished.mkdir(mode=0o700)
        _copy_tables(stage, unfinished, tables)
        unfinished.rename(folder)


def _copy_tables(stage: str, folder: Path, tables: Sequence[str]) -> None:
    for name, table in zip(("table", "outbox"), tables, strict=True):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            texts = (
                json.dumps(item, default=_text, ensure_ascii=False) for item in _read_items(table)
            )
            number = sum(bool(lines.write(f"{text}\n")) for text in texts)
        print(f"{table}: {number:,} items")
    (folder / "master-key").write_text(_master_key(stage))
    with suppress(boto3.client("lambda").exceptions.ResourceNotFoundException):
        (folder / "shop.json").write_text(json.dumps(steps.shop_settings(stage)))
    for name, bucket in _bucket_names(stage).items():
        _copy_files(bucket, folder / name)


def _copy_files(bucket: str, files: Path) -> None:
    files.mkdir()
    for key in list(_list_files(bucket)):
        try:
            boto3.client("s3").download_file(bucket, key, str(files / quote(key, safe="")))
        except ClientError as refused:
            if refused.response["Error"]["Code"] != "404":  # it has expired meanwhile
                raise
    print(f"{bucket}: {len(list(files.iterdir())):,} files")


def restore(stage: str, folder: Path, tables: Sequence[str]) -> None:
    """Fill an empty stage from a backup: the tables first, then the files.

    A file that arrives looks for its job. The program ends with a message if the backup is damaged,
    or the stage has data, or another currency or time zone.
    """
    table, outbox = tables
    try:
        master_key = (folder / "master-key").read_text()
        for name in ("table", "outbox"):
            deque(_read_saved(folder, name), maxlen=0)
    except (OSError, EOFError, ValueError, zlib.error) as damaged:
        raise SystemExit(f"{folder} is no whole backup: {damaged}") from damaged
    if (folder / "shop.json").exists():
        shop = json.loads((folder / "shop.json").read_text())
        if shop != steps.shop_settings(stage):
            wanted = " ".join(f"--{name} {value}" for name, value in shop.items())
            raise SystemExit(f"{stage} has another currency or time zone: deploy it with {wanted}.")
    new = list(_read_items(table))
    used = next((item for item in new if not item["pk"]["S"].startswith(_NEW)), None)
    if used or any(item["events"]["L"] for item in _read_items(outbox)):
        raise SystemExit(f"{table} has data: restore into a new stage, or destroy this one first.")
    boto3.client("ssm").put_parameter(
        Name=steps.master_key_parameter(stage),
        Type="SecureString",
        Value=master_key,
        Overwrite=True,
    )
    _write_batch(table, ({"DeleteRequest": {"Key": _item_key(item)}} for item in new))
    for name, target in (("table", table), ("outbox", outbox)):
        items = map(_place_in_shard, _read_saved(folder, name))
        number = _write_batch(target, ({"PutRequest": {"Item": item}} for item in items))
        print(f"{target}: {number:,} items")
    for name, bucket in _bucket_names(stage).items():
        _restore_files(folder / name, bucket)
    _continue_jobs(stage)


def _restore_files(files: Path, bucket: str) -> None:
    found = sorted(files.iterdir()) if files.exists() else []
    for file in found:
        kind = {"ContentType": KINDS.get(file.suffix[1:], "binary/octet-stream")}
        more = PUBLISHED if files.name == "pictures" else kind
        boto3.client("s3").upload_file(str(file), bucket, unquote(file.name), more)
    print(f"{bucket}: {len(found):,} files")


def _place_in_shard(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item with the number of shards that this release has: the backup's may differ."""
    pk = item["pk"]["S"]
    kind = _LISTED.get(f"{pk}#".split("#")[1])
    return item | {"pk": {"S": kind.shard_pk(pk, item["sk"]["S"])}} if kind else item


def _continue_jobs(stage: str) -> None:
    """Send the message that each job at work had, except for exports.

    A merge or an erasure cannot be cancelled, and holds its customers until it ends. The pieces of
    an export's file are in the old bucket, and its end would not notice that.
    """
    name = f"backroom-{stage}-jobs"
    os.environ["JOBS_QUEUE_URL"] = boto3.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]
    for page in listing.walk_pages(jobs.page, listing.Query(limit=100, cursor="*")):
        for job in page.records:
            continues = "step" in job.fields and job.type != JobType.EXPORT  # imports have none
            if continues and not job.has_ended:
                queue.send(job.id, job.step)


def _read_saved(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (json.loads(line, object_hook=_decode_bytes) for line in lines)


def _read_items(table: str) -> Iterator[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan")
    for page in pages.paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def _item_key(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in ("pk", "sk") if name in item}


def _write_batch(table: str, requests: Iterator[dict[str, Any]]) -> int:
    """How many were written; what DynamoDB leaves out is sent again."""
    number = 0
    for some in batches(requests, _AT_ONCE):
        number += len(some)
        left = some
        while left:
            reply = boto3.client("dynamodb").batch_write_item(RequestItems={table: left})
            left = reply["UnprocessedItems"].get(table, [])
    return number


def _list_files(bucket: str) -> Iterator[str]:
    pages = boto3.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys_of = ([one["Key"] for one in page.get("Contents", [])] for page in pages)
    return (key for key in chain.from_iterable(keys_of) if not key.startswith(_OWN))


def _bucket_names(stage: str) -> dict[str, str]:
    """Return the buckets by the name of their folder."""
    made = boto3.client("cloudformation").describe_stacks(
        StackName=steps.stack_name(stage, "resources")
    )
    outputs = {one["OutputKey"]: one["OutputValue"] for one in made["Stacks"][0]["Outputs"]}
    names = {"files": "Bucket", "pictures": "PicturesBucket"}  # 1.0.0 has no pictures
    return {folder: outputs[name] for folder, name in names.items() if name in outputs}


def _master_key(stage: str) -> str:
    name = steps.master_key_parameter(stage)
    found = boto3.client("ssm").get_parameter(Name=name, WithDecryption=True)
    return str(found["Parameter"]["Value"])


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _decode_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """Return an attribute of DynamoDB's JSON, with bytes where it has them."""
    if value.keys() == {"B"} and isinstance(value["B"], str):
        return {"B": base64.b64decode(value["B"])}
    return value


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", type=Path, metavar="FOLDER", help="back up into this new folder")
    what.add_argument("--from", type=Path, metavar="FOLDER", dest="source", help="restore from it")
    parser.add_argument(
        "--copies",
        nargs=2,
        metavar=("TABLE", "OUTBOX"),
        help="back up these tables instead: copies by point-in-time recovery, of one moment",
    )
    options = parser.parse_args(arguments)
    keys.connect_stage(options.stage, options.endpoint_url)
    own = (os.environ["TABLE"], os.environ["OUTBOX_TABLE"])
    if options.to:
        if options.to.exists():
            raise SystemExit(f"{options.to} is there already: name a new folder.")
        save(options.stage, options.to, options.copies or own)
    else:
        restore(options.stage, options.source, own)


if __name__ == "__main__":
    refused.run(main)
