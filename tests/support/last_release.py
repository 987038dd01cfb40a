"""A shop written by the last release: `listing/data/last_release.json.gz`, by the code of b5372a0.

Products, orders, customers, a job, and webhooks with a delivery in each status, described by it;
the messages and executions that waited when it was replaced, and the time that it was then.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from chalicelib import settings
from tests.support.dynamodb_double import Double
from tests.support.webhook_events import Waiting
from tests.support.webhook_world import Execution, World

_DUMP = Path(__file__).parents[1] / "listing/data/last_release.json.gz"


def dump() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(_DUMP.read_bytes()))
    return found


def load(double: Double, shop: Mapping[str, Sequence[Any]]) -> None:
    """Loads its items into the tables of this release."""
    names = {"main": settings.table(), "outbox": settings.outbox_table()}
    for part, name in names.items():
        double.load([{"Put": {"TableName": name, "Item": item}} for item in shop[part]])


def resume(world: World, shop: Mapping[str, Any]) -> None:
    """Queues the waiting messages and executions for this release."""
    load(world.double, shop)
    world.now = datetime.fromisoformat(shop["now"])
    world._read |= set(shop["read"])
    for url, messages in shop["queues"].items():
        world.queues[url] = [
            Waiting(id, body, datetime.fromisoformat(visible), received)
            for id, body, visible, received in messages
        ]
    for name, given, at, waiting in shop["executions"]:
        world.executions[name] = Execution(name, given, datetime.fromisoformat(at), waiting)
