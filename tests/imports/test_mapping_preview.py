"""What a mapping makes of a file, before it is confirmed; and the line of the header."""

import json
from typing import Any

import pytest

from tests.imports.test_workbooks import xlsx
from tests.support.import_desk import Desk

SHEET = "Article,Product Name,Our Price,Qty,Talla\n"
SHOES = SHEET + "".join(
    f"S-{name}-{size},{name},{50 + size}.50,{size},{size}\n"
    for name in ("Ace", "Bow", "Cap", "Dot")
    for size in (8, 9, 10)
)
MAPPING = {"Article": "sku", "Product Name": "name", "Our Price": "price", "Qty": "stock"}
PARTED = (
    "12 rows become 12 products of one variant; did you mean 4 products? Then say which column is"
    " an option."
)


def preview(desk: Desk, job: Any, answer: Any) -> Any:
    reply = desk.shop.post(f"/api/admin/jobs/{job['id']}/mapping/preview", answer)
    assert reply.status == 200, reply.text
    return reply.json


def test_a_mapping_shows_how_many_products_and_variants_come_of_it(desk: Desk) -> None:
    job = desk.waiting(SHOES)
    found = preview(desk, job, {"columns": {**MAPPING, "Talla": "option1"}})
    counts = ("rows", "products", "variants", "failed", "isWhole", "question", "warnings")
    assert [found[name] for name in counts] == [12, 4, 12, 0, True, None, []]
    assert [each["name"] for each in found["first"]] == ["Ace", "Bow", "Cap"]
    assert found["first"][1]["variants"][2] == {
        "title": "10", "sku": "S-Bow-10", "price": "60.50", "stock": 10
    }  # fmt: skip
    assert (desk.products(), desk.job(job["id"])["status"]) == ({}, "NEEDS_MAPPING")
    done = desk.answered(job, columns={**MAPPING, "Talla": "option1"})
    assert (done["created"], done["rows"]) == (4, 12)
    assert [len(each["variants"]) for each in desk.products().values()] == [3, 3, 3, 3]


def test_a_mapping_that_makes_a_product_of_each_variant_is_a_question(desk: Desk) -> None:
    found = preview(desk, desk.waiting(SHOES), {"columns": {**MAPPING, "Talla": None}})
    assert (found["products"], found["variants"]) == (12, 12)
    assert found["question"] == PARTED


def test_a_mapping_that_was_not_previewed_is_doubted_in_the_report_and_goes_on(desk: Desk) -> None:
    parted = json.dumps(MAPPING)
    dry = desk.imported(SHOES, mapping=parted, dryRun="true")
    written = desk.retried(dry["id"], "run")
    doubt = {"code": "mapping_in_doubt", "message": PARTED, "column": ""}
    assert [doubt in job["warnings"] for job in (dry, written)] == [True, True]
    assert (written["status"], written["created"]) == ("COMPLETED", 12)
    joined = desk.imported(SHOES, mapping=json.dumps({**MAPPING, "Talla": "option1"}))
    assert "mapping_in_doubt" not in [each["code"] for each in joined["warnings"]]


def test_a_mapping_that_loses_variants_names_the_rows(desk: Desk) -> None:
    mapping = {"Product Name": "name", "Our Price": "price", "Qty": None}
    found = preview(desk, desk.waiting(SHOES), {"columns": mapping})
    assert (found["products"], found["variants"], len(found["warnings"])) == (4, 4, 3)
    both = "Rows 2 and 3 give the same product or variant another price."
    assert found["warnings"][0] == both


def test_rows_with_errors_are_in_the_preview(desk: Desk) -> None:
    job = desk.waiting(SHEET + "A,Ace,12.5€,1,\nB,,5,2,\nC,Cap,5,3,\n")
    found = preview(desk, job, {"columns": MAPPING})
    assert (found["products"], found["failed"]) == (3, 1)
    assert found["first"][0]["errors"][0].startswith("Row 2: ")


def test_a_preview_is_refused_as_the_mapping_is(desk: Desk) -> None:
    job = desk.waiting(SHOES)
    path = f"/api/admin/jobs/{job['id']}/mapping"
    for answer in ({"columns": {"Nope": "name"}}, {"format": "nope"}, {}):
        refused = desk.shop.post(path, answer)
        assert (refused.status, desk.shop.post(f"{path}/preview", answer).json) == (
            422,
            refused.json,
        )
    desk.answered(job, columns=MAPPING)
    assert desk.shop.post(f"{path}/preview", {"columns": MAPPING}).status == 409


def test_of_a_large_file_the_beginning_is_shown(desk: Desk) -> None:
    rows = "".join(f"S-{n},Shoe {n},5,1,{'x' * 900}\n" for n in range(2_000))
    found = preview(desk, desk.waiting(SHEET + rows), {"columns": MAPPING})
    assert not found["isWhole"]
    assert 500 < found["products"] == found["rows"] < 600
    assert found["failed"] == 0


def test_the_lines_of_a_cell_that_is_cut_at_the_end_of_a_preview_are_no_rows(desk: Desk) -> None:
    cell = '"' + "<p>One, two</p>\n" * 3_000 + '"'
    rows = "".join(f"S-{n},Shoe {n},5,1,{cell}\n" for n in range(20))
    found = preview(desk, desk.waiting(SHEET + rows), {"columns": MAPPING})
    assert (found["rows"], found["products"], found["failed"]) == (10, 10, 0)
    assert not found["isWhole"]


def test_a_product_that_is_too_large_is_in_the_preview(desk: Desk) -> None:
    rows = "S-0,Mug,5,1,\n" + "".join(f"S-1,Shoe,5,1,{n}\n" for n in range(2_001))
    columns = {**MAPPING, "Article": None, "Talla": "option1"}
    found = preview(desk, desk.waiting(SHEET + rows), {"columns": columns})
    assert (found["products"], found["failed"]) == (2, 1)
    assert "more than 2000 rows" in found["first"][1]["errors"][0]


def test_a_question_about_a_large_file_is_about_its_first_rows(desk: Desk) -> None:
    rows = "".join(f"S-{n},Mug {n // 3} {'x' * 400},5,1,\n" for n in range(1_500))
    found = preview(desk, desk.waiting(SHEET + rows), {"columns": {**MAPPING, "Talla": None}})
    assert found["question"].startswith(f"The first {found['rows']} rows become {found['rows']}")
    assert found["failed"] == 0  # the last one, which may be cut, is left out


def test_a_row_larger_than_what_is_read_is_in_the_preview(desk: Desk) -> None:
    columns = {**MAPPING, "Talla": None}
    found = preview(desk, desk.waiting(SHEET + f"S-1,{'x' * 600_000},5,1,\n"), {"columns": columns})
    assert (found["rows"], found["products"], found["isWhole"]) == (1, 1, False)


# --- The header -----------------------------------------------------------------------------------

ROWS = "Mug,M-1,5.00,3\nHat,H-1,6.00,4\n"
NUMBERED = {"Column 1": "name", "Column 2": "sku", "Column 3": "price", "Column 4": "stock"}


def prices(desk: Desk) -> dict[str, str]:
    return {each["name"]: each["price"] for each in desk.products().values()}


def test_a_missing_header_is_found_and_no_product_is_lost(desk: Desk) -> None:
    job = desk.waiting(ROWS)
    assert job["headerRow"] == 0
    assert job["columns"][0]["column"] == "Column 1"
    assert job["columns"][0]["samples"] == ["Mug", "Hat"]
    assert preview(desk, job, {"columns": NUMBERED})["products"] == 2
    desk.answered(job, columns=NUMBERED)
    assert prices(desk) == {"Mug": "5.00", "Hat": "6.00"}


def test_failed_rows_of_a_file_without_a_header_can_be_retried(desk: Desk) -> None:
    options = {"mapping": json.dumps(NUMBERED), "headerRow": "0"}
    job = desk.imported("Hat,H-1,6.00,\n" + "Mug,M-1,x,3\n", **options)
    assert [error["row"] for error in job["errors"]] == [2]
    again = desk.retried(job["id"])
    assert (again["failed"], [error["row"] for error in again["errors"]]) == (1, [2])


@pytest.mark.parametrize(("row", "name"), [(1, "Mug"), (0, "Column 1"), (2, "Hat")])
def test_the_header_can_be_named_in_the_answer(desk: Desk, row: int, name: str) -> None:
    job = desk.waiting("Mug,M-1,five,few\nHat,H-1,six,few\nTee,T-1,six,few\n")
    assert job["columns"][0]["column"] == "Mug"
    again = desk.answered(job, headerRow=row)
    assert (again["status"], again["headerRow"]) == ("NEEDS_MAPPING", row)
    assert again["columns"][0]["column"] == name


def test_the_header_can_be_named_with_the_upload(desk: Desk) -> None:
    above = "From,To,Currency,Unit\n2026-01-01,2026-12-31,USD,piece\n\n"
    text = above + "name,sku,price,stock\n" + ROWS
    assert desk.waiting(text)["columns"][0]["column"] == "From"
    job = desk.imported(text, headerRow="4")
    assert (job["headerRow"], job["created"]) == (4, 2)
    assert desk.imported(text.replace("5.00", "x"), headerRow="4")["errors"][0]["row"] == 5
    assert desk.imported(text, headerRow="99")["error"]["code"] == "bad_header"
    for row in ("-1", "0_4"):
        assert desk.post(text, headerRow=row).json["errors"][0]["field"] == "headerRow"
    upload = {"fileName": "a.csv", "headerRow": True}
    (error,) = desk.shop.post("/api/admin/products/import/uploads", upload).json["errors"]
    assert (error["field"], error["code"]) == ("headerRow", "invalid_type")


def test_a_header_of_numbers_is_one_if_a_name_is_known(desk: Desk) -> None:
    assert desk.waiting("Name,38,39\nShoe,1,2\n")["columns"][1]["column"] == "38"


@pytest.mark.parametrize(
    "above", [[["Prices"]], [["Prices", "May"], [None] * 4], [["P"], [], ["May"]]]
)
def test_titles_and_blank_columns_of_a_workbook_are_no_header(
    desk: Desk, above: list[list[object]]
) -> None:
    header = ["name", "sku", "price", "stock", None, None]
    rows = [["Mug", "M-1", 5, 3, None, "a note"], ["Hat", "H-1", 6, 4]]
    job_id = desk.send(xlsx(*above, header, *rows), name="prices.xlsx")
    desk.uploaded(job_id)  # it becomes a CSV
    job = desk.finished(job_id)
    assert (job["created"], job["failed"], job["headerRow"]) == (2, 0, len(above) + 1)
