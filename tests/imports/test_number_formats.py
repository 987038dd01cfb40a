"""A workbook's numbers are imported as they are shown: LibreOffice 7.4 shows these so, but for
thousands separators and where a number would be blank."""

from typing import Any

import openpyxl
import pytest

from chalicelib.imports.csv.number_formats import normalize_shown, parse_format, show_number
from tests.imports.test_workbooks import saved
from tests.support.import_desk import Desk

EURO = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        *(("0.00", 12.5, "12.50"), ("0.00", 0.155, "0.16"), ("0", 2.5, "3"), ("0.##", 12.0, "12")),
        *(('#,##0.00\\ "€"', 1299, "1299.00 €"), ("#,##0.00 [$€-407]", 12.5, "12.50 €")),
        *(("[$CHF] #,##0.00", 12.5, "CHF 12.50"), ("[$R$-416] #,##0.00", 12.5, "R$ 12.50")),
        *(("[$-409]0.00", 12.5, "12.50"), ("¥#,##0", 1299, "¥1299"), ("#,##0.-", 1299, "1299.-")),
        *((EURO, 12.5, "12.50 €"), (EURO, -3.5, "-3.50 €"), (EURO, 0, "0 €")),
        *(("#,##0_);(#,##0)", -3, "-3"), ("$#,##0.00;[Red]-$#,##0.00", -3.5, "$-3.50")),
        *(("0%", 0.15, "15%"), ("0.0 %", 0.155, "15.5 %"), ('General" Stk"', 12, "12 Stk")),
        *(('"AB-"0000', 12, "AB-0012"), ('"AB-"0000', 0, "AB-0000"), ("00000", 12, "00012")),
        *(("0.000", 831757.75, "831757.750"), ("000-0000", 1299, "000-1299")),
        *(('00000000"."000', 831757.75, "00000831.758"), ('"SKU "0', 12, "SKU 12")),
        *(("[<100]0.00;0", 1299, "1299"), ("[>=1000]0.0;0.00", 12, "12.00"), ('0"/"0', 12, "1/2")),
        *(('0.00;-0.00;"sold"', -3.5, "-3.50"), (".00", 0.155, "0.16"), ("#.##", 0, "0")),
        # Nothing, an exponent, a fraction, thousands, a date and a text: as it is stored.
        *(('0.00;-0.00;"sold"', 0, None), ("0.00E+00", 12, None), ("# ?/?", 0.5, None)),
        *(('#,##0,"K"', 12345, None), ("dd.mm.yyyy", 4, None), ("[h]:mm", 1, None)),
        *(("@", 3, None), ("General", 3, None), ("", 3, None), ("0" * 501, 3, None)),
        *((";;;", 3, None), ('"x";"y";"z"', 12, None)),
    ],
)
def test_a_number_is_shown_by_its_format(code: str, value: float, shown: str | None) -> None:
    sections = parse_format(code)
    assert (sections and show_number(value, sections)) == shown


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        *(("12,50 €", 12.5, "12.50 €"), ("1.299,00 €", 1299, "1299.00 €"), ("15 %", 0.15, "15 %")),
        *(
            ("AB-0012", 12, "AB-0012"),
            ("00012", 12, "00012"),
            ("1 234,50 zł", 1234.5, "1234.50 zł"),
        ),
        *(("831757,750", 831757.75, "831757.750"), ("0,00 €", 0, "0.00 €"), ("(3)", -3, "-3")),
        *(("$1,234", 1234, "$1234"), ("12.35", 12.345, "12.35"), ("000-1299", 1299, "000-1299")),
        *(("4,1E+14", 4.1e14, None), ("01.02.24", 45323, None), ("sold", 0, None), ("", 5, None)),
    ],
)
def test_a_text_that_an_ods_shows_is_read(text: str, value: float, shown: str | None) -> None:
    assert normalize_shown(text, value) == shown


def book(*cells: tuple[Any, str]) -> bytes:
    found = openpyxl.Workbook()
    sheet = found.worksheets[0]
    sheet.append(["sku", "name", "price", "stock"][: len(cells)])
    for at, (value, code) in enumerate(cells, 1):
        sheet.cell(2, at, value).number_format = code
    return saved(found)


def load(desk: Desk, workbook: bytes) -> Any:
    """Import a workbook; its sheet is another upload."""
    return desk.finished(desk.imported(workbook)["id"])


def test_a_price_in_another_currency_is_refused_as_in_text(desk: Desk) -> None:
    job = load(desk, book(("M", "@"), ("Mug", "@"), (12.5, '#,##0.00\\ "€"')))
    assert job["errors"][0]["code"] == "currency_mismatch" and job["created"] == 0


@pytest.mark.parametrize(
    ("code", "price"), [("$#,##0.00", "12.50"), ("0.00", "12.50"), ("0", "13.00")]
)
def test_the_price_that_a_workbook_shows_is_imported(desk: Desk, code: str, price: str) -> None:
    load(desk, book((17, '"AB-"0000'), ("Mug", "@"), (12.5, code), (5, '0" Stk"')))
    (mug,) = desk.products().values()
    assert (mug["sku"], mug["price"]) == ("AB-0017", price)
    assert mug["variants"][0]["stock"] == 5


def test_a_percent_is_no_price(desk: Desk) -> None:
    job = load(desk, book(("M", "@"), ("Mug", "@"), (0.15, "0%")))
    assert [error["code"] for error in job["errors"]] == ["not_an_amount"]
