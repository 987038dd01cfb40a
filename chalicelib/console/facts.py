"""The API's facts that the console needs, served as its module `facts.js`, so that they are defined
once.
"""

import json
from collections.abc import Mapping
from typing import Final

from chalicelib import settings
from chalicelib.api_keys.model import Role
from chalicelib.imports.model import LARGEST_FORM
from chalicelib.jobs.model import OPEN_JOBS, UNDOABLE, JobStatus
from chalicelib.jobs.store import KEPT_SECONDS
from chalicelib.orders import store as orders
from chalicelib.orders.model import PaymentStatus
from chalicelib.products.model import ProductStatus
from chalicelib.summary.store import MOST_LOW
from chalicelib.webhooks.model import LONGEST_OVERLAP, RECEIVER_SECONDS, DeliveryStatus, EventKind

NAME: Final = "facts.js"


def module() -> str:
    """The text of an ES module whose constants are JSON."""
    return "".join(
        f"export const {name} = {json.dumps(value, ensure_ascii=False)};\n"
        for name, value in _facts().items()
    )


def _facts() -> Mapping[str, object]:
    return {
        "CURRENCY": settings.currency(),
        "TIMEZONE": settings.timezone(),
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
        "LARGEST_FORM": LARGEST_FORM,
        "ENDED_JOBS": [status for status in JobStatus if status not in OPEN_JOBS],
        "UNDOABLE": UNDOABLE,
        "UNDO_DAYS": KEPT_SECONDS // 86_400,
    }
