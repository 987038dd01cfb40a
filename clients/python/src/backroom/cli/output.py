"""What the command prints: tables for people, JSON for programs.

Results go to stdout, everything else (progress, notes, errors) to stderr.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

_CHANGES = 40  # lines of a dry run's preview


def prepare_streams() -> None:
    """Let all output be written: to nowhere if it is closed, with codes for missing letters."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="backslashreplace")


def discard_stdout() -> None:
    """Discard what is still to be written to stdout."""
    with suppress(OSError, ValueError, AttributeError):  # it has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stderr_console() -> Console:
    return Console(stderr=True, highlight=False)


def print_note(text: str, style: str = "") -> None:
    _stderr_console().print(to_plain_text(text, style), soft_wrap=True)


def to_plain_text(value: object, style: str = "") -> Text:
    """Return a text without markup, and without what a terminal would obey."""
    text = "" if value is None else str(value)
    safe = "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)
    return Text(safe, style=style)


def print_json(value: object) -> None:
    """Print one JSON value."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=_is_narrow()) + "\n")
    sys.stdout.flush()


def print_json_line(value: object) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=_is_narrow()) + "\n")
    sys.stdout.flush()


def _is_narrow() -> bool:
    """Return whether the encoding of stdout lacks letters."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table. A column whose name ends with `>` is aligned to the right."""
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column.endswith(">")
        made.add_column(column.rstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(to_plain_text(cell) for cell in row))
    _stdout_console().print(made)


def format_time(time: str) -> str:
    """Return a time for a table, in UTC: its day may be another than the shop's."""
    return f"{time[:19]}Z"


def print_facts(pairs: Mapping[str, object]) -> None:
    """Print names and values, one pair below the other."""
    made = Table(box=None, show_header=False, pad_edge=False)
    for name, value in pairs.items():
        made.add_row(to_plain_text(name, "dim"), to_plain_text(value))
    _stdout_console().print(made)


def _stdout_console() -> Console:
    """Return the console of stdout: a terminal gets what fits, a pipe whole lines."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


class Bar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def move_to(self, done: int, total: int | None = None) -> None:
        self._progress.update(self._task, completed=done, total=total)


@contextmanager
def show_progress(
    what: str, total: int | None, *, quiet: bool, is_bytes: bool = False
) -> Iterator[Bar]:
    """Show a progress bar on stderr, if that is a terminal and not `quiet`."""
    amount = DownloadColumn() if is_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn())
    notes = _stderr_console()
    with Progress(*columns, console=notes, disable=quiet or not notes.is_terminal) as progress:
        yield Bar(progress, progress.add_task(what, total=total))


def print_job(found: Mapping[str, Any]) -> None:
    """Print the result of a job."""
    told: dict[str, object] = {"job": found["id"], "status": found["status"]}
    for name in (
        "dialect",
        "rows",
        "total",
        "created",
        "updated",
        "unchanged",
        "deleted",
        "failed",
        "withErrors",
    ):
        if found.get(name) or (found.get(name) == 0 and name in ("total", "failed")):
            told[name] = found[name]
    if error := found.get("error"):
        told["error"] = f"{error['code']}: {error['message']}"
    print_facts(told)
    for each in found.get("warnings") or ():
        print_note(str(each["message"]), "yellow")
    errors = found.get("errors") or ()
    if errors:
        more = found.get("withErrors", found.get("failed", 0)) > len(errors)
        print_table(
            ("row>", "field", "code", "message", "product"),
            (
                (
                    each.get("row"),
                    each.get("field"),
                    each.get("code"),
                    each.get("message"),
                    each.get("name") or each.get("slug") or each.get("sku") or each.get("id"),
                )
                for each in errors
            ),
            title=f"The first {len(errors)} errors" if more else "Errors",
        )


def print_preview(found: Mapping[str, Any]) -> None:
    """Print what a dry run would change."""
    changes = [
        (each.get("slug") or each.get("id"), each.get("outcome"), field, before, after)
        for each in found.get("preview") or ()
        for field, before, after in _list_differences(each)
    ]
    shown = changes[:_CHANGES]
    print_table(("product", "what", "field", "before", "after"), shown, title="The first changes")
    if len(changes) > len(shown):
        print_note(f"{len(changes) - len(shown)} more changes are in the output of --json.", "dim")


def _list_differences(each: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    before, after = _flatten(each.get("before") or {}), _flatten(each.get("after") or {})
    for field in {**before, **after}:
        if before.get(field) != after.get(field):
            yield field, _format_cell(before.get(field)), _format_cell(after.get(field))


def _flatten(product: Mapping[str, Any]) -> dict[str, Any]:
    """Return a product without nesting; a variant's fields have its SKU or title: `MUG-1.stock`."""
    found = {name: value for name, value in product.items() if name != "variants"}
    for variant in product.get("variants") or ():
        name = variant.get("sku") or variant.get("title")
        found |= {f"{name}.{field}": value for field, value in variant.items()}
    return found


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:80]
