"""Stored API keys: only the hash of a key, so a copy of the table grants no access.

`key#<sha256>` / `key`: the key with its role, its limits if raised, when it ends, and its counters.
`keys` / `key_…`: the same without counters, for lists. `keys` / `owners`: the number of live Owner
keys.

A counter is an attribute per minute in which the key was used, such as `r29384756` for the reads:
each minute has its own, so one conditional update authenticates and counts, without a window to
reset. Attributes of past minutes are removed when there are some; the last one stays, and shows
when the key was last used.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from chalicelib.api_keys.model import (
    READS_PER_MINUTE,
    WRITES_PER_MINUTE,
    ApiKeyWithSecret,
    Caller,
    ListedApiKey,
    Role,
    show_key,
    show_key_with_secret,
)
from chalicelib.problems import Conflict, NotFound, Unauthorized
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once, Repeated
from chalicelib.values import clock, ids

_OWNERS: Final[Key] = ("keys", "owners")
KEY_PREFIX: Final = "bk_"
_STALE_ATTRIBUTES: Final = 16


class KeyExpired(Unauthorized):
    code = "key_expired"

    def __init__(self, until: str) -> None:
        super().__init__(f"This API key expired at {until}. Ask an Owner for another.")


@dataclass(frozen=True)
class Admission:
    """The result for a key. `used` includes this request, if it was `admitted`."""

    caller: Caller
    admitted: bool
    limit: int
    used: int


def mint(
    name: str,
    role: Role | str,
    *,
    expires: datetime | None = None,
    once: Once | None = None,
    bearer: str = "",
) -> tuple[Caller, str]:
    """Create a key; return its record and the key itself: `bk_…` with 256 random bits.

    With `once` it raises KeyReused; Repeated, for `minted_before`, if this request created one
    before. A repetition must return the same key, which is not stored: it is derived from a nonce,
    which is stored with the reply, and from the caller's key, `bearer`, of which only a hash is
    stored.
    """
    nonce = secrets.token_urlsafe(32)
    key = _derive_key(bearer, nonce) if once else KEY_PREFIX + nonce
    known: Item = {"id": ids.new_id("key"), "name": name, "role": Role(role).value}
    known |= {"createdAt": clock.now_iso(), **({"until": clock.iso(expires)} if expires else {})}
    caller, digest = Caller(known), digest_of(key)
    commit = Commit()
    if once:
        once.record(
            commit, json.dumps({"nonce": nonce, "minted": show_key_with_secret(caller, "")}), ""
        )
    commit.put({"pk": _pk(digest), "sk": "key", **known}, when=table.absent)
    commit.put({"pk": "keys", "sk": caller.id, "hash": digest, **known}, when=table.absent)
    if _keeps_the_shop_open(known):
        commit.update(_OWNERS, add={"n": 1})
    commit.audit(_audit_entry("created", after=caller))
    commit.send()
    return caller, key


def minted_before(first: Repeated, bearer: str) -> ApiKeyWithSecret:
    """Return the key that the first of equal requests created."""
    kept = json.loads(first.text)
    again: ApiKeyWithSecret = kept["minted"]
    again["key"] = _derive_key(bearer, kept["nonce"])
    return again


def _derive_key(bearer: str, nonce: str) -> str:
    chance = hmac.digest(bearer.encode("utf-8", "surrogatepass"), nonce.encode(), "sha256")
    return KEY_PREFIX + base64.urlsafe_b64encode(chance).decode().rstrip("=")


def _keeps_the_shop_open(entry: Mapping[str, object]) -> bool:
    """Tell whether this Owner key counts as the last one; one that expires does not."""
    return bool(entry["role"] == Role.OWNER and "until" not in entry)


def is_well_formed(key: str) -> bool:
    return key.startswith(KEY_PREFIX)


def admit(key: str, *, reads: bool, minute: int) -> Callable[[], Admission | None]:
    """Authenticate a key and count the request, in one update that is sent at once.

    What it returns waits for that: None if there is no such key. `minute` is Unix time in whole
    minutes. Under concurrency exactly the limit is admitted. Raises KeyExpired.
    """
    if not is_well_formed(key):
        return lambda: None
    counter = f"{'r' if reads else 'w'}{minute}"
    raised, usual = ("readLimit", READS_PER_MINUTE) if reads else ("writeLimit", WRITES_PER_MINUTE)
    count = Attr(counter)
    first_of_the_minute = count.not_exists()
    below_raised = count.lt(Attr(raised))
    below_usual = Attr(raised).not_exists() & count.lt(usual)
    now = clock.now_iso()
    lives = Attr("until").not_exists() | Attr("until").gte(now)
    where = (_pk(digest_of(key)), "key")
    call = table.update.call(
        where,
        add={counter: 1},
        when=table.present & lives & (first_of_the_minute | below_raised | below_usual),
    )
    call.send()

    def wait_for_admission() -> Admission | None:
        try:
            item = call.wait_for_result()
        except table.ConditionFailed as failed:
            if failed.old is None:
                return None
            if failed.old.get("until", now) < now:
                raise KeyExpired(failed.old["until"]) from None
            limit = int(failed.old.get(raised, usual))
            return Admission(Caller(failed.old), admitted=False, limit=limit, used=limit)
        _remove_past_counters(where, item, minute)
        limit = int(item.get(raised, usual))
        return Admission(Caller(item), admitted=True, limit=limit, used=int(item[counter]))

    return wait_for_admission


def find(id: str) -> Caller:
    """Return the record of a key. Raises NotFound."""
    return Caller(_get_entry(id))


def list_keys() -> list[Caller]:
    """Return every key that was not revoked, newest first. A shop has few."""
    return [Caller(entry) for entry in _list_entries()]


def page(offset: int, most: int) -> tuple[list[ListedApiKey], int]:
    """Return a page of the keys with the day of their last use, and the number of all keys."""
    entries = _list_entries()
    page_entries = entries[offset : offset + most]
    used = table.batch_get((_pk(entry["hash"]), "key") for entry in page_entries)
    keys: list[ListedApiKey] = [
        {
            **show_key(Caller(entry)),
            "lastUsedAt": _last_used_day(used.get((_pk(entry["hash"]), "key"), {})),
        }
        for entry in page_entries
    ]
    return keys, len(entries)


def _list_entries() -> list[Item]:
    return table.query_all("keys", where=table.sk.begins_with("key_"), forward=False)


def _last_used_day(item: Mapping[str, object]) -> str | None:
    minutes = [int(name[1:]) for name in item if _is_counter(name)]
    return clock.iso(datetime.fromtimestamp(max(minutes) * 60, UTC))[:10] if minutes else None


def _is_counter(name: str) -> bool:
    return name[0] in "rw" and name[1:].isdigit()


def revoke(id: str) -> None:
    """Revoke a key, at once. Raises NotFound; Conflict for the last Owner key."""
    entry = _get_entry(id)
    commit = Commit()
    commit.delete(("keys", id), when=table.present, otherwise=NotFound.for_id("key", id))
    commit.delete((_pk(entry["hash"]), "key"))
    if _keeps_the_shop_open(entry):
        another_owner_lives = Attr("n").gt(1)
        message = "This is the last Owner key. Create another before you revoke it."
        last = Conflict(message, code="last_owner_key")
        commit.update(_OWNERS, add={"n": -1}, when=another_owner_lives, otherwise=last)
    commit.audit(_audit_entry("revoked", Caller(entry)))
    commit.send()


def limit(id: str, *, read: int | None = None, write: int | None = None) -> Caller:
    """Set the limits of a key, in requests per minute; None is the default.

    Returns the key as it is now. Raises NotFound.
    """
    entry = _get_entry(id)
    wanted = {"readLimit": read, "writeLimit": write}
    limits = {name: value for name, value in wanted.items() if value is not None}
    usual = [name for name in wanted if name not in limits]
    gone = NotFound.for_id("key", id)
    commit = Commit()
    for key in (("keys", id), (_pk(entry["hash"]), "key")):
        commit.update(key, assign=limits, remove=usual, when=table.present, otherwise=gone)
    left = {name: value for name, value in entry.items() if name not in usual}
    after = Caller(left | limits)
    commit.audit(_audit_entry("limited", Caller(entry), after))
    commit.send()
    return after


def _audit_entry(
    action: str, before: Caller | None = None, after: Caller | None = None
) -> dict[str, object]:
    key = after or before
    assert key is not None
    return outbox.audit_entry(
        "key", key.id, before, after, show=show_key, action=f"key.{action}", name=key.name
    )


def _remove_past_counters(where: Key, item: Mapping[str, object], minute: int) -> None:
    past = [
        name
        for name in item
        # Another function's clock may still be in the minute before.
        if _is_counter(name) and int(name[1:]) < minute - 1
    ]
    if len(past) >= _STALE_ATTRIBUTES:
        with suppress(table.ConditionFailed):  # revoked in between, counters and all
            table.update(where, remove=past, when=table.present)


def _get_entry(id: str) -> Item:
    entry = table.get(("keys", id)) if ids.may_be("key", id) else None
    return NotFound.unless(entry, "key", id)


def digest_of(key: str) -> str:
    """Return the hash by which a key is found; the key itself is not stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _pk(digest: str) -> str:
    return f"key#{digest}"
