"""The ledger of stock: its list, and its nightly comparison with the stock.

| item | pk | sk |
|---|---|---|
| entry | `mov_…` | `movement` |
| sum of a variant's entries, and its last name | `var_…` | `ledger` |

A commit writes none of this: it has no room for an entry for each of sixty products. It traces its
moves in the item of its events, and a consumer of the outbox (`consumer.py`) writes the entries.
Their ids follow from that item's, so that none is written twice, however often the stream brings
it.

The sum is in the transaction of each entry: what the entries say the stock is. Entries may arrive
in another order than their commits, which a sum does not mind.
"""

import time
from collections.abc import Iterable
from typing import Final

from chalicelib import listing
from chalicelib.ledger.model import KIND, Movement
from chalicelib.products import store as products
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
from chalicelib.values import ids
from chalicelib.values.batches import batches

_LOOKS: Final = 3
_LAG_SECONDS: Final = 40  # after which a look finds the entries of all commits before it
_AT_ONCE: Final = 100  # products


def entry_key(id: str) -> Key:
    return id, "movement"


page = listing.Records(KIND, entry_key, lambda item: Movement(item).index, Movement).read_page


def sum_key(variant_id: str) -> Key:
    return variant_id, "ledger"


# --- The nightly comparison -----------------------------------------------------------------------


def recount() -> listing.Recount:
    """Compare the sum of each variant's entries with its stock.

    A variant is wrong if they differ by the same three times, each long enough after the last for
    all entries to arrive.
    """
    wanted: Iterable[str] = (
        item["sk"].partition("#")[2] for item in listing.walk_entries(products.RECORDS.kind, ())
    )
    looked_at, wrong = _compare_stock(wanted)
    for _ in range(_LOOKS - 1):
        if not wrong:
            break
        time.sleep(_LAG_SECONDS)
        _, again = _compare_stock({ids.product_of(id) for id in wrong})
        wrong = {
            id: again[id]
            for id in wrong.keys() & again.keys()
            if again[id][1] - again[id][0] == wrong[id][1] - wrong[id][0]
        }
    wrong_sums = [
        listing.Wrong(sum_key(id), *both, sharded=False) for id, both in sorted(wrong.items())
    ]
    return listing.Recount(looked_at, wrong_sums)


def _compare_stock(product_ids: Iterable[str]) -> tuple[int, dict[str, tuple[int, int]]]:
    """Compare the ledger with the stock of these products' variants.

    Return how many variants were compared, and, of those that differ, the sum of the entries and
    the stock (0 if it is not tracked) by the variant's id.
    """
    looked_at, wrong = 0, {}
    for batch in batches(product_ids, _AT_ONCE):
        stock = products.all_stock_levels(batch)
        sums = table.batch_get(map(sum_key, stock))
        looked_at += len(stock)
        for id, quantities in stock.items():
            counted = int(sums.get(sum_key(id), {"sum": 0})["sum"])
            if counted != quantities:
                wrong[id] = counted, quantities
    return looked_at, wrong
