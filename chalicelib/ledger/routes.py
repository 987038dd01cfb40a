"""The ledger of stock, for the shop's staff and programs."""

from chalice.app import Response

from chalicelib.ledger import store as ledger
from chalicelib.ledger.model import ListLowStock, ListMovements, LowStock, ShownMovement, show
from chalicelib.products import store as products
from chalicelib.request import Role, Routes, query, reply, reply_page
from chalicelib.schemas import Walked

routes = Routes(__name__, "Stock")


@routes.get(
    "/api/admin/stock/movements",
    "List movements of stock",
    role=Role.READER,
    query=ListMovements,
    answers={200: Walked[ShownMovement]},
)
def list_movements() -> Response:
    """Newest first. Every change of a tracked quantity is one entry, half a minute after it at the
    latest. The stock of a variant is that of its last TRACKED entry and every `by` since. With
    filters, `total` counts to 1,000.
    """
    page = ledger.page(query(ListMovements).to_query())
    return reply_page([show(movement) for movement in page.records], page)


@routes.get(
    "/api/admin/stock/low",
    "List low stock",
    role=Role.READER,
    query=ListLowStock,
    answers={200: LowStock},
)
def list_low_stock() -> Response:
    """Every variant of an active product whose stock is below the product's threshold, of the
    newest product first. Follow `nextCursor` until it is null: each comes once.
    """
    filters = query(ListLowStock)
    rows, following = products.list_low_stock(filters.limit, filters.cursor)
    return reply(200, {"data": rows, "nextCursor": following})
