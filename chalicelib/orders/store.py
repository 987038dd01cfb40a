"""Orders in the table: `ord_…` / `order`, with its lines.

A write is one commit with all its effects: stock, customer, lists, counts, the kept reply, events.
After a concurrent change it is computed again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from chalicelib import deadline, listing
from chalicelib.customers import store as customers
from chalicelib.customers.model import Customer, EmailTaken, OrderCustomerInput
from chalicelib.listing import external_ids
from chalicelib.listing.counts import counts, places
from chalicelib.listing.lookup import holding
from chalicelib.listing.search import MOST_MATCHES, TooBroad
from chalicelib.orders import (
    editing,
    lifecycle,
    lines,
    payments,
    sales,
    spending,
    transactions,
    transitions,
)
from chalicelib.orders.model import (
    KIND,
    Balance,
    EditOrder,
    NewOrder,
    Order,
    OrderChange,
    PaymentInput,
    RefundInput,
    StockPolicy,
    index_of,
    read,
    stored,
)
from chalicelib.orders.model import room as room_of
from chalicelib.orders.numbers import KEY as NUMBERS
from chalicelib.orders.numbers import Numbers, NumberTaken
from chalicelib.orders.schemas import MADE_OF, show
from chalicelib.orders.transactions import Transaction
from chalicelib.problems import Busy, Invalid, NotFound, PreconditionFailed
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.storage import idempotency, outbox, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.values import clock, ids
from chalicelib.values.batches import batches
from chalicelib.values.compact_json import encode
from chalicelib.values.forgetting import Person

MOVES: Final = transitions.MOVES
PAYMENT_MOVES: Final = transitions.PAYMENT_MOVES
days, recount_days = sales.days, sales.recount
money_since = transactions.money_since
facts_about = lifecycle.facts_about
TRANSACTIONS: Final = transactions.KIND
recount_customers = spending.recount


@dataclass(frozen=True)
class Asked:
    """Who asks for a change, and how. `by`: the name of the key. Raised for `if_match`:
    PreconditionFailed; for `once`: Repeated and KeyReused."""

    by: str = ""
    if_match: frozenset[str] | None = None
    once: Once | None = None

    def unchanged(self, order: Order) -> Order:
        if self.if_match is not None and order.etag not in self.if_match:
            raise PreconditionFailed.of("order")
        return order


class Written(NamedTuple):
    """An order before and after a change, and the text that answers the request."""

    before: Order
    after: Order
    text: str


Also = Callable[[Commit, Order, Order], None]
Gone = frozenset[str]  # variants that take no returned stock
Change = Callable[[Order, Gone], Order | None]

_ERASED: Final = "order.erased"  # whose audit entry has no changes
# What transactions are made of, and how many orders are loaded at a time.
_MONEY: Final = ("number", "customer", "status", "paymentStatus", "payments", "refunds", "tax")
_LOADED: Final = 1_000
_MOST_ITEMS: Final = 97  # of a commit: three are room for what others add
_CUSTOMER_WORDS: Final = 8  # of a new one, for which the largest order has room
_FEW: Final = 50  # products whose order has room for its number: see `model.py`


class InsufficientStock(Invalid):
    """422 with `lines`: [{variantId, requested, available}]."""

    code = "insufficient_stock"
    text = "There is not enough stock for this order."


class OrderChanged(Exception):
    """The order was changed since it was read."""


def _key(id: str) -> Key:
    return id, "order"


RECORDS: Final = listing.Records(KIND, _key, index_of, read, "ord", made_of=MADE_OF)


# --- Reading --------------------------------------------------------------------------------------


load, get, page = RECORDS.load, RECORDS.get, RECORDS.page


def transactions_page(query: listing.Query) -> listing.Page[Transaction]:
    """Of one order, or with a reference, they are found by their orders."""
    where = {facet: set(values) for facet, values in query.where.items()}
    order_ids, references = where.pop("orderId", None), where.pop("reference", None)
    if order_ids is None and references is None:
        return listing.page(transactions.KIND, query, _load_transactions)
    known = order_ids
    if known is None:
        known = set().union(*holding(KIND, references or ()).values())
        if len(known) > MOST_MATCHES:
            raise TooBroad
    # Words of a title are among what has a reference: many orders, which need no room at once.
    orders = (order for some in batches(sorted(known), _LOADED) for order in load(some, _MONEY))
    found = (one for order in orders for one in transactions.of_order(order).values())
    fitting = (
        one
        for one in found
        if (references is None or one.fields["reference"] in references)
        if all(transactions.show(one)[facet] in values for facet, values in where.items())
        if query.between.holds(one.fields["at"])
    )
    return listing.page_of(transactions.KIND, query, fitting)


def _load_transactions(entries: list[str]) -> list[Transaction]:
    orders = load(dict.fromkeys(map(transactions.order_of, entries)))
    known = {id: one for order in orders for id, one in transactions.of_order(order).items()}
    return [known[entry] for entry in entries if entry in known]


def standing() -> tuple[dict[str, int], int, Decimal]:
    """The number of orders in each status that is not final; how many have a balance that is due,
    and its sum."""
    (pk,) = places(KIND, {})
    cells = table.everything(pk)
    known = counts(KIND, {}, [cells])

    def size(facet: str, value: str) -> int:
        return known.size({facet: frozenset({value})}) or 0

    sizes = {status.value: size("status", status) for status in transitions.OPEN}
    amount = sum((Decimal(cell.get("due", 0)) for cell in cells), Decimal(0))
    return sizes, size("balance", Balance.DUE), amount


# --- Creating -------------------------------------------------------------------------------------


def place(new: NewOrder, by: str, once: Once | None) -> tuple[Order, str]:
    """Places an order completely or not at all; returns it, and the text that answers its creation.
    Emits order.created, order.paid if it is paid, customer.created if the e-mail is new, and
    inventory.low.

    Raises Invalid, InsufficientStock; with `once` also Repeated and KeyReused.
    """
    until = deadline.of_conflicts()
    numbers = Numbers()
    # Perhaps the same request, sent twice, has just bought the last piece.
    with unless_answered(once):
        for _ in deadline.attempts(until):
            try:
                return _place(new, by, once, numbers, until)
            except (products.StockMoved, EmailTaken, customers.CustomerMoved, NumberTaken):
                numbers.are_contended = True
    raise Busy


def _place(
    new: NewOrder, by: str, once: Once | None, numbers: Numbers, until: float
) -> tuple[Order, str]:
    wanted = lines.wanted(new.line_items, "lineItems")
    keys = [key for id in wanted for key in products.keys(id)]
    keys += [customers.key(new.customer)] if new.customer else []
    keys += [external_ids.key("order", new.external_id)] if new.external_id else []
    items = idempotency.read([*keys, NUMBERS], once)
    if new.external_id:
        external_ids.refuse_taken("order", new.external_id, items)
    now = clock.now_iso()
    found = {id: product for id in wanted if (product := products.from_items(id, items))}
    customer = customers.from_items(new.customer, items) if new.customer else None
    registers = new.customer is not None and customer is None
    if new.customer and customer is None:
        customer = customers.created(new.customer, now)
    number = numbers.next(items.get(NUMBERS), has_room=len(wanted) <= _FEW)
    order = lifecycle.placed(new, found, customer, number=number, by=by, now=now)
    sold, oversold = [(found[id], pieces) for id, pieces in wanted.items()], Counter[str]()
    if new.stock_policy is StockPolicy.CHECK:
        _require(sold)
    else:
        taken = order.taken()
        sold = [(one, dict.fromkeys(n, 0) | taken.get(one.id, {})) for one, n in sold]
        for line in order.fields["lineItems"]:
            oversold[line["variantId"]] += line["oversold"]

    commit = Commit()
    text = _text(order)
    if once:
        once.record(commit, text, order.etag)
    _write(commit, None, order)
    if customer:
        ordered = lifecycle.spending(None, order)[customer.id]
        if registers:
            # Next to the stock of each product: the number and the low-stock item.
            left = _MOST_ITEMS - len(commit) - len(wanted) - 8
            customers.register(commit, customer, ordered, max(_CUSTOMER_WORDS, left))
        else:
            customers.count(commit, customer.id, ordered, placing=True)
    products.sell(commit, sold, order_id=order.id, oversold=+oversold)
    numbers.write(commit)
    if commit.overflows:
        message = "are more than can be sold at once; divide the order"
        raise Invalid.field("lineItems", "too_large", message)
    commit.send(until)
    return order, text


def _require(sold: Iterable[tuple[Product, Mapping[str, int]]]) -> None:
    if short := products.short(sold):
        raise InsufficientStock(lines=short)


# --- Changing -------------------------------------------------------------------------------------


def change(id: str, new: OrderChange, asked: Asked, also: Also | None = None) -> Written:
    """Emits order.updated, and what follows from the change (`lifecycle.events`).

    Raises NotFound, InvalidTransition, Invalid, and as `Asked` says.
    """

    return redraft(id, lambda before: redrafted(before, new, asked.by), asked, also)


def redraft(
    id: str, draft: Callable[[Order], Order], asked: Asked = Asked(), also: Also | None = None
) -> Written:
    """As `change`. `draft`: from the current order to the changed one, or to itself."""

    return _rewrite(id, lambda before, gone: draft(before), asked, also)


def pay(id: str, received: Sequence[PaymentInput], asked: Asked) -> Written:
    """Emits payment.created, order.updated, and order.paid the first time that nothing is due.

    Raises NotFound, Invalid, DuplicateReference, and as `Asked` says.
    """

    def attempt(before: Order, gone: Gone) -> Order:
        return lifecycle.paid(before, received, asked.by, clock.now_iso())

    return _rewrite(id, attempt, asked, action="payment.created")


def void(id: str, payment_id: str, reason: str | None, asked: Asked) -> Written:
    """As `pay`. Emits payment.voided. Raises also AlreadyVoided, PaymentRefunded."""

    def attempt(before: Order, gone: Gone) -> Order:
        now = clock.now_iso()
        fields = payments.voided(before.fields, payment_id, reason, asked.by, now)
        return lifecycle.grown(before, fields, asked.by, now)

    return _rewrite(id, attempt, asked, action="payment.voided")


def refund(id: str, wanted: RefundInput, asked: Asked) -> Written:
    """As `pay`. Emits refund.created, and order.refunded when nothing of the money is left."""

    def attempt(before: Order, gone: Gone) -> Order:
        return _refunded(before, wanted, asked.by, gone)[1]

    return _rewrite(id, attempt, asked, action="refund.created")


def refund_preview(id: str, wanted: RefundInput, asked: Asked) -> dict[str, object]:
    """The shape of RefundPreview: what `refund` would do now. Raises what it does."""
    before = asked.unchanged(get(id))
    return _refunded(before, wanted, asked.by, products.gone(before.taken()))[0].preview()


def _refunded(
    before: Order, wanted: RefundInput, by: str, gone: Gone
) -> tuple[payments.Refund, Order]:
    now = clock.now_iso()
    found = payments.refunded(before.fields, wanted, by, now, gone)
    return found, lifecycle.grown(before, found.after, by, now)


def edit(id: str, wanted: EditOrder, asked: Asked) -> Written:
    """As `pay`. Emits order.edited, order.updated, order.paid where it applies, inventory.low.
    Raises also TooLate, TaxRequired, BelowRefunded, EmptyOrder, InsufficientStock."""
    found: editing.Edited

    def attempt(before: Order, gone: Gone) -> Order:
        nonlocal found
        found, after = _edited(before, wanted, asked.by)
        return after

    def sell(commit: Commit, before: Order, after: Order) -> None:
        if before.customer_id and before.customer_id != after.customer_id:
            customers.note_moved(commit, before.customer_id, id)
        products.sell(commit, found.moves, order_id=id, cause="EDIT")
        if commit.overflows:
            message = "This edit is more than can be written at once. Divide it."
            raise Invalid(message, code="too_large")

    return _rewrite(id, attempt, asked, sell, "order.edited")


def edit_preview(id: str, wanted: EditOrder, asked: Asked) -> dict[str, object]:
    """The shape of EditPreview: what `edit` would do now. Raises what it does."""
    return _edited(asked.unchanged(get(id)), wanted, asked.by)[0].preview()


def _edited(before: Order, asked: EditOrder, by: str) -> tuple[editing.Edited, Order]:
    needed = editing.products_of(before.fields, asked)
    keys = [key for id in needed for key in products.keys(id)]
    wanted = OrderCustomerInput(id=asked.customer.id) if asked.customer else None
    items = table.batch_get([*keys, *([customers.key(wanted)] if wanted else [])])
    known = {id: product for id in needed if (product := products.from_items(id, items))}
    customer = customers.from_items(wanted, items) if wanted else None
    now = clock.now_iso()
    if wanted and customer is None:
        customers.created(wanted, now)  # which raises, because it has no e-mail
    found = editing.edited(before.fields, asked, known, customer, by=by, now=now)
    _require(found.moves)
    return found, lifecycle.edited(before, found, by, now)


def redrafted(order: Order, asked: OrderChange, by: str) -> Order:
    """The order as a change would leave it. Raises InvalidTransition, Invalid."""
    return lifecycle.changed(order, asked, by, clock.now_iso())


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
}


def sample_of(event: str) -> dict[str, object]:
    """What an event sends of an order that does not exist, for test events."""
    now, by, product, customer = clock.now_iso(), "a test", products.sample(), customers.sample()
    (variant,) = product.variants()
    given = {
        "lineItems": [{"variantId": variant["id"], "quantity": 3}],
        "paymentMethod": "CARD_TERMINAL",
        "source": "IN_PERSON",
    }
    new, known = NewOrder.model_validate(given), {product.id: product}
    order = lifecycle.placed(new, known, customer, number="1001", by=by, now=now)
    for move in _SAMPLE_MOVES.get(event, []):
        order = lifecycle.changed(order, OrderChange.model_validate(move), by, now)
    match event:
        case "payment.created":
            after = lifecycle.paid(order, [PaymentInput()], by, now)
        case "payment.voided":
            (payment,) = order.fields["payments"]
            fields = payments.voided(order.fields, payment["id"], "An example", by, now)
            after = lifecycle.grown(order, fields, by, now)
        case "refund.created":
            (line,) = order.fields["lineItems"]
            back = {"lines": [{"lineItemId": line["id"], "quantity": 1}]}
            _, after = _refunded(order, RefundInput.model_validate(back), by, Gone())
        case "order.edited":
            asked = EditOrder.model_validate({"shipping": "5", "reason": "An example"})
            _, after = _edited(order, asked, by)
        case _:
            return show(order)
    return dict((*payments.events(order, after), *editing.events(order, after)))[event]


def of_customer(customer_id: str, limit: int) -> listing.Query:
    """The list of all orders of a customer, for `page`."""
    return listing.Query({"customerId": frozenset({customer_id})}, limit=limit)


def reassign(id: str, source: str, into: Customer, by: str) -> bool:
    """Moves it to another customer, with its part of the totals, if it still belongs to `source`.
    Emits order.updated. Returns whether it did."""

    def attempt(order: Order, gone: Gone) -> Order:
        own = order.fields["customer"]
        if not own or own["id"] != source:
            return order
        return lifecycle.reassigned(order, into, by, clock.now_iso())

    return _rewritten(id, attempt)


def forget(id: str, person: Person) -> bool:
    """Remove the person's data from an order. Emits order.updated. Return whether it changed."""

    return _rewritten(
        id, lambda order, gone: lifecycle.forget_person(order, person, clock.now_iso()), _ERASED
    )


def _rewritten(id: str, attempt: Change, action: str = "") -> bool:
    """Whether it was changed; an order that is gone was not."""
    try:
        done = _rewrite(id, attempt, Asked(), action=action)
    except NotFound:
        return False
    return done.after is not done.before


def remove(id: str, asked: Asked) -> None:
    """Raises NotFound, PreconditionFailed."""
    _rewrite(id, lambda before, gone: None, asked)


def _rewrite(
    id: str, change: Change, asked: Asked, also: Also | None = None, action: str = ""
) -> Written:
    """Writes the result of `change`, computed again after a concurrent change. `also`: adds to the
    commit, given the order before and after. `action`: for the audit log, if it is more than an
    update."""
    gone, customer_is_gone, until = Gone(), False, deadline.of_conflicts()
    # Perhaps the same request, sent twice, has just done the same.
    with unless_answered(asked.once):
        for _ in deadline.attempts(until):
            keys = [_key(id)] if ids.may_be("ord", id) else []
            found = idempotency.read(keys, asked.once).get(_key(id))
            before = asked.unchanged(read(NotFound.unless(found, "order", id)))
            after = change(before, gone)
            commit = Commit()
            text = _text(after) if after else ""
            if asked.once and after:
                asked.once.record(commit, text, after.etag)
            if after is before:
                if asked.once:  # the order may have changed when the request is repeated
                    commit.send(until)
                return Written(before, before, text)
            _write(commit, before, after, action)
            returned = lifecycle.gives_back(before, after)
            for product, pieces in returned.items():
                there = {variant: n for variant, n in pieces.items() if variant not in gone}
                if there:
                    products.give_back(commit, product, there, order_id=id)
            known = (before.fields["customer"] or {}).get("id")
            for customer, totals in lifecycle.spending(before, after).items():
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
                gone = products.gone(returned)
            except (OrderChanged, products.StockMoved, customers.CustomerMoved):
                pass
    raise Busy


def _text(order: Order) -> str:
    return encode(show(order))


def _write(commit: Commit, before: Order | None, after: Order | None, action: str = "") -> None:
    order = after or before
    assert order is not None
    unchanged = Attr("version").eq(before.version) if before else table.absent
    old_ids, new_ids = (external_ids.held("order", o.fields) if o else {} for o in (before, after))
    more = transactions.written(before, after) + external_ids.writes(old_ids, new_ids)
    inside, room = room_of(order.fields, more)
    RECORDS.write(
        commit,
        order.id,
        before.index if before else None,
        after.index if after else None,
        stored(after) if after else {},
        when=unchanged,
        otherwise=OrderChanged(),
        inside=inside,
        room=room,
    )
    external_ids.change(commit, order.id, old_ids, new_ids)
    sales.count(commit, before, after)
    transactions.write(commit, before, after)
    commit.audit(_audited(before, after, action))
    if after:
        shown = show(after, costs=False)
        for event in lifecycle.events(before, after):
            commit.announce(event, shown)
        for event, data in (*payments.events(before, after), *editing.events(before, after)):
            commit.announce(event, data)
    else:
        commit.announce("order.deleted", show(order, costs=False))


def _audited(before: Order | None, after: Order | None, action: str) -> dict[str, object]:
    versions = [order for order in (before, after) if order]
    owners = {(order.fields["customer"] or {}).get("id") for order in versions}
    owners.update(*(order.fields["formerly"].values() for order in versions))
    return outbox.audited(
        "order",
        versions[0].id,
        *((None, None) if action == _ERASED else (before, after)),
        show=show,
        action=action,
        number=versions[0].fields["number"],
        customers=sorted(filter(None, owners)),
    )
