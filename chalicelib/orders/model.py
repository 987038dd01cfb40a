"""An order as it is stored, listed and shown.

Stored and shown names are the same, in camelCase; amounts are rendered strings.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Final, Literal, NotRequired, TypedDict, cast

from chalicelib import listing
from chalicelib.customers.model import searchable
from chalicelib.customers.schemas import OrderCustomer
from chalicelib.orders import pieces
from chalicelib.orders.schemas import (
    CLOSED,
    PRODUCED,
    Balance,
    LineItem,
    ListedShipment,
    OrderEditEntry,
    OrderHistoryEntry,
    OrderPreview,
    OrderStatus,
    PaymentStatus,
    PreviewedLine,
    PreviewedPayment,
    ShippingStatus,
    ShownOrder,
    ShownPayment,
    ShownRefund,
    ShownShipment,
    ShownTransaction,
    SpecifiedValue,
)
from chalicelib.orders.stages import OrderWork
from chalicelib.orders.transitions import BEFORE_SHIPPING
from chalicelib.schemas import pick_members
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import metadata, money
from chalicelib.values.addresses import Address

MOST_PRODUCTS: Final = 60
MOST_WORK: Final = 25  # lines of an order that are made
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
AddressName = Literal["shippingAddress", "billingAddress"]
ADDRESSES: Final[tuple[AddressName, ...]] = ("shippingAddress", "billingAddress")

PARTIAL: Final = ShippingStatus.PARTIAL.value

KIND: Final = listing.Kind(
    "order",
    counted=("status", "paymentStatus", "refundStatus", "balance"),
    summed="due",
    under=("source", "salesRepId"),
    listed=("status", "source", "paymentStatus", "salesRepId", "customerId"),
    several="tag",
    orders=("updated",),
    since={"*updated": 2},
    identified=("order",),
    exact={
        "number": lambda order: [order.fields["number"]],
        "email": lambda order: [((order.fields["customer"] or {}).get("email") or "").lower()],
    },
)


# --- What is stored -------------------------------------------------------------------------------


class Discount(TypedDict):
    """A discount as stored: `percent` as text, if it was sent as such."""

    amount: str
    percent: str | None
    reason: str | None


class Deposit(TypedDict):
    """A deposit as stored: `percent` as text, if it was sent as such."""

    amount: str
    percent: str | None
    isReached: NotRequired[bool]


class OrderLine(TypedDict):
    """A line as stored. `taken`: pieces that were taken from the stock and may return.

    `untaken`: how many pieces of the line were sold without the stock, if an edit removed some.
    `required`: the details that the product required when it was added, of what is made.
    """

    id: str
    variantId: str | None
    productId: str | None
    isCustom: bool
    title: str
    sku: str | None
    quantity: int
    price: str
    cost: str | None
    discount: Discount | None
    total: str
    note: str | None
    taken: int
    oversold: int
    untaken: NotRequired[int]
    refundedQuantity: int
    make: bool
    dueOn: str | None
    specification: list[SpecifiedValue]
    required: NotRequired[list[str]]


class Payment(ShownPayment):
    """A payment as stored."""

    voidedBy: str | None


Transfer = Payment | ShownRefund


class StoredOrder(TypedDict):
    """The fields of an order as stored.

    `revenue` is the money that counts as sold. `formerly`: address → id of the customer who gave
    it, if that is not the one whom the order has now. `erasedAt`: since when it has no data of a
    customer who was erased. What is not required follows from the rest.
    """

    id: str
    number: str
    status: str
    paymentStatus: str
    paymentMethod: str | None
    source: str
    customer: OrderCustomer | None
    shippingAddress: Address | None
    billingAddress: Address | None
    salesRepId: str | None
    lineItems: list[OrderLine]
    currency: str
    subtotal: str
    discount: Discount | None
    shipping: str
    tax: str
    total: str
    originalTotal: str
    payments: list[Payment]
    refunds: list[ShownRefund]
    shipments: list[ShownShipment]
    amountPaid: NotRequired[str]
    amountRefunded: NotRequired[str]
    amountCredited: str
    balanceDue: NotRequired[str]
    refundStatus: NotRequired[str]
    revenue: NotRequired[str]
    deposit: Deposit | None
    retained: str | None
    closedAt: str | None
    closeReason: str | None
    closedBy: str | None
    kept: NotRequired[str | None]
    note: str | None
    tags: list[str]
    dueOn: str | None
    trackingNumber: str | None
    externalId: str | None
    metadata: dict[str, object]
    orderDate: str
    paidAt: str | None
    producedAt: str | None
    shippedAt: str | None
    createdAt: str
    updatedAt: str
    history: list[OrderHistoryEntry]
    edits: list[OrderEditEntry]
    formerly: dict[AddressName, str]
    index: NotRequired[Item]
    erasedAt: NotRequired[str]


@dataclass(frozen=True)
class Order(listing.Record):
    """An order as stored. `work`: if it was read with the order, or the change is about it."""

    fields: StoredOrder
    version: int
    work: OrderWork | None = None

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
        """Return the id of the order's customer; None without one."""
        customer = self.fields["customer"]
        return customer["id"] if customer else None

    @property
    def revenue(self) -> Decimal:
        """The money of the order that counts as sold: in hand, at most what is owed."""
        return Decimal(self.fields["revenue"])

    @property
    def is_settled(self) -> bool:
        """Whether its paymentStatus is REFUNDED, or it is closed: nothing of its price is owed.

        The order's `status` is not looked at.
        """
        return self.payment_status is PaymentStatus.REFUNDED or bool(self.fields["closedAt"])

    @cached_property
    def pieces(self) -> dict[str, pieces.Pieces]:
        """What was shipped of each line, and what is still to ship, by the line's id."""
        return pieces.count_pieces(self.fields)

    def pieces_in_house(self) -> dict[str, dict[str, int]]:
        """Return the pieces that it took from the stock and that are not at the customer.

        {product id: {variant id: pieces}}, without variants that have none; as `pieces_taken`.
        """
        return self._sum_taken({id: one.at_customer for id, one in self.pieces.items()})

    def pieces_taken(self) -> dict[str, dict[str, int]]:
        """Return the pieces that it took and did not return: {product id: {variant id: pieces}}."""
        return self._sum_taken({})

    def _sum_taken(self, gone: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Return the sums of the lines' `taken`: product id → variant id → pieces, above 0.

        `gone`: how many of a line's pieces do not count, by line id.
        """
        taken: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for line in self.fields["lineItems"]:
            left = line["taken"] - gone.get(line["id"], 0)
            if left > 0 and line["productId"] and line["variantId"]:
                taken[line["productId"]][line["variantId"]] += left
        return taken


@dataclass(frozen=True)
class Transaction:
    """A payment, a void or a refund, which is stored in its order."""

    fields: ShownTransaction
    received_at: str  # of a void, when the money of its payment came

    @property
    def id(self) -> str:
        """The id of its list entry."""
        return f"{self.fields['id']}@{self.fields['orderId']}"

    @cached_property
    def index(self) -> listing.Index:
        """Return how it is listed: by its time, with kind, method and amount as facets."""
        facets = {"kind": self.fields["kind"], "method": self.fields["method"]}
        facets["amount"] = self.fields["amount"]
        return listing.Index.build(sort=self.fields["at"], facets=facets)


@dataclass(frozen=True)
class Shipment:
    """A shipment, which is stored in its order."""

    fields: ListedShipment

    @property
    def id(self) -> str:
        """The id of its list entry."""
        return f"{self.fields['id']}@{self.fields['orderId']}"

    @cached_property
    def index(self) -> listing.Index:
        """Return how it is listed: by `shippedAt`, with method, carrier and state as facets."""
        facets = {name: str(self.fields[name] or "") for name in ("method", "carrier", "state")}
        return listing.Index.build(sort=self.fields["shippedAt"], facets=facets)


@dataclass(frozen=True)
class DaySales:
    """The sales of one day."""

    date: date
    orders: int
    paid: int
    revenue: Decimal


def index_of(fields: Fields) -> listing.Index:
    """Return the index of an order: its lists, facets and words. Nothing is read.

    It is listed by order date and by its last change, and filtered by its statuses, customer, sales
    rep and each of its tags. Words of the number, the customer, tags, SKUs, titles and the tracking
    number find it; so do, as a whole, the number, the e-mail, each tracking number, and the
    references of payments and refunds. Facets also have `revenue`, to recount the sales of its day,
    what is `due`, `shippingStatus` if a part was shipped, and `produced`: release 1.0.0 had no such
    entries.
    """
    customer, balance = fields["customer"], Decimal(fields["balanceDue"])
    transfers = (*fields["payments"], *fields["refunds"])
    references = {transfer["reference"] for transfer in transfers if transfer["reference"]}
    numbers = tracking_numbers(fields)
    # The others are found by their beginnings alone: their endings would be ten words each.
    latest = [fields["trackingNumber"], *(number for number in numbers if " " in number)]
    return listing.Index.build(
        sort=fields["orderDate"],
        facets={
            "status": fields["status"],
            "source": fields["source"],
            "paymentStatus": fields["paymentStatus"],
            "refundStatus": fields["refundStatus"],
            "balance": _balance_facet(fields),
            "due": fields["balanceDue"] if balance > 0 else "",
            "revenue": fields["revenue"],
            "customerId": customer["id"] if customer else "",
            "salesRepId": fields["salesRepId"] or "",
            **({"shippingStatus": PARTIAL} if _is_partly_shipped(fields) else {}),
            **({"produced": PRODUCED} if fields.get("producedAt") else {}),
        },
        several=fields["tags"],
        orders={"updated": fields["updatedAt"]},
        texts=[
            fields["number"],
            *(searchable(customer) if customer else ()),
            *dict.fromkeys(filter(None, latest)),
            *fields["tags"],
            *dict.fromkeys(line["sku"] for line in fields["lineItems"] if line["sku"]),
            *dict.fromkeys(line["title"] for line in fields["lineItems"]),
        ],
        exact=[
            fields["number"],
            *([customer["email"]] if customer and customer["email"] else ()),
            *sorted(references),
            *dict.fromkeys(numbers),
        ],
    )


def tracking_numbers(fields: Fields) -> list[str]:
    """Return the tracking numbers of all parcels of all shipments, cancelled ones too."""
    parcels = (one for shipment in fields.get("shipments", ()) for one in shipment["parcels"])
    return [one["trackingNumber"] for one in parcels if one["trackingNumber"]]


def _is_partly_shipped(fields: Fields) -> bool:
    """Return whether some pieces were shipped and others are left, in a status before SHIPPED."""
    if not fields.get("shipments") or fields["status"] not in BEFORE_SHIPPING:
        return False
    return pieces.shipping_status(pieces.count_pieces(fields)) is ShippingStatus.PARTIAL


def _balance_facet(fields: Fields) -> str:
    """Return who owes money: DUE (the customer), OWED (the shop) or "" (nobody).

    A closed order is always CLOSED: nobody owes anything then.
    """
    if fields.get("closedAt"):  # the first release's records have none
        return CLOSED
    balance = Decimal(fields["balanceDue"])
    return Balance.DUE if balance > 0 else Balance.OWED if balance < 0 else ""


def due_day(order: Order) -> str | None:
    """Return the day by which an open order is due; None for none.

    It is the order's own `dueOn`, or the earliest of the lines that have pieces to ship. An order
    that is SHIPPED, ended or closed has none.
    """
    if order.status not in BEFORE_SHIPPING or order.fields["closedAt"]:
        return None
    left = (line for line in order.fields["lineItems"] if order.pieces[line["id"]].to_ship)
    days = (line["dueOn"] for line in left if line["dueOn"])
    return order.fields["dueOn"] or min(days, default=None)


def order_reference(order: Order) -> dict[str, object]:
    """Return {orderId, orderNumber, customer}, by which an event about a part names its order."""
    reference = {"orderId": order.id, "orderNumber": order.fields["number"]}
    return {**reference, "customer": order.fields["customer"]}


def to_item(order: Order) -> Item:
    """Return the attributes of an order's item, without its keys."""
    return {**metadata.to_stored(order.fields), "version": order.version}


def from_item(item: Item) -> Order:
    """Return the order of an item, without its work.

    Fields that release 1.0.0 did not have are added: orders were not closed, nothing was made, and
    what was shipped is one implied shipment. An item may lack fields that were not read.
    """
    fields = {**_NOT_THERE, **metadata.from_stored(item)}
    if "lineItems" in fields:
        fields["lineItems"] = [{**NOT_MADE, **line} for line in fields["lineItems"]]
    fields |= pieces.restore_shipments(fields)
    return Order(cast(StoredOrder, fields), item["version"])


_NOT_THERE: Final = dict.fromkeys(
    ("closedAt", "closeReason", "closedBy", "kept", "dueOn", "producedAt")
)
NOT_MADE: Final[Fields] = {"make": False, "dueOn": None, "specification": []}


# --- What is shown --------------------------------------------------------------------------------


_OF_PIECES: Final = ("shippedQuantity", "toShip")
_LINE: Final = tuple(name for name in LineItem.__annotations__ if name not in _OF_PIECES)
_FROM_LINES: Final = ("lineItems", "itemsCount", "shippingStatus")
MADE_OF: Final = {
    "itemsCount": ("lineItems",),
    "refunds": ("refunds", "shippedAt"),
    **dict.fromkeys(("lineItems", "shipments", "shippingStatus"), pieces.MADE_OF),
}
_ORDER: Final = tuple(name for name in ShownOrder.__annotations__ if name not in _FROM_LINES)


def show_order(
    order: Order, fields: Collection[str] = (), *, costs: bool = True
) -> dict[str, object]:
    """Return the order in the shape of ShownOrder, or only these `fields` of it; empty: all.

    `costs` False: the `cost` of each line is None.
    """
    names = fields or ShownOrder.__annotations__
    stored: Fields = order.fields
    shown = {name: stored[name] for name in _ORDER if name in names}
    if "lineItems" in names:
        hidden = {} if costs else {"cost": None}
        shown["lineItems"] = [
            {name: line[name] for name in _LINE}
            | {"shippedQuantity": order.pieces[line["id"]].shipped}
            | {"toShip": order.pieces[line["id"]].to_ship, **hidden}
            for line in stored["lineItems"]
        ]
    if "itemsCount" in names:
        shown["itemsCount"] = sum(line["quantity"] for line in order.fields["lineItems"])
    if "shippingStatus" in names:
        shown["shippingStatus"] = pieces.shipping_status(order.pieces).value
    for name in ("payments", "refunds"):
        if name in shown:
            shown[name] = list(map(show_transfer, shown[name]))
    for part in (shown, *shown.get("lineItems", ())):
        for name in ("deposit", "discount"):
            if part.get(name) and part[name]["percent"] is not None:
                part[name] = part[name] | {"percent": float(part[name]["percent"])}
    return shown


def show_preview(order: Order, *, registers: bool) -> dict[str, object]:
    """Return a new order in the shape of OrderPreview; its id and number are None.

    `registers`: its customer does not exist yet, and is None too.
    """
    shown: Fields = show_order(order, OrderPreview.__annotations__)
    return {
        **shown,
        "id": None,
        "number": None,
        "customer": None if registers else shown["customer"],
        "lineItems": [pick_members(line, PreviewedLine) for line in shown["lineItems"]],
        "payments": [pick_members(payment, PreviewedPayment) for payment in shown["payments"]],
    }


def show_transfer(transfer: Transfer) -> dict[str, object]:
    """Return the shape of ShownPayment or ShownRefund: what is stored, without who voided it."""
    return {name: value for name, value in transfer.items() if name != "voidedBy"}


def refunded_tax(refund: ShownRefund) -> Decimal:
    """Return the tax in a refund: that of its lines, or less if its `amount` was less than theirs.

    It is never more than the money.
    """
    lines, amount = refund["lines"], Decimal(refund["amount"])
    tax = sum((Decimal(line["tax"]) for line in lines), Decimal(0))
    shares = sum((Decimal(line["amount"]) for line in lines), Decimal(refund["shipping"]))
    if amount < shares:
        tax = money.round_half_up(Fraction(tax) * Fraction(amount) / Fraction(shares))
    return min(tax, amount)


def show_transaction(transaction: Transaction) -> dict[str, object]:
    """Return the shape of ShownTransaction."""
    return dict(transaction.fields)


def show_shipment(shipment: Shipment) -> dict[str, object]:
    """Return the shape of ListedShipment."""
    return dict(shipment.fields)
