"""Rows of one product at different places of a file, and the order in which they count."""

import random
from functools import partial
from typing import Any

import pytest

from chalicelib import aws
from chalicelib.imports import chunks
from chalicelib.imports.csv import groups
from tests.support.dynamodb_double import Fault
from tests.support.import_desk import Desk, counts

pytestmark = pytest.mark.thorough

HEADER = "slug,name,price,description,variantTitle,variantSku,variantPrice,stock\n"


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "cut", partial(chunks.cut, rows=4))


def fillers(first: int, many: int = 5) -> str:
    """Other products, so that what is around them is in other chunks."""
    return "".join(f"f{n},F{n},1,,,,,\n" for n in range(first, first + many))


def spread(first: str, *others: str) -> str:
    """A file with these rows, each in a chunk of its own."""
    return HEADER + first + "".join(fillers(1000 * n) + row for n, row in enumerate(others))


def sizes(desk: Desk) -> list[tuple[str, str, int]]:
    """The variants of the product `a`."""
    return [(v["title"], v["price"], v["stock"]) for v in desk.products()["a"]["variants"]]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("price", ["5", ""], ids=["of the product", "of its last variant"])
def test_distant_variants_are_added_to_their_product_once_it_has_a_price(
    desk: Desk, price: str
) -> None:
    rows = (f"a,A,{price},,S,A-S,,1\n", "a,,,,M,A-M,6,2\n", "a,,,,S,A-S,4,\n")
    assert counts(desk.imported(spread(*rows))) == [11, 0, 0, 0, 11]
    assert sizes(desk) == [("S", "4.00", 1), ("M", "6.00", 2)]


@pytest.mark.usefixtures("small_chunks")
def test_the_later_row_wins_though_the_worker_crashed_that_created_the_product(desk: Desk) -> None:
    job_id = desk.send(spread("a,,,,S,A-S,4,1\n", "a,A,5,,S,A-S,9,7\n"))
    crashed: list[str] = []

    def faults(operation: str, request: Any) -> Fault | None:
        is_created = operation == "TransactWriteItems" and "slug#a" in str(request)
        if crashed or not is_created:
            return None
        crashed.append(operation)
        return Fault.CRASH_AFTER

    desk.dynamodb.faults = faults
    assert counts(desk.finished(job_id)) == [6, 0, 0, 0, 6]
    assert crashed
    assert sizes(desk) == [("S", "9.00", 7)]
    assert ("product.updated", "a") not in desk.events()


def test_a_product_with_too_many_rows_is_not_read_wherever_they_are(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MOST_ROWS", 3)
    first, *others = (f"a,A,1,,{size},,,5\n" for size in "SMLX")
    job = desk.imported(spread(first + others[0], *others[1:]))
    assert (counts(job), job["withErrors"]) == ([10, 0, 0, 1, 11], 1)
    assert [(error["row"], error["code"]) for error in job["errors"]] == [(2, "too_many_rows")]
    assert "a" not in desk.products()


@pytest.mark.usefixtures("small_chunks")
def test_variants_without_a_product_fail_and_are_reported(desk: Desk) -> None:
    job = desk.imported(spread("ghost,,,,S,G-S,4,1\n", "ghost,,,,M,G-M,6,\n"))
    assert counts(job) == [5, 0, 0, 1, 6]
    found = [(error["row"], error["code"]) for error in job["errors"]]
    assert found == [(2, "missing_name"), (8, "missing_name")]
    report = desk.report(job["id"])
    assert "ghost,,,,S,G-S,4,1,2,," in report and "ghost,,,,M,G-M,6,,8,," in report


@pytest.mark.parametrize(
    ("header", "rest", "lacking"),
    [
        ("sku,price\n", ",5", "name"),
        ("sku,name,description\n", ",5", "price"),
        (HEADER, ",P,,,,,,", "price"),
    ],
    ids=["no column of names", "no column of prices", "no product twice"],
)
def test_an_incomplete_product_fails_immediately_if_no_row_can_complete_it(
    desk: Desk, header: str, rest: str, lacking: str
) -> None:
    job_id = desk.send(header + "".join(f"nope-{n}{rest}\n" for n in range(400)))
    with desk.dynamodb.metered() as calls:
        job = desk.finished(job_id)
    assert counts(job) == [0, 0, 0, 400, 400]
    assert {error["code"] for error in job["errors"]} == {f"missing_{lacking}"}
    assert len(calls) < 400


def test_a_row_without_a_name_fails_for_the_name_and_not_for_its_price(desk: Desk) -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 value(s)\n"
    job = desk.imported(header + "4,variable,TEE,,9,,\n5,variable,CAP,Cap,9,,\n")
    nameless, priced = job["errors"]
    assert (nameless["code"], priced["code"]) == ("missing_name", "missing_price")
    assert "gives no name for a new one" in nameless["message"]
    assert "has the prices of its variations" in priced["message"]


def test_a_variation_without_its_parent_fails_alone_beside_a_product_with_the_parents_slug(
    desk: Desk,
) -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 value(s)\n"
    rows = "6,variation,T-R,,9,id:4,Red\n7,simple,product-4,Cap,6,,\n"
    job = desk.imported(header + rows)
    assert (job["created"], job["failed"]) == (1, 1)
    assert [error["row"] for error in job["errors"]] == [2]
    assert desk.products()["product-4"]["name"] == "Cap"


@pytest.mark.usefixtures("small_chunks")
def test_a_parent_without_a_price_waits_for_its_variations(desk: Desk) -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 value(s)\n"
    others = "".join(f"{n},simple,S{n},N{n},3,,\n" for n in range(100, 105))
    rows = "44,variable,TEE,Tee,,,\n" + others + "45,variation,T-R,,9,TEE,Red\n"
    job = desk.imported(header + rows + others.replace("S", "T") + "46,variation,T-B,,8,TEE,Blue\n")
    assert (job["failed"], job["created"]) == (0, 11)
    product = desk.products()["tee"]
    assert (product["name"], product["price"]) == ("Tee", "8.00")
    assert [v["title"] for v in product["variants"]] == ["Red", "Blue"]


@pytest.mark.parametrize("later", ["a,,5,,,,,\n", "a,A,5,,,,,\n", "a,,,,S,A-S,5,\na,,,,M,A-M,6,\n"])
def test_name_and_price_may_be_in_distant_rows(desk: Desk, later: str) -> None:
    rows = HEADER + "a,A,,first,,,,\nb,B,1,,,,,\n" + later + "c,C,1,,,,,\n"
    assert counts(desk.imported(rows)) == [3, 0, 0, 0, 3]
    product = desk.products()["a"]
    assert (product["price"], product["description"]) == ("5.00", "first")
    assert desk.imported(rows)["unchanged"] == 3


@pytest.mark.parametrize("variations", [1, 2])
def test_reimporting_a_parent_row_changes_no_variation(desk: Desk, variations: int) -> None:
    """WooCommerce writes the variations at the end, wherever their parent stands."""
    header = (
        "ID,Type,SKU,Name,Published,In stock?,Stock,Regular price,Parent,Attribute 1 value(s)\n"
    )
    rows = "44,variable,TEE,Tee,1,1,20,,,\n45,simple,MUG,Mug,1,1,4,3,,\n"
    rows += "".join(f"{n},variation,T-{n},Tee,1,1,5,9,TEE,{n}\n" for n in range(variations))
    job = desk.imported(header + rows)
    assert (job["created"], job["updated"], job["failed"]) == (2, 0, 0)
    before = desk.products()
    assert [v["sku"] for v in before["tee"]["variants"]] == [f"T-{n}" for n in range(variations)]
    again = desk.imported(header + rows)
    assert (again["unchanged"], again["failed"]) == (again["total"], 0)
    assert desk.products() == before


@pytest.mark.parametrize("options", ["M", "M S"])
def test_reimporting_a_master_row_changes_no_variant(desk: Desk, options: str) -> None:
    header = "slug,name,sku,price,compare_at_price,inventory_count,option1_value\n"
    variants = "".join(f"tee,,T-{option},9,,5,{option}\n" for option in options.split())
    rows = variants + "mug,Mug,MUG,3,,4,\ntee,Tee,TEE,1,2,7,\n"
    job = desk.imported(header + rows)
    assert (job["created"], job["failed"]) == (2, 0)
    before = desk.products()
    tee = before["tee"]
    assert (tee["sku"], tee["price"], tee["compareAtPrice"]) == ("TEE", "9.00", None)
    assert {(v["price"], v["stock"]) for v in tee["variants"]} == {("9.00", 5)}
    assert desk.imported(header + rows)["unchanged"] == 2
    assert desk.products() == before


@pytest.mark.parametrize("first", ["S", "M"])
def test_the_compare_at_price_is_that_of_the_cheapest_variant(desk: Desk, first: str) -> None:
    header = "Handle,Title,Option1 Value,Variant Price,Variant Compare At Price\n"
    lines = {"S": "tee,Tee,S,19,29\n", "M": "tee,Tee,M,18,25\n"}
    last = "M" if first == "S" else "S"
    rows = header + lines[first] + "mug,Mug,,5,\n" + lines[last]
    desk.imported(rows)
    assert desk.products()["tee"]["compareAtPrice"] == "25.00"
    assert desk.imported(rows)["unchanged"] == 2


def test_a_new_product_has_the_slug_of_its_name(desk: Desk) -> None:
    job = desk.imported("sku,name,price\nX,Hat,\nY,B,1\nX,Cap,5\n")
    assert (job["created"], job["failed"]) == (2, 0)
    assert (desk.products()["cap"]["name"], desk.products()["cap"]["price"]) == ("Cap", "5.00")


@pytest.mark.usefixtures("small_chunks")
def test_a_product_named_in_several_ways_at_distant_places_counts_once(desk: Desk) -> None:
    header = "slug,name,price,sku\n"
    others = "".join(f"f{n},F{n},1,\n" for n in range(5))
    again = others.replace("f", "g")
    file = header + ",,2,X\n" + others + "a,A,1,X\n" + again + "a,A,3,\n"
    desk.imported(header + "a,A,9,X\n")
    job = desk.imported(file)
    assert (job["created"], job["updated"], job["unchanged"]) == (10, 1, 0)
    assert job["total"] == job["processed"] == 11


def test_a_chunk_of_a_shuffled_file_takes_few_reads_of_s3(desk: Desk) -> None:
    sizes = [f"p{n},P{n},5,,{size},,,\n" for n in range(300) for size in "SML"]
    job_id = desk.started(HEADER + "".join(random.Random(5).sample(sizes, len(sizes))))
    reads: list[str] = []
    s3 = aws.client("s3")
    s3.meta.events.register(
        "before-call.s3.GetObject", lambda params, **_: reads.append(params["url"]), "reads"
    )
    desk.work()
    s3.meta.events.unregister("before-call.s3.GetObject", unique_id="reads")
    job = desk.job(job_id)
    assert (job["created"], job["rows"], job["withErrors"]) == (300, 900, 0)
    assert len(reads) == -(-900 // 200), "one for each chunk"


@pytest.mark.parametrize(
    ("header", "row", "code"),
    [
        ("sku,name,price\n", "#N/A,P{n},1\n", "spreadsheet_error"),
        ("sku,stock\n", "#REF!,{n}\n", "spreadsheet_error"),
        ("slug,name,price\n", "Err:502,P{n},1\n", "spreadsheet_error"),
        ("name,price\n", "#NAME?,{n}\n", "spreadsheet_error"),
        (
            "Product URL,Item,Name,Inventory Tracking\n",
            "#N/A,Product,P{n},none\n",
            "spreadsheet_error",
        ),
        ("sku,name,price\n", "4.00638E+12,P{n},1\n", "spoilt_sku"),
        ("SKU,Name,Is featured?,Regular price\n", "4.00638E+12,P{n},0,1\n", "spoilt_sku"),
        ("sku,attribute_set_code,name,price\n", "4.00638E+12,Top,P{n},1\n", "spoilt_sku"),
        ("Handle,SKU,Location,On hand\n", "Err:502,A-{n},Main,1\n", "spreadsheet_error"),
    ],
)
def test_each_of_many_rows_without_a_usable_key_has_an_error_of_its_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, header: str, row: str, code: str
) -> None:
    monkeypatch.setattr(groups, "MOST_ROWS", 3)
    job = desk.imported(header + "".join(row.format(n=n) for n in range(5)))
    found = [(error["row"], error["field"], error["code"]) for error in job["errors"]]
    assert found == [(line, header.partition(",")[0], code) for line in range(2, 7)]
    assert counts(job) == [0, 0, 0, 5, 5]
    assert desk.report(job["id"]).count(f",{code},") == 5
