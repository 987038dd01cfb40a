"""Reading cells, rows and files takes linear time. Errors affect only their row."""

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import FORMATS, Format, Ours, Shop, cells, read_as
from chalicelib.imports.formats.cells import BadCell
from chalicelib.imports.formats.mapped import FIELDS, Mapped
from chalicelib.imports.formats.proposal import propose
from chalicelib.imports.formats.sheet import Sheet
from tests.imports.test_formats import text
from tests.imports.test_recognition import columns

pytestmark = pytest.mark.thorough

SHOPS = [Shop(code, date(2026, 11, 20)) for code in ("EUR", "JPY", "KWD")]
ALL: tuple[type[Format], ...] = (Ours, *FORMATS)
ANYTHING = st.text(max_size=80) | st.text(
    st.sampled_from(" .,;:|'\"->=/\\#[]0123456789eE+-€$k٣²"), max_size=80
)
READINGS: dict[str, Callable[[str], Any]] = {
    **{name: getattr(cells, name) for name in ("text", "stock", "boolean", "status", "handle")},
    **{name: getattr(cells, name) for name in ("parse_list", "urls", "leaf", "day", "single")},
    **{f"amount {s.currency}": (lambda c, s=s: cells.amount(c, s)) for s in SHOPS},
    "currency": lambda cell: cells.currency(cell, SHOPS[0]),
    "stock, point": lambda cell: cells.stock(cell, "."),
    "stock, comma": lambda cell: cells.stock(cell, ","),
    "split": cells.split("|;"),
    "decimal mark": cells.decimal_mark,
    "spoilt": cells.is_spoilt,
    **{
        f"{file_format.name} {field}": reading
        for file_format in ALL
        for field, reading in file_format.readings.items()
    },
}
# Texts that made some reader slow, or raise an unexpected error.
LONG = [
    *(" ", ">", "->", " >", ",", "\\,", ",,", "'", '"', '=""', "1", "1,", "1 ", "1'", "0.", "a"),
    *("é", "|", ";", "\n", "https://", "http", "[S]", "Type=", "|Name=|Value=", "sku=,", "9" * 50),
    *("-", "+", "a=", "\u2028", "٣", "²", "ß", "#", ":", "/", "1.0", "E", "&quot;", "("),
]


@pytest.mark.parametrize("name", READINGS)
@given(cell=ANYTHING)
def test_every_reader_accepts_any_text_or_raises_bad_cell(name: str, cell: str) -> None:
    if not cell.strip():
        return
    try:
        READINGS[name](cell.strip())
    except BadCell as bad:
        assert bad.code and bad.message


@pytest.mark.parametrize("file_format", ALL, ids=lambda file_format: file_format.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_rows_become_a_product_or_errors(
    file_format: type[Format], data: st.DataObject
) -> None:
    header = columns(file_format)
    kinds = ["product", "variant", "variation", "configurable", "simple", "media", "1", "", "rule"]
    cell = st.one_of(st.sampled_from(kinds), ANYTHING)
    rows = data.draw(st.lists(st.lists(cell, max_size=len(header)), min_size=1, max_size=4))
    records = [CsvRow(at + 2, row) for at, row in enumerate(rows)]
    bound = file_format(header)
    for record in records:
        bound.product_key(record.cells)
        bound.product_aliases(record.cells, bound.product_key(record.cells))
        bound.is_of_row_above(records[0].cells, record.cells)
    product = bound.read_rows(records, SHOPS[0])
    assert "unreadable_row" not in {error.code for error in product.errors}
    for error in product.errors:
        assert error.row in {record.line for record in records}
        assert error.field in {"", *header}


def steps(work: Callable[[], object]) -> int:
    """The number of Python lines and C calls that `work` executes."""
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "c_call"

    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    return count


def taken(reading: Callable[[str], Any], cell: str) -> None:
    with suppress(BadCell):
        reading(cell)


@pytest.mark.parametrize("name", READINGS)
def test_reading_a_cell_takes_linear_time(name: str) -> None:
    for piece in LONG:
        short, long = (("x" + piece * (n // len(piece)) + "x") for n in (1_500, 15_000))
        few = steps(lambda cell=short: taken(READINGS[name], cell))  # type: ignore[misc]
        many = steps(lambda cell=long: taken(READINGS[name], cell))  # type: ignore[misc]
        assert many <= 12 * few + 200, piece


@pytest.mark.parametrize("file_format", ALL, ids=lambda file_format: file_format.name)
def test_reading_rows_and_lists_takes_linear_time(file_format: type[Format]) -> None:
    header = text(file_format.name).splitlines()[0]
    names = header.split(";") if file_format.name == "prestashop" else header.split(",")

    def work(many: int) -> Callable[[], object]:
        listed = ", ".join(f"https://x/{n}.jpg" for n in range(many))
        options = "|".join(f"sku=S-{n},size=L{n}" for n in range(many))
        row = [options if name == "configurable_variations" else listed for name in names]
        rows = [CsvRow(n + 2, [*row[:1], *([f"{n}"] * (len(row) - 1))]) for n in range(many)]
        bound = file_format(names)
        return lambda: bound.read_rows([CsvRow(2, row), *rows], SHOPS[0])

    few, many = steps(work(40)), steps(work(400))
    assert many <= 14 * few


def test_proposing_and_reading_a_mapping_takes_linear_time() -> None:
    def work(many: int) -> Callable[[], object]:
        names = [f"Column {n} of the product, Größe" for n in range(many)]
        rows = [[f"https://x/{n}.jpg" for n in range(many)]]
        mapping = dict.fromkeys(names, "imageUrl")

        def all_of_it() -> object:
            return propose(names, rows), Mapped(names, mapping).sheet

        return all_of_it

    assert steps(work(2000)) <= 12 * steps(work(200))


def test_an_unexpected_error_in_a_format_fails_only_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = read_as(["slug", "name", "price"])
    inner = bound.read_product
    monkeypatch.setattr(
        bound,
        "read_product",
        lambda draft: 1 / 0 if draft.rows[0]["slug"] == "bad" else inner(draft),
    )
    bad = bound.read_rows([CsvRow(2, ["bad", "Bad", "1"])], SHOPS[0])
    good = bound.read_rows([CsvRow(3, ["good", "Good", "1"])], SHOPS[0])
    assert [error[:3] for error in bad.errors] == [(2, "", "unreadable_row")]
    assert good.errors == []


def test_binding_a_sheet_takes_linear_time() -> None:
    table = {field: (f"{field} {{n}}", field) for field in FIELDS}

    def work(many: int) -> Callable[[], object]:
        return lambda: Sheet([f"name {n % 900} {n}" for n in range(many)], table)

    work(2000)()  # names are cleaned once
    assert steps(work(2000)) <= 12 * steps(work(200))
