"""Valid customers; a test overrides the fields it is about."""

from itertools import count
from typing import Any

from tests.support.shop import Record, Shop

CUSTOMERS = "/api/admin/customers"
_people = count(1)


def address(**fields: Any) -> dict[str, Any]:
    return {"address1": "12 St James's Square", "city": "London", "countryCode": "GB", **fields}


def new_customer(**fields: Any) -> dict[str, Any]:
    number = next(_people)
    return {"email": f"grace{number}@example.com", "firstName": "Grace", **fields}


def customer(shop: Shop, **fields: Any) -> Record:
    """A new customer, as the API returns it."""
    return Record(shop, CUSTOMERS, shop.made(CUSTOMERS, new_customer(**fields)))
