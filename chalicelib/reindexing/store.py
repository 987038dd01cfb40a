"""Every kind of record that is reindexed, and the note of it in the item of the release
(`infra/release.py`)."""

from typing import Final

from chalicelib import __version__
from chalicelib.customers import store as customers
from chalicelib.jobs import store as jobs
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.stocktaking import store as counts
from chalicelib.storage import table

ALL: Final = (products.RECORDS, orders.RECORDS, customers.RECORDS, jobs.RECORDS, counts.RECORDS)
RELEASE: Final = ("release", "deployed")


def ended() -> None:
    """Notes that all records are indexed as in this release."""
    table.update(RELEASE, assign={"reindexed": __version__})
