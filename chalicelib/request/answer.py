"""Answers: compact JSON, ETags, and the shape of errors."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from chalice.app import HeadersType, Response

from chalicelib import schemas, settings
from chalicelib.problems import Problem
from chalicelib.request import size
from chalicelib.request.call import current, entity_tags
from chalicelib.values.compact_json import encode

_JSON: Final = "application/json"


def reply(
    status: int,
    content: object,
    *,
    etag: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer of a route: `content` as JSON.

    With an `etag` (without quotes), a GET whose If-None-Match names it is answered 304.
    """
    sent: HeadersType = dict(headers or {})
    if etag is not None:
        sent["ETag"] = f'"{etag}"'
        if _is_known(etag):
            return Response("", sent, 304)
    sent.setdefault("Content-Type", _JSON)
    return Response(encode(content), sent, status)


def _is_known(etag: str) -> bool:
    known = entity_tags(current().request.headers.get("if-none-match")) or frozenset()
    return current().reads and not known.isdisjoint({etag, "*"})


def reply_page(records: Sequence[object], page: schemas.Page[object], **more: object) -> Response:
    """Return the answer with a page of a list. `more`: what else the answer has.

    A page by cursor that exceeds Lambda's limit ends early; a page by number raises AnswerTooLarge.
    """
    return Response(page_text(records, page, **more), {"Content-Type": _JSON}, 200)


def page_text(records: Sequence[object], page: schemas.Page[object], **more: object) -> str:
    text = encode({**schemas.cursor_page(records, page), **more})
    if size.fits(text):
        return text
    items = [encode(record) for record in records]
    if page.after is None:
        raise size.AnswerTooLarge(size.largest_page(items))
    number = max(1, size.fitting(items))
    return encode({**schemas.cursor_page(records[:number], page, page.after(number)), **more})


def reply_public(text: str) -> Response:
    """Return an answer that anyone may cache for some seconds.

    Its ETag is a hash of the answer alone, so it reveals nothing else.
    """
    etag = hashlib.sha256(text.encode()).hexdigest()[:24]
    headers: HeadersType = {
        "ETag": f'"{etag}"',
        "Cache-Control": f"public, max-age={settings.storefront_max_age()}",
        "Vary": "Accept-Encoding",  # API Gateway compresses it for who accepts that
    }
    if _is_known(etag):
        return Response("", headers, 304)
    return Response(text, {**headers, "Content-Type": _JSON}, 200)


def reply_text(
    status: int, text: str, *, etag: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer whose JSON is kept as text, to be returned again byte for byte."""
    sent: HeadersType = {**(headers or {}), "Content-Type": _JSON}
    if etag:
        sent["ETag"] = f'"{etag}"'
    return Response(text, sent, status)


def refusal(problem: Problem) -> Response:
    return reply_text(problem.status, encode(problem.body()), headers=problem.headers)
