"""Workbooks are read like CSV: cells as a spreadsheet shows them, with the sheet's row numbers."""

import io
import json
import signal
import subprocess
import zipfile
from collections.abc import Callable
from datetime import date, datetime

import openpyxl
import pytest

from chalicelib.imports.csv import workbooks
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.rows import WORKBOOK_MARK
from chalicelib.imports.csv.workbooks import as_csv, convert_workbook, is_workbook
from chalicelib.imports.steps import plan
from tests.imports.test_formats import read
from tests.support.import_desk import Desk

ODS = """<?xml version="1.0"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet>{}</office:spreadsheet></office:body></office:document-content>"""

MANIFEST = """<?xml version="1.0"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>
</manifest:manifest>"""


def xlsx(*rows: list[object], **further: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    for title, cells in further.items():
        sheet = book.create_sheet(title)
        for row in cells:
            sheet.append(row)
    return saved(book)


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def ods(**sheets: list[list[object]]) -> bytes:
    def cell(value: object) -> str:
        if isinstance(value, int | float):
            kind = f'office:value-type="float" office:value="{value}"'
        else:
            kind = 'office:value-type="string"'
        text = f"<text:p>{value}</text:p>" if value != "" else ""
        return f"<table:table-cell {kind}>{text}</table:table-cell>"

    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", ODS.format(tables))
    return out.getvalue()


def lines(data: bytes, sheet: str = "") -> list[str]:
    assert is_workbook(data)
    return b"".join(as_csv(data, sheet)).removeprefix(WORKBOOK_MARK).decode().split("\n")


def refused(data: bytes, sheet: str = "") -> FileRejected:
    with pytest.raises(FileRejected) as caught:
        list(as_csv(data, sheet))
    return caught.value


CATALOGUE: list[list[object]] = [
    ["slug", "name", "price", "sku", "stock"],
    ["mug", "Mug", 12.5, "00123", 4],
    ["tee", "Größe L", 20, "T-1", 3.0],
]
Writer = Callable[..., bytes]
BOTH = pytest.mark.parametrize(
    "write", [xlsx, lambda *rows, **further: ods(Sheet=list(rows), **further)], ids=["xlsx", "ods"]
)


@BOTH
def test_a_workbook_is_read_as_the_same_csv(write: Writer) -> None:
    csv = "slug,name,price,sku,stock\nmug,Mug,12.5,00123,4\ntee,Größe L,20,T-1,3\n"
    assert read(b"".join(as_csv(write(*CATALOGUE)))) == read(csv.encode())


def test_cells_are_read_as_a_spreadsheet_shows_them() -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append([123, 4006381333931, 0.1 + 0.2, 12.5, True, date(2026, 11, 20), "00123", 7])
    sheet.append([datetime(2026, 11, 20, 8, 30), -3, 1e-7, None, "a, b", 'say "hi"', "'x", "=1+1"])
    sheet["A1"].number_format = "00000"
    sheet["H1"].number_format = "0.00"
    assert lines(saved(book)) == [
        "00123,4006381333931,0.3,12.5,TRUE,2026-11-20,00123,7.00",
        '2026-11-20 08:30:00,-3,1e-07,,"a, b","say ""hi""",\'x,#VALUE!',
        "",
    ]


ROW = (
    '<table:table-row><table:table-cell office:value-type="float" office:value="123">'
    "<text:p>00123</text:p></table:table-cell>"
    '<table:table-cell table:number-columns-repeated="2" office:value-type="float" '
    'office:value="7"><text:p>007</text:p></table:table-cell>'
    '<table:table-cell office:value-type="float" office:value="0.5"><text:p>0.50</text:p>'
    "</table:table-cell></table:table-row>"
)


def test_the_leading_zeros_that_an_ods_shows_are_read() -> None:
    repeated = ROW.replace("table-row>", 'table-row table:number-rows-repeated="2">', 1)
    end = "</table:table></office"
    book = rewritten(
        ods(Other=[["00009"]], Sheet=[["sku", 5]]),
        "content.xml",
        lambda part: part.replace(end, f"{ROW}{repeated}{end}"),
    )
    padded = "00123,007,007,0.50"
    assert lines(book, "Sheet") == ["sku,5,,", *[padded] * 3, ""]
    assert lines(book) == ["00009", ""]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("><f>1+1</f><v>2</v>", "2"),
        (' t="str"><f>""</f><v></v>', ""),
        *((f"><f>1+1</f>{value}", "#VALUE!") for value in ("<v />", "<v/>", "<v></v>", "")),
    ],
)
def test_the_value_of_a_formula_is_read_and_one_that_was_not_calculated_is_no_blank(
    stored: str, shown: str
) -> None:
    def with_the_value(sheet: str) -> str:
        assert "><f>1+1</f><v />" in sheet
        return sheet.replace("><f>1+1</f><v />", stored)

    book = rewritten(xlsx(["price", "=1+1", "x"]), "xl/worksheets/sheet1.xml", with_the_value)
    assert lines(book)[0] == f"price,{shown},x"


def test_a_formula_without_a_value_is_found_wherever_its_sheet_is_cut_into_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    book = xlsx(["price", "=1+1", "x"])
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        place = archive.read("xl/worksheets/sheet1.xml").index(b"</f><v />")
    for cut in range(place - 1, place + 12):
        monkeypatch.setattr(workbooks, "_PIECE", cut)
        assert lines(book)[0] == "price,#VALUE!,x", cut


def test_a_formula_without_a_value_is_an_error_of_its_column(desk: Desk) -> None:
    book = xlsx(["name", "price", "vendor"], ["Mug", "=4+1", "Acme"], ["Cup", 6, "=1"])
    job = desk.finished(desk.imported(book)["id"])
    assert [(e["row"], e["field"], e["code"]) for e in job["errors"]] == [
        (2, "price", "spreadsheet_error"),
        (3, "vendor", "spreadsheet_error"),
    ]


@BOTH
def test_errors_have_the_row_numbers_of_the_sheet(write: Writer) -> None:
    header = ["slug", "name", "price", "description"]
    blank = ["", "", "", ""]
    data = write(blank, header, ["a", "A", 1, "two\nlines"], blank, ["b", "B", "free", ""])
    table = open_csv([*as_csv(data)])
    assert table.format.header_row == 2
    rows = list(table.rows())
    assert [(row.line, row.cells[0]) for row in rows] == [(3, "a"), (5, "b")]
    (first, _) = read(b"".join(as_csv(data)))
    assert first["description"].split() == ["two", "lines"]


@BOTH
def test_the_first_or_the_named_sheet_is_read(write: Writer) -> None:
    data = write(*CATALOGUE, Lager=[["slug", "stock"], ["a", 1]])
    assert lines(data)[0] == "slug,name,price,sku,stock"
    assert lines(data, "lager")[0] == "slug,stock"
    unknown = refused(data, "Prices")
    assert (unknown.code, '"Lager"' in unknown.message) == ("unknown_sheet", True)


def test_a_zip_bomb_with_a_false_declared_size_ends_its_reader_only() -> None:
    out = io.BytesIO()
    mebibyte = b" " * (1 << 20)
    with (
        zipfile.ZipFile(io.BytesIO(xlsx(*CATALOGUE))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            with new.open(name, "w") as part:
                for _ in range(50 if name == "xl/workbook.xml" else 0):
                    part.write(mebibyte)
                part.write(old.read(name))
    data = bytearray(out.getvalue())
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        name = data.index(b"xl/workbook.xml", data.index(signature))
        place = data.rindex(signature, 0, name) + at
        data[place : place + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(FileRejected) as rejected:
        convert_workbook([bytes(data)])
    assert rejected.value.code in {"workbook_too_large", "unreadable_workbook"}


def with_repeats(rows: int, columns: int, text: str = "x") -> bytes:
    cell = (
        f'<table:table-cell table:number-columns-repeated="{columns}" office:value-type="string">'
        f"<text:p>{text}</text:p></table:table-cell>"
    )
    empty = '<table:table-cell table:number-columns-repeated="16000"/>'
    return rewritten(
        ods(Sheet=[["name"]]),
        "content.xml",
        lambda part: part.replace(
            "</table:table></office",
            f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'
            f'<table:table-row table:number-rows-repeated="1000000">{empty}</table:table-row>'
            "</table:table></office",
        ),
    )


def with_one_text(rows: int, length: int) -> bytes:
    cells = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, rows + 1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    strings = f'<sst xmlns="{main}"><si><t>{"x" * length}</t></si></sst>'
    sheet = f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
    book = rewritten(xlsx(["x"]), "xl/worksheets/sheet1.xml", lambda _: sheet)
    return rewritten(book, "xl/sharedStrings.xml", lambda _: strings)


def rewritten(book: bytes, part: str, change: Callable[[str], str]) -> bytes:
    out = io.BytesIO()
    deflated = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(out, "w", deflated) as new:
        for name in {*old.namelist(), part}:
            text = old.read(name).decode() if name in old.namelist() else ""
            new.writestr(name, change(text) if name == part else text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("book", "limit"),
    [
        (with_repeats(1_000, 100, "x" * 30_000), "1,400 MB of memory"),
        (with_one_text(14_000, 32_000), "400 MB as CSV"),
    ],
    ids=["cells", "texts"],
)
def test_a_text_repeated_in_too_many_cells_is_refused_by_the_limit_that_it_reaches(
    book: bytes, limit: str
) -> None:
    assert len(book) < 300_000
    with pytest.raises(FileRejected, match=limit) as rejected:
        convert_workbook([book])
    assert rejected.value.code == "workbook_too_large"


def test_a_workbook_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.CompletedProcess([], -signal.SIGXCPU)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(FileRejected, match="300 seconds"):
        convert_workbook([xlsx(*CATALOGUE)])


def test_a_damaged_or_foreign_file_is_refused_with_a_reason() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("products.csv", "slug,name\n")
    assert refused(archive.getvalue()).code == "not_csv"
    whole = xlsx(*CATALOGUE)
    for cut in (len(whole) // 3, len(whole) - 10):
        assert refused(whole[:cut]).code == "unreadable_workbook"
    assert refused(whole.replace(b"PK\x05\x06", b"PK\x05\x07")).code == "unreadable_workbook"


def test_a_workbook_of_too_many_bytes_is_not_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "LARGEST_WORKBOOK", 100)
    monkeypatch.setattr(workbooks, "convert_workbook", None)
    assert desk.imported(xlsx(*CATALOGUE))["error"]["code"] == "workbook_too_large"


def far(*places: str) -> bytes:
    """A small sheet, and further cells; `D9=` is one without a value."""
    book = openpyxl.load_workbook(io.BytesIO(xlsx(["slug", "name"], ["mug", "Mug"])))
    for place in places:
        cell = book.worksheets[0][place.rstrip("=")]
        cell.font = openpyxl.styles.Font(bold=True)
        cell.value = None if place.endswith("=") else 1
    return saved(book)


@pytest.mark.thorough
def test_a_sheet_that_takes_too_much_memory_ends_its_reader_only() -> None:
    wide = far(*(f"{column}{row}" for row in range(1, 20_001) for column in ("A", "XFD")))
    with pytest.raises(FileRejected) as rejected:
        convert_workbook([wide])
    assert rejected.value.code in {"workbook_too_large", "unreadable_workbook"}


def test_a_text_of_two_thousand_million_blanks_is_refused() -> None:
    book = rewritten(
        ods(Sheet=[["slug", "name"], ["mug", "BLANKS"]]),
        "content.xml",
        lambda part: part.replace("BLANKS", '<text:s text:c="2000000000"/>'),
    )
    with pytest.raises(FileRejected, match="1,400 MB of memory"):
        convert_workbook([book])


def test_a_cell_far_from_the_others_is_refused() -> None:
    with pytest.raises(FileRejected, match="a cell far from the others"):
        convert_workbook([far("XFD1048576")])


@pytest.mark.parametrize(
    ("cells", "warned"),
    [(["XFD1048576="], "XFD1048576"), (["A1048576=", "XFD1="], "XFD1048576"), (["D9="], "")],
)
def test_blank_cells_far_from_the_others_are_left_out_with_a_warning(
    desk: Desk, cells: list[str], warned: str
) -> None:
    data = far(*cells)
    assert convert_workbook([data]) == (WORKBOOK_MARK + b"slug,name\nmug,Mug\n", warned)
    job = desk.finished(desk.started(data, dryRun="true"))
    far_away = [each for each in job["warnings"] if each["code"] == "blank_cells_far_away"]
    assert [warned in each["message"] for each in far_away] == [True] * bool(warned)
    assert job["failed"] == 1  # it has no price
    assert desk.retried(job["id"], "run")["warnings"] == job["warnings"]


_DAMAGED = {"unreadable_workbook", "not_csv", "workbook_too_large", "empty_file"}


@pytest.mark.thorough
@pytest.mark.parametrize("bits", [0x01, 0x55])
def test_a_damaged_workbook_is_read_or_refused(bits: int) -> None:
    """Each byte of a small one: among them are flags of encryption, and ways of packing."""
    for whole in (xlsx(*CATALOGUE[:2]), ods(Sheet=list(CATALOGUE))):
        for at in range(len(whole)):
            damaged = whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :]
            try:
                list(as_csv(damaged))
            except FileRejected as rejected:
                assert rejected.code in _DAMAGED


@BOTH
def test_a_workbook_is_imported_with_errors_at_its_rows(desk: Desk, write: Writer) -> None:
    bad: list[object] = ["bad", "Bad", "free", "B-1", 1]
    job_id = desk.started(write(*CATALOGUE, ["", "", "", "", ""], bad), name="products.xlsx")
    assert desk.job(job_id)["status"] == "QUEUED"  # the converted file is stored separately
    job = desk.finished(job_id)
    assert (job["status"], job["created"], job["failed"]) == ("COMPLETED", 2, 1)
    assert [(error["row"], error["field"]) for error in job["errors"]] == [(5, "price")]
    products = desk.products()
    assert products["mug"]["sku"] == "00123"
    assert products["tee"]["name"] == "Größe L"
    assert "bad,Bad,free" in desk.report(job_id)


def test_a_sheet_can_be_chosen_and_a_missing_one_is_reported(desk: Desk) -> None:
    data = xlsx(["nothing"], Lager=CATALOGUE)
    assert desk.finished(desk.started(data, sheet="Lager", encoding="cp1250"))["created"] == 2
    assert desk.products()["tee"]["name"] == "Größe L"
    assert desk.finished(desk.started(data, sheet="Lager", delimiter=";"))["unchanged"] == 2
    job = desk.imported(data, sheet="Preise")
    assert (job["status"], job["error"]["code"]) == ("FAILED", "unknown_sheet")
    bomb = desk.imported(b"PK\x03\x04" + bytes(1000))
    assert bomb["error"]["code"] == "unreadable_workbook"


def test_bars_and_semicolons_in_the_names_of_a_sheet_part_no_columns(desk: Desk) -> None:
    names = ["Name | Title", "Price | net | total", "Stock; counted"]
    for above in ([], [["Our | list | of | things"]]):
        job = desk.finished(desk.started(xlsx(*above, names, ["Mug", 5, 3])))
        assert [each["column"] for each in job["columns"]] == names
        assert (job["delimiter"], job["headerRow"]) == (",", len(above) + 1)


def test_failed_rows_of_a_sheet_with_bars_in_its_names_are_retried(desk: Desk) -> None:
    name = "Name|of|the|product|as|in|our|list"
    mapping = json.dumps({name: "name", "Cost": "price"})
    job = desk.finished(desk.started(xlsx([name, "Cost"], ["Mug", "free"]), mapping=mapping))
    again = desk.retried(job["id"])
    assert [(error["row"], error["field"]) for error in again["errors"]] == [(2, "Cost")]


def test_a_hidden_sheet_is_read_only_by_its_name() -> None:
    book = openpyxl.load_workbook(io.BytesIO(xlsx(["old"], New=[["new"]])))
    book.worksheets[0].title, book.worksheets[0].sheet_state = "Old", "hidden"
    book.active = 1
    assert lines(saved(book)) == ["new", ""]
    assert lines(saved(book), "old") == ["old", ""]
