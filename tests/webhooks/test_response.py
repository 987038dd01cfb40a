"""Answers are read equally in any packets, and reading always ends."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.safe_post.response import (
    LONGEST_BODY,
    LONGEST_HEAD,
    MOST_HEADERS,
    ProtocolError,
    Response,
)

ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and what nobody asked for",
    b"HTTP/1.1 200\r\n\r\nhello",
    b"HTTP/1.0 200 OK\nX-One: 1\n\nhello",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 Last\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n",
]


def read(pieces: Iterable[bytes], response: Response | None = None) -> Response:
    coming, unread = iter(pieces), b""

    def receive(size: int) -> bytes:
        nonlocal unread
        unread = unread or next(coming, b"")
        piece, unread = unread[:size], unread[size:]
        return piece

    response = response or Response()
    response.read_head(receive)
    response.read_body()
    return response


def endless(start: bytes, piece: bytes, most: int) -> Iterator[bytes]:
    yield start
    for _ in range(most // len(piece)):
        yield piece
    pytest.fail("more is read than the limit")


@given(st.sampled_from(ANSWERS), st.lists(st.integers(1, 300), max_size=20))
def test_an_answer_is_read_equally_in_any_packets(answer, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(answer)), len(answer)]
    pieces = [answer[start:end] for start, end in pairwise(places)]
    response = read(piece for piece in pieces if piece)
    assert (response.status, response.body, response.truncated) == (200, b"hello", False)


@given(
    st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", *ANSWERS]),
    st.binary(max_size=200),
    st.integers(0, 200),
)
def test_any_bytes_are_an_answer_or_a_protocol_error(start, noise, place):
    try:
        response = read([start[:place] + noise, noise + start[place:]])
    except (ProtocolError, ConnectionResetError):
        return
    assert response.status is not None
    assert len(response.body) <= LONGEST_BODY


def test_protocols_are_not_switched():
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"
    with pytest.raises(ProtocolError, match="switched protocols"):
        read([switched + ANSWERS[0]])


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nmore\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\nhello",
    ],
)
def test_a_truncated_body_keeps_the_status(answer):
    response = read([answer])
    assert (response.status, response.body, response.truncated) == (200, b"hello", True)


@pytest.mark.parametrize("framing", [b"Content-Length: 5", b"Transfer-Encoding: chunked"])
def test_a_204_is_read_without_a_body(framing):
    response = read(endless(b"HTTP/1.1 204 No Content\r\n" + framing + b"\r\n\r\n", b"5", 0))
    assert (response.status, response.body, response.truncated) == (204, b"", False)


def test_a_body_of_more_than_16_kb_is_truncated():
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    whole = read([head, b"x" * LONGEST_BODY])
    more = read([head, b"x" * LONGEST_BODY + b"y"])
    assert (len(whole.body), whole.truncated) == (LONGEST_BODY, False)
    assert (more.body, more.truncated) == (whole.body, True)


@pytest.mark.parametrize(
    "piece",
    [
        *(b"X-More: and more\r\n" * 50, b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
        *(b"a", b"X: 1\r\n", b"\r\n"),
    ],
)
def test_endless_headers_are_refused(piece):
    with pytest.raises(ProtocolError):
        read(endless(b"HTTP/1.1 100 Continue\r\n", piece, LONGEST_HEAD + 2_000))


def test_headers_count_up_to_a_limit():
    head = b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * (MOST_HEADERS - 1)
    assert read([head + b"\r\n"]).status == 200
    with pytest.raises(ProtocolError):
        read([head + b"X: 1\r\n\r\n"])


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n",
    ],
)
def test_a_truncated_head_is_refused(head):
    with pytest.raises(ProtocolError):
        read([head])


@pytest.mark.parametrize(
    "boundary",
    [b"boundary*" + b"9" * 5_000 + b"*=x", b"boundary*=undefined''x", b"boundary*0=x; boundary*=x"],
)
def test_headers_that_a_parser_of_mail_fails_with_are_a_protocol_error(boundary):
    with pytest.raises(ProtocolError):
        read([b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x; " + boundary + b"\r\n\r\n"])


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"", b"0" * 100),
        (b"", b"1;" + b"x" * 500 + b"\r\n.\r\n"),
        (b"1", b";x=y"),
        (b"", b"1\r\nx\r\n"),
        (b"0\r\n", b"X-A: b\r\n"),
    ],
)
def test_endless_framing_without_data_is_refused(begin, piece):
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + begin
    assert read(endless(start, piece, 5 * LONGEST_BODY)).truncated


def test_repeated_headers_are_joined_and_blanks_around_them_removed():
    response = read([b"HTTP/1.1 200 OK\r\nVia: a\r\nVIA:  b \r\nX: 1\r\n  2\r\n\r\n"])
    assert response.headers == {"via": "a, b", "x": "1 2"}


def test_a_cr_is_no_end_of_a_line():
    assert read([b"HTTP/1.1 200 OK\r\nX: 1\rY: 2\r\n\r\n"]).headers == {"x": "1 Y: 2"}


def test_a_line_that_is_no_header_ends_them():
    response = read([b"HTTP/1.1 200 OK\r\nVia: a\r\nnonsense\r\nX: 1\r\n\r\nhello"])
    assert (response.headers, response.body) == ({"via": "a"}, b"hello")
