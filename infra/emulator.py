"""The emulated AWS: ministack in its own process.

It is on loopback, with permission checks on, and only for who has its key (`emulator_guard`).
"""

import base64
import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from infra import emulator_snapshots

REGION = "us-east-1"
KEY_VARIABLE = "BACKROOM_EMULATOR_KEY"  # ID:SECRET, for a program that starts another

_PID_FILE = "emulator.pid"
_START = Path(__file__).with_name("emulator_start.py")
_START_SECONDS = 60
_START_SECONDS_A_GIGABYTE = 120
_STOP_SECONDS = 180  # in which nothing is written


def find_orjson() -> str:
    """Return the folder from which this process imports orjson; "" if it has none."""
    found = importlib.util.find_spec("orjson")
    return str(Path(found.origin).parents[1]) if found and found.origin else ""


def make_key() -> str:
    """Return a new access key, ID:SECRET; only who knows it may ask that emulator."""
    identity = base64.b32encode(secrets.token_bytes(10)).decode()
    return f"AKIA{identity}:{secrets.token_urlsafe(30)}"


def credentials(key: str) -> dict[str, str]:
    """Return the environment of a program that uses AWS with this key."""
    identity, secret = key.split(":")
    return {
        "AWS_ACCESS_KEY_ID": identity,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": REGION,
    }


# Of this process, such as a test that starts an emulator.
KEY = os.environ.get(KEY_VARIABLE) or make_key()
CREDENTIALS = credentials(KEY)


class Emulator:
    """One emulator on one port.

    All that it keeps is under `home`, unless it keeps nothing, which spares it to write all of its
    data when it stops.
    """

    def __init__(
        self,
        python: Path,
        port: int,
        home: Path,
        *,
        keeps: bool = True,
        credentials: Mapping[str, str] = CREDENTIALS,
    ) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self._credentials = credentials
        self.log = home / "emulator.log"
        self._python, self._port, self._home, self._keeps = python, port, home, keeps
        self._pid_file = home / _PID_FILE
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the emulator, and wait until it answers.

        Raises RuntimeError when the port is taken or the emulator dies.
        """
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                raise RuntimeError(f"port {self._port} is in use; choose another with PORT=…")
        self._home.chmod(0o700)  # it has the keys of the shop
        scratch = self._home / "tmp"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        environment = dict(self._credentials) | {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "TMPDIR": str(scratch),
            "AUTH": "true",
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self._port),
            "IOT_MTLS_ENABLED": "0",
            "MINISTACK_HOST": "localhost",
            "PERSIST_STATE": "1" if self._keeps else "0",
            emulator_snapshots.ORJSON_VARIABLE: find_orjson(),
            "SNAPSHOT_SECONDS": os.environ.get("SNAPSHOT_SECONDS", "120"),
            "S3_DATA_DIR": str(self._home / "s3"),
            "S3_PERSIST": "1" if self._keeps else "0",
            "STATE_DIR": str(self._home / "state"),
        }
        with open(self.log, "wb") as log:
            # A session of its own: Ctrl-C reaches local.py alone, which stops it in good order.
            self._process = subprocess.Popen(
                [self._python, "-P", _START],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._pid_file.write_text(str(self._process.pid))
        self._wait_until_ready()

    def is_running(self) -> bool:
        """Whether the process that `start` made still lives."""
        return self._process is not None and self._process.poll() is None

    def save(self) -> None:
        """Write the first snapshot of new data, with its keys, and wait until it is on the disk."""
        state = self._home / "state"
        if self._keeps and self._process and emulator_snapshots.find_newest(state) == state:
            os.kill(self._process.pid, signal.SIGUSR1)
            while self.is_running() and emulator_snapshots.find_newest(state) == state:
                time.sleep(0.05)

    def stop(self) -> None:
        """Stop the emulator and its functions; it writes its state on the way out."""
        process, self._process = self._process, None
        if process is None:
            return
        _end_process(process.pid, process.poll, self._home / "state")
        self._pid_file.unlink(missing_ok=True)
        # Thousands of files of the functions' packages: nobody waits for that, nor the next start.
        done = self._home / f"tmp-{process.pid}"
        (self._home / "tmp").rename(done)
        subprocess.Popen(["rm", "-rf", done], start_new_session=True)

    def _wait_until_ready(self) -> None:
        kept = emulator_snapshots.find_newest(self._home / "state").glob("*.json")
        gigabytes = sum(path.stat().st_size for path in kept) / 10**9
        deadline = time.monotonic() + _START_SECONDS + gigabytes * _START_SECONDS_A_GIGABYTE
        while time.monotonic() < deadline and self.is_running():
            try:
                query = f"X-Amz-Credential={self._credentials['AWS_ACCESS_KEY_ID']}"
                ready = f"{self.endpoint}/_ministack/ready?{query}"
                with urllib.request.urlopen(ready, timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"the emulator did not start:\n{self.log.read_text()[-2000:]}")


def stop_leftover(home: Path) -> None:
    """Stop the emulator that a killed `local.py` left, if the process id is still its own."""
    try:
        pid = int((home / _PID_FILE).read_text())
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except (OSError, ValueError):
        return
    if f"STATE_DIR={home / 'state'}".encode() in environment.split(b"\0"):
        _end_process(pid, lambda: None if _is_alive(pid) else 0, home / "state")


def _end_process(pid: int, poll: Callable[[], int | None], state: Path) -> None:
    """Stop the emulator; kill it only if it has written nothing for a while."""
    written, deadline = 0, time.monotonic() + _STOP_SECONDS
    _send_signal(pid, signal.SIGTERM, group=False)
    while poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        if (size := emulator_snapshots.measure(state)) != written:
            written, deadline = size, time.monotonic() + _STOP_SECONDS
    _send_signal(pid, signal.SIGKILL, group=True)


def _send_signal(pid: int, number: signal.Signals, *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number) if group else os.kill(pid, number)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
