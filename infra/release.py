"""Which release of Backroom a stage runs: item `release` / `deployed` of its table.

`{release, before, formats, at, reindexed, job}`: the release that was deployed last, the other one
that was deployed before it, in which format it indexes each kind of record, when, the release whose
reindexing ended last, and the job of the last one that was started.
"""

from typing import Final

from chalicelib import __version__, listing
from chalicelib.reindexing.store import ALL, RELEASE
from chalicelib.storage import table
from chalicelib.values import clock

_KINDS: Final = [records.kind for records in ALL]


def refuse_to_skip(stage: str) -> None:
    """Raises SystemExit if another release was deployed and its reindexing has not ended: the next
    one may no longer read what it would have moved. The one before may always be deployed again."""
    found = table.get(RELEASE)
    if found is None or __version__ in (found["release"], found.get("before")):
        return
    waiting = [
        kind.name
        for kind in _KINDS
        if listing.indexed(kind) < found["formats"].get(kind.name, listing.FIRST)
    ]
    if waiting:
        raise SystemExit(
            f"{stage} has release {found['release']}, whose reindexing has not ended"
            f" ({', '.join(waiting)}). Check that release out, run"
            f" `infra/reindex.py --stage {stage}`, then deploy {__version__}."
        )


def deployed() -> None:
    """Notes that this release is deployed."""
    last = (table.get(RELEASE) or {}).get("release", __version__)
    before = {} if last == __version__ else {"before": last}
    formats = {kind.name: kind.format for kind in _KINDS}
    noted = {"release": __version__, "formats": formats, "at": clock.iso(clock.now()), **before}
    table.update(RELEASE, assign=noted)
