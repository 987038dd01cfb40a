"""Selling what the screen denies (`stockPolicy`): never below 0, every piece accounted for."""

import random
from typing import Any

import pytest

from tests.orders.build import (
    ORDERS,
    at_once,
    before_the_commit,
    line,
    move_stock,
    new_order,
    placed,
    set_stock,
    stock_of,
    variant,
    variants,
)
from tests.stock.build import agrees, fanned_out, movements, moves_in
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop


def sizes(order: Any) -> list[tuple[int, int]]:
    return [(one["quantity"], one["oversold"]) for one in order["lineItems"]]


def test_force_takes_what_is_there(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 1)
    refused = shop.post(ORDERS, new_order(line(id, 3), stockPolicy="CHECK"))
    assert (refused.status, refused.json["code"]) == (422, "insufficient_stock")
    order = placed(shop, line(id, 3), stockPolicy="FORCE")
    assert (stock_of(shop, id), sizes(order)) == (0, [(3, 2)])
    fanned_out(dynamodb)
    entries = movements(shop, orderId=order["id"])
    assert sorted(moves_in(entries)) == [("OVERSOLD", 0, 0), ("SALE", -1, 0)]
    assert [one["missing"] for one in entries if one["cause"] == "OVERSOLD"] == [2]
    assert order.moved("CANCELLED").status == 200
    assert stock_of(shop, id) == 1
    fanned_out(dynamodb)
    agrees(shop)


def test_force_divides_what_is_there_between_lines(shop: Shop, dynamodb: Double) -> None:
    few, none, untracked = variants(shop, 4, 0, None)
    lines = [line(few, 3), line(few, 3), line(none, 2), line(untracked, 9)]
    order = placed(shop, *lines, stockPolicy="force")
    assert sizes(order) == [(3, 0), (3, 2), (2, 2), (9, 0)]
    assert (stock_of(shop, few), stock_of(shop, none)) == (0, 0)
    fanned_out(dynamodb)
    assert agrees(shop) == 2 + 1 + 2


def test_force_with_enough_is_an_ordinary_sale(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 5)
    assert sizes(placed(shop, line(id, 3), stockPolicy="FORCE")) == [(3, 0)]
    fanned_out(dynamodb)
    assert moves_in(movements(shop, variantId=id)) == [("TRACKED", None, 5), ("SALE", -3, 2)]


def test_skip_takes_and_returns_nothing(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 1)
    order = placed(shop, line(id, 3), stockPolicy="SKIP")
    assert (stock_of(shop, id), sizes(order)) == (1, [(3, 0)])
    order.moved("CANCELLED")
    fanned_out(dynamodb)
    assert (stock_of(shop, id), agrees(shop)) == (1, 1)


@pytest.mark.parametrize(
    ("quantity", "oversold", "stock"), [(5, 2, 3), (2, 1, 5), (1, 0, 5), (3, 2, 5)]
)
def test_an_edit_of_an_oversold_line(
    shop: Shop, dynamodb: Double, quantity: int, oversold: int, stock: int
) -> None:
    """More pieces are taken of what came in since; fewer take off what was missing first."""
    id = variant(shop, 1)
    order = placed(shop, line(id, 3), stockPolicy="FORCE")
    move_stock(shop, id, by=5)
    answer = order.edit(change=[order.first_line(quantity=quantity)])
    assert answer.status == 200, answer.text
    assert (sizes(answer.json), stock_of(shop, id)) == ([(quantity, oversold)], stock)
    order.moved("CANCELLED")
    assert stock_of(shop, id) == 6
    fanned_out(dynamodb)
    agrees(shop)


@pytest.mark.parametrize("policy", ["SKIP", "CHECK"])
def test_an_edit_and_back_again_leaves_the_stock_as_it_was(
    shop: Shop, dynamodb: Double, policy: str
) -> None:
    """Also of a line that took nothing, by its policy or because the variant was not tracked: the
    three pieces that the stock never had are never taken from it, on whatever way."""
    for seed in range(8):
        id, chance = variant(shop, 10 if policy == "SKIP" else None), random.Random(seed)
        order = placed(shop, line(id, 3), stockPolicy=policy)
        set_stock(shop, id, 10)
        for quantity in (1, 3, *(chance.randint(1, 7) for _ in range(8))):
            assert order.edit(change=[order.first_line(quantity=quantity)]).status == 200
            assert stock_of(shop, id) == 10 - max(0, quantity - 3)
        order.moved("CANCELLED")
        assert stock_of(shop, id) == 10
    fanned_out(dynamodb)
    agrees(shop)


@pytest.mark.parametrize(("shipped", "stock"), [(0, 1), (1, 0), (2, 0)])
def test_a_refund_returns_no_piece_that_is_at_the_customer(
    shop: Shop, shipped: int, stock: int
) -> None:
    """Of three pieces one was there. What was shipped first is what was taken."""
    id = variant(shop, 1)
    order = placed(shop, line(id, 3), stockPolicy="FORCE", paymentStatus="PAID")
    if shipped:
        parts = {"lines": [order.first_line(quantity=shipped)]}
        assert order.post("/shipments", parts).status == 201
    assert order.refund(amount="0.01", lines=[order.first_line(quantity=1)]).status == 201
    assert stock_of(shop, id) == stock


def test_a_line_that_was_made_in_between_takes_all_its_pieces(shop: Shop) -> None:
    """Though it was sold without the stock (SKIP): an edit has decided that it takes them."""
    id = variant(shop, 10)
    order = placed(shop, line(id, 3), stockPolicy="SKIP")
    for change, stock in (({"quantity": 1}, 10), ({"make": True}, 10), ({"make": False}, 9)):
        assert order.edit(change=[order.first_line(**change)]).status == 200
        assert stock_of(shop, id) == stock
    assert order.edit(change=[order.first_line(quantity=3)]).status == 200
    assert stock_of(shop, id) == 7


@pytest.mark.parametrize("policy", ["CHECK", "FORCE", "SKIP"])
def test_a_line_takes_what_a_model_says_on_any_way_of_edits_and_refunds(
    shop: Shop, dynamodb: Double, policy: str
) -> None:
    """Of a line, `taken` pieces are of the stock. The others were missing (FORCE), and stay so
    until there are fewer; or the stock never has them (SKIP), up to `untaken`."""
    for seed in range(25):
        chance = random.Random(seed)
        stock = chance.randint(0, 3) if policy == "FORCE" else 9
        quantity, left = (chance.randint(1, 4),) * 2
        id = variant(shop, stock)
        order = placed(shop, line(id, quantity), stockPolicy=policy, paymentStatus="PAID")
        taken = 0 if policy == "SKIP" else min(quantity, stock)
        untaken = quantity if policy == "SKIP" else 0
        stock -= taken
        for _ in range(8):
            more, act = chance.randint(-2, 3), chance.choice(["edit", "edit", "refund", "receive"])
            if act == "receive":
                assert move_stock(shop, id, by=2).status == 200
                stock += 2
            elif act == "refund":
                pieces = min(left, chance.randint(1, 2))
                part = order.first_line(quantity=pieces, restock=True)
                if not pieces or order.refund(amount="0.01", lines=[part]).status != 201:
                    continue
                back = min(taken, pieces)
                taken, stock, left = taken - back, stock + back, left - pieces
                untaken = max(0, untaken - (pieces - back))
            elif left + more >= 0 and quantity + more >= 1:
                rest = left - taken
                fewer = max(0, -more - rest) if policy == "FORCE" else -more
                gain = max(0, more - max(0, untaken - rest)) if more > 0 else -min(taken, fewer)
                answer = order.edit(change=[order.first_line(quantity=quantity + more)])
                if gain > stock:
                    assert answer.json["code"] == "insufficient_stock"
                    continue
                assert answer.status == 200, answer.text
                taken, stock, left, quantity = (
                    taken + gain,
                    stock - gain,
                    left + more,
                    quantity + more,
                )
            assert stock_of(shop, id) == stock, (seed, act)
        order.moved("REFUNDED")
        assert stock_of(shop, id) == stock + taken
    fanned_out(dynamodb)
    agrees(shop)


@pytest.mark.parametrize("refunded", [1, 2, 3])
@pytest.mark.parametrize(("policy", "stock"), [("FORCE", 1), ("FORCE", 0), ("SKIP", 10)])
def test_an_added_piece_is_taken_also_after_a_refund_of_what_was_not_taken(
    shop: Shop, dynamodb: Double, policy: str, stock: int, refunded: int
) -> None:
    """On whatever way: refunded at once, or after the line had fewer pieces."""
    for ways in ((4,), (refunded, 4)):
        id = variant(shop, stock)
        order = placed(shop, line(id, 3), stockPolicy=policy, paymentStatus="PAID")
        set_stock(shop, id, 10)
        if len(ways) > 1:
            assert order.edit(change=[order.first_line(quantity=ways[0])]).status == 200
        left = stock_of(shop, id)
        part = order.first_line(quantity=refunded, restock=False)
        assert order.refund(amount="0.01", lines=[part]).status == 201
        answer = order.edit(change=[order.first_line(quantity=4)])
        assert answer.status == 200, answer.text
        more = 1 if policy == "SKIP" or len(ways) == 1 else 4 - ways[0]
        assert stock_of(shop, id) == (left or 0) - more, (ways, sizes(answer.json))
    fanned_out(dynamodb)
    agrees(shop)


@pytest.mark.parametrize("steps", [(1,), (2, 1)])
def test_fewer_pieces_leave_none_missing_beside_untracked_ones(
    shop: Shop, dynamodb: Double, steps: tuple[int, ...]
) -> None:
    """Of three pieces one was there, one was missing, and one was added while nothing was
    tracked: at once or one by one, the missing one goes first, and one returns."""
    id = variant(shop, 1)
    order = placed(shop, line(id, 2), stockPolicy="FORCE")
    for stock, quantities in ((None, (3,)), (10, steps)):
        set_stock(shop, id, stock)
        for quantity in quantities:
            answer = order.edit(change=[order.first_line(quantity=quantity)])
            assert answer.status == 200, answer.text
    assert (sizes(answer.json), stock_of(shop, id)) == ([(1, 0)], 11)
    fanned_out(dynamodb)
    agrees(shop)


def test_forty_buyers_with_force_never_sell_below_zero(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 25)
    assert shop.owner
    order = new_order(line(id, 2), customer=None, stockPolicy="FORCE")
    answers = at_once(40, lambda _: shop.post(ORDERS, order))
    sold = [answer.json for answer in answers if answer.status == 201]
    assert {answer.status for answer in answers} <= {201, 503}
    missing = sum(order["lineItems"][0]["oversold"] for order in sold)
    assert stock_of(shop, id) == max(0, 25 - 2 * len(sold))
    assert missing == max(0, 2 * len(sold) - 25)
    fanned_out(dynamodb)
    agrees(shop)


def test_a_replenishment_during_a_forced_sale_is_sold_from(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 1)
    before_the_commit(dynamodb, lambda: move_stock(shop, id, by=9))
    order = placed(shop, line(id, 3), stockPolicy="FORCE")
    assert (sizes(order), stock_of(shop, id)) == ([(3, 0)], 7)


def test_an_unknown_policy_is_refused(shop: Shop) -> None:
    answer = shop.post(ORDERS, new_order(line(variant(shop, 1)), stockPolicy="HOPE"))
    assert answer.json["errors"][0]["field"] == "stockPolicy"
