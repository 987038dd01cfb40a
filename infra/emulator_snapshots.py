"""Snapshots of the emulated AWS: what `make run` keeps of a shop.

A forked child writes each one, of the moment of the fork, while the emulator goes on. A snapshot is
a folder below `state`, named for its time, that has its name only when all its files are on the
disk: whoever dies on the way leaves the one before. The next start reads the newest.
"""

import asyncio
import contextlib
import copy
import gc
import importlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any

_SECONDS = float(os.environ.get("SNAPSHOT_SECONDS", "120"))  # from the end of one to the next
# Where orjson is, which encodes three times as fast. The emulator has none itself: a function of a
# package without it would run here, and nowhere else.
ORJSON_VARIABLE = "ORJSON_FOLDER"
_STUCK_SECONDS = 120  # in which a child writes nothing
_UNFINISHED = "unfinished"
# Parts down to a partition of a table: to encode each attribute by itself takes five times as long.
_DEPTH = 6
# The first: without the keys, nothing else can be read.
_KEYS = ("kms", "ssm", "iam")
_READS = ("Get", "BatchGet", "Describe", "List", "Query", "Scan", "Filter", "Lookup")

States = Callable[[], Mapping[str, Callable[[], Any]]]
Write = Callable[[str, Any, Path], None]


def find_newest(folder: Path) -> Path:
    """Return the newest snapshot, or `folder` itself, where release 1.0.0 kept its only one."""
    finished = [path for path in folder.glob("*") if path.name.isdecimal()]
    return max(finished, key=lambda path: int(path.name), default=folder)


def write_snapshot(folder: Path, states: States, write: Write) -> None:
    """Write all states as a new snapshot, and remove the ones before."""
    unfinished = folder / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    known = states()
    for name in sorted(known, key=lambda name: (name not in _KEYS, name)):
        state = known[name]()
        if state is not None:
            write(name, state, unfinished)
    _sync(unfinished)
    before = list(folder.iterdir())
    # Above any before: a clock may go back.
    newest = max((int(path.name) for path in before if path.name.isdecimal()), default=0)
    unfinished.rename(folder / str(max(time.time_ns() // 10**6, newest + 1)))
    _sync(folder)
    for path in before:
        if path != unfinished:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_json(target: Path, value: Any, default: Callable[[Any], Any]) -> None:
    """Write a value as JSON, part by part: as one text, it would need as much memory again."""
    with target.open("wb", buffering=1 << 20) as file:
        file.writelines(_encode_parts(value, _make_encoder(default), default, _DEPTH))
        file.flush()
        os.fsync(file.fileno())


def _make_encoder(default: Callable[[Any], Any]) -> Callable[[Any], bytes]:
    """Return what encodes a value as JSON, by orjson where there is one that can."""
    slow = json.JSONEncoder(default=default, check_circular=False)
    orjson = import_orjson()
    if orjson is None:
        return lambda value: slow.encode(value).encode()

    def encode(value: Any) -> bytes:
        """Encode a value; orjson refuses numbers above 64 bits, and halves of surrogate pairs."""
        try:
            text: bytes = orjson.dumps(value, default=default)
        except TypeError:
            return slow.encode(value).encode()
        return text

    return encode


def import_orjson() -> ModuleType | None:
    """Import orjson, also from the folder of `ORJSON_VARIABLE`; return None if it is not there."""
    own = sys.path[:]
    if folder := os.environ.get(ORJSON_VARIABLE):
        sys.path.append(folder)
    try:
        return importlib.import_module("orjson")
    except ImportError:
        return None
    finally:
        sys.path[:] = own


def _encode_parts(
    value: Any, encode: Callable[[Any], bytes], default: Callable[[Any], Any], depth: int
) -> Iterator[bytes]:
    if not isinstance(value, dict | list | str | int | float | NoneType):
        value = default(value)
    if type(value) is not dict or not depth or not all(isinstance(name, str) for name in value):
        yield encode(value)
        return
    separator = b"{"
    for name, part in value.items():
        yield b"%b%b:" % (separator, encode(name))
        yield from _encode_parts(part, encode, default, depth - 1)
        separator = b","
    yield b"}" if value else b"{}"


class Snapshots:
    """Writes a snapshot every few minutes while something changes, at SIGUSR1, and at the end."""

    def __init__(self, folder: Path, write: Callable[[], None]) -> None:
        self._folder, self._write = folder, write
        self._is_changed, self._asked = False, asyncio.Event()
        self._child = 0  # the process id of what writes; 0: nothing does

    def watch(self, application: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        """Return the application, with its requests noted, and snapshots from its start on."""

        async def answer(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
            if scope["type"] != "lifespan":
                self._is_changed = self._is_changed or _is_change(scope)
                await application(scope, receive, send)
                return
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._asked.set)
            writing = asyncio.create_task(self._write_often())
            await application(scope, receive, send)
            writing.cancel()

        return answer

    def finish(self) -> None:
        """Write the last snapshot, unless nothing has changed since the one before.

        One that is being written is waited for: two would write into the same folder.
        """
        self._wait()
        if self._is_changed or find_newest(self._folder) == self._folder:
            self._begin()
            self._wait()

    def _wait(self) -> None:
        while not self._has_ended():
            time.sleep(0.05)

    async def _write_often(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), _SECONDS)
            if not self._is_changed and not self._asked.is_set():
                continue
            self._asked.clear()
            self._begin()
            while not self._has_ended():
                await asyncio.sleep(0.05)

    def _begin(self) -> None:
        """Start a child that writes, if one can be made."""
        began = time.perf_counter()
        self._is_changed = False
        self._written, self._written_at = 0, time.monotonic()
        try:
            self._child = os.fork()
        except OSError as failure:
            print(f"snapshot: {failure}", flush=True)
            self._is_changed = True
            return
        if self._child == 0:
            self._write_and_exit()
        print(f"snapshot: paused {time.perf_counter() - began:.3f} s", flush=True)

    def _write_and_exit(self) -> None:
        """Write in the child, whose other threads do not run, and which shares the sockets."""
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            gc.disable()  # it would copy all memory
            copy.__dict__["deepcopy"] = lambda value: value  # nobody changes it any more
            self._write()
            code = 0
        except BaseException as failure:
            print(f"snapshot: failed: {failure!r}", flush=True)
        finally:
            os._exit(code)

    def _has_ended(self) -> bool:
        """Tell whether nothing is being written."""
        ended, status = os.waitpid(self._child, os.WNOHANG) if self._child else (0, 0)
        if ended:
            self._is_changed, self._child = self._is_changed or status != 0, 0
        if not self._child:
            return True
        size = measure(self._folder)
        if size != self._written:
            self._written, self._written_at = size, time.monotonic()
        elif time.monotonic() - self._written_at > _STUCK_SECONDS:
            # A lock that another thread held at the fork is never released in the child.
            os.kill(self._child, signal.SIGKILL)
        return False


def measure(folder: Path) -> int:
    """Return the number of bytes of what is being written in `folder`."""
    with contextlib.suppress(OSError):
        return sum(path.stat().st_size for path in (folder / _UNFINISHED).iterdir())
    return 0


def _is_change(scope: Mapping[str, Any]) -> bool:
    """Tell whether a request may change something: each call of the API does, which counts them."""
    target = dict(scope["headers"]).get(b"x-amz-target", b"").decode("latin-1").rpartition(".")[2]
    if target:
        return not target.startswith(_READS)
    is_api = scope["path"].startswith("/_aws/")
    return is_api or scope.get("method") not in {"GET", "HEAD", "OPTIONS"}


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
