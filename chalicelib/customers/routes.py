"""Customers, for the shop's staff and programs."""

from chalice.app import Response

from chalicelib.customers import store
from chalicelib.customers.model import show
from chalicelib.customers.schemas import (
    CustomerChange,
    CustomerFields,
    ListCustomerFields,
    NewCustomer,
    ShownCustomer,
)
from chalicelib.listing.external_ids import resolve_id
from chalicelib.problems import Conflict, PreconditionFailed
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body,
    body_once,
    if_match,
    query,
    reply,
    reply_page,
    reply_text,
)
from chalicelib.schemas import Deleted, Walked

routes = Routes(__name__, "Customers")


@routes.get(
    "/api/admin/customers",
    "List customers",
    role=Role.READER,
    query=ListCustomerFields,
    answers={200: Walked[ShownCustomer]},
)
def list_customers() -> Response:
    """Newest first. `search` finds the beginnings of words in name, e-mail, company and city, and
    the digits of the phone number.
    """
    filters = query(ListCustomerFields)
    page = store.page(filters.to_query(), filters.fields)
    shown = [show(customer, filters.fields) for customer in page.records]
    return reply_page(shown, page)


@routes.post(
    "/api/admin/customers",
    "Create a customer",
    role=Role.STAFF,
    body=NewCustomer,
    answers={201: ShownCustomer},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def create() -> Response:
    """With at least an e-mail, a phone, a company or a name. If another customer has the e-mail:
    409 `email_taken` with that `id`. Emits customer.created.
    """
    customer, text = store.create(*body_once(NewCustomer))
    return reply_text(201, text, etag=customer.etag)


@routes.get(
    "/api/admin/customers/{id}",
    "Get a customer",
    role=Role.READER,
    query=CustomerFields,
    answers={200: ShownCustomer, 304: None},
)
def get(id: str) -> Response:
    """The `id` may be `externalId:4711`. With `fields` there is no ETag. A merged customer is 404
    `merged` with `into`.
    """
    fields = query(CustomerFields).fields
    customer = store.get(resolve_id("customer", id), fields)
    return reply(200, show(customer, fields), etag=None if fields else customer.etag)


@routes.patch(
    "/api/admin/customers/{id}",
    "Change a customer",
    role=Role.STAFF,
    body=CustomerChange,
    answers={200: ShownCustomer},
    problems=[PreconditionFailed, Conflict],
    reads_first=True,
)
def update(id: str) -> Response:
    """Absent fields stay, null clears; `addresses` replaces the list, each as a whole, and one with
    an `id` keeps it. Orders keep their copies. 409 `email_taken` has the `id` of the customer with
    the e-mail. Orders placed since do not cause a 412. Emits customer.updated.
    """
    customer = store.change(resolve_id("customer", id), body(CustomerChange), if_match())
    return reply(200, show(customer), etag=customer.etag)


@routes.delete(
    "/api/admin/customers/{id}",
    "Delete a customer",
    role=Role.STAFF,
    answers={200: Deleted},
    problems=[PreconditionFailed, Conflict],
    reads_first=True,
)
def delete(id: str) -> Response:
    """Only without orders; otherwise 409 `has_orders`. Emits customer.deleted."""
    store.remove(id, if_match())
    return reply(200, {"id": id, "deleted": True})
