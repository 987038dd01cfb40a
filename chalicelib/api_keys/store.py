"""API keys as they are kept: only the hash of a key is, so a copy of the table admits nobody.

`key#<sha256>` / `key`: the key with its role, its limits if raised, and its counters.
`keys` / `key_…`: the same without counters, for lists. `keys` / `owners`: how many Owner keys live.

A counter is an attribute per minute in which the key was used, such as `r29384756` for the reads:
each minute has its own, so one conditional update authenticates and counts, always, without a
window that somebody must reset. Attributes of past minutes are swept when there are some.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from chalicelib import clock, ids, table
from chalicelib.api_keys.model import (
    READS_PER_MINUTE,
    WRITES_PER_MINUTE,
    Caller,
    MintedKey,
    Role,
)
from chalicelib.attributes import Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr
from chalicelib.problems import Conflict, NotFound

_OWNERS: Final[Key] = ("keys", "owners")
_PREFIX: Final = "bk_"
_STALE_ATTRIBUTES: Final = 16


@dataclass(frozen=True)
class Admission:
    """The answer to a key. `used` counts this request, if it was `admitted`."""

    caller: Caller
    admitted: bool
    limit: int
    used: int


def mint(name: str, role: Role | str) -> tuple[Caller, str]:
    """Makes a key. Returns its record and the key itself, `bk_…` with 256 bits of chance."""
    key = _PREFIX + secrets.token_urlsafe(32)
    digest = _digest(key)
    caller = Caller(ids.new("key"), name, Role(role), clock.iso(clock.now()))
    known = {
        "id": caller.id,
        "name": caller.name,
        "role": caller.role.value,
        "createdAt": caller.created_at,
    }
    commit = Commit()
    commit.put({"pk": _pk(digest), "sk": "key", **known}, when=table.absent)
    commit.put({"pk": "keys", "sk": caller.id, "hash": digest, **known}, when=table.absent)
    if caller.role is Role.OWNER:
        commit.update(_OWNERS, add={"n": 1})
    commit.send()
    return caller, key


def minted(caller: Caller, key: str) -> MintedKey:
    return {
        "id": caller.id,
        "name": caller.name,
        "role": caller.role,
        "key": key,
        "createdAt": caller.created_at,
    }


def admit(key: str, *, reads: bool, minute: int) -> Admission | None:
    """Authenticates a key and counts the request, at once; None when there is no such key.

    `minute` is Unix time in whole minutes. Under concurrency exactly the limit is admitted.
    """
    if not key.startswith(_PREFIX):
        return None
    counter = f"{'r' if reads else 'w'}{minute}"
    raised, usual = ("readLimit", READS_PER_MINUTE) if reads else ("writeLimit", WRITES_PER_MINUTE)
    count = Attr(counter)
    first_of_the_minute = count.not_exists()
    below_raised = count.lt(Attr(raised))
    below_usual = Attr(raised).not_exists() & count.lt(usual)
    where = (_pk(_digest(key)), "key")
    try:
        item = table.update(
            where,
            add={counter: 1},
            when=table.present & (first_of_the_minute | below_raised | below_usual),
        )
    except table.ConditionFailed as failed:
        if failed.old is None:
            return None
        limit = int(failed.old.get(raised, usual))
        return Admission(_caller(failed.old), admitted=False, limit=limit, used=limit)
    _sweep(where, item, minute)
    limit = int(item.get(raised, usual))
    return Admission(_caller(item), admitted=True, limit=limit, used=int(item[counter]))


def find(id: str) -> Caller:
    """Raises NotFound."""
    return _caller(_entry(id))


def all() -> list[Caller]:
    """Every live key, newest first. A shop has few."""
    entries = table.everything("keys", where=table.sk.begins_with("key_"), forward=False)
    return [_caller(entry) for entry in entries]


def revoke(id: str) -> None:
    """The key opens nothing from now on. Raises NotFound; Conflict when it is the last Owner's."""
    entry = _entry(id)
    commit = Commit()
    commit.delete(("keys", id), when=table.present, otherwise=NotFound.of("key", id))
    commit.delete((_pk(entry["hash"]), "key"))
    if entry["role"] == Role.OWNER:
        another_owner_lives = Attr("n").gt(1)
        commit.update(_OWNERS, add={"n": -1}, when=another_owner_lives, otherwise=_last_owner())
    commit.send()


def limit(id: str, *, read: int | None = None, write: int | None = None) -> Caller:
    """Gives a key limits of its own, in requests per minute; None is the usual limit.

    Raises NotFound. Returns the key as it is now.
    """
    entry = _entry(id)
    wanted = {"readLimit": read, "writeLimit": write}
    given = {name: value for name, value in wanted.items() if value is not None}
    usual = [name for name in wanted if name not in given]
    gone = NotFound.of("key", id)
    commit = Commit()
    for key in (("keys", id), (_pk(entry["hash"]), "key")):
        commit.update(key, set=given, remove=usual, when=table.present, otherwise=gone)
    commit.send()
    return find(id)


def _last_owner() -> Conflict:
    return Conflict(
        "This is the last Owner key. Make another before you revoke it.", code="last_owner_key"
    )


def _sweep(where: Key, item: Mapping[str, Any], minute: int) -> None:
    past = [
        name
        for name in item
        # Another function's clock may still be in the minute before.
        if name[0] in "rw" and name[1:].isdigit() and int(name[1:]) < minute - 1
    ]
    if len(past) >= _STALE_ATTRIBUTES:
        try:
            table.update(where, remove=past, when=table.present)
        except table.ConditionFailed:
            return  # revoked in between, counters and all


def _entry(id: str) -> dict[str, Any]:
    entry = table.get(("keys", id)) if id.startswith("key_") and len(id) <= 100 else None
    if entry is None:
        raise NotFound.of("key", id)
    return entry


def _caller(item: Mapping[str, Any]) -> Caller:
    return Caller(
        id=item["id"],
        name=item["name"],
        role=Role(item["role"]),
        created_at=item["createdAt"],
        reads_per_minute=int(item.get("readLimit", READS_PER_MINUTE)),
        writes_per_minute=int(item.get("writeLimit", WRITES_PER_MINUTE)),
    )


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _pk(digest: str) -> str:
    return f"key#{digest}"
