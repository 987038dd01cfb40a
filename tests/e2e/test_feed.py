"""A copy of the shop that is built only from the feed of the deployed stack."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from backroom import Backroom, NotFound

from tests.support.running import Stack

PROJECT = Path(__file__).resolve().parents[2]
BEHIND = 35  # seconds, with some for the stream
# A program that keeps a copy. After each page, it replaces one file with the copy and the cursor.
READER = """
import json, os, sys, time
from backroom import Backroom

path, since = sys.argv[1:]
kept = json.load(open(path)) if os.path.exists(path) else {"next": None, "ids": [], "records": {}}
with Backroom.from_environment() as shop:
    for page in shop.feed(kept["next"], since=since, limit=3, stock=True, follow=True, pause=0.5):
        records = kept["records"]
        for event in page["data"]:
            record = event["data"]
            record.pop("stockMoves", None)  # why this event happened
            kept["ids"].append(event["id"])
            if event["event"].endswith(".deleted"):
                records.pop(record["id"], None)
            elif "updatedAt" in record:
                known = records.get(record["id"], {"updatedAt": ""})
                if record["updatedAt"] >= known["updatedAt"]:
                    records[record["id"]] = record
            for known in records.values():
                for variant in known.get("variants", ()):
                    variant["stock"] = event["stock"].get(variant["id"], variant["stock"])
        kept["next"] = page["next"]
        with open(path + ".new", "w") as file:
            json.dump(kept, file)
        os.replace(path + ".new", path)
"""


@pytest.fixture
def shop(stack: Stack) -> Iterator[Backroom]:
    with Backroom(stack.base_url, stack.api_key) as first:
        made = first.create_api_key({"name": "The feed's tests", "role": "OWNER"})
    with Backroom(stack.base_url, made["key"]) as shop:
        yield shop


class Keeper:
    """The program above, which is killed and restarted."""

    def __init__(self, shop: Backroom, path: Path, since: datetime) -> None:
        self._path = path
        self._command = [sys.executable, "-c", READER, str(path), since.isoformat()]
        self._environment = os.environ | {
            "BACKROOM_URL": shop.url,
            "BACKROOM_KEY": str(shop._transport.key),
            "PYTHONPATH": str(PROJECT / "clients/python/src"),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, env=self._environment)

    def kill(self) -> None:
        assert self._process and self._process.poll() is None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @property
    def kept(self) -> Any:
        return json.loads(self._path.read_text()) if self._path.exists() else {"records": {}}


class Trade:
    """A minute of changes, including deletions; `ids`: of all records ever created."""

    def __init__(self, shop: Backroom) -> None:
        self.shop = shop
        self.ids: dict[str, list[str]] = {"product": [], "order": [], "customer": []}

    def morning(self) -> None:
        shop = self.shop
        for number in range(4):
            sizes: Any = [{"title": size, "price": 5, "stock": 20} for size in "SML"]
            mug = shop.create_product({"name": f"Fed mug {number}", "variants": sizes})
            self.ids["product"].append(mug["id"])
            ann = shop.create_customer({"email": f"fed{number}@example.com"})
            self.ids["customer"].append(ann["id"])
            for variant in mug["variants"]:
                self._sell(variant["id"], ann["id"])
        shop.delete_product(self.ids["product"][0])

    def afternoon(self) -> None:
        shop, (first, second, *_, last) = self.shop, self.ids["order"]
        shop.update_order(first, {"status": "CANCELLED"})
        shop.update_order(second, {"status": "PAID"})
        shop.delete_order(last)
        for id in self.ids["product"][1:]:
            mug = shop.get_product(id)
            shop.update_product(id, {"vendor": "Kestrel"})
            move: Any = {"variantId": mug["variants"][0]["id"], "by": 4, "reason": "RECEIVED"}
            shop.move_stock(id, {"moves": [move]})
            self._sell(mug["variants"][0]["id"], self.ids["customer"][1])
        lonely = shop.create_customer({"email": "fed-lonely@example.com"})
        shop.delete_customer(lonely["id"])
        self.ids["customer"].append(lonely["id"])
        done = shop.merge_customer(self.ids["customer"][2], {"into": self.ids["customer"][3]})
        shop.wait(done["jobId"])
        shop.wait(shop.erase_customer(self.ids["customer"][1])["jobId"])

    def _sell(self, variant: str, customer: str) -> None:
        line: Any = {"variantId": variant, "quantity": 2}
        order = self.shop.create_order({"lineItems": [line], "customer": {"id": customer}})
        self.ids["order"].append(order["id"])

    def there(self) -> dict[str, Any]:
        """The same records in the shop."""
        gets: Any = {
            "product": self.shop.get_product,
            "order": self.shop.get_order,
            "customer": self.shop.get_customer,
        }
        found = {}
        for kind, ids in self.ids.items():
            for id in ids:
                try:
                    found[id] = dict(gets[kind](id))
                except NotFound:
                    continue
        return found


def test_a_copy_built_from_the_feed_equals_the_shop_despite_kills(
    shop: Backroom, tmp_path: Path
) -> None:
    keeper = Keeper(shop, tmp_path / "copy.json", datetime.now(UTC) - timedelta(seconds=1))
    trade = Trade(shop)
    keeper.start()
    trade.morning()
    time.sleep(BEHIND)
    keeper.kill()
    trade.afternoon()
    keeper.start()
    time.sleep(BEHIND)
    keeper.kill()
    keeper.start()
    there = trade.there()
    assert len(there) > 15
    own = {id for ids in trade.ids.values() for id in ids}
    deadline = time.monotonic() + 120
    while copied(keeper.kept, own) != there and time.monotonic() < deadline:
        time.sleep(1)
    keeper.kill()
    assert copied(keeper.kept, own) == there
    ids = keeper.kept["ids"]
    assert len(ids) == len(set(ids)), "each event came once"
    assert own - there.keys() >= {trade.ids["product"][0], trade.ids["order"][-4]}


def copied(kept: Any, own: set[str]) -> dict[str, Any]:
    """The records of the copy; customers with totals from the copy's orders."""
    records = {id: record for id, record in kept["records"].items() if id in own}
    orders = [record for record in records.values() if "lineItems" in record]
    for id, record in records.items():
        if id.startswith("cus_"):
            its = [order for order in orders if order["customer"]["id"] == id]
            paid = sum(float(order["total"]) for order in its if order["paymentStatus"] == "PAID")
            record["ordersCount"] = sum(order["status"] != "CANCELLED" for order in its)
            record["totalSpent"] = f"{paid:.2f}"
    return records
