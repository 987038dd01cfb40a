"""`backroom listen`: the feed, posted to a receiver on this machine as webhooks are posted.

A file keeps how far it is, and is written after each event that the receiver took. So nothing is
lost when the shop, the receiver or this program stops, and one event at most comes twice.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from backroom import settings
from backroom.client import Backroom
from backroom.errors import ApiError, BackroomError, RateLimited, ServerError, Unreachable
from backroom.models import EventKind, FeedEvent
from backroom.webhooks import PREFIX, signed_headers

RECEIVER_SECONDS = 10.0  # as long as the shop waits for a receiver
LONGEST_PAUSE = 30.0
KEEPING_SECONDS = 60.0


class AlreadyListening(BackroomError):
    """Another listener posts to the same address."""


@dataclass
class Progress:
    """A listener's position. `done`: the ids of the page after `after` that were delivered."""

    url: str
    forward_to: str
    secret: str
    since: str | None = None
    after: str | None = None
    done: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Attempt:
    """One post of an event to the receiver. `error`: why it was not accepted, or None."""

    event: FeedEvent
    number: int
    milliseconds: int
    status: int | None
    error: str | None


class ProgressFile:
    """The file with a listener's progress. Only its owner may read it: it has the secret."""

    def __init__(self, folder: Path, url: str, forward_to: str, types: Sequence[str]) -> None:
        named = json.dumps([url, forward_to, sorted(types)])
        self.file = folder / f"listen-{hashlib.sha256(named.encode()).hexdigest()[:16]}.json"

    def read(self) -> Progress | None:
        try:
            return Progress(**json.loads(self.file.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            raise BackroomError(f"{self.file} is damaged: start over with --reset") from None

    def write(self, progress: Progress) -> None:
        settings.write_private(self.file, json.dumps(asdict(progress)) + "\n")

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Hold the file's lock. Raises AlreadyListening if another process holds it."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            yield
            return
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.file.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise AlreadyListening(
                    "Another `backroom listen` posts to the same address."
                ) from None
            yield


def new_secret() -> str:
    return PREFIX + secrets.token_hex(32)


def delivery_id(event_id: str, forward_to: str) -> str:
    """Return an id that is the same whenever this event is posted to this address."""
    receiver = hashlib.sha256(forward_to.encode()).hexdigest()[:26].upper()
    return f"dlv_{event_id.removeprefix('evt_')}{receiver}"


def make_body(event: FeedEvent) -> bytes:
    body = {"event": event["event"], "data": event["data"]}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


class Listener:
    """Posts the feed to a receiver.

    `tries`: an event is left out after so many attempts; 0: never. `on_trouble` gets the reason of
    each wait for the shop.
    """

    def __init__(
        self,
        shop: Backroom,
        kept: ProgressFile,
        progress: Progress,
        *,
        types: Sequence[EventKind] = (),
        tries: int = 0,
        on_attempt: Callable[[Attempt], None] = lambda attempt: None,
        on_trouble: Callable[[str], None] = lambda trouble: None,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._shop, self._kept, self._progress = shop, kept, progress
        self._types, self._tries = types, tries
        self._on_attempt, self._on_trouble = on_attempt, on_trouble
        self._http = http or httpx.Client(timeout=RECEIVER_SECONDS)
        self._sleep = sleep
        self._waits = 0
        self._heard = False
        self._written = 0.0
        self.left_out = 0

    def run(self, *, once: bool = False, pause: float = 2.0) -> None:
        """Post events until the process is stopped. `once`: only to the end of the feed."""
        self._kept.write(self._progress)
        while True:
            try:
                self._follow_feed(once=once, pause=pause)
                return
            except (Unreachable, ApiError) as failed:
                # It is being restarted, or the line is down: the cursor stays where it is.
                if once or not self._may_pass(failed):
                    raise
                self._waits += 1
                seconds = min(2.0**self._waits, LONGEST_PAUSE)
                self._on_trouble(f"The shop does not answer; again in {seconds:.0f} s. {failed}")
                self._sleep(seconds)

    def _may_pass(self, failed: BackroomError) -> bool:
        """Return whether the shop may answer later.

        While it is being deployed, the gateway answers: 403 or 404 without a code. Before the
        first answer of the shop, that means a wrong address.
        """
        if isinstance(failed, Unreachable | ServerError | RateLimited):
            return True
        return self._heard and isinstance(failed, ApiError) and not failed.code

    def _follow_feed(self, *, once: bool, pause: float) -> None:
        at = self._progress
        feed = self._shop.feed(
            at.after, since=at.since, types=self._types, follow=not once, pause=pause
        )
        for page in feed:
            self._waits, self._heard = 0, True
            for event in page["data"]:
                if event["id"] not in at.done:
                    self._deliver(event)
                    at.done.append(event["id"])
                    self._kept.write(at)
            handled, at.after, at.done = bool(at.done), page["next"], []
            # The cursor moves with time alone, too; that is kept now and then.
            if handled or time.monotonic() > self._written + KEEPING_SECONDS:
                self._kept.write(at)
                self._written = time.monotonic()

    def _deliver(self, event: FeedEvent) -> None:
        number = 0
        while True:
            number += 1
            attempt = self._post(event, number)
            self._on_attempt(attempt)
            if attempt.error is None:
                return
            if number == self._tries:
                self.left_out += 1
                return
            self._sleep(min(2.0 ** (number - 1), LONGEST_PAUSE))

    def _post(self, event: FeedEvent, number: int) -> Attempt:
        at, body = self._progress, make_body(event)
        id = delivery_id(event["id"], at.forward_to)
        headers = signed_headers(event, id, body, at.secret, int(time.time()))
        began = time.monotonic()
        status: int | None = None
        error: str | None = None
        try:
            status = self._http.post(at.forward_to, content=body, headers=headers).status_code
            if not 200 <= status < 300:
                error = f"HTTP {status}"
        except httpx.HTTPError as failed:
            error = f"{type(failed).__name__}: {failed}".rstrip(": ")
        took = int((time.monotonic() - began) * 1_000)
        return Attempt(event, number, took, status, error)


def attempt_as_json(attempt: Attempt) -> dict[str, Any]:
    """Return what a line of `--json` has."""
    return {
        "id": attempt.event["id"],
        "event": attempt.event["event"],
        "occurredAt": attempt.event["occurredAt"],
        "attempt": attempt.number,
        "status": attempt.status,
        "error": attempt.error,
        "milliseconds": attempt.milliseconds,
    }
