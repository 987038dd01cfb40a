"""`sku`, `number` and `email` find the records with exactly that text, and no others."""

from typing import Any

from tests.products.build import PRODUCTS, new_product
from tests.support.shop import Shop

ORDERS = "/api/admin/orders"
CUSTOMERS = "/api/admin/customers"


def ids(shop: Shop, path: str) -> list[str]:
    answer = shop.read(path)
    assert answer["total"] == len(answer["data"]) and answer["pagination"]["next"] is None
    return [one["id"] for one in answer["data"]]


def test_a_sku_finds_its_product_and_no_longer_sku(shop: Shop) -> None:
    own = shop.made(PRODUCTS, new_product(name="A", sku="LIN-S"))
    variants = [{"title": "S", "sku": "LIN-S"}, {"title": "L", "sku": "LIN-S-2"}]
    other = shop.made(PRODUCTS, new_product(name="B", sku=None, variants=variants))
    shop.made(PRODUCTS, new_product(name="LIN-S lamp", sku="X", tags=["LIN-S"]))
    assert ids(shop, f"{PRODUCTS}?sku=LIN-S") == [other["id"], own["id"]]
    assert ids(shop, f"{PRODUCTS}?sku=LIN-S&sort=name") == [own["id"], other["id"]]
    assert ids(shop, f"{PRODUCTS}?sku=LIN-S-2&fields=id,name") == [other["id"]]
    assert ids(shop, f"{PRODUCTS}?sku=lin-s") == []
    assert ids(shop, f"{PRODUCTS}?sku=LIN") == []
    assert ids(shop, f"{PRODUCTS}?sku=LIN-S&status=ARCHIVED") == []
    assert shop.get(f"{PRODUCTS}?sku=").status == 422
    page = shop.read(f"{PRODUCTS}?sku=LIN-S&limit=1&cursor=*")
    following = shop.read(f"{PRODUCTS}?sku=LIN-S&limit=1&cursor={page['pagination']['next']}")
    assert [one["id"] for one in page["data"] + following["data"]] == [other["id"], own["id"]]
    shop.put(f"{PRODUCTS}/{own['id']}", {"sku": "LIN-T"})
    assert ids(shop, f"{PRODUCTS}?sku=LIN-S") == [other["id"]]


def test_a_number_or_an_email_finds_orders_and_a_customer(shop: Shop) -> None:
    product = shop.made(PRODUCTS, new_product())
    variant = product["variants"][0]["id"]

    def order(email: str, **more: Any) -> Any:
        sent = {"lineItems": [{"variantId": variant, "quantity": 1}], "customer": {"email": email}}
        return shop.made(ORDERS, sent | more)

    first, second = order("Ada@Example.com"), order("ada@example.com")
    order("ada@example.com.au", note=first["number"], tags=[first["number"]])
    assert ids(shop, f"{ORDERS}?number={first['number']}") == [first["id"]]
    assert ids(shop, f"{ORDERS}?number=%23{second['number']}&fields=id") == [second["id"]]
    assert ids(shop, f"{ORDERS}?number={first['number'][:-1]}") == []
    assert ids(shop, f"{ORDERS}?email=ADA@example.com") == [second["id"], first["id"]]
    assert ids(shop, f"{ORDERS}?email=ada@example.com&number={first['number']}") == [first["id"]]
    assert ids(shop, f"{ORDERS}?email=ada@example.com&status=PAID") == []
    assert ids(shop, f"{CUSTOMERS}?email=ada@EXAMPLE.com") == [first["customer"]["id"]]
    assert ids(shop, f"{CUSTOMERS}?email=ada") == []
