"""The API's facts that the console needs, served as its modules `facts.js` and `import-facts.js`,
so that they are defined once.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from posixpath import join, normpath, relpath
from typing import Final

from chalicelib import settings
from chalicelib.api_keys.model import Role
from chalicelib.imports.model import LARGEST_FORM
from chalicelib.imports.shown import FIELD_NAMES, TITLES
from chalicelib.jobs.model import OPEN_JOBS, UNDOABLE, JobStatus
from chalicelib.jobs.store import KEPT_SECONDS
from chalicelib.orders import store as orders
from chalicelib.orders.model import PaymentStatus
from chalicelib.products.model import MOST_LOW_OF_ONE, ProductStatus
from chalicelib.summary.store import MOST_LOW
from chalicelib.webhooks.model import LONGEST_OVERLAP, RECEIVER_SECONDS, DeliveryStatus, EventKind

NAME: Final = "facts.js"
OF_IMPORTS: Final = "import-facts.js"  # which Home does not need
STATIC: Final = Path(__file__).parent / "static"
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_DAILY: Final = ("customers", "home", "new-order", "order", "orders", "product", "products")
_IMPORTS: Final = re.compile(r'(?:from|import) "(\.[^"]+)";')


def module(name: str = NAME) -> str:
    """The text of an ES module whose constants are JSON."""
    known = _facts() if name == NAME else {"FORMATS": TITLES, "FIELDS": FIELD_NAMES}
    return "".join(f"export const {name} = {_JSON(value)};\n" for name, value in known.items())


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
        "MOST_LOW_OF_ONE": MOST_LOW_OF_ONE,
        "LARGEST_FORM": LARGEST_FORM,
        "ENDED_JOBS": [status for status in JobStatus if status not in OPEN_JOBS],
        "UNDOABLE": UNDOABLE,
        "UNDO_DAYS": KEPT_SECONDS // 86_400,
        **_needed(),
    }


def _needed() -> Mapping[str, object]:
    """FILES, from `parts/`, and for each daily page the places in it of those that it needs beside
    `app.js` and itself: a browser that asks for all at once waits once, and not for each import of
    an import."""
    imports = {
        name: [normpath(join(name, "..", found)) for found in _IMPORTS.findall(path.read_text())]
        for path in STATIC.rglob("*.js")
        if (name := path.relative_to(STATIC).as_posix())
    }
    imports["parts/work.js"].append("work.css")  # which it loads itself

    def reached(names: list[str]) -> set[str]:
        found, left = set[str](), list(names)
        while left:
            if (name := left.pop()) not in found:
                found.add(name)
                left += imports.get(name, [])
        return found

    always = reached(["app.js"])
    pages = {name: f"pages/{name}.js" for name in _DAILY}
    needs = {name: reached([page]) - always - {page} for name, page in pages.items()}
    files = sorted(set().union(*needs.values()))
    return {
        "FILES": [relpath(name, "parts").removesuffix(".js") for name in files],
        "NEEDS": {page: sorted(map(files.index, names)) for page, names in needs.items() if names},
    }
