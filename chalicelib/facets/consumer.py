"""From the records in committed events to the values that they use."""

from collections.abc import Iterator, Sequence

from chalicelib import telemetry
from chalicelib.audit import store as audit
from chalicelib.facets import store
from chalicelib.facets.store import Value
from chalicelib.storage.attributes import Key
from chalicelib.storage.lockstep import Need, Work
from chalicelib.storage.outbox import Committed


def consume(batch: Sequence[Committed]) -> Work:
    """Write the values that these commits use and that are not there yet. Raises Busy."""
    users: dict[Value, list[set[Key]]] = {}
    for values, persons in _read_values(batch):
        for value in values:
            users.setdefault(value, []).append(persons)
    keys = {value: store.key_of(value) for value in users}
    erased = {key for sets in users.values() for persons in sets for key in persons}
    items = (yield Need({*keys.values(), *erased})).items
    named = {
        keys[value]: value
        for value, sets in users.items()
        if any(persons.isdisjoint(items) for persons in sets)
    }
    store.save_values(named, items)


def _read_values(batch: Sequence[Committed]) -> Iterator[tuple[set[Value], set[Key]]]:
    """Yield the values that each commit uses, and keys that are absent unless one was erased.

    The keys are of customers whose values they are.
    """
    for committed in batch:
        if committed.is_for_one_webhook:
            continue
        try:
            shown = [(each.event.partition(".")[0], each.data) for each in committed.events]
            values = {value for kind, data in shown for value in store.values_in(kind, data)}
            entries = committed.trace.get("audit", ())
            persons = {person for entry in entries for person in entry.get("customers", ())}
        except Exception as error:  # a defect must not stop the stream
            telemetry.error("values are unreadable", error, eventId=committed.id)
        else:
            yield values, set(map(audit.unnamed_key, persons))
