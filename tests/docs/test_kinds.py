"""The list of kinds in docs/listing.md is that of the code."""

import sys
from pathlib import Path

import app
from chalicelib.listing.kinds import Kind

PAGE = Path(__file__).resolve().parents[2] / "docs/listing.md"


def load_kinds() -> list[Kind]:
    """Return each kind that a module of the application defines, by its name."""
    assert app.app.routes  # all slices are imported
    modules = [module for name, module in sys.modules.items() if name.startswith("chalicelib.")]
    found = [value for module in modules for value in vars(module).values()]
    kinds = {value.name: value for value in found if isinstance(value, Kind)}
    return sorted(kinds.values(), key=lambda kind: kind.name)


def render_kind(kind: Kind) -> str:
    """Return the line of a kind: its lists, orders, cells and menus, as far as it has some."""
    several = [f"{kind.several} (several)"] if kind.several else []
    counted = [f"whether {facet}" if facet == kind.split else facet for facet in kind.counted]
    parts = {
        "lists": [*kind.listed, *several, *kind.combined],
        "orders": kind.orders,
        "cells": [*counted, *([f"with the sum of {kind.summed}"] if kind.summed else [])],
        "again for each": kind.under,
        "menus": kind.menus,
    }
    said = [f"{name}: {', '.join(values)}" for name, values in parts.items() if values]
    return f"- *{kind.name}*: {'; '.join(said)}."


def test_the_page_of_lists_has_each_kind_with_its_lists_and_cells() -> None:
    kinds = load_kinds()
    assert {"product", "order", "audit"} <= {kind.name for kind in kinds}
    lines = [render_kind(kind) for kind in kinds]
    plain = [kind.name for kind, line in zip(kinds, lines, strict=True) if line.endswith(": .")]
    expected = [line for line in lines if not line.endswith(": .")]
    expected.append(f"- *{', '.join(plain)}*: the list of all.")
    page = PAGE.read_text().replace("\n  ", " ")
    assert [line for line in expected if line not in page] == []
