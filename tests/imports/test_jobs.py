"""A file goes in over HTTP, products come out, and the job tells what became of it."""

from tests.imports.desk import Desk

TWO = """slug,name,price,sku,variantTitle,variantSku,variantPrice,stock
shirt,Shirt,20,,S,SH-S,18,3
shirt,,,,M,SH-M,,4
mug,Mug,7.5,MUG,,,,9
"""


def test_a_file_becomes_products(desk: Desk) -> None:
    job = desk.imported(TWO)
    assert job["status"] == "COMPLETED", job
    assert (job["total"], job["created"], job["failed"]) == (2, 2, 0)
    assert (job["progress"], job["dialect"], job["errors"]) == (100, "backroom", [])
    products = desk.products()
    assert [v["price"] for v in products["shirt"]["variants"]] == ["18.00", "20.00"]
    assert products["mug"]["variants"][0]["stock"] == 9
    assert sorted(desk.events()) == [("product.created", "mug"), ("product.created", "shirt")]


def test_the_same_file_again_changes_nothing(desk: Desk) -> None:
    desk.imported(TWO)
    before = desk.products()
    job = desk.imported(TWO)
    assert (job["unchanged"], job["updated"], job["created"]) == (2, 0, 0)
    assert desk.products() == before
    assert len(desk.events()) == 2
