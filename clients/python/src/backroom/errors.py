"""What can go wrong. All of it derives from BackroomError."""

from __future__ import annotations

from typing import Any


class BackroomError(Exception):
    """Any failure of this package."""


class Unreachable(BackroomError):
    """No answer came. Whether the request took effect is not known, unless it was a read."""


class ApiError(BackroomError):
    """The shop refused a request.

    `status`: of HTTP. `code`: for programs, `validation_failed` for instance. `errors`: with that
    code, each field that is wrong. `body`: the whole answer, which has more with some codes.
    `request_id`: names the request in the shop's log.
    """

    def __init__(self, status: int, body: dict[str, Any], request_id: str | None = None) -> None:
        self.status = status
        self.body = body
        self.code = str(body.get("code", ""))
        self.message = str(body.get("message", ""))
        self.errors: list[dict[str, str]] = list(body.get("errors") or [])
        self.request_id = request_id
        super().__init__(f"{status} {self.code}: {self.message}{self._fields()}")

    def _fields(self) -> str:
        told = [f"{each.get('field')}: {each.get('message')}" for each in self.errors]
        for line in self.body.get("lines") or ():
            told.append(", ".join(f"{name} {value}" for name, value in line.items()))
        return "".join(f"\n  {line}" for line in told if line not in self.message)


class BadRequest(ApiError):
    """400: the body is not JSON."""


class Unauthorized(ApiError):
    """401: no key, or none that is valid."""


class Forbidden(ApiError):
    """403: the role of the key does not suffice."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409: such as `slug_taken` or `version_conflict`."""


class Gone(ApiError):
    """410: the cursor of the feed is older than the feed (`cursor_expired`)."""


class PreconditionFailed(ApiError):
    """412: it was changed since it was read."""


class Invalid(ApiError):
    """422: the request is understood, and cannot be done as it is."""


class RateLimited(ApiError):
    """429, after all retries."""


class ServerError(ApiError):
    """5xx. A write may have happened, unless it was repeated by its Idempotency-Key."""


class JobFailed(BackroomError):
    """A job ended as FAILED or CANCELLED, or waits for a mapping. `job`: as the API shows it."""

    def __init__(self, job: Any) -> None:
        self.job = job
        error = job.get("error") or {}
        told = f": {error['code']}: {error['message']}" if error else ""
        super().__init__(f"The job {job['id']} is {job['status']}{told}")


class InvalidSignature(BackroomError):
    """A delivery that is not to be trusted. `reason`: `missing`, `malformed`, `stale`, `forged`."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: PreconditionFailed,
    422: Invalid,
    429: RateLimited,
}


def from_status(status: int, body: dict[str, Any], request_id: str | None) -> ApiError:
    """Return the error for an answer of this status."""
    family = ServerError if status >= 500 else _BY_STATUS.get(status, ApiError)
    return family(status, body, request_id)
