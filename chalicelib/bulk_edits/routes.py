"""Changing many records at once, by a job that reports on each."""

from chalice.app import Response

from chalicelib.bulk_edits.model import LISTS, BulkOrderEdit, BulkProductEdit
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType, StartedJob
from chalicelib.problems import Invalid
from chalicelib.request import IDEMPOTENT, Role, Routes, body_once, reply_text
from chalicelib.storage.idempotency import Once

routes = Routes(__name__, "Bulk edits")


@routes.post(
    "/api/admin/products/bulk-edit",
    "Change many products",
    role=Role.STAFF,
    body=BulkProductEdit,
    answers={202: StartedJob},
    headers=IDEMPOTENT,
)
def edit_products() -> Response:
    """Up to 500 by `ids`, all that match `filters`, or with `"all": true` all. The job counts the
    results; with `dryRun` it shows the first 100 as before and after. Emits the same events as a
    PUT of each. It can be undone: `POST /api/admin/jobs/{id}/undo`.
    """
    return _start_edit("product", *body_once(BulkProductEdit))


@routes.post(
    "/api/admin/orders/bulk-edit",
    "Change many orders",
    role=Role.STAFF,
    body=BulkOrderEdit,
    answers={202: StartedJob},
    headers=IDEMPOTENT,
)
def edit_orders() -> Response:
    """As for products. Each order moves along the transitions, or is counted as failed. A status
    cannot be undone; the sales rep and tags can.
    """
    return _start_edit("order", *body_once(BulkOrderEdit))


def _start_edit(kind: str, edit: BulkProductEdit | BulkOrderEdit, once: Once | None) -> Response:
    change = edit.change.model_dump(by_alias=True, exclude_unset=True, mode="json")
    if not change:
        raise Invalid.field("change", "required", "must have at least one field to change")
    LISTS[kind].query_from_body(edit.filters, 1)
    about: dict[str, object] = {"kind": kind, "change": change}
    about |= {"ids": edit.ids} if edit.ids is not None else {"filters": edit.filters}
    text = jobs.create(JobType.BULK_EDIT, about, dry_run=edit.dry_run, once=once)
    return reply_text(202, text)
