"""What a route needs of HTTP: who calls, what was sent, and how to answer."""

from chalicelib.api_keys.model import Role
from chalicelib.request.answer import reply
from chalicelib.request.call import caller, header, if_match
from chalicelib.request.parse import body, parsed_body, query, raw_body
from chalicelib.request.routes import Routes
from chalicelib.validation import validate

__all__ = [
    "Role",
    "Routes",
    "body",
    "caller",
    "header",
    "if_match",
    "parsed_body",
    "query",
    "raw_body",
    "reply",
    "validate",
]
