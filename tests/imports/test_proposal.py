"""The proposed mapping of an unknown file, and how a mapped file is read."""

from datetime import date

import pytest

from chalicelib.imports.csv.groups import group_rows
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.formats import FIELDS, Format, ImportedProduct, Mapped, Shop, recognise
from chalicelib.imports.formats.mapped import faults
from chalicelib.imports.formats.proposal import propose, samples_of

SHOP = Shop("EUR", date(2026, 11, 20))
EVERYDAY = ["name", "price", "stock", "category", "imageUrl", "sku", "vendor", "description"]
IMAGE = "https://img.example/a.jpg"
SALE_DAYS = ("saleStarts", "saleEnds", "salePeriod")
ROW = ["Mug", "12,50 €", "7", "Kitchen", IMAGE, "M-1", "Northwind", "Holds tea."]


@pytest.mark.parametrize(
    "header",
    [
        "Product Name|Selling Price|Qty|Category|Image|Item code|Brand|Details",
        "Item|Unit price (EUR)|Stock on hand|Department|Photo URL|SKU|Manufacturer|Description",
        "Artikelbezeichnung|Verkaufspreis|Lagerbestand|Warengruppe|Bild|Artikel-Nr.|Marke|Beschreibung",
        "Produkt|Preis (€)|Menge|Kategorie|Bild-URL|Bestellnummer|Hersteller|Produktbeschreibung",
        "Nom du produit|Prix de vente TTC|Quantité|Catégorie|Image|Référence|Marque|Descriptif",
        "Désignation|Prix|En stock|Rayon|URL de l'image|UGS|Fabricant|Description",
        "Nombre del producto|Precio de venta|Existencias|Categoría|Imagen|Código|Marca|Descripción",
        "Artículo|P.V.P.|Cantidad|Familia|Fotos|Referencia|Fabricante|Descripción",
        "Nome prodotto|Prezzo di vendita|Giacenza|Categoria|Immagine|Codice|Marca|Descrizione",
        "Titolo|Prezzo|Quantità|Reparto|Foto|Codice articolo|Produttore|Descrizione prodotto",
        "Productnaam|Verkoopprijs|Aantal|Categorie|Afbeelding|Artikelnummer|Merk|Omschrijving",
        "Naam|Prijs|Voorraad|Productgroep|Foto|SKU|Fabrikant|Beschrijving",
        "Nome do produto|Preço de venda|Estoque|Categoria|Imagem|Código|Marca|Descrição",
        "Título|Preço|Quantidade|Categorias|Fotos|Referência|Fabricante|Descrição do produto",
        "Nazwa produktu|Cena brutto|Ilość|Kategoria|Zdjęcie|Kod produktu|Producent|Opis",
        "Towar|Cena|Stan magazynowy|Grupa|Link do zdjęcia|Symbol|Marka|Opis produktu",
        "product_name|unit_price|stock_qty|category|image_url|itemCode|brandName|longDescription",
    ],
)
def test_common_column_names_in_eight_languages_are_proposed(
    monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    monkeypatch.setenv("CURRENCY", SHOP.currency)
    columns = header.split("|")
    assert recognise(columns) is None
    proposed = propose(columns, [ROW])
    assert proposed == EVERYDAY
    assert [samples_of(at, [ROW]) for at in range(len(ROW))] == [[cell] for cell in ROW]


@pytest.mark.parametrize(
    "header",
    [
        "Cost price|Weight|Barcode|Tax rate|Created at",
        "Einkaufspreis|Gewicht|EAN|MwSt.|Breite",
        "Prix d'achat|Poids|Code-barres|TVA|Hauteur",
        "Precio de compra|Peso|Código de barras|IVA|Ancho",
        "Prezzo di acquisto|Peso|Codice a barre|IVA|Altezza",
        "Inkoopprijs|Gewicht|EAN|BTW|Hoogte",
        "Preço de custo|Peso|Código de barras|Custo|Largura",
        "Cena zakupu|Waga|Kod kreskowy|VAT|Cena netto",
    ],
)
def test_costs_and_weights_are_not_proposed_as_price_or_stock(header: str) -> None:
    columns = header.split("|")
    proposed = propose(columns, [["9.50", "120", "4006381333931", "19", "20"]])
    assert proposed[0] == "cost"
    assert set(proposed[1:]) <= {None, "barcode"}


def test_values_that_do_not_fit_a_field_overrule_the_column_name() -> None:
    rows = [["Mug", "in stock", "see catalogue", "mug.jpg is to come"], ["Tee", "sold out", "", ""]]
    proposed = propose(["Product", "Stock", "Price list", "Image"], rows)
    assert proposed == ["name", None, None, None]


def test_a_column_of_pictures_is_recognised_by_its_values() -> None:
    proposed = propose(["Product", "Front", "Back"], [["Mug", IMAGE, IMAGE + "?v=2"]])
    assert proposed == ["name", "imageUrl", "imageUrl"]


def test_three_different_values_of_a_column_are_shown() -> None:
    rows = [["red"], [""], ["red"], ["blue"], ["x" * 500], ["green"]]
    assert samples_of(0, rows) == ["red", "blue", "x" * 200]


def test_the_better_of_two_columns_gets_the_field() -> None:
    proposed = propose(["My product price (USD)", "Price", "Sizes", "Colour"], [])
    assert proposed == [None, "price", "option1", "option2"]


def read(data: bytes, mapping: dict[str, str | None]) -> list[ImportedProduct]:
    table = open_csv([data])
    assert not faults(table.format.header, mapping)
    file_format: Format = Mapped(table.format.header, mapping)
    return [
        file_format.read_rows(group.rows, SHOP) for group in group_rows(table.rows(), file_format)
    ]


def test_a_mapped_file_is_read_by_its_mapping() -> None:
    (mug,) = read(
        b"Produkt;Preis;Statt;Menge;Hauptbild;Bild;Rubrik;Lager\n"
        b"Mug;9,50;12,00;1.000;https://x/1.jpg;https://x/2.jpg;Home > Kitchen;Berlin\n",
        {
            "Produkt": "name",
            "Preis": "price",
            "Statt": "compareAtPrice",
            "Menge": "stock",
            "Bild": "imageUrl",
            "Hauptbild": "imageUrl",
            "Rubrik": "category",
            "Lager": None,
        },
    )
    assert mug.errors == []
    assert mug.slug == "mug"
    assert mug.values == {
        "name": "Mug",
        "price": "9.50",
        "compareAtPrice": "12.00",
        "stock": 1000,
        "images": [{"url": "https://x/1.jpg"}, {"url": "https://x/2.jpg"}],
        "type": "Kitchen",
    }


def test_rows_with_options_and_the_same_name_are_variants_of_one_product() -> None:
    mapping: dict[str, str | None] = {
        "Item": "name",
        "Colour": "option2",
        "Size": "option1",
        "Code": "sku",
        "Cost": "price",
        "Pieces": "stock",
    }
    tee, mug = read(
        b"Item,Colour,Size,Code,Cost,Pieces\nTee,Red,S,T-1,9,1\nTee,Red,M,T-2,10,2\nMug,,,M,5,3\n",
        mapping,
    )
    assert tee.values["variants"] == [
        {"title": "S / Red", "sku": "T-1", "price": "9.00", "stock": 1},
        {"title": "M / Red", "sku": "T-2", "price": "10.00", "stock": 2},
    ]
    assert (tee.slug, "sku" in tee.values) == ("tee", False)
    assert (mug.values["sku"], mug.values["stock"]) == ("M", 3)


def test_a_mapped_sale_price_is_the_price_and_the_other_the_compare_at_price() -> None:
    mapping: dict[str, str | None] = {"A": "sku", "B": "price", "C": "salePrice"}
    reduced, full = read(b"A,B,C\nM-1,10,8\nM-2,10,\n", mapping)
    assert (reduced.values["price"], reduced.values["compareAtPrice"]) == ("8.00", "10.00")
    assert (full.values["price"], full.values["compareAtPrice"]) == ("10.00", None)


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"A": "name", "D": "price"}, "unknown_column"),
        ({"A": "name", "B": "colour of the sea"}, "unknown_field"),
        ({"A": "name", "B": "price", "C": "price"}, "duplicate_field"),
        ({"A": "name", "E": "price"}, "duplicate_column"),
        ({"B": "price", "C": "stock"}, "missing_key"),
        ({"A": "name", "B": None}, "missing_value"),
    ],
)
def test_an_invalid_mapping_is_detected(mapping: dict[str, str | None], code: str) -> None:
    assert [fault.code for fault in faults(["A", "B", "C", "E", "e"], mapping)] == [code]


@pytest.mark.parametrize("field", FIELDS)
def test_every_mappable_field_is_read(field: str) -> None:
    value = {
        "status": "draft",
        "published": "no",
        "currency": "EUR",
        "storeView": "default",
        "slug": "a-mug",
        "imageUrl": IMAGE,
        **dict.fromkeys(SALE_DAYS, "2026-11-20"),
    }.get(field, "5")
    data = f"Key;Price;Column\nMug;9;{value}\n".encode()
    key = "sku" if field == "name" else "name"
    price = {"price": "stock", "currency": "price"}.get(field, "price")
    (with_it,) = read(data, {"Key": key, "Price": price, "Column": field})
    (without,) = read(data, {"Key": key, "Price": price, "Column": None})
    assert with_it.errors == []
    # Compared only, or of a picture.
    if field not in {"currency", "storeView", "imageAlt", *SALE_DAYS}:
        assert with_it.values != without.values


@pytest.mark.parametrize(
    ("columns", "fields"),
    [
        (
            "handle|sku|name|variant_option_one_name|variant_option_one_value|supply_price|retail_price",
            ["slug", "sku", "name", None, "option1", "cost", "price"],
        ),
        ("Name|Internal Reference|Attribute|Sales Price", ["name", "sku", None, "price"]),
        (
            "Title|Custom label (SKU)|Relationship details|Start price|Available quantity",
            ["name", "sku", "option1", "price", "stock"],
        ),
        (
            "product_sku|product_name|product_option_name|product_option_value|product_variation_sku",
            ["sku", "name", None, None, "variantSku"],
        ),
        ("item_sku|item_name|size_name|color_name", ["sku", "name", "option1", "option2"]),
        ("Product Label|Sell Price|Inventory Level", ["name", "price", "stock"]),
    ],
)
def test_sheets_of_other_systems_keep_their_variants(
    columns: str, fields: list[str | None]
) -> None:
    assert propose(columns.split("|"), []) == fields


def test_a_list_of_all_sizes_is_no_option() -> None:
    rows = [["Tee", "S,M,L", "9"], ["Mug", "One size", "5"], ["Cap", "S,M", "7"]]
    assert propose(["name", "sizes", "price"], rows) == ["name", None, "price"]


@pytest.mark.parametrize(
    "sold",
    ["Customer", "Order number", "Kunde", "Facture", "Zamówienie", "Time", "Total", "Summe (EUR)"],
)
def test_the_quantities_of_sales_are_no_stock(sold: str) -> None:
    columns = ["Date", "Product", "SKU", "Quantity", "In stock", sold]
    fields = propose(columns, [["2026-01-02", "Mug", "M-1", "3", "7", "x"]])
    assert fields == [None, "name", "sku", None, "stock", None]
    fields = propose([*columns[:4], sold], [["2026-01-02", "Mug", "M-1", "3", "x"]])
    assert fields == [None, "name", "sku", None, None]


@pytest.mark.parametrize(
    ("column", "value", "field"),
    [
        *(("Estado", "Activo", "status"), ("Estado", "Usado", None)),
        *(("Visible", "sí", "published"), ("Visible", "Catalog, Search", None)),
    ],
)
def test_a_status_that_cannot_be_read_is_not_proposed(
    column: str, value: str, field: str | None
) -> None:
    assert propose(["Nombre", column], [["Taza", value]]) == ["name", field]


@pytest.mark.parametrize(
    "header",
    [
        "Артикул,Наименование,Цена,Остаток",
        "Артикул,Назва товару,Ціна,Залишок",
        "货号,商品名称,价格,库存",
        "商品コード,商品名,価格,在庫数",
        "מק״ט,שם מוצר,מחיר,מלאי",
    ],
)
def test_the_plainest_columns_of_other_scripts_are_proposed(header: str) -> None:
    rows = [["A-1", "Mug", "5.00", "3"]]
    assert propose(header.split(","), rows) == ["sku", "name", "price", "stock"]


@pytest.mark.parametrize("style", ["Style", "Style #", "Style No", "Style Number"])
def test_a_code_that_several_rows_share_is_their_products(style: str) -> None:
    columns = [style, "Color", "Size", "Price"]
    rows = [["ST100", "Red", "M", "5"], ["ST100", "Red", "L", "5"], ["ST200", "Blue", "M", "5"]]
    assert propose(columns, rows) == ["parentSku", "option1", "option2", "price"]
    assert propose(columns, rows[1:]) != ["parentSku", "option1", "option2", "price"]
