"""Erasing customers over HTTP."""

from functools import partial

from chalice.app import Response

from chalicelib.customers import store as customers
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType, StartedJob
from chalicelib.problems import Conflict
from chalicelib.request import IDEMPOTENT, Role, Routes, looked_up, reply_text

routes = Routes(__name__, "Customers")


@routes.post(
    "/api/admin/customers/{id}/erase",
    "Erase a customer",
    role=Role.OWNER,
    answers={202: StartedJob},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def erase_customer(id: str) -> Response:
    """Removes name, e-mail, phone, addresses and notes from the customer, its orders, search,
    lists, the audit log, values in use, saved mappings and the names of jobs. Numbers, lines, money
    and countries stay. Kept replies, events, deliveries, logs for undo, exports and files of
    imports end by themselves within 30 days: `goneBy` of the job says when, `touched` how many of
    each it changed. It cannot be cancelled or undone. From the answer on, the customer takes no
    more orders, and the e-mail is free. Emits order.updated for each order, and
    customer.updated.
    """
    repeatable = looked_up()
    customer = customers.get(id)
    jobs.require_free(customer.held_by, customers.CustomerBusy)
    hold, about = partial(customers.hold_for_erasure, customer), {"customer": id}
    text = jobs.create(JobType.CUSTOMER_ERASURE, about, once=repeatable, also=hold)
    return reply_text(202, text)
