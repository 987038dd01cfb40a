"""The Python client against the deployed stack: every operation, limits, lost answers, files."""

import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from backroom import Backroom, JobFailed, NotFound, Policy, PreconditionFailed, etag_of, verify

from tests.e2e.calls import until
from tests.support.running import Stack, tool
from tests.webhooks.receiver import Receiver

PROJECT = Path(__file__).resolve().parents[2]
PLENTY = 9_000


def limits(stack: Stack, key_id: str, read: int, write: int) -> None:
    tool(stack, "keys", "limits", key_id, "--read", str(read), "--write", str(write))


@pytest.fixture(scope="module")
def shop(stack: Stack) -> Iterator[Backroom]:
    """An Owner whose limits no test reaches."""
    with Backroom(stack.base_url, stack.api_key) as first:
        made = first.create_api_key({"name": "The client's tests", "role": "OWNER"})
    limits(stack, made["id"], PLENTY, PLENTY)
    with Backroom(stack.base_url, made["key"]) as shop:
        yield shop


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


class Recorder:
    """Records successful operations, by method and path of the description."""

    def __init__(self, shop: Backroom) -> None:
        self.described: dict[tuple[str, str], re.Pattern[str]] = {}
        for path, item in shop.get_description()["paths"].items():
            pattern = re.compile(re.sub(r"{\w+}", "[^/]+", path) + "$")
            for method in item:
                self.described[method.upper(), path] = pattern
        self.answered: set[tuple[str, str]] = set()
        self._base = httpx.URL(shop.url).path

    def __call__(self, answer: httpx.Response) -> None:
        path = answer.request.url.path.removeprefix(self._base)
        fitting = [
            (method, template)
            for (method, template), pattern in self.described.items()
            if method == answer.request.method and pattern.match(path)
        ]
        if answer.is_success and fitting:
            # What is spelled out counts before a parameter.
            self.answered.add(min(fitting, key=lambda each: each[1].count("{")))


def test_the_client_calls_every_operation_of_the_description(
    shop: Backroom, receiver: Receiver, tmp_path: Path
) -> None:
    record = Recorder(shop)
    hooks = {"response": [record]}
    with httpx.Client(event_hooks=hooks, timeout=60) as http:
        Tour(Backroom(shop.url, shop._transport.key, http=http), receiver, tmp_path).walk()
    assert set(record.described) - record.answered == set()
    assert len(record.answered) == len(record.described)


class Tour:
    """At least one call of each operation."""

    def __init__(self, shop: Backroom, receiver: Receiver, folder: Path) -> None:
        self.shop, self.receiver, self.folder = shop, receiver, folder

    def walk(self) -> None:
        self.keys()
        self.webhooks()
        self.products()
        self.customers()
        self.orders()
        self.imports()
        self.jobs()
        self.feed()

    def keys(self) -> None:
        shop = self.shop
        assert shop.get_current_key()["role"] == "OWNER"
        made = shop.create_api_key({"name": "Till", "role": "STAFF"})
        assert made["id"] in {key["id"] for key in shop.iter_api_keys()}
        assert shop.list_api_keys()["total"] >= 2
        assert shop.revoke_api_key(made["id"])["deleted"]
        assert shop.get_description()["openapi"].startswith("3.1")

    def webhooks(self) -> None:
        shop, receiver = self.shop, self.receiver
        made = shop.create_webhook({"url": receiver.url("/ok"), "events": ["product.created"]})
        id = made["id"]
        assert shop.list_webhooks()["total"] >= 1
        webhook = shop.get_webhook(id)
        shop.update_webhook(id, {"description": "Warehouse"}, if_match=etag_of(webhook))
        with pytest.raises(PreconditionFailed):
            shop.update_webhook(id, {"description": "Till"}, if_match=etag_of(webhook))
        test = shop.test_webhook(id, {"event": "product.created"})
        until(lambda: shop.get_delivery(test["id"])["status"] == "DELIVERED", 120)
        got = next(each for each in receiver.requests if each.delivery == test["id"])
        assert verify(got.body, got.headers, made["secret"])["event"] == "product.created"
        rotated = shop.rotate_webhook_secret(id, {"overlapHours": 1})
        shop.replay_delivery(test["id"])
        until(lambda: [each.delivery for each in receiver.requests].count(test["id"]) >= 2, 120)
        again = [each for each in receiver.requests if each.delivery == test["id"]][-1]
        for secret in (made["secret"], rotated["secret"]):
            assert verify(again.body, again.headers, secret)["id"] == test["id"]
        assert test["id"] in {each["id"] for each in shop.iter_deliveries()}
        assert test["id"] in {each["id"] for each in shop.iter_webhook_deliveries(id)}
        assert shop.list_deliveries(limit=1)["data"]
        assert shop.list_webhook_deliveries(id, status="DELIVERED")["data"]
        recovered = shop.recover_deliveries(id, {"since": "2026-01-01T00:00:00Z", "dryRun": True})
        assert recovered["count"] == 0
        assert shop.delete_webhook(id)["deleted"]

    def products(self) -> None:
        shop = self.shop
        mug = shop.create_product({"name": "Tourmug ü", "price": "9.50", "status": "ACTIVE"})
        self.variant = mug["variants"][0]["id"]
        assert shop.get_product(mug["id"], fields=["id", "name"]) == {
            "id": mug["id"],
            "name": "Tourmug ü",
        }
        changed = shop.update_product(mug["id"], {"sku": "TOUR-MUG"}, if_match=etag_of(mug))
        assert changed["sku"] == "TOUR-MUG"
        counted = shop.move_stock(
            mug["id"], {"moves": [{"variantId": self.variant, "to": 9, "reason": "COUNTED"}]}
        )
        assert counted["variants"][0]["stock"] == 9
        made = shop.create_products([{"name": f"Cup {n}", "price": 1} for n in range(3)])
        ids = [row["id"] for row in made["data"]]
        done = shop.set_product_statuses({"ids": ids, "status": "ACTIVE"})
        assert len(done["data"]) == 3
        assert shop.list_products(search="cup", status=["ACTIVE"])["total"] >= 3
        assert shop.browse_products(search="tourmug")["total"] == 1
        assert {each["id"] for each in shop.iter_public_products()} >= {mug["id"], *ids}
        assert shop.get_public_product(mug["slug"])["id"] == mug["id"]
        assert shop.delete_product(ids[0])["deleted"]
        with pytest.raises(NotFound):
            shop.get_product(ids[0])
        self.kept = ids[1:]

    def customers(self) -> None:
        shop = self.shop
        ann = shop.create_customer({"email": "tour-ann@example.com", "firstName": "Ann"})
        assert shop.get_customer(ann["id"])["email"] == "tour-ann@example.com"
        assert shop.update_customer(ann["id"], {"lastName": "Lee"})["lastName"] == "Lee"
        assert shop.list_customers(search="tour-ann")["total"] == 1
        self.customer = ann["id"]
        gone, twice, erased = (
            shop.create_customer({"email": f"tour-{name}@example.com"})["id"]
            for name in ("gone", "twice", "erased")
        )
        assert shop.delete_customer(gone)["deleted"]
        shop.wait(shop.merge_customer(twice, {"into": ann["id"]})["jobId"])
        shop.wait(shop.erase_customer(erased)["jobId"])
        with pytest.raises(NotFound):
            shop.get_customer(twice)

    def orders(self) -> None:
        shop = self.shop
        order = shop.create_order(
            {
                "customer": {"id": self.customer},
                "lineItems": [{"variantId": self.variant, "quantity": 2, "price": 9.5}],
                "paymentStatus": "PAID",
            }
        )
        assert order["total"] == "19.00"
        assert shop.update_order(order["id"], {"status": "PROCESSING"})["status"] == "PROCESSING"
        assert shop.get_order(order["id"])["lineItems"][0]["quantity"] == 2
        assert shop.list_orders(status="PROCESSING", from_="2026-01-01")["total"] >= 1
        lines = [{"variantId": self.variant, "quantity": 1, "price": 9.5}]
        unpaid = shop.create_order({"lineItems": lines})
        paid = shop.pay_order(unpaid["id"], {"amount": "4.00"})
        shop.void_payment(unpaid["id"], paid["payments"][0]["id"], {"reason": "A mistake"})
        shop.pay_order(unpaid["id"], {})
        assert shop.refund_order(unpaid["id"], {"amount": "1.00"})["refundStatus"] == "PARTIAL"
        assert shop.list_transactions(order_id=unpaid["id"])["total"] == 4
        shop.list_movements(variant_id=self.variant, cause=["SALE"])
        engraved = {"title": "Engraving", "price": "4.00", "quantity": 1}
        edited = shop.edit_order(unpaid["id"], {"add": [engraved], "reason": "Asked"})
        assert "edits" in edited and edited["balanceDue"] == "4.00"
        assert shop.search_everything(q="tour-mug")["products"]
        assert shop.get_summary()["currency"] == order["currency"]
        edit = shop.edit_orders({"ids": [order["id"]], "change": {"addTags": ["tour"]}})
        assert shop.wait(edit["jobId"])["updated"] == 1
        other = shop.create_order({"lineItems": [{"variantId": self.variant, "quantity": 1}]})
        assert shop.delete_order(other["id"])["deleted"]

    def imports(self) -> None:
        shop = self.shop
        assert "slug" in shop.get_import_template()
        form = shop.start_import(b"slug,name,price\nplate,Plate,4.50\nbad,Bad,x\n", "plates.csv")
        job = shop.wait(form["jobId"])
        assert (job["created"], job["failed"]) == (1, 1)
        shop.wait(shop.retry_import(job["id"])["jobId"])
        trial = shop.start_import(b"slug,name,price\ndish,Dish,3\n", "dishes.csv", dry_run=True)
        shop.wait(trial["jobId"])
        assert shop.wait(shop.run_import(trial["jobId"])["jobId"])["created"] == 1
        unknown = shop.start_import(b"who,knows\nJug,2\n", "jugs.csv")
        with pytest.raises(JobFailed) as waits:
            shop.wait(unknown["jobId"])
        assert waits.value.job["status"] == "NEEDS_MAPPING"
        shop.map_import_columns(unknown["jobId"], {"columns": {"who": "name", "knows": "price"}})
        assert shop.wait(unknown["jobId"])["created"] == 1
        shop.save_import_mapping("tour", {"columns": {"who": "name", "knows": "price"}})
        assert "tour" in {each["name"] for each in shop.list_import_mappings()["data"]}
        shop.delete_import_mapping("tour")
        never = shop.prepare_upload({"fileName": "never.csv"})
        assert shop.cancel_job(never["jobId"])["status"] == "CANCELLED"

    def jobs(self) -> None:
        shop = self.shop
        edit = shop.edit_products({"ids": self.kept, "change": {"addTags": ["tour"]}})
        shop.wait(edit["jobId"])
        assert shop.wait(shop.undo_job(edit["jobId"])["jobId"])["updated"] == 2
        target = self.folder / "products.jsonl"
        done = shop.export(target, {"type": "products", "format": "jsonl", "all": True})
        assert done["bytes"] == target.stat().st_size
        assert len(target.read_text().splitlines()) == done["processed"]
        assert edit["jobId"] in {job["id"] for job in shop.iter_jobs()}
        assert shop.list_jobs(limit=1)["data"]

    def feed(self) -> None:
        kinds: set[str] = set()

        def read() -> bool:
            pages = self.shop.feed(types=["product.created", "order.deleted"])
            kinds.update(event["event"] for page in pages for event in page["data"])
            return kinds == {"product.created", "order.deleted"}

        until(read, 120)


def example(shop: Backroom, name: str, *arguments: str) -> str:
    """The output of a program of the example project."""
    done = subprocess.run(
        [sys.executable, PROJECT / "clients/python/examples/erp" / name, *arguments],
        env=os.environ
        | {"BACKROOM_URL": shop.url, "BACKROOM_KEY": str(shop._transport.key)}
        | {"PYTHONPATH": str(PROJECT / "clients/python/src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_example_project_prints_what_it_documents(shop: Backroom, tmp_path: Path) -> None:
    new = {"name": "Till mug", "status": "ACTIVE", "sku": "TILL-MUG", "price": 5}
    shop.create_product(new)  # type: ignore[arg-type]
    sold = example(shop, "till.py", "TILL-MUG", "2", "receipt-1")
    assert "10.00" in sold and "5.00 each" in sold
    assert example(shop, "till.py", "TILL-MUG", "2", "receipt-1") == sold, "one receipt, one order"
    database = tmp_path / "orders.db"
    for _ in range(2):
        example(shop, "sync.py", str(database))
        with sqlite3.connect(database) as copy:
            found = dict(copy.execute("SELECT id, whole FROM orders"))
        assert {id: json.loads(whole) for id, whole in found.items()} == {
            order["id"]: order for order in shop.iter_orders()
        }


class LosesAnswers(httpx.BaseTransport):
    """The first request arrives, but its answer is lost."""

    def __init__(self) -> None:
        self._real = httpx.HTTPTransport()
        self.lost: list[httpx.Response] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._real.handle_request(request)
        if not self.lost:
            answer.read()
            self.lost.append(answer)
            raise httpx.ReadTimeout("the answer was lost", request=request)
        return answer


def test_a_creation_with_a_lost_answer_happens_once(stack: Stack, shop: Backroom) -> None:
    product = shop.create_product(
        {"name": "Lost mug", "variants": [{"title": "S", "sku": "LOST", "price": 5, "stock": 9}]}
    )
    transport = LosesAnswers()
    policy = Policy(sleep=lambda seconds: None)
    with httpx.Client(transport=transport) as http:
        careful = Backroom(stack.base_url, shop._transport.key, http=http, policy=policy)
        order = careful.create_order(
            {
                "customer": {"email": "lost@example.com"},
                "lineItems": [{"variantId": product["variants"][0]["id"], "quantity": 2}],
            }
        )
    (lost,) = transport.lost
    assert lost.status_code == 201 and lost.json() == order
    assert [each["id"] for each in shop.iter_orders(search="lost@example.com")] == [order["id"]]
    assert shop.get_product(product["id"])["variants"][0]["stock"] == 7


def test_the_client_waits_for_retry_after_and_continues(stack: Stack, shop: Backroom) -> None:
    made = shop.create_api_key({"name": "Hasty", "role": "STAFF"})
    limits(stack, made["id"], 3, 3)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        limits(stack, made["id"], PLENTY, PLENTY)  # in place of the rest of the minute

    policy = Policy(sleep=sleep, chance=lambda: 0.0)
    with httpx.Client() as http:
        hasty = Backroom(stack.base_url, made["key"], http=http, policy=policy)
        for _ in range(8):
            assert hasty.get_current_key()["name"] == "Hasty"
    assert len(waits) >= 1 and all(1 <= seconds <= 60 for seconds in waits)


def test_a_file_of_ten_megabytes_is_uploaded(shop: Backroom, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["slug", "name", "price", "description"])
        for number in range(330):
            rows.writerow([f"large-{number}", f"Large {number}", "4.50", "word " * 6_400])
    size = file.stat().st_size
    assert size > 10_000_000
    sent: list[int] = []
    job = shop.wait(shop.import_products(file, on_sent=sent.append))
    assert (job["created"], job["failed"], job["fileName"]) == (330, 0, "large.csv")
    assert sent[-1] == size and sent == sorted(sent) and len(sent) > 10
    assert job["dialect"] == "backroom"
