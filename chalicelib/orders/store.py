"""Orders in the table: `ord_…` / `order`, with its lines.

A write is one commit with all its effects: stock, customer, lists, counts, the kept reply, events.
After a concurrent change it is computed again.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from chalicelib import deadline, listing, settings
from chalicelib.customers import store as customers
from chalicelib.customers.model import Customer, EmailTaken
from chalicelib.listing.counts import counts, places
from chalicelib.orders import lifecycle, sales, spending, transitions
from chalicelib.orders.model import (
    KIND,
    NewOrder,
    Order,
    OrderChange,
    index_of,
    read,
    stored,
)
from chalicelib.orders.model import room as room_of
from chalicelib.orders.numbers import KEY as NUMBERS
from chalicelib.orders.numbers import Numbers, NumberTaken
from chalicelib.orders.shown import show
from chalicelib.problems import Busy, Invalid, NotFound, PreconditionFailed, Problem
from chalicelib.products import store as products
from chalicelib.products.model import Product
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once
from chalicelib.values import clock, ids
from chalicelib.values.forgetting import Person

MOVES: Final = transitions.MOVES
PAYMENT_MOVES: Final = transitions.PAYMENT_MOVES
days, recount_days = sales.days, sales.recount
recount_customers = spending.recount

Also = Callable[[Commit, Order, Order], None]

_MOST_ITEMS: Final = 97  # of a commit: three are room for what others add
_CUSTOMER_WORDS: Final = 8  # of a new one, for which the largest order has room
_FEW: Final = 50  # products whose order has room for its number: see `model.py`


class InsufficientStock(Invalid):
    """422 with `lines`: [{variantId, requested, available}]."""

    code = "insufficient_stock"

    def __init__(self, lines: list[dict[str, object]]) -> None:
        super().__init__("There is not enough stock for this order.", lines=lines)


class OrderChanged(Exception):
    """The order was changed since it was read."""


def _key(id: str) -> Key:
    return id, "order"


RECORDS: Final = listing.Records(KIND, _key, index_of)


# --- Reading --------------------------------------------------------------------------------------


def load(ids: Iterable[str], fields: Iterable[str] = ()) -> list[Order]:
    """The orders that exist of these, in their order; of each these fields, if some are named."""
    wanted = list(ids)
    only = ("id", "version", *fields) if fields else ()
    items = table.batch_get(map(_key, wanted), fields=only)
    return [read(items[_key(id)]) for id in wanted if _key(id) in items]


def get(id: str, fields: Iterable[str] = ()) -> Order:
    """Raises NotFound."""
    found = load([id], fields) if ids.may_be("ord", id) else []
    if not found:
        raise NotFound.of("order", id)
    return found[0]


def page(query: listing.Query, fields: Iterable[str] = ()) -> listing.Page[Order]:
    return listing.page(KIND, query, partial(load, fields=query.reads(fields)))


def open_orders() -> dict[str, int]:
    """The number of orders in each status that is not final."""
    known = counts(KIND, {}, [table.everything(pk) for pk in places(KIND, {})])
    sizes = {one: known.size({"status": frozenset({one.value})}) for one in transitions.OPEN}
    return {status.value: size or 0 for status, size in sizes.items()}


# --- Creating -------------------------------------------------------------------------------------


def place(new: NewOrder, by: str, once: Once | None) -> tuple[Order, str]:
    """Places an order completely or not at all; returns it, and the text that answers its creation.
    Emits order.created, order.paid if it is paid, customer.created if the e-mail is new, and
    inventory.low.

    Raises Invalid, InsufficientStock; with `once` also Repeated and KeyReused.
    """
    until = deadline.within(settings.conflict_seconds())
    numbers = Numbers()
    try:
        for _ in deadline.attempts(until):
            try:
                return _place(new, by, once, numbers, until)
            except (products.StockMoved, EmailTaken, customers.CustomerMoved, NumberTaken):
                numbers.are_contended = True
    except Problem:
        # Perhaps the same request, sent twice, has just bought the last piece.
        if once:
            once.look()
        raise
    raise Busy


def _place(
    new: NewOrder, by: str, once: Once | None, numbers: Numbers, until: float
) -> tuple[Order, str]:
    wanted = lifecycle.wanted(new)
    keys = [key for id in wanted for key in products.keys(id)]
    keys += [customers.key(new.customer)] if new.customer else []
    keys += [NUMBERS, *([once.key] if once else [])]
    items = table.batch_get(keys)
    if once:
        once.judge(items.get(once.key))
    now = clock.iso(clock.now())
    found = {id: product for id in wanted if (product := products.from_items(id, items))}
    customer = customers.from_items(new.customer, items) if new.customer else None
    registers = new.customer is not None and customer is None
    if new.customer and customer is None:
        customer = customers.created(new.customer, now)
    number = numbers.next(items.get(NUMBERS), has_room=len(wanted) <= _FEW)
    order = lifecycle.placed(new, found, customer, number=number, by=by, now=now)
    sold = [(found[id], pieces) for id, pieces in wanted.items()]
    _require(sold)

    commit = Commit()
    text = json.dumps(show(order), ensure_ascii=False, separators=(",", ":"))
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
    products.sell(commit, sold)
    numbers.write(commit)
    if commit.overflows:
        message = "are more than can be sold at once; divide the order"
        raise Invalid.field("lineItems", "too_large", message)
    commit.send(until)
    return order, text


def _require(sold: Iterable[tuple[Product, Mapping[str, int]]]) -> None:
    short = [
        {"variantId": id, "requested": wanted[id], "available": available}
        for product, wanted in sold
        for id, available in products.short(product, wanted).items()
    ]
    if short:
        raise InsufficientStock(short)


# --- Changing -------------------------------------------------------------------------------------


def change(
    id: str,
    asked: OrderChange,
    by: str,
    if_match: frozenset[str] | None,
    also: Also | None = None,
) -> Order:
    """Emits order.updated, and what follows from the change (`lifecycle.events`). `also`: adds to
    the commit, given the order before and after.

    Raises NotFound, InvalidTransition, Invalid, PreconditionFailed.
    """

    def attempt(before: Order) -> Order:
        return redrafted(before, asked, by)

    after = _rewrite(id, attempt, if_match, also)
    assert after is not None
    return after


def redrafted(order: Order, asked: OrderChange, by: str) -> Order:
    """The order as a change would leave it. Raises InvalidTransition, Invalid."""
    return lifecycle.changed(order, asked.given(), by, clock.iso(clock.now()))


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
}


def sample_of(event: str) -> dict[str, object]:
    """What an event sends of an order that does not exist, for test events."""
    now, product, customer = clock.iso(clock.now()), products.sample(), customers.sample()
    (variant,) = product.variants()
    given = {
        "lineItems": [{"variantId": variant["id"], "quantity": 3}],
        "paymentMethod": "CARD_TERMINAL",
        "source": "IN_PERSON",
    }
    known = {product.id: product}
    new = NewOrder.model_validate(given)
    order = lifecycle.placed(new, known, customer, number="1001", by="a test", now=now)
    for move in _SAMPLE_MOVES.get(event, []):
        order = lifecycle.changed(order, move, "a test", now)
    return show(order)


def of_customer(customer_id: str, limit: int) -> listing.Query:
    """The list of all orders of a customer, for `page`."""
    return listing.Query({"customerId": frozenset({customer_id})}, limit=limit)


def reassign(id: str, source: str, into: Customer, by: str) -> bool:
    """Moves it to another customer, with its part of the totals, if it still belongs to `source`.
    Emits order.updated. Returns whether it did."""

    def attempt(order: Order) -> Order:
        own = order.fields["customer"]
        if not own or own["id"] != source:
            return order
        return lifecycle.reassigned(order, into, by, clock.iso(clock.now()))

    return _rewritten_by_job(id, attempt)


def forget(id: str, person: Person) -> bool:
    """Removes the customer's personal data. Emits order.updated. Returns whether there was any."""

    def attempt(order: Order) -> Order:
        if not person.is_about(order.fields):
            return order
        return lifecycle.forgotten(order, person, clock.iso(clock.now()))

    return _rewritten_by_job(id, attempt)


def _rewritten_by_job(id: str, attempt: Callable[[Order], Order]) -> bool:
    """Whether it was changed; an order that is gone was not."""
    versions: list[int] = []

    def noted(before: Order) -> Order:
        versions.append(before.version)
        return attempt(before)

    try:
        after = _rewrite(id, noted, None, lambda commit, before, after: None)
    except NotFound:
        return False
    return after is not None and after.version != versions[-1]


def remove(id: str, if_match: frozenset[str] | None) -> None:
    """Raises NotFound, PreconditionFailed."""
    _rewrite(id, lambda before: None, if_match)


def _rewrite(
    id: str,
    change: Callable[[Order], Order | None],
    if_match: frozenset[str] | None,
    also: Also | None = None,
) -> Order | None:
    """Writes the result of `change`, computed again after a concurrent change."""
    something_is_gone = customer_is_gone = False
    # A job, which adds to the commit, has more time than a waiting client.
    until = deadline.within(None if also else settings.conflict_seconds())
    for _ in deadline.attempts(until):
        before = get(id)
        if if_match is not None and before.etag not in if_match:
            raise PreconditionFailed("The order was changed since it was read.")
        after = change(before)
        if after is before:
            return before
        commit = Commit()
        _write(commit, before, after)
        if also and after:
            also(commit, before, after)
        taken = lifecycle.gives_back(before, after)
        if something_is_gone:
            taken = products.still_there(taken)
        for product, pieces in taken.items():
            products.give_back(commit, product, pieces)
        for customer, totals in lifecycle.spending(before, after).items():
            if not customer_is_gone:
                customers.count(commit, customer, totals, placing=False)
        try:
            commit.send(until)
            return after
        except customers.CustomerGone:
            customer_is_gone = True
        except products.VariantGone:
            something_is_gone = True
        except OrderChanged:
            pass
    raise Busy


def _write(commit: Commit, before: Order | None, after: Order | None) -> None:
    order = after or before
    assert order is not None
    unchanged = Attr("version").eq(before.version) if before else table.absent
    pk, sk = _key(order.id)
    inside, room = room_of(order.fields, is_new=before is None)
    index = listing.change(
        commit,
        KIND,
        order.id,
        before.index if before else None,
        after.index if after else None,
        inside=inside,
        room=room,
    )
    if after and index:
        item = {"pk": pk, "sk": sk, **stored(after), "index": index.stored()}
        commit.put(item, when=unchanged, otherwise=OrderChanged())
    else:
        commit.delete((pk, sk), when=unchanged, otherwise=OrderChanged())
    sales.count(commit, before, after)
    if after:
        shown = show(after)
        for event in lifecycle.events(before, after):
            commit.announce(event, shown)
    else:
        commit.announce("order.deleted", show(order))
