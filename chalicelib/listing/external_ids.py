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
    """Return the external id of a record without variants, with its holder; {} if it has none."""
    own = fields["externalId"]
    return {(kind, str(own)): Holder(str(fields["id"]))} if own else {}


def lock_key(kind: str, external_id: str) -> Key:
    """Return the key of the lock on an external id."""
    return f"external#{kind}#{key_part(external_id)}", "lock"


def refuse_taken(kind: str, external_id: str, items: Mapping[Key, Item]) -> None:
    """Raise ExternalIdTaken if the lock on the id is among the items that were read."""
    lock = items.get(lock_key(kind, external_id))
    if lock:
        raise ExternalIdTaken("externalId", str(lock["id"]))


def find_records(kinds: Iterable[str], external_id: str) -> list[str]:
    """Return the ids of the records listed for an external id: at most one of each kind."""
    locks = table.batch_get(lock_key(kind, external_id) for kind in kinds)
    return list(dict.fromkeys(str(lock["record"]) for lock in locks.values()))


def find_holders(kinds: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """Return the id of the record listed for each of these external ids, by external id.

    Ids that nobody has are left out. If records of several kinds have one, the first kind counts.
    """
    external_ids = list(wanted)
    keys = {lock_key(kind, id): id for kind in reversed([*kinds]) for id in external_ids}
    locks = table.batch_get(keys)
    return {id: str(locks[key]["record"]) for key, id in keys.items() if key in locks}


def find_locked(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the id of who has each of these external ids, by kind and external id.

    Ids that nobody has are left out.
    """
    keys = {lock_key(*at): at for at in wanted}
    return {keys[key]: str(lock["id"]) for key, lock in table.batch_get(keys).items()}


def resolve_id(kind: str, id: str) -> str:
    """Return the id of the record that a path means: `externalId:4711` is the one that has it.

    Any other text is returned as it is. Raises NotFound if nobody has the external id.
    """
    own, is_external, external_id = id.partition(PATH_PREFIX)
    if own or not is_external:
        return id
    return NotFound.unless(find_holders([kind], [external_id]).get(external_id), kind, id)


def count_writes(before: Held, after: Held) -> int:
    """Return how many locks `change` writes and deletes."""
    return sum(before.get(at) != after.get(at) for at in before.keys() | after.keys())


def change(
    commit: Commit, record: str, before: Held, after: Held, *, holders: Iterable[str] = ()
) -> None:
    """Let a commit take the locks on a record's new external ids, and delete those of its old ones.

    The commit raises ExternalIdTaken if another has an id. `record`: the id that is listed for the
    ids. `holders`: ids of records that may have the locks until now; this commit takes them over.
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
