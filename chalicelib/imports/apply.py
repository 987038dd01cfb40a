"""Merges the rows of a file into a product: pure functions.

A blank cell leaves a value unchanged; pictures and variants that are not in the file stay.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, NoReturn

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.formats.cells import BLANKS, text
from chalicelib.imports.formats.product import OF_VARIANT, ImportedProduct
from chalicelib.problems import Invalid
from chalicelib.products import store as products
from chalicelib.products.model import DEFAULT_VARIANT, Product
from chalicelib.products.schemas import NewProduct, ProductChange
from chalicelib.validation import validate
from chalicelib.values.spreadsheets import is_date_of, is_number_of

_NAMED: Final = 200  # characters of a column's name in a message: a job has 100 of them
_Given = dict[str, Any]
Variants = list[tuple[_Given, int | None]]  # with its position in the file's list, if any


class Refused(Exception):
    """The rows have errors; none of them is written."""

    def __init__(self, errors: list[RowError]) -> None:
        super().__init__(str(errors))
        self.errors = errors


def create_product(imported: ImportedProduct, slug: str) -> Product:
    """Return a new product. Raises Refused."""
    values = {**imported.if_new, **imported.values, "slug": slug}
    variants = _number_variants(values.pop("variants", []))
    own = _take_variant_values(values)
    if not variants and any(value is not None for value in own.values()):
        variants = [(own, None)]
    if "images" in values:
        values["images"] = _merge_images(values["images"], [])
    return _draft_product(imported, values, variants, None)


def change_product(imported: ImportedProduct, product: Product) -> Product:
    """Return the product after the rows; the same object if nothing differs. Raises Refused."""
    values = {name: value for name, value in imported.values.items() if name != "slug"}
    own = _take_variant_values(values)
    listed = values.pop("variants", None)
    if values.get("sku") != product.fields["sku"]:
        of_variants = [variant["sku"] for variant in product.variants()]
        _restore_number(values, "sku", [product.fields["sku"], *of_variants])
    if "images" in values:
        values["images"] = _merge_images(values["images"], product.fields["images"])
    values = _prefer_stored(values, product.fields)
    if imported.is_master and _is_sold_by_options(product, values.get("sku")):
        variants = []
        values = {k: v for k, v in values.items() if k not in {"price", "compareAtPrice"}}
    elif listed is not None:
        variants = _merge_variants(imported, _number_variants(listed), product)
    else:
        variants = _change_only_variant(imported, values, own, product)
    if imported.only_updates:
        _refuse_new(imported, variants, product)
    return _draft_product(imported, values, variants, product)


def _take_variant_values(values: _Given) -> _Given:
    """Take out of `values` what belongs to the only variant, and return it."""
    return {name: values.pop(name) for name in OF_VARIANT if name in values}


def _refuse_new(imported: ImportedProduct, variants: Variants, product: Product) -> None:
    """Raise Refused for a variant that the product does not have."""
    new = next((place for variant, place in variants if "id" not in variant), None)
    sku = imported.values.get("sku")
    if new is None and (sku is None or sku in product.skus):
        return
    line, column = imported.locate("sku" if new is None else f"variants.{new}.sku")
    message = "The product has no such variant, and this file only updates."
    raise Refused([RowError(line, column, "unknown_variant", message)])


def refuse_zero_prices(imported: ImportedProduct, before: Product, after: Product) -> None:
    """Raise Refused if a price above zero would become zero."""
    if after is before:
        return
    free = {variant["id"] for variant in after.variants() if _is_zero(variant["price"])}
    there = before.variants() if free else []
    was = [variant["price"] for variant in there if variant["id"] in free]
    if all(map(_is_zero, was)) and not _falls_to_zero(before.price, after.price):
        return
    listed = imported.values.get("variants", ())
    at = next((n for n, v in enumerate(listed) if _is_zero(v.get("price"))), None)
    line, column = imported.locate("price" if at is None else f"variants.{at}.price")
    message = "The price is above zero and would become zero. Only allowZeroPrices allows that."
    raise Refused([RowError(line, column, "price_to_zero", message)])


def _falls_to_zero(before: str, after: str) -> bool:
    return _is_zero(after) and not _is_zero(before)


def _is_zero(price: str | None) -> bool:
    return price is not None and not Decimal(price)


def _prefer_stored(values: _Given, there: Mapping[str, Any]) -> _Given:
    """Return the values; the product's own where a file cannot distinguish them.

    Line ends differ, and a compare-at price of 0.00 is none.
    """

    def prefer_value(name: str, value: object) -> object:
        is_there = there.get(name)
        if value == is_there:
            return is_there
        if isinstance(value, str) and isinstance(is_there, str):
            return is_there if text(is_there).strip(BLANKS) == value else value
        if isinstance(value, dict) and isinstance(is_there, Mapping):
            return _prefer_stored(value, is_there)
        if name == "compareAtPrice" and value is None and is_there and not Decimal(is_there):
            return is_there
        return value

    return {name: prefer_value(name, value) for name, value in values.items()}


def _draft_product(
    imported: ImportedProduct, values: _Given, variants: Variants, product: Product | None
) -> Product:
    if imported.lowest_price:
        _set_lowest_price(values, variants, product.fields if product else {})
    given, places = _add_variants(values, variants)
    try:
        if product is None:
            new = validate(NewProduct, given).sent_fields()
            return products.draft_product(new, new["slug"])
        there = product.fields
        given = {k: v for k, v in given.items() if k not in there or v != there[k]}
        change = validate(ProductChange, given).sent_fields()
        return products.preview_update(product, change, exactly=True)
    except Invalid as invalid:
        is_new, every = product is None, invalid.extra["errors"]
        errors = [_locate_error(imported, places, error, is_new) for error in every]
        raise Refused(errors) from None


def make_missing_error(imported: ImportedProduct, line: int, what: str) -> RowError:
    """Return the error that a new product needs a name, or a price.

    The rows may seem to have one: `no_price` says why it is none.
    """
    message = f"There is no such product yet, and the file gives no {what} for a new one."
    why = imported.no_price if what == "price" else ""
    return RowError(line, "", f"missing_{what}", why or message)


def _locate_error(
    imported: ImportedProduct, places: list[int | None], error: Mapping[str, str], is_new: bool
) -> RowError:
    path = error["field"]
    first, _, rest = path.partition(".")
    if first == "variants" and rest:
        place, _, below = rest.partition(".")
        at = places[int(place)] if place.isdigit() and int(place) < len(places) else None
        path = below if at is None else f"variants.{at}.{below}"
    line, column = imported.locate(path)
    if is_new and error["code"] == "required" and path.rpartition(".")[2] in {"name", "price"}:
        return make_missing_error(imported, line, path.rpartition(".")[2])
    named = column[:_NAMED] or path.rpartition(".")[2]
    return RowError(line, column, error["code"], f"{named} {error['message'].rstrip('.')}.")


def _number_variants(listed: list[_Given]) -> Variants:
    return [(dict(variant), place) for place, variant in enumerate(listed)]


def _add_variants(values: _Given, variants: Variants) -> tuple[_Given, list[int | None]]:
    for variant, place in variants:
        if place is not None and "id" not in variant and not variant.get("title"):
            if len(variants) == 1:
                continue  # the only one of a new product without options
            variant["title"] = variant.get("sku")
    given = {**values, "variants": [variant for variant, _ in variants]} if variants else values
    return given, [place for _, place in variants]


def _merge_images(listed: list[_Given], there: list[_Given]) -> list[_Given]:
    """Return the existing pictures and those of the file, in the file's order.

    Each is at its position in the file, or else in the places of those that the file names. The
    others stay.
    """
    known = {image["url"]: image for image in there}
    named = [{**known.get(image["url"], {}), **image} for image in listed]
    placed = [image for image in named if "position" in image]
    if placed:
        urls = {image["url"] for image in named}
        images: list[_Given] = [dict(image) for image in there if image["url"] not in urls]
        at = 0
        for image in sorted(placed, key=lambda image: image["position"]):
            at = max(at, image["position"] - 1)
            images.insert(at, image)
            at += 1
        images += [image for image in named if "position" not in image]
    else:
        given = iter(named)
        urls = {image["url"] for image in named}
        images = [next(given, image) if image["url"] in urls else image for image in there]
        images += given
    return [{k: v for k, v in image.items() if k != "position"} for image in images]


def _merge_variants(imported: ImportedProduct, listed: Variants, product: Product) -> Variants:
    """All variants of the product: unchanged, changed by the file, or new."""
    _restore_variants(imported, listed, product)
    ids = products.match_variants([variant for variant, _ in listed], product)
    stored = {variant["id"]: variant for variant in product.fields["variants"]}
    every: dict[str, tuple[_Given, int | None]] = {id: ({"id": id}, None) for id in stored}
    news: Variants = []
    for (variant, place), id in zip(listed, ids, strict=True):
        if id is None:
            news.append((variant, place))
        else:
            _restore_number(variant, "barcode", [stored[id].get("barcode")])
            every[id] = ({**variant, "id": id}, place)
    return [*every.values(), *news]


def _restore_variants(imported: ImportedProduct, listed: Variants, product: Product) -> None:
    """Give variants the product's SKUs and titles that a spreadsheet has changed.

    Raises Refused for a date that was an option, and for a SKU that several variants have.
    """
    there = product.variants()
    skus = Counter(variant["sku"] for variant in there if variant["sku"])
    pairs = {(variant["sku"], variant["title"]) for variant in there}
    titles = {variant["title"] for variant in there}
    for variant, place in listed:
        _restore_number(variant, "sku", skus)
        title = variant.get("title")
        sku = variant.get("sku") or ""
        if skus[sku] > 1 and (sku, title) not in pairs:
            _refuse_shared_sku(imported, f"variants.{place}.sku", sku)
        if title and title not in titles and sku not in skus:
            variant["title"] = _restore_title(imported, place, title, titles)


def _restore_number(given: _Given, field: str, stored: Collection[str | None]) -> None:
    """Replace a text that is the number that a spreadsheet makes of a stored one by that one."""
    text = given.get(field)
    if text and text[:1].isdecimal() and text not in stored:
        given[field] = next((each for each in stored if each and is_number_of(text, each)), text)


def _restore_title(
    imported: ImportedProduct, place: int | None, title: str, titles: Iterable[str]
) -> str:
    parts = title.split(" / ")
    for stored in titles:
        stored_parts = stored.split(" / ")
        if len(stored_parts) != len(parts):
            continue
        pairs = [*zip(parts, stored_parts, strict=True)]
        if all(part == own or is_number_of(part, own) for part, own in pairs):
            return stored
        if all(part == own or is_date_of(part, own) for part, own in pairs):
            line, column = imported.locate(f"variants.{place}.title")
            message = f'"{title}" may be what a spreadsheet made of "{stored}": write that.'
            raise Refused([RowError(line, column, "spreadsheet_date", message)])
    return title


def _refuse_shared_sku(imported: ImportedProduct, path: str, sku: str) -> NoReturn:
    line, column = imported.locate(path)
    message = f'Several variants of the product have the SKU "{sku}".'
    raise Refused([RowError(line, column, "ambiguous_sku", message)])


def _is_sold_by_options(product: Product, master_sku: str | None) -> bool:
    """Whether a master is not one of the product's variants: they have titles, and not its SKU."""
    variants = product.fields["variants"]
    is_one_of_them = master_sku and any(v["sku"] == master_sku for v in variants)
    return not is_one_of_them and any(v["title"] != DEFAULT_VARIANT for v in variants)


def _change_only_variant(
    imported: ImportedProduct, values: _Given, own: _Given, product: Product
) -> Variants:
    """Return the variants if the rows name none.

    Price, SKU and `own` are those of the product's only variant, or of the variant with that
    SKU.
    """
    there = product.fields["variants"]
    sku = values.get("sku")
    having = [v for v in there if sku and v["sku"] == sku]
    if len(having) > 1:
        _refuse_shared_sku(imported, "sku", str(sku))
    named = next(iter(having), None)
    others: Variants = [({"id": v["id"]}, None) for v in there]

    def change_one(variant: Mapping[str, object], given: _Given) -> Variants:
        return [(({**v, **given}) if v["id"] == variant["id"] else v, p) for v, p in others]

    if named and (len(there) > 1 or product.fields["sku"] != sku):
        price = {"price": values.pop("price")} if "price" in values else {}
        del values["sku"]
        return change_one(named, {**price, **own}) if price or own else []
    if len(there) == 1:
        given = dict(own)
        if imported.single and not there[0].get("default"):
            given |= {name: values[name] for name in ("sku", "price") if name in values}
        return change_one(there[0], given) if given else []
    if own or (imported.single and ("price" in values or sku)):
        line, column = imported.locate("sku" if sku else next(iter(own), "price"))
        message = f"The product has {len(there)} variants, and the row does not say which."
        raise Refused([RowError(line, column, "unknown_variant", message)])
    return []


def _set_lowest_price(values: _Given, variants: Variants, before: Mapping[str, Any]) -> None:
    """Set the product's price: the lowest of its variants' if each has one; else the lowest given.

    The compare-at price is that of the cheapest variant, which may not be in these rows.
    """
    own = {v["id"]: v["price"] for v in before.get("variants", ())}
    prices = [v.get("price") or own.get(v.get("id")) for v, _ in variants]
    given = [v["price"] for v, _ in variants if v.get("price")]
    lowest = min((price for price in prices if price), key=Decimal, default=None)
    if lowest and Decimal(lowest) < min(map(Decimal, given)):
        values.pop("compareAtPrice", None)
    if all(prices):
        values["price"] = None
    elif before.get("price") is None and lowest:
        values["price"] = lowest
