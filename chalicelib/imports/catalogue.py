"""The shop's products as an import finds and writes them."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

from chalicelib.imports.model import ImportJob
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.storage.commit import Commit, send_all
from chalicelib.undo import store as undo
from chalicelib.values.batches import batches

_AT_ONCE: Final = 40

Write = tuple[Product | None, Product]  # before (None: it is new) and after


class Catalogue:
    """Products by their identity, and writes that fail independently; the job's log keeps the
    changes of each, so that the import can be undone."""

    def __init__(self, job: ImportJob) -> None:
        self._job_id = job.id

    def by_slug(self, slugs: Iterable[str]) -> dict[str, Product]:
        return products.by_slug(slugs)

    def by_sku(self, skus: Iterable[str]) -> dict[str, list[Product]]:
        return products.by_sku(skus)

    def write(
        self, writes: Sequence[Write], left: Mapping[str, str] | None = None
    ) -> list[Exception | None]:
        """What each raised: ProductChanged, SlugTaken or SkuTaken if the product must be read
        again. `left`: SKUs whose products no longer have them.

        While some are sent, the next are prepared: that takes CPU, sending takes time.
        """
        with ThreadPoolExecutor(1) as sender:
            sent = [
                sender.submit(
                    copy_context().run,
                    send_all,
                    [self._commit(*write, left or {}) for write in some],
                )
                for some in batches(writes, _AT_ONCE)
            ]
        return [failure for some in sent for failure in some.result()]

    def _commit(self, before: Product | None, after: Product, left: Mapping[str, str]) -> Commit:
        commit = products.writes(before, after, once=left)
        if before is None or before.version != after.version:
            undo.remember(commit, self._job_id, before, after)
        return commit


class DryRun(Catalogue):
    """Writes nothing."""

    def write(
        self, writes: Sequence[Write], left: Mapping[str, str] | None = None
    ) -> list[Exception | None]:
        return [None] * len(writes)


def catalogue(job: ImportJob) -> Catalogue:
    return DryRun(job) if job.is_dry_run else Catalogue(job)
