"""Bad files: each row is imported, or reported with line, column and code."""

import pytest

from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

HEADER = "slug,name,price,sku,description\n"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"  \r\n \n", "empty_file"),
        (HEADER.encode() + b",,,,\n\n , ,,\n", "no_rows"),
        (b'{"products": []}', "not_csv"),
        (b"colour,size\nred,9\n", "unknown_columns"),
        (b"slug,name," + b"x" * 120_000 + b"\na,A,1\n", "bad_header"),
    ],
)
def test_a_file_without_products_ends_its_job_with_a_reason(
    desk: Desk, data: bytes, code: str
) -> None:
    job = desk.imported(data, onUnknownColumns="fail")
    assert job["status"] == "FAILED"
    assert (job["error"]["code"], job["error"]["row"]) == (code, 1)
    assert job["error"]["message"]
    assert desk.products() == {}


@pytest.mark.parametrize(
    "data",
    [
        "sep=;\nslug;name;price\nete;Été;1,50\n".encode(),
        "slug\tname\tprice\nete\tÉté\t€ 1.50\n".replace("€", "$").encode(),
        "slug,name,price\nete,Été,1.5\n".encode("cp1252"),
        "Price , NAME,Slug,,\n 1.50 ,  Été ,ete,,\n\n,,,,\n".encode(),
        "slug,name,price,description\nete,Été,1.5\n".encode(),
        "slug,name,price\n\t\n \u00a0\nete,Été,1.5\n \u00a0,\t, \n\t\n".encode(),
    ],
)
def test_a_product_is_the_same_in_every_encoding_and_delimiter(desk: Desk, data: bytes) -> None:
    job = desk.imported(data)
    assert (job["created"], job["failed"]) == (1, 0), job
    product = desk.products()["ete"]
    assert (product["name"], product["price"]) == ("Été", "1.50")


@pytest.mark.parametrize(
    ("row", "field", "code"),
    [
        ("b,B,free,,", "price", "not_an_amount"),
        ("b,,5,,", "", "missing_name"),
        ("b,B,,,", "", "missing_price"),
        ("Not A Slug,B,5,,", "slug", "invalid"),
        (",,5,4.00638E+12,", "sku", "spoilt_sku"),
        ("b,B,5,,d,e,f", "", "too_many_cells"),
        ("b", "", "too_few_cells"),
        ("b,B\0,5,,", "name", "nul_byte"),
        ('b,"B,5,,', "", "unclosed_quote"),
        ('b,"B" x,5,,', "", "misplaced_quote"),
        (f"b,{'B' * 501},5,,", "name", "too_long"),
        (f"b,B,5,{'S' * 101},", "sku", "too_long"),
        (f"b,B,5,,{'d' * 33_000}", "description", "invalid"),
        (f"b,B,5,,{'d' * 1_100_000}", "", "record_too_large"),
    ],
)
def test_a_bad_row_is_reported_by_line_column_and_code_and_affects_no_other(
    desk: Desk, row: str, field: str, code: str
) -> None:
    job = desk.imported(HEADER + "a,A,1,,\n" + row + "\nc,C,1,,\n")
    assert (job["status"], job["created"], job["failed"], job["total"]) == ("COMPLETED", 2, 1, 3)
    (error,) = job["errors"]
    assert (error["row"], error["field"], error["code"]) == (3, field, code)
    assert error["message"][-1] in ".?"
    assert sorted(desk.products()) == ["a", "c"]


def test_a_row_without_a_product_belongs_to_the_row_above_or_fails(desk: Desk) -> None:
    job = desk.imported(HEADER + ",,5,,\na,A,1,,\n,,,,more\n")
    assert (job["created"], job["failed"]) == (1, 1)
    assert [(e["row"], e["code"]) for e in job["errors"]] == [(2, "missing_key")]
    assert desk.products()["a"]["description"] == "more"


def test_text_marks_of_spreadsheets_are_removed(desk: Desk) -> None:
    rows = [
        '="00123",="12.50",="Mug"',
        "'00124,'7,'90s mug",
        '"=""A """,8,"=""A """"big"""" mug"""',
    ]
    job = desk.imported("sku,price,name\n" + "\n".join(rows) + "\n")
    assert job["created"] == 3
    found = {p["name"]: (p["sku"], p["price"]) for p in desk.products().values()}
    assert found == {
        "Mug": ("00123", "12.50"),
        "'90s mug": ("00124", "7.00"),
        'A "big" mug': ("A", "8.00"),
    }


def test_a_product_with_too_many_rows_fails_alone(desk: Desk) -> None:
    rows = "".join(f"b,B,1,S{n},\n" for n in range(2_001))
    job = desk.finished(desk.put((HEADER + "a,A,1,,\n" + rows + "c,C,1,,\n").encode()))
    assert (job["created"], job["failed"], job["total"]) == (2, 1, 3)
    assert [(error["row"], error["code"]) for error in job["errors"]] == [(3, "too_many_rows")]
    # It is too large to be fixed by hand, so the report omits it.
    assert job["errorReportUrl"] is None


def test_a_product_with_too_many_variants_fails_with_the_column(desk: Desk) -> None:
    rows = "".join(f"b,B,1,V{n},{n}\n" for n in range(501))
    job = desk.imported("slug,name,price,variantTitle,stock\n" + rows)
    assert (job["failed"], job["errors"][0]["code"]) == (1, "too_long")


def test_a_long_name_gets_a_unique_shortened_slug(desk: Desk) -> None:
    names = ["x" * 300, "x" * 300 + "y"]
    rows = "name,price\n" + "".join(f"{name},1\n" for name in names)
    assert desk.imported(rows)["created"] == 2
    assert desk.imported(rows)["unchanged"] == 2


@pytest.mark.parametrize("quote", ["", '"'])
def test_an_unreadable_row_fails_all_rows_of_its_product(desk: Desk, quote: str) -> None:
    def line(*cells: str) -> str:
        return ",".join(f"{quote}{cell}{quote}" for cell in cells) + "\n"

    rows = line("slug", "name", "price", "variantTitle")
    rows += (
        line("tee", "Tee", "9", "S") + line("tee", "", "9", 'M"" "big"') + line("tee", "", "9", "L")
    )
    job = desk.imported(rows.replace('M"" "big"', '"M" big') + line("mug", "Mug", "5", ""))
    assert (job["created"], job["failed"], job["total"]) == (1, 1, 2)
    assert list(desk.products()) == ["mug"]
    assert len(desk.report(job["id"]).splitlines()) == 4
