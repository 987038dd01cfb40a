"""Receivers that speak TLS and never come to the point: records that carry no data."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[socket.socket], None]


class Server:
    """Serves every connection with a function, in a thread of its own."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._each, args=(connection,), daemon=True).start()

    def _each(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._serve(connection)
        except OSError:
            pass  # the sender has had enough


def tickets(certificate: ssl.SSLContext, number: int) -> Serve:
    """So many session tickets behind the handshake, then the answer."""

    def serve(connection: socket.socket) -> None:
        certificate.num_tickets = number
        with certificate.wrap_socket(connection, server_side=True) as secured:
            secured.recv(65_536)
            secured.sendall(ANSWER)

    return serve


def key_updates(certificate: ssl.SSLContext, keys: Path, number: int) -> Serve:
    """So many key updates (RFC 8446, 4.6.3) behind the request, then the answer, all of it written
    here record by record: `ssl` cannot send them. `keys`: where it logs its secrets."""
    certificate.minimum_version = ssl.TLSVersion.TLSv1_3
    certificate.num_tickets = 0
    certificate.keylog_filename = str(keys)

    def serve(connection: socket.socket) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secured = certificate.wrap_bio(incoming, outgoing, server_side=True)
        for step in (secured.do_handshake, lambda: secured.read(65_536)):
            while True:
                try:
                    step()
                    break
                except ssl.SSLWantReadError:
                    connection.sendall(outgoing.read())
                    incoming.write(connection.recv(65_536))
        logged = [line.split() for line in keys.read_text().splitlines()]
        (secret,) = [
            bytes.fromhex(line[2]) for line in logged if line[0] == "SERVER_TRAFFIC_SECRET_0"
        ]
        cipher = secured.cipher()
        assert cipher is not None
        for record in _records(secret, cipher[0], number):
            connection.sendall(record)
        connection.recv(1)

    return serve


def _records(secret: bytes, cipher: str, number: int) -> Iterator[bytes]:
    algorithm, length = (
        (hashes.SHA384(), 32) if cipher == "TLS_AES_256_GCM_SHA384" else (hashes.SHA256(), 16)
    )

    def derived(label: bytes, size: int) -> bytes:
        full = b"tls13 " + label
        info = struct.pack("!HB", size, len(full)) + full + b"\0"
        return HKDFExpand(algorithm, size, info).derive(secret)

    def record(content: bytes, kind: int) -> bytes:
        header = struct.pack("!BHH", 23, 0x0303, len(content) + 17)
        key, nonce = derived(b"key", length), derived(b"iv", 12)  # record 0 of this key
        return header + AESGCM(key).encrypt(nonce, content + bytes([kind]), header)

    for _ in range(number):
        yield record(b"\x18\x00\x00\x01\x00", 22)
        secret = derived(b"traffic upd", algorithm.digest_size)
    yield record(ANSWER, 23)
