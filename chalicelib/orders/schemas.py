"""How an order is shown, in answers and in events."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.customers.schemas import OrderCustomer
from chalicelib.listing import external_ids
from chalicelib.orders import transactions
from chalicelib.orders.model import ListOrders, Order, OrderStatus, PaymentStatus, RefundStatus
from chalicelib.products.model import COST
from chalicelib.schemas import Choice, Sparse, about
from chalicelib.storage.attributes import Fields
from chalicelib.values.addresses import Address
from chalicelib.values.metadata import ABOUT as METADATA

# For other slices.
ListTransactions = transactions.ListTransactions
ShownTransaction = transactions.ShownTransaction
show_transaction = transactions.show


class ShownDiscount(TypedDict):
    """What is taken off."""

    amount: Annotated[str, about("A decimal amount.")]
    percent: Annotated[float | None, about("In percent, if it was sent as such.")]
    reason: Annotated[str | None, about("Why.")]


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
    """Pieces of a line that came back."""

    lineItemId: Annotated[str, about("Id of the line.")]
    quantity: Annotated[int, about("How many pieces.")]
    amount: Annotated[str, about("Their share of what the lines cost, tax included.")]
    tax: Annotated[str, about("The tax in it.")]
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


class _OfOrder(TypedDict):
    orderId: Annotated[str, about("Id of its order.")]
    orderNumber: Annotated[str, about("Number of its order.")]
    customer: Annotated[OrderCustomer | None, about("The order's customer.")]


class AnnouncedPayment(ShownPayment, _OfOrder):
    """A payment, as its events carry it."""


class AnnouncedRefund(ShownRefund, _OfOrder):
    """A refund, as its event carries it."""


class RestockedVariant(TypedDict):
    """Pieces that return to the stock."""

    variantId: Annotated[str, about("Id of the variant.")]
    quantity: Annotated[int, about("How many pieces.")]


class RefundPreview(TypedDict):
    """What the same request without `dryRun` would do now."""

    amount: Annotated[str, about("A decimal amount.")]
    lines: Annotated[list[RefundedLine], about("What would come back.")]
    tax: Annotated[str, about("The tax in the lines.")]
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


class EditedSums(TypedDict):
    """The sums of an order."""

    subtotal: Annotated[str, about("Sum of the lines; a decimal amount.")]
    tax: Annotated[str, about("A decimal amount.")]
    total: Annotated[str, about("What is to be paid; a decimal amount.")]
    balanceDue: Annotated[str, about("What is still to pay; negative: the shop owes.")]


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
    trackingNumber: Annotated[str | None, about("Of the parcel; null: none is known.")]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]
    orderDate: Annotated[str, about("When it was ordered; may be in the past.")]
    paidAt: Annotated[str | None, Field(description="When it was first paid.")]
    shippedAt: Annotated[str | None, about("When it was shipped; null: it is not.")]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]
    history: Annotated[list[OrderHistoryEntry], about("What changed, oldest first.")]
    edits: Annotated[list[OrderEditEntry], about("The latest edits, oldest first.")]


_LINE: Final = tuple(LineItem.__annotations__)
_OF_LINES: Final = ("lineItems", "itemsCount")
MADE_OF: Final = {"itemsCount": "lineItems"}
_ORDER: Final = tuple(name for name in ShownOrder.__annotations__ if name not in _OF_LINES)


class OrderFields(Sparse):
    shape: ClassVar[type] = ShownOrder


class ListOrderFields(ListOrders, OrderFields):
    pass


def show_transfer(transfer: Fields) -> dict[str, object]:
    """The shape of ShownPayment or ShownRefund."""
    return {name: value for name, value in transfer.items() if name != "voidedBy"}


def show(order: Order, fields: Collection[str] = (), *, costs: bool = True) -> dict[str, object]:
    """The shape of ShownOrder, or these fields of it. Without `costs` each is null."""
    names = fields or ShownOrder.__annotations__
    shown = {name: order.fields[name] for name in _ORDER if name in names}
    if "lineItems" in names:
        lines = order.fields["lineItems"]
        hidden = {} if costs else {"cost": None}
        shown["lineItems"] = [{name: line[name] for name in _LINE} | hidden for line in lines]
    if "itemsCount" in names:
        shown["itemsCount"] = sum(int(line["quantity"]) for line in order.fields["lineItems"])
    for name in ("payments", "refunds"):
        if name in shown:
            shown[name] = list(map(show_transfer, shown[name]))
    for part in (shown, *shown.get("lineItems", ())):
        for name in ("deposit", "discount"):
            if part.get(name) and part[name]["percent"] is not None:
                part[name] = part[name] | {"percent": float(part[name]["percent"])}
    return shown
