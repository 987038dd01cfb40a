"""Customers, as the shop's own people and programs see them."""

from chalice.app import Response

from chalicelib import schemas
from chalicelib.customers import store
from chalicelib.customers.model import ListCustomers, ShownCustomer, show
from chalicelib.problems import NotFound
from chalicelib.request import Role, Routes, query, reply
from chalicelib.schemas import Walked

routes = Routes(__name__, "Customers")


@routes.get(
    "/api/admin/customers",
    "List customers",
    role=Role.READER,
    query=ListCustomers,
    answers={200: Walked[ShownCustomer]},
)
def list_customers() -> Response:
    """Newest first. `search` finds the beginnings of words in name and e-mail."""
    asked = query(ListCustomers)
    page = store.page(asked.query())
    return reply(200, schemas.walked([show(customer) for customer in page.records], page))


@routes.get(
    "/api/admin/customers/{id}",
    "Get a customer",
    role=Role.READER,
    answers={200: ShownCustomer, 304: None},
    problems=[NotFound],
)
def get(id: str) -> Response:
    return reply(200, show(store.get(id)), etag="1")  # nothing changes a customer
