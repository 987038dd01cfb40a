"""`backroom stock`: what came in, what was counted, and every change."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from backroom.cli import base, shown
from backroom.cli.base import REFUSED, Json, Limit
from backroom.client import Backroom
from backroom.models import Product, StockMove, Variant

app = typer.Typer(help="Receive and count stock; list its changes.", no_args_is_help=True)

Sku = Annotated[str, typer.Argument(help="SKU of the variant.")]
Reason = Annotated[str, typer.Option(help="Why; it is in the event and in the log.")]


@app.command("receive")
def receive(
    sku: Sku,
    quantity: Annotated[int, typer.Argument(min=1, max=10**6, help="Pieces that came in.")],
    reason: Reason = "RECEIVED",
    as_json: Json = False,
) -> None:
    """Add pieces to a variant's stock. Sales in the meantime are kept."""
    _move(sku, {"variantId": "", "by": quantity, "reason": reason}, as_json=as_json)


@app.command("count")
def count(
    sku: Sku,
    quantity: Annotated[int, typer.Argument(min=0, max=10**6, help="Pieces that are there.")],
    reason: Reason = "COUNTED",
    as_json: Json = False,
) -> None:
    """Set a variant's stock to what was counted."""
    _move(sku, {"variantId": "", "to": quantity, "reason": reason}, as_json=as_json)


@app.command("movements")
def movements(
    sku: Annotated[str | None, typer.Argument(help="SKU of the variant; default: all.")] = None,
    cause: Annotated[
        list[str] | None, typer.Option(help="SALE, RETURN, MOVE, IMPORT …; repeatable.")
    ] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List every change of stock, newest first: when, how many, and why."""
    with base.shop() as shop:
        asked: dict[str, Any] = {"cause": cause, "limit": base.page(limit)}
        if sku:
            asked["variant_id"] = of_sku(shop, sku)[1]["id"]
        found = base.first(shop.iter_movements(**asked), limit)
        if as_json:
            base.lines(found)
            return
        shown.table(
            ("at", "sku", "title", "by>", "stock>", "cause", "reason", "order or job", "key"),
            (
                (
                    each["at"][:19],
                    each["sku"],
                    each["title"],
                    each["by"],
                    each["stock"],
                    each["cause"],
                    each["reason"],
                    each["orderId"] or each["jobId"],
                    each["actor"]["keyName"],
                )
                for each in found
            ),
        )


def _move(sku: str, move: StockMove, *, as_json: bool) -> None:
    with base.shop() as shop:
        product, variant = of_sku(shop, sku)
        moved = shop.move_stock(product["id"], {"moves": [{**move, "variantId": variant["id"]}]})
    now = next(each for each in moved["variants"] if each["id"] == variant["id"])
    if as_json:
        shown.document(now)
    else:
        shown.note(f"{sku}: {_pieces(variant)} before, {_pieces(now)} now.")


def _pieces(variant: Variant) -> str:
    return "untracked" if variant["stock"] is None else str(variant["stock"])


def of_sku(shop: Backroom, sku: str) -> tuple[Product, Variant]:
    """The only variant with exactly this SKU, and its product."""
    hits = [
        (product, variant)
        for product in shop.iter_products(search=sku)
        for variant in product["variants"]
        if variant["sku"] == sku
    ]
    if len(hits) != 1:
        base.fail(f"{len(hits) or 'no'} variants have the SKU {sku!r}.", REFUSED)
    return hits[0]
