"""The API's facts that the console needs, as JSON in its page, so that they are defined once."""

import json
from collections.abc import Mapping
from typing import Final

from chalicelib import settings
from chalicelib.api_keys.model import Role
from chalicelib.imports.model import LARGEST_FORM, LARGEST_UPLOAD
from chalicelib.imports.schemas import FIELD_NAMES, TITLES
from chalicelib.jobs.model import KEPT_SECONDS, OPEN_JOBS, UNDOABLE, JobStatus
from chalicelib.orders import store as orders
from chalicelib.orders.schemas import PaymentStatus
from chalicelib.products.model import MOST_LOW_OF_ONE
from chalicelib.products.schemas import ProductStatus
from chalicelib.summary.store import MOST_LOW
from chalicelib.values import money
from chalicelib.webhooks.model import LONGEST_OVERLAP, RECEIVER_SECONDS, DeliveryStatus, EventKind

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def render_facts() -> str:
    """Return the facts as JSON that may stand in a `<script>` element."""
    # No text may end the element.
    return _JSON(_collect_facts()).replace("<", "\\u003c")


def _collect_facts() -> Mapping[str, object]:
    return {
        "CURRENCY": settings.currency(),
        "DECIMALS": money.decimals(),
        "TIMEZONE": settings.timezone(),
        "SHOP": settings.shop_name(),
        "ROLES": list(Role),
        "MOVES": orders.MOVES,
        "PAYMENT_MOVES": orders.PAYMENT_MOVES,
        "PAYMENTS": list(PaymentStatus),
        "PRODUCT_STATUSES": list(ProductStatus),
        "EVENT_KINDS": list(EventKind),
        "DELIVERY_STATUSES": list(DeliveryStatus),
        "LONGEST_OVERLAP": LONGEST_OVERLAP,
        "RECEIVER_SECONDS": RECEIVER_SECONDS,
        "MOST_LOW": MOST_LOW,
        "MOST_LOW_OF_ONE": MOST_LOW_OF_ONE,
        "LARGEST_FORM": LARGEST_FORM,
        "LARGEST_UPLOAD": LARGEST_UPLOAD,
        "ENDED_JOBS": [status for status in JobStatus if status not in OPEN_JOBS],
        "UNDOABLE": UNDOABLE,
        "FORMATS": TITLES,
        "FIELDS": FIELD_NAMES,
        "UNDO_DAYS": KEPT_SECONDS // 86_400,
    }
