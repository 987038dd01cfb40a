"""One product, however its rows are written: as systems write variants, with a row of the product's
own or without, with SKUs and prices in some rows or in all, in any order."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

SIZES = ("8", "9", "10")


Row = dict[str, str]


@dataclass(frozen=True)
class Shape:
    """What the rows give: of the product's own row, if there is one, and of its options'."""

    has_own_row: bool
    own_sku: bool
    own_price: bool
    skus: bool
    prices: bool

    def sku(self, size: str = "") -> str:
        if size:
            return f"SHOE-{size}" if self.skus else ""
        return "SHOE" if self.own_sku else ""

    def price(self, size: str = "") -> str:
        if size:
            return f"{50 + int(size)}.99" if self.prices else ""
        return "50.00" if self.own_price else ""

    def rows(self, row: Callable[[str], Row]) -> list[Row]:
        """The product's own row, for `""`, and the row of each size."""
        return [*([row("")] if self.has_own_row else []), *map(row, SIZES)]


def _of_name(shape: Shape, title: str = "size") -> list[Row]:
    return shape.rows(
        lambda size: {
            "name": "Shoe",
            "sku": shape.sku(size),
            title: size,
            "price": shape.price(size),
            "stock": size,
        }
    )


def _of_title(shape: Shape) -> list[Row]:
    return _of_name(shape, "Variant title")


def _of_slug(shape: Shape) -> list[Row]:
    return [{"handle": "shoe", **row} for row in _of_name(shape)]


def _of_parent(shape: Shape) -> list[Row]:
    """As Amazon has it: an option's name is its own, and its product's SKU is in a column."""
    first, *others = _of_name(shape)
    named = [{**row, "name": f"Shoe, {row['size']}", "parent_sku": "SHOE"} for row in others]
    return [{**first, "parent_sku": ""}, *named]


def _below(shape: Shape) -> list[Row]:
    first, *others = _of_name(shape)
    return [first, *({**row, "name": ""} for row in others)]


def _ebay(shape: Shape) -> list[Row]:
    """The product's row lists all values of its options."""
    first, *others = _below(shape)
    return [{**first, "size": f"Size={';'.join(SIZES)}"}, *others]


def _in_our_columns(shape: Shape) -> list[Row]:
    return shape.rows(
        lambda size: {
            "name": "Shoe",
            "sku": "" if size else shape.sku(),
            "price": "" if size else shape.price(),
            "variantTitle": size,
            "variantSku": size and shape.sku(size),
            "variantPrice": size and shape.price(size),
            "stock": size,
        }
    )


def _in_our_columns_by_slug(shape: Shape) -> list[Row]:
    return [{"slug": "shoe", **row} for row in _in_our_columns(shape)]


def _spree(shape: Shape) -> list[Row]:
    names = {"name": "name", "sku": "sku", "size": "option1_value", "price": "price"}
    return [
        {
            "slug": "shoe",
            **{names[name]: text for name, text in row.items() if name in names},
            "inventory_count": row["stock"],
        }
        for row in _of_name(shape)
    ]


def _woocommerce(shape: Shape) -> list[Row]:
    parent = shape.sku() or "id:44"
    return shape.rows(
        lambda size: {
            "ID": size or "44",
            "Type": "variation" if size else "variable",
            "SKU": shape.sku(size),
            "Name": "Shoe",
            "Stock": size,
            "Regular price": size and shape.price(size),
            "Parent": size and parent,
            "Attribute 1 value(s)": size,
        }
    )


MAPPED = {"name": "name", "sku": "sku", "price": "price", "stock": "stock", "size": "option1"}
TITLED = {**MAPPED, "Variant title": "variantTitle"}
BY_PARENT = {**MAPPED, "parent_sku": "parentSku"}
# By system: its rows, the mapping, and how many rows must stay first.
WAYS: dict[str, tuple[Callable[[Shape], list[Row]], dict[str, str], int]] = {
    "a name on each row": (_of_name, MAPPED, 0),
    "a variant's title": (_of_title, TITLED, 0),
    "a handle on each row": (_of_slug, {**MAPPED, "handle": "slug"}, 0),
    "a name on the first row": (_below, MAPPED, 1),
    "a parent's SKU": (_of_parent, BY_PARENT, 0),
    "eBay": (_ebay, MAPPED, 1),
    "our columns": (_in_our_columns, {}, 0),
    "our columns, with a slug": (_in_our_columns_by_slug, {}, 0),
    "Spree": (_spree, {}, 0),
    "WooCommerce": (_woocommerce, {}, 0),
}


# Their options have prices of their own.
PRICED = ("Spree", "WooCommerce")


def shapes() -> Iterator[Any]:
    """Half of the shapes with each way, and the other half with the next one."""
    for (at, way), flags in product(enumerate(WAYS), product((True, False), repeat=5)):
        if sum(flags) % 2 != at % 2:
            continue
        shape = Shape(*flags)
        is_own = shape.has_own_row or not (shape.own_sku or shape.own_price)
        is_priced = shape.prices or (shape.own_price and way not in PRICED)
        needs_own_row = way in ("WooCommerce", "eBay", "a parent's SKU")
        has_parent = shape.own_sku or way != "a parent's SKU"
        if is_own and is_priced and has_parent and (shape.has_own_row or not needs_own_row):
            given = [name for name, is_given in vars(shape).items() if is_given]
            yield pytest.param(way, shape, id=f"{way}: {' '.join(given)}")


def written(rows: list[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(("way", "shape"), list(shapes()))
def test_rows_of_one_product_are_one_product(desk: Desk, way: str, shape: Shape) -> None:
    make, mapping, first = WAYS[way]
    rows = make(shape)
    asked = {c: mapping[c] for c in rows[0] if c in mapping} if mapping else None
    options = {"mapping": json.dumps(asked)} if asked else {}
    chance = random.Random(7)
    expected = {
        size: (shape.sku(size) or None, shape.price(size) or shape.price(), int(size))
        for size in SIZES
    }
    for attempt in range(2):
        job = desk.imported(written(rows), **options)
        outcome = "unchanged" if attempt else "created"
        assert (job["total"], job[outcome], job["withErrors"]) == (1, 1, 0), (attempt, job)
        (found,) = desk.products().values()
        variants = {v["title"]: (v["sku"], v["price"], v["stock"]) for v in found["variants"]}
        assert variants == expected
        assert found["sku"] == (shape.sku() or None)
        rows[first:] = chance.sample(rows[first:], len(rows) - first)


@pytest.mark.parametrize(
    ("rows", "given", "price"),
    [
        ("Eye shadow,E1,210,\nLip gloss,E1,380,\n", ["name", "price"], "380.00"),
        ("Eye shadow,E1,210,\nMug,M1,5,\nEye shadow,E1,380,\n", ["price"], "380.00"),
        ("Eye shadow,,210,\nEye shadow,,380,\n", ["price"], "380.00"),
        ("Tee,,9,\nTee,T-1,9,S\nTee,T-2,9,S\n", ["SKU"], "9.00"),
        ("Tee,T-1,9,S\nTee,T-1,8,S\n", ["price"], "8.00"),
        ("Tee,T-1,9,S,2\nTee,T-1,9,S,5\n", ["stock"], "9.00"),
        ("Lamp,L-1,9,,0\nLamp,L-1,9,,13\n", ["stock"], "9.00"),
        ("Tee,,9,\nTee,T-1,8,S\nTee,T-2,9,M\nMug,,9,\nMug,,9,\n", [], "9.00"),
    ],
)
def test_rows_that_differ_about_one_product_are_a_warning_that_names_both(
    desk: Desk, rows: str, given: list[str], price: str
) -> None:
    job = desk.imported("name,sku,price,variantTitle,stock\n" + rows)
    assert (job["failed"], job["withErrors"], job["rows"]) == (0, 0, rows.count("\n"))
    assert job["total"] == len(desk.products())
    later = 4 if "Mug,M1" in rows or "Tee,,9" in rows else 3
    earlier = later - (2 if "Mug,M1" in rows else 1)
    both = f"Rows {earlier} and {later} give the same product or variant another"
    count = (
        "Rows with another name, SKU, price or stock than an earlier row of the product; the later"
        " counts"
    )
    warnings = [(each["code"], each["message"]) for each in job["warnings"]]
    assert warnings == [
        *([("rows_repeated", f"{count}: {len(given)}.")] if given else []),
        *(("repeated", f"{both} {what}.") for what in given),
    ]
    assert price in {each["price"] for each in desk.products().values()}


def test_a_file_without_names_updates_each_variant_by_its_sku(desk: Desk) -> None:
    shirt = {"sku": "", "price": "9", "variantTitle": ""}
    rows = [
        {"name": "Shirt", **shirt, "sku": sku, "variantTitle": sku[-1]} for sku in ("S-S", "S-M")
    ]
    desk.imported(written(rows))
    mapping = json.dumps({"SKU": "sku", "Size": "option1", "Pieces": "stock"})
    counts = "SKU,Size,Pieces\nS-S,S,3\nS-M,M,4\nS-X,X,5\n"
    job = desk.imported(counts, mapping=mapping)
    assert (job["updated"], job["failed"]) == (2, 1)
    assert [(error["row"], error["code"]) for error in job["errors"]] == [(4, "missing_name")]
    (found,) = desk.products().values()
    assert {v["sku"]: v["stock"] for v in found["variants"]} == {"S-S": 3, "S-M": 4}
    assert desk.imported(counts, mapping=mapping)["unchanged"] == 2


def test_rows_of_one_name_are_not_joined_to_one_of_two_products_with_it(desk: Desk) -> None:
    rows = "Shirt,A-1,9,\nShirt,B-1,8,\nMug,M,5,\nShirt,B-S,8,S\n"
    job = desk.imported("name,sku,price,variantTitle\n" + rows)
    assert [(error["row"], error["code"]) for error in job["errors"]] == [(5, "shared_key")]
    assert (job["created"], job["failed"]) == (3, 1)


AMAZON = "item_sku,item_name,standard_price,quantity,parent_child,parent_sku,color_name\n"
BLUE = "SH-B,Shirt (blue),19.90,3,child,SH,blue\n"
RED = "SH-R,Shirt (red),21.90,4,child,SH,red\n"
OWN = "SH,Shirt,,,parent,,\n"
SINGLE = "MUG,Mug,5,9,,,\n"
BY_COLOUR = {"SH-B": ("blue", "19.90", 3), "SH-R": ("red", "21.90", 4)}
BY_NAME = {"SH-B": ("Shirt (blue)", "19.90", 3), "SH-R": ("Shirt (red)", "21.90", 4)}


@pytest.mark.parametrize(
    ("rows", "without", "name", "variants"),
    [
        (OWN + BLUE + RED, "", "Shirt", BY_COLOUR),
        (RED + SINGLE + BLUE + OWN, "", "Shirt", BY_COLOUR),
        (BLUE + RED, "", "Shirt (blue)", BY_COLOUR),
        (OWN + BLUE + RED, "color_name", "Shirt", BY_NAME),
        (OWN.replace("parent,,", "parent,SH,") + BLUE + RED, "", "Shirt", BY_COLOUR),
        (SINGLE.replace(",,,", ",,MUG,") + BLUE + OWN + RED, "", "Shirt", BY_COLOUR),
    ],
)
def test_a_variant_that_names_its_product_by_sku_is_a_variant_of_it(
    desk: Desk, rows: str, without: str, name: str, variants: dict[str, tuple[str, str, int]]
) -> None:
    waiting = desk.imported(AMAZON + rows)
    columns = [each for each in waiting["columns"] if each["column"] != without]
    mapping = {each["column"]: each["field"] for each in columns}
    job = desk.imported(AMAZON + rows, mapping=json.dumps(mapping))
    assert (job["total"], job["withErrors"], job["warnings"]) == (1 + ("MUG" in rows), 0, [])
    by_sku = {each["sku"]: each for each in desk.products().values()}
    found = by_sku["SH"]
    assert found["name"] == name
    assert {v["sku"]: (v["title"], v["price"], v["stock"]) for v in found["variants"]} == variants
    if "MUG" in rows:
        assert [(v["price"], v["stock"]) for v in by_sku["MUG"]["variants"]] == [("5.00", 9)]
    again = desk.imported(AMAZON + rows, mapping=json.dumps(mapping))
    assert again["unchanged"] == job["total"]
    later = desk.imported(
        "sku,parent,qty\nSH-B,SH,7\n",
        mapping=json.dumps({"sku": "sku", "parent": "parentSku", "qty": "stock"}),
    )
    assert (later["updated"], later["failed"]) == (1, 0)
    stocks = {v["sku"]: v["stock"] for p in desk.products().values() for v in p["variants"]}
    assert stocks["SH-B"] == 7
    assert stocks["SH-R"] == 4
