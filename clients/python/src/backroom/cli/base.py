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
from backroom.cli import output
from backroom.client import Backroom
from backroom.errors import JobFailed
from backroom.settings import Settings
from backroom.shared import Waiting

DONE, REFUSED, USAGE, NOT_ALLOWED, NO_ANSWER, INCOMPLETE, NEEDS_MAPPING = range(7)
INTERRUPTED = 130


def integer_parser(least: int, most: int = 10**9) -> Callable[[object], int]:
    """Return a parser of whole numbers from `least` to `most`; Python would read `5_0` as 50.

    The help shows the parser's name.
    """

    def integer(sent: object) -> int:
        if not re.fullmatch("[0-9]{1,10}", str(sent)) or not least <= int(str(sent)) <= most:
            raise typer.BadParameter(f"{sent} is not a whole number from {least} to {most}.")
        return int(str(sent))

    return integer


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Limit = Annotated[
    int, typer.Option(parser=integer_parser(0), help="Maximum number of records; 0: all.")
]
Search = Annotated[str | None, typer.Option(help="Words, or beginnings of words.")]
_PROFILE = "BACKROOM_PROFILE"


def use_profile(name: str) -> None:
    """Use a saved shop for the rest of this process, whatever BACKROOM_URL and BACKROOM_KEY are."""
    os.environ[_PROFILE] = name
    for other in ("BACKROOM_URL", "BACKROOM_KEY"):
        os.environ.pop(other, None)


def load_settings() -> Settings:
    return settings.load()


@contextmanager
def open_own_shop() -> Iterator[Backroom]:
    """Open the shop of the profile, or of the environment."""
    with open_shop(load_settings()) as found:
        yield found


@contextmanager
def open_shop(asked: Settings, **options: Any) -> Iterator[Backroom]:
    def note_wait(waiting: Waiting) -> None:
        output.print_note(f"{waiting.reason}: waiting {waiting.seconds:.0f} s", "dim")

    try:
        made = Backroom(asked.url, asked.key, on_wait=note_wait, **options)
    except (OSError, ValueError, httpx.InvalidURL, ssl.SSLError) as wrong:
        fail(f"No connection can be set up, see HTTP_PROXY and SSL_CERT_FILE: {wrong}", USAGE)
    with made:
        yield made


def page_size(limit: int) -> int:
    return min(limit or 100, 100)


def take_first(walk: Iterator[Any], limit: int) -> Iterator[Any]:
    return islice(walk, limit) if limit else walk


def print_json_lines(found: Iterator[Any]) -> None:
    for each in found:
        output.print_json_line(each)


def parse_pairs(option: str, given: list[str]) -> dict[str, Any]:
    """Parse filters of the form NAME=VALUE; a name that comes twice has a list of values."""
    parted = [each.partition("=") for each in given]
    if wrong := [name for name, equals, _ in parted if not equals]:
        fail(f"{option} {wrong[0]}: write NAME=VALUE.", USAGE)
    found: dict[str, Any] = {}
    for name, _, value in parted:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def fail(message: str, code: int) -> NoReturn:
    output.print_note(message, "red")
    raise typer.Exit(code)


def read_secret(what: str) -> str:
    """Ask for a secret in the terminal, without an echo; otherwise read a line of the input."""
    if sys.stdin is not None and sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=True))
    return "" if sys.stdin is None else sys.stdin.readline()


def wait_for_job(shop: Backroom, job_id: str, what: str, *, quiet: bool) -> Any:
    """Show a job's progress until it ends, and return the job, however it ended."""
    try:
        with output.show_progress(what, None, quiet=quiet) as bar:
            return shop.wait(
                job_id, on_progress=lambda job: bar.move_to(job["processed"], job["total"])
            )
    except JobFailed as failed:
        return failed.job
    except KeyboardInterrupt:
        output.print_note(
            f"The job {job_id} goes on. Follow it with `backroom jobs follow {job_id}`,"
            f" stop it with `backroom jobs cancel {job_id}`.",
            "yellow",
        )
        raise typer.Exit(INTERRUPTED) from None


def show_job(job: Any, *, as_json: bool) -> None:
    if as_json:
        output.print_json(job)
    else:
        output.print_job(job)


def finish_job(job: Any, *, as_json: bool) -> None:
    show_job(job, as_json=as_json)
    if job["status"] != "COMPLETED" or job.get("withErrors", job["failed"]):
        raise typer.Exit(INCOMPLETE)
