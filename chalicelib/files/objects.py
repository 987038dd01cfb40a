"""The files of pictures in S3.

| bucket | key | |
|---|---|---|
| private | `uploads/<picture>` | what was uploaded; a rule deletes it after a day |
| private | `pictures/<picture>` | the original of a picture that is READY |
| public | `<picture>/<size>.webp` | what browsers show |

Keys contain no text of clients. The original is written first and deleted last: a list of originals
has each picture that anything is stored of.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from chalicelib import aws, settings
from chalicelib.files.model import SIZES, UploadForm, rendition_name
from chalicelib.values import clock

URL_SECONDS: Final = 3_600
_UPLOADS: Final = "uploads/"
_ORIGINALS: Final = "pictures/"
PUBLISHED: Final = {
    "ContentType": "image/webp",
    "CacheControl": "public, max-age=31536000, immutable",
}


class UploadGone(Exception):
    """The uploaded file was deleted."""


def picture_of_key(key: str) -> str:
    """Return the id of the picture that an upload belongs to."""
    return key.removeprefix(_UPLOADS)


def upload_form(picture_id: str, size: int) -> UploadForm:
    """Return a form with which anyone uploads a file of `size` bytes, for an hour."""
    form = _s3().generate_presigned_post(
        Bucket=settings.bucket(),
        Key=_UPLOADS + picture_id,
        Conditions=[["content-length-range", size, size]],
        ExpiresIn=URL_SECONDS,
    )
    expires = clock.iso(clock.seconds_from_now(URL_SECONDS))
    return {"url": form["url"], "fields": form["fields"], "expiresAt": expires}


def read_upload(picture_id: str) -> tuple[bytes, str]:
    """Return an uploaded file and its ETag. Raises UploadGone."""
    with aws.raising_if_gone(UploadGone):
        reply = _s3().get_object(Bucket=settings.bucket(), Key=_UPLOADS + picture_id)
    return reply["Body"].read(), str(reply["ETag"])


def list_uploads(before: datetime) -> Iterator[str]:
    """Yield the ids of the pictures whose upload is older than that."""
    for found in _list_objects(_UPLOADS):
        if found["LastModified"] < before:
            yield picture_of_key(found["Key"])


def repeat_upload(picture_id: str) -> None:
    """Copy an upload onto itself, if it is still there: S3 then sends its event again."""
    bucket, key = settings.bucket(), _UPLOADS + picture_id
    with suppress(UploadGone), aws.raising_if_gone(UploadGone):
        _s3().copy_object(
            Bucket=bucket,
            Key=key,
            CopySource={"Bucket": bucket, "Key": key},
            MetadataDirective="REPLACE",  # S3 refuses to change nothing
        )


def publish_picture(picture_id: str, original: bytes, renditions: Mapping[str, bytes]) -> None:
    """Keep the original, then publish what was rendered of it: WebP by size."""
    _s3().put_object(Bucket=settings.bucket(), Key=_ORIGINALS + picture_id, Body=original)
    for size, data in renditions.items():
        _s3().put_object(
            Bucket=settings.pictures_bucket(),
            Key=rendition_name(picture_id, size),
            Body=data,
            **PUBLISHED,
        )


def delete_picture_files(picture_id: str) -> None:
    """Take a picture off the web, and delete its original."""
    for size in SIZES:
        name = rendition_name(picture_id, size)
        _s3().delete_object(Bucket=settings.pictures_bucket(), Key=name)
    _s3().delete_object(Bucket=settings.bucket(), Key=_ORIGINALS + picture_id)


def list_originals() -> Iterator[str]:
    """Yield the ids of all pictures of which something is stored."""
    return (found["Key"].removeprefix(_ORIGINALS) for found in _list_objects(_ORIGINALS))


def _list_objects(prefix: str) -> Iterator[dict[str, Any]]:
    pages = _s3().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=settings.bucket(), Prefix=prefix):
        yield from page.get("Contents", ())


def _s3() -> Any:
    return aws.client("s3")
