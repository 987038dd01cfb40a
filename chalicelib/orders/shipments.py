"""Shipments of an order, in parts: pure functions (docs/orders.md#shipments)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast
from urllib.parse import quote

from chalicelib import listing
from chalicelib.orders.account import Denied, refuse_closed
from chalicelib.orders.model import Order, Shipment, StoredOrder, order_reference, tracking_numbers
from chalicelib.orders.pieces import (
    count_pieces,
    lines_to_ship,
    make_implied_shipment,
    restored_id,
    valid_shipments,
)
from chalicelib.orders.refunds import ExceedsQuantity
from chalicelib.orders.room import count_shipment_items, room_for_shipment_entries
from chalicelib.orders.schemas import (
    MOST_PARCELS,
    MOST_SHIPMENTS,
    URL_CHARACTERS,
    ListedShipment,
    NewShipment,
    OrderStatus,
    ParcelInput,
    ShipmentChange,
    ShipmentLineInput,
    ShipmentState,
    ShippedLine,
    ShippingMethod,
    ShownParcel,
    ShownShipment,
)
from chalicelib.orders.transactions import compare_parts, write_parts
from chalicelib.orders.transitions import BEFORE_SHIPPING, move_status
from chalicelib.problems import Conflict, Invalid, NotFound
from chalicelib.storage.commit import Commit
from chalicelib.values import ids

KIND: Final = listing.Kind("shipment", counted=("state",))
Carriers = Mapping[str, str]  # the address with {number}, by the name in lower case

_SHIPPABLE: Final = BEFORE_SHIPPING - {OrderStatus.PENDING}
_NEXT: Final = {
    OrderStatus.PAID: OrderStatus.PROCESSING,
    OrderStatus.IN_PRODUCTION: OrderStatus.PROCESSING,
    OrderStatus.PROCESSING: OrderStatus.SHIPPED,
    OrderStatus.SHIPPED: OrderStatus.DELIVERED,
}


class NotShippable(Invalid):
    """422 with the `status` of the order."""

    code = "not_shippable"


class ShipmentCancelled(Conflict):
    """409: the shipment does not count."""

    code = "shipment_cancelled"
    text = "The shipment was cancelled."


# --- Requests -------------------------------------------------------------------------------------


def add_shipment(
    fields: StoredOrder, wanted: NewShipment, carriers: Carriers, by: str, now: str
) -> StoredOrder:
    """Return the fields with one more shipment; the status stays, and `list_moves` has its moves.

    Without lines it is of all that is left. A pick-up is delivered at once. A parcel without an
    address gets its carrier's. Raise Denied for a closed order and if nothing is left to ship;
    NotShippable, ExceedsQuantity, Invalid.
    """
    refuse_closed(fields)
    if fields["status"] not in _SHIPPABLE:
        message = f"The order is {fields['status']}: nothing of it can be shipped."
        raise NotShippable(message, status=fields["status"])
    if wanted.lines is None:
        lines = lines_to_ship(fields)
    else:
        lines = [{"lineItemId": one.line_item_id, "quantity": one.quantity} for one in wanted.lines]
        _refuse_wrong_lines(fields, wanted.lines)
    if not lines:
        raise Denied("nothing_to_ship", "Nothing is left to ship.")
    left_at = wanted.shipped_at or now
    is_handed_over = wanted.method is ShippingMethod.PICKUP
    shipment = make_implied_shipment(ids.new_id("shp"), lines, None, left_at)
    shipment |= {
        "method": wanted.method,
        "carrier": wanted.carrier or None,
        "parcels": _to_parcels(wanted.parcels, wanted.carrier, carriers),
        "note": wanted.note or None,
        "createdAt": now,
        "by": by,
        "deliveredAt": left_at if is_handed_over else None,
        "implied": False,
    }
    return _with_shipments(fields, [*fields["shipments"], shipment])


def change_shipment(
    fields: StoredOrder, id: str, wanted: ShipmentChange, carriers: Carriers
) -> StoredOrder:
    """Return the fields with the sent values of a shipment; the status stays.

    Parcels that had the former carrier's address, or none, get the new carrier's, if the parcels
    are not sent too. Raise NotFound, ShipmentCancelled; Invalid if it is no longer delivered, but
    the order is DELIVERED.
    """
    before, given = _find_shipment(fields, id), wanted.model_fields_set
    after = before.copy()
    if "carrier" in given:
        after["carrier"] = wanted.carrier or None
    if "parcels" in given:
        after["parcels"] = _to_parcels(wanted.parcels, after["carrier"], carriers)
    elif after["carrier"] != before["carrier"]:
        after["parcels"] = [
            parcel
            if parcel["trackingUrl"]
            not in {None, _make_url(parcel["trackingNumber"], before["carrier"], carriers)}
            else {
                **parcel,
                "trackingUrl": _make_url(parcel["trackingNumber"], after["carrier"], carriers),
            }
            for parcel in before["parcels"]
        ]
    if "note" in given:
        after["note"] = wanted.note or None
    if "delivered_at" in given:
        if wanted.delivered_at is None and fields["status"] == OrderStatus.DELIVERED:
            raise Invalid.field("deliveredAt", "too_late", "must stay: the order is DELIVERED")
        after["deliveredAt"] = wanted.delivered_at
    return _with_shipments(fields, _replace_shipment(fields["shipments"], after))


def cancel_shipment(fields: StoredOrder, id: str, reason: str | None, now: str) -> StoredOrder:
    """Return the fields after a shipment was cancelled: its pieces are to ship again.

    Raise NotFound, ShipmentCancelled, Denied.
    """
    before = _find_shipment(fields, id)
    refuse_closed(fields)
    if fields["status"] not in BEFORE_SHIPPING:
        message = f"The order is {fields['status']}. What comes back is a refund with lines."
        raise Denied("too_late", message)
    counted = count_pieces(fields)
    for line in before["lines"]:
        pieces = counted.get(line["lineItemId"])  # release 1.0.0 may have removed the line
        if pieces and pieces.at_customer < line["quantity"]:
            raise Denied("pieces_returned", "Some of its pieces came back and were refunded.")
    after: ShownShipment = {**before, "cancelledAt": now, "cancelReason": reason or None}
    return _with_shipments(fields, _replace_shipment(fields["shipments"], after))


def list_moves(
    fields: StoredOrder, *, is_new: bool, has_more_to_make: bool = False
) -> list[OrderStatus]:
    """Return the moves of the status that follow from the shipments, in order, [] for none.

    `is_new`: a shipment was added, otherwise one has arrived. A new one leads to PROCESSING while
    pieces are left to ship, else to SHIPPED. An order that is IN_PRODUCTION stays so while it
    `has_more_to_make`. From SHIPPED it is DELIVERED if all have arrived, unless the order is
    closed. Raises InvalidTransition for a move that the table of statuses does not have.
    """
    status = wanted = OrderStatus(fields["status"])
    if is_new:
        wanted = OrderStatus.PROCESSING if lines_to_ship(fields) else OrderStatus.SHIPPED
        if has_more_to_make and status is OrderStatus.IN_PRODUCTION:
            wanted = status
    has_arrived = all(shipment["deliveredAt"] for shipment in valid_shipments(fields))
    if wanted is OrderStatus.SHIPPED and has_arrived and not fields["closedAt"]:
        wanted = OrderStatus.DELIVERED
    moves = list[OrderStatus]()
    while status is not wanted:
        status = move_status(status, _NEXT[status])
        moves.append(status)
    return moves


# --- What a PATCH implies -------------------------------------------------------------------------


def follow_patch(before: StoredOrder, after: StoredOrder, by: str, now: str) -> StoredOrder:
    """Return the fields of an order after a PATCH, with the shipments that it implies.

    If the status became SHIPPED, what is left is one more shipment, with the tracking number unless
    an earlier one has it. Otherwise another number becomes that of the first parcel of the latest
    shipment. If it became DELIVERED, all shipments are delivered now.
    """
    number, rest = after["trackingNumber"], list[ShippedLine]()
    is_moved = before["status"] != after["status"]
    if is_moved and after["status"] == OrderStatus.SHIPPED:
        rest = lines_to_ship(after)
    valid, shipments = valid_shipments(after), after["shipments"]
    if rest:
        own = None if any(number in one for one in _list_numbers(after)) else number
        implied = make_implied_shipment(ids.new_id("shp"), rest, own, now)
        shipments = [*shipments, {**implied, "by": by}]
    elif valid and number != before["trackingNumber"]:
        shipments = _replace_shipment(shipments, _with_first_number(valid[-1], number))
    if is_moved and after["status"] == OrderStatus.DELIVERED:
        shipments = [
            one if one["cancelledAt"] or one["deliveredAt"] else {**one, "deliveredAt": now}
            for one in shipments
        ]
    return {**after, "shipments": shipments}


def _with_first_number(shipment: ShownShipment, number: str | None) -> ShownShipment:
    """Return a shipment whose first parcel has this number, and an address with it.

    The former number is replaced in the address; there is none any more if it was not in the path,
    or is there twice. Without parcels one is added, unless the number is empty.
    """
    if not number and not shipment["parcels"]:
        return shipment
    none: ShownParcel = {"trackingNumber": None, "trackingUrl": None}
    first, *others = shipment["parcels"] or [none]
    old, (host, path) = _quote(first["trackingNumber"]), _split_url(first["trackingUrl"] or "")
    start, found, end = path.partition(old or " ")
    is_known = number and found and old not in end
    url = _limit_url(f"{host}{start}{_quote(number)}{end}") if is_known else None
    return {**shipment, "parcels": [{"trackingNumber": number, "trackingUrl": url}, *others]}


def _split_url(url: str) -> tuple[str, str]:
    """Return an https address up to its host's end, and the rest; ("", url) for other texts."""
    host = re.match("(?:https://[^/?#]*)?", url)
    assert host
    return host[0], url[host.end() :]


# --- Parts ----------------------------------------------------------------------------------------


def _refuse_wrong_lines(fields: StoredOrder, wanted: Sequence[ShipmentLineInput]) -> None:
    """Raise Denied for an unknown line or one named twice, ExceedsQuantity for too many pieces.

    ExceedsQuantity has every line of which too few pieces are left to ship.
    """
    counted, excess = count_pieces(fields), list[dict[str, object]]()
    for id, times in Counter(one.line_item_id for one in wanted).items():
        if id not in counted:
            raise Denied("unknown_line", f"The order has no line {id!r}.")
        if times > 1:
            raise Denied("duplicate_line", f"The line {id!r} is named twice.")
    for one in wanted:
        left = counted[one.line_item_id].to_ship
        if one.quantity > left:
            part = {"lineItemId": one.line_item_id, "requested": one.quantity, "available": left}
            excess.append(part)
    if excess:
        raise ExceedsQuantity("More pieces than are left to ship.", lines=excess)


def _find_shipment(fields: StoredOrder, id: str) -> ShownShipment:
    """Return the shipment with this id. Raises NotFound; ShipmentCancelled if it was cancelled."""
    found = next((one for one in fields["shipments"] if one["id"] == id), None)
    shipment = NotFound.unless(found, "shipment", id)
    if shipment["cancelledAt"]:
        raise ShipmentCancelled(cancelledAt=shipment["cancelledAt"])
    return shipment


def _replace_shipment(
    shipments: Iterable[ShownShipment], after: ShownShipment
) -> list[ShownShipment]:
    """Return the shipments with `after` in place of the one with its id, if there is one."""
    return [after if one["id"] == after["id"] else one for one in shipments]


def _with_shipments(fields: StoredOrder, shipments: list[ShownShipment]) -> StoredOrder:
    """Return the fields with these shipments, and the tracking number that follows from them.

    It is the first number of the latest shipment that has one, as soon as their numbers differ. One
    that is no shipment's stays until a shipment has one. Raise Invalid for too many shipments or
    parcels; a PATCH may have made one more, which can be changed.
    """
    if len(shipments) > max(MOST_SHIPMENTS, len(fields["shipments"])):
        message = f"An order has at most {MOST_SHIPMENTS} shipments."
        raise Invalid(message, code="too_many")
    known, parcels = (
        sum(len(one["parcels"]) for one in some) for some in (fields["shipments"], shipments)
    )
    if parcels > max(MOST_PARCELS, known):
        message = f"would give the order more than {MOST_PARCELS} parcels"
        raise Invalid.field("parcels", "too_many", message)
    after: StoredOrder = {**fields, "shipments": shipments}
    former, numbers = _list_numbers(fields), _list_numbers(after)
    if numbers != former and (numbers or any(fields["trackingNumber"] in one for one in former)):
        after["trackingNumber"] = numbers[-1][0] if numbers else None
    return after


def _list_numbers(fields: StoredOrder) -> list[list[str]]:
    """Return the tracking numbers of each shipment that counts and has any, oldest first."""
    numbers = (tracking_numbers({"shipments": [one]}) for one in valid_shipments(fields))
    return list(filter(None, numbers))


def _to_parcels(
    sent: Iterable[ParcelInput], carrier: str | None, carriers: Carriers
) -> list[ShownParcel]:
    """Return parcels as they are stored: {trackingNumber, trackingUrl}, each perhaps None.

    Without an address of its own, one with a number has the carrier's.
    """
    return [
        {
            "trackingNumber": one.tracking_number or None,
            "trackingUrl": one.tracking_url or _make_url(one.tracking_number, carrier, carriers),
        }
        for one in sent
    ]


def _make_url(number: str | None, carrier: str | None, carriers: Carriers) -> str | None:
    """Return the address of a tracking number at its carrier; None without a number.

    None also if the carrier is not known, or the address would be too long. `carriers`: by name in
    lower case.
    """
    known = carriers.get((carrier or "").casefold()) if number else None
    return known and _limit_url(known.replace("{number}", _quote(number)))


def _limit_url(url: str) -> str | None:
    """Return the address, or None if it is longer than a client may send."""
    return url if len(url) <= URL_CHARACTERS else None


def _quote(number: str | None) -> str:
    """Return a tracking number with the escapes that a URL needs; "" for none."""
    return quote(number or "", safe="")


# --- Lists, events, history -----------------------------------------------------------------------


def list_shipments(order: Order) -> dict[str, Shipment]:
    """Return all shipments of an order, cancelled ones too, by the ids of their list entries."""
    address, found = order.fields["shippingAddress"], dict[str, Shipment]()
    for one in order.fields["shipments"]:
        more = {"state": _shipment_state(one), "shippingAddress": address}
        shipment = Shipment(cast(ListedShipment, {**one, **order_reference(order), **more}))
        found[shipment.id] = shipment
    return found


def list_entries(order: Order | None) -> dict[str, Shipment]:
    """Return the shipments of an order that have list entries, by the entries' ids; {} for None.

    The one that stands for what release 1.0.0 shipped has none.
    """
    found = list_shipments(order) if order else {}
    return {
        id: one
        for id, one in found.items()
        if one.fields["id"] != restored_id(one.fields["orderId"])
    }


def count_items(before: Order | None, after: Order | None) -> int:
    """Return how many items `write_entries` adds to a commit, at most."""
    old, new = list_entries(before), list_entries(after)
    if after is None:  # entries are deleted where there is room
        return len({_shipment_state(one.fields) for one in old.values()})
    return count_shipment_items(sum(old.get(id) != one for id, one in new.items()))


def write_entries(commit: Commit, before: Order | None, after: Order | None) -> None:
    """Change the list entries of an order's shipments in a commit, as the order changes.

    See `write_parts`: of a deleted order, those without room are deleted after the commit.
    """
    room = room_for_shipment_entries(len(commit), before.fields) if before else 0
    write_parts(commit, KIND, list_entries(before), list_entries(after), room)


def compare_entries(load: Callable[[Iterable[str]], Iterable[Order]]) -> listing.Recount:
    """Compare the list of shipments with the orders that its entries name; return what differs.

    Nothing is written. `load`: reads orders by their ids.
    """

    def load_shipments(order_ids: Iterable[str]) -> list[Shipment]:
        """Load these orders; return their shipments that have list entries."""
        return [one for order in load(order_ids) for one in list_entries(order).values()]

    return compare_parts(KIND, "state", load_shipments)


def tracking_numbers_of(shipment: Shipment) -> list[str]:
    """Return the tracking numbers of its parcels."""
    return tracking_numbers({"shipments": [shipment.fields]})


def _shipment_state(shipment: ShownShipment) -> ShipmentState:
    """Return the state of a shipment; a cancelled one is that, even if it was delivered."""
    if shipment["cancelledAt"]:
        return ShipmentState.CANCELLED
    return ShipmentState.DELIVERED if shipment["deliveredAt"] else ShipmentState.SHIPPED


def _list_differences(
    before: StoredOrder, after: StoredOrder
) -> Iterator[tuple[str, ShownShipment]]:
    """Yield ("created", "cancelled" or "updated", the shipment now) for each that differs."""
    known = {one["id"]: one for one in before["shipments"]}
    for shipment in after["shipments"]:
        old = known.get(shipment["id"])
        if old is None:
            yield "created", shipment
        elif shipment["cancelledAt"] and not old["cancelledAt"]:
            yield "cancelled", shipment
        elif shipment != old:
            yield "updated", shipment


def shipment_events(before: Order, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (event, data) for each shipment that is new, cancelled or otherwise differs.

    The data are the shipment with the order's reference.
    """
    for happened, shipment in _list_differences(before.fields, after.fields):
        yield f"shipment.{happened}", {**shipment, **order_reference(after)}


def describe_shipments(before: StoredOrder, after: StoredOrder) -> Iterator[str]:
    """Yield `shipment created, pieces: 2`, or `shipment cancelled, pieces: 2`, for each difference.

    A change of a shipment has no text in the history, nor has one that a status implied.
    """
    for happened, shipment in _list_differences(before, after):
        if happened != "updated" and not shipment["implied"]:
            pieces = sum(line["quantity"] for line in shipment["lines"])
            yield f"shipment {happened}, pieces: {pieces}"
