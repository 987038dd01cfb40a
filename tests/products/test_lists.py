"""Lists, filters, search and the storefront, over HTTP."""

from typing import Any

import pytest

from tests.products.build import PRODUCTS, new_product, path_of, stored
from tests.support.shop import Answer, Shop


@pytest.fixture
def stocked(shop: Shop) -> Shop:
    for sent in (
        new_product(name="Blue shirt", type="Shirts", status="ACTIVE", sku="TSH-BLU-01"),
        new_product(name="Red shirt", type="Shirts", status="ACTIVE", storefront="eu"),
        new_product(name="Blue hat", type="Hats, warm", status="DRAFT", vendor="Acme"),
        new_product(name="Old hat", type="Hats, warm", status="ARCHIVED", tags=["Été"]),
        new_product(name="Secret hat", status="ACTIVE", published=False),
    ):
        assert shop.post(PRODUCTS, sent).status == 201
    return shop


def names(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    found = [product["name"] for product in answer.json["data"]]
    assert answer.json["total"] == answer.json["pagination"]["total"] >= len(found)
    return found


ALL = ["Secret hat", "Old hat", "Blue hat", "Red shirt", "Blue shirt"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ALL),
        ("status=ACTIVE", ["Secret hat", "Red shirt", "Blue shirt"]),
        ("status=DRAFT,ARCHIVED", ["Old hat", "Blue hat"]),
        ("status=DRAFT&status=ARCHIVED", ["Old hat", "Blue hat"]),
        ("type=Shirts", ["Red shirt", "Blue shirt"]),
        ("type=Hats%2C%20warm&status=DRAFT", ["Blue hat"]),
        ("storefront=eu", ["Red shirt"]),
        ("search=blue", ["Blue hat", "Blue shirt"]),
        ("search=BLU-01", ["Blue shirt"]),
        ("search=s", ["Secret hat", "Red shirt", "Blue shirt"]),
        ("search=hat%20bl", ["Blue hat"]),
        ("search=acme", ["Blue hat"]),
        ("search=ete", ["Old hat"]),
        ("search=hat&status=DRAFT", ["Blue hat"]),
        ("search=nothing", []),
        ("type=nothing", []),
        ("status[]=draft&status[]=Archived", ["Old hat", "Blue hat"]),
        ("status[0]=DRAFT&status[1]=ARCHIVED", ["Old hat", "Blue hat"]),
    ],
)
def test_filters_and_search_find_what_matches_newest_first(
    stocked: Shop, query: str, expected: list[str]
) -> None:
    answer = stocked.get(f"{PRODUCTS}?{query}")
    assert names(answer) == expected
    assert answer.json["total"] == len(expected)


@pytest.mark.parametrize("path", ["products", "products/prod_1", "orders", "keys", "me"])
def test_an_unknown_parameter_is_refused_by_its_name_and_never_ignored(
    shop: Shop, path: str
) -> None:
    answer = shop.get(f"/api/admin/{path}?from=2026-11-01x&Staus[]=&_=17")
    assert (answer.status, answer.json["code"]) == (422, "validation_failed")
    refused = {error["field"]: error["code"] for error in answer.json["errors"]}
    assert {"Staus", "_"} <= refused.keys()
    assert set(refused.values()) == {"unknown_parameter"}
    known = {"me": "none", "keys": "limit, page"}.get(path, "")
    assert f"; there are {known}" in answer.json["errors"][0]["message"]


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("tag=a&tag=b", ["tag"]),
        ("limit=5&limit=6&page=1&page=2", ["limit", "page"]),
        ("search=a&search[]=b", ["search"]),
        ("tag=a&tag=a&status=DRAFT&status=ACTIVE", []),
        ("vendor=", ["vendor"]),
        ("status[]=", ["status"]),
        ("status=%20,%20", ["status"]),
        ("status=DRAFT&status=", ["status"]),
        ("search=%20&limit=&cursor=", ["search", "limit", "cursor"]),
        ("status=DRAFT,&search=,&tag=,", []),
    ],
)
def test_two_values_of_a_parameter_that_takes_one_and_blank_ones_are_refused(
    shop: Shop, query: str, refused: list[str]
) -> None:
    answer = shop.get(f"{PRODUCTS}?{query}")
    assert answer.status == (422 if refused else 200)
    assert [error["field"] for error in answer.json.get("errors", [])] == refused


def test_an_unknown_parameter_is_repeated_up_to_200_characters(shop: Shop) -> None:
    for query in (f"{'x' * 300}=1", f"{'x' * 300}=\ud800"):
        assert shop.get(f"{PRODUCTS}?{query}").refused == ["x" * 200]
    many = "&".join(f"x{number}=1" for number in range(150))
    assert len(shop.get(f"{PRODUCTS}?{many}").json["errors"]) == 100


def test_a_parameter_name_that_is_not_utf_8_is_refused_with_valid_text(shop: Shop) -> None:
    answer = shop.get(f"{PRODUCTS}?a\ud800=1")
    assert answer.refused == ["a\ufffd"]
    assert answer.text.encode()


def test_the_storefront_ignores_unknown_and_blank_parameters(stocked: Shop) -> None:
    assert names(stocked.get("/api/products?utm_source=mail&type=")) == ["Red shirt", "Blue shirt"]


def test_the_pages_have_every_product_once_and_their_number(stocked: Shop) -> None:
    walked: list[str] = []
    for page in (1, 2, 3, 4):
        answer = stocked.get(f"{PRODUCTS}?limit=2&page={page}")
        walked += names(answer)
        numbers = answer.json["pagination"]
        assert (numbers.pop("next") is None) == (page >= 3)
        assert numbers == {"page": page, "limit": 2, "total": 5, "totalPages": 3}
    assert walked == ALL
    assert stocked.get(f"{PRODUCTS}?limit=1000").json["pagination"]["limit"] == 100


@pytest.mark.parametrize("path", [PRODUCTS, "/api/products"])
def test_a_cursor_continues_after_its_page_and_a_numbered_page_is_current(
    stocked: Shop, path: str
) -> None:
    every = names(stocked.get(path))
    first = stocked.get(f"{path}?limit=1").json["pagination"]["next"]
    stocked.post(PRODUCTS, new_product(name="New", status="ACTIVE"))
    assert names(stocked.get(f"{path}?limit=1&cursor={first}")) == every[1:2]
    assert names(stocked.get(f"{path}?limit=1&page=2")) == every[:1]
    for wrong in (f"cursor={first}&page=2", "cursor=x", f"cursor={first}&search=shirt"):
        refused = stocked.get(f"{path}?{wrong}")
        assert refused.refused == ["cursor"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("vendor=Acme", ["Blue hat"]),
        ("vendor=acme", []),
        ("tag=%C3%89t%C3%A9", ["Old hat"]),
        ("tag=%C3%89t%C3%A9&status=DRAFT", []),
        ("published=false", ["Secret hat"]),
        ("published=true&status=ACTIVE", ["Red shirt", "Blue shirt"]),
        ("sort=createdAt", ALL[::-1]),
        ("sort=NAME", ["Blue hat", "Blue shirt", "Old hat", "Red shirt", "Secret hat"]),
        ("sort=name&type=Shirts", ["Blue shirt", "Red shirt"]),
        ("sort=name&search=hat", ["Blue hat", "Old hat", "Secret hat"]),
        ("sort=createdAt&search=hat&published=true", ["Blue hat", "Old hat"]),
        ("sort=-updatedAt&limit=2", ["Red shirt", "Secret hat"]),
    ],
)
def test_further_filters_and_orders_combine(stocked: Shop, query: str, expected: list[str]) -> None:
    (red,) = stocked.get(f"{PRODUCTS}?search=red").json["data"]
    stocked.put(path_of(red), {"description": "Changed last"})
    assert names(stocked.get(f"{PRODUCTS}?{query}")) == expected


def test_pages_by_updated_at_have_unchanged_products_once_and_none_twice(shop: Shop) -> None:
    ids = [stored(shop)["id"] for _ in range(12)]
    path = f"{PRODUCTS}?sort=-updatedAt&limit=3&fields=id"
    # The first is already read when both change, the second is not.
    seen, changed = list[str](), [ids[10], ids[2]]
    for page in shop.pages(path):
        seen += [one["id"] for one in page.json["data"]]
        for id in changed if len(seen) == 6 else ():
            shop.put(f"{PRODUCTS}/{id}", {"description": "Changed meanwhile"})
    assert seen == [id for id in reversed(ids) if id != ids[2]]
    first = [one["id"] for one in shop.get(path).json["data"]]
    assert set(first[:2]) == set(changed)


def test_lists_and_totals_follow_every_write_immediately(stocked: Shop) -> None:
    id = stocked.get(f"{PRODUCTS}?search=blue%20hat").json["data"][0]["id"]
    stocked.put(f"{PRODUCTS}/{id}", {"status": "ACTIVE", "name": "Green hat", "type": "T"})
    assert "Green hat" in names(stocked.get(f"{PRODUCTS}?status=ACTIVE"))
    assert names(stocked.get(f"{PRODUCTS}?status=DRAFT")) == []
    assert names(stocked.get(f"{PRODUCTS}?search=blue")) == ["Blue shirt"]
    assert names(stocked.get(f"{PRODUCTS}?type=T")) == ["Green hat"]
    stocked.delete(f"{PRODUCTS}/{id}")
    assert names(stocked.get(f"{PRODUCTS}?search=green")) == []
    assert stocked.get(f"{PRODUCTS}?type=T").json["total"] == 0


def test_the_storefront_lists_active_published_products(stocked: Shop) -> None:
    assert names(stocked.get("/api/products")) == ["Red shirt", "Blue shirt"]
    assert names(stocked.get("/api/products?storefront=us")) == ["Blue shirt"]
    assert names(stocked.get("/api/products?storefront=eu")) == ["Red shirt", "Blue shirt"]
    assert names(stocked.get("/api/products?search=hat")) == []
    assert names(stocked.get("/api/products?search=shirt&type=Shirts")) == ALL[3:]


def test_the_storefront_shows_availability_but_no_stock(shop: Shop) -> None:
    variants = [{"title": "S", "stock": 3}, {"title": "M", "stock": 0}, {"title": "L"}]
    sent = new_product(slug="one", status="ACTIVE", variants=variants, metadata={"cost": 1})
    made = shop.post(PRODUCTS, sent).json
    seen = shop.get("/api/products/one")
    assert seen.headers["Access-Control-Allow-Origin"] == "*"
    assert [v["available"] for v in seen.json["variants"]] == [True, False, True]
    hidden: set[Any] = {"metadata", "status", "published", "lowStockThreshold", "storefront"}
    assert hidden.isdisjoint(seen.json) and "stock" not in seen.json["variants"][0]
    assert shop.get(f"/api/products/{made['id']}").json == seen.json
    shop.put(path_of(made), {"status": "ARCHIVED"})
    assert shop.get("/api/products/one").status == 404
    assert shop.get(f"/api/products/{made['id']}").status == 404
