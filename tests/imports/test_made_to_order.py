"""Columns of products that are made to order."""

import csv
import io

import pytest

from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough


def table(*rows: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    "cell",
    [
        *("Gold 750", "{}", "null", "[NaN]", "[" * 50_000),
        *(r'[{"name": "a\u0000"}]', r'[{"name": "\\\u0000"}]', r'[{"name": "\ud800"}]'),
    ],
)
def test_a_specification_that_the_api_would_refuse_is_an_error_of_its_row(
    cell: str, desk: Desk
) -> None:
    columns = ["slug", "name", "price", "madeToOrder", "specification"]
    faults = desk.faults(table(columns, ["ring", "Ring", "1", "yes", cell]))
    assert faults == [(2, "specification", "invalid")]


def test_a_specification_may_name_an_escape(desk: Desk) -> None:
    columns = ["slug", "name", "price", "madeToOrder", "specification"]
    row = ["ring", "Ring", "1", "yes", r'[{"name": "\\u0000", "choices": ["\ud83d\udc8d"]}]']
    assert desk.imported(table(columns, row))["created"] == 1
    (product,) = desk.shop.get("/api/admin/products").json["data"]
    named = {"name": r"\u0000", "required": False, "choices": ["💍"]}
    assert product["specification"] == [named]


@pytest.mark.parametrize("cell", ["-1", "731"])
def test_lead_days_have_the_limits_of_the_api(cell: str, desk: Desk) -> None:
    columns = ["slug", "name", "price", "madeToOrder", "leadDays"]
    faults = desk.faults(table(columns, ["ring", "Ring", "1", "yes", cell]))
    assert faults == [(2, "leadDays", "out_of_range")]


@pytest.mark.parametrize(
    ("column", "cell"), [("Specification", "Gold 750, 18 cm"), ("Lead days", "2-3")]
)
def test_a_column_of_a_supplier_with_such_a_name_is_asked_about(
    column: str, cell: str, desk: Desk
) -> None:
    desk.waiting(table(["SKU", "Name", "Price", column], ["R-1", "Ring", "1", cell]))
