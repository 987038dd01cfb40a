"""Errors, as they are reported to the client.

Raise an error named for the fact; its base class has the status and the code. The body is
`{"code", "message", …extra}`, whatever raised it (`docs/api.md`, Errors).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from chalice.app import ChaliceUnhandledError

T = TypeVar("T")


class Problem(ChaliceUnhandledError):
    """An error that ends a request, with a subclass for each family.

    `extra`: further fields of the body. `text`: the message, unless another is given.

    It derives from ChaliceUnhandledError because only those reach the middleware as exceptions.
    """

    status: ClassVar[int] = 500
    code: str = "internal_error"
    text: ClassVar[str] = ""

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        self.message = message or self.text
        super().__init__(self.message)
        self.code = code or type(self).code
        self.headers = dict(headers or {})
        self.extra = extra

    @property
    def may_pass(self) -> bool:
        """Tell whether the same may succeed later."""
        return self.status >= 500

    def body(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, **self.extra}


class MalformedJson(Problem):
    status, code = 400, "malformed_json"


class NotUtf8(Problem):
    """400 with the `field`: a parameter or a header of a client that writes another encoding."""

    status, code = 400, "not_utf8"


class Unauthorized(Problem):
    status, code = 401, "unauthorized"


class Forbidden(Problem):
    status, code = 403, "forbidden"


class NotFound(Problem):
    status, code = 404, "not_found"

    @classmethod
    def for_id(cls, kind: str, id: str) -> "NotFound":
        return cls(f"There is no {kind} {id[:100]!r}.")

    @classmethod
    def unless(cls, found: T | None, kind: str, id: str) -> T:
        """Return what was found. Raises NotFound for None."""
        if found is None:
            raise cls.for_id(kind, id)
        return found


class MethodNotAllowed(Problem):
    status, code = 405, "method_not_allowed"


class Conflict(Problem):
    """409: `version_conflict`, or the `code` given."""

    status, code = 409, "version_conflict"


class Gone(Problem):
    status, code = 410, "cursor_expired"


class PreconditionFailed(Problem):
    status, code = 412, "precondition_failed"

    @classmethod
    def for_kind(cls, kind: str) -> "PreconditionFailed":
        return cls(f"The {kind} was changed since it was read.")


class PayloadTooLarge(Problem):
    status, code = 413, "payload_too_large"


class UnsupportedMediaType(Problem):
    status, code = 415, "unsupported_media_type"


class Invalid(Problem):
    """422: `validation_failed` with `errors: [{field, code, message}]`, or the `code` given."""

    status, code = 422, "validation_failed"

    @classmethod
    def field(cls, field: str, code: str, message: str) -> "Invalid":
        return cls.fields([{"field": field, "code": code, "message": message}])

    @classmethod
    def fields(cls, errors: list[dict[str, str]]) -> "Invalid":
        first = errors[0]
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        return cls(f"{first['field']}: {first['message']}{more}", errors=errors)


class RateLimited(Problem):
    status, code = 429, "rate_limited"


class Busy(Problem):
    """503: the storage refused for longer than a request can wait."""

    status, code = 503, "busy"
    text = "The service is busy. Try again."

    def __init__(self, message: str = "") -> None:
        super().__init__(message, headers={"Retry-After": "1"})
