"""The trigger table: every route and every Lambda function of Backroom.

What only one function does is imported by it: no other's cold start pays for that.
"""

from typing import Any

from chalice.app import Chalice

from chalicelib.api_keys.routes import routes as api_keys
from chalicelib.console.routes import routes as console
from chalicelib.customers.routes import routes as customers
from chalicelib.imports.routes import routes as imports
from chalicelib.openapi import routes as openapi
from chalicelib.orders.routes import routes as orders
from chalicelib.products.routes import routes as products
from chalicelib.request.middleware import handle
from chalicelib.request.routes import close
from chalicelib.storefront.routes import routes as storefront
from chalicelib.summary.routes import routes as summary
from chalicelib.webhooks.routes import routes as webhooks

Event = dict[str, Any]

app = Chalice(app_name="backroom", configure_logs=False)
app.api.binary_types.append("multipart/form-data")
app.register_middleware(handle, "http")

for routes in (products, imports, storefront, orders, customers, summary, api_keys, webhooks):
    app.register_blueprint(routes)
app.register_blueprint(openapi)
app.register_blueprint(console)
close(app)


@app.lambda_function()
def plan_import(event: Event, context: object) -> None:
    from chalicelib.imports import plan

    plan.uploaded(event)


@app.lambda_function()
def import_chunk(event: Event, context: object) -> Event:
    from chalicelib.imports import run

    return run.batch(event)


@app.lambda_function()
def import_dead_letters(event: Event, context: object) -> Event:
    from chalicelib.imports import dead

    return dead.batch(event)


@app.lambda_function()
def fan_out(event: Event, context: object) -> Event:
    from chalicelib.webhooks import fan_out

    return fan_out.records(event)


@app.lambda_function()
def deliver(event: Event, context: object) -> Event:
    from chalicelib.webhooks import deliver

    return deliver.batch(event)


@app.lambda_function()
def redrive(event: Event, context: object) -> Event:
    from chalicelib.webhooks import redrive

    return redrive.run(event)


@app.lambda_function()
def send_summaries(event: Event, context: object) -> None:
    from chalicelib.webhooks import summaries

    summaries.send()


@app.lambda_function()
def check_counts(event: Event, context: object) -> None:
    from chalicelib.counts import check

    check.check()
