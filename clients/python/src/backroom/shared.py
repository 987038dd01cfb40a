"""What the synchronous and the asynchronous client share: requests, answers, and when to retry."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import mimetypes
import os
import random
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import httpx

from backroom import errors
from backroom.models import CreatePicture
from backroom.version import __version__

RETRIES = 5
TIMEOUT = httpx.Timeout(35.0, connect=10.0)  # the shop's gateway answers within 29 s
SAFE_METHODS = {"GET", "HEAD"}
_RATE_LIMIT = ("Limit", "Remaining", "Reset")
_PASSING = {500, 502, 503, 504}

_log = logging.getLogger("backroom")

# Given as a default, it asks for an Idempotency-Key that the client makes.
AUTOMATIC = "automatic"


class Answer(dict[str, Any]):
    """A JSON object that the shop answered.

    `etag`: for `if_match`; None if the answer had none. `replayed`: whether the shop had answered
    this before, to the same Idempotency-Key.
    """

    etag: str | None = None
    replayed: bool = False


def etag_of(answer: Mapping[str, Any]) -> str | None:
    """Return the ETag of what a get or a change answered, for `if_match`; None if it had none.

    >>> product = shop.get_product("prod_…")
    >>> shop.update_product(product["id"], {"price": "9.90"}, if_match=etag_of(product))
    """
    return answer.etag if isinstance(answer, Answer) else None


@dataclass(frozen=True)
class Waiting:
    """A wait that begins: `seconds` until `retry` (from 1), because of `reason`."""

    seconds: float
    retry: int
    reason: str


@dataclass(frozen=True)
class RateLimit:
    """The rate limit of the key, as the latest answer said.

    `limit` requests a minute, of which `remaining` are left until `resets_at` (UTC).
    """

    limit: int
    remaining: int
    resets_at: datetime


@dataclass
class Policy:
    """The rule that says when a request is sent again, and after how long.

    A request is sent again after 429 in any case, since nothing happened. After no answer, or 500,
    502, 503 or 504, it is sent again if it may be repeated: it reads, or has an Idempotency-Key.
    The wait is `Retry-After` and a random time of up to 2 to the power of the retry's number, in
    seconds, so that clients that were refused together come back apart.
    """

    retries: int = RETRIES
    sleep: Callable[[float], None] = time.sleep
    async_sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    on_wait: Callable[[Waiting], None] = lambda waiting: None

    def pause(self, retry: int, at_least: float, reason: str) -> float:
        """Return how many seconds to wait before a retry, and report that wait to `on_wait`."""
        seconds = at_least + self.chance() * float(2**retry)
        _log.info("waiting %.1f s before retry %d: %s", seconds, retry, reason)
        self.on_wait(Waiting(seconds, retry, reason))
        return seconds

    def after_answer(self, answer: httpx.Response, retry: int, *, repeatable: bool) -> float | None:
        """Return the seconds to wait before `retry`, or None if the answer counts."""
        again = answer.status_code == 429 or (repeatable and answer.status_code in _PASSING)
        if retry > self.retries or not again:
            return None
        return self.pause(retry, _parse_retry_after(answer), f"HTTP {answer.status_code}")

    def after_failure(
        self, failed: httpx.RequestError, retry: int, *, repeatable: bool, where: str
    ) -> float:
        """Return the seconds to wait before `retry`. Raises Unreachable if there is none."""
        # Where no connection came about, nothing was sent.
        repeatable |= isinstance(failed, httpx.ConnectError | httpx.ConnectTimeout)
        wrong = isinstance(failed, httpx.UnsupportedProtocol | httpx.LocalProtocolError)
        if wrong or retry > self.retries or not repeatable:
            raise errors.Unreachable(f"{where}: {_describe_failure(failed)}") from failed
        return self.pause(retry, 0, _describe_failure(failed))


def is_address(text: str) -> bool:
    """Return whether the text is a URL to which requests can be sent."""
    try:
        url = httpx.URL(text)
        known = url.scheme in ("http", "https") and (url.port or 0) < 1 << 16
        return known and bool(url.host) and text.isprintable()
    except (httpx.InvalidURL, ValueError):
        return False


class Requests:
    """A builder of requests with a key to a base address, and a reader of their answers."""

    def __init__(self, base_url: str, key: str | None) -> None:
        if key is not None and not re.fullmatch("[!-~]+", key):
            raise errors.BackroomError("The API key is blank, or has letters that no key has.")
        if not is_address(base_url):
            raise errors.BackroomError(
                f"{base_url!r} is not the address of a shop: it must begin with http:// or https://."
            )
        self.base_url = base_url.rstrip("/")
        self.key = key
        self.rate_limit: RateLimit | None = None

    def build(
        self,
        http: httpx.Client | httpx.AsyncClient,
        method: str,
        path: str,
        parameters: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: Any = None,
        file: tuple[str, bytes] | None = None,
        timeout: float | None = None,
    ) -> httpx.Request:
        """Build a request; it is not sent.

        `path` has a `{}` for each of `parameters`. Headers of None are left out. `timeout`: seconds
        of one attempt. Raises BackroomError if the values make no valid request.
        """
        for each in parameters:
            if each in ("", ".", ".."):  # it would be another path
                raise errors.BackroomError(f"{method} {path}: {each!r} cannot be an id.")
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        if sent.get("Idempotency-Key") == AUTOMATIC:
            sent["Idempotency-Key"] = str(uuid.uuid4())
        if self.key is not None:
            sent["Authorization"] = f"Bearer {self.key}"
        try:
            request = http.build_request(
                method,
                self.base_url + path.format(*(quote(each, safe="") for each in parameters)),
                params=_list_parameters(query or {}),
                headers={"User-Agent": f"backroom-python/{__version__}", **sent},
                content=None if body is None else json.dumps(body, default=_encode_value).encode(),
                timeout=httpx.USE_CLIENT_DEFAULT if timeout is None else timeout,
                files=None if file is None else {"file": file},
            )
        except UnicodeEncodeError as wrong:
            raise errors.BackroomError(f"{method} {path}: {wrong.object!r} is not text.") from None
        except httpx.InvalidURL as wrong:
            raise errors.BackroomError(f"{method} {path}: {wrong}.") from None
        if body is not None:
            request.headers["Content-Type"] = "application/json"
        return request

    def read(self, answer: httpx.Response) -> Any:
        """Return the JSON of an answer, an object as Answer, or its text; note its rate limit.

        Raises ApiError if the shop refused the request, Unreachable if a web page came.
        """
        numbers = [answer.headers.get(f"X-RateLimit-{name}", "") for name in _RATE_LIMIT]
        # What stands before the shop may have its own, such as milliseconds.
        if all(each.isdecimal() and len(each) < 12 for each in numbers):
            limit, remaining, reset = map(int, numbers)
            at = datetime.fromtimestamp(reset, timezone.utc)
            self.rate_limit = RateLimit(limit, remaining, at)
        return _parse_answer(answer)


class CountingFile:
    """A file that reports to `on_sent` how many bytes of it were read."""

    def __init__(self, file: IO[bytes], on_sent: Callable[[int], None]) -> None:
        self._file, self._on_sent = file, on_sent
        self._start = file.tell()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._on_sent(self._file.tell() - self._start)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()


def open_upload(file: str | os.PathLike[str] | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Return a context manager of the file: it opens and closes a path; an open file stays open."""
    return open(file, "rb") if isinstance(file, str | os.PathLike) else nullcontext(file)


def describe_file(file: IO[bytes], name: str | None) -> CreatePicture:
    """Return what a request says of a file, from where it is on. `name`: default: its own."""
    own_name = name or Path(str(getattr(file, "name", "file"))).name
    kind = mimetypes.guess_type(own_name)[0] or "application/octet-stream"
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    return {"name": own_name, "contentType": kind, "bytes": size}


def _list_parameters(asked: Mapping[str, Any]) -> list[tuple[str, str | int | float | bool | None]]:
    """Return the pairs of a query: without None, and one for each value of a sequence.

    An empty sequence becomes a blank value, which the shop refuses: it must not mean everything.
    """
    found: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in asked.items():
        if value is None:
            continue
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        found += [(name, _format_value(each)) for each in several or [""]]
    return found


def _encode_value(value: Any) -> str:
    if isinstance(value, Decimal | date | uuid.UUID):
        return _format_value(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r:.100}")


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no time zone")
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def _parse_retry_after(answer: httpx.Response) -> float:
    """Return the seconds of `Retry-After`; 0 if the header is absent or cannot be read."""
    header = answer.headers.get("Retry-After", "").strip()
    if header.isdecimal():
        return float(header)
    try:
        moment = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, moment.timestamp() - time.time())


def _parse_answer(answer: httpx.Response) -> Any:
    is_json = answer.headers.get("Content-Type", "").partition(";")[0].strip().endswith("json")
    try:
        found = answer.json() if is_json else answer.text
    except ValueError:
        found = answer.text
    if not answer.is_success:
        # The gateway itself answers without a code.
        body = found if isinstance(found, dict) else {"message": str(found)[:500]}
        raise errors.from_status(answer.status_code, body, answer.headers.get("X-Request-Id"))
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        address = answer.request.url.copy_with(query=None)
        raise errors.Unreachable(f"{address}: answered a web page. Is it the address of a shop?")
    if not isinstance(found, dict):
        return found
    whole = Answer(found)
    whole.etag = answer.headers.get("ETag")
    whole.replayed = answer.headers.get("Idempotent-Replayed") == "true"
    return whole


def _describe_failure(failed: httpx.RequestError) -> str:
    return f"{type(failed).__name__}: {failed}".rstrip(": ")
