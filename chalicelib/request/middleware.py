"""The chain that every HTTP request passes: id → key and rate limit → route → reply → log line."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote

from botocore.exceptions import ConnectionError, HTTPClientError
from chalice.app import Request, Response

from chalicelib import telemetry
from chalicelib.problems import (
    Busy,
    Forbidden,
    MethodNotAllowed,
    NotFound,
    Problem,
    UnsupportedMediaType,
)
from chalicelib.request import call as calls
from chalicelib.request.answer import refusal
from chalicelib.request.authenticate import authenticate, is_admin, uncounted_window
from chalicelib.request.call import Call
from chalicelib.request.parse import (
    explain_expected_body,
    name_ignored_parameters,
    refuse_wrong_parameters,
)
from chalicelib.request.repeats import answer_again
from chalicelib.request.routes import (
    Crash,
    NoSuchPath,
    allowed_methods,
    find_operation,
    nearest_paths,
    paths,
)
from chalicelib.storage import outbox, table
from chalicelib.storage.actor import act_as
from chalicelib.storage.commit import Commit
from chalicelib.storage.idempotency import Repeated
from chalicelib.values import ids

GetResponse = Callable[[Request], Response]

_PUBLIC: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": (
        "ETag, Retry-After, X-Ignored-Parameters, X-RateLimit-Limit, X-RateLimit-Remaining,"
        " X-RateLimit-Reset, X-Request-Id"
    ),
}
# Routes with cacheable answers override this.
_ALWAYS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    # Whatever a page's tools add, such as `traceparent`; a * does not mean Authorization.
    "Access-Control-Allow-Headers": "*, Authorization, Accept, Content-Type, If-None-Match",
    "Access-Control-Max-Age": "86400",
}
_ID: Final = re.compile("[a-z]{2,5}_[0-9A-Za-z]{1,60}")
_CHALICE: Final[dict[int, type[Problem]]] = {
    404: NotFound,
    405: MethodNotAllowed,
    415: UnsupportedMediaType,
}


class InternalError(Problem):
    """500: has only the request id, to find the log line."""

    status, code = 500, "internal_error"


def handle(request: Request, get_response: GetResponse) -> Response:
    """Answer a request: the one HTTP middleware of the application."""
    started = time.perf_counter()
    call = Call(
        request,
        id=str(request.context.get("requestId") or ids.new_id("req")),
        operation=find_operation(request.method, request.path),
    )
    token = calls.begin(call)
    try:
        with act_as(call.actor):
            response = _answer_or_refuse(call, get_response)
    finally:
        calls.end(token)
    response.headers = {
        **_ALWAYS,
        **call.answer_headers,
        "X-Request-Id": call.id,
        **response.headers,
    }
    if request.method == "HEAD":
        response.body = ""
    _log_request(call, response, (time.perf_counter() - started) * 1000)
    return response


def _answer_or_refuse(call: Call, get_response: GetResponse) -> Response:
    try:
        if f"{call.path}/".startswith("/console/"):
            call.answer_headers.update(uncounted_window().headers())
            if call.request.method == "OPTIONS":
                return _answer_options(call)
            return _raise_own_refusal(call, get_response(call.request))
        if not is_admin(call):
            call.answer_headers.update(_PUBLIC)
        with _audit_refusals(call):
            return _admit_and_answer(call, get_response)
    except Crash as crash:
        return refusal(_log_defect(call, crash.__cause__ or crash))
    except NoSuchPath:
        return refusal(NoSuchPath(nearest_paths(call.path, paths())))
    except Repeated as first:
        return answer_again(call, first)
    except Problem as problem:
        return refusal(problem)
    except Exception as error:
        return refusal(_log_defect(call, error))


def _admit_and_answer(call: Call, get_response: GetResponse) -> Response:
    admitted = authenticate(call)
    try:
        with table.writing_after(admitted):
            if call.request.method == "OPTIONS":
                return _answer_options(call)
            if is_admin(call):
                refuse_wrong_parameters(call)
            else:
                call.answer_headers.update(name_ignored_parameters(call))
            return _raise_own_refusal(call, get_response(call.request))
    finally:
        admitted()  # a refusal replaces whatever the route returned or raised


@contextmanager
def _audit_refusals(call: Call) -> Iterator[None]:
    """Leave an entry in the audit log where a write is refused because of the key's role.

    The path may be anything, so only what may be an id is kept of it.
    """
    try:
        yield
    except Forbidden:
        if call.operation and not call.reads:
            kind = call.path.split("/")[3].replace("ies", "y").removesuffix("s")
            named = unquote((call.request.uri_params or {}).get("id", ""))
            id = named if _ID.fullmatch(named) else None
            request_line = f"{call.operation.method} {call.operation.path}"
            commit = Commit()
            commit.audit(
                outbox.audit_entry(kind, id, action="request.refused", request=request_line)
            )
            commit.send()
        raise


def _answer_options(call: Call) -> Response:
    allow = allowed_methods(call.request.path)
    if not allow:
        raise NoSuchPath
    return Response("", {"Allow": allow, **({} if is_admin(call) else _PREFLIGHT)}, 204)


def _raise_own_refusal(call: Call, response: Response) -> Response:
    """Return the response of Chalice, or raise its own refusal as a problem."""
    body = response.body
    if response.status_code >= 400 and isinstance(body, dict) and "Code" in body:
        family = _CHALICE.get(response.status_code, InternalError)
        message = str(body.get("Message"))
        if family is UnsupportedMediaType and call.operation:
            message = explain_expected_body(call.operation)
        texts = {name: text for name, text in response.headers.items() if isinstance(text, str)}
        raise family(message, headers=texts)
    return response


def _log_defect(call: Call, error: BaseException) -> Problem:
    telemetry.error("request failed", error, requestId=call.id, route=call.request.path)
    if isinstance(error, HTTPClientError | ConnectionError):
        return Busy()
    message = "The service failed. Try again; if it fails again, report the requestId."
    return InternalError(message, requestId=call.id)


def _log_request(call: Call, response: Response, milliseconds: float) -> None:
    status = response.status_code
    telemetry.log_metrics(
        "request",
        {
            "Requests": 1,
            "LatencyMs": round(milliseconds, 2),
            "ClientErrors": int(400 <= status < 500),
            "ServerErrors": int(status >= 500),
        },
        requestId=call.id,
        group=call.operation.tag if call.operation else None,
        keyId=call.caller.id if call.caller else None,
        method=call.request.method,
        route=call.request.path,
        status=status,
    )
