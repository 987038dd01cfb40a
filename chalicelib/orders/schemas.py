"""The shapes of orders, as clients send them and as they are answered.

A field of a request without a text of its own has the text of the same field of its `shape`.
"""

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Literal, NotRequired, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.customers.schemas import ExactEmail, OrderCustomer, OrderCustomerInput
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import ExternalId
from chalicelib.problems import Invalid
from chalicelib.products.schemas import (
    COST,
    MOST_SPECIFIED,
    Price,
    ShopCurrency,
    SpecificationName,
    refuse_repeated_names,
)
from chalicelib.schemas import (
    NUMBER,
    SEEN,
    Absent,
    Choice,
    CursorPagination,
    Flag,
    Maybe,
    Several,
    Sparse,
    Stripped,
    about,
    described_as,
    length,
    not_empty,
    null_is,
    optional,
    texts_as_in,
    upper,
)
from chalicelib.values import clock, timezone
from chalicelib.values.addresses import Address, AddressInput
from chalicelib.values.metadata import ABOUT as METADATA
from chalicelib.values.metadata import Metadata
from chalicelib.values.times import ZONE

MOST_LINES: Final = 200
MOST_PIECES: Final = 1_000_000  # of one line
MOST_SHIPMENTS: Final = 30  # of an order, besides the one that SHIPPED implies
MOST_PARCELS: Final = 60  # of an order
URL_CHARACTERS: Final = 2_000  # of a parcel
MOST_STAGES: Final = 12  # of the workshop
NO_DAY: Final = "9999-12-31"  # by which work without a day is listed: last
EARLY: Final = timedelta(hours=24)  # an order may be dated this far ahead


class OrderStatus(Choice):
    """The status of an order; docs/orders.md#order-status has the moves."""

    PENDING = "PENDING"
    PAID = "PAID"
    IN_PRODUCTION = "IN_PRODUCTION"
    PROCESSING = "PROCESSING"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"
    REFUNDED = "REFUNDED"


class PaymentStatus(Choice):
    """Whether an order is paid."""

    PENDING = "PENDING"
    PAID = "PAID"
    PARTIALLY_PAID = "PARTIALLY_PAID"
    REFUNDED = "REFUNDED"
    FAILED = "FAILED"


class RefundStatus(Choice):
    """How much of the money was given back."""

    NONE = "NONE"
    PARTIAL = "PARTIAL"
    FULL = "FULL"


class ShippingStatus(Choice):
    """How much of an order was shipped. ALL: something was, and nothing is left to ship."""

    NONE = "NONE"
    PARTIAL = "PARTIAL"
    ALL = "ALL"


class ShippingMethod(Choice):
    """PARCEL: it was sent. PICKUP: it was handed to the customer."""

    PARCEL = "PARCEL"
    PICKUP = "PICKUP"


class ShipmentState(Choice):
    """What has become of a shipment."""

    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


class StockPolicy(Choice):
    """What a new order takes. CHECK: all of it, or the order is refused. FORCE: what is there.
    SKIP: nothing, because the stock was counted after the sale.
    """

    CHECK = "CHECK"
    FORCE = "FORCE"
    SKIP = "SKIP"


class Balance(Choice):
    """Who owes money: due: the customer; owed: the shop."""

    DUE = "due"
    OWED = "owed"


# Balances in lists: of a closed order nothing is due, so it has this in place of "".
CLOSED: Final = "closed"
PRODUCED: Final = "yes"
NOT_CLOSED: Final = frozenset({"", *map(str, Balance)})


# --- What is answered -----------------------------------------------------------------------------


class ShownDiscount(TypedDict):
    """What is taken off."""

    amount: Annotated[str, about("A decimal amount.")]
    percent: Annotated[float | None, about("In percent, if it was sent as such.")]
    reason: Annotated[str | None, about("Why.")]


class SpecifiedValue(TypedDict):
    """A detail of what is ordered, such as a ring's size."""

    name: Annotated[str, about("Name, such as Ring size.")]
    value: Annotated[str | None, about("What it is; null: not known, or erased.")]


class LineItem(TypedDict):
    """`title`, `sku` and `price` as when the line was added. A custom line has no variant."""

    id: Annotated[str, about("Identifier.")]
    variantId: Annotated[str | None, about("Id of the variant, `var_…`; null: a custom line.")]
    productId: Annotated[str | None, about("Id of the product.")]
    isCustom: Annotated[bool, about("Whether it has a title of its own, and no stock.")]
    title: Annotated[str, about("Title.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    quantity: Annotated[int, about("How many pieces.")]
    price: Annotated[str, about("Of one piece, when the line was added.")]
    cost: Annotated[str | None, about(COST)]
    discount: Annotated[ShownDiscount | None, about("What is taken off the line.")]
    total: Annotated[str, about("Quantity times price, less the discount; a decimal amount.")]
    note: Annotated[str | None, about("Free text about the line.")]
    oversold: Annotated[int, about("Pieces that were sold although they were not in stock.")]
    refundedQuantity: Annotated[int, about("Pieces that refunds named.")]
    shippedQuantity: Annotated[int, about("Pieces in shipments that were not cancelled.")]
    toShip: Annotated[int, about("Pieces still to ship: not refunded before they were shipped.")]
    make: Annotated[bool, about("Whether it is made for this order: it takes no stock.")]
    dueOn: Annotated[str | None, about("Its own day, of the shop; null: the order's, if any.")]
    specification: Annotated[list[SpecifiedValue], about("What exactly is ordered.")]


class ShownPayment(TypedDict):
    """Money that came in. It is never changed, only voided."""

    id: Annotated[str, about("Identifier.")]
    amount: Annotated[str, about("A decimal amount.")]
    method: Annotated[str, about("Such as CASH or CARD_TERMINAL.")]
    reference: Annotated[str | None, about("The reference of a terminal or a bank.")]
    note: Annotated[str | None, about("Free text about it.")]
    receivedAt: Annotated[str, about("When the money came.")]
    createdAt: Annotated[str, about("When it was recorded.")]
    by: Annotated[str, about("The name of the API key.")]
    tendered: Annotated[str | None, about("Cash that was handed over.")]
    change: Annotated[str | None, about("Cash that was given back.")]
    implied: Annotated[bool, about("Whether a payment status implied it.")]
    voidedAt: Annotated[str | None, about("Since when it does not count; null: it counts.")]
    voidReason: Annotated[str | None, about("Why it was voided.")]


class RefundedLine(TypedDict):
    """Pieces of a line that were refunded."""

    lineItemId: Annotated[str, about("Id of the line.")]
    quantity: Annotated[int, about("How many pieces.")]
    amount: Annotated[str, about("Their share of what the lines cost, tax included.")]
    tax: Annotated[str, about("The tax in it.")]
    returned: Annotated[int, about("Pieces that had been shipped, and came back.")]
    restocked: Annotated[int, about("Pieces that returned to the stock.")]


class ShownRefund(TypedDict):
    """Money that was given back."""

    id: Annotated[str, about("Identifier.")]
    amount: Annotated[str, about("A decimal amount.")]
    method: Annotated[str, about("Such as CASH or CARD_TERMINAL.")]
    paymentId: Annotated[str | None, about("The payment that it refunds, if one was named.")]
    reference: Annotated[str | None, about("The reference of a terminal or a bank.")]
    reason: Annotated[str | None, about("Why, such as DAMAGED.")]
    note: Annotated[str | None, about("Free text about it.")]
    lines: Annotated[list[RefundedLine], about("What came back; none: only money.")]
    shipping: Annotated[str, about("The refunded part of the order's shipping.")]
    createdAt: Annotated[str, about("When it was recorded.")]
    by: Annotated[str, about("The name of the API key.")]
    implied: Annotated[bool, about("Whether the status REFUNDED implied it.")]


class ShippedLine(TypedDict):
    """Pieces of a line in a shipment."""

    lineItemId: Annotated[str, about("Id of the line.")]
    quantity: Annotated[int, about("How many pieces.")]


class ShownParcel(TypedDict):
    """A parcel of a shipment."""

    trackingNumber: Annotated[str | None, about("Of the carrier; null: none is known.")]
    trackingUrl: Annotated[str | None, about("Where the customer follows it, https.")]


class ShownShipment(TypedDict):
    """What left the shop together."""

    id: Annotated[str, about("Identifier.")]
    method: Annotated[ShippingMethod, about("How it reached the customer.")]
    lines: Annotated[list[ShippedLine], about("What is in it.")]
    carrier: Annotated[str | None, about("Who carries it.")]
    parcels: Annotated[list[ShownParcel], about("Its parcels.")]
    note: Annotated[str | None, about("Free text about it.")]
    shippedAt: Annotated[str, about("When it left.")]
    createdAt: Annotated[str, about("When it was recorded.")]
    by: Annotated[str, about("The name of the API key; empty: not known.")]
    deliveredAt: Annotated[str | None, about("When it arrived; null: it is under way.")]
    cancelledAt: Annotated[str | None, about("Since when it does not count; null: it counts.")]
    cancelReason: Annotated[str | None, about("Why it was cancelled.")]
    implied: Annotated[bool, about("Whether the status SHIPPED implied it.")]


class _OfOrder(TypedDict):
    orderId: Annotated[str, about("Id of its order.")]
    orderNumber: Annotated[str, about("Number of its order.")]
    customer: Annotated[OrderCustomer | None, about("The order's customer.")]


class AnnouncedPayment(ShownPayment, _OfOrder):
    """A payment, as its events carry it."""


class AnnouncedRefund(ShownRefund, _OfOrder):
    """A refund, as its event carries it."""


class AnnouncedShipment(ShownShipment, _OfOrder):
    """A shipment, as its events carry it."""


class ListedShipment(AnnouncedShipment):
    """A shipment in the list of all."""

    state: Annotated[ShipmentState, about("What has become of it.")]
    shippingAddress: Annotated[Address | None, about("Where its order goes.")]


class ShipmentPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    lines: Annotated[list[ShippedLine], about("What would be shipped.")]
    left: Annotated[list[ShippedLine], about("What would still be to ship.")]
    statusAfter: Annotated[OrderStatus, about("The state of the order after it.")]
    events: Annotated[list[str], about("The events that would be emitted.")]


class ShownCarrier(TypedDict):
    """Who carries parcels, and where they are followed."""

    name: Annotated[str, about("Name, as shipments have it.")]
    trackingUrl: Annotated[str, about("https address with `{number}` for the tracking number.")]


class ShownShippingSettings(TypedDict):
    """What the shop says about shipping."""

    carriers: Annotated[list[ShownCarrier], about("The known carriers.")]


class RestockedVariant(TypedDict):
    """Pieces that return to the stock."""

    variantId: Annotated[str, about("Id of the variant.")]
    quantity: Annotated[int, about("How many pieces.")]


class RefundPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    amount: Annotated[str, about("A decimal amount.")]
    lines: Annotated[list[RefundedLine], about("What would come back.")]
    tax: Annotated[str, about("The tax in it: that of the lines, less for a smaller `amount`.")]
    shipping: Annotated[str, about("The part of the order's shipping.")]
    refundable: Annotated[str, about("The most that could be refunded.")]
    restocks: Annotated[list[RestockedVariant], about("What would return to the stock.")]
    balanceAfter: Annotated[str, about("`balanceDue` after it.")]


class ShownDeposit(TypedDict):
    """The part of the total that must be paid before production begins."""

    amount: Annotated[str, about("A decimal amount.")]
    percent: Annotated[float | None, about("Percent of the total, if it was sent as such.")]
    isReached: Annotated[bool, about("Whether at least this was paid.")]


class OrderHistoryEntry(TypedDict):
    """`by`: the name of the API key. `change`: such as `status PENDING → PAID`."""

    at: Annotated[str, about("When it happened.")]
    by: Annotated[str, about("Name of the API key.")]
    change: Annotated[str, about("What was changed, such as `status PENDING → PAID`.")]


class OrderEditEntry(TypedDict):
    """One edit of lines, amounts, customer, source or date."""

    id: Annotated[str, about("Identifier.")]
    at: Annotated[str, about("When it happened.")]
    by: Annotated[str, about("Name of the API key.")]
    reason: Annotated[str | None, about("Why; null: erased with the customer.")]
    totalBefore: Annotated[str, about("The total before it.")]
    totalAfter: Annotated[str, about("The total after it.")]
    changes: Annotated[list[str], about("What changed, such as `Ring: quantity 1 → 2`.")]


class AnnouncedEdit(OrderEditEntry, _OfOrder):
    """An edit, as its event carries it."""


class AnnouncedClosing(_OfOrder):
    """An order that was closed, as its event carries it."""

    status: Annotated[OrderStatus, about("Its state.")]
    closedAt: Annotated[str, about("When it was closed first.")]
    closedBy: Annotated[str, about("Name of the API key.")]
    closeReason: Annotated[str | None, about("Why; null: erased with the customer.")]
    kept: Annotated[str, about("The money that it keeps.")]


class AnnouncedProduction(_OfOrder):
    """An order of which all work is done, as its event carries it."""

    status: Annotated[OrderStatus, about("Its state.")]
    producedAt: Annotated[str, about("When the last work was done.")]


@texts_as_in(ShownRefund)
class PreviewedRefund(TypedDict):
    """Money that would be given back."""

    amount: str
    method: str
    paymentId: str | None


class ClosePreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    refunds: Annotated[list[PreviewedRefund], about("What would be given back.")]
    kept: Annotated[str, about("The money that the order would keep.")]
    restocks: Annotated[list[RestockedVariant], about("What would return to the stock.")]
    work: Annotated[list[str], about("Ids of the lines whose open work would be cancelled.")]
    statusAfter: Annotated[OrderStatus, about("Its state after it.")]
    events: Annotated[list[str], about("The events that would be emitted.")]


class TransactionKind(Choice):
    """What happened with money."""

    PAYMENT = "PAYMENT"
    REFUND = "REFUND"
    VOID = "VOID"


class MoneyClock(Choice):
    """recorded: when a payment, a refund or a void was recorded. received: when the money of a
    payment came, of a void when that of its payment came, of a refund when it was recorded.
    """

    RECORDED = "recorded"
    RECEIVED = "received"


class ShownTransaction(TypedDict):
    """Money that came in or went out. A void takes back what its payment counted."""

    id: Annotated[str, about("Identifier: of the payment, the refund or the void.")]
    kind: Annotated[TransactionKind, about("What it is.")]
    amount: Annotated[str, about("A decimal amount; negative: it went out.")]
    method: Annotated[str, about("Such as CASH or CARD_TERMINAL.")]
    reference: Annotated[str | None, about("The reference of a terminal or a bank.")]
    orderId: Annotated[str, about("Id of its order.")]
    orderNumber: Annotated[str, about("Number of its order.")]
    customerId: Annotated[str | None, about("Id of the order's customer.")]
    at: Annotated[str, about("When it was recorded.")]
    receivedAt: Annotated[str | None, about("When the money of a payment came.")]
    tax: Annotated[str, about("The tax in a refund, negative, unless the order is cancelled.")]
    by: Annotated[str, about("The name of the API key.")]


class ShownOrder(TypedDict):
    """An order as the admin interface answers it, and as the order events carry it."""

    id: Annotated[str, about("Identifier.")]
    number: Annotated[str, about("Number for people, such as 1001.")]
    status: Annotated[OrderStatus, about("Its state.")]
    paymentStatus: Annotated[PaymentStatus, about("Whether it is paid.")]
    paymentMethod: Annotated[str | None, about("How it is paid, such as CARD_TERMINAL.")]
    source: Annotated[str, about("Where the order came from, such as IN_PERSON.")]
    customer: Annotated[OrderCustomer | None, about("Who ordered; null: no customer.")]
    shippingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    billingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    salesRepId: Annotated[str | None, about("Employee who sold it, `emp_…`; null: none.")]
    lineItems: Annotated[list[LineItem], about("Items of the order.")]
    itemsCount: Annotated[int, about("How many pieces its lines have.")]
    currency: Annotated[str, about("The shop's currency, ISO 4217.")]
    subtotal: Annotated[str, about("Sum of the lines; a decimal amount.")]
    discount: Annotated[ShownDiscount | None, about("What is taken off the subtotal.")]
    shipping: Annotated[str, about("What shipping costs; a decimal amount.")]
    tax: Annotated[str, about("A decimal amount.")]
    total: Annotated[str, about("What is to be paid; a decimal amount.")]
    originalTotal: Annotated[str, about("The total when the order was placed.")]
    payments: Annotated[list[ShownPayment], about("Payments, oldest first.")]
    refunds: Annotated[list[ShownRefund], about("Refunds, oldest first.")]
    shippingStatus: Annotated[ShippingStatus, about("How much was shipped.")]
    shipments: Annotated[list[ShownShipment], about("Shipments, oldest first.")]
    amountPaid: Annotated[str, about("Payments that were not voided.")]
    amountRefunded: Annotated[str, about("All refunds.")]
    amountCredited: Annotated[str, about("What refunds took off the amount that is owed.")]
    balanceDue: Annotated[str, about("What is still to pay; negative: the shop owes.")]
    refundStatus: Annotated[RefundStatus, about("How much was given back.")]
    deposit: Annotated[
        ShownDeposit | None, about("What must be paid before production begins; null: none.")
    ]
    retained: Annotated[str | None, about("What a cancelled order keeps.")]
    note: Annotated[str | None, about("Free text about it.")]
    tags: Annotated[list[str], about("Words to find it by.")]
    trackingNumber: Annotated[str | None, about("Of the latest parcel; null: none is known.")]
    dueOn: Annotated[str | None, about("Day of the shop by which it is due; null: its lines'.")]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]
    orderDate: Annotated[str, about("When it was ordered; may be in the past.")]
    paidAt: Annotated[str | None, Field(description="When it was first paid.")]
    producedAt: Annotated[
        str | None, about("When all that is made for it was done; null: it is not.")
    ]
    shippedAt: Annotated[str | None, about("When it was shipped; null: it is not.")]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]
    history: Annotated[list[OrderHistoryEntry], about("What changed, oldest first.")]
    edits: Annotated[list[OrderEditEntry], about("The latest edits, oldest first.")]
    closedAt: Annotated[str | None, about("When it was closed; null: it is not.")]
    closeReason: Annotated[str | None, about("Why; null also if erased with the customer.")]
    closedBy: Annotated[str | None, about("Name of the API key that closed it.")]
    kept: Annotated[str | None, about("The money that a closed order keeps.")]


@texts_as_in(ShownOrder)
class EditedSums(TypedDict):
    """The sums of an order."""

    subtotal: str
    tax: str
    total: str
    balanceDue: str


class LineChangeKind(Choice):
    """What an edit does with a line."""

    ADDED = "ADDED"
    CHANGED = "CHANGED"
    REMOVED = "REMOVED"


class EditedLine(TypedDict):
    """What an edit does with a line."""

    lineItemId: Annotated[str | None, about("Id of the line; null: it is new.")]
    change: Annotated[LineChangeKind, about("What happens with it.")]
    fields: Annotated[list[str], about("Which fields of a CHANGED line differ.")]


class EditedStock(TypedDict):
    """What an edit does with the stock of a variant."""

    variantId: Annotated[str, about("Id of the variant.")]
    by: Annotated[int, about("Pieces that return to the stock; negative: that are taken.")]


class EditPreview(TypedDict):
    """What the same edit without `dryRun` would do now."""

    before: Annotated[EditedSums, about("The sums now.")]
    after: Annotated[EditedSums, about("The sums after it.")]
    lines: Annotated[list[EditedLine], about("Which lines differ.")]
    stock: Annotated[list[EditedStock], about("Which stock changes.")]


@texts_as_in(LineItem)
class PreviewedLine(TypedDict):
    """A line of an order that does not exist."""

    variantId: str | None
    title: str
    sku: str | None
    quantity: int
    price: Annotated[str, about("Of one piece.")]
    discount: ShownDiscount | None
    total: str
    oversold: Annotated[int, about("Pieces that would be sold although they are not in stock.")]
    make: bool
    dueOn: str | None


@texts_as_in(ShownPayment)
class PreviewedPayment(TypedDict):
    """A payment that is not recorded."""

    amount: str
    method: str
    tendered: str | None
    change: Annotated[str | None, about("Cash to give back.")]


class PaymentsPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    payments: Annotated[list[PreviewedPayment], about("The new payments, in their order.")]
    balanceAfter: Annotated[str, about("`balanceDue` after them.")]
    statusAfter: Annotated[OrderStatus, about("Its state after them.")]


@texts_as_in(ShownOrder)
class OrderPreview(TypedDict):
    """The order that the same request without `dryRun` would create now. It has no ids."""

    id: Annotated[str | None, about("Always null.")]
    number: Annotated[str | None, about("Always null.")]
    status: OrderStatus
    paymentStatus: PaymentStatus
    paymentMethod: str | None
    customer: Annotated[OrderCustomer | None, about("Who orders; null: nobody, or someone new.")]
    lineItems: Annotated[list[PreviewedLine], about("Its lines, as they were sent.")]
    itemsCount: int
    currency: str
    subtotal: str
    discount: ShownDiscount | None
    shipping: str
    tax: str
    total: str
    deposit: ShownDeposit | None
    payments: Annotated[list[PreviewedPayment], about("Payments, in their order.")]
    amountPaid: Annotated[str, about("The sum of them.")]
    balanceDue: str
    dueOn: str | None
    orderDate: str


# --- What clients send ----------------------------------------------------------------------------


def _parse_date(value: object) -> str:
    """Return a date, or a date and time, as the moment that is stored, in UTC.

    A date alone is the first moment of that day in the shop's time zone. Raise ValueError for what
    is no date, and for a moment more than 24 hours ahead.
    """
    try:
        # A day is the shop's, as in the list's filters.
        first, _ = timezone.parse_period(value if isinstance(value, str) else "", "")
        moment = clock.parse(first)
        timezone.day_at(moment)  # whose sales it counts in: the first hours of year 1 may have none
    except (ValueError, OverflowError):
        raise ValueError(
            "must be a date and time in ISO 8601, such as 2026-11-20T06:12:14Z"
        ) from None
    if moment > clock.now() + EARLY:
        raise ValueError("must be at most 24 hours ahead")
    return clock.iso(moment)


def _text_matching(pattern: str, example: str) -> object:
    """Return a validator of text that has the form of `pattern` as a whole.

    The error for other text names `example`.
    """

    def check_form(value: str) -> str:
        """Return the text as it is; raise ValueError unless all of it has the form."""
        if not re.fullmatch(pattern, value):
            raise ValueError(f"must look like {example}")
        return value

    return AfterValidator(check_form)


# Open sets of names (docs/orders.md#creating).
_NAME: Final = "[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
_EMPLOYEE: Final = "emp_[A-Za-z0-9_-]{1,60}"
OpenName = Annotated[
    str,
    BeforeValidator(upper),
    _text_matching(_NAME, "CARD_TERMINAL"),
    Field(json_schema_extra={"pattern": f"^{_NAME}$"}, max_length=50),
]
# A filter by them.
OpenNames = Annotated[
    Several[Annotated[str, BeforeValidator(upper), Field(max_length=50)]], Field(max_length=20)
]
EmployeeId = Annotated[
    str,
    _text_matching(_EMPLOYEE, "emp_ann-01"),
    Field(json_schema_extra={"pattern": f"^{_EMPLOYEE}$"}),
]
Date = Annotated[
    str,
    BeforeValidator(_parse_date),
    Field(json_schema_extra={"format": "date-time"}, max_length=40),
]
Note = Annotated[str, length(5_000)]
Tags = Annotated[list[Annotated[str, length(50, 1)]], Field(max_length=50)]
_Pieces = Annotated[int, Field(strict=True, ge=1, le=MOST_PIECES)]
_T = TypeVar("_T")
_Some = Annotated[list[_T], null_is([]), Field(max_length=MOST_LINES)]  # perhaps none


class DiscountInput(Stripped):
    """Either `amount` or `percent`."""

    shape: ClassVar[type] = ShownDiscount

    amount: Price | None = optional("A decimal amount, at most what it is taken off.")
    percent: Annotated[Decimal, Field(ge=0, le=100, decimal_places=2), NUMBER] | None = optional(
        "Percent of what it is taken off."
    )
    reason: Annotated[str, length(200)] | None = None

    @model_validator(mode="after")
    def _require_amount_or_percent(self) -> "DiscountInput":
        """Raise ValueError for a discount that has neither an amount nor a percent.

        It may have both.
        """
        if self.amount is None and self.percent is None:
            raise ValueError("must have an amount or a percent")
        return self


def _parse_day(value: str) -> str:
    """Return a day from 2000 to 2100 as it is. Raise ValueError, and an error for another year."""
    try:
        day = date.fromisoformat(value) if _DAY.fullmatch(value) else None
    except ValueError:
        day = None
    if day is None:
        raise ValueError("must be a day, such as 2026-12-24")
    if not 2000 <= day.year <= 2100:
        raise PydanticCustomError("out_of_range", "must be in the years 2000 to 2100")
    return value


_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
Day = Annotated[
    str,
    AfterValidator(_parse_day),
    Field(json_schema_extra={"format": "date", "pattern": "^(20[0-9]{2}|2100)-"}, max_length=40),
]


class SpecifiedValueInput(Stripped):
    """A detail of what is ordered, such as a ring's size."""

    shape: ClassVar[type] = SpecifiedValue

    name: SpecificationName
    value: Annotated[str, SEEN, length(500)] | None = None


def _check_specification(values: list[SpecifiedValueInput]) -> list[SpecifiedValueInput]:
    """Return the details of a line as they are.

    Raise an error for a name twice, or too many bytes.
    """
    size = sum(len(f"{one.name}{one.value or ''}".encode()) for one in values)
    if size > LARGEST_SPECIFICATION:
        message = f"must be at most {LARGEST_SPECIFICATION:,} bytes in all"
        raise PydanticCustomError("too_large", message)
    return refuse_repeated_names(values)


LARGEST_SPECIFICATION: Final = 8_000  # bytes of a line's names and values
Specification = Annotated[
    list[SpecifiedValueInput],
    Field(max_length=MOST_SPECIFIED),
    AfterValidator(_check_specification),
]
LineTitle = Annotated[str, SEEN, length(200, 1)]
LineNote = Annotated[str, length(1_000)]


class LineItemInput(Stripped):
    """A line of an order: of a variant by `variantId`, or a custom line by `title` and `price`."""

    shape: ClassVar[type] = LineItem

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "productId", "sku", "isCustom", "cost", "total", "oversold", "refundedQuantity"}
        | {"shippedQuantity", "toShip"}
    )

    variant_id: Annotated[str, length(60, 1)] | None = None
    title: LineTitle | None = optional("What a custom line is; a variant's line has the variant's.")
    quantity: _Pieces
    price: Price | None = optional("Per piece; default: the variant's. A custom line needs one.")
    discount: DiscountInput | None = None
    note: LineNote | None = None
    make: Annotated[bool, Field(strict=True)] | None = optional(
        "Make it for this order, without stock; default: the product's `madeToOrder`."
    )
    due_on: Day | None = None
    specification: Annotated[Specification, null_is([])] = Field(default_factory=list)


def _check_above_zero(value: str) -> str:
    """Return the amount; raise ValueError for 0."""
    if not Decimal(value):
        raise ValueError("must be more than 0")
    return value


Amount = Annotated[Price, AfterValidator(_check_above_zero)]
Reference = Annotated[str, length(100)]
RecordNote = Annotated[str, length(500)]


class DepositInput(Stripped):
    """Either `amount` or `percent`."""

    read_only: ClassVar[frozenset[str]] = frozenset({"isReached"})

    # Zero can be read: a percent of a total that became nothing.
    amount: Price | None = optional("A decimal amount, at most the total.")
    percent: Annotated[Decimal, Field(gt=0, le=100, decimal_places=2), NUMBER] | None = optional(
        "Percent of the total."
    )


class PaymentInput(Stripped):
    """One payment that was received."""

    shape: ClassVar[type] = ShownPayment

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "createdAt", "by", "change", "implied", "voidReason"}
    )

    amount: Amount | None = optional("A decimal amount; default: what is due, at most `tendered`.")
    method: OpenName | None = optional(
        "Such as CASH; default: the order's paymentMethod, or OTHER."
    )
    reference: Reference | None = optional(
        "The reference of a terminal or a bank; unique in the order for its method."
    )
    note: RecordNote | None = None
    received_at: Date | None = optional(f"At most 24 hours ahead; now. {ZONE}")
    tendered: Amount | None = None
    allow_overpayment: Annotated[Flag, about("Accept more than is due.")] = False
    # A payment that was read has it; one that is voided cannot be sent.
    voided_at: SkipJsonSchema[None] = None


Payments = Annotated[list[PaymentInput], Field(max_length=10)]


class TakePayments(PaymentInput):
    """The fields of one payment, or up to ten in `payments`."""

    payments: Payments | None = optional("Several payments: all of them are recorded, or none.")
    dry_run: Annotated[Flag, about("Only say what would be recorded.")] = False

    @model_validator(mode="after")
    def _refuse_mixed(self) -> "TakePayments":
        """Raise ValueError if `payments` is [], or sent together with the fields of a payment."""
        others = self.model_fields_set - {"payments", "dry_run"}
        if self.payments is not None and (others or not self.payments):
            raise ValueError("needs either payments or the fields of one payment")
        return self

    @property
    def all_payments(self) -> list[PaymentInput]:
        """The payments of the request: `payments`, or this one alone."""
        return [self] if self.payments is None else self.payments


class VoidPayment(Stripped):
    """Why a payment does not count."""

    reason: RecordNote | None = optional("Why, such as a card that was declined.")


class CorrectPayment(Stripped):
    """How a payment really came."""

    method: Annotated[OpenName, about("How the money came, such as CARD_TERMINAL.")]
    reason: RecordNote | None = optional("Why, such as a wrong button.")


class RefundLineInput(Stripped):
    """Pieces of a line that come back."""

    shape: ClassVar[type] = RefundedLine

    read_only: ClassVar[frozenset[str]] = frozenset({"amount", "tax", "restocked"})

    line_item_id: Annotated[str, length(60, 1), about("Id of the line, `li_…`.")]
    quantity: _Pieces
    returned: Annotated[int, Field(strict=True, ge=0, le=MOST_PIECES)] | None = optional(
        "How many of them had been shipped; default: what is more than is still to ship."
    )
    restock: bool | None = Field(
        None,
        strict=True,
        description="Return all to the stock, or none; default: those that were not shipped.",
    )


class RefundInput(Stripped):
    """Lines, shipping or an amount."""

    shape: ClassVar[type] = ShownRefund

    read_only: ClassVar[frozenset[str]] = frozenset({"id", "createdAt", "by", "implied"})

    lines: _Some[RefundLineInput] = Field(default_factory=list, description="What comes back.")
    shipping: Price | None = optional("The part of the order's shipping.")
    amount: Amount | None = optional("A decimal amount; default: the lines' shares, and shipping.")
    method: OpenName | None = optional("Default: that of the payment, or the only one used.")
    payment_id: Annotated[str, length(60)] | None = optional(
        "The payment that is refunded, `pay_…`."
    )
    reference: Reference | None = optional(
        "The reference of a terminal or a bank; unique in the order for its method."
    )
    reason: OpenName | None = None
    note: RecordNote | None = None
    dry_run: Annotated[Flag, about("Only say what would be refunded.")] = False

    @field_validator("lines")
    @classmethod
    def _refuse_repeats(cls, lines: list[RefundLineInput]) -> list[RefundLineInput]:
        """Return the lines as they are; raise ValueError if one is named twice."""
        if len({line.line_item_id for line in lines}) < len(lines):
            raise ValueError("must name each line once")
        return lines


class CloseRefund(Stripped):
    """A part of what goes back."""

    shape: ClassVar[type] = ShownRefund

    amount: Amount
    method: OpenName | None = optional("Default: that of the payment, or the only one used.")
    payment_id: Annotated[str, length(60)] | None = optional(
        "The payment that is refunded, `pay_…`."
    )


class CloseOrder(Stripped):
    """What an order keeps when it ends; the rest of the money goes back."""

    keep: Annotated[
        Price, null_is("0"), about("The money to keep, at most what was paid and not refunded.")
    ] = "0"
    reason: Annotated[str, SEEN, length(500, 1), about("Why it ends.")]
    restock: Annotated[
        bool,
        null_is(True),
        Field(strict=True, description="Return its pieces to the stock, unless it was shipped."),
    ] = True
    refunds: Annotated[list[CloseRefund], null_is([]), Field(max_length=10)] = Field(
        default_factory=list, description="How the rest goes back; default: as it was paid."
    )
    method: OpenName | None = optional("Return all of the rest by this method.")
    dry_run: Annotated[Flag, about("Only say what would happen.")] = False

    @model_validator(mode="after")
    def _refuse_mixed(self) -> "CloseOrder":
        """Raise ValueError if a method is sent with `refunds`, of which each has its own."""
        if self.refunds and self.method is not None:
            raise ValueError("needs either refunds or method")
        return self


class ShipmentLineInput(Stripped):
    """Pieces of a line that leave the shop."""

    shape: ClassVar[type] = ShippedLine

    line_item_id: Annotated[str, length(60, 1), about("Id of the line, `li_…`.")]
    quantity: _Pieces


def _check_https(value: str) -> str:
    """Return the address; raise ValueError if it is no https address, or has a user name."""
    if not re.fullmatch(r"https://[^\s/?#@]+(?:[/?#]\S*)?", value):
        raise ValueError("must be an https address, such as https://post.example/track?id=1")
    return value


_HttpsUrl = Annotated[
    str, length(URL_CHARACTERS), AfterValidator(_check_https), described_as("^https://[^\\s/]+")
]
_CarrierName = Annotated[str, SEEN, length(50, 1)]


class ParcelInput(Stripped):
    """A parcel of a shipment."""

    shape: ClassVar[type] = ShownParcel

    tracking_number: Annotated[str, length(100)] | None = None
    tracking_url: _HttpsUrl | None = optional("Default: by the carrier's address, if it is known.")


_Parcels = Annotated[list[ParcelInput], null_is([]), Field(max_length=20)]


class NewShipment(Stripped):
    """What leaves the shop."""

    shape: ClassVar[type] = ShownShipment

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "createdAt", "by", "deliveredAt", "cancelledAt", "cancelReason", "implied"}
    )

    lines: Annotated[list[ShipmentLineInput], Field(max_length=MOST_LINES)] | None = optional(
        "What is shipped; default: all that is left."
    )
    method: Annotated[ShippingMethod, null_is(ShippingMethod.PARCEL)] = ShippingMethod.PARCEL
    carrier: Annotated[str, length(50)] | None = None
    parcels: _Parcels = Field(default_factory=list)
    note: RecordNote | None = None
    shipped_at: Date | None = optional(f"At most 24 hours ahead; now. {ZONE}")
    dry_run: Annotated[Flag, about("Only say what would happen.")] = False


class ShipmentChange(Stripped):
    """New values of a shipment: absent fields stay; null clears."""

    shape: ClassVar[type] = ShownShipment

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "method", "lines", "shippedAt", "createdAt", "by"}
        | {"cancelledAt", "cancelReason", "implied"}
        | {"orderId", "orderNumber", "customer", "state", "shippingAddress"}
    )

    carrier: Annotated[str, length(50)] | None = None
    parcels: _Parcels = Field(default_factory=list)
    note: RecordNote | None = None
    delivered_at: Date | None = optional(f"When it arrived; at most a day ahead. {ZONE}")

    _not_empty = model_validator(mode="after")(not_empty)


class CancelShipment(Stripped):
    """Why a shipment does not count."""

    reason: RecordNote | None = optional("Why, such as a parcel that never left.")


class CarrierInput(Stripped):
    """Who carries parcels, and where they are followed."""

    shape: ClassVar[type] = ShownCarrier

    name: _CarrierName
    tracking_url: _HttpsUrl

    @field_validator("tracking_url")
    @classmethod
    def _require_number_in_path(cls, url: str) -> str:
        """Return the address; raise ValueError unless it has `{number}` after the host."""
        if not re.match(r"https://[^/?#{}]+[/?#].*\{number\}", url):
            raise ValueError("must have {number} where the tracking number is, after the host")
        return url


class ShippingSettingsInput(Stripped):
    """What the shop says about shipping, as a whole."""

    shape: ClassVar[type] = ShownShippingSettings

    carriers: Annotated[list[CarrierInput], Field(max_length=20)]

    @field_validator("carriers")
    @classmethod
    def _refuse_repeats(cls, carriers: list[CarrierInput]) -> list[CarrierInput]:
        """Return the carriers; raise ValueError if two have one name, in whatever case."""
        if len({one.name.casefold() for one in carriers}) < len(carriers):
            raise ValueError("must name each carrier once")
        return carriers


# What an order's lines, payments, refunds and shipments say; never sent.
_DERIVED: Final = frozenset(
    {"refunds", "amountPaid", "amountRefunded", "amountCredited", "balanceDue", "refundStatus"}
    | {"id", "number", "createdAt", "updatedAt", "paidAt", "shippedAt", "history"}
    | {"itemsCount", "originalTotal", "edits", "closedAt", "closeReason", "closedBy", "kept"}
    | {"shipments", "shippingStatus", "producedAt"}
)


class NewOrder(Stripped):
    """The fields of a creation. Sums that are absent are computed, and those given are kept."""

    shape: ClassVar[type] = ShownOrder

    # Read-only fields of a copied order are ignored; `status` is refused, because it is a move.
    read_only: ClassVar[frozenset[str]] = _DERIVED | {"retained"}

    @model_validator(mode="before")
    @classmethod
    def _ignore_null_tracking(cls, sent: object) -> object:
        """Return the body without `trackingNumber` if that is null; otherwise as it is.

        An order that was read has such a one until it ships.
        """
        if not isinstance(sent, dict) or sent.get("trackingNumber", "") is not None:
            return sent
        return {name: value for name, value in sent.items() if name != "trackingNumber"}

    source: OpenName | None = None
    customer: OrderCustomerInput | None = None
    shipping_address: AddressInput | None = optional(
        "Where the parcel goes; a copy, null if none was given."
    )
    billing_address: AddressInput | None = optional(
        "Where the bill goes; a copy, null if none was given."
    )
    sales_rep_id: EmployeeId | None = None
    line_items: Annotated[list[LineItemInput], Field(min_length=1, max_length=MOST_LINES)]
    stock_policy: Annotated[
        StockPolicy, null_is(StockPolicy.CHECK), about("How much tracked stock the order takes.")
    ] = StockPolicy.CHECK
    currency: ShopCurrency | None = None
    discount: DiscountInput | None = None
    shipping: Price | None = None
    tax: Price | None = None
    subtotal: Price | None = None
    total: Price | None = None
    payment_status: PaymentStatus | None = None
    payment_method: OpenName | None = None
    payments: Payments | None = optional("What was paid already.")
    deposit: DepositInput | None = None
    note: Note | None = None
    tags: Tags | None = None
    external_id: ExternalId | None = None
    metadata: Metadata | None = None
    due_on: Day | None = None
    order_date: Date | None = optional(f"At most 24 hours ahead. {ZONE}")
    processed_at: Date | None = optional("The same as orderDate, which counts if both are sent.")
    dry_run: Annotated[Flag, about("Only say what the order would be.")] = False


class OrderChange(Stripped):
    """The fields of a PATCH: absent fields stay; null clears, where allowed."""

    shape: ClassVar[type] = ShownOrder

    # An order that was read may be sent back; fields that cannot change are ignored.
    read_only: ClassVar[frozenset[str]] = _DERIVED | {
        *("source", "customer", "lineItems", "currency", "subtotal", "tax", "total"),
        *("paymentMethod", "orderDate", "payments", "discount", "shipping"),
    }

    status: Maybe[OrderStatus] = Field(default_factory=Absent, description="The next status.")
    sales_rep_id: EmployeeId | None = optional("null unassigns.")
    tracking_number: Annotated[str, length(100)] | None = None
    payment_status: Maybe[PaymentStatus] = Field(default_factory=Absent)
    deposit: DepositInput | None = optional(
        "What must be paid before production begins; null: none. Only while nothing is paid."
    )
    retained: Price | None = optional("What a CANCELLED order keeps of a deposit; null: nothing.")
    note: Note | None = None
    tags: Tags | None = None
    shipping_address: AddressInput | None = optional("Until the order is DELIVERED.")
    billing_address: AddressInput | None = optional("Until the order is DELIVERED.")
    due_on: Day | None = optional("Until the order is SHIPPED; null: that of its lines.")
    external_id: ExternalId | None = None
    metadata: Metadata | None = None

    _not_empty = model_validator(mode="after")(not_empty)


class LineChange(Stripped):
    """New values of a line: absent fields stay; null clears a note or a discount."""

    shape: ClassVar[type] = LineItem

    line_item_id: Annotated[str, length(60, 1), about("Id of the line, `li_…`.")]
    quantity: int | None = Field(
        None, strict=True, ge=0, le=MOST_PIECES, description="How many pieces; 0 removes it."
    )
    price: Price | None = optional("Per piece; a decimal amount.")
    title: LineTitle | None = optional("Of a custom line.")
    discount: DiscountInput | None = None
    note: LineNote | None = None
    make: Annotated[bool, Field(strict=True)] | None = optional(
        "true: it is made, and its stock returns; false: it takes stock."
    )
    due_on: Day | None = optional("null: the order's day.")
    specification: Annotated[Specification, null_is([])] = Field(default_factory=list)


class EditedCustomer(Stripped):
    """The customer that the order gets."""

    read_only: ClassVar[frozenset[str]] = OrderCustomerInput.read_only | {
        *("email", "firstName", "lastName", "phone")
    }

    id: Annotated[str, length(60, 1), about("Id of an existing customer, `cus_…`.")]


class EditOrder(Stripped):
    """What changes; absent fields stay. Lines and amounts change until the order is SHIPPED."""

    shape: ClassVar[type] = ShownOrder

    add: _Some[LineItemInput] = Field(default_factory=list, description="New lines.")
    change: _Some[LineChange] = Field(
        default_factory=list, description="Lines that stay, with new values."
    )
    remove: _Some[Annotated[str, length(60, 1)]] = Field(
        default_factory=list, description="Ids of the lines that go."
    )
    discount: DiscountInput | None = optional("What is taken off the subtotal; null: nothing.")
    shipping: Price | None = optional("What shipping costs; null: nothing.")
    tax: Price | None = optional("Required if the order has tax and its other amounts change.")
    total: Price | None = optional("Default: as computed.")
    customer: EditedCustomer | None = None
    source: OpenName | None = optional("Where the order came from.")
    order_date: Date | None = optional(f"At most 24 hours ahead. {ZONE}")
    reason: Annotated[str, length(500, 1), about("Why it is edited.")]
    unlock: Flag = Field(
        default_factory=bool, description="Also change what the workshop has begun to make."
    )
    dry_run: Flag = Field(default_factory=bool, description="Only say what would change.")

    @model_validator(mode="after")
    def _require_a_change(self) -> "EditOrder":
        """Raise ValueError if no field to change was sent, or if a line is named twice.

        `reason`, `unlock` and `dryRun` are no such fields. A line may be in `change` or in
        `remove`.
        """
        if not self.model_fields_set - _NO_CHANGES:
            raise ValueError("must have at least one field to change")
        named = [*(line.line_item_id for line in self.change), *self.remove]
        if len(set(named)) < len(named):
            raise ValueError("must name each line once, in change or in remove")
        return self

    @property
    def is_of_amounts(self) -> bool:
        """Whether the edit changes more than the customer, the source and the date.

        A field that was sent as null counts; an empty list, such as of lines to add, does not. Nor
        do `reason`, `unlock` and `dryRun`, which change nothing.
        """
        others = self.model_fields_set - _NO_CHANGES - {*_ANY_TIME}
        return any(getattr(self, name) != [] for name in others)


_NO_CHANGES: Final = frozenset({"reason", "unlock", "dry_run"})
_ANY_TIME: Final = ("customer", "source", "order_date")


def strip_number_sign(search: str) -> str:
    """Return the search without the # before a number, in every word.

    `#1001` is how people write an order's number.
    """
    return re.sub(r"(?<!\S)#(?=[0-9])", "", search)


class OrderSort(Choice):
    """The order of a list of orders."""

    NEWEST = "-orderDate"
    OLDEST = "orderDate"
    LAST_CHANGED = "-updatedAt"
    FIRST_CHANGED = "updatedAt"


class ListOrders(listing.Dated):
    shape: ClassVar[type] = ShownOrder

    facets = (
        *("status", "source", "payment_status", "refund_status", "balance", "shipping_status"),
        *("customer_id", "sales_rep_id", "tag"),
    )
    exact = ("number", "email")

    search: Annotated[
        str,
        Field(
            max_length=200,
            description="Order or tracking number, customer's name or e-mail, tag, SKU, title",
        ),
        AfterValidator(strip_number_sign),
    ] = ""
    status: Several[OrderStatus] = Field(default_factory=list)
    exclude_status: Several[OrderStatus] = Field(
        default_factory=list, description="Only orders with none of these statuses."
    )
    source: OpenNames = Field(default_factory=list)
    payment_status: Several[PaymentStatus] = Field(default_factory=list)
    refund_status: Several[RefundStatus] = Field(default_factory=list)
    balance: Balance | None = optional("due: the customer owes money; owed: the shop does")
    shipping_status: Annotated[Literal["PARTIAL"], BeforeValidator(upper)] | None = optional(
        "PARTIAL: a part was shipped, and the order waits for the rest."
    )
    closed: bool | None = optional("true: closed orders only; false: the others only.")
    produced: Annotated[Literal["true"], BeforeValidator(lambda sent: str(sent).lower())] | None = (
        optional("true: orders only of which all that is made is done.")
    )
    customer_id: Annotated[str, Field(max_length=60, description="Orders of this customer.")] = ""
    sales_rep_id: Annotated[str, Field(max_length=64)] = ""
    tag: Annotated[str, Field(max_length=50, description="One of the order's tags")] = ""
    external_id: Annotated[ExternalId, Field(description=external_ids.FILTER)] = ""
    number: Annotated[
        str,
        Field(max_length=50, description="The order's whole number"),
        AfterValidator(strip_number_sign),
    ] = ""
    email: ExactEmail = ""
    sort: Annotated[OrderSort, about("The order of the list.")] = OrderSort.NEWEST

    def accepted_values(self) -> dict[str, frozenset[str]]:
        """Return {facet: accepted texts}, with facets that follow from other parameters.

        `excludeStatus` leaves the other statuses. What is due, and what is partly shipped, is in a
        few statuses alone, which are added because they have lists. `produced` is a facet too.
        """
        where = super().accepted_values()
        if self.exclude_status:
            asked = set(self.status or OrderStatus) - set(self.exclude_status)
            where["status"] = frozenset(map(str, asked))
        if self.balance is Balance.DUE:
            # What is due follows from the payment status too, which has lists.
            where.setdefault("paymentStatus", frozenset({"PENDING", "PARTIALLY_PAID", "FAILED"}))
        if self.shipping_status:
            # No other status, as release 1.0.0 left it, has such entries.
            where.setdefault("status", frozenset({"IN_PRODUCTION", "PROCESSING"}))
        if self.produced:
            where["produced"] = frozenset({PRODUCED})
        if self.closed is not None:
            having = frozenset({CLOSED}) if self.closed else NOT_CLOSED
            where["balance"] = where.get("balance", having) & having
        return where


class ListTransactions(listing.Dated):
    facets = ("kind", "method", "order_id", "reference")

    kind: Several[TransactionKind] = Field(default_factory=list, description="Which kinds.")
    method: OpenNames = Field(default_factory=list, description="Methods of payment.")
    order_id: Annotated[str, Field(max_length=60, description="Of one order.")] = ""
    reference: Annotated[str, Field(max_length=100, description="Exactly this reference.")] = ""


class ListShipments(listing.Dated):
    """The fields of a shipment by which the list is filtered; by when it was shipped."""

    facets = ("method", "carrier", "state", "order_id", "tracking_number")

    method: Several[ShippingMethod] = Field(default_factory=list, description="How it was sent.")
    carrier: Annotated[str, Field(max_length=50, description="Exactly this carrier.")] = ""
    state: Several[ShipmentState] = Field(default_factory=list, description="In these states.")
    order_id: Annotated[str, Field(max_length=60, description="Of one order.")] = ""
    tracking_number: Annotated[
        str, Field(max_length=100, description="Exactly this tracking number of a parcel.")
    ] = ""


class DueIn(Choice):
    """When something is due, by the shop's day. week: today, or in the six days that follow."""

    OVERDUE = "overdue"
    TODAY = "today"
    WEEK = "week"


class DueFilters(listing.Filters):
    """Filters of a list in the order of the day by which something is due, earliest first."""

    from_: Annotated[Day, Field(alias="from", description="The first day, of the shop.")] = ""
    to: Annotated[Day, about("The last day, of the shop.")] = ""

    def sort_range(self) -> listing.Range:
        """Return the range of days that are both from `from_` to `to` and in the period `due`.

        "": no bound.
        """
        first, end = self.from_, next_day(self.to) if self.to else ""
        if due := getattr(self, "due", None):
            start, stop = days_of(due, timezone.today())
            first, end = max(first, start), min(end or stop, stop)
        return listing.Range(first, end)

    def to_query(self) -> listing.Query:
        """Return the query, earliest day first."""
        return replace(super().to_query(), forward=True)


def next_day(day: str) -> str:
    """Return the day after a day; both ISO 8601."""
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def days_of(due: str, today: date) -> tuple[str, str]:
    """Return (first day, day after the last) of what is due then, by DueIn; "" for no first day."""
    days = 7 if due == DueIn.WEEK else 1
    end = (today + timedelta(days=days)).isoformat()
    return ("", today.isoformat()) if due == DueIn.OVERDUE else (today.isoformat(), end)


class OrderFields(Sparse):
    shape: ClassVar[type] = ShownOrder


class ListOrderFields(ListOrders, OrderFields):
    updated_from: listing.UpdatedFrom = ""

    @field_validator("sort")
    @classmethod
    def _refuse_period_of_changes(cls, value: OrderSort, info: ValidationInfo) -> OrderSort:
        """Return the sort order; raise ValueError if it is by `updatedAt` with `from` or `to`."""
        if value.endswith("updatedAt") and (info.data.get("from_") or info.data.get("to")):
            raise ValueError("cannot be by updatedAt with from or to")
        return value


class ListDueOrders(DueFilters, OrderFields):
    due: DueIn | None = optional("overdue: before today; week: from today on, seven days.")


# --- Work -----------------------------------------------------------------------------------------


class WorkState(Choice):
    """Whether there is something to do. CANCELLED: it ended before it was done."""

    OPEN = "OPEN"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class WorkEnd(Choice):
    """What ended work.

    stage: it is in the last. shipment, refund: of all pieces. edit: the line is gone, or not made
    any more. order, close: the order was refunded, or closed.
    """

    STAGE = "stage"
    SHIPMENT = "shipment"
    REFUND = "refund"
    EDIT = "edit"
    ORDER = "order"
    CLOSE = "close"


class WorkDue(Choice):
    """When work is due, by the shop's day. week: today, or in the six days that follow."""

    OVERDUE = "overdue"
    TODAY = "today"
    WEEK = "week"
    NONE = "none"


class ShownStage(TypedDict):
    """A stage of the workshop."""

    id: Annotated[str, about("Identifier, `stg_…`.")]
    name: Annotated[str | None, about("Name; null: it was removed after the work ended.")]


class WorkMove(TypedDict):
    """A move of work into a stage."""

    at: Annotated[str, about("When it was moved.")]
    by: Annotated[str, about("Name of the API key.")]
    stage: Annotated[str, about("Id of the stage.")]


class WorkCustomer(TypedDict):
    """Whom it is for."""

    id: Annotated[str, about("Id of the customer.")]
    firstName: Annotated[str | None, about("First name.")]
    lastName: Annotated[str | None, about("Last name.")]


class _Work(TypedDict):
    orderId: Annotated[str, about("Id of its order.")]
    orderNumber: Annotated[str, about("Number of its order.")]
    lineItemId: Annotated[str, about("Id of the line that is made.")]
    productId: Annotated[str | None, about("Id of the product.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    quantity: Annotated[int, about("Pieces of the line.")]
    toMake: Annotated[int, about("Pieces without those refunded before they were shipped.")]
    made: Annotated[int, about("Pieces that are made.")]
    surplus: Annotated[int, about("Pieces that are made and not needed any more.")]
    revision: Annotated[
        int, about("1, and one more for each edit of title, quantity or details since it began.")
    ]
    state: Annotated[WorkState, about("Whether there is something to do.")]
    stage: Annotated[ShownStage, about("Where it is, or was when it ended.")]
    assignee: Annotated[str | None, about("Employee who makes it, `emp_…`; null: nobody.")]
    priority: Annotated[int, about("From 0 to 9, the most urgent.")]
    dueOn: Annotated[str | None, about("Day of the shop by which it is due; null: none.")]
    startedAt: Annotated[str | None, about("When it left the first stage; null: it did not.")]
    doneAt: Annotated[str | None, about("When it ended; null: it is open.")]
    closedBy: Annotated[WorkEnd | None, about("What ended it; null: it is open.")]


class AnnouncedWork(_Work):
    """Work, as its events carry it: without texts that may name a person."""

    customerId: Annotated[str | None, about("Id of the order's customer.")]


class ShownWork(_Work):
    """The work on a line that is made. What it is comes from the order."""

    orderStatus: Annotated[OrderStatus, about("State of the order.")]
    title: Annotated[str, about("Title of the line.")]
    specification: Annotated[list[SpecifiedValue], about("What exactly is ordered.")]
    missing: Annotated[list[str], about("Details that the product requires, and nobody gave yet.")]
    lineNote: Annotated[str | None, about("Free text about the line.")]
    customer: Annotated[WorkCustomer | None, about("Who ordered; null: no customer.")]
    blocked: Annotated[str | None, about("Why it cannot go on; null: it can.")]
    note: Annotated[str | None, about("The workshop's free text.")]
    moves: Annotated[list[WorkMove], about("The latest 30 moves, oldest first.")]


class WorkOfOrder(TypedDict):
    """All work of an order, also what has ended."""

    data: Annotated[list[ShownWork], about("Work, in the order of the lines.")]


class WorkList(TypedDict):
    """A page of work, and how much there is in all."""

    data: Annotated[list[ShownWork], about("The items.")]
    pagination: Annotated[CursorPagination, about("Which page this is.")]
    total: Annotated[int, about("How many there are in all.")]
    totalIsAtLeast: NotRequired[
        Annotated[bool, Field(description="There are more than `total`; they were not counted")]
    ]
    counts: Annotated[dict[str, int], about("All open work of each stage, by its id.")]
    overdue: Annotated[int, about("All open work that is overdue.")]


class ShownProductionSettings(TypedDict):
    """What the shop says about its workshop."""

    stages: Annotated[
        list[ShownStage], about("In order: work begins in the first; the last is done.")
    ]


def _pick_stage_id(sent: object) -> object:
    """Return the `id` of a stage that was sent as an object; other values as they are."""
    return sent.get("id") if isinstance(sent, dict) else sent


class WorkChange(Stripped):
    """The fields of a PATCH: absent fields stay; null clears."""

    shape: ClassVar[type] = ShownWork

    # Work that was read may be sent back.
    read_only: ClassVar[frozenset[str]] = frozenset(
        {"orderId", "orderNumber", "orderStatus", "lineItemId", "title", "sku", "productId"}
        | {"quantity", "toMake", "surplus", "specification", "missing", "revision", "lineNote"}
        | {"customer", "state", "dueOn", "startedAt", "doneAt", "closedBy", "moves"}
    )

    stage: Maybe[Annotated[str, BeforeValidator(_pick_stage_id), length(60, 1)]] = Field(
        default_factory=Absent, description="Id of the stage; in the last all pieces are made."
    )
    made: Maybe[Annotated[int, Field(strict=True, ge=0, le=MOST_PIECES)]] = Field(
        default_factory=Absent, description="Pieces that are made, at most `toMake`."
    )
    assignee: EmployeeId | None = None
    blocked: Annotated[str, SEEN, length(200)] | None = None
    priority: Maybe[Annotated[int, Field(strict=True, ge=0, le=9)]] = Field(default_factory=Absent)
    note: Annotated[str, SEEN, length(1_000)] | None = None

    @model_validator(mode="after")
    def _require_a_change(self) -> "WorkChange":
        """Raise an error if no field was sent."""
        if not self.model_fields_set:
            raise PydanticCustomError("required", "must have at least one field to change")
        return self


class StageInput(Stripped):
    """A stage of the workshop."""

    shape: ClassVar[type] = ShownStage

    id: Annotated[str, length(60, 1)] | None = optional(
        "Of a stage that stays; a new one has none."
    )
    name: Annotated[str, SEEN, length(40, 1)]


def _check_stages(stages: list[StageInput]) -> list[StageInput]:
    """Return the stages. Raise an error for too few, too many, or one that is there twice."""
    if len(stages) < 2:
        raise PydanticCustomError("too_few", "must be at least 2 stages")
    if len(stages) > MOST_STAGES:
        raise PydanticCustomError("too_many", f"must be at most {MOST_STAGES} stages")
    known = [one.id for one in stages if one.id]
    if len({one.name.casefold() for one in stages}) < len(stages):
        raise PydanticCustomError("duplicate_name", "must have each name once")
    if len({*known}) < len(known):
        raise PydanticCustomError("duplicate", "must have each stage once")
    return stages


class ProductionSettingsInput(Stripped):
    """What the shop says about its workshop, as a whole."""

    shape: ClassVar[type] = ShownProductionSettings

    stages: Annotated[
        list[StageInput],
        AfterValidator(_check_stages),
        Field(json_schema_extra={"minItems": 2, "maxItems": MOST_STAGES}),
    ]


EmployeeOrNone = Annotated[
    str,
    _text_matching(f"none|{_EMPLOYEE}", "emp_ann-01, or be none"),
    Field(json_schema_extra={"pattern": f"^(none|{_EMPLOYEE})$"}),
]


class ListWork(DueFilters):
    """Filters of work: what is open by the day by which it is due, the rest by when it ended."""

    facets = ("stage", "assignee", "order_id", "product_id")

    state: Annotated[WorkState, about("What is open, unless another is asked for.")] = (
        WorkState.OPEN
    )
    stage: Annotated[str, Field(max_length=60, description="In this stage.")] = ""
    assignee: EmployeeOrNone | None = optional("Of this employee, `emp_…`; none: of nobody.")
    due: WorkDue | None = optional("overdue: before today; week: from today on, seven days.")
    order_id: Annotated[str, Field(max_length=60, description="Of one order.")] = ""
    product_id: Annotated[str, Field(max_length=60, description="Of one product.")] = ""

    def accepted_values(self) -> dict[str, frozenset[str]]:
        """Return {facet: accepted texts}; the assignee `none` is "", nobody.

        The state is a facet only of work that has ended: open work has a list of its own.
        """
        where = super().accepted_values()
        if self.assignee == "none":
            where["assignee"] = frozenset({""})
        if self.state is not WorkState.OPEN:
            where["state"] = frozenset({self.state.value})
        return where

    def sort_range(self) -> listing.Range:
        """Return the days by which open work is due, or the times in which other work ended.

        Raise Invalid for `due` with work that has ended. Work without a day is in the range only if
        no period is asked for, or `due` is NONE.
        """
        if self.state is not WorkState.OPEN:
            if self.due:
                raise Invalid.field("due", "invalid", "is of open work alone")
            return listing.Range(*timezone.parse_period(self.from_, self.to))
        if self.due is WorkDue.NONE:
            return listing.Range(NO_DAY, (self.from_ or self.to) and NO_DAY)
        days = super().sort_range()
        return listing.Range(days.first, days.end or NO_DAY) if days else days

    def to_query(self) -> listing.Query:
        """Return the query: earliest day first; what ended last first."""
        return replace(super().to_query(), forward=self.state is WorkState.OPEN)
