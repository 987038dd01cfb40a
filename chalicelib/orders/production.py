"""Work on what is made to order: what it is after each change of its order, and after its own.

The rules: docs/production.md#work. All of it but the reading of settings is pure functions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, cast

from chalicelib import listing
from chalicelib.listing.kinds import SOME, split_attribute
from chalicelib.orders import shop_settings
from chalicelib.orders.editing import keep_latest
from chalicelib.orders.model import (
    MOST_WORK,
    Order,
    StoredOrder,
    order_reference,
)
from chalicelib.orders.pieces import count_pieces
from chalicelib.orders.room import room_for_work_deletions
from chalicelib.orders.schemas import (
    NO_DAY,
    AnnouncedWork,
    OrderStatus,
    ProductionSettingsInput,
    ShownStage,
    SpecifiedValue,
    WorkChange,
    WorkCustomer,
    WorkEnd,
    WorkMove,
    WorkState,
)
from chalicelib.orders.stages import SETTINGS, LineWork, OrderWork, Stages, work_key
from chalicelib.orders.transactions import compare_parts, write_parts
from chalicelib.orders.transitions import BEFORE_SHIPPING, GIVES_BACK
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.schemas import pick_members
from chalicelib.storage import table
from chalicelib.storage.attributes import Fields, Item
from chalicelib.storage.commit import COUNT_SHARDS, Commit
from chalicelib.storage.conditions import Attr, all_of
from chalicelib.values import ids
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

KIND: Final = listing.Kind("work", counted=("stage",), split="stage")
CLOSED: Final = listing.Kind("worked", counted=("state",))

_MOST_MOVES: Final = 30
# Bytes in the item with an order's work, which may have 400 KB: the moves of one line (of at most
# 25, with notes of 5 KB), and all lines that were removed.
_LARGEST_MOVES: Final = 4_000
_LARGEST_REMOVED: Final = 100_000
_PRIORITY: Final = 5
_LOCKED: Final = ("title", "quantity", "specification")  # once somebody has begun to make it
# What work follows from, and is shown with, in an order.
_SEEN: Final = ("lineItems", "refunds", "shipments", "status", "closedAt", "dueOn", "customer")


class WorkClosed(Conflict):
    """409 with `state` and `closedBy`."""

    code = "work_closed"


class SpecLocked(Conflict):
    """409 with `lineItemId` and `startedAt`."""

    code = "spec_locked"


class StageInUse(Conflict):
    """409 with `stage` and `count`."""

    code = "stage_in_use"


class UnknownStage(Invalid):
    """422 with `allowed`: the ids of the stages."""

    code = "unknown_stage"


@dataclass(frozen=True)
class Card:
    """The work on a line of an order. `line`: as it is, or as it was when it was removed."""

    order: Order
    work: LineWork
    line: Fields

    @property
    def id(self) -> str:
        """The id of its list entry."""
        return f"{self.line['id']}@{self.order.id}"

    @property
    def state(self) -> WorkState:
        return _state_of(self.work)

    @property
    def due_on(self) -> str | None:
        """The day by which it is due: the line's own, or else the order's; None for none."""
        return self.line["dueOn"] or self.order.fields["dueOn"]

    @property
    def to_make(self) -> int:
        """Return the pieces of the line without those refunded before they were shipped."""
        pieces = self.order.pieces.get(self.line["id"])
        return int(self.line["quantity"]) - (pieces.withdrawn if pieces else 0)

    @cached_property
    def index(self) -> listing.Index:
        """The index of its list entry: open work by its day, ended work by when it ended."""
        is_open = self.state is WorkState.OPEN
        facets = {
            "state": self.state.value,
            "stage": self.work["stage"],
            "assignee": self.work["assignee"] or "",
            "productId": self.line["productId"] or "",
        }
        sort = (self.due_on or NO_DAY) if is_open else self.work["doneAt"] or ""
        return listing.Index.build(sort=sort, facets=facets)


def list_cards(order: Order | None) -> dict[str, Card]:
    """Return the work of an order: {`<line id>@<order id>`, as in lists: Card}, by its lines.

    Work on removed lines comes last. {} for None, and for an order that was read without its work.
    """
    if order is None or order.work is None:
        return {}
    lines: dict[str, Fields] = {line["id"]: line for line in order.fields["lineItems"]}
    works = order.work.lines
    places = {id: n for n, id in enumerate(lines)}
    cards = [
        Card(order, works[id], line)
        for id in sorted(works, key=lambda id: (places.get(id, len(places)), id))
        if (line := lines.get(id) or works[id].get("line"))
    ]
    return {card.id: card for card in cards}


def _state_of(work: LineWork) -> WorkState:
    """Return OPEN, or if it ended, DONE (in the last stage, or shipped) or CANCELLED."""
    if work["closedBy"] is None:
        return WorkState.OPEN
    is_done = work["closedBy"] in {WorkEnd.STAGE, WorkEnd.SHIPMENT}
    return WorkState.DONE if is_done else WorkState.CANCELLED


# --- After a change of the order ------------------------------------------------------------------


def is_worked_on(order: Order) -> bool:
    """Return whether an order may have open work: PAID or later, before SHIPPED, not closed."""
    is_paid = order.status in BEFORE_SHIPPING and order.status is not OrderStatus.PENDING
    return is_paid and not order.fields["closedAt"]


def is_affected(before: Order | None, after: Order) -> bool:
    """Return whether a change of an order may change its work, or what is shown of it.

    It may if a field of `_SEEN` differs, such as lines, refunds or the status; always for a new
    order.
    """
    return before is None or any(before.fields[name] != after.fields[name] for name in _SEEN)


def follow_order(
    work: OrderWork, before: Order | None, after: Order, by: str, now: str
) -> OrderWork:
    """Return the work after its order changed from `before` (None: it is new) to `after`.

    Each line that is made has work from when the order is PAID. Work ends when there is nothing
    more to make, and opens again when there is. A shipment ends it as wholly made; if that is
    cancelled, it is moved to the last stage as made. An edit of what is made counts up `revision`
    of work that has begun. Of lines that were removed, the latest stay. The version is one higher,
    also if nothing differs, but 0 while there was never any work.
    """
    had = {line["id"]: line for line in before.fields["lineItems"]} if before else {}
    is_edited = before is not None and _edit_ids(before) != _edit_ids(after)
    kept, removed = dict[str, LineWork](), dict[str, LineWork]()
    lines = {line["id"]: line for line in after.fields["lineItems"]}
    for id, known in work.lines.items():
        if id not in lines:
            ended = _end_work(known, WorkEnd.EDIT, now) if known["closedBy"] is None else known
            removed[id] = {"line": cast(Fields, had.get(id)), **ended}
    for id, line in lines.items():
        card_line: Fields = {**line}
        cause, old = _find_end(after, card_line), work.lines.get(id)
        if old is None:
            if cause is None and is_worked_on(after):
                kept[id] = _new_work(work.stages)
            continue
        if is_edited and old["startedAt"] and _is_made_otherwise(had[id], line):
            old = {**old, "revision": old["revision"] + 1}
        state, to_make = _state_of(old), Card(after, old, card_line).to_make
        if state is WorkState.OPEN and cause:
            made = to_make if cause is WorkEnd.SHIPMENT else old["made"]
            old = {**_end_work(old, cause, now), "made": made}
        elif not cause and (
            state is WorkState.CANCELLED or (state is WorkState.DONE and old["made"] < to_make)
        ):
            old = _reopen_work(old, work.stages, by, now)
        elif not cause and old["closedBy"] == WorkEnd.SHIPMENT:  # which was cancelled: it is made
            done = _move_to_stage(old, work.stages.last, by, now)
            old = {**done, "closedBy": WorkEnd.STAGE.value}
        kept[id] = old
    ended_last = sorted(removed.items(), key=lambda one: (one[1]["doneAt"] or "", one[0]))
    latest = keep_latest(ended_last, MOST_WORK, _LARGEST_REMOVED, encode)
    lines_after = {**dict(latest), **kept}
    is_there = bool(work.version or lines_after)
    return replace(work, lines=lines_after, version=work.version + 1 if is_there else 0)


def _edit_ids(order: Order) -> list[str]:
    """Return the ids of the edits that an order has, oldest first."""
    return [edit["id"] for edit in order.fields["edits"]]


def _find_end(order: Order, line: Fields) -> WorkEnd | None:
    """Return why there is nothing to make of a line; None: there is something.

    The first of: CLOSE, ORDER (cancelled or refunded), EDIT (the line was removed or is not made),
    SHIPMENT (the last pieces were shipped), REFUND (all were refunded).
    """
    pieces = order.pieces.get(line["id"])
    if order.fields["closedAt"]:
        return WorkEnd.CLOSE
    if order.status in GIVES_BACK:
        return WorkEnd.ORDER
    if pieces is None or not line["make"]:
        return WorkEnd.EDIT
    if pieces.to_ship:
        return None
    return WorkEnd.SHIPMENT if pieces.shipped else WorkEnd.REFUND


def _new_work(stages: Stages) -> LineWork:
    """Return open work in the first stage, with nothing made, nobody assigned, and priority 5."""
    return {
        "stage": stages.open[0],
        "made": 0,
        "assignee": None,
        "blocked": None,
        "priority": _PRIORITY,
        "note": None,
        "revision": 1,
        "startedAt": None,
        "doneAt": None,
        "closedBy": None,
        "moves": [],
    }


def _end_work(work: LineWork, cause: WorkEnd, now: str) -> LineWork:
    """Return the work closed by this cause, and done now; its stage and `made` stay."""
    return {**work, "closedBy": cause.value, "doneAt": now}


def _reopen_work(work: LineWork, stages: Stages, by: str, now: str) -> LineWork:
    """Return work that is open again: in its stage, or the first if its own is the last or gone."""
    stage = work["stage"] if work["stage"] in stages.open else stages.open[0]
    return _move_to_stage({**work, "closedBy": None, "doneAt": None}, stage, by, now)


def _move_to_stage(work: LineWork, stage: str, by: str, now: str) -> LineWork:
    """Return the work in a stage, with one more of its `moves`; the same if it is there already.

    Of the moves the latest stay. Nothing else changes: the work is neither started nor closed here.
    """
    if stage == work["stage"]:
        return work
    moves: list[WorkMove] = [*work["moves"], {"at": now, "by": by, "stage": stage}]
    latest = keep_latest(moves, _MOST_MOVES, _LARGEST_MOVES, lambda one: one["by"] + one["stage"])
    return {**work, "stage": stage, "moves": latest}


def is_produced(work: OrderWork) -> bool:
    """Return whether all work of an order has ended, and some of it is done."""
    states = {_state_of(one) for one in work.lines.values()}
    return WorkState.DONE in states and WorkState.OPEN not in states


def open_lines(order: Order) -> list[str]:
    """Return the ids of the lines of an order with open work."""
    works = order.work.lines if order.work else {}
    return [id for id, work in works.items() if _state_of(work) is WorkState.OPEN]


def has_more_to_make(order: Order, fields: StoredOrder) -> bool:
    """Return whether a line with open work has pieces left to ship by the order's next `fields`."""
    left = count_pieces(fields)
    return any(id in left and left[id].to_ship for id in open_lines(order))


def _is_made_otherwise(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Return whether two versions of a line differ in title, quantity or specification."""
    return any(before[name] != after[name] for name in _LOCKED)


def refuse_locked(order: Order, lines: Iterable[Fields]) -> None:
    """Raise SpecLocked if an edit removes a line in work, or makes it `make: false`.

    Likewise if it changes title, quantity or specification. `lines`: those after the edit. A line
    is in work if its work has begun and was not cancelled.
    """
    works = order.work.lines if order.work else {}
    has = {line["id"]: line for line in lines}
    for before in order.fields["lineItems"]:
        work, after = works.get(before["id"]), has.get(before["id"])
        if work is None or not work["startedAt"] or _state_of(work) is WorkState.CANCELLED:
            continue
        if after is None or not after["make"] or _is_made_otherwise(before, after):
            message = f"Work on {before['title']!r} has begun. Send unlock: true to change it."
            raise SpecLocked(message, lineItemId=before["id"], startedAt=work["startedAt"])


# --- A change of the work -------------------------------------------------------------------------


def change_work(order: Order, line_id: str, wanted: WorkChange, by: str, now: str) -> OrderWork:
    """Return the work of an order after a change of one line's; the same object if nothing differs.

    A move out of the first stage starts it. In the last stage it is done: closed, with all pieces
    made; in another it is open again. Raise NotFound, WorkClosed, UnknownStage, Invalid.
    """
    assert order.work
    stages, sent = order.work.stages, wanted.sent_fields()
    card = list_cards(order).get(f"{line_id}@{order.id}")
    if card is None:
        message = f"There is no work on a line {line_id[:100]!r}: it begins when the order is PAID."
        raise NotFound(message)
    work = card.work
    if _find_end(order, card.line) or not is_worked_on(order):
        message = f"The work is {card.state}, and the order {order.status}: it cannot change."
        raise WorkClosed(message, state=card.state, closedBy=work["closedBy"])
    stage = sent.pop("stage", work["stage"])
    if stage != work["stage"] and stage not in stages.names:
        raise UnknownStage(f"There is no stage {stage!r}.", allowed=[*stages.names])
    after = cast(
        LineWork, {**work, **{name: _blank_to_null(value) for name, value in sent.items()}}
    )
    if stage != work["stage"]:
        after = {**_move_to_stage(after, stage, by, now), "closedBy": None, "doneAt": None}
        if stage != stages.open[0]:
            after["startedAt"] = after["startedAt"] or now
        if stage == stages.last:
            after = {**_end_work(after, WorkEnd.STAGE, now), "made": card.to_make}
    least = card.to_make if after["closedBy"] else 0
    if sent.get("made", work["made"]) != work["made"] and not least <= sent["made"] <= card.to_make:
        limit = f"{card.to_make}: the work is done" if least else f"at most {card.to_make}"
        raise Invalid.field("made", "out_of_range", f"must be {limit}")
    if after == work:
        return order.work
    lines = {**order.work.lines, line_id: after}
    return replace(order.work, lines=lines, version=order.work.version + 1)


def _blank_to_null(value: object) -> object:
    """Return a value that was sent as it is stored: an empty text is null."""
    return None if value == "" else value


def starts_production(order: Order, work: OrderWork) -> bool:
    """Return whether `work`, after a change, leads its order from PAID to IN_PRODUCTION.

    It does if the order is PAID, and work on a line has begun that had not.
    """
    assert order.work
    has_begun = any(
        work.lines[id]["startedAt"] and not known["startedAt"]
        for id, known in order.work.lines.items()
    )
    return order.status is OrderStatus.PAID and has_begun


def forget_person(order: Order, person: Person) -> OrderWork:
    """Return the work of an order without a person's data, with the next version.

    The same if there is no work.
    """
    assert order.work
    if not order.work.version:
        return order.work
    lines = {id: _forget_person(work, order, person) for id, work in order.work.lines.items()}
    return replace(order.work, lines=lines, version=order.work.version + 1)


def _forget_person(work: LineWork, order: Order, person: Person) -> LineWork:
    """Return the work on one line without a person's data.

    If the order is the person's, its texts (`blocked`, `note`) are dropped, and the line's are
    cleared. Of another's order only mentions of the person are removed from these.
    """
    after = work.copy()
    if not person.is_about(order.fields):
        named = {
            name: value for name, value in after.items() if name in {"blocked", "note", "line"}
        }
        return cast(LineWork, {**after, **person.redact(named)})
    after |= {"blocked": None, "note": None}
    if work.get("line"):  # release 1.0.0 may have removed it without a trace
        customer = order.fields["customer"]
        cleared = person.forget_order({"customer": customer, "lineItems": [work["line"]]})
        (after["line"],) = cast(list[Fields], cleared["lineItems"])
    return after


# --- Lists and events -----------------------------------------------------------------------------


def cards_in_list(kind: listing.Kind, orders: Iterable[Order]) -> list[Card]:
    """Return the work of these orders that is in one of the lists: open for KIND, else ended."""
    is_open = kind is KIND
    every = [card for order in orders for card in list_cards(order).values()]
    return [card for card in every if (card.state is WorkState.OPEN) is is_open]


def count_in_cells(cells: Iterable[Item], stages: Iterable[str]) -> dict[str, int]:
    """Return {stage id: how much work is open in it} of these stages, by count cells; or 0."""
    known = list(cells)
    return {id: sum(int(cell.get(split_attribute(id), 0)) for cell in known) for id in stages}


def count_items(before: Order | None, after: Order | None) -> int:
    """Return how many items `write_work` adds at most, besides entries that it deletes.

    0 if neither order has work; else one for each card that is new or listed otherwise, and eight.
    """
    old, new = list_cards(before), list_cards(after)
    if not old and not new:
        return 0
    differing = sum(
        id not in old or old[id].index.list_state != card.index.list_state
        for id, card in new.items()
    )
    return differing + 8


def write_work(
    commit: Commit, before: Order | None, after: Order | None, otherwise: Exception
) -> None:
    """Add the work of an order to a commit: its item, and the entries of both lists.

    The item is written only if it has another version; `after` None (the order is deleted) deletes
    it. If work is open in a stage in which it was not, the commit also checks that the stages are
    unchanged. Entries for which it has no room are deleted after it. Sending the commit raises
    `otherwise` if the work or the stages were changed since they were read.
    """
    old, new = (order.work if order else None for order in (before, after))
    order, known = after or before, old.version if old else 0
    assert order
    pk, sk = work_key(order.id)
    unchanged = Attr("version").eq(known) if known else table.absent
    if after is None:
        if known:
            commit.delete((pk, sk), when=unchanged, otherwise=otherwise)
    elif new and new.version != known:
        item = {"pk": pk, "sk": sk, "version": new.version, "lines": dict(new.lines)}
        commit.put(item, when=unchanged, otherwise=otherwise)
        if _stages_entered(before, after):
            version = new.stages.version
            known_stages = Attr("version").eq(version) if version else table.absent
            commit.check(SETTINGS, known_stages, otherwise)
    kinds = (KIND, CLOSED)
    had, has = ([cards_by_id(kind, one) for kind in kinds] for one in (before, after))
    added = sum(len(new_cards.keys() - had[place].keys()) for place, new_cards in enumerate(has))
    versions = [one.fields for one in (before, after) if one]
    room = room_for_work_deletions(len(commit) + added, *versions)
    for kind, old_cards, new_cards in zip(kinds, had, has, strict=True):
        write_parts(commit, kind, old_cards, new_cards, room)
        room -= len(old_cards.keys() - new_cards.keys())


def cards_by_id(kind: listing.Kind, order: Order | None) -> dict[str, Card]:
    """Return the work of an order that a list has, by the ids of its entries."""
    return {card.id: card for card in cards_in_list(kind, [order] if order else [])}


def _stages_entered(before: Order | None, after: Order) -> bool:
    """Return whether some work is open in a stage in which it was not open before: new, too."""
    had, has = (
        {id: card.work["stage"] for id, card in cards_by_id(KIND, order).items()}
        for order in (before, after)
    )
    return any(had.get(id) != stage for id, stage in has.items())


def work_events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (event, data) of work: work.created or work.updated for each that is new or differs.

    It differs also if its line or order is shown otherwise in it, but not by its customer. Then
    order.produced, once the order has `producedAt`. Removed work has no event.
    """
    known = list_cards(before)
    for id, card in list_cards(after).items():
        if id not in known:
            yield "work.created", _show_announced(card)
        elif _has_changed(known[id], card):
            yield "work.updated", _show_announced(card)
    produced_at = after.fields["producedAt"]
    if produced_at and not (before and before.fields["producedAt"]):
        reference = {**order_reference(after), "status": after.status}
        yield "order.produced", {**reference, "producedAt": produced_at}


def _has_changed(old: Card, new: Card) -> bool:
    """Return whether work differs, or what its event shows of line and order but the customer."""
    if old.work != new.work:
        return True
    before, after = ({**_show_announced(card), "customerId": None} for card in (old, new))
    return before != after


def _show_announced(card: Card) -> dict[str, object]:
    """Return the data of a work event: the shape of AnnouncedWork."""
    return pick_members({**show_card(card), "customerId": card.order.customer_id}, AnnouncedWork)


def show_card(card: Card) -> dict[str, object]:
    """Return the shape of ShownWork."""
    order, line, work = card.order, card.line, card.work
    assert order.work
    values: list[SpecifiedValue] = line["specification"]
    given = {one["name"].casefold() for one in values if one["value"]}
    return {
        **{name: order_reference(order)[name] for name in ("orderId", "orderNumber")},
        "orderStatus": order.status,
        "lineItemId": line["id"],
        **{name: line[name] for name in ("title", "sku", "productId", "quantity")},
        "toMake": card.to_make,
        "surplus": max(0, work["made"] - card.to_make),
        "specification": values,
        "missing": [n for n in line.get("required", ()) if n.casefold() not in given],
        "lineNote": line["note"],
        "customer": order.fields["customer"]
        and pick_members(order.fields["customer"], WorkCustomer),
        "dueOn": card.due_on,
        "state": card.state,
        **{name: value for name, value in work.items() if name != "line"},
        "stage": {"id": work["stage"], "name": order.work.stages.names.get(work["stage"])},
    }


def show_for_audit(order: Order) -> dict[str, object]:
    """Return `{"work": […]}`: an order's work as the audit log compares it, without its moves."""
    hidden = {"moves", "line"}
    return {
        "work": [
            {name: value for name, value in card.work.items() if name not in hidden}
            | {"id": card.line["id"]}
            for card in list_cards(order).values()
        ]
    }


def compare_entries(
    load: Callable[[Iterable[str]], Iterable[Order]],
) -> Iterator[tuple[str, listing.Recount]]:
    """Compare both lists of work, open and ended, with the orders to which their entries lead.

    Yield (name of the list, Recount) for each, also if nothing differs. Nothing is written. `load`:
    reads orders, with their work, by their ids.
    """

    def load_cards(kind: listing.Kind, order_ids: Iterable[str]) -> list[Card]:
        """Load these orders; return the work of them that is in the list `kind`."""
        return cards_in_list(kind, load(order_ids))

    for kind, facet in ((KIND, "stage"), (CLOSED, "state")):
        yield kind.name, compare_parts(kind, facet, partial(load_cards, kind))


# --- Settings -------------------------------------------------------------------------------------


def load_settings() -> tuple[dict[str, object], str]:
    """Read the stages; return `{"stages": [{id, name}]}`, and the ETag: the version, or "0"."""
    item = table.get(SETTINGS)
    return _show_settings(item), str(Stages.from_item(item).version)


def save_settings(
    wanted: ProductionSettingsInput, if_match: frozenset[str] | None
) -> tuple[dict[str, object], str]:
    """Replace the stages; return what `load_settings` does. A stage without an id gets a new one.

    The same stages change nothing. Raise PreconditionFailed unless `if_match` has the ETag (None:
    any), UnknownStage, and StageInUse for a stage with open work that is removed, or becomes the
    last.
    """

    def make_fields(commit: Commit, before: Item | None) -> Item:
        """Return `{"stages": […]}` to store; new ones get ids. Raise UnknownStage, StageInUse.

        `commit` gets checks that no work has come into a stage that is lost.
        """
        known = Stages.from_item(before)
        unknown = [one.id for one in wanted.stages if one.id and one.id not in known.names]
        if unknown:
            raise UnknownStage(f"There is no stage {unknown[0]!r}.", allowed=[*known.names])
        stages = tuple(
            ShownStage(id=one.id or ids.new_id("stg"), name=one.name) for one in wanted.stages
        )
        _require_unused(commit, {*known.open} - {*Stages(0, stages).open})
        return {"stages": list(stages)}

    return shop_settings.save_settings(SETTINGS, make_fields, _show_settings, if_match)


def _show_settings(item: Item | None) -> dict[str, object]:
    """Return `{stages}` of the settings' item; None: those by default."""
    return {"stages": list(Stages.from_item(item).all)}


def _require_unused(commit: Commit, stages: set[str]) -> None:
    """Raise StageInUse if work is open in one of these stages; let the commit check it once more.

    Each move into a stage adds to a count cell. So the commit requires each shard of it as it was
    read here; it is refused if one has changed.
    """
    if not stages:
        return
    pk = KIND.count_pk()
    cells = {cell["sk"]: cell for cell in table.query_all(pk)}
    for stage in sorted(stages):
        if count := count_in_cells(cells.values(), [stage])[stage]:
            message = f"{count} are in the stage {stage}. Move them first."
            raise StageInUse(message, stage=stage, count=count)
    for shard in range(COUNT_SHARDS):
        sk = f"{KIND.cell_name({'stage': SOME})}#{shard}"
        known = cells.get(sk, {})
        names = map(split_attribute, sorted(stages))
        commit.check(
            (pk, sk),
            all_of(
                Attr(name).eq(known[name]) if name in known else Attr(name).not_exists()
                for name in names
            ),
        )
