"""Etsy's download of listings: one row each, with lists of variations and of SKUs in cells."""

import html
from itertools import islice
from itertools import product as combinations
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row

_MOST = 500  # variants of a product


def _text(cell: str) -> str:
    """Etsy writes `&quot;` and `&#39;` into titles and descriptions."""
    return html.unescape(reading.text(cell))


def _tags(cell: str) -> list[str]:
    return [tag.replace("_", " ") for tag in reading.listed(cell)]


class Etsy(Format):
    name = "etsy"
    title = "Etsy listings download"
    table: ClassVar = {
        "name": ("TITLE",),
        "description": ("DESCRIPTION",),
        "price": ("PRICE",),
        "currency": ("CURRENCY_CODE",),
        "stock": ("QUANTITY",),
        "tags": ("TAGS",),
        "image": ("IMAGE{n}",),
        "variations": ("VARIATION {n} VALUES",),
        "sku": ("SKU",),
    }
    signs = (
        ("TITLE", "CURRENCY_CODE", "QUANTITY"),
        ("TITLE", "VARIATION 1 TYPE"),
        ("TITLE", "VARIATION 1 VALUES"),
        ("TITLE", "PRICE", "MATERIALS", "IMAGE1"),
    )
    readings: ClassVar = {"name": _text, "description": _text, "tags": _tags}
    named = ("name", "sku", "image")
    if_new: ClassVar = {"status": "ACTIVE"}
    sku_names_product = True  # titles change from season to season

    def key(self, cells: list[str]) -> str:
        sku = self.sheet.cell(cells, "sku")
        return f"sku {sku}" if sku and "," not in sku else super().key(cells)

    def row(self, draft: Draft, row: Row) -> None:
        self.once(draft, row, keep=False)
        self.images(draft, row)
        skus = draft.read(row, "sku", reading.listed) or []
        choices = [reading.listed(cell) for _, cell in row.each("variations")]
        titles: list[str] = []
        if choices and sum(map(len, choices)) <= _MOST:
            pairs = combinations(*choices[:3])
            titles = [" / ".join(values) for values in islice(pairs, _MOST + 1)]
        if len(titles) > _MOST:
            message = f"The listing has more than {_MOST} variations."
            draft.fail(row, "variations", "too_many_variants", message)
            return
        if not titles:
            self._whole(draft, row, skus)
            return
        # How many there are of each is not in the file, only how many of all.
        for at, title in enumerate(titles):
            variant = draft.variant(row, title)
            for key, (field, value) in self.prices(draft, row).items():
                variant.set(field, key, value)
            if len(skus) == len(titles):
                variant.set("sku", "sku", skus[at])

    def _whole(self, draft: Draft, row: Row, skus: list[str]) -> None:
        only = draft.variant(row, "")
        if len(skus) == 1:
            only.set("sku", "sku", skus[0])
        for key, (field, value) in self.prices(draft, row).items():
            only.set(field, key, value)
        self.stock(only, row)
