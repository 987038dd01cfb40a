"""`make run`: data survives a stop, its processes do not, and each port has its own shop."""

import json
import os
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from infra.emulator import KEY
from tests.deploy.machine import CHALICE
from tests.e2e.calls import Api, call, until
from tests.e2e.readme import copied
from tests.e2e.test_command import Terminal
from tests.support.running import Stack, free_port, local_command, processes, running
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.thorough


def names(stack: Stack) -> list[str]:
    status, answer = call(f"{stack.base_url}/api/products")
    assert status == 200, answer
    return [product["name"] for product in answer["data"]]


@contextmanager
def listening(stack: Stack, home: Path, forward_to: str) -> Iterator[None]:
    """`backroom listen`, from the first event of the shop."""
    terminal = Terminal(home / "terminal")
    terminal.home.mkdir()
    terminal.environment |= {"BACKROOM_URL": stack.base_url, "BACKROOM_KEY": stack.api_key}
    with (terminal.home / "output").open("w") as output:
        begin = ("--since", "2026-01-01T00:00:00Z")
        command = ("listen", "--forward-to", forward_to, *begin)
        process = terminal.start(*command, stdout=output, stderr=output)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def names_in(receiver: Receiver) -> list[str]:
    return [json.loads(each.body)["data"]["name"] for each in receiver.requests]


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_data_survives_a_stop_and_fresh_deletes_it(stack: Stack, tmp_path: Path) -> None:
    """A listener gets every event, also that of the mug: the change feed shows an event only after
    half a minute, when the shop has been restarted. What waits for a receiver is sent then, too.
    Meanwhile, its port and its data are of this shop alone."""
    port, scale = free_port(), ("--setting", "WEBHOOK_SCHEDULE_SCALE=0.01")
    home = tmp_path / str(port)
    with (
        Receiver() as webhook,
        Receiver() as forwarded,
        ExitStack() as terminals,
        Receiver() as busy,
    ):
        with running(tmp_path, port, *scale, keeps=True) as first:
            shop = Api.of(first)
            later = busy.url("/busy?status=503&after=7200")  # scaled: 72 s
            for url in (webhook.url("/ok"), later):
                shop.webhook(url, "product.created")
            terminals.enter_context(listening(first, tmp_path, forwarded.url("/ok")))
            shop.product("Pewter mug")
            until(lambda: shop.get("deliveries?status=RETRYING")["data"], 180)
            until(lambda: names_in(webhook) == ["Pewter mug"], 180)
            # Before its first answer, a listener takes a shop that stops for a wrong address.
            until(lambda: "/api/admin/events → 200" in (tmp_path / "output").read_text(), 180)
            assert "Pewter mug" not in names(stack)
            assert call(f"{stack.base_url}/api/admin/me", first.api_key)[0] == 401
            refuses_a_second_run(tmp_path, port)
            assert processes(str(home))
        assert processes(str(home)) == []
        assert not is_open(port)
        assert not (tmp_path / "endpoint.json").exists()
        tried = len(busy.requests)
        with running(tmp_path, port, *scale, keeps=True) as second:
            assert second == first
            assert names(second) == ["Pewter mug"]
            until(lambda: len(busy.requests) > tried, 300)
            shop.product("Tin cup")
            until(lambda: names_in(forwarded) == ["Pewter mug", "Tin cup"], 180)
    with running(tmp_path, port, "--fresh", sample=True, keeps=True) as third:
        assert third.api_key != first.api_key
        assert len(names(third)) == 20, "the first page of the sample catalogue"


def refuses_a_second_run(home: Path, port: int) -> None:
    second = subprocess.run(
        local_command(home, port, "--fresh"),
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode != 0
    assert f"already runs on port {port}" in second.stderr


@pytest.fixture(scope="module")
def served(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The same shop by `chalice local`, which serves a working copy next to `make run`."""
    source, port = copied(tmp_path_factory.mktemp("checkout")), free_port()
    shown = {"baseUrl": stack.base_url, "apiKey": stack.api_key}
    shown |= {"awsEndpoint": stack.aws_endpoint, "awsKey": KEY}
    (source / ".local/endpoint.json").write_text(json.dumps(shown))
    with (source / "output").open("w") as output:
        command = [CHALICE, "local", "--no-autoreload", "--port", str(port)]
        process = subprocess.Popen(command, cwd=source, stdout=output, stderr=output)
    try:
        until(lambda: is_open(port) or process.poll() is not None, 180)
        assert process.poll() is None, (source / "output").read_text()
        yield replace(stack, base_url=f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(30)


def test_chalice_local_reads_and_writes_the_running_shop(stack: Stack, served: Stack) -> None:
    assert Api.of(served).get("me")["role"] == "OWNER"
    for writer, reader in ((stack, served), (served, stack)):
        made = Api.of(writer).product("Enamel mug")
        found = call(f"{reader.base_url}/api/products/{made['id']}")[1]
        assert found["name"] == "Enamel mug"


def test_jobs_started_by_chalice_local_are_completed_by_make_run(
    stack: Stack, served: Stack
) -> None:
    sku = f"s{uuid.uuid4().hex}"
    shop = Api.of(served)
    with Receiver() as receiver:
        shop.webhook(receiver.url("/ok"), "order.created")
        job = shop.upload(f"slug,name,price,sku\n{sku},Mug,5,{sku}\n")
        assert shop.ended(job)["created"] == 1
        (mug,) = shop.get(f"products?search={sku}")["data"]
        order = shop.order(mug)
        until(lambda: any(order["id"].encode() in one.body for one in list(receiver.requests)), 180)
