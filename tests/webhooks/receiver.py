"""A webhook receiver on loopback. The path of a request determines its answer. It keeps requests.

    with Receiver() as receiver: … receiver.url("/nth/3") … receiver.requests

/ok                     200
/status/503             that status; ?body=text
/nth/3                  500 until the third request of the same delivery, then 200
/as/shop                200, or what is set: answers["shop"] = 503; 0: never
/busy?after=120         429 with Retry-After; ?status=503
/gone                   410
/redirect?to=URL        301
/hang                   reads the request and never answers
/reset                  cuts the connection off (RST);  /close ends it without an answer
/big?bytes=1000000      500 with a body of that size; ?status=200
/headers                headers without an end
/drip?pace=1            200, then one byte of the body a second;  /drip-head the same from byte one
/garbage                something that is not HTTP
Every path takes ?delay=0.5, seconds to wait before it does anything. `serve`: what it does with a
connection instead.
"""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit

Serve = Callable[[socket.socket], object]


@dataclass(frozen=True)
class Received:
    """One request, with the original header names and body bytes."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def delivery(self) -> str:
        return self.headers.get("X-Service-Delivery", "")


@dataclass
class Receiver:
    """Listens from its creation; each connection has a thread and carries one request."""

    port: int = 0
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    name: str = ""
    serve: Serve | None = None
    requests: list[Received] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._arrived = threading.Condition()
        self._closed = threading.Event()
        self._listener = socket.create_server((self.host, self.port), backlog=512)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed.set()
        # A listener that a thread waits on is only woken by a shutdown.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def url(self, path: str = "/ok", scheme: str = "") -> str:
        scheme = scheme or ("https" if self.tls else "http")
        return f"{scheme}://{self.name or self.host}:{self.port}{path}"

    def wait_for(self, count: int, timeout: float = 30) -> list[Received]:
        """All requests, once there are `count` or more. Raises TimeoutError."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, timeout):
                raise TimeoutError(f"{len(self.requests)} of {count} requests came.")
            return list(self.requests)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        try:
            with plain:
                serve = self.serve or self._answer
                if not self.tls:
                    serve(plain)
                    return
                with self.tls.wrap_socket(plain, server_side=True) as secured:
                    serve(secured)
        except OSError:
            # The sender closed the connection, as many of these answers intend.
            pass

    def _answer(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            # A TLS handshake has no lines to wait for.
            start = [] if stream.peek(1)[:1] == b"\x16" else stream.readline().split()
            if len(start) != 3:
                return
            headers = {}
            while line := stream.readline().decode("latin-1").strip():
                name, _, value = line.partition(":")
                headers[name] = value.strip()
            body = stream.read(int(headers.get("Content-Length", "0")))
        method, target = start[0].decode("latin-1"), start[1].decode("latin-1")
        parts = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        request = Received(time.time(), method, parts.path, query, headers, body)
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        self._closed.wait(float(query.get("delay", "0")))
        word, _, argument = parts.path.strip("/").partition("/")
        _BEHAVIOURS.get(word, _not_found)(_Turn(self, connection, request, argument))


@dataclass(frozen=True)
class _Turn:
    receiver: Receiver
    connection: socket.socket
    request: Received
    argument: str

    def ask(self, name: str, otherwise: str) -> str:
        return self.request.query.get(name, otherwise)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def reply(self, status: int, body: bytes = b'{"received": true}', *headers: str) -> None:
        self.send(_response(status, body, *headers))

    def drip(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            if self.receiver._closed.wait(float(self.ask("pace", "1"))):
                return
            self.send(piece)


def _response(status: int, body: bytes, *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} Told", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode() + body


def _status(turn: _Turn) -> None:
    turn.reply(int(turn.argument), turn.ask("body", "as told").encode())


def _nth(turn: _Turn) -> None:
    same = [one for one in turn.receiver.requests if one.delivery == turn.request.delivery]
    turn.reply(200 if len(same) >= int(turn.argument) else 500)


def _as(turn: _Turn) -> None:
    status = turn.receiver.answers.get(turn.argument, 200)
    if status:
        turn.reply(status)
    else:
        _hang(turn)


def _busy(turn: _Turn) -> None:
    turn.reply(int(turn.ask("status", "429")), b"", f"Retry-After: {turn.ask('after', '120')}")


def _redirect(turn: _Turn) -> None:
    turn.reply(301, b"", f"Location: {turn.ask('to', turn.receiver.url('/ok'))}")


def _hang(turn: _Turn) -> None:
    turn.receiver._closed.wait()


def _reset(turn: _Turn) -> None:
    # SO_LINGER 0: closing sends a RST instead of a FIN.
    linger = struct.pack("ii", 1, 0)
    turn.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def _big(turn: _Turn) -> None:
    turn.reply(int(turn.ask("status", "500")), b"x" * int(turn.ask("bytes", "1000000")))


def _headers(turn: _Turn) -> None:
    turn.send(b"HTTP/1.1 200 OK\r\n")
    while not turn.receiver._closed.is_set():
        turn.send(b"X-More: and more\r\n" * 100)


def _drip(turn: _Turn) -> None:
    turn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    turn.drip(b"x" for _ in range(10_000))


def _drip_head(turn: _Turn) -> None:
    turn.drip(bytes([byte]) for byte in _response(200, b"x" * 10_000))


def _not_found(turn: _Turn) -> None:
    turn.reply(404, quote(turn.request.path).encode())


_BEHAVIOURS: dict[str, Callable[[_Turn], None]] = {
    "ok": lambda turn: turn.reply(200),
    "status": _status,
    "nth": _nth,
    "as": _as,
    "busy": _busy,
    "gone": lambda turn: turn.reply(410),
    "redirect": _redirect,
    "hang": _hang,
    "reset": _reset,
    "close": lambda turn: None,
    "big": _big,
    "headers": _headers,
    "drip": _drip,
    "drip-head": _drip_head,
    "garbage": lambda turn: turn.send(b"220 mail.example.com ESMTP\r\n\r\n"),
}
