"""What an attempt was: a request and its response, or why there is none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import clock
from chalicelib.webhooks.model import Delivery

if TYPE_CHECKING:
    from chalicelib.safe_post.post import PostResult

INTERRUPTED: Final = "interrupted"
EVENT_EXPIRED: Final = "event_expired"
_SHORT: Final = 2_000  # characters of a response that is stored in the delivery itself


@dataclass(frozen=True)
class Attempt:
    """A finished attempt; its fields have the names of the table. `error` is None on success."""

    number: int
    at: str
    endedAt: str
    replay: bool
    url: str
    durationMs: int = 0
    sent: Mapping[str, str] = field(default_factory=dict)
    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: str = ""
    truncated: bool = False
    address: str | None = None
    error: str | None = None
    message: str = ""

    @property
    def is_short(self) -> bool:
        """Whether the response, headers and body, has at most _SHORT characters.

        Then it is stored in the delivery itself.
        """
        answered = sum(len(name) + len(value) for name, value in (self.headers or {}).items())
        return answered + len(self.body) <= _SHORT

    def fields(self) -> Item:
        """Return the attributes to store, by the names of the fields: those not None, "" or {}."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", {})}


def build_posted_attempt(
    delivery: Delivery, url: str, at: datetime, sent: Mapping[str, str], outcome: "PostResult"
) -> Attempt:
    """Return the attempt, not stored, of a request that was sent to `url`, with this outcome.

    `at`: when it began; its duration is the outcome's. `sent`: the request's headers. The body is
    decoded, with a mark for bytes that are no UTF-8.
    """
    return build_attempt(
        *(delivery, url, at),
        durationMs=outcome.duration_ms,
        sent=sent,
        status=outcome.status,
        headers=outcome.headers,
        body=outcome.body.decode("utf-8", "replace"),
        truncated=outcome.truncated,
        address=outcome.address,
        error=outcome.error.value if outcome.error else None,
        message=outcome.message,
    )


def build_interrupted_attempt(delivery: Delivery, at: datetime, url: str) -> Attempt:
    """Return the attempt, not stored, of a sender that crashed; it began at `at`.

    Its error is INTERRUPTED. The receiver may have got the message.
    """
    message = "The sender was interrupted; the receiver may have received it."
    return build_attempt(delivery, url, at, error=INTERRUPTED, message=message)


def build_expired_attempt(delivery: Delivery, url: str) -> Attempt:
    """Return the attempt, not stored, of an event that the outbox no longer has: nothing was sent.

    Its error is EVENT_EXPIRED, with which `deliveries.settle` ends the delivery as FAILED.
    """
    message = "Nothing was sent: the event is too old, and its body is no longer kept."
    return build_attempt(delivery, url, clock.now(), error=EVENT_EXPIRED, message=message)


def build_attempt(delivery: Delivery, url: str, at: datetime, **result: Any) -> Attempt:
    """Return an attempt, not stored, that began at `at` and whose `endedAt` is now.

    `result`: other fields. Its number is the delivery's count of attempts; `replay` says whether
    the delivery's claim is for one.
    """
    replay = bool(delivery.claim and delivery.claim.replay)
    return Attempt(delivery.attempts, clock.iso(at), clock.now_iso(), replay, url, **result)


_NAMES: Final = frozenset(each.name for each in fields(Attempt))


def read(item: Fields) -> Attempt:
    """Return the attempt of an item, or of a delivery's `first`; other attributes are ignored."""
    return Attempt(**{name: value for name, value in item.items() if name in _NAMES})


def show(attempt: Attempt) -> Item:
    """Return an attempt in the shape of DeliveryAttempt, with all of its members.

    `request` is {headers}; `response` is {status, headers, body, truncated}, None if there was
    none.
    """
    response = None
    if attempt.status is not None:
        response = {
            "status": attempt.status,
            "headers": dict(attempt.headers or {}),
            "body": attempt.body,
            "truncated": attempt.truncated,
        }
    return {
        "number": attempt.number,
        "at": attempt.at,
        "durationMs": attempt.durationMs,
        "replay": attempt.replay,
        "url": attempt.url,
        "address": attempt.address,
        "request": {"headers": dict(attempt.sent)},
        "response": response,
        "error": attempt.error,
        "message": attempt.message or None,
    }
