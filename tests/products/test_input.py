"""The limits of a product's input: what is at a limit is accepted, one more is refused."""

import json
from typing import Any

import pytest

from chalicelib.problems import Invalid
from chalicelib.products import bulk
from chalicelib.products.schemas import NewProduct
from tests.products.build import PRODUCTS, new_product
from tests.support.shop import Shop


def variants(**fields: Any) -> dict[str, Any]:
    return {"variants": [{"title": "S", **fields}]}


def images(number: int) -> dict[str, Any]:
    return {"images": [{"url": f"https://example.com/{n}"} for n in range(number)]}


def metadata(size: int) -> dict[str, Any]:
    return {"metadata": {"a": "x" * (size - len(json.dumps({"a": ""})))}}


LIMITS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"name": "x" * 500}, {"name": "x" * 501}, "name"),
    ({"name": "\u200b\u0b95"}, {"name": " \u200b "}, "name"),
    ({"slug": "x" * 200}, {"slug": "x" * 201}, "slug"),
    ({"sku": "x" * 100}, {"sku": "x" * 101}, "sku"),
    ({"price": 0}, {"price": "-0.01"}, "price"),
    ({"price": "999999999999.99"}, {"price": 10**12}, "price"),
    ({"tags": ["x" * 100]}, {"tags": ["x" * 101]}, "tags.0"),
    ({"tags": [str(n) for n in range(100)]}, {"tags": [str(n) for n in range(101)]}, "tags"),
    (images(100), images(101), "images"),
    ({"description": "é" * 16_384}, {"description": "é" * 16_384 + "x"}, "description"),
    (metadata(16_384), metadata(16_385), "metadata"),
    (variants(stock=10**9), variants(stock=10**9 + 1), "variants.0.stock"),
    (variants(stock=0), variants(stock=-1), "variants.0.stock"),
    (variants(stock=1), variants(stock="1"), "variants.0.stock"),
    (
        {"variants": [{"title": str(n)} for n in range(500)]},
        {"variants": [{"title": str(n)} for n in range(501)]},
        "variants",
    ),
    ({"lowStockThreshold": 0}, {"lowStockThreshold": -1}, "lowStockThreshold"),
]


@pytest.mark.parametrize(
    ("accepted", "refused", "field"),
    LIMITS,
    ids=[f"{field}-{n}" for n, (*_, field) in enumerate(LIMITS)],
)
def test_input_is_accepted_at_its_limit_and_refused_beyond_it(
    shop: Shop, accepted: dict[str, Any], refused: dict[str, Any], field: str
) -> None:
    answer = shop.post(PRODUCTS, new_product(**accepted))
    assert answer.status == 201, answer.text
    assert shop.post(PRODUCTS, new_product(**refused)).refused == [field]


def test_a_bulk_of_500_rows_is_judged_row_by_row(shop: Shop) -> None:
    path = f"{PRODUCTS}/bulk"
    answer = shop.post(path, [{}] * 500)
    assert (answer.status, answer.json["summary"]) == (200, {"created": 0, "failed": 500})
    assert shop.post(path, [new_product()] * 501).refused == ["products"]
    assert shop.get(PRODUCTS).json["total"] == 0
    for sent, field in ({"rows": []}, "body"), ({"products": {}}, "products"), ("x", "products"):
        assert shop.post(path, sent).refused == [field]


def test_a_bulk_has_up_to_30000_variants_tags_and_words() -> None:
    def row(tags: int, variants: int = 0) -> NewProduct:
        """The word of the name; the tags and their words; the variants and their SKUs' words."""
        sent: dict[str, Any] = {"name": "x", "price": 1, "tags": [f"t{n}y" for n in range(tags)]}
        sent["variants"] = [{"sku": f"s{n}y"} for n in range(variants)]
        return NewProduct.model_validate(sent)

    rows = [*[row(50, 50)] * 149, row(20, 5)]  # 149 · 201 + 51
    bulk.refuse_too_much(rows)
    with pytest.raises(Invalid, match="30,001"):
        bulk.refuse_too_much([*rows, row(0)])


def test_a_product_has_up_to_200000_bytes_of_json(shop: Shop) -> None:
    urls = [f"https://example.com/{n:03d}/" + "x" * 1_900 for n in range(100)]

    def sent(*, more: int) -> dict[str, Any]:
        images = [{"url": url} for url in urls]
        return new_product(name="x", slug=f"x-{more:05d}", images=images, description="x" * more)

    made = shop.post(PRODUCTS, sent(more=100)).json
    for image in made["images"]:
        del image["pictureId"], image["sizes"]  # which follow from the address
    room = 200_000 - len(json.dumps(made)) + 100
    assert shop.post(PRODUCTS, sent(more=room)).status == 201
    assert shop.post(PRODUCTS, sent(more=room + 1)).refused == ["product"]


def test_the_public_pages_end_at_10000_products(shop: Shop) -> None:
    for limit, last in ((100, 100), (20, 500)):
        assert shop.get(f"/api/products?page={last}&limit={limit}").status == 200
        assert shop.get(f"/api/products?page={last + 1}&limit={limit}").refused == ["page"]
