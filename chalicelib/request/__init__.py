"""What a route needs of HTTP: the caller, the request, and the answer."""

from chalicelib.api_keys.model import Role
from chalicelib.request.answer import reply, reply_page
from chalicelib.request.call import caller, header, if_match
from chalicelib.request.parse import body, parsed_body, query, raw_body
from chalicelib.request.repeats import IDEMPOTENT, body_once, once
from chalicelib.request.routes import Routes
from chalicelib.validation import validate

__all__ = [
    "IDEMPOTENT",
    "Role",
    "Routes",
    "body",
    "body_once",
    "caller",
    "header",
    "if_match",
    "once",
    "parsed_body",
    "query",
    "raw_body",
    "reply",
    "reply_page",
    "validate",
]
