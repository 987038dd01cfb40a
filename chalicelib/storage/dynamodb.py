"""Calls to DynamoDB: nothing else talks to it. `table.py` and `commit.py` make them.

A `DynamoCall` that was made is not sent yet. Several are sent, and only then read
(`wait_for_results`): they take the time of one, without a thread. botocore's `SigV4Auth` signs,
urllib3's connections send to the address that botocore knows, `http.client` reads. Handlers of
botocore's `before-send`, such as moto's, see each attempt and may answer it.
"""

import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from http import client as http
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import orjson
from botocore import auth, awsrequest, httpsession, utils
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util import is_connection_dropped

from chalicelib import aws, deadline, telemetry
from chalicelib.problems import Busy
from chalicelib.values.batches import batches

Wire = dict[str, Any]  # a request or a reply, in DynamoDB's JSON
T = TypeVar("T")
NO_ANSWER: Final = (HTTPClientError, ConnectionError)  # it may or may not have happened
_FAILED: Final = (OSError, http.HTTPException, HTTPError, *NO_ANSWER)
# The beginnings of the codes of refusals: of a call, or as a reason of a cancelled transaction.
THROTTLED: Final = ("ProvisionedThroughputExceeded", "RequestLimitExceeded", "Throttling")
_REPEATED: Final = (*THROTTLED, "TransactionConflict", "TransactionInProgress")
_AT_ONCE: Final = 32  # calls that are sent before the first is read; each has a connection


class DynamoCall(Generic[T]):
    """A call such as `GetItem`. Making it does nothing; it may be sent several times.

    `read` turns a reply into the result, or into the call that follows. `to_error` turns a
    ClientError that no repetition helps into what is raised.
    """

    def __init__(
        self,
        operation: str,
        request: Wire,
        read: Callable[[Wire], object] = lambda reply: reply,
        to_error: Callable[[Any], Exception] = lambda error: error,
    ) -> None:
        self.operation, self.request, self.read, self.to_error = operation, request, read, to_error
        self._receive: Callable[[], Wire] | None = None

    def send(self) -> None:
        """Send one attempt, without waiting for the reply; nothing is raised for a failure.

        `read_reply` raises why it failed.
        """
        self._receive = _Service(aws.client("dynamodb")).send(self.operation, self.request)

    @property
    def is_under_way(self) -> bool:
        """Whether the call was sent and its reply is still to be read."""
        return self._receive is not None

    def read_reply(self) -> Wire:
        """Wait for the reply to the attempt, once for each `send`; return it in DynamoDB's JSON.

        Raises ClientError if DynamoDB refuses, one of NO_ANSWER if it does not answer in the time
        of an attempt (`deadline.py`).
        """
        assert self._receive, "the call was not sent"
        receive, self._receive = self._receive, None
        return receive()

    def wait_for_result(self) -> T:
        """Return what `read` makes of the reply; if that is a call, send it, and return its result.

        The call is sent unless it is under way, and sent again until the deadline while DynamoDB
        refuses for a moment or does not answer; then Busy is raised. Of other failures, `to_error`
        makes what is raised.
        """
        result: T = _wait_for([self])[0]
        return result


def wait_for_results(calls: Sequence[DynamoCall[Any]]) -> list[Any]:
    """Return the results of independent calls, in order.

    All are sent, then read (32 at a time), and so are the calls that follow from their replies.
    Each call is repeated, and raises, as in `wait_for_result`. When it raises, all calls that were
    sent have answered. [] for no calls.
    """
    return [result for part in batches(calls, _AT_ONCE) for result in _wait_for(part)]


def _wait_for(calls: Sequence[DynamoCall[Any]]) -> list[Any]:
    """Send calls together, unless already under way; return the results, in order.

    Those that were refused for a moment, or had no answer, are sent again until the deadline. A
    result that is a call is sent at once, and its own result counts. When all have answered, raises
    what `to_error` makes of an error that no repetition helps; raises Busy at the deadline, which
    is logged.
    """
    results: list[Any] = [None] * len(calls)
    waiting = [*enumerate(calls)]
    for _ in deadline.attempts():
        for _, call in waiting:
            if not call.is_under_way:
                call.send()
        failed: list[tuple[int, DynamoCall[Any], Exception]] = []
        for place, call in waiting:  # and the calls that follow
            try:
                result = call.read(call.read_reply())
            except (ClientError, *NO_ANSWER) as error:
                failed.append((place, call, error))
                continue
            if isinstance(result, DynamoCall):
                result.send()
                waiting.append((place, result))
            results[place] = result
        for _, call, failure in failed:
            if not may_repeat(failure):
                raise call.to_error(failure)
        if not failed:
            return results
        waiting = [(place, call) for place, call, _ in failed]
    telemetry.given_up(call.operation, failure)
    raise Busy


def may_repeat(error: Exception) -> bool:
    """Return whether the same request may be sent again after this error.

    It was refused for a moment, or its outcome is unknown, as after every failure of the service.
    True for any error but a ClientError.
    """
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or error.response["Error"]["Code"].startswith(_REPEATED)


@lru_cache(maxsize=1)
class _Service:
    """DynamoDB at the address of botocore's client, and the open connections to it."""

    def __init__(self, client: Any) -> None:
        self._url = f"{client.meta.endpoint_url.rstrip('/')}/"
        self._region: str = client.meta.region_name
        self._emit = client.meta.events.emit_until_response
        self._credentials = aws.session().get_credentials()
        self._idle: deque[HTTPConnection] = deque(maxlen=_AT_ONCE)
        address = urlsplit(self._url)
        self._host, to = address.netloc, (str(address.hostname), address.port)
        self._connect: Callable[[], HTTPConnection] = partial(HTTPConnection, *to)
        if address.scheme == "https":
            bundle = aws.session().get_config_variable("ca_bundle")
            trusted = ssl.create_default_context(cafile=bundle or httpsession.get_cert_path(True))
            self._connect = partial(HTTPSConnection, *to, ssl_context=trusted)
        if utils.get_environ_proxies(self._url):
            raise RuntimeError(f"DynamoDB is called without a proxy: add {self._host} to NO_PROXY.")

    def send(self, operation: str, request: Wire) -> Callable[[], Wire]:
        """Send a request, and return a function that waits for the reply, or raises what failed.

        It raises nothing itself if the request cannot be sent. The time of the attempt runs from
        here.
        """
        body = orjson.dumps(request)
        signed = self._sign(operation, body)
        connection = self._take_connection()
        connection.timeout = deadline.patience().attempt
        end = time.monotonic() + connection.timeout
        failure: Exception | None = None
        try:
            _, hooked = self._emit(f"before-send.dynamodb.{operation}", request=signed)
            if hooked is not None:
                answer = hooked.status_code, hooked.headers, hooked.content
                return partial(_parse_answer, operation, *answer)
            connection.request("POST", "/", body, signed.headers)  # type: ignore[arg-type]
        except _FAILED as error:
            failure = error
        return partial(self._receive, operation, connection, end, failure)

    def _sign(self, operation: str, body: bytes) -> awsrequest.AWSPreparedRequest:
        """Return the request for an operation, signed with the session's credentials.

        It is not sent.
        """
        headers: Any = {  # a dict is enough: botocore's own class is made for mail, and slow
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Host": self._host,  # the last two: otherwise botocore takes longer
            "X-Amz-Content-SHA256": sha256(body).hexdigest(),
        }
        request = awsrequest.AWSRequest("POST", self._url)
        request.headers = headers
        keys = self._credentials and self._credentials.get_frozen_credentials()
        auth.SigV4Auth(keys, "dynamodb", self._region).add_auth(request)
        return awsrequest.AWSPreparedRequest("POST", self._url, headers, body, False)

    def _take_connection(self) -> HTTPConnection:
        """Take the idle connection that was used last, if it is open, or make a new one.

        Those that DynamoDB has closed are closed and forgotten. It connects when it is used.
        """
        with suppress(IndexError):
            while is_connection_dropped(connection := self._idle.pop()):
                connection.close()  # DynamoDB closes what is idle
            return connection
        return self._connect()

    def _receive(
        self, operation: str, connection: HTTPConnection, end: float, failure: Exception | None
    ) -> Wire:
        """Wait for the reply to what was sent, and return it; make the connection idle again.

        A failed connection is closed first; it opens again when it is used. `end`: when its time is
        over (`time.monotonic`). `failure`: why it could not be sent, which is raised at once.
        Raises ClientError if DynamoDB refused, HTTPClientError if no valid reply came.
        """
        try:
            if failure:
                raise failure
            # What is left of its time, after waiting for the answers to others.
            connection.sock.settimeout(max(0.001, end - time.monotonic()))
            # urllib3's own wraps it in what is not used here, for half of a call's time.
            answer = http.HTTPConnection.getresponse(connection)
            return _parse_answer(operation, answer.status, answer.headers, answer.read())
        except (ValueError, *_FAILED) as error:
            connection.close()
            raise HTTPClientError(error=f"{type(error).__name__}: {error}") from error
        finally:
            self._idle.append(connection)


def _parse_answer(operation: str, status: int, headers: Any, content: bytes) -> Wire:
    """Return the JSON of an answer of DynamoDB with status 200.

    Raises ValueError, whatever the status, if its checksum, if it has one, is wrong, or it is no
    JSON: it was cut or changed on its way, or comes from something else. Raises ClientError, with
    what botocore puts into it, for any other status: the code is that of the answer, or else the
    status.
    """
    expected = headers.get("x-amz-crc32")
    if expected is not None and int(expected) != zlib.crc32(content):
        raise ValueError("the checksum of the answer is wrong")
    reply: Wire = orjson.loads(content)
    if status == 200:
        return reply
    code = str(reply.pop("__type", status)).rpartition("#")[2]
    message = str(reply.pop("message", reply.pop("Message", "")))
    metadata = {"HTTPStatusCode": status, "RequestId": headers.get("x-amzn-requestid")}
    response = {**reply, "Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    raise ClientError(response, operation)  # type: ignore[arg-type]
