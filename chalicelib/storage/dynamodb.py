"""One call to DynamoDB, sent and then read; the reply is in DynamoDB's JSON.

botocore's client finds, checks, builds and reads each call by a model of the service, which takes
most of its CPU. Our calls are DynamoDB's JSON already: botocore's `SigV4Auth` signs them, urllib3's
connections send them. The address, the credentials, the CA bundle and the `before-send` hooks,
through which tests answer, are botocore's.

If a proxy is set, or `DIRECT_CALLS` is `off`, botocore's client makes the calls, one at a time;
with `half`, in one process of two, and the log names it (docs/operations.md).
"""

import json
import socket
import ssl
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache, partial
from http.client import HTTPException
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

import botocore
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from botocore.httpsession import get_cert_path
from botocore.utils import get_environ_proxies
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util.connection import is_connection_dropped

from chalicelib import deadline, settings
from chalicelib.aws import client as client_of
from chalicelib.aws import making, session

Reply = dict[str, object]
Result = Callable[[], Reply]

NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened
AT_ONCE: Final = 32  # calls that are sent before the first is read; each has a connection

# Requests are trees: a check for cycles would take a fifth of the time.
encoded: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode

_CONNECT_SECONDS: Final = 1.0
_WATCH_SECONDS: Final = 0.1


def client() -> object:
    """The client of botocore."""
    return client_of("dynamodb")


def send(operation: str, request: Reply | str) -> Result:
    """Sends a call, such as `GetItem`; a request may be JSON text already. What it returns waits
    for the reply, and is called once.

    That raises ClientError if DynamoDB refuses, one of NO_ANSWER if no answer came in the time of
    one attempt (`deadline.py`).
    """
    with making:
        direct = _direct(client())
    if direct is None:
        return partial(_by_botocore, operation, request)
    try:
        return direct.send(operation, request)
    except NO_ANSWER as error:
        return partial(_failed, error)


def call(operation: str, request: Reply | str) -> Reply:
    """The reply to a call; raises what `send` says."""
    return send(operation, request)()


def _failed(error: Exception) -> Reply:
    raise error


def _by_botocore(operation: str, request: Reply | str) -> Reply:
    asked = json.loads(request) if isinstance(request, str) else request
    reply: Reply = getattr(client(), botocore.xform_name(operation))(**asked)
    return reply


@lru_cache(maxsize=1)
def _direct(client: Any) -> "_Direct | None":
    is_direct = settings.direct_calls() and not get_environ_proxies(client.meta.endpoint_url)
    return _Direct(client) if is_direct else None


class _Direct:
    def __init__(self, client: Any) -> None:
        self._url = f"{client.meta.endpoint_url.rstrip('/')}/"
        self._region: str = client.meta.region_name
        self._emit = client.meta.events.emit_until_response
        self._credentials: Any = session().get_credentials()
        self._idle: deque[HTTPConnection] = deque(maxlen=AT_ONCE)
        self._watch = _watch()  # made by one thread only: this is under a lock
        trusted: Any = session().get_config_variable("ca_bundle") or get_cert_path(True)
        self._connection = _connecting(self._url, trusted)

    def send(self, operation: str, request: Reply | str) -> Result:
        body = (request if isinstance(request, str) else encoded(request)).encode()
        prepared = self._signed(operation, body)
        _, hooked = self._emit(f"before-send.dynamodb.{operation}", request=prepared)
        if hooked is not None:
            content = hooked.content
            return lambda: _reply(operation, hooked.status_code, hooked.headers, content)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connection()
        try:
            self._begin(connection, body, dict(prepared.headers.items()))
        except (OSError, HTTPError) as error:
            self._give_up(connection, error)
        return partial(self._read, connection, operation)

    def _signed(self, operation: str, body: bytes) -> AWSPreparedRequest:
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "User-Agent": "backroom",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        }
        request = AWSRequest("POST", self._url, headers, body)
        keys = self._credentials.get_frozen_credentials()
        SigV4Auth(keys, "dynamodb", self._region).add_auth(request)
        return AWSPreparedRequest("POST", self._url, request.headers, body, False)

    def _begin(self, connection: HTTPConnection, body: bytes, headers: dict[str, str]) -> None:
        seconds = deadline.patience().attempt
        self._watch.ends[connection] = time.monotonic() + seconds
        if is_connection_dropped(connection):
            connection.close()
            connection.timeout = _CONNECT_SECONDS
            connection.connect()
        connection.timeout = seconds
        connection.sock.settimeout(seconds)
        connection.request("POST", "/", body=body, headers=headers)

    def _read(self, connection: HTTPConnection, operation: str) -> Reply:
        try:
            answer: Any = connection.getresponse()
            # urllib3 1 returns the answer of `http.client`.
            content = answer.data if hasattr(answer, "data") else answer.read()
        except (OSError, HTTPError, HTTPException) as error:
            self._give_up(connection, error)
        # Every answer of DynamoDB has a body. One without may have been cut, or be an early hint,
        # which another follows on its connection.
        if not content:
            self._give_up(connection, "an answer without a body")
        self._watch.ends.pop(connection, None)
        self._idle.append(connection)
        return _reply(operation, answer.status, answer.headers, content)

    def _give_up(self, connection: HTTPConnection, error: Exception | str) -> NoReturn:
        self._watch.ends.pop(connection, None)
        connection.close()
        raise HTTPClientError(error=f"{type(error).__name__}: {error}")


def _connecting(url: str, trusted: str) -> Callable[[], HTTPConnection]:
    address = urlsplit(url)
    host = str(address.hostname)
    if address.scheme == "http":
        return partial(HTTPConnection, host, address.port)
    tls = ssl.create_default_context(cafile=trusted)
    return partial(HTTPSConnection, host, address.port or 443, ssl_context=tls)


class _Watch:
    """Cuts the connections of attempts that last too long: a socket's own time-out begins again
    with each byte that drips. `ends`: of each attempt (of `time.monotonic`)."""

    def __init__(self) -> None:
        self.ends: dict[HTTPConnection, float] = {}
        threading.Thread(target=self._look, name="dynamodb-watch", daemon=True).start()

    def _look(self) -> None:
        pause = threading.Event()
        while not pause.wait(_WATCH_SECONDS):
            for connection, ends in list(self.ends.items()):
                if connection.sock is not None and time.monotonic() > ends:
                    self.ends.pop(connection, None)
                    with suppress(OSError):  # closed meanwhile
                        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


@cache
def _watch() -> _Watch:
    return _Watch()


def _reply(operation: str, status: int, headers: Any, content: bytes) -> Reply:
    expected = headers.get("x-amz-crc32")
    if expected is not None and int(expected) != zlib.crc32(content):
        raise HTTPClientError(error="the checksum of the answer is wrong")
    if status == 200:
        reply: Reply = json.loads(content)
        return reply
    raise ClientError(_refusal(status, headers, content), operation)  # type: ignore[arg-type]


def _refusal(status: int, headers: Any, content: bytes) -> Reply:
    """The content of botocore's ClientError: the reply, its `Error` and its `ResponseMetadata`."""
    try:
        parsed = json.loads(content)
        reply: Reply = parsed if isinstance(parsed, dict) else {}
    except ValueError:
        reply = {}  # perhaps from a proxy
    code = str(reply.pop("__type", status)).rpartition("#")[2]
    message = str(reply.pop("message", reply.pop("Message", "")))
    metadata = {"HTTPStatusCode": status, "RequestId": headers.get("x-amzn-requestid")}
    return {**reply, "Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
