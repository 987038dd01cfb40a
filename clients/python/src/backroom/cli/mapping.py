"""Asks in the terminal what the columns of a file are, and shows what comes of the answers."""

from __future__ import annotations

from typing import Any, cast

import typer

from backroom.cli import shown
from backroom.client import Backroom
from backroom.errors import Invalid
from backroom.models import ChosenMapping

_SEVERAL = ("imageUrl", "category")  # fields that more than one column may give


def answer(shop: Backroom, job: Any) -> None:
    """Asks until the shop takes the answer."""
    if job["encodings"]:
        shop.map_import_columns(job["id"], {"encoding": _encoding(job)})
        return
    shown.note("What are these columns? Enter takes the proposal, and a beginning is enough.")
    shown.note("- leaves a column out, < goes back to the one before, ? lists the fields.")
    if job.get("headerRow") == 0:
        shown.note("The file seems to have no header. If line 1 is one: --header-row 1", "yellow")
    _list(job)
    chosen: dict[str, str | None] = {each["column"]: each["field"] for each in job["columns"]}
    while True:
        _ask(job, chosen)
        mapping: ChosenMapping = {"columns": chosen}
        try:
            _show(shop.preview_import_mapping(job["id"], {"columns": chosen}))
            if not typer.confirm("\nIs that right?", default=True, err=True):
                continue
            name = _prompt("Save this mapping as (Enter: do not save)", "", show_default=False)
            if name:
                mapping["saveAs"] = name
            shop.map_import_columns(job["id"], mapping)
            return
        except Invalid as wrong:
            for error in wrong.errors:
                shown.note(str(error["message"]), "red")


def _prompt(text: str, default: str | None, *, show_default: bool = True) -> str:
    said = typer.prompt(text, default=default, show_default=show_default, err=True)
    return str(said).strip()


def readings(job: Any) -> list[tuple[str, str]]:
    """Each possible encoding, with the first words in it."""
    return [(each["encoding"], ", ".join(each["samples"][:4])) for each in job["encodings"]]


def _encoding(job: Any) -> str:
    shown.note("The file can be read in several encodings. Which has the right words?")
    for encoding, words in readings(job):
        shown.note(f"{encoding}   {words}")
    names = [each["encoding"] for each in job["encodings"]]
    while True:
        found = _meant(_prompt("  encoding", None), names)
        if found:
            return found


def _list(job: Any) -> None:
    words = job.get("fieldDescriptions") or {}
    width = max(map(len, job["fields"]))
    for field in job["fields"]:
        shown.note(f"  {field:{width}}  {words.get(field, '')}".rstrip(), "dim")


def _ask(job: Any, chosen: dict[str, str | None]) -> None:
    """Each column; what was chosen before is proposed."""
    columns, at = job["columns"], 0
    while at < len(columns):
        column = columns[at]["column"]
        before = {chosen[each["column"]]: each["column"] for each in columns[:at]}
        proposed = chosen[column] if _is_free(chosen[column], before) else None
        samples = ", ".join(map(str, columns[at]["samples"]))
        shown.note(f"\n{column}   {samples}", "bold")
        said = _prompt("  field", proposed or "-")
        if said == "<":
            at = max(at - 1, 0)
        elif said == "?":
            _list(job)
        elif said == "-":
            chosen[column] = None
            at += 1
        elif field := _meant(said, job["fields"]):
            if _is_free(field, before):
                chosen[column] = field
                at += 1
            else:
                shown.note(f'"{before[field]}" is already {field}.', "red")


def _is_free(field: str | None, before: dict[str | None, str]) -> bool:
    return field is None or field in _SEVERAL or field not in before


def _meant(said: str, names: list[str]) -> str | None:
    """The name, or the only one that begins so; otherwise says why there is none."""
    typed = said.casefold()
    exact = [name for name in names if name.casefold() == typed]
    found = exact or [name for name in names if name.casefold().startswith(typed)]
    if len(found) == 1:
        return found[0]
    several = f'"{said}" may be: {", ".join(found)}.'
    shown.note(several if found else f'"{said}" is none of: {", ".join(names)}.', "red")
    return None


def _show(found: Any) -> None:
    """What a mapping makes of the file."""
    some = "" if found["isWhole"] else "The first "
    shown.note(
        f"\n{some}{found['rows']} rows become {found['products']} products with"
        f" {found['variants']} variants; {found['failed']} products have errors. The first:"
    )
    for product in found["first"]:
        shown.note(f"  {product['name'] or product['sku'] or 'row ' + str(product['row'])}", "bold")
        for variant in product["variants"]:
            told = {"": variant["title"], "SKU ": variant["sku"], "price ": variant["price"]}
            told["stock "] = cast(Any, variant["stock"])
            parts = [f"{name}{value}" for name, value in told.items() if value is not None]
            shown.note("    " + ", ".join(parts))
        for error in product["errors"]:
            shown.note(f"    {error}", "red")
    for warning in found["warnings"]:
        shown.note(warning, "yellow")
    if found["question"]:
        shown.note(found["question"], "yellow")
