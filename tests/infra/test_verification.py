"""`infra/verify.py`: what it checks, what it says, and that it leaves nothing and nobody else's."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra import verify
from infra.verification import deployment, units
from infra.verification.listed import STATEMENTS
from infra.verification.stage import Stage
from infra.verification.statements import (
    DoesNotHoldError,
    NotShownError,
    Statement,
    printed,
    rows,
    summary,
)

PAGE = Path(__file__).resolve().parents[2] / "docs/operations.md"
STAGE = Stage("trial-0000", is_trial=True)


def test_every_line_of_the_page_is_checked_or_has_a_reason() -> None:
    section = PAGE.read_text().partition("## What was never run on AWS\n")[2].split("\n### ")[0]
    lines = re.findall(r"^- \*\*(.+?)\*\*", section, re.M)
    assert section.count("\n- ") == len(lines), "a line begins with its statement, in bold"
    assert lines == [statement.says for statement in STATEMENTS]
    assert all(bool(each.check) != bool(each.no_program) for each in STATEMENTS)


def _raises(error: Exception) -> Any:
    def check(stage: Stage) -> str:
        raise error

    return check


def test_a_row_says_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    statements = (
        Statement("one", lambda stage: "all of it"),
        Statement("two", _raises(DoesNotHoldError("nothing of it"))),
        Statement("three", _raises(NotShownError("it is in use"))),
        Statement("four", _raises(OSError("broken"))),
        Statement("five", lambda stage: "not here", only_on_aws="it is too small"),
        Statement("six", no_program="it takes a week"),
    )
    table = list(rows(statements, STAGE))
    assert [(row.holds, row.seen) for row in table] == [
        (True, "all of it"),
        (False, "nothing of it"),
        (None, "not shown: it is in use"),
        (False, "the check failed: OSError: broken"),
        (None, "the emulator cannot show it: it is too small"),
        (None, "no program can check it: it takes a week"),
    ]
    assert [row.emulator for row in table][3:] == ["shows it", "it is too small", "it takes a week"]
    assert printed(table[1]).splitlines()[0].split() == ["NO", "0.0", "s", "two"]
    assert summary(table).startswith("1 hold, 2 do not hold, 3 were not shown")


def _options(**given: Any) -> argparse.Namespace:
    usual = {"stage": "trial", "existing": False, "yes": False, "load": None, "json": None}
    return argparse.Namespace(**usual | given)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The stages that exist."""
    stages = {"prod"}
    monkeypatch.setattr(deployment, "exists", stages.__contains__)
    identity = {"Account": "0"}
    client = argparse.Namespace(get_caller_identity=lambda: identity)
    monkeypatch.setattr("infra.verify.boto3.client", lambda service: client)
    return stages


def test_a_trial_has_a_name_of_its_own_and_no_stage_that_exists_is_taken(
    account: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (verify._on_aws(_options(yes=True)) for _ in range(2))
    assert one.is_trial and one.name != two.name and len(one.name) <= 20
    assert "This costs about $0." in capsys.readouterr().out
    with pytest.raises(SystemExit, match="exists"):
        verify._on_aws(_options(stage="prod", yes=True))
    existing = verify._on_aws(_options(stage="prod", existing=True, yes=True))
    assert (existing.name, existing.is_trial) == ("prod", False)
    with pytest.raises(SystemExit, match="no stage"):
        verify._on_aws(_options(stage="test", existing=True, yes=True))


def test_it_asks_before_it_makes_anything(
    account: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "no")
    with pytest.raises(SystemExit, match="Nothing was made"):
        verify._on_aws(_options())


@pytest.mark.parametrize("ends", [KeyboardInterrupt, SystemExit, ValueError])
def test_a_trial_is_taken_down_however_it_ends(
    ends: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "table.json"
    monkeypatch.setattr("sys.argv", ["verify.py", "--stage", "trial", "--json", str(table)])
    monkeypatch.setattr(verify, "_on_aws", lambda options: STAGE)
    monkeypatch.setattr(verify.signal, "signal", lambda *_: None)
    down = list[str]()

    def stops(stage: Stage, table: Any) -> None:
        raise ends

    def take_down(stage: Stage) -> str:
        down.append(stage.name)
        return "gone"

    last = Statement(STATEMENTS[-1].says, take_down)
    monkeypatch.setattr(verify, "STATEMENTS", (*STATEMENTS[:-1], last))
    monkeypatch.setattr(verify, "_run", stops)
    monkeypatch.setattr(verify.stacks, "delete", down.append)
    with pytest.raises((SystemExit, ValueError)):
        verify.main()
    assert down == ["backroom-trial-0000-receiver", STAGE.name]
    assert json.loads(table.read_text())["rows"][-1]["holds"] is True


def test_only_a_trial_is_deployed_changed_or_deleted() -> None:
    existing = Stage("prod")
    for check in (
        deployment.by_package,
        deployment.by_chalice,
        deployment.later_change,
        deployment.failing_change,
        deployment.protection,
        deployment.take_down,
    ):
        with pytest.raises(NotShownError):
            check(existing)


def test_the_units_are_those_of_the_page() -> None:
    assert units.documented("create") == (0, 77)
    assert units.documented("get") == (2, 0)
    near = {"create": units.Units(0, 80), "get": units.Units(2, 0)}
    assert "create 0 and 80 (0 and 77), $50.00 a million" in units._compared(near)
    with pytest.raises(DoesNotHoldError):
        units._compared({"create": units.Units(0, 120)})
