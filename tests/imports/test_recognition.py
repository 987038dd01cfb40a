"""A format is recognised only by columns that no other format has."""

from itertools import combinations

import pytest

from chalicelib.imports.formats import FORMATS, Format, Ours, by_name, recognise
from chalicelib.imports.formats.sheet import plain

ALL: tuple[type[Format], ...] = (Ours, *FORMATS)


def columns(file_format: type[Format]) -> list[str]:
    """One column for each field, by its first name, and the columns that identify the format."""
    own = [name for sign in file_format.signs for name in sign]
    first = [
        names[0].replace("{n}", "1").replace("{*}", "Main") for names in file_format.table.values()
    ]
    return list({plain(name): name for name in [*first, *own]}.values())


@pytest.mark.parametrize("file_format", ALL, ids=lambda file_format: file_format.name)
def test_a_format_is_recognised_by_its_columns_in_any_order_and_case(
    file_format: type[Format],
) -> None:
    there = columns(file_format)
    assert recognise(there) is file_format
    assert recognise([name.upper() for name in reversed(there)]) is file_format
    assert by_name(file_format.name) is file_format


@pytest.mark.parametrize("file_format", ALL, ids=lambda file_format: file_format.name)
def test_no_format_recognises_the_columns_of_another(file_format: type[Format]) -> None:
    for other in ALL:
        assert (other is file_format) == other.fits(columns(file_format)), other.name


@pytest.mark.thorough
@pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
def test_two_columns_of_a_format_are_read_as_ours_only_if_they_mean_the_same(
    file_format: type[Format],
) -> None:
    taken = 0
    # A file of ours has no column that is none of ours.
    names = [name for names in file_format.table.values() for name in names if Ours.field(name)]
    for pair in combinations(names, 2):
        if recognise(pair) is not Ours:
            continue
        taken += 1
        assert [Ours.field(name) for name in pair] == [file_format.field(name) for name in pair]
    assert taken <= 40, "most pairs are nobody's"


@pytest.mark.parametrize(
    "header",
    [
        *("Product Name,Selling Price,Qty,Category,Image", "SKU,Quantity,Warehouse"),
        *("Handle,Title,Price", "SKU,Name,Regular price", "Name,Type", "name", "price,stock", ""),
        "Order ID,Name,Price,Quantity",
        # No products
        "Product ID*;Attribute (Name:Type:Position)*;Value (Value:Position)*;Reference;Quantity",
        "Order ID,Email,Paid at,Total,Lineitem name,Lineitem price,Lineitem quantity,Lineitem sku",
        # Their stock, price or SKU has another name than in the format of the other columns
        "Item Name,Variation Name,SKU,Price,Quantity",
        "Name,SKU,Price (tax excl.),Price (tax incl.),Stock",
        "Handle,Title,Variant Price,Available (not editable),Price",  # of two formats
        "Sale Date,Item Name,Buyer,Quantity,Price,Coupon Code,Order ID,SKU",
        "ID,Titel,Preis,Barcode,Lager",
        "id,title,description,link,condition,price,availability,image link,gtin,mpn,brand",
    ],
)
def test_a_merely_similar_header_is_not_recognised(header: str) -> None:
    assert recognise(header.replace(";", ",").split(",")) is None


@pytest.mark.parametrize(
    "header",
    ["sku,name,price,stock,quantity", "sku,Qty,Quantity", "name,price,Title", "sku,brand,vendor"],
)
def test_which_of_two_columns_gives_a_stock_is_asked_for(header: str) -> None:
    columns = header.split(",")
    assert recognise(columns) is None
    assert recognise([*columns[:-1], "Images", "Image"]) is Ours


@pytest.mark.parametrize(
    "header", ["sku,price", "SKU,Quantity", "Name,Price,Quantity,Category,Image", "slug,status"]
)
def test_our_columns_and_their_synonyms_are_recognised(header: str) -> None:
    assert recognise(header.split(",")) is Ours


@pytest.mark.parametrize(
    "header",
    [
        "Item,Name,Type,SKU,Price,Weight,Options,Variant Image URL,Image URL (Import)",
        "Item,Name,Type,SKU,Options,Price",
        "Item,ID,Name,Price,Image URL (Import)",
    ],
)
def test_a_file_for_the_bigcommerce_importer_is_recognised_by_few_columns(header: str) -> None:
    found = recognise(header.split(","))
    assert found is not None and found.name == "bigcommerce"
