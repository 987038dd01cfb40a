"""Answers: JSON as compact as it gets, ETags, and the one shape of errors."""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from chalice.app import HeadersType, Response

from chalicelib import settings
from chalicelib.problems import Problem
from chalicelib.request import size
from chalicelib.request.call import current, entity_tags

_JSON: Final = "application/json"


def _plain(value: Any) -> Any:
    """Numbers that a client stored as it pleased; amounts are strings long before."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# NaN and Infinity are no JSON: better no answer than one that only Python reads.
encode: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
).encode


def reply(
    status: int,
    content: Any = None,
    *,
    etag: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer of a route: `content` as JSON, or nothing.

    With an `etag` (without quotes), a GET whose If-None-Match names it is answered 304.
    """
    sent: HeadersType = dict(headers or {})
    if etag is not None:
        sent["ETag"] = f'"{etag}"'
        known = entity_tags(current().request.headers.get("if-none-match"))
        if known and current().reads and (etag in known or "*" in known):
            return Response("", sent, 304)
    if content is None:
        return Response("", sent, status)
    sent.setdefault("Content-Type", _JSON)
    return Response(_sendable(content), sent, status)


def _sendable(content: Any) -> str:
    """The JSON of an answer. Raises AnswerTooLarge for a page of a list that Lambda cannot send."""
    text = encode(content)
    if not size.fits(text) and isinstance(content, dict) and "pagination" in content:
        size.refuse_large_page(content["data"], encode)
    return text


def reply_public(content: Any) -> Response:
    """An answer that anybody may keep for some seconds. Its ETag is made of what it says, and of
    nothing that it does not say."""
    text = _sendable(content)
    etag = hashlib.sha256(text.encode()).hexdigest()[:24]
    headers: HeadersType = {
        "ETag": f'"{etag}"',
        "Cache-Control": f"public, max-age={settings.storefront_max_age()}",
    }
    known = entity_tags(current().request.headers.get("if-none-match"))
    if known and (etag in known or "*" in known):
        return Response("", headers, 304)
    return Response(text, {**headers, "Content-Type": _JSON}, 200)


def reply_text(
    status: int, text: str, *, etag: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """An answer whose JSON is kept as text, to be given again byte for byte."""
    sent: HeadersType = {**(headers or {}), "Content-Type": _JSON}
    if etag:
        sent["ETag"] = f'"{etag}"'
    return Response(text, sent, status)


def refusal(problem: Problem) -> Response:
    headers: HeadersType = {"Content-Type": _JSON, **problem.headers}
    return Response(encode(problem.body()), headers, problem.status)
