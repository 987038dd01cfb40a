"""Bytes of any encoding, in pieces of any size, as blocks of physical lines in constant memory."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

LARGEST_LINE: Final = 1 << 20
_BLOCK: Final = 1 << 18
_PREFIX: Final = 4096


def _as_control(error: UnicodeError) -> tuple[str, int]:
    """The five bytes that cp1252 leaves open become C1 controls, as browsers read them."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("backroom.c1", _as_control)


class CutLine(str):
    """The start of a line longer than a row may be; `quotes` counts those in all of it."""

    quotes: int


def blocks(
    pieces: Iterable[bytes], given: str, bare_returns: bool
) -> Iterator[tuple[list[str], list[int]]]:
    """Whole physical lines with their ends, and how many bytes each takes in the file."""
    # Except in UTF-16, ASCII's byte for a line end never has another meaning.
    utf16 = given.startswith("utf-16")
    encoding = "utf-8" if utf16 else given
    held = bytearray()
    cut: CutLine | None = None
    cut_size = 0
    parts: Iterator[bytes] = (p[i : i + _BLOCK] for p in pieces for i in range(0, len(p), _BLOCK))
    if utf16:
        parts = _transcoded(parts, given)
    if bare_returns:
        # Only in UTF-8: in others the byte may be part of a character, such as č in UTF-16.
        parts = (part.replace(b"\r", b"\n") for part in parts)
    for part in parts:
        piece = part
        if cut is not None:
            end = piece.find(b"\n") + 1 or len(piece)
            cut.quotes += piece.count(b'"', 0, end)
            cut_size += _size(piece[:end], utf16)
            if not piece.endswith(b"\n", 0, end):
                continue
            yield [cut], [cut_size]
            cut, piece = None, piece[end:]
        held += piece
        if len(held) < _BLOCK:
            continue
        end = held.rfind(b"\n") + 1
        if end:
            yield _lines(bytes(held[:end]), encoding, utf16)
            del held[:end]
        elif len(held) > LARGEST_LINE and _size(held, utf16) > LARGEST_LINE:
            cut, cut_size = _cut(bytes(held), encoding), _size(held, utf16)
            held.clear()
    if cut is not None:
        yield [cut], [cut_size]
    elif held:
        yield _lines(bytes(held), encoding, utf16)


def _transcoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, cut between characters."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _size(text: bytes | bytearray, utf16: bool) -> int:
    """How many bytes of the file a text takes, which of UTF-16 is at hand in UTF-8."""
    return len(text.decode().encode("utf-16-le")) if utf16 else len(text)


def _lines(block: bytes, encoding: str, utf16: bool) -> tuple[list[str], list[int]]:
    raw = list(io.BytesIO(block))
    try:
        lines = list(io.StringIO(block.decode(encoding), newline="\n"))
    except UnicodeDecodeError:
        # Line by line, so that one bad line does not change how its neighbours are read.
        lines = [_decoded(line, encoding) for line in raw]
    sizes = [_size(line, utf16) for line in raw] if utf16 else list(map(len, raw))
    if max(sizes) > LARGEST_LINE:
        lines = [
            _cut(line, encoding) if size > LARGEST_LINE else text
            for line, size, text in zip(raw, sizes, lines, strict=True)
        ]
    return lines, sizes


def _decoded(line: bytes, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        if encoding == "cp1252":
            return line.decode(encoding, "backroom.c1")
        # The NUL makes its row an error (`sheet.unreadable`). The line remains one line.
        return line.decode(encoding, "replace").rstrip("\r\n") + "\0\n"


def _cut(line: bytes, encoding: str) -> CutLine:
    cut = CutLine(_decoded(line[:_PREFIX], encoding))
    cut.quotes = line.count(b'"')
    return cut
