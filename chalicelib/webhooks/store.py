"""Endpoints in the table.

`webhooks` / `wh_…`, in one partition, because the fan-out reads them all.

`version` guards clients' changes; the endpoint's health and the progress of a recovery are in the
same item and change without it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from chalicelib import settings
from chalicelib.problems import Conflict, Invalid, NotFound, PreconditionFailed
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.idempotency import Once, Repeated
from chalicelib.values import clock, ids
from chalicelib.webhooks import executions
from chalicelib.webhooks.filter import find_faults
from chalicelib.webhooks.master_key import current_secret
from chalicelib.webhooks.model import MOST_SECRETS, Endpoint, read_endpoint
from chalicelib.webhooks.schemas import NewWebhook, WebhookChange, etag

_PK: Final = "webhooks"
_HOUR: Final = 3_600
_TRIES: Final = 8
T = TypeVar("T")
_AUDITED: Final = ("email", "description", "filter", "enabled")  # as they are


class TooManySecrets(Conflict):
    """`endsFirst`: the overlap that ends first, and when."""

    code = "too_many_secrets"


def key(id: str) -> Key:
    """Return the key of the endpoint with this id."""
    return _PK, id


# --- Reading --------------------------------------------------------------------------------------


def load_all() -> list[Endpoint]:
    """Read all endpoints, paused ones too; return them newest first."""
    items = table.query_all(_PK, where=table.sk.begins_with("wh_"), forward=False)
    return [read_endpoint(item) for item in items]


def load(ids: Iterable[str]) -> dict[str, Endpoint]:
    """Read the endpoints with these ids; return those that exist, by id."""
    items = table.batch_get(key(id) for id in ids)
    return {id: read_endpoint(item) for (_, id), item in items.items()}


def find(id: str) -> Endpoint | None:
    """Read an endpoint; return None if it is not there, or the id cannot be one."""
    item = table.get(key(id)) if ids.may_be("wh", id) else None
    return read_endpoint(item) if item else None


def get(id: str) -> Endpoint:
    """Read an endpoint. Raises NotFound if it is not there."""
    return NotFound.unless(find(id), "webhook", id)


# --- Writing --------------------------------------------------------------------------------------


def create(new: NewWebhook, once: Once | None = None) -> tuple[Endpoint, str, bool]:
    """Create an endpoint, with an audit entry; it gets the events committed from now on.

    Return it, its secret (derived, not stored), and whether an earlier attempt of this request
    created it: then it is as it was at its creation. Raises Invalid for a bad URL or filter; with
    `once` also KeyReused.
    """
    try:
        return (*_create(new, once), False)
    except Repeated as first:
        endpoint = read_endpoint(json.loads(first.text))
        return endpoint, current_secret(endpoint.id, endpoint.secret_version), True


def _create(new: NewWebhook, once: Once | None) -> tuple[Endpoint, str]:
    """Create an endpoint with its audit entry; return it and its secret.

    Raises as `create` does, but Repeated if an earlier attempt of the request created it.
    """
    if once:
        once.check()
    _check_url(new.url)
    pattern = render_filter(new.filter)
    now = clock.now_iso()
    item = {
        "pk": _PK,
        "sk": ids.new_id("wh"),
        "url": new.url,
        "events": [event.value for event in new.events],
        "email": new.email,
        "description": new.description,
        "filter": pattern,
        "enabled": new.enabled,
        "createdAt": now,
        "updatedAt": now,
        "version": 1,
        "secretVersion": 1,
        "previous": [],
    }
    endpoint = read_endpoint(item)
    # First, because an endpoint is useless without its secret.
    secret = current_secret(endpoint.id, endpoint.secret_version)
    commit = Commit()
    if once:
        once.record(commit, json.dumps(item), "")  # without the secret, which is not stored
    commit.put(item, when=table.absent)
    commit.audit(audit_entry("created", after=endpoint))
    commit.send()
    return endpoint, secret


def update(id: str, change: WebhookChange, if_match: frozenset[str] | None) -> Endpoint:
    """Change the attributes of an endpoint that were sent; return it as it is then.

    If none differs, nothing is written. A redrive of its parked messages is scheduled first, if
    `enabled` is sent as true, also if it was. A change has an audit entry. Raises NotFound,
    Invalid, PreconditionFailed, Conflict.
    """
    changes = change.sent_fields()
    if "events" in changes:
        changes["events"] = tuple(changes["events"])
    if "filter" in changes:
        changes["filter"] = render_filter(changes["filter"])

    def write_changes(before: Endpoint) -> Endpoint:
        """Schedule a redrive if `enabled` is sent as true; then write what differs, if any.

        Raises Invalid for another URL to which nothing may be posted.
        """
        if changes.get("url", before.url) != before.url:
            _check_url(changes["url"])
        if changes.get("enabled"):
            # First, so that waiting deliveries continue even if this function crashes in between.
            executions.schedule_redrive_soon(id)
        if all(getattr(before, name) == value for name, value in changes.items()):
            return before
        return _write(before, changes, "updated")

    return write_current(write_changes, id, if_match)


def rotate(id: str, overlap_hours: int, once: Once | None = None) -> tuple[Endpoint, str, bool]:
    """Rotate an endpoint's secret, with an audit entry; return (endpoint, new secret, is_repeated).

    With an overlap, the older secrets also sign until it ends; without, they end now.
    `is_repeated`: an earlier attempt of this request made the secret: then nothing is written, and
    the endpoint is as it is now. Raises NotFound, TooManySecrets, Conflict; with `once` also
    KeyReused.
    """

    def write_rotated(before: Endpoint) -> tuple[Endpoint, str, bool]:
        """Write the next version of the secret; return the endpoint, the new secret, and False.

        The older secrets are kept only with an overlap. False: no earlier attempt made the secret.
        Raises Repeated or KeyReused if the request was answered, TooManySecrets.
        """
        if once:
            once.check()
        now = clock.unix()
        valid: list[tuple[int, int]] = []
        if overlap_hours:
            valid = [(before.secret_version, now + overlap_hours * _HOUR), *before.overlaps(now)]
        if len(valid) >= MOST_SECRETS:
            raise _too_many_secrets(before, now)
        previous = [{"version": version, "until": end} for version, end in valid]
        rotated = {"secretVersion": before.secret_version + 1, "previous": previous}
        secret = current_secret(id, before.secret_version + 1)
        return _write(before, rotated, "secret_rotated", once), secret, False

    try:
        return write_current(write_rotated, id)
    except Repeated as first:
        return get(id), current_secret(id, int(first.text)), True


def _too_many_secrets(endpoint: Endpoint, now: int) -> TooManySecrets:
    """Return the error for an endpoint that has MOST_SECRETS; it names the one that ends first.

    That is by its last four characters and the time at which its overlap ends.
    """
    version, until = min(endpoint.overlaps(now), key=lambda overlap: overlap[1])
    ends = clock.iso(datetime.fromtimestamp(until, UTC))
    tail = current_secret(endpoint.id, version)[-4:]
    return TooManySecrets(
        f"{MOST_SECRETS} secrets sign already. The overlap of the secret that ends in {tail} "
        f"ends first, at {ends}. Rotate after that, or without overlap, which ends all others now.",
        endsFirst={"secretEndsIn": tail, "expiresAt": ends},
    )


def delete(id: str, if_match: frozenset[str] | None) -> None:
    """Schedule a redrive of an endpoint's parked messages, and then delete it, with an audit entry.

    The redrive is scheduled even if the deletion fails. A pending delivery becomes CANCELLED when
    its message comes, and is shown so at once. Raises NotFound, PreconditionFailed, Conflict.
    """

    def delete_version(before: Endpoint) -> None:
        """Schedule a redrive; delete the endpoint, with an audit entry, if it has this version.

        Raises ConditionFailed if it has another.
        """
        executions.schedule_redrive_soon(id)
        commit = Commit()
        commit.delete(key(id), when=Attr("version").eq(before.version))
        commit.audit(audit_entry("deleted", before))
        commit.send()

    write_current(delete_version, id, if_match)


def write_current(
    write: Callable[[Endpoint], T], id: str, if_match: frozenset[str] | None = None
) -> T:
    """Read an endpoint, call `write` with it, and return what that returns.

    It is called again, with the endpoint read anew, while it raises ConditionFailed. `if_match`:
    the ETags that are accepted; None: any. Raises NotFound, PreconditionFailed if the endpoint has
    none of these ETags, Conflict after 8 calls.
    """
    for _ in range(_TRIES):
        before = get(id)
        if if_match is not None and etag(before) not in if_match:
            raise PreconditionFailed.for_kind("webhook")
        with suppress(table.ConditionFailed):
            return write(before)
    raise Conflict("The webhook keeps changing. Try again.")


def note(id: str, changes: Mapping[str, object], when: Condition = table.present) -> None:
    """Write attributes of an endpoint that clients do not change; None removes one.

    A dot in a name leads into an attribute. Its version and `updatedAt` stay, without an audit
    entry. Raises ConditionFailed if `when` does not hold, or the endpoint was deleted.
    """
    table.update(key(id), **_split_changes(changes), when=table.present & when)


def note_if(id: str, changes: Mapping[str, object], when: Condition) -> bool:
    """Write attributes as `note` does; return whether `when` held and the endpoint exists."""
    return table.update_if(key(id), table.present & when, **_split_changes(changes))


def _split_changes(changes: Mapping[str, object]) -> dict[str, Any]:
    """Return `assign` and `remove` of an update: a change to None removes the attribute."""
    return {
        "assign": {name: value for name, value in changes.items() if value is not None},
        "remove": [name for name, value in changes.items() if value is None],
    }


def _write(
    before: Endpoint, changes: Mapping[str, Any], done: str, once: Once | None = None
) -> Endpoint:
    """Write changes of an endpoint with their audit entry; return the endpoint, read again.

    `changes`: by the names of the attributes; the version is one higher. `done`: of the audit
    entry. `once`: its reply is the version of the secret. Raises ConditionFailed if the version
    changed since `before` was read.
    """
    updated = clock.next_iso(before.updated_at, clock.now_iso())
    own = {"version": before.version + 1, "updatedAt": updated}
    unchanged = Attr("version").eq(before.version)
    commit = Commit()
    commit.update(key(before.id), assign={**changes, **own}, when=unchanged)
    shown = {name: changes[name] for name in ("url", "events", *_AUDITED) if name in changes}
    commit.audit(audit_entry(done, before, replace(before, **shown)))
    if once:
        once.record(commit, str(changes["secretVersion"]), "")
    commit.send()
    return get(before.id)


def audit_entry(
    done: str, before: Endpoint | None = None, after: Endpoint | None = None
) -> dict[str, object]:
    """Return the audit log's entry of a change of an endpoint: `webhook.<done>`, named by the host.

    `before` or `after` is None if the endpoint was, or is, not there.
    """
    endpoint = after or before
    assert endpoint is not None
    host, action = urlsplit(endpoint.url).hostname, f"webhook.{done}"
    return outbox.audit_entry(
        "webhook", endpoint.id, before, after, show=show_for_audit, action=action, name=host
    )


def show_for_audit(endpoint: Endpoint) -> dict[str, object]:
    """Return what the audit log shows of an endpoint: what clients set, but not all of the URL.

    `{email, description, filter, enabled, url, events}`. Of the URL it has scheme and host, and a
    hash of all of it: the rest may be a secret of the receiver.
    """
    url, digest = urlsplit(endpoint.url), hashlib.sha256(endpoint.url.encode()).hexdigest()
    plain = {name: getattr(endpoint, name) for name in _AUDITED}
    return plain | {
        "url": f"{url.scheme}://{url.hostname} ({digest[:8]})",
        "events": list(endpoint.events),
    }


def render_filter(pattern: Mapping[str, object] | None) -> str | None:
    """Return a filter's pattern as JSON, None for None. Raises Invalid with the place of faults."""
    if pattern is None:
        return None
    wrong = [
        {"field": where[:200], "code": "invalid", "message": message}
        for where, message in find_faults(pattern, "filter")
    ]
    if wrong:
        raise Invalid.fields(wrong)
    return json.dumps(pattern, ensure_ascii=False, default=float)


def _check_url(url: str) -> None:
    """Raise Invalid for a URL to which nothing may be posted, such as one of a private network.

    Its host is looked up; a public name without an address yet is accepted.
    """
    from chalicelib.safe_post import post as safe_post

    try:
        safe_post.check(url, settings.webhook_allowed_networks())
    except safe_post.RefusedUrl as refusal:
        raise Invalid.field("url", "invalid", str(refusal)) from None
