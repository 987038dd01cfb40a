"""Sheets with unnamed or merged columns, two headers, remarks, or an end within a row."""

from typing import Any

import openpyxl
import pytest

from chalicelib.imports.csv.opening import open_csv
from tests.imports.test_workbooks import saved
from tests.support.import_desk import Desk, counts


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_row_within_which_the_file_ends_is_an_error(desk: Desk, end: str) -> None:
    job = desk.imported(f"sku,name,price,stock\nA1,Mug,13.50,41\nA2,Cup,12{end}")
    assert counts(job) == ([2, 0, 0, 0, 2] if end else [1, 0, 0, 1, 2])
    assert [(e["row"], e["code"]) for e in job["errors"]] == ([] if end else [(3, "cut_row")])


def test_a_whole_row_needs_no_line_end(desk: Desk) -> None:
    assert desk.imported("sku,name,price\nA1,Mug,13.50\nA2,Cup,12")["created"] == 2


def test_a_column_without_a_name_can_be_mapped(desk: Desk) -> None:
    sheet = "Code,,Price,\nA1,Mug,5.00,\nA2,Cup,6.00,\n"
    job = desk.waiting(sheet)
    shown: Any = {each["column"]: each["samples"] for each in job["columns"]}
    assert shown["column B"] == ["Mug", "Cup"] and "column D" not in shown
    columns = {"Code": "sku", "column B": "name", "Price": "price"}
    assert desk.answered(job, columns=columns, saveAs="supplier")["created"] == 2
    assert {p["name"] for p in desk.products().values()} == {"Mug", "Cup"}
    assert desk.waiting(sheet)["savedMapping"] == "supplier"
    again = desk.imported(sheet, savedMapping="supplier")
    assert again["unchanged"] == 2


def test_of_two_headers_the_one_with_known_names_is_asked_about(desk: Desk) -> None:
    sheet = "Artikel,,Preise,\nArt.-Nr.,Bezeichnung,VK,EK\nA1,Tasse,5.00,2.00\n"
    job = desk.waiting(sheet)
    assert job["headerRow"] == 2
    fields = {each["column"]: each["field"] for each in job["columns"]}
    assert fields == {"Art.-Nr.": "sku", "Bezeichnung": "name", "VK": "price", "EK": "cost"}


def test_a_first_row_of_products_is_no_header(desk: Desk) -> None:
    job = desk.waiting("Artikel,Menge,VK,Notiz\nName,Stock,Price,x\n")
    assert job["headerRow"] in {1, 2}
    job = desk.waiting("Article,Our Price,Note\nMug,5.00,Blue\n")
    assert job["headerRow"] == 1


@pytest.mark.parametrize("quote", ["", '"'])
def test_remarks_above_the_header_of_a_template_are_no_columns(quote: str) -> None:
    remark = f"{quote}# Required | A unique id{quote},{quote}# Required | The name | of it{quote}"
    table = open_csv([f"{remark}\nid,title\n1,Mug\n".encode()])
    assert (table.format.delimiter, table.format.header) == (",", ("id", "title"))
    assert [row.cells for row in table.rows()] == [["1", "Mug"]]


def test_a_column_of_row_numbers_is_no_remark() -> None:
    assert open_csv([b"#,name\n1,Mug\n"]).format.header == ("#", "name")


def test_cells_that_are_merged_over_rows_are_read_in_each(desk: Desk) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    rows = ("sku", "name", "price", "brand"), ("A", "Mug", 5, "Kestrel"), ("B", "Cup", 6, None)
    for row in (*rows, ("C", "Jug", 7, None), ("D", "Pot", 8, None)):
        sheet.append(row)
    sheet.merge_cells("D2:D4")
    desk.finished(desk.imported(saved(book))["id"])
    found = {p["sku"]: p["vendor"] for p in desk.products().values()}
    assert found == {"A": "Kestrel", "B": "Kestrel", "C": "Kestrel", "D": None}


def test_the_answer_for_unnamed_columns_is_checked(desk: Desk) -> None:
    job = desk.waiting("Code,,Price\nA1,Mug,5.00\n")
    columns = {"Code": "sku", "column C": "name"}
    assert desk.refused_answer(job, columns=columns) == ("columns.column C", "unknown_column")
