"""Crashes, and repeated, late and concurrent messages: no row is lost or counted twice, and the
shop is as the file describes it, read from the top (`model.py`)."""

import copy
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from chalicelib import aws, settings
from chalicelib.imports import chunks
from tests.imports import moves
from tests.imports.model import HEADER, Row, Thing, expected, random_file
from tests.support.cases import mark_thorough
from tests.support.dynamodb_double import Crash, Fault
from tests.support.import_desk import Desk

FAULTS = [fault for fault in Fault if fault not in {Fault.ERROR, Fault.LOST}]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "cut", partial(chunks.cut, rows=3))
    monkeypatch.setattr(settings, "imports_at_once", lambda: 1)


@pytest.mark.parametrize("seed", [0, *mark_thorough(range(1, 12))])
def test_the_shop_matches_the_file_despite_crashes(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    first, second = random_file(chance), random_file(chance)
    shop: dict[str, Thing] = {}
    for rows in (first, second):
        wanted = expected(rows, shop)
        events = Counter(event for event, _ in desk.events())
        job = imported_with_faults(desk, text(rows), chance)
        assert job["status"] == "COMPLETED", job
        counts = {name: job[name] for name in ("created", "updated", "unchanged", "failed")}
        assert things(desk) == wanted.things
        assert counts == {name: wanted.counts[name] for name in counts}
        assert job["total"] == job["processed"] == sum(counts.values())
        announced = Counter(event for event, _ in desk.events()) - events
        assert announced["product.created"] == len(wanted.things.keys() - shop.keys())
        assert announced["product.updated"] == wanted.counts["updated"]
        assert job["withErrors"] == wanted.with_errors
        assert job["progress"] == 100
        assert {error["row"] for error in job["errors"]} >= {
            line for line, row in enumerate(rows, 2) if row.is_bad
        }
        shop = wanted.things
        all_events = desk.events()
        again = desk.imported(text(rows))
        assert (again["created"], again["updated"]) == (0, 0), text(rows)
        assert things(desk) == shop
        assert desk.events() == all_events


@pytest.mark.parametrize("seed", [0, *mark_thorough(range(1, 8))])
def test_products_keep_their_ids_despite_renames_and_crashes(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    goods = moves.random_goods(chance)
    ids: dict[str, str] = {}
    for _ in range(4):
        job = imported_with_faults(desk, moves.text(goods, chance), chance)
        assert (job["status"], job["failed"]) == ("COMPLETED", 0), job
        shop = {product["name"]: product for product in desk.products().values()}
        assert shop.keys() == {good.name for good in goods}
        for good in goods:
            assert moves.variants(shop[good.name]) == good.variants()
            for key, id in moves.ids(good, shop[good.name]).items():
                assert ids.setdefault(key, id) == id, (good, key)
        for good in goods:
            good.move(chance)


def text(rows: list[Row]) -> str:
    return HEADER + "".join(row.text() for row in rows)


def things(desk: Desk) -> dict[str, Thing]:
    """The shop's products as the model has them."""
    return {slug: _thing(product) for slug, product in desk.products().items()}


def _thing(product: dict[str, Any]) -> Thing:
    variants = {
        v["title"]: (v["price"], v["stock"]) for v in product["variants"] if v["title"] != "Default"
    }
    return Thing(product["name"], product["price"], variants)


def imported_with_faults(desk: Desk, file: str, chance: random.Random) -> Any:
    """The job after an import in which one call in twelve fails, and messages are repeated."""
    job_id = desk.send(file)
    late: list[dict[str, Any]] = []
    with faulty_calls(desk, chance):
        for _ in range(60):
            failed_calls = desk.dynamodb.failed_calls
            try:
                desk.uploaded(job_id)
                break
            except Crash:
                continue
            except Exception:
                if desk.dynamodb.failed_calls == failed_calls:
                    raise  # nothing was injected
        while messages := desk.messages():
            chance.shuffle(messages)
            for message in messages:
                if chance.random() < 0.2:
                    late.append(copy.deepcopy(message))
                if chance.random() < 0.3:
                    handled_twice(desk, message, chance.randint(1, 12))
                desk.handle(message)
            if chance.random() < 0.3 and late:
                desk.handle_again(late.pop())
    for message in late:
        desk.handle_again(message)
    desk.work()
    return desk.job(job_id)


def handled_twice(desk: Desk, message: dict[str, Any], nth: int) -> None:
    """Handles the message, and in the middle of that the same message completely."""
    twin, usual, seen = copy.deepcopy(message), desk.dynamodb.faults, 0

    def faults(operation: str, request: Any) -> Fault | None:
        nonlocal seen
        seen += 1
        # A thread of `threads.run_together` must not use it again.
        if seen == nth and not threading.current_thread().name.startswith("together"):
            desk.dynamodb.faults = usual
            desk.handle_again(twin)
        return usual(operation, request)

    desk.dynamodb.faults = faults


@contextmanager
def faulty_calls(desk: Desk, chance: random.Random) -> Iterator[None]:
    """Calls to DynamoDB, S3 and SQS fail or crash the function, before or after their effect."""

    def faults(operation: str, request: Any) -> Fault | None:
        return chance.choice(FAULTS) if chance.random() < 1 / 12 else None

    def crash(**_: Any) -> None:
        if chance.random() < 1 / 24:
            raise Crash("S3 or SQS")

    events = [client.meta.events for client in map(aws.client, ("s3", "sqs"))]
    names = ("before-call", "after-call")
    desk.dynamodb.faults = faults
    calm = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibilityBatch")

    def hook(model: Any, **_: Any) -> None:
        if model.name not in calm:
            crash()

    for emitter in events:
        for name in names:
            emitter.register(name, hook, unique_id=name)
    try:
        yield
    finally:
        desk.dynamodb.faults = lambda operation, request: None
        for emitter in events:
            for name in names:
                emitter.unregister(name, hook, unique_id=name)
