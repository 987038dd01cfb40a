"""The shop's products as an import sees them: the real ones, or those of a dry run."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

from chalicelib.imports import store
from chalicelib.imports.model import ImportJob
from chalicelib.products import model
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.storage.commit import Commit, send_all
from chalicelib.undo import store as undo
from chalicelib.values.batches import batches

_AT_ONCE: Final = 40
_MOST_SKUS: Final = 99  # of one product: AWS takes 100 items in a transaction

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
    """Stores the result for each product with the job, and reads that first."""

    def by_slug(self, slugs: Iterable[str]) -> dict[str, Product]:
        wanted = list(slugs)
        would = self._would(wanted)
        return {**super().by_slug(slug for slug in wanted if slug not in would), **would}

    def by_sku(self, skus: Iterable[str]) -> dict[str, list[Product]]:
        wanted = list(skus)
        found = super().by_sku(wanted)
        named = store.would_have(self._job_id, wanted)
        known = {product.slug: product for same in found.values() for product in same}
        known |= self._would({*known, *set().union(*named.values())})
        for sku in wanted:
            slugs = dict.fromkeys([*(product.slug for product in found[sku]), *sorted(named[sku])])
            same = (known[slug] for slug in slugs if slug in known)
            found[sku] = [product for product in same if sku in product.skus]
        return found

    def _would(self, slugs: Iterable[str]) -> dict[str, Product]:
        found = store.would_be(self._job_id, slugs)
        return {
            slug: model.read(item["record"], {"quantities": item["quantities"]})
            for slug, item in found.items()
        }

    def _commit(self, before: Product | None, after: Product, left: Mapping[str, str]) -> Commit:
        item = {"record": model.stored(after), "quantities": dict(after.quantities)}
        return store.would_put(self._job_id, after.slug, sorted(after.skus)[:_MOST_SKUS], item)


def catalogue(job: ImportJob) -> Catalogue:
    return DryRun(job) if job.is_dry_run else Catalogue(job)
