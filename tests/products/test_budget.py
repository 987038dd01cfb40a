"""The largest allowed product fits the transaction that writes it."""

import re
from typing import Any

import pytest

from chalicelib.orders.schemas import MOST_LINES
from chalicelib.products import merge, store
from chalicelib.products.model import KIND, LARGEST_PRODUCT
from chalicelib.products.schemas import MOST_VARIANTS
from chalicelib.storage.commit import TRANSACTION_ITEMS, Commit
from tests.products.build import PRODUCTS
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough

NOW = "2026-11-20T06:12:14.123Z"
EXPRESSION_BYTES = 4_096  # AWS: the longest expression of a request
EXPRESSION_OPERATORS = 300  # AWS: operators and functions in it
OPERATORS = re.compile(r"[<>=]+|[+]|AND|BETWEEN|attribute_\w+")


def crowded(word: str, **fields: Any) -> dict[str, Any]:
    """A product with more words than a transaction can hold, and the most tracked variants."""
    return {
        "name": " ".join(f"{word}{n:03d}x" for n in range(60)),
        "price": "1.00",
        "variants": [
            {"title": str(n), "sku": f"{word}-{n}", "stock": 9} for n in range(MOST_VARIANTS)
        ],
        **fields,
    }


def the_largest_change(external_ids: int = 0) -> Commit:
    """`external_ids`: of variants, which all change."""
    begun = crowded("a", status="ACTIVE", type="A", storefront="a")
    for place, variant in enumerate(begun["variants"][:external_ids]):
        variant["externalId"] = f"a-{place}"
    made = merge.create_product(begun, f"a{external_ids}", NOW)
    store.build_commit(None, made).send()
    before = store.get(made.id)
    news = crowded("b", slug="b", status="ACTIVE", type="B", storefront="b", lowStockThreshold=5)
    for new, old in zip(news["variants"], before.variants(), strict=True):
        new |= {"id": old["id"], "stock": 1}
        new["externalId"] = f"b-{new['title']}" if old["externalId"] else None
    after = merge.apply_change(before, news, NOW)
    assert len(after.index.words) > KIND.room
    return store.build_commit(before, after)


def test_a_change_of_everything_fits_one_transaction(shop: Shop) -> None:
    commit = the_largest_change()
    assert len(commit) <= TRANSACTION_ITEMS
    assert TRANSACTION_ITEMS - len(commit) < 16, "the room for words could be larger"
    assert len(the_largest_change(external_ids=30)) <= TRANSACTION_ITEMS


def test_a_change_of_all_words_and_tags_fits_one_transaction(shop: Shop) -> None:
    def product(word: str, words: int, tags: int, status: str) -> dict[str, Any]:
        return {
            "name": " ".join(f"{word}{n}" for n in range(10, 10 + words)),
            "tags": [f"{word}-{n}" for n in range(tags)],
            "price": "1.00",
            **{"status": status, "type": word, "vendor": word, "storefront": word},
        }

    for sizes in ((17, 3, 17, 16), (27, 12, 19, 0), (31, 17, 3, 1), (1, 12, 42, 11)):
        before, after = (product("a", *sizes[:2], "DRAFT"), product("b", *sizes[2:], "ACTIVE"))
        id = shop.post(PRODUCTS, before).json["id"]
        answer = shop.put(f"{PRODUCTS}/{id}", after)
        assert answer.status == 200, answer.json


@pytest.mark.parametrize("number", [40, 41, MOST_LINES])
def test_changes_of_the_stock_of_many_variants_fit_an_expression(shop: Shop, number: int) -> None:
    made = merge.create_product(crowded("a"), "a", NOW)
    store.build_commit(None, made).send()
    product = store.get(made.id)
    some = dict.fromkeys(list(product.quantities)[:number], 1)
    sold, returned = Commit(), Commit()
    store.sell_pieces(sold, [(product, some)], order_id="ord_1")
    store.return_pieces(returned, product.id, some, order_id="ord_1")
    left = {**product.quantities, **some}
    edited = store.build_commit(product, store.rewrite_fields(product, dict(product.fields), left))
    for commit in (sold, returned, edited):
        actions = commit._build_call().request["TransactItems"]
        (action,) = (one["Update"] for one in actions if "Update" in one)
        assert action["Key"]["sk"] == {"S": "stock"}
        for name in ("ConditionExpression", "UpdateExpression"):
            assert len(action[name].encode()) <= EXPRESSION_BYTES
            assert len(OPERATORS.findall(action[name])) <= EXPRESSION_OPERATORS


def test_the_largest_product_fits_the_outbox_item(shop: Shop) -> None:
    name, price = "x", "1.00"
    images = [
        {"url": f"https://img.example/{n}/{'i' * 1_700}", "alt": "é" * 10} for n in range(100)
    ]
    product = merge.create_product({"name": name, "price": price, "images": images}, "x", NOW)
    commit = store.build_commit(None, product)
    assert 150_000 < commit._announced < LARGEST_PRODUCT < 400_000
