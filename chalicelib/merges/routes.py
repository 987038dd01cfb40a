"""Merging customers over HTTP."""

from functools import partial
from typing import Annotated

from chalice.app import Response
from pydantic import Field

from chalicelib.customers import store as customers
from chalicelib.customers.model import Customer
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType, StartedJob
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.request import IDEMPOTENT, Role, Routes, body_once, reply_text
from chalicelib.schemas import Input

routes = Routes(__name__, "Customers")


class Merge(Input):
    """Into whom a customer is merged."""

    into: Annotated[
        str, Field(min_length=1, max_length=60, description="Id of the customer to keep")
    ]


@routes.post(
    "/api/admin/customers/{id}/merge",
    "Merge a customer into another",
    role=Role.STAFF,
    body=Merge,
    answers={202: StartedJob},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def merge_customer(id: str) -> Response:
    """Orders, totals and addresses (without duplicates) move to `into`, and so do values that
    `into` lacks. Then this id is 404 `merged` with `into`. Merging into itself, or into an erased
    or merged customer, or one that is being merged, is 422. It cannot be cancelled or undone. Emits
    order.updated for each order, customer.updated and customer.deleted.
    """
    merge, once = body_once(Merge)
    if once:
        once.check()
    source = customers.get(id)
    into = _get_target(source, merge.into)
    for each in (source, into):
        jobs.require_free(each.held_by, customers.CustomerBusy)
    if source.is_erased:
        raise customers.Erased
    about = {"customer": id, "into": into.id}
    hold = partial(customers.hold_for_merge, source, into)
    text = jobs.create(JobType.CUSTOMER_MERGE, about, once=once, also=hold)
    return reply_text(202, text)


def _get_target(source: Customer, into: str) -> Customer:
    """Return the customer `into`. Raises Invalid unless `source` can be merged into them."""
    if into == source.id:
        raise Invalid.field("into", "invalid", "must be another customer")
    try:
        target = customers.get(into)
    except customers.Merged as merged:
        message = f"was merged itself, into {merged.extra['into']}"
        raise Invalid.field("into", "merged", message) from None
    except NotFound:
        raise Invalid.field("into", "unknown_customer", f"there is no {into!r}") from None
    if target.is_erased:
        raise Invalid.field("into", "erased", "was erased")
    if target.is_leaving and not customers.leaves_into(target, source.id):
        raise Invalid.field("into", "merged", "is being merged or erased")
    if target.is_leaving:
        raise Invalid.field("into", "circle", "is being merged into this one")
    return target
