"""Runs the blocks of README.md unchanged, in a separate checkout."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.programs import ran
from tests.support.running import ctrl_c_ends

PROJECT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w+)( stays)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATIENCE = 300
_LONG_AGO = 946_684_800  # the year 2000


@dataclass(frozen=True)
class Block:
    """`stays`: it runs until it is stopped. `chapter`: the number of its heading."""

    chapter: int
    language: str
    stays: bool
    text: str


def blocks() -> list[Block]:
    found = []
    chapters = re.split(r"^## ", (PROJECT / "README.md").read_text(), flags=re.MULTILINE)
    for chapter, text in enumerate(chapters):
        for language, stays, block in _FENCE.findall(text):
            found.append(Block(chapter, language, bool(stays), block))
    return found


@dataclass
class Checkout:
    """A copy of this checkout with everything installed. `outputs`: the output of each block so
    far."""

    folder: Path
    environment: dict[str, str]
    outputs: dict[Block, Path] = field(default_factory=dict)

    def said(self, block: Block) -> str:
        return self.outputs[block].read_text()

    def run(self, block: Block) -> str:
        """Runs the block to its end, which must be a success."""
        with self.started(block) as process:
            process.wait(_PATIENCE)
            assert process.returncode == 0, f"{block.text}\n{self.said(block)}"
        return self.said(block)

    @contextmanager
    def started(self, block: Block) -> Iterator["subprocess.Popen[bytes]"]:
        command = {
            "sh": ["sh", "-eu", "-c", block.text],
            "python": [".venv/bin/python", "-c", block.text],
        }[block.language]
        self.outputs[block] = self.folder / f"output-{len(self.outputs)}"
        with self.outputs[block].open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=ctrl_c_ends,  # noqa: PLW1509
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
                process.wait(120)

    def until(self, block: Block, is_there: Callable[[str], bool]) -> str:
        deadline = time.monotonic() + _PATIENCE
        while not is_there(said := self.said(block)):
            assert time.monotonic() < deadline, f"{block.text}\n{said}"
            time.sleep(0.3)
        return said


def copied(target: Path) -> Path:
    """A copy of this checkout."""
    listed = ran("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=PROJECT)
    for name in listed.stdout.splitlines():
        if (PROJECT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target / name)
            # What was installed is newer than what asks for it.
            os.utime(target / name, (_LONG_AGO, _LONG_AGO))
    (target / ".local").mkdir()
    return target


def checkout(target: Path, port: int) -> Checkout:
    copied(target)
    (target / ".venv").symlink_to(sys.prefix)
    (target / ".venv-emulator").symlink_to(PROJECT / ".venv-emulator")
    packages = PROJECT / ".local/packages"
    packages.mkdir(parents=True, exist_ok=True)
    (target / ".local/packages").symlink_to(packages)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "BACKROOM_", "AWS_"))
    }
    environment |= {
        "HOME": str(target / "home"),
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(target / "clients/python/src"),
    }
    return Checkout(target, environment)
