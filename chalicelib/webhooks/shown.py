"""Endpoints, deliveries and attempts as the API shows them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.values import clock
from chalicelib.webhooks.model import Delivery, DeliveryStatus, Endpoint, EventKind


def announced(kind: EventKind) -> tuple[Any, str]:
    """The type of such an event's `data`, and a description."""
    # Imported only for the API's description.
    from chalicelib.customers.shown import ShownCustomer
    from chalicelib.orders.shown import ShownOrder
    from chalicelib.products.shown import LowStockVariant, ShownProduct, UpdatedProduct

    match kind.value.partition(".")[0]:
        case "order":
            return ShownOrder, _WHEN[kind]
        case "customer":
            return ShownCustomer, _WHEN[kind]
        case "inventory":
            return LowStockVariant, _WHEN[kind]
    return UpdatedProduct if kind is EventKind.PRODUCT_UPDATED else ShownProduct, _WHEN[kind]


# docs/contract.md#event-kinds
_WHEN: Final = {
    EventKind.ORDER_CREATED: "An order was created.",
    EventKind.ORDER_UPDATED: "An order was changed.",
    EventKind.ORDER_PAID: "An order was paid for the first time: once an order.",
    EventKind.ORDER_SHIPPED: "An order was shipped; with its tracking number.",
    EventKind.ORDER_CANCELLED: "An order was cancelled.",
    EventKind.ORDER_REFUNDED: "An order, or its payment, was refunded.",
    EventKind.ORDER_DELETED: "An order was deleted: as it was before.",
    EventKind.CUSTOMER_CREATED: "A customer was created.",
    EventKind.CUSTOMER_UPDATED: "A customer was changed.",
    EventKind.CUSTOMER_DELETED: "A customer was deleted: as it was before.",
    EventKind.PRODUCT_CREATED: "A product was created.",
    EventKind.PRODUCT_UPDATED: "A product was changed.",
    EventKind.PRODUCT_DELETED: "A product was deleted: as it was before.",
    EventKind.INVENTORY_LOW: "A variant is below its product's threshold, and was not before.",
}


class WebhookRecovery(TypedDict):
    """The newest recovery of an endpoint: how many failed deliveries were queued again."""

    id: str
    since: str
    startedAt: str
    count: int
    sent: int
    completedAt: str | None


class WebhookNotice(TypedDict):
    """Something about a webhook that its owner should know. `code`: `two_signatures` (more than one
    secret signs), `no_summary_address`, `no_summary_sender` (no summary e-mail is sent)."""

    code: str
    message: str


class ShownWebhook(TypedDict):
    id: str
    url: str
    events: list[EventKind]
    email: str | None
    summaryEmail: Annotated[
        str | None,
        Field(description="Recipient of the summaries: `email`, or else the shop's; null: nobody"),
    ]
    description: str | None
    filter: Annotated[
        dict[str, Any] | None,
        Field(description="A pattern: events whose body does not fit are not sent; null: all are"),
    ]
    enabled: bool
    failingSince: Annotated[
        str | None,
        Field(description="Since when it is failing: three failures in a row; null: it is not"),
    ]
    previousSecretExpiresAt: str | None
    notices: list[WebhookNotice]
    recovery: WebhookRecovery | None
    createdAt: str
    updatedAt: str


class WebhookWithSecret(ShownWebhook):
    """`secret` is shown only once. The whole text, including `whsec_`, is the key of the HMAC."""

    secret: str


def show_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """The shape of ShownWebhook."""
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
            {"code": code, "message": message} for code, message in _notices(endpoint, ends)
        ],
        "recovery": _recovery(endpoint.recovery),
        "createdAt": endpoint.created_at,
        "updatedAt": endpoint.updated_at,
    }


def _notices(endpoint: Endpoint, overlap_ends: str | None) -> Iterator[tuple[str, str]]:
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


def _recovery(recovery: Mapping[str, Any] | None) -> dict[str, Any] | None:
    names = ("id", "since", "startedAt", "count", "sent", "completedAt")
    return {name: recovery.get(name) for name in names} if recovery else None


def etag(endpoint: Endpoint) -> str:
    return digest(show_endpoint(endpoint))


def digest(shown: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


class DeliverySubject(TypedDict):
    """The event's subject. `name`: the number of an order, the name of a product."""

    id: str
    name: str | None


class ShownDelivery(TypedDict):
    id: str
    event: EventKind
    endpointId: str
    status: DeliveryStatus
    attemptCount: int
    lastStatus: Annotated[int | None, Field(description="HTTP status of the newest attempt")]
    lastError: Annotated[str | None, Field(description="`error` of the newest attempt")]
    nextAttemptAt: str | None
    subject: DeliverySubject | None
    test: bool
    createdAt: str
    updatedAt: str


class TestDelivery(ShownDelivery):
    """The delivery of a test event, which is always sent."""

    passesFilter: Annotated[
        bool, Field(description="Whether such an event would pass the webhook's filter")
    ]


class TriedEvent(TypedDict):
    """An event that was not sent, and whether it would be."""

    event: EventKind
    data: Annotated[dict[str, Any], Field(description="The `data` that its webhooks would get")]
    passesFilter: Annotated[bool, Field(description="Whether it passes the filter")]


class AttemptRequest(TypedDict):
    headers: dict[str, str]


class AttemptResponse(TypedDict):
    """`body`: the first 16 KB as text; `truncated`: it was longer, or was cut off."""

    status: int
    headers: dict[str, str]
    body: str
    truncated: bool


class DeliveryAttempt(TypedDict):
    """`error` is null on success, else one of those in `docs/webhooks.md`."""

    number: int
    at: str
    durationMs: int
    replay: bool
    url: str
    address: str | None
    request: AttemptRequest
    response: AttemptResponse | None
    error: str | None
    message: str | None


class DeliveryWithAttempts(TypedDict):
    """A delivery with every attempt; `body` is the text of each."""

    id: str
    event: EventKind
    endpointId: str
    status: DeliveryStatus
    attemptCount: int
    attempts: list[DeliveryAttempt]
    lastStatus: int | None
    lastError: str | None
    nextAttemptAt: str | None
    subject: DeliverySubject | None
    test: bool
    createdAt: str
    updatedAt: str
    body: str | None


class DeliveryList(TypedDict):
    """`nextCursor` is null at the end; before it, a page can be short, even empty."""

    data: list[ShownDelivery]
    nextCursor: str | None


class RecoveryResult(TypedDict):
    count: int
    recovery: NotRequired[WebhookRecovery]


def show_delivery(delivery: Delivery, endpoint: Endpoint | None) -> dict[str, Any]:
    """The shape of ShownDelivery. Without its endpoint, a pending delivery is shown as CANCELLED:
    it will not be posted, even if that is not stored yet."""
    cancelled = endpoint is None and delivery.step is not None
    return {
        "id": delivery.id,
        "event": delivery.event,
        "endpointId": delivery.endpoint_id,
        "status": DeliveryStatus.CANCELLED if cancelled else delivery.status,
        "attemptCount": delivery.attempts,
        "lastStatus": delivery.last.get("status"),
        "lastError": delivery.last.get("error"),
        "nextAttemptAt": None if cancelled else delivery.next_attempt_at,
        "subject": delivery.subject and {"name": None, **delivery.subject},
        "test": delivery.test,
        "createdAt": delivery.created_at,
        "updatedAt": delivery.updated_at,
    }
