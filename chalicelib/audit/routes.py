"""The audit log, for the shop's administrators; of one record, for its staff."""

from chalice.app import Response

from chalicelib.audit import store
from chalicelib.audit.model import ListAudit, ShownAudit, show
from chalicelib.problems import Forbidden
from chalicelib.request import Role, Routes, caller, query, reply_page
from chalicelib.schemas import Walked

routes = Routes(__name__, "Audit")


@routes.get(
    "/api/admin/audit",
    "List what was written",
    role=Role.STAFF,
    query=ListAudit,
    answers={200: Walked[ShownAudit]},
)
def list_audit() -> Response:
    """Newest first. Every write by a request or a job is one entry for each record that it wrote,
    half a minute after it at the latest; so is a request that was refused because of its role. This
    needs the role ADMIN; with the `recordId` of an order, product, customer or job, or with a
    `customerId`, STAFF. With filters, `total` counts to 1,000.
    """
    filters = query(ListAudit)
    if not filters.is_for_staff and not caller().role.includes(Role.ADMIN):
        raise Forbidden("This needs the role ADMIN, or the recordId of one record.")
    page = store.page(filters.to_query())
    return reply_page([show(entry) for entry in page.records], page)
