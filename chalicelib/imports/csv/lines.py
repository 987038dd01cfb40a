"""Bytes of any encoding, in pieces of any size, as blocks of physical lines in constant memory."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

LARGEST_LINE: Final = 1 << 20
_BLOCK: Final = 1 << 18
_PREFIX: Final = 4096


def blocks(
    pieces: Iterable[bytes], given: str, bare_returns: bool
) -> Iterator[tuple[list[str], list[int]]]:
    """Whole physical lines with their ends, and how many bytes each takes in the file. Of one that
    is longer than LARGEST_LINE only the beginning, and one more quote if it has an odd number of
    them further on."""
    # Except in UTF-16, ASCII's byte for a line end never has another meaning.
    utf16 = given.startswith("utf-16")
    encoding = "utf-8" if utf16 else given
    parts: Iterator[bytes] = (p[i : i + _BLOCK] for p in pieces for i in range(0, len(p), _BLOCK))
    if utf16:
        parts = _transcoded(parts, given)
    if bare_returns:
        # Only in UTF-8: in others the byte may be part of a character, such as č in UTF-16.
        parts = (part.replace(b"\r", b"\n") for part in parts)
    held = bytearray()
    left_out = quotes = 0  # bytes after the beginning of a long line, and the quotes in them
    for part in parts:
        held += part
        if len(held) < _BLOCK:
            continue
        end = held.rfind(b"\n") + 1
        if end:
            yield _lines(bytes(held[:end]), encoding, utf16, left_out, quotes)
            left_out = quotes = 0
            del held[:end]
        elif len(held) > LARGEST_LINE and _size(held, utf16) > LARGEST_LINE:
            # Between two characters of UTF-8, whose size in UTF-16 is counted.
            ends = (at for at in range(_PREFIX, _PREFIX - 4, -1) if held[at] & 0xC0 != 0x80)
            rest = held[next(ends, _PREFIX) :]
            left_out += _size(rest, utf16)
            quotes += rest.count(b'"')
            del held[-len(rest) :]
    if held:
        yield _lines(bytes(held), encoding, utf16, left_out, quotes)


def _transcoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, cut between characters."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _size(text: bytes | bytearray, utf16: bool) -> int:
    """How many bytes of the file a text takes, which of UTF-16 is at hand in UTF-8."""
    return len(text.decode().encode("utf-16-le")) if utf16 else len(text)


def _lines(
    block: bytes, encoding: str, utf16: bool, left_out: int, quotes: int
) -> tuple[list[str], list[int]]:
    """`left_out`, `quotes`: bytes of the first line that are not in the block, and their quotes."""
    raw = list(io.BytesIO(block))
    try:
        lines = list(io.StringIO(block.decode(encoding), newline="\n"))
    except UnicodeDecodeError:
        # Line by line, so that one bad line does not change how its neighbours are read.
        lines = [_decoded(line, encoding) for line in raw]
    sizes = [_size(line, utf16) for line in raw] if utf16 else list(map(len, raw))
    sizes[0] += left_out
    for at, size in enumerate(sizes) if max(sizes) > LARGEST_LINE else ():
        if size > LARGEST_LINE:
            further = raw[at].count(b'"', _PREFIX) + (0 if at else quotes)
            start = _decoded(raw[at][:_PREFIX], encoding).rstrip("\n")
            lines[at] = start + '"' * (further % 2)
    return lines, sizes


def _decoded(line: bytes, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        # The NUL makes its row an error (`sheet.unreadable`): in the cell, as no text can be after
        # a closing quote. The line remains one line.
        text = line.decode(encoding, "replace").rstrip("\r\n")
        return text.replace("\ufffd", "\ufffd\0") + "\n"
