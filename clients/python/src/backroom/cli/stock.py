"""`backroom stock`: what came in, what was counted, counts of many, and every change."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from backroom.cli import base, output
from backroom.cli.base import REFUSED, USAGE, Json, Limit
from backroom.client import Backroom
from backroom.models import CountedLine, Product, StockCount, StockMove, Variant

app = typer.Typer(help="Receive and count stock; list its changes.", no_args_is_help=True)
counts = typer.Typer(
    help="List counts; start, show, apply and cancel one.", invoke_without_command=True
)
app.add_typer(counts, name="counts")

Sku = Annotated[str, typer.Argument(help="SKU of the variant.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept in the ledger.")]


@app.command("receive")
def receive(
    sku: Sku,
    quantity: Annotated[
        int, typer.Argument(parser=base.integer_parser(1, 10**6), help="Pieces that came in.")
    ],
    reason: Reason = "RECEIVED",
    as_json: Json = False,
) -> None:
    """Add pieces to a variant's stock. Sales in the meantime are kept."""
    _move_stock(sku, {"variantId": "", "by": quantity, "reason": reason}, as_json=as_json)


@app.command("count")
def count(
    sku: Sku,
    quantity: Annotated[
        int, typer.Argument(parser=base.integer_parser(0, 10**6), help="Pieces that are there.")
    ],
    *,
    reason: Reason = "COUNTED",
    count_id: Annotated[
        str | None, typer.Option("--in", help="Enter it into a count, cnt_…, instead.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="With --in: add to the earlier count.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Set a variant's stock to what was counted, or enter that into a count."""
    if count_id is None:
        if add:
            base.fail("--add needs --in", USAGE)
        _move_stock(sku, {"variantId": "", "to": quantity, "reason": reason}, as_json=as_json)
        return
    with base.open_own_shop() as shop:
        variant = find_variant(shop, sku)[1]["id"]
        line: CountedLine = {"variantId": variant, "counted": quantity, "add": add}
        (kept,) = shop.enter_stock_count_lines(count_id, {"lines": [line]})["lines"]
    if as_json:
        output.print_json(kept)
    else:
        output.print_note(f"{sku}: {kept['counted']} counted, {kept['expected']} expected.")


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
    with base.open_own_shop() as shop:
        asked: dict[str, Any] = {"cause": cause, "limit": base.page_size(limit)}
        if sku:
            asked["variant_id"] = find_variant(shop, sku)[1]["id"]
        found = base.take_first(shop.iter_movements(**asked), limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("at", "sku", "title", "by>", "stock>", "cause", "reason", "order or job", "key"),
            (
                (
                    output.format_time(each["at"]),
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


@counts.callback()
def list_counts(context: typer.Context, limit: Limit = 20, as_json: Json = False) -> None:
    """List counts, newest first; start, show, apply and cancel one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        found = base.take_first(shop.iter_stock_counts(limit=base.page_size(limit)), limit)
        if as_json:
            base.print_json_lines(found)
            return
        names = ("createdAt", "name", "status", "variants", "counted", "different", "id")
        output.print_table(
            ("started", "name", "status", "variants>", "counted>", "different>", "id"),
            ([str(each[name]) for name in names] for each in found),
        )


@counts.command("start")
def start_count(
    name: Annotated[str, typer.Argument(help="Such as the room or the shelf.")],
    where: Annotated[
        list[str] | None,
        typer.Option(help="A filter of products, such as vendor=Kestrel; repeatable."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All products.")] = False,
    as_json: Json = False,
) -> None:
    """Start a count of the variants with a tracked stock of some products, or of all."""
    filters = base.parse_pairs("--where", where or [])
    with base.open_own_shop() as shop:
        made = shop.create_stock_count({"name": name, "filters": filters, "all": everything})
    _show_count(made, as_json=as_json)


@counts.command("show")
def show_count(
    id: str,
    state: Annotated[
        str | None, typer.Option(help="COUNTED, UNCOUNTED or DIFFERENT; default: all.")
    ] = None,
    limit: Limit = 100,
    as_json: Json = False,
) -> None:
    """List the lines of a count, what was counted last first."""
    asked: dict[str, Any] = {"state": state, "limit": base.page_size(limit)}
    with base.open_own_shop() as shop:
        found = base.take_first(shop.iter_stock_count_lines(id, **asked), limit)
        if as_json:
            base.print_json_lines(found)
            return
        names = ("sku", "title", "expected", "counted", "difference", "stock", "countedBy")
        output.print_table(
            ("sku", "title", "expected>", "counted>", "difference>", "stock>", "key"),
            ([each.get(name) for name in names] for each in found),
        )


@counts.command("apply")
def apply_count(id: str, as_json: Json = False) -> None:
    """Change the stock by the differences of a count, and wait until it is done."""
    with base.open_own_shop() as shop:
        job = shop.apply_stock_count(id)["jobId"]
        base.finish_job(base.wait_for_job(shop, job, "Applying", quiet=as_json), as_json=as_json)


@counts.command("cancel")
def cancel_count(id: str, as_json: Json = False) -> None:
    """End a count without changes."""
    with base.open_own_shop() as shop:
        _show_count(shop.cancel_stock_count(id), as_json=as_json)


def _show_count(count: StockCount, *, as_json: bool) -> None:
    if as_json:
        output.print_json(count)
    else:
        output.print_note(f"{count['id']}: {count['status']}, {count['variants']} variants.")


def _move_stock(sku: str, move: StockMove, *, as_json: bool) -> None:
    with base.open_own_shop() as shop:
        product, variant = find_variant(shop, sku)
        moved = shop.move_stock(product["id"], {"moves": [{**move, "variantId": variant["id"]}]})
    now = next(each for each in moved["variants"] if each["id"] == variant["id"])
    if as_json:
        output.print_json(now)
    else:
        output.print_note(f"{sku}: {_format_stock(variant)} before, {_format_stock(now)} now.")


def _format_stock(variant: Variant) -> str:
    return "untracked" if variant["stock"] is None else str(variant["stock"])


def find_variant(shop: Backroom, sku: str) -> tuple[Product, Variant]:
    """Return the only variant with exactly this SKU, and its product."""
    hits = [
        (product, variant)
        for product in shop.iter_products(search=sku)
        for variant in product["variants"]
        if variant["sku"] == sku
    ]
    if len(hits) != 1:
        base.fail(f"{len(hits) or 'no'} variants have the SKU {sku!r}.", REFUSED)
    return hits[0]
