"""A shop of this release, and of each one before, is read as it was, and what waited in it ends.

`kept.py` makes the files of releases. This release's own shop is filled here, so that a kind of
record, job, message or state that no file would have is noticed now.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from pydantic.alias_generators import to_camel

import chalicelib
from chalicelib.imports.steps import run as imports
from chalicelib.jobs.model import JobType
from chalicelib.nightly import check
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import DeliveryStatus
from tests.infra.test_templates import of_type
from tests.releases import kept
from tests.support.environment import SETTINGS
from tests.support.examples import Day
from tests.support.reindexing import reindex
from tests.support.webhook_world import OK

pytestmark = pytest.mark.thorough

JOBS: Final = "/api/admin/jobs"
CODE: Final = Path(chalicelib.__file__).parent
NOT_IN_A_SHOP: Final = {
    "console#": "an address",
    "part#": "of a kept reply of more than 300 KB, which would be most of the file",
}


NOT_IN_1_0_0: Final = {"files#", "menu#", "moved#"}
# What is kept for good: the keys of its items, and what an erasure does to it.
STAYS: Final = {
    r"cus_\w+ customer": "rewritten",
    r"ord_\w+ (order|work)": "rewritten",
    r"aud_\w+ audit": "rewritten",
    r"files#ord_\w+ files": "deleted with their objects; of moved orders, mentions are removed",
    r"used#(order|customer)#": "those that mention the person are deleted",
    r"mappings ": "those that mention the person are deleted",
    r"job_\w+ job": "its request and its name are rewritten",
    r"(list|word|count|menu)#": "follow their record",
    r"email#": "deleted when the erasure is asked for",
    r"external#": "follows its record",
    r"cus_\w+ gone$": "what a merged customer was called is removed",
    r"cus_\w+ moved#ord_\w+$": "ids alone",
    r"(unnamed#cus_\w+ customer|erasures last)$": "written by erasures: ids and times",
    r"prod_\w+ (product|stock)|(sku|slug)#|used#product#|pic_\w+ picture": "products",
    r"var_\w+ ledger|mov_\w+ movement|cnt_\w+ (count|lines#)": "stock",
    r"(release|sales|sequence|mappings-saved) ": "sums and numbers",
    r"keys? |key#|webhooks |settings ": "the shop's own people and programs",
}
LONGEST: Final = timedelta(days=30)


@pytest.fixture(scope="module", autouse=True)
def configured() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as settings:
        for name, value in SETTINGS.items():
            settings.setenv(name, value)
        settings.setattr("time.sleep", lambda seconds: None)
        yield


@cache
def made() -> Any:
    return kept.made()


@pytest.fixture(scope="module", params=[*sorted(kept.FOLDER.glob("*.json.gz")), None])
def shop(request: pytest.FixtureRequest) -> Any:
    return kept.read(request.param) if request.param else made()


def holds(before: Any, now: Any) -> bool:
    """Whether an answer has all that it had. A later release may have added fields, and columns
    at the end of a CSV.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        return all(name in now and holds(value, now[name]) for name, value in before.items())
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(holds, before, now))
    if isinstance(before, str) and isinstance(now, str) and "\r\n" in before:
        rows = zip(before.split("\r\n"), now.split("\r\n"), strict=True)
        return all(new.startswith(old) for old, new in rows)
    return bool(before == now)


def test_every_get_answers_what_it_answered(shop: Any) -> None:
    with kept.restored(shop) as day:
        for path, before in shop["answers"].items():
            now = kept.answer(day, path)
            assert holds(before, now), (path, before, now)


def test_work_that_waited_ends(shop: Any) -> None:
    with kept.restored(shop) as day:
        waited = {one["id"] for one in listed(day) if one["status"] in {"QUEUED", "RUNNING"}}
        for _ in range(2):  # a copy of a file is planned after it was made
            for key in kept.files():
                if (job := key.removeprefix("imports/").removesuffix(".csv")) in waited:
                    day.plan(job)
            work(day)
        ended = Counter((one["type"], one["status"]) for one in listed(day) if one["id"] in waited)
        assert {status for _, status in ended} == {"COMPLETED"}, ended
        day.world.answer = lambda posted: OK
        day.world.run()
        cups = [post for post in day.world.posted if b'"Cup"' in post.body]
        assert len({post.delivery for post in cups}) == len(cups) == 3 + 2 * 2, "each arrived once"
        reindex()
        assert [name for name, found in check.list_recounts() if found.wrong] == []


def work(day: Day) -> None:
    """Handles messages until none is left."""
    for _ in range(2_000):
        if not day.jobs:
            return
        day.handle(day.jobs.pop(0))
        day.world.now += timedelta(minutes=1)  # an erasure waits for writes that may be running
    raise AssertionError("the jobs do not end")


def listed(day: Day) -> list[Any]:
    found, path = [], f"{JOBS}?limit=100&cursor=*"
    while path:
        answer = day.shop.get(path).json
        found += answer["data"]
        after = answer["pagination"]["next"]
        path = f"{JOBS}?limit=100&cursor={quote(after)}" if after else ""
    return found


def test_each_kind_is_there(shop: Any) -> None:
    items = [item for items in shop["tables"].values() for item in items]
    keys = [item[name]["S"] for item in items for name in ("pk", "sk")]
    kinds = {match[0] for key in keys if (match := re.match("[a-z]+#", key))}
    later = NOT_IN_1_0_0 if shop is not made() else set()
    assert kinds_of_code() - kinds - NOT_IN_A_SHOP.keys() - later == set()


def test_whatever_stays_is_known_to_erasures_and_the_rest_ends_within_30_days() -> None:
    """Else an erasure leaves a person's data for good."""
    end = (datetime.fromisoformat(made()["now"]) + LONGEST).timestamp()
    found = set()
    for item in chain.from_iterable(made()["tables"].values()):
        keys = f"{item['pk']['S']} {item['sk']['S']}"
        if "expiresAt" not in item:
            (pattern,) = (one for one in STAYS if re.match(one, keys))
            found.add(pattern)
        else:
            hour = 3_600 if item["pk"]["S"] == "feed" else 0  # the list of hours, without an event
            assert float(item["expiresAt"]["N"]) <= end + hour, keys
    assert STAYS.keys() - found == set()


def test_each_file_ends_within_30_days() -> None:
    bucket = of_type("resources.yaml", "AWS::S3::Bucket")["Bucket"]
    rules = bucket["LifecycleConfiguration"]["Rules"]
    days = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    ends = {prefix for prefix, after in days.items() if after <= LONGEST.days}
    recorded = {"pictures/", "files/"}  # deleted with their record
    assert {f"{key.partition('/')[0]}/" for key in made()["files"]} - recorded == ends


def kinds_of_code() -> set[str]:
    """What the code's texts for keys begin with, such as `sku#`."""
    texts = set()
    for path in CODE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)  # the beginning of an f-string is one, too
    return {found[0] for text in texts if (found := re.match("[a-z]+#", text))}


def test_work_of_each_kind_waits(shop: Any) -> None:
    messages = [json.loads(message["body"]) for message in shop["jobs"]]
    steps = {message["step"] for message in messages if isinstance(message["step"], str)}
    assert steps == imports._STEPS.keys()
    with kept.restored(shop) as day:
        types = {one["id"]: one["type"] for one in listed(day)}
        of_jobs = [one for one in messages if isinstance(one["step"], int)]
        for between, without in ((False, set[JobType]()), (True, {JobType.EXPORT})):
            found = {types[one["job"]] for one in of_jobs if bool(one["step"]) is between}
            assert found == {*JobType} - {JobType.PRODUCT_IMPORT} - without
        path = "/api/admin/deliveries?limit=100"
        states = {one["status"] for one in day.shop.get(path).json["data"]}
    assert states == {*DeliveryStatus} - {DeliveryStatus.CANCELLED}
    waiting = [one["body"] for queue in shop["queues"].values() for one in queue]
    items = shop["tables"][SETTINGS["TABLE"]]
    waiting += [item["message"]["S"] for item in items if item["pk"]["S"].startswith("due#")]
    named = {name for body in waiting for name in json.loads(body)}
    assert named - {"early"} == {to_camel(each.name) for each in fields(Message)}  # of 1.0.0
    assert any("claim" in item for item in items)
    assert all(shop["queues"].values()) and any(one["waiting"] for one in shop["executions"])
