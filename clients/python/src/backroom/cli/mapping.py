"""Questions in the terminal about the columns of a file, and a preview of the answers."""

from __future__ import annotations

from typing import Any, cast

import typer

from backroom.cli import output
from backroom.client import Backroom
from backroom.errors import Invalid
from backroom.models import ChosenMapping

_SEVERAL = ("imageUrl", "category")  # fields that more than one column may give


def ask_for_mapping(shop: Backroom, job: Any) -> None:
    """Ask for the encoding or the columns of a file until the shop accepts the answer."""
    if job["encodings"]:
        shop.map_import_columns(job["id"], {"encoding": _ask_encoding(job)})
        return
    output.print_note(
        "What are these columns? Enter takes the proposal, and a beginning is enough."
    )
    output.print_note("- leaves a column out, < goes back to the one before, ? lists the fields.")
    if job.get("headerRow") == 0:
        output.print_note(
            "The file seems to have no header. If line 1 is one: --header-row 1", "yellow"
        )
    _list_fields(job)
    chosen: dict[str, str | None] = {each["column"]: each["field"] for each in job["columns"]}
    while True:
        _ask_columns(job, chosen)
        mapping: ChosenMapping = {"columns": chosen}
        try:
            _show_preview(shop.preview_import_mapping(job["id"], {"columns": chosen}))
            if not typer.confirm("\nIs that right?", default=True, err=True):
                continue
            name = _prompt("Save this mapping as (Enter: do not save)", "", show_default=False)
            if name:
                mapping["saveAs"] = name
            shop.map_import_columns(job["id"], mapping)
            return
        except Invalid as wrong:
            for error in wrong.errors:
                output.print_note(str(error["message"]), "red")


def _prompt(text: str, default: str | None, *, show_default: bool = True) -> str:
    said = typer.prompt(text, default=default, show_default=show_default, err=True)
    return str(said).strip()


def list_readings(job: Any) -> list[tuple[str, str]]:
    """Return each possible encoding, with the first words in it."""
    return [(each["encoding"], ", ".join(each["samples"][:4])) for each in job["encodings"]]


def _ask_encoding(job: Any) -> str:
    output.print_note("The file can be read in several encodings. Which has the right words?")
    for encoding, words in list_readings(job):
        output.print_note(f"{encoding}   {words}")
    names = [each["encoding"] for each in job["encodings"]]
    while True:
        found = _match_name(_prompt("  encoding", None), names)
        if found:
            return found


def _list_fields(job: Any) -> None:
    words = job.get("fieldDescriptions") or {}
    width = max(map(len, job["fields"]))
    for field in job["fields"]:
        output.print_note(f"  {field:{width}}  {words.get(field, '')}".rstrip(), "dim")


def _ask_columns(job: Any, chosen: dict[str, str | None]) -> None:
    """Ask for the field of each column, and write it into `chosen`, whose values are proposed."""
    columns, at = job["columns"], 0
    while at < len(columns):
        column = columns[at]["column"]
        before = {chosen[each["column"]]: each["column"] for each in columns[:at]}
        proposed = chosen[column] if _is_free(chosen[column], before) else None
        samples = ", ".join(map(str, columns[at]["samples"]))
        output.print_note(f"\n{column}   {samples}", "bold")
        said = _prompt("  field", proposed or "-")
        if said == "<":
            at = max(at - 1, 0)
        elif said == "?":
            _list_fields(job)
        elif said == "-":
            chosen[column] = None
            at += 1
        elif field := _match_name(said, job["fields"]):
            if _is_free(field, before):
                chosen[column] = field
                at += 1
            else:
                output.print_note(f'"{before[field]}" is already {field}.', "red")


def _is_free(field: str | None, before: dict[str | None, str]) -> bool:
    return field is None or field in _SEVERAL or field not in before


def _match_name(said: str, names: list[str]) -> str | None:
    """Return the name that was typed, or the only one that begins so; otherwise print a note."""
    typed = said.casefold()
    exact = [name for name in names if name.casefold() == typed]
    found = exact or [name for name in names if name.casefold().startswith(typed)]
    if len(found) == 1:
        return found[0]
    several = f'"{said}" may be: {", ".join(found)}.'
    output.print_note(several if found else f'"{said}" is none of: {", ".join(names)}.', "red")
    return None


def _show_preview(found: Any) -> None:
    """Print what a mapping makes of the file."""
    some = "" if found["isWhole"] else "The first "
    output.print_note(
        f"\n{some}{found['rows']} rows become {found['products']} products with"
        f" {found['variants']} variants; {found['failed']} products have errors. The first:"
    )
    for product in found["first"]:
        output.print_note(
            f"  {product['name'] or product['sku'] or 'row ' + str(product['row'])}", "bold"
        )
        for variant in product["variants"]:
            told = {"": variant["title"], "SKU ": variant["sku"], "price ": variant["price"]}
            told["stock "] = cast(Any, variant["stock"])
            parts = [f"{name}{value}" for name, value in told.items() if value is not None]
            output.print_note("    " + ", ".join(parts))
        for error in product["errors"]:
            output.print_note(f"    {error}", "red")
    for warning in found["warnings"]:
        output.print_note(warning, "yellow")
    if found["question"]:
        output.print_note(found["question"], "yellow")
