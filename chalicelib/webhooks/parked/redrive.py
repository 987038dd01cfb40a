"""Puts due messages back on the queue: parked ones, and those of a recovery.

Runs for one endpoint when its slot begins, and again while there is more. It is paced: a receiver
that was down for hours gets its backlog gradually.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NotRequired, TypedDict

from chalicelib import settings
from chalicelib.storage.attributes import Key
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock
from chalicelib.webhooks import messages, parking, retry, store
from chalicelib.webhooks.messages import Message, Posted
from chalicelib.webhooks.parked import recover

PAGE: Final = 1_000  # messages a run; Step Functions: 25,000 events an execution, about 10 a run
PER_SECOND: Final = 100  # messages of one endpoint
_TIMES_EARLY: Final = 3
"""Of one step, unless a person recovers: a receiver that refuses certain events and takes others
fails and answers again all day."""
_LEASE: Final = 120  # seconds: a run of a minute, and the pause after it
_LOOK_AGAIN: Final = 60  # seconds


class RedriveResult(TypedDict):
    """`wait`: seconds until the next run, if there is more; `paced`: when its first may arrive;
    `after`: the last that was sent early; `recovery`: for which recovery, if any."""

    more: bool
    wait: int
    paced: NotRequired[str]
    after: NotRequired[str | None]
    recovery: NotRequired[str | None]


class Redrive(TypedDict):
    """`due`: when the execution started; `redriven`: the result of the last run. Without `until`,
    as an operator starts it, it is `due`. `back`: the endpoint answers again."""

    endpoint: str
    due: str
    until: NotRequired[str]
    back: NotRequired[bool]
    redriven: NotRequired[RedriveResult]


def run(event: Redrive) -> RedriveResult:
    """Everything due until then, or by now, arrives when it is due, at most at the pace. During a
    recovery, and when an endpoint answers again, what is parked arrives at once. While an endpoint
    is paused nothing is due: enabling it starts another run. After its deletion everything is due,
    to be cancelled.
    """
    endpoint = store.find(event["endpoint"])
    paced = _paced(event)
    if endpoint is None:
        entries, paced = _page(event["endpoint"], None, paced, early=sys.maxsize)
        return _answer(len(entries), False, paced)
    if not endpoint.enabled:
        return _ended(event, {"more": False, "wait": 0})
    if not _begun(endpoint.id, event["due"]):
        return {"more": True, "wait": _scaled(_LOOK_AGAIN)}
    # What is due later than a queue can hold it has an execution of its own.
    longest = clock.after(retry.LONGEST_QUEUE_DELAY)
    until = max(min(clock.parse(event.get("until", event["due"])), longest), clock.now())
    running = recover.running(endpoint)
    recovery = running["id"] if running else None
    last = event.get("redriven", {})
    # Another recovery sends again what failed in the one before. (1.0.0 did not say which it was.)
    after = last.get("after") if last.get("recovery", recovery) == recovery else None
    if recovery or (event.get("back") and not endpoint.failing):
        most = sys.maxsize if recovery else _TIMES_EARLY
        entries, paced = _page(endpoint.id, None, paced, after=after or "", early=most)
        after = entries[-1][0][1] if entries else after
    else:
        entries, paced = _page(endpoint.id, until, paced)
    number, more = len(entries), None
    if running and number < PAGE:
        failed, more = recover.following(endpoint, running, PAGE - number)
        paced = _send(failed, paced)
        recover.sent(endpoint, running, len(failed), more)
        number += len(failed)
    answer = _answer(number, bool(more), paced)
    answer |= {"after": after, "recovery": recovery}
    return answer if answer["more"] else _ended(event, answer)


def _ended(event: Redrive, answer: RedriveResult) -> RedriveResult:
    ours = Attr("redriving.by").eq(event["due"])
    store.note_if(event["endpoint"], {"redriving": None}, ours)
    return answer


def _paced(event: Redrive) -> datetime:
    """When the next message may arrive: after those of the previous run."""
    before = event["redriven"].get("paced") if "redriven" in event else None
    return max(clock.now(), clock.parse(before)) if before else clock.now()


def _page(
    endpoint_id: str,
    until: datetime | None,
    paced: datetime,
    *,
    after: str = "",
    early: int = 0,
) -> tuple[list[tuple[Key, Message]], datetime]:
    """`early`: the oldest events first, though not yet due, if their step was not sent so often
    before. One that fails is parked again, before `after`, so that it is not met twice."""
    entries = parking.due(endpoint_id, until, PAGE, after)
    taken = entries
    if early:
        sooner = [(entry, _sooner(message, early)) for entry, message in entries]
        taken = [(entry, message) for entry, message in sooner if message]
        taken.sort(key=lambda one: one[1].delivery)
    paced = _send([message for _, message in taken], paced)
    # After sending: a crash in between sends them twice rather than never.
    parking.forget([entry for entry, _ in taken])
    return entries, paced


def _sooner(message: Message, most: int) -> Message | None:
    if message.due is None or message.due <= clock.now():
        return message
    return replace(message, due=None, early=message.early + 1) if message.early < most else None


def _answer(sent: int, unfinished: bool, paced: datetime) -> RedriveResult:
    wait = _scaled(math.ceil(sent / PER_SECOND))
    return {"more": unfinished or sent >= PAGE, "wait": wait, "paced": clock.iso(paced)}


def _send(waiting: Sequence[Message], paced: datetime) -> datetime:
    """Each arrives when it is due, and not before `paced`. Returns `paced` after them."""
    now = clock.now()
    pause = timedelta(seconds=settings.webhook_schedule_scale() / PER_SECOND)
    posted = []
    for message in waiting:
        due = message.due or now
        early = math.ceil((due - now).total_seconds())
        delay = max(early, int((paced - now).total_seconds()))
        posted.append(Posted(message, delay=min(max(delay, 0), retry.LONGEST_QUEUE_DELAY)))
        paced = max(paced, due) + pause
    messages.send(posted)
    return paced


def _scaled(seconds: int) -> int:
    return math.ceil(seconds * settings.webhook_schedule_scale())


def _begun(endpoint_id: str, by: str) -> bool:
    """One execution at a time, because their paces would add up; others wait for its end."""
    now = clock.unix()
    redriving = Attr("redriving.by")
    free = redriving.not_exists() | redriving.eq(by) | Attr("redriving.until").lt(now)
    return store.note_if(endpoint_id, {"redriving": {"by": by, "until": now + _LEASE}}, free)
