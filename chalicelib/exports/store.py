"""The file that a job makes, in S3: `exports/<job>.<ending>`, in pieces of at least 5 MB; and what
is left of it of an erased customer."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from botocore.exceptions import ClientError

from chalicelib import aws, settings
from chalicelib.exports.cells import BOM, lines
from chalicelib.exports.model import ExportType
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, JobStatus, JobType

PIECE: Final = 5 * 1024 * 1024  # S3: no piece but the last is smaller
URL_SECONDS: Final = 3_600
_LARGEST_SEARCHED: Final = 1 << 30  # bytes: what is read within a minute
KINDS: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
_NAMELESS: Final = {ExportType.PRODUCTS, ExportType.MOVEMENTS}  # they name no customer
_MESSAGE: Final = "A customer in it was erased. Start the export again."


def place(job: Job, ending: str = "") -> dict[str, str]:
    """Bucket and key of a file of the job: by default, of the one that it makes."""
    return {"Bucket": settings.bucket(), "Key": f"exports/{job.id}.{ending or job.asked['format']}"}


def begin(job: Job) -> str:
    """Begins the file; returns the upload's id."""
    kind = KINDS[job.asked["format"]]
    begun = aws.client("s3").create_multipart_upload(**place(job), ContentType=kind)
    return str(begun["UploadId"])


def add(job: Job, upload: str, number: int, data: bytes) -> str:
    """The ETag of the piece with this number (from 1). The same number again replaces it."""
    put = aws.client("s3").upload_part(**place(job), UploadId=upload, PartNumber=number, Body=data)
    return str(put["ETag"])


def end(job: Job, upload: str, pieces: Iterable[tuple[int, str]]) -> None:
    """Completes the file of pieces with ascending numbers and these ETags; repeating it is no
    error."""
    aws.end_upload(place(job)["Key"], upload, pieces)


def download_url(job: Job) -> str:
    """An address of the file, valid for an hour without a key."""
    name = f"{job.asked['type']}-{str(job.fields['createdAt'])[:10]}.{job.asked['format']}"
    shown = {"ResponseContentDisposition": f'attachment; filename="{name}"'}
    address: str = aws.client("s3").generate_presigned_url(
        "get_object", Params={**place(job), **shown}, ExpiresIn=URL_SECONDS
    )
    return address


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A whole file of CSV."""
    return BOM + lines([header, *rows])


def forget(job: Job, ids: Sequence[str]) -> bool:
    """Removes the file of an export that has one of these customers and orders, or is being written
    and may have; whether it was one. Doing it again changes nothing."""
    if job.type != JobType.EXPORT or job.asked["type"] in _NAMELESS:
        return False
    if not job.has_ended:
        jobs.fail(job.id, "customer_erased", _MESSAGE)
        _remove(jobs.get(job.id))
        return True
    if job.status is not JobStatus.COMPLETED:
        _remove(job)  # its last step may have put it together after it had failed
        return False
    if "bytes" not in job.fields or not _holds(job, ids):
        return False
    _remove(job)
    jobs.lose_file(job.id, {"code": "customer_erased", "message": _MESSAGE})
    return True


def _holds(job: Job, needles: Sequence[str]) -> bool:
    """Whether the file contains one of these ids; assumed for a very large file."""
    try:
        found = aws.client("s3").get_object(**place(job))
    except ClientError as error:
        if error.response["Error"]["Code"] in {"NoSuchKey", "AccessDenied"}:
            return False
        raise
    if found["ContentLength"] > _LARGEST_SEARCHED:
        return True
    wanted, tail = [needle.encode() for needle in needles], b""
    for chunk in found["Body"].iter_chunks(PIECE):
        text = tail + chunk
        if any(one in text for one in wanted):
            return True
        tail = text[-100:]
    return False


def _remove(job: Job) -> None:
    """Deletes the file, and parts of one that is being written."""
    upload = (job.cursor or {}).get("upload")
    if upload:
        with suppress(ClientError):  # it has been put together
            aws.client("s3").abort_multipart_upload(**place(job), UploadId=upload)
    aws.client("s3").delete_object(**place(job))
