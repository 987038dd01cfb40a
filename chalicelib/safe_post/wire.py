"""The bytes between us and a receiver, with a deadline and a size limit.

Both hold inside TLS as well. OpenSSL reads from memory here, never from the socket: what it makes
of records that carry no data (key updates, tickets, renegotiation) takes it a piece of 16 KB at a
time, with the deadline and the limit looked at in between.
"""

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from chalicelib.safe_post.response import ProtocolError

# At most 80 KB of this are the answer itself. The rest is for the handshake and for framing: a
# receiver that sends a byte a record has the most of it.
MOST_RECEIVED: Final = 1 << 20
_PIECE: Final = 16_384

Result = TypeVar("Result")


def seconds_left(deadline: float) -> float:
    """Return the seconds until then, by the monotonic clock. Raises TimeoutError without any."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class Wire:
    """A connection as it is. Everything raises TimeoutError at the deadline, or OSError."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._room = MOST_RECEIVED

    def send(self, data: bytes) -> None:
        self._connection.settimeout(seconds_left(self._deadline))
        self._connection.sendall(data)

    def receive(self, size: int) -> bytes:
        """Return the next bytes, none at the end. Raises ProtocolError beyond MOST_RECEIVED."""
        self._connection.settimeout(seconds_left(self._deadline))
        data = self._connection.recv(size)
        self._room -= len(data)
        if self._room < 0:
            raise ProtocolError("The receiver sent more than 1 MB.")
        return data


class Secured:
    """TLS over a Wire. Everything raises what the Wire raises, or ssl.SSLError."""

    def __init__(self, wire: Wire, context: ssl.SSLContext, host: str) -> None:
        self._wire = wire
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    def shake_hands(self) -> None:
        self._until_done(self._tls.do_handshake)

    def send(self, data: bytes) -> None:
        while data:
            data = data[self._until_done(partial(self._tls.write, data[:_PIECE])) :]

    def receive(self, size: int) -> bytes:
        """Return the next bytes, none at the end.

        The connection may end before TLS was closed.
        """
        try:
            return self._until_done(partial(self._tls.read, size))
        except ssl.SSLEOFError:
            return b""

    def _until_done(self, step: Callable[[], Result]) -> Result:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
            except ssl.SSLError:
                with suppress(OSError):
                    self._flush()  # the alert that says why
                raise
            else:
                self._flush()
                return result
            if data := self._wire.receive(_PIECE):
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._wire.send(self._outgoing.read())
