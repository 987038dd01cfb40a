"""Unusual rows in files of other systems."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.imports.formats import ImportedProduct
from chalicelib.imports.formats.product import Skipped
from chalicelib.imports.formats.woocommerce_columns import COLUMNS
from chalicelib.values import clock
from tests.imports.test_formats import FILES, SHOP, opened, products, text
from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough


def read(*lines: str) -> list[ImportedProduct]:
    return products("\n".join([*lines, ""]).encode())


def read_one(*lines: str) -> ImportedProduct:
    """The only product of a file, which has no errors."""
    (only,) = read(*lines)
    assert only.errors == []
    return only


def variants(product: ImportedProduct) -> list[tuple[Any, ...]]:
    keys = ("title", "sku", "price", "stock")
    return [tuple(map(variant.get, keys)) for variant in product.values["variants"]]


def codes(product: ImportedProduct) -> list[tuple[int, str]]:
    return [(error.row, error.code) for error in product.errors]


MAGENTO = "sku,product_type,attribute_set_code,name,visibility,price,qty,configurable_variations"
ETSY = "TITLE,PRICE,CURRENCY_CODE,QUANTITY,VARIATION 1 VALUES,VARIATION 2 VALUES,SKU"
FORTY = ",".join(map(str, range(40)))


# --- WooCommerce ---------------------------------------------------------------------------------

HEADERS = (FILES / "woocommerce_headers.txt").read_text().splitlines()[1:]
LANGUAGES = dict(line.split(": ") for line in HEADERS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_woocommerce_files_are_read_equally_in_every_language(language: str) -> None:
    tee = read_one(
        LANGUAGES[language],
        "variable|TEE|Tee|1|1||||Shirts, Sale|new|https://x/1.jpg||Red, Blue",
        "variation|TEE-R|Tee - Red|1|1|3|15|20||||TEE|Red",
        "variation|TEE-B|Tee - Blue|0|1|4||21||||TEE|Blue",
    )
    assert variants(tee) == [("Red", "TEE-R", "15.00", 3), ("Blue", "TEE-B", "21.00", 0)]
    assert tee.values["name"] == "Tee"
    assert (tee.values["type"], tee.values["tags"]) == ("Shirts", ["new", "Sale"])
    assert tee.values["images"] == [{"url": "https://x/1.jpg"}]
    assert tee.values["compareAtPrice"] == "20.00"


def test_each_woocommerce_column_name_has_one_field() -> None:
    names = [name.casefold() for names in COLUMNS.values() for name in names]
    assert len(names) == len(set(names))


# --- Shopify's inventory -------------------------------------------------------------------------


def test_location_selects_the_stock_of_a_file() -> None:
    only = replace(SHOP, location="café")
    shirt, mug = products(text("shopify_inventory").encode(), only)
    assert shirt.values == {"slug": "linen-shirt", "sku": "LIN-S", "stock": 5}
    assert "stock" not in mug.values
    shirt, *_ = products(text("square").encode(), replace(SHOP, location="market"))
    assert [v.get("stock") for v in shirt.values["variants"]] == [7, 0]


def test_an_old_inventory_has_a_column_for_each_location() -> None:
    header = "Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Berlin,Paris"
    rows = ["tee,Tee,Size,S,T-S,,,3,4", "tee,Tee,Size,M,,,,not stocked,5", "mug,Mug,,,M,,,,"]
    tee, mug = read(header, *rows)
    assert [(v.get("title"), v.get("sku"), v["stock"]) for v in tee.values["variants"]] == [
        (None, "T-S", 7),
        ("M", None, 5),
    ]
    assert (mug.values, mug.only_updates) == ({"slug": "mug"}, True)
    (paris, _) = products("\n".join([header, *rows]).encode(), replace(SHOP, location="Paris"))
    assert [v["stock"] for v in paris.values["variants"]] == [4, 5]
    file_format, _ = opened("\n".join([header, *rows]).encode())
    assert file_format.ignored_columns == ["HS Code", "COO"], "the columns of locations are read"


def test_an_inventory_without_handles_has_one_product_per_sku() -> None:
    first, second = read("SKU,Location,On hand (new)", "A,Berlin,3", "A,Paris,4", "B,Berlin,5")
    assert (first.slug, first.values) == (None, {"sku": "A", "stock": 7})
    assert second.values == {"sku": "B", "stock": 5}


@pytest.mark.parametrize(
    ("available", "current", "new", "stock"),
    [
        *(("-2", "8", "8", 0), ("-2", "8", "10", 0), ("-2", "8", "11", 1), ("-3", "-3", "10", 10)),
        *(("5", "8", "4", 1), ("5", "8", "", 5), ("", "-4", "", 0), ("", "3", "-1", 0)),
    ],
)
def test_more_sold_than_there_was_is_not_sold_again(
    available: str, current: str, new: str, stock: int
) -> None:
    """Ten pieces of which two are short do not become two that can be sold."""
    header = "SKU,Location,Available (not editable),On hand (current),On hand (new)"
    (only,) = read(header, f"A,Berlin,{available},{current},{new}")
    assert only.values == {"sku": "A", "stock": stock}


# --- Others --------------------------------------------------------------------------------------


def test_the_new_wix_catalogue_has_rows_for_pictures() -> None:
    shirt = read_one(
        "handle,fieldType,name,visible,plainDescription,media,mediaAltText,brand,price,"
        "strikethroughPrice,inventory,sku,productOptionName1,productOptionChoices1",
        "linen-shirt,PRODUCT,Linen shirt,TRUE,Soft,a.jpg,Front,Northwind,45,50,,,Size,S;L",
        "linen-shirt,VARIANT,,,,,,,45,50,IN_STOCK,LIN-S,Size,S",
        "linen-shirt,VARIANT,,,,,,,47,,0,LIN-L,Size,L",
        "linen-shirt,MEDIA,,,,https://x/2.jpg,Back,,,,,,,",
    )
    assert variants(shirt) == [("S", "LIN-S", "45.00", None), ("L", "LIN-L", "47.00", 0)]
    assert shirt.values["compareAtPrice"] == "50.00"
    assert shirt.values["images"] == [
        {"url": "https://static.wixstatic.com/media/a.jpg", "alt": "Front"},
        {"url": "https://x/2.jpg", "alt": "Back"},
    ]


@pytest.mark.parametrize(
    ("header", "row", "code"),
    [
        ("handleId,fieldType,name,price,surcharge,sku", "p1,Variant,,,5,S-1", "missing_price"),
        (
            "Product Handle,Product Title,Variant Title,Variant SKU,Variant Price USD",
            "mug,Mug,Default,M,16",
            "currency_mismatch",
        ),
        (MAGENTO, 'B,bundle,Top,Set,"Catalog, Search",5,1,', "unsupported_type"),
        ("Token,Item Name,Variation Name,SKU,Price", "T,Gift,Regular,G,variable", "missing_price"),
        (ETSY, f'Card,4,EUR,9,"{FORTY}","{FORTY}",', "too_many_variants"),
        ("Name *;Reference #;Price (tax incl.);Discount percent", "Mug;M;10;ten", "not_an_amount"),
        (
            "handleId,fieldType,name,price,discountMode,discountValue",
            "p1,Product,Mug,10,AMOUNT,1.2555",
            "too_many_decimals",
        ),
    ],
    ids=[
        *("a surcharge alone", "another currency", "a bundle", "a variable price"),
        *("1600 variants", "a discount of words", "a discount of half a cent"),
    ],
)
def test_a_row_that_is_no_product_is_an_error(header: str, row: str, code: str) -> None:
    (found,) = read(header, row)
    assert codes(found) == [(2, code)]


def test_the_old_bigcommerce_export_has_skus_and_rules() -> None:
    shirt = read_one(
        '"Item Type","Product ID","Product Name","Product Type","Product Code/SKU","Brand Name",'
        '"Price","Sale Price","Product Visible?","Track Inventory","Current Stock Level",Category',
        'Product,1,Linen shirt,P,LIN,Northwind,50,0,Y,"by option",0,Clothing/Shirts',
        '  SKU,2,"[S]Size=Small,[CS]Colour=Blue:#00f",,LIN-S,,,,,,5,',
        '  SKU,3,"[S]Size=Large,[CS]Colour=Blue:#00f",,LIN-L,,,,,,7,',
        "  Rule,4,,,LIN-L,,[FIXED]55,,,,,",
    )
    assert variants(shirt) == [
        ("Small / Blue", "LIN-S", "50.00", 5),
        ("Large / Blue", "LIN-L", "55.00", 7),
    ]
    assert (shirt.values["type"], shirt.values["vendor"]) == ("Shirts", "Northwind")


def test_the_medusa_price_is_read_in_the_shops_currency() -> None:
    header = (
        "Product Handle,Product Title,Variant Title,Variant SKU,Variant Price USD,Variant Price EUR"
    )
    assert read_one(header, "mug,Mug,Default,M,16,14.5").values["price"] == "14.50"
    (dollars,) = read(header, "mug,Mug,Default,M,16,")
    assert "Variant Price USD" in dollars.errors[0].message


RED = "T-R,simple,Top,Tee-Red,Not Visible Individually,20,3,"
BLUE = "T-B,simple,Top,Tee-Blue,Not Visible Individually,21,4,"
TEE = 'T,configurable,Top,Tee,"Catalog, Search",,,"sku=T-R,color=Red|sku=T-B,color=Blue"'
MUG = 'M,simple,Top,Mug,"Catalog, Search",5,9,'


@pytest.mark.parametrize(
    "rows",
    [
        *([RED, BLUE, TEE, MUG], [MUG, TEE, RED, BLUE], [TEE, BLUE, RED, MUG]),
        [RED, BLUE, TEE.replace("sku=T-R", "|sku=T-R"), MUG],  # an empty variant
    ],
)
def test_magento_variants_are_above_or_below_their_product(rows: list[str]) -> None:
    found = {product.values["name"]: product for product in read(MAGENTO, *rows)}
    assert [product.errors for product in found.values()] == [[], []]
    assert variants(found["Tee"]) == [("Red", "T-R", "20.00", 3), ("Blue", "T-B", "21.00", 4)]
    assert found["Mug"].values["stock"] == 9


def test_magento_products_may_all_be_of_the_view_default() -> None:
    header, rows = f"{MAGENTO},store_view_code", [f"{row},default" for row in (RED, BLUE, TEE)]
    (tee,) = read(header, *rows)
    assert (tee.errors, tee.values["name"]) == ([], "Tee")
    assert variants(tee) == [("Red", "T-R", "20.00", 3), ("Blue", "T-B", "21.00", 4)]
    for other in ("default", "fr"):
        (mug,) = read(header, f"{MUG},", f"M,simple,Top,Tasse,,,,,{other}")
        assert mug.values["name"] == "Mug"
    (french,) = read(header, "M,simple,Top,Tasse,,,,,fr")
    assert "name" not in french.values


def test_a_magento_variant_without_a_product_is_an_error_of_its_row_only() -> None:
    other = "X,simple,Top,X,Not Visible Individually,1,1,"
    lost, mug = read(MAGENTO, other, RED, MUG)
    assert {code for _, code in codes(lost)} == {"missing_key"}
    assert mug.errors == []
    tee, lone, mug = read(MAGENTO, RED, BLUE, TEE, other, MUG)
    assert tee.errors == mug.errors == []
    assert (lone.values, lone.only_updates) == ({"sku": "X", "price": "1.00", "stock": 1}, True)


def test_etsy_variations_are_all_combinations_of_two_lists_without_skus() -> None:
    card = read_one(ETSY, 'Card,4,EUR,9,"A5,A6","Plain,Gold",')
    titles = [variant["title"] for variant in card.values["variants"]]
    assert titles == ["A5 / Plain", "A5 / Gold", "A6 / Plain", "A6 / Gold"]
    assert all("stock" not in v for v in card.values["variants"])
    plant = read_one(ETSY, 'Plant,4,EUR,54,"One,Two,Three",,"P-2,P-1,P-3"')
    assert variants(plant) == [(title, None, "4.00", None) for title in ("One", "Two", "Three")]
    assert plant.slug == "plant"


def test_the_prestashop_catalogue_list_is_read() -> None:
    mug = read_one(
        '"Product ID";Image;Name;Reference;Category;"Price (tax excl.)";"Price (tax incl.)";'
        "Quantity;Status;Position",
        "3;https://x/3.jpg;Mug;M-1;Home accessories;€11.90;€14.28;300;1;2",
    )
    assert (mug.values["price"], mug.values["stock"]) == ("14.28", 300)
    assert (mug.values["status"], mug.values["sku"]) == ("ACTIVE", "M-1")


@pytest.mark.parametrize(
    ("currency", "price", "percent", "reduced"),
    [
        *(("JPY", "1001", "12.5", "876"), ("JPY", "1980", "15 %", "1683")),
        *(("KWD", "10.555", "12,5", "9.236"), ("EUR", "10.00", "33.333", "6.67")),
        *(("JPY", "1004", "12.5", "879"), ("EUR", "12.30", "5", "11.69")),
    ],
)
def test_a_discount_in_percent_leaves_a_price_with_the_decimals_of_the_currency(
    currency: str, price: str, percent: str, reduced: str
) -> None:
    files = (
        f"Name *;Reference #;Price (tax incl.);Discount percent\nMug;M-1;{price};{percent}\n",
        "handleId,fieldType,name,price,discountMode,discountValue\n"
        f"p1,Product,Mug,{price},PERCENT,{percent.rstrip(' %').replace(',', '.')}\n",
    )
    for file in files:
        (mug,) = products(file.encode(), replace(SHOP, currency=currency))
        assert mug.errors == []
        assert (mug.values["price"], mug.values["compareAtPrice"]) == (reduced, price)


@pytest.mark.parametrize(("zone", "price"), [("Asia/Tokyo", "10.00"), ("UTC", "7.00")])
def test_a_sale_ends_with_a_day_of_the_shop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, zone: str, price: str
) -> None:
    monkeypatch.setenv("TIMEZONE", zone)
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 11, 20, 16, tzinfo=UTC))
    desk.imported(
        "sku,product_type,attribute_set_code,name,price,special_price,special_price_to_date\n"
        "M-1,simple,Default,Mug,10,7,2026-11-20\n"
    )
    (mug,) = desk.products().values()
    assert mug["price"] == price


def test_spree_products_without_a_slug_are_distinguished_by_name() -> None:
    rows = [f",S-{n},Product {n},{n}.0,1" for n in range(3)]
    found = read("slug,sku,name,price,inventory_count", *rows)
    assert [product.values["name"] for product in found] == ["Product 0", "Product 1", "Product 2"]


def test_a_shopify_handle_is_lowercase_and_a_blank_compare_at_price_is_none() -> None:
    (mug,) = read(
        "Handle,Title,Variant Price,Variant Compare At Price", "My-Mug,Mug,9,", "my-mug,,9.5,"
    )
    assert (mug.slug, mug.values["compareAtPrice"]) == ("my-mug", None)


def test_wix_options_without_rows_become_all_combinations() -> None:
    header = (
        "handleId,fieldType,name,price,surcharge,visible,discountMode,discountValue,inventory,sku,"
        "productOptionDescription1,productOptionDescription2"
    )
    sleeves, ring, hat = read(
        header,
        "p1,Product,Sleeves,25,,true,PERCENT,20,InStock,,Small;Large,"
        '"#b81616:Red;rgb(193,180,123):Cream"',
        "p2,Product,Ring,65,,true,PERCENT,0,9,,6;7,",
        'p3,Product,Hat,10,,true,PERCENT,0,5,,S;M,"rgb(193,180,123):Cream"',
        'p3,Variant,,,-2.50,true,,,3,H-S,S,"rgb(193,180,123):Cream"',
        "p3,Variant,,,1,false,,,4,H-M,M,rgba(1 2 3 / 4):x",
    )
    assert [sleeves.errors, ring.errors, hat.errors] == [[], [], []]
    assert variants(sleeves) == [
        ("Small / Red", None, "20.00", None),
        ("Small / Cream", None, "20.00", None),
        ("Large / Red", None, "20.00", None),
        ("Large / Cream", None, "20.00", None),
    ]
    assert all("stock" in variant for variant in sleeves.values["variants"])
    assert variants(ring) == [("6", None, "65.00", None), ("7", None, "65.00", None)]
    assert all("stock" not in variant for variant in ring.values["variants"])
    # A hidden variant is kept, and cannot be bought; a surcharge may be negative.
    assert variants(hat) == [
        ("S / Cream", "H-S", "7.50", 3),
        ("M / rgba(1 2 3 / 4):x", "H-M", "11.00", 0),
    ]
    assert (sleeves.values["compareAtPrice"], ring.values["compareAtPrice"]) == ("25.00", None)
    (below,) = read(header, "p,Product,P,5,,,,,1,,,", "p,Variant,,,-6,,,,1,S-1,S,")
    assert codes(below) == [(3, "negative_amount")]


def test_etsy_columns_are_recognised_in_italian() -> None:
    vase, set_of_cups = read(
        "TITOLO,DESCRIZIONE,PREZZO,CURRENCY_CODE,QUANTITÀ,TAG,MATERIALI,IMMAGINE1,IMMAGINE2,"
        '"TIPO VARIANTE 1","NOME VARIANTE 1","VALORI VARIANTE 1",SKU',
        'Vaso,Di terra,46.00,EUR,1,"terra_cotta,vaso",terra,https://x/1.jpg,,,,,32',
        'Tazze,Due,20.00,EUR,4,,terra,,,Formato,Formato,"Grande,Piccola",',
    )
    assert [vase.errors, set_of_cups.errors] == [[], []]
    assert (vase.values["sku"], vase.values["price"], vase.values["stock"]) == ("32", "46.00", 1)
    assert (vase.values["tags"], len(vase.values["images"])) == (["terra cotta", "vaso"], 1)
    assert [v["title"] for v in set_of_cups.values["variants"]] == ["Grande", "Piccola"]


def test_the_first_filled_vendure_language_counts() -> None:
    paper = read_one(
        "name:en,name:de,slug,description:en,description:de,facets:en,facets:de,optionGroups,"
        "optionValues:en,optionValues:de,sku,price,stockOnHand,trackInventory",
        "Paper,Papier,,Thin,Dünn,brand:KB|group:Office,marke:KB|gruppe:Büro,size,Half,Halb,P-1,4,3,true",
        ",,,,,,,,Full,Ganz,P-2,5,2,true",
    )
    assert (paper.values["name"], paper.values["description"]) == ("Paper", "Thin")
    assert (paper.values["vendor"], paper.values["tags"]) == ("KB", ["Office"])
    assert variants(paper) == [("Half", "P-1", "4.00", 3), ("Full", "P-2", "5.00", 2)]


def test_a_woocommerce_parent_of_0_is_none() -> None:
    header = "SKU,Name,Published,Catalog visibility,Regular price,Parent"
    mug, hat = read(header, ",Mug,1,visible,5,0", ",Hat,1,hidden,6,0")
    assert (mug.slug, mug.values["published"]) == ("mug", True)
    assert (hat.slug, hat.values["published"]) == ("hat", False)


@pytest.mark.parametrize("home", ["Home", "Inicio", "Accueil", "Startseite"])
def test_prestashops_root_category_is_no_type(home: str) -> None:
    header = '"Active (0/1)","Name *","Categories (x,y,z...)","Price tax included","Reference #"'
    (cup,) = read(header, f'1,Taza,"{home},Tazas",5,T-1')
    assert (cup.values["type"], cup.values.get("tags")) == ("Tazas", None)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (
            "sku,attribute_set_code,product_websites,product_type,name,price,base_image",
            "M,Default,base,simple,Mug,5,/m/u/mug.jpg",
        ),
        (
            "name,slug,assets,facets,optionGroups,optionValues,sku,price",
            "Mug,mug,mug.jpg|https://img.example/mug.jpg,,,,M,5",
        ),
    ],
    ids=["magento", "vendure"],
)
def test_pictures_that_are_files_of_another_shop_are_counted(header: str, row: str) -> None:
    assert read_one(header, row).skipped[Skipped.PICTURES] == 1


def test_prestashop_products_with_one_name_are_distinguished_by_their_reference() -> None:
    header = '"Active (0/1)","Name *","Price tax included","Reference #"'
    found = read(header, "1,Taza,5,T-1", "1,Taza,6,T-2", "0,Taza,6,T-2")
    assert [(cup.values["sku"], cup.values["price"]) for cup in found] == [
        ("T-1", "5.00"),
        ("T-2", "6.00"),
    ]


@pytest.mark.parametrize(
    ("header", "rows", "errors"),
    [
        ("TITLE,CURRENCY_CODE,QUANTITY,PRICE,IMAGE1", ("Mug,USD,3,5,", ",USD,9,7,https://x/y"), 1),
        ("ID,Name *,Reference #,Quantity,Price tax included", ("1,Mug,,3,5", "2,,,9,7"), 1),
        ("sku,attribute_set_code,name,qty,price", ("M,Top,Mug,3,5", ",Top,Cup,9,7"), 0),
        ("SKU,Name,Is featured?,Stock,Regular price", ("M,Mug,0,3,5", ",,0,9,7"), 1),
        ("Type,SKU,Name,Stock,Parent,Regular price", ("simple,M,Mug,3,,5", "variation,,,9,,7"), 1),
        ("Token,Item Name,SKU,Price,Current Quantity A", ("T,Mug,M,5,3", "U,,,7,9"), 1),
    ],
    ids=["etsy", "prestashop", "magento", "woocommerce", "woocommerce variation", "square"],
)
def test_a_row_that_is_a_product_changes_none_above_if_its_identity_is_blank(
    desk: Desk, header: str, rows: tuple[str, str], errors: int
) -> None:
    job = desk.imported("\n".join([header, *rows]))
    assert [(error["row"], error["code"]) for error in job["errors"]] == [
        (3, "missing_key")
    ] * errors
    (mug,) = (each for each in desk.products().values() if each["name"] == "Mug")
    assert (mug["price"], mug["variants"][0]["stock"]) == ("5.00", 3)
