"""Whether an endpoint is failing: three failures in a row, until a success.

An endpoint that answers costs no write, and one that fails none after its tenth failure, the most
that `retry.py` needs. The count only controls lanes and parking.

An attempt whose function crashed is a failure, too. Which receiver of the batch caused the crash is
unknown: all of them become suspects until their next success, and `deliver.py` posts to suspects
after the others, one at a time.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from chalicelib.storage import table
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock
from chalicelib.webhooks import store
from chalicelib.webhooks.model import Endpoint
from chalicelib.webhooks.sending import retry

_HEALTHY: Final[Mapping[str, Any]] = {"streak": None, "failingSince": None, "suspect": None}


def note(endpoints: Mapping[str, Endpoint], outcomes: Iterable[tuple[str, bool]]) -> None:
    """`outcomes`: (endpoint id, success) of the attempts of a batch in the order of their ends;
    `endpoints` as they were read before."""
    last: dict[str, list[bool]] = {}
    for id, success in outcomes:
        last.setdefault(id, []).append(success)
    for id, successes in last.items():
        _note(endpoints[id], successes)


def interrupted(endpoint: Endpoint, begun: datetime) -> None:
    """The function of an attempt to it crashed. Attempts from before it was last cleared are
    ignored."""
    if endpoint.cleared_at and clock.iso(begun) <= endpoint.cleared_at:
        return
    with suppress(table.ConditionFailed):  # gone, or counted far enough by others
        _failed(endpoint, 1)
        if not endpoint.suspect:
            store.note(endpoint.id, {"suspect": True})


def _note(endpoint: Endpoint, successes: list[bool]) -> None:
    with suppress(table.ConditionFailed):  # gone, or counted far enough by others
        if True not in successes:
            _failed(endpoint, len(successes))
        elif streak := successes[::-1].index(True):
            store.note(endpoint.id, {**_HEALTHY, "streak": streak})
        elif endpoint.suspect:
            store.note(endpoint.id, {**_HEALTHY, "clearedAt": clock.iso(clock.now())})
        elif endpoint.streak:
            store.note(endpoint.id, _HEALTHY)


def _failed(endpoint: Endpoint, times: int) -> None:
    if endpoint.streak >= retry.LONG_STREAK:
        return
    streak = Attr("streak")
    counted_far_enough = streak.gte(retry.LONG_STREAK)
    item = table.update(
        store.key(endpoint.id), add={"streak": times}, when=table.present & ~counted_far_enough
    )
    if item["streak"] >= retry.FAILING_STREAK and "failingSince" not in item:
        still_failing = streak.gte(retry.FAILING_STREAK)
        store.note(endpoint.id, {"failingSince": clock.iso(clock.now())}, still_failing)
