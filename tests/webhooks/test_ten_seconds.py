"""The deadline of ten seconds and the limit of received bytes hold inside TLS and HTTP framing."""

import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from chalicelib.safe_post import post as safe_post
from chalicelib.safe_post import wire
from chalicelib.safe_post.post import Failure, PostResult
from tests.support.webhook_world import Posted, announce
from tests.support.webhook_world import world as world_of
from tests.webhooks.build import add
from tests.webhooks.certificates import Certificates, issue
from tests.webhooks.receiver import Receiver, Serve


@pytest.fixture
def certificate(tmp_path: Path) -> Certificates:
    return issue(tmp_path, "127.0.0.1")


def deliver(
    port: int, trusting: ssl.SSLContext | None, timeout: float = 60, body: bytes = b"{}"
) -> PostResult:
    url = f"{'https' if trusting else 'http'}://127.0.0.1:{port}/ok"
    allowed = ["127.0.0.0/8"]
    return safe_post.post(url, {}, body, allowed_networks=allowed, timeout=timeout, tls=trusting)


@pytest.mark.parametrize(("number", "error"), [(20, None), (6_000, Failure.PROTOCOL)])
def test_a_flood_of_records_without_data_ends_at_a_megabyte(
    certificate: Certificates, number: int, error: Failure | None
) -> None:
    """Session tickets; inside TLS, key updates and renegotiations take the same way."""
    certificate.server.num_tickets = number
    with Receiver(tls=certificate.server) as server:
        outcome = deliver(server.port, certificate.trusting)
    assert (outcome.error, outcome.status) == (error, None if error else 200)
    assert ("more than 1 MB" in outcome.message) == (error is not None)


@pytest.fixture
def trusting(certificate: Certificates, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """The deployed trust settings, plus the tests' certificate authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.authority))
    return safe_post._system_trust.__wrapped__()


def test_a_receiver_cannot_renegotiate() -> None:
    assert safe_post._system_trust().options & ssl.OP_NO_RENEGOTIATION


def test_a_handshake_of_single_bytes_ends_at_the_deadline(
    certificate: Certificates, trusting: ssl.SSLContext
) -> None:
    def in_packets_of_a_byte(pause: float) -> Serve:
        """What the receiver sends."""

        def serve(connection: socket.socket) -> None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with socket.create_connection(("127.0.0.1", receiver.port)) as behind:
                threading.Thread(target=copy, args=(connection, behind), daemon=True).start()
                while data := behind.recv(65_536):
                    for byte in data:
                        connection.sendall(bytes([byte]))
                        time.sleep(pause)

        return serve

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)

    with Receiver(tls=certificate.server) as receiver:
        with Receiver(serve=in_packets_of_a_byte(0)) as slow:
            assert deliver(slow.port, trusting).error is None
        with Receiver(serve=in_packets_of_a_byte(0.01)) as slower:
            outcome = deliver(slower.port, trusting, timeout=1)
    assert outcome.error is Failure.TIMEOUT
    assert outcome.message.endswith("ended while negotiating TLS.")


class _Stepping:
    """A connection that always has bytes; receiving one takes half a second."""

    def __init__(self, connection: socket.socket, clock: list[float]) -> None:
        self._connection, self._clock = connection, clock
        self.received = 0

    def settimeout(self, seconds: float) -> None:
        assert 0 < seconds <= 10
        self._connection.settimeout(30)

    def recv(self, size: int) -> bytes:
        self._clock[0] += 0.5
        self.received += 1
        return self._connection.recv(1)

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


def test_the_deadline_is_checked_between_the_pieces_of_a_record(
    certificate: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handshake in single bytes, without pauses."""
    now = [0.0]
    monkeypatch.setattr(wire.time, "monotonic", lambda: now[0])
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"\x16\x03\x03\x40\x00" + b"\x02" * 1_000)
        connection = _Stepping(ours, now)
        secured = wire.Secured(wire.Wire(connection, 10.0), certificate.trusting, "127.0.0.1")  # type: ignore[arg-type]
        with pytest.raises(TimeoutError):
            secured.shake_hands()
    assert connection.received == 20


def repeated(piece: bytes, before: bytes = b"") -> Serve:
    def serve(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(before)
        while True:
            connection.sendall(piece * 100)

    return serve


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
FLOODS: dict[str, tuple[Serve, Failure | None]] = {
    "1xx": (repeated(b"HTTP/1.1 103 Early Hints\r\n\r\n"), Failure.PROTOCOL),
    "headers": (repeated(b"X-A: b\r\n", b"HTTP/1.1 200 OK\r\n"), Failure.PROTOCOL),
    "blank lines": (repeated(b"\r\n"), Failure.PROTOCOL),
    # A 2xx counts whatever follows. The body is cut off after the part that is kept.
    "chunk extensions": (repeated(b";x=y", CHUNKED + b"1"), None),
    "chunks of a byte": (repeated(b"1\r\nx\r\n", CHUNKED), None),
    "trailers": (repeated(b"X-A: b\r\n", CHUNKED + b"0\r\n"), None),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_framing_is_cut_off(name: str) -> None:
    serve, error = FLOODS[name]
    with Receiver(serve=serve) as flooding:
        outcome = deliver(flooding.port, None)
    assert outcome.error == error
    assert len(outcome.body) <= 16_384


def test_a_request_that_is_not_read_ends_at_the_deadline(certificate: Certificates) -> None:
    over = threading.Event()
    with Receiver(tls=certificate.server, serve=lambda connection: over.wait(30)) as server:
        outcome = deliver(server.port, certificate.trusting, timeout=3, body=b"x" * 20_000_000)
        over.set()
    assert outcome.error is Failure.TIMEOUT
    assert outcome.message.endswith("ended while sending the request.")


def test_floods_in_a_batch_do_not_affect_its_other_deliveries(
    certificate: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One receiver answers and nine flood: each has its own outcome, and the function survives."""
    flooding = issue(Path(certificate.authority).parent / "flood", "127.0.0.1")
    flooding.server.num_tickets = 6_000
    with (
        Receiver(tls=certificate.server) as good,
        Receiver(tls=flooding.server) as bad,
        world_of(concurrent=True) as made,
    ):
        trust = {good.port: certificate.trusting, bad.port: flooding.trusting}

        def answer(posted: Posted) -> PostResult:
            port = int(posted.url.rpartition(":")[2].rstrip("/"))
            return deliver(port, trust[port])

        made.answer = answer
        webhooks = [
            add(made, url=f"https://127.0.0.1:{server.port}/") for server in [bad] * 9 + [good]
        ]
        announce()
        made.step()
        made.step()
        found = [webhook.listed()[0]["status"] for webhook in webhooks]
        assert found == ["RETRYING"] * 9 + ["DELIVERED"]
