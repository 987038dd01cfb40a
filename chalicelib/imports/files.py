"""The files of imports in S3: uploads, and reports of failed rows.

| key | |
|---|---|
| `imports/<job>.csv` | the upload, or the rows that failed in another job |
| `reports/<job>/chunk-rows-<line>` | the failed rows of one chunk, without a header |
| `reports/<job>.csv` | the report: header and all parts |
| `reports/<job>/rows-<line>` | a chunk, whose first row is on that line (`chunks.py`) |
| `reports/<job>/keys` | by which keys the file's rows name products, as sorted hashes |

Keys contain no text of clients.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Final

from chalicelib import aws, settings
from chalicelib.imports.model import LARGEST_UPLOAD

_PIECE: Final = 1 << 18
REPORT_URL_SECONDS: Final = 3_600


class FileChanged(Exception):
    """The file was deleted or replaced."""


def client() -> Any:
    """Return the client of S3 of this process."""
    return aws.client("s3")


def _upload_key(job_id: str) -> str:
    return f"imports/{job_id}.csv"


def _report_key(job_id: str) -> str:
    return f"reports/{job_id}.csv"


def _kept_key(job_id: str, name: str) -> str:
    return f"reports/{job_id}/{name}"


def job_of_key(key: str) -> str:
    """Return the id of the job in an upload's key: what is between `imports/` and `.csv`."""
    return key.removeprefix("imports/").removesuffix(".csv")


# --- Uploads --------------------------------------------------------------------------------------


def put_upload(job_id: str, data: bytes | bytearray) -> None:
    """Store a job's file as if it was uploaded: S3 then sends the event that starts the planner."""
    client().put_object(
        Bucket=settings.bucket(), Key=_upload_key(job_id), Body=data, ContentType="text/csv"
    )


def upload_form(job_id: str, seconds: int) -> tuple[str, dict[str, str]]:
    """Return the address and the fields of a form with which anyone uploads the job's file once.

    Once is not enforced: until it expires, after `seconds`, another upload replaces the file.
    Nothing is sent.
    """
    form = client().generate_presigned_post(
        Bucket=settings.bucket(),
        Key=_upload_key(job_id),
        Conditions=[["content-length-range", 1, LARGEST_UPLOAD]],
        ExpiresIn=seconds,
    )
    return form["url"], form["fields"]


class Upload:
    """The upload of a job: its bytes in pieces, as often as they are read.

    The second time, and later, they are read from S3 again. Raises FileChanged, also if it was
    replaced meanwhile.

    `head`: the first piece; `size`: bytes.
    """

    def __init__(self, job_id: str) -> None:
        reply = _get_object(Key=_upload_key(job_id))
        self.etag, self.size = str(reply["ETag"]), int(reply["ContentLength"])
        self._again = partial(_get_object, Key=_upload_key(job_id), IfMatch=self.etag)
        pieces = reply["Body"].iter_chunks(_PIECE)
        self.head: bytes = next(pieces, b"")
        self._first: Iterator[bytes] | None = chain([self.head], pieces)

    def __iter__(self) -> Iterator[bytes]:
        first, self._first = self._first, None
        return first or self._again()["Body"].iter_chunks(_PIECE)


def read_beginning(job_id: str, etag: str, length: int) -> bytes:
    """Return the first `length` bytes of the upload, fewer if it is shorter.

    Raises FileChanged if it is gone, or has another ETag than `etag`; "": any.
    """
    same = {"IfMatch": etag} if etag else {}
    reply = _get_object(Key=_upload_key(job_id), Range=f"bytes=0-{length - 1}", **same)
    data: bytes = reply["Body"].read()
    return data


def _get_object(**request: object) -> Any:
    """Return S3's reply with the object. Raises FileChanged if it is gone or another one."""
    with aws.raising_if_gone(FileChanged):
        return client().get_object(Bucket=settings.bucket(), **request)


# --- What planner and workers keep of a file ------------------------------------------------------


def put_kept(job_id: str, name: str, data: bytes) -> None:
    """Store bytes under a name, in the folder of a job's report."""
    client().put_object(Bucket=settings.bucket(), Key=_kept_key(job_id, name), Body=data)


def read_kept(job_id: str, name: str) -> bytes:
    """Load what `put_kept` stored under a name. Raises FileChanged if it is not there."""
    data: bytes = _get_object(Key=_kept_key(job_id, name))["Body"].read()
    return data


def list_kept(job_id: str, prefix: str, after: str, limit: int) -> list[str]:
    """Return up to `limit` names of `put_kept`, sorted, that have `prefix` and follow `after`."""
    folder = _kept_key(job_id, "")
    reply = client().list_objects_v2(
        Bucket=settings.bucket(),
        Prefix=folder + prefix,
        StartAfter=folder + after,
        MaxKeys=limit,
    )
    return [each["Key"].removeprefix(folder) for each in reply.get("Contents", ())]


# --- Reports --------------------------------------------------------------------------------------


class _Stream:
    """A file to read that consists of pieces of bytes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = bytearray()

    def read(self, size: int = sys.maxsize) -> bytes:
        """Return the next `size` bytes, fewer only at the end of the file."""
        while len(self._held) < size and (piece := next(self._pieces, b"")):
            self._held += piece
        data = bytes(self._held[:size])
        del self._held[:size]
        return data


def put_report(job_id: str, pieces: Iterable[bytes]) -> None:
    """Write the report of a job from these pieces; a large one in several requests.

    It takes 100 MB of memory. No piece is empty.
    """
    client().upload_fileobj(_Stream(pieces), settings.bucket(), _report_key(job_id))


def report_url(job_id: str, file_name: str) -> str:
    """Return an address of the report, valid for an hour without a key; nothing is read.

    It downloads as `<name of the file>-errors.csv`, of ASCII letters.
    """
    name = "".join(c for c in file_name if c.isascii() and (c.isalnum() or c in "-_. "))
    stem = name.rpartition(".")[0] or name or "import"
    url: str = client().generate_presigned_url(
        "get_object",
        Params={
            "Bucket": settings.bucket(),
            "Key": _report_key(job_id),
            "ResponseContentType": "text/csv; charset=utf-8",
            "ResponseContentDisposition": f'attachment; filename="{stem}-errors.csv"',
        },
        ExpiresIn=REPORT_URL_SECONDS,
    )
    return url


# --- Another attempt ------------------------------------------------------------------------------


def has_file(source: str, *, report: bool) -> bool:
    """Return whether a job's file, or with `report` the report of its failed rows, still exists.

    Both are deleted after 30 days.
    """
    try:
        with aws.raising_if_gone(FileChanged):
            client().head_object(Bucket=settings.bucket(), Key=_source_key(source, report))
    except FileChanged:
        return False
    return True


def copy_to_upload(source: str, target: str, *, report: bool) -> None:
    """Copy a job's whole file, or with `report` its failed rows, to the upload of another job.

    `target` may be the job itself: the file is then copied onto itself. S3 sends its event again,
    which starts the planner. Raises FileChanged if there is no such file.
    """
    anew = {"MetadataDirective": "REPLACE"} if target == source else {}  # S3 refuses to change none
    from_key = {"Bucket": settings.bucket(), "Key": _source_key(source, report)}
    with aws.raising_if_gone(FileChanged):
        client().copy_object(
            Bucket=settings.bucket(), Key=_upload_key(target), CopySource=from_key, **anew
        )


def _source_key(job_id: str, report: bool) -> str:
    """Return the key of the report of a job if `report`, else of its upload."""
    return _report_key(job_id) if report else _upload_key(job_id)
