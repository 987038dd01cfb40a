"""Storefront answers reveal nothing about hidden products and stock."""

from typing import Any

import pytest

from chalicelib.values import clock, ids
from tests.products.build import PRODUCTS, new_product, path_of
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

PATHS = [
    f"/api/products{rest}"
    for rest in (
        *("", "?limit=2", "?limit=2&page=2", "?search=shirt", "?search=secret", "?type=Shirts"),
        *("?storefront=eu", "?fields=name,price", "?page=0"),
        *("?sort=price", "?minPrice=1&maxPrice=5", "?available=true", "/facets"),
        *("?vendor=Kestrel", "?tag=secret", "?sort=name", "?type=Shirts&type=Secret%20things"),
        *("/shirt-0", "/shirt-1", "/secret-0", "/nothing"),
        *("/shirt-0?fields=name,variants", "/shirt-0?fields=metadata"),
        *("/secret-0?fields=name", "/secret-2?fields=name"),
    )
]


class Ids:
    """Consecutive ids, from a number that the test chooses."""

    def begin(self, first: int) -> None:
        self.next = first

    def ulid(self) -> str:
        self.next += 1
        return f"{self.next:026d}"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Ids:
    """Consecutive ids and a fixed time, so that shops with the same history are equal."""
    numbers = Ids()
    numbers.begin(0)
    monkeypatch.setattr(ids, "ulid", numbers.ulid)
    monkeypatch.setattr(clock, "iso", lambda moment: "2026-11-22T00:00:00.000Z")
    monkeypatch.setattr(clock, "unix", lambda: 1_800_000_020)
    return numbers


def stocked(shop: Shop, ids: Ids, stocks: tuple[int | None, ...], **hidden: Any) -> None:
    assert shop.owner  # with a key, which accepts ids too
    for number, stock in enumerate(stocks):
        ids.begin(1_000 * number + 1_000)
        variants = [{"title": "S", "sku": f"S-{number}", "stock": stock}]
        sent = {"name": f"Shirt {number}", "price": 5, "status": "ACTIVE", "type": "Shirts"}
        made = shop.post(PRODUCTS, {**sent, "variants": variants, "storefront": "eu", **hidden})
        assert made.status == 201, made.text


def visible(answer: Answer) -> tuple[int, dict[str, str], str]:
    own = {"X-Request-Id"}
    return answer.status, {n: v for n, v in answer.headers.items() if n not in own}, answer.text


def drafted(shop: Shop) -> None:
    for number in range(3):
        draft = new_product(name=f"Secret shirt {number}", slug=f"secret-{number}", type="Shirts")
        draft["status"] = ("DRAFT", "ARCHIVED", "ACTIVE")[number]
        assert shop.post(PRODUCTS, {**draft, "published": number != 2}).status == 201


def answers(shop: Shop) -> list[tuple[int, dict[str, str], str]]:
    return [visible(shop.get(path)) for path in PATHS]


def test_shops_that_differ_only_in_stock_and_drafts_have_the_same_public_answers(
    dynamodb: Double, shop: Shop, counted: Ids
) -> None:
    stocked(shop, counted, (3, 500, None))
    one = answers(shop)
    dynamodb.empty()
    other = Shop()
    counted.begin(500)
    drafted(other)
    stocked(other, counted, (1, 7, 2), lowStockThreshold=9, metadata={"supplier": "x"})
    counted.begin(9_000)
    drafted_later = new_product(name="Secret shirt 9", slug="secret-9", type="Secret things")
    assert other.post(PRODUCTS, drafted_later).status == 201
    assert answers(other) == one


def test_a_change_of_stock_or_drafts_changes_no_public_answer(shop: Shop, counted: Ids) -> None:
    stocked(shop, counted, (3, 500, None))
    one = answers(shop)
    for number, stock in enumerate((1, 7)):
        product = shop.get(f"{PRODUCTS}?search=S-{number}").json["data"][0]
        variant = {"id": product["variants"][0]["id"], "stock": stock}
        assert shop.put(path_of(product), {"variants": [variant]}).status == 200
        # Hidden fields of a product may change as well.
        hidden = {"lowStockThreshold": 9, "metadata": {"supplier": "x"}}
        assert shop.put(path_of(product), hidden).status == 200
    drafted(shop)
    assert answers(Shop(address="198.51.100.1")) == one


def test_a_parameter_that_the_storefront_ignores_is_named(shop: Shop) -> None:
    stocked(shop, Ids(), (3,))
    answer = shop.get("/api/products?serach=linen&b%0d%0a=1&type=Shirts")
    assert (answer.status, answer.json["total"]) == (200, 1)
    assert answer.headers["X-Ignored-Parameters"] == "serach, b%0D%0A"
    assert "X-Ignored-Parameters" in answer.headers["Access-Control-Expose-Headers"]
    assert "X-Ignored-Parameters" not in shop.get("/api/products?type=Shirts").headers
    assert shop.get("/api/products/shirt-0?sku=1").headers["X-Ignored-Parameters"] == "sku"


def test_the_etag_of_a_storefront_answer_follows_its_content(shop: Shop) -> None:
    stocked(shop, Ids(), (3,))
    for path in ("/api/products", "/api/products/shirt-0"):
        answer = shop.get(path)
        etag = answer.headers["ETag"]
        again = shop.get(path, headers={"If-None-Match": etag})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", etag)
    product = shop.get(PRODUCTS).json["data"][0]
    sold_out = {"variants": [{"id": product["variants"][0]["id"], "stock": 0}]}
    shop.put(path_of(product), sold_out)
    changed = shop.get(path, headers={"If-None-Match": etag})
    assert (changed.status, changed.json["variants"][0]["available"]) == (200, False)


def test_storefront_answers_are_cached_for_seconds_and_admin_answers_never(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(shop, Ids(), (3,))
    for path in ("/api/products", "/api/products/shirt-0"):
        assert shop.get(path).headers["Cache-Control"] == "public, max-age=5"
        monkeypatch.setenv("STOREFRONT_MAX_AGE", "60")
        answer = shop.get(path)
        assert answer.headers["Cache-Control"] == "public, max-age=60"
        assert answer.headers["Vary"] == "Accept-Encoding"
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


# All that the storefront shows: a new field of products is not public until it is added here.
_PUBLIC = (
    "id slug name description price compareAtPrice currency sku vendor type tags variants images"
    " madeToOrder leadDays specification"
    " seo createdAt"
)
_PUBLIC_OF_VARIANTS = "id title sku price available"


def test_the_storefront_shows_only_what_is_meant_to_be_public(shop: Shop) -> None:
    hidden = {"externalId": "ERP-1", "metadata": {"supplier": "x"}}
    variant = {"title": "S", "sku": "R-S", "stock": 5, "barcode": "40123", "cost": "33.10"}
    variant |= {"externalId": "ERP-2", "metadata": {"shelf": 3}}
    sent = new_product(name="Ring", slug="ring", variants=[variant], **hidden)
    assert shop.post(PRODUCTS, {**sent, "status": "ACTIVE", "published": True}).status == 201
    (listed,) = shop.get("/api/products").json["data"]
    for shown in (listed, shop.get("/api/products/ring").json):
        assert shown.keys() == set(_PUBLIC.split())
        assert shown["variants"][0].keys() == set(_PUBLIC_OF_VARIANTS.split())
    assert shop.get("/api/products/ring?fields=name").json == {"name": "Ring"}
    for name in ("externalId", "metadata", "lowStockThreshold"):
        assert shop.get(f"/api/products/ring?fields={name}").status == 422
    assert shop.get("/api/products?externalId=ERP-1").text == shop.get("/api/products").text
