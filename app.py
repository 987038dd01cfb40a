"""The trigger table: every route and every Lambda function of Backroom.

What only one function does is imported by it: no other's cold start pays for that.
"""

import gc
from itertools import chain
from typing import TYPE_CHECKING

from chalicelib import settings
from chalicelib.deadline import in_background
from chalicelib.request.application import Application

if TYPE_CHECKING:
    from chalicelib.files.render import RenderEvent
    from chalicelib.outbox.fan_out import Stream
    from chalicelib.sqs import Batch, Handled
    from chalicelib.webhooks.redrive import Redrive, RedriveResult

Event = dict[str, object]

# Whose routes are below a path; the longest beginning that fits counts.
SERVED = {
    "/api/admin/products": ["chalicelib.products.routes"],
    "/api/admin/products/import": ["chalicelib.imports.routes"],
    # What these three make is shown as they say: `jobs` comes after them.
    "/api/admin/jobs": [
        "chalicelib.imports.routes",
        "chalicelib.reports.routes",
        "chalicelib.exports.routes",
        "chalicelib.jobs.routes",
        "chalicelib.undo.routes",
    ],
    "/api/admin/products/bulk-edit": ["chalicelib.bulk_edits.routes"],
    "/api/admin/exports": ["chalicelib.exports.routes"],
    "/api/admin/reports": ["chalicelib.reports.routes"],
    "/api/admin/orders/bulk-edit": ["chalicelib.bulk_edits.routes"],
    "/api/products": ["chalicelib.storefront.routes"],
    "/api/admin/orders": ["chalicelib.orders.routes"],
    "/api/admin/transactions": ["chalicelib.orders.routes"],
    "/api/admin/shipments": ["chalicelib.orders.routes"],
    "/api/admin/work": ["chalicelib.orders.routes"],
    "/api/admin/settings": ["chalicelib.orders.routes"],
    "/api/admin/customers": [
        "chalicelib.customers.routes",
        "chalicelib.merges.routes",
        "chalicelib.erasures.routes",
    ],
    "/api/admin/pictures": ["chalicelib.files.routes"],
    "/api/admin/search": ["chalicelib.search.routes"],
    "/api/admin/facets": ["chalicelib.facets.routes"],
    "/api/admin/stock": ["chalicelib.ledger.routes"],
    "/api/admin/stock/counts": ["chalicelib.stocktaking.routes"],
    "/api/admin/audit": ["chalicelib.audit.routes"],
    "/api/admin/summary": ["chalicelib.summary.routes"],
    "/api/admin/keys": ["chalicelib.api_keys.routes"],
    "/api/admin/me": ["chalicelib.api_keys.routes"],
    "/api/admin/events": ["chalicelib.events.routes"],
    "/api/admin/webhooks": ["chalicelib.webhooks.routes"],
    "/api/admin/deliveries": ["chalicelib.webhooks.routes"],
    "/console": ["chalicelib.console.routes"],
    "/api": ["chalicelib.console.routes"],
    "/": ["chalicelib.console.routes"],
}
# What does the steps of a job, by its type.
WORK = {
    "bulk_edit": "chalicelib.bulk_edits.work",
    "customer_erasure": "chalicelib.erasures.work",
    "customer_merge": "chalicelib.merges.work",
    "export": "chalicelib.exports.work",
    "reindex": "chalicelib.reindexing.work",
    "report": "chalicelib.reports.work",
    "stock_count": "chalicelib.stocktaking.work",
    "undo": "chalicelib.undo.work",
}
# The description tells of every slice.
SERVED["/api/openapi.json"] = ["chalicelib.description.openapi", *chain(*SERVED.values())]

if settings.at_chalices_command_line():
    from infra import command_line

    command_line.prepare()

app = Application("backroom", SERVED)
app.api.binary_types.append("multipart/form-data")


@app.lambda_function()
@in_background
def plan_import(event: Event, context: object) -> None:
    from chalicelib.imports.steps import plan

    plan.plan_upload(event)


@app.lambda_function()
@in_background
def import_chunk(event: "Batch", context: object) -> "Handled":
    from chalicelib.imports.steps import run

    return run.batch(event)


@app.lambda_function()
@in_background
def import_dead_letters(event: "Batch", context: object) -> "Handled":
    from chalicelib.imports.steps import dead

    return dead.batch(event)


@app.lambda_function()
@in_background
def run_job(event: "Batch", context: object) -> "Handled":
    from chalicelib.jobs import run

    return run.batch(event, WORK)


@app.lambda_function()
@in_background
def fan_out(event: "Stream", context: object) -> "Handled":
    from chalicelib.outbox import fan_out

    return fan_out.handle(event)


@app.lambda_function()
@in_background
def deliver(event: "Batch", context: object) -> "Handled":
    from chalicelib.webhooks import deliver

    return deliver.batch(event)


@app.lambda_function()
@in_background
def redrive(event: "Redrive", context: object) -> "RedriveResult":
    from chalicelib.webhooks import redrive

    return redrive.run(event)


@app.lambda_function()
@in_background
def send_summaries(event: Event, context: object) -> None:
    from chalicelib.webhooks import summaries

    summaries.send()


@app.lambda_function()
@in_background
def check_counts(event: Event, context: object) -> None:
    from chalicelib.nightly import check, pictures

    if "sweep" in event:
        pictures.delete_unused()
    else:
        check.check_totals()


@app.lambda_function()
@in_background
def render_file(event: "RenderEvent", context: object) -> "Handled":
    from chalicelib.files import render

    return render.render_uploads(event)


# What was imported stays: no collection has to look at it, in a cold start or later.
gc.freeze()
