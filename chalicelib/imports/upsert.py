"""Products of a file into the catalogue: look up, merge, write; repeated after concurrent changes.

A product remembers the job that wrote it last, and what became of each product of its file that was
this one: `{job, rows: {first line: outcome}}`, and of a retry the `first` job. A repeated worker
finds its results there and counts them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

from chalicelib.imports import apply, catalogue, preview
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import ImportedProduct
from chalicelib.imports.formats.cells import spoilt
from chalicelib.imports.model import ImportJob, ImportMode, ProductOutcome
from chalicelib.problems import Busy, Invalid
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.products.store import ProductChanged, SkuTaken, SlugTaken
from chalicelib.values import slugs

_ROUNDS: Final = 6
_DERIVED: Final = ("updatedAt", "index")

Group = Sequence[CsvRow]  # adjacent rows of one product


class Superseded(Exception):
    """Another worker has finished and counted the chunk."""


@dataclass(eq=False)
class ProductRows:
    """All rows of one product of the file, in groups of adjacent ones, and what becomes of it.

    A group with an error is not read, the others are. `read`: the product that rows describe.
    `failed`: the groups with errors. `slugs`: to look the product up; a new one gets the first free
    slug.
    """

    groups: Sequence[Group]
    read: Callable[[Group], ImportedProduct]
    outcome: ProductOutcome | None = None
    failed: list[tuple[Group, list[RowError]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """As before anything was refused."""
        self.outcome, self.failed = None, []
        self._good = list(self.groups)
        self.refuse(self._read())

    def _read(self) -> list[RowError]:
        """What is wrong with the rows that have had no error so far."""
        self.imported = self.read([row for group in self._good for row in group])
        if not self.imported.errors:
            self.slugs = self._slugs()
        return self.imported.errors

    def refuse(self, errors: Sequence[RowError], *, is_whole: bool = False) -> None:
        """Reads the product again without the groups that have these errors, until the others have
        none. It fails if those are all, or if the errors are the product's as a whole."""
        while errors:
            self._put_aside(errors, is_whole)
            if not self._good:
                self.outcome = ProductOutcome.FAILED
                return
            errors = self._read()

    def _put_aside(self, errors: Sequence[RowError], is_whole: bool) -> None:
        lines = {error.row for error in errors}
        is_whole = is_whole or any(error.code in _OF_THE_WHOLE for error in errors)
        are_faulty = [any(row.line in lines for row in group) for group in self._good]
        if is_whole or not any(are_faulty):
            are_faulty = [True] * len(self._good)
        for group in compress(self._good, are_faulty):
            here = {row.line for row in group}
            own = [error for error in errors if error.row in here]
            self.failed.append((group, own or [errors[0]._replace(row=group[0].line)]))
        self._good = [
            group for group, faulty in zip(self._good, are_faulty, strict=True) if not faulty
        ]

    def fail(self, error: RowError) -> None:
        """The product fails as a whole."""
        self.refuse([error], is_whole=True)

    @property
    def line(self) -> int:
        return self.groups[0][0].line

    @property
    def errors(self) -> list[RowError]:
        """What is wrong with its rows, if anything is."""
        return [error for _, errors in self.failed for error in errors]

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
        return self.slugs[0] if self.imported.slug else f"sku {next(iter(self.skus), None)}"

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

    def error(self, column: str, code: str, message: str) -> RowError:
        return RowError(*self.imported.locate(column), code, message)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


# Errors of a product, whatever its rows are.
_OF_THE_WHOLE: Final = {"missing_name", "missing_price", "exists", "not_found"}


@dataclass
class _Target:
    """A product of the catalogue, or a new one: as it was read, and after the rows for it."""

    before: Product | None
    rows: list[ProductRows]
    slug: str = ""
    after: Product | None = None
    outcomes: dict[ProductRows, ProductOutcome] = field(default_factory=dict)


class Upsert:
    """The products of one chunk.

    `is_running`: called before writes; whether the job is still running. It raises Superseded.
    `is_in_file`: whether the file has a product's own rows.
    """

    def __init__(
        self,
        job: ImportJob,
        is_running: Callable[[], bool],
        is_in_file: Callable[[Product], bool],
    ) -> None:
        self.job = job
        self._is_running = is_running
        self._is_in_file = is_in_file
        # A first import finds nothing by SKU, so it looks nothing up until a concurrent change.
        self._asks_for_skus = bool(job.fields["metProducts"])
        self._left: dict[str, str] = {}  # SKUs, and the products that no longer have them
        self.previews: list[dict[str, object]] = []  # of a dry run

    def run(self, rows: Iterable[ProductRows]) -> None:
        """Gives every product its outcome, unless the job has ended meanwhile."""
        todo = [row for row in rows if row.outcome is None]
        has_written = False
        for _ in range(_ROUNDS):
            targets = self._targets(todo)
            for target in targets:
                self._fold(target)
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
                row.restart()
            if not todo:
                return
        raise Busy

    def _write(self, changed: Sequence[_Target]) -> list[ProductRows]:
        """Writes; returns the rows that must be processed again because of concurrent changes."""
        todo: list[ProductRows] = []
        writes = [(target.before, self._marked(target)) for target in changed]
        failures = catalogue.write(self.job, writes, self._left)
        for target, failure in zip(changed, failures, strict=True):
            if isinstance(failure, ProductChanged | SlugTaken | SkuTaken):
                todo += target.rows
                target.outcomes.clear()
                self._note(failure)
            elif isinstance(failure, Invalid):
                for row in target.outcomes:
                    row.fail(row.error("slug", failure.code, failure.message))
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

    # --- Which product is meant ---

    def _targets(self, rows: list[ProductRows]) -> list[_Target]:
        """The products of the rows. Rows that may be for several products fail."""
        by_slug = products.by_slug(sorted({slug for row in rows for slug in row.slugs}))
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
        by_sku = products.by_sku({sku for row in lost for sku in row.skus})
        named = Counter(sku for row in lost if row.gives_slug for sku in row.skus)
        for row in lost:
            same = _having(row, by_sku)
            if same and (row.gives_slug or row.is_known_by_name):
                # If the file has the product's own rows, this is another product with that SKU.
                same = [product for product in same if not self._is_in_file(product)]
            if not same:
                continue
            sku = next(sku for sku in row.skus if sku in same[0].skus)
            are_several = row.gives_slug and named[sku] > 1
            if len(same) == 1 and not are_several:
                found[row] = same[0]
                continue
            ids = ", ".join(product.id for product in same[:5])
            skus = f'the SKU "{sku}" or another SKU of these rows'
            message = f"{len(same)} products have {skus}: {ids}."
            if are_several:
                message = f"Several products of the file have {skus}, as {ids} has."
            row.fail(row.error("sku", "ambiguous_sku", message))
            del found[row]

    # --- What becomes of it ---

    def _fold(self, target: _Target) -> None:
        """Applies the rows of one product in the order of the file, in memory."""
        done = self._done(target.before)
        for row in sorted(target.rows, key=lambda row: row.line):
            while row.outcome is None:
                try:
                    changed, outcome = self._apply(row, target)
                except apply.Refused as refused:
                    row.refuse(refused.errors)
                    continue
                if str(row.line) in done:
                    outcome = ProductOutcome(done[str(row.line)])
                else:
                    target.after = changed
                target.outcomes[row] = outcome
                break
        before, after = target.before, target.after
        if before and after and len(target.outcomes) > 1 and _is_same(before, after):
            # Several products of the file that are one here may undo what each other did.
            target.after = before
            for row in target.outcomes:
                unchanged = ProductOutcome.UNCHANGED
                target.outcomes[row] = ProductOutcome(done.get(str(row.line), unchanged))

    def _done(self, product: Product | None) -> Mapping[str, str]:
        """What this job did to the product already: the outcome by line."""
        if product is None or product.imported.get("job") != self.job.id:
            return {}
        rows: Mapping[str, str] = product.imported["rows"]
        return rows

    def _apply(self, row: ProductRows, target: _Target) -> tuple[Product, ProductOutcome]:
        product = target.after
        if product is None:
            if self.job.options.mode is ImportMode.UPDATE or row.imported.only_updates:
                what = "import" if self.job.options.mode is ImportMode.UPDATE else "file"
                message = f"There is no such product, and this {what} only updates."
                raise apply.Refused([row.error("slug", "not_found", message)])
            return apply.created(row.imported, target.slug), ProductOutcome.CREATED
        is_ours = target.before is None or _first_of(product) == self.job.first
        if self.job.options.mode is ImportMode.CREATE and not is_ours:
            message = "The product exists, and this import only creates."
            raise apply.Refused([row.error("slug", "exists", message)])
        after = apply.changed(row.imported, product)
        if not self.job.options.allow_zero_prices:
            apply.refuse_zero_prices(row.imported, product, after)
        return after, ProductOutcome.UNCHANGED if after is product else ProductOutcome.UPDATED

    def _marked(self, target: _Target) -> Product:
        assert target.after is not None
        rows = {str(row.line): outcome for row, outcome in target.outcomes.items()}
        memory = {"job": self.job.id, "rows": {**self._done(target.before), **rows}}
        if self.job.first != self.job.id:
            memory["first"] = self.job.first
        return target.after.remembering(memory)


def _first_of(product: Product) -> object:
    """The job that wrote it last, or that was retried for that (`ImportJob.first`)."""
    return product.imported.get("first", product.imported.get("job"))


def _is_same(before: Product, after: Product) -> bool:
    fields = {**after.fields, **{name: before.fields[name] for name in _DERIVED}}
    return fields == before.fields and after.quantities == before.quantities


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
