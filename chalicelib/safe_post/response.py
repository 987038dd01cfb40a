"""Reads one response from an untrusted receiver: `http.client` parses, what it gets is limited."""

from collections.abc import Callable
from http import client as http
from io import BufferedReader, RawIOBase
from typing import Any

LONGEST_HEAD = 16 * 1024
MOST_HEADERS = 100  # http.client's limit, with the blank line after them
LONGEST_BODY = 16 * 1024
# Chunk framing and padding may say much and mean little: reading ends here as well.
LONGEST_RAW_BODY = 4 * LONGEST_BODY

Receive = Callable[[int], bytes]
"""At most so many bytes, empty at the end. May raise OSError, TimeoutError included."""


class ProtocolError(Exception):
    """The response is not HTTP/1.1, or more comes than is read."""


class Response:
    """What was read so far; kept even if reading raises."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        """Names in lower case; repeated ones are joined with a comma (RFC 9110, 5.3)."""
        self.body = b""
        """The first 16 KB, as they came: we ask for no compression."""
        self.truncated = False
        """Whether the body was longer, or was cut off."""

    def read_head(self, receive: Receive) -> None:
        """Read the status line and the headers. Raises ProtocolError; OSError without an answer."""
        self._received = received = _Received(receive)
        self._answer = answer = http.HTTPResponse(received)  # type: ignore[arg-type]
        try:
            answer.begin()
            while answer.status < 200 and answer.status != 101:
                answer.headers = None  # type: ignore[assignment]  # begins again
                answer.begin()
        except (OSError, ProtocolError):
            raise
        except Exception:  # whatever fails in the parser of mail that http.client uses for headers
            said = f"The answer is not HTTP/1.1, or has more than {MOST_HEADERS} headers."
            raise ProtocolError(said) from None
        if received.ended:
            raise ProtocolError("The answer ended within its headers.")
        if answer.status == 101:
            raise ProtocolError("The receiver switched protocols without being asked.")
        for name, folded in answer.getheaders():
            before, value = self.headers.get(name.lower()), " ".join(folded.split())
            self.headers[name.lower()] = value if before is None else f"{before}, {value}"
        self.status = answer.status
        received.room = LONGEST_RAW_BODY

    def read_body(self) -> None:
        """Read the part of the body that is kept. Raises TimeoutError only.

        The status line decides: a broken body does not change the result.
        """
        try:
            self._read_body()
            self.truncated = len(self.body) > LONGEST_BODY or bool(self._answer.length)
        except TimeoutError:
            raise
        except (OSError, http.HTTPException, ProtocolError):
            self.truncated = True
        finally:
            self.body = self.body[:LONGEST_BODY]

    def _read_body(self) -> None:
        # The length is 0 where none follows, and counts down to it.
        while self._answer.length != 0 and (bytes_left := LONGEST_BODY + 1 - len(self.body)):
            piece = self._answer.read1(bytes_left)
            if not piece:
                return
            self.body += piece


class _Received(RawIOBase):
    """What is received, up to a limit: of the head first, then of the body."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.room = LONGEST_HEAD
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.room:
            raise ProtocolError(f"The answer's headers exceed {LONGEST_HEAD // 1024} KB.")
        data = self._receive(min(len(buffer), self.room))
        self.ended = not data
        self.room -= len(data)
        buffer[: len(data)] = data
        return len(data)

    def makefile(self, mode: str) -> BufferedReader:
        return _Lines(self)


class _Lines(BufferedReader):
    def readline(self, size: int | None = -1) -> bytes:
        """Read a line. A CR in it is a blank (RFC 9112, 2.2): `http.client` would parse two."""
        return super().readline(size).replace(b"\r\n", b"\n").replace(b"\r", b" ")
