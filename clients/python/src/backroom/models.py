"""What the API takes and answers.

Written by `generate.py` from the description of the API: do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, Required, TypedDict

Amount: TypeAlias = "Decimal | float | str"
AuditVia: TypeAlias = Literal["API", "JOB"]
"""How it was written: by a request, or by a job that one started."""

Balance: TypeAlias = Literal["due", "owed"]
"""Who owes money: due: the customer; owed: the shop."""

BulkMode: TypeAlias = Literal["create", "upsert", "update"]
"""What a bulk call does with its rows."""

CountStatus: TypeAlias = Literal["OPEN", "APPLIED", "CANCELLED"]
"""OPEN: it takes lines. APPLIED: a job changes the stock by its differences, or has done so."""

CsvStyle: TypeAlias = Literal["comma", "semicolon"]
"""comma: `a,1.50`. semicolon: `a;1,50`, for spreadsheets of countries with decimal commas."""

CustomerSort: TypeAlias = Literal["-createdAt", "name", "-updatedAt", "updatedAt"]
"""The order of a list of customers."""

DeliveryStatus: TypeAlias = Literal["PENDING", "RETRYING", "DELIVERED", "FAILED", "CANCELLED"]
"""PENDING: no attempt yet. RETRYING: failed so far. The others have ended."""

DueIn: TypeAlias = Literal["overdue", "today", "week"]
"""When something is due, by the shop's day. week: today, or in the six days that follow."""

EventKind: TypeAlias = Literal[
    "order.created",
    "order.updated",
    "order.paid",
    "order.shipped",
    "order.cancelled",
    "order.refunded",
    "order.deleted",
    "order.edited",
    "order.closed",
    "payment.created",
    "payment.voided",
    "refund.created",
    "order.produced",
    "work.created",
    "work.updated",
    "shipment.created",
    "shipment.updated",
    "shipment.cancelled",
    "file.ready",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "product.created",
    "product.updated",
    "product.deleted",
    "inventory.low",
]
"""The events of docs/webhooks.md#events; some are only for webhooks that list them."""

ExportColumns: TypeAlias = Literal["backroom", "shopify"]
"""The columns of a CSV."""

ExportFormat: TypeAlias = Literal["csv", "jsonl"]
"""How a file of records is written."""

ExportType: TypeAlias = Literal[
    "products", "orders", "customers", "transactions", "movements", "shipments"
]
"""The records to export."""

FacetOf: TypeAlias = Literal["products", "orders", "customers"]
"""The records that have the values."""

FileError: TypeAlias = Literal[
    "not_an_image", "type_not_allowed", "too_many_pixels", "too_small", "damaged"
]
"""Why an uploaded file cannot be shown."""

FileKind: TypeAlias = Literal["IMAGE", "FILE"]
"""IMAGE: a picture that browsers can show. FILE: any other file."""

FileStatus: TypeAlias = Literal["WAITING", "READY", "FAILED"]
"""WAITING: for its upload. READY: it can be shown. FAILED: `error` says why."""

ImportMode: TypeAlias = Literal["upsert", "create", "update"]
"""Which products may be written: both, only new ones, only existing ones."""

JobStatus: TypeAlias = Literal[
    "QUEUED", "NEEDS_MAPPING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"
]
"""QUEUED: accepted; an import also waits for its file. NEEDS_MAPPING: an import waits for a
mapping of its file's columns. RUNNING: its steps are at work. The others are final: every
record was tried, an error ended it, or a client cancelled it."""

LineChangeKind: TypeAlias = Literal["ADDED", "CHANGED", "REMOVED"]
"""What an edit does with a line."""

LineState: TypeAlias = Literal["COUNTED", "UNCOUNTED", "DIFFERENT"]
"""DIFFERENT: counted, and not what was expected."""

MoneyClock: TypeAlias = Literal["recorded", "received"]
"""recorded: when a payment, a refund or a void was recorded. received: when the money of a payment
came, of a void when that of its payment came, of a refund when it was recorded."""

MovementCause: TypeAlias = Literal[
    "SALE",
    "OVERSOLD",
    "RETURN",
    "EDIT",
    "MOVE",
    "IMPORT",
    "BULK_EDIT",
    "UNDO",
    "COUNT",
    "TRACKED",
    "UNTRACKED",
]
"""Why a quantity changed. OVERSOLD: it did not, `missing` pieces were sold that were not there.
EDIT: of an order, if there is an `orderId`, or of the product. TRACKED and UNTRACKED: the
quantity began or ended to be counted, by whatever way."""

OrderSort: TypeAlias = Literal["-orderDate", "orderDate", "-updatedAt", "updatedAt"]
"""The order of a list of orders."""

OrderStatus: TypeAlias = Literal[
    "PENDING",
    "PAID",
    "IN_PRODUCTION",
    "PROCESSING",
    "SHIPPED",
    "DELIVERED",
    "CANCELLED",
    "REFUNDED",
]
"""The status of an order; docs/orders.md#order-status has the moves."""

PaymentStatus: TypeAlias = Literal["PENDING", "PAID", "PARTIALLY_PAID", "REFUNDED", "FAILED"]
"""Whether an order is paid."""

ProductSort: TypeAlias = Literal["-createdAt", "createdAt", "name", "-updatedAt", "updatedAt"]
"""The order of a list of products."""

ProductStatus: TypeAlias = Literal["ACTIVE", "DRAFT", "ARCHIVED"]
"""ACTIVE products can be sold; the storefront shows those of them that are published."""

PublicSort: TypeAlias = Literal["newest", "name", "price", "-price"]
"""The order of the storefront."""

RefundStatus: TypeAlias = Literal["NONE", "PARTIAL", "FULL"]
"""How much of the money was given back."""

ReportBy: TypeAlias = Literal["day", "product", "source", "salesRep", "paymentMethod"]
"""What each row of a report is of."""

ReportType: TypeAlias = Literal["sales", "money", "tax"]
"""sales: by the date of the order. money: by the day a payment or a refund was recorded, or by
`clock`. tax: charged by the date of the order, refunded by the day of the refund."""

Role: TypeAlias = Literal["READER", "STAFF", "ADMIN", "OWNER"]
"""The rights of a key. Each role includes those before it; READER only reads."""

ShipmentState: TypeAlias = Literal["SHIPPED", "DELIVERED", "CANCELLED"]
"""What has become of a shipment."""

ShippingMethod: TypeAlias = Literal["PARCEL", "PICKUP"]
"""PARCEL: it was sent. PICKUP: it was handed to the customer."""

ShippingStatus: TypeAlias = Literal["NONE", "PARTIAL", "ALL"]
"""How much of an order was shipped. ALL: something was, and nothing is left to ship."""

StockPolicy: TypeAlias = Literal["CHECK", "FORCE", "SKIP"]
"""What a new order takes. CHECK: all of it, or the order is refused. FORCE: what is there. SKIP:
nothing, because the stock was counted after the sale."""

TransactionKind: TypeAlias = Literal["PAYMENT", "REFUND", "VOID"]
"""What happened with money."""

UnknownColumnsMode: TypeAlias = Literal["ask", "fail"]
"""What happens to a file that is not recognised."""

WorkDue: TypeAlias = Literal["overdue", "today", "week", "none"]
"""When work is due, by the shop's day. week: today, or in the six days that follow."""

WorkEnd: TypeAlias = Literal["stage", "shipment", "refund", "edit", "order", "close"]
"""What ended work. stage: it is in the last. shipment, refund: of all pieces. edit: the line is
gone, or not made any more. order, close: the order was refunded, or closed."""

WorkState: TypeAlias = Literal["OPEN", "DONE", "CANCELLED"]
"""Whether there is something to do. CANCELLED: it ended before it was done."""

CreateProducts: TypeAlias = "Sequence[CreateProduct | ProductRow]"
"""The rows of a bulk call; each succeeds or fails independently."""


class Address(TypedDict):
    """Of an order whose customer was erased, only the country is left."""

    firstName: str | None
    """Given name."""
    lastName: str | None
    """Family name."""
    company: str | None
    """Company."""
    address1: str | None
    """Street and number."""
    address2: str | None
    """Further details, such as a floor."""
    city: str | None
    """City."""
    province: str | None
    """State, province or region."""
    postalCode: str | None
    """Postal code."""
    countryCode: str
    """Country, ISO 3166-1 alpha-2."""
    phone: str | None
    """Phone number, as it is written."""


class AddressInput(TypedDict):
    """A postal address. A customer's address may be sent back as it was read."""

    firstName: NotRequired[str | None]
    """Given name."""
    lastName: NotRequired[str | None]
    """Family name."""
    company: NotRequired[str | None]
    """Company."""
    address1: str
    """Street and number."""
    address2: NotRequired[str | None]
    """Further details, such as a floor."""
    city: str
    """City."""
    province: NotRequired[str | None]
    """State, province or region."""
    postalCode: NotRequired[str | None]
    """Postal code."""
    countryCode: str
    """Country, ISO 3166-1 alpha-2."""
    phone: NotRequired[str | None]
    """Phone number, as it is written."""


class AnnouncedClosing(TypedDict):
    """An order that was closed, as its event carries it."""

    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""
    status: OrderStatus
    """Its state."""
    closedAt: str
    """When it was closed first."""
    closedBy: str
    """Name of the API key."""
    closeReason: str | None
    """Why; null: erased with the customer."""
    kept: str
    """The money that it keeps."""


class AnnouncedEdit(TypedDict):
    """An edit, as its event carries it."""

    id: str
    """Identifier."""
    at: str
    """When it happened."""
    by: str
    """Name of the API key."""
    reason: str | None
    """Why; null: erased with the customer."""
    totalBefore: str
    """The total before it."""
    totalAfter: str
    """The total after it."""
    changes: list[str]
    """What changed, such as `Ring: quantity 1 → 2`."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""


class AnnouncedFile(TypedDict):
    """A file, as its event carries it: without texts that may name a person."""

    id: str
    """Identifier, `fil_…`."""
    orderId: str
    """Id of the order."""
    orderNumber: str
    """Number of the order."""
    customerId: str | None
    """The order's customer when the upload was asked for."""
    lineItemId: str | None
    """The line that it belongs to; null: the order."""
    contentType: str
    """Media type: of an IMAGE by its content, else as sent."""
    bytes: int
    """Size of the file."""
    kind: FileKind
    """By its content."""
    width: int | None
    """Pixels of an IMAGE, upright."""
    height: int | None
    """Pixels of an IMAGE, upright."""


class AnnouncedPayment(TypedDict):
    """A payment, as its events carry it."""

    id: str
    """Identifier."""
    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    reference: str | None
    """The reference of a terminal or a bank."""
    note: str | None
    """Free text about it."""
    receivedAt: str
    """When the money came."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key."""
    tendered: str | None
    """Cash that was handed over."""
    change: str | None
    """Cash that was given back."""
    implied: bool
    """Whether a payment status implied it."""
    voidedAt: str | None
    """Since when it does not count; null: it counts."""
    voidReason: str | None
    """Why it was voided."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""


class AnnouncedProduction(TypedDict):
    """An order of which all work is done, as its event carries it."""

    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""
    status: OrderStatus
    """Its state."""
    producedAt: str
    """When the last work was done."""


class AnnouncedRefund(TypedDict):
    """A refund, as its event carries it."""

    id: str
    """Identifier."""
    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    paymentId: str | None
    """The payment that it refunds, if one was named."""
    reference: str | None
    """The reference of a terminal or a bank."""
    reason: str | None
    """Why, such as DAMAGED."""
    note: str | None
    """Free text about it."""
    lines: list[RefundedLine]
    """What came back; none: only money."""
    shipping: str
    """The refunded part of the order's shipping."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key."""
    implied: bool
    """Whether the status REFUNDED implied it."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""


class AnnouncedShipment(TypedDict):
    """A shipment, as its events carry it."""

    id: str
    """Identifier."""
    method: ShippingMethod
    """How it reached the customer."""
    lines: list[ShippedLine]
    """What is in it."""
    carrier: str | None
    """Who carries it."""
    parcels: list[Parcel]
    """Its parcels."""
    note: str | None
    """Free text about it."""
    shippedAt: str
    """When it left."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key; empty: not known."""
    deliveredAt: str | None
    """When it arrived; null: it is under way."""
    cancelledAt: str | None
    """Since when it does not count; null: it counts."""
    cancelReason: str | None
    """Why it was cancelled."""
    implied: bool
    """Whether the status SHIPPED implied it."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""


class AnnouncedWork(TypedDict):
    """Work, as its events carry it: without texts that may name a person."""

    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    lineItemId: str
    """Id of the line that is made."""
    productId: str | None
    """Id of the product."""
    sku: str | None
    """Stock keeping unit."""
    quantity: int
    """Pieces of the line."""
    toMake: int
    """Pieces without those refunded before they were shipped."""
    made: int
    """Pieces that are made."""
    surplus: int
    """Pieces that are made and not needed any more."""
    revision: int
    """1, and one more for each edit of title, quantity or details since it began."""
    state: WorkState
    """Whether there is something to do."""
    stage: Stage
    """Where it is, or was when it ended."""
    assignee: str | None
    """Employee who makes it, `emp_…`; null: nobody."""
    priority: int
    """From 0 to 9, the most urgent."""
    dueOn: str | None
    """Day of the shop by which it is due; null: none."""
    startedAt: str | None
    """When it left the first stage; null: it did not."""
    doneAt: str | None
    """When it ended; null: it is open."""
    closedBy: WorkEnd | None
    """What ended it; null: it is open."""
    customerId: str | None
    """Id of the order's customer."""


class ApiKey(TypedDict):
    """An API key, without the key itself."""

    id: str
    """Identifier."""
    name: str
    """Name."""
    role: Role
    """What the key may do."""
    createdAt: str
    """When it was created."""
    expiresAt: str | None
    """When it expires; null: never."""
    limits: RateLimits
    """How often it may call."""


class ApiKeyList(TypedDict):
    """The answer of a list."""

    data: list[ListedApiKey]
    """The items."""
    pagination: Pagination
    """Which page this is."""
    total: int
    """How many there are in all."""


class ApiKeyWithSecret(TypedDict):
    """A new key. `key` is the secret itself, shown only once."""

    id: str
    """Identifier."""
    name: str
    """Name."""
    role: Role
    """What the key may do."""
    createdAt: str
    """When it was created."""
    expiresAt: str | None
    """When it expires; null: never."""
    key: str
    """The API key itself, shown only once."""


class AttemptRequest(TypedDict):
    """The request of an attempt, without the body."""

    headers: dict[str, str]
    """HTTP headers."""


class AttemptResponse(TypedDict):
    """`body`: the first 16 KB as text; `truncated`: it was longer, or was cut off."""

    status: int
    """HTTP status."""
    headers: dict[str, str]
    """HTTP headers."""
    body: str
    """The text, as it was sent."""
    truncated: bool
    """Whether it was longer, or was cut off."""


class Audit(TypedDict):
    """One write, or one that was refused."""

    id: str
    """Identifier, `aud_…`."""
    at: str
    """When it was committed."""
    actor: AuditActor
    """Who did it."""
    action: str
    """What was done, such as `order.updated` or `request.refused`."""
    record: AuditRecord
    """The record that was written."""
    changes: list[AuditChange]
    """At most 50 fields that differ; texts are cut to 200 characters."""
    request: str | None
    """Of a refused request, its operation: `DELETE /api/admin/orders/{id}`."""
    requestId: str | None
    """The `X-Request-Id` of its answer."""
    via: AuditVia
    """A request, or a job."""
    jobId: str | None
    """Id of the job."""


class AuditActor(TypedDict):
    """The API key that asked for it, also where a job did it; null: the shop's operator."""

    keyId: str | None
    """Id of the key."""
    keyName: str | None
    """Name of the key."""


class AuditChange(TypedDict):
    """One field that differs. Both are null if a person was erased."""

    field: str
    """Which, such as `variants[var_…].price`."""
    before: str | int | float | bool | None
    """Its value before; lists and objects as JSON."""
    after: str | int | float | bool | None
    """Its value after."""


class AuditList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Audit]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class AuditRecord(TypedDict):
    """What was written."""

    type: str
    """Type of record, such as `order`."""
    id: str | None
    """Its id; null: a refused request that names none."""
    number: str | None
    """Number of an order."""
    name: str | None
    """Name of another record; null: none, or erased."""


class BulkOrderEdit(TypedDict):
    """The orders, by `ids`, by `filters` or all of them, and the change."""

    filters: NotRequired[dict[str, Any] | None]
    """Query parameters of the list, except page, limit, cursor and sort"""
    all: NotRequired[bool | None]
    """All records, with no `ids` and no `filters`."""
    ids: NotRequired[list[str] | None]
    """Identifiers, up to 500."""
    dryRun: NotRequired[bool | None]
    """Report what would change, and change nothing. Default: `false`."""
    change: OrderEdit
    """What is changed."""


class BulkProductEdit(TypedDict):
    """The products, by `ids`, by `filters` or all of them, and the change."""

    filters: NotRequired[dict[str, Any] | None]
    """Query parameters of the list, except page, limit, cursor and sort"""
    all: NotRequired[bool | None]
    """All records, with no `ids` and no `filters`."""
    ids: NotRequired[list[str] | None]
    """Identifiers, up to 500."""
    dryRun: NotRequired[bool | None]
    """Report what would change, and change nothing. Default: `false`."""
    change: ProductEdit
    """What is changed."""


class BulkResult(TypedDict):
    """One row per product sent, in their order."""

    data: list[BulkRow]
    """The items."""
    summary: BulkSummary
    """The number of products with each result."""


class BulkRow(TypedDict):
    """`id` and `product`, or `error` (as an error body). `updated` and `unchanged` are of the
    modes `upsert` and `update`."""

    index: int
    """Place in the request, from 0."""
    status: Literal["created", "updated", "unchanged", "error"]
    """The result for this product."""
    id: NotRequired[str]
    """Identifier."""
    product: NotRequired[Product]
    """The product; left out of large answers: use `id`."""
    error: NotRequired[dict[str, Any]]
    """Why it failed; null: it did not."""


class BulkStatus(TypedDict):
    """The new status, and the products that get it."""

    ids: list[str]
    """Identifiers, up to 500."""
    status: ProductStatus
    """Its state."""


class BulkStatusResult(TypedDict):
    """One row per id sent, in their order."""

    data: list[BulkStatusRow]
    """The items."""
    summary: BulkStatusSummary
    """The number of products with each result."""


class BulkStatusRow(TypedDict):
    """`error` (as an error body) if it was not updated."""

    index: int
    """Place in the request, from 0."""
    id: str
    """Identifier."""
    status: Literal["updated", "error"]
    """The result for this product."""
    error: NotRequired[dict[str, Any]]
    """Why it failed; null: it did not."""


class BulkStatusSummary(TypedDict):
    """How many were updated, and how many were not."""

    updated: int
    """How many were updated."""
    failed: int
    """How many failed."""


class BulkSummary(TypedDict):
    """How many were created, and how many were not."""

    created: int
    """How many were created."""
    updated: NotRequired[int]
    """How many were changed; not of `create`."""
    unchanged: NotRequired[int]
    """How many were so already; not of `create`."""
    failed: int
    """How many failed."""


class CancelShipment(TypedDict):
    """Why a shipment does not count."""

    reason: NotRequired[str | None]
    """Why, such as a parcel that never left."""


class Carrier(TypedDict):
    """Who carries parcels, and where they are followed."""

    name: str
    """Name, as shipments have it."""
    trackingUrl: str
    """https address with `{number}` for the tracking number."""


class CarrierInput(TypedDict):
    """Who carries parcels, and where they are followed."""

    name: str
    """Name, as shipments have it."""
    trackingUrl: str
    """https address with `{number}` for the tracking number."""


class ChosenMapping(TypedDict):
    """How a job's file is read. `encoding`, `delimiter` or `headerRow`: it is read again, and its
    columns are shown again. Otherwise the fields of its columns, or a known format with
    changes."""

    encoding: NotRequired[str | None]
    """The file's encoding, such as cp1250; default: detected."""
    delimiter: NotRequired[str | None]
    """Between cells; default: detected."""
    headerRow: NotRequired[int | None]
    """Line of the header, 0: there is none; default: detected."""
    columns: NotRequired[dict[str, str | None] | None]
    """Column → field; null: not read."""
    format: NotRequired[str | None]
    """Name of a format, such as `shopify`."""
    saveAs: NotRequired[str | None]
    """Keep the mapping under this name: without a slash, and not of dots alone."""


class CloseOrder(TypedDict):
    """What an order keeps when it ends; the rest of the money goes back."""

    keep: NotRequired[Amount | None]
    """The money to keep, at most what was paid and not refunded. Default: `0`."""
    reason: str
    """Why it ends."""
    restock: NotRequired[bool | None]
    """Return its pieces to the stock, unless it was shipped. Default: `true`."""
    refunds: NotRequired[list[CloseRefund] | None]
    """How the rest goes back; default: as it was paid."""
    method: NotRequired[str | None]
    """Return all of the rest by this method."""
    dryRun: NotRequired[bool | None]
    """Only say what would happen. Default: `false`."""


class ClosePreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    refunds: list[PreviewedRefund]
    """What would be given back."""
    kept: str
    """The money that the order would keep."""
    restocks: list[RestockedVariant]
    """What would return to the stock."""
    work: list[str]
    """Ids of the lines whose open work would be cancelled."""
    statusAfter: OrderStatus
    """Its state after it."""
    events: list[str]
    """The events that would be emitted."""


class CloseRefund(TypedDict):
    """A part of what goes back."""

    amount: Amount
    """An amount, at most the currency's decimals"""
    method: NotRequired[str | None]
    """Default: that of the payment, or the only one used."""
    paymentId: NotRequired[str | None]
    """The payment that is refunded, `pay_…`."""


class CompareAtPriceChange(TypedDict):
    """`fromPrice`: the price before this change becomes the compare-at price, as for a sale."""

    set: NotRequired[Amount | None]
    """The new amount."""
    clear: NotRequired[bool | None]
    """Remove it."""
    fromPrice: NotRequired[bool | None]
    """The price before this change becomes the compare-at price."""


class CorrectPayment(TypedDict):
    """How a payment really came."""

    method: str
    """How the money came, such as CARD_TERMINAL."""
    reason: NotRequired[str | None]
    """Why, such as a wrong button."""


class CountedLine(TypedDict):
    """What was counted of a variant."""

    variantId: str
    """Id of the variant, `var_…`."""
    counted: int
    """Pieces that are there."""
    add: NotRequired[bool | None]
    """Add them to what was counted before, such as on another shelf."""
    before: NotRequired[int | None]
    """What was shown as counted when this was entered; null: nothing. If it is not so any more,
    because somebody else counted, the answer is 409 `count_changed`."""


class CountedLines(TypedDict):
    """Lines of a count."""

    lines: list[CountedLine]
    """All of them are kept, or none."""


class CreateApiKey(TypedDict):
    """The rights of a new key, and its expiry."""

    name: str
    """Who or what uses the key."""
    role: Role
    """What the key may do."""
    expiresAt: NotRequired[str | None]
    """Requests after it are 401 `key_expired`; default: never. Without an offset it is a time of
    the shop's zone."""


class CreateCustomer(TypedDict):
    """The fields of a creation: an e-mail, a phone, a company or a name at least."""

    email: NotRequired[str | None]
    """E-mail address."""
    firstName: NotRequired[str | None]
    """Given name."""
    lastName: NotRequired[str | None]
    """Family name."""
    company: NotRequired[str | None]
    """Company."""
    phone: NotRequired[str | None]
    """Phone number, as it is written."""
    note: NotRequired[str | None]
    """Free text about it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    addresses: NotRequired[list[CustomerAddressInput] | None]
    """Where parcels and bills may go, at most 20."""
    defaultAddressId: NotRequired[str | None]
    """Default: the first one"""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""


class CreateExport(TypedDict):
    """The records to export, and the format."""

    filters: NotRequired[dict[str, Any] | None]
    """Query parameters of the list, except page, limit, cursor and sort"""
    all: NotRequired[bool | None]
    """All records, with no `ids` and no `filters`."""
    type: ExportType
    """Which records."""
    format: NotRequired[ExportFormat | None]
    """jsonl: a record a line, as the API shows it. Default: `csv`."""
    columns: NotRequired[ExportColumns | None]
    """Of a CSV of products. Default: `backroom`."""


class CreateFile(TypedDict):
    """The file that will be uploaded."""

    name: str
    """Name of the file."""
    contentType: NotRequired[str | None]
    """Media type. What is none becomes `application/octet-stream`. Default:
    `application/octet-stream`."""
    bytes: int
    """Exact size of the file; at most 50 MiB."""
    lineItemId: NotRequired[str | None]
    """The line that it belongs to, perhaps removed since; null: the order."""
    note: NotRequired[str | None]
    """Free text about it."""


class CreateImportUpload(TypedDict):
    """A file that will be uploaded, and how it is imported."""

    encoding: NotRequired[str | None]
    """The file's encoding, such as cp1250; default: detected."""
    delimiter: NotRequired[str | None]
    """Between cells; default: detected."""
    headerRow: NotRequired[int | None]
    """Line of the header, 0: there is none; default: detected."""
    mode: NotRequired[ImportMode | None]
    """upsert, create (new only) or update (existing only). Default: `upsert`."""
    dryRun: NotRequired[bool | None]
    """Report what would happen, and write no product. Default: `false`."""
    allowZeroPrices: NotRequired[bool | None]
    """Allow prices above zero to become zero. Default: `false`."""
    onUnknownColumns: NotRequired[UnknownColumnsMode | None]
    """`ask`: the job waits for a mapping; `fail`: it fails. Default: `ask`."""
    savedMapping: NotRequired[str | None]
    """Name of the saved mapping to use."""
    sheet: NotRequired[str | None]
    """A workbook's sheet; default: the first."""
    location: NotRequired[str | None]
    """The location whose stock is read; default: all."""
    review: NotRequired[bool | None]
    """Wait for confirmation even if the file is recognised. Default: `false`."""
    fileName: str
    """Name of the file."""
    mapping: NotRequired[dict[str, str | None] | None]
    """Column → field; null: not read."""


class CreateMapping(TypedDict):
    """A mapping to be proposed for files with exactly these columns."""

    columns: dict[str, str | None]
    """Column → field; null: not read"""
    format: NotRequired[str | None]
    """Name of the format that the file has; null: its columns are mapped."""


class CreateOrder(TypedDict):
    """The fields of a creation. Sums that are absent are computed, and those given are kept."""

    source: NotRequired[str | None]
    """Where the order came from, such as IN_PERSON."""
    customer: NotRequired[OrderCustomerInput | None]
    """Who ordered; null: no customer."""
    shippingAddress: NotRequired[AddressInput | None]
    """Where the parcel goes; a copy, null if none was given."""
    billingAddress: NotRequired[AddressInput | None]
    """Where the bill goes; a copy, null if none was given."""
    salesRepId: NotRequired[str | None]
    """Employee who sold it, `emp_…`; null: none."""
    lineItems: list[LineItemInput]
    """Items of the order."""
    stockPolicy: NotRequired[StockPolicy | None]
    """How much tracked stock the order takes. Default: `CHECK`."""
    currency: NotRequired[str | None]
    """The shop's currency, ISO 4217."""
    discount: NotRequired[DiscountInput | None]
    """What is taken off the subtotal."""
    shipping: NotRequired[Amount | None]
    """What shipping costs; a decimal amount."""
    tax: NotRequired[Amount | None]
    """A decimal amount."""
    subtotal: NotRequired[Amount | None]
    """Sum of the lines; a decimal amount."""
    total: NotRequired[Amount | None]
    """What is to be paid; a decimal amount."""
    paymentStatus: NotRequired[PaymentStatus | None]
    """Whether it is paid."""
    paymentMethod: NotRequired[str | None]
    """How it is paid, such as CARD_TERMINAL."""
    payments: NotRequired[list[PaymentInput] | None]
    """What was paid already."""
    deposit: NotRequired[DepositInput | None]
    """What must be paid before production begins; null: none."""
    note: NotRequired[str | None]
    """Free text about it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    dueOn: NotRequired[str | None]
    """Day of the shop by which it is due; null: its lines'."""
    orderDate: NotRequired[str | None]
    """At most 24 hours ahead. Without an offset it is a time of the shop's zone."""
    processedAt: NotRequired[str | None]
    """The same as orderDate, which counts if both are sent."""
    dryRun: NotRequired[bool | None]
    """Only say what the order would be. Default: `false`."""


class CreatePicture(TypedDict):
    """The file that will be uploaded."""

    name: str
    """Name of the file; only the shop sees it."""
    contentType: str
    """image/jpeg, image/png or image/webp. The content decides."""
    bytes: int
    """Exact size of the file; at most 20 MiB."""


class CreateProduct(TypedDict):
    """The fields of a creation. `price` may be absent only if every variant has one."""

    currency: NotRequired[str | None]
    """The shop's currency, ISO 4217."""
    description: NotRequired[str | None]
    """Free text."""
    status: NotRequired[ProductStatus | None]
    """Its state. Default: `DRAFT`."""
    price: NotRequired[Amount | None]
    """A decimal amount, in the shop's currency."""
    compareAtPrice: NotRequired[Amount | None]
    """The price before a reduction; a decimal amount."""
    sku: NotRequired[str | None]
    """Stock keeping unit."""
    vendor: NotRequired[str | None]
    """Who makes or supplies it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    type: NotRequired[str | None]
    """Product type."""
    storefront: NotRequired[str | None]
    """The storefront that it is assigned to; null: all."""
    published: NotRequired[bool | None]
    """Whether the storefront may show it. Default: `true`."""
    images: NotRequired[list[ImageInput] | None]
    """Images, the main one first."""
    seo: NotRequired[SeoInput | None]
    """What search engines show."""
    lowStockThreshold: NotRequired[int | None]
    """A stock below this is low."""
    madeToOrder: NotRequired[bool | None]
    """Whether it is made when ordered, and takes no stock."""
    leadDays: NotRequired[int | None]
    """Days from the order until it is due; null: no date."""
    specification: NotRequired[list[SpecifiedNameInput] | None]
    """What a made piece needs to be known."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    name: str
    """Name."""
    slug: NotRequired[str | None]
    """Its part of a web address, such as blue-shirt."""
    variants: NotRequired[list[CreateVariant] | None]
    """Variants; there is at least one."""


CreateReport = TypedDict(
    "CreateReport",
    {
        "type": "Required[ReportType]",
        "by": "NotRequired[ReportBy | None]",
        "from": "Required[str]",
        "to": "Required[str]",
        "productId": "NotRequired[str | None]",
        "costs": "NotRequired[bool | None]",
        "csv": "NotRequired[CsvStyle | None]",
        "clock": "NotRequired[MoneyClock | None]",
    },
)


class CreateShipment(TypedDict):
    """What leaves the shop."""

    lines: NotRequired[list[ShipmentLineInput] | None]
    """What is shipped; default: all that is left."""
    method: NotRequired[ShippingMethod | None]
    """How it reached the customer. Default: `PARCEL`."""
    carrier: NotRequired[str | None]
    """Who carries it."""
    parcels: NotRequired[list[ParcelInput] | None]
    """Its parcels."""
    note: NotRequired[str | None]
    """Free text about it."""
    shippedAt: NotRequired[str | None]
    """At most 24 hours ahead; now. Without an offset it is a time of the shop's zone."""
    dryRun: NotRequired[bool | None]
    """Only say what would happen. Default: `false`."""


class CreateStockCount(TypedDict):
    """What is counted: variants, or all of the products that match filters, if they are tracked."""

    filters: NotRequired[dict[str, Any] | None]
    """Query parameters of the list, except page, limit, cursor and sort"""
    all: NotRequired[bool | None]
    """All records, with no `ids` and no `filters`."""
    name: str
    """Such as the room or the shelf."""
    variantIds: NotRequired[list[str] | None]
    """Ids of variants, up to 10,000."""


class CreateVariant(TypedDict):
    """A variant of a new product. The id of a copied one is ignored."""

    title: NotRequired[str | None]
    """Title."""
    sku: NotRequired[str | None]
    """Stock keeping unit."""
    price: NotRequired[Amount | None]
    """A decimal amount, in the shop's currency."""
    stock: NotRequired[int | None]
    """How many there are; null: not tracked."""
    barcode: NotRequired[str | None]
    """What a scanner reads, such as an EAN."""
    cost: NotRequired[Amount | None]
    """What one piece costs the shop; a decimal amount."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""


class CreateWebhook(TypedDict):
    """The address for events, and which events."""

    url: str
    """https:// and a public host; no redirects"""
    events: list[EventKind]
    """Kinds of events that it gets."""
    email: NotRequired[str | None]
    """Gets an e-mail when deliveries fail. Without it, the shop's address does."""
    description: NotRequired[str | None]
    """Free text."""
    enabled: NotRequired[bool | None]
    """false pauses it: new events make no deliveries, and pending ones wait. Default: `true`."""
    filter: NotRequired[dict[str, Any] | None]
    """A pattern (docs/webhooks.md#filters): events whose body does not fit are not sent."""


class CursorPagination(TypedDict):
    """The page, the number of pages, and the cursor of the next page."""

    page: int
    """Number of the page, from 1."""
    limit: int
    """Items per page."""
    total: int
    """How many there are in all."""
    totalPages: int
    """Number of pages."""
    next: str | None
    """Send it as `cursor`; null at the end"""


class Customer(TypedDict):
    """A customer as the admin interface answers it."""

    id: str
    """Identifier."""
    email: str | None
    """E-mail address."""
    firstName: str | None
    """Given name."""
    lastName: str | None
    """Family name."""
    company: str | None
    """Company."""
    phone: str | None
    """Phone number, as it is written."""
    note: str | None
    """Free text about it."""
    tags: list[str]
    """Words to find it by."""
    addresses: list[CustomerAddress]
    """Where parcels and bills may go, at most 20."""
    defaultAddressId: str | None
    """Id of the default address."""
    externalId: str | None
    """Its id in another system, such as an ERP; each is used once."""
    metadata: dict[str, Any]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    ordersCount: int
    """Orders that are not cancelled"""
    totalSpent: str
    """What was paid for the orders and not refunded, at most what is owed"""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    erasedAt: NotRequired[str]
    """Only if the customer was erased"""


class CustomerAddress(TypedDict):
    """A postal address of a customer."""

    firstName: str | None
    """Given name."""
    lastName: str | None
    """Family name."""
    company: str | None
    """Company."""
    address1: str | None
    """Street and number."""
    address2: str | None
    """Further details, such as a floor."""
    city: str | None
    """City."""
    province: str | None
    """State, province or region."""
    postalCode: str | None
    """Postal code."""
    countryCode: str
    """Country, ISO 3166-1 alpha-2."""
    phone: str | None
    """Phone number, as it is written."""
    id: str
    """Identifier."""


class CustomerAddressInput(TypedDict):
    """With the `id` of an existing address, it takes the place of that one; otherwise it is new."""

    firstName: NotRequired[str | None]
    """Given name."""
    lastName: NotRequired[str | None]
    """Family name."""
    company: NotRequired[str | None]
    """Company."""
    address1: str
    """Street and number."""
    address2: NotRequired[str | None]
    """Further details, such as a floor."""
    city: str
    """City."""
    province: NotRequired[str | None]
    """State, province or region."""
    postalCode: NotRequired[str | None]
    """Postal code."""
    countryCode: str
    """Country, ISO 3166-1 alpha-2."""
    phone: NotRequired[str | None]
    """Phone number, as it is written."""
    id: NotRequired[str | None]
    """Identifier."""


class CustomerChange(TypedDict):
    """The fields of a PATCH: absent fields stay, null clears, a list replaces the old list."""

    email: NotRequired[str | None]
    """E-mail address."""
    firstName: NotRequired[str | None]
    """Given name."""
    lastName: NotRequired[str | None]
    """Family name."""
    company: NotRequired[str | None]
    """Company."""
    phone: NotRequired[str | None]
    """Phone number, as it is written."""
    note: NotRequired[str | None]
    """Free text about it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    addresses: NotRequired[list[CustomerAddressInput] | None]
    """Where parcels and bills may go, at most 20."""
    defaultAddressId: NotRequired[str | None]
    """Default: the first one"""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""


class CustomerCreatedEvent(TypedDict):
    """A customer was created."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["customer.created"]
    """Kind of the event."""
    data: Customer
    """What it is about."""


class CustomerDeletedEvent(TypedDict):
    """A customer was deleted: as it was before."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["customer.deleted"]
    """Kind of the event."""
    data: Customer
    """What it is about."""


class CustomerList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Customer]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class CustomerUpdatedEvent(TypedDict):
    """A customer was changed."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["customer.updated"]
    """Kind of the event."""
    data: Customer
    """What it is about."""


class Deleted(TypedDict):
    """What was deleted."""

    id: str
    """Identifier."""
    deleted: bool
    """Always true."""


class Delivery(TypedDict):
    """One event on its way to one webhook."""

    id: str
    """Identifier."""
    event: EventKind
    """Kind of the event."""
    endpointId: str
    """Id of the webhook."""
    status: DeliveryStatus
    """Its state."""
    attemptCount: int
    """How often it was tried."""
    lastStatus: int | None
    """HTTP status of the newest attempt"""
    lastError: str | None
    """`error` of the newest attempt"""
    lastDurationMs: int | None
    """How long the newest attempt took."""
    nextAttemptAt: str | None
    """The time of the next attempt; null: none."""
    subject: DeliverySubject | None
    """What the event is about; null: not known."""
    test: bool
    """Whether it is a test event."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""


class DeliveryAttempt(TypedDict):
    """`error` is null on success, else one of those in `docs/webhooks.md`."""

    number: int
    """Which attempt it was, from 1."""
    at: str
    """When it happened."""
    durationMs: int
    """How long it took, in milliseconds."""
    replay: bool
    """Whether the attempt was requested as a replay."""
    url: str
    """Web address."""
    address: str | None
    """The IP address that was connected to; null: none was."""
    request: AttemptRequest
    """What was sent."""
    response: AttemptResponse | None
    """What came back; null: nothing did."""
    error: str | None
    """Why it failed; null: it did not."""
    message: str | None
    """What happened, for people."""


class DeliveryList(TypedDict):
    """`nextCursor` is null at the end; before it, a page can be short, even empty."""

    data: list[Delivery]
    """The items."""
    nextCursor: str | None
    """Send it as `cursor` for what follows; null at the end."""


class DeliverySubject(TypedDict):
    """The event's subject. `name`: the number of an order, the name of a product."""

    id: str
    """Identifier."""
    name: str | None
    """Number of the order, or name of the product or customer."""


class DeliveryWithAttempts(TypedDict):
    """A delivery with every attempt; `body` is the text of each."""

    id: str
    """Identifier."""
    event: EventKind
    """Kind of the event."""
    endpointId: str
    """Id of the webhook."""
    status: DeliveryStatus
    """Its state."""
    attemptCount: int
    """How often it was tried."""
    lastStatus: int | None
    """HTTP status of the newest attempt"""
    lastError: str | None
    """`error` of the newest attempt"""
    lastDurationMs: int | None
    """How long the newest attempt took."""
    nextAttemptAt: str | None
    """The time of the next attempt; null: none."""
    subject: DeliverySubject | None
    """What the event is about; null: not known."""
    test: bool
    """Whether it is a test event."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    attempts: list[DeliveryAttempt]
    """The newest 500 attempts, oldest first."""
    body: str | None
    """The text, as it was sent."""


class Deposit(TypedDict):
    """The part of the total that must be paid before production begins."""

    amount: str
    """A decimal amount."""
    percent: float | None
    """Percent of the total, if it was sent as such."""
    isReached: bool
    """Whether at least this was paid."""


class DepositInput(TypedDict):
    """Either `amount` or `percent`."""

    amount: NotRequired[Amount | None]
    """A decimal amount, at most the total."""
    percent: NotRequired[Amount | None]
    """Percent of the total."""


class Discount(TypedDict):
    """What is taken off."""

    amount: str
    """A decimal amount."""
    percent: float | None
    """In percent, if it was sent as such."""
    reason: str | None
    """Why."""


class DiscountInput(TypedDict):
    """Either `amount` or `percent`."""

    amount: NotRequired[Amount | None]
    """A decimal amount, at most what it is taken off."""
    percent: NotRequired[Amount | None]
    """Percent of what it is taken off."""
    reason: NotRequired[str | None]
    """Why."""


class EditOrder(TypedDict):
    """What changes; absent fields stay. Lines and amounts change until the order is SHIPPED."""

    add: NotRequired[list[LineItemInput] | None]
    """New lines."""
    change: NotRequired[list[LineChange] | None]
    """Lines that stay, with new values."""
    remove: NotRequired[list[str] | None]
    """Ids of the lines that go."""
    discount: NotRequired[DiscountInput | None]
    """What is taken off the subtotal; null: nothing."""
    shipping: NotRequired[Amount | None]
    """What shipping costs; null: nothing."""
    tax: NotRequired[Amount | None]
    """Required if the order has tax and its other amounts change."""
    total: NotRequired[Amount | None]
    """Default: as computed."""
    customer: NotRequired[EditedCustomer | None]
    """Who ordered; null: no customer."""
    source: NotRequired[str | None]
    """Where the order came from."""
    orderDate: NotRequired[str | None]
    """At most 24 hours ahead. Without an offset it is a time of the shop's zone."""
    reason: str
    """Why it is edited."""
    unlock: NotRequired[bool | None]
    """Also change what the workshop has begun to make."""
    dryRun: NotRequired[bool | None]
    """Only say what would change."""


class EditPreview(TypedDict):
    """What the same edit without `dryRun` would do now."""

    before: EditedSums
    """The sums now."""
    after: EditedSums
    """The sums after it."""
    lines: list[EditedLine]
    """Which lines differ."""
    stock: list[EditedStock]
    """Which stock changes."""


class EditedCustomer(TypedDict):
    """The customer that the order gets."""

    id: str
    """Id of an existing customer, `cus_…`."""


class EditedLine(TypedDict):
    """What an edit does with a line."""

    lineItemId: str | None
    """Id of the line; null: it is new."""
    change: LineChangeKind
    """What happens with it."""
    fields: list[str]
    """Which fields of a CHANGED line differ."""


class EditedStock(TypedDict):
    """What an edit does with the stock of a variant."""

    variantId: str
    """Id of the variant."""
    by: int
    """Pieces that return to the stock; negative: that are taken."""


class EditedSums(TypedDict):
    """The sums of an order."""

    subtotal: str
    """Sum of the lines; a decimal amount."""
    tax: str
    """A decimal amount."""
    total: str
    """What is to be paid; a decimal amount."""
    balanceDue: str
    """What is still to pay; negative: the shop owes."""


class EnteredLines(TypedDict):
    """The lines as they are kept."""

    lines: list[StockCountLine]
    """One for each variant."""


class EventFeed(TypedDict):
    """`next` is always there: send it as `after` of the next request."""

    data: list[FeedEvent]
    """The items."""
    next: str
    """Send it as `after` of the next request; always present."""


class Facet(TypedDict):
    """A value that was used."""

    value: str
    """The value, as it was written."""
    count: int | None
    """How many records have it now; null: not counted for this field."""


class Facets(TypedDict):
    """Values in alphabetical order."""

    data: list[Facet]
    """The values."""
    more: bool
    """Whether there are more that match."""


class FeedEvent(TypedDict):
    """An event as it was committed; webhooks get the same `data`."""

    id: str
    """Identifier."""
    event: EventKind
    """Kind of the event."""
    occurredAt: str
    """When it was committed."""
    data: dict[str, Any]
    """What its webhooks get as `data`."""
    stock: NotRequired[dict[str, int | None]]
    """With `stock=true`: the current stock of the variants in `data`, or that its edit moved, by
    id; null is not tracked"""


class File(TypedDict):
    """A file of an order. Only the shop sees it."""

    id: str
    """Identifier, `fil_…`."""
    orderId: str
    """Id of the order."""
    lineItemId: str | None
    """The line that it belongs to, perhaps removed since; null: the order."""
    status: FileStatus
    """WAITING for its upload, or READY."""
    name: str
    """Name of the file."""
    note: str | None
    """Free text about it."""
    contentType: str
    """Media type: of an IMAGE by its content, else as sent."""
    bytes: int
    """Size of the file."""
    kind: FileKind | None
    """By its content; null: it is not READY."""
    width: int | None
    """Pixels of an IMAGE, upright."""
    height: int | None
    """Pixels of an IMAGE, upright."""
    urls: FileUrls | None
    """Where it is; null: it is not READY."""
    expiresAt: str | None
    """Until when the addresses lead to it."""
    createdAt: str
    """When the upload was asked for."""
    createdBy: str
    """Name of the API key that asked for it."""


class FileChange(TypedDict):
    """The fields of a PATCH: absent fields stay; null clears."""

    name: NotRequired[str]
    """Name of the file."""
    lineItemId: NotRequired[str | None]
    """The line that it belongs to, perhaps removed since; null: the order."""
    note: NotRequired[str | None]
    """Free text about it."""


class FileReadyEvent(TypedDict):
    """A file of an order was uploaded, and can be read."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["file.ready"]
    """Kind of the event."""
    data: AnnouncedFile
    """What it is about."""


class FileUpload(TypedDict):
    """A new file, and the form for it."""

    id: str
    """Identifier, `fil_…`."""
    orderId: str
    """Id of the order."""
    lineItemId: str | None
    """The line that it belongs to, perhaps removed since; null: the order."""
    status: FileStatus
    """WAITING for its upload, or READY."""
    name: str
    """Name of the file."""
    note: str | None
    """Free text about it."""
    contentType: str
    """Media type: of an IMAGE by its content, else as sent."""
    bytes: int
    """Size of the file."""
    kind: FileKind | None
    """By its content; null: it is not READY."""
    width: int | None
    """Pixels of an IMAGE, upright."""
    height: int | None
    """Pixels of an IMAGE, upright."""
    urls: FileUrls | None
    """Where it is; null: it is not READY."""
    expiresAt: str | None
    """Until when the addresses lead to it."""
    createdAt: str
    """When the upload was asked for."""
    createdBy: str
    """Name of the API key that asked for it."""
    upload: UploadForm
    """The form."""


class FileUrls(TypedDict):
    """Signed addresses of a file. They end at `expiresAt`: read the file again for new ones."""

    small: str | None
    """WebP of at most 160 pixels; null: it is no picture."""
    large: str | None
    """WebP of at most 1,600 pixels; null: it is no picture."""
    original: str
    """A download of the file, under its name."""


class FilesOfOrder(TypedDict):
    """All files of an order."""

    data: list[File]
    """Files, oldest first."""


class ForeseenProduct(TypedDict):
    """A product, as a mapping reads it."""

    row: int
    """Line of its first row."""
    name: str | None
    """Name."""
    sku: str | None
    """Stock keeping unit."""
    price: str | None
    """Amount; null: that of its variants, or none."""
    variants: list[ForeseenVariant]
    """Its first 20 variants."""
    errors: list[str]
    """What is wrong with its rows."""


class ForeseenVariant(TypedDict):
    """A variant, as the file has it."""

    title: str | None
    """Its options, such as Small / Blue; null: it has none."""
    sku: str | None
    """Stock keeping unit."""
    price: str | None
    """Amount; null: the product's, or none."""
    stock: int | None
    """Pieces in stock; null: the file does not say."""


class Image(TypedDict):
    """An image of a product."""

    url: str
    """Web address; of an own picture that of its large size."""
    alt: str | None
    """Alternative text of the image."""
    pictureId: str | None
    """Id of the own picture; null: another address."""
    sizes: ImageSizes | None
    """Sizes of an own picture; null: another address."""


class ImageInput(TypedDict):
    """An image of a product."""

    pictureId: NotRequired[str | None]
    """Id of a picture that is READY, in place of `url`, `pic_…`."""
    url: NotRequired[str | None]
    """Web address; of an own picture that of its large size."""
    alt: NotRequired[str | None]
    """Alternative text of the image."""


class ImageSizes(TypedDict):
    """Addresses of a picture in three sizes, as WebP; none is larger than the original."""

    small: str
    """At most 160 pixels wide and high."""
    medium: str
    """At most 640 pixels wide and high."""
    large: str
    """At most 1,600 pixels wide and high."""


class ImportColumn(TypedDict):
    """A column of the file; `field`: what it is read as, or proposed as."""

    column: str
    """Name of the file's column."""
    samples: list[str]
    """Up to three different values"""
    field: str | None
    """The field that it is read as, or proposed as; null: none."""
    ignored: bool
    """Whether it is not read."""


class ImportEncoding(TypedDict):
    """A possible encoding of the file."""

    encoding: str
    """The name to choose it by"""
    samples: list[str]
    """The first words in this encoding"""


class ImportFailure(TypedDict):
    """Why the job as a whole failed; `row` if a line of the file is the reason."""

    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""
    row: int | None
    """Line of the file, the header being 1; null: the whole file."""


class ImportJob(TypedDict):
    """An import: its progress, and the results for the file's products."""

    id: str
    """Identifier."""
    status: JobStatus
    """Its state."""
    dryRun: bool
    """Whether it only reports what would happen."""
    processed: int
    """How many were worked on."""
    created: int
    """How many were created."""
    updated: int
    """How many were updated."""
    unchanged: int
    """How many needed no change."""
    progress: int
    """Percent"""
    createdAt: str
    """When it was created."""
    startedAt: str | None
    """When it began; null: it has not."""
    completedAt: str | None
    """When it ended; null: it has not."""
    createdBy: str
    """Name of the API key that requested it"""
    type: str
    """Always product_import."""
    fileName: str
    """Name of the file."""
    mode: ImportMode
    """Import mode: which products may be created or changed."""
    allowZeroPrices: bool
    """Whether prices above zero may become zero."""
    dialect: str | None
    """The format of the file"""
    encoding: str | None
    """Of the file's text"""
    delimiter: str | None
    """What separates the file's columns."""
    headerRow: int | None
    """Line of the header; 0: the file has none."""
    ignoredColumns: list[str]
    """Columns that are not read."""
    warnings: list[ImportNotice]
    """Warnings; nothing failed."""
    sourceJobId: str | None
    """The job that this one retries or runs"""
    total: int | None
    """Products in the file; null until it was read"""
    rows: int | None
    """Rows in the file; null until it was read"""
    failed: int
    """How many could not be written at all."""
    withErrors: int
    """How many have rows that failed, written or not."""
    error: ImportFailure | None
    """Why it failed; null: it did not."""
    errors: list[ImportRowError]
    """The first 100, by line"""
    errorReportUrl: str | None
    """A CSV of all rows that failed, for 30 days; null: none"""
    columns: list[ImportColumn]
    """Empty until the file was read"""
    savedMapping: str | None
    """The saved mapping that is proposed"""
    fields: list[str]
    """The fields that a column can be read as"""
    fieldDescriptions: dict[str, str]
    """What each of them is"""
    encodings: list[ImportEncoding]
    """The encodings to choose from"""
    preview: list[ImportPreview]
    """Of a dry run: the first 50 that change"""


class ImportJobSummary(TypedDict):
    """An import, as a list shows it; it counts products."""

    id: str
    """Identifier."""
    status: JobStatus
    """Its state."""
    dryRun: bool
    """Whether it only reports what would happen."""
    processed: int
    """How many were worked on."""
    created: int
    """How many were created."""
    updated: int
    """How many were updated."""
    unchanged: int
    """How many needed no change."""
    progress: int
    """Percent"""
    createdAt: str
    """When it was created."""
    startedAt: str | None
    """When it began; null: it has not."""
    completedAt: str | None
    """When it ended; null: it has not."""
    createdBy: str
    """Name of the API key that requested it"""
    type: str
    """Always product_import."""
    fileName: str
    """Name of the file."""
    mode: ImportMode
    """Import mode: which products may be created or changed."""
    allowZeroPrices: bool
    """Whether prices above zero may become zero."""
    dialect: str | None
    """The format of the file"""
    encoding: str | None
    """Of the file's text"""
    delimiter: str | None
    """What separates the file's columns."""
    headerRow: int | None
    """Line of the header; 0: the file has none."""
    ignoredColumns: list[str]
    """Columns that are not read."""
    warnings: list[ImportNotice]
    """Warnings; nothing failed."""
    sourceJobId: str | None
    """The job that this one retries or runs"""
    total: int | None
    """Products in the file; null until it was read"""
    rows: int | None
    """Rows in the file; null until it was read"""
    failed: int
    """How many could not be written at all."""
    withErrors: int
    """How many have rows that failed, written or not."""
    error: ImportFailure | None
    """Why it failed; null: it did not."""


class ImportNotice(TypedDict):
    """A warning; nothing failed."""

    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""
    column: str
    """Name of the file's column."""


class ImportPreview(TypedDict):
    """A product of a dry run: the fields that would differ. `before` is null if it would be
    created. Long texts and lists are cut."""

    row: int
    """Line of the file, the header being 1; null: the whole file."""
    outcome: str
    """What would happen to it: created, updated or failed."""
    id: str | None
    """Identifier."""
    slug: str
    """Its part of a web address, such as blue-shirt."""
    name: str
    """Name."""
    image: str | None
    """Address of its first picture; null: it has none."""
    before: dict[str, Any] | None
    """The fields that differ, as they are now; null where it would be created."""
    after: dict[str, Any]
    """The fields that differ, afterwards."""


class ImportRowError(TypedDict):
    """`row`: the line in the file (the header is line 1); `field`: the file's column; and the
    product as its rows name it."""

    row: int
    """Line of the file, the header being 1; null: the whole file."""
    field: str
    """The field that it is about; for a file its column."""
    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""
    slug: str | None
    """Its part of a web address, such as blue-shirt."""
    sku: str | None
    """Stock keeping unit."""
    name: str | None
    """Name."""


class ImportUpload(TypedDict):
    """A form to post the file with, as `multipart/form-data`: `fields` first, then `file`."""

    jobId: str
    """Id of the job: get the job until it has ended."""
    url: str
    """Web address."""
    fields: dict[str, str]
    """Form fields that come before `file`."""
    expiresAt: str
    """When it expires; null: never."""


class InventoryLowEvent(TypedDict):
    """A variant is below its product's threshold, and was not before."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["inventory.low"]
    """Kind of the event."""
    data: LowStockVariant
    """What it is about."""


class Job(TypedDict):
    """A job other than an import: its progress and its results."""

    id: str
    """Identifier."""
    status: JobStatus
    """Its state."""
    dryRun: bool
    """Whether it only reports what would happen."""
    processed: int
    """How many were worked on."""
    created: int
    """How many were created."""
    updated: int
    """How many were updated."""
    unchanged: int
    """How many needed no change."""
    progress: int
    """Percent"""
    createdAt: str
    """When it was created."""
    startedAt: str | None
    """When it began; null: it has not."""
    completedAt: str | None
    """When it ended; null: it has not."""
    createdBy: str
    """Name of the API key that requested it"""
    type: str
    """bulk_edit, export, report, undo, stock_count, customer_merge, customer_erasure or reindex."""
    total: int | None
    """All records; null until they were counted"""
    deleted: int
    """How many were deleted."""
    failed: int
    """How many failed."""
    error: JobError | None
    """Why it failed; null: it did not."""
    about: dict[str, Any]
    """The request"""
    errors: list[JobRecordError]
    """The first 100"""
    preview: list[dict[str, Any]]
    """Of a dry run: the first 100 records as `{id, before, after}`"""
    downloadUrl: str | None
    """Of an export or a report: its file, for 30 days; expires after an hour"""
    bytes: int | None
    """Of an export or a report: its file's size"""
    touched: NotRequired[dict[str, int]]
    """Of an erasure: how many of each were changed"""
    goneBy: NotRequired[dict[str, str]]
    """Of an erasure: when the rest of each has ended by itself"""


class JobError(TypedDict):
    """Why the job as a whole failed."""

    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""


class JobList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[ImportJobSummary | JobSummary]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class JobRecordError(TypedDict):
    """Why one record failed or was not changed."""

    id: str
    """Identifier."""
    name: str | None
    """Name of a product or variant, number of an order; null: unknown."""
    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""


class JobSummary(TypedDict):
    """A job that changes, exports, adds up or reindexes records of the shop."""

    id: str
    """Identifier."""
    status: JobStatus
    """Its state."""
    dryRun: bool
    """Whether it only reports what would happen."""
    processed: int
    """How many were worked on."""
    created: int
    """How many were created."""
    updated: int
    """How many were updated."""
    unchanged: int
    """How many needed no change."""
    progress: int
    """Percent"""
    createdAt: str
    """When it was created."""
    startedAt: str | None
    """When it began; null: it has not."""
    completedAt: str | None
    """When it ended; null: it has not."""
    createdBy: str
    """Name of the API key that requested it"""
    type: str
    """bulk_edit, export, report, undo, stock_count, customer_merge, customer_erasure or reindex."""
    total: int | None
    """All records; null until they were counted"""
    deleted: int
    """How many were deleted."""
    failed: int
    """How many failed."""
    error: JobError | None
    """Why it failed; null: it did not."""
    about: dict[str, Any]
    """The request"""


class LineChange(TypedDict):
    """New values of a line: absent fields stay; null clears a note or a discount."""

    lineItemId: str
    """Id of the line, `li_…`."""
    quantity: NotRequired[int | None]
    """How many pieces; 0 removes it."""
    price: NotRequired[Amount | None]
    """Per piece; a decimal amount."""
    title: NotRequired[str | None]
    """Of a custom line."""
    discount: NotRequired[DiscountInput | None]
    """What is taken off the line."""
    note: NotRequired[str | None]
    """Free text about the line."""
    make: NotRequired[bool | None]
    """true: it is made, and its stock returns; false: it takes stock."""
    dueOn: NotRequired[str | None]
    """null: the order's day."""
    specification: NotRequired[list[SpecifiedValueInput] | None]
    """What exactly is ordered."""


class LineItem(TypedDict):
    """`title`, `sku` and `price` as when the line was added. A custom line has no variant."""

    id: str
    """Identifier."""
    variantId: str | None
    """Id of the variant, `var_…`; null: a custom line."""
    productId: str | None
    """Id of the product."""
    isCustom: bool
    """Whether it has a title of its own, and no stock."""
    title: str
    """Title."""
    sku: str | None
    """Stock keeping unit."""
    quantity: int
    """How many pieces."""
    price: str
    """Of one piece, when the line was added."""
    cost: str | None
    """What one piece costs the shop; null: unknown. Readers and events get null."""
    discount: Discount | None
    """What is taken off the line."""
    total: str
    """Quantity times price, less the discount; a decimal amount."""
    note: str | None
    """Free text about the line."""
    oversold: int
    """Pieces that were sold although they were not in stock."""
    refundedQuantity: int
    """Pieces that refunds named."""
    shippedQuantity: int
    """Pieces in shipments that were not cancelled."""
    toShip: int
    """Pieces still to ship: not refunded before they were shipped."""
    make: bool
    """Whether it is made for this order: it takes no stock."""
    dueOn: str | None
    """Its own day, of the shop; null: the order's, if any."""
    specification: list[SpecifiedValue]
    """What exactly is ordered."""


class LineItemInput(TypedDict):
    """A line of an order: of a variant by `variantId`, or a custom line by `title` and `price`."""

    variantId: NotRequired[str | None]
    """Id of the variant, `var_…`; null: a custom line."""
    title: NotRequired[str | None]
    """What a custom line is; a variant's line has the variant's."""
    quantity: int
    """How many pieces."""
    price: NotRequired[Amount | None]
    """Per piece; default: the variant's. A custom line needs one."""
    discount: NotRequired[DiscountInput | None]
    """What is taken off the line."""
    note: NotRequired[str | None]
    """Free text about the line."""
    make: NotRequired[bool | None]
    """Make it for this order, without stock; default: the product's `madeToOrder`."""
    dueOn: NotRequired[str | None]
    """Its own day, of the shop; null: the order's, if any."""
    specification: NotRequired[list[SpecifiedValueInput] | None]
    """What exactly is ordered."""


class ListedApiKey(TypedDict):
    """An API key as the list shows it, without the key itself."""

    id: str
    """Identifier."""
    name: str
    """Name."""
    role: Role
    """What the key may do."""
    createdAt: str
    """When it was created."""
    expiresAt: str | None
    """When it expires; null: never."""
    limits: RateLimits
    """How often it may call."""
    lastUsedAt: str | None
    """The day of the last request, in UTC; null: never used."""


class ListedShipment(TypedDict):
    """A shipment in the list of all."""

    id: str
    """Identifier."""
    method: ShippingMethod
    """How it reached the customer."""
    lines: list[ShippedLine]
    """What is in it."""
    carrier: str | None
    """Who carries it."""
    parcels: list[Parcel]
    """Its parcels."""
    note: str | None
    """Free text about it."""
    shippedAt: str
    """When it left."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key; empty: not known."""
    deliveredAt: str | None
    """When it arrived; null: it is under way."""
    cancelledAt: str | None
    """Since when it does not count; null: it counts."""
    cancelReason: str | None
    """Why it was cancelled."""
    implied: bool
    """Whether the status SHIPPED implied it."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customer: OrderCustomer | None
    """The order's customer."""
    state: ShipmentState
    """What has become of it."""
    shippingAddress: Address | None
    """Where its order goes."""


class LowStock(TypedDict):
    """`nextCursor` is null at the end; before it, a page can be short, even empty."""

    data: list[LowStockVariant]
    """The items."""
    nextCursor: str | None
    """Send it as `cursor` for what follows; null at the end."""


class LowStockVariant(TypedDict):
    """A variant whose stock is below its product's threshold."""

    productId: str
    """Id of the product."""
    productName: str
    """Name of the product."""
    variantId: str
    """Id of the variant, `var_…`."""
    variantTitle: str
    """Title of the variant."""
    sku: str | None
    """Stock keeping unit."""
    stock: int
    """How many there are; null: not tracked."""
    threshold: int
    """The product's threshold."""


class MappingPreview(TypedDict):
    """What a mapping makes of the beginning of a file."""

    rows: int
    """How many rows were read."""
    isWhole: bool
    """Whether those are all rows of the file."""
    products: int
    """How many products they are."""
    variants: int
    """How many variants those have."""
    failed: int
    """How many products have rows with errors."""
    question: str | None
    """What may be meant instead; null: nothing looks wrong."""
    warnings: list[str]
    """The first rows that contradict another row of their product."""
    first: list[ForeseenProduct]
    """The first three products."""


class Merge(TypedDict):
    """Into whom a customer is merged."""

    into: str
    """Id of the customer to keep"""


class MethodMoney(TypedDict):
    """Money of one method of payment."""

    method: str
    """Such as CASH or CARD_TERMINAL."""
    amount: str
    """Payments less refunds and voids; a decimal amount."""


class MovedStock(TypedDict):
    """A move of a variant's stock, and the stock after it."""

    variantId: str
    """Id of the variant, `var_…`."""
    by: int | None
    """Pieces that came in, or went out; null: it was not tracked."""
    stock: int
    """How many there are now."""
    reason: str
    """Why, such as RECEIVED, COUNTED or DAMAGED."""
    note: NotRequired[str]
    """The note of the move, if it had one."""


class Movement(TypedDict):
    """One change of a tracked quantity."""

    id: str
    """Identifier, `mov_…`."""
    at: str
    """When it was committed."""
    productId: str
    """Id of its product."""
    variantId: str
    """Id of the variant."""
    sku: str | None
    """SKU of the variant at that time."""
    title: str | None
    """Name of the product, and of the variant if it has several."""
    by: int | None
    """Pieces that came in (positive) or went out; null: TRACKED or UNTRACKED."""
    missing: int | None
    """Of OVERSOLD: pieces that were sold but not there."""
    stock: int | None
    """Pieces after it; null: no longer tracked."""
    cause: MovementCause
    """Why."""
    reason: str | None
    """The reason of a move, such as RECEIVED."""
    orderId: str | None
    """Id of the order."""
    jobId: str | None
    """Id of the job."""
    countId: str | None
    """Id of the count that was applied."""
    note: str | None
    """The note of a move."""
    actor: MovementActor
    """Who did it."""


class MovementActor(TypedDict):
    """The API key that asked for it, also where a job did it."""

    keyId: str | None
    """Id of the key."""
    keyName: str | None
    """Name of the key."""


class MovementList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Movement]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class OpenOrders(TypedDict):
    """Orders in progress, and how many have each status."""

    total: int
    """How many there are in all."""
    byStatus: dict[str, int]
    """How many have each status."""


class OpenWork(TypedDict):
    """Work on what is made to order that is open."""

    open: int
    """How much there is in all."""
    overdue: int
    """How much was due before today."""
    today: int
    """How much is due today."""


class Order(TypedDict):
    """An order as the admin interface answers it, and as the order events carry it."""

    id: str
    """Identifier."""
    number: str
    """Number for people, such as 1001."""
    status: OrderStatus
    """Its state."""
    paymentStatus: PaymentStatus
    """Whether it is paid."""
    paymentMethod: str | None
    """How it is paid, such as CARD_TERMINAL."""
    source: str
    """Where the order came from, such as IN_PERSON."""
    customer: OrderCustomer | None
    """Who ordered; null: no customer."""
    shippingAddress: Address | None
    """A copy; null if none was given"""
    billingAddress: Address | None
    """A copy; null if none was given"""
    salesRepId: str | None
    """Employee who sold it, `emp_…`; null: none."""
    lineItems: list[LineItem]
    """Items of the order."""
    itemsCount: int
    """How many pieces its lines have."""
    currency: str
    """The shop's currency, ISO 4217."""
    subtotal: str
    """Sum of the lines; a decimal amount."""
    discount: Discount | None
    """What is taken off the subtotal."""
    shipping: str
    """What shipping costs; a decimal amount."""
    tax: str
    """A decimal amount."""
    total: str
    """What is to be paid; a decimal amount."""
    originalTotal: str
    """The total when the order was placed."""
    payments: list[Payment]
    """Payments, oldest first."""
    refunds: list[Refund]
    """Refunds, oldest first."""
    shippingStatus: ShippingStatus
    """How much was shipped."""
    shipments: list[Shipment]
    """Shipments, oldest first."""
    amountPaid: str
    """Payments that were not voided."""
    amountRefunded: str
    """All refunds."""
    amountCredited: str
    """What refunds took off the amount that is owed."""
    balanceDue: str
    """What is still to pay; negative: the shop owes."""
    refundStatus: RefundStatus
    """How much was given back."""
    deposit: Deposit | None
    """What must be paid before production begins; null: none."""
    retained: str | None
    """What a cancelled order keeps."""
    note: str | None
    """Free text about it."""
    tags: list[str]
    """Words to find it by."""
    trackingNumber: str | None
    """Of the latest parcel; null: none is known."""
    dueOn: str | None
    """Day of the shop by which it is due; null: its lines'."""
    externalId: str | None
    """Its id in another system, such as an ERP; each is used once."""
    metadata: dict[str, Any]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    orderDate: str
    """When it was ordered; may be in the past."""
    paidAt: str | None
    """When it was first paid."""
    producedAt: str | None
    """When all that is made for it was done; null: it is not."""
    shippedAt: str | None
    """When it was shipped; null: it is not."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    history: list[OrderHistoryEntry]
    """What changed, oldest first."""
    edits: list[OrderEditEntry]
    """The latest edits, oldest first."""
    closedAt: str | None
    """When it was closed; null: it is not."""
    closeReason: str | None
    """Why; null also if erased with the customer."""
    closedBy: str | None
    """Name of the API key that closed it."""
    kept: str | None
    """The money that a closed order keeps."""


class OrderCancelledEvent(TypedDict):
    """An order was cancelled."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.cancelled"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderChange(TypedDict):
    """The fields of a PATCH: absent fields stay; null clears, where allowed."""

    status: NotRequired[OrderStatus]
    """The next status."""
    salesRepId: NotRequired[str | None]
    """null unassigns."""
    trackingNumber: NotRequired[str | None]
    """Of the latest parcel; null: none is known."""
    paymentStatus: NotRequired[PaymentStatus]
    """Whether it is paid."""
    deposit: NotRequired[DepositInput | None]
    """What must be paid before production begins; null: none. Only while nothing is paid."""
    retained: NotRequired[Amount | None]
    """What a CANCELLED order keeps of a deposit; null: nothing."""
    note: NotRequired[str | None]
    """Free text about it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    shippingAddress: NotRequired[AddressInput | None]
    """Until the order is DELIVERED."""
    billingAddress: NotRequired[AddressInput | None]
    """Until the order is DELIVERED."""
    dueOn: NotRequired[str | None]
    """Until the order is SHIPPED; null: that of its lines."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""


class OrderClosedEvent(TypedDict):
    """An order was closed, or keeps less since."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.closed"]
    """Kind of the event."""
    data: AnnouncedClosing
    """What it is about."""


class OrderCreatedEvent(TypedDict):
    """An order was created."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.created"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderCustomer(TypedDict):
    """As the customer was when the order was placed."""

    id: str
    """Identifier."""
    email: str | None
    """E-mail address."""
    firstName: str | None
    """Given name."""
    lastName: str | None
    """Family name."""
    phone: str | None
    """Phone number, as it is written."""


class OrderCustomerInput(TypedDict):
    """An existing customer by `id`, or one by e-mail, which is created if unknown. With an `id`
    the other fields are ignored, so a customer that was read can be sent back. A customer known
    by the e-mail keeps the stored name and phone. Without an e-mail, a phone or a name makes a
    new customer, as `NewCustomer` does."""

    id: NotRequired[str | None]
    """Identifier."""
    email: NotRequired[str | None]
    """E-mail address."""
    firstName: NotRequired[str | None]
    """Given name."""
    lastName: NotRequired[str | None]
    """Family name."""
    phone: NotRequired[str | None]
    """Phone number, as it is written."""


class OrderDeletedEvent(TypedDict):
    """An order was deleted: as it was before."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.deleted"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderEdit(TypedDict):
    """Absent fields stay; a null `salesRepId` unassigns."""

    status: NotRequired[OrderStatus | None]
    """Its state."""
    salesRepId: NotRequired[str | None]
    """Employee who sold it, `emp_…`; null: none."""
    addTags: NotRequired[list[str] | None]
    """Tags to add."""
    removeTags: NotRequired[list[str] | None]
    """Tags to remove."""


class OrderEditEntry(TypedDict):
    """One edit of lines, amounts, customer, source or date."""

    id: str
    """Identifier."""
    at: str
    """When it happened."""
    by: str
    """Name of the API key."""
    reason: str | None
    """Why; null: erased with the customer."""
    totalBefore: str
    """The total before it."""
    totalAfter: str
    """The total after it."""
    changes: list[str]
    """What changed, such as `Ring: quantity 1 → 2`."""


class OrderEditedEvent(TypedDict):
    """Lines, amounts, customer, source or date of an order were edited."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.edited"]
    """Kind of the event."""
    data: AnnouncedEdit
    """What it is about."""


class OrderHistoryEntry(TypedDict):
    """`by`: the name of the API key. `change`: such as `status PENDING → PAID`."""

    at: str
    """When it happened."""
    by: str
    """Name of the API key."""
    change: str
    """What was changed, such as `status PENDING → PAID`."""


class OrderList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Order]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class OrderPaidEvent(TypedDict):
    """An order was paid for the first time: once an order."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.paid"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderPreview(TypedDict):
    """The order that the same request without `dryRun` would create now. It has no ids."""

    id: str | None
    """Always null."""
    number: str | None
    """Always null."""
    status: OrderStatus
    """Its state."""
    paymentStatus: PaymentStatus
    """Whether it is paid."""
    paymentMethod: str | None
    """How it is paid, such as CARD_TERMINAL."""
    customer: OrderCustomer | None
    """Who orders; null: nobody, or someone new."""
    lineItems: list[PreviewedLine]
    """Its lines, as they were sent."""
    itemsCount: int
    """How many pieces its lines have."""
    currency: str
    """The shop's currency, ISO 4217."""
    subtotal: str
    """Sum of the lines; a decimal amount."""
    discount: Discount | None
    """What is taken off the subtotal."""
    shipping: str
    """What shipping costs; a decimal amount."""
    tax: str
    """A decimal amount."""
    total: str
    """What is to be paid; a decimal amount."""
    deposit: Deposit | None
    """What must be paid before production begins; null: none."""
    payments: list[PreviewedPayment]
    """Payments, in their order."""
    amountPaid: str
    """The sum of them."""
    balanceDue: str
    """What is still to pay; negative: the shop owes."""
    dueOn: str | None
    """Day of the shop by which it is due; null: its lines'."""
    orderDate: str
    """When it was ordered; may be in the past."""


class OrderProducedEvent(TypedDict):
    """All work on an order is done."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.produced"]
    """Kind of the event."""
    data: AnnouncedProduction
    """What it is about."""


class OrderRefundedEvent(TypedDict):
    """An order, or its payment, was refunded."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.refunded"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderShippedEvent(TypedDict):
    """An order was shipped; with its tracking number."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.shipped"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class OrderUpdatedEvent(TypedDict):
    """An order was changed."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["order.updated"]
    """Kind of the event."""
    data: Order
    """What it is about."""


class Pagination(TypedDict):
    """The page, and the number of pages."""

    page: int
    """Number of the page, from 1."""
    limit: int
    """Items per page."""
    total: int
    """How many there are in all."""
    totalPages: int
    """Number of pages."""


class Parcel(TypedDict):
    """A parcel of a shipment."""

    trackingNumber: str | None
    """Of the carrier; null: none is known."""
    trackingUrl: str | None
    """Where the customer follows it, https."""


class ParcelInput(TypedDict):
    """A parcel of a shipment."""

    trackingNumber: NotRequired[str | None]
    """Of the carrier; null: none is known."""
    trackingUrl: NotRequired[str | None]
    """Default: by the carrier's address, if it is known."""


class Payment(TypedDict):
    """Money that came in. It is never changed, only voided."""

    id: str
    """Identifier."""
    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    reference: str | None
    """The reference of a terminal or a bank."""
    note: str | None
    """Free text about it."""
    receivedAt: str
    """When the money came."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key."""
    tendered: str | None
    """Cash that was handed over."""
    change: str | None
    """Cash that was given back."""
    implied: bool
    """Whether a payment status implied it."""
    voidedAt: str | None
    """Since when it does not count; null: it counts."""
    voidReason: str | None
    """Why it was voided."""


class PaymentCreatedEvent(TypedDict):
    """A payment of an order was recorded."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["payment.created"]
    """Kind of the event."""
    data: AnnouncedPayment
    """What it is about."""


class PaymentInput(TypedDict):
    """One payment that was received."""

    amount: NotRequired[Amount | None]
    """A decimal amount; default: what is due, at most `tendered`."""
    method: NotRequired[str | None]
    """Such as CASH; default: the order's paymentMethod, or OTHER."""
    reference: NotRequired[str | None]
    """The reference of a terminal or a bank; unique in the order for its method."""
    note: NotRequired[str | None]
    """Free text about it."""
    receivedAt: NotRequired[str | None]
    """At most 24 hours ahead; now. Without an offset it is a time of the shop's zone."""
    tendered: NotRequired[Amount | None]
    """Cash that was handed over."""
    allowOverpayment: NotRequired[bool | None]
    """Accept more than is due. Default: `false`."""


class PaymentVoidedEvent(TypedDict):
    """A payment of an order was voided."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["payment.voided"]
    """Kind of the event."""
    data: AnnouncedPayment
    """What it is about."""


class PaymentsPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    payments: list[PreviewedPayment]
    """The new payments, in their order."""
    balanceAfter: str
    """`balanceDue` after them."""
    statusAfter: OrderStatus
    """Its state after them."""


class Picture(TypedDict):
    """A picture for products."""

    id: str
    """Identifier, `pic_…`."""
    status: FileStatus
    """Its state."""
    name: str
    """Name of the file; only the shop sees it."""
    contentType: str
    """Media type, by its content once it is READY."""
    bytes: int
    """Size of the uploaded file."""
    width: int | None
    """Pixels of the original, upright; null: it is not READY."""
    height: int | None
    """Pixels of the original, upright; null: it is not READY."""
    sizes: ImageSizes | None
    """Where it is shown; null: it is not READY."""
    error: FileError | None
    """Why it FAILED."""
    createdAt: str
    """When the upload was asked for."""
    createdBy: str
    """Name of the API key that asked for it."""
    unusedSince: str | None
    """Since when no product shows it; after 90 days it is deleted. It is found weekly."""


class PictureUpload(TypedDict):
    """A new picture, and the form for its file."""

    id: str
    """Identifier, `pic_…`."""
    status: FileStatus
    """Its state."""
    name: str
    """Name of the file; only the shop sees it."""
    contentType: str
    """Media type, by its content once it is READY."""
    bytes: int
    """Size of the uploaded file."""
    width: int | None
    """Pixels of the original, upright; null: it is not READY."""
    height: int | None
    """Pixels of the original, upright; null: it is not READY."""
    sizes: ImageSizes | None
    """Where it is shown; null: it is not READY."""
    error: FileError | None
    """Why it FAILED."""
    createdAt: str
    """When the upload was asked for."""
    createdBy: str
    """Name of the API key that asked for it."""
    unusedSince: str | None
    """Since when no product shows it; after 90 days it is deleted. It is found weekly."""
    upload: UploadForm
    """The form."""


class PreviewedLine(TypedDict):
    """A line of an order that does not exist."""

    variantId: str | None
    """Id of the variant, `var_…`; null: a custom line."""
    title: str
    """Title."""
    sku: str | None
    """Stock keeping unit."""
    quantity: int
    """How many pieces."""
    price: str
    """Of one piece."""
    discount: Discount | None
    """What is taken off the line."""
    total: str
    """Quantity times price, less the discount; a decimal amount."""
    oversold: int
    """Pieces that would be sold although they are not in stock."""
    make: bool
    """Whether it is made for this order: it takes no stock."""
    dueOn: str | None
    """Its own day, of the shop; null: the order's, if any."""


class PreviewedMapping(TypedDict):
    """The fields of a file's columns, or a known format with changes."""

    columns: NotRequired[dict[str, str | None] | None]
    """Column → field; null: not read."""
    format: NotRequired[str | None]
    """Name of a format, such as `shopify`."""


class PreviewedPayment(TypedDict):
    """A payment that is not recorded."""

    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    tendered: str | None
    """Cash that was handed over."""
    change: str | None
    """Cash to give back."""


class PreviewedRefund(TypedDict):
    """Money that would be given back."""

    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    paymentId: str | None
    """The payment that it refunds, if one was named."""


class PriceChange(TypedDict):
    """For a product and its variants."""

    set: NotRequired[Amount | None]
    """The new amount."""
    add: NotRequired[Amount | None]
    """An amount; negative to reduce"""
    percent: NotRequired[Amount | None]
    """Percent to add; negative to reduce."""
    roundTo: NotRequired[Amount | None]
    """Round to a multiple of this; a half rounds up."""


class PriceRange(TypedDict):
    """The prices of the public products."""

    min: str
    """The lowest; a decimal amount."""
    max: str
    """The highest; a decimal amount."""


class Product(TypedDict):
    """A product as the admin interface answers it."""

    id: str
    """Identifier."""
    slug: str
    """Its part of a web address, such as blue-shirt."""
    name: str
    """Name."""
    description: str | None
    """Free text."""
    status: ProductStatus
    """Its state."""
    published: bool
    """Whether the storefront may show it."""
    price: str
    """Its own price, or the lowest of its variants'."""
    compareAtPrice: str | None
    """The price before a reduction; a decimal amount."""
    currency: str
    """The shop's currency, ISO 4217."""
    sku: str | None
    """Stock keeping unit."""
    vendor: str | None
    """Who makes or supplies it."""
    type: str | None
    """Product type."""
    storefront: str | None
    """The storefront that it is assigned to; null: all."""
    tags: list[str]
    """Words to find it by."""
    lowStockThreshold: int
    """A stock below this is low."""
    variants: list[Variant]
    """Variants; there is at least one."""
    images: list[Image]
    """Images, the main one first."""
    seo: Seo
    """What search engines show."""
    madeToOrder: bool
    """Whether it is made when ordered, and takes no stock."""
    leadDays: int | None
    """Days from the order until it is due; null: no date."""
    specification: list[SpecifiedName]
    """What a made piece needs to be known."""
    externalId: str | None
    """Its id in another system, such as an ERP; each is used once."""
    metadata: dict[str, Any]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""


class ProductChange(TypedDict):
    """The fields of a PUT: absent fields stay, null clears."""

    currency: NotRequired[str | None]
    """The shop's currency, ISO 4217."""
    description: NotRequired[str | None]
    """Free text."""
    status: NotRequired[ProductStatus | None]
    """Its state."""
    price: NotRequired[Amount | None]
    """A decimal amount, in the shop's currency."""
    compareAtPrice: NotRequired[Amount | None]
    """The price before a reduction; a decimal amount."""
    sku: NotRequired[str | None]
    """Stock keeping unit."""
    vendor: NotRequired[str | None]
    """Who makes or supplies it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    type: NotRequired[str | None]
    """Product type."""
    storefront: NotRequired[str | None]
    """The storefront that it is assigned to; null: all."""
    published: NotRequired[bool | None]
    """Whether the storefront may show it."""
    images: NotRequired[list[ImageInput] | None]
    """Images, the main one first."""
    seo: NotRequired[SeoInput | None]
    """What search engines show."""
    lowStockThreshold: NotRequired[int | None]
    """A stock below this is low."""
    madeToOrder: NotRequired[bool | None]
    """Whether it is made when ordered, and takes no stock."""
    leadDays: NotRequired[int | None]
    """Days from the order until it is due; null: no date."""
    specification: NotRequired[list[SpecifiedNameInput] | None]
    """What a made piece needs to be known."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    name: NotRequired[str]
    """Name."""
    slug: NotRequired[str]
    """Its part of a web address, such as blue-shirt."""
    variants: NotRequired[list[VariantInput] | None]
    """Variants; there is at least one."""


class ProductCreatedEvent(TypedDict):
    """A product was created."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["product.created"]
    """Kind of the event."""
    data: Product
    """What it is about."""


class ProductDeletedEvent(TypedDict):
    """A product was deleted: as it was before."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["product.deleted"]
    """Kind of the event."""
    data: Product
    """What it is about."""


class ProductEdit(TypedDict):
    """Absent fields stay; null clears."""

    status: NotRequired[ProductStatus | None]
    """Its state."""
    published: NotRequired[bool | None]
    """Whether the storefront may show it."""
    storefront: NotRequired[str | None]
    """The storefront that it is assigned to; null: all."""
    type: NotRequired[str | None]
    """Product type."""
    vendor: NotRequired[str | None]
    """Who makes or supplies it."""
    lowStockThreshold: NotRequired[int | None]
    """A stock below this is low."""
    addTags: NotRequired[list[str] | None]
    """Tags to add."""
    removeTags: NotRequired[list[str] | None]
    """Tags to remove."""
    price: NotRequired[PriceChange | None]
    """The change of the prices of the product and its variants."""
    compareAtPrice: NotRequired[CompareAtPriceChange | None]
    """The price before a reduction; a decimal amount."""


class ProductList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Product]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class ProductRow(TypedDict):
    """A row of the modes `upsert` and `update`: absent fields stay, null clears. A new product
    needs what NewProduct needs."""

    currency: NotRequired[str | None]
    """The shop's currency, ISO 4217."""
    description: NotRequired[str | None]
    """Free text."""
    status: NotRequired[ProductStatus | None]
    """Its state."""
    price: NotRequired[Amount | None]
    """A decimal amount, in the shop's currency."""
    compareAtPrice: NotRequired[Amount | None]
    """The price before a reduction; a decimal amount."""
    sku: NotRequired[str | None]
    """Stock keeping unit."""
    vendor: NotRequired[str | None]
    """Who makes or supplies it."""
    tags: NotRequired[list[str] | None]
    """Words to find it by."""
    type: NotRequired[str | None]
    """Product type."""
    storefront: NotRequired[str | None]
    """The storefront that it is assigned to; null: all."""
    published: NotRequired[bool | None]
    """Whether the storefront may show it."""
    images: NotRequired[list[ImageInput] | None]
    """Images, the main one first."""
    seo: NotRequired[SeoInput | None]
    """What search engines show."""
    lowStockThreshold: NotRequired[int | None]
    """A stock below this is low."""
    madeToOrder: NotRequired[bool | None]
    """Whether it is made when ordered, and takes no stock."""
    leadDays: NotRequired[int | None]
    """Days from the order until it is due; null: no date."""
    specification: NotRequired[list[SpecifiedNameInput] | None]
    """What a made piece needs to be known."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    name: NotRequired[str]
    """Name."""
    slug: NotRequired[str]
    """Its part of a web address, such as blue-shirt."""
    variants: NotRequired[list[VariantInput] | None]
    """Variants; there is at least one."""
    id: NotRequired[str | None]
    """Identifier."""


class ProductUpdatedEvent(TypedDict):
    """A product was changed."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["product.updated"]
    """Kind of the event."""
    data: UpdatedProduct
    """What it is about."""


class ProductionSettings(TypedDict):
    """What the shop says about its workshop."""

    stages: list[Stage]
    """In order: work begins in the first; the last is done."""


class ProductionSettingsInput(TypedDict):
    """What the shop says about its workshop, as a whole."""

    stages: list[StageInput]
    """In order: work begins in the first; the last is done."""


class PublicFacets(TypedDict):
    """What the storefront can be filtered by."""

    types: PublicValues
    """Product types."""
    vendors: PublicValues
    """Who makes or supplies them."""
    tags: PublicValues
    """Tags of up to 39 characters, percent-encoded."""
    price: PriceRange | None
    """The prices; null: no product is public."""
    currency: str
    """The shop's currency, ISO 4217."""


class PublicImage(TypedDict):
    """An image as the storefront shows it."""

    url: str
    """Web address; of an own picture that of its large size."""
    alt: str | None
    """Alternative text of the image."""
    sizes: ImageSizes | None
    """Sizes of an own picture; null: another address."""


class PublicProduct(TypedDict):
    """A product as the storefront answers it: an allow-list, with availability instead of stock."""

    id: str
    """Identifier."""
    slug: str
    """Its part of a web address, such as blue-shirt."""
    name: str
    """Name."""
    description: str | None
    """Free text."""
    price: str
    """Its own price, or the lowest of its variants'."""
    compareAtPrice: str | None
    """The price before a reduction; a decimal amount."""
    currency: str
    """The shop's currency, ISO 4217."""
    sku: str | None
    """Stock keeping unit."""
    vendor: str | None
    """Who makes or supplies it."""
    type: str | None
    """Product type."""
    tags: list[str]
    """Words to find it by."""
    variants: list[PublicVariant]
    """Variants; there is at least one."""
    images: list[PublicImage]
    """Images, the main one first."""
    seo: Seo
    """What search engines show."""
    madeToOrder: bool
    """Whether it is made when ordered, and takes no stock."""
    leadDays: int | None
    """Days from the order until it is due; null: no date."""
    specification: list[SpecifiedName]
    """What a made piece needs to be known."""
    createdAt: str
    """When it was created."""


class PublicProductList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[PublicProduct]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class PublicValue(TypedDict):
    """A value of a field."""

    value: str
    """The value, as it was written."""
    count: int
    """How many public products have it now."""


class PublicValues(TypedDict):
    """Values in alphabetical order, 100 at most."""

    data: list[PublicValue]
    """The values."""
    more: bool
    """Whether there are more."""


class PublicVariant(TypedDict):
    """A variant as the storefront shows it."""

    id: str
    """Identifier."""
    title: str
    """Title."""
    sku: str | None
    """Stock keeping unit."""
    price: str
    """A decimal amount, in the shop's currency."""
    available: bool
    """Whether it can be ordered: it is in stock, not tracked, or made to order."""


class RateLimits(TypedDict):
    """Requests per minute."""

    read: int
    """Reads per minute."""
    write: int
    """Writes per minute."""


class Receivables(TypedDict):
    """What customers have still to pay, of orders that were not cancelled."""

    orders: int
    """How many orders have a balance that is due."""
    amount: str
    """The sum of it; a decimal amount."""


class RecoverDeliveries(TypedDict):
    """The failed and waiting deliveries to send again."""

    since: str
    """ISO 8601. Without an offset it is a time of the shop's zone."""
    dryRun: NotRequired[bool | None]
    """Only count. Default: `true`."""


class RecoveryResult(TypedDict):
    """How many deliveries are sent again."""

    count: int
    """How many deliveries."""
    recovery: NotRequired[WebhookRecovery]
    """The newest recovery; null: there was none."""


class Refund(TypedDict):
    """Money that was given back."""

    id: str
    """Identifier."""
    amount: str
    """A decimal amount."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    paymentId: str | None
    """The payment that it refunds, if one was named."""
    reference: str | None
    """The reference of a terminal or a bank."""
    reason: str | None
    """Why, such as DAMAGED."""
    note: str | None
    """Free text about it."""
    lines: list[RefundedLine]
    """What came back; none: only money."""
    shipping: str
    """The refunded part of the order's shipping."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key."""
    implied: bool
    """Whether the status REFUNDED implied it."""


class RefundCreatedEvent(TypedDict):
    """A refund of an order was recorded."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["refund.created"]
    """Kind of the event."""
    data: AnnouncedRefund
    """What it is about."""


class RefundInput(TypedDict):
    """Lines, shipping or an amount."""

    lines: NotRequired[list[RefundLineInput] | None]
    """What comes back."""
    shipping: NotRequired[Amount | None]
    """The part of the order's shipping."""
    amount: NotRequired[Amount | None]
    """A decimal amount; default: the lines' shares, and shipping."""
    method: NotRequired[str | None]
    """Default: that of the payment, or the only one used."""
    paymentId: NotRequired[str | None]
    """The payment that is refunded, `pay_…`."""
    reference: NotRequired[str | None]
    """The reference of a terminal or a bank; unique in the order for its method."""
    reason: NotRequired[str | None]
    """Why, such as DAMAGED."""
    note: NotRequired[str | None]
    """Free text about it."""
    dryRun: NotRequired[bool | None]
    """Only say what would be refunded. Default: `false`."""


class RefundLineInput(TypedDict):
    """Pieces of a line that come back."""

    lineItemId: str
    """Id of the line, `li_…`."""
    quantity: int
    """How many pieces."""
    returned: NotRequired[int | None]
    """How many of them had been shipped; default: what is more than is still to ship."""
    restock: NotRequired[bool | None]
    """Return all to the stock, or none; default: those that were not shipped."""


class RefundPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    amount: str
    """A decimal amount."""
    lines: list[RefundedLine]
    """What would come back."""
    tax: str
    """The tax in it: that of the lines, less for a smaller `amount`."""
    shipping: str
    """The part of the order's shipping."""
    refundable: str
    """The most that could be refunded."""
    restocks: list[RestockedVariant]
    """What would return to the stock."""
    balanceAfter: str
    """`balanceDue` after it."""


class RefundedLine(TypedDict):
    """Pieces of a line that were refunded."""

    lineItemId: str
    """Id of the line."""
    quantity: int
    """How many pieces."""
    amount: str
    """Their share of what the lines cost, tax included."""
    tax: str
    """The tax in it."""
    returned: int
    """Pieces that had been shipped, and came back."""
    restocked: int
    """Pieces that returned to the stock."""


class Report(TypedDict):
    """What a report added up."""

    columns: list[str]
    """The names of its sums."""
    rows: list[ReportRow]
    """Days in their order, others with the most net first; at most 1000."""
    totals: ReportSums
    """Of all rows, also of those that are not shown."""
    truncated: bool
    """Whether rows are not shown."""


class ReportJob(TypedDict):
    """A job that adds up a report."""

    id: str
    """Identifier."""
    status: JobStatus
    """Its state."""
    dryRun: bool
    """Whether it only reports what would happen."""
    processed: int
    """How many were worked on."""
    created: int
    """How many were created."""
    updated: int
    """How many were updated."""
    unchanged: int
    """How many needed no change."""
    progress: int
    """Percent"""
    createdAt: str
    """When it was created."""
    startedAt: str | None
    """When it began; null: it has not."""
    completedAt: str | None
    """When it ended; null: it has not."""
    createdBy: str
    """Name of the API key that requested it"""
    type: str
    """bulk_edit, export, report, undo, stock_count, customer_merge, customer_erasure or reindex."""
    total: int | None
    """All records; null until they were counted"""
    deleted: int
    """How many were deleted."""
    failed: int
    """How many failed."""
    error: JobError | None
    """Why it failed; null: it did not."""
    about: dict[str, Any]
    """The request"""
    errors: list[JobRecordError]
    """The first 100"""
    preview: list[dict[str, Any]]
    """Of a dry run: the first 100 records as `{id, before, after}`"""
    downloadUrl: str | None
    """Of an export or a report: its file, for 30 days; expires after an hour"""
    bytes: int | None
    """Of an export or a report: its file's size"""
    touched: NotRequired[dict[str, int]]
    """Of an erasure: how many of each were changed"""
    goneBy: NotRequired[dict[str, str]]
    """Of an erasure: when the rest of each has ended by itself"""
    report: Report | None
    """What it added up, for 30 days; null: it is not there."""


class ReportRow(TypedDict):
    """The sums of one day, product, source, sales rep or payment method."""

    orders: NotRequired[int]
    """Sales: orders that were not cancelled."""
    pieces: NotRequired[int]
    """Sales: pieces of their lines."""
    gross: NotRequired[str]
    """Sales: quantity times price of the lines."""
    discounts: NotRequired[str]
    """Sales: of lines and of orders."""
    refunds: NotRequired[str]
    """Sales: what refunds took off the price of the goods. Money: what was refunded."""
    net: NotRequired[str]
    """Sales: gross less discounts and refunds, and what was kept. Money: payments less refunds and
    voids. Tax: charged less refunded."""
    tax: NotRequired[str]
    """Sales: tax of the orders, as charged."""
    shipping: NotRequired[str]
    """Sales: shipping of the orders, as charged."""
    kept: NotRequired[str]
    """Sales: money of closed or cancelled orders that did not go back."""
    netWithCost: NotRequired[str | None]
    """Sales with `costs`: the part of `net` whose lines have a known cost; null: none."""
    cost: NotRequired[str | None]
    """Sales with `costs`: what the pieces cost, as far as known."""
    profit: NotRequired[str | None]
    """Sales with `costs`: `netWithCost` less `cost`; null: no cost is known."""
    payments: NotRequired[str]
    """Money: payments that were recorded."""
    voids: NotRequired[str]
    """Money: payments that were voided."""
    charged: NotRequired[str]
    """Tax: of orders that were not cancelled."""
    refunded: NotRequired[str]
    """Tax: the part of refunds."""
    key: str | None
    """The day, id or name; null: those without one."""
    label: str | None
    """What people call it."""


class ReportSums(TypedDict):
    """Sums of a report: those of its type. Amounts are decimals as text."""

    orders: NotRequired[int]
    """Sales: orders that were not cancelled."""
    pieces: NotRequired[int]
    """Sales: pieces of their lines."""
    gross: NotRequired[str]
    """Sales: quantity times price of the lines."""
    discounts: NotRequired[str]
    """Sales: of lines and of orders."""
    refunds: NotRequired[str]
    """Sales: what refunds took off the price of the goods. Money: what was refunded."""
    net: NotRequired[str]
    """Sales: gross less discounts and refunds, and what was kept. Money: payments less refunds and
    voids. Tax: charged less refunded."""
    tax: NotRequired[str]
    """Sales: tax of the orders, as charged."""
    shipping: NotRequired[str]
    """Sales: shipping of the orders, as charged."""
    kept: NotRequired[str]
    """Sales: money of closed or cancelled orders that did not go back."""
    netWithCost: NotRequired[str | None]
    """Sales with `costs`: the part of `net` whose lines have a known cost; null: none."""
    cost: NotRequired[str | None]
    """Sales with `costs`: what the pieces cost, as far as known."""
    profit: NotRequired[str | None]
    """Sales with `costs`: `netWithCost` less `cost`; null: no cost is known."""
    payments: NotRequired[str]
    """Money: payments that were recorded."""
    voids: NotRequired[str]
    """Money: payments that were voided."""
    charged: NotRequired[str]
    """Tax: of orders that were not cancelled."""
    refunded: NotRequired[str]
    """Tax: the part of refunds."""


class RestockedVariant(TypedDict):
    """Pieces that return to the stock."""

    variantId: str
    """Id of the variant."""
    quantity: int
    """How many pieces."""


class RotateSecret(TypedDict):
    """How long the previous secret also signs."""

    overlapHours: NotRequired[int]
    """How long the previous secret also signs. Without it, or with 0, it ends at once. Default:
    `0`."""


class Sales(TypedDict):
    """Orders by their date, and what was paid for them."""

    orders: int
    """How many orders that were not cancelled."""
    paid: int
    """How many of them have something paid."""
    revenue: str
    """What was paid and not refunded, at most what is owed; a decimal amount."""


class SalesDay(TypedDict):
    """What was sold on one day."""

    orders: int
    """How many orders that were not cancelled."""
    paid: int
    """How many of them have something paid."""
    revenue: str
    """What was paid and not refunded, at most what is owed; a decimal amount."""
    date: str
    """The day, in the shop's time zone."""


class SavedMapping(TypedDict):
    """A mapping of a file's columns, saved for files with the same columns."""

    name: str
    """Name."""
    columns: dict[str, str | None]
    """Column → field; null: not read."""
    format: str | None
    """Name of the format that the file has; null: its columns are mapped."""
    updatedAt: str
    """When it was last changed."""


class SavedMappingList(TypedDict):
    """All saved mappings."""

    data: list[SavedMapping]
    """The items."""


class SearchResult(TypedDict):
    """Up to five of each."""

    orders: list[Order]
    """Orders that were found."""
    products: list[Product]
    """Products that were found."""
    customers: list[Customer]
    """Customers that were found."""


class Seo(TypedDict):
    """Title and description for search engines."""

    title: str | None
    """Title."""
    description: str | None
    """Free text."""


class SeoInput(TypedDict):
    """Title and description for search engines."""

    title: NotRequired[str | None]
    """Title."""
    description: NotRequired[str | None]
    """Free text."""


class Shipment(TypedDict):
    """What left the shop together."""

    id: str
    """Identifier."""
    method: ShippingMethod
    """How it reached the customer."""
    lines: list[ShippedLine]
    """What is in it."""
    carrier: str | None
    """Who carries it."""
    parcels: list[Parcel]
    """Its parcels."""
    note: str | None
    """Free text about it."""
    shippedAt: str
    """When it left."""
    createdAt: str
    """When it was recorded."""
    by: str
    """The name of the API key; empty: not known."""
    deliveredAt: str | None
    """When it arrived; null: it is under way."""
    cancelledAt: str | None
    """Since when it does not count; null: it counts."""
    cancelReason: str | None
    """Why it was cancelled."""
    implied: bool
    """Whether the status SHIPPED implied it."""


class ShipmentCancelledEvent(TypedDict):
    """A shipment was cancelled: its pieces did not leave."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["shipment.cancelled"]
    """Kind of the event."""
    data: AnnouncedShipment
    """What it is about."""


class ShipmentChange(TypedDict):
    """New values of a shipment: absent fields stay; null clears."""

    carrier: NotRequired[str | None]
    """Who carries it."""
    parcels: NotRequired[list[ParcelInput] | None]
    """Its parcels."""
    note: NotRequired[str | None]
    """Free text about it."""
    deliveredAt: NotRequired[str | None]
    """When it arrived; at most a day ahead. Without an offset it is a time of the shop's zone."""


class ShipmentCreatedEvent(TypedDict):
    """A part of an order, or all of it, was shipped."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["shipment.created"]
    """Kind of the event."""
    data: AnnouncedShipment
    """What it is about."""


class ShipmentLineInput(TypedDict):
    """Pieces of a line that leave the shop."""

    lineItemId: str
    """Id of the line, `li_…`."""
    quantity: int
    """How many pieces."""


class ShipmentList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[ListedShipment]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class ShipmentPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    lines: list[ShippedLine]
    """What would be shipped."""
    left: list[ShippedLine]
    """What would still be to ship."""
    statusAfter: OrderStatus
    """The state of the order after it."""
    events: list[str]
    """The events that would be emitted."""


class ShipmentUpdatedEvent(TypedDict):
    """A shipment was changed, or delivered."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["shipment.updated"]
    """Kind of the event."""
    data: AnnouncedShipment
    """What it is about."""


class ShippedLine(TypedDict):
    """Pieces of a line in a shipment."""

    lineItemId: str
    """Id of the line."""
    quantity: int
    """How many pieces."""


class ShippingSettings(TypedDict):
    """What the shop says about shipping."""

    carriers: list[Carrier]
    """The known carriers."""


class ShippingSettingsInput(TypedDict):
    """What the shop says about shipping, as a whole."""

    carriers: list[CarrierInput]
    """The known carriers."""


class ShopSummary(TypedDict):
    """`days`: the last 30, today last. `lowStock`: up to 50 variants, those that became low last
    first."""

    currency: str
    """The shop's currency, ISO 4217."""
    today: Sales
    """Of today, in the shop's time zone."""
    last30Days: Sales
    """Of the last 30 days, today included."""
    days: list[SalesDay]
    """Each of the last 30 days, the oldest first."""
    openOrders: OpenOrders
    """Orders that are neither delivered, cancelled nor refunded."""
    receivables: Receivables
    """What customers have still to pay."""
    production: OpenWork
    """What is to be made."""
    moneyToday: list[MethodMoney] | None
    """What was recorded today, or received; null: in more than 1,000 transactions, by `received`
    with those of the 24 hours before."""
    lowStock: list[LowStockVariant]
    """Variants below their threshold, the most recent first; at most 5 of a product."""


class SpecifiedName(TypedDict):
    """What has to be known before a product can be made, such as a ring's size."""

    name: str
    """Name, such as Ring size."""
    required: bool
    """Whether work lacks details without a value of it."""
    choices: list[str]
    """Its usual values; none: any text."""


class SpecifiedNameInput(TypedDict):
    """What has to be known before a product can be made, such as a ring's size."""

    name: str
    """Name, such as Ring size."""
    required: NotRequired[bool | None]
    """Whether work lacks details without a value of it."""
    choices: NotRequired[list[str] | None]
    """Its usual values; none: any text."""


class SpecifiedValue(TypedDict):
    """A detail of what is ordered, such as a ring's size."""

    name: str
    """Name, such as Ring size."""
    value: str | None
    """What it is; null: not known, or erased."""


class SpecifiedValueInput(TypedDict):
    """A detail of what is ordered, such as a ring's size."""

    name: str
    """Name, such as Ring size."""
    value: NotRequired[str | None]
    """What it is; null: not known, or erased."""


class Stage(TypedDict):
    """A stage of the workshop."""

    id: str
    """Identifier, `stg_…`."""
    name: str | None
    """Name; null: it was removed after the work ended."""


class StageInput(TypedDict):
    """A stage of the workshop."""

    id: NotRequired[str | None]
    """Of a stage that stays; a new one has none."""
    name: str
    """Name; null: it was removed after the work ended."""


class StartedJob(TypedDict):
    """The job that does it."""

    jobId: str
    """Id of the job: get the job until it has ended."""


class StockCount(TypedDict):
    """A count of stock."""

    id: str
    """Identifier, `cnt_…`."""
    name: str
    """Its name."""
    status: CountStatus
    """Its state."""
    variants: int
    """How many variants are to be counted."""
    counted: int
    """How many of them were."""
    different: int
    """How many of the counted ones differ from what was expected."""
    filters: dict[str, Any] | None
    """The filters that chose them; null: ids, or all."""
    jobId: str | None
    """The job that applies it; null: it is not applied."""
    createdAt: str
    """When it was created."""
    createdBy: str
    """Name of the API key that created it."""
    closedAt: str | None
    """When it was applied or cancelled; null: it is open."""


class StockCountLine(TypedDict):
    """A variant of a count."""

    variantId: str
    """Id of the variant."""
    productId: str
    """Id of its product."""
    sku: str | None
    """Stock keeping unit."""
    title: str | None
    """Name of the product, and of the variant if it has several; null: it is gone."""
    stock: int | None
    """Pieces in stock now; null: not tracked."""
    expected: int | None
    """Pieces in stock when it was counted; null: it was not."""
    counted: int | None
    """Pieces that were there; null: not counted."""
    difference: int | None
    """`counted` less `expected`: what applying it adds."""
    countedAt: str | None
    """When it was last counted."""
    countedBy: str | None
    """Name of the API key that counted it."""


class StockCountLineList(TypedDict):
    """The answer of a list."""

    data: list[StockCountLine]
    """The items."""
    pagination: Pagination
    """Which page this is."""
    total: int
    """How many there are in all."""


class StockCountList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[StockCount]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class StockMove(TypedDict):
    """Either `by` or `to`. `reason`: RECEIVED, COUNTED, DAMAGED or another UPPER_SNAKE name."""

    variantId: str
    """Id of the variant, `var_…`."""
    by: NotRequired[int | None]
    """Pieces that came in, or went out (negative). Default: `0`."""
    to: NotRequired[int | None]
    """Pieces that are in stock now"""
    reason: str
    """Why, such as RECEIVED, COUNTED or DAMAGED."""
    note: NotRequired[str | None]
    """Such as the number of a delivery note."""


class StockMoves(TypedDict):
    """Moves of the stock of one product's variants."""

    moves: list[StockMove]
    """The moves: all of them happen, or none."""


class TakePayments(TypedDict):
    """The fields of one payment, or up to ten in `payments`."""

    amount: NotRequired[Amount | None]
    """A decimal amount; default: what is due, at most `tendered`."""
    method: NotRequired[str | None]
    """Such as CASH; default: the order's paymentMethod, or OTHER."""
    reference: NotRequired[str | None]
    """The reference of a terminal or a bank; unique in the order for its method."""
    note: NotRequired[str | None]
    """Free text about it."""
    receivedAt: NotRequired[str | None]
    """At most 24 hours ahead; now. Without an offset it is a time of the shop's zone."""
    tendered: NotRequired[Amount | None]
    """Cash that was handed over."""
    allowOverpayment: NotRequired[bool | None]
    """Accept more than is due. Default: `false`."""
    payments: NotRequired[list[PaymentInput] | None]
    """Several payments: all of them are recorded, or none."""
    dryRun: NotRequired[bool | None]
    """Only say what would be recorded. Default: `false`."""


class TestDelivery(TypedDict):
    """The delivery of a test event, which is always sent."""

    id: str
    """Identifier."""
    event: EventKind
    """Kind of the event."""
    endpointId: str
    """Id of the webhook."""
    status: DeliveryStatus
    """Its state."""
    attemptCount: int
    """How often it was tried."""
    lastStatus: int | None
    """HTTP status of the newest attempt"""
    lastError: str | None
    """`error` of the newest attempt"""
    lastDurationMs: int | None
    """How long the newest attempt took."""
    nextAttemptAt: str | None
    """The time of the next attempt; null: none."""
    subject: DeliverySubject | None
    """What the event is about; null: not known."""
    test: bool
    """Whether it is a test event."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    passesFilter: bool
    """Whether such an event would pass the webhook's filter"""


class TestEvent(TypedDict):
    """The kind of test event, and whether it is sent."""

    event: NotRequired[EventKind | None]
    """Default: the first of the endpoint's events"""
    dryRun: NotRequired[bool | None]
    """Send nothing; only report whether the event passes the filter. Default: `false`."""
    filter: NotRequired[dict[str, Any] | None]
    """With `dryRun`: instead of the webhook's own"""
    data: NotRequired[dict[str, Any] | None]
    """With `dryRun`: instead of sample data"""


class Transaction(TypedDict):
    """Money that came in or went out. A void takes back what its payment counted."""

    id: str
    """Identifier: of the payment, the refund or the void."""
    kind: TransactionKind
    """What it is."""
    amount: str
    """A decimal amount; negative: it went out."""
    method: str
    """Such as CASH or CARD_TERMINAL."""
    reference: str | None
    """The reference of a terminal or a bank."""
    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    customerId: str | None
    """Id of the order's customer."""
    at: str
    """When it was recorded."""
    receivedAt: str | None
    """When the money of a payment came."""
    tax: str
    """The tax in a refund, negative, unless the order is cancelled."""
    by: str
    """The name of the API key."""


class TransactionList(TypedDict):
    """The answer of a list that can also be read by cursor."""

    data: list[Transaction]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""


class TriedEvent(TypedDict):
    """An event that was not sent, and whether it would be."""

    event: EventKind
    """Kind of the event."""
    data: dict[str, Any]
    """The `data` that its webhooks would get"""
    passesFilter: bool
    """Whether it passes the filter"""


class UpdatedProduct(TypedDict):
    """A product as in `product.updated`."""

    id: str
    """Identifier."""
    slug: str
    """Its part of a web address, such as blue-shirt."""
    name: str
    """Name."""
    description: str | None
    """Free text."""
    status: ProductStatus
    """Its state."""
    published: bool
    """Whether the storefront may show it."""
    price: str
    """Its own price, or the lowest of its variants'."""
    compareAtPrice: str | None
    """The price before a reduction; a decimal amount."""
    currency: str
    """The shop's currency, ISO 4217."""
    sku: str | None
    """Stock keeping unit."""
    vendor: str | None
    """Who makes or supplies it."""
    type: str | None
    """Product type."""
    storefront: str | None
    """The storefront that it is assigned to; null: all."""
    tags: list[str]
    """Words to find it by."""
    lowStockThreshold: int
    """A stock below this is low."""
    variants: list[Variant]
    """Variants; there is at least one."""
    images: list[Image]
    """Images, the main one first."""
    seo: Seo
    """What search engines show."""
    madeToOrder: bool
    """Whether it is made when ordered, and takes no stock."""
    leadDays: int | None
    """Days from the order until it is due; null: no date."""
    specification: list[SpecifiedName]
    """What a made piece needs to be known."""
    externalId: str | None
    """Its id in another system, such as an ERP; each is used once."""
    metadata: dict[str, Any]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    stockMoves: NotRequired[list[MovedStock]]
    """The moves, if its stock was moved"""


class UploadForm(TypedDict):
    """A form that uploads one file."""

    url: str
    """Where the form is posted."""
    fields: dict[str, str]
    """All fields to send before `file`."""
    expiresAt: str
    """Until when it can be posted."""


class Variant(TypedDict):
    """A variant of a product."""

    id: str
    """Identifier."""
    title: str
    """Title."""
    sku: str | None
    """Stock keeping unit."""
    price: str
    """A decimal amount, in the shop's currency."""
    stock: int | None
    """How many there are; null: not tracked."""
    barcode: str | None
    """What a scanner reads, such as an EAN."""
    cost: str | None
    """What one piece costs the shop; null: unknown. Readers and events get null."""
    externalId: str | None
    """Its id in another system, such as an ERP; each is used once."""
    metadata: dict[str, Any]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""


class VariantInput(TypedDict):
    """A variant of a product; an existing one by `id` or SKU."""

    title: NotRequired[str | None]
    """Title."""
    sku: NotRequired[str | None]
    """Stock keeping unit."""
    price: NotRequired[Amount | None]
    """A decimal amount, in the shop's currency."""
    stock: NotRequired[int | None]
    """How many there are; null: not tracked."""
    barcode: NotRequired[str | None]
    """What a scanner reads, such as an EAN."""
    cost: NotRequired[Amount | None]
    """What one piece costs the shop; a decimal amount."""
    externalId: NotRequired[str | None]
    """Its id in another system, such as an ERP; each is used once."""
    metadata: NotRequired[dict[str, Any] | None]
    """Any data of the shop: JSON up to 16 KB, 28 levels deep."""
    id: NotRequired[str | None]
    """Identifier."""


class VoidPayment(TypedDict):
    """Why a payment does not count."""

    reason: NotRequired[str | None]
    """Why, such as a card that was declined."""


class Webhook(TypedDict):
    """An address that events are sent to."""

    id: str
    """Identifier."""
    url: str
    """Web address."""
    events: list[EventKind]
    """Kinds of events that it gets."""
    email: str | None
    """Gets an e-mail when deliveries fail; null: the shop's address does."""
    summaryEmail: str | None
    """Recipient of the summaries: `email`, or else the shop's; null: nobody"""
    description: str | None
    """Free text."""
    filter: dict[str, Any] | None
    """A pattern: events whose body does not fit are not sent; null: all are"""
    enabled: bool
    """false pauses it: new events make no deliveries, and pending ones wait."""
    failingSince: str | None
    """Since when it is failing: three failures in a row; null: it is not"""
    previousSecretExpiresAt: str | None
    """Until when a previous secret also signs; null: none does."""
    notices: list[WebhookNotice]
    """What its owner should know."""
    recovery: WebhookRecovery | None
    """The newest recovery; null: there was none."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""


class WebhookChange(TypedDict):
    """What is absent stays; null clears `email`, `description` and `filter`."""

    url: NotRequired[str]
    """Web address."""
    events: NotRequired[list[EventKind]]
    """Kinds of events that it gets."""
    email: NotRequired[str | None]
    """Gets an e-mail when deliveries fail; null: the shop's address does."""
    description: NotRequired[str | None]
    """Free text."""
    enabled: NotRequired[bool]
    """false pauses it: new events make no deliveries, and pending ones wait."""
    filter: NotRequired[dict[str, Any] | None]
    """A pattern (docs/webhooks.md#filters): events whose body does not fit are not sent."""


class WebhookList(TypedDict):
    """The answer of a list."""

    data: list[Webhook]
    """The items."""
    pagination: Pagination
    """Which page this is."""
    total: int
    """How many there are in all."""


class WebhookNotice(TypedDict):
    """Something about a webhook that its owner should know. `code`: `two_signatures` (more than
    one secret signs), `no_summary_address`, `no_summary_sender` (no summary e-mail is sent)."""

    code: str
    """What happened, for programs."""
    message: str
    """What happened, for people."""


class WebhookRecovery(TypedDict):
    """The newest recovery of an endpoint: how many failed deliveries were queued again."""

    id: str
    """Identifier."""
    since: str
    """The start time."""
    startedAt: str
    """When it began; null: it has not."""
    count: int
    """How many deliveries."""
    sent: int
    """How many were sent."""
    completedAt: str | None
    """When it ended; null: it has not."""


class WebhookWithSecret(TypedDict):
    """`secret` is shown only once. The whole text, including `whsec_`, is the key of the HMAC."""

    id: str
    """Identifier."""
    url: str
    """Web address."""
    events: list[EventKind]
    """Kinds of events that it gets."""
    email: str | None
    """Gets an e-mail when deliveries fail; null: the shop's address does."""
    summaryEmail: str | None
    """Recipient of the summaries: `email`, or else the shop's; null: nobody"""
    description: str | None
    """Free text."""
    filter: dict[str, Any] | None
    """A pattern: events whose body does not fit are not sent; null: all are"""
    enabled: bool
    """false pauses it: new events make no deliveries, and pending ones wait."""
    failingSince: str | None
    """Since when it is failing: three failures in a row; null: it is not"""
    previousSecretExpiresAt: str | None
    """Until when a previous secret also signs; null: none does."""
    notices: list[WebhookNotice]
    """What its owner should know."""
    recovery: WebhookRecovery | None
    """The newest recovery; null: there was none."""
    createdAt: str
    """When it was created."""
    updatedAt: str
    """When it was last changed."""
    secret: str
    """Signs deliveries; all of it, `whsec_` included, is the key. Shown only once."""


class Work(TypedDict):
    """The work on a line that is made. What it is comes from the order."""

    orderId: str
    """Id of its order."""
    orderNumber: str
    """Number of its order."""
    lineItemId: str
    """Id of the line that is made."""
    productId: str | None
    """Id of the product."""
    sku: str | None
    """Stock keeping unit."""
    quantity: int
    """Pieces of the line."""
    toMake: int
    """Pieces without those refunded before they were shipped."""
    made: int
    """Pieces that are made."""
    surplus: int
    """Pieces that are made and not needed any more."""
    revision: int
    """1, and one more for each edit of title, quantity or details since it began."""
    state: WorkState
    """Whether there is something to do."""
    stage: Stage
    """Where it is, or was when it ended."""
    assignee: str | None
    """Employee who makes it, `emp_…`; null: nobody."""
    priority: int
    """From 0 to 9, the most urgent."""
    dueOn: str | None
    """Day of the shop by which it is due; null: none."""
    startedAt: str | None
    """When it left the first stage; null: it did not."""
    doneAt: str | None
    """When it ended; null: it is open."""
    closedBy: WorkEnd | None
    """What ended it; null: it is open."""
    orderStatus: OrderStatus
    """State of the order."""
    title: str
    """Title of the line."""
    specification: list[SpecifiedValue]
    """What exactly is ordered."""
    missing: list[str]
    """Details that the product requires, and nobody gave yet."""
    lineNote: str | None
    """Free text about the line."""
    customer: WorkCustomer | None
    """Who ordered; null: no customer."""
    blocked: str | None
    """Why it cannot go on; null: it can."""
    note: str | None
    """The workshop's free text."""
    moves: list[WorkMove]
    """The latest 30 moves, oldest first."""


class WorkChange(TypedDict):
    """The fields of a PATCH: absent fields stay; null clears."""

    stage: NotRequired[str]
    """Id of the stage; in the last all pieces are made."""
    made: NotRequired[int]
    """Pieces that are made, at most `toMake`."""
    assignee: NotRequired[str | None]
    """Employee who makes it, `emp_…`; null: nobody."""
    blocked: NotRequired[str | None]
    """Why it cannot go on; null: it can."""
    priority: NotRequired[int]
    """From 0 to 9, the most urgent."""
    note: NotRequired[str | None]
    """The workshop's free text."""


class WorkCreatedEvent(TypedDict):
    """A line that is made has work: its order was paid."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["work.created"]
    """Kind of the event."""
    data: AnnouncedWork
    """What it is about."""


class WorkCustomer(TypedDict):
    """Whom it is for."""

    id: str
    """Id of the customer."""
    firstName: str | None
    """First name."""
    lastName: str | None
    """Last name."""


class WorkList(TypedDict):
    """A page of work, and how much there is in all."""

    data: list[Work]
    """The items."""
    pagination: CursorPagination
    """Which page this is."""
    total: int
    """How many there are in all."""
    totalIsAtLeast: NotRequired[bool]
    """There are more than `total`; they were not counted"""
    counts: dict[str, int]
    """All open work of each stage, by its id."""
    overdue: int
    """All open work that is overdue."""


class WorkMove(TypedDict):
    """A move of work into a stage."""

    at: str
    """When it was moved."""
    by: str
    """Name of the API key."""
    stage: str
    """Id of the stage."""


class WorkOfOrder(TypedDict):
    """All work of an order, also what has ended."""

    data: list[Work]
    """Work, in the order of the lines."""


class WorkUpdatedEvent(TypedDict):
    """Work on a line was moved, changed, or has ended."""

    id: str
    """Of the delivery: the same on every attempt. Use it to drop repeats."""
    event: Literal["work.updated"]
    """Kind of the event."""
    data: AnnouncedWork
    """What it is about."""


ReceivedEvent: TypeAlias = (
    OrderCreatedEvent
    | OrderUpdatedEvent
    | OrderPaidEvent
    | OrderShippedEvent
    | OrderCancelledEvent
    | OrderRefundedEvent
    | OrderDeletedEvent
    | OrderEditedEvent
    | OrderClosedEvent
    | PaymentCreatedEvent
    | PaymentVoidedEvent
    | RefundCreatedEvent
    | OrderProducedEvent
    | WorkCreatedEvent
    | WorkUpdatedEvent
    | ShipmentCreatedEvent
    | ShipmentUpdatedEvent
    | ShipmentCancelledEvent
    | FileReadyEvent
    | CustomerCreatedEvent
    | CustomerUpdatedEvent
    | CustomerDeletedEvent
    | ProductCreatedEvent
    | ProductUpdatedEvent
    | ProductDeletedEvent
    | InventoryLowEvent
)
"""What `verify` returns. Its `event` tells the kinds apart."""
