"""A bulk call, the spellings of filters, and where webhooks are registered."""

import pytest

from tests.e2e.spec_client import ORDERS, PRODUCTS, Client, word


def test_bulk_takes_500_products_and_refuses_more(shop: Client) -> None:
    mark = word()
    rows = [{"name": "Bulk", "price": 1, "type": mark} for _ in range(501)]
    assert shop.call("POST", f"{PRODUCTS}/bulk", rows).status_code == 422
    assert shop.ids(f"{PRODUCTS}?type={mark}") == []
    done = shop.call("POST", f"{PRODUCTS}/bulk", [*rows[:499], {"name": "Without a price"}])
    assert done.json()["summary"] == {"created": 499, "failed": 1}
    assert len(shop.ids(f"{PRODUCTS}?type={mark}")) == 20
    assert len(shop.ids(f"{PRODUCTS}?type={mark}&limit=101")) == 100
    last = shop.get(f"{PRODUCTS}?type={mark}&limit=100&page=5").json()
    assert (len(last["data"]), last["total"], last["pagination"]["totalPages"]) == (99, 499, 5)


@pytest.fixture(scope="module")
def sold(shop: Client) -> dict[str, str]:
    """Orders of a source of their own, by status; and `source`."""
    source = word().upper()
    made = {status: shop.order(source=source) for status in ("PENDING", "PAID", "CANCELLED")}
    for status in ("PAID", "CANCELLED"):
        assert shop.move(made[status], status=status).status_code == 200
    return {status: order["id"] for status, order in made.items()} | {"source": source}


# What clients make of a list of values (docs/api.md).
SPELLINGS = {
    "excludeStatus=PENDING,PAID": "CANCELLED",
    "excludeStatus=PENDING&excludeStatus=PAID": "CANCELLED",
    "excludeStatus[]=PENDING&excludeStatus[]=PAID": "CANCELLED",
    "excludeStatus=pending,Cancelled": "PAID",
    "status[]=CANCELLED": "CANCELLED",
    "status=paid": "PAID",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_statuses_are_included_or_excluded(
    shop: Client, sold: dict[str, str], spelling: str
) -> None:
    asked = f"{ORDERS}?source={sold['source']}&{spelling}"
    assert shop.ids(asked) == [sold[SPELLINGS[spelling]]]


def test_an_unknown_parameter_is_refused_by_its_name(shop: Client) -> None:
    answer = shop.get(f"{ORDERS}?statsu=PAID")
    assert answer.status_code == 422 and "statsu" in answer.text


def test_the_administration_pages_where_webhooks_are_registered_are_served(shop: Client) -> None:
    page = shop.get("/console", key_="")
    assert page.status_code == 200 and page.headers["Content-Type"].startswith("text/html")
