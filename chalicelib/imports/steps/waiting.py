"""Rows that wait for the rest of their product: `job_…` / `waiting#<product>#<line>`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from chalicelib.imports import store
from chalicelib.imports.model import ProductOutcome
from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.values import ids
from chalicelib.values.batches import batches

_AT_ONCE: Final = 90  # rows that one transaction of at most 100 items counts


@dataclass(frozen=True)
class Waiting:
    """A group of rows, by its place in the file. `named`: it gives the product's name; `priced`:
    and the price, or one for each of its variants. `alone`: it is counted by itself (`tally.py`).
    """

    product: str
    offset: int
    length: int
    line: int
    named: bool
    priced: bool
    alone: bool = True

    def key(self, job_id: str) -> Key:
        return job_id, f"waiting#{ids.key_part(self.product)}#{self.line:09d}"


def put_waiting(job_id: str, waiting: Iterable[Waiting]) -> None:
    expires = {"expiresAt": jobs.expires()}
    keyed = [(row.key(job_id), row) for row in waiting]
    table.batch_write({"pk": pk, "sk": sk, **vars(row), **expires} for (pk, sk), row in keyed)


def waiting_for(job_id: str, product: str) -> list[Waiting]:
    """The rows that wait for the rest of a product, in the order of the file."""
    begins = table.sk.begins_with(f"waiting#{ids.key_part(product)}#")
    return [_waiting(item) for item in table.everything(job_id, where=begins)]


def first_waiting(job_id: str, most: int) -> list[Waiting]:
    """Rows that still wait, of any product."""
    rows = table.query(job_id, where=table.sk.begins_with("waiting#"), limit=most)
    return [_waiting(item) for item in rows.items]


def _waiting(item: Item) -> Waiting:
    return Waiting(
        str(item["product"]),
        int(item["offset"]),
        int(item["length"]),
        int(item["line"]),
        bool(item["named"]),
        bool(item["priced"]),
        bool(item.get("alone", True)),
    )


def settle(job_id: str, waiting: Sequence[Waiting], outcome: ProductOutcome) -> None:
    """Counts rows that waited, each once: rows that no longer wait are counted already."""
    for some in batches(waiting, _AT_ONCE):
        commit = Commit()
        for row in some:
            commit.delete(row.key(job_id), when=table.present)
        alone = sum(row.alone for row in some)
        store.count(commit, job_id, {outcome: alone}, handled=len(some))
        commit.sent()
