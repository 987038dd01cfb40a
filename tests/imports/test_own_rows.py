"""Rows that are a product's own; variants that share a SKU; and rows that are no product."""

import json

import pytest

from tests.support.import_desk import Desk, counts

PARENTS = {
    **{"Name": "name", "SKU": "sku", "Parent": "parentSku", "Colour": "option1"},
    **{"Price": "price", "Stock": "stock"},
}
TEES = "Tee red,T-R,T,red,11.00,3\nTee blue,T-B,T,blue,12.00,4\n"
SHARED = "Name,Colour,SKU,Price,Stock\nTee,Red,ST100,5.00,3\nTee,Blue,ST100,5.00,4\n"
SHARED_AS = {"Name": "name", "Colour": "option1", "SKU": "sku", "Price": "price", "Stock": "stock"}


@pytest.mark.parametrize("colours", ['"red,blue"', "red;blue", "blue | red", "red/blue", "any", ""])
@pytest.mark.parametrize("parent", ["", "T"])
def test_a_row_that_others_name_as_their_parent_is_no_variant(
    desk: Desk, colours: str, parent: str
) -> None:
    sheet = f"Name,SKU,Parent,Colour,Price,Stock\nTee,T,{parent},{colours},10.00,\n{TEES}"
    job = desk.imported(sheet, mapping=json.dumps(PARENTS))
    assert counts(job) == [1, 0, 0, 0, 1], job["errors"]
    (tee,) = desk.products().values()
    assert (tee["name"], tee["sku"]) == ("Tee", "T")
    shown = [(v["title"], v["sku"], v["price"], v["stock"]) for v in tee["variants"]]
    assert shown == [("red", "T-R", "11.00", 3), ("blue", "T-B", "12.00", 4)]
    assert counts(desk.imported(sheet, mapping=json.dumps(PARENTS))) == [0, 0, 1, 0, 1]


@pytest.mark.parametrize("colours", ['"Red, Blue"', "red;blue", "RED\n", "Red|Blue|red"])
def test_a_row_whose_option_lists_those_of_the_others_is_no_variant(
    desk: Desk, colours: str
) -> None:
    if "\n" in colours:
        colours = '"Red\nBlue"'
    sheet = f"Name,Colour,Price\nTee,{colours},10.00\nTee,Red,11.00\nTee,Blue,12.00\n"
    mapping = {"Name": "name", "Colour": "option1", "Price": "price"}
    assert desk.imported(sheet, mapping=json.dumps(mapping))["created"] == 1
    (tee,) = desk.products().values()
    assert [variant["title"] for variant in tee["variants"]] == ["Red", "Blue"]


def test_an_option_that_lists_other_values_is_a_variant(desk: Desk) -> None:
    sheet = "Name,Colour,Price\nTee,Red/White,10.00\nTee,Red,11.00\nTee,Blue,12.00\n"
    mapping = {"Name": "name", "Colour": "option1", "Price": "price"}
    desk.imported(sheet, mapping=json.dumps(mapping))
    (tee,) = desk.products().values()
    assert [variant["title"] for variant in tee["variants"]] == ["Red/White", "Red", "Blue"]


@pytest.mark.parametrize("change", ["stock", "price", "cost"])
def test_a_list_by_a_sku_of_two_variants_changes_none(desk: Desk, change: str) -> None:
    job = desk.imported(SHARED, mapping=json.dumps(SHARED_AS))
    assert "shared_skus" in [warning["code"] for warning in job["warnings"]]
    assert any('the SKU "ST100"' in warning["message"] for warning in job["warnings"])
    before = desk.products()
    assert desk.faults(f"sku,{change}\nST100,9\n") == [(2, "sku", "ambiguous_sku")]
    assert desk.products() == before
    assert counts(desk.imported(SHARED, mapping=json.dumps(SHARED_AS))) == [0, 0, 1, 0, 1]


def test_rows_that_differ_in_barcode_or_cost_are_told(desk: Desk) -> None:
    job = desk.imported(
        "name,barcode,cost,price\nApple,4006381333931,2,5.00\nApple,4006381333948,3,5.00\n"
    )
    messages = " ".join(warning["message"] for warning in job["warnings"])
    assert "another barcode" in messages and "another cost" in messages


@pytest.mark.parametrize(
    "sheet",
    [
        "name,price\nMug,5.00\nTOTAL,5.00\n",
        "name,sku,price,stock\nMug,M,5.00,1\nSumme:,,5.00,1\n",
        "Title,URL handle,SKU,Price\nMug,mug,M,5.00\nGrand total,,,5.00\n",
        "slug,price\n,\nИтого,7.00\n",
    ],
)
def test_a_sum_is_no_product(desk: Desk, sheet: str) -> None:
    assert desk.faults(sheet)[-1][2] in {"total_row", "names_nothing"}
    assert all(name == "Mug" for name in (p["name"] for p in desk.products().values()))


def test_a_product_may_be_called_total(desk: Desk) -> None:
    assert desk.imported("name,sku,price\nTotal,TOT-1,5.00\n")["created"] == 1


@pytest.mark.parametrize(
    "cell", ["summer|linen", "summer;linen", "summer, linen", '"summer\nlinen"']
)
def test_a_list_may_be_separated_by_other_marks_in_a_mapping(desk: Desk, cell: str) -> None:
    cell = f'"{cell}"' if "," in cell else cell
    mapping = {"Article": "name", "Labels": "tags", "Cost": "price"}
    desk.imported(f"Article,Labels,Cost\nMug,{cell},5.00\n", mapping=json.dumps(mapping))
    assert desk.products()["mug"]["tags"] == ["summer", "linen"]


def test_entities_of_woocommerce_are_decoded(desk: Desk) -> None:
    desk.imported(
        "Type,SKU,Name,Description,Regular price,Categories,Published,In stock?\n"
        "simple,34K&amp;YU,Home &amp; Garden,<p>a &amp; b</p>,5.00,Tea &amp; more,1,1\n"
    )
    (product,) = desk.products().values()
    assert (product["sku"], product["name"]) == ("34K&YU", "Home & Garden")
    assert (product["type"], product["description"]) == ("Tea & more", "<p>a &amp; b</p>")


def test_invisible_marks_make_no_second_product(desk: Desk) -> None:
    dirty = "name,sku,price\n\u200bMug ,\ufeffA\u200e1\u200b,5.00\nCup\u200f,A2\u200e,6.00\n"
    clean = "name,sku,price\nMug,A1,5.00\nCup,A2,6.00\n"
    desk.imported(dirty)
    assert {(p["name"], p["sku"]) for p in desk.products().values()} == {
        ("Mug", "A1"),
        ("Cup", "A2"),
    }
    assert counts(desk.imported(clean)) == [0, 0, 2, 0, 2]
    desk.imported("name,sku,price\n\U0001f469\u200d\U0001f33e کتاب\u200cها,F,7.00\n")
    assert "\U0001f469\u200d\U0001f33e کتاب\u200cها" in [
        p["name"] for p in desk.products().values()
    ]


@pytest.mark.parametrize(("cell", "price"), [("5.-", "5.00"), ("5.–", "5.00"), ("12,-", "12.00")])
def test_a_dash_may_stand_for_the_cents(desk: Desk, cell: str, price: str) -> None:
    desk.imported(f'name,price\nMug,"{cell}"\n')
    assert desk.products()["mug"]["price"] == price


def test_a_sale_that_ended_on_a_day_with_slashes_is_over(desk: Desk) -> None:
    sheet = (
        "sku,attribute_set_code,name,price,special_price,special_price_to_date\n"
        "M,Default,Mug,9.00,5.00,2015/1/14 0:00\n"
    )
    assert desk.imported(sheet)["created"] == 1
    assert [p["price"] for p in desk.products().values()] == ["9.00"]
