"""The audit log: its list, and what is left in it of an erased person.

| item | pk | sk |
|---|---|---|
| entry | `aud_…` | `audit` |
| a customer whose values no entry may have | `unnamed#cus_…` | `customer` |

A person who is erased, and a customer who is deleted and can be erased no more, leaves no values in
entries. Those that are there are cleared. Those that the fan-out has not written yet are written
without them: in the transaction of an entry with values of a customer is the condition that the
customer is not `unnamed`.
"""

from collections.abc import Iterable
from typing import Final

from chalicelib import listing
from chalicelib.audit.model import KIND, AuditEntry
from chalicelib.storage import table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.values.changes import clear_personal
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

_PAGE: Final = 100


def entry_key(id: str) -> Key:
    return id, "audit"


page = listing.Records(KIND, entry_key, lambda item: AuditEntry(item).index, AuditEntry).read_page


def unnamed_key(customer_id: str) -> Key:
    """Return the key of the item that says that nothing names this customer.

    If it exists, no audit entry, and nothing else that the fan-out writes, may have values of this
    customer.
    """
    return f"unnamed#{customer_id}", "customer"


# --- Forgetting -----------------------------------------------------------------------------------


def unname(customer_ids: Iterable[str]) -> None:
    """No entry gets values of these customers from now on."""
    keys = map(unnamed_key, customer_ids)
    table.batch_write({"pk": pk, "sk": sk} for pk, sk in dict.fromkeys(keys))


def clear_customer(customer_id: str) -> None:
    """Remove the values of a deleted customer from the entries."""
    query = listing.Query({"customerId": frozenset({customer_id})}, limit=_PAGE, cursor="*")
    for entries in listing.walk_pages(page, query):
        for entry in entries.records:
            _rewrite(entry, redact({**entry.fields, "changes": entry.changes}))


def clear(entries: Iterable[AuditEntry], person: Person) -> int:
    """Remove a person who is erased from these entries; return how many changed.

    An entry about the person loses all personal values, another one the mentions.
    """
    return sum(_rewrite(entry, _redact_entry(entry, person)) for entry in entries)


def _redact_entry(entry: AuditEntry, person: Person) -> Item:
    """Return the attributes of an entry without the values of an erased person."""
    fields = {"record": entry.fields["record"], "changes": entry.changes}
    if person.ids.isdisjoint(entry.customers):
        return {name: person.redact(value) for name, value in fields.items()}
    return redact(fields)


def redact(entry: Fields) -> Item:
    """Return the `record` and the `changes` of an entry without the values of its customers."""
    record, kind = entry["record"], entry["record"]["type"]
    record = record | {"name": None} if kind == "customer" else record
    return {"record": record, "changes": clear_personal(kind, entry["changes"])}


def _rewrite(entry: AuditEntry, left: Fields) -> bool:
    """Replace `record` and `changes` of an entry; return whether they differ."""
    if (left["record"], left["changes"]) == (entry.fields["record"], entry.changes):
        return False
    new = {"record": left["record"], "changes": encode(left["changes"])}
    commit = Commit()
    commit.update(entry_key(entry.id), assign=new)
    listing.change(commit, KIND, entry.id, entry.index, AuditEntry({**entry.fields, **new}).index)
    commit.send()
    return True
