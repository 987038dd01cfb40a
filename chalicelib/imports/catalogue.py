"""Writes of products that fail independently.

The job's log keeps the changes of each, so that the import can be undone. `upsert` calls this with
all products of a chunk that change.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

from chalicelib.imports.model import ImportJob
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.storage.commit import Commit, send_all
from chalicelib.undo import store as undo
from chalicelib.undo.model import difference
from chalicelib.values.batches import batches

_AT_ONCE: Final = 40

Write = tuple[Product | None, Product]  # before (None: it is new) and after


def write_products(
    job: ImportJob, writes: Sequence[Write], left: Mapping[str, str]
) -> list[Exception | None]:
    """Write products, of which none fails because of another.

    Return each failure in order, or None. ProductChanged, SlugTaken and SkuTaken say that the
    product must be read again. Each write notes how the job is undone. `left`: SKU → the product
    that no longer has it, so that a new one may take it. New ones may have the same SKU: they are
    different products of the file. A dry run writes nothing, and has no failures. While some are
    sent, the next are prepared: that takes CPU, sending takes time.
    """
    if job.is_dry_run:
        return [None] * len(writes)
    others = {sku: [id] for sku, id in left.items()}
    with ThreadPoolExecutor(1) as sender:
        sent = [
            sender.submit(
                copy_context().run, send_all, [_build_commit(job, *each, others) for each in part]
            )
            for part in batches(writes, _AT_ONCE)
        ]
    return [failure for part in sent for failure in part.result()]


def _build_commit(
    job: ImportJob, before: Product | None, after: Product, others: dict[str, list[str]]
) -> Commit:
    """Return the commit that writes a product, and notes for the job how to undo it. Send nothing.

    `others`: the products by SKU that new products of the same batch use. It is read, and a new
    product's SKUs are added to it, so that of two new products with one SKU only one succeeds.
    `before`: None for a new product. A product whose version stays has nothing to undo.
    """
    commit = products.build_commit(before, after, once=others)
    for sku in products.locked_skus(after) if before is None else ():
        others.setdefault(sku, []).append(after.id)
    if before is None or before.version != after.version:
        change = difference(before, after)
        undo.note(commit, job.id, after.id, change, after.version, once=False)
    return commit
