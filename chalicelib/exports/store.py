"""The file that a job makes, in S3: `exports/<job>.<ending>`, in pieces of at least 5 MB."""

from collections.abc import Iterable, Sequence
from typing import Final

from chalicelib import aws, settings
from chalicelib.exports.cells import BOM, lines
from chalicelib.jobs.model import Job

PIECE: Final = 5 * 1024 * 1024  # S3: no piece but the last is smaller
URL_SECONDS: Final = 3_600
KINDS: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def place(job: Job, ending: str = "") -> dict[str, str]:
    """Return bucket and key of a file of the job: by default, of the one that it makes."""
    return {
        "Bucket": settings.bucket(),
        "Key": f"exports/{job.id}.{ending or job.request['format']}",
    }


def begin(job: Job) -> str:
    """Begin the file; return the upload's id."""
    kind = KINDS[job.request["format"]]
    begun = aws.client("s3").create_multipart_upload(**place(job), ContentType=kind)
    return str(begun["UploadId"])


def add(job: Job, upload: str, number: int, data: bytes) -> str:
    """Upload the piece with this number (from 1); return its ETag.

    The same number again replaces the piece.
    """
    put = aws.client("s3").upload_part(**place(job), UploadId=upload, PartNumber=number, Body=data)
    return str(put["ETag"])


def end(job: Job, upload: str, pieces: Iterable[tuple[int, str]]) -> None:
    """Complete the file of pieces with ascending numbers and these ETags.

    Repeating it is no error.
    """
    aws.end_upload(place(job)["Key"], upload, pieces)


def download_url(job: Job, name: str = "") -> str:
    """Return an address of the file, valid for an hour without a key.

    `name`: what the file is saved as, without its ending; by default its type and day.
    """
    name = name or f"{job.request['type']}-{str(job.fields['createdAt'])[:10]}"
    file_name = f"{name}.{job.request['format']}"
    shown = {"ResponseContentDisposition": f'attachment; filename="{file_name}"'}
    address: str = aws.client("s3").generate_presigned_url(
        "get_object", Params={**place(job), **shown}, ExpiresIn=URL_SECONDS
    )
    return address


def table(header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> bytes:
    """Return a whole file of CSV."""
    return BOM + lines([header, *rows], separator)
