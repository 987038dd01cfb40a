"""chalicelib/storage/table.py, and its calls over sockets."""

import contextlib
import gc
import json
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from chalicelib import aws, deadline
from chalicelib.problems import Busy
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Expressions, pack, unpack
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, all_of
from chalicelib.storage.dynamodb import DynamoCall
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.webhooks.certificates import issue

PATIENCE_SECONDS = deadline.PATIENCE_SECONDS
_READ_AT_ONCE = 8192  # bytes that a socket is asked for


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    aws.forget()
    yield
    aws.forget()


class _Body:
    def stream(self) -> list[bytes]:
        return [b"{}"]


def sent_by(call: Callable[[], object]) -> list[Any]:
    """The requests that a call sends, each with an empty answer."""
    sent: list[Any] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        sent.append(request)
        return AWSResponse(request.url, 200, {}, _Body())

    table.client().meta.events.register_first("before-send.dynamodb", answer)
    call()
    return sent


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-central-1", "dynamodb.eu-central-1.amazonaws.com"),
        ("cn-north-1", "dynamodb.cn-north-1.amazonaws.com.cn"),
    ],
)
@pytest.mark.parametrize("token", ["", "token of a role"])
def test_a_call_goes_to_its_region_with_the_signature_of_botocore(
    region: str, host: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Lambda, where only the region determines the endpoint."""
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    (request,) = sent_by(lambda: table.get(("é", "1")))
    assert request.url == f"https://{host}/"
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    assert headers.get("x-amz-security-token", "") == token

    authorization = headers["authorization"]
    names = authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert {"content-type", "host", "x-amz-date", "x-amz-target"} <= set(names)
    plain = AWSRequest("POST", request.url, data=request.body)
    plain.context["timestamp"] = headers["x-amz-date"]
    for name in set(names) - {"host"}:
        plain.headers[name] = headers[name]
    signer = SigV4Auth(Credentials("testing", "testing"), "dynamodb", region)
    text = signer.string_to_sign(plain, signer.canonical_request(plain))
    assert authorization.endswith(f"Signature={signer.signature(text, plain)}")
    assert f"Credential={signer.scope(plain)}, SignedHeaders=" in authorization


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# --- Over sockets ---------------------------------------------------------------------------------


class Server:
    """Answers each request with the next of `answers`: bytes, or None to close without an answer.
    Without `answers`, it returns an item with the key of the request, if the request has a key.

    `gathers`: the number of requests that must arrive before it answers. `tls`: its certificate.
    `silent`: how many of the next requests get no answer.
    """

    def __init__(self) -> None:
        self.answers: list[bytes | None] = []
        self.gathers = threading.Barrier(1)
        self.tls: ssl.SSLContext | None = None
        self.silent = 0
        self.requests: list[bytes] = []
        self.connections = 0
        self.has_closed = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        if self.tls is not None:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:  # the client refuses the certificate
                return
        # The client may close the connection before it has sent everything.
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            while head := stream.readline():
                length = 0
                while (line := stream.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    head += line
                    length = int(value) if name.lower() == b"content-length" else length
                body = stream.read(length)
                self.requests.append(head + body)
                self.gathers.wait(60)
                if self.silent:
                    self.silent -= 1
                    assert connection.recv(1) == b"", "it sends nothing more, and closes"
                    break
                answer = self.answers.pop(0) if self.answers else _echo(body)
                if answer is None:
                    return
                connection.sendall(answer)
                if b"close" in answer:
                    break
        self.has_closed.set()


def _echo(body: bytes) -> bytes:
    asked = json.loads(body)
    values = asked.get("ExpressionAttributeValues", {})
    key = asked.get("Key") or ({"pk": values[":0"]} if "KeyConditionExpression" in asked else {})
    found = {"Item": key, "Items": [key], "Attributes": key, "Count": 1, "ScannedCount": 1}
    return answer(200, json.dumps(found if key else {}).encode())


@pytest.fixture
def server(process: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    # A busy machine may take long, and what is repeated would be counted.
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr(deadline, "A_CLIENT_WAITS", deadline.Patience(1, 60, 0.6))
    yield server
    server.close()


def answer(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_calls_share_a_connection(server: Server) -> None:
    for n in "123":
        assert table.get(("a", n)) == {"pk": "a", "sk": n}
    assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize(
    "first",
    [
        None,
        answer(500, b"<html>a server on the way</html>"),
        answer(503, b'{"__type": "com.amazonaws.dynamodb.v20120810#ServiceUnavailable"}'),
        answer(400, b'{"__type": "com.amazon.coral.availability#ThrottlingException"}'),
        answer(200, b'{"Item": {"pk": {"S": "torn"}}}', "x-amz-crc32: 1"),
        answer(200, b"{}", "Connection: close"),
    ],
)
def test_a_call_after_a_passing_failure_or_a_closed_connection_succeeds(
    server: Server, first: bytes | None
) -> None:
    server.answers = [first, answer(200, b'{"Item": {"pk": {"S": "\xc3\xa9"}}}')]
    found = table.get(("a", "1")) or table.get(("a", "1"))
    assert found == {"pk": "é"}
    assert len(server.requests) == 2


def test_a_connection_closed_by_the_server_is_not_reused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after Lambda froze the function: the server has closed idle connections."""
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", -1.0)  # one attempt
    server.answers = [answer(200, b"{}", "x-then: close")]
    assert table.get(("a", "1")) is None
    server.has_closed.wait(60)
    assert table.get(("a", "1"))
    assert (len(server.requests), server.connections) == (2, 2)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("framed", ["by its length", "in chunks", "by its end"])
def test_a_long_answer_may_be_the_last_of_its_connection(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, framed: str, tls: bool
) -> None:
    if tls:
        encrypt(server, "localhost", monkeypatch, tmp_path)
    text = "x" * 10 * _READ_AT_ONCE
    body = json.dumps({"Item": {"text": {"S": text}}}).encode()
    head = ["HTTP/1.1 200 X", "Connection: close"]
    if framed == "by its length":
        head.append(f"Content-Length: {len(body)}")
    elif framed == "in chunks":
        head.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    server.answers = ["\r\n".join([*head, "", ""]).encode() + body]
    assert table.get(("a", "1")) == {"text": text}
    assert table.get(("a", "2")) == {"pk": "a", "sk": "2"}
    assert (len(server.requests), server.connections) == (2, 2)


def test_an_unreachable_server_raises_busy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.1)
    server.close()
    with pytest.raises(Busy):
        table.get(("a", "1"))


def test_a_refusal_has_the_message_of_dynamodb(server: Server) -> None:
    body = b'{"__type": "x#ValidationException", "message": "too long", "more": 1}'
    server.answers = [answer(400, body, "x-amzn-requestid: ABC")]
    with pytest.raises(ClientError, match="too long") as raised:
        table.get(("a", "1"))
    response: Any = raised.value.response
    assert response["Error"]["Code"] == "ValidationException"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert response["ResponseMetadata"]["RequestId"] == "ABC"


def test_a_failed_condition_has_the_existing_item(server: Server) -> None:
    body = b'{"__type": "x#ConditionalCheckFailedException", "Item": {"n": {"N": "7"}}}'
    server.answers = [answer(400, body)]
    with pytest.raises(table.ConditionFailed) as raised:
        table.put({"pk": "a", "sk": "1"}, when=table.absent)
    assert raised.value.old == {"n": 7}


def test_a_cancelled_transaction_has_a_reason_for_each_item(server: Server) -> None:
    body = (
        b'{"__type": "x#TransactionCanceledException", "Message": "cancelled",'
        b' "CancellationReasons": [{"Code": "None"},'
        b' {"Code": "ConditionalCheckFailed", "Item": {"n": {"N": "7"}}}]}'
    )
    server.answers = [answer(400, body)]
    commit = Commit()
    commit.put({"pk": "a", "sk": "1"})
    commit.put({"pk": "b", "sk": "1"}, when=table.absent)
    with pytest.raises(table.ConditionFailed) as raised:
        commit.send()
    assert (raised.value.key, raised.value.old) == (("b", "1"), {"n": 7})


# --- Several calls together -----------------------------------------------------------------------

REFUSED = answer(400, b'{"__type": "x#ValidationException", "message": "too long"}')


def read(pk: str) -> DynamoCall[Any]:
    return table.query_all.call(pk)


def test_all_calls_are_sent_before_the_first_is_answered(server: Server) -> None:
    server.gathers = threading.Barrier(4)
    item = table.get.call(("a", "1"))
    count = table.tally.call("d", where=None, matching=None, look_at_least=1)
    found = dynamodb.wait_for_results([item, read("b"), read("c"), count])
    assert found == [
        {"pk": "a", "sk": "1"},
        [{"pk": "b"}],
        [{"pk": "c"}],
        table.Tally(1, 1, True),
    ]


def test_further_pages_are_read_at_the_same_time(server: Server) -> None:
    more = b'{"Items": [], "LastEvaluatedKey": {"pk": {"S": "x"}, "sk": {"S": "y"}}}'
    server.gathers = threading.Barrier(2)
    server.answers = [answer(200, more), answer(200, more)]
    assert dynamodb.wait_for_results([read("a"), read("b")]) == [[{"pk": "a"}], [{"pk": "b"}]]
    assert len(server.requests) == 4


def test_calls_after_a_refused_one_get_their_own_replies(server: Server) -> None:
    server.answers = [REFUSED]
    with pytest.raises(ClientError, match="too long"):
        dynamodb.wait_for_results([read("a"), read("b"), read("c")])
    assert [table.get((pk, "1")) for pk in "def"] == [{"pk": pk, "sk": "1"} for pk in "def"]


@pytest.mark.parametrize("first", [None, answer(503, b"{}")])
def test_a_call_of_several_that_fails_once_is_sent_again(
    server: Server, first: bytes | None
) -> None:
    server.answers = [first]
    assert dynamodb.wait_for_results([read("a"), read("b")]) == [[{"pk": "a"}], [{"pk": "b"}]]
    assert len(server.requests) == 3


def test_throttled_calls_pause_once_for_all(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a list in a throttled shop would take the sum of the pauses."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    throttled = answer(400, b'{"__type": "x#ThrottlingException"}')
    server.answers = [throttled] * 16
    assert dynamodb.wait_for_results([read(pk) for pk in "abcdefgh"]) == [
        [{"pk": pk}] for pk in "abcdefgh"
    ]
    assert (len(pauses), len(server.requests)) == (2, 24)


def test_what_was_left_of_a_batch_is_asked_for_again(server: Server) -> None:
    items = [{"pk": {"S": pk}, "sk": {"S": "1"}} for pk in "ab"]
    left = {SETTINGS["TABLE"]: {"Keys": items[1:], "ConsistentRead": True}}
    replies = [
        {"Responses": {SETTINGS["TABLE"]: items[:1]}, "UnprocessedKeys": left},
        {"Responses": {SETTINGS["TABLE"]: items[1:]}},
    ]
    server.answers = [answer(200, json.dumps(reply).encode()) for reply in replies]
    assert set(table.batch_get([("a", "1"), ("b", "1")])) == {("a", "1"), ("b", "1")}
    assert json.dumps(left, separators=(",", ":")).encode() in server.requests[1].replace(b" ", b"")


# --- Connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [103, 204])
def test_a_connection_with_a_possible_late_answer_is_not_reused(
    server: Server, status: int
) -> None:
    server.answers = [f"HTTP/1.1 {status} X\r\nContent-Length: 9\r\n\r\n".encode()]
    assert table.get(("b", "1")) == {"pk": "b", "sk": "1"}
    assert server.connections == 2


@pytest.mark.parametrize("end", ["\n", "\r\nx-amz-target: DynamoDB_20120810.Scan"])
def test_credentials_with_a_line_break_are_not_sent(
    server: Server, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", f"token{end}")
    with pytest.raises(ValueError, match="header"):
        table.get(("a", "1"))
    assert server.requests == []


def test_threads_share_connections(server: Server) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: table.get((str(n % 7), "1")), range(400)))
    assert found == [{"pk": str(n % 7), "sk": "1"} for n in range(400)]
    assert server.connections <= 32


def test_many_calls_share_a_few_connections(server: Server) -> None:
    pks = [str(n) for n in range(100)]
    assert dynamodb.wait_for_results([read(pk) for pk in pks]) == [[{"pk": pk}] for pk in pks]
    assert server.connections <= 32


def encrypt(server: Server, name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The server of `localhost` shows a certificate of `name`, of an authority that is trusted."""
    certificates = issue(folder, name)
    server.tls = certificates.server
    port = server.url.rpartition(":")[2]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"https://localhost:{port}")
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificates.authority))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_with_the_certificate_of_another_gets_no_request(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    encrypt(server, "another.example", monkeypatch, tmp_path)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.1)
    with pytest.raises(Busy):
        table.get(("a", "1"))
    assert server.requests == []


@pytest.mark.parametrize("tls", [False, True])
def test_attempts_without_an_answer_in_time_are_followed_by_others(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tls: bool
) -> None:
    """Several wait at the same time. With a client's patience, and attempts a quarter as long."""
    if tls:
        encrypt(server, "localhost", monkeypatch, tmp_path)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(deadline, "A_CLIENT_WAITS", deadline.Patience(1, 0.3, 0.05))
    server.silent = 30
    gc.disable()
    try:
        pks = [str(n) for n in range(30)]
        assert dynamodb.wait_for_results([read(pk) for pk in pks]) == [[{"pk": pk}] for pk in pks]
        assert server.has_closed.wait(60), "what was given up is closed, not left to the collector"
    finally:
        gc.enable()
    assert server.connections > 30


def test_a_proxy_of_the_environment_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(RuntimeError, match="us-east-1\\.amazonaws\\.com to NO_PROXY"):
        table.get(("a", "1"))


def test_a_stored_value_is_read_back_unchanged() -> None:
    item = {
        "text": "ä",
        "none": None,
        "yes": True,
        "whole": [0, 7, -7, 10**30],
        "exact": [Decimal("0.10"), Decimal("-2.5"), Decimal("1E+40")],
        "inside": {"list": [{"a": ["b"]}], "empty": {}, "several": frozenset({"x", "y"})},
    }
    assert pack(item)["none"] == {"NULL": True}, "DynamoDB refuses False"
    found = unpack(pack(item))
    assert found == item | {"inside": {**item["inside"], "several": found["inside"]["several"]}}
    assert set(found["inside"]["several"]) == {"x", "y"}
    assert [type(one) for one in found["whole"] + found["exact"]] == [int] * 4 + [Decimal] * 3


def test_only_the_named_fields_of_items_are_read() -> None:
    with Double():
        item = {"pk": "a", "sk": "1", "n": 1, "text": "long"}
        table.put(item)
        assert table.batch_get([("a", "1")]) == {("a", "1"): item}
        assert table.batch_get([("a", "1")], fields=["n"]) == {
            ("a", "1"): {"pk": "a", "sk": "1", "n": 1}
        }


def test_many_items_are_read_and_written_in_the_largest_calls_of_aws() -> None:
    keys = [("a", str(number)) for number in range(101)]
    with Double() as double, double.metered() as calls:
        for many in (25, 26):
            table.batch_write({"pk": pk, "sk": sk} for pk, sk in keys[:many])
        for many in (100, 101):
            assert len(table.batch_get(keys[:many])) == 26
    made = Counter(call.operation for call in calls)
    assert made == {"BatchWriteItem": 1 + 2, "BatchGetItem": 1 + 2}


def test_a_condition_has_no_redundant_parentheses() -> None:
    """DynamoDB refuses them."""
    one, other = Attr("a").eq(1), Attr("b").eq(2)
    assert Expressions().condition(all_of([one])) == "#0 = :0"
    assert Expressions().condition(all_of([one, other])) == "(#0 = :0 AND #1 = :1)"


def test_every_read_is_consistent() -> None:
    """What a write answered is what the next read shows."""
    asked: list[tuple[str, Any]] = []

    def note(operation: str, request: Any) -> None:
        asked.append((operation, request))

    with Double() as double:
        table.put({"pk": "a", "sk": "1"})
        double.faults = note
        table.get(("a", "1"))
        table.batch_get([("a", "1")])
        table.query_all("a")
        table.tally("a", where=None, matching=None, look_at_least=1)
        table.scan(SETTINGS["TABLE"], None)
    batched = asked.pop(1)[1]["RequestItems"]
    assert [each["ConsistentRead"] for each in batched.values()] == [True]
    assert [operation for operation, _ in asked] == ["GetItem", "Query", "Query", "Scan"]
    assert all(request["ConsistentRead"] for _, request in asked)


def test_a_scan_continues_after_its_last_item() -> None:
    keys = [(f"a{number}", "1") for number in range(5)]
    found: list[str] = []
    after: Any = None
    with Double() as double:
        for pk, sk in keys:
            table.put({"pk": pk, "sk": sk, "text": "x" * 400})
        double.scan_bytes = 1_000
        for _ in keys:
            items, after = table.scan(SETTINGS["TABLE"], after)
            assert len(items) < len(keys)
            found += [item["pk"] for item in items]
            if after is None:
                break
    assert sorted(found) == sorted({pk for pk, _ in keys})
