"""Products whose rows are at several places of a file: each is counted once.

The planner counts a product where it comes first. What became of it so far is an item by its key,
written in the transaction that counts it: `job_…` / `product#<key>`, with the `outcome`; by another
key of it, with that first one as `same`, and `alias` where no product of another key is meant by
it: two of them may have one SKU. Chunks count the first places, at once; the others come one after
another, so that no two of these transactions are about the same product.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from chalicelib.imports import store
from chalicelib.imports.model import ProductOutcome
from chalicelib.imports.upsert import ProductRows
from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.values import ids

_AT_ONCE: Final = 30  # groups; each may write three items, of a hundred
_ALIAS: Final = {"alias": True}
_RANKS: Final = (
    "",
    ProductOutcome.UNCHANGED,
    ProductOutcome.UPDATED,
    ProductOutcome.CREATED,
    ProductOutcome.FAILED,
)


def count(job_id: str, chunk: str, rows: Sequence[ProductRows]) -> None:
    """Counts groups of such products: a product is what is worst, or else most, of what became of
    its groups. Again, by the same chunk, is no harm."""
    for at in range(0, len(rows), _AT_ONCE):
        commit = Commit()
        done = {"pk": job_id, "sk": f"counted#{chunk}#{at:05d}", "expiresAt": jobs.expires()}
        commit.put(done, when=table.absent)
        _count(commit, job_id, rows[at : at + _AT_ONCE], are_first=chunk.startswith("chunk#"))
        commit.sent()


def _count(commit: Commit, job_id: str, rows: Sequence[ProductRows], *, are_first: bool) -> None:
    items = _items({(job_id, _sk(name)) for row in rows for name in row.names})
    counts: Counter[ProductOutcome] = Counter()
    changed: set[Key] = set()
    new = 0
    for row in rows:
        key, *aliases = ((job_id, _sk(name)) for name in row.names)
        named = [key, *(alias for alias in aliases if "alias" not in items.get(alias, _ALIAS))]
        known = next((each for each in named if each in items), None)
        if known is None:
            # If this is no first place, the planner has taken a product for one that came before.
            known, new = key, new + (not are_first)
            items[key] = {"outcome": ""}
        first = (job_id, str(items[known].get("same", known[1])))
        items.setdefault(key, {"same": first[1]})
        for alias in aliases:
            items[alias] = {"same": first[1], **items.get(alias, {}), **_ALIAS}
        before, after = items[first]["outcome"], row.outcome or ""
        if _RANKS.index(after) > _RANKS.index(before):
            counts[ProductOutcome(after)] += 1
            if before:
                counts[ProductOutcome(before)] -= 1
            items[first] = {**items[first], "outcome": after}
        changed |= {key, first, *aliases}
    for pk, sk in changed:
        commit.put({**items[pk, sk], "pk": pk, "sk": sk, "expiresAt": jobs.expires()})
    handled = sum(row.outcome is not None for row in rows)
    store.count(commit, job_id, counts, handled=handled, total=new)


def _items(keys: set[Key]) -> dict[Key, Item]:
    found = table.batch_get(keys)
    others = {(pk, str(item["same"])) for (pk, _), item in found.items() if "same" in item}
    return found | table.batch_get(others - found.keys())


def _sk(name: str) -> str:
    return f"product#{ids.key_part(name.casefold())}"
