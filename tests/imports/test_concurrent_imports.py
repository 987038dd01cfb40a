"""Concurrent imports and clients create each product once."""

import json
from collections import Counter

import pytest

from chalicelib.storage import commit
from tests.support.import_desk import Desk, counts

pytestmark = pytest.mark.thorough

BY_SKU = "name,price,sku\n" + "".join(f"Hat {n % 3},{n + 1},H-{n}\n" for n in range(8))
BY_SLUG = "slug,name,price,sku\n" + "".join(f"other-{n},Hat,{n + 1},H-{n}\n" for n in range(4, 12))
OPTIONS = "Handle,Title,Option1 Value,Variant SKU,Variant Price\n" + "".join(
    f"tee-{n},Tee,{size},T-{n}-{size},5\n" for n in range(4) for size in "SM"
)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize(
    ("first", "second", "products"),
    [
        (BY_SKU, BY_SKU, 8),
        (BY_SKU, BY_SLUG, 12),
        (BY_SLUG, BY_SKU, 12),
        (OPTIONS, OPTIONS.replace("tee-", "shirt-"), 4),
    ],
)
def test_two_concurrent_imports_create_each_product_once(
    desk: Desk, first: str, second: str, products: int, nth: int
) -> None:
    jobs = [desk.send(first), desk.send(second)]
    for job_id in jobs:
        desk.uploaded(job_id)
    one, other = sorted(
        desk.messages(), key=lambda message: jobs.index(json.loads(message["body"])["job"])
    )
    desk.meanwhile("TransactWriteItems", lambda: desk.handle(other), nth=nth)
    desk.handle(one)
    desk.work()
    skus = Counter(
        sku
        for product in desk.products().values()
        for sku in {product["sku"], *(v["sku"] for v in product["variants"])} - {None}
    )
    assert set(skus.values()) == {1}
    assert len(desk.products()) == products
    for job_id in jobs:
        job = desk.job(job_id)
        assert (job["status"], job["failed"], job["processed"]) == ("COMPLETED", 0, job["total"])
    assert sum(desk.job(job_id)["created"] for job_id in jobs) == products
    assert desk.imported(first)["created"] == 0


def test_a_product_created_by_a_client_meanwhile_is_the_only_one(desk: Desk) -> None:
    job_id = desk.started("name,price,sku\nHat,2,H-1\n")
    given = {"name": "Quite another name", "price": 1, "sku": "H-1"}
    desk.meanwhile("TransactWriteItems", lambda: desk.shop.post("/api/admin/products", given))
    desk.work()
    (product,) = desk.products().values()
    assert (product["name"], product["price"]) == ("Hat", "2.00")
    assert (desk.job(job_id)["created"], desk.job(job_id)["updated"]) == (0, 1)


def imported_while_a_client_creates(
    desk: Desk, file: str, given: list[dict[str, object]], nth: int
) -> None:
    """Two imports of a file, and a client that creates products while both run."""
    jobs = [desk.send(file), desk.send(file)]
    for job_id in jobs:
        desk.uploaded(job_id)
    one, other = desk.messages()

    def client() -> None:
        half = len(given) // 2
        for product in given[:half]:
            assert desk.shop.post("/api/admin/products", product).status in {201, 409}
        assert desk.shop.post("/api/admin/products/bulk", given[half:]).status == 200

    desk.meanwhile("TransactWriteItems", lambda: (client(), desk.handle(other)), nth=nth)
    desk.handle(one)
    desk.work()
    for job_id in jobs:
        job = desk.job(job_id)
        assert (job["status"], job["errors"], job["processed"]) == ("COMPLETED", [], 8)
    assert counts(desk.imported(file)) == [0, 0, 8, 0, 8]


def test_two_imports_update_products_that_a_client_creates_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One after the other: creating an existing SKU makes a second product with it, as requested.
    monkeypatch.setattr(commit, "run_together", lambda calls: [call() for call in calls])
    given: list[dict[str, object]] = [
        {"name": f"Of the client {n}", "price": 99, "sku": f"H-{n}"} for n in range(8)
    ]
    imported_while_a_client_creates(desk, BY_SKU, given, 1)
    products = desk.products().values()
    assert sorted(product["sku"] for product in products) == [f"H-{n}" for n in range(8)]
    assert {product["price"] for product in products} == {f"{n + 1}.00" for n in range(8)}
    assert all(product["slug"].startswith("of-the-client") for product in products)


@pytest.mark.parametrize("nth", [1, 2])
def test_two_imports_and_a_client_create_each_slug_once(desk: Desk, nth: int) -> None:
    given: list[dict[str, object]] = [
        {"slug": f"other-{n}", "name": f"Of the client {n}", "price": 99} for n in range(4, 12)
    ]
    imported_while_a_client_creates(desk, BY_SLUG, given, nth)
    products = desk.products()
    assert products.keys() == {f"other-{n}" for n in range(4, 12)}
    assert {product["name"] for product in products.values()} == {"Hat"}


@pytest.mark.parametrize("gone", ["deleted", "renumbered"])
def test_a_sku_that_a_product_gave_up_creates_a_new_product(desk: Desk, gone: str) -> None:
    desk.imported("slug,name,price,sku\nold,Old,1,H-1\n")
    path = f"/api/admin/products/{desk.products()['old']['id']}"
    answer = desk.shop.delete(path) if gone == "deleted" else desk.shop.put(path, {"sku": "H-2"})
    assert answer.status == 200
    job = desk.imported("name,price,sku\nNew,2,H-1\n")
    assert (job["created"], job["failed"]) == (1, 0)
    assert desk.products()["new"]["sku"] == "H-1"


def test_products_with_the_same_sku_in_a_file_are_all_created(desk: Desk) -> None:
    """Also more than are tried again after a conflict, and more than one condition can name."""
    rows = "slug,name,price,sku\n" + "".join(f"p{n},P{n},1,SAME\n" for n in range(210))
    job = desk.imported(rows)
    assert (job["created"], job["failed"]) == (210, 0), job
    assert desk.imported(rows)["unchanged"] == 210


def test_products_whose_variants_are_numbered_alike_are_all_created_by_two_imports(
    desk: Desk,
) -> None:
    rows = "slug,name,price,variantTitle,variantSku\n" + "".join(
        f"p{n},P{n},1,{size},{size}\n" for n in range(20) for size in "SML"
    )
    jobs = [desk.started(rows), desk.started(rows)]
    one, other = desk.messages()
    desk.meanwhile("TransactWriteItems", lambda: desk.handle(other), nth=5)
    desk.handle(one)
    desk.work()
    assert [desk.job(job_id)["failed"] for job_id in jobs] == [0, 0]
    assert sum(desk.job(job_id)["created"] for job_id in jobs) == len(desk.products()) == 20
