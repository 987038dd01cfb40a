"""Which release of Backroom a stage runs: item `release` / `deployed` of its table.

`{release, formats, at, reindexed}`: the release that was deployed last, in which format it indexes
each kind of record, when, and the release whose reindexing ended last.
"""

from typing import Final

from chalicelib import __version__, listing
from chalicelib.customers import store as customers
from chalicelib.jobs import store as jobs
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.storage import table
from chalicelib.values import clock

_KEY: Final = ("release", "deployed")
_KINDS: Final = [each.RECORDS.kind for each in (products, orders, customers, jobs)]


def refuse_to_skip(stage: str) -> None:
    """Raises SystemExit if another release was deployed and its reindexing has not ended: the next
    one may no longer read what it would have moved."""
    found = table.get(_KEY)
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
    _note(release=__version__, formats=formats, at=clock.iso(clock.now()))


def reindexed() -> None:
    """Notes that all records are indexed as in this release."""
    _note(reindexed=__version__)


def _note(**fields: object) -> None:
    table.update(_KEY, assign=fields)
