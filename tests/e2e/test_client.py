"""The Python client against the deployed stack: the example project, and a large file."""

import csv
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backroom import Backroom

from tests.support.examples import red_picture
from tests.support.programs import ran
from tests.support.running import Stack, tool

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shop(stack: Stack) -> Iterator[Backroom]:
    """An Owner whose limits no test reaches."""
    with Backroom(stack.base_url, stack.api_key) as first:
        made = first.create_api_key({"name": "The client's tests", "role": "OWNER"})
    tool(stack, "keys", "limits", made["id"], "--read", "9000", "--write", "9000")
    with Backroom(stack.base_url, made["key"]) as shop:
        yield shop


def example(shop: Backroom, name: str, *arguments: str) -> str:
    """The output of a program of the example project."""
    environment = {"BACKROOM_URL": shop.url, "BACKROOM_KEY": str(shop._transport.key)}
    environment["PYTHONPATH"] = str(PROJECT / "clients/python/src")
    program = PROJECT / "clients/python/examples/erp" / name
    return ran(sys.executable, program, *arguments, env=os.environ | environment).stdout


def test_the_example_project_prints_what_it_documents(shop: Backroom, tmp_path: Path) -> None:
    shop.create_product(
        {
            "name": "Till mug",
            "status": "ACTIVE",
            "variants": [{"sku": "TILL-MUG", "price": 5, "cost": 2}],
        }
    )
    sold = example(shop, "till.py", "TILL-MUG", "2", "receipt-1")
    assert "10.00" in sold and "5.00 each" in sold
    assert example(shop, "till.py", "TILL-MUG", "2", "receipt-1") == sold, "one receipt, one order"
    database = tmp_path / "orders.db"
    for _ in range(2):
        example(shop, "sync.py", str(database))
        with sqlite3.connect(database) as copy:
            found = dict(copy.execute("SELECT id, whole FROM orders WHERE whole NOT NULL"))
        assert {id: without_costs(json.loads(whole)) for id, whole in found.items()} == {
            order["id"]: without_costs(order) for order in shop.iter_orders()
        }


def without_costs(order: Any) -> Any:
    """An order as events have it, also from a list."""
    return order | {"lineItems": [line | {"cost": None} for line in order["lineItems"]]}


def test_a_picture_is_uploaded_and_shown(shop: Backroom, tmp_path: Path) -> None:
    file = tmp_path / "cup.png"
    file.write_bytes(red_picture())
    picture = shop.upload_picture(file)
    new = {"name": "Seen cup", "price": 5, "images": [{"pictureId": picture["id"]}]}
    cup = shop.create_product(new)  # type: ignore[arg-type]
    assert cup["images"][0]["sizes"] == picture["sizes"]


def test_a_file_of_an_order_is_uploaded_and_listed(shop: Backroom, tmp_path: Path) -> None:
    file = tmp_path / "ring.png"
    file.write_bytes(red_picture())
    order = shop.create_order({"lineItems": [{"title": "Ring", "price": "10.00", "quantity": 1}]})
    uploaded = shop.upload_file(order["id"], file, note="Size 52")
    assert (uploaded["kind"], uploaded["note"]) == ("IMAGE", "Size 52")
    (listed,) = shop.list_files(order["id"])["data"]
    assert listed["id"] == uploaded["id"]


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
