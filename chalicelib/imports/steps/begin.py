"""Decides about rows whose product does not exist, at each step of an import."""

from collections.abc import Sequence
from functools import partial

from chalicelib import round_trips
from chalicelib.imports.steps.reader import Reader
from chalicelib.imports.steps.waiting import Waiting, waiting_for
from chalicelib.imports.upsert import Beginnings, Create, Fail, ProductRows, Wait


class AllHere(Beginnings):
    """While other chunks are running: complete rows create a product, others wait."""

    def answer(self, rows: Sequence[ProductRows]) -> Create | Wait:
        return Wait() if rows[0].is_incomplete else Create(rows[0].imported)


class NothingMore(Beginnings):
    """At the end of the file."""

    def answer(self, rows: Sequence[ProductRows]) -> Fail:
        return Fail()


class WaitingRows(Beginnings):
    """In the order of the file: rows complete those that wait for them, or wait too."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._waiting: dict[str, list[Waiting]] = {}
        self._read: dict[str, list[ProductRows]] = {}

    def of(self, row: ProductRows) -> list[Waiting]:
        """The rows that waited for these rows' product when the step began; or still wait, if a
        worker crashed after it had created the product of them."""
        if row.product not in self._waiting and self._reader.job.has_repeats:
            self._waiting[row.product] = waiting_for(self._reader.job.id, row.product)
        return self._waiting.get(row.product, [])

    def fetch(self, rows: Sequence[ProductRows]) -> None:
        if not self._reader.job.has_repeats:
            return  # nothing else in the file can complete them
        by_product: dict[str, list[ProductRows]] = {}
        for row in rows:
            if row.product not in self._waiting:
                by_product.setdefault(row.product, []).append(row)
        reads = [partial(waiting_for, self._reader.job.id, product) for product in by_product]
        self._waiting |= zip(by_product, round_trips.together(reads), strict=True)
        for product, own in by_product.items():
            waiting = self._waiting[product]
            if waiting and _is_complete([*waiting, *map(waiting_row, own)]):
                self._read[product] = self._reader.waiting(waiting)

    def answer(self, rows: Sequence[ProductRows]) -> Create | Wait:
        first = rows[0]
        waiting = self.of(first)
        if not self._reader.job.has_repeats or (not waiting and not first.is_incomplete):
            return Create(first.imported)
        if not _is_complete([*waiting, *map(waiting_row, rows)]):
            return Wait()
        whole = self._reader.whole([*self._read.get(first.product, ()), *rows])
        return Wait() if whole.outcome or whole.is_incomplete else Create(whole.imported)


def _is_complete(waiting: Sequence[Waiting]) -> bool:
    return any(row.named for row in waiting) and any(row.priced for row in waiting)


def waiting_row(row: ProductRows) -> Waiting:
    first, last = row.records[0], row.records[-1]
    length = last.offset + last.length - first.offset
    named, priced = not row.imported.continues, not row.imported.awaits_variants
    return Waiting(row.product, first.offset, length, row.line, named, priced, not row.names)
