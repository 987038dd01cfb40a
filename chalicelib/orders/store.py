"""Orders in the table: `ord_…` / `order`, with its lines.

A write is one commit with all its effects: stock, customer, lists, counts, the kept reply, events.
After a concurrent change it is computed again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, TypeVar, overload

from chalicelib import deadline, listing
from chalicelib.customers import store as customers
from chalicelib.customers.model import Customer, EmailTaken
from chalicelib.customers.schemas import OrderCustomerInput
from chalicelib.files import store as files
from chalicelib.listing import external_ids
from chalicelib.listing.counts import sum_counts
from chalicelib.listing.entries import entries_of
from chalicelib.listing.lists import Lists
from chalicelib.listing.lookup import find_records_by_text
from chalicelib.listing.positions import id_of
from chalicelib.listing.query import key_parts
from chalicelib.listing.search import MOST_MATCHES, TooBroad
from chalicelib.orders import (
    account,
    carriers,
    closing,
    due,
    editing,
    lifecycle,
    lines,
    payments,
    production,
    refunds,
    room,
    sales,
    shipments,
    spending,
    transactions,
    transitions,
)
from chalicelib.orders.model import (
    KIND,
    MADE_OF,
    Order,
    Shipment,
    Transaction,
    from_item,
    index_of,
    show_order,
    show_preview,
    show_shipment,
    show_transaction,
    to_item,
)
from chalicelib.orders.numbers import KEY as NUMBERS
from chalicelib.orders.numbers import Numbers, NumberTaken, next_number
from chalicelib.orders.pieces import lines_to_ship
from chalicelib.orders.schemas import (
    NOT_CLOSED,
    Balance,
    CancelShipment,
    CloseOrder,
    CorrectPayment,
    DueIn,
    EditOrder,
    ListTransactions,
    NewOrder,
    NewShipment,
    OrderChange,
    PaymentInput,
    PreviewedPayment,
    PreviewedRefund,
    RefundInput,
    ShipmentChange,
    StockPolicy,
    WorkChange,
    days_of,
)
from chalicelib.orders.stages import SETTINGS, OrderWork, Stages, work_key, work_keys
from chalicelib.problems import Busy, Invalid, NotFound, PreconditionFailed
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.schemas import pick_members
from chalicelib.storage import idempotency, outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.dynamodb import wait_for_results
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.threads import run_together
from chalicelib.values import clock, ids, timezone
from chalicelib.values.batches import batches
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

MOVES: Final = transitions.MOVES
PAYMENT_MOVES: Final = transitions.PAYMENT_MOVES
list_days, compare_sales = sales.list_days, sales.compare_sales
sum_by_method = transactions.sum_by_method
earliest_recorded = transactions.earliest_recorded
facts_about = lifecycle.facts_about
TRANSACTIONS: Final = transactions.KIND
SHIPMENTS: Final = shipments.KIND
DUE: Final = due.KIND
WORK, CLOSED_WORK = production.KIND, production.CLOSED
LISTS_OF_PARTS: Final = (TRANSACTIONS, SHIPMENTS, DUE, WORK, CLOSED_WORK)
compare_spending = spending.compare_spending


@dataclass(frozen=True)
class ChangeRequest:
    """Who asks for a change, and how.

    `by`: the name of the key. Raised for `if_match`: PreconditionFailed; for `once`: Repeated and
    KeyReused.
    """

    by: str = ""
    if_match: frozenset[str] | None = None
    once: Once | None = None

    def require_unchanged(self, order: Order) -> Order:
        """Return the order as it is; raise PreconditionFailed if `if_match` lacks its ETag.

        Without `if_match` any version is accepted.
        """
        if self.if_match is not None and order.etag not in self.if_match:
            raise PreconditionFailed.for_kind("order")
        return order


class Written(NamedTuple):
    """An order before and after a change, and the text that answers the request."""

    before: Order
    after: Order
    text: str


Part = TypeVar("Part", Transaction, Shipment)
Also = Callable[[Commit, Order, Order], None]
GoneVariants = frozenset[str]  # which take no returned stock
Returns = Callable[[Order, Order | None], dict[str, dict[str, int]]]
Revise = Callable[[Order, GoneVariants], Order | None]

_ERASED: Final = "order.erased"  # whose audit entry has no changes
_WORK_UPDATED: Final = "work.updated"  # whose audit entry also has those of the work
# What transactions are made of, and how many orders are loaded at a time.
_MONEY: Final = (
    *("number", "customer", "status", "paymentStatus", "payments", "refunds", "tax", "closedAt"),
)
_LOADED: Final = 1_000
_COMPARED: Final = 100  # orders that a check of list entries loads at a time


class InsufficientStock(Invalid):
    """422 with `lines`: [{variantId, requested, available}]."""

    code = "insufficient_stock"
    text = "There is not enough stock for this order."


class OrderChanged(Exception):
    """The order, its work or the stages were changed since they were read."""


def _key(id: str) -> Key:
    return id, "order"


def _compute_index(item: Item) -> listing.Index:
    """Compute the index of a stored order, perhaps of release 1.0.0, anew from its fields."""
    return index_of(from_item(item).fields)


RECORDS: Final = listing.Records(KIND, _key, _compute_index, from_item, "ord", made_of=MADE_OF)


# --- Reading --------------------------------------------------------------------------------------


load, get, page = RECORDS.load, RECORDS.get, RECORDS.read_page


def list_transactions(query: listing.Query) -> listing.Page[Transaction]:
    """Return a page of payments, voids and refunds.

    If the query filters by `orderId` or `reference`, those orders are loaded whole, and their
    transactions filtered, sorted and counted here. Otherwise the list of transactions is read, and
    the orders to which its entries lead. Raise TooBroad if too many orders have the reference.
    """
    where = {facet: set(values) for facet, values in query.where.items()}
    order_ids, references = where.pop("orderId", None), where.pop("reference", None)
    if order_ids is None and references is None:
        read = partial(_load_parts, transactions.list_transactions)
        return listing.read_page(transactions.KIND, query, read)
    fitting = (
        transaction
        for order in _load_orders_of_parts(order_ids, references, _MONEY)
        for transaction in transactions.list_transactions(order).values()
        if (references is None or transaction.fields["reference"] in references)
        if all(show_transaction(transaction)[facet] in values for facet, values in where.items())
        if query.between.holds(transaction.fields["at"])
    )
    return listing.page_of(transactions.KIND, query, fitting)


def list_shipments(query: listing.Query) -> listing.Page[Shipment]:
    """Return a page of shipments.

    If the query filters by `orderId` or `trackingNumber`, those orders are loaded whole, and their
    shipments filtered, sorted and counted here. Otherwise the list of shipments is read, and the
    orders to which its entries lead. Raise TooBroad if too many orders have the number.
    """
    where = {facet: set(values) for facet, values in query.where.items()}
    order_ids, numbers = where.pop("orderId", None), where.pop("trackingNumber", None)
    if order_ids is None and numbers is None:
        read = partial(_load_parts, shipments.list_shipments)
        return listing.read_page(SHIPMENTS, query, read)
    fitting = (
        shipment
        for order in _load_orders_of_parts(order_ids, numbers, ())
        for shipment in shipments.list_shipments(order).values()
        if (numbers is None or numbers.intersection(shipments.tracking_numbers_of(shipment)))
        if all(show_shipment(shipment)[facet] in values for facet, values in where.items())
        if query.between.holds(shipment.fields["shippedAt"])
    )
    return listing.page_of(SHIPMENTS, query, fitting)


def compare_shipments() -> listing.Recount:
    """Compare the list of shipments with the orders that its entries name; return what differs.

    Nothing is written.
    """
    return shipments.compare_entries(load)


def list_due_orders(query: listing.Query, fields: Sequence[str]) -> listing.Page[due.DueOrder]:
    """Return a page of the open orders that are due on a day.

    `fields`: load only these; empty: all.
    """

    def load_due(wanted: list[str]) -> list[due.DueOrder]:
        """Load the orders with these ids; return a DueOrder for each that is still due on a day."""
        orders = load(wanted, (*fields, *due.MADE_OF) if fields else ())
        return [one for order in orders for one in due.list_due(order).values()]

    return listing.read_page(due.KIND, query, load_due)


def list_work(query: listing.Query, kind: listing.Kind) -> listing.Page[production.Card]:
    """Return a page of the work that is open (`kind` WORK), or that has ended (CLOSED_WORK).

    If the query filters by `orderId`, those orders are loaded, and their work is filtered, sorted
    and counted here; otherwise the list is read.
    """
    where = dict(query.where)
    order_ids = where.pop("orderId", None)
    if order_ids is None:
        return listing.read_page(kind, query, partial(_load_cards, kind))
    fitting = (
        card
        for card in production.cards_in_list(kind, _load_with_work(order_ids))
        if card.index.passes_filters(key_parts(kind, where))
        if query.between.holds(card.index.sort)
    )
    return listing.page_of(kind, query, fitting)


def _load_cards(kind: listing.Kind, entries: list[str]) -> list[production.Card]:
    """Load the orders of these entries of a list; return the work that is still in the list.

    `entries`: ids `<line id>@<order id>`; the work is in their order.
    """
    orders = _load_with_work(dict.fromkeys(map(transactions.order_id, entries)))
    known = {card.id: card for card in production.cards_in_list(kind, orders)}
    return [known[entry] for entry in entries if entry in known]


def _load_with_work(order_ids: Iterable[str]) -> list[Order]:
    """Read the orders with these ids and their work; return those that exist, in order."""
    wanted = [id for id in order_ids if ids.may_be("ord", id)]
    items = table.batch_get(key for id in wanted for key in (_key(id), *work_keys(id)))
    return [_from_items(id, items) for id in wanted if _key(id) in items]


def read_board(
    query: listing.Query, kind: listing.Kind
) -> tuple[listing.Page[production.Card], dict[str, int], int]:
    """Return (a page of work, {id of a stage: how much work is open in it}, how much is overdue).

    The numbers are of all open work, whatever the query and `kind`. Each open stage has one, also
    0.
    """
    page, (cells, (overdue,)) = run_together(
        [partial(list_work, query, kind), partial(_count_work, DueIn.OVERDUE)]
    )
    known = page.records[0].order.work if page.records else None
    stages = known.stages if known else Stages.from_item(table.get(SETTINGS))
    return page, production.count_in_cells(cells, stages.open), overdue


def count_open_work() -> tuple[int, int, int]:
    """Return how much work is open, how much of it is overdue, and how much due today."""
    cells, (overdue, today) = _count_work(DueIn.OVERDUE, DueIn.TODAY)
    return sum(int(cell.get("n", 0)) for cell in cells), overdue, today


def _count_work(*due: DueIn) -> tuple[list[Item], list[int]]:
    """Read and return (count cells of open work, [how much is due in each of these periods])."""
    ranges = [listing.Range(*days_of(each, timezone.today())) for each in due]
    lists = [Lists(production.KIND, ["*"], {}, bounds).tally_calls(None) for bounds in ranges]
    count = table.query_all.call(production.KIND.count_pk())
    cells, *tallies = wait_for_results([count, *chain.from_iterable(lists)])
    read = iter(tallies)
    return cells, [sum(next(read).passed for _ in calls) for calls in lists]


def compare_work() -> Iterator[tuple[str, listing.Recount]]:
    """Compare the lists of open and of ended work with the orders to which they lead.

    Yield (name of the list, Recount) for both lists, also if nothing differs. Nothing is written.
    """
    return production.compare_entries(_load_with_work)


def discard_entries() -> Iterator[tuple[str, int]]:
    """Delete the list entries of orders' parts that lead nowhere; yield (the list, how many).

    A function that died after its commit left them, or release 1.0.0 after a roll-back. An entry
    whose order or work is written meanwhile stays.
    """
    lists: list[tuple[listing.Kind, Callable[[Order], Mapping[str, listing.Indexed]]]] = [
        (TRANSACTIONS, transactions.list_transactions),
        (SHIPMENTS, shipments.list_entries),
        (DUE, due.list_due),
        *((kind, partial(production.cards_by_id, kind)) for kind in (WORK, CLOSED_WORK)),
    ]
    for kind, list_parts in lists:
        discarded = 0
        for entries in batches(listing.walk_entries(kind, ()), _COMPARED):
            positions = [entry["sk"] for entry in entries]
            places = {sk: transactions.order_id(id) or id for sk in positions for id in [id_of(sk)]}
            keys = [key for id in places.values() for key in (_key(id), *work_keys(id))]
            items = table.batch_get(dict.fromkeys(keys))
            for sk, id in places.items():
                parts = list_parts(_from_items(id, items)) if _key(id) in items else {}
                discarded += _discard_entry(kind, sk, parts.get(id_of(sk)), id, items)
        yield kind.name, discarded


def _discard_entry(
    kind: listing.Kind,
    sk: str,
    part: listing.Indexed | None,
    order_id: str,
    items: Mapping[Key, Item],
) -> bool:
    """Delete a list entry unless it is of `part`; return whether it was deleted.

    It stays if the order or its work is not as in `items` any more.
    """
    id = id_of(sk)
    key = kind.entry_key("*", id, sk.removesuffix(f"#{id}"))
    if part and key in entries_of(kind, id, part.index):
        return False
    commit = Commit()
    commit.delete(key)
    for read in (_key(order_id), work_key(order_id)):
        known = items.get(read)
        commit.check(read, Attr("version").eq(known["version"]) if known else table.absent)
    return commit.try_send()


def _load_orders_of_parts(
    order_ids: set[str] | None, texts: set[str] | None, fields: Iterable[str]
) -> Iterator[Order]:
    """Yield the orders with these ids, loaded a thousand at a time, sorted by id.

    `order_ids` None: those that may have one of `texts`, such as a reference, as a whole word; the
    caller compares them. `fields`: load only these; empty: all. Raises TooBroad if too many may
    have one.
    """
    known = order_ids
    if known is None:
        known = set().union(*find_records_by_text(KIND, texts or ()).values())
        if len(known) > MOST_MATCHES:
            raise TooBroad
    # Words of a title are among what has a reference: many orders, which need no room at once.
    for part in batches(sorted(known), _LOADED):
        yield from load(part, fields)


def _load_parts(list_parts: Callable[[Order], dict[str, Part]], entries: list[str]) -> list[Part]:
    """Load the orders to which these list entries lead; return their parts that are still there.

    `list_parts`: the parts of an order by their entries' ids; `entries`: such ids, whose order
    stays.
    """
    orders = load(dict.fromkeys(map(transactions.order_id, entries)))
    known = {id: part for order in orders for id, part in list_parts(order).items()}
    return [known[entry] for entry in entries if entry in known]


def sum_received_by_method(today: date, most: int) -> list[tuple[str, Decimal]] | None:
    """Return (method, sum) of the money received on the shop's day today, the largest first.

    None if more than `most` could be. What was recorded before `earliest_recorded` was received
    before today, and what is recorded later is not there yet: so a part of the newest is all.
    """
    query = ListTransactions.query_from_body({"from": transactions.earliest_recorded(today)}, 100)
    received: list[Transaction] = []
    for page in listing.walk_pages(list_transactions, query):
        received += page.records
        if len(received) > most:
            return None
    return transactions.add_by_method(
        (one.fields["method"], one.fields["amount"])
        for one in received
        if timezone.day_at(clock.parse(one.received_at)) == today
    )


def count_open_orders() -> tuple[dict[str, int], int, Decimal]:
    """Return ({status: number of orders}, how many orders have a balance due, its sum).

    The statuses are those that are not final. An order that was closed counts in none of the
    numbers.
    """
    cells = table.query_all(KIND.count_pk())
    known = sum_counts(KIND, {}, [cells])

    def count_orders(**where: Iterable[str]) -> int:
        """Return how many orders have, of each named facet, one of its values; nothing is read."""
        return known.size({facet: frozenset(values) for facet, values in where.items()}) or 0

    sizes = {
        status.value: count_orders(status=[status], balance=NOT_CLOSED)
        for status in transitions.OPEN
    }
    amount = sum((Decimal(cell.get("due", 0)) for cell in cells), Decimal(0))
    return sizes, count_orders(balance=[Balance.DUE]), amount


# --- Creating -------------------------------------------------------------------------------------


def create(new: NewOrder, by: str, once: Once | None) -> tuple[Order, str]:
    """Create an order completely or not at all; return it, and the JSON that answers the request.

    One commit also takes its stock and number, registers a new customer or adds to a known one's
    totals, and keeps the answer for `once`. If others wrote meanwhile, it is computed again. Emit
    order.created, order.paid if it is paid, payment.created, customer.created if the e-mail is new,
    and inventory.low. Raise Invalid, InsufficientStock, ExternalIdTaken, Busy; with `once` also
    Repeated and KeyReused.
    """
    until = deadline.of_conflicts()
    numbers = Numbers()
    # Perhaps the same request, sent twice, has just bought the last piece.
    with unless_answered(once):
        for _ in deadline.attempts(until):
            try:
                placing = _place_order(new, by, numbers, once)
                placing.commit.send(until)
                return placing.order, placing.text
            except OrderChanged:  # the stages were
                pass
            except (products.StockMoved, EmailTaken, customers.CustomerMoved, NumberTaken):
                numbers.are_contended = True
    raise Busy


def preview_create(new: NewOrder, by: str) -> dict[str, object]:
    """Return the shape of OrderPreview: what `create` would do now. Raise what it does.

    The commit is put together, refused if it would be, and not sent. The order's `id` and `number`
    are None, and so is a customer who would be new.
    """
    placing = _place_order(new, by, None, None)
    placing.commit.raise_if_refused()
    return show_preview(placing.order, registers=placing.registers)


class _Placing(NamedTuple):
    """A new order, the commit that writes it, and the text that answers the request.

    `registers`: its customer is new.
    """

    order: Order
    commit: Commit
    text: str
    registers: bool


def _place_order(new: NewOrder, by: str, numbers: Numbers | None, once: Once | None) -> _Placing:
    """Read what a new order needs; return it, with the commit that writes it, which is not sent.

    The commit has all its effects: record, lists, stock (with a `stockPolicy` other than CHECK more
    may be sold than there is), the customer, who is registered if new, work that begins by the
    shop's stages, events and the kept answer. Its number may be taken by a write already
    (`Numbers.choose_number`). `numbers` None: the order shows the next number, and takes none.
    Raise Invalid, also if it is too large for a commit, InsufficientStock, ExternalIdTaken; with
    `once` also Repeated and KeyReused.
    """
    wanted = lines.count_pieces(new.line_items, "lineItems")
    keys = [key for id in wanted for key in products.keys(id)]
    keys += customers.keys(new.customer)
    keys += [external_ids.lock_key("order", new.external_id)] if new.external_id else []
    items = idempotency.read_unless_answered([*keys, NUMBERS, SETTINGS], once)
    if new.external_id:
        external_ids.refuse_taken("order", new.external_id, items)
    now = clock.now_iso()
    found = {id: product for id in wanted if (product := products.from_items(id, items))}
    customer = customers.from_items(new.customer, items) if new.customer else None
    registers = new.customer is not None and customer is None
    if new.customer and customer is None:
        customer = customers.make_order_customer(new.customer, now)
    last, has_room = items.get(NUMBERS), room.has_room_for_number(len(wanted))
    number = numbers.choose_number(last, has_room=has_room) if numbers else next_number(last)
    order = lifecycle.create_order(new, found, customer, number=number, by=by, now=now)
    order = _begin_work(order, items.get(SETTINGS), by)
    pieces_sold = lines.sold_pieces(order.fields["lineItems"])
    sold, oversold = [(found[id], pieces) for id, pieces in pieces_sold.items()], Counter[str]()
    if new.stock_policy is StockPolicy.CHECK:
        _require_stock(sold)
    else:
        taken = order.pieces_taken()
        sold = [(one, dict.fromkeys(n, 0) | taken.get(one.id, {})) for one, n in sold]
        for line in order.fields["lineItems"]:
            oversold[line["variantId"] or ""] += line["oversold"]

    commit = Commit()
    text = _answer_text(order)
    if once:
        once.record(commit, text, order.etag)
    _write(commit, None, order)
    if customer:
        ordered = lifecycle.totals_changes(None, order)[customer.id]
        if registers:
            words = room.room_for_customer_words(len(commit), len(wanted))
            customers.register(commit, customer, ordered, words)
        else:
            customers.count(commit, customer.id, ordered, placing=True)
    products.sell_pieces(commit, sold, order_id=order.id, oversold=+oversold)
    if numbers:
        numbers.write(commit)
    if commit.overflows:
        message = "are more than can be sold at once; divide the order"
        raise Invalid.field("lineItems", "too_large", message)
    return _Placing(order, commit, text, registers)


def _require_stock(sold: Iterable[tuple[Product, Mapping[str, int]]]) -> None:
    """Raise InsufficientStock if one of these products has too few pieces."""
    if short := products.find_shortages(sold):
        raise InsufficientStock(lines=short)


# --- Changing -------------------------------------------------------------------------------------


def update(
    id: str, change: OrderChange, request: ChangeRequest, also: Also | None = None
) -> Written:
    """Change an order by a PATCH; write it, and return it before and after.

    The payments, refunds, shipments, work and returned stock that the change implies are written
    with it. `also`: adds to the commit. Emit order.updated, and what follows from the change
    (`lifecycle.events`). Raise NotFound, InvalidTransition, Invalid, and as `ChangeRequest` says.
    """
    return rewrite(id, lambda before: preview_update(before, change, request.by), request, also)


def preview_update(order: Order, change: OrderChange, by: str) -> Order:
    """Return the order as a PATCH of it now would leave it; nothing is read or written.

    Raise InvalidTransition, Invalid.
    """
    return lifecycle.apply_change(order, change, by, clock.now_iso())


def rewrite(
    id: str,
    revise: Callable[[Order], Order],
    request: ChangeRequest = ChangeRequest(),
    also: Also | None = None,
) -> Written:
    """Write the order that `revise` makes of the current one. Emit and raise as `update` does.

    If `revise` returns the same object, nothing changes. It may be called several times. `also`:
    adds to the commit, given the order before and after.
    """
    return _rewrite(id, lambda before, gone: revise(before), request, also)


def record_payments(id: str, received: Sequence[PaymentInput], request: ChangeRequest) -> Written:
    """Record payments of an order; a PENDING one that they, or its deposit, settle becomes PAID.

    Emit payment.created for each, order.updated, and order.paid the first time that nothing is due.
    Raise NotFound, Invalid, Denied, DuplicateReference, and as `ChangeRequest` says.
    """

    def add_payments(before: Order, gone: GoneVariants) -> Order:
        """Return the order with this request's payments and its new status, not written."""
        return lifecycle.apply_payments(before, received, request.by, clock.now_iso())

    return _rewrite(id, add_payments, request, action="payment.created")


def preview_payments(
    id: str, received: Sequence[PaymentInput], request: ChangeRequest
) -> dict[str, object]:
    """Return PaymentsPreview: the new payments, and the order's balance and status after them.

    Raise as `record_payments` does. The order is read, nothing is written.
    """
    before = request.require_unchanged(get(id))
    after = lifecycle.apply_payments(before, received, request.by, clock.now_iso())
    new = after.fields["payments"][len(before.fields["payments"]) :]
    return {
        "payments": [pick_members(payment, PreviewedPayment) for payment in new],
        "balanceAfter": after.fields["balanceDue"],
        "statusAfter": after.status,
    }


def void_payment(id: str, payment_id: str, reason: str | None, request: ChangeRequest) -> Written:
    """Void a payment: it no longer counts. The balance and paymentStatus follow, the status stays.

    Emit payment.voided, order.updated. Raise as `record_payments` does, and AlreadyVoided,
    PaymentRefunded.
    """

    def void_one_payment(before: Order, gone: GoneVariants) -> Order:
        """Return the order with this request's payment voided, and its history, not written."""
        now = clock.now_iso()
        fields = payments.void_payment(before.fields, payment_id, reason, request.by, now)
        return lifecycle.apply_growth(before, fields, request.by, now)

    return _rewrite(id, void_one_payment, request, action="payment.voided")


def correct_method(
    id: str, payment_id: str, wanted: CorrectPayment, request: ChangeRequest
) -> Written:
    """Void a payment and record it again with another method, in one commit; the balance stays.

    Emit payment.voided, payment.created, order.updated. Raise as `void_payment` does, and
    DuplicateReference.
    """

    def correct_one_method(before: Order, gone: GoneVariants) -> Order:
        """Return the order with one payment's method changed: voided, and recorded again."""
        now = clock.now_iso()
        fields = payments.correct_method(before.fields, payment_id, wanted, request.by, now)
        return lifecycle.apply_growth(before, fields, request.by, now)

    return _rewrite(id, correct_one_method, request, action="payment.voided")


def refund(id: str, wanted: RefundInput, request: ChangeRequest) -> Written:
    """Refund lines or an amount; pieces that are restocked return to the stock in the same commit.

    The paymentStatus becomes REFUNDED when nothing of the money is left; the status stays. Emit
    refund.created, order.updated, and then also order.refunded. Raise as `record_payments` does,
    and ExceedsQuantity.
    """

    def add_refund(before: Order, gone: GoneVariants) -> Order:
        """Return the order with the refund of this request, not written.

        `gone`: variants that were deleted, whose pieces do not return.
        """
        return _apply_refund(before, wanted, request.by, gone)[1]

    return _rewrite(id, add_refund, request, action="refund.created")


def preview_refund(id: str, wanted: RefundInput, request: ChangeRequest) -> dict[str, object]:
    """Return the shape of RefundPreview: what `refund` would do now. Raise what it does.

    The order is read, and which of its variants are gone; nothing is written.
    """
    before = request.require_unchanged(get(id))
    gone = products.gone_variants(before.pieces_taken())
    return _apply_refund(before, wanted, request.by, gone)[0].preview()


def _apply_refund(
    before: Order, wanted: RefundInput, by: str, gone: GoneVariants
) -> tuple[refunds.Refund, Order]:
    """Return the refund that is wanted, and the order after it, with its history. Write nothing.

    `gone`: variants that were deleted, to whose stock nothing returns. Raise as
    `refunds.make_refund` does, and Invalid if the order would be too large.
    """
    now = clock.now_iso()
    refund = refunds.make_refund(before.fields, wanted, by, now, gone)
    return refund, lifecycle.apply_growth(before, refund.after, by, now)


def ship(id: str, wanted: NewShipment, request: ChangeRequest) -> Written:
    """Record a shipment; the status becomes PROCESSING, SHIPPED with the last piece, or DELIVERED.

    Work on what was shipped ends. Emit shipment.created, order.updated, and order.shipped with the
    last part. Raise as `record_payments` does, and NotShippable, ExceedsQuantity.
    """

    def add_shipment(before: Order, gone: GoneVariants) -> Order:
        """Return the order with this request's shipment and the moves that follow, not written.

        Its parcels get their carrier's tracking URL, by the settings that were read with the order.
        """
        urls = carriers.read_urls(settings.get(carriers.KEY))
        return lifecycle.apply_shipment(before, wanted, urls, request.by, clock.now_iso())

    settings: dict[Key, Item] = {}
    action = "shipment.created"
    return _rewrite(id, add_shipment, request, _announce_shipments, action, settings=settings)


def preview_ship(id: str, wanted: NewShipment, request: ChangeRequest) -> dict[str, object]:
    """Return the shape of ShipmentPreview: what `ship` would do now. Raise what it does.

    Nothing is written. `events` has only names.
    """
    before = _read_for_change(id, request)
    after = lifecycle.apply_shipment(before, wanted, {}, request.by, clock.now_iso())
    after = _follow_work(before, after, request.by)
    return {
        "lines": after.fields["shipments"][-1]["lines"],
        "left": lines_to_ship(after.fields),
        "statusAfter": after.status,
        "events": [event for event, _ in _list_events(before, after)] + ["shipment.created"],
    }


def change_shipment(
    id: str, shipment_id: str, change: ShipmentChange, request: ChangeRequest
) -> Written:
    """Change a shipment, at any time. A SHIPPED order becomes DELIVERED when all have arrived.

    Emit shipment.updated, order.updated. Raise NotFound, ShipmentCancelled, Invalid, and as
    `ChangeRequest` says.
    """

    def apply_change(before: Order, gone: GoneVariants) -> Order:
        """Return the order with the shipment of this request changed, not written.

        Tracking URLs follow its carrier, by the settings that were read with the order.
        """
        urls = carriers.read_urls(settings.get(carriers.KEY))
        return lifecycle.apply_shipment_change(
            before, shipment_id, change, urls, by=request.by, now=clock.now_iso()
        )

    settings: dict[Key, Item] = {}
    action = "shipment.updated"
    return _rewrite(id, apply_change, request, _announce_shipments, action, settings=settings)


def cancel_shipment(
    id: str, shipment_id: str, wanted: CancelShipment, request: ChangeRequest
) -> Written:
    """Cancel a shipment before the order is SHIPPED: its pieces are to ship again.

    The status stays. Emit shipment.cancelled, order.updated. Raise NotFound, ShipmentCancelled,
    Denied, and as `ChangeRequest` says.
    """

    def apply_cancellation(before: Order, gone: GoneVariants) -> Order:
        """Return the order with the shipment of this request cancelled, not written."""
        return lifecycle.apply_shipment_cancel(
            before, shipment_id, wanted.reason, request.by, clock.now_iso()
        )

    return _rewrite(id, apply_cancellation, request, _announce_shipments, "shipment.cancelled")


def _announce_shipments(commit: Commit, before: Order, after: Order) -> None:
    """Add to a commit the event of each shipment that is new, cancelled or otherwise differs.

    Only requests about a shipment call it: shipments that a PATCH implies have no event.
    """
    for event, data in shipments.shipment_events(before, after):
        commit.announce(event, data)


def close(id: str, wanted: CloseOrder, request: ChangeRequest) -> Written:
    """Close an order: refund what it does not keep; return its pieces unless `restock` is false.

    A PENDING order becomes CANCELLED, a PAID one that keeps nothing REFUNDED; open work ends. Emit
    order.closed, order.updated, refund.created, and order.cancelled or order.refunded for its move.
    Raise as `record_payments` does.
    """

    def close_order(before: Order, gone: GoneVariants) -> Order:
        """Return the order closed as this request says, with its refunds, not written."""
        return lifecycle.apply_close(before, wanted, request.by, clock.now_iso())

    returns = lifecycle.returned_stock if wanted.restock else _return_nothing
    return _rewrite(id, close_order, request, action="order.closed", returns=returns)


def preview_close(id: str, wanted: CloseOrder, request: ChangeRequest) -> dict[str, object]:
    """Return the shape of ClosePreview: what `close` would do now. Raise what it does.

    Nothing is written. If it keeps so much already, it has neither refunds nor work nor events.
    """
    before = _read_for_change(id, request)
    after = lifecycle.apply_close(before, wanted, request.by, clock.now_iso())
    after = _follow_work(before, after, request.by)
    returned = lifecycle.returned_stock(before, after) if wanted.restock else {}
    gone = products.gone_variants(returned)
    pieces = [(variant, n) for some in returned.values() for variant, n in some.items()]
    return {
        "refunds": [
            pick_members(refund, PreviewedRefund)
            for refund in after.fields["refunds"][len(before.fields["refunds"]) :]
        ],
        "kept": after.fields["kept"],
        "restocks": [{"variantId": v, "quantity": n} for v, n in pieces if v not in gone],
        "work": [] if after is before else production.open_lines(before),
        "statusAfter": after.status,
        "events": [] if after is before else [event for event, _ in _list_events(before, after)],
    }


def edit(id: str, wanted: EditOrder, request: ChangeRequest) -> Written:
    """Edit lines, amounts, customer, source or date of an order. Its stock moves; no money does.

    What is due follows from the new total. Emit order.edited, order.updated, order.paid where it
    applies, inventory.low. Raise as `record_payments` does, and TooLate, TaxRequired,
    BelowRefunded, BelowShipped, EmptyOrder, SpecLocked, InsufficientStock.
    """
    order_edit: editing.Edit

    def apply_edit(before: Order, gone: GoneVariants) -> Order:
        """Return the order after the edit, not written; keep the edit for `sell_pieces`."""
        nonlocal order_edit
        order_edit, after = _apply_edit(before, wanted, request.by)
        return after

    def sell_pieces(commit: Commit, before: Order, after: Order) -> None:
        """Add to the edit's commit the stock that it takes or returns.

        Raise Invalid if that has no room. If the order goes to another customer, note at the former
        one that it moved.
        """
        if before.customer_id and before.customer_id != after.customer_id:
            customers.note_moved(commit, before.customer_id, id)
        products.sell_pieces(commit, order_edit.moves, order_id=id, cause="EDIT")
        if commit.overflows:
            message = "This edit is more than can be written at once. Divide it."
            raise Invalid(message, code="too_large")

    return _rewrite(id, apply_edit, request, sell_pieces, "order.edited")


def preview_edit(id: str, wanted: EditOrder, request: ChangeRequest) -> dict[str, object]:
    """Return the shape of EditPreview: what `edit` would do now. Raise what it does.

    Nothing is written.
    """
    before = _read_for_change(id, request)
    return _apply_edit(before, wanted, request.by)[0].preview()


def _apply_edit(before: Order, wanted: EditOrder, by: str) -> tuple[editing.Edit, Order]:
    """Read the products and the customer of an edit; return the edit and the order after it.

    Nothing is written. Raise Invalid and its kinds; SpecLocked, unless it unlocks;
    InsufficientStock.
    """
    needed = editing.needed_products(before.fields, wanted)
    keys = [key for id in needed for key in products.keys(id)]
    new_customer = OrderCustomerInput(id=wanted.customer.id) if wanted.customer else None
    items = table.batch_get([*keys, *customers.keys(new_customer)])
    known = {id: product for id in needed if (product := products.from_items(id, items))}
    customer = customers.from_items(new_customer, items) if new_customer else None
    now = clock.now_iso()
    if new_customer and customer is None:
        customers.make_order_customer(new_customer, now)  # which raises, because the id is unknown
    edit = editing.make_edit(before.fields, wanted, known, customer, by=by, now=now)
    if not wanted.unlock:
        production.refuse_locked(before, edit.after["lineItems"])
    _require_stock(edit.moves)
    return edit, lifecycle.apply_edit(before, edit, by, now)


def change_work(
    id: str, line_id: str, change: WorkChange, by: str, if_match: frozenset[str] | None
) -> production.Card:
    """Change the work on a line of an order; return it as it is then, with its order.

    Emit work.updated; order.updated where the order is IN_PRODUCTION from now on, or all of it is
    made: then also order.produced. Raise NotFound, WorkClosed, Invalid, and PreconditionFailed if
    `if_match` lacks the ETag of the order's work.
    """

    def apply_work_change(before: Order, gone: GoneVariants) -> Order:
        """Return the order with the work of this request changed, not written.

        Raise PreconditionFailed if the request's If-Match names other work.
        """
        if if_match is not None and before.work and before.work.etag not in if_match:
            raise PreconditionFailed.for_kind("work")
        return lifecycle.apply_work(before, line_id, change, by, clock.now_iso())

    order = _rewrite(id, apply_work_change, ChangeRequest(by), action=_WORK_UPDATED).after
    return production.list_cards(order)[f"{line_id}@{id}"]


def get_work(id: str) -> tuple[list[production.Card], str]:
    """Read all work of an order, also what has ended; return it by its lines, and its ETag.

    Raise NotFound, also if the order is PENDING.
    """
    order = _read_for_change(id, ChangeRequest())
    if order.status == "PENDING":
        raise NotFound(f"There is no work of the order {id!r}: it begins when the order is PAID.")
    assert order.work
    return list(production.list_cards(order).values()), order.work.etag


_SAMPLE_MOVES: Final[Mapping[str, list[dict[str, object]]]] = {
    "order.updated": [{"note": "An example"}],
    "order.paid": [{"status": "PAID"}],
    "order.shipped": [
        {"status": "PAID"},
        {"status": "PROCESSING"},
        {"status": "SHIPPED", "trackingNumber": "EXAMPLE-1"},
    ],
    "order.cancelled": [{"status": "CANCELLED"}],
    "order.refunded": [{"status": "PAID"}, {"status": "REFUNDED"}],
    "order.deleted": [{"status": "CANCELLED"}],
    "payment.voided": [{"status": "PAID"}],
    "refund.created": [{"status": "PAID"}],
    **{f"shipment.{one}": [{"status": "PAID"}] for one in ("created", "updated", "cancelled")},
    **{event: [{"status": "PAID"}] for event in ("work.created", "work.updated", "order.produced")},
}


def sample_event_data(event: str) -> dict[str, object]:
    """Return the `data` of an event about an invented order, for test events. Write nothing.

    For an event that has no case of its own it is the order after the moves of `_SAMPLE_MOVES`.
    """
    now, by, product, customer = (
        clock.now_iso(),
        "a test",
        products.sample_product(),
        customers.sample(),
    )
    (variant,) = product.variants()
    is_made = event.startswith("work.") or event == "order.produced"
    given = {
        "lineItems": [{"variantId": variant["id"], "quantity": 3, "make": is_made}],
        "paymentMethod": "CARD_TERMINAL",
        "source": "IN_PERSON",
    }
    new, known = NewOrder.model_validate(given), {product.id: product}
    order = lifecycle.create_order(new, known, customer, number="1001", by=by, now=now)
    for move in _SAMPLE_MOVES.get(event, []):
        order = lifecycle.apply_change(order, OrderChange.model_validate(move), by, now)
    match event:
        case "payment.created":
            after = lifecycle.apply_payments(order, [PaymentInput()], by, now)
        case "payment.voided":
            (payment,) = order.fields["payments"]
            fields = payments.void_payment(order.fields, payment["id"], "An example", by, now)
            after = lifecycle.apply_growth(order, fields, by, now)
        case "refund.created":
            (line,) = order.fields["lineItems"]
            back = {"lines": [{"lineItemId": line["id"], "quantity": 1}]}
            _, after = _apply_refund(order, RefundInput.model_validate(back), by, GoneVariants())
        case "order.edited":
            wanted = EditOrder.model_validate({"shipping": "5", "reason": "An example"})
            _, after = _apply_edit(order, wanted, by)
        case "shipment.created" | "shipment.updated" | "shipment.cancelled":
            (line,) = order.fields["lineItems"]
            part = {"lines": [{"lineItemId": line["id"], "quantity": 1}], "carrier": "Post"}
            shipment = NewShipment.model_validate(part)
            after = lifecycle.apply_shipment(order, shipment, {}, by, now)
            (made,) = after.fields["shipments"]
            change = ShipmentChange.model_validate({"parcels": [{"trackingNumber": "EXAMPLE-1"}]})
            if event == "shipment.updated":
                order = after
                after = lifecycle.apply_shipment_change(
                    order, made["id"], change, {}, by=by, now=now
                )
            elif event == "shipment.cancelled":
                order = after
                after = lifecycle.apply_shipment_cancel(order, made["id"], "An example", by, now)
            return dict(shipments.shipment_events(order, after))[event]
        case "work.created" | "work.updated" | "order.produced":
            order = _begin_work(order, None, by)
            if event == "work.created":
                return dict(production.work_events(None, order))[event]
            assert order.work
            (line,) = order.fields["lineItems"]
            done = WorkChange(stage=order.work.stages.last)
            after = _follow_work(order, lifecycle.apply_work(order, line["id"], done, by, now), by)
        case "order.closed":
            after = lifecycle.apply_close(order, CloseOrder(reason="An example"), by, now)
        case _:
            return show_order(order)
    return dict(_list_events(order, after))[event]


def query_by_customer(customer_id: str, limit: int) -> listing.Query:
    """Return the query for all orders of a customer, for `page`."""
    return listing.Query({"customerId": frozenset({customer_id})}, limit=limit)


def move_to_customer(id: str, source: str, into: Customer, by: str) -> bool:
    """Move an order to another customer, with its part of both customers' totals.

    It stays if it no longer belongs to `source`, or is gone. Emit order.updated. Return whether it
    moved.
    """

    def change_customer(order: Order, gone: GoneVariants) -> Order:
        """Return the order with the new customer, not written; the same if it is not `source`'s."""
        own = order.fields["customer"]
        if not own or own["id"] != source:
            return order
        return lifecycle.apply_merge(order, into, by, clock.now_iso())

    return _rewrite_if_there(id, change_customer)


def forget(id: str, person: Person) -> bool:
    """Remove a person's data from an order and its work; its audit entry has no values.

    Emit order.updated. Return whether it changed: False also if it is gone.
    """

    def forget_person(order: Order, gone: GoneVariants) -> Order:
        """Return the order without the person's data, not written; the same if it has none."""
        return lifecycle.apply_erasure(order, person, clock.now_iso())

    return _rewrite_if_there(id, forget_person, _ERASED)


def _rewrite_if_there(id: str, revise: Revise, action: str = "") -> bool:
    """Write the order that `revise` returns, if it still exists; return whether it changed.

    False also if it is gone. `action`: of the audit entry.
    """
    try:
        written = _rewrite(id, revise, ChangeRequest(), action=action)
    except NotFound:
        return False
    return written.after is not written.before


def delete(id: str, request: ChangeRequest) -> None:
    """Delete an order with its work, its files, its list entries and its part of all totals.

    Pieces that were taken from the stock return, except those at the customer; none of an order
    that was SHIPPED. The files' objects are deleted last. Emit order.deleted. Raise NotFound,
    PreconditionFailed.
    """
    had = files.has_files(id)
    _rewrite(id, lambda before, gone: None, request)
    if had:
        files.discard_objects(id)


def require_order(commit: Commit, id: str) -> None:
    """Add to a commit the condition that the order exists; sending it raises NotFound if not."""
    commit.check(_key(id), table.present, NotFound.for_id("order", id))


def _return_nothing(before: Order, after: Order | None) -> dict[str, dict[str, int]]:
    """Return {}: no stock, in the place of `lifecycle.returned_stock`."""
    return {}


def _rewrite(
    id: str,
    revise: Revise,
    request: ChangeRequest,
    also: Also | None = None,
    action: str = "",
    *,
    returns: Returns = lifecycle.returned_stock,
    settings: dict[Key, Item] | None = None,
) -> Written:
    """Write the order that `revise` returns; None deletes it, the same object changes nothing.

    The answer is kept for `request.once` in either case but a deletion. After a concurrent change
    the order is read, and `revise` called, again; Busy in the end. Customers' totals, returned
    stock and its work are part of the commit. `also`: adds to that, given the order before and
    after; not called for a deletion. `action`: for the audit log, if it is more than an update.
    `returns`: which stock goes back. `settings`: is filled with all items that are read, the
    settings of shipping too.
    """
    gone, customer_is_gone, until = GoneVariants(), False, deadline.of_conflicts()
    # Perhaps the same request, sent twice, has just done the same.
    with unless_answered(request.once):
        for _ in deadline.attempts(until):
            before = _read_for_change(id, request, settings)
            after = _follow_work(before, revise(before, gone), request.by)
            commit = Commit()
            text = _answer_text(after) if after else ""
            if request.once and after:
                request.once.record(commit, text, after.etag)
            if after is before:
                if request.once:  # the order may have changed when the request is repeated
                    commit.send(until)
                return Written(before, before, text)
            _write(commit, before, after, action)
            returned = returns(before, after)
            for product, pieces in returned.items():
                there = {variant: n for variant, n in pieces.items() if variant not in gone}
                if there:
                    products.return_pieces(commit, product, there, order_id=id)
            known = before.customer_id
            for customer, totals in lifecycle.totals_changes(before, after).items():
                if customer != known or not customer_is_gone:
                    customers.count(commit, customer, totals, placing=customer != known)
            if also and after:
                also(commit, before, after)
            try:
                commit.send(until)
                return Written(before, after or before, text)
            except customers.CustomerGone:
                customer_is_gone = True
            except products.VariantGone:
                gone = products.gone_variants(returned)
            except (OrderChanged, products.StockMoved, customers.CustomerMoved):
                pass
    raise Busy


@overload
def _follow_work(before: Order, after: Order, by: str) -> Order: ...
@overload
def _follow_work(before: Order, after: Order | None, by: str) -> Order | None: ...
def _follow_work(before: Order, after: Order | None, by: str) -> Order | None:
    """Return a changed order with its work, and what follows from that (`lifecycle.follow_work`).

    `after` None (deleted), or the same object as `before` (nothing changed), is returned as it is.
    """
    if after is None or after is before:
        return after
    assert before.work
    return lifecycle.follow_work(before.work, before, after, by, clock.now_iso())


def _begin_work(order: Order, stages: Item | None, by: str) -> Order:
    """Return a new order with its work, which begins if it is PAID.

    `stages`: the settings' item; None: the default.
    """
    work = OrderWork(stages=Stages.from_item(stages))
    return lifecycle.follow_work(work, None, order, by, clock.now_iso())


def _read_for_change(
    id: str, request: ChangeRequest, settings: dict[Key, Item] | None = None
) -> Order:
    """Read the order that a request changes, with its work, and return it.

    With an idempotency key the kept answer is read too: raise as `idempotency.read_unless_answered`
    does if there is one. Raise NotFound, PreconditionFailed. `settings`, unless None, gets all
    items that were read, also the order's own, and the settings of shipping, which are read only
    then.
    """
    keys = [_key(id), *work_keys(id)] if ids.may_be("ord", id) else []
    items = idempotency.read_unless_answered(
        keys if settings is None else [*keys, carriers.KEY], request.once
    )
    if settings is not None:
        settings |= items
    return request.require_unchanged(_from_items(id, items))


def _from_items(id: str, items: Mapping[Key, Item]) -> Order:
    """Return an order with its work, from items that were read. Raise NotFound."""
    order = from_item(NotFound.unless(items.get(_key(id)), "order", id))
    return replace(order, work=OrderWork.from_items(id, items))


def _answer_text(order: Order) -> str:
    """Return the JSON text of an order in the shape of ShownOrder, with costs."""
    return encode(show_order(order))


def _write(commit: Commit, before: Order | None, after: Order | None, action: str = "") -> None:
    """Add an order's change to a commit: record, work, entries, external ids, sales, audit, events.

    `before`: None for a new order; `after`: None for a deletion, with which what is known of its
    files is deleted. If only the work differs (same version), the record is only checked: the work,
    its lists, the audit entry and the work's events are written. Sending the commit raises
    OrderChanged if the order, its work or the stages were changed. Stock and customers' totals are
    not part of it.
    """
    order = after or before
    assert order is not None
    if before and after and before.version == after.version:
        commit.check(_key(order.id), Attr("version").eq(before.version), OrderChanged())
        production.write_work(commit, before, after, OrderChanged())
        commit.audit(_audit_entry(before, after, action))
        for event, data in production.work_events(before, after):
            commit.announce(event, data)
        return
    unchanged = Attr("version").eq(before.version) if before else table.absent
    old_ids, new_ids = (
        external_ids.held_ids("order", o.fields) if o else {} for o in (before, after)
    )
    others = transactions.count_items(before, after) + external_ids.count_writes(old_ids, new_ids)
    others += shipments.count_items(before, after) + due.count_items(before, after)
    others += production.count_items(before, after) + (after is None)  # its files
    words, changes = room.room_for_words(order.fields, others)
    RECORDS.write(
        commit,
        order.id,
        before.index if before else None,
        after.index if after else None,
        to_item(after) if after else {},
        when=unchanged,
        otherwise=OrderChanged(),
        inside=words,
        room=changes,
    )
    external_ids.change(commit, order.id, old_ids, new_ids)
    if after is None:
        files.delete_with_order(commit, order.id)
    sales.count_sales(commit, before, after)
    transactions.write_entries(commit, before, after)
    shipments.write_entries(commit, before, after)
    due.write_entries(commit, before, after)
    production.write_work(commit, before, after, OrderChanged())
    commit.audit(_audit_entry(before, after, action))
    if after:
        for event, data in _list_events(before, after):
            commit.announce(event, data)
    else:
        commit.announce("order.deleted", show_order(order, costs=False))


def _list_events(before: Order | None, after: Order) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (event, data) for each event of a new order or of a change, but of shipments.

    Those of the order come first, with all of it, without costs; then those of its money, edits,
    closing and work.
    """
    shown = show_order(after, costs=False)
    yield from ((event, shown) for event in lifecycle.events(before, after))
    yield from account.money_events(before, after)
    yield from editing.edit_events(before, after)
    yield from closing.close_events(before, after)
    yield from production.work_events(before, after)


def _audit_entry(before: Order | None, after: Order | None, action: str) -> dict[str, object]:
    """Return the audit log's entry of a creation, change or deletion.

    Of an erasure it has no values. It names all customers whom the order has or had; work is
    compared only if `action` is about it.
    """
    versions = [order for order in (before, after) if order]
    return outbox.audit_entry(
        "order",
        versions[0].id,
        *((None, None) if action == _ERASED else (before, after)),
        show=_show_with_work if action == _WORK_UPDATED else show_order,
        action=action,
        number=versions[0].fields["number"],
        customers=list_owners(*versions),
    )


def list_owners(*versions: Order) -> list[str]:
    """Return the ids, sorted, of the customers whose values may be in these versions of an order.

    They are those whom it has, and those who gave its addresses.
    """
    owners = {order.customer_id for order in versions}
    owners.update(*(order.fields["formerly"].values() for order in versions))
    return sorted(filter(None, owners))


def _show_with_work(order: Order) -> dict[str, object]:
    """Return an order and its work, as the audit log compares them."""
    return {**show_order(order), **production.show_for_audit(order)}
