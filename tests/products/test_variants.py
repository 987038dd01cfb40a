"""How a sent variant is matched with the variants that a product has."""

from chalicelib.products import store
from tests.products.build import PRODUCTS, new_product, path_of, stored
from tests.support.shop import Shop


def test_of_variants_with_one_sku_the_one_with_the_sent_title_is_changed(shop: Shop) -> None:
    variants = [{"title": title, "sku": "A"} for title in "SML"]
    made = stored(shop, variants=variants)
    path = path_of(made)
    small, medium, large = (one["id"] for one in made["variants"])
    new = [{"sku": "A", "title": "L"}, {"sku": "A", "title": "XL"}, {"title": "M"}]
    changed = shop.put(path, {"variants": new}).json["variants"]
    assert [one["id"] for one in changed] == [large, small, medium]
    assert [one["title"] for one in changed] == ["L", "XL", "M"]


def test_the_only_variant_is_changed_without_its_title(shop: Shop) -> None:
    only = {"title": "Large", "sku": "A", "stock": 3}
    made = stored(shop, variants=[only])
    path = path_of(made)
    (known,) = made["variants"]
    for sent, expected in (
        ({"stock": 4}, {**known, "stock": 4}),
        ({"sku": "A", "stock": 5}, {**known, "stock": 5}),
        ({"title": "Medium", "sku": "A"}, {**known, "title": "Medium", "stock": 5}),
    ):
        assert shop.put(path, {"variants": [sent]}).json["variants"] == [expected]
    # Another SKU without a title is another variant.
    (another,) = shop.put(path, {"variants": [{"sku": "B"}]}).json["variants"]
    assert another["id"] != known["id"]
    assert (another["title"], another["sku"], another["stock"]) == ("Default", "B", None)
    # Without options its SKU may change.
    (same,) = shop.put(path, {"variants": [{"sku": "C"}]}).json["variants"]
    assert same == {**another, "sku": "C"}
    first, second = shop.put(path, {"variants": [{"title": "S"}, {"title": "M"}]}).json["variants"]
    assert (first["id"], first["sku"]) == (same["id"], "C")
    assert second["id"] != same["id"]


def test_a_variant_keeps_its_price_when_the_product_has_none_any_more(shop: Shop) -> None:
    made = stored(shop, price=10, sku="A")
    path, own = path_of(made), made["variants"][0]["id"]
    sent = {"price": None, "variants": [{"id": own, "price": "10.00"}]}
    changed = shop.put(path, sent).json
    assert (changed["price"], changed["variants"][0]["price"]) == ("10.00", "10.00")
    # The price is the variant's now, and stays.
    assert shop.put(path, {"price": 20}).json["variants"][0]["price"] == "10.00"


def test_a_product_is_not_found_by_the_title_of_its_default_variant(shop: Shop) -> None:
    shop.post(PRODUCTS, new_product(name="Hat"))
    shop.post(PRODUCTS, new_product(name="Cap", variants=[{"title": "Small"}]))
    assert shop.get(f"{PRODUCTS}?search=default").json["total"] == 0
    assert shop.get(f"{PRODUCTS}?search=small").json["total"] == 1


def test_a_product_rewritten_as_it_is_stays_the_same(shop: Shop) -> None:
    assert store.has_none()
    id = stored(shop)["id"]
    assert not store.has_none()
    known = store.get(id)
    assert store.rewrite_fields(known, dict(known.fields), dict(known.quantities)) is known
    other = store.rewrite_fields(known, {**known.fields, "vendor": "Acme"}, {})
    assert (other.fields["vendor"], other.version) == ("Acme", known.version + 1)
    assert other.fields["updatedAt"] >= known.fields["updatedAt"]


def test_a_given_variant_id_must_be_known(shop: Shop) -> None:
    made = stored(shop, variants=[{"title": "S"}])
    own = made["variants"][0]["id"]
    for sent in ([{"id": "var_x", "title": "S"}], [{"id": own}, {"id": own, "title": "M"}]):
        answer = shop.put(path_of(made), {"variants": sent})
        (error,) = answer.json["errors"]
        assert error["code"] == "unknown_variant"
        assert error["field"] == f"variants.{len(sent) - 1}.id"
        assert "is no variant of this product" in error["message"]
