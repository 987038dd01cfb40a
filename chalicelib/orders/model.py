"""What an order is: what clients send, what is stored, and how it is listed.

Stored and shown names are the same, in camelCase; amounts are rendered strings.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, ClassVar, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from chalicelib import listing
from chalicelib.customers.model import OrderCustomerInput, searchable
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import ExternalId
from chalicelib.products.model import Price, ShopCurrency
from chalicelib.schemas import (
    NUMBER,
    SEEN,
    Choice,
    Flag,
    Several,
    Stripped,
    about,
    length,
    not_empty,
    null_is,
    optional,
    upper,
)
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import clock, metadata, timezone
from chalicelib.values.addresses import AddressInput
from chalicelib.values.metadata import ABOUT as METADATA
from chalicelib.values.metadata import Metadata

MOST_LINES: Final = 200
MOST_PRODUCTS: Final = 60
MOST_PIECES: Final = 1_000_000  # of one line
# Bytes of JSON of a new order. Changes add a note (20 KB at most), tags (10 KB) and history; up to
# three events carry the whole order, and DynamoDB takes 400 KB of them.
LARGEST_ORDER: Final = 82_000
MOST_TRANSFERS: Final = 100  # payments and refunds of an order
# Of an order with payments, without its note, tags and history.
LARGEST_GROWN: Final = 89_000
MOST_HISTORY: Final = 100
LARGEST_HISTORY: Final = 15_000  # bytes of text
MOST_EDITS: Final = 50
LARGEST_EDITS: Final = 12_000  # bytes of text
ADDRESSES: Final = ("shippingAddress", "billingAddress")
EARLY: Final = timedelta(hours=24)  # an order may be dated this far ahead

# A new order of 60 products by a new customer writes 79 items without words and tags: the order,
# the reply kept for repeats, six list entries, three count cells, its day's sales, the customer
# (record, lock, two list entries, count cell), 60 stocks, one low-stock and one outbox item. A
# change that gives back 60 stocks writes as many: nine list entries and six count cells, old and
# new, and the customer's totals. What is left is room for words and tags: `room`.
KIND: Final = listing.Kind(
    "order",
    counted=("status", "paymentStatus", "refundStatus", "balance"),
    summed="due",
    under=("source", "salesRepId"),
    listed=("status", "source", "paymentStatus", "salesRepId", "customerId"),
    several="tag",
    identified=("order",),
)


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


class StockPolicy(Choice):
    """What a new order takes. CHECK: all of it, or the order is refused. FORCE: what is there.
    SKIP: nothing, because the stock was counted after the sale."""

    CHECK = "CHECK"
    FORCE = "FORCE"
    SKIP = "SKIP"


class Balance(Choice):
    """Who owes money: due: the customer; owed: the shop."""

    DUE = "due"
    OWED = "owed"


# --- What clients send ----------------------------------------------------------------------------


def _date(value: object) -> str:
    try:
        # A day is the shop's, as in the list's filters.
        first, _ = timezone.period(value if isinstance(value, str) else "", "")
        moment = clock.parse(first)
        timezone.day(moment)  # whose sales it counts in: the first hours of year 1 may have none
    except (ValueError, OverflowError):
        raise ValueError(
            "must be a date and time in ISO 8601, such as 2026-11-20T06:12:14Z"
        ) from None
    if moment > clock.now() + EARLY:
        raise ValueError("must be at most 24 hours ahead")
    return clock.iso(moment)


def _like(pattern: str, example: str) -> object:
    """Text of that form; the error for other text has an example."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"must look like {example}")
        return value

    return AfterValidator(check)


# Open sets of names (docs/orders.md#creating).
_NAME: Final = "[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
_EMPLOYEE: Final = "emp_[A-Za-z0-9_-]{1,60}"
OpenName = Annotated[
    str,
    BeforeValidator(upper),
    _like(_NAME, "CARD_TERMINAL"),
    Field(json_schema_extra={"pattern": f"^{_NAME}$"}, max_length=50),
]
# A filter by them.
OpenNames = Annotated[
    Several[Annotated[str, BeforeValidator(upper), Field(max_length=50)]], Field(max_length=20)
]
EmployeeId = Annotated[
    str, _like(_EMPLOYEE, "emp_ann-01"), Field(json_schema_extra={"pattern": f"^{_EMPLOYEE}$"})
]
Date = Annotated[
    str, BeforeValidator(_date), Field(json_schema_extra={"format": "date-time"}, max_length=40)
]
Note = Annotated[str, length(5_000)]
Tags = Annotated[list[Annotated[str, length(50, 1)]], Field(max_length=50)]
_Pieces = Annotated[int, Field(strict=True, ge=1, le=MOST_PIECES)]
_T = TypeVar("_T")
_Some = Annotated[list[_T], null_is([]), Field(max_length=MOST_LINES)]  # perhaps none


class DiscountInput(Stripped):
    """Either `amount` or `percent`."""

    amount: Price | None = optional("A decimal amount, at most what it is taken off.")
    percent: Annotated[Decimal, Field(ge=0, le=100, decimal_places=2), NUMBER] | None = optional(
        "Percent of what it is taken off."
    )
    reason: Annotated[str, length(200)] | None = optional("Why.")

    @model_validator(mode="after")
    def _says_how_much(self) -> "DiscountInput":
        if self.amount is None and self.percent is None:
            raise ValueError("must have an amount or a percent")
        return self


LineTitle = Annotated[str, SEEN, length(200, 1)]
LineNote = Annotated[str, length(1_000)]


class LineItemInput(Stripped):
    """A line of an order: of a variant by `variantId`, or a custom line by `title` and `price`."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "productId", "sku", "isCustom", "cost", "total", "oversold", "refundedQuantity"}
    )

    variant_id: Annotated[str, length(60, 1)] | None = optional(
        "Id of the variant, `var_…`; null: a custom line."
    )
    title: LineTitle | None = optional("What a custom line is; a variant's line has the variant's.")
    quantity: Annotated[_Pieces, about("How many pieces.")]
    price: Price | None = optional("Per piece; default: the variant's. A custom line needs one.")
    discount: DiscountInput | None = optional("What is taken off the line.")
    note: LineNote | None = optional("Free text about the line.")


def _above_zero(value: str) -> str:
    if not Decimal(value):
        raise ValueError("must be more than 0")
    return value


Amount = Annotated[Price, AfterValidator(_above_zero)]
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
    note: RecordNote | None = optional("Free text about it.")
    received_at: Date | None = optional("At most 24 hours ahead; now.")
    tendered: Amount | None = optional("Cash that was handed over.")
    allow_overpayment: Annotated[Flag, about("Accept more than is due.")] = False
    # A payment that was read has it; one that is voided cannot be sent.
    voided_at: SkipJsonSchema[None] = None


Payments = Annotated[list[PaymentInput], Field(max_length=10)]


class TakePayments(PaymentInput):
    """The fields of one payment, or up to ten in `payments`."""

    payments: Payments | None = optional("Several payments: all of them are recorded, or none.")

    @model_validator(mode="after")
    def _one_of_both(self) -> "TakePayments":
        if self.payments is not None and (len(self.model_fields_set) > 1 or not self.payments):
            raise ValueError("needs either payments or the fields of one payment")
        return self

    @property
    def each(self) -> list[PaymentInput]:
        return [self] if self.payments is None else self.payments


class VoidPayment(Stripped):
    """Why a payment does not count."""

    reason: RecordNote | None = optional("Why, such as a card that was declined.")


class RefundLineInput(Stripped):
    """Pieces of a line that come back."""

    read_only: ClassVar[frozenset[str]] = frozenset({"amount", "tax", "restocked"})

    line_item_id: Annotated[str, length(60, 1), about("Id of the line, `li_…`.")]
    quantity: Annotated[_Pieces, about("How many pieces.")]
    restock: bool | None = Field(
        None, strict=True, description="Return them to the stock; default: only before SHIPPED."
    )


class RefundInput(Stripped):
    """Lines, shipping or an amount."""

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
    reason: OpenName | None = optional("Why, such as DAMAGED.")
    note: RecordNote | None = optional("Free text about it.")
    dry_run: Annotated[Flag, about("Only say what would be refunded.")] = False

    @field_validator("lines")
    @classmethod
    def _distinct(cls, lines: list[RefundLineInput]) -> list[RefundLineInput]:
        if len({line.line_item_id for line in lines}) < len(lines):
            raise ValueError("must name each line once")
        return lines


# What an order's lines, payments and refunds say; never sent.
_DERIVED: Final = frozenset(
    {"refunds", "amountPaid", "amountRefunded", "amountCredited", "balanceDue", "refundStatus"}
    | {"id", "number", "createdAt", "updatedAt", "paidAt", "shippedAt", "history"}
    | {"itemsCount", "originalTotal", "edits"}
)


class NewOrder(Stripped):
    """The fields of a creation. Sums that are absent are computed, and those given are kept."""

    # Read-only fields of a copied order are ignored; `status` is refused, because it is a move.
    read_only: ClassVar[frozenset[str]] = _DERIVED | {"retained"}

    @model_validator(mode="before")
    @classmethod
    def _not_shipped(cls, sent: object) -> object:
        """An order that was read has no tracking number until it ships."""
        if not isinstance(sent, dict) or sent.get("trackingNumber", "") is not None:
            return sent
        return {name: value for name, value in sent.items() if name != "trackingNumber"}

    source: OpenName | None = optional("Where the order came from, such as IN_PERSON.")
    customer: OrderCustomerInput | None = optional("Who ordered; null: no customer.")
    shipping_address: AddressInput | None = optional(
        "Where the parcel goes; a copy, null if none was given."
    )
    billing_address: AddressInput | None = optional(
        "Where the bill goes; a copy, null if none was given."
    )
    sales_rep_id: EmployeeId | None = optional("Employee who sold it, `emp_…`; null: none.")
    line_items: Annotated[
        list[LineItemInput],
        Field(min_length=1, max_length=MOST_LINES, description="Items of the order."),
    ]
    stock_policy: Annotated[
        StockPolicy, null_is(StockPolicy.CHECK), about("How much tracked stock the order takes.")
    ] = StockPolicy.CHECK
    currency: ShopCurrency | None = optional("The shop's currency, ISO 4217.")
    discount: DiscountInput | None = optional("What is taken off the subtotal.")
    shipping: Price | None = optional("What shipping costs; a decimal amount.")
    tax: Price | None = optional("A decimal amount.")
    subtotal: Price | None = optional("Sum of the lines; a decimal amount.")
    total: Price | None = optional("What is to be paid; a decimal amount.")
    payment_status: PaymentStatus | None = optional("Whether it is paid.")
    payment_method: OpenName | None = optional("How it is paid, such as CARD_TERMINAL.")
    payments: Payments | None = optional("What was paid already.")
    deposit: DepositInput | None = optional(
        "What must be paid before production begins; null: none."
    )
    note: Note | None = optional("Free text about it.")
    tags: Tags | None = optional("Words to find it by.")
    external_id: ExternalId | None = optional(external_ids.ABOUT)
    metadata: Metadata | None = optional(METADATA)
    order_date: Date | None = optional("At most 24 hours ahead.")
    processed_at: Date | None = optional("The same as orderDate, which counts if both are sent.")


class OrderChange(Stripped):
    """The fields of a PATCH: absent fields stay; null clears, where allowed."""

    # An order that was read may be sent back; fields that cannot change are ignored.
    read_only: ClassVar[frozenset[str]] = _DERIVED | {
        *("source", "customer", "lineItems", "currency", "subtotal", "tax", "total"),
        *("paymentMethod", "orderDate", "payments", "discount", "shipping"),
    }

    # Without a default in the description: generated clients send defaults.
    status: Annotated[OrderStatus, Field(description="The next status.")] = Field(
        default_factory=lambda: OrderStatus.PENDING
    )
    sales_rep_id: EmployeeId | None = optional("null unassigns.")
    tracking_number: Annotated[str, length(100)] | None = optional(
        "Of the parcel; null: none is known."
    )
    payment_status: PaymentStatus = Field(
        default_factory=lambda: PaymentStatus.PENDING, description="Whether it is paid."
    )
    deposit: DepositInput | None = optional(
        "What must be paid before production begins; null: none. Only while nothing is paid."
    )
    retained: Price | None = optional("What a CANCELLED order keeps of a deposit; null: nothing.")
    note: Note | None = optional("Free text about it.")
    tags: Tags | None = optional("Words to find it by.")
    shipping_address: AddressInput | None = optional("Until the order is DELIVERED.")
    billing_address: AddressInput | None = optional("Until the order is DELIVERED.")
    external_id: ExternalId | None = optional(external_ids.ABOUT)
    metadata: Metadata | None = optional(METADATA)

    _not_empty = model_validator(mode="after")(not_empty)


class LineChange(Stripped):
    """New values of a line: absent fields stay; null clears a note or a discount."""

    line_item_id: Annotated[str, length(60, 1), about("Id of the line, `li_…`.")]
    quantity: int | None = Field(
        None, strict=True, ge=0, le=MOST_PIECES, description="How many pieces; 0 removes it."
    )
    price: Price | None = optional("Per piece; a decimal amount.")
    title: LineTitle | None = optional("Of a custom line.")
    discount: DiscountInput | None = optional("What is taken off the line.")
    note: LineNote | None = optional("Free text about the line.")


class EditedCustomer(Stripped):
    """The customer that the order gets."""

    read_only: ClassVar[frozenset[str]] = OrderCustomerInput.read_only | {
        *("email", "firstName", "lastName", "phone")
    }

    id: Annotated[str, length(60, 1), about("Id of an existing customer, `cus_…`.")]


class EditOrder(Stripped):
    """What changes; absent fields stay. Lines and amounts change until the order is SHIPPED."""

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
    customer: EditedCustomer | None = optional("Who ordered; null: no customer.")
    source: OpenName | None = optional("Where the order came from.")
    order_date: Date | None = optional("At most 24 hours ahead.")
    reason: Annotated[str, length(500, 1), about("Why it is edited.")]
    dry_run: Flag = Field(default_factory=bool, description="Only say what would change.")

    @model_validator(mode="after")
    def _changes_something(self) -> "EditOrder":
        if not self.model_fields_set - {"reason", "dry_run"}:
            raise ValueError("must have at least one field to change")
        named = [*(line.line_item_id for line in self.change), *self.remove]
        if len(set(named)) < len(named):
            raise ValueError("must name each line once, in change or in remove")
        return self

    @property
    def is_of_amounts(self) -> bool:
        """Whether it changes more than the customer, the source and the date."""
        others = self.model_fields_set - {"reason", "dry_run", *_ANY_TIME}
        return any(getattr(self, name) != [] for name in others)


_ANY_TIME: Final = ("customer", "source", "order_date")


def bare(search: str) -> str:
    """`#1001` is how people write an order's number, and how the console shows it."""
    return re.sub(r"(?<!\S)#(?=[0-9])", "", search)


class OrderSort(Choice):
    """The order of a list of orders."""

    NEWEST = "-orderDate"
    OLDEST = "orderDate"


class ListOrders(listing.Dated):
    facets = (
        *("status", "source", "payment_status", "refund_status", "balance"),
        *("customer_id", "sales_rep_id", "tag"),
    )

    search: Annotated[
        str,
        Field(
            max_length=200,
            description="Order or tracking number, customer's name or e-mail, tag, SKU, title",
        ),
        AfterValidator(bare),
    ] = ""
    status: Several[OrderStatus] = Field(default_factory=list, description="Its state.")
    exclude_status: Several[OrderStatus] = Field(
        default_factory=list, description="Only orders with none of these statuses."
    )
    source: OpenNames = Field(
        default_factory=list, description="Where the order came from, such as IN_PERSON."
    )
    payment_status: Several[PaymentStatus] = Field(
        default_factory=list, description="Whether it is paid."
    )
    refund_status: Several[RefundStatus] = Field(
        default_factory=list, description="How much was given back."
    )
    balance: Balance | None = optional("due: the customer owes money; owed: the shop does")
    customer_id: Annotated[str, Field(max_length=60, description="Orders of this customer.")] = ""
    sales_rep_id: Annotated[
        str, Field(max_length=64, description="Employee who sold it, `emp_…`; null: none.")
    ] = ""
    tag: Annotated[str, Field(max_length=50, description="One of the order's tags")] = ""
    external_id: Annotated[ExternalId, Field(description=external_ids.FILTER)] = ""
    sort: Annotated[OrderSort, about("The order of the list.")] = OrderSort.NEWEST

    def where(self) -> dict[str, frozenset[str]]:
        where = super().where()
        if self.exclude_status:
            asked = set(self.status or OrderStatus) - set(self.exclude_status)
            where["status"] = frozenset(map(str, asked))
        if self.balance is Balance.DUE:
            # What is due follows from the payment status too, which has lists.
            where.setdefault("paymentStatus", frozenset({"PENDING", "PARTIALLY_PAID", "FAILED"}))
        return where


# --- What is stored -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order(listing.Record):
    """An order as stored. A line in `fields["lineItems"]` also has `taken`: its pieces that were
    taken from the stock and may return. `revenue` is the money that counts as sold; a payment also
    has `voidedBy`. `formerly`: address → id of the customer who gave it, if that is not the one the
    order has now. `erasedAt`: since when it has no data of a customer who was erased."""

    version: int

    @property
    def status(self) -> OrderStatus:
        return OrderStatus(self.fields["status"])

    @property
    def payment_status(self) -> PaymentStatus:
        return PaymentStatus(self.fields["paymentStatus"])

    @property
    def etag(self) -> str:
        """Changes with every change; without quotes."""
        return str(self.version)

    @property
    def customer_id(self) -> str | None:
        customer = self.fields["customer"]
        return customer["id"] if customer else None

    @property
    def revenue(self) -> Decimal:
        return Decimal(self.fields["revenue"])

    def taken(self) -> dict[str, dict[str, int]]:
        """Its pieces from the stock: product id → variant id → pieces."""
        taken: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for line in self.fields["lineItems"]:
            if line["taken"]:
                taken[line["productId"]][line["variantId"]] += line["taken"]
        return taken


@dataclass(frozen=True)
class DaySales:
    """The sales of one day."""

    date: date
    orders: int
    paid: int
    revenue: Decimal


def index_of(fields: Fields) -> listing.Index:
    """By order date; found by number, customer's e-mail and name, tracking number, tags, and the
    SKUs and titles of its lines; by a payment's reference as a whole. An entry also has `revenue`,
    to recount the sales of its day, and what is `due`."""
    customer, balance = fields["customer"], Decimal(fields["balanceDue"])
    references = {one["reference"] for one in (*fields["payments"], *fields["refunds"])} - {None}
    return listing.Index.of(
        sort=fields["orderDate"],
        facets={
            "status": fields["status"],
            "source": fields["source"],
            "paymentStatus": fields["paymentStatus"],
            "refundStatus": fields["refundStatus"],
            "balance": "due" if balance > 0 else "owed" if balance < 0 else "",
            "due": fields["balanceDue"] if balance > 0 else "",
            "revenue": fields["revenue"],
            "customerId": customer["id"] if customer else "",
            "salesRepId": fields["salesRepId"] or "",
        },
        several=fields["tags"],
        texts=[
            fields["number"],
            *(searchable(customer) if customer else ()),
            *([fields["trackingNumber"]] if fields["trackingNumber"] else ()),
            *fields["tags"],
            *dict.fromkeys(line["sku"] for line in fields["lineItems"] if line["sku"]),
            *dict.fromkeys(line["title"] for line in fields["lineItems"]),
        ],
        exact=[
            fields["number"],
            *([customer["email"]] if customer and customer["email"] else ()),
            *sorted(references),
        ],
    )


def room(fields: Fields, more: int) -> tuple[int, int]:
    """How many of its words and tags are written with an order, and how many changes of them a
    transaction has room for, next to the stock of each of its products and `more` items; none if
    below zero."""
    products = {line["productId"] for line in fields["lineItems"]} - {None}
    taken = len(products) + more
    return (77 - taken) // 2, 70 - taken


def stored(order: Order) -> Item:
    """The record's attributes, without its keys."""
    return {**metadata.stored(order.fields), "version": order.version}


def read(item: Item) -> Order:
    return Order(metadata.unstored(item), item["version"])
