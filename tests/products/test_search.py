"""A product is found by each of its words and each prefix of them."""

from chalicelib.listing import MOST_WORD_BYTES
from chalicelib.products import store
from chalicelib.products.schemas import MOST_VARIANTS
from tests.products.build import PRODUCTS, new_product, stored
from tests.support.shop import Shop

PUBLIC = "/api/products"


def found(shop: Shop, search: str) -> list[str]:
    """In both lists, which must agree."""
    answers = [shop.get(f"{path}?search={search}").json for path in (PRODUCTS, PUBLIC)]
    ids = [[product["id"] for product in answer["data"]] for answer in answers]
    assert ids[0] == ids[1]
    assert [answer["total"] for answer in answers] == [len(ids[0])] * 2
    return ids[0]


def test_a_search_without_a_visible_character_finds_nothing(shop: Shop) -> None:
    shop.made(PRODUCTS, new_product(status="ACTIVE"))
    for search in ("%E2%80%8B", "%C2%AD", "%00", "%E2%80%8B%20%EF%BB%BF"):
        assert found(shop, search) == [], search


def test_a_product_is_found_by_all_its_variants_tags_and_words(shop: Shop) -> None:
    name = " ".join(f"N{number:02d}ame" for number in range(33))[:200]
    variants = [
        {"title": f"Size {n} / Hue{n:03d}", "sku": f"SH-{n:03d}", "price": 1, "stock": 1}
        for n in range(MOST_VARIANTS)
    ]
    tags = [f"tag{n:03d}" for n in range(100)]
    sent = new_product(name=name, variants=variants, tags=tags, vendor="Acme", status="ACTIVE")
    id = shop.post(PRODUCTS, sent).json["id"]
    shop.post(PRODUCTS, new_product(name="Other", sku="SH-0000", status="ACTIVE"))
    last = MOST_VARIANTS - 1
    for number in (0, last // 2, last):
        for search in (f"SH-{number:03d}", f"hue{number:03d}", f"{number:03d}"):
            assert id in found(shop, search), search
    for search in ("tag000", "TAG099", "tag05", "acme", "n00a", "N27", "sh-1", "hu", "tag"):
        assert found(shop, search) == [id], search
    for search in ("tag100", f"SH-{last + 1:03d}", "hue9999"):
        assert found(shop, search) == []
    for status, total in (("ACTIVE", 1), ("DRAFT", 0)):
        assert shop.get(f"{PRODUCTS}?search=SH-{last}&status={status}").json["total"] == total
    assert shop.get(f"{PRODUCTS}?search=SH-{last}&page=2").json["data"] == []
    shop.put(f"{PRODUCTS}/{id}", {"tags": [*tags[1:], "new"], "vendor": None})
    assert found(shop, "tag000") == found(shop, "acme") == []
    assert found(shop, "tag099") == found(shop, "new") == found(shop, "SH-050") == [id]
    assert shop.delete(f"{PRODUCTS}/{id}").status == 200
    assert found(shop, "tag") == found(shop, "sh-050") == []


def test_an_exact_sku_finds_its_product_among_longer_ones(shop: Shop) -> None:
    """Longer SKUs of other products, and of its own variants."""
    own = [{"title": size, "sku": f"TS-1-{size}", "price": 1} for size in "SML"]
    id = stored(shop, sku="TS-1", variants=own)["id"]
    for number in range(30):
        shop.post(PRODUCTS, new_product(sku=f"TS-1{number:02d}"))
    assert [product.id for product in store.find_by_skus(["TS-1"])["TS-1"]] == [id]
    answer = shop.get(f"{PRODUCTS}?search=TS-1&limit=100").json
    assert id in [product["id"] for product in answer["data"]]


def test_too_many_words_are_refused_and_never_left_out(shop: Shop) -> None:
    skus = ["-".join(f"{letter}{n}" for letter in "abcdefghijklmnopqrs") for n in range(500)]
    variants = [{"title": sku[:9], "sku": sku, "price": 1} for sku in skus]
    id = stored(shop)["id"]
    for refused in (
        shop.post(PRODUCTS, new_product(variants=variants)),
        shop.put(f"{PRODUCTS}/{id}", {"variants": variants}),
    ):
        (error,) = refused.json["errors"]
        assert (refused.status, error["code"]) == (422, "too_many_words")
        assert str(MOST_WORD_BYTES) in error["message"]
    bulk = shop.post(f"{PRODUCTS}/bulk", [new_product(variants=variants), new_product()]).json
    assert [row["status"] for row in bulk["data"]] == ["error", "created"]
