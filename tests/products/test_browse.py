"""The storefront lists, filters and sorts as a plain model does, at a bounded cost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from chalicelib import listing
from chalicelib.listing import shelf
from chalicelib.nightly import check
from chalicelib.products import merge, model, store
from chalicelib.storage import table
from tests.products.build import PRODUCTS, path_of
from tests.support.reindexing import reindex
from tests.support.shop import Shop

ORDERS = "/api/admin/orders"
FACETS = "/api/products/facets"
TYPES = ("Shirts", "Mugs", "Shirts, long", "Größe #1")
VENDORS = ("Kestrel", "Acme", "Kestrel & Co")
TAGS = ("linen", "sale", "new", "x|y")


class Model:
    """What the storefront should show of the products of a shop."""

    def __init__(self, shop: Shop, random: Random) -> None:
        self.shop, self.random = shop, random
        self.products: dict[str, Any] = {}

    def fields(self) -> dict[str, Any]:
        chance = self.random
        tags = chance.sample(TAGS, chance.randint(0, 3))
        if chance.random() < 0.1:
            tags = [*tags, *(f"many {n}" for n in range(20))]
        return {
            "type": chance.choice((*TYPES, None)),
            "vendor": chance.choice((*VENDORS, None)),
            "tags": tags,
            "status": chance.choice(("ACTIVE", "ACTIVE", "ACTIVE", "DRAFT")),
            "published": chance.random() < 0.9,
            "price": chance.choice(("0", "5", "9.90", "10", "100", "1999.99")),
            "storefront": chance.choice(("eu", "us", None)),
        }

    def create(self) -> None:
        name = f"{self.random.choice('abcdeF')} {len(self.products)}"
        stock = self.random.choice((0, 3, None))
        variants = [{"title": "S", "stock": 0}, {"title": "L", "stock": stock}]
        sent = {"name": name, **self.fields(), "variants": variants}
        self.keep(self.shop.made(PRODUCTS, sent))

    def keep(self, product: Any) -> None:
        self.products[product["id"]] = product

    def write(self) -> None:
        """Create, change, sell out or delete one."""
        what = self.random.choice(("create", "create", "change", "price", "sell", "delete"))
        if what == "create" or len(self.products) < 20:
            self.create()
            return
        one = self.random.choice(list(self.products.values()))
        if what == "delete":
            assert self.shop.delete(path_of(one)).status == 200
            del self.products[one["id"]]
        elif what == "sell":
            variant = one["variants"][1]
            if variant["stock"]:
                line = {"variantId": variant["id"], "quantity": variant["stock"]}
                assert self.shop.post(ORDERS, {"lineItems": [line]}).status == 201
                variant["stock"] = 0
        else:
            sent = self.fields() if what == "change" else {"price": self.random.choice("789")}
            changed = self.shop.put(path_of(one), sent)
            assert changed.status == 200, changed.text
            self.keep(changed.json)

    def public(self, storefront: str | None = None) -> list[Any]:
        """The newest first."""
        return [
            one
            for one in reversed(self.products.values())
            if one["status"] == "ACTIVE" and one["published"]
            if not storefront or one["storefront"] in (storefront, None)
        ]

    def agrees_on_a_list(self) -> bool:
        """Compare a list with all its pages. Return whether its total was exact."""
        chance = self.random
        types = chance.sample(TYPES, chance.choice((0, 0, 1, 2)))
        vendors = chance.sample(VENDORS, chance.choice((0, 0, 1, 2)))
        tags = chance.sample(TAGS, chance.choice((0, 0, 1, 2)))
        storefront = chance.choice((None, None, "eu"))
        low, high = chance.choice(((None, None), ("5", None), (None, "10"), ("9.9", "100")))
        available = chance.choice((None, None, None, True, False))
        search = chance.choice(("", "", "", "b", "f"))
        sort = chance.choice(("newest", "name", "price", "-price"))
        wanted = [
            one
            for one in self.public(storefront)
            if (not types or one["type"] in types)
            and (not vendors or one["vendor"] in vendors)
            and (not tags or {*tags} & {*one["tags"]})
            and (low is None or Decimal(one["price"]) >= Decimal(low))
            and (high is None or Decimal(one["price"]) <= Decimal(high))
            and (available is None or available is any(v["stock"] != 0 for v in one["variants"]))
            and one["name"].lower().startswith(search)
        ]
        if sort == "name":
            wanted.sort(key=lambda one: one["name"].lower())
        elif sort != "newest":
            down = sort == "-price"
            wanted.sort(key=lambda one: (Decimal(one["price"]), one["id"]), reverse=down)
        asked = {"minPrice": low, "maxPrice": high, "search": search, "storefront": storefront}
        asked |= {"available": None if available is None else str(available).lower()}
        pairs = [("type", one) for one in types] + [("vendor", one) for one in vendors]
        pairs += [("tag", one) for one in tags] + [("sort", sort), ("limit", "7")]
        pairs += [(name, value) for name, value in asked.items() if value]
        found, cursor, is_exact = list[str](), "*", True
        while cursor:
            page = self.shop.read(f"/api/products?{urlencode([*pairs, ('cursor', cursor)])}")
            is_exact = is_exact and not page.get("totalIsAtLeast")
            assert page["total"] <= len(wanted), pairs
            assert page["total"] == len(wanted) or page["totalIsAtLeast"], pairs
            found += [one["id"] for one in page["data"]]
            cursor = page["pagination"]["next"]
        assert found == [one["id"] for one in wanted], pairs
        first = self.shop.read(f"/api/products?{urlencode(pairs)}")["data"]
        assert [one["id"] for one in first] == found[: len(first)], pairs
        second = self.shop.get(f"/api/products?{urlencode([*pairs, ('page', '2')])}")
        if second.status == 422:
            assert second.json["errors"][0]["code"] == "too_deep"
        else:
            assert [one["id"] for one in second.json["data"]] == found[7:14], pairs
        return is_exact

    def agrees_on_facets(self) -> None:
        for storefront in (None, "eu", "none"):
            public = self.public(storefront)
            asked = f"?storefront={storefront}" if storefront else ""
            shown = self.shop.read(f"{FACETS}{asked}")
            every = {
                "types": [one["type"] for one in public],
                "vendors": [one["vendor"] for one in public],
                "tags": [tag for one in public for tag in one["tags"]],
            }
            for name, values in every.items():
                counts = Counter(value for value in values if value)
                assert shown[name]["more"] is False
                assert {one["value"]: one["count"] for one in shown[name]["data"]} == counts
                texts = [quote(one["value"], safe="") for one in shown[name]["data"]]
                assert texts == sorted(texts)
            prices = sorted((one["price"] for one in public), key=Decimal)
            wanted = {"min": prices[0], "max": prices[-1]} if prices else None
            assert shown["price"] == wanted


@pytest.fixture
def catalogue(shop: Shop) -> Iterator[Model]:
    made = Model(shop, Random(7))
    for _ in range(40):
        made.create()
    yield made
    assert not any(found.wrong for _, found in check.list_recounts())


@pytest.mark.parametrize(("few", "most_read"), [(500, 4_000), (3, 4_000), (2, 0)])
def test_the_storefront_filters_and_sorts_as_a_plain_model_does(
    catalogue: Model, monkeypatch: pytest.MonkeyPatch, few: int, most_read: int
) -> None:
    monkeypatch.setattr(shelf, "FEW", few)
    monkeypatch.setattr(shelf, "_MOST_READ", most_read)
    exact = 0
    for _ in range(60):
        catalogue.write()
        exact += catalogue.agrees_on_a_list()
    assert exact >= (45 if few == 500 else 10)
    catalogue.agrees_on_facets()


def test_tags_that_the_facets_cannot_show_are_told_by_more(shop: Shop) -> None:
    sent = {"name": "Cup", "price": 1, "status": "ACTIVE", "tags": ["Küche", "Керамика"]}
    cup = shop.made(PRODUCTS, sent)
    assert shop.read("/api/products?tag=%D0%9A%D0%B5%D1%80%D0%B0%D0%BC%D0%B8%D0%BA%D0%B0")["data"]
    tags = shop.read(FACETS)["tags"]
    assert tags == {"data": [{"value": "Küche", "count": 1}], "more": True}
    shop.put(path_of(cup), {"tags": ["Küche"]})
    assert shop.read(FACETS)["tags"]["more"] is False


def test_a_cursor_is_of_one_list_of_the_storefront(shop: Shop) -> None:
    for number in range(3):
        sent = {"name": f"Mug {number}", "price": 1, "status": "ACTIVE"}
        shop.made(PRODUCTS, sent)
    asked = "/api/products?limit=1&available=true&cursor="
    cursor = shop.read(f"{asked}*")["pagination"]["next"]
    assert shop.get(f"{asked}{cursor}").status == 200
    for other in ("available=false", "sort=newest", "available=true&sort=name", "minPrice=1"):
        answer = shop.get(f"/api/products?limit=1&{other}&cursor={cursor}")
        assert (answer.status, answer.refused) == (422, ["cursor"]), other


def index_of_1_0_0(fields: Any) -> listing.Index:
    index = model.index_of(fields)
    orders = {name: index.orders[name] for name in ("name", "updated")}
    return replace(index, orders=orders, measures={})


def test_products_of_1_0_0_are_sorted_by_price_once_they_are_reindexed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = frozenset[str]()
    old = replace(model.KIND, orders=("name", "updated"), menus=(), measured=nothing, since={})
    made = Model(shop, Random(3))
    with monkeypatch.context() as release:
        release.setattr(store, "RECORDS", replace(store.RECORDS, kind=old, index=index_of_1_0_0))
        release.setattr(merge, "index_of", index_of_1_0_0)
        for _ in range(30):
            made.create()
    table.update(listing.RELEASE, assign={"indexed": {"product": 1}})
    of_facets = "lists by price, the values of tag, the values of type, the values of vendor"
    for asked, waits in (
        ("?sort=price", "lists by price"),
        ("?sort=name", "lists by name"),
        ("?minPrice=5", "lists by price"),
        ("/facets", of_facets),
    ):
        answer = shop.get(f"/api/products{asked}")
        assert (answer.status, answer.json["code"]) == (503, "reindexing"), asked
        assert answer.json["message"].startswith(f"Not available yet: {waits}. Records"), asked
    newest = shop.read("/api/products?type=Mugs&limit=100")["data"]
    assert [one["id"] for one in newest] == [
        one["id"] for one in made.public() if one["type"] == "Mugs"
    ]
    for _ in range(20):  # beside the reindexing
        made.write()
    reindex()
    for _ in range(30):
        made.agrees_on_a_list()
    made.agrees_on_facets()
    assert not any(found.wrong for _, found in check.list_recounts())
