"""Groups of rows into the catalogue: look up, merge, write; again where somebody was faster.

A product remembers which rows of which job it took last, and the version that they left:
`{job, source, rows: {line: outcome}, left}`. A worker that comes again finds there what it did, and
counts that. Of a file with several groups for it, it also remembers the `file`, by its ETag, and
the last `line` at which one began: if that file comes again, those before it change nothing.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from chalicelib.imports import apply
from chalicelib.imports.catalogue import Catalogue, catalogue
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats import Dialect, ImportedProduct, Shop
from chalicelib.imports.model import Job, Mode, Outcome
from chalicelib.problems import Busy, Invalid
from chalicelib.products.model import Product, slug_from
from chalicelib.products.store import Changed, SlugTaken

_ROUNDS: Final = 6
_LONGEST_SLUG: Final = 120


Held = bool | ImportedProduct


class Superseded(Exception):
    """The chunk was finished by another: nothing is left to be done or counted."""


@dataclass(eq=False)
class Rows:
    """One group of rows, and what became of it. `errors`: why it failed."""

    line: int
    records: Sequence[Record]
    imported: ImportedProduct
    outcome: Outcome | None = None
    errors: list[RowError] = field(default_factory=list)

    @classmethod
    def of(cls, records: Sequence[Record], dialect: Dialect, shop: Shop) -> "Rows":
        imported = dialect.product(records, shop)
        rows = cls(records[0].line, records, imported)
        if imported.errors:
            rows.fail(imported.errors)
        elif imported.slug and len(imported.slug) > _LONGEST_SLUG and not _gives_slug(imported):
            # Made from a name or a SKU: the slug of two long names must stay two.
            mark = f"{zlib.crc32(imported.slug.encode()):08x}"
            short = f"{imported.slug[:_LONGEST_SLUG].strip('-')}-{mark}"
            imported.slug = imported.if_new["slug"] = short
        return rows

    @property
    def product(self) -> str:
        """The identity that the rows give their product."""
        return self.imported.slug or f"sku {self.sku}"

    @property
    def sku(self) -> str | None:
        sku: str | None = self.imported.values.get("sku")
        return sku

    @property
    def is_incomplete(self) -> bool:
        """Whether a new product cannot be made of these rows alone."""
        return self.imported.continues or self.imported.awaits_variants

    def fail(self, errors: list[RowError]) -> None:
        self.outcome, self.errors = Outcome.FAILED, errors

    def error(self, column: str, code: str, message: str) -> RowError:
        return RowError(*self.imported.locate(column), code, message)


def _gives_slug(imported: ImportedProduct) -> bool:
    return "slug" in imported.values


@dataclass
class _Target:
    """A product that some rows are about: as it was read, and as it is to be."""

    before: Product | None
    rows: list[Rows]
    slug: str = ""
    after: Product | None = None
    outcomes: dict[Rows, Outcome] = field(default_factory=dict)
    done: Mapping[str, str] = field(default_factory=dict)


class Upsert:
    """The groups of one chunk. `source` orders the chunks of a job, and names this one.

    `goes_on` is asked before writes: whether the job is still running. It raises Superseded.
    """

    def __init__(self, job: Job, source: str, goes_on: Callable[[], bool]) -> None:
        self.job = job
        self.source = source
        self._goes_on = goes_on
        self._catalogue: Catalogue = catalogue(job)
        # A first import finds nothing by SKU, and asks for nothing.
        self._asks_for_skus = job.met_products or not source.startswith("chunk#")

    def run(self, rows: Iterable[Rows], held: Callable[[list[Rows]], Held]) -> None:
        """Gives every group its outcome, unless it is held back, or the job has ended meanwhile.

        `held` is asked about the first groups of a product that does not exist: one, then one more.
        It answers whether they are to stay without an outcome, or one product to be made of them
        and of others.
        """
        todo = [row for row in rows if row.outcome is None]
        has_written = False
        for _ in range(_ROUNDS):
            targets = self._targets(todo)
            for target in targets:
                self._fold(target, held)
            changed = [target for target in targets if target.after is not target.before]
            if changed and not self._goes_on() and not has_written:
                # What an earlier run has written is counted; nothing more is.
                targets, changed = [t for t in targets if t.after is t.before], []
            has_written = has_written or bool(changed)
            todo = []
            failures = self._catalogue.write([(t.before, self._marked(t)) for t in changed])
            for target, failure in zip(changed, failures, strict=True):
                if isinstance(failure, Changed | SlugTaken):
                    todo += target.rows
                    target.outcomes.clear()
                elif isinstance(failure, Invalid):
                    for row in target.rows:
                        row.fail([row.error("slug", failure.code, failure.message)])
                    target.outcomes.clear()
                elif failure is not None:
                    raise failure
            for target in targets:
                for row, outcome in target.outcomes.items():
                    row.outcome = outcome
            for row in todo:
                row.outcome, row.errors = None, []
            if not todo:
                return
        raise Busy

    def _targets(self, rows: list[Rows]) -> list[_Target]:
        """The products that the rows are about. Rows whose SKU two products have fail."""
        by_slug = self._catalogue.by_slug(sorted({slug for row in rows for slug in _slugs(row)}))
        found: dict[Rows, Product | None] = {}
        for row in rows:
            found[row] = by_slug.get(row.imported.slug) if row.imported.slug else None
        if self._asks_for_skus:
            self._find_by_sku(found)
        targets: dict[str, _Target] = {}
        for row, at_hand in found.items():
            product = at_hand or self._own(row, by_slug)
            key = product.id if product else row.product
            targets.setdefault(key, _Target(product, [], after=product)).rows.append(row)
        taken = {row.imported.slug for row in rows} | by_slug.keys()
        for target in targets.values():
            plain, *other = _slugs(target.rows[0])
            target.slug = other[0] if other and plain in taken else plain
            taken.add(target.slug)
        return list(targets.values())

    def _find_by_sku(self, found: dict[Rows, Product | None]) -> None:
        lost = [row for row in found if found[row] is None and row.sku]
        by_sku = self._catalogue.by_sku({row.sku for row in lost if row.sku}) if lost else {}
        for row in lost:
            same = by_sku[row.sku or ""]
            if len(same) > 1:
                ids = ", ".join(product.id for product in same[:5])
                message = f'{len(same)} products have the SKU "{row.sku}": {ids}.'
                row.fail([row.error("sku", "ambiguous_sku", message)])
                del found[row]
            elif same:
                found[row] = same[0]

    def _own(self, row: Rows, by_slug: Mapping[str, Product]) -> Product | None:
        """What an earlier run of this chunk made of rows that say no slug."""
        if not row.imported.slug:
            for slug in _slugs(row):
                if slug in by_slug and str(row.line) in self._done(by_slug[slug]):
                    return by_slug[slug]
        return None

    def _done(self, product: Product) -> Mapping[str, str]:
        """What an earlier run of this chunk did to the product: the outcome of each group."""
        memory = product.imported
        if memory.get("job") == self.job.id and memory["source"] == self.source:
            rows: Mapping[str, str] = memory["rows"]
            return rows
        return {}

    def _fold(self, target: _Target, held: Callable[[list[Rows]], Held]) -> None:
        """Applies the groups of one product in the order of the file, in memory."""
        if target.before is not None:
            target.done = self._done(target.before)
            memory = target.before.imported
            if memory.get("job") == self.job.id and memory["source"] > self.source:
                self._goes_on()  # a later chunk has begun: is this one finished, and I am late?
        is_new = target.before is None and self.job.mode is not Mode.UPDATE
        for row in self._begin(target, held) if is_new else target.rows:
            try:
                target.after, target.outcomes[row] = self._apply(row, target)
            except apply.Refused as refused:
                row.fail(refused.errors)

    def _apply(self, row: Rows, target: _Target) -> tuple[Product | None, Outcome]:
        product = target.after
        if str(row.line) in target.done:
            return product, Outcome(target.done[str(row.line)])
        if product is None:
            if self.job.mode is Mode.UPDATE:
                message = "There is no such product, and this import only updates."
                raise apply.Refused([row.error("slug", "not_found", message)])
            return apply.created(row.imported, target.slug), Outcome.CREATED
        is_ours = target.before is None or product.imported.get("job") == self.job.id
        if self.job.mode is Mode.CREATE and not is_ours:
            message = "The product exists, and this import only creates."
            raise apply.Refused([row.error("slug", "exists", message)])
        after = apply.changed(row.imported, product)
        if after is product or self._was_followed(row, product):
            return product, Outcome.UNCHANGED
        return after, Outcome.UPDATED

    def _was_followed(self, row: Rows, product: Product) -> bool:
        """Whether an earlier import of this very file went on behind the row, and left the product
        as it is: then a later row decides."""
        memory = product.imported
        is_same_file = memory.get("file") == self.job.etag and memory["job"] != self.job.id
        return is_same_file and row.line < memory["line"] and memory["left"] == product.etag

    def _begin(self, target: _Target, held: Callable[[list[Rows]], Held]) -> list[Rows]:
        """Begins a product with its first groups, if they take others; answers those to follow."""
        start = 0
        for end in range(1, len(target.rows) + 1):
            rows = target.rows[start:end]
            answer = held(rows)
            if not answer:
                return target.rows[start:]
            if isinstance(answer, ImportedProduct):
                if self._create_whole(target, rows, answer):
                    return target.rows[end:]
                start = end
        return []

    def _create_whole(self, target: _Target, rows: list[Rows], whole: ImportedProduct) -> bool:
        """One product of rows from several places: one group creates it, the others add to it."""
        try:
            target.after = apply.created(whole, target.slug)
        except apply.Refused as refused:
            for row in rows:
                own = [error for error in refused.errors if error.row == row.line]
                row.fail(own or refused.errors)
            return False
        first, *others = rows
        target.outcomes = {first: Outcome.CREATED, **dict.fromkeys(others, Outcome.UPDATED)}
        return True

    def _marked(self, target: _Target) -> Product:
        assert target.after is not None
        rows: dict[str, Any] = {str(row.line): outcome for row, outcome in target.outcomes.items()}
        memory: dict[str, Any] = {
            "job": self.job.id,
            "source": self.source,
            "rows": {**target.done, **rows},
            "left": target.after.etag,
        }
        came_before = not self.source.startswith("chunk#") or len(rows) > 1
        if came_before and self._is_the_files(target.before):
            memory |= {"file": self.job.etag, "line": max(map(int, memory["rows"]))}
        return target.after.remembering(memory)

    def _is_the_files(self, product: Product | None) -> bool:
        """Whether nobody but this import has written the product since it began."""
        if product is None:
            return True
        memory = product.imported
        if memory.get("job") == self.job.id:
            return bool(memory.get("left") == product.etag)
        return bool(product.fields["updatedAt"] < self.job.fields["startedAt"])


def _slugs(row: Rows) -> list[str]:
    """The slug of a new product, or, where the rows give none, those that it may get: two products
    may have one name, and a worker that comes again must come to the same."""
    if row.imported.slug:
        return [row.imported.slug]
    plain = row.imported.if_new.get("slug") or slug_from(row.imported.values.get("name", ""))
    plain = plain[:_LONGEST_SLUG].strip("-")
    mark = f"{zlib.crc32((row.sku or '').encode()):08x}"
    return [plain, f"{plain}-{mark}"]
