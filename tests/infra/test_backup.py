"""`infra/backup.py` in one process: what a restored shop does by itself."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from chalicelib import settings
from chalicelib.jobs import queue
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType, Step
from chalicelib.outbox import fan_out
from chalicelib.reindexing.store import LISTED
from chalicelib.storage import table
from infra import backup
from tests.support.webhook_events import stream
from tests.support.webhook_world import World, announce
from tests.webhooks.build import add

pytestmark = pytest.mark.thorough


class Services:
    """A bucket whose only file expires when it is asked for, unless it is `kept`, and a parameter
    store."""

    exceptions = SimpleNamespace(ResourceNotFoundException=KeyError)

    def __init__(self) -> None:
        self.master_key = "of the old stage"
        self.kept, self.uploaded = False, list[object]()
        self.variables = {"backroom-test-check_counts": {"CURRENCY": "eur"}}

    def get_function_configuration(self, FunctionName: str) -> Any:
        usual = {"CURRENCY": "EUR", "TIMEZONE": "UTC"}
        return {"Environment": {"Variables": self.variables.get(FunctionName, usual)}}

    def describe_stacks(self, StackName: str) -> Any:
        names = {"Bucket": "bucket", "PicturesBucket": "pictures"}
        outputs = [{"OutputKey": key, "OutputValue": name} for key, name in names.items()]
        return {"Stacks": [{"Outputs": outputs}]}

    def get_paginator(self, operation: str) -> Any:
        keys = {"bucket": "exports/a.csv", "pictures": "pic_1/large.webp"}
        return SimpleNamespace(
            paginate=lambda Bucket, **asked: [{"Contents": [{"Key": keys[Bucket]}]}]
        )

    def download_file(self, bucket: str, key: str, path: str) -> None:
        if self.kept:
            Path(path).touch()
            return
        raise ClientError({"Error": {"Code": "404"}}, "HeadObject")

    def upload_file(self, path: str, *asked: object) -> None:
        self.uploaded.append(asked)

    def get_parameter(self, **asked: Any) -> Any:
        return {"Parameter": {"Value": self.master_key}}

    def get_queue_url(self, QueueName: str) -> Any:
        return {"QueueUrl": QueueName}

    def put_parameter(self, Value: str, **asked: Any) -> None:
        assert Value == self.master_key


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Services:
    made = Services()
    monkeypatch.setattr(
        boto3, "client", lambda name: table.client() if name == "dynamodb" else made
    )
    return made


def restored(folder: Path) -> None:
    """Into another stage, whose tables the settings name from now on."""
    backup.main(["--stage", "test", "--to", str(folder)])
    backup.main(["--stage", "new", "--from", str(folder)])
    assert settings.table() == "backroom-new"


def test_a_restored_shop_sends_nothing_that_was_not_waiting(
    world: World, services: Services, tmp_path: Path
) -> None:
    """Its fan-out gets all events, also those that have expired with their deliveries."""
    taking, paused = add(world), add(world)
    world.shop.put(paused.path, {"enabled": False})
    announce()
    world.run()
    assert len(taking.listed()) == len(world.posted) == 1
    world.shop.put(paused.path, {"enabled": True})
    world.sleep(days=31)
    assert taking.listed() == []
    late = announce()
    world.step()  # its delivery is made, and waits on the queue
    new = announce()
    restored(tmp_path / "backup")
    world.queues.clear()
    world.posted.clear()
    fan_out.handle(stream(list(world.double.items(settings.outbox_table()))))
    world.run(timedelta(minutes=1))
    sent = sorted(posted.delivery[4:32] for posted in world.posted)
    assert sent == sorted(2 * [late[4:], new[4:]])


def test_a_job_that_was_at_work_continues_in_the_restored_shop(
    world: World, services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody can cancel an erasure, and its customer takes no order until it ends."""
    sent = list[object]()
    monkeypatch.setattr(queue, "send", lambda id, step: sent.append((id, step, settings.table())))
    cancelled, erasure, _ = (
        str(json.loads(jobs.create(kind, {"customer": "cus_1"}))["jobId"])
        for kind in (JobType.REPORT, JobType.CUSTOMER_ERASURE, JobType.EXPORT)
    )
    jobs.cancel(cancelled)
    jobs.advance(jobs.begin(jobs.get(erasure)), Step({"phase": 1}))
    sent.clear()
    restored(tmp_path / "backup")
    assert sent == [(erasure, 1, "backroom-new")]


def test_a_restored_file_is_of_its_kind(world: World, services: Services, tmp_path: Path) -> None:
    services.kept = True
    restored(tmp_path / "backup")
    kind = {"ContentType": "text/csv; charset=utf-8"}
    seen = {"ContentType": "image/webp", "CacheControl": "public, max-age=31536000, immutable"}
    assert services.uploaded == [
        ("bucket", "exports/a.csv", kind),
        ("pictures", "pic_1/large.webp", seen),
    ]


def test_a_restored_shop_has_the_number_of_shards_of_its_code(
    world: World, services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(12):
        world.shop.post("/api/admin/products", {"name": f"Mug {number}", "price": 9, "tags": ["a"]})
    paths = ("products?search=mug", "products?tag=a&limit=5", "products?sort=name", "jobs")
    before = [world.shop.get(f"/api/admin/{path}").json for path in paths]
    backup.main(["--stage", "test", "--to", str(tmp_path / "backup")])
    for kind in LISTED:
        monkeypatch.setitem(kind.__dict__, "list_shards", 3)
        monkeypatch.setitem(kind.__dict__, "word_shards", 5)
    backup.main(["--stage", "new", "--from", str(tmp_path / "backup")])
    assert [world.shop.get(f"/api/admin/{path}").json for path in paths] == before
    keys = [item["pk"]["S"] for item in world.double.items(settings.table())]
    used = {(pk[:4], pk.rpartition("of")[2]) for pk in keys if pk.startswith(("list#", "word#"))}
    assert used == {("list", "3"), ("word", "5")}


@pytest.mark.parametrize("other", [{}, {"CURRENCY": "EUR", "TIMEZONE": "Asia/Tokyo"}])
def test_a_stage_with_another_currency_or_time_zone_is_not_filled(
    world: World, services: Services, tmp_path: Path, other: dict[str, str]
) -> None:
    services.variables["backroom-new-check_counts"] = other
    with pytest.raises(SystemExit, match="deploy it with --currency EUR --timezone UTC"):
        restored(tmp_path / "backup")
    assert not any(world.double.items("backroom-new"))


def test_a_damaged_backup_is_not_restored_in_part(
    world: World, services: Services, tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    announce()
    backup.main(["--stage", "test", "--to", str(folder)])
    whole = (folder / "outbox.jsonl.gz").read_bytes()
    (folder / "outbox.jsonl.gz").write_bytes(whole[:-20])
    for damaged in (folder, tmp_path / "typo"):
        with pytest.raises(SystemExit, match="is no whole backup"):
            backup.main(["--stage", "new", "--from", str(damaged)])
    assert not any(world.double.items("backroom-new"))
