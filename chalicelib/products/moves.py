"""Moves of stock: received, counted, damaged.

A move never overwrites a concurrent sale: its condition is the stock that was read; otherwise it is
repeated on the current stock.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib import deadline
from chalicelib.problems import Invalid, NotFound
from chalicelib.products import store
from chalicelib.products.model import Product, show_product
from chalicelib.products.schemas import MOST_STOCK, MOST_VARIANTS, MovedStock, Stock
from chalicelib.schemas import Input, NullIsAbsent, optional, upper
from chalicelib.storage import idempotency
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.values import ids
from chalicelib.values.compact_json import encode

_Steps = Annotated[int, Field(strict=True, ge=-MOST_STOCK, le=MOST_STOCK)]


class StockMove(NullIsAbsent):
    """Either `by` or `to`. `reason`: RECEIVED, COUNTED, DAMAGED or another UPPER_SNAKE name."""

    variant_id: Annotated[
        str, Field(min_length=1, max_length=60, description="Id of the variant, `var_…`.")
    ]
    by: Annotated[_Steps, Field(description="Pieces that came in, or went out (negative)")] = 0
    to: Stock | None = optional("Pieces that are in stock now")
    reason: Annotated[
        str,
        Field(
            pattern=r"^[A-Z][A-Z0-9_]{0,49}$",
            examples=["COUNTED"],
            description="Why, such as RECEIVED, COUNTED or DAMAGED.",
        ),
        BeforeValidator(upper),
    ]
    note: str | None = Field(
        None, max_length=500, description="Such as the number of a delivery note."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "StockMove":
        if (self.to is None) == (self.by == 0):
            raise PydanticCustomError("by_or_to", "needs either by (not 0) or to")
        return self


class StockMoves(Input):
    """Moves of the stock of one product's variants."""

    moves: Annotated[
        list[StockMove],
        Field(
            min_length=1,
            max_length=MOST_VARIANTS,
            description="The moves: all of them happen, or none.",
        ),
    ]


class ShortOfStock(Invalid):
    """422 with `lines`: [{variantId, requested, available}], as for an order."""

    code = "insufficient_stock"
    text = "There is not enough stock for this move."


def move_stock(
    product_id: str, moves: Sequence[StockMove], once: Once | None
) -> tuple[Product, str]:
    """Write all of the moves, or none; return the product after them, and the text of the answer.

    Emits product.updated, whose data also has `stockMoves`, and inventory.low if stock falls below
    the threshold. Raises NotFound, Invalid, ShortOfStock; with `once` also Repeated and KeyReused.
    """
    # Perhaps the same request, sent twice, has just taken the last piece.
    with unless_answered(once):
        return deadline.retry_on_conflict(
            partial(_try_move, product_id, moves, once), store.ProductChanged
        )


def _try_move(
    product_id: str, moves: Sequence[StockMove], once: Once | None
) -> tuple[Product, str]:
    before = _load_product(product_id, once)
    after, made = apply_moves(before, moves)
    text = encode(show_product(after))
    commit = store.build_move_commit(before, after, made)
    message = "make too large an event; send fewer at a time, or with shorter notes"
    commit.explain_excess("moves", message)
    if once:
        once.record(commit, text, after.etag)
    if len(commit):
        commit.send()
    return after, text


def _load_product(product_id: str, once: Once | None) -> Product:
    if not ids.may_be("prod", product_id):
        raise NotFound.for_id("product", product_id)
    items = idempotency.read_unless_answered(store.keys(product_id), once)
    return NotFound.unless(store.from_items(product_id, items), "product", product_id)


def apply_moves(product: Product, moves: Sequence[StockMove]) -> tuple[Product, list[MovedStock]]:
    """Return the product after the moves, in order, and the result of each move.

    Raises Invalid, ShortOfStock.
    """
    quantities, made = dict(product.quantities), list[MovedStock]()
    known = {variant["id"] for variant in product.fields["variants"]}
    for place, one in enumerate(moves):
        id, at = one.variant_id, f"moves.{place}"
        if id not in known:
            message = f"{id!r} is no variant of this product"
            raise Invalid.field(f"{at}.variantId", "unknown_variant", message)
        was = quantities.get(id)
        if one.to is not None:
            now = one.to
        elif was is not None:
            now = was + one.by
        else:
            message = "The stock of this variant is not tracked. Send `to` to begin."
            raise Invalid.field(f"{at}.by", "not_tracked", message)
        if now < 0:
            short = {"variantId": id, "requested": -one.by, "available": was}
            raise ShortOfStock(lines=[short])
        if now > MOST_STOCK:
            raise Invalid.field(
                f"{at}.by", "out_of_range", f"would make more than {MOST_STOCK} pieces"
            )
        quantities[id] = now
        if now != was:
            by = None if was is None else now - was
            step: MovedStock = {"variantId": id, "by": by, "stock": now, "reason": one.reason}
            if one.note:
                step["note"] = one.note
            made.append(step)
    return replace(product, quantities=quantities), made
