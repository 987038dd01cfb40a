"""Decides about rows whose product does not exist, at each step of an import."""

from collections.abc import Sequence
from functools import partial

from chalicelib import threads
from chalicelib.imports.steps.reader import Reader
from chalicelib.imports.steps.waiting import Waiting, first_waiting, waiting_for
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
        self._waiting: dict[str, list[Waiting]] = {}  # by product, when the step began
        self._read: dict[str, list[ProductRows]] = {}

    def of(self, row: ProductRows) -> list[Waiting]:
        """The rows that waited for these rows' product when the step began."""
        return self._waiting.get(row.product, [])

    def fetch(self, rows: Sequence[ProductRows]) -> None:
        job = self._reader.job
        if not job.has_repeats:
            return  # nothing else in the file can complete them
        if not self._waiting and not first_waiting(job.id, 1):
            return
        products = {row.product for row in rows} - self._waiting.keys()
        reads = [partial(waiting_for, job.id, product) for product in products]
        self._waiting |= zip(products, threads.together(reads), strict=True)

    def earlier(self, row: ProductRows) -> Sequence[ProductRows]:
        if row.product not in self._read:
            self._read[row.product] = self._reader.waiting(self.of(row))
        for each in self._read[row.product]:
            each.outcome, each.errors = None, []  # perhaps of a round that was not written
        return self._read[row.product]

    def applied(self) -> list[tuple[Waiting, ProductRows]]:
        """The waiting rows that have an outcome, because another created their product."""
        return [
            (waiting, row)
            for product, rows in self._read.items()
            for waiting, row in zip(self._waiting.get(product, ()), rows, strict=True)
            if row.outcome is not None
        ]

    def answer(self, rows: Sequence[ProductRows]) -> Create | Wait:
        first = rows[0]
        waiting = self.of(first)
        if not self._reader.job.has_repeats or (not waiting and not first.is_incomplete):
            return Create(first.imported)
        if not _is_complete([*waiting, *map(waiting_row, rows)]):
            return Wait()
        whole = self._reader.whole([*self.earlier(first), *rows])
        return Wait() if whole.outcome or whole.is_incomplete else Create(whole.imported)


def _is_complete(waiting: Sequence[Waiting]) -> bool:
    return any(row.named for row in waiting) and any(row.priced for row in waiting)


def waiting_row(row: ProductRows) -> Waiting:
    first, last = row.records[0], row.records[-1]
    length = last.offset + last.length - first.offset
    named, priced = not row.imported.continues, not row.imported.awaits_variants
    return Waiting(row.product, first.offset, length, row.line, named, priced, not row.names)
