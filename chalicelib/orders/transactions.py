"""The list of all payments, voids and refunds, newest first.

They are stored in their orders. A list entry each, written in the order's commit, leads to them:
its id is `<transaction>@<order>`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from typing import Final

from chalicelib import listing
from chalicelib.orders.model import Order, Payment, Transaction, Transfer, refunded_tax
from chalicelib.orders.room import MOST_TRANSACTION_ENTRIES, count_transaction_items
from chalicelib.orders.schemas import (
    EARLY,
    OrderStatus,
    ShownTransaction,
    TransactionKind,
)
from chalicelib.storage.commit import Commit
from chalicelib.values import clock, money, timezone
from chalicelib.values.batches import batches

KIND: Final = listing.Kind("transaction", counted=("kind",))

_COMPARED: Final = 1_000  # orders that a comparison loads at a time


def sum_by_method(first: datetime, most: int) -> list[tuple[str, Decimal]] | None:
    """Return [(method, sum)] of the transactions recorded from `first` on, the largest sum first.

    Refunds and voids are negative. None if there are more than `most` transactions. Reads list
    entries only.
    """
    entries = listing.walk_entries(KIND, ("method", "amount"), clock.iso(first))
    amounts = [(entry["method"], entry["amount"]) for entry in islice(entries, most + 1)]
    return add_by_method(amounts) if len(amounts) <= most else None


def add_by_method(amounts: Iterable[tuple[str, str]]) -> list[tuple[str, Decimal]]:
    """Return [(method, sum)] of these (method, amount), the largest first, then by name."""
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for method, amount in amounts:
        sums[method] += Decimal(amount)
    return sorted(sums.items(), key=lambda one: (-one[1], one[0]))


def earliest_recorded(day: date) -> str:
    """Return the earliest time at which money received on this day, or later, can be recorded.

    It is the start of the shop's day less EARLY, as ISO 8601: `receivedAt` is at most EARLY ahead,
    and may lie long before. A void is recorded after its payment.
    """
    first = datetime.min.replace(tzinfo=UTC)
    return clock.iso(max(timezone.start_of_day(day), first + EARLY) - EARLY)


def order_id(entry_id: str) -> str:
    """Return the order's id in a list entry's id, `<part>@<order>`; "" if there is no @."""
    return entry_id.partition("@")[2]


def list_transactions(order: Order | None) -> dict[str, Transaction]:
    """Return the payments, voids and refunds of an order, by their list entries' ids.

    {} for None.
    """
    transactions = _iterate_transactions(order) if order else ()
    return {transaction.id: transaction for transaction in transactions}


def _iterate_transactions(order: Order) -> Iterator[Transaction]:
    """Yield the payments of an order, each followed by its void, if any; and then the refunds."""
    for payment in order.fields["payments"]:
        amount = payment["amount"]
        shown = _show_transfer(order, TransactionKind.PAYMENT, payment, amount, Decimal(0))
        received_at = payment["receivedAt"]
        yield Transaction({**shown, "receivedAt": received_at}, received_at)
        if payment["voidedAt"]:
            yield Transaction(_show_void(order, payment, payment["voidedAt"]), received_at)
    for refund, tax in zip(order.fields["refunds"], _refunded_tax(order), strict=True):
        shown = _show_transfer(order, TransactionKind.REFUND, refund, f"-{refund['amount']}", tax)
        yield Transaction(shown, refund["createdAt"])


def _show_void(order: Order, payment: Payment, voided_at: str) -> ShownTransaction:
    """Return the void of a payment, in the shape of ShownTransaction."""
    amount = f"-{payment['amount']}"
    void = _show_transfer(order, TransactionKind.VOID, payment, amount, Decimal(0))
    void |= {"id": f"void_{payment['id'][4:]}", "at": voided_at}
    return {**void, "by": payment["voidedBy"] or ""}


def _show_transfer(
    order: Order, kind: TransactionKind, transfer: Transfer, amount: str, tax: Decimal
) -> ShownTransaction:
    """Return a payment or a refund in the shape of ShownTransaction; `receivedAt` is None.

    `amount`: shown as it is, with its sign. `tax`: shown with the opposite sign.
    """
    customer = order.fields["customer"]
    return {
        "id": transfer["id"],
        "kind": kind,
        "amount": amount,
        "method": transfer["method"],
        "reference": transfer["reference"],
        "orderId": order.id,
        "orderNumber": order.fields["number"],
        "customerId": customer["id"] if customer else None,
        "at": transfer["createdAt"],
        "receivedAt": None,
        "tax": money.render(-tax),
        "by": transfer["by"],
    }


def _refunded_tax(order: Order) -> list[Decimal]:
    """Return the tax that each refund gives back, in order of the refunds.

    The refunds that ended an order, which was refunded in full or closed, have all that is left of
    it, up to their money, the earlier first: those of the last request, or of the last one until
    the order was closed and those after it. Those of a cancelled order, which counts no tax, have
    none.
    """
    refunds = order.fields["refunds"]
    if order.status is OrderStatus.CANCELLED:
        return [Decimal(0) for _ in refunds]
    tax = list(map(refunded_tax, refunds))
    left = Decimal(order.fields["tax"]) - sum(tax, Decimal(0))
    if order.is_settled and refunds:
        closed, times = order.fields["closedAt"], [refund["createdAt"] for refund in refunds]
        first = max((time for time in times if time <= (closed or time)), default=closed or "")
        ending = [place for place, refund in enumerate(refunds) if refund["createdAt"] >= first]
        for place in sorted(ending, key=lambda place: (refunds[place]["createdAt"], -place)):
            share = min(left, Decimal(refunds[place]["amount"]) - tax[place])
            tax[place], left = tax[place] + share, left - share
    return tax


def count_items(before: Order | None, after: Order | None) -> int:
    """Return how many items `write_entries` adds to a commit, at most."""
    differing = list_transactions(before).keys() ^ list_transactions(after).keys()
    return count_transaction_items(len(differing))


def write_entries(commit: Commit, before: Order | None, after: Order | None) -> None:
    """Add to a commit the list entries of an order's transactions that are new.

    `before`, `after`: the order's versions, None: none. Entries of those that are gone are deleted,
    and of changed ones moved (`write_parts`).
    """
    most = MOST_TRANSACTION_ENTRIES
    write_parts(commit, KIND, list_transactions(before), list_transactions(after), most)


def write_parts(
    commit: Commit,
    kind: listing.Kind,
    old: Mapping[str, listing.Indexed],
    new: Mapping[str, listing.Indexed],
    most_deletions: int,
) -> None:
    """Change the list entries of an order's parts in a commit, from `old` ones to `new` ones.

    Each part counts under its entry's id; one that is listed as before is not written. Of those
    that are gone, `most_deletions` entries are deleted in the commit, the others after it: no
    reader finds what they lead to.
    """
    for id, part in new.items():
        known = old[id].index if id in old else None
        if known is None or known.list_state != part.index.list_state:
            listing.change(commit, kind, id, known, part.index)
    for place, id in enumerate(id for id in old if id not in new):
        if place < most_deletions:
            listing.change(commit, kind, id, old[id].index, None)
        else:
            listing.remove_later(commit, kind, id, old[id].index)


def compare_parts(
    kind: listing.Kind, facet: str, load_parts: Callable[[Iterable[str]], Iterable[listing.Indexed]]
) -> listing.Recount:
    """Compare a list's entries with the parts of the orders that they name; return what differs.

    Nothing is written. `facet`: one of a part that is compared too. `load_parts`: the parts of
    orders, by the orders' ids. An order that no entry names is not looked at. Release 1.0.0, after
    a roll-back, deletes an order without its entries.
    """

    def count_parts() -> tuple[dict[str, int], dict[str, dict[str, object]]]:
        """Read the entries, then load their orders; return the orders' parts, and the entries.

        Both by `<id> <value of the facet>`: 1 for a part, {"": 1} for an entry.
        """
        entries = [
            (entry["sk"].rpartition("#")[2], entry[facet])
            for entry in listing.walk_entries(kind, (facet,))
        ]
        counted = dict[str, int]()
        for some in batches(dict.fromkeys(order_id(id) for id, _ in entries), _COMPARED):
            counted |= {f"{one.id} {one.index.facets[facet]}": 1 for one in load_parts(some)}
        return counted, {f"{id} {value}": {"": 1} for id, value in entries}

    counted, wrong = listing.find_disagreement(count_parts)
    found = [
        listing.Wrong((kind.name, name), *numbers, sharded=False)
        for name, numbers in sorted(wrong.items())
    ]
    return listing.Recount(len(counted), found)
