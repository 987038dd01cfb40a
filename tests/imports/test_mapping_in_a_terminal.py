"""The columns of a file, asked for in a terminal, against the application itself."""

import io
from typing import Any

import pytest
from backroom.cli import mapping

from tests.client.inside import client
from tests.imports.test_mapping_preview import MAPPING, SHOES
from tests.support.import_desk import Desk

COLUMNS = {**MAPPING, "Talla": "option1"}
ENTER = ""


def answered(desk: Desk, monkeypatch: pytest.MonkeyPatch, text: str, *typed: str) -> Any:
    """The mapping that what somebody types comes to."""
    job = desk.waiting(text)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*typed, ""])))
    sent: list[Any] = []
    shop, _ = client(desk.shop)
    send = shop.map_import_columns

    def recorded(id: str, body: Any) -> Any:
        answer = send(id, body)
        sent.append({**body, "columns": dict(body["columns"])})
        return answer

    monkeypatch.setattr(shop, "map_import_columns", recorded)
    mapping.ask_for_mapping(shop, job)
    (body,) = sent
    return body


def test_enter_at_each_prompt_takes_the_proposal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body = answered(desk, monkeypatch, SHOES, *[ENTER] * 7)
    assert body == {"columns": COLUMNS}
    said = capsys.readouterr().err
    assert "price" in said and "What a piece costs the shop" in said
    assert "12 rows become 4 products with 12 variants; 0 products have errors." in said
    assert "8, SKU S-Ace-8, price 58.50, stock 8" in said


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["bogus", "sku"], '"bogus" is none of: name, slug'),
        (["s", "sk"], '"s" may be: slug, sku'),
        (["?", "SKU"], "Handle: the product's name in addresses"),
        (["name", "name", "<", "sku"], '"Article" is already name.'),
        (["<", "-", "<", "sku"], "goes back"),
    ],
)
def test_a_wrong_word_is_refused_at_once_and_a_step_can_be_taken_back(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    message: str,
) -> None:
    rest = ["Name", "pri", "stoc", "option1", "y", "Supplier"]
    body = answered(desk, monkeypatch, SHOES, *typed, *rest)
    assert body == {"columns": COLUMNS, "saveAs": "Supplier"}
    assert message in capsys.readouterr().err


def test_no_answer_is_lost_if_the_preview_or_the_shop_says_no(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ["-", "-", "price", "-", "option1"]  # nothing names the product
    second = ["sku", "name", ENTER, ENTER, "-", "n"]  # a product of each variant
    third = [ENTER, ENTER, ENTER, "stock", "option1", "y", ENTER]
    body = answered(desk, monkeypatch, SHOES, *first, *second, *third)
    assert body == {"columns": COLUMNS}
    said = capsys.readouterr().err
    assert "No column identifies the product" in said
    assert "12 rows become 12 products of one variant; did you mean 4 products?" in said
