"""Products, the storefront, orders, and where webhooks are registered."""

import pytest

from tests.e2e.spec_client import ORDERS, PRODUCTS, Client, word


def test_a_product_is_created_read_changed_listed_and_deleted(shop: Client) -> None:
    mark = word()
    sent = {"name": "Linen shirt", "slug": mark, "price": 49.9, "status": "ACTIVE"}
    sent |= {"tags": ["summer"], "seo": {"title": "A shirt", "description": "For summer."}}
    sent |= {"images": [{"url": "https://img.example/1.jpg", "alt": None}]}
    variants = [{"title": "S", "sku": f"{mark}-S", "price": 52.5, "stock": 12}, {"title": "M"}]
    made = shop.call("POST", PRODUCTS, {**sent, "variants": variants})
    path = f"{PRODUCTS}/{made.json['id']}"
    assert made.status == 201 and shop.get(path).json == made.json
    assert made.json == made.json | sent | {"price": "49.90"}
    small, medium = made.json["variants"]
    assert small == small | variants[0] | {"price": "52.50"} and medium["price"] == "49.90"
    changed = shop.call("PUT", path, {"vendor": "Acme"})
    assert (changed.status, changed.json["vendor"]) == (200, "Acme")
    assert shop.get(path).json == changed.json
    assert shop.ids(f"{PRODUCTS}?search={mark.upper()}-s&vendor=Acme") == [made.json["id"]]
    gone = shop.call("DELETE", path)
    assert (gone.status, gone.json) == (200, {"id": made.json["id"], "deleted": True})
    assert shop.get(path).status == 404


def test_bulk_takes_500_products_and_refuses_more(shop: Client) -> None:
    mark = word()
    rows = [{"name": "Bulk", "price": 1, "type": mark} for _ in range(501)]
    assert shop.call("POST", f"{PRODUCTS}/bulk", rows).status == 422
    assert shop.ids(f"{PRODUCTS}?type={mark}") == []
    done = shop.call("POST", f"{PRODUCTS}/bulk", [*rows[:499], {"name": "Without a price"}])
    assert done.json["summary"] == {"created": 499, "failed": 1}
    assert len(shop.ids(f"{PRODUCTS}?type={mark}")) == 20
    assert len(shop.ids(f"{PRODUCTS}?type={mark}&limit=101")) == 100
    last = shop.get(f"{PRODUCTS}?type={mark}&limit=100&page=5").json
    assert (len(last["data"]), last["total"], last["pagination"]["totalPages"]) == (99, 499, 5)


def test_an_order_is_placed_once_read_changed_and_deleted(shop: Client) -> None:
    variant = shop.product()["variants"][0]["id"]
    person = {"email": f"{word()}@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    sent = {"source": "MARKET_STALL", "salesRepId": "emp_7", "tax": 1, "tags": ["vip"]}
    body = {**sent, "customer": person, "lineItems": [{"variantId": variant, "quantity": 2}]}
    made, again = (shop.call("POST", ORDERS, body, Idempotency_Key=variant) for _ in range(2))
    assert (again.status, again.text) == (made.status, made.text) == (201, made.text)
    assert made.json == made.json | sent | {"tax": "1.00"}
    assert made.json["customer"] == made.json["customer"] | person
    (line,) = made.json["lineItems"]
    assert (line["variantId"], line["quantity"], line["price"]) == (variant, 2, "2.50")
    path = f"{ORDERS}/{made.json['id']}"
    assert shop.get(path).json == made.json
    customer = shop.get(f"/api/admin/customers/{made.json['customer']['id']}").json
    assert customer == customer | person
    refused = shop.move(made.json, status="SHIPPED")
    assert (refused.status, refused.json["code"]) == (422, "invalid_transition")
    assert refused.json["allowed"] == ["PAID", "CANCELLED"]
    changed = shop.move(made.json, status="PAID", salesRepId="emp_9").json
    assert (changed["status"], changed["salesRepId"]) == ("PAID", "emp_9")
    assert shop.get(path).json == changed
    for search in (changed["number"], person["email"]):
        assert changed["id"] in shop.ids(f"{ORDERS}?search={search}")
    refused = shop.call("DELETE", path, key_=shop.key_of("ADMIN"))
    assert (refused.status, refused.json["code"]) == (403, "forbidden")
    gone = shop.call("DELETE", path)
    assert (gone.status, gone.json) == (200, {"id": changed["id"], "deleted": True})


@pytest.fixture(scope="module")
def sold(shop: Client) -> dict[str, str]:
    """Orders of a source of their own, by status; and `source`."""
    source = word().upper()
    made = {status: shop.order(source=source) for status in ("PENDING", "PAID", "CANCELLED")}
    for status in ("PAID", "CANCELLED"):
        assert shop.move(made[status], status=status).status == 200
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
    assert answer.status == 422 and "statsu" in answer.text


def test_the_administration_pages_where_webhooks_are_registered_are_served(shop: Client) -> None:
    page = shop.get("/console", key_="")
    assert page.status == 200 and page.headers["Content-Type"].startswith("text/html")
