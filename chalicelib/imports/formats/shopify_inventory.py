"""Shopify's inventory export. It changes stock and nothing else.

It has a row for each variant and location, or, in older files, a column for each location.
"""

from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft, ImportedProduct
from chalicelib.imports.formats.sheet import Row, plain

_NOT_STOCKED = "not stocked"
_COUNTS = ("available", "new", "current")


class ShopifyInventory(Format):
    name = "shopify_inventory"
    title = "Shopify inventory export"
    table: ClassVar = {
        "slug": ("Handle",),
        "productTitle": ("Title",),
        "option": ("Option{n} Value",),
        "optionName": ("Option{n} Name",),
        "sku": ("SKU",),
        "location": ("Location",),
        "available": ("Available (not editable)", "Available"),
        "new": ("On hand (new)",),
        "current": ("On hand (current)", "On hand"),
    }
    signs = (
        ("Handle", "On hand (current)"),
        ("Handle", "On hand (new)"),
        ("Handle", "Available (not editable)"),
        ("Handle", "HS Code", "COO"),
        ("Handle", "Location", "On hand"),
        ("Handle", "Location", "Available"),
        ("SKU", "Location", "On hand (current)"),
        ("SKU", "Location", "On hand (new)"),
    )
    named = ("slug", "sku")
    untitled = ("default title",)
    numbers = _COUNTS

    def read_product(self, draft: Draft) -> ImportedProduct:
        """Sum the stock of each variant over its rows, one a location; return the product.

        It can only update a product. A variant without a count is left out.
        """
        draft.refuse_nameless(self.named, self.numbers)
        draft.product.only_updates = True
        # A variant has one row for each location.
        rows: dict[tuple[str, str], list[Row]] = {}
        for row in draft.rows:
            draft.set_from_cell(row, "slug", "slug", reading.handle, keep=True)
            rows.setdefault((self.variant_title(row), row["sku"]), []).append(row)
        for (title, sku), same in rows.items():
            counts = [count for row in same for count in self._read_counts(draft, row)]
            if not counts:
                continue
            # The SKU identifies a variant, or else the title; the handle identifies a product's
            # only variant. The import changes none of them.
            variant = draft.add_variant(same[0], "" if sku else title)
            variant.set(next((c for c in _COUNTS if same[0][c]), "sku"), "stock", sum(counts))
            if sku and (title or "slug" not in draft.product.values):
                variant.set("sku", "sku", sku)
        draft.product.slug = draft.product.values.get("slug")
        return draft.finish_product()

    def product_key(self, cells: list[str]) -> str:
        """Return the key of a row: its slug, else its SKU."""
        return self.slug_key(cells) or f"sku {self.sheet.cell(cells, 'sku')}"

    def _read_counts(self, draft: Draft, row: Row) -> list[int]:
        """Return a row's counts for the chosen location, or for all locations; [] for none.

        In a file with a column for the location, a row has one (`_read_sellable`); in an older one,
        one in the column of each location.
        """
        wanted = draft.shop.location.casefold()
        if "location" in self.sheet:
            if wanted and row["location"].casefold() != wanted:
                return []
            return self._read_sellable(draft, row)
        counts = []
        for at in self._columns:
            name = self.sheet.header[at]
            cell = row.cell_at(at)
            if cell and cell != _NOT_STOCKED and wanted in ("", name.casefold()):
                count = draft.read_text(row, name, cell, draft.make_count_reader(row))
                counts += [count] if count is not None else []
        return counts

    def _read_sellable(self, draft: Draft, row: Row) -> list[int]:
        """Return [how many pieces can be sold], never below 0; [] if the row has no count.

        That is what is available, plus the difference between the new and the current count on
        hand. Without `available`, it is the new count, or else the current one.
        """
        # More may have been sold than there is: that counts before a new count is added.
        read = draft.make_count_reader(row, reading.parse_whole)
        counts = {
            c: draft.read_cell(row, c, read) for c in _COUNTS if row[c] and row[c] != _NOT_STOCKED
        }
        available, new, current = (counts.get(count) for count in _COUNTS)
        if available is not None:
            moved = new - current if new is not None and current is not None else 0
            return [max(available + moved, 0)]
        counted = current if new is None else new
        return [] if counted is None else [max(counted, 0)]

    @property
    def _columns(self) -> list[int]:
        """The positions of the columns of locations in an older file.

        These are the columns after the country of origin that give no field.
        """
        header = list(map(plain, self.sheet.header))
        named = range(header.index("coo") + 1 if "coo" in header else len(header), len(header))
        return [at for at in named if self.sheet.header[at] and at not in self.sheet.read]

    @property
    def ignored_columns(self) -> list[str]:
        """The columns that nothing is read from.

        Without a column for the location, those of locations are read.
        """
        if "location" in self.sheet:
            return super().ignored_columns
        locations = {self.sheet.header[at] for at in self._columns}
        return [name for name in super().ignored_columns if name not in locations]
