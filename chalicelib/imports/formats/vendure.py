"""Vendure's product file.

Further variants of a product are below it, without its name; lists in a cell are separated by bars,
and facets hold brand and category. Of columns such as `name:en` and `name:de` the first language
counts.
"""

from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row

_bars = reading.split("|")


class Vendure(Format):
    name = "vendure"
    title = "Vendure product file"
    table: ClassVar = {
        **{field: (field, f"{field}:{{*}}") for field in ("name", "slug", "description")},
        **{field: (field,) for field in ("sku", "price")},
        "published": ("enabled",),
        "image": ("assets", "variantAssets"),
        "facets": ("facets", "variantFacets"),
        "facetsOfLanguage": ("facets:{*}", "variantFacets:{*}"),
        "optionGroups": ("optionGroups",),
        "option": ("optionValues", "optionValues:{*}"),
        "stock": ("stockOnHand",),
        "tracked": ("trackInventory",),
    }
    signs = (
        ("optionGroups", "optionValues"),
        ("optionGroups", "stockOnHand", "trackInventory"),
        ("facets", "stockOnHand"),
        ("facets", "trackInventory"),
        ("variantAssets", "variantFacets"),
    )
    named = ("slug", "name", "sku", "option")
    readings: ClassVar = {"image": _bars}
    untracked: ClassVar = {"tracked": ("false", "0")}
    if_new: ClassVar = {"status": "ACTIVE"}

    def variant_title(self, row: Row) -> str:
        """Return the title of a row's variant: its options; "" for none."""
        return " / ".join(_bars(row["option"]))

    def read_common(self, draft: Draft, row: Row, *, keep: bool) -> None:
        """Set what the product has once, and from its facets the vendor, the type and tags.

        `brand:` and `category:` or `type:` count unless a row gave them; other facets of a row with
        a name are tags. A row without name and slug replaces nothing, if the file says what is
        enabled.
        """
        if "enabled" in map(str.lower, self.sheet.header) and not row["name"] and not row["slug"]:
            keep = True
        super().read_common(draft, row, keep=keep)
        first = row["facetsOfLanguage"]
        several = [(row.column("facetsOfLanguage"), first)] if first else []
        for column, cell in [*row.texts_of("facets"), *several]:
            for facet in draft.read_text(row, column, cell, _bars) or []:
                kind, _, value = facet.partition(":")
                if kind.casefold() == "brand" and value:
                    draft.set(row, "facets", "vendor", value.strip(), keep=True)
                elif kind.casefold() in {"category", "type"} and value:
                    draft.set(row, "facets", "type", value.strip(), keep=True)
                elif value and row["name"]:
                    draft.add_tags(value.strip())
