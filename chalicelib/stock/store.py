"""The ledger of stock: from the moves that commits traced to entries, each once.

| item | pk | sk |
|---|---|---|
| entry | `mov_…` | `movement` |
| sum of a variant's entries | `var_…` | `ledger` |

A commit writes none of this: it has no room for an entry for each of sixty products. It traces its
moves in the item of its events, and the fan-out of the outbox's stream writes the entries. Their
ids follow from that item's, so that none is written twice, however often the stream brings it.

The sum is in the transaction of each entry: what the entries say the stock is. Entries may arrive
in another order than their commits, which a sum does not mind.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from chalicelib import listing, telemetry
from chalicelib.problems import Busy
from chalicelib.products import store as products
from chalicelib.products.model import title_of
from chalicelib.stock.model import KIND, Movement, MovementCause
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit, send_all
from chalicelib.storage.conditions import Attr
from chalicelib.storage.table import ConditionFailed
from chalicelib.values import ids
from chalicelib.values.batches import batches

_TOGETHER: Final = 10  # entries of one transaction of 100 items: up to 9 items each
_TRIES: Final = 10
_LOOKS: Final = 3
_LAG_SECONDS: Final = 40  # after which a look finds the entries of all commits before it
_AT_ONCE: Final = 100  # products

Sums = dict[str, int]  # variant id → sum of its entries


def _key(id: str) -> Key:
    return id, "movement"


def _sum_key(variant_id: str) -> Key:
    return variant_id, "ledger"


# --- Writing --------------------------------------------------------------------------------------


def enter(items: Iterable[Item]) -> None:
    """Writes the entries of these outbox items that are not there yet. Raises Busy."""
    by_id = {draft["id"]: draft for item in items for draft in _readable(item)}
    drafts = list(by_id.values())
    if not drafts:
        return
    _name(drafts)
    # One variant's next to each other: most transactions write its sum once.
    drafts.sort(key=lambda draft: (draft["variantId"], draft["id"]))
    for _ in range(_TRIES):
        drafts = _entered(drafts)
        if not drafts:
            return
    raise Busy


def _entered(drafts: Sequence[Item]) -> list[Item]:
    """Those that another fan-out made stale meanwhile."""
    keys = {_sum_key(draft["variantId"]) for draft in drafts}
    found = table.batch_get([*keys, *(_key(draft["id"]) for draft in drafts)])
    new = [draft for draft in drafts if _key(draft["id"]) not in found]
    sums = {pk: int(item["sum"]) for (pk, sk), item in found.items() if sk == "ledger"}
    groups = list(batches(new, _TOGETHER))
    failures = send_all([_commit(group, sums) for group in groups])
    left: list[Item] = []
    for group, failure in zip(groups, failures, strict=True):
        if isinstance(failure, ConditionFailed):
            left += group
        elif failure is not None:
            raise failure
    return left


def _commit(drafts: Sequence[Item], sums: Sums) -> Commit:
    """The entries, and the sums after them, which it also brings up to date for the next."""
    commit = Commit()
    before = {draft["variantId"]: sums.get(draft["variantId"]) for draft in drafts}
    for draft in drafts:
        after = sums.get(draft["variantId"], 0) + _effect(draft)
        sums[draft["variantId"]] = after
        movement = _movement(draft, after)
        commit.put(
            {"pk": movement.id, "sk": "movement", **movement.fields},
            when=table.absent,
        )
        listing.change(commit, KIND, movement.id, None, movement.index)
    for id, was in before.items():
        same = table.absent if was is None else Attr("sum").eq(was)
        commit.update(_sum_key(id), assign={"sum": sums[id]}, when=same)
    return commit


def _effect(step: Mapping[str, Any]) -> int:
    """What it adds to the sum: that is 0 while the variant is not tracked."""
    return int(step.get("by", 0)) + int(step.get("stock", 0)) - int(step.get("was", 0))


def _movement(draft: Mapping[str, Any], after: int) -> Movement:
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


def _readable(item: Item) -> list[Item]:
    try:
        return list(_drafts(item))
    except Exception as error:  # a defect must not stop the stream
        telemetry.error("moves are unreadable", error, eventId=item["pk"])
        return []


def _drafts(item: Item) -> Iterator[dict[str, Any]]:
    """Each move of a commit, with all that its item knows."""
    trace = outbox.trace_of(item)
    actor = trace.get("actor", {})
    common = {
        "at": item["at"],
        "jobId": actor.get("jobId"),
        "actor": {name: actor.get(name) for name in ("keyId", "keyName")},
    }
    names: dict[str, dict[str, Any]] = {}
    for event in outbox.events_of(item) if trace else ():
        names |= _named(event.data())
    number = 0
    for group in trace.get("moves", ()):
        about = {name: group[name] for name in group.keys() - {"steps"}}
        for step in group["steps"]:
            id = f"mov_{item['pk'].removeprefix('evt_')}{number:05d}"
            yield {**common, **about, **names.get(step["variantId"], {}), **step, "id": id}
            number += 1


def _named(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The SKUs and titles of the variants of an event's product or order."""
    found = {one["variantId"]: one for one in data.get("lineItems", ())}
    found |= {
        one["id"]: {**one, "title": title_of(data["name"], one["title"])}
        for one in data.get("variants", ())
    }
    return {id: {name: one[name] for name in ("sku", "title")} for id, one in found.items()}


def _name(drafts: Iterable[dict[str, Any]]) -> None:
    """Gives names to those whose events have none, such as of a line that an edit removed."""
    nameless = [draft for draft in drafts if "title" not in draft]
    known = {one.id: one for one in products.load({draft["productId"] for draft in nameless})}
    for draft in nameless:
        product = known.get(draft["productId"])
        variant = product.variant(draft["variantId"]) if product else None
        if product and variant:
            title = title_of(product.fields["name"], variant["title"])
            draft |= {"sku": variant["sku"], "title": title}


# --- Reading --------------------------------------------------------------------------------------


def page(query: listing.Query) -> listing.Page[Movement]:
    """Newest first."""
    return listing.page(KIND, query, _load)


def _load(ids: Iterable[str]) -> list[Movement]:
    wanted = list(ids)
    found = table.batch_get(map(_key, wanted))
    return [Movement(found[_key(id)]) for id in wanted if _key(id) in found]


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
    left = iter(product_ids)
    while some := list(islice(left, _AT_ONCE)):
        stock = products.every_level(some)
        sums = table.batch_get(map(_sum_key, stock))
        looked_at += len(stock)
        for id, there in stock.items():
            counted = int(sums.get(_sum_key(id), {"sum": 0})["sum"])
            if counted != there:
                wrong[id] = counted, there
    return looked_at, wrong
