"""The file that a job makes, in S3: `exports/<job>.<ending>`, in pieces of at least 5 MB."""

from typing import Final

from botocore.exceptions import ClientError

from chalicelib import aws, settings
from chalicelib.jobs.model import Job

PIECE: Final = 5 * 1024 * 1024  # S3: no piece but the last is smaller
URL_SECONDS: Final = 3_600


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
    """The ETag of piece `number` (from 1). The same number again replaces it."""
    put = aws.client("s3").upload_part(
        Bucket=settings.bucket(), Key=_key(job), UploadId=upload, PartNumber=number, Body=data
    )
    return str(put["ETag"])


def end(job: Job, upload: str, etags: list[str]) -> None:
    """Puts the pieces together; having done so before is no error."""
    pieces = [{"ETag": etag, "PartNumber": number} for number, etag in enumerate(etags, 1)]
    try:
        aws.client("s3").complete_multipart_upload(
            Bucket=settings.bucket(),
            Key=_key(job),
            UploadId=upload,
            MultipartUpload={"Parts": pieces},
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchUpload":
            raise


def url(job: Job) -> str:
    """An address that answers the file for an hour, to whoever has it."""
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
