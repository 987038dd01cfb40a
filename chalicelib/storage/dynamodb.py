"""One call to DynamoDB; the reply is in DynamoDB's JSON.

botocore's client finds, checks, builds and reads each call by a model of the service, which takes
most of its CPU. Our calls are DynamoDB's JSON already: botocore's `SigV4Auth` signs them, urllib3
sends them. The address, the credentials, the CA bundle and the `before-send` hooks, through which
tests answer, are botocore's.

If a proxy is set, or `DIRECT_CALLS` is `off`, botocore's client makes the calls.
"""

import json
import socket
import threading
import time
import zlib
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any, Final

import botocore
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from botocore.httpsession import get_cert_path
from botocore.utils import get_environ_proxies
from urllib3.connection import HTTPConnection, HTTPSConnection

from chalicelib import deadline, settings
from chalicelib.aws import client as client_of
from chalicelib.aws import making, session

Connection = dict[str, object]

NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened
AT_ONCE: Final = 32  # calls, each of which has a connection

# Requests are trees: a check for cycles would take a fifth of the time.
encoded: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode

_CONNECT_SECONDS: Final = 1.0
_WATCH_SECONDS: Final = 0.1


def client() -> object:
    """The client of botocore."""
    return client_of("dynamodb")


def call(operation: str, request: Connection | str) -> Connection:
    """The reply to an operation, such as `GetItem`; a request may be JSON text already.

    Raises ClientError if DynamoDB refuses, one of NO_ANSWER if no answer came in the time of one
    attempt (`deadline.py`).
    """
    with making:
        direct = _direct(client())
    if direct is not None:
        return direct.call(operation, request)
    asked = json.loads(request) if isinstance(request, str) else request
    reply: Connection = getattr(client(), botocore.xform_name(operation))(**asked)
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
        self._connect()

    def _connect(self) -> None:
        options: dict[str, Any] = {"maxsize": AT_ONCE, "block": True}
        is_tls = self._url.startswith("https:")
        if is_tls:
            trusted = session().get_config_variable("ca_bundle") or get_cert_path(True)
            options |= {"cert_reqs": "CERT_REQUIRED", "ca_certs": trusted}
        self._pool: Any = urllib3.connection_from_url(self._url, **options)
        self._pool.ConnectionCls = _WatchedTls if is_tls else _Watched

    def call(self, operation: str, request: Connection | str) -> Connection:
        body = (request if isinstance(request, str) else encoded(request)).encode()
        prepared = self._signed(operation, body)
        _, hooked = self._emit(f"before-send.dynamodb.{operation}", request=prepared)
        if hooked is not None:
            status, headers, content = hooked.status_code, hooked.headers, hooked.content
        else:
            status, headers, content = self._answer(prepared, body)
        expected = headers.get("x-amz-crc32")
        if expected is not None and int(expected) != zlib.crc32(content):
            raise HTTPClientError(error="the checksum of the answer is wrong")
        if status == 200:
            reply: Connection = json.loads(content)
            return reply
        raise ClientError(_refusal(status, headers, content), operation)  # type: ignore[arg-type]

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

    def _answer(self, prepared: AWSPreparedRequest, body: bytes) -> tuple[int, object, bytes]:
        seconds = deadline.patience().attempt
        _watch().attempt.ends = ends = time.monotonic() + seconds
        try:
            answer = self._pool.urlopen(
                "POST",
                "/",
                body=body,
                headers=dict(prepared.headers.items()),
                retries=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=seconds),
                enforce_content_length=True,
            )
        except (OSError, urllib3.exceptions.HTTPError) as error:
            raise HTTPClientError(error=f"{type(error).__name__}: {error}") from error
        finally:
            _watch().forget()
        # Every answer of DynamoDB has a body. One without may have been cut, or be an early hint,
        # which another follows on its connection.
        if not answer.data or time.monotonic() > ends:
            self._connect()
            raise HTTPClientError(error="no whole answer in time")
        return answer.status, answer.headers, answer.data


class _Watch:
    """Cuts the connections of attempts that last too long: a socket's own time-out begins again
    with each byte that drips."""

    def __init__(self) -> None:
        self.attempt = threading.local()
        self._ends: dict[HTTPConnection, float] = {}
        threading.Thread(target=self._look, name="dynamodb-watch", daemon=True).start()

    def begin(self, connection: HTTPConnection) -> None:
        self.attempt.connection = connection
        self._ends[connection] = self.attempt.ends

    def forget(self) -> None:
        self._ends.pop(self.attempt.__dict__.pop("connection", None), None)

    def _look(self) -> None:
        pause = threading.Event()
        while not pause.wait(_WATCH_SECONDS):
            for connection, ends in list(self._ends.items()):
                if connection.sock is not None and time.monotonic() > ends:
                    with suppress(OSError):  # closed meanwhile
                        socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)


@cache
def _watch() -> _Watch:
    return _Watch()


class _Watched(HTTPConnection):
    def request(self, *args: Any, **more: Any) -> None:
        _watch().begin(self)
        super().request(*args, **more)


class _WatchedTls(HTTPSConnection):
    def request(self, *args: Any, **more: Any) -> None:
        _watch().begin(self)
        super().request(*args, **more)


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
