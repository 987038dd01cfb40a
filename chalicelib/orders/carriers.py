"""The carriers that the shop knows: `settings` / `shipping`."""

from typing import Final

from chalicelib.orders import shop_settings
from chalicelib.orders.schemas import ShippingSettingsInput
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key

KEY: Final[Key] = ("settings", "shipping")


def read_urls(item: Item | None) -> dict[str, str]:
    """Return each carrier's `trackingUrl`, by its name in lower case; {} without settings."""
    known = item["carriers"] if item else []
    return {carrier["name"].casefold(): carrier["trackingUrl"] for carrier in known}


def load_settings() -> tuple[dict[str, object], str]:
    """Read the carriers; return the shape of ShownShippingSettings, and its ETag: the version.

    If there are none yet, that is `{"carriers": []}` and "0".
    """
    item = table.get(KEY)
    return _show_carriers(item), str(item["version"] if item else 0)


def save_settings(
    wanted: ShippingSettingsInput, if_match: frozenset[str] | None
) -> tuple[dict[str, object], str]:
    """Replace all carriers; return what `load_settings` does.

    Raise PreconditionFailed unless `if_match` has the ETag; None: any.
    """
    fields = wanted.model_dump(by_alias=True)
    return shop_settings.save_settings(KEY, lambda commit, before: fields, _show_carriers, if_match)


def _show_carriers(item: Item | None) -> dict[str, object]:
    """Return `{"carriers": […]}` of the settings' item; None: none."""
    return {"carriers": item["carriers"] if item else []}
