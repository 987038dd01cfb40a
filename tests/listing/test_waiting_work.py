"""Work that waits while a shop is upgraded and reindexed ends as if nothing had happened: a job
between two steps, messages in queues, imports, a kept reply, undos of an edit and an import."""

from typing import Any

import pytest

from chalicelib import listing
from chalicelib.jobs import run
from chalicelib.listing import kinds, words
from infra import reindex
from tests.jobs.conftest import jobs
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk

__all__ = ["jobs"]
SHAPES = {1: kinds.Shape(2, 4), 2: kinds.Shape(3, 5)}


@pytest.mark.parametrize("reindexed_first", [True, False])
def test_work_that_waits_survives_an_upgrade(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, reindexed_first: bool
) -> None:
    shop, imports = jobs.shop, Desk(jobs.shop, jobs.dynamodb)
    monkeypatch.setattr(reindex.keys, "connect", lambda stage, endpoint_url: None)
    monkeypatch.setattr(kinds, "SHAPES", SHAPES)

    def upgrade() -> None:
        reindex.main(["--stage", "test", "--rate", "1e9", "--settle", "0"])

    hat = jobs.product(name="Hat", vendor="A")
    sold = {"ids": [hat["id"]], "change": {"vendor": "B"}}
    before = jobs.done(f"{PRODUCTS}/bulk-edit", sold)
    assert jobs.now(hat)["vendor"] == "B"
    coats = imports.imported("Name,Price\nCoat,70\n")
    foreign = imports.imported("Title of it,Selling Price\nScarf,7\n")
    assert foreign["status"] == "NEEDS_MAPPING"
    edited = [jobs.product(name=f"Shirt {n}") for n in range(60)]
    mug: dict[str, Any] = {"name": "Mug", "price": "9.00"}
    kept = shop.post(PRODUCTS, mug, headers={"Idempotency-Key": "mug"})
    assert kept.status == 201

    change = {"ids": [one["id"] for one in edited], "change": {"addTags": ["new"]}}
    edit = jobs.start(f"{PRODUCTS}/bulk-edit", change)
    with monkeypatch.context() as slow:
        slow.setattr(run, "_SECONDS", -1)  # one step a message
        (message,) = jobs.messages()
        jobs.handle(message)
    assert 0 < jobs.job(edit)["processed"] < 60
    export = jobs.start("/api/admin/exports", {"type": "products", "all": True})
    waiting = imports.send("Name,SKU,Price\nCap,cap,7\n")
    undo, taken = (jobs.start(f"/api/admin/jobs/{job['id']}/undo") for job in (before, coats))

    monkeypatch.setattr(kinds, "CURRENT", 2)
    monkeypatch.setattr(words, "_SHORTEST_ENDING", 2)
    if reindexed_first:
        upgrade()
    assert jobs.counted(jobs.finished(edit)) == {"updated": 60}
    assert jobs.job(export)["status"] == "COMPLETED"
    assert jobs.counted(jobs.job(undo)) == {"updated": 1}
    assert jobs.counted(jobs.job(taken)) == {"deleted": 1}
    columns = {"columns": {"Title of it": "name", "Selling Price": "price"}}
    assert shop.post(f"/api/admin/jobs/{foreign['id']}/mapping", columns).status == 200
    assert imports.finished(foreign["id"])["created"] == 1
    assert imports.finished(waiting)["created"] == 1
    again = shop.post(PRODUCTS, mug, headers={"Idempotency-Key": "mug"})
    assert (again.status, again.json) == (201, kept.json)
    upgrade()
    monkeypatch.setattr(kinds, "SHAPES", {2: SHAPES[2]})  # what was not moved is not found

    assert jobs.now(hat)["vendor"] == "A"
    assert all(jobs.now(one)["tags"] == ["new"] for one in edited)
    totals = {"tag=new": 60, "search=shirt": 60, "vendor=B": 0, "search=cap": 1, "search=mug": 1}
    totals["search=coat"] = 0
    for query, total in totals.items():
        assert shop.get(f"{PRODUCTS}?{query}").json["total"] == total, query
    for records in reindex.ALL:
        assert listing.recount(records.kind).wrong == []
