"""Products of a file into the catalogue: look up, merge, write; repeated after concurrent changes.

A product remembers the job that wrote it last, and what became of each product of its file that was
this one: `{job, rows: {first line: outcome}}`, and of a retry the `first` job. A repeated worker
finds its results there and counts them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Final

from chalicelib.files.store import PictureNotReady
from chalicelib.imports import apply, catalogue, preview
from chalicelib.imports.chunks import ChunkProduct, Group
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.groups import name_key
from chalicelib.imports.formats import ImportedProduct
from chalicelib.imports.formats.cells import is_spoilt
from chalicelib.imports.model import ImportJob, ImportMode, ProductOutcome
from chalicelib.problems import Busy, Invalid
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.products.store import ProductChanged, SkuTaken, SlugTaken
from chalicelib.values import slugs

_ROUNDS: Final = 6
_DERIVED: Final = ("updatedAt", "index")
# Errors of a product, whatever its rows are.
_OF_THE_WHOLE: Final = {"missing_name", "missing_price", "exists", "not_found"}

Read = Callable[[Group], ImportedProduct]  # what rows say of their product
Results = list[tuple["FileProduct", ProductOutcome]]


class Superseded(Exception):
    """Another worker has finished and counted the chunk."""


@dataclass(eq=False)
class FileProduct:
    """What the rows of one product say, the first of which is on `line`.

    `groups`: those whose rows have no errors; `imported`: what they say (if there are none, what
    the last ones said); `failed`: the other groups, with their errors.
    """

    line: int
    groups: Sequence[Group]
    imported: ImportedProduct
    failed: Sequence[tuple[Group, list[RowError]]] = ()

    @property
    def errors(self) -> list[RowError]:
        """The errors of all its groups of rows that failed."""
        return [error for _, errors in self.failed for error in errors]

    @cached_property
    def slugs(self) -> list[str]:
        """The slugs by which the product is looked up; a new one gets the first that is free.

        A slug that the rows give, or that is made of a SKU, is the only one. A name has two: its
        plain one, and one with a checksum of the SKU or of the name.
        """
        slug, name = self.imported.slug, self.name or ""
        if self.gives_slug and slug:
            return [slug]
        if slug and not self.is_known_by_name:
            # Made from a SKU: slugs of two long SKUs must stay distinct.
            return [slug if len(slug) <= slugs.LONGEST else slugs.add_checksum(slug, slug)]
        plain = slugs.of_name(name)
        return [plain, slugs.add_checksum(plain, self.sku or _fold_name(name))]

    @property
    def identity(self) -> str:
        """What tells a new product from others of the file: `name …`, its slug, or `sku …`."""
        if self.is_known_by_name:
            return f"name {_fold_name(self.name or '')}"
        return self.slugs[0] if self.imported.slug else f"sku {next(iter(self.skus), None)}"

    @property
    def gives_slug(self) -> bool:
        """Whether a cell of the rows has the slug; otherwise it may be made of other cells."""
        return "slug" in self.imported.values

    @property
    def is_known_by_name(self) -> bool:
        """Whether the rows identify their product by name only."""
        slug = self.imported.slug
        is_slug_made = slug is not None and not self.gives_slug and not self.sku
        return is_slug_made and slug == slugs.plain(self.name or "")

    def means(self, product: Product) -> bool:
        """Return whether a product with one of the slugs is meant: two names may have one slug."""
        name = product.fields["name"]
        return not self.is_known_by_name or _fold_name(name) == _fold_name(self.name or "")

    @property
    def name(self) -> str | None:
        """The name that the file gives; None if it gives none."""
        name: str | None = self.imported.values.get("name")
        return name

    @property
    def sku(self) -> str | None:
        """The product's SKU that the file gives; None if it gives none."""
        sku: str | None = self.imported.values.get("sku")
        return sku

    @property
    def skus(self) -> list[str]:
        """The SKUs of the product and of its variants, each once, without spoilt ones."""
        variants = self.imported.values.get("variants", ())
        skus = [self.sku, *(variant.get("sku") for variant in variants)]
        return list(dict.fromkeys(sku for sku in skus if sku and not is_spoilt(sku)))

    @property
    def names(self) -> dict[str, str | None]:
        """The names of the product in the rows: `{slug, sku, name}`, each None if there is none."""
        variants = self.imported.values.get("variants", ())
        sku = self.sku or next((v["sku"] for v in variants if v.get("sku")), None)
        return {"slug": self.imported.slug or None, "sku": sku, "name": self.name}

    def build_error(self, column: str, code: str, message: str) -> RowError:
        """Return an error of this code at the row and column that gave the value `column`.

        If no cell gave it, at the product's first row.
        """
        return RowError(*self.imported.locate(column), code, message)


def read_product(groups: Sequence[Group], read: Read) -> FileProduct:
    """Read the rows of a product; groups with errors are put in `failed`, the others read again.

    Nothing is looked up.
    """
    imported = read([row for group in groups for row in group])
    return refuse(FileProduct(groups[0][0].line, groups, imported), imported.errors, read)


def refuse(
    product: FileProduct, errors: Sequence[RowError], read: Read, *, is_whole: bool = False
) -> FileProduct:
    """Return the product with the groups that have these errors in `failed`, the others read anew.

    The remaining groups are read until they have no errors; `failed` keeps what it has. None
    remains if the errors are of the product as a whole (`is_whole`, or their codes say so).
    """
    while errors:
        groups, failed = _part_groups(product.groups, errors, is_whole)
        imported = read([row for group in groups for row in group]) if groups else product.imported
        product = FileProduct(product.line, groups, imported, [*product.failed, *failed])
        errors = imported.errors if groups else ()
    return product


def _part_groups(
    groups: Sequence[Group], errors: Sequence[RowError], is_whole: bool
) -> tuple[list[Group], list[tuple[Group, list[RowError]]]]:
    """Return the groups without errors, and (group, its errors) of the faulty ones.

    All groups are faulty if `is_whole`, if the code of one error is of the whole product, or if no
    error is at a row of any group. A faulty group that has no error at its rows gets the first of
    all, at its first row.
    """
    lines = {error.row for error in errors}
    are_faulty = [any(row.line in lines for row in group) for group in groups]
    is_whole = is_whole or any(error.code in _OF_THE_WHOLE for error in errors)
    if is_whole or not any(are_faulty):
        are_faulty = [True] * len(groups)
    failed = []
    for group in compress(groups, are_faulty):
        here = {row.line for row in group}
        own = [error for error in errors if error.row in here]
        failed.append((group, own or [errors[0]._replace(row=group[0].line)]))
    return [group for group, faulty in zip(groups, are_faulty, strict=True) if not faulty], failed


def own_keys(product: Product) -> tuple[str, str]:
    """Return the keys by which the product's own rows would name it: its slug, its name's key."""
    return product.slug, name_key(product.fields["name"])


def _fold_name(name: str) -> str:
    """Return a name for comparison: in one case, with single blanks."""
    return " ".join(name.casefold().split())


@dataclass
class _Target:
    """A product of the catalogue, or a new one: as it was read, and after what the file says of it.

    `results`: the file's products that are this one, as they were read at last.
    """

    before: Product | None
    products: list[FileProduct]
    slug: str = ""
    after: Product | None = None
    results: Results = field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, ProductOutcome]:
        """The outcome of each product of the file that did not fail, by its line."""
        return {
            str(product.line): outcome
            for product, outcome in self.results
            if outcome is not ProductOutcome.FAILED
        }


class Upsert:
    """The products of one chunk.

    `read`: what rows say. `is_running`: called before writes; whether the job is still running. It
    raises Superseded. `is_in_file`: whether the file has a product's own rows.
    """

    def __init__(
        self,
        job: ImportJob,
        read: Read,
        is_running: Callable[[], bool],
        is_in_file: Callable[[Product], bool],
    ) -> None:
        self.job = job
        self._read = read
        self._is_running = is_running
        self._is_in_file = is_in_file
        # A first import finds nothing by SKU, so it looks nothing up until a concurrent change.
        self._asks_for_skus = bool(job.fields["metProducts"])
        self._left: dict[str, str] = {}  # SKUs, and the products that no longer have them
        self._results: Results = []
        self.previews: list[dict[str, object]] = []  # of a dry run

    def run(self, chunk: Iterable[ChunkProduct]) -> Results:
        """Write the products of a chunk; return each product of the file with its outcome.

        Products that are not in the result were not written, as the job has ended meanwhile; those
        that need no writing are in it even then. A product that is too large, or of which no row
        can be read, is FAILED. After conflicts, products are read and written again; raises Busy
        after too many rounds, and Superseded. A dry run writes nothing, and adds to `previews`.
        """
        todo = []
        for line, groups, error in chunk:
            if not groups and error is not None:  # it is too large
                unread = FileProduct(line, [], ImportedProduct(line), [([], [error])])
                self._results.append((unread, ProductOutcome.FAILED))
                continue
            product = read_product(groups, self._read)
            if error is not None:
                self._fail_product(product, error)
            elif product.groups:
                todo.append(product)
            else:
                self._results.append((product, ProductOutcome.FAILED))
        has_written = False
        for _ in range(_ROUNDS):
            targets = self._find_targets(todo)
            for target in targets:
                self._apply_in_order(target)
            changed = [target for target in targets if target.after is not target.before]
            if changed and not self._is_running() and not has_written:
                # What an earlier run has written is counted; nothing more is.
                targets, changed = [t for t in targets if t.after is t.before], []
            has_written = has_written or bool(changed)
            todo = self._write_changed(changed)
            for target in targets:
                self._results += target.results
            if not todo:
                return self._results
        raise Busy

    def _fail_product(self, product: FileProduct, error: RowError) -> None:
        """Add a product to the results as FAILED, with this error for each of its groups."""
        failed = refuse(product, [error], self._read, is_whole=True)
        self._results.append((failed, ProductOutcome.FAILED))

    def _write_changed(self, changed: Sequence[_Target]) -> list[FileProduct]:
        """Write the changed products.

        Return the products of the file that met a conflict, to do again. Each is written with the
        job's outcomes (`_mark_product`). A target with a conflict has no results any more; a
        product that cannot be written is added to the results as FAILED. In a dry run nothing is
        written, and previews are made. Raises any other failure.
        """
        todo: list[FileProduct] = []
        writes = [(target.before, self._mark_product(target)) for target in changed]
        failures = catalogue.write_products(self.job, writes, self._left)
        for target, failure in zip(changed, failures, strict=True):
            if isinstance(failure, ProductChanged | SlugTaken | SkuTaken):
                todo += target.products
                target.results.clear()
                self._note_conflict(failure)
            elif isinstance(failure, Invalid | PictureNotReady):
                for product, _ in target.results:
                    self._fail_product(
                        product, product.build_error("slug", failure.code, failure.message)
                    )
                target.results.clear()
            elif failure is not None:
                raise failure
            elif self.job.is_dry_run and target.after:
                line = min(map(int, target.outcomes))
                self.previews.append(preview.make_preview(line, target.before, target.after))
        return todo

    def _note_conflict(self, failure: Exception) -> None:
        """Note that a write met a concurrent change, so that the next round asks for SKUs first.

        For a SkuTaken, also note which product had the SKU. Other failures are handled alike.
        Nothing is raised: the caller only passes conflicts.
        """
        self._asks_for_skus = True
        if isinstance(failure, SkuTaken):
            # If the next round finds nothing by that SKU, its product was deleted, or has another
            # SKU.
            self._left[failure.sku] = failure.product_id

    # --- Which product is meant ---

    def _find_targets(self, products_of_file: list[FileProduct]) -> list[_Target]:
        """Look up the products that are meant; return one target for each, also for each new one.

        They are looked up by slug, then, unless the catalogue was empty at first, by SKU. Products
        of the file that are one of the catalogue, or one new one, share a target. A new one gets
        its slug here. Those that may mean several of the catalogue fail.
        """
        by_slug = products.find_by_slugs(
            sorted({slug for each in products_of_file for slug in each.slugs})
        )
        meant = {each: _find_by_slug(each, by_slug) for each in products_of_file}
        if self._asks_for_skus:
            self._find_by_sku(meant)
        targets: dict[str, _Target] = {}
        for each, product in meant.items():
            key = product.id if product else each.identity
            targets.setdefault(key, _Target(product, [], after=product)).products.append(each)
        taken = {
            each.slugs[0] for each in products_of_file if len(each.slugs) == 1
        } | by_slug.keys()
        for target in targets.values():
            *others, last = target.products[0].slugs
            target.slug = next((slug for slug in others if slug not in taken), last)
            taken.add(target.slug)
        return list(targets.values())

    def _find_by_sku(self, meant: dict[FileProduct, Product | None]) -> None:
        """Look up by SKU what was not found by slug, and put it into `meant`.

        What gives a slug or a name of its own is another product if the file has the found one's
        own rows. A product that may be several of the catalogue is removed from `meant`, and added
        to the results as FAILED.
        """
        lost = [each for each in meant if meant[each] is None and each.skus]
        by_sku = products.find_by_skus({sku for each in lost for sku in each.skus})
        named = Counter(sku for each in lost if each.gives_slug for sku in each.skus)
        for each in lost:
            same = products.select_by_skus(each.sku, each.skus, by_sku)
            if same and (each.gives_slug or each.is_known_by_name):
                # If the file has the product's own rows, this is another product with that SKU.
                same = [product for product in same if not self._is_in_file(product)]
            if not same:
                continue
            sku = next(sku for sku in each.skus if sku in same[0].skus)
            are_several = each.gives_slug and named[sku] > 1
            if len(same) == 1 and not are_several:
                meant[each] = same[0]
                continue
            ids = ", ".join(product.id for product in same[:5])
            skus = f'the SKU "{sku}" or another SKU of these rows'
            message = f"{len(same)} products have {skus}: {ids}."
            if are_several:
                message = f"Several products of the file have {skus}, as {ids} has."
            self._fail_product(each, each.build_error("sku", "ambiguous_sku", message))
            del meant[each]

    # --- What becomes of it ---

    def _apply_in_order(self, target: _Target) -> None:
        """Set a target's `after` and `results`: its product as the file says, in the file's order.

        Nothing is written. Groups of rows that are refused become errors. What an earlier run of
        the job did keeps its outcome. If products of the file together change nothing, all are
        UNCHANGED.
        """
        done = self._load_outcomes(target.before)
        for each in sorted(target.products, key=lambda each: each.line):
            product, outcome = each, ProductOutcome.FAILED
            while product.groups:
                try:
                    changed, outcome = self._apply_product(product, target)
                except apply.Refused as refused:
                    product = refuse(product, refused.errors, self._read)
                    continue
                if str(product.line) in done:
                    outcome = ProductOutcome(done[str(product.line)])
                else:
                    target.after = changed
                break
            target.results.append((product, outcome))
        before, after = target.before, target.after
        outcomes = target.outcomes
        if before and after and len(outcomes) > 1 and _is_same(before, after):
            # Several products of the file that are one here may undo what each other did.
            target.after = before
            unchanged = {line: done.get(line, ProductOutcome.UNCHANGED) for line in outcomes}
            target.results = [
                (product, ProductOutcome(unchanged.get(str(product.line), outcome)))
                for product, outcome in target.results
            ]

    def _load_outcomes(self, product: Product | None) -> Mapping[str, str]:
        """Return {line: outcome} that an earlier run of this job stored with the product.

        {} for none. It is in the product that was read; nothing is read here.
        """
        if product is None or product.import_memory.get("job") != self.job.id:
            return {}
        rows: Mapping[str, str] = product.import_memory["rows"]
        return rows

    def _apply_product(self, each: FileProduct, target: _Target) -> tuple[Product, ProductOutcome]:
        """Return the target's product after one product of the file, and the outcome.

        Write nothing. The same object if nothing differs: UNCHANGED. Raises Refused for what the
        mode, or the rows, do not allow: a price that becomes 0, for instance.
        """
        product = target.after
        if product is None:
            if self.job.options.mode is ImportMode.UPDATE or each.imported.only_updates:
                subject = "import" if self.job.options.mode is ImportMode.UPDATE else "file"
                message = f"There is no such product, and this {subject} only updates."
                raise apply.Refused([each.build_error("slug", "not_found", message)])
            return apply.create_product(each.imported, target.slug), ProductOutcome.CREATED
        is_ours = target.before is None or _first_job_of(product) == self.job.first_job_id
        if self.job.options.mode is ImportMode.CREATE and not is_ours:
            message = "The product exists, and this import only creates."
            raise apply.Refused([each.build_error("slug", "exists", message)])
        after = apply.change_product(each.imported, product)
        if not self.job.options.allow_zero_prices:
            apply.refuse_zero_prices(each.imported, product, after)
        return after, ProductOutcome.UNCHANGED if after is product else ProductOutcome.UPDATED

    def _mark_product(self, target: _Target) -> Product:
        """Return the changed product with this job's outcomes by line, so a rerun is harmless."""
        assert target.after is not None
        rows = {**self._load_outcomes(target.before), **target.outcomes}
        memory = {"job": self.job.id, "rows": rows}
        if self.job.first_job_id != self.job.id:
            memory["first"] = self.job.first_job_id
        return target.after.remembering(memory)


def _first_job_of(product: Product) -> object:
    """Return the id of the job that wrote a product last, or of the first that it retries.

    None if no import did. See `ImportJob.first_job_id`.
    """
    return product.import_memory.get("first", product.import_memory.get("job"))


def _is_same(before: Product, after: Product) -> bool:
    """Return whether two versions differ at most in `updatedAt` and `index`.

    Stock is compared too.
    """
    fields = {**after.fields, **{name: before.fields[name] for name in _DERIVED}}
    return fields == before.fields and after.quantities == before.quantities


def _find_by_slug(each: FileProduct, products: Mapping[str, Product]) -> Product | None:
    """Return the first product that has one of the slugs of the rows and is meant; None for none.

    None also if the rows are looked up by SKU alone. `products`: by slug.
    """
    slugs = each.slugs if each.imported.slug else []
    candidates = (products[slug] for slug in slugs if slug in products)
    return next((product for product in candidates if each.means(product)), None)
