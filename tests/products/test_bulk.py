"""Up to 500 products in one request."""

from tests.products.build import PRODUCTS, new_product, stored
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

BULK = f"{PRODUCTS}/bulk"


def test_each_row_succeeds_or_fails_independently(shop: Shop, dynamodb: Double) -> None:
    shop.post(PRODUCTS, new_product(slug="taken"))
    commits = dynamodb.asked("TransactWriteItems")
    rows = [
        *({"name": name, "price": 1} for name in ("Hat", "Hat", "")),
        *(new_product(slug=slug) for slug in ("taken", "mine", "mine")),
        *("no product", {"name": "Cap"}),
    ]
    answer = shop.post(BULK, rows)
    assert answer.status == 200
    data = answer.json["data"]
    assert [row["index"] for row in data] == list(range(8))
    assert [row["status"] == "created" for row in data] == [
        *(True, True, False, False, True, False, False, False)
    ]
    assert [row["product"]["slug"] for row in data if "product" in row] == ["hat", "hat-2", "mine"]
    codes = [row["error"]["code"] for row in data if "error" in row]
    assert codes == [
        *("validation_failed", "slug_taken", "slug_taken", "validation_failed", "validation_failed")
    ]
    assert answer.json["summary"] == {"created": 3, "failed": 5}
    assert len(commits) == 1 + 4 + 1  # together, each alone, and the second of one slug
    assert shop.get(PRODUCTS).json["total"] == 4
    assert [e["event"] for e in shop.events()] == ["product.created"] * 4


def test_a_bulk_of_taken_names_finds_free_slugs_before_it_writes(
    shop: Shop, dynamodb: Double
) -> None:
    for name in ("Hat", "Cap"):
        shop.post(PRODUCTS, new_product(name=name))
    commits = dynamodb.asked("TransactWriteItems")
    sent = [new_product(name=name) for name in ("Hat", "Cap", "Hat")]
    data = shop.post(BULK, [*sent, new_product(slug="mug"), new_product(name="Mug")]).json["data"]
    slugs = [row["product"]["slug"] for row in data]
    assert slugs == ["hat-2", "cap-2", "hat-3", "mug", "mug-2"]
    assert len(commits) == 1  # none of them was refused
    assert stored(shop, name="Hat")["slug"] == "hat-4"
    assert len(commits) == 1 + 2


def test_two_concurrent_creations_with_one_key_and_slug_make_one_product(
    shop: Shop, dynamodb: Double
) -> None:
    sent, key = new_product(name="Café", slug="one"), {"Idempotency-Key": "k"}
    first: list[Answer] = []

    def overtake() -> None:
        first.append(shop.post(PRODUCTS, sent, headers=key))

    assert shop.owner
    dynamodb.meanwhile("TransactWriteItems", overtake)
    second = shop.post(PRODUCTS, sent, headers=key)
    assert (first[0].status, second.status, second.text) == (201, 201, first[0].text)
    refused = shop.post(PRODUCTS, sent, headers={"Idempotency-Key": "another"})
    assert (refused.status, refused.json["code"]) == (409, "slug_taken")
    assert "'one'" in refused.json["message"]


def test_a_dry_run_of_creations_answers_the_same_and_writes_nothing(
    shop: Shop, dynamodb: Double
) -> None:
    shop.post(PRODUCTS, new_product(name="Hat", slug="taken", externalId="ERP-1"))
    commits = dynamodb.asked("TransactWriteItems")
    variants = [{"title": f"V{n}", "price": 1, "externalId": f"V-{n}"} for n in range(70)]
    sent = [
        *(new_product(name=name) for name in ("Cap", "Cap", "Taken")),
        *(new_product(slug=slug) for slug in ("taken", "mine", "mine")),
        *(new_product(externalId=id) for id in ("ERP-1", "ERP-2", "ERP-2")),
        *({"name": "", "price": 1}, "no product", {"name": "No price"}),
        {"name": "Many ids", "variants": variants},
    ]
    key = {"Idempotency-Key": "k"}
    previewed = shop.post(f"{BULK}?dryRun=true", sent, headers=key)
    assert previewed.status == 200 and commits == []
    assert shop.read(PRODUCTS)["total"] == 1
    assert [e["event"] for e in shop.events()] == ["product.created"]
    written = shop.post(BULK, sent, headers=key)
    assert show_outcomes(previewed) == show_outcomes(written)
    assert previewed.json["summary"] == written.json["summary"]
    assert written.json["summary"]["created"] == 5


def show_outcomes(answer: Answer) -> list[tuple[object, ...]]:
    """Return what a client may rely on of each row, without ids and times."""
    rows = answer.json["data"]
    errors = [row.get("error", {}) for row in rows]
    return [
        (row["status"], row.get("product", {}).get("slug"), error.get("code"), error.get("errors"))
        for row, error in zip(rows, errors, strict=True)
    ]
