"""Pictures, and files of orders, in S3.

| bucket | key | |
|---|---|---|
| private | `uploads/<picture>`, `uploads/<order>/<file>` | uploads |
| private | `pictures/<picture>` | the original of a picture that is READY |
| private | `files/<order>/<file>/{original,small,large}` | a file of an order that is READY |
| public | `<picture>/<size>.webp` | what browsers show |

A lifecycle rule deletes uploads after a day. What follows `uploads/` is an upload's place, such as
`pic_…` or `ord_…/fil_…`. Keys contain no text of clients. The original of a picture is written
first and deleted last: a list of originals has each picture that anything is stored of.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from typing import Any, Final
from urllib.parse import quote

from chalicelib import aws, settings, threads
from chalicelib.files.model import (
    FILE_SIZES,
    FILE_URL_SECONDS,
    SIZES,
    UploadForm,
    rendition_name,
)
from chalicelib.values import clock, ids

URL_SECONDS: Final = 3_600
_UPLOADS: Final = "uploads/"
_ORIGINALS: Final = "pictures/"
_FILES: Final = "files/"
_DOWNLOADED: Final = "application/octet-stream"  # the type of any file: no browser runs or shows it
PUBLISHED: Final = {
    "ContentType": "image/webp",
    "CacheControl": "public, max-age=31536000, immutable",
}


class UploadGone(Exception):
    """The uploaded file was deleted."""


def place_of_key(key: str) -> str:
    """Return the place of the upload with a key of S3."""
    return key.removeprefix(_UPLOADS)


def is_picture(place: str) -> bool:
    """Tell whether a place is that of a picture, and not of a file or all files of an order."""
    return ids.may_be("pic", place)


def upload_form(place: str, size: int) -> UploadForm:
    """Return a form with which anyone uploads a file of `size` bytes, for an hour."""
    form = _get_s3().generate_presigned_post(
        Bucket=settings.bucket(),
        Key=_UPLOADS + place,
        Conditions=[["content-length-range", size, size]],
        ExpiresIn=URL_SECONDS,
    )
    expires = clock.iso(clock.seconds_from_now(URL_SECONDS))
    return {"url": form["url"], "fields": form["fields"], "expiresAt": expires}


def read_upload(place: str) -> tuple[bytes, str]:
    """Return an uploaded file and its ETag. Raises UploadGone."""
    with aws.raising_if_gone(UploadGone):
        reply = _get_s3().get_object(Bucket=settings.bucket(), Key=_UPLOADS + place)
    return reply["Body"].read(), str(reply["ETag"])


def list_uploads(before: datetime) -> Iterator[str]:
    """Yield the places of the uploads that are older than that."""
    for found in _list_objects(_UPLOADS):
        if found["LastModified"] < before:
            yield place_of_key(found["Key"])


def repeat_upload(place: str) -> None:
    """Copy an upload onto itself, if it is still there: S3 then sends its event again."""
    bucket, key = settings.bucket(), _UPLOADS + place
    with suppress(UploadGone), aws.raising_if_gone(UploadGone):
        _get_s3().copy_object(
            Bucket=bucket,
            Key=key,
            CopySource={"Bucket": bucket, "Key": key},
            MetadataDirective="REPLACE",  # S3 refuses to change nothing
        )


def publish_picture(picture_id: str, original: bytes, renditions: Mapping[str, bytes]) -> None:
    """Keep the original, then publish what was rendered of it: WebP by size."""
    _get_s3().put_object(Bucket=settings.bucket(), Key=_ORIGINALS + picture_id, Body=original)
    for size, data in renditions.items():
        _get_s3().put_object(
            Bucket=settings.pictures_bucket(),
            Key=rendition_name(picture_id, size),
            Body=data,
            **PUBLISHED,
        )


def delete_picture_files(picture_id: str) -> None:
    """Take a picture off the web, and delete its upload and its original."""
    for size in SIZES:
        name = rendition_name(picture_id, size)
        _get_s3().delete_object(Bucket=settings.pictures_bucket(), Key=name)
    for key in (_UPLOADS + picture_id, _ORIGINALS + picture_id):
        _get_s3().delete_object(Bucket=settings.bucket(), Key=key)


def list_originals() -> Iterator[str]:
    """Yield the ids of all pictures of which something is stored."""
    return (found["Key"].removeprefix(_ORIGINALS) for found in _list_objects(_ORIGINALS))


# --- Files of orders ------------------------------------------------------------------------------


def store_file(place: str, original: bytes, renditions: Mapping[str, bytes]) -> None:
    """Store a file of an order, and what was rendered of it, WebP by size, if it is a picture."""
    for size, data in renditions.items():
        _put_file(f"{place}/{size}", data, ContentType=PUBLISHED["ContentType"])
    # Stored as a download, too, in case it is read without a signed address.
    _put_file(
        f"{place}/original", original, ContentType=_DOWNLOADED, ContentDisposition="attachment"
    )


def _put_file(name: str, data: bytes, **options: str) -> None:
    _get_s3().put_object(Bucket=settings.bucket(), Key=_FILES + name, Body=data, **options)


def file_urls(place: str, name: str, *, is_image: bool) -> dict[str, str | None]:
    """Return the shape of FileUrls. The original is a download under its name, of no type.

    In Lambda the credentials that sign may end before the addresses do, and do not say when: a
    client that gets 403 reads the file again.
    """
    download = {
        "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "ResponseContentType": _DOWNLOADED,
    }
    webp = {"ResponseContentType": PUBLISHED["ContentType"]}
    shown = {
        size: _sign_address(f"{place}/{size}", **webp) if is_image else None for size in FILE_SIZES
    }
    return {**shown, "original": _sign_address(f"{place}/original", **download)}


def _sign_address(name: str, **options: str) -> str:
    """Return an address of an object of an order's file that leads to it for ten minutes."""
    address: str = _get_s3().generate_presigned_url(
        "get_object",
        Params={"Bucket": settings.bucket(), "Key": _FILES + name, **options},
        ExpiresIn=FILE_URL_SECONDS,
    )
    return address


def delete_files(place: str) -> None:
    """Delete all objects of a file, `<order>/<file>`, or of all files of an order, `<order>`."""
    found = chain(_list_objects(f"{_FILES}{place}/"), _list_objects(_UPLOADS + place))
    delete = partial(_get_s3().delete_object, Bucket=settings.bucket())
    threads.run_together([partial(delete, Key=each["Key"]) for each in found])


def list_files() -> Iterator[str]:
    """Yield the places, `<order>/<file>`, of all files of orders of which something is stored.

    Objects with other keys below `files/` are skipped.
    """
    names = (found["Key"].removeprefix(_FILES) for found in _list_objects(_FILES))
    places = (place for place, _ in groupby(names, lambda name: name.rpartition("/")[0]))
    return (place for place in places if place.startswith("ord_") and "/" in place)


def _list_objects(prefix: str) -> Iterator[dict[str, Any]]:
    pages = _get_s3().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=settings.bucket(), Prefix=prefix):
        yield from page.get("Contents", ())


def _get_s3() -> Any:
    return aws.client("s3")
