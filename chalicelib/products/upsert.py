"""Rows of a request into the catalogue: each is found, merged and written, or created.

A row is the product with its `id`; else the one with its `externalId`, or with a variant that has
it; else the only one with its SKU, or with one of its variants'. What a row does not name stays,
variants too. If its SKU or `externalId` is that of one variant of several, its price, SKU and
`externalId` are that variant's.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chalicelib.listing import external_ids
from chalicelib.problems import Busy, Invalid, NotFound, Problem
from chalicelib.products import bulk, merge, store
from chalicelib.products.model import KIND, Product
from chalicelib.products.schemas import (
    MOST_IMAGES,
    MOST_VARIANTS,
    BulkMode,
    NewProduct,
    ProductRow,
)
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit, send_all
from chalicelib.storage.idempotency import Begun
from chalicelib.validation import validate
from chalicelib.values.batches import batches

_AT_ONCE: Final = 50  # rows that are read and written together
_ROUNDS: Final = 6

Outcome = tuple[str, Product | Problem]  # what became of a row: "created", "updated", …
_Rows = Mapping[int, Fields]  # by their place in the request


@dataclass
class _Target:
    """A product of the catalogue, or a new one (`before` None), before and after its rows."""

    before: Product | None
    after: Product | None
    outcomes: dict[int, Outcome] = field(default_factory=dict)


class BulkUpsert:
    """The rows of one request.

    `begun`: a repeatable request: what it created before is found, not created again. `is_dry`:
    nothing is written, and each row is compared with the shop as it is.
    """

    def __init__(self, mode: BulkMode, begun: Begun | None = None, *, is_dry: bool = False) -> None:
        self._mode, self._begun, self._is_dry = mode, begun, is_dry
        self._left: dict[str, list[str]] = {}  # SKUs, and products that no longer have them

    def run(self, rows: Sequence[ProductRow | Problem], ends: float = math.inf) -> list[Outcome]:
        """Write these rows and return the outcome of each.

        `ends`: a deadline on the clock `time.monotonic`; the rows after it are NotReached.
        """
        outcomes: dict[int, Outcome] = {
            place: ("error", row) for place, row in enumerate(rows) if isinstance(row, Problem)
        }
        given = {n: row.sent_fields() for n, row in enumerate(rows) if not isinstance(row, Problem)}
        for places in batches(list(given), _AT_ONCE):
            if time.monotonic() > ends:
                outcomes |= dict.fromkeys(places, ("error", bulk.NotReached()))
            else:
                outcomes |= self._write_rows({place: given[place] for place in places})
        return [outcomes[place] for place in range(len(rows))]

    def _write_rows(self, rows: _Rows) -> dict[int, Outcome]:
        """Write some rows, and return the outcome of each.

        Rows of products that others write at the same moment are read and written again, Busy after
        `_ROUNDS`. Raise what is no Problem.
        """
        outcomes: dict[int, Outcome] = {}
        for _ in range(_ROUNDS):
            targets = self._apply_rows(rows)
            changed = [one for one in targets if one.after and one.after is not one.before]
            failures = (
                _find_conflicts(changed) if self._is_dry else send_all(self._build_commits(changed))
            )
            for target, failure in zip(changed, failures, strict=True):
                if isinstance(failure, store.SkuTaken):
                    self._left[failure.sku] = [failure.product_id]
                gives_slug = any(rows[place].get("slug") for place in target.outcomes)
                if _is_of_others(failure, target, gives_slug=gives_slug):
                    target.outcomes.clear()  # the next round reads them again
                elif isinstance(failure, Problem):
                    _fail_target(target, failure)
                elif failure is not None:
                    raise failure
            for target in targets:
                outcomes |= target.outcomes
            rows = {place: row for place, row in rows.items() if place not in outcomes}
            if not rows:
                return outcomes
        return outcomes | dict.fromkeys(rows, ("error", Busy()))

    def _build_commits(self, changed: Iterable[_Target]) -> list[Commit]:
        """Return the commit of each product that differs, not sent."""
        return [
            store.build_commit(target.before, target.after, once=self._left) for target in changed
        ]

    # --- Which product is meant ---

    def _apply_rows(self, rows: _Rows) -> list[_Target]:
        """Return the products of these rows, after all of their rows, in memory."""
        found = self._find_products(rows)
        new = {place: rows[place] for place, product in found.items() if product is None}
        named = {place: row for place, row in new.items() if row.get("name")}
        slugs = dict(zip(named, bulk.choose_slugs(list(named.values())), strict=True))
        targets: dict[object, _Target] = {}
        known_as: dict[str, object] = {}  # of new products: each name, and the key of the target
        for place, row in rows.items():
            product, names = found[place], list(_identities(row))
            identity = next((known_as[name] for name in names if name in known_as), place)
            key = product.id if isinstance(product, Product) else identity
            known_as |= dict.fromkeys(names, key) if product is None else {}
            is_alone = self._is_dry or isinstance(product, Problem)
            known = None if isinstance(product, Problem) else product
            target = targets.setdefault(place if is_alone else key, _Target(known, known))
            try:
                if isinstance(product, Problem):
                    raise product
                target.outcomes[place] = self._apply_row(row, place, slugs.get(place, ""), target)
            except Problem as problem:
                target.outcomes[place] = "error", problem
        return list(targets.values())

    def _apply_row(self, row: Fields, place: int, slug: str, target: _Target) -> Outcome:
        """Return what becomes of the row of a target. Raise a Problem."""
        if target.after is None:
            if self._mode is BulkMode.UPDATE or row.get("id"):
                raise NotFound.for_id("product", str(row.get("id") or next(_identities(row), "")))
            new = validate(NewProduct, {k: v for k, v in row.items() if k != "id"}).sent_fields()
            id = self._begun.id("prod", place) if self._begun else None
            target.after = store.draft_product(new, slug, id)
            return "created", target.after
        after = store.preview_update(target.after, _merge_row(row, target.after), exactly=True)
        is_same, target.after = after is target.after, after
        was_created = self._begun and after.id == self._begun.id("prod", place)
        return "created" if was_created else "unchanged" if is_same else "updated", after

    def _find_products(self, rows: _Rows) -> dict[int, Product | Problem | None]:
        """Return the product of each row; None: there is none, or a Problem: there are several."""
        ids = {place: str(row["id"]) for place, row in rows.items() if row.get("id")}
        rest = {place: row for place, row in rows.items() if place not in ids}
        wanted = {row["externalId"] for row in rest.values() if row.get("externalId")}
        holders = external_ids.find_records_by_external_id(KIND.identified, wanted)
        for place, row in rest.items():
            if holder := holders.get(row.get("externalId") or ""):
                ids[place] = holder
            elif self._begun and self._begun.again:
                ids[place] = self._begun.id("prod", place)
        there = {product.id: product for product in store.load(dict.fromkeys(ids.values()))}
        found = {place: there.get(ids.get(place, "")) for place in rows}
        lost = {place: row for place, row in rest.items() if found[place] is None}
        by_sku = store.find_by_skus({sku for row in lost.values() for sku in _list_skus(row)})
        return {**found, **{place: _find_only(row, by_sku) for place, row in lost.items()}}


def _find_conflicts(changed: Sequence[_Target]) -> list[Exception | None]:
    """Return the Problem that writing each of these would have in the shop as it is, or None."""
    pairs = [(one.before, one.after) for one in changed if one.after]
    slugs_taken = store.taken_slugs(after.slug for _, after in pairs)
    holders = external_ids.find_holders(at for _, after in pairs for at in after.external_ids)
    conflicts = list[Exception | None]()
    for before, after in pairs:
        try:
            bulk.refuse_conflicts(before, after, slugs_taken, holders)
        except Problem as problem:
            conflicts.append(problem)
        else:
            conflicts.append(None)
    return conflicts


def _is_of_others(failure: Exception | None, target: _Target, *, gives_slug: bool) -> bool:
    """Return whether a write failed because of what others wrote since its rows were read.

    An `externalId` of a new product was free then. `gives_slug`: a row chose the slug.
    """
    if isinstance(failure, external_ids.ExternalIdTaken):
        return target.before is None and failure.extra["field"] == "externalId"
    if isinstance(failure, store.SlugTaken):
        return not gives_slug
    return isinstance(failure, store.SkuTaken | store.ProductChanged)


def _fail_target(target: _Target, failure: Problem) -> None:
    """Note that nothing was written of a product, except rows that had failed already."""
    for place, (_, outcome) in target.outcomes.items():
        if isinstance(outcome, Product):
            target.outcomes[place] = "error", failure


def _list_skus(row: Fields) -> list[str]:
    """Return the row's own SKU and its variants', each once."""
    skus = [row.get("sku"), *(variant.get("sku") for variant in row.get("variants") or ())]
    return list(dict.fromkeys(sku for sku in skus if sku))


def _identities(row: Fields) -> Iterator[str]:
    """Yield the names by which a row may know its product; the first that is known counts."""
    names = [("id", row.get("id")), ("external", row.get("externalId"))]
    names += [("sku", sku) for sku in _list_skus(row)]
    return (f"{kind} {name}" for kind, name in names if name)


def _find_only(row: Fields, by_sku: Mapping[str, Sequence[Product]]) -> Product | Problem | None:
    """Return the only product with a row's SKUs; None if there is none, Invalid if several."""
    same = store.select_by_skus(row.get("sku"), _list_skus(row), by_sku)
    if len(same) > 1:
        ids = ", ".join(product.id for product in same[:5])
        return Invalid.field("sku", "ambiguous_sku", f"{len(same)} products have this SKU: {ids}")
    return same[0] if same else None


def _merge_row(row: Fields, product: Product) -> dict[str, object]:
    """Return the change that a row makes to a product. Raise Invalid.

    Lists of pictures and variants are completed by those that the row does not name.
    """
    added = ("images", "variants")
    given = {n: v for n, v in row.items() if n != "id" and not (n in added and v == [])}
    there = product.variants()
    if given.get("images"):
        images = _complete_images(given["images"], product)
        given["images"] = _check_number("images", images, MOST_IMAGES)
    if given.get("variants"):
        variants = _complete_variants(given["variants"], product)
        given["variants"] = _check_number("variants", variants, MOST_VARIANTS)
        return given
    having = {
        name: {v["id"] for v in there if given[name] and v[name] == given[name]}
        for name in ("externalId", "sku")
        if name in given
    }
    naming = [name for name, ids in having.items() if ids]
    if len(there) == 1:
        # It is the product: ids of its only variant are no ids that the product gets.
        own = {"price": given["price"]} if "price" in given else {}
        follows = product.fields["variants"][0].get("default")
        for name in naming:
            given.pop(name)
        if naming and own and not follows:
            given["variants"] = [{"id": there[0]["id"], **own}]
    elif naming:
        sets = [having[name] for name in naming]
        named = set.intersection(*sets) or set.union(*sets)
        if len(named) > 1:
            message = f"{' and '.join(naming)} of this row are of {len(named)} variants"
            raise Invalid.field(naming[-1], "ambiguous_sku", f"{message} of {product.id}")
        # The row is about that variant, also what it clears. The product's own id stays there.
        is_own = {"price"} | {
            name for name in having if given[name] is None or given[name] != product.fields[name]
        }
        own = {name: given.pop(name) for name in is_own & given.keys()}
        given["variants"] = [{"id": v["id"], **(own if v["id"] in named else {})} for v in there]
    return given


def _check_number(name: str, items: list[Fields], most: int) -> list[Fields]:
    """Return the items of a field of a product. Raise Invalid for more than `most`."""
    if len(items) > most:
        message = f"would be {len(items)}; a product has at most {most}"
        raise Invalid.field(name, "too_long", message)
    return items


def _complete_images(listed: Sequence[Fields], product: Product) -> list[Fields]:
    """Return all images of a product: as listed, as they are, or new.

    The pictures that `listed` names are put in its order; new ones take the next such place, or
    come at the end.
    """
    stored: Sequence[Fields] = product.fields["images"]
    known = {image["url"]: image for image in stored}
    urls = list(map(merge.image_address, listed))
    named = iter({**known.get(url, {}), **one} for url, one in zip(urls, listed, strict=True))
    images = [next(named, image) if image["url"] in urls else image for image in stored]
    return [*images, *named]


def _complete_variants(listed: Sequence[Fields], product: Product) -> list[Fields]:
    """Return all variants of a product: as listed, as they are, or new."""
    ids = store.match_variants(listed, product)
    every: dict[str, Fields] = {v["id"]: {"id": v["id"]} for v in product.variants()}
    new = []
    for variant, id in zip(listed, ids, strict=True):
        if id is None:
            new.append({**variant, "title": variant.get("title") or variant.get("sku")})
        else:
            every[id] = {**variant, "id": id}
    return [*every.values(), *new]
