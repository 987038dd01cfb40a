"""Who may ask the emulated AWS: only this folder's own programs, by a random access key.

The emulator listens on loopback, where every user of the machine and every web page in a browser
can send requests. What may come from anywhere is what AWS itself offers to anybody: the API behind
API Gateway, which asks for its own keys, and an upload form of S3, whose signature is checked.
A GET of a picture of a product is open too: the bucket's policy lets everybody read it.
All other requests need the access key that `infra/emulator.py` made for this folder, or one of a
function's session, whose signature ministack checks.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]
Headers = list[tuple[str, str]]

# A page of another site can have its own name lead here; it cannot choose these.
_OWN_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_API = re.compile(r"/_aws/execute-api/[^/]+/[^/]+(/.*)?", re.DOTALL)
_BUCKET = re.compile(r"/[a-z0-9][a-z0-9.-]+/?")
_OBJECT = re.compile(r"/[a-z0-9][a-z0-9.-]+/.+", re.DOTALL)
_PICTURE = re.compile(r"/backroom-[a-z0-9-]+-pictures-[a-z0-9-]+/pic_[0-9A-Z]{26}/[a-z]+\.webp")
_HEADER_KEY = re.compile(r"AWS4-HMAC-SHA256 Credential=(\w+)/")
_PICTURE_HEADERS = frozenset({"host", "range", "if-none-match", "if-modified-since"})
# Of a form: one with others, such as X-Amz-Target, would be a call of another service.
_FORM_HEADERS = frozenset({"host", "content-type", "content-length", "transfer-encoding", "origin"})


def guard(application: Application, own_key: str, is_session: Callable[[str], bool]) -> Application:
    """Return the application, with all requests refused that may not reach it.

    `is_session` tells whether an access key is one whose signatures the application checks.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await application(scope, receive, send)
        elif scope["type"] == "http" and (headers := admit_headers(scope, own_key, is_session)):
            encoded = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers]
            await application({**scope, "headers": encoded}, receive, send)
        elif scope["type"] == "http":
            await _refuse(send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    return answer


def admit_headers(scope: Scope, own_key: str, is_session: Callable[[str], bool]) -> Headers | None:
    """Return the headers that may reach the emulator, or None if the request is refused."""
    headers = [
        (name.decode("latin-1").lower(), text.decode("latin-1")) for name, text in scope["headers"]
    ]
    hosts = _values(headers, "host")
    if len(hosts) != 1 or re.sub(r":\d+$", "", hosts[0]) not in _OWN_NAMES:
        return None
    if _API.fullmatch(scope["path"]):
        return headers
    if _is_form(scope, headers):
        return [(name, text) for name, text in headers if name in _FORM_HEADERS]
    if _is_picture(scope):
        return [(name, text) for name, text in headers if name in _PICTURE_HEADERS]
    if any(origin != f"http://{hosts[0]}" for origin in _values(headers, "origin")):
        return None
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    signed, presigned = _header_key(headers), _query_key(query)
    if own_key in (signed, presigned):
        return headers
    is_service = not scope["path"].startswith("/_")  # others of ministack check no signature
    if signed is not None and presigned is None and is_service and is_session(signed):
        return headers
    if presigned is not None and _is_presigned(scope, headers, query) and is_session(presigned):
        return headers
    return None


def _is_form(scope: Scope, headers: Headers) -> bool:
    is_multipart = any(
        text.lower().startswith("multipart/form-data") for text in _values(headers, "content-type")
    )
    at_bucket = _BUCKET.fullmatch(scope["path"]) and not scope.get("query_string")
    return scope["method"] == "POST" and bool(at_bucket) and is_multipart


def _is_picture(scope: Scope) -> bool:
    """Tell whether a browser asks for a picture, without a signature."""
    is_read = scope["method"] in {"GET", "HEAD"} and not scope.get("query_string")
    return is_read and bool(_PICTURE.fullmatch(scope["path"]))


def _is_presigned(scope: Scope, headers: Headers, query: Mapping[str, list[str]]) -> bool:
    """Tell whether S3 will check the query's signature: it downloads one object."""
    return (
        scope["method"] in {"GET", "HEAD"}
        and bool(_OBJECT.fullmatch(scope["path"]))
        and query.get("X-Amz-Algorithm") == ["AWS4-HMAC-SHA256"]
        and len(query.get("X-Amz-Signature", ())) == 1
        and not any(name in {"authorization", "x-amz-target"} for name, _ in headers)
    )


def _header_key(headers: Headers) -> str | None:
    given = _values(headers, "authorization")
    found = _HEADER_KEY.match(given[0]) if len(given) == 1 else None
    return found[1] if found else None


def _query_key(query: Mapping[str, list[str]]) -> str | None:
    given = query.get("X-Amz-Credential", [])
    return given[0].partition("/")[0] if len(given) == 1 else None


def _values(headers: Iterable[tuple[str, str]], name: str) -> list[str]:
    return [text for each, text in headers if each == name]


async def _refuse(send: Send) -> None:
    reason = "This is the emulated AWS of Backroom: only the programs of its own folder may ask it."
    body = json.dumps({"__type": "AccessDenied", "message": reason}).encode()
    kind = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 403, "headers": kind})
    await send({"type": "http.response.body", "body": body})
