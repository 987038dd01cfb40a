"""What an export writes of each kind of record: its columns, and a record's rows in them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from chalicelib.customers.model import show as show_customer
from chalicelib.customers.schemas import OrderCustomer, ShownCustomer
from chalicelib.exports import products
from chalicelib.exports.cells import BOM, flat_text, join_list, lines
from chalicelib.exports.model import ExportColumns, ExportFormat, ExportType
from chalicelib.ledger.model import MovementActor, ShownMovement
from chalicelib.ledger.model import show as show_movement
from chalicelib.orders.model import show_order, show_shipment, show_transaction
from chalicelib.orders.schemas import LineItem, ShownOrder, ShownTransaction
from chalicelib.products.model import show_product
from chalicelib.storage.attributes import Fields
from chalicelib.values.addresses import Address

# Sums of an order are in its first row only, so that a column of them adds up.
_SUMS: Final = (
    *("subtotal", "discount", "shipping", "tax", "total", "originalTotal"),
    *(
        "amountPaid",
        "amountRefunded",
        "amountCredited",
        "balanceDue",
        "deposit",
        "retained",
        "kept",
    ),
)
# Columns that the first release had not are the last.
_LATER_OF_LINE: Final = {
    "shippedQuantity": "lineShippedQuantity",
    "toShip": "lineToShip",
    "make": "lineMake",
    "dueOn": "lineDueOn",
    "specification": "lineSpecification",
}
_LINE: Final = {
    name: f"line{name[0].upper()}{name[1:]}"
    for name in LineItem.__annotations__
    if name not in _LATER_OF_LINE
}
_CUSTOMER: Final = {
    name: f"customer{name[0].upper()}{name[1:]}" for name in OrderCustomer.__annotations__
}
# By column: which address, and which part of it.
_ADDRESSES: Final = {
    f"{name.removesuffix('Address')}{part[0].upper()}{part[1:]}": (name, part)
    for name in ("shippingAddress", "billingAddress")
    for part in Address.__annotations__
}
_NESTED: Final = {
    *("lineItems", "itemsCount", "customer", "history", "tags", "payments", "refunds", "edits"),
    "shipments",
    *dict(_ADDRESSES.values()),
}
_LATER: Final = (
    *("closedAt", "closeReason", "closedBy", "kept", "shippingStatus", "dueOn"),
    "producedAt",
)
_PLAIN: Final = tuple(
    name for name in ShownOrder.__annotations__ if name not in {*_NESTED, *_LATER}
)
ORDERS: Final = (
    *(*_PLAIN, "tags", *_CUSTOMER.values(), *_LINE.values(), *_ADDRESSES),
    *(*_LATER, *_LATER_OF_LINE.values()),
)
_PARCEL: Final = ("trackingNumber", "trackingUrl")
_ADDRESS: Final = tuple(Address.__annotations__)
SHIPMENTS: Final = (
    *("id", "orderId", "orderNumber", "method", "state", "carrier", *_PARCEL, "pieces"),
    *(*_CUSTOMER.values(), *_ADDRESS),
    *("note", "shippedAt", "deliveredAt", "cancelledAt", "cancelReason", "createdAt", "by"),
)
TRANSACTIONS: Final = tuple(ShownTransaction.__annotations__)
MOVEMENTS: Final = (
    *(name for name in ShownMovement.__annotations__ if name != "actor"),
    *MovementActor.__annotations__,
)
CUSTOMERS: Final = tuple(ShownCustomer.__annotations__)
_SHOW: Final[Mapping[str, Callable[[Any], dict[str, object]]]] = {
    ExportType.PRODUCTS: show_product,
    ExportType.ORDERS: show_order,
    ExportType.CUSTOMERS: show_customer,
    ExportType.TRANSACTIONS: show_transaction,
    ExportType.SHIPMENTS: show_shipment,
    ExportType.MOVEMENTS: show_movement,
}


@dataclass(frozen=True)
class Writer:
    """How one export is written. `head`: what its file begins with."""

    head: bytes
    record: Callable[[object], bytes]


def writer(records: str, ending: str, columns: str) -> Writer:
    if ending == ExportFormat.JSONL:
        return Writer(b"", lambda record: _json_line(_SHOW[records](record)))
    header, rows = _csv_writer(records, columns)
    return Writer(BOM + lines([header]), lambda record: lines(rows(record)))


def _csv_writer(
    records: str, columns: str
) -> tuple[Sequence[str], Callable[[Any], Iterator[Sequence[object]]]]:
    if records == ExportType.ORDERS:
        return ORDERS, lambda order: _order_rows(show_order(order))
    if records == ExportType.CUSTOMERS:
        return CUSTOMERS, lambda customer: iter([_customer_row(show_customer(customer))])
    if records == ExportType.TRANSACTIONS:
        return TRANSACTIONS, lambda one: iter([_transaction_row(show_transaction(one))])
    if records == ExportType.SHIPMENTS:
        return SHIPMENTS, lambda one: _shipment_rows(show_shipment(one))
    if records == ExportType.MOVEMENTS:
        return MOVEMENTS, lambda one: iter([_movement_row(show_movement(one))])
    if columns == ExportColumns.SHOPIFY:
        return products.SHOPIFY, products.shopify_rows
    return products.BACKROOM, products.backroom_rows


def _order_rows(order: Fields) -> Iterator[list[object]]:
    """Return a row for each line, each with what the order is."""
    customer = order["customer"] or {}
    whole = {name: order[name] for name in (*_PLAIN, *_LATER)}
    whole |= {"tags": join_list(order["tags"])}
    whole |= {name: _amount(order[name]) for name in ("deposit", "discount")}
    whole["metadata"] = flat_text(order["metadata"])
    whole["balanceDue"] = Decimal(order["balanceDue"])  # may be negative
    whole |= {column: customer.get(name) for name, column in _CUSTOMER.items()}
    for column, (name, part) in _ADDRESSES.items():
        whole[column] = (order[name] or {}).get(part)
    for place, line in enumerate(order["lineItems"]):
        shown = line | {"discount": _amount(line["discount"])}
        shown["specification"] = flat_text(line["specification"])
        row = {
            **whole,
            **{column: shown[name] for name, column in (_LINE | _LATER_OF_LINE).items()},
        }
        if place:
            row |= dict.fromkeys(_SUMS)
        yield [row[column] for column in ORDERS]


def _amount(part: Mapping[str, object] | None) -> object:
    return part["amount"] if part else None


def _transaction_row(transaction: Fields) -> list[object]:
    row = {**transaction, **{name: Decimal(transaction[name]) for name in ("amount", "tax")}}
    return [row[column] for column in TRANSACTIONS]


def _shipment_rows(shipment: Fields) -> Iterator[list[object]]:
    """Return a row for each parcel, each with where it goes; one for a shipment without parcels."""
    customer, address = shipment["customer"] or {}, shipment["shippingAddress"] or {}
    whole = {
        **shipment,
        **{column: customer.get(name) for name, column in _CUSTOMER.items()},
        **{part: address.get(part) for part in _ADDRESS},
        "pieces": sum(line["quantity"] for line in shipment["lines"]),
    }
    for parcel in shipment["parcels"] or [dict.fromkeys(_PARCEL)]:
        row = {**whole, **parcel}
        yield [row[column] for column in SHIPMENTS]


def _movement_row(movement: Fields) -> list[object]:
    row = {**movement, **movement["actor"]}
    row["by"] = None if row["by"] is None else Decimal(row["by"])  # may be negative
    return [row[column] for column in MOVEMENTS]


def _customer_row(customer: Mapping[str, object]) -> list[object]:
    return [flat_text(customer.get(column)) for column in CUSTOMERS]


def _json_line(shown: Mapping[str, object]) -> bytes:
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=int)
    return text.encode("utf-8", "replace") + b"\n"
