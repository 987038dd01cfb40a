"""Which release of Backroom a stage runs: item `release` / `deployed` of its table.

`{release, formats, at, reindexed, job}`: the release that was deployed last, in which format it
indexes each kind of record, when, the release whose reindexing ended last, and the job of the last
one that was started.
"""

from typing import Final

from chalicelib import __version__, listing
from chalicelib.reindexing.store import ALL, RELEASE
from chalicelib.storage import table
from chalicelib.values import clock

_KINDS: Final = [records.kind for records in ALL]


def refuse_to_skip(stage: str) -> None:
    """Raises SystemExit if another release was deployed and its reindexing has not ended: the next
    one may no longer read what it would have moved."""
    found = table.get(RELEASE)
    if found is None or found["release"] == __version__:
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
    formats = {kind.name: kind.format for kind in _KINDS}
    noted = {"release": __version__, "formats": formats, "at": clock.iso(clock.now())}
    table.update(RELEASE, assign=noted)
