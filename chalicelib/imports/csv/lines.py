"""Bytes of any encoding, in pieces of any size, as blocks of physical lines in constant memory."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

LARGEST_LINE: Final = 1 << 20  # characters
_BLOCK: Final = 1 << 18  # bytes
_LONGEST: Final = 8 * (LARGEST_LINE + 1)  # bytes: more than LARGEST_LINE characters


def read_lines(pieces: Iterable[bytes], encoding: str, bare_returns: bool) -> Iterator[list[str]]:
    """Yield blocks of whole physical lines with their ends.

    Of a line that is much longer than LARGEST_LINE only the beginning and the end are there, still
    longer than that, with one more quote if what is left out has an odd number of them.
    """
    parts: Iterator[bytes] = (p[i : i + _BLOCK] for p in pieces for i in range(0, len(p), _BLOCK))
    # Except in UTF-16, ASCII's byte for a line end never has another meaning.
    if encoding.startswith("utf-16"):
        parts, encoding = _transcode(parts, encoding), "utf-8"
    if bare_returns:
        # Only in UTF-8: in others the byte may be part of a character, such as č in UTF-16.
        parts = (part.replace(b"\r", b"\n") for part in parts)
    held = bytearray()
    quotes = 0  # of the first line that is held, in what was left out of it
    for part in parts:
        held += part
        end = held.rfind(b"\n") + 1 if len(held) >= _BLOCK else 0
        if end:
            yield _decode_lines(bytes(held[:end]), encoding, quotes)
            quotes = 0
            del held[:end]
        elif len(held) > _LONGEST:
            quotes += held.count(b'"', _LONGEST)
            del held[_LONGEST:]
    if held:
        yield _decode_lines(bytes(held), encoding, quotes)


def _transcode(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the same text in UTF-8, cut between characters.

    Bytes that are no text become U+FFFD.
    """
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _decode_lines(block: bytes, encoding: str, quotes: int) -> list[str]:
    """Return the lines of a block, each with its line end. A line ends at LF alone.

    `block` is not empty. If the encoding does not fit, each line is decoded by itself
    (`_decode_line`). `quotes`: how many quotation marks are in what was left out of the first line.
    If they are odd, one is added after the end of that line, so that it opens or closes a cell as
    the whole line did.
    """
    try:
        lines = list(io.StringIO(block.decode(encoding), newline="\n"))
    except UnicodeDecodeError:
        # Line by line, so that one bad line does not change how its neighbours are read.
        lines = [_decode_line(line, encoding) for line in io.BytesIO(block)]
    lines[0] += '"' * (quotes % 2)
    return lines


def _decode_line(line: bytes, encoding: str) -> str:
    """Return a line; one with bytes that the encoding lacks has U+FFFD and NUL in their place.

    Such a line ends in LF.
    """
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        # The NUL makes its row an error (`sheet.find_row_error`): in the cell, as no text can be
        # after a closing quote. The line remains one line.
        text = line.decode(encoding, "replace").rstrip("\r\n")
        return text.replace("\ufffd", "\ufffd\0") + "\n"
