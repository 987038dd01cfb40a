"""Each command and request of docs/recipes.md does what its recipe says."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.support.programs import ran
from tests.support.running import Stack

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs/recipes.md").read_text(encoding="utf-8")
LINES = [line for box in re.findall(r"```sh\n(.*?)```", PAGE, re.S) for line in box.splitlines()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recipes")
    (made / "stock.csv").write_text("Article,Pieces\nMUG-1,7\n")
    command = f'#!/bin/sh\nexec {sys.executable} -m backroom "$@"\n'
    (made / "backroom").write_text(command)
    (made / "backroom").chmod(0o755)
    return made


def run(stack: Stack, home: Path, line: str) -> str:
    environment = {
        "PATH": f"{home}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT / "clients/python/src"),
        "BACKROOM_URL": stack.base_url,
        "BACKROOM_KEY": stack.api_key,
        "API": stack.base_url,
        "KEY": stack.api_key,
    }
    done = ran("bash", "-euc", line, cwd=home, env=os.environ | environment)
    return done.stdout + done.stderr


SAYS = {
    "keys create": "Ada, contractor",
    "expiresAt": '"role":"STAFF"',
    "orders --balance": "payment",
    "balance=due": '"1',
    "RR100 --dry-run": "order.shipped",
    "--number RR100": "SHIPPED",
    "backroom shipments --from": "RR100",
    "work list": "Ring",
    "work?due": '"title":"Ring"',
    '"Customer withdrew" --dry-run': "4.00 ",
    '"Customer withdrew"': "0.00 USD",
    "> prices.json": "",
    "products upsert": "updated",
    "bulk?mode=update": '"status":"unchanged"',
    "--dry-run": "MUG-1.stock",
    '\'{"Article": "sku", "Pieces": "stock"}\'': "COMPLETED",
    "stock receive": "7 before, 19 now",
    "--replay": "",
    "deliveries": "attempts",
}


def test_each_recipe_does_what_it_says(stack: Stack, home: Path) -> None:
    (home / "mug.csv").write_text("slug,name,price,sku,stock\nmug,Mug,9,MUG-1,4\n")
    run(stack, home, "backroom import mug.csv && backroom orders create --item MUG-1")
    paid = run(stack, home, "backroom orders create --item MUG-1 --paid --json")
    ring = {"title": "Ring", "price": "90", "quantity": 1, "make": True, "dueOn": "2026-01-02"}
    late = json.dumps({"lineItems": [ring], "paymentStatus": "PAID"})
    headers = '-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"'
    run(stack, home, f"curl -sf {headers} -d '{late}' $API/api/admin/orders")
    assert len(LINES) == 20
    for line in LINES:
        # Other tests leave a thousand deliveries, and a key makes so many requests in ten minutes.
        few = line.replace("--limit 0 --replay", "--limit 5 --replay")
        said = run(stack, home, few.replace("1001", json.loads(paid)["number"]))
        expected = next(SAYS[part] for part in SAYS if part in line)
        assert expected in said, (line, said)
    (product,) = json.loads(run(stack, home, "backroom products --search MUG-1 --json"))["variants"]
    assert (product["stock"], product["price"]) == (19, "9.90"), "as the ERP sent it"
