"""`infra/verify.py --stage local` on what `make run` started."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.verification.listed import STATEMENTS
from tests.support.running import Stack, free_port, running, tool

# By the page: what the emulator can show of a stage that this program did not deploy.
NOT_DEPLOYED_BY_IT = {
    "A package is deployed to an empty account.",
    "A later deployment interrupts nobody.",
    "A change that fails is rolled back.",
    "A table cannot be deleted by mistake.",
    "A schedule calls its function.",
    "A stage that is destroyed with its data leaves nothing.",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One whose week of retries takes a minute."""
    quick = ("--setting", "WEBHOOK_SCHEDULE_SCALE=0.0002")
    with running(tmp_path_factory.mktemp("stack"), free_port(), "--fresh", *quick) as stack:
        yield stack


def test_what_the_emulator_can_show_holds(stack: Stack, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    printed = tool(stack, "verify", "--load", "20", "--json", str(path))
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"]
    assert [row["statement"] for row in rows] == [statement.says for statement in STATEMENTS]
    assert all(row["statement"] in printed and row["seen"] in printed for row in rows)
    shown = {row["statement"] for row in rows if row["emulator"] == "shows it"}
    holds = {row["statement"]: row["holds"] for row in rows}
    assert {says for says in shown if holds[says] is not True} == NOT_DEPLOYED_BY_IT
    assert all(holds[says] is None for says in holds.keys() - shown)
    assert len(shown) >= 16
