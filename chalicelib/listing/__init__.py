"""Lists, searches and totals that are exact the moment a write is answered.

`change` adds the index writes of a record to the commit that changes it; `page` reads a page. That
is the whole of it: no projector runs behind.
"""

from chalicelib.listing.entries import Index, Kind, change
from chalicelib.listing.move import Records, reindex
from chalicelib.listing.pages import Indexed, Page, Query, count, page
from chalicelib.listing.recount import Recount, Wrong, disagreement, everyone, recount, repair

__all__ = [
    "Index",
    "Indexed",
    "Kind",
    "Page",
    "Query",
    "Records",
    "Recount",
    "Wrong",
    "change",
    "count",
    "disagreement",
    "everyone",
    "page",
    "recount",
    "reindex",
    "repair",
]
