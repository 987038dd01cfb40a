"""Groups of rows into the catalogue: look up, merge, write; repeated after concurrent changes.

A product stores which rows of which job it took last, and its version after them: `{job, source,
rows: {line: outcome}, left}`. A repeated worker finds its results there and counts them. If a file
has several groups for a product, it also stores the `file`, by its ETag and how it is read, and the
last `line` at which one began: if that file is imported again, the groups before it change nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from chalicelib.imports import apply, preview
from chalicelib.imports.catalogue import Catalogue, catalogue
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.records import CsvRecord
from chalicelib.imports.formats import Format, ImportedProduct, Shop
from chalicelib.imports.formats.cells import spoilt
from chalicelib.imports.model import ImportJob, ImportMode, ProductOutcome
from chalicelib.problems import Busy, Invalid
from chalicelib.products.model import Product
from chalicelib.products.store import ProductChanged, SkuTaken, SlugTaken
from chalicelib.storage.idempotency import fingerprint
from chalicelib.values import slugs

_ROUNDS: Final = 6


class Superseded(Exception):
    """Another worker has finished and counted the chunk."""


@dataclass(eq=False)
class ProductRows:
    """One group of rows, and its outcome. `errors`: why it failed.

    `slugs`: to look the product up; a new one gets the first free slug. `names`: the keys by which
    the file may name it at other places.
    """

    line: int
    records: Sequence[CsvRecord]
    imported: ImportedProduct
    slugs: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    outcome: ProductOutcome | None = None
    errors: list[RowError] = field(default_factory=list)

    @classmethod
    def of(cls, records: Sequence[CsvRecord], file_format: Format, shop: Shop) -> "ProductRows":
        imported = file_format.product(records, shop)
        rows = cls(records[0].line, records, imported)
        if imported.errors:
            rows.fail(imported.errors)
        else:
            rows.slugs = rows._slugs()
        return rows

    def _slugs(self) -> list[str]:
        slug, name = self.imported.slug, self.name or ""
        if self.gives_slug and slug:
            return [slug]
        if slug and not self.is_known_by_name:
            # Made from a SKU: slugs of two long SKUs must stay distinct.
            return [slug if len(slug) <= slugs.LONGEST else slugs.marked(slug, slug)]
        plain = slugs.of_name(name)
        return [plain, slugs.marked(plain, self.sku or _folded(name))]

    @property
    def product(self) -> str:
        """The identity that the rows give their product."""
        if self.is_known_by_name:
            return f"name {_folded(self.name or '')}"
        return self.slugs[0] if self.imported.slug else f"sku {self.sku}"

    @property
    def gives_slug(self) -> bool:
        return "slug" in self.imported.values

    @property
    def is_known_by_name(self) -> bool:
        """Whether the rows identify their product by name only."""
        slug = self.imported.slug
        made = slug is not None and not self.gives_slug and not self.sku
        return made and slug == slugs.plain(self.name or "")

    def is_of(self, product: Product) -> bool:
        """Whether a product with one of the slugs is the right one: two names may have the same
        slug."""
        name = product.fields["name"]
        return not self.is_known_by_name or _folded(name) == _folded(self.name or "")

    @property
    def name(self) -> str | None:
        name: str | None = self.imported.values.get("name")
        return name

    @property
    def sku(self) -> str | None:
        sku: str | None = self.imported.values.get("sku")
        return sku

    @property
    def skus(self) -> list[str]:
        """The product's own and its variants', each once."""
        variants = self.imported.values.get("variants", ())
        skus = [self.sku, *(variant.get("sku") for variant in variants)]
        return list(dict.fromkeys(sku for sku in skus if sku and not spoilt(sku)))

    @property
    def named(self) -> dict[str, str | None]:
        """The product as the rows name it."""
        variants = self.imported.values.get("variants", ())
        sku = self.sku or next((v["sku"] for v in variants if v.get("sku")), None)
        return {"slug": self.imported.slug or None, "sku": sku, "name": self.name}

    @property
    def is_incomplete(self) -> bool:
        """Whether a new product cannot be made of these rows alone."""
        return self.imported.continues or self.imported.awaits_variants

    def fail(self, errors: list[RowError]) -> None:
        self.outcome, self.errors = ProductOutcome.FAILED, errors

    def error(self, column: str, code: str, message: str) -> RowError:
        return RowError(*self.imported.locate(column), code, message)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


@dataclass(frozen=True)
class Create:
    """A new product is created from this."""

    whole: ImportedProduct


class Wait:
    """The rows stay without an outcome: others may complete their product."""


class Fail:
    """Nothing can complete the product."""


class Beginnings:
    """Decides about rows whose product does not exist, or did not for earlier rows."""

    def fetch(self, rows: Sequence[ProductRows]) -> None:
        """Reads the data needed to decide about these, if any is."""

    def earlier(self, row: ProductRows) -> Sequence[ProductRows]:
        """The rows that come before these in the file and wait for the same product."""
        return []

    def answer(self, rows: Sequence[ProductRows]) -> Create | Wait | Fail:
        """The decision about the first groups of a product: one, then one more, while they wait."""
        raise NotImplementedError


@dataclass
class _Target:
    """The product of some rows: as it was read, and after them."""

    before: Product | None
    rows: list[ProductRows]
    slug: str = ""
    after: Product | None = None
    outcomes: dict[ProductRows, ProductOutcome] = field(default_factory=dict)
    done: Mapping[str, str] = field(default_factory=dict)


class Upsert:
    """The groups of one chunk. `source`: the chunk's name, which sorts in the order of chunks.

    `is_running`: called before writes; whether the job is still running. It raises Superseded.
    `is_in_file`: whether the file may have a product's own rows; None while that is unknown: rows
    that depend on it then stay without an outcome.
    """

    def __init__(
        self,
        job: ImportJob,
        source: str,
        is_running: Callable[[], bool],
        is_in_file: Callable[[Product], bool] | None = None,
    ) -> None:
        self.job = job
        self.source = source
        self._is_running = is_running
        self._is_in_file = is_in_file
        self._catalogue: Catalogue = catalogue(job)
        self._file = _read_file(job)
        # A first import finds nothing by SKU, so it looks nothing up until a concurrent change.
        self._asks_for_skus = job.met_products or not source.startswith("chunk#")
        self._left: dict[str, str] = {}  # SKUs, and the products that no longer have them
        self.previews: list[dict[str, object]] = []  # of a dry run

    def run(self, rows: Iterable[ProductRows], beginnings: Beginnings) -> None:
        """Gives every group its outcome, unless it waits, or the job has ended meanwhile."""
        todo = [row for row in rows if row.outcome is None]
        has_written = False
        for _ in range(_ROUNDS):
            targets = self._targets(todo)
            beginnings.fetch([row for target in targets for row in target.rows])
            for target in targets:
                self._fold(target, beginnings)
            changed = [target for target in targets if target.after is not target.before]
            if changed and not self._is_running() and not has_written:
                # What an earlier run has written is counted; nothing more is.
                targets, changed = [t for t in targets if t.after is t.before], []
            has_written = has_written or bool(changed)
            todo = self._write(changed)
            for target in targets:
                for row, outcome in target.outcomes.items():
                    row.outcome = outcome
            for row in todo:
                row.outcome, row.errors = None, []
            if not todo:
                return
        raise Busy

    def _write(self, changed: Sequence[_Target]) -> list[ProductRows]:
        """Writes; returns the rows that must be processed again because of concurrent changes."""
        todo: list[ProductRows] = []
        writes = [(target.before, self._marked(target)) for target in changed]
        failures = self._catalogue.write(writes, self._left)
        for target, failure in zip(changed, failures, strict=True):
            if isinstance(failure, ProductChanged | SlugTaken | SkuTaken):
                todo += target.rows
                target.outcomes.clear()
                self._note(failure)
            elif isinstance(failure, Invalid):
                for row in target.rows:
                    row.fail([row.error("slug", failure.code, failure.message)])
                target.outcomes.clear()
            elif failure is not None:
                raise failure
            elif self.job.is_dry_run and target.after:
                line = min(row.line for row in target.outcomes)
                self.previews.append(preview.of(line, target.before, target.after))
        return todo

    def _note(self, failure: Exception) -> None:
        self._asks_for_skus = True
        if isinstance(failure, SkuTaken):
            # If the next round finds nothing by that SKU, its product was deleted, or has another
            # SKU.
            self._left[failure.sku] = failure.product_id

    def _is_new(self, target: _Target) -> bool:
        updates = all(row.imported.only_updates for row in target.rows)
        return target.before is None and self.job.mode is not ImportMode.UPDATE and not updates

    # --- Which product is meant ---

    def _targets(self, rows: list[ProductRows]) -> list[_Target]:
        """The products of the rows. Rows that may be for several products fail."""
        by_slug = self._catalogue.by_slug(sorted({slug for row in rows for slug in row.slugs}))
        found = {row: _by_slug(row, by_slug) for row in rows}
        if self._asks_for_skus:
            self._find_by_sku(found)
        targets: dict[str, _Target] = {}
        for row, product in found.items():
            key = product.id if product else row.product
            targets.setdefault(key, _Target(product, [], after=product)).rows.append(row)
        taken = {row.slugs[0] for row in rows if len(row.slugs) == 1} | by_slug.keys()
        for target in targets.values():
            *others, last = target.rows[0].slugs
            target.slug = next((slug for slug in others if slug not in taken), last)
            taken.add(target.slug)
        return list(targets.values())

    def _find_by_sku(self, found: dict[ProductRows, Product | None]) -> None:
        """Looks up by SKU: products with another slug by now, or rows without a slug."""
        lost = [row for row in found if found[row] is None and row.skus]
        by_sku = self._catalogue.by_sku({sku for row in lost for sku in row.skus})
        for row in lost:
            same = _having(row, by_sku)
            if same and (row.gives_slug or row.is_known_by_name):
                if self._is_in_file is None:
                    del found[row]
                    continue
                # If the file has the product's own rows, this is another product with that SKU.
                same = [product for product in same if not self._is_in_file(product)]
            if len(same) > 1:
                ids = ", ".join(product.id for product in same[:5])
                sku = next(sku for sku in row.skus if sku in same[0].skus)
                there = f'{len(same)} products have the SKU "{sku}"'
                message = f"{there} or another SKU of these rows: {ids}."
                row.fail([row.error("sku", "ambiguous_sku", message)])
                del found[row]
            elif same:
                found[row] = same[0]

    # --- What becomes of it ---

    def _done(self, product: Product) -> Mapping[str, str]:
        """What an earlier run of this chunk did to the product: the outcome of each group."""
        memory = product.imported
        if memory.get("job") == self.job.id and memory["source"] == self.source:
            rows: Mapping[str, str] = memory["rows"]
            return rows
        return {}

    def _fold(self, target: _Target, beginnings: Beginnings) -> None:
        """Applies the groups of one product in the order of the file, in memory."""
        if target.before is not None:
            target.done = self._done(target.before)
            memory = target.before.imported
            if memory.get("job") == self.job.id and memory["source"] > self.source:
                self._is_running()  # a later chunk has begun, so this one may be finished
        begin = self._begin if self._is_new(target) else self._continue
        for row in begin(target, beginnings):
            try:
                target.after, target.outcomes[row] = self._apply(row, target)
            except apply.Refused as refused:
                row.fail(refused.errors)

    def _apply(self, row: ProductRows, target: _Target) -> tuple[Product | None, ProductOutcome]:
        product = target.after
        if str(row.line) in target.done:
            return product, ProductOutcome(target.done[str(row.line)])
        if product is None:
            what = "import" if self.job.mode is ImportMode.UPDATE else "file"
            message = f"There is no such product, and this {what} only updates."
            raise apply.Refused([row.error("slug", "not_found", message)])
        is_ours = target.before is None or product.imported.get("job") == self.job.id
        if self.job.mode is ImportMode.CREATE and not is_ours:
            message = "The product exists, and this import only creates."
            raise apply.Refused([row.error("slug", "exists", message)])
        after = apply.changed(row.imported, product)
        if not self.job.options.allow_zero_prices:
            apply.refuse_zero_prices(row.imported, product, after)
        if after is product or self._was_followed(row, product):
            return product, ProductOutcome.UNCHANGED
        return after, ProductOutcome.UPDATED

    def _was_followed(self, row: ProductRows, product: Product) -> bool:
        """Whether an earlier import of the same file continued after the row and left the product
        unchanged since: then a later row decides."""
        memory = product.imported
        is_same_file = memory.get("file") == self._file and memory["job"] != self.job.id
        return is_same_file and row.line < memory["line"] and memory["left"] == product.etag

    def _begin(self, target: _Target, beginnings: Beginnings) -> list[ProductRows]:
        """Begins a product with its first groups; returns the remaining ones."""
        start = 0
        for end in range(1, len(target.rows) + 1):
            rows = target.rows[start:end]
            answer = beginnings.answer(rows)
            if isinstance(answer, Create) and self._create(target, rows, answer.whole):
                return target.rows[end:]
            if isinstance(answer, Fail):
                for row in rows:
                    row.fail([apply.missing(row.imported, row.line, _lacks(row))])
            if not isinstance(answer, Wait):
                start = end
        return []

    def _continue(self, target: _Target, beginnings: Beginnings) -> list[ProductRows]:
        """The rows, after those that waited for the product until another created it."""
        if target.before is None or ProductOutcome.CREATED in target.done.values():
            return target.rows
        names = {row.product: row for row in target.rows}
        earlier = [row for each in names.values() for row in beginnings.earlier(each)]
        return [*sorted(earlier, key=lambda row: row.line), *target.rows]

    def _create(self, target: _Target, rows: list[ProductRows], whole: ImportedProduct) -> bool:
        """Creates one product, perhaps of rows from several places: one group creates it, the
        others add to it."""
        try:
            target.after = apply.created(whole, target.slug)
        except apply.Refused as refused:
            for row in rows:
                own = [error for error in refused.errors if error.row == row.line]
                row.fail(own or refused.errors)
            return False
        first, *others = rows
        target.outcomes = {
            first: ProductOutcome.CREATED,
            **dict.fromkeys(others, ProductOutcome.UPDATED),
        }
        return True

    def _marked(self, target: _Target) -> Product:
        assert target.after is not None
        rows: dict[str, object] = {
            str(row.line): outcome for row, outcome in target.outcomes.items()
        }
        memory: dict[str, Any] = {
            "job": self.job.id,
            "source": self.source,
            "rows": {**target.done, **rows},
            "left": target.after.etag,
        }
        came_before = not self.source.startswith("chunk#") or len(rows) > 1
        if came_before and self._is_the_files(target.before):
            memory |= {"file": self._file, "line": max(map(int, memory["rows"]))}
        return target.after.remembering(memory)

    def _is_the_files(self, product: Product | None) -> bool:
        """Whether only this import has written the product since the import began."""
        if product is None:
            return True
        memory = product.imported
        if memory.get("job") == self.job.id:
            return bool(memory.get("left") == product.etag)
        return bool(product.fields["updatedAt"] < self.job.fields["startedAt"])


def _read_file(job: ImportJob) -> str:
    """The file, and how the user chose to have it read: with another mapping, it is another one."""
    options = job.options
    sent = [options.mapping, options.format, options.encoding, options.delimiter, options.location]
    return f"{job.etag} {fingerprint(sent)[:16]}" if any(sent) else job.etag


def _by_slug(row: ProductRows, products: Mapping[str, Product]) -> Product | None:
    """The product with the rows' slug, or with the slug of their name."""
    slugs = row.slugs if row.imported.slug else []
    found = (products[slug] for slug in slugs if slug in products)
    return next((product for product in found if row.is_of(product)), None)


def _having(row: ProductRows, by_sku: Mapping[str, list[Product]]) -> list[Product]:
    """The products with the SKU of the rows, or else with any of their variants'."""
    if row.sku and by_sku.get(row.sku):
        return by_sku[row.sku]
    found = {product.id: product for sku in row.skus for product in by_sku.get(sku, ())}
    return list(found.values())


def _lacks(row: ProductRows) -> str:
    return "name" if row.imported.continues else "price"
