"""Endpoints and deliveries: what is stored, and in which states it can be."""

import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from chalicelib import settings
from chalicelib.schemas import (
    Choice,
)
from chalicelib.storage import attributes, outbox
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import clock, ids
from chalicelib.webhooks.retry import DAY, FAILING_STREAK, SCHEDULE

RECEIVER_SECONDS: Final = 10  # to answer in: docs/webhooks.md#answers-and-retries
RETRIED_DAYS: Final = math.ceil(sum(SCHEDULE) / DAY)
LONGEST_OVERLAP: Final = 72  # hours in which two secrets sign
MOST_SECRETS: Final = 5  # that sign at once
MOST_FILTER_VALUES: Final = 50
LARGEST_FILTER: Final = 4_096  # bytes of JSON
DEEPEST_FILTER: Final = 8
MOST_ATTEMPTS: Final = 500  # that are read and shown of one delivery


class EventKind(Choice):
    """The events of docs/webhooks.md#events; some are only for webhooks that list them."""

    when: str
    """What has happened, in the description."""

    def __new__(cls, kind: str, when: str = "") -> Self:
        member = str.__new__(cls, kind)
        member._value_, member.when = kind, when
        return member

    ORDER_CREATED = "order.created", "An order was created."
    ORDER_UPDATED = "order.updated", "An order was changed."
    ORDER_PAID = "order.paid", "An order was paid for the first time: once an order."
    ORDER_SHIPPED = "order.shipped", "An order was shipped; with its tracking number."
    ORDER_CANCELLED = "order.cancelled", "An order was cancelled."
    ORDER_REFUNDED = "order.refunded", "An order, or its payment, was refunded."
    ORDER_DELETED = "order.deleted", "An order was deleted: as it was before."
    ORDER_EDITED = (
        "order.edited",
        "Lines, amounts, customer, source or date of an order were edited.",
    )
    ORDER_CLOSED = "order.closed", "An order was closed, or keeps less since."
    PAYMENT_CREATED = "payment.created", "A payment of an order was recorded."
    PAYMENT_VOIDED = "payment.voided", "A payment of an order was voided."
    REFUND_CREATED = "refund.created", "A refund of an order was recorded."
    ORDER_PRODUCED = "order.produced", "All work on an order is done."
    WORK_CREATED = "work.created", "A line that is made has work: its order was paid."
    WORK_UPDATED = "work.updated", "Work on a line was moved, changed, or has ended."
    SHIPMENT_CREATED = "shipment.created", "A part of an order, or all of it, was shipped."
    SHIPMENT_UPDATED = "shipment.updated", "A shipment was changed, or delivered."
    SHIPMENT_CANCELLED = "shipment.cancelled", "A shipment was cancelled: its pieces did not leave."
    FILE_READY = "file.ready", "A file of an order was uploaded, and can be read."
    CUSTOMER_CREATED = "customer.created", "A customer was created."
    CUSTOMER_UPDATED = "customer.updated", "A customer was changed."
    CUSTOMER_DELETED = "customer.deleted", "A customer was deleted: as it was before."
    PRODUCT_CREATED = "product.created", "A product was created."
    PRODUCT_UPDATED = "product.updated", "A product was changed."
    PRODUCT_DELETED = "product.deleted", "A product was deleted: as it was before."
    INVENTORY_LOW = (
        "inventory.low",
        "A variant is below its product's threshold, and was not before.",
    )


class DeliveryStatus(Choice):
    """PENDING: no attempt yet. RETRYING: failed so far. The others have ended."""

    PENDING = "PENDING"
    RETRYING = "RETRYING"
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


# --- What is stored -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A registered receiver. Secrets are versions: `previous` are still valid, until Unix time."""

    id: str
    url: str
    events: tuple[EventKind, ...]
    email: str | None
    description: str | None
    filter: str | None = None
    """JSON of the pattern (`filter.py`) that its bodies match; None: it gets all."""
    enabled: bool
    created_at: str
    updated_at: str
    version: int
    """Counts clients' changes."""
    secret_version: int
    previous: tuple[tuple[int, int], ...]
    """(version, until), the newest first."""
    streak: int = 0
    """Failures in a row, up to the number that is counted (`health.py`)."""
    failing_since: str | None = None
    recovery: Fields | None = None
    mailed_until: str = ""
    """Until when failures were reported by summary e-mails; empty at first."""
    warned_since: str | None = None
    """The `failing_since` that an e-mail has reported."""

    @property
    def failing(self) -> bool:
        """Whether so many attempts in a row failed (FAILING_STREAK) that it counts as failing."""
        return self.streak >= FAILING_STREAK

    @property
    def summary_email(self) -> str | None:
        """The recipient of its summaries: its own address, or else the shop's; None if none has."""
        return self.email or settings.notify_email() or None

    def overlaps(self, now: int) -> list[tuple[int, int]]:
        """Return the previous secrets that still sign at the Unix time `now`: (version, until).

        The current one is not among them. The newest is first.
        """
        return [(version, until) for version, until in self.previous if until > now]


def read_endpoint(item: Item) -> Endpoint:
    """Return the endpoint of an item of the table; its `filter` stays a JSON text."""
    return attributes.read(
        Endpoint,
        item,
        id=item["sk"],
        events=tuple(map(EventKind, item["events"])),
        previous=tuple((secret["version"], secret["until"]) for secret in item["previous"]),
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """A sender is posting, or crashed while posting: no other does until it expires."""

    until: datetime
    replay: bool
    """Whether the attempt is outside the schedule; if it fails, the schedule does not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one endpoint."""

    id: str
    event: EventKind
    status: DeliveryStatus
    schedule: int
    """Counts the schedules: a replay after the end of one begins another."""
    step: int | None = None
    """The next attempt of the schedule; None if it has ended."""
    attempts: int
    """How many attempts were begun, in all schedules; also the number of the last."""
    next_attempt_at: str | None = None
    daily_since: datetime | None
    """The time from which the daily retries of this schedule are counted (`retry.py`)."""
    created_at: str
    updated_at: str
    test: bool = False
    claim: Claim | None
    replayed: str = ""
    """The newest replay that was begun; their ids ascend."""
    failed_at: str | None = None
    """Its key among the failed deliveries, while it is one."""
    first: Item | None = None
    """The record of the first attempt, if it succeeded."""
    subject: Item | None = None
    """The event's subject: `{id, name}`."""
    last: Item = field(default_factory=dict)
    """The result of the newest settled attempt: `{status, error}`, if there was one."""

    @property
    def endpoint_id(self) -> str:
        """The id of its endpoint, which is the end of its own."""
        return endpoint_of(self.id)


def read_delivery(item: Item) -> Delivery:
    """Return the delivery of an item of the table.

    A claim that release 1.0.0 made `early` is none for a replay.
    """
    claim = item.get("claim")
    # 1.0.0 sent steps before they are due (`early`): such an attempt is the step's.
    is_replay = bool(claim and claim["replay"] and not claim.get("early"))
    return attributes.read(
        Delivery,
        item,
        id=item["sk"],
        event=EventKind(item["event"]),
        status=DeliveryStatus(item["status"]),
        daily_since=clock.parse(item["dailySince"]) if "dailySince" in item else None,
        claim=claim and Claim(clock.parse(claim["until"]), is_replay),
    )


# --- Ids: a delivery's contains its event's and its endpoint's ------------------------------------

# The event's part is a ULID, before the year 9999, and the place of the event in its commit.
_DELIVERY_ID: Final = re.compile(
    r"dlv_[0-6][0-9A-HJKMNP-TV-Z]{25}([0-9]{2}|[A-Z][0-9A-Z])[0-9A-Z]{26}"
)


def delivery_id(event_id: str, endpoint_id: str) -> str:
    """Return the id of the only delivery of an event to an endpoint: it contains both ids."""
    return f"dlv_{event_id.removeprefix('evt_')}{endpoint_id.removeprefix('wh_')}"


def is_delivery_id(text: str) -> bool:
    """Return whether a text has the form of a delivery's id, whose event has a time."""
    return _DELIVERY_ID.fullmatch(text) is not None


def event_of(delivery_id: str) -> str:
    """Return the id of the event that is in a delivery's id."""
    return f"evt_{delivery_id[4:32]}"


def delivery_expiry(delivery_id: str) -> int:
    """Return when a delivery and its attempts expire, with its event, in Unix seconds.

    It is 30 days after the event, and follows from the id.
    """
    return int(ids.made_at(event_of(delivery_id)).timestamp()) + outbox.KEPT_SECONDS


def has_expired(delivery_id: str) -> bool:
    """Return whether a delivery with this id has expired. DynamoDB may delete it days later."""
    return delivery_expiry(delivery_id) <= clock.unix()


def endpoint_of(delivery_id: str) -> str:
    """Return the id of the endpoint that is in a delivery's id."""
    return f"wh_{delivery_id[32:]}"
