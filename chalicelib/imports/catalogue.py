"""The shop's products as an import sees them: the real ones, or those of a rehearsal."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from chalicelib.commit import Commit, send_all
from chalicelib.imports import store
from chalicelib.imports.model import Job
from chalicelib.products import model
from chalicelib.products import store as products
from chalicelib.products.model import Product

_AT_ONCE: Final = 40

Write = tuple[Product | None, Product]  # before (None: it is new) and after


class Catalogue:
    """Products by their identity, and writes that fail each for itself."""

    def by_slug(self, slugs: Iterable[str]) -> dict[str, Product]:
        return products.by_slug(slugs)

    def by_sku(self, skus: Iterable[str]) -> dict[str, list[Product]]:
        return products.by_sku(skus)

    def write(self, writes: Sequence[Write]) -> list[Exception | None]:
        """What each raised: Changed or SlugTaken where the product is to be read again.

        While some are sent, the next are made ready: that takes CPU, sending takes time.
        """
        with ThreadPoolExecutor(1) as sender:
            sent = [
                sender.submit(send_all, [self._commit(*write) for write in some])
                for some in (writes[at : at + _AT_ONCE] for at in range(0, len(writes), _AT_ONCE))
            ]
        return [failure for some in sent for failure in some.result()]

    def _commit(self, before: Product | None, after: Product) -> Commit:
        return products.writes(before, after)


class Rehearsal(Catalogue):
    """Writes what would become of each product beside the job, and reads that first."""

    def __init__(self, job: Job) -> None:
        self._job_id = job.id

    def by_slug(self, slugs: Iterable[str]) -> dict[str, Product]:
        wanted = list(slugs)
        would = self._would(wanted)
        return {**super().by_slug(slug for slug in wanted if slug not in would), **would}

    def by_sku(self, skus: Iterable[str]) -> dict[str, list[Product]]:
        wanted = list(skus)
        would = self._would(f"sku {sku}" for sku in wanted)
        found = super().by_sku(sku for sku in wanted if f"sku {sku}" not in would)
        return {sku: found[sku] if sku in found else [would[f"sku {sku}"]] for sku in wanted}

    def _would(self, names: Iterable[str]) -> dict[str, Product]:
        found = store.would_be(self._job_id, names)
        return {
            name: model.read(item["record"], {"quantities": item["quantities"]})
            for name, item in found.items()
        }

    def _commit(self, before: Product | None, after: Product) -> Commit:
        names = {after.slug}
        names |= {f"sku {variant['sku']}" for variant in after.variants() if variant["sku"]}
        names |= {f"sku {after.fields['sku']}"} if after.fields["sku"] else set()
        item = {"record": model.stored(after), "quantities": dict(after.quantities)}
        # One item a name, of up to 400 KB, in a transaction of 4 MB.
        return store.would_put(self._job_id, sorted(names)[:8], item)


def catalogue(job: Job) -> Catalogue:
    return Rehearsal(job) if job.is_rehearsal else Catalogue()
