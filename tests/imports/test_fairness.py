"""A small import does not wait for a large one."""

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from chalicelib import settings
from chalicelib.imports import files
from chalicelib.imports.steps import backlog
from tests.support.dynamodb_double import Crash
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

INFRA = Path(__file__).parents[2] / "infra"
HEADER = "slug,name,price\n"
LARGE = HEADER + "".join(f"p{n},P,{n % 7 + 1}\n" for n in range(2_000))
SMALL = HEADER + "".join(f"s{n},S,1\n" for n in range(20))


@pytest.fixture
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "imports_at_once", lambda: 2)


@pytest.mark.usefixtures("two_at_once")
def test_few_chunks_of_a_large_file_are_ahead_of_a_small_one(desk: Desk) -> None:
    large = desk.started(LARGE)
    small = desk.started(SMALL)
    handled = 0
    waiting = desk.messages()
    while desk.job(small)["status"] != "COMPLETED":
        desk.handle(waiting.pop(0))
        handled += 1
        waiting += desk.messages()
    assert handled <= 5
    assert desk.job(large)["processed"] < 2_000
    for message in waiting:
        desk.handle(message)
    desk.work()
    job = desk.job(large)
    assert (job["status"], job["created"], job["processed"]) == ("COMPLETED", 2_000, 2_000)


def sent(desk: Desk, parts: int, later: int) -> tuple[list[str], int]:
    """The chunks of all messages in their order, and the most that waited at once. `later`: workers
    after the file was planned."""
    job_id = f"job_{parts}"
    for line in range(parts):
        files.put_kept(job_id, f"rows-{line:010d}", b"")
    backlog.send_first_pages(job_id)
    names, most = [], 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(settings, "imports_at_once", lambda: later)
        while waiting := desk.messages():
            most = max(most, len(waiting))
            for message in waiting:
                part = json.loads(message["body"])
                names.append(part["chunk"])
                backlog.send_next_page(part)
    return names, most


@pytest.mark.parametrize(("at_once", "later"), [(2, 2), (4, 4), (4, 2), (4, 6), (4, 8)])
def test_every_chunk_of_a_large_file_is_sent_once_and_few_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at_once: int, later: int
) -> None:
    """Also if the number of workers changes meanwhile."""
    monkeypatch.setattr(settings, "imports_at_once", lambda: at_once)
    for parts in (1, 3, 4, 6, 7, 12, 30):
        every = [f"rows-{line:010d}" for line in range(parts)]
        assert sent(desk, parts, later) == (every, min(parts, 3 * at_once // 2))


@pytest.mark.usefixtures("two_at_once")
def test_an_import_continues_after_a_crash_at_the_end_of_a_chunk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = desk.started(LARGE)
    send_next_page, died = backlog.send_next_page, []

    def dies_once(message: Mapping[str, Any]) -> None:
        if not died:
            died.append(message)
            raise Crash("before it went on")
        send_next_page(message)

    monkeypatch.setattr(backlog, "send_next_page", dies_once)
    first, *others = desk.messages()
    desk.handle_again(copy.deepcopy(first))  # delivered twice, and the second is faster
    for message in [first, *others]:
        desk.handle(message)
    desk.work()
    job = desk.job(job_id)
    assert (died, job["status"], job["created"]) == ([ANY], "COMPLETED", 2_000)


def test_the_expected_concurrency_is_that_of_the_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    triggers = (INFRA / "triggers.yaml").read_text()
    of = {size: int(n) for size, n in re.findall(r"(\w+): \{Imports: (\d+)", triggers)}
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert settings.imports_at_once() == max(of.values())
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert settings.imports_at_once() == of["local"]
