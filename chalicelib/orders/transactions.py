"""The list of all payments, voids and refunds, newest first.

They are in their orders. A list entry each, written in the order's commit, leads to them:
its id is `<transaction>@<order>`.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.orders.model import OpenNames, Order, OrderStatus, PaymentStatus
from chalicelib.schemas import Choice, Several, about
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit
from chalicelib.values import clock, money

KIND: Final = listing.Kind("transaction", counted=("kind",))
_MOST_AT_ONCE: Final = 10  # list entries that a commit has room for


class TransactionKind(Choice):
    """What happened with money."""

    PAYMENT = "PAYMENT"
    REFUND = "REFUND"
    VOID = "VOID"


class ListTransactions(listing.Dated):
    facets = ("kind", "method", "order_id", "reference")

    kind: Several[TransactionKind] = Field(default_factory=list, description="Which kinds.")
    method: OpenNames = Field(default_factory=list, description="Methods of payment.")
    order_id: Annotated[str, Field(max_length=60, description="Of one order.")] = ""
    reference: Annotated[str, Field(max_length=100, description="Exactly this reference.")] = ""


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


@dataclass(frozen=True)
class Transaction:
    fields: ShownTransaction

    @property
    def id(self) -> str:
        """Of its list entry."""
        return f"{self.fields['id']}@{self.fields['orderId']}"

    @cached_property
    def index(self) -> listing.Index:
        facets = {"kind": self.fields["kind"], "method": self.fields["method"]}
        facets["amount"] = self.fields["amount"]
        return listing.Index.of(sort=self.fields["at"], facets=facets)


def money_since(first: datetime, most: int) -> list[tuple[str, Decimal]] | None:
    """The sum of each method from a time on; None if there are more transactions."""
    entries = listing.everyone(KIND, ("method", "amount"), clock.iso(first))
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for place, entry in enumerate(entries):
        if place == most:
            return None
        found[entry["method"]] += Decimal(entry["amount"])
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def show(transaction: Transaction) -> dict[str, object]:
    """The shape of ShownTransaction."""
    return dict(transaction.fields)


def order_of(entry_id: str) -> str:
    return entry_id.partition("@")[2]


def of_order(order: Order | None) -> dict[str, Transaction]:
    """By the id of its list entry."""
    found = map(Transaction, _of_order(order)) if order else ()
    return {transaction.id: transaction for transaction in found}


def _of_order(order: Order) -> Iterator[ShownTransaction]:
    for one in order.fields["payments"]:
        yield _transaction(order, TransactionKind.PAYMENT, one, one["amount"], Decimal(0))
        if one["voidedAt"]:
            void = _transaction(order, TransactionKind.VOID, one, f"-{one['amount']}", Decimal(0))
            void |= {"id": f"void_{one['id'][4:]}", "at": one["voidedAt"], "by": one["voidedBy"]}
            yield void
    for one, tax in zip(order.fields["refunds"], _refunded_tax(order), strict=True):
        yield _transaction(order, TransactionKind.REFUND, one, f"-{one['amount']}", tax)


def _transaction(
    order: Order, kind: TransactionKind, one: Fields, amount: str, tax: Decimal
) -> ShownTransaction:
    customer = order.fields["customer"]
    return {
        "id": one["id"],
        "kind": kind,
        "amount": amount,
        "method": one["method"],
        "reference": one["reference"],
        "orderId": order.id,
        "orderNumber": order.fields["number"],
        "customerId": customer["id"] if customer else None,
        "at": one["createdAt"],
        "receivedAt": one["receivedAt"] if kind is TransactionKind.PAYMENT else None,
        "tax": money.render(-tax),
        "by": one["by"],
    }


def _refunded_tax(order: Order) -> list[Decimal]:
    """The tax in each refund: of its lines. The last refund of an order that was refunded in full
    has all that is left of it; those of a cancelled order, which counts no tax, have none."""
    refunds = order.fields["refunds"]
    if order.status is OrderStatus.CANCELLED:
        return [Decimal(0) for _ in refunds]
    tax = [sum((Decimal(line["tax"]) for line in one["lines"]), Decimal(0)) for one in refunds]
    if tax and order.payment_status is PaymentStatus.REFUNDED:
        tax[-1] = Decimal(order.fields["tax"]) - sum(tax[:-1], Decimal(0))
    return tax


def written(before: Order | None, after: Order | None) -> int:
    """How many items `write` adds to a commit, at most."""
    differing = len(of_order(before).keys() ^ of_order(after).keys())
    return min(differing, _MOST_AT_ONCE) + min(differing, len(TransactionKind))


def write(commit: Commit, before: Order | None, after: Order | None) -> None:
    """Adds the list entries between two versions of an order. Those of a deleted order without room
    are deleted after the commit: no reader finds what they lead to."""
    had, has = of_order(before), of_order(after)
    for id in [id for id in has if id not in had]:
        listing.change(commit, KIND, id, None, has[id].index)
    for place, id in enumerate(id for id in had if id not in has):
        if place < _MOST_AT_ONCE:
            listing.change(commit, KIND, id, had[id].index, None)
        else:
            listing.remove_later(commit, KIND, id, had[id].index)
