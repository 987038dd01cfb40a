"""The ledger of stock, for the shop's staff and programs."""

from chalice.app import Response

from chalicelib.request import Role, Routes, query, reply_page
from chalicelib.schemas import Walked
from chalicelib.stock import store as ledger
from chalicelib.stock.model import ListMovements, ShownMovement, show

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
    latest. The stock of a variant is that of its last TRACKED entry and every `by` since. With a
    filter other than one `cause`, `total` counts to 1,000."""
    page = ledger.page(query(ListMovements).query())
    return reply_page([show(one) for one in page.records], page)
