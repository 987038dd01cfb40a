"""Posts to an untrusted receiver, in at most 10 seconds (docs/webhooks.md).

Each POST has its own connection: the addresses are looked up, checked and connected to here, so
that a name cannot change its answer in between. No redirects, no proxies, no cookies.
"""

import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from chalicelib.safe_post.destination import Destination, RefusedUrl, admit, parse
from chalicelib.safe_post.response import ProtocolError, Response
from chalicelib.safe_post.wire import Secured, Wire, seconds_left

__all__ = ["Failure", "PostResult", "RefusedUrl", "check", "post"]

USER_AGENT = "Backroom-Webhooks/1.0"
MOST_TRIED_ADDRESSES = 4
_CHECK_SECONDS = 3.0


class Failure(StrEnum):
    """Why an attempt failed."""

    BLOCKED = "blocked"
    DNS = "dns"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    RESET = "reset"
    PROTOCOL = "protocol"
    TIMEOUT = "timeout"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class PostResult:
    """The result of one POST. It is a success if and only if `error` is None."""

    status: int | None = None
    """HTTP status; also known when the body did not end in time."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The response's headers, names in lower case; 16 KB at most."""
    body: bytes = b""
    """The first 16 KB of the response's body."""
    truncated: bool = False
    """Whether the body was longer, or was cut off."""
    duration_ms: int = 0
    """From the look-up to the last byte that was read."""
    address: str | None = None
    """The address that was connected to."""
    error: Failure | None = None
    message: str = ""
    """The error in a sentence; empty on success."""


def check(url: str, allowed_networks: Sequence[str]) -> None:
    """Raise RefusedUrl, a ValueError that says why, if nothing would ever be posted to `url`.

    For the registration of an endpoint. A public name without an address yet is accepted, because
    every attempt looks it up and checks it again.
    """
    destination = parse(url, allowed_networks)
    try:
        answers = _look_up(destination, time.monotonic() + _CHECK_SECONDS)
    except OSError:
        if destination.objection:
            raise RefusedUrl(destination.objection) from None
        return
    admit(destination, answers, allowed_networks)


def post(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    allowed_networks: Sequence[str],
    timeout: float = 10.0,
) -> PostResult:
    """Post `body` to `url` and return the result.

    Whatever the receiver does, it never raises; ValueError for headers that cannot be sent.

    `timeout` (seconds) is for everything together: look-up, connection, handshake, request and
    response, however slowly they drip. Only a 2xx that arrives whole, or as far as it is kept, is a
    success. `allowed_networks` are CIDR blocks that need not be public, may speak http and listen
    on any port.
    """
    exchange = _Exchange(time.monotonic() + timeout)
    started = time.monotonic()
    error: Failure | None = None
    message = ""
    try:
        destination = parse(url, allowed_networks)
        request = _request(destination, headers, body)
        exchange.run(destination, request, allowed_networks)
    except RefusedUrl as refusal:
        error, message = Failure.BLOCKED, str(refusal)
    except ProtocolError as fault:
        error, message = Failure.PROTOCOL, str(fault)
    except OSError as fault:
        error, message = _failure(fault)
        if error is Failure.TIMEOUT:
            message = f"No complete answer within {timeout:g} s: it ended while {exchange.phase}."
    response = exchange.response
    if error is None and response.status is not None and not 200 <= response.status < 300:
        error, message = Failure.STATUS, f"The receiver answered {response.status}."
        if response.status // 100 == 3:
            message += " Redirects are not followed."
    return PostResult(
        status=response.status,
        headers=response.headers,
        body=response.body,
        truncated=response.truncated,
        duration_ms=round((time.monotonic() - started) * 1000),
        address=exchange.address,
        error=error,
        message=message,
    )


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host in the order of RFC 6724, by the system's resolver."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in infos]


class _Exchange:
    """One request and its response. Keeps what is known so far, in case it ends early."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.phase = "looking up the host name"
        self.address: str | None = None
        self.response = Response()

    def run(
        self, destination: Destination, request: bytes, allowed_networks: Sequence[str]
    ) -> None:
        answers = _look_up(destination, self.deadline)
        addresses = admit(destination, answers, allowed_networks)
        self.phase = "connecting"
        with self._connect(addresses[:MOST_TRIED_ADDRESSES], destination.port) as connection:
            wire = Wire(connection, self.deadline)
            if not destination.tls:
                self._converse(wire, request)
                return
            self.phase = "negotiating TLS"
            secured = Secured(wire, _system_trust(), destination.host)
            secured.shake_hands()
            self._converse(secured, request)

    def _connect(self, addresses: Sequence[str], port: int) -> socket.socket:
        *first, last = addresses
        for others, self.address in zip(range(len(first), 0, -1), first, strict=True):
            try:
                # A silent address leaves the others their share of the time.
                return _dial(self.address, port, seconds_left(self.deadline) / (others + 1))
            except OSError:
                continue
        self.address = last
        return _dial(last, port, seconds_left(self.deadline))

    def _converse(self, connection: Wire | Secured, request: bytes) -> None:
        self.phase = "sending the request"
        # A receiver may answer and close before it has read everything: look for its answer.
        with suppress(ConnectionError):
            connection.send(request)
        self.phase = "waiting for the answer"
        self.response.read_head(connection.receive)
        self.phase = "reading the body of the answer"
        self.response.read_body()


def _look_up(destination: Destination, deadline: float) -> Sequence[str]:
    """Return the addresses of the host.

    Raises OSError: gaierror without one, TimeoutError when late. The system's resolver cannot be
    interrupted, so it runs in a thread that may outlive its use.
    """
    if destination.literal:
        return [str(destination.literal)]
    future = Future[Sequence[str]]()

    def work() -> None:
        try:
            future.set_result(addresses_of(destination.host, destination.port))
        except Exception as fault:
            future.set_exception(fault)

    threading.Thread(target=work, daemon=True).start()
    try:
        answers = future.result(seconds_left(deadline))
    except UnicodeError:
        # What Python's own encoding of host names refuses before it asks.
        raise socket.gaierror(socket.EAI_NONAME, "The host name cannot be encoded.") from None
    if not answers:
        raise socket.gaierror(socket.EAI_NONAME, "The host name has no address.")
    return answers


def _dial(address: str, port: int, timeout: float) -> socket.socket:
    """Connect to an address: no host name, so no look-up."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.connect((address, port))
    except BaseException:
        connection.close()
        raise
    return connection


def _request(destination: Destination, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = [
        f"POST {destination.target} HTTP/1.1",
        f"Host: {destination.authority}",
        f"User-Agent: {USER_AGENT}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if any(ord(letter) < 32 for line in lines for letter in line):
        raise ValueError("A header contains a control character.")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


@lru_cache(maxsize=1)
def _system_trust() -> ssl.SSLContext:
    """Read the system's certificates, once a process: it takes 15 ms of CPU."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


def _failure(fault: OSError) -> tuple[Failure, str]:
    match fault:
        case TimeoutError():
            return Failure.TIMEOUT, ""
        case socket.gaierror():
            return Failure.DNS, f"The host name was not found: {fault.strerror}"
        case ssl.SSLCertVerificationError():
            return Failure.TLS, f"The certificate was not accepted: {fault.verify_message}."
        case ssl.SSLError():
            return Failure.TLS, f"TLS failed: {fault.reason or fault.strerror or fault}."
        case ConnectionRefusedError():
            return Failure.REFUSED, "The receiver refused the connection."
        case ConnectionError():
            return Failure.RESET, "The receiver closed the connection without an answer."
        case _:
            return Failure.UNREACHABLE, f"The receiver cannot be reached: {fault.strerror}."
