"""The carriers that the shop knows: `settings` / `shipping`, one item with its version."""

from typing import Final

from chalicelib import deadline
from chalicelib.orders.schemas import ShippingSettingsInput
from chalicelib.problems import Busy, PreconditionFailed
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr

KEY: Final[Key] = ("settings", "shipping")


def read_urls(item: Item | None) -> dict[str, str]:
    """Return each carrier's `trackingUrl`, by its name in lower case; {} without settings."""
    known = item["carriers"] if item else []
    return {carrier["name"].casefold(): carrier["trackingUrl"] for carrier in known}


def load() -> tuple[dict[str, object], str]:
    """Return the settings in the shape of ShownShippingSettings, and their ETag.

    If there are none yet, that is `{carriers: []}` and 0.
    """
    item = table.get(KEY) or {"version": 0, "carriers": []}
    return _show(item), str(item["version"])


def save(
    wanted: ShippingSettingsInput, if_match: frozenset[str] | None
) -> tuple[dict[str, object], str]:
    """Replace the settings; return what `load` does. Raise PreconditionFailed."""
    for _ in deadline.attempts():
        before = table.get(KEY)
        version = int(before["version"]) if before else 0
        if if_match is not None and str(version) not in if_match:
            raise PreconditionFailed.for_kind("settings")
        after: Item = {**wanted.model_dump(by_alias=True), "version": version + 1}
        commit = Commit()
        commit.put(
            {"pk": KEY[0], "sk": KEY[1], **after},
            when=Attr("version").eq(version) if before else table.absent,
        )
        commit.audit(
            outbox.audit_entry(
                *("settings", KEY[1], before or {"carriers": []}, after), show=_show, name=KEY[1]
            )
        )
        if commit.try_send():
            return _show(after), str(after["version"])
    raise Busy


def _show(item: Item) -> dict[str, object]:
    """Return the API's shape of the carriers' item."""
    return {"carriers": item["carriers"]}
