"""Receivers that send endless TLS records without data."""

import hmac
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[socket.socket], None]


class Server:
    """Serves each connection with a function in a thread. Closing waits for the threads."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._serving: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join(30)
        self._listener.close()
        for serving in self._serving:
            serving.join(30)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            serving = threading.Thread(target=self._each, args=(connection,), daemon=True)
            self._serving.append(serving)
            serving.start()

    def _each(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._serve(connection)
        except OSError:
            pass  # the sender closed the connection


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


def key_updates(certificate: ssl.SSLContext, keys: Path, number: int) -> Serve:
    """`number` key updates (RFC 8446, 4.6.3), then the answer. `keys`: where secrets are logged."""
    return _written(certificate, keys, [(_KEY_UPDATE, _HANDSHAKE)] * number)


def empty_records(
    certificate: ssl.SSLContext, keys: Path, number: int, version: ssl.TLSVersion
) -> Serve:
    """`number` empty records, then the answer."""
    return _written(certificate, keys, [(b"", _DATA)] * number, version)


def renegotiations(
    certificate: ssl.SSLContext, keys: Path, number: int, heard: list[bytes] | None = None
) -> Serve:
    """`number` renegotiation requests (RFC 5246, 7.4.1.1), then the answer. `heard`: the data that
    the sender returned."""
    asked = [(bytes(4), _HANDSHAKE)] * number
    return _written(certificate, keys, asked, ssl.TLSVersion.TLSv1_2, heard)


def kinds(heard: list[bytes]) -> set[int]:
    """The kinds of the records that were heard: 21 is an alert, 22 a handshake."""
    said, found = b"".join(heard), set()
    while said:
        found.add(said[0])
        said = said[5 + int.from_bytes(said[3:5]) :]
    return found


_HANDSHAKE, _DATA = 22, 23
_KEY_UPDATE = b"\x18\x00\x00\x01\x00"


class _Secured:
    """The server's side of TLS, in memory."""

    def __init__(self, certificate: ssl.SSLContext) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = certificate.wrap_bio(self.incoming, self.outgoing, server_side=True)

    def shake(self, connection: socket.socket, send: Callable[[bytes], None]) -> bytes:
        """Reads the request. Returns everything that was sent."""
        sent = b""
        for step in (self.tls.do_handshake, lambda: self.tls.read(65_536)):
            while True:
                try:
                    step()
                    break
                except ssl.SSLWantReadError:
                    send(said := self.outgoing.read())
                    sent += said
                    self.incoming.write(connection.recv(65_536))
        return sent


def _written(
    certificate: ssl.SSLContext,
    keys: Path,
    said: list[tuple[bytes, int]],
    version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
    heard: list[bytes] | None = None,
) -> Serve:
    """Sends each (content, kind) in `said` as a record after the request, then the answer. The
    records are encrypted here, because `ssl` cannot send them."""
    certificate.minimum_version = certificate.maximum_version = version
    certificate.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")  # of TLS 1.2
    certificate.num_tickets = 0
    certificate.keylog_filename = str(keys)

    def serve(connection: socket.socket) -> None:
        sent = _Secured(certificate).shake(connection, connection.sendall)
        logged = dict(line.split(maxsplit=1) for line in keys.read_text().splitlines())
        reader = threading.Thread(target=_read_all, args=(connection, heard), daemon=True)
        reader.start()
        records = _records_1_3 if version is ssl.TLSVersion.TLSv1_3 else _records_1_2
        for record in records(logged, sent, [*said, (ANSWER, _DATA)]):
            connection.sendall(record)
        reader.join(30)  # a connection that is closed earlier is reset

    return serve


def _read_all(connection: socket.socket, heard: list[bytes] | None) -> None:
    with suppress(OSError):
        while data := connection.recv(65_536):
            if heard is not None:
                heard.append(data)


def _records_1_3(
    logged: dict[str, str], _: bytes, said: Iterable[tuple[bytes, int]]
) -> Iterator[bytes]:
    secret = bytes.fromhex(logged["SERVER_TRAFFIC_SECRET_0"].split()[1])
    algorithm, length = (hashes.SHA384(), 32) if len(secret) == 48 else (hashes.SHA256(), 16)
    number = 0

    def derived(label: bytes, size: int) -> bytes:
        full = b"tls13 " + label
        info = struct.pack("!HB", size, len(full)) + full + b"\0"
        return HKDFExpand(algorithm, size, info).derive(secret)

    for content, kind in said:
        header = struct.pack("!BHH", _DATA, 0x0303, len(content) + 17)
        nonce = int.from_bytes(derived(b"iv", 12)) ^ number
        sealing = AESGCM(derived(b"key", length))
        sealed = sealing.encrypt(nonce.to_bytes(12), content + bytes([kind]), header)
        yield header + sealed
        number += 1
        if content == _KEY_UPDATE:
            secret, number = derived(b"traffic upd", algorithm.digest_size), 0


def _records_1_2(
    logged: dict[str, str], sent: bytes, said: Iterable[tuple[bytes, int]]
) -> Iterator[bytes]:
    client, master = map(bytes.fromhex, logged["CLIENT_RANDOM"].split())
    seed = b"key expansion" + sent[11:43] + client  # the server's random, of its first message
    block, state = b"", seed
    while len(block) < 40:  # RFC 5246, 5: two keys, two beginnings of nonces
        state = hmac.digest(master, state, "sha256")
        block += hmac.digest(master, state + seed, "sha256")
    sealing, nonce = AESGCM(block[16:32]), block[36:40]
    for number, (content, kind) in enumerate(said, 1):  # 0 ended the handshake
        own = struct.pack("!Q", number)
        about = own + struct.pack("!BHH", kind, 0x0303, len(content))
        sealed = own + sealing.encrypt(nonce + own, content, about)
        yield struct.pack("!BHH", kind, 0x0303, len(sealed)) + sealed
