"""How many pieces of each line were shipped, came back, or are still to ship: pure functions.

All of it follows from the shipments and the refunds of an order (docs/orders.md#shipments), so that
nothing can disagree with them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from chalicelib.orders.schemas import (
    OrderStatus,
    ShippedLine,
    ShippingMethod,
    ShippingStatus,
    ShownShipment,
)
from chalicelib.storage.attributes import Fields

_ARRIVING: Final = frozenset({OrderStatus.SHIPPED, OrderStatus.DELIVERED})
_ENDED: Final = frozenset({OrderStatus.CANCELLED, OrderStatus.REFUNDED})


@dataclass(frozen=True)
class Pieces:
    """The pieces of one line: quantity = `shipped` + `withdrawn` + `to_ship`.

    `withdrawn`: they were refunded, or the order ended, before they were shipped. `returned`: of
    those shipped, how many came back.
    """

    shipped: int
    withdrawn: int
    to_ship: int
    returned: int

    @property
    def at_customer(self) -> int:
        """Return how many pieces were shipped and did not come back."""
        return self.shipped - self.returned


def count_pieces(fields: Fields) -> dict[str, Pieces]:
    """Return {line id: Pieces} of an order: shipped, withdrawn, still to ship, and returned.

    Cancelled shipments do not count. Of an order that was closed, cancelled or refunded, nothing is
    to ship.
    """
    shipped, refunded, returned = Counter[str](), Counter[str](), Counter[str]()
    for shipment in valid_shipments(fields):
        shipped.update({line["lineItemId"]: int(line["quantity"]) for line in shipment["lines"]})
    for refund in fields["refunds"]:
        for part in refund["lines"]:
            refunded[part["lineItemId"]] += int(part["quantity"])
            returned[part["lineItemId"]] += int(part["returned"])
    has_ended = bool(fields["closedAt"]) or fields["status"] in _ENDED
    found = {}
    for line in fields["lineItems"]:
        id, unshipped = line["id"], int(line["quantity"]) - shipped[line["id"]]
        # Release 1.0.0, after a roll-back, does not say what came back.
        back = max(returned[id], refunded[id] - unshipped)
        withdrawn = unshipped if has_ended else refunded[id] - back
        found[id] = Pieces(shipped[id], withdrawn, unshipped - withdrawn, back)
    return found


def valid_shipments(fields: Fields) -> list[Any]:
    """Return the shipments that were not cancelled, oldest first. The fields have `shipments`."""
    return [shipment for shipment in fields["shipments"] if not shipment["cancelledAt"]]


def shipping_status(pieces: Mapping[str, Pieces]) -> ShippingStatus:
    """Return NONE if nothing was shipped, PARTIAL if something is still to ship, else ALL.

    `pieces`: of each line, by its id.
    """
    if not any(one.shipped for one in pieces.values()):
        return ShippingStatus.NONE
    is_partial = any(one.to_ship for one in pieces.values())
    return ShippingStatus.PARTIAL if is_partial else ShippingStatus.ALL


# --- Orders of release 1.0.0 ----------------------------------------------------------------------


def restored_id(order_id: str) -> str:
    """Return the id of the shipment of an order that release 1.0.0 shipped; no list has it."""
    return f"shp_{order_id[4:]}"


def restore_shipments(fields: Fields) -> Iterator[tuple[str, object]]:
    """Yield ("refunds", …) and ("shipments", …) of an order, also if release 1.0.0 has written it.

    Refunds say what was returned. After the stored shipments comes an implied one of all that
    release 1.0.0 shipped without any. A field is left out if what it follows from was not read.
    """
    if "refunds" in fields:
        shipped_at = fields.get("shippedAt")
        refunds = [_with_returned(refund, shipped_at) for refund in fields["refunds"]]
        yield "refunds", refunds
        if "lineItems" in fields and "status" in fields:
            known = {**fields, "refunds": refunds, "shipments": fields.get("shipments", [])}
            yield "shipments", [*known["shipments"], *_missing_shipments(known)]


def _with_returned(refund: Fields, shipped_at: str | None) -> Fields:
    """Return a refund whose lines say in `returned` how many of their pieces came back.

    One of release 1.0.0 does not say it: all pieces did if the order was shipped before, else none.
    """
    if all("returned" in part for part in refund["lines"]):
        return refund
    is_late = shipped_at is not None and refund["createdAt"] >= shipped_at
    parts = [{"returned": part["quantity"] * is_late, **part} for part in refund["lines"]]
    return {**refund, "lines": parts}


def _missing_shipments(fields: Fields) -> Iterator[Fields]:
    """Yield one shipment of all that is still to ship of a SHIPPED or DELIVERED order, or none.

    Release 1.0.0 stored none. It is implied; who and when is read from the history.
    """
    if fields["status"] not in _ARRIVING:
        return
    lines = lines_to_ship({**fields, "closedAt": None})
    if lines:
        moves = {entry["change"].partition(",")[0]: entry for entry in fields["history"]}
        shipped, delivered = (moves.get(f"status {move}") for move in _MOVES)
        number = fields["trackingNumber"]
        yield {
            **make_implied_shipment(restored_id(fields["id"]), lines, number, fields["shippedAt"]),
            "by": shipped["by"] if shipped else "",
            "deliveredAt": (delivered or {"at": fields["updatedAt"]})["at"]
            if fields["status"] == OrderStatus.DELIVERED
            else None,
        }


_MOVES: Final = ("PROCESSING → SHIPPED", "SHIPPED → DELIVERED")
# What pieces and shipments follow from, in an order's item.
MADE_OF: Final = (
    *("id", "lineItems", "refunds", "shipments", "status", "closedAt"),
    *("shippedAt", "trackingNumber", "history", "updatedAt"),
)


def lines_to_ship(fields: Fields) -> list[ShippedLine]:
    """Return [{lineItemId, quantity}] of everything that is still to ship, by the lines."""
    return [
        {"lineItemId": id, "quantity": one.to_ship}
        for id, one in count_pieces(fields).items()
        if one.to_ship
    ]


def make_implied_shipment(
    id: str, lines: list[ShippedLine], number: str | None, now: str
) -> ShownShipment:
    """Return a shipment as a status implies it: shipped now, not delivered, by nobody.

    It has one parcel if it has a tracking number, else none.
    """
    return {
        "id": id,
        "method": ShippingMethod.PARCEL,
        "lines": lines,
        "carrier": None,
        "parcels": [{"trackingNumber": number, "trackingUrl": None}] if number else [],
        "note": None,
        "shippedAt": now,
        "createdAt": now,
        "by": "",
        "deliveredAt": None,
        "cancelledAt": None,
        "cancelReason": None,
        "implied": True,
    }
