"""What the commands share: options, exit codes, the shop that they ask, and lists."""

from __future__ import annotations

import os
import re
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any, NoReturn

import httpx
import typer

from backroom import settings
from backroom.cli import shown
from backroom.client import Backroom
from backroom.errors import JobFailed
from backroom.settings import Settings
from backroom.shared import Waiting

DONE, REFUSED, USAGE, NOT_ALLOWED, NO_ANSWER, INCOMPLETE, NEEDS_MAPPING = range(7)
INTERRUPTED = 130


def whole(least: int, most: int = 10**9) -> Callable[[object], int]:
    """The parser of a whole number; Python itself reads `5_0` as 50."""

    def parse(sent: object) -> int:
        if not re.fullmatch("[0-9]{1,10}", str(sent)) or not least <= int(str(sent)) <= most:
            raise typer.BadParameter(f"{sent} is not a whole number from {least} to {most}.")
        return int(str(sent))

    return parse


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Limit = Annotated[int, typer.Option(parser=whole(0), help="Maximum number of records; 0: all.")]
Search = Annotated[str | None, typer.Option(help="Words, or beginnings of words.")]
_PROFILE = "BACKROOM_PROFILE"


def use_profile(name: str) -> None:
    """For the rest of this process; it counts before BACKROOM_URL and BACKROOM_KEY."""
    os.environ[_PROFILE] = name
    for other in ("BACKROOM_URL", "BACKROOM_KEY"):
        os.environ.pop(other, None)


def signed_in() -> Settings:
    return settings.load()


@contextmanager
def shop() -> Iterator[Backroom]:
    """The shop of the profile, or of the environment."""
    with opened(signed_in()) as found:
        yield found


@contextmanager
def opened(asked: Settings, **options: Any) -> Iterator[Backroom]:
    def told(waiting: Waiting) -> None:
        shown.note(f"{waiting.reason}: waiting {waiting.seconds:.0f} s", "dim")

    try:
        made = Backroom(asked.url, asked.key, on_wait=told, **options)
    except (OSError, ValueError, httpx.InvalidURL, ssl.SSLError) as wrong:
        fail(f"No connection can be set up, see HTTP_PROXY and SSL_CERT_FILE: {wrong}", USAGE)
    with made:
        yield made


def page(limit: int) -> int:
    return min(limit or 100, 100)


def first(walk: Iterator[Any], limit: int) -> Iterator[Any]:
    return islice(walk, limit) if limit else walk


def lines(found: Iterator[Any]) -> None:
    for each in found:
        shown.line(each)


def pairs(option: str, given: list[str]) -> dict[str, Any]:
    """Filters as NAME=VALUE; a name that comes more than once has a list of values."""
    parted = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in parted if not equals]:
        fail(f"{option} {wrong[0]}: write NAME=VALUE.", USAGE)
    found: dict[str, Any] = {}
    for name, _, value in parted:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def fail(message: str, code: int) -> NoReturn:
    shown.note(message, "red")
    raise typer.Exit(code)


def hidden(what: str) -> str:
    """From the terminal without an echo, or a line of what is piped in."""
    if sys.stdin is not None and sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=True))
    return "" if sys.stdin is None else sys.stdin.readline()


def waited(shop: Backroom, job_id: str, what: str, *, quiet: bool) -> Any:
    """The job, however it ended."""
    try:
        with shown.bar(what, None, quiet=quiet) as bar:
            return shop.wait(job_id, on_progress=lambda job: bar.at(job["processed"], job["total"]))
    except JobFailed as failed:
        return failed.job
    except KeyboardInterrupt:
        shown.note(
            f"The job {job_id} goes on. Follow it with `backroom jobs follow {job_id}`,"
            f" stop it with `backroom jobs cancel {job_id}`.",
            "yellow",
        )
        raise typer.Exit(INTERRUPTED) from None


def show_job(job: Any, *, as_json: bool) -> None:
    if as_json:
        shown.document(job)
    else:
        shown.job(job)


def ended_job(job: Any, *, as_json: bool) -> None:
    show_job(job, as_json=as_json)
    if job["status"] != "COMPLETED" or job.get("withErrors", job["failed"]):
        raise typer.Exit(INCOMPLETE)
