"""One call to DynamoDB, sent and then read; the reply is in DynamoDB's JSON.

botocore's client takes most of its CPU to find, check, build and read a call by a model of the
service. Ours are DynamoDB's JSON already: botocore's `SigV4Auth` signs them, the connections of
`http.client` send them. The address, the credentials, the CA bundle and the `before-send` hooks,
through which tests answer, are botocore's. Its client makes the calls if a proxy is set, or as
`settings` say.
"""

import json
import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any, Final, cast
from urllib.parse import urlsplit

from botocore import xform_name
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from botocore.httpsession import get_cert_path
from botocore.utils import get_environ_proxies
from urllib3.util import wait_for_read

from chalicelib import deadline, settings
from chalicelib.aws import client as client_of
from chalicelib.aws import session

Reply = dict[str, Any]
Result = Callable[[], Reply]

NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened
AT_ONCE: Final = 32  # calls that are sent before the first is read; each has a connection

# Requests are trees: a check for cycles would take a fifth of the time.
encoded: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def send(operation: str, request: Reply | str) -> Result:
    """Sends a call, such as `GetItem`; a request may be JSON text already. What it returns waits
    for the reply, and is called once.

    That raises ClientError if DynamoDB refuses, one of NO_ANSWER if no answer came in the time of
    one attempt (`deadline.py`).
    """
    body = request if isinstance(request, str) else encoded(request)
    return _sender(client_of("dynamodb"))(operation, body)


@lru_cache(maxsize=1)
def _sender(client: Any) -> Callable[[str, str], Result]:
    if settings.direct_calls() and not get_environ_proxies(client.meta.endpoint_url):
        return _Direct(client).send

    def send(operation: str, request: str) -> Result:
        return partial(getattr(client, xform_name(operation)), **json.loads(request))

    return send


class _Direct:
    def __init__(self, client: Any) -> None:
        self._url = f"{client.meta.endpoint_url.rstrip('/')}/"
        self._region: str = client.meta.region_name
        self._emit = client.meta.events.emit_until_response
        self._credentials = session().get_credentials()
        self._idle: deque[HTTPConnection] = deque(maxlen=AT_ONCE)
        address = urlsplit(self._url)
        self._host = address.netloc.rpartition("@")[2]
        kind: Callable[..., HTTPConnection] = HTTPConnection
        if address.scheme == "https":
            trusted = session().get_config_variable("ca_bundle") or get_cert_path(True)
            kind = partial(HTTPSConnection, context=ssl.create_default_context(cafile=trusted))
        self._connection = partial(kind, address.hostname, address.port)

    def send(self, operation: str, request: str) -> Result:
        seconds = deadline.patience().attempt
        end = time.monotonic() + seconds
        body = request.encode()
        signed = self._signed(operation, body)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connection()
        try:
            _, hooked = self._emit(f"before-send.dynamodb.{operation}", request=signed)
            if hooked is not None:
                parts = hooked.status_code, hooked.headers, hooked.content
                return partial(_reply, operation, *parts)
            connection.timeout = seconds
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
                if wait_for_read(connection.sock, 0):  # closed by DynamoDB
                    connection.close()  # the request opens it again
            connection.response_class = partial(_answer, end)  # type: ignore[assignment]
            connection.request("POST", "/", body, dict(signed.headers.items()))
        except (OSError, HTTPException, *NO_ANSWER) as error:
            return partial(self._read, connection, operation, error)
        return partial(self._read, connection, operation)

    def _signed(self, operation: str, body: bytes) -> AWSPreparedRequest:
        # Without the last two, botocore finds them out, which takes a quarter of its time.
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Host": self._host,
            "X-Amz-Content-SHA256": sha256(body).hexdigest(),
        }
        request = AWSRequest("POST", self._url, headers, body)
        keys = self._credentials.get_frozen_credentials()
        SigV4Auth(keys, "dynamodb", self._region).add_auth(request)
        return AWSPreparedRequest("POST", self._url, request.headers, body, False)

    def _read(
        self, connection: HTTPConnection, operation: str, failed: Exception | None = None
    ) -> Reply:
        try:
            if failed:
                raise failed
            answer = connection.getresponse()
            return _reply(operation, answer.status, answer.headers, answer.read())
        except (OSError, HTTPException, ValueError, *NO_ANSWER) as error:
            connection.close()
            raise HTTPClientError(error=f"{type(error).__name__}: {error}") from error
        finally:
            self._idle.append(connection)


class _Received(RawIOBase):
    """What arrives before the end: a socket's own time-out begins again with each byte."""

    def __init__(self, end: float, connected: socket) -> None:
        self._end, self._connected = end, connected
        self._file = connected.makefile("rb", 0)  # open until it is read, if no other may follow

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self._connected.settimeout(max(0.001, self._end - time.monotonic()))
        return self._file.readinto(buffer)

    def makefile(self, mode: str) -> BufferedReader:
        return BufferedReader(self)


def _answer(end: float, connected: socket, **options: Any) -> HTTPResponse:
    return HTTPResponse(cast(socket, _Received(end, connected)), **options)


def _reply(operation: str, status: int, headers: Any, content: bytes) -> Reply:
    """Raises ValueError if it was cut or changed on its way, or is from something else, and
    ClientError with what botocore puts into it, if it is a refusal."""
    expected = headers.get("x-amz-crc32")
    if expected is not None and int(expected) != zlib.crc32(content):
        raise ValueError("the checksum of the answer is wrong")
    reply: Reply = json.loads(content)
    if status == 200:
        return reply
    code = str(reply.pop("__type", status)).rpartition("#")[2]
    message = str(reply.pop("message", reply.pop("Message", "")))
    metadata = {"HTTPStatusCode": status, "RequestId": headers.get("x-amzn-requestid")}
    response = {**reply, "Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    raise ClientError(response, operation)  # type: ignore[arg-type]
