"""What `make run` keeps when it is stopped, or killed at any moment."""

import json
import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.emulator import CREDENTIALS, REGION, Emulator, stop_leftover
from infra.emulator_snapshots import find_newest, write_json
from tests.e2e.calls import until
from tests.e2e.recorded import client
from tests.support.programs import ran
from tests.support.running import free_port

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("EMULATOR_PYTHON") or PROJECT / ".venv-emulator/bin/python")
EVERY = 0.4  # seconds between snapshots
MOST_LOST = 10  # seconds, on a busy machine


STOPPED_WHILE_IT_WRITES = """
import asyncio, os, signal, sys, time
from pathlib import Path
from infra.emulator_snapshots import Snapshots, write_json, write_snapshot

folder, states = Path(sys.argv[1]), dict.fromkeys("abcd", "old")

def write_slowly(name, value, unfinished):
    time.sleep(0.3)
    write_json(unfinished / f"{name}.json", value, str)

def write():
    known = {name: lambda name=name: states[name] for name in states}
    write_snapshot(folder, lambda: known, write_slowly)

snapshots = Snapshots(folder, write)

async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.sleep(0.5)
        states.update(dict.fromkeys(states, "new"))
        await served({"type": "http", "method": "POST", "headers": [], "path": "/"}, None, None)
        snapshots.finish()

served = snapshots.watch(application)
asyncio.run(served({"type": "lifespan"}, None, None))
"""


@pytest.mark.parametrize("has_orjson", [True, False])
def test_a_snapshot_has_every_value_with_the_fast_encoder_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_orjson: bool
) -> None:
    if not has_orjson:
        monkeypatch.setitem(sys.modules, "orjson", None)
    odd = {"half of a pair": "\ud83d", "large": 2**70, "tuple": (1, None), "é\0": [True, 1.5, {}]}
    deep = {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": odd}}}}}}}}
    write_json(tmp_path / "it.json", {"object": object, **deep}, lambda _: {"x": "y"})
    read = json.loads((tmp_path / "it.json").read_bytes())
    assert read == {"object": {"x": "y"}, **json.loads(json.dumps(deep))}


def begun(home: Path) -> Emulator:
    stop_leftover(home)
    emulator = Emulator(PYTHON, free_port(), home)
    emulator.start()
    return emulator


def number(emulator: Emulator) -> int:
    """The number that was written last, of the item with two attributes that are always equal."""
    item = client(emulator.endpoint, "dynamodb").get_item(
        TableName="numbers", Key={"pk": {"S": "n"}}
    )["Item"]
    assert item["a"] == item["b"]
    return int(item["a"]["N"])


def write(emulator: Emulator, numbers: "count[int]", written: list[tuple[float, int]]) -> None:
    """Writes as fast as it can, until the emulator is gone."""
    table: Any = boto3.client(
        "dynamodb",
        endpoint_url=emulator.endpoint,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=5),
    )
    with suppress(ClientError, BotoCoreError):
        for n in numbers:
            pair = {name: {"N": str(n)} for name in "ab"}
            table.put_item(TableName="numbers", Item={"pk": {"S": "n"}, **pair})
            table.put_item(
                TableName="numbers", Item={"pk": {"S": f"i{n}"}, "text": {"S": "x" * 3_000}}
            )
            written.append((time.monotonic(), n))


def prepared(home: Path) -> None:
    emulator = begun(home)
    client(emulator.endpoint, "dynamodb").create_table(
        TableName="numbers",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    item = {"pk": {"S": "n"}, "a": {"N": "0"}, "b": {"N": "0"}}
    client(emulator.endpoint, "dynamodb").put_item(TableName="numbers", Item=item)
    client(emulator.endpoint, "ssm").put_parameter(Name="/key", Value="secret", Type="SecureString")
    emulator.save()
    emulator.stop()


def key_of(emulator: Emulator) -> str:
    found = client(emulator.endpoint, "ssm").get_parameter(Name="/key", WithDecryption=True)
    return str(found["Parameter"]["Value"])


def test_killed_at_twenty_moments_it_loses_the_last_seconds_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNAPSHOT_SECONDS", str(EVERY))
    prepared(tmp_path)
    moments = random.Random(64)
    numbers = count(1)
    emulator = begun(tmp_path)
    for _ in range(20):
        written: list[tuple[float, int]] = []
        with ThreadPoolExecutor(1) as writer:
            writer.submit(write, emulator, numbers, written)
            time.sleep(moments.uniform(0.2, 2.5))
            killed = time.monotonic()
            os.killpg(int((tmp_path / "emulator.pid").read_text()), signal.SIGKILL)
        emulator = begun(tmp_path)
        kept = max((n for at, n in written if at < killed - MOST_LOST), default=0)
        assert number(emulator) >= kept
        assert key_of(emulator) == "secret"
    emulator.stop()


def test_a_stop_waits_for_the_snapshot_that_is_being_written(tmp_path: Path) -> None:
    """Two would write into one folder: the first would give its name to half of the second."""
    said = ran(sys.executable, "-c", STOPPED_WHILE_IT_WRITES, str(tmp_path), cwd=PROJECT).stdout
    newest = find_newest(tmp_path)
    kept = {path.name: path.read_text() for path in newest.iterdir()}
    assert kept == {f"{name}.json": '"new"' for name in "abcd"}, said
    assert os.listdir(tmp_path) == [newest.name] and "failed" not in said


def test_a_stop_keeps_everything_and_a_second_one_writes_nothing(tmp_path: Path) -> None:
    prepared(tmp_path)
    emulator = begun(tmp_path)
    written: list[tuple[float, int]] = []
    with ThreadPoolExecutor(1) as writer:
        writer.submit(write, emulator, count(1), written)
        until(lambda: len(written) > 9)
        os.kill(int((tmp_path / "emulator.pid").read_text()), signal.SIGTERM)
    emulator.stop()
    second = begun(tmp_path)
    assert number(second) >= written[-1][1] > 0
    newest = find_newest(tmp_path / "state")
    second.stop()
    assert find_newest(tmp_path / "state") == newest
    assert os.listdir(tmp_path / "state") == [newest.name]
