"""Pictures: what clients send, what the API shows, and the addresses of their renditions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.schemas import SEEN, Choice, Stripped, about, described_as, length
from chalicelib.storage.attributes import Fields

SIZES: Final[Mapping[str, int]] = {"small": 160, "medium": 640, "large": 1_600}  # longest sides
FILE_SIZES: Final = ("small", "large")  # of a picture among the files of an order
LARGEST_PICTURE: Final = 20 << 20  # bytes
MOST_PIXELS: Final = 50_000_000
LONGEST_SIDE: Final = 16_000  # pixels
LARGEST_FILE: Final = 50 << 20  # bytes of a file of an order
MOST_FILES: Final = 50  # of an order
# Bytes of all files' metadata of an order, as JSON: each change of one file writes all of it.
LARGEST_METADATA: Final = 100_000
KEPT_SECONDS: Final = 86_400  # of a picture or a file that is not READY
FILE_URL_SECONDS: Final = 600
PICTURE_TYPES: Final = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_ID: Final = "pic_[0-9A-Z]{26}"
PICTURE_ID: Final = f"^{_ID}$"
_OWN_PATH: Final = re.compile(rf"/({_ID})/(?:{'|'.join(SIZES)})\.webp")


class FileStatus(Choice):
    """WAITING: for its upload. READY: it can be shown. FAILED: `error` says why."""

    WAITING = "WAITING"
    READY = "READY"
    FAILED = "FAILED"


class FileKind(Choice):
    """IMAGE: a picture that browsers can show. FILE: any other file."""

    IMAGE = "IMAGE"
    FILE = "FILE"


class FileError(Choice):
    """Why an uploaded file cannot be shown."""

    NOT_AN_IMAGE = "not_an_image"
    TYPE_NOT_ALLOWED = "type_not_allowed"
    TOO_MANY_PIXELS = "too_many_pixels"
    TOO_SMALL = "too_small"
    DAMAGED = "damaged"


def _check_type(sent: str) -> str:
    """Return the media type of a picture. What counts at last is the content of the file."""
    kind = sent.lower()
    if kind in PICTURE_TYPES.values():
        return kind
    hint = ""
    if kind in {"image/heic", "image/heif"}:
        hint = ". Choose JPEG in the phone's camera settings"
    message = f"must be image/jpeg, image/png or image/webp{hint}"
    raise PydanticCustomError("type_not_allowed", message)


def check_bytes(most: int, sent: int) -> int:
    """Return the size of a file that will be uploaded; refuse a larger one: a validator."""
    if sent > most:
        raise PydanticCustomError("too_large", f"must be at most {most:,}")
    return sent


class ImageSizes(TypedDict):
    """Addresses of a picture in three sizes, as WebP; none is larger than the original."""

    small: Annotated[str, about("At most 160 pixels wide and high.")]
    medium: Annotated[str, about("At most 640 pixels wide and high.")]
    large: Annotated[str, about("At most 1,600 pixels wide and high.")]


class ShownPicture(TypedDict):
    """A picture for products."""

    id: Annotated[str, about("Identifier, `pic_…`.")]
    status: Annotated[FileStatus, about("Its state.")]
    name: Annotated[str, about("Name of the file; only the shop sees it.")]
    contentType: Annotated[str, about("Media type, by its content once it is READY.")]
    bytes: Annotated[int, about("Size of the uploaded file.")]
    width: Annotated[int | None, about("Pixels of the original, upright; null: it is not READY.")]
    height: Annotated[int | None, about("Pixels of the original, upright; null: it is not READY.")]
    sizes: Annotated[ImageSizes | None, about("Where it is shown; null: it is not READY.")]
    error: Annotated[FileError | None, about("Why it FAILED.")]
    createdAt: Annotated[str, about("When the upload was asked for.")]
    createdBy: Annotated[str, about("Name of the API key that asked for it.")]
    unusedSince: Annotated[
        str | None,
        about("Since when no product shows it; after 90 days it is deleted. It is found weekly."),
    ]


class UploadForm(TypedDict):
    """A form that uploads one file."""

    url: Annotated[str, about("Where the form is posted.")]
    fields: Annotated[dict[str, str], about("All fields to send before `file`.")]
    expiresAt: Annotated[str, about("Until when it can be posted.")]


class PictureUpload(ShownPicture):
    """A new picture, and the form for its file."""

    upload: Annotated[UploadForm, about("The form.")]


class NewPicture(Stripped):
    """The file that will be uploaded."""

    shape: ClassVar[type] = ShownPicture

    name: Annotated[str, length(200, 1), SEEN]
    content_type: Annotated[
        str,
        length(100),
        AfterValidator(_check_type),
        described_as("^image/(jpeg|png|webp)$"),
        about("image/jpeg, image/png or image/webp. The content decides."),
    ]
    bytes: Annotated[
        int,
        Field(strict=True, ge=1, json_schema_extra={"maximum": LARGEST_PICTURE}),
        about("Exact size of the file; at most 20 MiB."),
        AfterValidator(partial(check_bytes, LARGEST_PICTURE)),
    ]


@dataclass(frozen=True)
class Picture:
    """A picture as stored; names as shown.

    `etag`: of the upload that is rendered. `expiresAt`, `claimedUntil`: Unix seconds, until it is
    READY.
    """

    fields: Fields

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def status(self) -> FileStatus:
        return FileStatus(self.fields["status"])

    @property
    def unused_since(self) -> str | None:
        return self.fields.get("unusedSince")


def show_picture(picture: Picture) -> dict[str, Any]:
    """Return the picture in the shape of ShownPicture."""
    shown = {name: picture.fields.get(name) for name in ShownPicture.__annotations__}
    is_ready = picture.status is FileStatus.READY
    return shown | {"sizes": picture_sizes(picture.id) if is_ready else None}


# --- Addresses ------------------------------------------------------------------------------------


def rendition_name(picture_id: str, size: str) -> str:
    """Return the path of a rendition: its key in the bucket, and the end of its address."""
    return f"{picture_id}/{size}.webp"


def picture_sizes(picture_id: str) -> ImageSizes:
    """Return the addresses of a picture, whether it exists or not."""
    below = settings.picture_address()
    small, medium, large = (f"{below}/{rendition_name(picture_id, size)}" for size in SIZES)
    return {"small": small, "medium": medium, "large": large}


def is_address_of(picture_id: str, url: str) -> bool:
    """Tell whether an address ends as those of this picture do, below whichever base."""
    return url.endswith(tuple(f"/{rendition_name(picture_id, size)}" for size in SIZES))


def check_picture_id(sent: str) -> str:
    """Return what a client sent as a picture's id: a validator. Whether it exists is not known."""
    if not re.fullmatch(_ID, sent):
        raise PydanticCustomError("unknown_picture", "is no id of a picture")
    return sent


def find_picture_id(url: str) -> str | None:
    """Return the id of the own picture that is at this address; None for any other address."""
    if "/pic_" not in url:
        return None
    for below in (settings.picture_address(), settings.pictures_origin()):
        if url.startswith(below) and (own := _OWN_PATH.fullmatch(url, len(below))):
            return own[1]
    return None
