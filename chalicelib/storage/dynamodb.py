"""One call to DynamoDB; the reply is in DynamoDB's JSON.

botocore finds, checks, builds, signs, sends and reads each call by a model of the service, which
takes three quarters of its CPU. Our calls are DynamoDB's JSON already: they are signed (Signature
Version 4), sent and read here, with public parts of botocore: the address, the credentials, and the
client's `before-send` hooks, through which tests answer.

If one of those is missing, a proxy is set, or `DIRECT_CALLS` is `off`, botocore's client makes the
calls, after one warning.
"""

import json
import select
import ssl
import time
import zlib
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

import botocore
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from botocore.httpsession import get_cert_path
from botocore.utils import get_environ_proxies

from chalicelib import settings, telemetry
from chalicelib.aws import client as client_of
from chalicelib.aws import session

Connection = dict[str, object]

NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened

# Requests are trees: a check for cycles would take a fifth of the time.
encoded: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode

_JSON: Final = "application/x-amz-json-1.0"
_TARGET: Final = "DynamoDB_20120810"


def client() -> object:
    """The client of botocore."""
    return client_of("dynamodb")


def call(operation: str, request: Connection | str) -> Connection:
    """The reply to an operation, such as `GetItem`; a request may be JSON text already.

    Raises ClientError if DynamoDB refuses, one of NO_ANSWER if no answer came.
    """
    direct = _direct(client())
    if direct is not None:
        return direct.reply(operation, direct.send(operation, request))
    asked = json.loads(request) if isinstance(request, str) else request
    reply: Connection = getattr(client(), botocore.xform_name(operation))(**asked)
    return reply


def send(operation: str, request: Connection) -> "Sent | None":
    """A call whose reply is read later: `call` in two halves. None if botocore makes the calls,
    because it cannot split them. Raises one of NO_ANSWER if nothing could be sent."""
    direct = _direct(client())
    return Sent(direct, operation, direct.send(operation, request)) if direct is not None else None


class Sent:
    """A call that was sent. Read or close it, once."""

    def __init__(self, direct: "_Direct", operation: str, way: Any) -> None:
        self._direct, self._operation, self._way = direct, operation, way

    def result(self) -> Connection:
        """Returns or raises what `call` does."""
        return self._direct.reply(self._operation, self._way)

    def close(self) -> None:
        """Discards the reply."""
        if isinstance(self._way, HTTPConnection):
            self._way.close()


@lru_cache(maxsize=1)
def _direct(client: object) -> "_Direct | None":
    if not settings.direct_calls():
        return None
    try:
        return _Direct(client)
    except Exception as missing:
        telemetry.warning(
            "DynamoDB is called through botocore",
            reason=f"{type(missing).__name__}: {missing}",
            botocore=botocore.__version__,
        )
        return None


class _Direct:
    def __init__(self, client: Any) -> None:
        """Raises any exception if botocore lacks what a call needs."""
        self._url: str = client.meta.endpoint_url
        self._region: str = client.meta.region_name
        self._emit = client.meta.events.emit_until_response
        config = client.meta.config
        self._timeouts: tuple[float, float] = config.connect_timeout, config.read_timeout
        self._credentials: Any = session().get_credentials()
        parts = urlsplit(self._url)
        self._host, self._address, self._port = parts.netloc, parts.hostname or "", parts.port
        if parts.path not in ("", "/") or get_environ_proxies(self._url):
            raise ValueError("a path in its address, or a proxy, is not supported")
        self._tls = _tls() if parts.scheme == "https" else None
        self._idle: deque[HTTPConnection] = deque()
        self._prepared("GetItem", b"{}")

    def send(self, operation: str, request: Connection | str) -> object:
        """The connection that the request went through, or the answer of a hook."""
        body = (request if isinstance(request, str) else encoded(request)).encode()
        prepared = self._prepared(operation, body)
        event = f"before-send.dynamodb.{operation}"
        _, hooked = self._emit(event, request=prepared)
        if hooked is not None:
            return hooked
        # In one piece: `HTTPConnection.request` sends two, for three times the CPU.
        lines = "".join(f"{name}: {value}\r\n" for name, value in prepared.headers.items())
        head = f"POST / HTTP/1.1\r\n{lines}content-length: {len(body)}\r\n\r\n"
        if len(head.splitlines()) != len(prepared.headers) + 3:
            raise ValueError("a header has a line break: the credentials may have one")
        connection = self._connection()
        with _closed_on_failure(connection):
            connection.sock.sendall(head.encode("ascii") + body)
        return connection

    def reply(self, operation: str, way: Any) -> Connection:
        """The reply to what `send` sent."""
        if isinstance(way, HTTPConnection):
            status, headers, content = self._received(way)
        else:
            status, headers, content = way.status_code, way.headers, way.content
        expected = headers.get("x-amz-crc32")
        if expected is not None and int(expected) != zlib.crc32(content):
            raise HTTPClientError(error="the checksum of the answer is wrong")
        if status == 200:
            reply: Connection = json.loads(content)
            return reply
        raise ClientError(_refusal(status, headers, content), operation)  # type: ignore[arg-type]

    def _prepared(self, operation: str, body: bytes) -> Any:
        keys = self._credentials.get_frozen_credentials()
        signed: dict[str, str] = {
            "content-type": _JSON,
            "host": self._host,
            "x-amz-date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
            **({"x-amz-security-token": keys.token} if keys.token else {}),
            "x-amz-target": f"{_TARGET}.{operation}",
        }
        headers: Any = {
            **signed,
            "authorization": _authorization(keys, self._region, signed, body),
            "user-agent": "backroom",
        }
        return AWSPreparedRequest("POST", f"{self._url}/", headers, body, False)

    def _received(self, connection: HTTPConnection) -> tuple[int, Any, bytes]:
        """The status, headers and body of the answer."""
        with _closed_on_failure(connection), HTTPResponse(connection.sock, method="POST") as answer:
            answer.begin()
            content = answer.read()
        # Every answer of DynamoDB has a body. After one without, such as an early hint, another may
        # follow.
        if answer.will_close or not content:
            connection.close()
        else:
            self._idle.append(connection)
        return answer.status, answer.headers, content

    def _connection(self) -> HTTPConnection:
        """An idle connection that the server has not closed, or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if not _has_ended(connection):
                return connection
            connection.close()
        connect, read = self._timeouts
        if self._tls is None:
            made = HTTPConnection(self._address, self._port, timeout=connect)
        else:
            made = HTTPSConnection(self._address, self._port, timeout=connect, context=self._tls)
        try:
            made.connect()
        except OSError as error:
            made.close()
            raise HTTPClientError(error=f"{type(error).__name__}: {error}") from error
        made.sock.settimeout(read)
        return made


class _closed_on_failure:
    """After any failure inside, the connection is not used again."""

    def __init__(self, connection: HTTPConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> None:
        if failure is None:
            return
        self._connection.close()
        if isinstance(failure, OSError | HTTPException):
            raise HTTPClientError(error=f"{type(failure).__name__}: {failure}") from failure


def _has_ended(connection: HTTPConnection) -> bool:
    """An idle connection with data to read has mostly been closed. A TLS record that was read in
    part is not visible at the socket."""
    sock, poll = connection.sock, select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0)) or (isinstance(sock, ssl.SSLSocket) and sock.pending() > 0)


def _tls() -> ssl.SSLContext:
    own = session().get_config_variable("ca_bundle")
    return ssl.create_default_context(cafile=own or get_cert_path(True))


def _authorization(keys: Any, region: str, signed: Mapping[str, str], body: bytes) -> str:
    """Signature Version 4 of a POST to `/`; `signed` is in the order of the names."""
    moment = signed["x-amz-date"]
    scope = f"{moment[:8]}/{region}/dynamodb/aws4_request"
    names = ";".join(signed)
    lines = "".join(f"{name}:{value}\n" for name, value in signed.items())
    canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = digest(_signing_key(keys.secret_key, scope), text.encode(), "sha256").hex()
    credential = f"{keys.access_key}/{scope}"
    return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"


@lru_cache(maxsize=2)
def _signing_key(secret: str, scope: str) -> bytes:
    """The same for a day."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    return key


def _refusal(status: int, headers: Any, content: bytes) -> Connection:
    """The content of botocore's ClientError: the reply, its `Error` and its `ResponseMetadata`."""
    try:
        parsed = json.loads(content)
        reply: Connection = parsed if isinstance(parsed, dict) else {}
    except ValueError:
        reply = {}  # perhaps from a proxy
    code = str(reply.pop("__type", status)).rpartition("#")[2]
    message = str(reply.pop("message", reply.pop("Message", "")))
    metadata = {"HTTPStatusCode": status, "RequestId": headers.get("x-amzn-requestid")}
    return {**reply, "Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
