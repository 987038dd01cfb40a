"""From an uploaded file to what browsers show, by Pillow, which only `render_file` has.

Content decides what a file is, never its name or its type. Nothing of its EXIF, XMP or GPS data is
kept: a picture is turned as its EXIF says, and written anew. A small colour profile of RGB is kept;
what has other colours becomes sRGB.
"""

import io
import re
from collections.abc import Collection
from contextlib import suppress
from typing import Final, NamedTuple

from PIL import Image, ImageCms

from chalicelib.files.model import LONGEST_SIDE, MOST_PIXELS, PICTURE_TYPES, SIZES, FileError

_SHORTEST: Final = 16  # pixels of a side
_QUALITY: Final = 80
_KNOWN: Final = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|RIFF....WEBP", re.DOTALL)
# Images that are no picture here: HEIC and AVIF, GIF, PDF, TIFF, BMP, SVG.
_REFUSED: Final = re.compile(
    rb"....ftyp|GIF8|%PDF|II\*\0|MM\0\*|BM|\s*<(?:!DOCTYPE )?svg", re.DOTALL | re.IGNORECASE
)
_BEFORE_SVG: Final = re.compile(rb"<\?xml[^>]*>|<!--.*?-->", re.DOTALL)
_ORIENTATION: Final = 0x0112  # of EXIF
_TURNS: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_FIRST_SIDEWAYS: Final = 5  # of the orientations: width and height are exchanged
# A camera writes one scan, a progressive JPEG some ten. Each goes through all pixels, in few bytes.
_MOST_SCANS: Final = 100
_MARKER: Final = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")  # of those with a length, and the end
_SCAN, _END = b"\xda", b"\xd9"
_LARGEST_PROFILE: Final = 64 << 10  # bytes; sRGB, P3 and Adobe RGB have 0.5 to 61 KB

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


def render_picture(data: bytes, wanted: Collection[str] = tuple(SIZES)) -> Rendered:
    """Return the renditions of an uploaded file, in the sizes that are wanted. Raises NoPicture."""
    if not _KNOWN.match(data):
        is_other = _REFUSED.match(_BEFORE_SVG.sub(b"", data[:1_000]))
        raise NoPicture(FileError.TYPE_NOT_ALLOWED if is_other else FileError.NOT_AN_IMAGE)
    if data.startswith(b"\xff\xd8") and _count_scans(data) > _MOST_SCANS:
        raise NoPicture(FileError.DAMAGED)
    try:
        return _render_known_type(data, wanted)
    except (NoPicture, MemoryError):
        raise
    except Exception:  # Pillow raises errors of many types
        raise NoPicture(FileError.DAMAGED) from None


def _count_scans(data: bytes) -> int:
    """Return how many scans a JPEG has; what follows its end, such as a video, does not count."""
    at, scans = 2, 0
    while (marker := _MARKER.search(data, at)) and marker[1] != _END:
        scans += marker[1] == _SCAN
        at = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")
    return scans


def _render_known_type(data: bytes, wanted: Collection[str]) -> Rendered:
    sizes = sorted(SIZES.items(), key=lambda each: -each[1])
    largest = (sizes[0][1],) * 2
    with Image.open(io.BytesIO(data), formats=list(PICTURE_TYPES)) as opened:
        width, height = opened.size
        _check_size(width, height)
        kind = "JPEG" if opened.format == "MPO" else str(opened.format)
        opened.draft("RGB", largest)  # of a large JPEG, decodes less
        opened.load()
        orientation = _read_orientation(opened)
        image = _to_smooth(opened)
        # From here it is small: each further copy needs little memory.
        image.thumbnail(largest, Image.Resampling.LANCZOS)
    image, profile = _to_rgb(image)
    if orientation in _TURNS:
        image = image.transpose(_TURNS[orientation])
    if orientation >= _FIRST_SIDEWAYS:
        width, height = height, width
    renditions = {}
    for name, longest in sizes:
        image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
        if name in wanted:
            renditions[name] = _encode(image, profile)
    return Rendered(PICTURE_TYPES[kind], width, height, renditions)


def _check_size(width: int, height: int) -> None:
    """Raise NoPicture for a picture that is too small, or too large to be decoded."""
    if min(width, height) < _SHORTEST:
        raise NoPicture(FileError.TOO_SMALL)
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise NoPicture(FileError.TOO_MANY_PIXELS)


def _read_orientation(image: Image.Image) -> int:
    """Return how the camera was held, 1 to 8; 1, upright, if EXIF does not say it readably."""
    try:
        orientation = image.getexif().get(_ORIENTATION)
        return orientation if orientation in _TURNS else 1
    except MemoryError:
        raise
    except Exception:  # of broken EXIF, of many types; the pixels are sound
        return 1


def _to_smooth(image: Image.Image) -> Image.Image:
    """Return the picture with 8 bit, in a mode that can be made smaller: not that of a palette."""
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    if image.mode.startswith("I;16") or image.mode == "I":
        image = image.point(lambda value: value / 256).convert("L")  # which alone would clip
        image.info.pop("transparency", None)  # a value of 16 bit
    elif has_alpha:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    return image if image.mode in {"RGB", "L", "CMYK"} else image.convert("RGB")


def _to_rgb(image: Image.Image) -> tuple[Image.Image, bytes]:
    """Return the picture in RGB or RGBA, and its colour profile; b"" is sRGB."""
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    profile = image.info.get("icc_profile") or b""
    if profile[16:20] == b"RGB ":
        image = image.convert(mode)
        if len(profile) <= _LARGEST_PROFILE:
            return image, profile
    if profile:
        with suppress(ImageCms.PyCMSError, OSError):  # of other colours than the picture's, or none
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            turned = ImageCms.profileToProfile(image, source, target, outputMode=mode)
            return turned or image.convert(mode), b""
    return image.convert(mode), b""


def _encode(image: Image.Image, profile: bytes) -> bytes:
    target = io.BytesIO()
    image.save(target, "WEBP", quality=_QUALITY, icc_profile=profile, exif=b"", xmp=b"")
    return target.getvalue()
