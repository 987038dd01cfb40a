"""Every format with a sample file: the values read, and the rules that every import keeps.

The files were written for these tests, modelled on exports of the systems.
"""

import csv
import io
import json
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from chalicelib.imports.csv.encodings import KNOWN
from chalicelib.imports.csv.groups import group_rows
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import FORMATS, Format, ImportedProduct, Ours, Shop, recognise
from chalicelib.imports.formats.sheet import Sheet
from tests.support.import_desk import Desk, counts

FILES = Path(__file__).parent / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())
ALL: dict[str, type[Format]] = {file_format.name: file_format for file_format in (Ours, *FORMATS)}
PRODUCTS = [name for name in ALL if name != "shopify_inventory"]
SHOP = Shop("EUR", date(2026, 11, 20))
# The first and last rows of a product; rows between them belong to it.
FIXED = {"vendure": (1, 0), "squarespace": (1, 0), "bigcommerce": (1, 0), "magento": (0, 2)}
PRICES = {"price", "salePrice", "compareAtPrice", "retail", "variantPrice", "amounts"}


def text(name: str) -> str:
    return (FILES / f"{name}.csv").read_text()


def opened(data: bytes, encoding: str = "") -> tuple[Format, list[list[CsvRow]]]:
    table = open_csv([data], encoding)
    found = recognise(table.format.header)
    assert found is not None
    file_format = found(table.format.header)
    return file_format, [group.rows for group in group_rows(table.rows(), file_format)]


def products(data: bytes, shop: Shop = SHOP, encoding: str = "") -> list[ImportedProduct]:
    file_format, groups = opened(data, encoding)
    return [file_format.read_rows(group, shop) for group in groups]


def read(data: bytes, encoding: str = "") -> list[dict[str, Any]]:
    found = products(data, encoding=encoding)
    return [{"slug": p.slug, **p.values, "new": p.if_new} for p in found]


def rewritten(
    name: str, change: Callable[[list[list[str]], Sheet], list[list[str]]], delimiter: str = ","
) -> str:
    """The file with changed rows."""
    table = open_csv([text(name).encode()])
    rows = [list(record.cells) for record in table.rows()]
    file_format = ALL[name](table.format.header)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([table.format.header, *change(rows, file_format.sheet)])
    return out.getvalue()


ENCODINGS = ["utf-8-sig", "utf-16", *KNOWN]


# --- What is read --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_each_file_is_recognised_and_gives_the_expected_products(name: str) -> None:
    file_format, groups = opened(text(name).encode())
    assert file_format.name == name
    read = [file_format.read_rows(group, SHOP) for group in groups]
    assert [(product.errors, product.repeated) for product in read] == [([], []) for _ in read]
    assert [{"slug": p.slug, **p.values, "new": p.if_new} for p in read] == EXPECTED[name]
    assert file_format.missed_columns == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_is_read_equally_in_every_encoding_and_delimiter(name: str, encoding: str) -> None:
    def can(written: str) -> str:
        """Whether the encoding has the letters of the text."""
        return written.replace("∞", "0").encode(encoding, "replace").decode(encoding)

    option = encoding if encoding in KNOWN else ""
    expected = read(can(text(name)).encode())
    # One delimiter each: those of a file differ by the encoding, those of an encoding by the file.
    delimiter = ",;\t|"[(list(ALL).index(name) + ENCODINGS.index(encoding)) % 4]
    written = rewritten(name, lambda rows, sheet: rows, delimiter)
    assert read(can(written).encode(encoding), option) == expected


# --- Promises ------------------------------------------------------------------------------------


def dearer(rows: list[list[str]], sheet: Sheet) -> list[list[str]]:
    """All prices raised by 1."""
    places = {at for field in PRICES for at in sheet.columns_of(field)}
    for row in rows:
        for at in places & set(range(len(row))):
            if row[at] and float(row[at]) > 0:
                row[at] = f"{float(row[at]) + 1:.2f}"
    return rows


def shuffled(
    rows: list[list[str]], sheet: Sheet, file_format: Format, *, within: bool = False
) -> list[list[str]]:
    """The products in another order, or the rows of each."""
    records = [CsvRow(at, row) for at, row in enumerate(rows)]
    groups = [[row.cells for row in group.rows] for group in group_rows(records, file_format)]
    chance = random.Random(3)
    if not within:
        chance.shuffle(groups)
    for group in groups if within else ():
        first, last = FIXED.get(file_format.name, (0, 0))
        moved = slice(first, max(len(group) - last, first))
        group[moved] = chance.sample(group[moved], len(group[moved]))
    return [cells for group in groups for cells in group]


def in_any_order(found: dict[str, Any]) -> dict[str, Any]:
    """Products without the order of their pictures, if the file gives no positions."""
    return {
        slug: {**product, "images": sorted(product["images"], key=str)}
        for slug, product in without(found, "updatedAt", "version").items()
    }


def without(found: Any, *names: str) -> Any:
    """Products, or a part of them, without fields of these names."""
    if isinstance(found, dict):
        return {key: without(each, *names) for key, each in found.items() if key not in names}
    return [without(each, *names) for each in found] if isinstance(found, list) else found


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRODUCTS)
def test_every_format_keeps_the_rules_of_imports(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CURRENCY", "EUR")
    file, many = text(name), len(EXPECTED[name])
    rehearsed = desk.imported(file, dryRun="true")
    assert desk.products() == {}
    real = desk.imported(file)
    assert (real["dialect"], real["errors"]) == (name, [])
    assert counts(rehearsed) == counts(real) == [many, 0, 0, 0, many]
    before = desk.products()
    assert len(before) == many

    assert counts(desk.imported(file)) == [0, 0, many, 0, many]

    _, groups = opened(file.encode())
    rows = sum(len(group) for group in groups[: many // 2])
    half = rewritten(name, lambda all_rows, sheet: all_rows[:rows])
    assert counts(desk.imported(half)) == [0, 0, many // 2, 0, many // 2]
    assert desk.products() == before

    file_format = ALL[name](open_csv([file.encode()]).format.header)
    other = rewritten(name, lambda rows, sheet: shuffled(rows, sheet, file_format))
    assert counts(desk.imported(other)) == [0, 0, many, 0, many]
    assert desk.products() == before

    for encoding in ("utf-16", "gb18030"):  # which have every letter
        option = {} if encoding == "utf-16" else {"encoding": encoding}
        assert counts(desk.imported(file.encode(encoding), **option)) == [0, 0, many, 0, many]

    mixed = rewritten(name, lambda rows, sheet: shuffled(rows, sheet, file_format, within=True))
    job = desk.imported(mixed)
    assert (job["created"], job["failed"], job["total"]) == (0, 0, many), job
    assert in_any_order(desk.products()) == in_any_order(before)
    assert counts(desk.imported(mixed)) == [0, 0, many, 0, many]
    desk.imported(file)

    job = desk.imported(rewritten(name, dearer))
    assert (counts(job), job["errors"]) == ([0, many, 0, 0, many], [])
    after = desk.products()
    prices = ("price", "compareAtPrice")
    assert without(in_any_order(after), *prices) == without(in_any_order(before), *prices)
    assert all(after[slug]["price"] != before[slug]["price"] for slug in before)


def test_an_inventory_changes_only_stock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURRENCY", "EUR")
    desk.imported(text("shopify"))
    before = desk.products()
    job = desk.imported(text("shopify_inventory"))
    assert (counts(job), job["errors"]) == ([0, 2, 0, 0, 2], [])
    after = desk.products()
    stocks = {v["sku"]: v["stock"] for p in after.values() for v in p["variants"]}
    assert stocks == {"LIN-S": 15, "LIN-L": 0, "MUG-1": 7, "CAFE": 3}
    assert counts(desk.imported(text("shopify_inventory"))) == [0, 0, 2, 0, 2]
    changed = ("stock", "lowStock", "updatedAt", "version")
    assert without(after, *changed) == without(before, *changed)


def test_an_inventory_creates_no_product_and_no_variant(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURRENCY", "EUR")
    desk.imported("slug,name,price,variantTitle,variantSku,stock\ntee,Tee,9,S,T-S,1\n")
    before = desk.products()
    header = "Handle,Title,Option1 Value,SKU,Location,Available (not editable),On hand (new)\n"
    rows = (
        "tee,Tee,S,T-S,Berlin,5,",
        "tee,Tee,M,T-M,Berlin,5,",
        "mug,Mug,Default Title,M,Berlin,5,",
    )
    assert desk.faults(header + "\n".join(rows)) == [
        (3, "SKU", "unknown_variant"),
        (4, "Handle", "not_found"),
    ]
    assert desk.products() == before
