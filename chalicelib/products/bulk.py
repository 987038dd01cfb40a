"""Many products in one request: each succeeds or fails for itself."""

from collections.abc import Sequence
from typing import Any

from chalicelib import clock, slugs
from chalicelib.commit import send_all
from chalicelib.problems import NotFound, Problem
from chalicelib.products import merge, store
from chalicelib.products.model import NewProduct, Product, ProductChange, Status
from chalicelib.products.shown import show

Outcome = Product | Problem


def create_many(rows: Sequence[NewProduct | Problem]) -> list[Outcome]:
    """Creates what is valid; a row that already is a problem stays one. Emits product.created."""
    outcomes: list[Outcome | None] = [row if isinstance(row, Problem) else None for row in rows]
    news = {place: row for place, row in enumerate(rows) if isinstance(row, NewProduct)}
    chosen = _slugs([new.given() for new in news.values()])
    products: dict[int, Product] = {}
    now = clock.iso(clock.now())
    for (place, new), slug in zip(news.items(), chosen, strict=True):
        try:
            products[place] = merge.created(new.given(), slug, now)
        except Problem as problem:
            outcomes[place] = problem
    failures = send_all([store.writes(None, product) for product in products.values()])
    for (place, product), failure in zip(products.items(), failures, strict=True):
        if failure is None:
            outcomes[place] = product
        elif isinstance(failure, store.SlugTaken) and "slug" not in news[place].given():
            outcomes[place] = _alone(news[place])
        elif isinstance(failure, Problem):
            outcomes[place] = failure
        else:
            raise failure
    return [outcome for outcome in outcomes if outcome is not None]


def _slugs(given: Sequence[dict[str, Any]]) -> list[str]:
    """A slug for each: the one given, or the plainest that nobody has, in this call or before."""
    plain = [row.get("slug") or slugs.of_name(row["name"]) for row in given]
    taken = {row["slug"] for row in given if row.get("slug")}
    taken |= store.taken_slugs(
        slug for slug, row in zip(plain, given, strict=True) if not row.get("slug")
    )
    chosen = []
    for slug, row in zip(plain, given, strict=True):
        if row.get("slug"):
            chosen.append(slug)
            continue
        free = slugs.first_free(slug, taken)
        taken.add(free)
        chosen.append(free)
    return chosen


def _alone(new: NewProduct) -> Outcome:
    """Its numbered slug was taken after all: the way of a single creation finds one."""
    try:
        return store.create(new)
    except Problem as problem:
        return problem


def set_status(ids: Sequence[str], status: Status) -> list[Outcome]:
    """Gives products a status: each for itself, in their order, as it is then. Emits
    product.updated where it differed before."""
    known = {product.id: product for product in store.load(dict.fromkeys(ids))}
    changed = {id: store.redrafted(known[id], {"status": status.value}) for id in known}
    differing = [id for id in known if changed[id] is not known[id]]
    failures = send_all([store.writes(known[id], changed[id]) for id in differing])
    outcomes: dict[str, Outcome] = {id: NotFound.of("product", id) for id in ids}
    outcomes.update(changed)
    for id, failure in zip(differing, failures, strict=True):
        if isinstance(failure, store.Changed):
            outcomes[id] = _changed_alone(id, status)
        elif isinstance(failure, Problem):
            outcomes[id] = failure
        elif failure is not None:
            raise failure
    return [outcomes[id] for id in ids]


def _changed_alone(id: str, status: Status) -> Outcome:
    """Somebody else wrote it meanwhile: the way of a single change merges."""
    try:
        return store.change(id, ProductChange.model_validate({"status": status}), None)
    except Problem as problem:
        return problem


def status_result(ids: Sequence[str], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The shape of StatusResult."""
    data: list[dict[str, Any]] = []
    for index, (id, outcome) in enumerate(zip(ids, outcomes, strict=True)):
        if isinstance(outcome, Product):
            data.append({"index": index, "id": id, "status": "updated"})
        else:
            data.append({"index": index, "id": id, "status": "error", "error": outcome.body()})
    failed = sum("error" in row for row in data)
    return {"data": data, "summary": {"updated": len(data) - failed, "failed": failed}}


def result(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The shape of BulkResult."""
    data: list[dict[str, Any]] = []
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Product):
            data.append({"index": index, "status": "created", "product": show(outcome)})
        else:
            data.append({"index": index, "status": "error", "error": outcome.body()})
    created = sum(row["status"] == "created" for row in data)
    return {"data": data, "summary": {"created": created, "failed": len(data) - created}}
