"""What a mapping makes of the beginning of a file, before anything is written.

Its rows are grouped as the planner groups those of the whole file, and read as the workers do.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import Final

from chalicelib.imports import chunks, columns, files
from chalicelib.imports.csv.groups import group_rows, name_key
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.rows import CsvRow, FileFormat
from chalicelib.imports.formats import Format, ImportedProduct, Shop
from chalicelib.imports.joining import Joining
from chalicelib.imports.model import ForeseenProduct, ImportJob, MappingPreview, Options

_BYTES: Final = 1 << 19
_SHOWN: Final = 3
_SHOWN_VARIANTS: Final = 20


def foresee(job: ImportJob, form: FileFormat, options: Options, etag: str = "") -> MappingPreview:
    """Read the beginning of a job's file; return what a mapping makes of it. Nothing is written.

    `etag`: only of this file; "": of any. Raises FileChanged, and FileRejected if the file does not
    have the format.
    """
    shop = columns.make_shop(job)
    file_format = columns.choose_format(form, options)
    assert file_format is not None  # it was chosen
    data = files.read_beginning(job.id, etag, _BYTES)
    is_whole = len(data) < _BYTES
    row = form.header_row
    table = open_csv([data], form.encoding, form.delimiter, header_row=row, is_cut=not is_whole)
    rows = list(table.rows())
    if not is_whole and len(rows) > 1:
        rows.pop()  # it may be cut
    read = list(_read_products(rows, file_format, shop))
    variants = [len(each.values.get("variants", ())) or 1 for each in read]
    return {
        "rows": len(rows),
        "isWhole": is_whole,
        "products": len(read),
        "variants": sum(variants),
        "failed": sum(bool(each.errors) for each in read),
        "question": _make_question(read, variants, len(rows), is_whole),
        "warnings": [each.message for product in read for each in product.repeated][:_SHOWN],
        "first": list(map(_show_product, read[:_SHOWN])),
    }


def _read_products(
    rows: Sequence[CsvRow], file_format: Format, shop: Shop
) -> Iterator[ImportedProduct]:
    """Yield the products of the rows, with their errors, in the order of their first rows.

    They are grouped and joined in a database in a temporary folder. A product of which nothing can
    be read has only errors.
    """
    with TemporaryDirectory() as folder, closing(Joining(folder, lambda: False)) as joining:
        for group in group_rows(rows, file_format):
            joining.add(group)
        joining.join()
        for product in joining.products():
            line, groups, error = chunks.unpack(chunks.pack(product))
            rows = [row for group in groups for row in group]
            product_read = file_format.read_rows(rows, shop) if rows else ImportedProduct(line)
            product_read.errors += [error] if error else []
            yield product_read


def _make_question(
    read: Sequence[ImportedProduct], variants: Sequence[int], rows: int, is_whole: bool
) -> str | None:
    """Return a question if rows that are products by themselves may be variants; else None.

    So it is if several have one name and no slug, and no product has several variants. `variants`:
    how many each product has.
    """
    unsaid = (each.values for each in read if not each.values.get("slug"))
    names = [name_key(str(values["name"])) for values in unsaid if values.get("name")]
    meant = len(read) - len(names) + len(set(names))
    if meant == len(read) or max(variants) > 1:
        return None
    first = "" if is_whole else "The first "
    return (
        f"{first}{rows} rows become {len(read)} products of one variant; did you mean {meant}"
        " products? Then say which column is an option."
    )


def _show_product(product: ImportedProduct) -> ForeseenProduct:
    """Return a product in the shape of ForeseenProduct: its first 20 variants and three errors.

    Without variants, its own SKU, price and stock are the only one.
    """
    values = product.values
    own = {"title": None, **{name: values.get(name) for name in ("sku", "price", "stock")}}
    variants = values.get("variants") or [own]
    return {
        "row": product.line,
        "name": values.get("name"),
        "sku": values.get("sku"),
        "price": values.get("price"),
        "variants": [
            {
                "title": each.get("title"),
                "sku": each.get("sku"),
                "price": each.get("price"),
                "stock": each.get("stock"),
            }
            for each in variants[:_SHOWN_VARIANTS]
        ],
        "errors": [f"Row {error.row}: {error.message}" for error in product.errors[:_SHOWN]],
    }
