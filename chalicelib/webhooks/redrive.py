"""Puts messages on the queue for one endpoint: parked ones that are due, and those of a recovery.

An execution of the state machine runs it when its slot begins, and again while there is more. It is
paced: a receiver that was down for hours gets its backlog gradually.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NotRequired, TypedDict

from chalicelib import settings
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock
from chalicelib.webhooks import messages, parking, recover, retry, store
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.model import Endpoint

PAGE: Final = 1_000  # messages a run; Step Functions: 25,000 events an execution, about 10 a run
PER_SECOND: Final = 100  # messages of one endpoint
_LEASE: Final = 120  # seconds: a run of a minute, and the pause after it
_LOOK_AGAIN: Final = 60  # seconds
_FOREVER: Final = timedelta(days=365)  # later than any message is due


class RedriveResult(TypedDict):
    """`wait`: seconds until the next run, if there is more; `paced`: when its first may arrive."""

    more: bool
    wait: int
    paced: NotRequired[str]


class Redrive(TypedDict):
    """The input of an execution.

    `due`: when the execution started; `redriven`: the result of the last run. Without `until`, as
    an operator starts it, it is `due`. `recover`: the endpoint answers again.
    """

    endpoint: str
    due: str
    until: NotRequired[str]
    recover: NotRequired[bool]
    redriven: NotRequired[RedriveResult]


def run(event: Redrive) -> RedriveResult:
    """Put the next page of an endpoint's messages on the queue; return whether there is more.

    The result says also when the next run begins (`wait`), and when its first message may arrive
    (`paced`). The messages are parked ones that are due, and those of a recovery. While the
    endpoint is paused nothing is sent, and there is no more: enabling it starts another run. While
    another execution sends, nothing is sent, and there is more. After the endpoint's deletion all
    parked messages are sent, due or not, so that their deliveries are cancelled.
    """
    endpoint = store.find(event["endpoint"])
    if endpoint is None:
        number, paced = _send_due(event["endpoint"], clock.now() + _FOREVER, _next_arrival(event))
        return _result(number, paced)
    if not endpoint.enabled:
        return _end_turn(event, {"more": False, "wait": 0})
    if not _take_turn(event):
        return {"more": True, "wait": _scale_seconds(_LOOK_AGAIN)}
    return _send_page(event, endpoint)


def _send_page(event: Redrive, endpoint: Endpoint) -> RedriveResult:
    """Send parked messages that are due, then begin or go on with a recovery, PAGE messages in all.

    A recovery that the event asks for (`recover`) is begun after the due messages were sent. Due is
    what is due by the event's `until`, but not later than a queue can hold it; later ones are left.
    Progress is stored after the messages were sent. If there are no more, this execution's claim of
    the sending ends too.
    """
    # What is due later than a queue can hold it has an execution of its own.
    longest = clock.seconds_from_now(retry.LONGEST_QUEUE_DELAY)
    until = max(min(clock.parse(event.get("until", event["due"])), longest), clock.now())
    number, paced = _send_due(endpoint.id, until, _next_arrival(event))
    if event.get("recover"):
        endpoint = recover.begin_by_itself(endpoint, event["due"])
    recovery = recover.running_recovery(endpoint)
    if recovery and number < PAGE:
        page = recover.next_page(endpoint, recovery, PAGE - number)
        paced = _send_paced(page.messages, paced)
        recover.note_progress(endpoint, recovery, page)
        result = _result(number + len(page.messages), paced, unfinished=not page.is_last)
    else:
        result = _result(number, paced)
    return result if result["more"] else _end_turn(event, result)


def _send_due(endpoint_id: str, until: datetime, paced: datetime) -> tuple[int, datetime]:
    """Send up to PAGE parked messages that are due by `until`, and then delete their entries.

    Each is delayed until it is due, and by the pace (`_send_paced`). Return how many were sent, and
    when the next message may arrive. `paced`: when the first may.
    """
    entries = parking.find_due(endpoint_id, until, PAGE)
    paced = _send_paced([message for _, message in entries], paced)
    # After sending: a crash in between sends them twice rather than never.
    parking.delete([key for key, _ in entries])
    return len(entries), paced


def _next_arrival(event: Redrive) -> datetime:
    """Return when the next message may arrive: after those of the previous run, now or later."""
    before = event["redriven"].get("paced") if "redriven" in event else None
    return max(clock.now(), clock.parse(before)) if before else clock.now()


def _send_paced(waiting: Sequence[Message], paced: datetime) -> datetime:
    """Send messages, PER_SECOND at most, each delayed until it is due, and not before `paced`.

    All are put on the queue at once; no delay is longer than the queue's longest. Return when the
    next message may arrive.
    """
    now = clock.now()
    pause = timedelta(seconds=settings.webhook_schedule_scale() / PER_SECOND)
    posted = []
    for message in waiting:
        due = message.due or now
        ahead = math.ceil((due - now).total_seconds())
        delay = max(ahead, int((paced - now).total_seconds()))
        posted.append(Posted(message, delay=min(max(delay, 0), retry.LONGEST_QUEUE_DELAY)))
        paced = max(paced, due) + pause
    messages.send(posted)
    return paced


def _result(sent: int, paced: datetime, *, unfinished: bool = False) -> RedriveResult:
    """Return the result of a run that sent so many messages; a full page means that more follow.

    `paced`: handed on to the next run as it is. `unfinished`: more follow in any case. `wait`:
    seconds that sending so many takes at PER_SECOND, scaled.
    """
    wait = _scale_seconds(math.ceil(sent / PER_SECOND))
    return {"more": unfinished or sent >= PAGE, "wait": wait, "paced": clock.iso(paced)}


def _scale_seconds(seconds: int) -> int:
    """Return seconds in the scale of the webhook schedule, rounded up."""
    return math.ceil(seconds * settings.webhook_schedule_scale())


def _take_turn(event: Redrive) -> bool:
    """Claim the sending for this execution, or prolong its claim; return whether it has it.

    The claim is an attribute of the endpoint, for two minutes. One execution of an endpoint sends
    at a time, because their paces would add up.
    """
    now, execution = clock.unix(), event["due"]
    redriving = Attr("redriving.by")
    free = redriving.not_exists() | redriving.eq(execution) | Attr("redriving.until").lt(now)
    return store.note_if(
        event["endpoint"], {"redriving": {"by": execution, "until": now + _LEASE}}, free
    )


def _end_turn(event: Redrive, result: RedriveResult) -> RedriveResult:
    """Release this execution's claim of the sending, if it has it, and return `result` as it is."""
    ours = Attr("redriving.by").eq(event["due"])
    store.note_if(event["endpoint"], {"redriving": None}, ours)
    return result
