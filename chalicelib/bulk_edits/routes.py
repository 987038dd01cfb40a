"""Changing many records at once: a job does it, and says what became of each."""

from typing import Any, Final

from chalice.app import Response

from chalicelib.bulk_edits.model import TYPE, BulkOrderEdit, BulkProductEdit, filtered
from chalicelib.idempotency import Once, Repeated
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import StartedJob
from chalicelib.problems import Invalid
from chalicelib.request import Role, Routes, body, caller, header, parsed_body
from chalicelib.request.answer import reply_text

routes = Routes(__name__, "Bulk edits")
_KEY: Final = {"Idempotency-Key": "As for orders: the same body again is answered as it was first."}


@routes.post(
    "/api/admin/products/bulk-edit",
    "Change many products",
    role=Role.STAFF,
    body=BulkProductEdit,
    answers={202: StartedJob},
    headers=_KEY,
)
def edit_products() -> Response:
    """Up to 500 by `ids`, or all that match `filters`. The job counts what became of each; with
    `dryRun` it shows the first 100 as before and after. Emits what a PUT of each would. It can be
    undone: `POST /api/admin/jobs/{id}/undo`."""
    return _started("product", body(BulkProductEdit))


@routes.post(
    "/api/admin/orders/bulk-edit",
    "Change many orders",
    role=Role.STAFF,
    body=BulkOrderEdit,
    answers={202: StartedJob},
    headers=_KEY,
)
def edit_orders() -> Response:
    """As for products. Each order moves along the transitions, or is counted as failed. A status
    cannot be undone; the sales rep and tags can."""
    return _started("order", body(BulkOrderEdit))


def _started(kind: str, asked: BulkProductEdit | BulkOrderEdit) -> Response:
    change = asked.change.model_dump(by_alias=True, exclude_unset=True, mode="json")
    if not change:
        raise Invalid.field("change", "required", "must name something to change")
    if asked.filters is not None:
        filtered(kind, asked.filters)
    about: dict[str, Any] = {"kind": kind, "change": change}
    about |= {"ids": asked.ids} if asked.ids is not None else {"filters": asked.filters}
    key = header("idempotency-key")
    once = Once.of(caller().id, key, parsed_body()) if key is not None else None
    try:
        _, text = jobs.create(TYPE, about, caller().name, dry_run=asked.dry_run, once=once)
    except Repeated as first:
        return reply_text(202, first.text, headers={"Idempotent-Replayed": "true"})
    return reply_text(202, text)
