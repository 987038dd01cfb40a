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


def prepare() -> None:
    """Closed output is discarded; a letter that an encoding lacks is written as its code."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="backslashreplace")


def discard() -> None:
    """What is still to be written to stdout."""
    with suppress(OSError, ValueError, AttributeError):  # it has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _notes() -> Console:
    return Console(stderr=True, highlight=False)


def note(text: str, style: str = "") -> None:
    _notes().print(plain(text, style), soft_wrap=True)


def plain(value: object, style: str = "") -> Text:
    """As it is: no markup, and nothing that a terminal would obey."""
    text = "" if value is None else str(value)
    safe = "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)
    return Text(safe, style=style)


def document(value: object) -> None:
    """One JSON value."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=_is_narrow()) + "\n")
    sys.stdout.flush()


def line(value: object) -> None:
    """One line of JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=_is_narrow()) + "\n")
    sys.stdout.flush()


def _is_narrow() -> bool:
    """Whether stdout takes only some letters."""
    return not (sys.stdout.encoding or "").lower().startswith("utf")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Numbers are on the right, where a column's name ends with `>`."""
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column.endswith(">")
        made.add_column(column.rstrip(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(plain(cell) for cell in row))
    _out().print(made)


def moment(time: str) -> str:
    """A time in a table, in UTC: the day of it may be another than the shop's."""
    return f"{time[:19]}Z"


def facts(pairs: Mapping[str, object]) -> None:
    """Names and values, one below the other."""
    made = Table(box=None, show_header=False, pad_edge=False)
    for name, value in pairs.items():
        made.add_row(plain(name, "dim"), plain(value))
    _out().print(made)


def _out() -> Console:
    """A pipe gets whole lines; a terminal what fits."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


class Bar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def at(self, done: int, total: int | None = None) -> None:
        self._progress.update(self._task, completed=done, total=total)


@contextmanager
def bar(what: str, total: int | None, *, quiet: bool, is_bytes: bool = False) -> Iterator[Bar]:
    """A progress bar on stderr, where that is a terminal."""
    amount = DownloadColumn() if is_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn())
    notes = _notes()
    with Progress(*columns, console=notes, disable=quiet or not notes.is_terminal) as progress:
        yield Bar(progress, progress.add_task(what, total=total))


def job(found: Mapping[str, Any]) -> None:
    """The result of a job."""
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
    facts(told)
    for each in found.get("warnings") or ():
        note(str(each["message"]), "yellow")
    errors = found.get("errors") or ()
    if errors:
        more = found.get("withErrors", found.get("failed", 0)) > len(errors)
        table(
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


def preview(found: Mapping[str, Any]) -> None:
    """What a dry run would change."""
    changes = [
        (each.get("slug") or each.get("id"), each.get("outcome"), field, before, after)
        for each in found.get("preview") or ()
        for field, before, after in _differences(each)
    ]
    shown = changes[:_CHANGES]
    table(("product", "what", "field", "before", "after"), shown, title="The first changes")
    if len(changes) > len(shown):
        note(f"{len(changes) - len(shown)} more changes are in the output of --json.", "dim")


def _differences(each: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    before, after = _flat(each.get("before") or {}), _flat(each.get("after") or {})
    for field in {**before, **after}:
        if before.get(field) != after.get(field):
            yield field, _cell(before.get(field)), _cell(after.get(field))


def _flat(product: Mapping[str, Any]) -> dict[str, Any]:
    """With the fields of each variant by its SKU, or else its title: `MUG-1.stock`."""
    found = {name: value for name, value in product.items() if name != "variants"}
    for variant in product.get("variants") or ():
        name = variant.get("sku") or variant.get("title")
        found |= {f"{name}.{field}": value for field, value in variant.items()}
    return found


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:80]
