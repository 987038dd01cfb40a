"""Ids that records have in another system.

No two records of a kind have the same id: a lock on each id names the record that has it.

| item | pk | sk | attributes |
|---|---|---|---|
| lock | `external#<kind>#<id>` | `lock` | `id`: who has it; `record`: what is listed for it |

A variant is a kind of its own, whose record is the product.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final, NamedTuple

from chalicelib.problems import Busy, Conflict, NotFound
from chalicelib.schemas import length
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.values.ids import key_part

CHARACTERS: Final = 100
ABOUT: Final = "Its id in another system, such as an ERP; each is used once."
FILTER: Final = "The one with this id of another system"
PATH_PREFIX: Final = "externalId:"
ExternalId = Annotated[str, length(CHARACTERS)]


class Holder(NamedTuple):
    """Who has an id: `id` of the order, product, variant or customer; `field`: of a request."""

    id: str
    field: str = "externalId"


Held = dict[tuple[str, str], Holder]  # by kind and external id


class ExternalIdTaken(Conflict):
    """409 with the `id` of who has it."""

    code = "external_id_taken"

    def __init__(self, field: str, id: str) -> None:
        super().__init__(f"{id} has this external id.", field=field, id=id)


def held_ids(kind: str, fields: Mapping[str, object]) -> Held:
    """Return the external id in a record's fields: {(kind, external id): Holder(record's id)}.

    {} if it has none. It is for records without variants, whose ids it would not find.
    """
    own = fields["externalId"]
    return {(kind, str(own)): Holder(str(fields["id"]))} if own else {}


def lock_key(kind: str, external_id: str) -> Key:
    """Return the key of the lock item of an external id of this kind."""
    return f"external#{kind}#{key_part(external_id)}", "lock"


def refuse_taken(kind: str, external_id: str, items: Mapping[Key, Item]) -> None:
    """Raise ExternalIdTaken, with who has the id, if its lock is among `items`, which were read."""
    lock = items.get(lock_key(kind, external_id))
    if lock:
        raise ExternalIdTaken("externalId", str(lock["id"]))


def find_records(kinds: Iterable[str], external_id: str) -> list[str]:
    """Read the locks of an external id in these kinds; return the ids of their records, each once.

    For a variant's lock that is its product. [] if nobody has the external id.
    """
    locks = table.batch_get(lock_key(kind, external_id) for kind in kinds)
    return list(dict.fromkeys(str(lock["record"]) for lock in locks.values()))


def find_records_by_external_id(kinds: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """Read the locks of external ids; return {external id: id of the record that its lock names}.

    For a variant's lock that is its product. Ids that nobody has are left out. If several kinds
    have a lock on an id, the first of `kinds` counts.
    """
    external_ids = list(wanted)
    keys = {lock_key(kind, id): id for kind in reversed([*kinds]) for id in external_ids}
    locks = table.batch_get(keys)
    return {id: str(locks[key]["record"]) for key, id in keys.items() if key in locks}


def find_holders(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Read the locks of (kind, external id) pairs; return {(kind, external id): id of its holder}.

    For a variant's lock that is the variant. Ids that nobody has are left out.
    """
    keys = {lock_key(*at): at for at in wanted}
    return {keys[key]: str(lock["id"]) for key, lock in table.batch_get(keys).items()}


def resolve_id(kind: str, id: str, once: Once | None = None) -> str:
    """Return the id of the record that a path means: for `externalId:4711`, the one that has 4711.

    That reads the lock, and raises NotFound if nobody has the external id; with `once` Repeated or
    KeyReused in its place, as the request may have taken the id away. Any other text is returned as
    it is, without a read.
    """
    own, is_external, external_id = id.partition(PATH_PREFIX)
    if own or not is_external:
        return id
    with unless_answered(once):
        return NotFound.unless(
            find_records_by_external_id([kind], [external_id]).get(external_id), kind, id
        )


def count_writes(before: Held, after: Held) -> int:
    """Return how many locks `change` writes and deletes at most between these two states."""
    return sum(before.get(at) != after.get(at) for at in before.keys() | after.keys())


def change(
    commit: Commit, record: str, before: Held, after: Held, *, holders: Iterable[str] = ()
) -> None:
    """Add to a commit the locks on a record's new external ids; those it gave up are deleted.

    Sending the commit raises ExternalIdTaken if another has an id (Busy if its lock is gone by
    then). `record`: the id that the locks name as the record. `holders`: ids of others who may have
    the locks until now, and lose them. Locks that a holder keeps are not written.
    """
    free = table.absent
    others = list(holders)
    if others:
        free |= Attr("id").is_in(others)
    for at, holder in after.items():
        if at in before and before[at].id == holder.id:
            continue
        pk, sk = lock_key(*at)
        lock = {"pk": pk, "sk": sk, "id": holder.id, "record": record}
        # Within one record it moves freely: the record's own condition protects it.
        when = None if at in before else free
        commit.put(lock, when=when, otherwise=_taken_error(holder.field))
    for at in before:
        if at not in after:
            commit.delete(lock_key(*at))


def _taken_error(field: str) -> Callable[[Item | None], Exception]:
    """Return a function from the lock that was there to the error: Busy if it is gone again."""
    return lambda lock: ExternalIdTaken(field, str(lock["id"])) if lock else Busy()
