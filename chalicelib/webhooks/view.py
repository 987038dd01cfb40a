"""The Deliveries view: deliveries of endpoints in pages, the newest event first."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Final

from chalicelib import settings
from chalicelib.problems import Invalid
from chalicelib.storage import dynamodb, outbox, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.conditions import Attr, Condition, all_of
from chalicelib.storage.dynamodb import DynamoCall
from chalicelib.storage.table import sk
from chalicelib.values import clock, ids
from chalicelib.webhooks import attempts, deliveries, store
from chalicelib.webhooks.attempts import Attempt
from chalicelib.webhooks.model import Delivery, event_of, is_delivery_id, read_delivery
from chalicelib.webhooks.schemas import ListDeliveries, show_delivery

_LAST: Final = "dlv_~"
_LOOKED_AT: Final = 4_000  # deliveries that one round filters
_ROUNDS: Final = 8
_ANSWERS: Final = 2_000_000  # characters of receivers' responses in one answer, which has 6 MB


def page(endpoint_ids: Iterable[str], filters: ListDeliveries) -> tuple[list[Delivery], str | None]:
    """Read a page of these endpoints' deliveries together, newest first; return it and its cursor.

    An id begins with its event's, so ids sort by event across endpoints. The next cursor is None at
    the end. Only a limited number of deliveries is filtered, so if few match, a page is short,
    perhaps empty, with a cursor after it. Raises Invalid for an invalid cursor.
    """
    if filters.cursor is not None and not is_delivery_id(filters.cursor):
        raise Invalid.field("cursor", "invalid", "must be the nextCursor of an answer")
    kept = clock.seconds_from_now(-outbox.KEPT_SECONDS)
    oldest = f"dlv_{ids.first_at(max(kept, filters.since or kept))}"
    newest = filters.cursor or _LAST
    if newest < oldest:
        return [], None
    shards = [
        _Shard(partition, newest) for id in endpoint_ids for partition in deliveries.partitions(id)
    ]
    passes = _filter_condition(filters)
    for _ in range(_ROUNDS):
        items = sorted((item["sk"] for shard in shards for item in shard.found), reverse=True)
        # Once there are enough for the page, deliveries older than its last are not needed.
        last = items[filters.limit - 1] if len(items) >= filters.limit else ""
        reading = [shard for shard in shards if shard.more and shard.reached > last]
        if not reading:
            break
        looked_at = math.ceil((_LOOKED_AT if passes else 4 * filters.limit) / len(reading))
        dynamodb.wait_for_results([shard.next_call(oldest, passes, looked_at) for shard in reading])
    # Older deliveries than the least advanced shard has reached are not complete yet.
    least_far = max((shard.reached for shard in shards if shard.more), default="")
    items = [item for shard in shards for item in shard.found if item["sk"] >= least_far]
    items.sort(key=lambda item: item["sk"], reverse=True)
    shown = [read_delivery(item) for item in items[: filters.limit]]
    if len(items) > filters.limit:
        return shown, shown[-1].id
    return shown, least_far or None


def show_full(id: str) -> dict[str, object]:
    """Return a delivery in the shape of DeliveryWithAttempts: as shown, with `attempts` and `body`.

    It, its endpoint, its ended attempts and the text that was sent (None once the outbox has it no
    longer) are read here. Raises NotFound.
    """
    delivery = deliveries.get(id)
    return {
        **show_delivery(delivery, store.find(delivery.endpoint_id)),
        "attempts": _show_attempts(deliveries.load_attempts(delivery)),
        "body": _load_body(event_of(id)),
    }


def _show_attempts(ended: Sequence[Attempt]) -> list[dict[str, object]]:
    """Return attempts in the shape of DeliveryAttempt, in the same order.

    If their responses have more than `_ANSWERS` characters in all, the older ones lose their
    headers and body, and are marked `truncated`.
    """
    shown = [attempts.show(attempt) for attempt in ended]
    size = 0
    for response in (attempt["response"] for attempt in reversed(shown)):
        size += len(json.dumps(response))
        if response and size > _ANSWERS:
            response |= {"headers": {}, "body": "", "truncated": True}
    return shown


def _load_body(event_id: str) -> str | None:
    """Read the text that was sent for an event; return None if the outbox no longer has it."""
    item = table.get(outbox.key(event_id), table=settings.outbox_table())
    events = outbox.events_of(item) if item else ()
    return next((event.body for event in events if event.id == event_id), None)


def _filter_condition(filters: ListDeliveries) -> Condition | None:
    """Return the condition on deliveries for the client's filters; None for none."""
    conditions: list[Condition] = []
    if filters.status:
        conditions.append(Attr("status").is_in([status.value for status in filters.status]))
    if filters.event:
        conditions.append(Attr("event").is_in([event.value for event in filters.event]))
    if filters.subject:
        conditions.append(Attr("subject.id").eq(filters.subject))
    return all_of(conditions) if conditions else None


class _Shard:
    """One partition, read from the newest: `found` so far, down to `reached`."""

    def __init__(self, partition: str, below: str) -> None:
        self._partition = partition
        self.reached = below
        self.found: list[Item] = []
        self.more = True

    def next_call(
        self, oldest: str, passes: Condition | None, looked_at: int
    ) -> DynamoCall[table.Rows]:
        """Return the unsent call that looks at the next older deliveries, and adds those that pass.

        At most `looked_at` of them, none older than `oldest`; they are added to `found`, and
        `reached` and `more` are set. `passes` None: all pass.
        """
        return table.query.call(
            self._partition,
            where=sk.between(oldest, self.reached),
            matching=passes,
            after=self.reached,
            forward=False,
            limit=looked_at,
            then=self._add_rows,
        )

    def _add_rows(self, rows: table.Rows) -> None:
        """Add a page of deliveries to `found`, and note how far this partition was read."""
        self.found += rows.items
        self.more = rows.after is not None
        self.reached = rows.after or self.reached
