"""The largest allowed product fits the transaction that writes it."""

import json
from typing import Any

from chalicelib.commit import TRANSACTION_ITEMS, Commit
from chalicelib.products import merge, store
from chalicelib.products.model import KIND, LARGEST_PRODUCT, MOST_VARIANTS
from tests.support.shop import Shop

NOW = "2026-11-20T06:12:14.123Z"
EXPRESSION_BYTES = 4_096  # AWS: the longest expression of a request
EXPRESSION_OPERATORS = 300  # AWS: operators and functions in it


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


def the_largest_change() -> Commit:
    made = merge.created(crowded("a", status="ACTIVE", type="A", storefront="a"), "a", NOW)
    store.writes(None, made).send()
    before = store.get(made.id)
    news = crowded("b", slug="b", status="ACTIVE", type="B", storefront="b", lowStockThreshold=5)
    for new, old in zip(news["variants"], before.variants(), strict=True):
        new |= {"id": old["id"], "stock": 1}
    after = merge.changed(before, news, NOW)
    assert len(after.index.words) > KIND.room
    return store.writes(before, after)


def test_a_change_of_everything_fits_one_transaction(shop: Shop) -> None:
    commit = the_largest_change()
    assert len(commit) <= TRANSACTION_ITEMS
    assert TRANSACTION_ITEMS - len(commit) < 16, "the room for words could be larger"


def test_the_conditions_on_all_variants_fit_one_expression(shop: Shop) -> None:
    request = json.loads(the_largest_change()._request())
    actions = [next(iter(action.values())) for action in request["TransactItems"]]
    for action in actions:
        for name in ("ConditionExpression", "UpdateExpression"):
            expression = action.get(name, "")
            assert len(expression.encode()) <= EXPRESSION_BYTES
            assert expression.count("=") + expression.count(" AND ") <= EXPRESSION_OPERATORS


def test_the_largest_product_fits_the_outbox_item(shop: Shop) -> None:
    name, price = "x", "1.00"
    images = [
        {"url": f"https://img.example/{n}/{'i' * 1_700}", "alt": "é" * 10} for n in range(100)
    ]
    product = merge.created({"name": name, "price": price, "images": images}, "x", NOW)
    commit = store.writes(None, product)
    assert commit._announced < LARGEST_PRODUCT < 400_000
