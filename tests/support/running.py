"""Starts infra/local.py as `make run` does, and stops it as a terminal or a supervisor does."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from infra.emulator import KEY, KEY_VARIABLE
from tests.support.programs import ran

_PROJECT = Path(__file__).resolve().parents[2]
_START_SECONDS = 240


@dataclass(frozen=True)
class Stack:
    """The URL of a deployment, and an Owner key for it. `aws_endpoint`: for AWS clients."""

    base_url: str
    api_key: str
    aws_endpoint: str
    console_url: str


@contextmanager
def running(
    home: Path, port: int, *options: str, sample: bool = False, keeps: bool = False
) -> Iterator[Stack]:
    """A deployment whose state is under `home`; stopped with SIGTERM, and checked to have ended.

    `sample`: with the sample catalogue, as `make run` gives it to an empty shop. `keeps`: its data
    outlive it, and its log is followed, which asks the emulator for 15 logs a second.
    """
    if not sample:
        options = ("--empty", *options)
    if not keeps:
        options = ("--throwaway", "--log", "none", *options)
    with (home / "output").open("wb") as output:
        process = subprocess.Popen(
            local_command(home, port, *options),
            cwd=_PROJECT,
            env=os.environ | {"PYTHONUNBUFFERED": "1", KEY_VARIABLE: KEY},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield _announced(process, home)
    finally:
        process.terminate()
        process.wait(300)  # on a busy machine


def local_command(home: Path, port: int, *options: str) -> list[str]:
    return [
        sys.executable,
        "infra/local.py",
        "--port",
        str(port),
        "--local-dir",
        str(home),
        *options,
    ]


def tool(stack: Stack, name: str, *options: str) -> str:
    """The output of a tool in `infra` that an operator runs on the deployment."""
    where = ("--stage", "local", "--endpoint-url", stack.aws_endpoint)
    environment = os.environ | {KEY_VARIABLE: KEY}
    command = (sys.executable, f"infra/{name}.py", *where, *options)
    return ran(*command, cwd=_PROJECT, env=environment).stdout


def ctrl_c_ends() -> None:
    """Enables Ctrl-C in a new process: it is disabled in tests started in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _announced(process: subprocess.Popen[bytes], home: Path) -> Stack:
    announcement = home / "endpoint.json"
    deadline = time.monotonic() + _START_SECONDS
    while not announcement.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"no deployment:\n{(home / 'output').read_text()[-4000:]}")
        time.sleep(0.1)
    found = json.loads(announcement.read_text())
    return Stack(found["baseUrl"], found["apiKey"], found["awsEndpoint"], found["consoleUrl"])


def processes(*settings: str) -> list[Path]:
    """Those that have all of these in their environment, below /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or belongs to another user
            environment = (process / "environ").read_bytes()
            if all(setting.encode() in environment for setting in settings):
                found.append(process)
    return found
