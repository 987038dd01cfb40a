"""What a route needs of HTTP: the caller, the request, and the answer."""

from chalicelib.api_keys.model import Role
from chalicelib.request.answer import reply, reply_page, reply_text
from chalicelib.request.call import caller, header, if_match
from chalicelib.request.parse import body, parsed_body, query, raw_body
from chalicelib.request.repeats import IDEMPOTENT, body_once, looked_up, once
from chalicelib.request.routes import Routes
from chalicelib.validation import validate
