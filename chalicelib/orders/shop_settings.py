"""Settings of the shop: `settings` / a name, one item each with its version."""

from collections.abc import Callable

from chalicelib import deadline
from chalicelib.problems import Busy, PreconditionFailed
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr


def save_settings(
    key: Key,
    make_fields: Callable[[Commit, Item | None], Item],
    show: Callable[[Item | None], dict[str, object]],
    if_match: frozenset[str] | None,
) -> tuple[dict[str, object], str]:
    """Replace the settings with a key, with an audit entry; return them as shown, and their ETag.

    `make_fields`: returns the new ones, given the commit, to which it may add, and the stored item
    (None for none); it is called again after a concurrent change. `show`: the API's shape of an
    item, or of none. If that is the same as before, nothing is written. The ETag is the version;
    raise PreconditionFailed unless it is in `if_match` (None: any), Busy.
    """
    for _ in deadline.attempts():
        before, commit = table.get(key), Commit()
        version = int(before["version"]) if before else 0
        if if_match is not None and str(version) not in if_match:
            raise PreconditionFailed.for_kind("settings")
        after = {**make_fields(commit, before), "version": version + 1}
        shown = show(before), show(after)
        if shown[0] == shown[1]:
            return shown[0], str(version)
        commit.put(
            {"pk": key[0], "sk": key[1], **after},
            when=Attr("version").eq(version) if before else table.absent,
        )
        commit.audit(outbox.audit_entry("settings", key[1], *shown, show=dict, name=key[1]))
        if commit.try_send():
            return show(after), str(after["version"])
    raise Busy
