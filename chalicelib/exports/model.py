"""What clients send to export records of the shop."""

from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from chalicelib import listing
from chalicelib.customers.schemas import ListCustomers
from chalicelib.ledger.model import ListMovements
from chalicelib.orders.schemas import ListOrders, ListShipments, ListTransactions
from chalicelib.products.schemas import ListProducts
from chalicelib.schemas import Choice, Chosen, about


class ExportType(Choice):
    """The records to export."""

    PRODUCTS = "products"
    ORDERS = "orders"
    CUSTOMERS = "customers"
    TRANSACTIONS = "transactions"
    MOVEMENTS = "movements"
    SHIPMENTS = "shipments"


class ExportFormat(Choice):
    """How a file of records is written."""

    CSV = "csv"
    JSONL = "jsonl"


class ExportColumns(Choice):
    """The columns of a CSV."""

    BACKROOM = "backroom"
    SHOPIFY = "shopify"


class NewExport(Chosen):
    """The records to export, and the format."""

    type: Annotated[ExportType, about("Which records.")]
    format: Annotated[
        ExportFormat, Field(description="jsonl: a record a line, as the API shows it")
    ] = ExportFormat.CSV
    columns: Annotated[ExportColumns, Field(description="Of a CSV of products")] = (
        ExportColumns.BACKROOM
    )

    @field_validator("columns")
    @classmethod
    def _of_products(cls, columns: ExportColumns, info: ValidationInfo) -> ExportColumns:
        of = info.data.get("type", ExportType.PRODUCTS)
        if columns is not ExportColumns.BACKROOM and of is not ExportType.PRODUCTS:
            raise ValueError("only products have columns other than backroom")
        return columns


_LISTS: Final[dict[str, type[listing.Filters]]] = {
    ExportType.PRODUCTS: ListProducts,
    ExportType.ORDERS: ListOrders,
    ExportType.CUSTOMERS: ListCustomers,
    ExportType.TRANSACTIONS: ListTransactions,
    ExportType.SHIPMENTS: ListShipments,
    ExportType.MOVEMENTS: ListMovements,
}


def query(records: str, filters: dict[str, object], limit: int) -> listing.Query:
    """Return the list that these filters choose. Raises Invalid, named `filters.…`."""
    return _LISTS[records].query_from_body(filters, limit)
