"""Orders, for the shop's staff and programs."""

from chalice.app import Response

from chalicelib.files.schemas import FileChange, FilesOfOrder, FileUpload, NewFile, ShownFile
from chalicelib.files.store import show_file, show_upload
from chalicelib.listing.external_ids import resolve_id
from chalicelib.orders import carriers, files, store
from chalicelib.orders.model import show_order, show_shipment, show_transaction
from chalicelib.orders.production import load_settings, save_settings, show_card
from chalicelib.orders.schemas import (
    CancelShipment,
    CloseOrder,
    ClosePreview,
    CorrectPayment,
    EditOrder,
    EditPreview,
    ListDueOrders,
    ListedShipment,
    ListOrderFields,
    ListShipments,
    ListTransactions,
    ListWork,
    NewOrder,
    NewShipment,
    OrderChange,
    OrderFields,
    OrderPreview,
    PaymentsPreview,
    ProductionSettingsInput,
    RefundInput,
    RefundPreview,
    ShipmentChange,
    ShipmentPreview,
    ShippingSettingsInput,
    ShownOrder,
    ShownProductionSettings,
    ShownShippingSettings,
    ShownTransaction,
    ShownWork,
    TakePayments,
    VoidPayment,
    WorkChange,
    WorkList,
    WorkOfOrder,
    WorkState,
)
from chalicelib.problems import Conflict, PreconditionFailed
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body,
    body_once,
    caller,
    if_match,
    query,
    reply,
    reply_page,
    reply_text,
)
from chalicelib.schemas import Deleted, Walked
from chalicelib.storage.idempotency import Once, withdraw_if_refused

routes = Routes(__name__, "Orders")


def _request(once: Once | None = None) -> store.ChangeRequest:
    """Return who makes a change, and on which condition. `once`: the request's idempotency key."""
    return store.ChangeRequest(caller().name, if_match(), once)


def _reply_written(status: int, written: store.Written) -> Response:
    """Return the answer with the text of a change, and the order's ETag."""
    return reply_text(status, written.text, etag=written.after.etag)


@routes.get(
    "/api/admin/orders",
    "List orders",
    role=Role.READER,
    query=ListOrderFields,
    answers={200: Walked[ShownOrder]},
)
def list_orders() -> Response:
    """By order date, newest first. `search` finds the beginnings of words in the number (also its
    last three or more digits), tracking number, customer's name and e-mail, tags, and lines.
    """
    wanted = query(ListOrderFields)
    page = store.page(wanted.to_query(), wanted.fields)
    costs = caller().sees_costs
    shown = [show_order(order, wanted.fields, costs=costs) for order in page.records]
    return reply_page(shown, page)


@routes.post(
    "/api/admin/orders",
    "Create an order",
    role=Role.STAFF,
    body=NewOrder,
    answers={200: OrderPreview, 201: ShownOrder},
    problems=[Conflict],
    headers=IDEMPOTENT,
    reads_first=True,
)
def create() -> Response:
    """Takes stock, or is refused: 422 `insufficient_stock` names the lines. With
    `paymentStatus` PAID it starts as PAID. 409 `external_id_taken` has the `id` of the order that
    has the `externalId`. Emits order.created, and order.paid, customer.created, inventory.low where
    they apply. With `dryRun` nothing is written: 200 says what the order would be.
    """
    new, once = body_once(NewOrder)
    if new.dry_run:
        return reply(200, store.preview_create(new, caller().name))
    order, text = store.create(new, caller().name, once)
    return reply_text(201, text, etag=order.etag)


@routes.get(
    "/api/admin/orders/due",
    "List the orders that are due",
    role=Role.READER,
    query=ListDueOrders,
    answers={200: Walked[ShownOrder]},
)
def list_due_orders() -> Response:
    """Open orders that have a day, earliest first: their own `dueOn`, or the earliest of the lines
    that are not shipped. Overdue begins the day after it, in the shop's time zone.
    """
    wanted = query(ListDueOrders)
    page, costs = store.list_due_orders(wanted.to_query(), wanted.fields), caller().sees_costs
    shown = [show_order(one.order, wanted.fields, costs=costs) for one in page.records]
    return reply_page(shown, page)


@routes.get(
    "/api/admin/orders/{id}",
    "Get an order",
    role=Role.READER,
    query=OrderFields,
    answers={200: ShownOrder, 304: None},
)
def get(id: str) -> Response:
    """The `id` may be `externalId:4711`. With `fields` there is no ETag."""
    fields = query(OrderFields).fields
    order = store.get(resolve_id("order", id), fields)
    shown = show_order(order, fields, costs=caller().sees_costs)
    return reply(200, shown, etag=None if fields else order.etag)


@routes.patch(
    "/api/admin/orders/{id}",
    "Change an order",
    role=Role.STAFF,
    body=OrderChange,
    answers={200: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def update(id: str) -> Response:
    """`status` moves along the transitions only; any other is 422 `invalid_transition` with
    `from`, `to` and `allowed`. PAID and REFUNDED set the payment status too; CANCELLED and REFUNDED
    return the stock. Emits order.updated, and the more specific events.
    """
    change, once = body_once(OrderChange)
    return _reply_written(200, store.update(resolve_id("order", id, once), change, _request(once)))


@routes.delete(
    "/api/admin/orders/{id}",
    "Delete an order",
    role=Role.OWNER,
    answers={200: Deleted},
    problems=[PreconditionFailed],
    reads_first=True,
)
def delete(id: str) -> Response:
    """If it was not shipped, its stock is returned."""
    store.delete(id, _request())
    return reply(200, {"id": id, "deleted": True})


@routes.post(
    "/api/admin/orders/{id}/edit",
    "Edit lines and amounts",
    role=Role.STAFF,
    body=EditOrder,
    answers={200: ShownOrder | EditPreview},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def edit(id: str) -> Response:
    """Lines and amounts until the order is SHIPPED; customer, source and date at any time. Stock
    moves by the difference; money does not: `balanceDue` says what is due or owed. If the order has
    tax and its amounts change, `tax` must be sent: 422 `tax_required` has `proposed`. 409
    `spec_locked`, with `lineItemId` and `startedAt`: a line on which work has begun changes in
    title, quantity or specification, or goes, only with `unlock`. With `dryRun` nothing is written,
    and the answer says what would be. Emits order.edited and order.updated, and order.paid,
    inventory.low where they apply.
    """
    wanted, once = body_once(EditOrder)
    if wanted.dry_run:
        return reply(200, store.preview_edit(id, wanted, _request()))
    return _reply_written(200, store.edit(id, wanted, _request(once)))


@routes.post(
    "/api/admin/orders/{id}/close",
    "Close an order",
    role=Role.STAFF,
    body=CloseOrder,
    answers={200: ShownOrder | ClosePreview},
    problems=[PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def close(id: str) -> Response:
    """Ends an order in any status: refunds what it does not `keep`, returns pieces that were not
    shipped, and leaves nothing due. PENDING becomes CANCELLED; PAID becomes REFUNDED if money was
    in hand and nothing is kept; another status stays. Closed again, it can only keep less. 422
    `order_closed`: it takes no payment, edit or move. With `dryRun` nothing is written, and the
    answer says what would happen. Emits order.closed, order.updated, refund.created, and
    order.cancelled, order.refunded where they apply.
    """
    wanted, once = body_once(CloseOrder)
    if wanted.dry_run:
        return reply(200, store.preview_close(id, wanted, _request()))
    return _reply_written(200, store.close(id, wanted, _request(once)))


@routes.post(
    "/api/admin/orders/{id}/payments",
    "Record payments",
    role=Role.STAFF,
    body=TakePayments,
    answers={200: PaymentsPreview, 201: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def pay(id: str) -> Response:
    """One payment, or up to ten in `payments`; without `amount` it is what is due. A PENDING order
    becomes PAID when nothing is due, or its deposit is reached. 422 `overpaid` has `balanceDue`.
    With `dryRun` nothing is written: 200 says what would be, also the `change`. Emits
    payment.created, order.updated, and order.paid where it applies.
    """
    received, once = body_once(TakePayments)
    if received.dry_run:
        return reply(200, store.preview_payments(id, received.all_payments, _request()))
    return _reply_written(201, store.record_payments(id, received.all_payments, _request(once)))


@routes.post(
    "/api/admin/orders/{id}/payments/{payment_id}/void",
    "Void a payment",
    role=Role.STAFF,
    body=VoidPayment,
    answers={200: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def void_payment(id: str, payment_id: str) -> Response:
    """The money never came: the payment no longer counts. One that was refunded cannot be voided:
    409 `payment_refunded`. Emits payment.voided and order.updated.
    """
    void, once = body_once(VoidPayment)
    written = store.void_payment(id, payment_id, void.reason or None, _request(once))
    return _reply_written(200, written)


@routes.post(
    "/api/admin/orders/{id}/payments/{payment_id}/correct",
    "Correct how a payment came",
    role=Role.STAFF,
    body=CorrectPayment,
    answers={200: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def correct_payment(id: str, payment_id: str) -> Response:
    """Voids the payment and records it again with another `method`, in one transaction: the same
    amount, reference, note and `receivedAt`. What is due stays. Emits payment.voided,
    payment.created and order.updated.
    """
    wanted, once = body_once(CorrectPayment)
    return _reply_written(200, store.correct_method(id, payment_id, wanted, _request(once)))


@routes.post(
    "/api/admin/orders/{id}/refunds",
    "Refund lines or an amount",
    role=Role.STAFF,
    body=RefundInput,
    answers={200: RefundPreview, 201: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def refund(id: str) -> Response:
    """Refunds the share of `lines`, with its tax; `amount` overrules it. Pieces return
    to the stock if `restock` says so, by default those that were not shipped. With `dryRun` nothing
    is written: 200 says what would be. 422 `exceeds_refundable` has `refundable`. Emits
    refund.created and order.updated, and order.refunded when nothing is left.
    """
    wanted, once = body_once(RefundInput)
    if wanted.dry_run:
        return reply(200, store.preview_refund(id, wanted, _request()))
    return _reply_written(201, store.refund(id, wanted, _request(once)))


@routes.post(
    "/api/admin/orders/{id}/shipments",
    "Ship an order, or a part of it",
    role=Role.STAFF,
    body=NewShipment,
    answers={200: ShipmentPreview, 201: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def ship(id: str) -> Response:
    """Of a PAID, IN_PRODUCTION or PROCESSING order, without `lines` all that is left. The status
    becomes PROCESSING, and SHIPPED with the last piece; DELIVERED if all of it was handed over. 422
    `exceeds_quantity` has the lines, `not_shippable` the `status`. With `dryRun` nothing is
    written: 200 says what would be. Emits shipment.created and order.updated, and order.shipped
    with the last piece.
    """
    wanted, once = body_once(NewShipment)
    if wanted.dry_run:
        return reply(200, store.preview_ship(id, wanted, _request()))
    return _reply_written(201, store.ship(id, wanted, _request(once)))


@routes.patch(
    "/api/admin/orders/{id}/shipments/{shipment_id}",
    "Change a shipment",
    role=Role.STAFF,
    body=ShipmentChange,
    answers={200: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    reads_first=True,
)
def change_shipment(id: str, shipment_id: str) -> Response:
    """At any time: a wrong number is corrected after SHIPPED. When the last shipment of a SHIPPED
    order is delivered, the order is DELIVERED. 409 `shipment_cancelled`. Emits shipment.updated and
    order.updated.
    """
    written = store.change_shipment(id, shipment_id, body(ShipmentChange), _request())
    return _reply_written(200, written)


@routes.post(
    "/api/admin/orders/{id}/shipments/{shipment_id}/cancel",
    "Cancel a shipment",
    role=Role.STAFF,
    body=CancelShipment,
    answers={200: ShownOrder},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def cancel_shipment(id: str, shipment_id: str) -> Response:
    """Until the order is SHIPPED: its pieces are to ship again. 422 `too_late`, or
    `pieces_returned` if some came back. Emits shipment.cancelled and order.updated.
    """
    wanted, once = body_once(CancelShipment)
    return _reply_written(200, store.cancel_shipment(id, shipment_id, wanted, _request(once)))


@routes.get(
    "/api/admin/shipments",
    "List shipments",
    role=Role.READER,
    query=ListShipments,
    answers={200: Walked[ListedShipment]},
)
def list_shipments() -> Response:
    """Of all orders, by when they were shipped, newest first."""
    page = store.list_shipments(query(ListShipments).to_query())
    return reply_page([show_shipment(shipment) for shipment in page.records], page)


@routes.get(
    "/api/admin/settings/shipping",
    "Get the settings of shipping",
    role=Role.STAFF,
    answers={200: ShownShippingSettings, 304: None},
)
def get_shipping_settings() -> Response:
    """The carriers that the shop knows."""
    settings, etag = carriers.load_settings()
    return reply(200, settings, etag=etag)


@routes.put(
    "/api/admin/settings/shipping",
    "Replace the settings of shipping",
    role=Role.ADMIN,
    body=ShippingSettingsInput,
    answers={200: ShownShippingSettings},
    problems=[PreconditionFailed],
    reads_first=True,
)
def put_shipping_settings() -> Response:
    """All of them. `trackingUrl` of a carrier has `{number}` where the tracking number is: parcels
    of this carrier get that address.
    """
    settings, etag = carriers.save_settings(body(ShippingSettingsInput), if_match())
    return reply(200, settings, etag=etag)


@routes.get(
    "/api/admin/work",
    "List work on what is made to order",
    role=Role.READER,
    query=ListWork,
    answers={200: WorkList},
)
def list_work() -> Response:
    """Open work by the day by which it is due, that without a day last; or what has ended, latest
    first. `counts` and `overdue` are of all open work.
    """
    wanted = query(ListWork)
    kind = store.WORK if wanted.state is WorkState.OPEN else store.CLOSED_WORK
    page, counts, overdue = store.read_board(wanted.to_query(), kind)
    return reply_page(list(map(show_card, page.records)), page, counts=counts, overdue=overdue)


@routes.get(
    "/api/admin/orders/{id}/work",
    "List the work on an order",
    role=Role.READER,
    answers={200: WorkOfOrder, 304: None},
)
def get_work(id: str) -> Response:
    """Also what has ended. 404 while the order is PENDING: work begins when it is PAID."""
    cards, etag = store.get_work(id)
    return reply(200, {"data": list(map(show_card, cards))}, etag=etag)


@routes.patch(
    "/api/admin/orders/{id}/work/{line_item_id}",
    "Change the work on a line",
    role=Role.STAFF,
    body=WorkChange,
    answers={200: ShownWork},
    problems=[Conflict, PreconditionFailed],
    reads_first=True,
)
def change_work(id: str, line_item_id: str) -> Response:
    """Work that leaves the first stage leads a PAID order to IN_PRODUCTION. In the last stage it is
    DONE: all pieces are made. With the last open work of an order the order has `producedAt`. 409
    `work_closed` with `state` and `closedBy`; 422 `unknown_stage` with the `allowed`. Emits
    work.updated, order.updated if the order changes, and order.produced.
    """
    card = store.change_work(id, line_item_id, body(WorkChange), caller().name, if_match())
    assert card.order.work
    return reply(200, show_card(card), etag=card.order.work.etag)


@routes.get(
    "/api/admin/orders/{id}/files",
    "List the files of an order",
    role=Role.READER,
    answers={200: FilesOfOrder},
)
def list_files(id: str) -> Response:
    """Photos, drawings, anything that belongs to an order. The addresses in `urls` end at
    `expiresAt`, after ten minutes: list again for new ones.
    """
    return reply(200, {"data": list(map(show_file, files.list_files(id)))})


@routes.post(
    "/api/admin/orders/{id}/files",
    "Upload a file of an order",
    role=Role.STAFF,
    body=NewFile,
    answers={201: FileUpload},
    headers=IDEMPOTENT,
)
def create_file(id: str) -> Response:
    """Post a form to `upload.url` within the hour: all `upload.fields`, then `file`. Seconds later
    the file is READY. An order has at most 50: 422 `too_many_files`; 422 `unknown_line`. A retry
    with the same Idempotency-Key returns the same file with a new form. Emits file.ready once it
    is READY.
    """
    new, repeatable = body_once(NewFile)
    begun = repeatable.begin_or_resume() if repeatable else None
    file_id = begun.id("fil", 0) if begun else None
    with withdraw_if_refused(begun):
        return reply(201, show_upload(files.create_file(id, new, caller().name, file_id)))


@routes.get(
    "/api/admin/orders/{id}/files/{file_id}",
    "Get a file of an order",
    role=Role.READER,
    answers={200: ShownFile},
)
def get_file(id: str, file_id: str) -> Response:
    """One that is not READY within a day after its upload was asked for is deleted."""
    return reply(200, show_file(files.get_file(id, file_id)))


@routes.patch(
    "/api/admin/orders/{id}/files/{file_id}",
    "Change a file of an order",
    role=Role.STAFF,
    body=FileChange,
    answers={200: ShownFile},
    reads_first=True,
)
def change_file(id: str, file_id: str) -> Response:
    """Its name, note and line. A file whose line is removed stays with the order."""
    return reply(200, show_file(files.change_file(id, file_id, body(FileChange))))


@routes.delete(
    "/api/admin/orders/{id}/files/{file_id}",
    "Delete a file of an order",
    role=Role.STAFF,
    answers={200: Deleted},
)
def delete_file(id: str, file_id: str) -> Response:
    """At once: its addresses lead nowhere."""
    files.delete_file(id, file_id)
    return reply(200, {"id": file_id, "deleted": True})


@routes.get(
    "/api/admin/settings/production",
    "Get the settings of production",
    role=Role.STAFF,
    answers={200: ShownProductionSettings, 304: None},
)
def get_production_settings() -> Response:
    """The stages of the workshop."""
    settings, etag = load_settings()
    return reply(200, settings, etag=etag)


@routes.put(
    "/api/admin/settings/production",
    "Replace the settings of production",
    role=Role.ADMIN,
    body=ProductionSettingsInput,
    answers={200: ShownProductionSettings},
    problems=[Conflict, PreconditionFailed],
    reads_first=True,
)
def put_production_settings() -> Response:
    """All of them. Stages with an `id` stay, and may have another name. 409 `stage_in_use` with the
    `stage` and the `count` of open work, if it is removed or becomes the last.
    """
    settings, etag = save_settings(body(ProductionSettingsInput), if_match())
    return reply(200, settings, etag=etag)


@routes.get(
    "/api/admin/transactions",
    "List payments, refunds and voids",
    role=Role.READER,
    query=ListTransactions,
    answers={200: Walked[ShownTransaction]},
)
def list_transactions() -> Response:
    """Newest first, of all orders."""
    page = store.list_transactions(query(ListTransactions).to_query())
    return reply_page([show_transaction(transaction) for transaction in page.records], page)
