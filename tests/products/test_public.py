"""What the storefront answers says nothing of what it does not show."""

from itertools import count

import pytest

from chalicelib import clock, ids
from tests.products.build import new_product
from tests.shop import Answer, Shop

PRODUCTS = "/api/admin/products"
PATHS = (
    "/api/products",
    "/api/products?limit=2",
    "/api/products?limit=2&page=2",
    "/api/products?search=shirt",
    "/api/products?search=secret",
    "/api/products?type=Shirts",
    "/api/products?storefront=eu",
    "/api/products/shirt-0",
    "/api/products/shirt-1",
    "/api/products/secret-0",
    "/api/products/nothing",
    "/api/products?page=0",
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids in a row and a time that stands: two shops with the same history are alike."""
    numbers = count(1)
    monkeypatch.setattr(ids, "ulid", lambda: f"{next(numbers):026d}")
    monkeypatch.setattr(clock, "iso", lambda moment: "2026-11-22T00:00:00.000Z")
    monkeypatch.setattr(clock, "unix", lambda: 1_800_000_020)


def stocked(shop: Shop, stocks: tuple[int | None, ...]) -> None:
    for number, stock in enumerate(stocks):
        variants = [{"title": "S", "sku": f"S-{number}", "stock": stock}]
        sent = {"name": f"Shirt {number}", "price": 5, "status": "ACTIVE", "type": "Shirts"}
        made = shop.post(PRODUCTS, {**sent, "variants": variants, "storefront": "eu"})
        assert made.status == 201, made.text


def said(answer: Answer) -> tuple[int, dict[str, str], str]:
    own = {"X-Request-Id"}
    return answer.status, {n: v for n, v in answer.headers.items() if n not in own}, answer.text


def test_two_shops_that_differ_in_stock_and_drafts_answer_alike_byte_for_byte(
    shop: Shop, counted: None
) -> None:
    stocked(shop, (3, 500, None))
    one = [said(shop.get(path)) for path in PATHS]
    for number, stock in enumerate((1, 7)):
        product = shop.get(f"{PRODUCTS}?search=S-{number}").json["data"][0]
        variant = {"id": product["variants"][0]["id"], "stock": stock}
        assert shop.put(f"{PRODUCTS}/{product['id']}", {"variants": [variant]}).status == 200
        # What nobody outside sees of a product may change as well.
        hidden = {"lowStockThreshold": 9, "metadata": {"supplier": "x"}}
        assert shop.put(f"{PRODUCTS}/{product['id']}", hidden).status == 200
    for number in range(3):
        draft = new_product(name=f"Secret shirt {number}", slug=f"secret-{number}", type="Shirts")
        draft["status"] = ("DRAFT", "ARCHIVED", "ACTIVE")[number]
        assert shop.post(PRODUCTS, {**draft, "published": number != 2}).status == 201
    elsewhere = Shop(address="198.51.100.1")
    other = [said(elsewhere.get(path)) for path in PATHS]
    assert other == one


def test_an_answer_of_the_storefront_is_kept_by_what_it_says(shop: Shop) -> None:
    stocked(shop, (3,))
    for path in ("/api/products", "/api/products/shirt-0"):
        answer = shop.get(path)
        etag = answer.headers["ETag"]
        again = shop.get(path, headers={"If-None-Match": etag})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", etag)
    product = shop.get(PRODUCTS).json["data"][0]
    sold_out = {"variants": [{"id": product["variants"][0]["id"], "stock": 0}]}
    shop.put(f"{PRODUCTS}/{product['id']}", sold_out)
    changed = shop.get(path, headers={"If-None-Match": etag})
    assert (changed.status, changed.json["variants"][0]["available"]) == (200, False)


def test_the_storefront_may_be_kept_for_seconds_and_the_admin_interface_never(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(shop, (3,))
    for path in ("/api/products", "/api/products/shirt-0"):
        assert shop.get(path).headers["Cache-Control"] == "public, max-age=5"
        monkeypatch.setenv("STOREFRONT_MAX_AGE", "60")
        assert shop.get(path).headers["Cache-Control"] == "public, max-age=60"
        monkeypatch.delenv("STOREFRONT_MAX_AGE")
    refused = [
        shop.get("/api/products/nothing"),
        shop.get("/api/products?page=0"),
        shop.get(PRODUCTS, key=None),
        shop.post(PRODUCTS, {}),
    ]
    for answer in (shop.get(PRODUCTS), shop.get("/api/admin/me"), *refused):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert shop.get("/api/products").headers["X-Content-Type-Options"] == "nosniff"
