"""Headers as suppliers write them, with the fields that a careful person would choose.

Each line of the file is a sheet: `column:field`, `-` for a column that is not to be read. A wrong
price, stock or SKU is worse than a column that is left out, so none may be wrong.
"""

from pathlib import Path
from typing import Final

import pytest

from chalicelib.imports.formats import recognise
from chalicelib.imports.formats.proposal import propose

pytestmark = pytest.mark.thorough

FILE: Final = Path(__file__).parent / "files/supplier_headers.txt"
CELLS: Final = {
    "sku": "AB-1001",
    "name": "Espresso cup, brown",
    "description": "Holds a double espresso. " * 10,
    "imageUrl": "https://img.example/cup.jpg",
    "vendor": "Northwind",
    "category": "Kitchen",
    "option1": "blue",
    "option2": "L",
    "variantTitle": "L",
    "stock": "40",
    "lowStockThreshold": "5",
    "-": "7.50",
}
EXACT: Final = {"price", "salePrice", "compareAtPrice", "stock", "sku"}


def sheets() -> list[list[tuple[str, str]]]:
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    cells = ([cell.rpartition(":") for cell in line.split("|")] for line in lines)
    return [[(column, field) for column, _, field in each] for each in cells]


def test_suppliers_headers_in_six_languages_are_proposed_as_a_careful_person_would_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CURRENCY", "EUR")
    wrong, dangerous, columns = [], [], 0
    for sheet in sheets():
        row = [CELLS.get(field, "12.50") for _, field in sheet]
        for (column, field), found in zip(
            sheet, propose([c for c, _ in sheet], [row]), strict=True
        ):
            columns += 1
            if (found or "-") != field:
                wrong.append((column, field, found))
                if found in EXACT:
                    dangerous.append((column, field, found))
    assert len(sheets()) >= 60
    assert dangerous == []
    assert len(wrong) <= columns * 0.05, wrong


@pytest.mark.parametrize(
    ("shop", "column", "is_price"),
    [
        ("EUR", "Price (€)", True),
        ("EUR", "Price €", True),
        ("USD", "Price ($)", True),
        ("CAD", "Price $", True),
        ("EUR", "Price_EUR", True),
        ("USD", "Price (€)", False),
        ("USD", "Price £", False),
        ("USD", "PRICE[£]", False),
        ("USD", "Price ₹", False),
        ("USD", "Price %", False),
        ("USD", "Compare at price €", False),
        ("USD", "Price EUR", False),
        ("USD", "Cena (RSD)", False),
        ("USD", "Cena zł", False),
        ("USD", "priceEur", False),
        ("USD", "Price in euros", False),
    ],
)
def test_a_header_in_another_currency_is_neither_recognised_nor_proposed_as_a_price(
    monkeypatch: pytest.MonkeyPatch, shop: str, column: str, is_price: bool
) -> None:
    monkeypatch.setenv("CURRENCY", shop)
    columns = ["Name", "SKU", column]
    proposed = propose(columns, [["Mug", "M-1", "12.50"]])[2]
    assert (proposed == "price") is is_price
    if not is_price:
        assert recognise(columns) is None
        assert proposed is None
