"""Behaviours of receivers over real sockets on loopback, and the outcome of the attempt."""

import socket
import threading
from datetime import timedelta

import pytest

from chalicelib.safe_post.post import Failure, PostResult, _system_trust, addresses_of, post
from tests.webhooks.build import resolving, to, trusting
from tests.webhooks.certificates import Certificates, issue
from tests.webhooks.receiver import Receiver

LOOPBACK = ["127.0.0.0/8", "::1/128"]
HEADERS = {"Content-Type": "application/json", "X-Service-Delivery": "dlv_1"}
BODY = '{"event":"order.paid", "data":{"note":"✓"}}'.encode()
PATIENT, IMPATIENT = 60.0, 1.5


def deliver(url: str, resolve=addresses_of, tls=None, timeout: float = PATIENT) -> PostResult:
    with resolving(resolve), trusting(tls or _system_trust()):
        return post(url, HEADERS, BODY, allowed_networks=LOOPBACK, timeout=timeout)


def test_a_2xx_is_a_success_and_the_body_arrives_unchanged(receiver):
    outcome = deliver(receiver.url("/ok/größe?ä=1"))
    request = receiver.requests[0]
    assert (outcome.status, outcome.error, outcome.message) == (200, None, "")
    assert (outcome.body, outcome.truncated) == (b'{"received": true}', False)
    assert outcome.address == "127.0.0.1"
    assert (request.method, request.body) == ("POST", BODY)
    assert request.path == "/ok/gr%C3%B6%C3%9Fe"
    assert HEADERS.items() <= request.headers.items()
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("status", [201, 202, 204, 299, 400, 401, 404, 410, 500, 502])
def test_a_2xx_is_a_success_and_nothing_else(receiver, status):
    outcome = deliver(receiver.url(f"/status/{status}?body=sorry"))
    if status < 300:
        assert (outcome.error, outcome.message) == (None, "")
        return
    assert (outcome.status, outcome.error) == (status, Failure.STATUS)
    assert outcome.message == f"The receiver answered {status}."
    assert outcome.body == b"sorry"


def test_a_failed_post_is_not_repeated_by_itself(receiver):
    url = receiver.url("/nth/3")
    assert [deliver(url).status for _ in range(3)] == [500, 500, 200]
    assert len(receiver.requests) == 3


def test_an_answer_that_is_not_http_is_a_protocol_error(receiver):
    assert deliver(receiver.url("/garbage")).error is Failure.PROTOCOL


@pytest.mark.parametrize("path", ["/reset", "/close"])
def test_a_connection_that_ends_without_an_answer_is_a_reset(receiver, path):
    outcome = deliver(receiver.url(path))
    assert (outcome.status, outcome.error) == (None, Failure.RESET)


def test_a_closed_port_is_a_connection_refused_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = deliver(f"http://127.0.0.1:{port}/")
    assert (outcome.error, outcome.address) == (Failure.REFUSED, "127.0.0.1")


def test_tls_verifies_the_registered_name(secure, certificates):
    url = secure.url("/ok")
    outcome = deliver(url, resolve=to("127.0.0.1"), tls=certificates.trusting)
    assert (outcome.status, outcome.error, outcome.address) == (200, None, "127.0.0.1")
    assert secure.requests[0].headers["Host"] == f"hooks.example.com:{secure.port}"


def test_a_certificate_for_another_name_is_refused(secure, certificates):
    url = f"https://other.example.com:{secure.port}/"
    outcome = deliver(url, resolve=to("127.0.0.1"), tls=certificates.trusting)
    assert outcome.error is Failure.TLS
    assert "other.example.com" in outcome.message
    assert secure.requests == []


def test_an_untrusted_certificate_is_refused(secure):
    outcome = deliver(secure.url(), resolve=to("127.0.0.1"))
    assert outcome.error is Failure.TLS
    assert "certificate" in outcome.message
    assert secure.requests == []


def test_an_expired_certificate_is_refused(tmp_path):
    expired: Certificates = issue(tmp_path, "127.0.0.1", valid_for=timedelta(days=-1))
    with Receiver(tls=expired.server) as receiver:
        outcome = deliver(receiver.url(), tls=expired.trusting)
    assert (outcome.error, "expired" in outcome.message) == (Failure.TLS, True)


def test_an_attempt_over_tls_to_a_receiver_without_tls_fails(receiver):
    # It reads the handshake as a request line, and closes the connection.
    assert deliver(receiver.url(scheme="https")).error in (Failure.TLS, Failure.RESET)


def test_errors_resets_and_slow_answers_are_reported_over_tls(secure, certificates):
    facts = {"resolve": to("127.0.0.1"), "tls": certificates.trusting}
    assert deliver(secure.url("/big"), **facts).status == 500
    assert deliver(secure.url("/reset"), **facts).error is Failure.RESET
    late = deliver(secure.url("/drip?pace=0.02"), **facts, timeout=IMPATIENT)
    # What began in time is shown even if it did not end.
    assert (late.status, late.error) == (200, Failure.TIMEOUT)
    assert late.body.startswith(b"xx") and late.duration_ms >= 1_000 * IMPATIENT


def test_an_unanswered_handshake_ends_at_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        outcome = deliver(url, timeout=IMPATIENT)
    assert outcome.error is Failure.TIMEOUT
    assert "TLS" in outcome.message


def test_an_unanswered_dns_query_ends_at_the_deadline():
    over = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        over.wait(60)
        return ["127.0.0.1"]

    outcome = deliver("https://slow.example.com/", resolve=resolve, timeout=IMPATIENT)
    over.set()
    assert outcome.error is Failure.TIMEOUT
    assert "looking up" in outcome.message


def test_a_name_without_an_address_is_a_dns_error():
    # .invalid exists nowhere (RFC 6761): this asks the real resolver.
    outcome = deliver("https://receiver.invalid/")
    assert (outcome.error, outcome.address) == (Failure.DNS, None)
    assert deliver("https://empty.example.com/", resolve=to()).error is Failure.DNS


def test_the_real_resolver_finds_the_receiver(receiver):
    outcome = deliver(f"http://localhost:{receiver.port}/ok")
    assert outcome.error is None
    assert receiver.requests[0].headers["Host"] == f"localhost:{receiver.port}"


def test_the_next_address_is_tried_after_a_refused_connection(receiver):
    url = f"http://two.example.com:{receiver.port}/ok"
    outcome = deliver(url, resolve=to("127.0.0.2", "::1", "127.0.0.1"))
    assert (outcome.status, outcome.address) == (200, "127.0.0.1")


def test_the_next_address_is_tried_after_a_silent_one(receiver):
    with socket.create_server(("127.0.0.3", receiver.port), backlog=0) as full:
        # A backlog of 0 accepts one connection and drops later ones.
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        url = f"http://two.example.com:{receiver.port}/ok"
        outcome = deliver(url, resolve=to("127.0.0.3", "127.0.0.1"), timeout=4)
        for filler in fillers:
            filler.close()
    assert (outcome.status, outcome.address) == (200, "127.0.0.1")


def test_proxies_of_the_environment_are_not_used(receiver, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert deliver(receiver.url()).error is None


def test_an_answer_before_the_end_of_the_request_counts():
    def refuse_at_once(connection: socket.socket) -> None:
        connection.recv(1_000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

    with Receiver(serve=refuse_at_once) as refusing:
        # More than the buffers hold, so the connection is cut while the sender still sends.
        outcome = post(refusing.url(), HEADERS, b"x" * 30_000_000, allowed_networks=LOOPBACK)
    assert outcome.status == 413


def test_a_header_with_a_line_break_is_refused(receiver):
    with pytest.raises(ValueError, match="control character"):
        post(receiver.url(), {"X-A": "1\r\nX-B: 2"}, BODY, allowed_networks=LOOPBACK)
    assert receiver.requests == []
