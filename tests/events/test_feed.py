"""The change feed: a reader gets every event once, also after crashes."""

import random
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from chalicelib import settings
from chalicelib.deadline import in_background
from chalicelib.events import consumer
from chalicelib.events import store as feed
from chalicelib.outbox import fan_out
from chalicelib.problems import Busy
from chalicelib.storage import attributes, lockstep, outbox, table
from chalicelib.storage.outbox import Committed
from chalicelib.values import clock, ids
from tests.support.dynamodb_double import Crash, Fault
from tests.support.shop import Shop
from tests.support.webhook_world import World, announce

PATH = "/api/admin/events"


def enter(*items: Any) -> None:
    """Runs the feed's consumer."""
    lockstep.run([consumer.consume(list(map(Committed, items)))])


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop()


class Reader:
    """Keeps only a cursor and a copy of the shop."""

    def __init__(self, shop: Shop, limit: int = 100) -> None:
        self.shop, self.limit = shop, limit
        self.cursor = ""
        self.events: list[dict[str, Any]] = []
        self.copy: dict[str, Any] = {}

    def read(self) -> list[dict[str, Any]]:
        """One page."""
        after = f"&after={self.cursor}" if self.cursor else ""
        answer = self.shop.read(f"{PATH}?stock=true&limit={self.limit}{after}")
        page: list[dict[str, Any]] = answer["data"]
        self.cursor = answer["next"]
        self.events += page
        for event in page:
            if event["event"].endswith(".deleted"):
                self.copy.pop(event["data"]["id"], None)
            elif "updatedAt" in event["data"]:
                # Events of one record may arrive in another order.
                known = self.copy.get(event["data"]["id"], {"updatedAt": ""})
                if event["data"]["updatedAt"] >= known["updatedAt"]:
                    # The event says why stock moved; the product does not.
                    event["data"].pop("stockMoves", None)
                    self.copy[event["data"]["id"]] = event["data"]
        self._count({id: left for event in page for id, left in event["stock"].items()})
        return page

    def _count(self, stock: dict[str, int | None]) -> None:
        for record in self.copy.values():
            for variant in record.get("variants", ()):
                variant["stock"] = stock.get(variant["id"], variant["stock"])

    def catch_up(self) -> None:
        while self.read():
            pass


def test_an_event_is_in_the_feed_once_after_half_a_minute(world: World, shop: Shop) -> None:
    product = shop.post("/api/admin/products", {"name": "Mug", "price": 9.5}).json
    world.run(timedelta(seconds=1))
    reader = Reader(shop)
    assert reader.read() == []
    world.sleep(seconds=29.999)
    assert reader.read() == []
    world.sleep(seconds=0.001)
    (event,) = reader.read()
    assert (event["event"], event["data"]) == ("product.created", product)
    assert event["occurredAt"] == product["createdAt"] and event["id"].startswith("evt_")
    assert reader.read() == []


def test_a_delivery_names_its_event_of_the_feed(world: World, shop: Shop) -> None:
    kinds = ["product.created", "order.created", "order.paid", "inventory.low"]
    shop.post("/api/admin/webhooks", {"url": "https://erp.example/hook", "events": kinds})
    variant = {"title": "One", "sku": "MUG", "stock": 5}
    product = shop.post(
        "/api/admin/products", {"name": "Mug", "price": 9.5, "variants": [variant]}
    ).json
    line = {"variantId": product["variants"][0]["id"], "quantity": 3}
    shop.post("/api/admin/orders", {"lineItems": [line], "paymentStatus": "PAID"})
    world.run(timedelta(minutes=1))
    world.sleep(seconds=30)
    reader = Reader(shop)
    reader.catch_up()
    told = {(e["id"], e["occurredAt"], e["event"]) for e in reader.events if e["event"] in kinds}
    names = ("X-Service-Event-Id", "X-Service-Occurred-At", "X-Service-Event")
    assert {tuple(posted.headers[name] for name in names) for posted in world.posted} == told
    assert sorted(kind for _, _, kind in told) == sorted(kinds)


def test_a_reader_can_start_at_a_time(world: World, shop: Shop) -> None:
    announce("product.created")
    world.run()
    world.sleep(minutes=1)
    now = clock.iso(clock.now())
    assert shop.get(f"{PATH}?since={now}").json["data"] == []
    later = announce("product.updated")
    world.run()
    world.sleep(minutes=1)
    assert [event["id"] for event in shop.get(f"{PATH}?since={now}").json["data"]] == [later]
    assert len(shop.get(f"{PATH}?since=2020-01-01T00:00:00Z").json["data"]) == 2, "all that is kept"
    assert shop.get(f"{PATH}?since=today").status == 422


class Trade:
    """Writes records of every kind, with conflicts, lost answers and crashes."""

    def __init__(self, world: World, shop: Shop, chance: random.Random) -> None:
        self.world, self.shop, self.chance = world, shop, chance
        self.faults = 0
        others = world.double.faults

        def faults(operation: str, request: Any) -> Fault | None:
            fault = others(operation, request)
            if fault is None and operation == "TransactWriteItems" and chance.random() < 0.2:
                self.faults += 1
                return chance.choice([Fault.CONFLICT, Fault.THROTTLE, Fault.LOST, Fault.LOST_AFTER])
            return fault

        world.double.faults = faults

    def write(self) -> None:
        """One random change. Its function may crash at one of its first calls."""
        if self.chance.random() < 0.2:
            self.world.crash = (self.chance.randint(1, 4), self.chance.random() < 0.5)
        with suppress(Crash):
            work = [self._create, self._change, self._change, self._count, self._delete]
            self.chance.choice(work)()
        self.world.crash = None

    def _create(self) -> None:
        self._call("POST", *self.chance.choice([self._product, self._customer, self._order])())

    def _product(self) -> tuple[str, Any]:
        stock = self.chance.choice([None, 8, 400])
        variants = [{"title": title, "stock": stock} for title in ("S", "L")]
        return "/products", {
            "name": f"Mug {self.chance.random()}",
            "price": 9.5,
            "variants": variants,
        }

    def _customer(self) -> tuple[str, Any]:
        return "/customers", {"email": f"{self.chance.random()}@example.com"}

    def _order(self) -> tuple[str, Any]:
        product = self._any("/products")
        if product is None:
            return self._product()
        who = {"email": f"ann{self.chance.randint(1, 5)}@example.com"}
        variant = self.chance.choice(product["variants"])["id"]
        line = {"variantId": variant, "quantity": self.chance.randint(1, 3)}
        return "/orders", {"lineItems": [line], "customer": who}

    def _count(self) -> None:
        """Stock is received, or counted."""
        product = self._any("/products")
        if product is None:
            return self._create()
        variant = self.chance.choice(product["variants"])
        move = {"variantId": variant["id"], "reason": "COUNTED", "to": self.chance.randint(0, 20)}
        if self.chance.random() < 0.3:
            stock = [{"id": variant["id"], "stock": 30}, {"title": "New", "stock": 5}]
            return self._call("PUT", f"/products/{product['id']}", {"variants": stock})
        return self._call("POST", f"/products/{product['id']}/stock", {"moves": [move]})

    def _change(self) -> None:
        price = {"price": round(self.chance.uniform(1, 90), 2)}
        text = str(self.chance.random())
        changes = {
            ("PUT", "/products"): [price, {"vendor": text}],
            ("PATCH", "/customers"): [{"note": text}, {"email": f"{text}@example.com"}],
            ("PATCH", "/orders"): [{"status": "PAID"}, {"status": "CANCELLED"}, {"note": text}],
        }
        (method, path), bodies = self.chance.choice(list(changes.items()))
        if record := self._any(path):
            self._call(method, f"{path}/{record['id']}", self.chance.choice(bodies))

    def _delete(self) -> None:
        path = self.chance.choice(["/products", "/customers", "/orders"])
        if record := self._any(path):
            self._call("DELETE", f"{path}/{record['id']}")

    def _any(self, path: str) -> Any:
        return self.chance.choice([*self.listed(path).values(), None])

    def _call(self, method: str, path: str, body: Any = None) -> None:
        answer = self.shop.call(method, f"/api/admin{path}", body)
        # A refused request (a move, a taken name, an order) changes nothing.
        assert answer.status < 300 or answer.status in {404, 409, 422, 503}, answer.text

    def listed(self, path: str) -> dict[str, Any]:
        """All records of a list, by id."""
        pages = self.shop.pages(f"/api/admin{path}?limit=100")
        return {record["id"]: record for page in pages for record in page.json["data"]}


def test_a_copy_built_from_the_feed_equals_the_shop(
    world: World, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten hours of writes, conflicts, crashes, a late stream, and a reader that stops and resumes
    from its saved state."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    chance = random.Random(7)
    trade = Trade(world, shop, random.Random(19))
    reader = saved = Reader(shop, limit=7)
    crashes = stops = 0
    for _ in range(300):
        world.sleep(minutes=2)
        trade.write()
        if chance.random() < 0.4:
            world.crash = (chance.randint(1, 6), chance.random() < 0.5)
            world.step()
            crashes += world.crash is None
            world.crash = None
        if chance.random() < 0.5:
            reader.read()
        if chance.random() < 0.1:
            saved = deepcopy(reader, {id(shop): shop})
        if chance.random() < 0.05:
            reader, stops = deepcopy(saved, {id(shop): shop}), stops + 1
    assert trade.faults > 30 and crashes > 20 and stops > 5
    world.run()
    world.sleep(minutes=1)
    reader.catch_up()
    ids = [event["id"] for event in reader.events]
    assert len(ids) == len(set(ids)), "each event comes once"
    kept = map(attributes.unpack, world.double.items(settings.outbox_table()))
    committed = [event.id for item in kept for event in outbox.events_of(item)]
    assert sorted(ids) == sorted(committed), "and none is missing"
    assert {event["event"].partition(".")[0] for event in reader.events} == {
        "product", "order", "customer", "inventory", "payment",
    }  # fmt: skip
    assert {event["event"] for event in reader.events} >= {
        "product.deleted", "order.deleted", "customer.deleted",
    }  # fmt: skip
    shops = {name: trade.listed(f"/{name}") for name in ("products", "orders", "customers")}
    copied = reader.copy | _counted(reader.copy)
    assert copied == shops["products"] | shops["orders"] | shops["customers"]
    assert min(map(len, shops.values())) > 2


def _counted(copy: dict[str, Any]) -> dict[str, Any]:
    """Customers with totals from their orders: an order's event does not announce its customer."""
    made = {}
    for id, customer in copy.items():
        if not id.startswith("cus_"):
            continue
        own = [
            each for each in copy.values() if each.get("customer") and each["customer"]["id"] == id
        ]
        counted = [order for order in own if order["status"] != "CANCELLED"]
        paid = [Decimal(order["total"]) for order in own if order["paymentStatus"] == "PAID"]
        spent = f"{sum(paid, Decimal(0)):.2f}"
        made[id] = {**customer, "ordersCount": len(counted), "totalSpent": spent}
    return made


def test_an_event_that_the_stream_delivers_a_day_late_comes_after_the_cursor(
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


def test_types_are_filtered_and_a_page_can_end_within_a_commit(world: World, shop: Shop) -> None:
    data = [{"id": str(n), "note": "x" * 500} for n in range(5)]
    pairs = [(kind, outbox.body(kind, each)) for each in data for kind in _KINDS]
    table.put(outbox.build_item(pairs), table=settings.outbox_table())
    announce("order.paid")
    world.sleep(minutes=1)
    reader = Reader(shop, limit=3)
    reader.catch_up()
    assert [event["data"]["id"] for event in reader.events[:10]] == list("0011223344")
    assert len(reader.events) == 11
    one_at_a_time = Reader(shop, limit=1)
    one_at_a_time.catch_up()
    assert one_at_a_time.events == reader.events
    assert len(shop.get(f"{PATH}?stock=true").json["data"]) == 11
    picked = shop.get(f"{PATH}?types=order.paid,order.updated").json["data"]
    assert {event["event"] for event in picked} == {"order.paid", "order.updated"}
    assert len(picked) == 6


_KINDS = ("order.created", "order.updated")


def test_an_event_has_the_stock_of_its_variants(world: World, shop: Shop) -> None:
    lines = [{"variantId": None, "productId": None}, {"variantId": "var_1", "productId": "prod_1"}]
    data = {
        "order.created": {"id": "ord_1", "lineItems": lines},
        "inventory.low": {"variantId": "var_2", "productId": "prod_2"},
    }
    events = [(name, outbox.body(name, about)) for name, about in data.items()]
    table.put(outbox.build_item(events), table=settings.outbox_table())
    world.sleep(minutes=1)
    shown = shop.read(f"{PATH}?stock=true")["data"]
    assert [one["stock"] for one in shown] == [{"var_1": None}, {"var_2": None}]


def test_the_stock_of_a_line_that_an_edit_removes_is_in_the_feed(world: World, shop: Shop) -> None:
    variants = [{"title": title, "stock": 9} for title in ("S", "L")]
    product = {"name": "Mug", "price": 9.5, "variants": variants}
    one, other = (v["id"] for v in shop.made("/api/admin/products", product)["variants"])
    lines = [{"variantId": id, "quantity": 2} for id in (one, other)]
    order = shop.made("/api/admin/orders", {"lineItems": lines})
    world.run()
    world.sleep(minutes=1)
    reader = Reader(shop)
    reader.catch_up()
    assert reader.events[-1]["stock"] == {one: 7, other: 7}
    edit = {"remove": [order["lineItems"][0]["id"]], "reason": "Too small"}
    assert shop.post(f"/api/admin/orders/{order['id']}/edit", edit).status == 200
    world.run()
    world.sleep(minutes=1)
    stock = {event["event"]: event["stock"] for event in reader.read()}
    assert stock == {"order.edited": {one: 9}, "order.updated": {other: 7}}
    reader.catch_up()
    assert reader.copy[ids.product_of(one)]["variants"][0]["stock"] == 9


def test_a_page_of_large_events_is_no_longer_than_an_answer_may_be(
    world: World, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.request.size.LARGEST_ANSWER", 40_000)
    data = [{"id": str(n), "note": "x" * 1_000} for n in range(90)]
    for first in range(0, 90, 30):
        bodies = [outbox.body("order.created", each) for each in data[first : first + 30]]
        item = outbox.build_item([("order.created", body) for body in bodies])
        table.put(item, table=settings.outbox_table())
    world.sleep(minutes=1)
    found, after = 0, ""
    while found < 90:
        page = shop.get(f"{PATH}?stock=true&limit=100{after}")
        assert 0 < len(page.text) <= 40_000
        found, after = found + len(page.json["data"]), f"&after={page.json['next']}"


def test_a_rare_type_among_many_events_is_found_on_later_pages(
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
    queries = world.double.asked("Query")
    while not found and pages < 100:
        after = f"&after={cursor}" if cursor else ""
        answer = shop.get(f"{PATH}?types=order.paid&limit=5{after}")
        cursor, found, pages = answer.json["next"], answer.json["data"], pages + 1
    assert [event["event"] for event in found] == ["order.paid"] and 3 < pages < 30
    read = [query["ExpressionAttributeValues"][":0"]["S"] for query in queries]
    assert len([pk for pk in read if pk.startswith("feed#")]) <= 3 * pages, "six entries each"


def filled(world: World, hours: int) -> datetime:
    """Puts 300 events into each of the last hours; the end of the last."""
    end = world.now.replace(minute=0, second=0, microsecond=0)
    body = outbox.body("product.updated", {"id": "prod_1", "name": "Mug"})
    facts = {"kinds": ["product.updated"], "bytes": 60, "expiresAt": 1 << 40}

    def put(name: str, pk: str, sk: str, **fields: Any) -> None:
        world.double._store(name, (pk, sk), attributes.pack({"pk": pk, "sk": sk, **fields}))

    for place in range(hours * 300):
        at = end - timedelta(seconds=12 * (place + 1))
        id = f"evt_{ids.derive_id('', int(at.timestamp() * 1000), str(at))[1:]}"
        put(settings.table(), "feed", clock.iso(at)[:13])
        put(settings.table(), f"feed#{clock.iso(at)[:13]}", f"{clock.iso(at)}#{id}", **facts)
        event = {"event": "product.updated", "body": body}
        put(
            settings.outbox_table(),
            *outbox.key(id),
            events=[event],
            at=clock.iso(at),
            expiresAt=1 << 40,
        )
    return end


def test_a_page_costs_the_same_in_a_feed_of_any_size(world: World, shop: Shop) -> None:
    """The oldest page, one in the middle, the newest."""

    def costs(hours: int) -> list[tuple[int, float]]:
        end = filled(world, hours)
        return [cost(end - timedelta(hours=back)) for back in (hours, hours / 2, 0.4)]

    def cost(since: datetime) -> tuple[int, float]:
        with world.double.metered() as calls:
            page = shop.read(f"{PATH}?limit=100&since={clock.iso(since)}")["data"]
        assert len(page) == 100
        return len(calls), sum(call.read_units for call in calls)

    world.now = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)
    costs(1)  # the key is admitted for the first time
    few = costs(1)
    assert len(set(few)) == 1, few
    assert costs(30) == few


@pytest.mark.parametrize("cursor", ["x", "AAAA", "e30", "*", "MjAyNi0xMS0yMA"])
def test_an_invalid_cursor_is_refused(shop: Shop, cursor: str) -> None:
    assert shop.get(f"{PATH}?after={cursor}").refused == ["after"]


def test_a_cursor_older_than_the_feed_has_expired_and_a_used_one_never_does(
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


def test_a_cursor_expires_a_minute_after_the_oldest_entry(world: World) -> None:
    oldest = feed.start()
    assert oldest.sk == clock.iso(world.now - timedelta(days=30))
    world.now += timedelta(minutes=1)
    assert not feed.has_expired(oldest)
    world.now += timedelta(milliseconds=1)
    assert feed.has_expired(oldest)


def test_an_hour_of_the_feed_is_kept_as_long_as_its_last_entry(world: World) -> None:
    """A process writes the hour once, before its first entry in it."""
    world.now = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)
    announce()
    world.run()
    world.now = datetime(2026, 11, 20, 6, 59, 59, 999_000, tzinfo=UTC)
    announce()
    world.run()
    (hour,) = [item for item in world.stored() if item["pk"] == "feed"]
    entries = [item for item in world.stored() if item["pk"].startswith("feed#")]
    assert len(entries) == 2
    assert hour["expiresAt"] >= max(item["expiresAt"] for item in entries)


@pytest.mark.parametrize("republished", [False, True])
def test_webhook_tests_are_not_in_the_feed(world: World, shop: Shop, republished: bool) -> None:
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
    webhook = shop.post("/api/admin/webhooks", hook).json
    assert shop.post(f"/api/admin/webhooks/{webhook['id']}/test").status == 202
    (item,) = world.unread_events()
    world.run()
    if republished:
        assert fan_out.handle({"republish": [item["pk"]["S"]]}) == {"batchItemFailures": []}
    world.sleep(minutes=1)
    assert Reader(shop).read() == []


def test_a_page_reads_only_as_many_bodies_concurrently_as_fit_into_memory(
    world: World, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        announce()
    world.sleep(minutes=1)
    hours = [item for item in world.stored() if item["pk"].startswith("feed#")]
    (size,) = {int(item["bytes"]) for item in hours}
    monkeypatch.setattr(feed, "MOST_BYTES", 2 * size)
    asked = world.double.asked("BatchGetItem")
    assert len(Reader(shop).read()) == 5
    assert bodies(asked) == [2, 2, 1]


def test_a_page_of_some_types_reads_no_other_bodies(world: World, shop: Shop) -> None:
    for kind in ("product.updated", "order.paid", "product.created"):
        announce(kind)
    world.sleep(minutes=1)
    asked = world.double.asked("BatchGetItem")
    (event,) = shop.get(f"{PATH}?types=order.paid").json["data"]
    assert event["event"] == "order.paid" and bodies(asked) == [1]


def bodies(asked: list[Any]) -> list[int]:
    """How many events each of the reads has."""
    reads = [one["RequestItems"].get(settings.outbox_table()) for one in asked]
    return [len(read["Keys"]) for read in reads if read]


def test_the_feed_requires_the_staff_role(shop: Shop) -> None:
    assert shop.get(PATH, key=shop.as_("STAFF")).status == 200
    assert shop.get(PATH, key=shop.as_("READER")).status == 403


def test_two_concurrent_fan_outs_enter_an_event_once(world: World, shop: Shop) -> None:
    """The stream delivers one record twice."""
    id = announce()
    (item,) = world.unread_events()
    item = attributes.unpack(item)

    def other() -> None:
        world.now += timedelta(seconds=1)
        enter(item)

    world.meanwhile("TransactWriteItems", other)
    enter(item)
    world.run()
    world.sleep(minutes=1)
    reader = Reader(shop)
    reader.catch_up()
    assert [event["id"] for event in reader.events] == [id]


def test_an_entry_is_found_though_its_hour_began_while_the_last_was_opened(
    world: World, shop: Shop
) -> None:
    id = announce()
    items = list(map(attributes.unpack, world.unread_events()))

    def begins() -> None:
        world.now += timedelta(hours=1)

    world.meanwhile("PutItem", begins)
    enter(*items)
    world.sleep(minutes=1)
    reader = Reader(shop)
    reader.catch_up()
    assert [event["id"] for event in reader.events] == [id]


def test_the_feed_adds_no_item_to_a_commit(world: World, shop: Shop) -> None:
    """A commit writes one outbox item for all its events. The fan-out writes the feed."""
    shop.get("/api/admin/me")  # creates its key
    asked = world.double.asked("TransactWriteItems")
    product = shop.post("/api/admin/products", {"name": "Mug", "price": 9, "sku": "MUG"}).json
    shop.put(f"/api/admin/products/{product['id']}", {"price": 10})
    line = {"variantId": product["variants"][0]["id"], "quantity": 1}
    new = {"lineItems": [line], "customer": {"email": "ann@example.com"}, "paymentStatus": "PAID"}
    order = shop.post("/api/admin/orders", new).json  # four events
    shop.patch(f"/api/admin/orders/{order['id']}", {"status": "PROCESSING"})
    shop.delete(f"/api/admin/products/{product['id']}")
    shop.delete(f"/api/admin/orders/{order['id']}")
    commits = [[write for item in one["TransactItems"] for write in item.values()] for one in asked]
    assert len(commits) == 6
    for commit in commits:
        assert [write["TableName"] for write in commit].count(settings.outbox_table()) == 1
        in_main = [write for write in commit if write["TableName"] == settings.table()]
        keys = [write.get("Key") or write["Item"] for write in in_main]
        assert not [key for key in keys if key["pk"]["S"].startswith(("feed", "evt_"))]
    # Record, list entries, words, counts, locks, stock, outbox, a payment's entry and count, the
    # list of an order's files; the first sale of an untracked variant marks it. A change moves the
    # entries by `updatedAt`.
    assert [len(commit) for commit in commits] == [11, 4, 28, 14, 10, 20]


@pytest.mark.parametrize("slow", ["PutItem", "TransactWriteItems"])
def test_no_entry_is_written_later_than_readers_wait(
    world: World, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    """DynamoDB throttles for a minute; the slowest attempt, of botocore's client, takes 15 s."""
    begins, clock_of_process = world.now, [0.0]

    def passes(seconds: float) -> None:
        clock_of_process[0] += seconds
        world.now += timedelta(seconds=seconds)

    def throttles(operation: str, request: Any) -> Fault | None:
        if operation != slow or world.now - begins > timedelta(seconds=60):
            return None
        passes(1)
        return Fault.THROTTLE

    announce()
    (item,) = map(attributes.unpack, world.unread_events())
    monkeypatch.setattr("time.monotonic", lambda: clock_of_process[0])
    monkeypatch.setattr("time.sleep", passes)
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    world.double.faults = throttles

    @in_background
    def enter_at_last(event: Any, context: Any) -> datetime:
        while True:
            with suppress(Busy):
                enter(item)
                return world.now

    ended = enter_at_last({}, None)
    assert ended - begins > timedelta(seconds=60)
    (entry,) = (one for one in world.stored() if one["pk"].startswith("feed#"))
    stamped = clock.parse(entry["sk"].partition("#")[0])
    assert ended - stamped <= timedelta(seconds=15)
