"""From an uploaded file to what browsers show. Content decides, never name or type."""

import io
import struct
import subprocess
import sys
import zlib
from typing import Any

import pytest
from PIL import Image, ImageCms, ImageStat

from chalicelib.files import images
from chalicelib.files.model import FileError
from tests.files.build import Darkroom, encoded, exif, p3_profile, picture

RED, BLUE = (255, 0, 0), (0, 0, 255)


def rendered(data: bytes, size: str = "large") -> Image.Image:
    return Image.open(io.BytesIO(images.render_picture(data).renditions[size]))


def refused(data: bytes) -> FileError:
    with pytest.raises(images.NoPicture) as caught:
        images.render_picture(data)
    return caught.value.error


def is_like(pixel: Any, colour: tuple[int, ...], within: int = 12) -> bool:
    """WebP is lossy: colours of single pixels differ a little."""
    return all(abs(one - other) <= within for one, other in zip(pixel, colour, strict=True))


def png_of_size(width: int, height: int) -> bytes:
    """Says that it has this size, and has hardly any data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(400_000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def test_a_picture_gets_three_sizes_none_larger_than_itself(darkroom: Darkroom) -> None:
    large = darkroom.uploaded(picture((3_200, 1_600), "JPEG"))
    assert large["status"] == "READY"
    assert (large["width"], large["height"], large["contentType"]) == (3_200, 1_600, "image/jpeg")
    sizes = {name: darkroom.seen(large, name).size for name in ("small", "medium", "large")}
    assert sizes == {"small": (160, 80), "medium": (640, 320), "large": (1_600, 800)}
    little = darkroom.uploaded(picture((100, 40)))
    assert {darkroom.seen(little, name).size for name in little["sizes"]} == {(100, 40)}


def test_a_picture_of_a_phone_is_upright_and_tells_no_place(darkroom: Darkroom) -> None:
    """Orientation 6: the camera was turned, so that the left half of the file is on top."""
    shown = darkroom.uploaded(picture((640, 480), "JPEG", exif=exif(6), quality=95))
    assert (shown["width"], shown["height"]) == (480, 640)
    for size in ("small", "medium", "large"):
        data = darkroom.published(shown, size)
        seen = Image.open(io.BytesIO(data))
        assert is_like(seen.getpixel((seen.width // 2, seen.height // 8)), RED)
        assert is_like(seen.getpixel((seen.width // 2, seen.height * 7 // 8)), BLUE)
        assert not seen.getexif() and "xmp" not in seen.info
        # Not by Pillow: the chunks of the file itself.
        assert webp_chunks(data) <= {b"VP8 ", b"VP8L", b"VP8X", b"ICCP", b"ALPH"}
        assert b"Exif" not in data and b"A camera" not in data


def webp_chunks(data: bytes) -> set[bytes]:
    """The names of the chunks of a WebP (its container specification)."""
    found, at = set(), 12
    while at < len(data):
        name, (size,) = data[at : at + 4], struct.unpack("<I", data[at + 4 : at + 8])
        found.add(name)
        at += 8 + size + size % 2
    return found


def test_a_colour_profile_of_rgb_is_kept() -> None:
    profile = p3_profile()
    data = picture((64, 48), icc_profile=profile)
    for size in ("small", "large"):
        assert rendered(data, size).info["icc_profile"] == profile


def test_colours_that_browsers_do_not_show_become_srgb() -> None:
    cmyk = rendered(picture((64, 48), "JPEG", "CMYK", quality=95))
    assert cmyk.mode == "RGB" and "icc_profile" not in cmyk.info
    assert is_like(cmyk.getpixel((16, 24)), RED, 40) and is_like(cmyk.getpixel((48, 24)), BLUE, 40)
    grey = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    white = encoded(Image.new("L", (32, 32), 255), "PNG", icc_profile=grey)
    assert is_like(rendered(white).getpixel((16, 16)), (255, 255, 255))


@pytest.mark.parametrize("value", [0, 1 << 8, 1 << 15, (1 << 16) - 1])
def test_16_bit_become_8(value: int) -> None:
    deep = Image.new("I;16", (32, 32), value)
    assert is_like(rendered(encoded(deep, "PNG")).getpixel((16, 16)), (value >> 8,) * 3)


def test_a_jpeg_of_endless_scans_is_refused_before_it_is_decoded() -> None:
    """Each goes through all pixels: 300 KB with 2,000 of them would take a minute."""
    grey = encoded(Image.new("L", (64, 64), 128), "JPEG", progressive=True)
    scan = grey[grey.rfind(b"\xff\xda") : -2]
    for between in (b"", b"\xff", b"\x00"):  # decoders pass by what is between
        data = grey[:-2] + (between + scan) * 100 + b"\xff\xd9"
        assert refused(data) is FileError.DAMAGED
    few = grey[:-2] + scan * 20 + b"\xff\xd9"
    assert rendered(few).size == (64, 64)
    video = few + scan * 200  # phones write one behind the picture
    assert rendered(video).size == (64, 64)


def test_a_transparent_picture_stays_transparent() -> None:
    clear = Image.new("RGBA", (64, 64), (255, 0, 0, 0))
    clear.paste((255, 0, 0, 255), (0, 0, 32, 64))
    palette = clear.convert("P")
    palette.info["transparency"] = palette.getpixel((48, 32))
    for data in (encoded(clear, "PNG"), encoded(clear, "WEBP"), encoded(palette, "PNG")):
        seen = rendered(data)
        assert seen.mode == "RGBA"
        assert (seen.getpixel((48, 32))[3], seen.getpixel((8, 32))[3]) == (0, 255)  # type: ignore[index]


def test_an_animation_becomes_its_first_picture() -> None:
    frames = [Image.new("RGB", (32, 32), colour) for colour in (RED, BLUE)]
    moving = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    seen = rendered(moving)
    assert getattr(seen, "n_frames", 1) == 1
    assert is_like(seen.getpixel((16, 16)), RED)


REFUSED = {
    "empty": (b"", "not_an_image"),
    "html": (b"<!DOCTYPE html><script>alert(1)</script>", "not_an_image"),
    "text": (b"II, and more words", "not_an_image"),
    "svg": (
        b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>',
        "type_not_allowed",
    ),
    "pdf": (b"%PDF-1.7\n", "type_not_allowed"),
    "heic": (b"\0\0\0\x18ftypheic\0\0\0\0", "type_not_allowed"),
    "gif": (encoded(Image.new("P", (32, 32)), "GIF"), "type_not_allowed"),
    "tiff": (encoded(Image.new("RGB", (32, 32)), "TIFF"), "type_not_allowed"),
    "truncated jpeg": (picture((640, 480), "JPEG")[:-900], "damaged"),
    "truncated png": (picture((640, 480))[:-200], "damaged"),
    "only a beginning": (b"\xff\xd8\xff", "damaged"),
    "little": (picture((15, 15)), "too_small"),
    "long": (png_of_size(16_001, 20), "too_many_pixels"),
    "many": (png_of_size(8_350, 6_000), "too_many_pixels"),
    "bomb": (png_of_size(60_000, 60_000), "too_many_pixels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_picture_fails_with_its_reason(name: str) -> None:
    data, error = REFUSED[name]
    assert refused(data) == error


def moving_webp(side: int) -> bytes:
    """Says that it has this width and height, and has two little pictures."""
    frames = [Image.new("RGB", (32, 32), colour) for colour in (RED, BLUE)]
    data = bytearray(encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:]))
    at = data.index(b"VP8X") + 12
    data[at : at + 6] = (side - 1).to_bytes(3, "little") * 2
    return bytes(data)


def test_a_file_that_is_refused_is_published_nowhere(darkroom: Darkroom) -> None:
    data, _ = REFUSED["html"]
    failed = darkroom.uploaded(data, name="cup.jpg")
    assert (failed["status"], failed["error"], failed["sizes"]) == ("FAILED", "not_an_image", None)
    assert darkroom.stored() == []
    assert [key for key in darkroom.stored("backroom-test-bucket") if key[0] == "p"] == []


def test_a_page_with_many_comments_is_looked_at_once() -> None:
    """By the time of one that has few, not by twice the time for each comment more."""
    assert refused(b"<!---->" * 120 + b"<html>") == "not_an_image"
    assert refused(b"<?xml?>" + b"<!-- A ring -->\n" * 40 + b"<svg>") == "type_not_allowed"


def test_a_photo_with_odd_exif_is_shown_upright() -> None:
    """It has orientation 6, and a text for a number."""
    photo = picture((64, 48), "JPEG", exif=exif(6), quality=95)
    data = photo.replace(b"\x01\x0f\x00\x02", b"\x01\x01\x00\x02", 1)
    assert data != photo
    assert images.render_picture(data)[1:3] == (48, 64)
    assert is_like(rendered(data).getpixel((24, 8)), RED)


@pytest.mark.parametrize("broken", ["getexif", "resize", "save"])
def test_any_error_of_pillow_has_an_outcome(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = picture((320, 240))

    def fail(*given: Any, **options: Any) -> None:
        raise struct.error("required argument is not an integer")

    monkeypatch.setattr(Image.Image, broken, fail)
    monkeypatch.setattr("PIL.PngImagePlugin.PngImageFile.getexif", Image.Image.getexif)
    if broken == "getexif":
        assert images.render_picture(data).width == 320
    else:
        assert refused(data) == "damaged"


def test_a_worker_without_memory_fails_and_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any, **options: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(MemoryError):
        images.render_picture(picture())


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P"])
def test_a_large_colour_profile_becomes_srgb(mode: str) -> None:
    large = p3_profile() + bytes(100_000)
    seen = rendered(picture((64, 48), mode=mode, icc_profile=large))
    assert "icc_profile" not in seen.info
    junk = picture((64, 48), mode=mode, icc_profile=bytes(16) + b"RGB " + bytes(100_000))
    assert "icc_profile" not in rendered(junk).info
    if mode != "L":
        assert is_like(seen.convert("RGB").getpixel((16, 24)), RED)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["bomb", "png", "jpeg", "alpha", "webp"])
def test_the_largest_pictures_need_less_than_a_gigabyte(name: str, tmp_path: Any) -> None:
    size = (7_000, 7_000)
    made = {
        "bomb": lambda: png_of_size(60_000, 60_000),
        "png": lambda: picture(size),
        "jpeg": lambda: picture(size, "JPEG"),
        "alpha": lambda: picture(size, mode="RGBA"),
        "webp": lambda: moving_webp(7_000),
    }
    path = tmp_path / "file"
    path.write_bytes(made[name]())
    code = (
        "import re, sys; from contextlib import suppress; from chalicelib.files import images"
        "\nwith suppress(images.NoPicture): images.render_picture(open(sys.argv[1], 'rb').read())"
        # Not `ru_maxrss`, which is the parent's if that had more.
        "\nprint(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 1_000_000  # KB


def test_the_tones_of_a_picture_are_those_of_its_original() -> None:
    """Compared by pixels with what Pillow reads of the file itself."""
    image = Image.linear_gradient("L").convert("RGB")
    seen = rendered(encoded(image, "JPEG", quality=95)).convert("L")
    assert abs(ImageStat.Stat(seen).mean[0] - ImageStat.Stat(image.convert("L")).mean[0]) < 2
