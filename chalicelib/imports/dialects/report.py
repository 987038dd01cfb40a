"""CSV going out: the template to begin with, and the report of what failed, to be mended."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from chalicelib.imports.dialects.dialect import REPORT_COLUMNS
from chalicelib.imports.dialects.ours import Ours
from chalicelib.imports.faults import RowError
from chalicelib.imports.records import Format, Record

_EXAMPLES = (
    {
        "slug": "linen-shirt",
        "name": "Linen shirt",
        "description": "A light shirt for warm days.",
        "status": "ACTIVE",
        "price": "49.90",
        "compareAtPrice": "59.90",
        "vendor": "Northwind",
        "type": "Shirts",
        "tags": "linen, summer",
        "variantTitle": "Small",
        "variantSku": "LIN-S",
        "variantPrice": "49.90",
        "stock": "12",
        "imageUrl": "https://example.com/linen-shirt.jpg",
        "imageAlt": "A linen shirt on a hanger",
        "published": "TRUE",
        "seoTitle": "Linen shirt",
        "seoDescription": "Light linen shirts in two sizes.",
    },
    {
        "slug": "linen-shirt",
        "variantTitle": "Large",
        "variantSku": "LIN-L",
        "variantPrice": "52.90",
        "stock": "7",
        "imageUrl": "https://example.com/linen-shirt-back.jpg",
        "imageAlt": "The same shirt from behind",
    },
    {
        "slug": "enamel-mug",
        "name": "Enamel mug",
        "description": "Holds 0.4 litres.",
        "status": "DRAFT",
        "price": "14.50",
        "sku": "MUG-WHITE",
        "vendor": "Northwind",
        "type": "Kitchen",
        "tags": "enamel",
        "stock": "40",
        "published": "TRUE",
        "lowStockThreshold": "10",
    },
)


def template() -> bytes:
    """Our columns with two example products: one with variants, one without."""
    rows = ([example.get(column, "") for column in Ours.columns] for example in _EXAMPLES)
    return codecs.BOM_UTF8 + b"".join(_lines([Ours.columns, *rows], ","))


def report(
    form: Format, failed: Iterable[tuple[Sequence[Record], Sequence[RowError]]]
) -> Iterator[bytes]:
    """The rows of products that failed, in the file's own columns and order, as pieces of UTF-8.

    `failed`: the records of each such product with its errors. Every row comes with what is wrong
    with it, or else with its product; mended, the report can be imported.
    """
    width = len(form.header)
    yield codecs.BOM_UTF8 + b"".join(_lines([[*form.header, *REPORT_COLUMNS]], form.delimiter))
    for records, errors in failed:
        rows = []
        for record in records:
            own = [error for error in errors if error.row == record.line] or list(errors)
            cells = [*record.cells, *[""] * (width - len(record.cells))]
            if len(cells) > width:
                # What is too much is kept, with the delimiter that cut it, where it can be seen.
                cells = [*cells[: width - 1], form.delimiter.join(cells[width - 1 :])]
            fields = "; ".join(dict.fromkeys(error.field for error in own if error.field))
            texts = " ".join(dict.fromkeys(error.message for error in own))
            rows.append([*cells, record.line, fields, texts])
        yield b"".join(_lines(rows, form.delimiter))


def _lines(rows: Iterable[Sequence[object]], delimiter: str) -> Iterator[bytes]:
    for row in rows:
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter).writerow(row)
        yield text.getvalue().encode("utf-8", "replace")
