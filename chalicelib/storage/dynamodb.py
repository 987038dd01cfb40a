"""Calls to DynamoDB: sent, then read; several in one round trip; repeated until a deadline.

botocore's `SigV4Auth` signs them, urllib3's connections send them. The address, credentials, CA
bundle and hooks are botocore's. Its client makes the calls if a proxy is set, or as `settings` say.
"""

import json
import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import sha256
from http import client as http
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from botocore import auth, awsrequest, httpsession, utils, xform_name
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import is_connection_dropped

from chalicelib import aws, deadline, settings, telemetry
from chalicelib.problems import Busy
from chalicelib.values.batches import batches

Wire = dict[str, Any]  # a request or a reply, in DynamoDB's JSON
Result = Callable[[], Wire]
T = TypeVar("T")
NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened
_FAILED: Final = (OSError, http.HTTPException, HTTPError, *NO_ANSWER)
# What codes of refusals begin with, of a call or, as a reason, of a cancelled transaction.
THROTTLED: Final = ("ProvisionedThroughputExceeded", "RequestLimitExceeded", "Throttling")
_REPEATED: Final = (*THROTTLED, "TransactionConflict", "TransactionInProgress")
_AT_ONCE: Final = 32  # calls that are sent before the first is read; each has a connection
# Requests are trees: a check for cycles would take a fifth of the time.
encoded: Final = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


@dataclass
class Sent(Generic[T]):
    """A call that was sent; `result()` waits."""

    operation: str
    request: Wire
    read: Callable[[Wire], object] = lambda reply: reply  # makes the result, or sends the next call
    refused: Callable[[Any], Exception] = lambda error: error  # what is raised for a ClientError

    def __post_init__(self) -> None:
        self.answer = send(self.operation, self.request)

    def result(self) -> T:
        """Raises Busy where DynamoDB refuses or does not answer for too long."""
        found: T = _results([self])[0]
        return found


def together(sends: Sequence[Callable[[], Sent[Any]]]) -> list[Any]:
    """The results of independent calls: all are sent, then read, and so are those that follow. When
    it raises, no write is under way."""
    found = []
    for some in batches(sends, _AT_ONCE):
        found += _results([send() for send in some])
    return found


def _results(calls: Sequence[Sent[Any]]) -> list[Any]:
    found: list[Any] = list(calls)
    refused: dict[int, Exception] = {}
    for _ in deadline.attempts():
        for place in refused:
            found[place] = replace(found[place])  # sent again
        refused = {}
        unread = [place for place, call in enumerate(found) if isinstance(call, Sent)]
        for place in unread:
            try:
                found[place] = found[place].read(found[place].answer())
            except (ClientError, *NO_ANSWER) as error:
                refused[place] = error
            else:
                if isinstance(found[place], Sent):
                    unread.append(place)  # the call that follows was sent
        for place, failure in refused.items():
            if not may_repeat(failure):
                raise found[place].refused(failure)
        if not refused:
            return found
    telemetry.given_up(found[place].operation, failure)
    raise Busy


def may_repeat(error: Exception) -> bool:
    """Whether the same request may be sent again: it was refused temporarily, or its outcome is
    unknown, as after every failure of the service itself."""
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or error.response["Error"]["Code"].startswith(_REPEATED)


def send(operation: str, request: Wire | str) -> Result:
    """One attempt at a call, such as `GetItem`; a request may be JSON text already. What it returns
    is called once: it waits for the reply, and raises ClientError if DynamoDB refuses, one of
    NO_ANSWER if no whole answer came in the time of an attempt (`deadline.py`)."""
    text = request if isinstance(request, str) else encoded(request)
    return _sender(aws.client("dynamodb"))(operation, text.encode())


@lru_cache(maxsize=1)
def _sender(client: Any) -> Callable[[str, bytes], Result]:
    proxies = utils.get_environ_proxies(client.meta.endpoint_url)
    if settings.direct_calls() and not proxies and aws.session().get_credentials():
        return _Direct(client.meta).send
    return lambda name, body: partial(getattr(client, xform_name(name)), **json.loads(body))


class _Direct:
    def __init__(self, client: Any) -> None:
        self._url = f"{client.endpoint_url.rstrip('/')}/"
        self._address = urlsplit(self._url)
        self._region: str = client.region_name
        self._emit = client.events.emit_until_response
        self._credentials = aws.session().get_credentials()
        self._idle: deque[HTTPConnection] = deque(maxlen=_AT_ONCE)
        self._connection: Callable[..., HTTPConnection] = HTTPConnection
        if self._address.scheme == "https":
            bundle = aws.session().get_config_variable("ca_bundle")
            trusted = ssl.create_default_context(cafile=bundle or httpsession.get_cert_path(True))
            self._connection = partial(HTTPSConnection, ssl_context=trusted)

    def send(self, operation: str, body: bytes) -> Result:
        signed = self._signed(operation, body)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connection(self._address.hostname, self._address.port)
        connection.timeout = deadline.patience().attempt
        end = time.monotonic() + connection.timeout
        connection.response_class = partial(_answer, end)  # type: ignore[assignment]
        try:
            _, hooked = self._emit(f"before-send.dynamodb.{operation}", request=signed)
            if hooked is not None:
                return partial(
                    _reply, operation, hooked.status_code, hooked.headers, hooked.content
                )
            if is_connection_dropped(connection):  # or not yet open: DynamoDB closes what is idle
                connection.close()  # the request opens it
            connection.request("POST", "/", body, signed.headers)  # type: ignore[arg-type]
        except _FAILED as error:
            return partial(self._read, connection, operation, error)
        return partial(self._read, connection, operation, None)

    def _signed(self, operation: str, body: bytes) -> awsrequest.AWSPreparedRequest:
        headers: Any = {  # a dict is enough: botocore's own class is made for mail, and slow
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Host": self._address.netloc,  # the last two: otherwise botocore takes longer
            "X-Amz-Content-SHA256": sha256(body).hexdigest(),
        }
        request = awsrequest.AWSRequest("POST", self._url)
        request.headers = headers
        keys = self._credentials.get_frozen_credentials()
        auth.SigV4Auth(keys, "dynamodb", self._region).add_auth(request)
        return awsrequest.AWSPreparedRequest("POST", self._url, headers, body, False)

    def _read(self, connection: HTTPConnection, operation: str, failed: Exception | None) -> Wire:
        try:
            if failed:
                raise failed
            # urllib3's own wraps it in what is not used here, for half of a call's time.
            answer = http.HTTPConnection.getresponse(connection)
            return _reply(operation, answer.status, answer.headers, answer.read())
        except (ValueError, *_FAILED) as error:
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


def _answer(end: float, connected: socket, **options: Any) -> http.HTTPResponse:
    return http.HTTPResponse(_Received(end, connected), **options)  # type: ignore[arg-type]


def _reply(operation: str, status: int, headers: Any, content: bytes) -> Wire:
    """Raises ValueError if it was cut or changed on its way, or is from something else, and
    ClientError with what botocore puts into it, if it is a refusal."""
    expected = headers.get("x-amz-crc32")
    if expected is not None and int(expected) != zlib.crc32(content):
        raise ValueError("the checksum of the answer is wrong")
    reply: Wire = json.loads(content)
    if status == 200:
        return reply
    code = str(reply.pop("__type", status)).rpartition("#")[2]
    message = str(reply.pop("message", reply.pop("Message", "")))
    metadata = {"HTTPStatusCode": status, "RequestId": headers.get("x-amzn-requestid")}
    response = {**reply, "Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    raise ClientError(response, operation)  # type: ignore[arg-type]
