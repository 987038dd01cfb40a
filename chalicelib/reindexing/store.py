"""Every kind of record that is reindexed.

It notes the reindexing in the item of the release (`infra/release.py`).
"""

from collections.abc import Iterable
from typing import Final

from chalicelib import __version__, listing
from chalicelib.audit import model as audit
from chalicelib.customers import store as customers
from chalicelib.jobs import store as jobs
from chalicelib.ledger import model as movement
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.stocktaking import store as counts
from chalicelib.storage import table

ALL: Final = (products.RECORDS, orders.RECORDS, customers.RECORDS, jobs.RECORDS, counts.RECORDS)
# And logs, whose entries are written once: none of their facets may be newer than release 1.0.0.
LISTED: Final = (
    *(records.kind for records in ALL),
    *(*orders.LISTS_OF_PARTS, movement.KIND, audit.KIND),
)


def note_end(kinds: Iterable[listing.Kind]) -> None:
    """Note that all records of these kinds are indexed as in this release."""
    numbers = {kind.name: kind.number for kind in kinds}
    indexed = (table.get(listing.RELEASE) or {}).get("indexed", {}) | numbers
    is_whole = numbers.keys() == {records.kind.name for records in ALL}
    whole = {"reindexed": __version__} if is_whole else {}
    table.update(listing.RELEASE, assign={"indexed": indexed, **whole})


def are_noted(kinds: Iterable[listing.Kind]) -> bool:
    """Return whether a reindexing of this release has ended for all of these kinds."""
    release = table.get(listing.RELEASE)
    return all(listing.number_in(release, kind) >= kind.number for kind in kinds)
