"""Counts in the table.

| item | pk | sk |
|---|---|---|
| count | `cnt_…` | `count` |
| lines of up to 125 variants | `cnt_…` | `lines#<number>` |

`lines`: JSON of variant id → line, null where it was not counted, in the order of ids. So the lines
of a request, and the variants of a count, fit into one transaction: a request that is repeated
counts once. `starts` of the count: the first id of each of these items. `writes`: how often it was
written, on condition that nobody else did meanwhile.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from chalicelib import deadline, listing, validation
from chalicelib.problems import Conflict, Invalid
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.products.schemas import MOST_STOCK, ListProducts
from chalicelib.schemas import LARGEST_PAGE
from chalicelib.stocktaking.model import (
    KIND,
    MOST_VARIANTS,
    Count,
    CountedLine,
    CountStatus,
    Line,
    LineState,
    NewStockCount,
    index_of,
    show,
    show_line,
)
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import LONGEST_TEXT, Once, unless_answered
from chalicelib.values import clock, ids
from chalicelib.values.batches import batches

Lines = dict[str, Line | None]  # variant id → its line
_TOGETHER: Final = 125  # lines of an item: a transaction takes the 80 items of a count
_SHOWN: Final = ("name", "variants")  # of products


class CountClosed(Conflict):
    code = "count_closed"

    def __init__(self, status: str) -> None:
        super().__init__(f"The count is {status}.", status=status)


class CountChanged(Conflict):
    code = "count_changed"
    text = "Somebody else has counted this meanwhile."


class _Raced(Exception):
    """Another request wrote one of these items."""


def _key(count_id: str) -> Key:
    return count_id, "count"


def _part_key(count_id: str, number: int) -> Key:
    return count_id, f"lines#{number:03d}"


RECORDS: Final = listing.Records(KIND, _key, index_of, Count, "cnt", "count")
_open: Final = Attr("status").eq(CountStatus.OPEN.value)


# --- Creating -------------------------------------------------------------------------------------


def create(new: NewStockCount, by: str, once: Once | None) -> str:
    """Create a count; return the text of the answer.

    Raises Invalid; with `once` also Repeated and KeyReused.
    """
    if once:
        once.check()
    variants = sorted(
        _check_tracked(new.variant_ids) if new.variant_ids else _find_variants(new.filters)
    )
    parts = list(batches(variants, _TOGETHER))
    fields: Item = {
        "id": ids.new_id("cnt"),
        "name": new.name,
        "status": CountStatus.OPEN.value,
        "filters": json.dumps(new.filters or None, ensure_ascii=False),
        "variants": len(variants),
        "counted": 0,
        "different": 0,
        "starts": [part[0] for part in parts],
        "createdAt": clock.now_iso(),
        "createdBy": by,
    }
    text = json.dumps(show(Count(fields)), ensure_ascii=False)
    commit = Commit()
    RECORDS.insert(commit, fields)
    for number, part in enumerate(parts):
        pk, sk = _part_key(fields["id"], number)
        commit.put({"pk": pk, "sk": sk, "lines": json.dumps(dict.fromkeys(part)), "writes": 0})
    if once:
        once.record(commit, text, "")
    commit.audit(_audit_entry("started", fields))
    commit.send()
    return text


def _audit_entry(
    done: str,
    fields: Fields,
    before: Mapping[str, int | None] | None = None,
    after: Mapping[str, int | None] | None = None,
) -> dict[str, object]:
    """Return what the audit log gets. `before`, `after`: the pieces of lines, by variant."""
    action, name = f"stock_count.{done}", fields["name"]
    return outbox.audit_entry(
        "stock_count", fields["id"], before, after, show=dict, action=action, name=name
    )


def _check_tracked(variant_ids: Iterable[str]) -> set[str]:
    """Return these ids. Raises Invalid for one without a tracked stock."""
    wanted = list(variant_ids)
    levels = products.stock_levels({ids.product_of(id) for id in wanted})
    errors = [
        {"field": f"variantIds.{place}", "code": "unknown_variant", "message": _UNTRACKED}
        for place, id in enumerate(wanted)
        if id not in levels.get(ids.product_of(id), {})
    ]
    if errors:
        raise Invalid.fields(errors[: validation.MOST_ERRORS])
    return set(wanted)


_UNTRACKED: Final = "is no variant with a tracked stock"


def _find_variants(filters: dict[str, object]) -> set[str]:
    """Return the variants with a tracked stock of the products that match. Raises Invalid."""
    product_query = ListProducts.query_from_body(filters, LARGEST_PAGE).continue_after("*")
    variants: set[str] = set()
    for page in listing.walk_pages(partial(products.page, fields=_SHOWN), product_query):
        variants.update(id for product in page.records for id in product.quantities)
        if max(len(variants), page.total) > MOST_VARIANTS:
            message = f"match more than {MOST_VARIANTS:,} products or variants; narrow them"
            raise Invalid.field("filters", "too_many", message)
    if not variants:
        raise Invalid.field("filters", "nothing_to_count", "match nothing with a tracked stock")
    return variants


# --- Reading --------------------------------------------------------------------------------------


get, page = RECORDS.get, RECORDS.read_page


def _read_count(item: Fields) -> Lines:
    stored = json.loads(item["lines"])
    return {id: Line(*line) if line else None for id, line in stored.items()}


def lines(count_id: str, state: LineState | None) -> list[tuple[str, Line | None]]:
    """Return the line of every variant, or of those in a state: what was counted last is first."""
    get(count_id)
    items = table.query_all(count_id, where=table.sk.begins_with("lines#"))
    every = [pair for item in items for pair in _read_count(item).items()]
    every.sort(key=lambda one: one[1].at if one[1] else "", reverse=True)
    return [(id, line) for id, line in every if state in {None, *_line_states(line)}]


def _line_states(line: Line | None) -> set[LineState]:
    if line is None:
        return {LineState.UNCOUNTED}
    return {LineState.COUNTED} | ({LineState.DIFFERENT} if line.difference else set())


def load_counted_lines(count: Count, part: int) -> list[tuple[str, Line]]:
    """Return the counted lines of one of its items, in the order of ids."""
    item = table.get(_part_key(count.id, part))
    assert item is not None, "a count has as many as it has starts"
    return [(id, line) for id, line in _read_count(item).items() if line]


def show_lines(pairs: Sequence[tuple[str, Line | None]]) -> list[dict[str, object]]:
    """Return lines as the API shows them, with what is in stock now."""
    known = _load_products(id for id, _ in pairs)
    return [show_line(id, line, known.get(ids.product_of(id))) for id, line in pairs]


def _load_products(variant_ids: Iterable[str]) -> dict[str, Product]:
    wanted = {ids.product_of(id) for id in variant_ids}
    return {product.id: product for product in products.load(sorted(wanted), _SHOWN)}


# --- Counting -------------------------------------------------------------------------------------


def enter(count_id: str, counted: Sequence[CountedLine], by: str, once: Once | None) -> str:
    """Keep what was counted, and the stock at this moment; return the text of the answer.

    Raises NotFound, CountClosed, CountChanged, Invalid; with `once` also Repeated and KeyReused.
    """
    if once:
        once.check()
    # Perhaps the same request, sent twice, was just done, and the count has changed since.
    with unless_answered(once):
        return deadline.retry_on_conflict(
            partial(_enter_lines, count_id, counted, by, once), _Raced
        )


def _enter_lines(count_id: str, counted: Sequence[CountedLine], by: str, once: Once | None) -> str:
    count = get(count_id)
    if count.status is not CountStatus.OPEN:
        raise CountClosed(count.status)
    known = _load_products(line.variant_id for line in counted)
    parts = {count.part_of(line.variant_id) for line in counted}
    items = table.batch_get(_part_key(count_id, number) for number in parts)
    there = {id: line for item in items.values() for id, line in _read_count(item).items()}
    entered = _apply_counts(counted, there, known, by)
    was = {id: there[id] for id in entered}
    lines = [show_line(id, line, known[ids.product_of(id)]) for id, line in entered.items()]
    text = json.dumps({"lines": lines}, ensure_ascii=False)
    commit = Commit()
    if once:
        if len(text.encode()) > LONGEST_TEXT:
            message = "make an answer that is too long to be repeated; send fewer at a time"
            raise Invalid.field("lines", "too_large", message)
        once.record(commit, text, "")
    more = {
        "counted": list(was.values()).count(None),
        "different": _line_differences(entered) - _line_differences(was),
    }
    commit.update(_key(count_id), add=more, when=_open, otherwise=_closed_error)
    for key, item in items.items():
        kept = json.loads(item["lines"])
        kept |= {id: line for id, line in entered.items() if id in kept}
        commit.update(
            key,
            assign={"lines": json.dumps(kept, ensure_ascii=False)},
            add={"writes": 1},
            when=Attr("writes").eq(item["writes"]),
            otherwise=_Raced(),
        )
    commit.audit(_audit_entry("counted", count.fields, _line_pieces(was), _line_pieces(entered)))
    commit.send()
    return text


def _line_differences(lines: Mapping[str, Line | None]) -> int:
    return sum(bool(line and line.difference) for line in lines.values())


def _line_pieces(lines: Mapping[str, Line | None]) -> dict[str, int | None]:
    return {id: line.counted if line else None for id, line in lines.items()}


def _apply_counts(
    counted: Sequence[CountedLine],
    before: Mapping[str, Line | None],
    known: Mapping[str, Product],
    by: str,
) -> dict[str, Line]:
    """Return the lines after these were entered. Raises Invalid, CountChanged."""
    after = dict(before)
    at, errors, entered = clock.now_iso(), [], dict[str, Line]()
    outdated: list[str] = []
    for place, one in enumerate(counted):
        id, was = one.variant_id, after.get(one.variant_id)
        product = known.get(ids.product_of(id))
        stock = product.quantities.get(id) if product else None
        if id not in after:
            error = "variantId", "not_in_count", "is not in this count"
        elif stock is None:
            error = "variantId", "not_tracked", _UNTRACKED
        elif one.is_outdated(was):
            outdated.append(id)
            continue
        elif one.add and was and was.counted + one.counted > MOST_STOCK:
            error = "counted", "out_of_range", f"would make more than {MOST_STOCK} pieces"
        else:
            # What was sold since the first shelf was counted is not missing on the second.
            begun = was if one.add and was else Line(0, int(stock), at, by)
            after[id] = entered[id] = Line(begun.counted + one.counted, begun.expected, at, by)
            continue
        field, code, message = error
        errors.append({"field": f"lines.{place}.{field}", "code": code, "message": message})
    if errors:
        raise Invalid.fields(errors[: validation.MOST_ERRORS])
    if outdated:
        now = (show_line(id, before[id], known[ids.product_of(id)]) for id in outdated)
        raise CountChanged(lines=list(now))
    return entered


# --- Closing --------------------------------------------------------------------------------------


def close(count_id: str, status: CountStatus, commit: Commit, job_id: str | None = None) -> None:
    """Add the end of a count to a commit, which raises CountClosed."""
    ended = {"status": status.value, "closedAt": clock.now_iso(), "jobId": job_id}
    commit.update(_key(count_id), assign=ended, when=_open, otherwise=_closed_error)


def _closed_error(item: Item | None) -> CountClosed:
    assert item is not None, "no count is deleted"
    return CountClosed(item["status"])


def cancel(count_id: str) -> Count:
    """Cancel a count. Raises NotFound; CountClosed if it was applied."""
    commit = Commit()
    close(count_id, CountStatus.CANCELLED, commit)
    commit.audit(_audit_entry("cancelled", get(count_id).fields))
    with suppress(CountClosed):
        commit.send()
    count = get(count_id)
    if count.status is not CountStatus.CANCELLED:
        raise CountClosed(count.status)
    return count
