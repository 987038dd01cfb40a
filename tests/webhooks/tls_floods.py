"""What a `Receiver` serves: TLS records without data, or a byte at a time."""

import socket
import ssl
import time
from collections.abc import Callable

from tests.webhooks.receiver import Serve

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def tickets(certificate: ssl.SSLContext, number: int) -> Serve:
    """`number` session tickets after the handshake, then the answer."""

    def serve(connection: socket.socket) -> None:
        certificate.num_tickets = number
        with certificate.wrap_socket(connection, server_side=True) as secured:
            secured.recv(65_536)
            secured.sendall(ANSWER)

    return serve


def a_byte_at_a_time(certificate: ssl.SSLContext, pause: float) -> Serve:
    """Sends all TLS data in packets of one byte."""

    def serve(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send(data: bytes) -> None:
            for byte in data:
                connection.sendall(bytes([byte]))
                time.sleep(pause)

        secured = _Secured(certificate)
        secured.shake(connection, send)
        secured.tls.write(ANSWER)
        send(secured.outgoing.read())

    return serve


class _Secured:
    """The server's side of TLS, in memory."""

    def __init__(self, certificate: ssl.SSLContext) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = certificate.wrap_bio(self.incoming, self.outgoing, server_side=True)

    def shake(self, connection: socket.socket, send: Callable[[bytes], None]) -> None:
        """Reads the request."""
        for step in (self.tls.do_handshake, lambda: self.tls.read(65_536)):
            while True:
                try:
                    step()
                    break
                except ssl.SSLWantReadError:
                    send(self.outgoing.read())
                    self.incoming.write(connection.recv(65_536))
