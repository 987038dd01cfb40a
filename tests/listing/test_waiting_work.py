"""Work that waits while a shop is upgraded and reindexed ends as if nothing had happened: a job
between two steps, messages in queues, imports, a kept reply, undos of an edit and an import, a
merge, an erasure, and events on their way to receivers."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.jobs import run
from chalicelib.nightly import check
from tests.customers.build import CUSTOMERS, customer
from tests.customers.test_erasure import build, expect_forgotten
from tests.listing.things import deploy
from tests.orders.build import ORDERS, line, placed, variant
from tests.support.import_desk import Desk
from tests.support.job_desk import PRODUCTS, JobDesk
from tests.support.reindexing import reindex
from tests.support.webhook_world import OK, RETRIES, World, failed
from tests.webhooks.build import add

pytestmark = pytest.mark.thorough

Upgrade = Callable[[], None]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Upgrade:
    """Deploys code that indexes otherwise, and reindexes the shop."""

    def upgrade() -> None:
        deploy(monkeypatch)
        reindex()

    return upgrade


@pytest.mark.parametrize("reindexed_first", [True, False])
def test_work_that_waits_survives_an_upgrade(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, upgrade: Upgrade, reindexed_first: bool
) -> None:
    shop, imports = jobs.shop, Desk(jobs.shop, jobs.dynamodb)
    hat = jobs.product(name="Hat", vendor="A")
    sold = {"ids": [hat["id"]], "change": {"vendor": "B"}}
    before = jobs.done(f"{PRODUCTS}/bulk-edit", sold)
    assert jobs.now(hat)["vendor"] == "B"
    coats = imports.imported("Name,Price\nCoat,70\n")
    foreign = imports.imported("Title of it,Selling Price\nScarf,7\n")
    assert foreign["status"] == "NEEDS_MAPPING"
    edited = [jobs.product(name=f"Shirt {n}") for n in range(60)]
    mug: dict[str, Any] = {"name": "Mug", "price": "9.00"}
    kept = shop.made(PRODUCTS, mug, headers={"Idempotency-Key": "mug"})

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

    deploy(monkeypatch)
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
    assert (again.status, again.json) == (201, kept)
    upgrade()

    assert jobs.now(hat)["vendor"] == "A"
    assert all(jobs.now(one)["tags"] == ["new"] for one in edited)
    totals = {"tag=new": 60, "search=shirt": 60, "vendor=B": 0, "search=cap": 1, "search=mug": 1}
    totals["search=coat"] = 0
    for query, total in totals.items():
        assert shop.get(f"{PRODUCTS}?{query}").json["total"] == total, query
    counts_are_right()


def counts_are_right() -> None:
    assert [name for name, found in check.list_recounts() if found.wrong] == []


def finish(jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, upgrade: Upgrade, at: int) -> int:
    """Runs a job one step a message, and upgrades before the nth; how many steps it took."""
    monkeypatch.setattr(run, "_SECONDS", -1)
    steps = 0
    while messages := list(jobs.messages()):
        (message,) = messages
        if steps == at:
            upgrade()
        jobs.handle(message)
        steps += 1
    return steps


@pytest.mark.parametrize("at", range(4))
def test_a_merge_is_upgraded_before_any_step(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, upgrade: Upgrade, at: int
) -> None:
    shop = jobs.shop
    ada, twin = (customer(shop, email=f"{name}@example.com") for name in ("ada", "countess"))
    id = variant(shop)
    for _ in range(30):
        placed(shop, line(id), customer={"id": twin["id"]})
    job = jobs.start(f"{twin.path}/merge", {"into": ada["id"]})
    assert finish(jobs, monkeypatch, upgrade, at) == 3
    if at == 3:
        upgrade()
    assert jobs.counted(jobs.job(job)) == {"updated": 30}
    totals = {f"customerId={ada['id']}": 30, f"customerId={twin['id']}": 0, "search=countess": 0}
    for query, total in (totals | {"search=ada@example.com": 30}).items():
        assert shop.get(f"{ORDERS}?{query}").json["total"] == total, query
    assert shop.get(f"{CUSTOMERS}?search=countess").json["total"] == 0
    counts_are_right()


@pytest.mark.parametrize("at", [0, 1, 2, 3, 5, 8])
def test_an_erasure_is_upgraded_before_any_step(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, upgrade: Upgrade, at: int
) -> None:
    made, orders = build(jobs)
    job = jobs.start(f"{made.path}/erase")
    assert finish(jobs, monkeypatch, upgrade, at) > at
    assert jobs.job(job)["status"] == "COMPLETED"
    expect_forgotten(jobs, made, orders)


@pytest.mark.parametrize("reindexed_first", [True, False])
def test_events_on_their_way_arrive_once(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    upgrade: Upgrade,
    reindexed_first: bool,
) -> None:
    webhook = add(world)

    def announced(name: str) -> str:
        return str(world.shop.post(PRODUCTS, {"name": name, "price": "9.00"}).json["id"])

    world.answer = lambda posted: failed()
    parked = announced("Coat")
    world.run(timedelta(hours=3))
    assert [one.waiting for one in world.executions.values()].count(True) == 1
    retried = announced("Hat")
    world.run(timedelta(seconds=1))
    assert len(world.queues[RETRIES]) == 1
    sent = announced("Mug")
    assert world.step()  # the fan-out
    unread = announced("Scarf")
    assert len(world.unread_events()) == 1
    world.posted.clear()

    deploy(monkeypatch)
    if reindexed_first:
        upgrade()
    world.answer = lambda posted: OK
    world.run()
    upgrade()
    world.run()
    events = [json.loads(posted.body) for posted in world.posted]
    assert sorted(event["data"]["id"] for event in events) == sorted(
        [parked, retried, sent, unread]
    )
    assert {event["event"] for event in events} == {"product.created"}
    assert [one["status"] for one in webhook.listed()] == ["DELIVERED"] * 4
    assert world.shop.get(f"{PRODUCTS}?search=at").json["total"] == 0
    assert world.shop.get(PRODUCTS).json["total"] == 4
