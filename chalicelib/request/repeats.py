"""Repeatable creations: the header `Idempotency-Key` of a route that declares it."""

from typing import Final, TypeVar

from chalice.app import Response
from pydantic import BaseModel

from chalicelib.problems import Invalid
from chalicelib.request.answer import reply_text
from chalicelib.request.call import Call, caller, current, header
from chalicelib.request.parse import parsed_body
from chalicelib.storage.idempotency import Once, Repeated
from chalicelib.validation import validate

Model = TypeVar("Model", bound=BaseModel)

# For a route's `headers`.
IDEMPOTENT: Final = {
    "Idempotency-Key": "1 to 255 characters. For 24 hours the same body with it, sent with the"
    " same API key, gets the first answer again, with `Idempotent-Replayed: true`, and has no"
    " further effect."
}
REPLAYED: Final = {"Idempotent-Replayed": "true"}


def once(sent: object) -> Once | None:
    """Return the request as one that takes effect once, if it has a key.

    `sent`: the JSON value of its body, or a substitute. Raises Invalid.
    """
    key = header("idempotency-key")
    if key is None:
        return None
    # The same body at another path is another request; the stage is not part of the path.
    path = str(current().request.context.get("path", ""))
    return Once.from_request(caller().id, key, [path[path.find("/api/") :], sent])


def looked_up() -> Once | None:
    """Return the request without a body as one that takes effect once.

    It is looked up before its state is judged. Raises Repeated if it was answered before, and
    Invalid.
    """
    repeatable = once(None)
    if repeatable:
        repeatable.check()
    return repeatable


def body_once(model: type[Model]) -> tuple[Model, Once | None]:
    """Return the body as the declared model, and the request as one that takes effect once.

    Raises Repeated if it was answered before (the middleware returns that answer), and Invalid.
    """
    sent = parsed_body()
    repeatable = once(sent)
    try:
        return validate(model, sent), repeatable
    except Invalid:
        if repeatable:
            repeatable.check()
        raise


def answer_again(call: Call, first: Repeated) -> Response:
    """Return the first answer to the request, byte for byte."""
    assert call.operation is not None
    status = max(status for status in call.operation.answers if status < 300)
    return reply_text(status, first.text, etag=first.etag, headers=REPLAYED)
