"""A stage is copied into a folder, and another stage goes on with the copy."""

import json
import os
import re
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from backroom import verify

from infra.emulator import KEY, KEY_VARIABLE
from tests.e2e.calls import Api, call, until
from tests.e2e.recorded import client
from tests.support.programs import ran
from tests.support.running import Stack, free_port, running, tool
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.thorough


def backup(stack: Stack, *options: str, code: int = 0) -> str:
    where = ("--stage", "local", "--endpoint-url", stack.aws_endpoint)
    command = (sys.executable, "infra/backup.py", *where, *options)
    done = ran(*command, code=code, env=os.environ | {KEY_VARIABLE: KEY})
    return done.stdout + done.stderr


def items(stack: Stack) -> list[str]:
    """All that the main table holds, but the counters of rate limits."""
    pages = client(stack.aws_endpoint, "dynamodb").get_paginator("scan")
    found = [item for page in pages.paginate(TableName="backroom-local") for item in page["Items"]]
    kept = [item for item in found if not item["pk"]["S"].startswith(("key#", "rate#"))]
    texts = (json.dumps(item, sort_keys=True, default=str) for item in kept)
    # A number may be written in another way: 89.00 as 89, 9.50 as 9.5.
    return sorted(re.sub(r'(?<="N": ")[^"]+', _plain, text) for text in texts)


def _plain(number: re.Match[str]) -> str:
    return f"{Decimal(number[0]).normalize():f}"


def test_another_stage_continues_with_a_backup(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("old", "new")]
    for home in homes:
        home.mkdir()
    folder = tmp_path / "backup"
    with (
        Receiver() as receiver,
        running(homes[0], free_port(), "--fresh", sample=True) as old,
        running(homes[1], free_port(), "--fresh") as new,
    ):
        shop, later = Api.of(old), Api(new.base_url, old.api_key)
        webhook = shop.webhook(receiver.url("/ok"), "order.created")
        products = shop.get("products?limit=100")["data"]
        variants = (one for product in products for one in product["variants"])
        sold = {"variants": [next(one for one in variants if (one["stock"] or 0) > 1)]}
        placed = shop.order(sold)
        until(lambda: receiver.requests, 240)
        sent = f"webhooks/{webhook['id']}/deliveries?status=DELIVERED"
        until(lambda: shop.get(sent)["data"])
        job = shop.get("jobs")["data"][0]["id"]

        backup(old, "--to", str(folder), "--copies", "backroom-local", "none", code=1)
        assert list(tmp_path.glob("*backup*")) == []
        backup(old, "--to", str(folder))
        assert (folder.stat().st_mode & 0o77) == 0
        assert "is there already" in backup(old, "--to", str(folder), code=1)
        assert "has data" in backup(old, "--from", str(folder), code=1)
        before = items(old)
        # What a stage without data does, too: a request without a key, and the hourly run.
        call(f"{new.base_url}/api/products")
        event = json.dumps({"republish": "lost"})
        client(new.aws_endpoint, "lambda").invoke(
            FunctionName="backroom-local-fan_out", Payload=event
        )
        backup(new, "--from", str(folder))
        assert items(new) == before

        assert call(f"{new.base_url}/api/admin/me", new.api_key)[0] == 401
        assert later.get(f"orders/{placed['id']}") == placed
        assert later.get(f"jobs/{job}")["status"] == "COMPLETED"
        assert "0 wrong" in tool(new, "counts")
        receiver.requests.clear()
        second = later.order(sold)
        assert int(second["number"]) > int(placed["number"])
        heard = until(lambda: [r for r in receiver.requests if second["id"].encode() in r.body])
        assert verify(heard[0].body, heard[0].headers, webhook["secret"])["data"] == second
        arrived = Counter(r.delivery for r in receiver.requests if placed["id"].encode() in r.body)
        assert not arrived, "what was delivered before is not sent again"
