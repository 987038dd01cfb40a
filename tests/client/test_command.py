"""The command, against a shop in memory: what it asks for, and that no mistake is a traceback."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from backroom import Backroom, __version__
from backroom.cli import commands

JOB = {"id": "job_1", "status": "COMPLETED", "failed": 0, "processed": 2, "total": 2}
ORDER = {"id": "ord_1", "number": "1001", "lineItems": [], "customer": None}


class Counter:
    """What was asked, and what is answered by path."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.answers: dict[str, Any] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return httpx.Response(200, json=self.answers[request.url.path])


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    made = Counter()

    @contextmanager
    def shop() -> Iterator[Backroom]:
        with httpx.Client(transport=httpx.MockTransport(made)) as http:
            yield Backroom("https://shop.example.com", "bk_1", http=http)

    monkeypatch.setattr(commands, "_shop", shop)
    return made


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        commands.main(list(arguments))
    return int(ended.value.code or 0)


def bare(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    known = {"BACKROOM_URL": "http://127.0.0.1:1", "BACKROOM_KEY": "bk_1"}
    path = {"PYTHONPATH": ":".join(sys.path)}
    return subprocess.run(
        [sys.executable, "-m", "backroom", *arguments],
        env=known | path | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_order_is_found_by_its_number(
    counter: Counter, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {**ORDER, "id": "ord_2", "number": "10012"}
    counter.answers["/api/admin/orders"] = {"data": [other, ORDER], "pagination": {"next": None}}
    counter.answers["/api/admin/orders/ord_1"] = ORDER
    assert run("orders", "show", "#1001", "--json") == 0
    assert json.loads(capsys.readouterr().out)["id"] == "ord_1"
    assert run("orders", "show", "1002") == commands.REFUSED


def test_orders_are_filtered_by_the_state_of_their_payment(counter: Counter) -> None:
    counter.answers["/api/admin/orders"] = {"data": [], "pagination": {"next": None}}
    assert run("orders", "--payment-status", "PENDING", "--from", "2026-11-22", "--json") == 0
    assert counter.asked[0].url.params["paymentStatus"] == "PENDING"


@pytest.mark.parametrize("verb", ["follow", "undo"])
def test_a_job_is_followed_to_its_end(
    counter: Counter, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    counter.answers["/api/admin/jobs/job_1"] = JOB
    counter.answers["/api/admin/jobs/job_1/undo"] = {"jobId": "job_1"}
    assert run("jobs", verb, "job_1", "--json") == 0
    assert json.loads(capsys.readouterr().out) == JOB
    counter.answers["/api/admin/jobs/job_1"] = {**JOB, "failed": 1}
    assert run("jobs", verb, "job_1", "--json") == commands.INCOMPLETE


def test_ctrl_c_says_that_the_job_goes_on(
    counter: Counter, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*asked: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Backroom, "wait", pressed)
    assert run("jobs", "follow", "job_1") == commands.INTERRUPTED
    assert "backroom jobs cancel job_1" in capsys.readouterr().err.replace("\n", " ")


def test_two_filters_of_one_name_are_both_sent() -> None:
    assert commands._pairs(["status=PAID", "status=PENDING", "tag=a"]) == {
        "status": ["PAID", "PENDING"],
        "tag": "a",
    }


def test_the_version_is_printed() -> None:
    assert bare("--version").stdout == f"backroom {__version__}\n"


def test_wrong_input_is_one_message_and_no_traceback(tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    for done in (
        bare("export", "products", "-o", "/nowhere/x.csv"),
        bare("import", str(empty)),
        bare("orders", BACKROOM_KEY="bk_ü"),
        bare("login", "--from", str(tmp_path)),
    ):
        assert done.returncode in (commands.REFUSED, commands.USAGE), done
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
