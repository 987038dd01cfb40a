"""One statement about AWS, its check, and the row that says what was seen."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from infra.verification.stage import Stage

Check = Callable[[Stage], str]
_HOLDS = {True: "yes", False: "NO", None: "-"}


class NotShownError(Exception):
    """A stage cannot show a statement; the text is the reason."""


class DoesNotHoldError(Exception):
    """The text is what was seen instead."""


@dataclass(frozen=True)
class Statement:
    """One line of "What was never run on AWS" (docs/first-hour.md), word for word.

    `check` returns what it saw, or raises; without one, `no_program` is the reason. `only_on_aws`:
    why the emulator cannot show it; empty if it can.
    """

    says: str
    check: Check | None = None
    only_on_aws: str = ""
    no_program: str = ""


@dataclass(frozen=True)
class Row:
    """`holds` is None if it was not shown. `emulator`: "shows it", or why it cannot."""

    statement: str
    seen: str
    holds: bool | None
    seconds: float
    emulator: str


def check_statements(statements: Sequence[Statement], stage: Stage) -> Iterator[Row]:
    """One after the other; a check that fails for whatever reason does not hold."""
    for statement in statements:
        began = time.monotonic()
        holds, seen = _check_statement(statement, stage)
        seconds = round(time.monotonic() - began, 1)
        emulator = statement.no_program or statement.only_on_aws or "shows it"
        yield Row(statement.says, seen, holds, seconds, emulator)


def _check_statement(statement: Statement, stage: Stage) -> tuple[bool | None, str]:
    if statement.check is None:
        return None, f"no program can check it: {statement.no_program}"
    if stage.is_emulated and statement.only_on_aws:
        return None, f"the emulator cannot show it: {statement.only_on_aws}"
    try:
        return True, statement.check(stage)
    except NotShownError as reason:
        return None, f"not shown: {reason}"
    except DoesNotHoldError as instead:
        return False, str(instead)
    except Exception as error:
        return False, f"the check failed: {type(error).__name__}: {error}"


def render_row(row: Row) -> str:
    """Return whether a statement holds, seconds, the statement, and below it what was seen."""
    return f"{_HOLDS[row.holds]:>4} {row.seconds:6.1f} s  {row.statement}\n{'':15}{row.seen}"


def summary(table: Sequence[Row]) -> str:
    number = {holds: sum(row.holds is holds for row in table) for holds in _HOLDS}
    seconds = sum(row.seconds for row in table)
    return (
        f"{number[True]} hold, {number[False]} do not hold, {number[None]} were not shown,"
        f" in {seconds:,.0f} s."
    )


def write_report(path: Path, stage: str, table: Sequence[Row]) -> None:
    path.write_text(json.dumps({"stage": stage, "rows": [asdict(row) for row in table]}, indent=1))
