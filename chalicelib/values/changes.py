"""What differs between two versions of a record, as the API shows it, for the audit log.

Of parts that have an id, the field names it: `variants[var_1].price`. Lists and objects are shown
as JSON text.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, TypedDict

MOST: Final = 50
LONGEST: Final = 200  # characters of a text

Shown = Mapping[str, object]

_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})
_COMPOUND: Final = (list, dict)
# They follow from others, or from the time.
_DERIVED: Final = frozenset({"id", "number", "createdAt", "updatedAt", "history", "edits"})
# Parts of an order that an erasure clears, or in which a person may be named.
_PERSONAL: Final = frozenset(
    {
        *("customer", "shippingAddress", "billingAddress", "note", "tags", "metadata"),
        *("externalId", "reference", "reason", "title", "specification"),
        *("voidReason", "cancelReason", "closeReason", "blocked", "files"),
    }
)


_SEPARATORS: Final = re.compile(r"[.\[\]]")  # of the parts of a field's path


class Change(TypedDict):
    """One field that differs."""

    field: str
    before: object
    after: object


def list_changes(kind: str, before: Shown | None, after: Shown | None) -> list[Change]:
    """Return at most 50 differences between two versions of a record.

    Of a record that was created or deleted (None): its own fields, but not those of its parts, nor
    a person's. `kind`: of the record, such as `order`.
    """
    if before is not None and after is not None:
        return list(islice(_find_differences("", before, after), MOST))
    own: Iterator[Change] = (
        {"field": name, "before": None if after else short, "after": short if after else None}
        for name, value in (after or before or {}).items()
        if name not in _DERIVED and _says_something(value) and not is_personal(kind, name)
        for short in [_shorten(value)]
    )
    return list(islice(own, MOST))


def _says_something(value: object) -> bool:
    """Return whether a field of a created or deleted record is worth showing.

    Parts are not, nor is an amount of nothing.
    """
    if isinstance(value, str):
        return bool(value.strip("0."))
    return bool(value) and not isinstance(value, _COMPOUND)


def _find_differences(path: str, before: object, after: object) -> Iterator[Change]:
    """Yield what differs between two values at a path, such as `variants[var_1].price`."""
    if before in _EMPTY and after in _EMPTY:
        return
    was, now = _to_parts(before), _to_parts(after)
    if was is None or now is None:
        yield _to_change(path, before, after)
        return
    have_same = was.keys() == now.keys()
    for name in was if have_same else {**was, **now}:
        old, new = was.get(name), now.get(name)
        if old != new and (path or name not in _DERIVED):
            inner = f"[{name}]" if isinstance(before or after, list) else f".{name}"
            yield from _find_differences(f"{path}{inner}".lstrip("."), old, new)
    if have_same and [*was] != [*now] and path:
        yield _to_change(path, [*was], [*now])  # only their order


def _to_parts(value: object) -> Mapping[str, object] | None:
    """Return the members of an object, or a list's objects by id; None for a plain value."""
    if isinstance(value, dict):
        return value
    if value in _EMPTY:
        return {}
    if isinstance(value, list) and all(isinstance(part, dict) and "id" in part for part in value):
        return {str(part["id"]): {**part, "id": None} for part in value}
    return None


def _to_change(field: str, before: object, after: object) -> Change:
    return {"field": field[:LONGEST], "before": _shorten(before), "after": _shorten(after)}


def _shorten(value: object) -> object:
    if isinstance(value, _COMPOUND):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[: LONGEST - 1]}…"
    return value


# --- Persons --------------------------------------------------------------------------------------


def is_personal(kind: str, field: str) -> bool:
    """Return whether an erasure clears the field's values."""
    if kind != "order":
        return kind == "customer"
    return field in _PERSONAL or not _PERSONAL.isdisjoint(_SEPARATORS.split(field))


def clear_personal(kind: str, changes: list[Change]) -> list[Change]:
    """Return the changes without values of a person."""
    return [
        _empty_values(change) if is_personal(kind, change["field"]) else change
        for change in changes
    ]


def _empty_values(change: Change) -> Change:
    """Return a change without its values.

    Names of metadata go too, because they may be a person's.
    """
    field = change["field"].partition(".")[0]
    kept = field if field == "metadata" else change["field"]
    return {"field": kept, "before": None, "after": None}
