"""Valid orders, and products to sell; a test overrides the fields it is about."""

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.products.build import new_product
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

ORDERS = "/api/admin/orders"
_people = count(1)


def product(shop: Shop, *stocks: int | None, **fields: Any) -> Any:
    """A product for sale, with a variant for each of the stocks, as the API returns it."""
    variants = [{"title": f"V{n}", "stock": stock} for n, stock in enumerate(stocks or (None,))]
    fields = {"status": "ACTIVE", "variants": variants, **fields}
    return shop.made("/api/admin/products", new_product(**fields))


def variant(shop: Shop, stock: int | None = None, **fields: Any) -> str:
    """The id of the only variant of a new product."""
    return str(product(shop, stock, **fields)["variants"][0]["id"])


def line(variant_id: str, quantity: int = 1, **fields: Any) -> dict[str, Any]:
    return {"variantId": variant_id, "quantity": quantity, **fields}


def new_order(*lines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A cash sale in the shop to a new customer."""
    person = {
        "email": f"ada{next(_people)}@example.com",
        "firstName": "Ada",
        "lastName": "Lovelace",
    }
    return {"source": "IN_PERSON", "customer": person, "lineItems": list(lines), **fields}


def placed(shop: Shop, *lines: dict[str, Any], **fields: Any) -> Any:
    """A new order, of an untracked variant unless lines are given, as the API returns it."""
    return shop.made(ORDERS, new_order(*(lines or [line(variant(shop))]), **fields))


def moved(shop: Shop, order: Any, *statuses: str) -> Answer:
    """Makes the moves; returns the last answer."""
    for status in statuses:
        answer = shop.patch(f"{ORDERS}/{order['id']}", {"status": status})
    return answer


def stock_of(shop: Shop, variant_id: str) -> int | None:
    product_id = "prod_" + variant_id[4:30]
    product = shop.get(f"/api/admin/products/{product_id}").json
    return next((v["stock"] for v in product["variants"] if v["id"] == variant_id), None)


def kinds(shop: Shop, of: Any = None) -> list[str]:
    """The kinds of the events so far: of one order, or of everything except products, payments and
    refunds."""
    others = ("product.", "payment.", "refund.")
    return [
        event["event"]
        for event in shop.events()
        if (event["data"].get("id") == of["id"] if of else not event["event"].startswith(others))
    ]


def keys_written(dynamodb: Double) -> list[tuple[str, str]]:
    """The keys of the items that transactions write or check, filled from now on."""
    written: list[tuple[str, str]] = []

    def note(operation: str, request: Any) -> None:
        for action in request.get("TransactItems", []):
            (one,) = action.values()
            key = one.get("Key", one.get("Item"))
            written.append((key["pk"]["S"], key["sk"]["S"]))

    dynamodb.faults = note
    return written


def before_the_commit(dynamodb: Double, action: Callable[[], object]) -> None:
    """Calls `action` just before the commit of the next request. The test fails without one."""
    dynamodb.meanwhile("TransactWriteItems", action)
