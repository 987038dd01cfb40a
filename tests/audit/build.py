"""The audit log in tests."""

import json
from collections.abc import Iterator
from typing import Any

from chalicelib import settings
from chalicelib.storage import attributes
from tests.stock.build import fanned_out, walked
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Shop

AUDIT = "/api/admin/audit"


def entries(shop: Shop, **filters: str) -> list[Any]:
    return walked(shop, AUDIT, **filters)


def of_request(shop: Shop, dynamodb: Double, answer: Answer) -> list[Any]:
    """The entries of a request, after the fan-out."""
    fanned_out(dynamodb)
    id = answer.headers["X-Request-Id"]
    return [one for one in entries(shop) if one["requestId"] == id]


def traced(dynamodb: Double) -> Iterator[Any]:
    """The audit entries in the outbox, with their actor."""
    for item in dynamodb.items(settings.outbox_table()):
        trace = json.loads(attributes.unpack(item).get("trace", "{}"))
        yield from ({**one, **trace["actor"]} for one in trace.get("audit", ()))


def changed(entry: Any) -> dict[str, tuple[Any, Any]]:
    return {one["field"]: (one["before"], one["after"]) for one in entry["changes"]}
