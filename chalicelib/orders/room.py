"""What fits into the transaction of an order, in items and in bytes.

A transaction has at most 100 items and 4 MB. A new order of 60 products by a new customer writes 81
items without words and tags: the order, the reply kept for repeats, seven list entries, three count
cells, its day's sales, the customer (record, lock, three list entries, count cell), 60 stocks, one
low-stock and one outbox item. A change that gives back 60 stocks writes as many: eleven list
entries and six count cells, old and new, and the customer's totals. What is left is room for words
and tags.
"""

import json
from typing import Final

from chalicelib.orders.model import (
    LARGEST_GROWN,
    LARGEST_ORDER,
    NOT_MADE,
    Order,
    StoredOrder,
    show_order,
)
from chalicelib.orders.pieces import make_implied_shipment, shipping_status
from chalicelib.orders.schemas import ShipmentState, TransactionKind
from chalicelib.problems import Invalid
from chalicelib.storage.attributes import Fields

# List entries of payments, voids and refunds in the commit that deletes them.
MOST_TRANSACTION_ENTRIES: Final = 10
GROWING: Final = frozenset({"note", "tags", "history"})  # fields that grow with changes
_MOST_ITEMS: Final = 97  # of a commit: three are room for what others add
_PIECES: Final = '"shippedQuantity": %d, "toShip": %d, '
_SHIPPING: Final = '"shippingStatus": "%s", "shipments": %s, '
_MOST_PRODUCTS_WITH_NUMBER: Final = 50  # of an order whose commit also takes its number
_CUSTOMER_WORDS: Final = 7  # of a new customer, for which the largest order has room


def room_for_shipment_entries(commit_items: int, fields: StoredOrder) -> int:
    """Return how many list entries of shipments fit into the commit that deletes an order.

    They share it with the stock of each of its products, its customer and the counts of shipments.
    It may be below 0: none.
    """
    products = {line["productId"] for line in fields["lineItems"]} - {None}
    return _MOST_ITEMS - commit_items - len(products) - len(ShipmentState) - 8


def room_for_work_deletions(commit_items: int, *versions: StoredOrder) -> int:
    """Return how many list entries of work that is gone fit into an order's commit; at least 0.

    They share it with the stock of each product that a version of the order sells from it, its
    customer, and the entries and counts of its other parts.
    """
    lines = [line for fields in versions for line in fields["lineItems"]]
    products = {line["productId"] for line in lines if not line["make"]} - {None}
    return max(0, _MOST_ITEMS - commit_items - len(products) - 16)


def room_for_words(fields: StoredOrder, other_items: int) -> tuple[int, int]:
    """Return (how many words and tags are written with an order, how many changes of them fit).

    They share the transaction with the stock of each of its products and with `other_items`. A
    number may be below 0: none.
    """
    stocked = (line["productId"] for line in fields["lineItems"] if not line["make"])
    products = {*stocked} - {None}
    items = len(products) + other_items
    return (75 - items) // 2, 68 - items


def room_for_customer_words(commit_items: int, products: int) -> int:
    """Return how many words of a new customer fit in an order's commit: at least _CUSTOMER_WORDS.

    It has `commit_items` so far, and gets the stock of each product, the order's number, the
    low-stock item, and the customer's own items.
    """
    return max(_CUSTOMER_WORDS, _MOST_ITEMS - commit_items - products - 9)


def has_room_for_number(products: int) -> bool:
    """Return whether the commit of an order of so many products can also take its number."""
    return products <= _MOST_PRODUCTS_WITH_NUMBER


def count_transaction_items(differing: int) -> int:
    """Return how many items a commit has, at most, for so many new or deleted transactions.

    They are list entries and count cells; more entries than MOST_TRANSACTION_ENTRIES are not in it.
    """
    return min(differing, MOST_TRANSACTION_ENTRIES) + min(differing, len(TransactionKind))


def count_shipment_items(differing: int) -> int:
    """Return how many items a commit has, at most, for so many shipments that differ."""
    return differing + min(differing, len(ShipmentState))


def refuse_large_order(order: Order, field: str, without: frozenset[str] = frozenset()) -> None:
    """Raise Invalid if an order without these fields is too large.

    `field`: the field of the request that makes it large.
    """
    size = _shown_bytes(order, without, grows=False)
    if size > LARGEST_ORDER:
        message = f"make an order of {size} bytes; at most {LARGEST_ORDER} are possible"
        raise Invalid.field(field, "too_large", message)


def refuse_large_growth(order: Order) -> None:
    """Raise Invalid if the events of an order would not fit with a note, tags and history.

    Orders of release 1.0.0 have grown by fields of lines, and are not too large for that.
    """
    if _shown_bytes(order, GROWING, grows=True) > LARGEST_GROWN:
        message = f"The order would exceed {LARGEST_GROWN:,} bytes. Shorten notes or metadata."
        raise Invalid(message, code="too_large")


def _shown_bytes(order: Order, without: frozenset[str], *, grows: bool) -> int:
    """Return the bytes of an order's JSON without these fields, and without what is derived.

    Derived are shipped and unshipped pieces, and shipments that a status implied. `grows`: also not
    counted are the values of lines that are not made, by which orders of release 1.0.0 have grown.
    """
    shown = {name: value for name, value in show_order(order).items() if name not in without}
    # Orders of release 1.0.0 have grown by this, and are not too large.
    implied = [
        make_implied_shipment(one["id"], one["lines"], None, one["shippedAt"])
        for one in order.fields["shipments"]
        if one["implied"]
    ]
    derived = len(_SHIPPING % (shipping_status(order.pieces).value, json.dumps(implied)))
    derived += sum(len(_PIECES % (one.shipped, one.to_ship)) for one in order.pieces.values())
    if grows:
        lines: list[Fields] = [*order.fields["lineItems"]]
        derived += sum(
            len(f'"{name}": {json.dumps(value)}, ')
            for line in lines
            for name, value in NOT_MADE.items()
            if line[name] == value
        )
    return len(json.dumps(shown, ensure_ascii=False).encode()) - derived
