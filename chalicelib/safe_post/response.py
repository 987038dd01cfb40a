"""Reads one HTTP/1.1 response from an untrusted receiver, up to size limits."""

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

LONGEST_HEAD = 16 * 1024
MOST_HEADERS = 100
LONGEST_BODY = 16 * 1024
# Chunk framing, compression and padding may say much and mean little: reading ends here as well.
LONGEST_RAW_BODY = 4 * LONGEST_BODY

Receive = Callable[[], bytes]
"""The next bytes of the connection; empty at its end. May raise OSError, TimeoutError included."""

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?")
_BLANK_LINE = re.compile(rb"\n\r?\n")


class ProtocolError(Exception):
    """The response is not HTTP/1.1, or its headers do not end."""


class _Broken(Exception):
    """The body does not arrive as its headers promised."""


class _Decoder(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Response:
    """What was read so far; kept even if `read` raises."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        """Names in lower case; repeated ones are joined with a comma (RFC 9110, 5.3)."""
        self.body = b""
        """The first 16 KB, decoded if they came as gzip or deflate."""
        self.truncated = False
        """Whether the body was longer, was cut off, or could not be decoded."""
        self._unread = b""

    def read(self, receive: Receive) -> None:
        """Reads the head, then the stored part of the body.

        The status line decides: a broken body after it does not change the result.
        Raises ProtocolError, and whatever `receive` raises before the head is complete; later only
        TimeoutError.
        """
        self._read_head(receive)
        try:
            self._read_body(receive)
        except TimeoutError:
            raise
        except (OSError, _Broken, zlib.error):
            self.truncated = True

    def _read_head(self, receive: Receive) -> None:
        room = LONGEST_HEAD
        status = 100
        while status < 200:
            head = self._until_blank_line(receive, room)
            room -= len(head)
            lines = head.replace(b"\r\n", b"\n").split(b"\n")
            status_line = _STATUS_LINE.fullmatch(lines[0])
            if not status_line:
                raise ProtocolError("The answer is not HTTP/1.1.")
            status = int(status_line[1])
            if status == 101:
                raise ProtocolError("The receiver switched protocols without being asked.")
        if len(lines) > MOST_HEADERS:
            raise ProtocolError(f"The answer has more than {MOST_HEADERS} headers.")
        for line in lines[1:]:
            name, colon, value = line.decode("latin-1").partition(":")
            name, value = name.strip().lower(), value.strip()
            if colon and name:
                before = self.headers.get(name)
                self.headers[name] = value if before is None else f"{before}, {value}"
        self.status = status

    def _until_blank_line(self, receive: Receive, room: int) -> bytes:
        data = self._unread
        searched = 0
        while not (end := _BLANK_LINE.search(data, max(0, searched - 2))) and len(data) <= room:
            searched = len(data)
            more = receive()
            if not more and not data:
                raise ConnectionResetError("The receiver closed the connection without an answer.")
            if not more:
                raise ProtocolError("The answer ended within its headers.")
            data += more
        if not end or end.start() > room:
            raise ProtocolError(f"The answer's headers exceed {LONGEST_HEAD // 1024} KB.")
        self._unread = data[end.end() :]
        return data[: end.start()].removesuffix(b"\r")

    def _read_body(self, receive: Receive) -> None:
        if self.status in (204, 304):
            return
        decoder = _decoder(self.headers.get("content-encoding", ""))
        for piece in self._pieces(_Wire(self._unread, receive)):
            room = LONGEST_BODY + 1 - len(self.body)
            shown = decoder.decompress(piece, room) if decoder else piece[:room]
            self.body += shown
            if len(self.body) > LONGEST_BODY:
                self.body = self.body[:LONGEST_BODY]
                self.truncated = True
                return

    def _pieces(self, wire: "_Wire") -> Iterator[bytes]:
        coding = self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length", "")
        if coding.endswith("chunked"):
            return _chunks(wire)
        if re.fullmatch(r"[0-9]{1,18}", length) and not coding:
            return wire.take(int(length))
        return wire.rest()


class _Wire:
    """The bytes after the head, up to the limit."""

    def __init__(self, unread: bytes, receive: Receive) -> None:
        self._unread = unread
        self._receive = receive
        self._room = LONGEST_RAW_BODY - len(unread)

    def _more(self) -> bytes:
        if self._room <= 0:
            raise _Broken("The body exceeds what is read of it.")
        data = self._receive()
        self._room -= len(data)
        return data

    def rest(self) -> Iterator[bytes]:
        data, self._unread = self._unread, b""
        while data or (data := self._more()):
            yield data
            data = b""

    def take(self, length: int) -> Iterator[bytes]:
        while length > 0:
            data = self._unread or self._more()
            if not data:
                raise _Broken("The body is shorter than its length says.")
            piece, self._unread = data[:length], data[length:]
            length -= len(piece)
            yield piece

    def line(self) -> bytes:
        while b"\n" not in self._unread:
            data = self._more()
            if not data or len(self._unread) > 1_024:
                raise _Broken("A chunk has no size.")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line.strip()


def _chunks(wire: _Wire) -> Iterator[bytes]:
    while True:
        size = wire.line().partition(b";")[0].strip()
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size):
            raise _Broken("A chunk has no size.")
        if int(size, 16) == 0:
            return
        yield from wire.take(int(size, 16))
        wire.line()


def _decoder(encoding: str) -> _Decoder | None:
    """For gzip and deflate; other encodings, of which we ask for none, stay as they came."""
    if encoding.lower() in ("gzip", "x-gzip"):
        return zlib.decompressobj(31)
    return _Deflate() if encoding.lower() == "deflate" else None


class _Deflate:
    """Some servers send deflate with the zlib header that RFC 9110 asks for, some without."""

    def __init__(self) -> None:
        self._inner: _Decoder | None = None

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        if self._inner is None:
            wrapped = data[:1] and data[0] & 0x0F == 8 and data[0] >> 4 <= 7
            self._inner = zlib.decompressobj(15 if wrapped else -15)
        return self._inner.decompress(data, max_length)
