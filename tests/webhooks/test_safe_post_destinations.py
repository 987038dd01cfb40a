"""Destinations that are refused at registration and at every attempt, with the reason."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.safe_post import post as safe_post
from chalicelib.safe_post.destination import is_public, parse
from chalicelib.safe_post.post import Failure, RefusedUrl, check, post
from tests.webhooks.build import resolving, to

LOOPBACK = ["127.0.0.0/8", "::1/128"]
PUBLIC = "93.184.215.14"

HIDDEN = [
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("127.0.0.1", "127.255.255.255", "0.0.0.0", "0.1.2.3"),
    *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.127.255.255"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1"),
    *("::", "::1", "fe80::1", "fe80::1%lo", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1"),
    # An IPv4 address inside: mapped, compatible, NAT64 (both), 6to4, Teredo, ISATAP's link.
    *("::ffff:127.0.0.1", "::ffff:93.184.215.14", "::127.0.0.1"),
    *("64:ff9b::169.254.169.254", "64:ff9b::5db8:d70e", "64:ff9b:1::a9fe:a9fe"),
    *("2002:7f00:1::1", "2001:0:7f00:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    *("fe80::5efe:7f00:1", "2001:db8::1", "3fff::1", "100::1", "2001:20::1", "4000::1"),
]
REACHABLE = [
    *(PUBLIC, "1.1.1.1", "100.63.255.255", "100.128.0.1"),
    *("172.32.0.1", "192.0.1.1", "223.255.255.1"),
    *("2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::200e"),
]


def refusal(url: str, *answers: str, allowed: list[str] | None = None) -> str:
    """Why `url` is refused if its host has these addresses, at registration and at an attempt."""
    with resolving(to(*(answers or (PUBLIC,)))):
        with pytest.raises(RefusedUrl) as refused:
            check(url, allowed or [])
        outcome = post(url, {}, b"", allowed_networks=allowed or [])
    assert (outcome.error, outcome.message) == (Failure.BLOCKED, str(refused.value))
    assert (outcome.status, outcome.address) == (None, None)
    return outcome.message


@pytest.mark.parametrize(
    "answers",
    [
        *((address,) for address in HIDDEN),
        (PUBLIC, "10.0.0.1"),
        ("10.0.0.1", PUBLIC),
        (PUBLIC, "::1"),
    ],
    ids=" and ".join,
)
def test_a_name_with_an_address_that_is_not_public_is_refused(answers):
    assert "not public" in refusal("https://hooks.example.com/", *answers)


@pytest.mark.parametrize("address", REACHABLE)
def test_a_name_with_public_addresses_is_accepted(address):
    with resolving(to(address)):
        check("https://hooks.example.com/path?query=1", [])


@pytest.mark.parametrize(
    "host",
    [
        # 127.0.0.1, or the metadata address, as resolvers and browsers read them
        *("2130706433", "0x7f000001", "017700000001", "127.1", "127.0.1", "0177.0.0.1"),
        *("0x7f.0.0.1", "127.0.0.0x1", "0x7f.1", "0xa9fea9fe", "2852039166", "127.0.0.1."),
        *("127.000.000.001", "0", "0x", "999.999.999.999", "1.2.3.4.5", "example.1", "1"),
        *("127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0", PUBLIC),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]"),
        *("[64:ff9b::a9fe:a9fe]", "[fe80::1%25lo]", "[fe80::1]", "[2606:4700:4700::1111]"),
        *("[127.0.0.1]", "[v1.x]", "[::1", "::1", "[]", "[:::]"),
    ],
)
def test_an_ip_address_as_host_is_refused_in_every_spelling(host):
    refusal(f"https://{host}/")


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f.1", "0177.0.0.1", "127.000.0.1"])
def test_unusual_spellings_are_refused_even_if_loopback_is_allowed(host):
    assert "not a host name" in refusal(f"http://{host}:8080/", "127.0.0.1", allowed=LOOPBACK)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", "must start with https://"),
        ("ftp://hooks.example.com/", "must start with https://"),
        ("file:///etc/passwd", "must start with https://"),
        ("gopher://hooks.example.com:70/_x", "must start with https://"),
        ("//hooks.example.com/", "must start with https://"),
        ("hooks.example.com", "must start with https://"),
        ("", "must start with https://"),
        ("https:hooks.example.com", "must start with https://"),
        ("https:///path", "no valid host"),
        ("https://", "no valid host"),
        ("https://user@hooks.example.com/", "user name"),
        ("https://user:password@hooks.example.com/", "user name"),
        ("https://hooks.example.com@127.0.0.1/", "user name"),
        ("https://hooks.example.com/#part", "fragment"),
        ("https://hooks.example.com/#", "fragment"),
        ("https://127.0.0.1#@hooks.example.com/", "fragment"),
        ("https://hooks.example.com:22/", "Port 22"),
        ("https://hooks.example.com:80/", "Port 80"),
        ("https://hooks.example.com:6379/", "Port 6379"),
        ("https://hooks.example.com:0/", "no port 0"),
        ("https://hooks.example.com:70000/", "no port 70000"),
        ("https://hooks.example.com:/", "no valid host and port"),
        ("https://hooks.example.com:443:443/", "no valid host and port"),
        ("https://hooks.example.com:+443/", "no valid host and port"),
        ("https://hooks.example.com:٤٤٣/", "ASCII"),
        ("https://аpple.example.com/", "ASCII"),
        ("https://①②⑦.⓪.⓪.①/", "ASCII"),
        ("https://hooks。example。com/", "ASCII"),
        ("https://ℓocalhost/", "ASCII"),
        ("https://hooks.example.com\\@127.0.0.1/", "backslash"),
        ("https://hooks.example.com\t/", "blank"),
        ("https://hooks.example.com/\r\nX-Evil: 1", "blank"),
        (" https://hooks.example.com/", "blank"),
        ("https://hooks.example.com/a b", "blank"),
        ("https://hooks.example.com\x00.evil.com/", "control"),
        ("https://hooks..example.com/", "not a host name"),
        ("https://.example.com/", "not a host name"),
        ("https://hooks.example.com../", "not a host name"),
        ("https://-hooks.example.com/", "not a host name"),
        ("https://%31%32%37.0.0.1.example.com/", "not a host name"),
        ("https://" + "a" * 64 + ".example.com/", "not a host name"),
        ("https://" + "a." * 127 + "example.com/", "not a host name"),
        ("https://localhost/", "not a public host name"),
        ("https://LOCALHOST./", "not a public host name"),
        ("https://intranet/", "not a public host name"),
        ("https://metadata.google.internal/", "not a public host name"),
        ("https://printer.local/", "not a public host name"),
        ("https://1.0.0.127.in-addr.arpa/", "not a public host name"),
        ("https://hooks.example.com/" + "a" * 2048, "longer than 2,048"),
    ],
)
def test_a_url_that_is_not_plain_https_is_refused_with_a_reason(url, reason):
    assert reason in refusal(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com",
        "HTTPS://Hooks.Example.COM./path",
        "https://hooks.example.com:443/?a=b&c=%20",
        "https://hooks.example.com:8443/hooks/größe",
        "https://xn--bcher-kva.example/",
        "https://my_shop.example.com/@user",
        "https://hooks.example.com?query=1",
    ],
)
def test_a_plain_https_url_is_accepted(url):
    with resolving(to(PUBLIC)):
        check(url, [])


def test_a_name_that_is_not_found_yet_can_be_registered():
    # .invalid exists nowhere (RFC 6761): this asks the real resolver.
    check("https://receiver.invalid/", [])
    check("https://receiver.invalid/", LOOPBACK)
    with pytest.raises(RefusedUrl, match="https"):
        check("http://receiver.invalid/", LOOPBACK)


def test_addresses_of_the_real_resolver_are_checked():
    check("http://localhost:8080/", LOOPBACK)
    with pytest.raises(RefusedUrl, match="https"):
        check("http://localhost:8080/", ["127.0.0.2/32"])


def test_an_allowed_network_allows_nothing_else():
    for address in ("10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", PUBLIC):
        assert "https" in refusal("http://hooks.example.com/", address, allowed=LOOPBACK)
    assert "not public" in refusal("https://hooks.example.com/", "10.0.0.1", allowed=LOOPBACK)
    assert "Port" in refusal("https://hooks.example.com:81/", "127.0.0.1", PUBLIC, allowed=LOOPBACK)
    check("http://[::1]:8080/", LOOPBACK)
    check("http://127.0.0.1:8080/", LOOPBACK)


def test_a_blocked_attempt_opens_no_connection():
    """Something listens at that address, on an allowed port."""
    with socket.create_server(("127.8.44.3", 8443)) as listener:
        listener.setblocking(False)

        def attempt(allowed: list[str]) -> Failure | None:
            url = "https://hooks.example.com:8443/"
            with resolving(to("127.8.44.3")):
                return post(url, {}, b"", allowed_networks=allowed, timeout=1.5).error

        assert attempt([]) is Failure.BLOCKED
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert attempt(LOOPBACK) is Failure.TIMEOUT
        listener.accept()[0].close()


def test_a_rebound_name_is_connected_at_the_checked_address(receiver, monkeypatch):
    """The second answer would be another listener. The name is not resolved again to connect."""
    asked = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("The system's resolver was asked as well.")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    monkeypatch.setattr(safe_post, "addresses_of", rebinding)
    url = f"http://rebind.example.com:{receiver.port}/ok"
    outcome = post(url, {}, b"", allowed_networks=["127.0.0.1/32"])
    assert (outcome.status, outcome.address) == (200, "127.0.0.1")
    assert asked == ["rebind.example.com"]
    # At the next attempt the name has another address, which is checked again.
    moved = post(url, {}, b"", allowed_networks=["127.0.0.1/32"])
    assert (moved.error, moved.address) == (Failure.BLOCKED, None)
    assert len(receiver.requests) == 1


@given(st.ip_addresses())
def test_an_address_that_python_knows_as_special_is_not_public(address):
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not is_public(address)


@given(st.text(max_size=60), st.sampled_from(["", "https://", "https://a.example.com", "http://["]))
def test_any_text_is_accepted_or_refused(text, start):
    try:
        destination = parse(start + text, [])
    except RefusedUrl:
        return
    assert destination.tls
    assert destination.port in (443, 8443)
    assert destination.literal is None
    assert destination.target.isascii()
    assert destination.target.isprintable()
    assert " " not in destination.target
