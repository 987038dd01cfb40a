"""The file that a job makes, in S3: `exports/<job>.<ending>`, in pieces of at least 5 MB."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from botocore.exceptions import ClientError

from chalicelib import aws, settings
from chalicelib.jobs.model import Job

PIECE: Final = 5 * 1024 * 1024  # S3: no piece but the last is smaller
URL_SECONDS: Final = 3_600
_LARGEST_SEARCHED: Final = 1 << 30  # bytes: what is read within a minute


def _key(job: Job) -> str:
    return f"exports/{job.id}.{job.asked['format']}"


def begin(job: Job) -> str:
    """Begins the file; returns the upload's id."""
    kind = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}[job.asked["format"]]
    begun = aws.client("s3").create_multipart_upload(
        Bucket=settings.bucket(), Key=_key(job), ContentType=kind
    )
    return str(begun["UploadId"])


def add(job: Job, upload: str, number: int, data: bytes) -> str:
    """The ETag of the piece with this number (from 1). The same number again replaces it."""
    put = aws.client("s3").upload_part(
        Bucket=settings.bucket(), Key=_key(job), UploadId=upload, PartNumber=number, Body=data
    )
    return str(put["ETag"])


def end(job: Job, upload: str, pieces: Iterable[tuple[int, str]]) -> None:
    """Completes the file of pieces with ascending numbers and these ETags; repeating it is no
    error."""
    aws.end_upload(_key(job), upload, pieces)


def holds(job: Job, needles: Sequence[str]) -> bool:
    """Whether the file contains one of these ids; assumed for a very large file."""
    try:
        found = aws.client("s3").get_object(Bucket=settings.bucket(), Key=_key(job))
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


def remove(job: Job) -> None:
    """Deletes the file, and parts of one that is being written."""
    upload = (job.cursor or {}).get("upload")
    if upload:
        with suppress(ClientError):  # it has been put together
            aws.client("s3").abort_multipart_upload(
                Bucket=settings.bucket(), Key=_key(job), UploadId=upload
            )
    aws.client("s3").delete_object(Bucket=settings.bucket(), Key=_key(job))


def url(job: Job) -> str:
    """An address of the file, valid for an hour without a key."""
    name = f"{job.asked['type']}-{str(job.fields['createdAt'])[:10]}.{job.asked['format']}"
    address: str = aws.client("s3").generate_presigned_url(
        "get_object",
        Params={
            "Bucket": settings.bucket(),
            "Key": _key(job),
            "ResponseContentDisposition": f'attachment; filename="{name}"',
        },
        ExpiresIn=URL_SECONDS,
    )
    return address
