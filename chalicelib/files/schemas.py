"""Files of orders: what clients send, and what the API shows."""

import re
from functools import partial
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.files.model import LARGEST_FILE, FileKind, FileStatus, UploadForm, check_bytes
from chalicelib.schemas import (
    SEEN,
    Absent,
    Maybe,
    Stripped,
    about,
    length,
    not_empty,
    null_is,
    texts_as_in,
)

ANY_TYPE: Final = "application/octet-stream"
_NAME: Final = r"[a-z0-9][a-z0-9!#$&^_.+-]*"  # RFC 6838, section 4.2
_MEDIA_TYPE: Final = re.compile(rf"(?=.{{3,127}}\Z){_NAME}/{_NAME}")


def _read_type(sent: str) -> str:
    """Return the media type without its parameters; of what is none, that of any file."""
    kind = sent.partition(";")[0].strip().lower()
    return kind if _MEDIA_TYPE.fullmatch(kind) else ANY_TYPE


class FileUrls(TypedDict):
    """Signed addresses of a file. They end at `expiresAt`: read the file again for new ones."""

    small: Annotated[str | None, about("WebP of at most 160 pixels; null: it is no picture.")]
    large: Annotated[str | None, about("WebP of at most 1,600 pixels; null: it is no picture.")]
    original: Annotated[str, about("A download of the file, under its name.")]


class ShownFile(TypedDict):
    """A file of an order. Only the shop sees it."""

    id: Annotated[str, about("Identifier, `fil_…`.")]
    orderId: Annotated[str, about("Id of the order.")]
    lineItemId: Annotated[
        str | None, about("The line that it belongs to, perhaps removed since; null: the order.")
    ]
    status: Annotated[FileStatus, about("WAITING for its upload, or READY.")]
    name: Annotated[str, about("Name of the file.")]
    note: Annotated[str | None, about("Free text about it.")]
    contentType: Annotated[str, about("Media type: of an IMAGE by its content, else as sent.")]
    bytes: Annotated[int, about("Size of the file.")]
    kind: Annotated[FileKind | None, about("By its content; null: it is not READY.")]
    width: Annotated[int | None, about("Pixels of an IMAGE, upright.")]
    height: Annotated[int | None, about("Pixels of an IMAGE, upright.")]
    urls: Annotated[FileUrls | None, about("Where it is; null: it is not READY.")]
    expiresAt: Annotated[str | None, about("Until when the addresses lead to it.")]
    createdAt: Annotated[str, about("When the upload was asked for.")]
    createdBy: Annotated[str, about("Name of the API key that asked for it.")]


class FileUpload(ShownFile):
    """A new file, and the form for it."""

    upload: Annotated[UploadForm, about("The form.")]


class FilesOfOrder(TypedDict):
    """All files of an order."""

    data: Annotated[list[ShownFile], about("Files, oldest first.")]


@texts_as_in(ShownFile)
class AnnouncedFile(TypedDict):
    """A file, as its event carries it: without texts that may name a person."""

    id: str
    orderId: str
    orderNumber: Annotated[str, about("Number of the order.")]
    customerId: Annotated[str | None, about("The order's customer when the upload was asked for.")]
    lineItemId: Annotated[str | None, about("The line that it belongs to; null: the order.")]
    contentType: str
    bytes: int
    kind: Annotated[FileKind, about("By its content.")]
    width: int | None
    height: int | None


class NewFile(Stripped):
    """The file that will be uploaded."""

    shape: ClassVar[type] = ShownFile

    name: Annotated[str, length(200, 1), SEEN]
    content_type: Annotated[
        str,
        null_is(ANY_TYPE),
        AfterValidator(_read_type),
        about("Media type. What is none becomes `application/octet-stream`."),
    ] = ANY_TYPE
    bytes: Annotated[
        int,
        Field(strict=True, ge=1, json_schema_extra={"maximum": LARGEST_FILE}),
        about("Exact size of the file; at most 50 MiB."),
        AfterValidator(partial(check_bytes, LARGEST_FILE)),
    ]
    line_item_id: Annotated[str, length(60)] | None = None
    note: Annotated[str, SEEN, length(500)] | None = None


class FileChange(Stripped):
    """The fields of a PATCH: absent fields stay; null clears."""

    shape: ClassVar[type] = ShownFile
    # A file that was read may be sent back.
    read_only: ClassVar[frozenset[str]] = frozenset(
        ShownFile.__annotations__.keys() - {"name", "lineItemId", "note"}
    )

    name: Maybe[Annotated[str, length(200, 1), SEEN]] = Field(default_factory=Absent)
    line_item_id: Annotated[str, length(60)] | None = None
    note: Annotated[str, SEEN, length(500)] | None = None

    _not_empty = model_validator(mode="after")(not_empty)
