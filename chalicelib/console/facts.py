"""The API's facts that the console needs, as its modules `facts.js` and `import-facts.js`, so that
they are defined once.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from chalicelib import settings
from chalicelib.api_keys.model import Role
from chalicelib.imports.model import LARGEST_FORM
from chalicelib.imports.schemas import FIELD_NAMES, TITLES
from chalicelib.jobs.model import KEPT_SECONDS, OPEN_JOBS, UNDOABLE, JobStatus
from chalicelib.orders import store as orders
from chalicelib.orders.model import PaymentStatus
from chalicelib.products.model import MOST_LOW_OF_ONE, ProductStatus
from chalicelib.summary.store import MOST_LOW
from chalicelib.values import money
from chalicelib.webhooks.model import LONGEST_OVERLAP, RECEIVER_SECONDS, DeliveryStatus, EventKind

NAME: Final = "facts.js"
OF_IMPORTS: Final = "import-facts.js"  # which Home does not need
STATIC: Final = Path(__file__).parent / "static"
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def module(name: str = NAME) -> str:
    """The text of an ES module whose constants are JSON."""
    known = _facts() if name == NAME else {"FORMATS": TITLES, "FIELDS": FIELD_NAMES}
    return "".join(f"export const {name} = {_JSON(value)};\n" for name, value in known.items())


def _facts() -> Mapping[str, object]:
    return {
        "CURRENCY": settings.currency(),
        "DECIMALS": money.decimals(),
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
        "MOST_LOW_OF_ONE": MOST_LOW_OF_ONE,
        "LARGEST_FORM": LARGEST_FORM,
        "ENDED_JOBS": [status for status in JobStatus if status not in OPEN_JOBS],
        "UNDOABLE": UNDOABLE,
        "UNDO_DAYS": KEPT_SECONDS // 86_400,
    }
