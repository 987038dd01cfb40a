"""Pure functions for closing an order: what the shop keeps, and what goes back.

The rules: docs/orders.md#closing.
"""

from collections.abc import Iterator
from decimal import Decimal

from chalicelib.orders.account import Account, Denied, with_balance
from chalicelib.orders.model import Order, StoredOrder, order_reference
from chalicelib.orders.pieces import count_pieces
from chalicelib.orders.refunds import make_refund, refund_by_method
from chalicelib.orders.schemas import CloseOrder, OrderStatus, RefundInput
from chalicelib.orders.transitions import BEFORE_SHIPPING, GIVES_BACK, move_status
from chalicelib.problems import Invalid
from chalicelib.values import money


def close_order(fields: StoredOrder, wanted: CloseOrder, by: str, now: str) -> StoredOrder:
    """Return the fields of the order closed; the same object if it keeps so much already.

    What was paid beyond `keep` is refunded; a PENDING order becomes CANCELLED, a PAID one that
    keeps nothing of its money REFUNDED; before shipping the lines keep as `taken` only what is at
    the customer. A closed order can be closed again to keep less. Raise Denied, Invalid.
    """
    status, net, keep = fields["status"], Account.from_fields(fields).net, Decimal(wanted.keep)
    if fields["closedAt"] and keep == net:
        return fields
    if fields["closedAt"] and keep > net:
        message = f"The order is closed, and keeps {money.render(net)}: it can only keep less."
        raise Denied("order_closed", message, kept=net)
    if status in GIVES_BACK and not fields["closedAt"]:
        raise Denied("order_closed", f"The order is {status}: it has ended.")
    if keep > net:
        message = f"must be at most what was paid and not refunded, {money.render(net)}"
        raise Invalid.field("keep", "out_of_range", message)
    after = fields.copy()
    if status == OrderStatus.PENDING:
        after["status"] = status = move_status(OrderStatus.PENDING, OrderStatus.CANCELLED)
    if status == OrderStatus.CANCELLED:
        after["retained"] = money.render(keep) if keep else None
    after = _refund_rest(after, wanted, net - keep, by, now)
    if status == OrderStatus.PAID and net and not keep:
        after["status"] = move_status(OrderStatus.PAID, OrderStatus.REFUNDED)
    if fields["status"] in BEFORE_SHIPPING:
        pieces = count_pieces(fields)
        after["lineItems"] = [
            {**line, "taken": min(line["taken"], pieces[line["id"]].at_customer)}
            for line in after["lineItems"]
        ]
    after["closeReason"] = wanted.reason
    if not fields["closedAt"]:
        after |= {"closedAt": now, "closedBy": by}
    return with_balance(after)


def _refund_rest(
    fields: StoredOrder, wanted: CloseOrder, amount: Decimal, by: str, now: str
) -> StoredOrder:
    """Return the fields after refunds of `amount`: as sent, or by the payments' methods.

    Raise Denied, Invalid if those that were sent are not `amount` in all. No amount: no refund.
    """
    if not wanted.refunds:
        return refund_by_method(fields, amount, by, now, wanted.method)
    sent = sum((Decimal(part.amount) for part in wanted.refunds), Decimal(0))
    if sent > amount:
        message = f"{money.render(sent)} is more than is not kept, {money.render(amount)}."
        raise Denied("exceeds_refundable", message, refundable=amount)
    if sent < amount:
        message = f"must be {money.render(amount)} in all, which is what is not kept"
        raise Invalid.field("refunds", "out_of_range", message)
    for part in wanted.refunds:
        refund = RefundInput.model_validate(part.sent_fields())
        fields = make_refund(fields, refund, by, now).after
    return fields


def close_events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield ("order.closed", data) if the order was closed, or keeps another amount since.

    Else nothing. The data are {closedAt, closedBy, closeReason, kept, status} with the order's
    reference. A new order (`before` None) has none.
    """
    closing = {name: after.fields[name] for name in ("closedAt", "closedBy", "closeReason", "kept")}
    if before and closing["kept"] not in {None, before.fields["kept"]}:
        yield "order.closed", {**order_reference(after), "status": after.status, **closing}
