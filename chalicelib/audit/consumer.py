"""From what commits traced for the audit log to its entries, each once.

In the transaction of an entry with a customer's values is the condition that the customer is not
`unnamed` (`store.py`), so that a late event brings no erased person back.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from chalicelib import listing
from chalicelib.audit.model import KIND, AuditEntry, AuditVia
from chalicelib.audit.store import clear_customer, entry_key, redact, unname, unnamed_key
from chalicelib.storage import logs, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.lockstep import Work
from chalicelib.storage.logs import Draft, Found
from chalicelib.storage.outbox import Committed
from chalicelib.values.changes import is_personal
from chalicelib.values.compact_json import encode

# The action after which the entries of a customer are cleared.
_DELETED: Final = "customer.deleted"
# Entries without a customer of one transaction of 100 items: 6 items each, and a count of all.
_PER_COMMIT: Final = 16
_COPIED: Final = ("id", "at", "actor", "action", "request", "requestId", "jobId", "customers")


def consume(batch: Sequence[Committed]) -> Work:
    """Write the entries of these commits that are not there yet. Raises Busy."""
    drafts = logs.read_drafts(batch, _read_entries)
    gone = [draft for draft in drafts if draft["action"] == _DELETED]
    deleted = [id for item in gone for id in (*item["customers"], *item.get("merged", ()))]
    unname(deleted)
    yield from logs.write_entries(
        drafts,
        entry_key,
        _commit_of,
        other_keys_of=_keys_of_persons,
        per_commit=_PER_COMMIT,
        # So that the condition on a customer fails no other entry.
        is_alone=lambda draft: bool(draft["customers"]),
    )
    for customer_id in deleted:
        clear_customer(customer_id)


def _read_entries(committed: Committed) -> Iterable[Draft]:
    """Return a draft for each entry that a commit traced."""
    trace = committed.trace
    entries = trace.get("audit", ())
    common = {
        "requestId": trace.get("actor", {}).get("requestId"),
        "request": None,
        "customers": [],
    }
    return logs.number_drafts(committed, "aud", ({**common, **entry} for entry in entries))


def _keys_of_persons(draft: Draft) -> list[Key]:
    """Return the keys that are absent unless a customer whose values a draft has was erased."""
    if not draft["customers"]:
        return []
    kind = draft["record"]["type"]
    has_any = kind == "customer" or any(
        is_personal(kind, change["field"]) for change in draft["changes"]
    )
    return list(map(unnamed_key, draft["customers"])) if has_any else []


def _commit_of(drafts: Sequence[Draft], items: Found) -> Commit:
    """Return the commit of some entries, without the values of customers who were erased."""
    commit = Commit()
    for draft in drafts:
        persons = _keys_of_persons(draft)
        if any(person in items for person in persons):
            _add_entry(commit, {**draft, **redact(draft)})
            continue
        for person in persons:
            commit.check(person, table.absent)
        _add_entry(commit, draft)
    return commit


def _add_entry(commit: Commit, draft: Draft) -> None:
    fields = {name: draft[name] for name in _COPIED}
    fields["record"] = {"number": None, "name": None, **draft["record"]}
    fields["changes"] = encode(draft["changes"])
    fields["via"] = (AuditVia.JOB if draft["jobId"] else AuditVia.API).value
    entry = AuditEntry(fields)
    commit.put({"pk": entry.id, "sk": "audit", **fields}, when=table.absent)
    listing.append(commit, KIND, entry.id, entry.index)
