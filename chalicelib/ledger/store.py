"""The ledger of stock: from the moves that commits traced to entries, each once.

| item | pk | sk |
|---|---|---|
| entry | `mov_…` | `movement` |
| sum of a variant's entries, and its last name | `var_…` | `ledger` |

A commit writes none of this: it has no room for an entry for each of sixty products. It traces its
moves in the item of its events, and the fan-out of the outbox's stream writes the entries. Their
ids follow from that item's, so that none is written twice, however often the stream brings it.

The sum is in the transaction of each entry: what the entries say the stock is. Entries may arrive
in another order than their commits, which a sum does not mind.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chalicelib import listing
from chalicelib.ledger.model import KIND, Movement, MovementCause
from chalicelib.products import store as products
from chalicelib.products.model import title_of
from chalicelib.storage import outbox, table, traced
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.traced import Draft, Found
from chalicelib.values import ids
from chalicelib.values.batches import batches

_TOGETHER: Final = 10  # entries of one transaction of 100 items: up to 9 items each
_LOOKS: Final = 3
_LAG_SECONDS: Final = 40  # after which a look finds the entries of all commits before it
_AT_ONCE: Final = 100  # products


def _key(id: str) -> Key:
    return id, "movement"


page = listing.Records(KIND, _key, lambda item: Movement(item).index, Movement).page


def _sum_key(variant_id: str) -> Key:
    return variant_id, "ledger"


# --- Writing --------------------------------------------------------------------------------------


def enter(items: Iterable[Item]) -> None:
    """Writes the entries of these outbox items that are not there yet. Raises Busy."""
    drafts = traced.drafts(items, _drafts)
    _name(drafts)
    # One variant's next to each other: most transactions write its sum once.
    drafts.sort(key=lambda draft: (draft["variantId"], draft["id"]))
    traced.enter(drafts, _key, _commit, also=_sum_of, together=_TOGETHER)


def _sum_of(draft: Draft) -> list[Key]:
    return [_sum_key(draft["variantId"])]


def _commit(drafts: Sequence[Draft], found: Found) -> Commit:
    """The entries, and the sums after them, which it also brings up to date for the next."""
    commit = Commit()
    before = {key: found.get(key) for draft in drafts for key in _sum_of(draft)}
    for draft in drafts:
        key = _sum_key(draft["variantId"])
        last = found.get(key, {"sum": 0})
        after = int(last["sum"]) + _effect(draft)
        # Of a variant that an edit removed, nothing else has the name.
        names = {name: draft.get(name, last.get(name)) for name in ("sku", "title")}
        found[key] = {"sum": after, **names}
        movement = _movement({**draft, **names}, after)
        commit.put(
            {"pk": movement.id, "sk": "movement", **movement.fields},
            when=table.absent,
        )
        listing.change(commit, KIND, movement.id, None, movement.index)
    for key, was in before.items():
        same = table.absent if was is None else Attr("sum").eq(was["sum"])
        commit.update(key, assign=found[key], when=same)
    return commit


def _effect(step: Fields) -> int:
    """What it adds to the sum: that is 0 while the variant is not tracked."""
    return int(step.get("by", 0)) + int(step.get("stock", 0)) - int(step.get("was", 0))


def _movement(draft: Fields, after: int) -> Movement:
    cause, stock = draft["cause"], after
    if "stock" in draft:
        cause, stock = MovementCause.TRACKED.value, draft["stock"]
    is_last = "was" in draft
    return Movement(
        {
            **{name: draft[name] for name in ("id", "at", "productId", "variantId")},
            **{name: draft.get(name) for name in ("sku", "title", "by", "missing")},
            **{name: draft.get(name) for name in ("reason", "note", "orderId", "jobId", "countId")},
            "stock": None if is_last else stock,
            "cause": MovementCause.UNTRACKED.value if is_last else cause,
            "actor": draft["actor"],
        }
    )


def _drafts(item: Item) -> Iterator[Draft]:
    """Each move of a commit, with all that its item knows."""
    trace = outbox.trace_of(item)
    names: dict[str, dict[str, object]] = {}
    for event in outbox.events_of(item) if "moves" in trace else ():
        names |= _named(event.data())
    moves = (
        {**about, **names.get(step["variantId"], {}), **step}
        for group in trace.get("moves", ())
        for about in [{name: group[name] for name in group.keys() - {"steps"}}]
        for step in group["steps"]
    )
    return traced.numbered(item, "mov", moves)


def _named(data: Fields) -> dict[str, dict[str, Any]]:
    """The SKUs and titles of the variants of an event's product or order."""
    found = {one["variantId"]: one for one in data.get("lineItems", ())}
    found |= {
        one["id"]: {**one, "title": title_of(data["name"], one["title"])}
        for one in data.get("variants", ())
    }
    return {id: {name: one[name] for name in ("sku", "title")} for id, one in found.items()}


def _name(drafts: Iterable[Draft]) -> None:
    """Gives names to those whose events have none, such as of a line that an edit removed."""
    nameless = [draft for draft in drafts if "title" not in draft]
    known = {one.id: one for one in products.load({draft["productId"] for draft in nameless})}
    for draft in nameless:
        product = known.get(draft["productId"])
        variant = product.variant(draft["variantId"]) if product else None
        if product and variant:
            title = title_of(product.fields["name"], variant["title"])
            draft |= {"sku": variant["sku"], "title": title}


# --- The nightly comparison -----------------------------------------------------------------------


def recount() -> listing.Recount:
    """Compares the sum of each variant's entries with its stock. A variant is wrong if they differ
    by the same three times, each long enough after the last for all entries to arrive."""
    wanted: Iterable[str] = (
        item["sk"].partition("#")[2] for item in listing.everyone(products.RECORDS.kind, ())
    )
    looked_at, wrong = _compared(wanted)
    for _ in range(_LOOKS - 1):
        if not wrong:
            break
        time.sleep(_LAG_SECONDS)
        _, again = _compared({ids.product_of(id) for id in wrong})
        wrong = {
            id: again[id]
            for id in wrong.keys() & again.keys()
            if again[id][1] - again[id][0] == wrong[id][1] - wrong[id][0]
        }
    found = [
        listing.Wrong(_sum_key(id), *both, sharded=False) for id, both in sorted(wrong.items())
    ]
    return listing.Recount(looked_at, found)


def _compared(product_ids: Iterable[str]) -> tuple[int, dict[str, tuple[int, int]]]:
    """How many variants were compared; of those that differ, the sum of the entries and the stock,
    0 if it is not tracked."""
    looked_at, wrong = 0, {}
    for some in batches(product_ids, _AT_ONCE):
        stock = products.all_stock_levels(some)
        sums = table.batch_get(map(_sum_key, stock))
        looked_at += len(stock)
        for id, there in stock.items():
            counted = int(sums.get(_sum_key(id), {"sum": 0})["sum"])
            if counted != there:
                wrong[id] = counted, there
    return looked_at, wrong
