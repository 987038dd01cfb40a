"""The shop, as a program uses it.

Written by `generate.py` from `asynchronous/client.py`: do not edit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeVar, cast

import httpx
from typing_extensions import Self

from backroom import errors, settings
from backroom.models import (
    CreateExport,
    CreateFile,
    CreateImportUpload,
    CreatePicture,
    EventFeed,
    EventKind,
    File,
    Picture,
)
from backroom.operations import Operations
from backroom.shared import (
    RETRIES,
    CountingFile,
    Policy,
    RateLimit,
    Waiting,
    describe_file,
    open_upload,
)
from backroom.transport import Transport

Uploaded = TypeVar("Uploaded", Picture, File)

_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "NEEDS_MAPPING"}
_LONGEST_PAUSE = 5.0
_CHUNK = 1 << 18
# S3 answers when it has all of it.
_FILE_TIMEOUT = httpx.Timeout(60.0, read=600.0)


class Backroom(Operations):
    """One shop, with one API key.

    >>> with Backroom("https://shop.example.com", "bk_…") as shop:
    ...     for order in shop.iter_orders(status="PAID"):
    ...         print(order["number"], order["total"])

    `url`: the base address, without `/api/…`. `retries`: how often a request is sent again, as
    `Policy` says. `on_wait`: is told before each wait. `http`: an httpx client of your own, for
    proxies and certificates; you close it. Safe to use from several threads and tasks.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: int = RETRIES,
        on_wait: Callable[[Waiting], None] = lambda waiting: None,
        http: httpx.Client | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._policy = policy or Policy(retries=retries, on_wait=on_wait)
        self._transport = Transport(url, key, self._policy, http)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, **options: Any) -> Self:
        """Return a client of the shop in the environment, or of a saved profile.

        `BACKROOM_URL` and `BACKROOM_KEY` count before what `backroom login` saved. Raises
        NotSignedIn.
        """
        found = settings.load(environment)
        return cls(found.url, found.key, **options)

    @property
    def url(self) -> str:
        return self._transport.base_url

    @property
    def rate_limit(self) -> RateLimit | None:
        """The requests that are left, as the latest answer says; None before the first answer."""
        return self._transport.rate_limit

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Backroom({self.url!r})"

    # ---- Jobs ----

    def wait(
        self,
        job_id: str,
        *,
        on_progress: Callable[[Any], None] = lambda job: None,
        timeout: float | None = None,
    ) -> Any:
        """Wait until a job is COMPLETED, and return it.

        `on_progress` gets the job each time that it was read. Raises JobFailed if the job ends
        otherwise, and for an import that is NEEDS_MAPPING; TimeoutError after `timeout` seconds.
        """
        began, pause = time.monotonic(), 0.5
        while True:
            job: Any = self.get_job(job_id)
            on_progress(job)
            if job["status"] == "COMPLETED":
                return job
            if job["status"] in _ENDED:
                raise errors.JobFailed(job)
            if timeout is not None and time.monotonic() - began + pause > timeout:
                raise TimeoutError(f"The job {job_id} is still {job['status']}")
            self._policy.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_PAUSE)

    def import_products(
        self,
        file: str | os.PathLike[str] | IO[bytes],
        options: CreateImportUpload | None = None,
        *,
        on_sent: Callable[[int], None] = lambda sent: None,
    ) -> str:
        """Upload a file of products, of up to 1 GB, and return the id of its job: see `wait`.

        `file`: a path, or what was opened with "rb" and can be rewound. `options`: as the body of
        `POST /api/admin/products/import/uploads` has them. `on_sent` gets
        the bytes that have been sent so far.
        """
        with open_upload(file) as opened:
            own_name = Path(str(getattr(opened, "name", "products.csv"))).name
            upload: CreateImportUpload = {"fileName": own_name}
            if options is not None:
                upload = {**upload, **options}
            made = self.prepare_upload(upload)
            self._post_form(made, opened, upload["fileName"], on_sent)
        return str(made["jobId"])

    def upload_picture(
        self,
        file: str | os.PathLike[str] | IO[bytes],
        *,
        name: str | None = None,
        on_sent: Callable[[int], None] = lambda sent: None,
        timeout: float = 120.0,
    ) -> Picture:
        """Upload a JPEG, PNG or WebP, and return the picture when it is READY.

        A product shows it by `{"images": [{"pictureId": picture["id"]}]}`. `file`: a path, or what
        was opened with "rb" and can be rewound. `name`: for the shop; default: the file's. Raises
        BackroomError if it is no picture that can be shown, TimeoutError after `timeout` seconds.
        """
        with open_upload(file) as opened:
            new: CreatePicture = describe_file(opened, name)
            made = self.create_picture(new)
            self._post_form(made["upload"], opened, new["name"], on_sent)
        picture = self._until_ended(lambda: self.get_picture(made["id"]), timeout)
        if picture["status"] == "FAILED":
            raise errors.BackroomError(f"{new['name']} cannot be shown: {picture['error']}")
        return picture

    def upload_file(
        self,
        order_id: str,
        file: str | os.PathLike[str] | IO[bytes],
        *,
        line_item_id: str | None = None,
        note: str | None = None,
        name: str | None = None,
        on_sent: Callable[[int], None] = lambda sent: None,
        timeout: float = 120.0,
    ) -> File:
        """Upload a file of any kind to an order, and return it when it is READY.

        `file`: a path, or what was opened with "rb" and can be rewound. `line_item_id`: the line
        that it belongs to. `name`: default: the file's. Raises TimeoutError after `timeout`
        seconds.
        """
        with open_upload(file) as opened:
            new: CreateFile = {
                **describe_file(opened, name),
                "lineItemId": line_item_id,
                "note": note,
            }
            made = self.create_file(order_id, new)
            self._post_form(made["upload"], opened, new["name"], on_sent)
        return self._until_ended(lambda: self.get_file(order_id, made["id"]), timeout)

    def _until_ended(self, read: Callable[[], Uploaded], timeout: float) -> Uploaded:
        """Read what was uploaded until it is READY or FAILED. Raises TimeoutError."""
        began, pause = time.monotonic(), 1.0
        while True:
            self._policy.sleep(pause)
            found = read()
            if found["status"] != "WAITING":
                return found
            if time.monotonic() - began > timeout:
                raise TimeoutError(f"The upload {found['id']} is still WAITING")
            pause = 2.0

    def _post_form(
        self,
        form: Mapping[str, Any],
        file: IO[bytes],
        name: str,
        on_sent: Callable[[int], None],
    ) -> None:
        """Post a file, from where it is, to the `url` of a form, with the form's `fields`."""
        fields = {str(name): str(value) for name, value in form["fields"].items()}
        start = file.tell()

        def post() -> httpx.Response:
            file.seek(start)
            counted = cast("IO[bytes]", CountingFile(file, on_sent))
            whole = {"file": (name, counted, "application/octet-stream")}
            return self._transport.http.post(
                form["url"], data=fields, files=whole, timeout=_FILE_TIMEOUT
            )

        answer = self._send_with_retries(post)
        if not answer.is_success:
            raise errors.BackroomError(
                f"The upload was refused with HTTP {answer.status_code}: {answer.text[:500]}"
            )

    def export(
        self,
        to: str | os.PathLike[str],
        asked: CreateExport,
        *,
        on_progress: Callable[[Any], None] = lambda job: None,
        on_received: Callable[[int], None] = lambda received: None,
    ) -> Any:
        """Write an export to a file, whole or not at all; return its job. Raises JobFailed."""
        started = self.start_export(asked)
        job = self.wait(started["jobId"], on_progress=on_progress)
        self.download(job["downloadUrl"], to, on_received=on_received)
        return job

    def download(
        self,
        url: str,
        to: str | os.PathLike[str],
        *,
        on_received: Callable[[int], None] = lambda received: None,
    ) -> None:
        """Write the file at an address of a job to `to`, whole or not at all.

        `url`: the job's `downloadUrl` or `errorReportUrl`.
        """
        target = Path(to).resolve()  # a link stays one
        if target.exists() and not target.is_file():
            raise errors.BackroomError(f"{to} is not a file.")
        unfinished = target.with_name(f".{target.name}.part")

        def get() -> httpx.Response:
            with self._transport.http.stream("GET", url, timeout=_FILE_TIMEOUT) as answer:
                if answer.is_success:
                    received = 0
                    with unfinished.open("wb") as file:
                        for chunk in answer.iter_bytes(_CHUNK):
                            file.write(chunk)
                            received += len(chunk)
                            on_received(received)
                else:
                    answer.read()
                return answer

        try:
            answer = self._send_with_retries(get)
            if not answer.is_success:
                raise errors.BackroomError(
                    f"The download was refused with HTTP {answer.status_code}: {answer.text[:500]}"
                )
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)

    def _send_with_retries(self, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send a request to the storage, and again while it fails; return the last answer.

        A file that is sent twice replaces itself. Raises Unreachable if no answer comes.
        """
        for retry in range(1, self._policy.retries + 2):
            last = retry > self._policy.retries
            try:
                answer = send()
            except httpx.RequestError as failed:
                if last:
                    raise errors.Unreachable(f"the storage: {failed}") from failed
                self._policy.sleep(
                    self._policy.pause(retry, 0, f"{type(failed).__name__} at the storage")
                )
                continue
            if last or answer.status_code < 500:
                return answer
            self._policy.sleep(
                self._policy.pause(retry, 0, f"HTTP {answer.status_code} of the storage")
            )
        raise AssertionError("the last one returns or raises")

    # ---- The feed ----

    def feed(
        self,
        after: str | None = None,
        *,
        since: datetime | str | None = None,
        types: Iterable[EventKind] = (),
        limit: int = 100,
        stock: bool = False,
        follow: bool = False,
        pause: float = 5.0,
    ) -> Iterator[EventFeed]:
        """Yield the pages of the change feed, the oldest event first: `{data, next}`.

        Keep `next` once you have handled `data`, and begin there the next time: then nothing is
        lost, and an event comes twice only if you died in between. `since`: where to begin without
        `after`; else with the oldest event. `stock`: each event has the `stock` of its variants,
        which a sale changes without an event of the product. `follow`: never ends, with
        `pause` seconds after an empty page. Otherwise it ends after an empty page, whose `next`
        counts.

        Raises Gone for a cursor from before the oldest event.
        """
        wanted = sorted(types)
        # With `types` a page can be empty before the end: who looks for the end asks for all.
        asked_types = wanted if follow and wanted else None
        while True:
            page = self.read_events(
                after=after,
                since=None if after else since,
                types=asked_types,
                limit=limit,
                stock=stock or None,
            )
            after, is_end = page["next"], not page["data"]
            if wanted:
                page["data"] = [event for event in page["data"] if event["event"] in wanted]
            yield page
            if is_end:
                if not follow:
                    return
                self._policy.sleep(pause)
