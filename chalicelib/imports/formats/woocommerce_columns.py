"""WooCommerce's names of its columns in the languages that shops export in.

English, German, French, Spanish, Italian, Dutch, Portuguese, Polish, Swedish, Russian. The values
are English.
"""

from typing import Final

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "id": ("ID",),
    "kind": ("Type", "Typ", "Tipo", "Тип"),
    "sku": ("SKU", "Artikelnummer", "UGS", "COD", "REF", "Артикул"),
    "barcode": tuple(
        f"GTIN, UPC, EAN{word} ISBN"
        for word in (" or", " oder", " ou", " o", " of", " lub", " eller", " или")
    ),
    "name": ("Name", "Nom", "Nombre", "Nome", "Naam", "Nazwa", "Namn", "Имя"),
    "publication": (
        *("Published", "Veröffentlicht", "Publié", "Publicado", "Pubblicato", "Gepubliceerd"),
        *("Opublikowano", "Publicerad", "Опубликован"),
    ),
    "description": (
        *("Description", "Beschreibung", "Descripción", "Descrizione", "Beschrijving"),
        *("Descrição", "Opis", "Beskrivning", "Описание"),
        *("Short description", "Kurzbeschreibung", "Description courte", "Descripción corta"),
        *("Breve descrizione", "Descrizione breve", "Korte omschrijving", "Korte beschrijving"),
        *("Descrição curta", "Breve descrição", "Krótki opis", "Kort beskrivning"),
        "Краткое описание",
    ),
    "saleStarts": (
        *("Date sale price starts", "Datum, an dem Angebotspreis beginnt"),
        *("Date de début de promo", "Día en que empieza el precio rebajado"),
        *("Data di inizio del prezzo in offerta", "Startdatum actieprijs"),
        *("Data de preço promocional começa em", "Data de início do preço promocional"),
        *("Data rozpoczęcia promocji", "Datum när reapriset börjar"),
        "Дата начала действия скидки",
    ),
    "saleEnds": (
        *("Date sale price ends", "Datum, an dem Angebotspreis endet"),
        *("Date de fin de promo", "Día en que termina el precio rebajado"),
        *("Data di fine del prezzo in offerta", "Einddatum actieprijs"),
        *("Data de preço promocional termina em", "Data de fim do preço promocional"),
        *("Data zakończenia promocji", "Datum när reapriset upphör"),
        "Дата окончания действия скидки",
    ),
    "inStock": (
        *("In stock?", "Vorrätig?", "En stock ?", "En inventaire?", "¿Existencias?"),
        *("¿En inventario?", "Op voorraad?", "Em estoque?", "Em stock?", "W magazynie?"),
        *("I lager?", "В наличии?"),
    ),
    "stock": (
        *("Stock", "Lager", "Bestand", "Inventaire", "Inventario", "Magazzino", "Voorraad"),
        *("Estoque", "Stan magazynowy", "Lagersaldo", "Запасы"),
    ),
    "lowStockThreshold": (
        *("Low stock amount", "Geringe Lagermenge", "Montant de stock faible"),
        *("Cantidad de bajo inventario", "Quantità bassa di magazzino", "Lage voorraad"),
        *("Quantidade baixa de estoque", "Quantidade de stock reduzida", "Niski stan magazynowy"),
        *("Lågt lagerantal", "Величина малых запасов"),
    ),
    "salePrice": (
        *("Sale price", "Angebotspreis", "Tarif promo", "Prix de vente", "Precio rebajado"),
        *("Prezzo in offerta", "Actieprijs", "Preço promocional", "Cena promocyjna", "Reapris"),
        "Акционная цена",
    ),
    "price": (
        *("Regular price", "Regulärer Preis", "Tarif régulier", "Prix de base", "Precio normal"),
        *("Prezzo di listino", "Reguliere prijs", "Preço normal", "Preço", "Cena"),
        *("Ordinarie pris", "Базовая цена"),
    ),
    "category": (
        *("Categories", "Kategorien", "Catégories", "Categorías", "Categorie", "Categorieën"),
        *("Categorias", "Kategorie", "Kategorier", "Категории"),
    ),
    "tags": (
        *("Tags", "Schlagwörter", "Étiquettes", "Etiquetas", "Tag", "Tagi", "Etiketter"),
        "Метки",
    ),
    "image": (
        *("Images", "Bilder", "Imágenes", "Immagini", "Afbeeldingen", "Imagens", "Obrazki"),
        "Изображения",
    ),
    "parent": (
        *("Parent", "Übergeordnetes Produkt", "Superior", "Genitore", "Hoofd", "Ascendente"),
        *("Principal", "Element nadrzędny", "Överordnad", "Родительский"),
    ),
    "brand": ("Brands", "Marken", "Marques", "Marcas", "Marchi", "Merken", "Marki", "Varumärken"),
    "visibility": (
        *(
            "Visibility in catalog",
            "Catalog visibility",
            "Sichtbarkeit im Katalog",
            "Visibilité dans le catalogue",
        ),
        *("Visibilidad en el catálogo", "Visibilità nel catalogo", "Zichtbaarheid in catalogus"),
        *("Visibilidade no catálogo", "Widoczność w katalogu", "Synlighet i katalog"),
        "Видимость в каталоге",
    ),
    "featured": (
        *("Is featured?", "Ist hervorgehoben?", "Mis en avant ?", "¿Está destacado?"),
        *("In primo piano?", "In evidenza?", "Uitgelicht?", "Em destaque?"),
        *("Wyróżniony produkt?", "Utvald?", "рекомендуемый?"),
    ),
    "option": (
        *("Attribute {n} value(s)", "Attribut {n} Wert(e)", "Valeur(s) de l’attribut {n}"),
        *("Valor(es) del atributo {n}", "Attributo {n} valore(i)", "Attributo {n} valuta(e)"),
        *("Valore(i) attributo {n}", "Waarde eigenschap {n}", "Waarde(n) eigenschap {n}"),
        *("Valores do atributo {n}", "Valor(es) do atributo {n}", "Wartości atrybutu {n}"),
        *("Attribut {n} värde(n)", "Värde(n) för attribut {n}"),
        "Значение(-я) аттрибута(-ов) {n}",
    ),
    "optionName": (
        *("Attribute {n} name", "Attribut {n} Name", "Nom de l’attribut {n}"),
        *("Nombre del atributo {n}", "Attributo {n} nome", "Nome dell’attributo {n}"),
        *("Naam eigenschap {n}", "Nome do atributo {n}", "Nazwa atrybutu {n}"),
        *("Attribut {n} namn", "Attributnamn {n}", "Имя атрибута {n}", "Название атрибута {n}"),
    ),
    "seoTitle": ("Meta: _yoast_wpseo_title", "Meta: rank_math_title"),
    "seoDescription": ("Meta: _yoast_wpseo_metadesc", "Meta: rank_math_description"),
}
# A list that a shop wrote by hand does not have two of these fields.
OWN: Final = (
    *("inStock", "saleStarts", "saleEnds", "visibility", "featured", "option", "optionName"),
    *("lowStockThreshold", "parent"),
)
