"""Lists, searches and totals that are exact as soon as a write is answered.

`change` adds the index writes of a record to the commit that changes it; `page` reads a page.
Nothing is indexed later.

- what is indexed: `kinds` (lists and facets), `index` (of one record), `words`
- writing: `entries`
- reading: `records` (by id, or a page), `filters` (what clients ask), `query` (what is asked),
  `pages`, `positions` (what to read), `lists` (which list serves the filters), `search`, `lookup`
  (exact texts), `best` (best matches), `shelf`, `menus`, `counts` (totals), `cursor`
- ids of other systems: `external_ids`
- maintenance: `recount` (checks totals), `move` and `upgrades` (what a new release indexes),
  `cells` (of release 1.0.0), `leftovers`
"""

from chalicelib.listing.cells import merge_cells
from chalicelib.listing.entries import append, change, remove_later
from chalicelib.listing.filters import Dated, Filters, UpdatedFrom
from chalicelib.listing.index import MOST_WORD_BYTES, Index, Record
from chalicelib.listing.kinds import FIRST, Kind
from chalicelib.listing.leftovers import discard_words, words_of
from chalicelib.listing.lists import Range
from chalicelib.listing.menus import Menu, read_menus
from chalicelib.listing.move import reindex
from chalicelib.listing.pages import count, count_each, page_of, read_page, walk_pages
from chalicelib.listing.query import Indexed, Query
from chalicelib.listing.records import Records
from chalicelib.listing.recount import (
    Recount,
    Wrong,
    find_disagreement,
    recount,
    repair,
    walk_entries,
)
from chalicelib.listing.shelf import Shelf
from chalicelib.listing.upgrades import RELEASE, number_in
from chalicelib.schemas import Page
