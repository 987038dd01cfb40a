"""The shop at a glance."""

from chalice.app import Response

from chalicelib.request import Role, Routes, query, reply
from chalicelib.summary import store
from chalicelib.summary.store import ShopSummary, SummaryQuery
from chalicelib.values import timezone

routes = Routes(__name__, "Summary")


@routes.get(
    "/api/admin/summary",
    "The shop at a glance",
    role=Role.READER,
    query=SummaryQuery,
    answers={200: ShopSummary},
)
def get_summary() -> Response:
    """Sales of today and of the last 30 days by order date in the shop's time zone,
    orders by status until they are
    delivered, and variants with low stock.
    """
    return reply(200, store.show_summary(timezone.today(), query(SummaryQuery).clock))
