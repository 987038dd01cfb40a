"""From an uploaded file to what browsers show, by Pillow, which only `render_file` has.

Content decides what a file is, never its name or its type. Nothing of its EXIF, XMP or GPS data is
kept: a picture is turned as its EXIF says, and written anew. A colour profile of RGB is kept; what
has other colours becomes sRGB.
"""

import io
import re
from typing import Final, NamedTuple

from PIL import Image, ImageCms, ImageOps

from chalicelib.files.model import LONGEST_SIDE, MOST_PIXELS, PICTURE_TYPES, SIZES, FileError

_SHORTEST: Final = 16  # pixels of a side
_QUALITY: Final = 80
_KNOWN: Final = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|RIFF....WEBP", re.DOTALL)
# Images that are no picture here: HEIC and AVIF, GIF, PDF, TIFF, BMP, SVG.
_REFUSED: Final = re.compile(
    rb"....ftyp|GIF8|%PDF|II\*\0|MM\0\*|BM"
    rb"|\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!DOCTYPE )?svg",
    re.DOTALL | re.IGNORECASE,
)
_BROKEN: Final = (OSError, SyntaxError, ValueError, EOFError, MemoryError, TypeError, KeyError)

# The size of each picture is checked here, before it is decoded.
Image.MAX_IMAGE_PIXELS = None


class NoPicture(Exception):
    """The file cannot be shown as a picture, for this reason."""

    def __init__(self, error: FileError) -> None:
        super().__init__(error)
        self.error = error


class Rendered(NamedTuple):
    """What a file is, and its renditions as WebP by size. Width and height are of the original."""

    content_type: str
    width: int
    height: int
    renditions: dict[str, bytes]


def render_picture(data: bytes) -> Rendered:
    """Return the renditions of an uploaded file. Raises NoPicture."""
    if not _KNOWN.match(data):
        is_other = _REFUSED.match(data[:1_000])
        raise NoPicture(FileError.TYPE_NOT_ALLOWED if is_other else FileError.NOT_AN_IMAGE)
    try:
        with Image.open(io.BytesIO(data), formats=list(PICTURE_TYPES)) as opened:
            _check_size(*opened.size)
            kind = "JPEG" if opened.format == "MPO" else str(opened.format)
            size = opened.size
            opened.draft("RGB", (max(SIZES.values()),) * 2)  # of a large JPEG, decodes less
            upright = ImageOps.exif_transpose(opened)
            if (upright.width < upright.height) != (opened.width < opened.height):
                size = (size[1], size[0])
            image, profile = _to_rgb(upright)
    except NoPicture:
        raise
    except _BROKEN:
        raise NoPicture(FileError.DAMAGED) from None
    renditions = {}
    for name, longest in sorted(SIZES.items(), key=lambda each: -each[1]):
        image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
        renditions[name] = _encode(image, profile)
    return Rendered(PICTURE_TYPES[kind], *size, renditions)


def _check_size(width: int, height: int) -> None:
    """Raise NoPicture for a picture that is too small, or too large to be decoded."""
    if min(width, height) < _SHORTEST:
        raise NoPicture(FileError.TOO_SMALL)
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise NoPicture(FileError.TOO_MANY_PIXELS)


def _to_rgb(image: Image.Image) -> tuple[Image.Image, bytes]:
    """Return the picture in RGB or RGBA, with 8 bit, and its colour profile; b"" is sRGB."""
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    mode = "RGBA" if has_alpha else "RGB"
    profile = image.info.get("icc_profile") or b""
    if image.mode.startswith("I;16") or image.mode == "I":
        image = image.point(lambda value: value / 256).convert("L")  # which alone would clip
        image.info.pop("transparency", None)  # a value of 16 bit
    if profile[16:20] == b"RGB ":
        return image.convert(mode), profile
    if profile and image.mode in {"L", "CMYK"}:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            turned = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
        except (ImageCms.PyCMSError, OSError):
            turned = None  # a profile of other colours than the picture's
        if turned is not None:
            return turned.convert(mode), b""
    return image.convert(mode), b""


def _encode(image: Image.Image, profile: bytes) -> bytes:
    target = io.BytesIO()
    image.save(target, "WEBP", quality=_QUALITY, icc_profile=profile, exif=b"", xmp=b"")
    return target.getvalue()
