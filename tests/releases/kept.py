"""A shop as a release left it: each kind of record, and work of each kind that waits.

    python -m tests.releases.kept    # fills a shop by this code; writes VERSION.json.gz here

Run it with a release's own code, once, before the version is raised again: with the file the next
release is tested (`test_kept.py`). It has the items of both tables, the files, the messages of all
queues, the executions, and what each GET answered.
"""

import base64
import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest import mock
from urllib.parse import quote, urlencode

import app
import chalicelib
from chalicelib import aws, settings
from chalicelib.jobs import run, store
from chalicelib.jobs.model import JobType
from chalicelib.request.routes import operations
from tests.support.environment import SETTINGS
from tests.support.examples import Day, plain, walk
from tests.support.examples import day as a_day
from tests.support.webhook_events import Waiting
from tests.support.webhook_world import DELIVERIES, Execution, failed

FOLDER: Final = Path(__file__).parent
UNKNOWN: Final = "Artikel,Preis netto\nTeekanne,39.00\n"
_ADMIN = "/api/admin"
_PAGES: Final = 10  # of a list; the change feed has no end
_FAULTY: Final = "slug,name,price\ntowel,Tea towel,9.50\ncloth,Cloth,not known\n"
_NOVEMBER: Final = {"from": "2026-11-01", "to": "2026-11-30"}


def made() -> Any:
    """All of a shop that this code filled, as JSON."""
    with mock.patch("time.sleep"), a_day() as day:
        walk(day)
        _leave_failures(day)
        _leave_records(day)
        _leave_jobs(day)
        _leave_imports(day)
        _leave_deliveries(day)
        return json.loads(json.dumps(_snapshot(day), default=str))


# --- What waits -----------------------------------------------------------------------------------


def _leave_failures(day: Day) -> None:
    """A delivery whose attempts are all made."""
    asked = {"url": "https://gone.example.com/hook", "events": ["product.created"]}
    webhook = day.admin("POST", "/webhooks", asked)
    answered, day.world.answer = day.world.answer, lambda posted: failed(503)
    day.admin("POST", "/products", {"name": "Plate", "price": 9})
    day.world.run(timedelta(days=10))
    day.world.answer = answered
    day.admin("PUT", f"/webhooks/{webhook['id']}", {"events": ["customer.deleted"]})


def _leave_records(day: Day) -> None:
    """What is kept for a day, or that the walk deleted again."""
    mug = {"name": "Mug", "price": 9, "externalId": "E-1"}
    once: Any = {"headers": {"Idempotency-Key": "mug"}}
    made = day.admin("POST", "/products", mug, **once)
    nowhere = {"ids": [made["id"], "prod_nowhere"], "change": {"addTags": ["new"]}}
    day.worked(day.admin("POST", "/products/bulk-edit", nowhere)["jobId"])
    day.upload("twice.csv", "slug,name,price\na,A,1\na,A,2\n")
    day.upload("tried.csv", "slug,name,price\nb,B,1\n", dryRun="true")
    buyers = [{"id": _customer(day)} for _ in range(2)]
    line = {"variantId": made["variants"][0]["id"], "quantity": 1}
    order = day.admin("POST", "/orders", {"lineItems": [line], "customer": buyers[0]})
    day.admin("POST", f"/orders/{order['id']}/edit", {"customer": buyers[1], "reason": "hers"})
    mapping = {"columns": {"Artikel": "name", "Preis": "price"}}
    day.admin("PUT", "/products/import/mappings/lieferant", mapping)


def _leave_jobs(day: Day) -> None:
    """Jobs of every type, before their first step and after it. (After it, the pieces of an export
    are in an upload that S3 has not ended: a copy of the files has none of it.)"""
    variant = {"title": "Blue", "stock": 500}
    new = [{"name": f"Mug {n}", "price": 9, "variants": [variant]} for n in range(60)]
    answers = day.admin("POST", "/products/bulk", new)["data"]
    mugs = [one["product"] for one in answers]
    every = {"ids": [mug["id"] for mug in mugs]}
    done = []
    for vendor in ("Kestrel", "Heron"):
        change = {**every, "change": {"vendor": vendor}}
        done.append(day.admin("POST", "/products/bulk-edit", change)["jobId"])
        day.worked(done[-1])
    for steps, edited in enumerate(done):
        source, into = _customer(day, mugs[0]), _customer(day)
        asked: dict[str, Any] = {
            "/products/bulk-edit": {**every, "change": {"addTags": [f"new-{steps}"]}},
            f"/jobs/{edited}/undo": None,
            "/exports": {"type": "products", "all": True},
            "/reports": {"type": "sales", "by": "day", **_NOVEMBER},
            f"/customers/{source}/merge": {"into": into},
            f"/customers/{_customer(day, mugs[0])}/erase": None,
            f"/stock/counts/{_count(day, mugs)}/apply": None,
        }
        if steps:
            del asked["/exports"]
        for path, body in asked.items():
            _left(day, day.admin("POST", path, body)["jobId"], steps)
        reindex = {"kinds": ["product", "job"], "rate": 1e9, "settle": 0}
        _left(day, json.loads(store.create(JobType.REINDEX, reindex, "me"))["jobId"], steps)


def _customer(day: Day, mug: Any = None) -> str:
    """A customer, who ordered the mug 30 times."""
    id = str(day.admin("POST", "/customers", {"firstName": "Eve"})["id"])
    line = {"variantId": mug["variants"][0]["id"], "quantity": 1} if mug else {}
    for _ in range(30 if mug else 0):
        day.admin("POST", "/orders", {"lineItems": [line], "customer": {"id": id}})
    return id


def _count(day: Day, mugs: Any) -> str:
    variants = [mug["variants"][0]["id"] for mug in mugs]
    asked = {"name": "Mugs", "variantIds": variants}
    id = str(day.admin("POST", "/stock/counts", asked)["id"])
    lines = [{"variantId": variant, "counted": 400} for variant in variants]
    day.admin("PUT", f"/stock/counts/{id}/lines", {"lines": lines})
    return id


def _left(day: Day, job: str, steps: int) -> None:
    """Its message is left after so many steps."""
    with mock.patch.object(run, "_SECONDS", -1):
        for _ in range(steps):
            day.handle(day.jobs.pop())
    assert int(store.get(job).step) == steps, store.get(job)


def _leave_imports(day: Day) -> None:
    """One before it is planned, one that asks for its columns, and one before each of its steps."""
    day.sent("spring.csv", _FAULTY)
    day.plan(day.sent("lieferant.csv", UNKNOWN))
    waiting = day.jobs[:]
    day.jobs.clear()
    ended = day.upload("spring.csv", _FAULTY)["id"]
    day.admin("POST", f"/jobs/{ended}/retry")
    waiting += day.jobs
    day.jobs.clear()
    for steps in (0, 1):
        day.plan(day.sent("spring.csv", _FAULTY))
        for _ in range(steps):
            day.handle(day.jobs.pop())
        waiting += day.jobs
        day.jobs.clear()
    day.jobs += waiting


def _leave_deliveries(day: Day) -> None:
    """One each in an execution, in the queue of retries and in that of new events; one that was
    sent early, one whose sender crashed, a replay and a recovery; and an event that the stream has
    not brought."""
    world, product = day.world, {"name": "Cup", "price": 9}
    asked = {"url": "https://shop.example.com/hook", "events": ["product.created"]}
    id = day.admin("POST", "/webhooks", asked)["id"]
    recover = {"since": "2026-11-01T00:00:00Z", "dryRun": False}
    world.answer = lambda posted: failed(503)
    day.admin("POST", "/products", product)
    world.run(timedelta(hours=3))
    day.admin("POST", f"/webhooks/{id}/recover", recover)
    world.run(timedelta(minutes=2))
    day.admin("POST", "/products", product)
    world.run(timedelta(seconds=1))
    day.admin("POST", "/products", product)
    world.fate = lambda operation: False if operation == "Post" else None
    world.run(timedelta(seconds=1))
    world.fate = lambda operation: None
    # New events of a receiver that is failing are in the queue of retries.
    day.admin("POST", "/webhooks", {**asked, "url": "https://well.example.com/hook"})
    day.shop.post(f"{_ADMIN}/products", product)
    while not world.queues[DELIVERIES]:
        assert world.step()
    day.shop.post(f"{_ADMIN}/products", product)
    assert world.unread_events()
    plate = day.shop.get(f"{_ADMIN}/deliveries?status=FAILED").json["data"][0]["id"]
    for path, body in (f"deliveries/{plate}/replay", None), (f"webhooks/{id}/recover", recover):
        assert day.shop.post(f"{_ADMIN}/{path}", body).status == 202


# --- The shop as JSON -----------------------------------------------------------------------------


def _snapshot(day: Day) -> dict[str, Any]:
    world = day.world
    tables = (settings.table(), settings.outbox_table())
    return {
        "release": chalicelib.__version__,
        "now": world.now,
        "owner": day.shop.owner,
        "answers": {path: answer(day, path) for path in _reads(day)},
        "tables": {name: list(world.double.items(name)) for name in tables},
        "streamed": sorted(world._read),
        "files": {key: base64.b64encode(body).decode() for key, body in files().items()},
        "jobs": day.jobs,
        "queues": {url: list(map(vars, waiting)) for url, waiting in world.queues.items()},
        "executions": list(map(vars, world.executions.values())),
    }


def files() -> dict[str, bytes]:
    s3, bucket = aws.client("s3"), settings.bucket()
    keys = [each["Key"] for each in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
    return {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


def answer(day: Day, path: str) -> list[Any]:
    """The status and the JSON of a GET, without what differs each time."""
    found = day.shop.get(path)
    is_json = "json" in found.headers["Content-Type"]
    return [found.status, plain(found.json if is_json else found.text)]


def _reads(day: Day) -> Iterator[str]:
    """A GET of each operation, and of each record of each list."""
    assert app.app.routes  # all slices are imported
    gets = {path for method, path in operations if method == "GET" and path.startswith("/api/")}
    for path in sorted(gets):
        if (example := day.found.get(f"GET {path}")) is None:
            continue  # what `tests/support/examples.py` does not ask for
        url = path
        for name, value in example.get("path", {}).items():
            url = url.replace(f"{{{name}}}", quote(value))
        query = urlencode(example.get("query", {}), doseq=True)
        yield f"{url}?{query}" if query else url
        for _ in range(_PAGES if "{" not in path else 0):
            _, found = answer(day, url)
            listed = found.get("data", []) if isinstance(found, dict) else []
            if listed:
                yield url
            if f"{path}/{{id}}" in gets:
                yield from (f"{path}/{one['id']}" for one in listed)
            after = listed and (found.get("nextCursor") or found.get("pagination", {}).get("next"))
            if not after:
                break
            url = f"{path}?cursor={quote(after)}"


@contextmanager
def restored(kept: Any) -> Iterator[Day]:
    with a_day() as day:
        world, bucket = day.world, settings.bucket()
        world.now = datetime.fromisoformat(kept["now"])
        for name, items in kept["tables"].items():
            world.double.load([{"Put": {"TableName": name, "Item": item}} for item in items])
        world._read = set(kept["streamed"])
        for key, body in kept["files"].items():
            aws.client("s3").put_object(Bucket=bucket, Key=key, Body=base64.b64decode(body))
        day.jobs += kept["jobs"]
        for url, waiting in kept["queues"].items():
            world.queues[url] = [Waiting(**_timed(one)) for one in waiting]
        for one in kept["executions"]:
            world.executions[one["name"]] = Execution(**_timed(one))
        day.shop._keys["OWNER"] = kept["owner"]
        yield day


def _timed(fields: dict[str, Any]) -> dict[str, Any]:
    times = {name: fields[name] for name in ("at", "visible") if name in fields}
    return fields | {name: datetime.fromisoformat(text) for name, text in times.items()}


def read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


if __name__ == "__main__":
    os.environ.update(SETTINGS)
    target = FOLDER / f"{chalicelib.__version__}.json.gz"
    target.write_bytes(gzip.compress(json.dumps(made(), sort_keys=True).encode(), mtime=0))
    print(target)
