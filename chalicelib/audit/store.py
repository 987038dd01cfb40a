"""The audit log: from what commits traced to entries, each once (`storage/traced.py`).

| item | pk | sk |
|---|---|---|
| entry | `aud_…` | `audit` |
| a customer whose values no entry may have | `unnamed#cus_…` | `customer` |

A person who is erased, and a customer who is deleted and can be erased no more, leaves no values in
entries. Those that are there are cleared. Those that the fan-out has not written yet are written
without them: in the transaction of an entry with values of a customer is the condition that the
customer is not `unnamed`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from chalicelib import listing
from chalicelib.audit.model import KIND, AuditEntry, AuditVia
from chalicelib.storage import outbox, table, traced
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.traced import Draft, Found
from chalicelib.values.changes import cleared, is_personal
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

_PAGE: Final = 100
# What the deletion of a customer is called, after which its entries are cleared.
_DELETED: Final = "customer.deleted"


def _key(id: str) -> Key:
    return id, "audit"


page = listing.Records(KIND, _key, lambda item: AuditEntry(item).index, AuditEntry).page


def unnamed_key(customer_id: str) -> Key:
    """Of the item that is there if no entry, and nothing else that the fan-out writes, may have
    values of this customer."""
    return f"unnamed#{customer_id}", "customer"


# --- Writing --------------------------------------------------------------------------------------


def enter(items: Iterable[Item]) -> None:
    """Writes the entries of these outbox items that are not there yet. Raises Busy."""
    drafts = traced.drafts(items, _drafts)
    gone = [draft for draft in drafts if draft["action"] == _DELETED]
    deleted = [id for one in gone for id in (*one["customers"], *one.get("merged", ()))]
    unname(deleted)
    traced.enter(drafts, _key, _commit, also=_persons)
    for customer_id in deleted:
        _clear(customer_id)


def _drafts(item: Item) -> Iterable[Draft]:
    trace = outbox.trace_of(item)
    entries = trace.get("audit", [])
    made = {"requestId": trace.get("actor", {}).get("requestId"), "request": None, "customers": []}
    return traced.numbered(item, "aud", ({**made, **entry} for entry in entries))


def _persons(draft: Draft) -> list[Key]:
    """Of the customers whose values it has."""
    kind = draft["record"]["type"]
    has_any = kind == "customer" or any(is_personal(kind, one["field"]) for one in draft["changes"])
    return list(map(unnamed_key, draft["customers"])) if has_any else []


def _commit(drafts: Sequence[Draft], found: Found) -> Commit:
    draft = {**drafts[0]}
    commit = Commit()
    persons = _persons(draft)
    if any(person in found for person in persons):
        draft |= _redact(draft)
    else:
        for person in persons:
            commit.check(person, table.absent)
    entry = AuditEntry(
        {
            **{name: draft[name] for name in ("id", "at", "actor", "action", "request")},
            **{name: draft[name] for name in ("requestId", "jobId", "customers")},
            "record": {"number": None, "name": None, **draft["record"]},
            "changes": encode(draft["changes"]),
            "via": (AuditVia.JOB if draft["jobId"] else AuditVia.API).value,
        }
    )
    commit.put({"pk": entry.id, "sk": "audit", **entry.fields}, when=table.absent)
    listing.change(commit, KIND, entry.id, None, entry.index)
    return commit


# --- Forgetting -----------------------------------------------------------------------------------


def unname(customer_ids: Iterable[str]) -> None:
    """No entry gets values of these customers from now on."""
    keys = map(unnamed_key, customer_ids)
    table.batch_write({"pk": pk, "sk": sk} for pk, sk in dict.fromkeys(keys))


def _clear(customer_id: str) -> None:
    """Removes the values of a deleted customer from the entries."""
    query = listing.Query({"customerId": frozenset({customer_id})}, limit=_PAGE, cursor="*")
    for found in listing.walk(page, query):
        for entry in found.records:
            _rewrite(entry, _redact({**entry.fields, "changes": entry.changes}))


def clear(entries: Iterable[AuditEntry], person: Person) -> int:
    """Remove a person who is erased from these entries: all personal values from one that is about
    the person, mentions from another. Return how many changed."""
    return sum(_rewrite(entry, _left(entry, person)) for entry in entries)


def _left(entry: AuditEntry, person: Person) -> Draft:
    fields = {"record": entry.fields["record"], "changes": entry.changes}
    if person.ids.isdisjoint(entry.customers):
        return {name: person.without(value) for name, value in fields.items()}
    return _redact(fields)


def _redact(entry: Draft) -> Draft:
    """Return the `record` and the `changes` of an entry without the values of its customers."""
    record, kind = entry["record"], entry["record"]["type"]
    record = record | {"name": None} if kind == "customer" else record
    return {"record": record, "changes": cleared(kind, entry["changes"])}


def _rewrite(entry: AuditEntry, left: Draft) -> bool:
    """Replace `record` and `changes` of an entry; return whether they differ."""
    if (left["record"], left["changes"]) == (entry.fields["record"], entry.changes):
        return False
    new = {"record": left["record"], "changes": encode(left["changes"])}
    commit = Commit()
    commit.update(_key(entry.id), assign=new)
    listing.change(commit, KIND, entry.id, entry.index, AuditEntry({**entry.fields, **new}).index)
    commit.send()
    return True
