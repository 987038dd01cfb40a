"""Saved mappings of columns: `mappings` / `<name>`.

One is proposed for a file that has exactly its columns.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from chalicelib import deadline
from chalicelib.imports.formats import by_name
from chalicelib.imports.formats.mapped import faults, field_of, remap_format
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, name_columns, plain
from chalicelib.imports.model import LARGEST_MAPPINGS, MOST_MAPPINGS
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock, ids
from chalicelib.values.forgetting import ERASED, Person

_PK: Final = "mappings"
_SAVED: Final[Key] = "mappings-saved", "all"  # `n`: how often one was saved
_REMARKS: Final = frozenset(map(plain, REPORT_COLUMNS))


class _SavedMeanwhile(Exception):
    """Another mapping was saved."""


def _key(name: str) -> Key:
    return _PK, ids.key_part(name)


def check_mapping(
    columns: Sequence[str], mapping: Mapping[str, str | None] | None, file_format: str | None
) -> None:
    """Raise Invalid if a file with these columns cannot be read by the mapping or the format.

    `mapping` None: all as the format `file_format` reads them; without a format one is required.
    Both: the mapping changes the format.
    """
    if file_format is None and mapping is None:
        raise Invalid.field("columns", "required", "is required, unless a format is chosen")
    if file_format is not None:
        known = by_name(file_format)
        if known is None:
            raise Invalid.field("format", "unknown_format", "is not a known format")
        fields = {known.field(column) for column in columns}
        if mapping is None and fields.isdisjoint({"slug", "name", "sku", "id", "parent"}):
            message = "does not fit: no column identifies the product of a row"
            raise Invalid.field("format", "format_does_not_fit", message)
    wrong = faults(columns, mapping or {}, by_name(file_format or ""))
    if wrong:
        raise Invalid.fields(
            [
                {
                    "field": f"columns.{fault.column}" if fault.column else "columns",
                    "code": fault.code,
                    "message": fault.message,
                }
                for fault in wrong
            ]
        )


def save_mapping(
    name: str,
    columns: Sequence[str],
    mapping: Mapping[str, str | None] | None,
    file_format: str | None,
) -> dict[str, object]:
    """Save a mapping with all columns under a name, and return it as shown.

    A former one is replaced. `mapping`: column → field; None: as the format reads them, and all
    fields are stored as None. Columns without a name are stored only if they give a field. Raises
    Conflict if there are too many mappings.
    """
    known = by_name(file_format or "")
    fields: Mapping[str, str | None] = mapping or {}
    if known and mapping is not None:
        bound = remap_format(known, columns, mapping)
        fields = {column: field_of(bound, at) for at, column in enumerate(columns)}
    unnamed = {plain(name) for name in _name_unnamed(columns)}
    whole = {column: fields.get(column) for column in columns if _is_counted(column)}
    whole |= {name: field for name, field in fields.items() if field and plain(name) in unnamed}
    pk, sk = _key(name)
    shown = {"name": name, "columns": whole, "format": file_format}
    item = {"pk": pk, "sk": sk, **shown, "updatedAt": clock.now_iso()}
    deadline.retry_on_conflict(partial(_save, item), _SavedMeanwhile)
    return show_mapping(item)


def _save(item: Item) -> None:
    """Write a mapping's item with its audit entry, in place of one of this name.

    `item` itself gets a later `updatedAt` than the former one's. Raises Conflict if there are too
    many, _SavedMeanwhile if any was saved since they were counted.
    """
    before, saved, name = table.get(_SAVED), list_mappings(), str(item["name"])
    was = next((mapping for mapping in saved if mapping["name"] == name), None)
    if was:
        item["updatedAt"] = clock.next_iso(was["updatedAt"], item["updatedAt"])
    then = [*(mapping for mapping in saved if mapping is not was), show_mapping(item)]
    if len(then) > MOST_MAPPINGS or len(json.dumps(then)) > LARGEST_MAPPINGS:
        message = f"There are {len(saved)} saved mappings already. Delete one first."
        raise Conflict(message, code="too_many_mappings")
    commit = Commit()
    commit.audit(
        outbox.audit_entry(
            "mapping", name, was, show_mapping(item), show=dict, action="mapping.saved", name=name
        )
    )
    same = table.absent if before is None else Attr("n").eq(before["n"])
    commit.update(_SAVED, add={"n": 1}, when=same, otherwise=_SavedMeanwhile())
    commit.put(item)
    commit.send()


def list_mappings() -> list[dict[str, Any]]:
    """Return all saved mappings, by name."""
    return [show_mapping(item) for item in table.query_all(_PK)]


def get_mapping(name: str) -> dict[str, Any]:
    """Return a saved mapping. Raises NotFound."""
    return show_mapping(NotFound.unless(table.get(_key(name)), "mapping", name))


def delete_mapping(name: str) -> None:
    """Delete a saved mapping, with an audit entry. Raises NotFound.

    Nothing is raised if another request deleted it meanwhile.
    """
    before = get_mapping(name)
    commit = Commit()
    commit.delete(_key(name), when=table.present)
    commit.audit(outbox.audit_entry("mapping", name, before, show=dict, name=name))
    commit.try_send()  # or another request deleted it meanwhile


def forget(person: Person) -> int:
    """Delete the saved mappings whose name or columns mention the person; count them."""
    mentioning = [
        mapping
        for mapping in list_mappings()
        if person.is_mentioned_in(" ".join([mapping["name"], *mapping["columns"]]))
    ]
    for mapping in mentioning:
        commit = Commit()
        commit.delete(_key(mapping["name"]), when=table.present)
        commit.audit(outbox.audit_entry("mapping", ERASED, action="mapping.deleted"))
        commit.try_send()  # or another deleted it
    return len(mentioning)


def find_fitting(columns: Sequence[str]) -> dict[str, Any] | None:
    """Return the latest mapping saved for exactly these columns, in any order and case.

    None if none is. All mappings are read. Columns without a name, and those of error reports, do
    not count.
    """
    wanted = {plain(column) for column in columns if _is_counted(column)}
    unnamed = {plain(name) for name in _name_unnamed(columns)}
    fitting = [
        mapping
        for mapping in list_mappings()
        if {plain(column) for column in mapping["columns"]} - unnamed == wanted
    ]
    return max(fitting, key=lambda mapping: str(mapping["updatedAt"]), default=None)


def show_mapping(item: Item) -> dict[str, Any]:
    """Return name, columns, format and `updatedAt` of an item, the shape of SavedMapping."""
    return {name: item[name] for name in ("name", "columns", "format", "updatedAt")}


def _name_unnamed(columns: Sequence[str]) -> list[str]:
    """Return the names that are given to the columns without a name."""
    named = zip(columns, name_columns(columns), strict=True)
    return [name for column, name in named if not column]


def _is_counted(column: str) -> bool:
    """Return whether a column is compared with those of mappings: it has a name, and no remarks."""
    return bool(plain(column)) and plain(column) not in _REMARKS
