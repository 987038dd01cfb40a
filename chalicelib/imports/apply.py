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
    """Return a new product made of its rows; nothing is written. Raises Refused.

    `slug`: of the product, whatever the rows say. What only a new one has (`if_new`) counts too.
    """
    values = {**imported.if_new, **imported.values, "slug": slug}
    variants = _number_variants(values.pop("variants", []))
    own = _take_variant_values(values)
    if not variants and any(value is not None for value in own.values()):
        variants = [(own, None)]
    if "images" in values:
        values["images"] = _merge_images(values["images"], [])
    return _draft_product(imported, values, variants, None)


def change_product(imported: ImportedProduct, product: Product) -> Product:
    """Return the product as the rows change it, or the same object if nothing differs.

    Nothing is written; the slug stays. Values that differ from the stored ones only in form do not
    count. Raises Refused.
    """
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
    """Remove stock, barcode and cost, which belong to the only variant, from `values`.

    Return them.
    """
    return {name: values.pop(name) for name in OF_VARIANT if name in values}


def _refuse_new(imported: ImportedProduct, variants: Variants, product: Product) -> None:
    """Raise Refused if the rows have a variant, or a SKU, that the product does not have."""
    new = next((place for variant, place in variants if "id" not in variant), None)
    sku = imported.values.get("sku")
    if new is None and (sku is None or sku in product.skus):
        return
    line, column = imported.locate("sku" if new is None else f"variants.{new}.sku")
    message = "The product has no such variant, and this file only updates."
    raise Refused([RowError(line, column, "unknown_variant", message)])


def refuse_zero_prices(imported: ImportedProduct, before: Product, after: Product) -> None:
    """Raise Refused if the price of the product or of a variant was above zero and becomes zero.

    A variant that is new, or had no price, may have 0.
    """
    if after is before:
        return
    free = {variant["id"] for variant in after.variants() if _is_zero(variant["price"])}
    stored = before.variants() if free else []
    was = [variant["price"] for variant in stored if variant["id"] in free]
    if all(map(_is_zero, was)) and not _falls_to_zero(before.price, after.price):
        return
    listed = imported.values.get("variants", ())
    at = next((n for n, v in enumerate(listed) if _is_zero(v.get("price"))), None)
    line, column = imported.locate("price" if at is None else f"variants.{at}.price")
    message = "The price is above zero and would become zero. Only allowZeroPrices allows that."
    raise Refused([RowError(line, column, "price_to_zero", message)])


def _falls_to_zero(before: str, after: str) -> bool:
    """Return whether a price becomes 0 that was not 0."""
    return _is_zero(after) and not _is_zero(before)


def _is_zero(price: str | None) -> bool:
    """Return whether a price is 0; None is none."""
    return price is not None and not Decimal(price)


def _prefer_stored(values: _Given, stored: Mapping[str, Any]) -> _Given:
    """Return the file's values, each replaced by the stored one where the two differ only in form.

    A file's line ends and outer blanks differ, and a compare-at price of 0.00 is none in it. Values
    within objects are compared likewise.
    """

    def prefer_value(name: str, value: object) -> object:
        """Return the stored value of a field if the file's is the same but for its form."""
        own = stored.get(name)
        if value == own:
            return own
        if isinstance(value, str) and isinstance(own, str):
            return own if text(own).strip(BLANKS) == value else value
        if isinstance(value, dict) and isinstance(own, Mapping):
            return _prefer_stored(value, own)
        if name == "compareAtPrice" and value is None and own and not Decimal(own):
            return own
        return value

    return {name: prefer_value(name, value) for name, value in values.items()}


def _draft_product(
    imported: ImportedProduct, values: _Given, variants: Variants, product: Product | None
) -> Product:
    """Validate values and variants as the API does; return the product with them, not written.

    `product`: as it is (the same object is returned if nothing differs); None for a new one. Raises
    Refused, with errors at the rows of the file.
    """
    if imported.lowest_price:
        _set_lowest_price(values, variants, product.fields if product else {})
    changed, places = _add_variants(values, variants)
    try:
        if product is None:
            new = validate(NewProduct, changed).sent_fields()
            return products.draft_product(new, new["slug"])
        stored = product.fields
        changed = {k: v for k, v in changed.items() if k not in stored or v != stored[k]}
        change = validate(ProductChange, changed).sent_fields()
        return products.preview_update(product, change, exactly=True)
    except Invalid as invalid:
        is_new, every = product is None, invalid.extra["errors"]
        errors = [_locate_error(imported, places, error, is_new) for error in every]
        raise Refused(errors) from None


def make_missing_error(imported: ImportedProduct, line: int, missing: str) -> RowError:
    """Return the error that a new product needs a name, or a price (`missing`).

    If the rows seem to have a price, the message says why it is none (`no_price`).
    """
    message = f"There is no such product yet, and the file gives no {missing} for a new one."
    why = imported.no_price if missing == "price" else ""
    return RowError(line, "", f"missing_{missing}", why or message)


def _locate_error(
    imported: ImportedProduct, places: list[int | None], error: Mapping[str, str], is_new: bool
) -> RowError:
    """Return an error of the API's validation as one of a row and a column of the file.

    `places`: of each variant that was validated, its place in the file; None: it is not in it.
    """
    path = error["field"]
    first, _, below_variants = path.partition(".")
    if first == "variants" and below_variants:
        place, _, below = below_variants.partition(".")
        at = places[int(place)] if place.isdigit() and int(place) < len(places) else None
        path = below if at is None else f"variants.{at}.{below}"
    line, column = imported.locate(path)
    if is_new and error["code"] == "required" and path.rpartition(".")[2] in {"name", "price"}:
        return make_missing_error(imported, line, path.rpartition(".")[2])
    named = column[:_NAMED] or path.rpartition(".")[2]
    return RowError(line, column, error["code"], f"{named} {error['message'].rstrip('.')}.")


def _number_variants(listed: list[_Given]) -> Variants:
    """Return copies of the file's variants, each with its place among them."""
    return [(dict(variant), place) for place, variant in enumerate(listed)]


def _add_variants(values: _Given, variants: Variants) -> tuple[_Given, list[int | None]]:
    """Return the values with these variants, and the place of each in the file (None: not there).

    A new variant without a title gets its SKU as the title, unless it is the only one: `variants`
    themselves are changed. No variants: no field `variants`.
    """
    for variant, place in variants:
        if place is not None and "id" not in variant and not variant.get("title"):
            if len(variants) == 1:
                continue  # the only one of a new product without options
            variant["title"] = variant.get("sku")
    if variants:
        values = {**values, "variants": [variant for variant, _ in variants]}
    return values, [place for _, place in variants]


def _merge_images(listed: list[_Given], stored: list[_Given]) -> list[_Given]:
    """Return the stored pictures and those of the file, each once by its address.

    If any of the file's has a `position`, those of the file are inserted there among the others,
    and the rest of the file's follow. Otherwise the file's, in its order, take the places of the
    stored ones that it names, and what is left of them follows; the others keep their places. A
    file's values are added to the stored ones; `position` is left out.
    """
    known = {image["url"]: image for image in stored}
    named = [{**known.get(image["url"], {}), **image} for image in listed]
    placed = [image for image in named if "position" in image]
    if placed:
        urls = {image["url"] for image in named}
        images: list[_Given] = [dict(image) for image in stored if image["url"] not in urls]
        at = 0
        for image in sorted(placed, key=lambda image: image["position"]):
            at = max(at, image["position"] - 1)
            images.insert(at, image)
            at += 1
        images += [image for image in named if "position" not in image]
    else:
        in_file = iter(named)
        urls = {image["url"] for image in named}
        images = [next(in_file, image) if image["url"] in urls else image for image in stored]
        images += in_file
    return [{k: v for k, v in image.items() if k != "position"} for image in images]


def _merge_variants(imported: ImportedProduct, listed: Variants, product: Product) -> Variants:
    """Return all variants that the product then has, with their places in the file; new ones last.

    A stored one that the file does not list is `{id}` alone, so it stays. The variants in `listed`
    are changed (`_restore_variants`). Raises Refused.
    """
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
    """Restore in `listed` the product's own SKUs and titles that a spreadsheet has changed.

    A title is left if the SKU finds the variant. Raises Refused for a date that was an option, and
    for a SKU that several variants have, unless the title tells them apart.
    """
    stored = product.variants()
    skus = Counter(variant["sku"] for variant in stored if variant["sku"])
    pairs = {(variant["sku"], variant["title"]) for variant in stored}
    titles = {variant["title"] for variant in stored}
    for variant, place in listed:
        _restore_number(variant, "sku", skus)
        title = variant.get("title")
        sku = variant.get("sku") or ""
        if skus[sku] > 1 and (sku, title) not in pairs:
            _refuse_shared_sku(imported, f"variants.{place}.sku", sku)
        if title and title not in titles and sku not in skus:
            variant["title"] = _restore_title(imported, place, title, titles)


def _restore_number(variant: _Given, field: str, stored: Collection[str | None]) -> None:
    """Replace a field's text by the stored text that a spreadsheet would have turned into it.

    `variant` is changed: `00123` may stand for a file's `123`. `stored`: the texts that the field
    may have been; one that is the file's is left.
    """
    text = variant.get(field)
    if text and text[:1].isdecimal() and text not in stored:
        variant[field] = next((each for each in stored if each and is_number_of(text, each)), text)


def _restore_title(
    imported: ImportedProduct, place: int | None, title: str, titles: Iterable[str]
) -> str:
    """Return the stored title whose options a spreadsheet turned into the numbers of this one.

    If there is none, this one. Raises Refused if it made dates of a stored title's options.
    """
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
    """Raise Refused because the product has several variants with this SKU."""
    line, column = imported.locate(path)
    message = f'Several variants of the product have the SKU "{sku}".'
    raise Refused([RowError(line, column, "ambiguous_sku", message)])


def _is_sold_by_options(product: Product, master_sku: str | None) -> bool:
    """Return whether a product's master row is none of its variants, which have options.

    So it is if the variants have titles, and none has the SKU of the master.
    """
    variants = product.fields["variants"]
    is_one_of_them = master_sku and any(v["sku"] == master_sku for v in variants)
    return not is_one_of_them and any(v["title"] != DEFAULT_VARIANT for v in variants)


def _change_only_variant(
    imported: ImportedProduct, values: _Given, own: _Given, product: Product
) -> Variants:
    """Return all variants, one of them changed, for rows that list no variants; [] changes none.

    If the rows' SKU is that of one variant of several, or of a sole one whose product has another
    SKU, that variant gets `own` and the price; the SKU and the price are removed from `values`.
    Otherwise a sole variant gets `own`, and copies of SKU and price if the rows are `single` and it
    is not the default one. Raises Refused if the SKU is that of several variants, or if there are
    several, and the rows give one of them something without saying which.
    """
    stored = product.fields["variants"]
    sku = values.get("sku")
    having = [v for v in stored if sku and v["sku"] == sku]
    if len(having) > 1:
        _refuse_shared_sku(imported, "sku", str(sku))
    named = next(iter(having), None)
    others: Variants = [({"id": v["id"]}, None) for v in stored]

    def change_one(variant: Mapping[str, object], changes: _Given) -> Variants:
        """Return all variants of the product, `{id}` alone, but this one with these changes."""
        return [(({**v, **changes}) if v["id"] == variant["id"] else v, p) for v, p in others]

    if named and (len(stored) > 1 or product.fields["sku"] != sku):
        price = {"price": values.pop("price")} if "price" in values else {}
        del values["sku"]
        return change_one(named, {**price, **own}) if price or own else []
    if len(stored) == 1:
        changes = dict(own)
        if imported.single and not stored[0].get("default"):
            changes |= {name: values[name] for name in ("sku", "price") if name in values}
        return change_one(stored[0], changes) if changes else []
    if own or (imported.single and ("price" in values or sku)):
        line, column = imported.locate("sku" if sku else next(iter(own), "price"))
        message = f"The product has {len(stored)} variants, and the row does not say which."
        raise Refused([RowError(line, column, "unknown_variant", message)])
    return []


def _set_lowest_price(values: _Given, variants: Variants, before: Mapping[str, Any]) -> None:
    """Set the product's price by its cheapest variant in `values`, where the file leaves that open.

    If each variant has a price, it is None, so that it follows them; else it is the lowest known
    price, unless `before` has one. The compare-at price is removed from `values` if the cheapest
    variant is not among the file's. `before`: the stored fields, {} for a new product.
    """
    own = {v["id"]: v["price"] for v in before.get("variants", ())}
    prices = [v.get("price") or own.get(v.get("id")) for v, _ in variants]
    prices_of_file = [v["price"] for v, _ in variants if v.get("price")]
    lowest = min((price for price in prices if price), key=Decimal, default=None)
    if lowest and Decimal(lowest) < min(map(Decimal, prices_of_file)):
        values.pop("compareAtPrice", None)
    if all(prices):
        values["price"] = None
    elif before.get("price") is None and lowest:
        values["price"] = lowest
