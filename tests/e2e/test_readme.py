"""The first ten minutes of README.md: runs each block unchanged, in order."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.readme import Block, Checkout, blocks, checkout
from tests.support.running import free_port

DEPLOY = 6  # the chapter that tests/deploy/test_readme.py runs


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Checkout]:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 9000)) == 0:
            pytest.skip("something else listens on port 9000, which README.md uses")
    yield checkout(tmp_path, free_port())


def test_the_blocks_of_the_readme_work_in_order(desk: Checkout) -> None:
    run, login, given, look, place, program, receiver, sell, listen = [
        block for block in blocks() if block.chapter < DEPLOY
    ]
    with ExitStack() as terminals:
        stays(terminals, desk, run)
        told = desk.until(run, lambda said: "The log follows" in said)
        assert "Installing" not in told and "Owner key" in told
        assert ".venv/bin/backroom login --from .local/endpoint.json" in told
        assert "OWNER" in desk.run(login)
        assert "created" in desk.run(given)
        shown = desk.run(look)
        assert "Espresso cup" in shown and "Linen Shirt Blue" in shown
        placed = desk.run(place)
        assert "payment PAID" in placed and "ann@example.com" in placed
        assert "left: 37" in desk.run(program)
        stays(terminals, desk, receiver)
        desk.until(receiver, lambda said: "listening" in said)
        assert "whsec_" in desk.run(sell)
        desk.until(receiver, lambda said: "order.created" in said and "order.paid" in said)
        stays(terminals, desk, listen)
        desk.until(listen, lambda said: "whsec_" in said)
        requests = desk.until(run, lambda said: "/api/admin/orders → 201" in said)
        assert '{"' not in requests.partition("The log follows")[2]


def stays(terminals: ExitStack, desk: Checkout, block: Block) -> None:
    assert block.stays
    terminals.enter_context(desk.started(block))
