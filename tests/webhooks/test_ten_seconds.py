"""The deadline of ten seconds and the limit of received bytes hold inside TLS."""

import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from chalicelib.safe_post import post as safe_post
from chalicelib.safe_post.post import Failure, PostResult
from tests.webhooks.build import trusting
from tests.webhooks.certificates import Certificates, issue
from tests.webhooks.receiver import Receiver, Serve


@pytest.fixture
def certificate(tmp_path: Path) -> Certificates:
    return issue(tmp_path, "127.0.0.1")


def deliver(
    port: int, trust: ssl.SSLContext, timeout: float = 60, body: bytes = b"{}"
) -> PostResult:
    url, allowed = f"https://127.0.0.1:{port}/ok", ["127.0.0.0/8"]
    with trusting(trust):
        return safe_post.post(url, {}, body, allowed_networks=allowed, timeout=timeout)


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
def deployed(certificate: Certificates, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """The deployed trust settings, plus the tests' certificate authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.authority))
    return safe_post._system_trust.__wrapped__()


def test_a_receiver_cannot_renegotiate() -> None:
    assert safe_post._system_trust().options & ssl.OP_NO_RENEGOTIATION


def test_a_handshake_of_single_bytes_ends_at_the_deadline(
    certificate: Certificates, deployed: ssl.SSLContext
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
            assert deliver(slow.port, deployed).error is None
        with Receiver(serve=in_packets_of_a_byte(0.01)) as slower:
            outcome = deliver(slower.port, deployed, timeout=1)
    assert outcome.error is Failure.TIMEOUT
    assert outcome.message.endswith("ended while negotiating TLS.")


def test_a_request_that_is_not_read_ends_at_the_deadline(certificate: Certificates) -> None:
    over = threading.Event()
    with Receiver(tls=certificate.server, serve=lambda connection: over.wait(30)) as server:
        outcome = deliver(server.port, certificate.trusting, timeout=3, body=b"x" * 20_000_000)
        over.set()
    assert outcome.error is Failure.TIMEOUT
    assert outcome.message.endswith("ended while sending the request.")
