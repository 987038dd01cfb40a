"""Whether an endpoint is failing: three failures in a row, until a success.

An endpoint that answers costs no write, and one that is failing none. The count controls lanes; the
success that ends it also sends what waits for a later attempt. An attempt whose function crashed is
a failure, too: which receiver of its batch was the cause, if any, is unknown.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from chalicelib.storage import table
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock
from chalicelib.webhooks import executions, retry, store
from chalicelib.webhooks.model import Endpoint

_HEALTHY: Final[Mapping[str, object]] = {"streak": None, "failingSince": None}


def record_outcomes(
    endpoints: Mapping[str, Endpoint], outcomes: Iterable[tuple[str, bool]]
) -> None:
    """Store which endpoints fail, or answer again, after a batch of attempts.

    `outcomes`: (endpoint id, success) of the attempts, in the order of their ends; `endpoints`: as
    they were read before. Failures are added to an endpoint's streak; after a success, the streak
    is the failures since the last one. A recovery is scheduled first for an endpoint that was
    failing and answers. Nothing is written for one that answered and had no failures, or was
    deleted.
    """
    last: dict[str, list[bool]] = {}
    for id, success in outcomes:
        last.setdefault(id, []).append(success)
    for id, successes in last.items():
        endpoint = endpoints[id]
        if True not in successes:
            count_failures(endpoint, len(successes))
            continue
        if endpoint.failing:
            # First: after a crash in between, the next success starts it.
            executions.schedule_recovery(endpoint)
        with suppress(table.ConditionFailed):  # gone
            if streak := successes[::-1].index(True):
                store.note(id, {**_HEALTHY, "streak": streak})
            elif endpoint.streak:
                store.note(id, _HEALTHY)


def count_failures(endpoint: Endpoint, times: int) -> None:
    """Add failures to those that an endpoint had in a row; from FAILING_STREAK on it is failing.

    Then `failingSince` is stored, too, in a second write. Nothing is stored for one that is failing
    already, or was deleted.
    """
    if endpoint.failing_since:
        return
    not_yet = Attr("failingSince").not_exists()
    with suppress(table.ConditionFailed):  # gone, or others counted as far
        item = table.update(
            store.key(endpoint.id), add={"streak": times}, when=table.present & not_yet
        )
        if item["streak"] >= retry.FAILING_STREAK:
            still_failing = Attr("streak").gte(retry.FAILING_STREAK) & not_yet
            store.note(endpoint.id, {"failingSince": clock.now_iso()}, still_failing)
