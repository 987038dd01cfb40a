"""From the moves of stock that commits traced to entries of the ledger, each once.

An entry and the sum of its variant after it are in one transaction, on condition that the sum is as
it was read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from chalicelib import listing
from chalicelib.ledger.model import KIND, Movement, MovementCause
from chalicelib.ledger.store import entry_key, sum_key
from chalicelib.products import store as products
from chalicelib.products.model import title_of
from chalicelib.storage import logs, table
from chalicelib.storage.attributes import Fields, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.lockstep import Work
from chalicelib.storage.logs import Draft, Found
from chalicelib.storage.outbox import Committed

# Entries of one transaction of 100 items: up to 8 items each, with its sum, and a count of all.
_PER_COMMIT: Final = 12
# Attributes that an entry may have; null without.
_OPTIONAL: Final = (
    "sku",
    "title",
    "by",
    "missing",
    "reason",
    "note",
    "orderId",
    "jobId",
    "countId",
)

Names = dict[str, dict[str, object]]  # of variants, by id: `sku` and `title`


def consume(batch: Sequence[Committed]) -> Work:
    """Write the entries of these commits that are not there yet. Raises Busy."""
    real = [committed for committed in batch if not committed.is_for_one_webhook]
    drafts = logs.read_drafts(real, _read_moves)
    _name_variants(drafts)
    # One variant's next to each other: most transactions write its sum once.
    drafts.sort(key=lambda draft: (draft["variantId"], draft["id"]))
    yield from logs.write_entries(
        drafts, entry_key, _commit_of, other_keys_of=_keys_of_sum, per_commit=_PER_COMMIT
    )


def _read_moves(committed: Committed) -> Iterator[Draft]:
    """Return a draft for each move of a commit, with all that the outbox item knows."""
    groups = committed.trace.get("moves", ())
    names: Names = {}
    for event in committed.events if groups else ():
        names |= _names_in(event.data)
    moves = (
        {**about, **names.get(step["variantId"], {}), **step}
        for group in groups
        for about in [{name: group[name] for name in group.keys() - {"steps"}}]
        for step in group["steps"]
    )
    return logs.number_drafts(committed, "mov", moves)


def _names_in(data: Fields) -> Names:
    """Return the SKUs and titles of the variants of an event's product or order."""
    names: Names = {
        line["variantId"]: {"sku": line["sku"], "title": line["title"]}
        for line in data.get("lineItems", ())
    }
    for variant in data.get("variants", ()):
        title = title_of(data["name"], variant["title"])
        names[variant["id"]] = {"sku": variant["sku"], "title": title}
    return names


def _name_variants(drafts: Iterable[Draft]) -> None:
    """Give names to drafts whose events have none, such as of a line that an edit removed."""
    nameless = [draft for draft in drafts if "title" not in draft]
    if not nameless:
        return
    known = {one.id: one for one in products.load({draft["productId"] for draft in nameless})}
    for draft in nameless:
        product = known.get(draft["productId"])
        variant = product.variant(draft["variantId"]) if product else None
        if product and variant:
            title = title_of(product.fields["name"], variant["title"])
            draft |= {"sku": variant["sku"], "title": title}


def _keys_of_sum(draft: Draft) -> list[Key]:
    return [sum_key(draft["variantId"])]


def _commit_of(drafts: Sequence[Draft], items: Found) -> Commit:
    """Return the commit of some entries and of the sums after them.

    The new sums are also noted in `items`, for the next commit.
    """
    commit = Commit()
    before = {key: items.get(key) for draft in drafts for key in _keys_of_sum(draft)}
    for draft in drafts:
        key = sum_key(draft["variantId"])
        last = items.get(key, {"sum": 0})
        after = int(last["sum"]) + _effect_on_sum(draft)
        # Of a variant that an edit removed, nothing else has the name.
        names = {name: draft.get(name, last.get(name)) for name in ("sku", "title")}
        items[key] = {"sum": after, **names}
        movement = _movement_of({**draft, **names}, after)
        commit.put({"pk": movement.id, "sk": "movement", **movement.fields}, when=table.absent)
        listing.append(commit, KIND, movement.id, movement.index)
    for key, was in before.items():
        same = table.absent if was is None else Attr("sum").eq(was["sum"])
        pk, sk = key
        commit.put({"pk": pk, "sk": sk, **items[key]}, when=same)
    return commit


def _effect_on_sum(step: Fields) -> int:
    """Return what a move adds to the sum, which is 0 while the variant is not tracked."""
    return int(step.get("by", 0)) + int(step.get("stock", 0)) - int(step.get("was", 0))


def _movement_of(draft: Fields, after: int) -> Movement:
    """Return the entry of a draft. `after`: the sum with it."""
    cause, stock = draft["cause"], after
    if "stock" in draft:
        cause, stock = MovementCause.TRACKED.value, draft["stock"]
    is_last = "was" in draft
    return Movement(
        {
            **{name: draft[name] for name in ("id", "at", "productId", "variantId", "actor")},
            **{name: draft.get(name) for name in _OPTIONAL},
            "stock": None if is_last else stock,
            "cause": MovementCause.UNTRACKED.value if is_last else cause,
        }
    )
