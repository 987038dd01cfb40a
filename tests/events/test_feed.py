"""The change feed: who does nothing but read it has everything, once, whatever crashes."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib import attributes, feed, outbox, settings, table
from tests.shop import Shop
from tests.webhooks.world import World, announce
from tests.webhooks.world import world as made

PATH = "/api/admin/events"


@pytest.fixture
def world() -> Iterator[World]:
    with made() as world:
        yield world


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop()


class Reader:
    """Keeps a cursor and a copy of the shop, and nothing else."""

    def __init__(self, shop: Shop, limit: int = 100) -> None:
        self.shop, self.limit = shop, limit
        self.cursor = ""
        self.events: list[dict[str, Any]] = []
        self.copy: dict[str, Any] = {}

    def read(self) -> list[dict[str, Any]]:
        """One page."""
        after = f"&after={self.cursor}" if self.cursor else ""
        answer = self.shop.get(f"{PATH}?limit={self.limit}{after}")
        assert answer.status == 200, answer.text
        page: list[dict[str, Any]] = answer.json["data"]
        self.cursor = answer.json["next"]
        self.events += page
        for event in page:
            if event["event"].endswith(".deleted"):
                self.copy.pop(event["data"]["id"], None)
            elif "updatedAt" in event["data"]:
                # Events of one record may come in another order than they happened.
                known = self.copy.get(event["data"]["id"], {"updatedAt": ""})
                if event["data"]["updatedAt"] >= known["updatedAt"]:
                    self.copy[event["data"]["id"]] = event["data"]
        return page

    def catch_up(self) -> None:
        while self.read():
            pass


def test_an_event_is_in_the_feed_once_half_a_minute_later(world: World, shop: Shop) -> None:
    product = shop.post("/api/admin/products", {"name": "Mug", "price": 9.5}).json
    world.run(timedelta(seconds=1))
    reader = Reader(shop)
    assert reader.read() == []
    world.sleep(seconds=31)
    (event,) = reader.read()
    assert (event["event"], event["data"]) == ("product.created", product)
    assert event["occurredAt"] == product["createdAt"] and event["id"].startswith("evt_")
    assert reader.read() == []


def test_a_copy_that_is_built_from_the_feed_alone_is_the_shop(world: World, shop: Shop) -> None:
    """Ten hours of writers, of functions that die, of streams that are late, and of a reader who
    stops and begins again."""
    chance = random.Random(7)
    reader = Reader(shop, limit=7)
    products: list[str] = []
    for _ in range(300):
        world.sleep(minutes=2)
        what = chance.random()
        if what < 0.4 or not products:
            new = {"name": f"Mug {chance.random()}", "price": 9.5}
            products.append(shop.post("/api/admin/products", new).json["id"])
        elif what < 0.75:
            change = {"price": round(chance.uniform(1, 90), 2)}
            shop.put(f"/api/admin/products/{chance.choice(products)}", change)
        else:
            gone = products.pop(chance.randrange(len(products)))
            assert shop.delete(f"/api/admin/products/{gone}").status == 200
        if chance.random() < 0.5:
            world.crash = (chance.randint(1, 6), chance.random() < 0.5)
            world.step()
            world.crash = None
        if chance.random() < 0.3:
            reader.read()
    world.run()
    world.sleep(minutes=1)
    reader.catch_up()
    ids = [event["id"] for event in reader.events]
    assert len(ids) == len(set(ids)), "each event comes once"
    kept = map(attributes.unpack, world.double.items(settings.outbox_table()))
    committed = [event.id for item in kept for event in outbox.events_of(item)]
    assert sorted(ids) == sorted(committed), "and none is missing"
    now = {id: shop.get(f"/api/admin/products/{id}").json for id in products}
    assert reader.copy == now


def test_what_the_stream_brings_a_day_late_comes_behind_what_was_read(
    world: World, shop: Shop
) -> None:
    late = announce("product.created")
    world._read.add(late[:30])  # the stream is stuck
    world.sleep(minutes=1)
    announce("product.updated")
    world.sleep(minutes=1)
    reader = Reader(shop)
    assert [event["event"] for event in reader.read()] == ["product.updated"]
    world.sleep(days=1)
    world._read.remove(late[:30])
    world.run()
    world.sleep(minutes=1)
    assert [event["id"] for event in reader.read()] == [late]


def test_what_the_stream_brings_again_is_in_the_feed_once(world: World, shop: Shop) -> None:
    for _ in range(60):
        announce()
    world.run()
    world._read.clear()
    world.run()
    world.sleep(minutes=1)
    reader = Reader(shop)
    reader.catch_up()
    assert len(reader.events) == 60


def test_types_are_picked_and_pages_go_on_within_a_commit(world: World, shop: Shop) -> None:
    pairs = [(kind, outbox.body(kind, {"id": str(n)})) for n in range(5) for kind in _KINDS]
    table.put(outbox.item(pairs), table=settings.outbox_table())
    announce("order.paid")
    world.sleep(minutes=1)
    reader = Reader(shop, limit=3)
    reader.catch_up()
    assert [event["data"]["id"] for event in reader.events[:10]] == list("0011223344")
    assert len(reader.events) == 11
    picked = shop.get(f"{PATH}?types=order.paid,order.updated").json["data"]
    assert {event["event"] for event in picked} == {"order.paid", "order.updated"}
    assert len(picked) == 6


_KINDS = ("order.created", "order.updated")


def test_a_rare_kind_among_many_is_found_by_going_on(
    world: World, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_LOOKED_AT", 10)
    monkeypatch.setattr(feed, "_HOURS", 2)
    for hour in range(6):
        for _ in range(15):
            announce("product.updated")
        if hour == 5:
            announce("order.paid")
        world.sleep(hours=1)
    cursor, found, pages = "", [], 0
    while not found and pages < 100:
        after = f"&after={cursor}" if cursor else ""
        answer = shop.get(f"{PATH}?types=order.paid&limit=5{after}")
        cursor, found, pages = answer.json["next"], answer.json["data"], pages + 1
    assert [event["event"] for event in found] == ["order.paid"] and 3 < pages < 30


def test_a_page_costs_what_it_costs_however_much_lies_behind_it(world: World, shop: Shop) -> None:
    def cost() -> tuple[int, float]:
        with world.double.metered() as calls:
            assert len(shop.get(f"{PATH}?limit=20").json["data"]) == 20
        return len(calls), sum(call.read_units for call in calls)

    for _ in range(30):
        announce()
    world.sleep(minutes=1)
    cost()  # who asks is admitted for the first time
    few = cost()
    for _ in range(1_000):
        announce()
    world.run()
    world.sleep(minutes=1)
    assert cost() == few


@pytest.mark.parametrize("cursor", ["x", "AAAA", "e30", "*", "MjAyNi0xMS0yMA"])
def test_what_is_no_cursor_is_refused(shop: Shop, cursor: str) -> None:
    answer = shop.get(f"{PATH}?after={cursor}")
    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "after")


def test_a_cursor_from_before_the_oldest_is_gone_and_one_that_is_used_never_is(
    world: World, shop: Shop
) -> None:
    announce()
    world.sleep(minutes=1)
    reader = Reader(shop)
    reader.catch_up()
    old = reader.cursor
    for _ in range(3):
        world.sleep(days=30)
        assert reader.read() == []
    answer = shop.get(f"{PATH}?after={old}")
    assert (answer.status, answer.json["code"]) == (410, "cursor_expired")
    announce()
    world.sleep(minutes=1)
    assert len(reader.read()) == 1


def test_tests_of_webhooks_are_not_in_the_feed(world: World, shop: Shop) -> None:
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
    webhook = shop.post("/api/admin/webhooks", hook).json
    assert shop.post(f"/api/admin/webhooks/{webhook['id']}/test").status == 202
    world.sleep(minutes=1)
    assert Reader(shop).read() == []


def test_the_feed_is_for_staff_and_above(shop: Shop) -> None:
    assert shop.get(PATH, key=shop.as_("STAFF")).status == 200
    assert shop.get(PATH, key=shop.as_("READER")).status == 403
