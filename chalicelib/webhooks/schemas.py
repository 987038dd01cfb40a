"""The shapes of endpoints, deliveries and attempts, as clients send them and as they are answered.

A field of a request without a text of its own has the text of the same field of its `shape`.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, NotRequired

from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.safe_post.destination import LONGEST_URL
from chalicelib.schemas import (
    PAGE_SIZE,
    Flag,
    Limit,
    QueryParameters,
    Several,
    Stripped,
    about,
    described_as,
    null_is,
    optional,
)
from chalicelib.values import clock
from chalicelib.values.times import ZONE, Time
from chalicelib.webhooks.model import (
    DEEPEST_FILTER,
    LARGEST_FILTER,
    LONGEST_OVERLAP,
    MOST_FILTER_VALUES,
    Delivery,
    DeliveryStatus,
    Endpoint,
    EventKind,
)


def event_shape(kind: EventKind) -> object:
    """Return the type, for the description, of the `data` of the kind's events."""
    # Imported only for the API's description.
    from chalicelib.customers.schemas import ShownCustomer
    from chalicelib.files.schemas import AnnouncedFile
    from chalicelib.orders.schemas import (
        AnnouncedClosing,
        AnnouncedEdit,
        AnnouncedPayment,
        AnnouncedProduction,
        AnnouncedRefund,
        AnnouncedShipment,
        AnnouncedWork,
        ShownOrder,
    )
    from chalicelib.products.schemas import LowStockVariant, ShownProduct, UpdatedProduct

    of = {
        "order": ShownOrder,
        EventKind.ORDER_EDITED: AnnouncedEdit,
        EventKind.ORDER_CLOSED: AnnouncedClosing,
        EventKind.ORDER_PRODUCED: AnnouncedProduction,
        "work": AnnouncedWork,
        "payment": AnnouncedPayment,
        "refund": AnnouncedRefund,
        "shipment": AnnouncedShipment,
        "file": AnnouncedFile,
        "customer": ShownCustomer,
        "product": ShownProduct,
        EventKind.PRODUCT_UPDATED: UpdatedProduct,
        "inventory": LowStockVariant,
    }
    return of.get(kind) or of[kind.partition(".")[0]]


class WebhookRecovery(TypedDict):
    """The newest recovery of an endpoint: how many failed deliveries were queued again."""

    id: Annotated[str, about("Identifier.")]
    since: Annotated[str, about("The start time.")]
    startedAt: Annotated[str, about("When it began; null: it has not.")]
    count: Annotated[int, about("How many deliveries.")]
    sent: Annotated[int, about("How many were sent.")]
    completedAt: Annotated[str | None, about("When it ended; null: it has not.")]


class WebhookNotice(TypedDict):
    """Something about a webhook that its owner should know. `code`: `two_signatures` (more than one
    secret signs), `no_summary_address`, `no_summary_sender` (no summary e-mail is sent).
    """

    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]


class ShownWebhook(TypedDict):
    """An address that events are sent to."""

    id: Annotated[str, about("Identifier.")]
    url: Annotated[str, about("Web address.")]
    events: Annotated[list[EventKind], about("Kinds of events that it gets.")]
    email: Annotated[
        str | None, about("Gets an e-mail when deliveries fail; null: the shop's address does.")
    ]
    summaryEmail: Annotated[
        str | None,
        Field(description="Recipient of the summaries: `email`, or else the shop's; null: nobody"),
    ]
    description: Annotated[str | None, about("Free text.")]
    filter: Annotated[
        dict[str, object] | None,
        Field(description="A pattern: events whose body does not fit are not sent; null: all are"),
    ]
    enabled: Annotated[
        bool, about("false pauses it: new events make no deliveries, and pending ones wait.")
    ]
    failingSince: Annotated[
        str | None,
        Field(description="Since when it is failing: three failures in a row; null: it is not"),
    ]
    previousSecretExpiresAt: Annotated[
        str | None, about("Until when a previous secret also signs; null: none does.")
    ]
    notices: Annotated[list[WebhookNotice], about("What its owner should know.")]
    recovery: Annotated[WebhookRecovery | None, about("The newest recovery; null: there was none.")]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]


class WebhookWithSecret(ShownWebhook):
    """`secret` is shown only once. The whole text, including `whsec_`, is the key of the HMAC."""

    secret: Annotated[
        str, about("Signs deliveries; all of it, `whsec_` included, is the key. Shown only once.")
    ]


def show_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """Return the endpoint in the shape of ShownWebhook, without its secret. Nothing is read."""
    until = [end for _, end in endpoint.overlaps(clock.unix())]
    ends = clock.iso(datetime.fromtimestamp(max(until), UTC)) if until else None
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "events": list(endpoint.events),
        "email": endpoint.email,
        "summaryEmail": endpoint.summary_email if settings.mail_from() else None,
        "description": endpoint.description,
        "filter": endpoint.filter and json.loads(endpoint.filter),
        "enabled": endpoint.enabled,
        "failingSince": endpoint.failing_since,
        "previousSecretExpiresAt": ends,
        "notices": [
            {"code": code, "message": message} for code, message in _list_notices(endpoint, ends)
        ],
        "recovery": _show_recovery(endpoint.recovery),
        "createdAt": endpoint.created_at,
        "updatedAt": endpoint.updated_at,
    }


def _list_notices(endpoint: Endpoint, overlap_ends: str | None) -> Iterator[tuple[str, str]]:
    """Yield (code, message) of several signatures, and of why no summary e-mail is sent.

    `overlap_ends`: until when older secrets sign too; None: none does.
    """
    if overlap_ends:
        number = 1 + len(endpoint.overlaps(clock.unix()))
        yield (
            "two_signatures",
            f"Until {overlap_ends} X-Service-Signature has {number} v1, that of the current secret "
            "first: t=…,v1=<current>,v1=<previous>. Accept a delivery if any of them is right.",
        )
    if not settings.mail_from():
        yield (
            "no_summary_sender",
            "No summary e-mail is sent when deliveries fail: this deployment has no sender "
            "(--mail-from).",
        )
    elif endpoint.summary_email is None:
        yield (
            "no_summary_address",
            "No summary e-mail is sent when deliveries fail: neither this webhook has an `email` "
            "nor this deployment an address (--notify-email).",
        )


def _show_recovery(recovery: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return the recovery that an endpoint has stored in the shape of WebhookRecovery, or None."""
    names = ("id", "since", "startedAt", "count", "sent", "completedAt")
    return {name: recovery.get(name) for name in names} if recovery else None


def etag(endpoint: Endpoint) -> str:
    """Return the ETag of an endpoint: the `digest` of what is shown of it."""
    return digest(show_endpoint(endpoint))


def digest(shown: Mapping[str, object]) -> str:
    """Return a hash of the JSON of what is shown, the ETag of its resource: 16 hex digits."""
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


class DeliverySubject(TypedDict):
    """The event's subject. `name`: the number of an order, the name of a product."""

    id: Annotated[str, about("Identifier.")]
    name: Annotated[str | None, about("Number of the order, or name of the product or customer.")]


class ShownDelivery(TypedDict):
    """One event on its way to one webhook."""

    id: Annotated[str, about("Identifier.")]
    event: Annotated[EventKind, about("Kind of the event.")]
    endpointId: Annotated[str, about("Id of the webhook.")]
    status: Annotated[DeliveryStatus, about("Its state.")]
    attemptCount: Annotated[int, about("How often it was tried.")]
    lastStatus: Annotated[int | None, Field(description="HTTP status of the newest attempt")]
    lastError: Annotated[str | None, Field(description="`error` of the newest attempt")]
    lastDurationMs: Annotated[int | None, about("How long the newest attempt took.")]
    nextAttemptAt: Annotated[str | None, about("The time of the next attempt; null: none.")]
    subject: Annotated[DeliverySubject | None, about("What the event is about; null: not known.")]
    test: Annotated[bool, about("Whether it is a test event.")]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]


class TestDelivery(ShownDelivery):
    """The delivery of a test event, which is always sent."""

    passesFilter: Annotated[
        bool, Field(description="Whether such an event would pass the webhook's filter")
    ]


class TriedEvent(TypedDict):
    """An event that was not sent, and whether it would be."""

    event: Annotated[EventKind, about("Kind of the event.")]
    data: Annotated[dict[str, object], Field(description="The `data` that its webhooks would get")]
    passesFilter: Annotated[bool, Field(description="Whether it passes the filter")]


class AttemptRequest(TypedDict):
    """The request of an attempt, without the body."""

    headers: Annotated[dict[str, str], about("HTTP headers.")]


class AttemptResponse(TypedDict):
    """`body`: the first 16 KB as text; `truncated`: it was longer, or was cut off."""

    status: Annotated[int, about("HTTP status.")]
    headers: Annotated[dict[str, str], about("HTTP headers.")]
    body: Annotated[str, about("The text, as it was sent.")]
    truncated: Annotated[bool, about("Whether it was longer, or was cut off.")]


class DeliveryAttempt(TypedDict):
    """`error` is null on success, else one of those in `docs/webhooks.md`."""

    number: Annotated[int, about("Which attempt it was, from 1.")]
    at: Annotated[str, about("When it happened.")]
    durationMs: Annotated[int, about("How long it took, in milliseconds.")]
    replay: Annotated[bool, about("Whether the attempt was requested as a replay.")]
    url: Annotated[str, about("Web address.")]
    address: Annotated[str | None, about("The IP address that was connected to; null: none was.")]
    request: Annotated[AttemptRequest, about("What was sent.")]
    response: Annotated[AttemptResponse | None, about("What came back; null: nothing did.")]
    error: Annotated[str | None, about("Why it failed; null: it did not.")]
    message: Annotated[str | None, about("What happened, for people.")]


class DeliveryWithAttempts(ShownDelivery):
    """A delivery with every attempt; `body` is the text of each."""

    attempts: Annotated[list[DeliveryAttempt], about("The newest 500 attempts, oldest first.")]
    body: Annotated[str | None, about("The text, as it was sent.")]


class DeliveryList(TypedDict):
    """`nextCursor` is null at the end; before it, a page can be short, even empty."""

    data: Annotated[list[ShownDelivery], about("The items.")]
    nextCursor: Annotated[
        str | None, about("Send it as `cursor` for what follows; null at the end.")
    ]


class RecoveryResult(TypedDict):
    """How many deliveries are sent again."""

    count: Annotated[int, about("How many deliveries.")]
    recovery: NotRequired[
        Annotated[WebhookRecovery, about("The newest recovery; null: there was none.")]
    ]


def show_delivery(delivery: Delivery, endpoint: Endpoint | None) -> dict[str, object]:
    """Return the delivery in the shape of ShownDelivery.

    Without its endpoint, a pending delivery is shown as CANCELLED: it will not be posted, even if
    that is not stored yet.
    """
    cancelled = endpoint is None and delivery.step is not None
    return {
        "id": delivery.id,
        "event": delivery.event,
        "endpointId": delivery.endpoint_id,
        "status": DeliveryStatus.CANCELLED if cancelled else delivery.status,
        "attemptCount": delivery.attempts,
        "lastStatus": delivery.last.get("status"),
        "lastError": delivery.last.get("error"),
        "lastDurationMs": delivery.last.get("durationMs"),
        "nextAttemptAt": None if cancelled else delivery.next_attempt_at,
        "subject": delivery.subject and {"name": None, **delivery.subject},
        "test": delivery.test,
        "createdAt": delivery.created_at,
        "updatedAt": delivery.updated_at,
    }


# --- What clients send ----------------------------------------------------------------------------


def _check_mailbox(value: str) -> str:
    """Return the address; raise ValueError for a form to which SES cannot send."""
    # SES takes no other letters.
    is_plain = value.isascii() and value.isprintable()
    if not is_plain or not re.fullmatch(r"[^\s@<>,;:\"]+@[^\s@<>,;:\"]+\.[^\s@<>,;:\".]+", value):
        raise ValueError("must be an e-mail address in ASCII, such as ops@example.com")
    return value


Url = Annotated[
    str,
    Field(
        min_length=1, max_length=LONGEST_URL, description="https:// and a public host; no redirects"
    ),
    described_as(r"^https?://[A-Za-z0-9.:\[\]-]+([/?][^\s\\#]*)?$"),
]
_each_once: Final = AfterValidator(lambda events: list(dict.fromkeys(events)))
Events = Annotated[list[EventKind], Field(min_length=1), _each_once]
SummaryEmail = Annotated[
    str,
    Field(max_length=254, description="Notified when deliveries fail; default: the shop's address"),
    AfterValidator(_check_mailbox),
    described_as(r"^[!#-+\--9=?A-~]+@[!#-+\--9=?A-~]+\.[!#-+\--9=?A-~]+$"),
]
Description = Annotated[str, Field(max_length=500)]
Filter = Annotated[
    dict[str, object],
    Field(
        description="A pattern like EventBridge's for the body: at most"
        f" {MOST_FILTER_VALUES} values, {LARGEST_FILTER:,} bytes and {DEEPEST_FILTER} levels",
        json_schema_extra={"examples": [{"data": {"total": [{"numeric": [">=", 500]}]}}]},
    ),
]
Moment = Annotated[Time, Field(description=f"ISO 8601. {ZONE}")]

_FILTER: Final = (
    "A pattern (docs/webhooks.md#filters): events whose body does not fit are not sent."
)
_READ_ONLY: Final = frozenset(
    {
        "id",
        "secret",
        "createdAt",
        "updatedAt",
        "failingSince",
        "previousSecretExpiresAt",
        "summaryEmail",
        "notices",
        "recovery",
    }
)


class NewWebhook(Stripped):
    """The address for events, and which events."""

    shape: ClassVar[type] = ShownWebhook

    # Silently ignoring a secret would mislead its sender.
    read_only: ClassVar[frozenset[str]] = _READ_ONLY - {"secret"}

    url: Url
    events: Events
    email: SummaryEmail | None = optional(
        "Gets an e-mail when deliveries fail. Without it, the shop's address does."
    )
    description: Description | None = None
    enabled: Annotated[bool, null_is(True), Field(strict=True)] = True
    filter: Filter | None = optional(_FILTER)


class WebhookChange(Stripped):
    """What is absent stays; null clears `email`, `description` and `filter`."""

    shape: ClassVar[type] = ShownWebhook

    read_only: ClassVar[frozenset[str]] = _READ_ONLY

    url: Url = optional("Web address.")
    events: Events = optional()
    email: SummaryEmail | None = None
    description: Description | None = None
    enabled: Annotated[bool, Field(strict=True)] = optional()
    filter: Filter | None = optional(_FILTER)


class RotateSecret(Stripped):
    """How long the previous secret also signs."""

    overlap_hours: Annotated[
        int,
        Field(
            strict=True,
            ge=0,
            le=LONGEST_OVERLAP,
            description="How long the previous secret also signs. Without it, or with 0, it "
            "ends at once",
        ),
    ] = 0


class TestEvent(Stripped):
    """The kind of test event, and whether it is sent."""

    # otherwise pytest takes the class for a test
    __test__: ClassVar[bool] = False

    event: EventKind | None = optional("Default: the first of the endpoint's events")
    dry_run: Annotated[
        Flag, about("Send nothing; only report whether the event passes the filter")
    ] = False
    filter: Filter | None = optional("With `dryRun`: instead of the webhook's own")
    data: dict[str, object] | None = optional("With `dryRun`: instead of sample data")


class RecoverDeliveries(Stripped):
    """The failed and waiting deliveries to send again."""

    since: Moment
    # null is true: only an explicit false sends
    dry_run: Annotated[bool | None, Field(strict=True, description="Only count")] = True


class ListDeliveries(QueryParameters):
    shape: ClassVar[type] = ShownDelivery

    status: Several[DeliveryStatus] = Field(default_factory=list)
    event: Several[EventKind] = Field(default_factory=list)
    since: Moment | None = optional(f"The start time. {ZONE}")
    limit: Limit = PAGE_SIZE
    subject: Annotated[
        str | None, Field(max_length=60, description="Id of the event's order, product or customer")
    ] = None
    cursor: Annotated[
        str | None, Field(max_length=100, description="`nextCursor` of the previous answer")
    ] = None
