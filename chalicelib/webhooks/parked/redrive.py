"""Puts what is due back on the queue: parked turns, and what a recovery asks for.

Runs for one endpoint when its slot has come, again while there is more, and in between lets the
receiver breathe: one that was away for hours meets what waited at a pace, not at once.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from chalicelib import clock, settings, table
from chalicelib.conditions import Attr
from chalicelib.webhooks import store
from chalicelib.webhooks.parked import parking, recover
from chalicelib.webhooks.sending import messages
from chalicelib.webhooks.sending.messages import Message, Posted

PAGE: Final = 1_000  # turns a run; Step Functions: 25,000 events an execution, about 10 a run
PER_SECOND: Final = 100  # turns of one endpoint
_SLICE: Final = 100  # turns that one thread puts on the queue
_LEASE: Final = 120  # seconds: a run of a minute, and the pause behind it
_LOOK_AGAIN: Final = 60  # seconds


def run(event: Mapping[str, Any]) -> dict[str, Any]:
    """`{"endpoint": "wh_…", "due": ISO 8601}` → `{"more": bool, "wait": seconds}`.

    Everything that is due by then or by now. While an endpoint is paused nothing is: whoever
    enables it starts another run. When it is gone everything is, to be cancelled.
    """
    due = clock.parse(event["due"])
    endpoint = store.find(event["endpoint"])
    if endpoint is None:
        return _answer(_page(event["endpoint"], None), False)
    if not endpoint.enabled:
        return {"more": False, "wait": 0}
    if not _begun(endpoint.id, event["due"]):
        return {"more": True, "wait": _scaled(_LOOK_AGAIN)}
    parked = _page(endpoint.id, max(due, clock.now()))
    failed, unfinished = recover.page(endpoint, PAGE - parked)
    _send(failed)
    recover.note(endpoint, failed, unfinished)
    answer = _answer(parked + len(failed), unfinished is not None)
    if not answer["more"]:
        _ended(endpoint.id, event["due"])
    return answer


def _page(endpoint_id: str, until: datetime | None) -> int:
    entries = parking.due(endpoint_id, until, PAGE)
    _send([message for _, message in entries])
    # Behind it: dying in between puts them on the queue twice, not never.
    parking.forget([entry for entry, _ in entries])
    return len(entries)


def _answer(sent: int, unfinished: bool) -> dict[str, Any]:
    return {"more": unfinished or sent >= PAGE, "wait": _scaled(math.ceil(sent / PER_SECOND))}


def _send(turns: Sequence[Message]) -> None:
    scale = settings.webhook_schedule_scale()
    posted = [
        Posted(message, delay=int(place / PER_SECOND * scale))
        for place, message in enumerate(turns)
    ]
    slices = [posted[start : start + _SLICE] for start in range(0, len(posted), _SLICE)]
    table.together([partial(messages.send, part) for part in slices])


def _scaled(seconds: int) -> int:
    return math.ceil(seconds * settings.webhook_schedule_scale())


def _begun(endpoint_id: str, by: str) -> bool:
    """One execution at a time, or their paces would add up; the others wait for it to end."""
    now = clock.unix()
    redriving = Attr("redriving.by")
    free = redriving.not_exists() | redriving.eq(by) | Attr("redriving.until").lt(now)
    try:
        store.note(endpoint_id, {"redriving": {"by": by, "until": now + _LEASE}}, free)
    except table.ConditionFailed:
        return False
    return True


def _ended(endpoint_id: str, by: str) -> None:
    try:
        store.note(endpoint_id, {"redriving": None}, Attr("redriving.by").eq(by))
    except table.ConditionFailed:
        return  # another took over, or the endpoint is gone
