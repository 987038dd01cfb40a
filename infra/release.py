"""Which release of Backroom a stage runs: item `release` / `deployed` of its table.

`{release, before, formats, indexed, at, reindexed, job}`: the release that was deployed last, the
other one that was deployed before it, the number of each kind of record in it (`Kind.number`), up
to which number all records of each kind are indexed, when, the release whose reindexing of all
kinds ended last, and the job of the last one that was started.
"""

from typing import Final

from chalicelib import __version__
from chalicelib.listing import FIRST, RELEASE, number_in
from chalicelib.reindexing.store import ALL
from chalicelib.storage import table
from chalicelib.values import clock

_KINDS: Final = [records.kind for records in ALL]


def refuse_to_skip(stage: str) -> None:
    """Raise SystemExit if another release was deployed and its reindexing has not ended.

    The next one may no longer read what it would have moved. The one before may always be deployed
    again.
    """
    found = table.get(RELEASE)
    if found is None or __version__ in (found["release"], found.get("before")):
        return
    numbers = found["formats"]
    waiting = [
        kind.name for kind in _KINDS if number_in(found, kind) < numbers.get(kind.name, FIRST)
    ]
    if waiting:
        raise SystemExit(
            f"{stage} has release {found['release']}, whose reindexing has not ended"
            f" ({', '.join(waiting)}). Check that release out, run"
            f" `infra/reindex.py --stage {stage}`, then deploy {__version__}."
        )


def lower_numbers(stage: str) -> None:
    """Note that a later release has to index its additions again.

    It is done before this release writes records without them.
    """
    found = table.get(RELEASE) or {}
    later = {kind.name for kind in _KINDS if number_in(found, kind) > kind.number}
    if later:
        numbers = {kind.name: min(number_in(found, kind), kind.number) for kind in _KINDS}
        table.update(RELEASE, assign={"indexed": {**found["indexed"], **numbers}})
        print(
            "A later release has indexed more. When it is deployed again, run its"
            f" `infra/reindex.py --stage {stage}`."
        )


def note_deployment() -> None:
    """Note that this release is deployed."""
    found, numbers = table.get(RELEASE), {kind.name: kind.number for kind in _KINDS}
    last = (found or {}).get("release", __version__)
    before = {} if last == __version__ else {"before": last}
    new = {} if found else {"indexed": numbers}  # there are no records yet
    noted = {"release": __version__, "formats": numbers, "at": clock.iso(clock.now())}
    table.update(RELEASE, assign={**noted, **before, **new})
