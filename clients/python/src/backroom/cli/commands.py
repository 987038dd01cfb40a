"""What can be typed. Each command asks the client, and prints what it answers."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer

from backroom import settings
from backroom.cli import (
    audit,
    base,
    customers,
    deliveries,
    keys,
    mapping,
    output,
    signing_in,
    stock,
)
from backroom.cli import listen as listening
from backroom.cli.base import (
    DONE,
    INCOMPLETE,
    INTERRUPTED,
    NEEDS_MAPPING,
    NO_ANSWER,
    NOT_ALLOWED,
    REFUSED,
    USAGE,
    Json,
    Limit,
    Search,
)
from backroom.client import Backroom
from backroom.errors import (
    ApiError,
    BackroomError,
    Forbidden,
    Invalid,
    RateLimited,
    ServerError,
    Unauthorized,
    Unreachable,
)
from backroom.models import (
    BulkMode,
    CreateExport,
    CreateImportUpload,
    CreateOrder,
    CreateReport,
    CreateWebhook,
    EventKind,
    ExportColumns,
    ExportFormat,
    ExportType,
    FeedEvent,
    ImportMode,
    OrderChange,
    Product,
    ProductChange,
    ReportBy,
    ReportType,
)
from backroom.settings import NotSignedIn
from backroom.shared import is_address
from backroom.version import __version__

EXIT_CODES = (
    "Exit codes: 0 done; 1 refused, or another error; 2 wrong usage; 3 no key, a wrong one, or one"
    " without the right; 4 the shop did not answer; 5 a job failed, or some of its rows, or an"
    " event was left out; 6 the file needs a mapping; 130 Ctrl-C."
)

app = typer.Typer(
    name="backroom",
    help="Backroom on the command line.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
orders = typer.Typer(
    help="List orders; show, place, edit and pay one.", invoke_without_command=True
)
shipments = typer.Typer(help="List shipments; ship an order.", invoke_without_command=True)
work = typer.Typer(help="List work on what is made to order; move it.", no_args_is_help=True)
products = typer.Typer(help="List products; show one; upsert many.", invoke_without_command=True)
webhooks = typer.Typer(help="List webhooks; add and remove one.", invoke_without_command=True)
app.command()(signing_in.login)
app.command()(signing_in.logout)
app.command()(signing_in.profiles)
app.add_typer(orders, name="orders")
app.add_typer(shipments, name="shipments")
app.add_typer(work, name="work")
app.add_typer(products, name="products")
app.add_typer(customers.app, name="customers")
app.add_typer(stock.app, name="stock")
app.add_typer(keys.app, name="keys")
app.command()(audit.audit)
app.add_typer(webhooks, name="webhooks")
app.add_typer(deliveries.app, name="deliveries")
app.command()(deliveries.replay)
jobs = typer.Typer(
    help="List jobs; show, follow, undo and cancel one.", invoke_without_command=True
)
app.add_typer(jobs, name="jobs")

_BULK_ROWS = 500  # of one call
OrderName = Annotated[str, typer.Argument(help="Its number, or its id: ord_…")]


def _print_version(asked: bool) -> None:
    if asked:
        print(f"backroom {__version__}")
        raise typer.Exit


@app.callback()
def _use_global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="A shop of `backroom profiles`; default: default.")
    ] = None,
) -> None:
    """Backroom on the command line."""
    if profile is not None:
        base.use_profile(profile)


# --- Imports and exports --------------------------------------------------------------------------


@app.command("import")
def import_(
    *,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="CSV, .xlsx or .ods.")],
    mode: Annotated[ImportMode, typer.Option(help="Which products may change.")] = "upsert",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    mapped: Annotated[
        str | None,
        typer.Option("--mapping", help="A saved mapping's name, or its columns as JSON."),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding; default: detected.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet; default: the first.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Between cells; default: detected.")] = None,
    header_row: Annotated[
        int | None,
        typer.Option(
            parser=base.integer_parser(0), help="Line of the header, 0: none; default: detected."
        ),
    ] = None,
    location: Annotated[str | None, typer.Option(help="Whose stock; default: all of them.")] = None,
    allow_zero_prices: Annotated[bool, typer.Option("--allow-zero-prices")] = False,
    ask: Annotated[
        bool | None,
        typer.Option("--ask/--no-ask", help="Ask about columns; default: in a terminal."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the failed rows to this CSV file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Import a file of products, and wait until it is done."""
    if report is not None and not report.parent.is_dir():
        base.fail(f"{report.parent} is no folder.", USAGE)
    options: dict[str, Any] = {"fileName": file.name, "mode": mode, "dryRun": dry_run}
    options["allowZeroPrices"] = allow_zero_prices
    if not file.is_file():
        base.fail(f"{file} is no file: save what it gives in one first.", USAGE)
    if not file.stat().st_size:
        base.fail(f"{file} is empty.", USAGE)
    given: dict[str, Any] = {
        "encoding": encoding,
        "sheet": sheet,
        "delimiter": delimiter,
        "headerRow": header_row,
        "location": location,
    }
    given |= _parse_mapping(mapped)
    options.update({name: value for name, value in given.items() if value not in (None, "")})
    asks = (sys.stdin.isatty() and not as_json) if ask is None else ask
    with base.open_own_shop() as shop:
        with output.show_progress(
            "Uploading", file.stat().st_size, quiet=as_json, is_bytes=True
        ) as bar:
            wanted = cast(CreateImportUpload, options)
            try:
                job_id = shop.import_products(file, wanted, on_sent=bar.move_to)
            except KeyboardInterrupt:
                output.print_note("Nothing was imported: the upload was not finished.", "yellow")
                raise typer.Exit(INTERRUPTED) from None
        job = base.wait_for_job(shop, job_id, "Importing", quiet=as_json)
        while job["status"] == "NEEDS_MAPPING" and asks:
            mapping.ask_for_mapping(shop, job)
            job = base.wait_for_job(shop, job_id, "Importing", quiet=as_json)
        if report is not None and job.get("errorReportUrl"):
            shop.download(job["errorReportUrl"], report)
    if as_json:
        output.print_json(job)
    elif job["status"] == "NEEDS_MAPPING":
        _show_columns(job)
    else:
        if dry_run:
            output.print_preview(job)
        output.print_job(job)
    if job["status"] == "NEEDS_MAPPING":
        raise typer.Exit(NEEDS_MAPPING)
    if job["status"] != "COMPLETED" or job.get("withErrors", job["failed"]):
        raise typer.Exit(INCOMPLETE)


def _parse_mapping(text: str | None) -> dict[str, Any]:
    if text is None or not text.lstrip().startswith("{"):
        return {"savedMapping": text}
    try:
        return {"mapping": json.loads(text)}
    except (ValueError, RecursionError) as wrong:
        base.fail(f"--mapping is not JSON: {wrong}", USAGE)


def _show_columns(job: Any) -> None:
    if job["encodings"]:
        output.print_note("The file can be read in several encodings: nothing was written.")
        output.print_table(("encoding", "its words"), mapping.list_readings(job))
        output.print_note("Run it again in a terminal to be asked, or with --encoding")
        return
    output.print_note("The file needs a mapping: nothing was written. Proposed mapping:")
    output.print_table(
        ("column", "values", "field"),
        (
            (each["column"], ", ".join(map(str, each["samples"])), each["field"] or "–")
            for each in job["columns"]
        ),
    )
    proposed = {each["column"]: each["field"] for each in job["columns"] if each["field"]}
    output.print_note(
        "Run it again in a terminal to be asked, or with"
        f" --mapping '{json.dumps(proposed, ensure_ascii=False)}'"
    )


@app.command()
def export(
    *,
    what: Annotated[ExportType, typer.Argument()],
    to: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: products.csv and so on.")
    ] = None,
    file_format: Annotated[ExportFormat, typer.Option("--format")] = "csv",
    columns: Annotated[ExportColumns, typer.Option(help="The columns of a CSV.")] = "backroom",
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", metavar="NAME=VALUE", help="A filter of the list; repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Write all products, orders, customers, transactions, shipments or movements to a file."""
    target = to or Path(f"{what}.{file_format}")
    if not target.parent.is_dir():
        base.fail(f"{target.parent} is no folder.", USAGE)
    if target.exists() and not force:
        base.fail(f"{target} already exists: --force overwrites it.", USAGE)
    asked: CreateExport = {"type": what, "format": file_format, "columns": columns}
    if filters:
        asked["filters"] = base.parse_pairs("--filter", filters)
    else:
        asked["all"] = True
    with base.open_own_shop() as shop:
        job = base.wait_for_job(shop, shop.start_export(asked)["jobId"], "Writing", quiet=as_json)
        if job["status"] == "COMPLETED":
            with output.show_progress(
                "Downloading", job["bytes"], quiet=as_json, is_bytes=True
            ) as bar:
                shop.download(job["downloadUrl"], target, on_received=bar.move_to)
    if as_json:
        output.print_json({**job, "file": str(target)})
    if job["status"] != "COMPLETED":
        if not as_json:
            output.print_job(job)
        raise typer.Exit(INCOMPLETE)
    if not as_json:
        output.print_note(f"{job['processed']} {what} in {target}")


@app.command()
def report(
    *,
    kind: Annotated[ReportType, typer.Argument()],
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="Such as 2026-11-01.")],
    last: Annotated[str, typer.Option("--to", metavar="DAY", help="The last day.")],
    by: Annotated[ReportBy, typer.Option(help="What each row is of.")] = "day",
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT_ID", help="Of sales by day: only this product.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a CSV instead of a table.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add up the sales, the money or the tax of a period."""
    asked: CreateReport = {"type": kind, "by": by, "from": first, "to": last}
    if product is not None:
        asked["productId"] = product
    with base.open_own_shop() as shop:
        job = base.wait_for_job(shop, shop.start_report(asked)["jobId"], "Adding up", quiet=as_json)
        if to and job["status"] == "COMPLETED":
            shop.download(job["downloadUrl"], to)
    if as_json:
        output.print_json(job)
    elif job["status"] != "COMPLETED":
        output.print_job(job)
    elif to:
        output.print_note(f"{kind} by {by} in {to}")
    else:
        found = job["report"]
        names = found["columns"]
        rows = [*found["rows"], {**found["totals"], "label": "total"}]
        output.print_table(
            (by, *(f"{name}>" for name in names)),
            ([row["label"] or "-", *(row[name] for name in names)] for row in rows),
        )
        if found["truncated"]:
            output.print_note("Not all rows are shown: -o writes all.", "yellow")
    if job["status"] != "COMPLETED":
        raise typer.Exit(INCOMPLETE)


# --- Orders ---------------------------------------------------------------------------------------


@orders.callback()
def list_orders(
    *,
    context: typer.Context,
    search: Search = None,
    status: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    payment_status: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    balance: Annotated[str | None, typer.Option(help="due: unpaid; owed: paid too much.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="A day or a time.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="A day (included) or a time.")] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List orders, newest first; show, place, edit and pay one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        walk = shop.iter_orders(
            search=search,
            status=cast(Any, status),
            payment_status=cast(Any, payment_status),
            balance=cast(Any, balance),
            from_=since,
            to=until,
            limit=base.page_size(limit),
        )
        found = base.take_first(walk, limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("number", "date", "status", "payment", "customer", "total>", "id"),
            (
                (
                    each["number"],
                    output.format_time(each["orderDate"]),
                    each["status"],
                    each["paymentStatus"],
                    (each["customer"] or {}).get("email"),
                    f"{each['total']} {each['currency']}",
                    each["id"],
                )
                for each in found
            ),
        )


@orders.command("show")
def show_order(order: OrderName, as_json: Json = False) -> None:
    """Show an order."""
    with base.open_own_shop() as shop:
        _show_order(shop.get_order(_find_order_id(shop, order)), as_json=as_json)


def _find_order_id(shop: Backroom, name: str) -> str:
    """Return the id of an order that is named by its id or by its number."""
    if name.startswith("ord_"):
        return name
    number = name.removeprefix("#")
    found = (each["id"] for each in shop.iter_orders(search=number) if each["number"] == number)
    order_id = next(found, None)
    if order_id is None:
        base.fail(f"There is no order {name!r}.", REFUSED)
    return order_id


@orders.command("create")
def create_order(
    *,
    items: Annotated[
        list[str],
        typer.Option("--item", metavar="SKU[:QUANTITY]", help="A variant to sell; repeatable."),
    ],
    email: Annotated[str | None, typer.Option(help="The customer's e-mail.")] = None,
    paid: Annotated[bool, typer.Option("--paid", help="Already paid.")] = False,
    source: Annotated[str, typer.Option(help="Such as IN_PERSON.")] = "OTHER",
    note: Annotated[str | None, typer.Option()] = None,
    external_id: Annotated[
        str | None,
        typer.Option(help="Its id in another system; with it, the order is placed only once."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Place an order for variants, by their SKU."""
    with base.open_own_shop() as shop:
        lines = [_make_line(shop, each) for each in items]
        order: CreateOrder = {"lineItems": cast(Any, lines), "source": source}
        if email:
            order["customer"] = {"email": email}
        if paid:
            order["paymentStatus"] = "PAID"
        if note:
            order["note"] = note
        if external_id:
            order["externalId"] = external_id
        try:
            made = shop.create_order(order)
        except Invalid as refused:
            if refused.code != "insufficient_stock" or as_json:
                raise
            base.fail(_describe_shortage(refused, items, lines), REFUSED)
        _show_order(made, as_json=as_json)


@orders.command("update")
def update_order(
    order: OrderName,
    status: Annotated[str | None, typer.Option()] = None,
    tracking_number: Annotated[str | None, typer.Option()] = None,
    note: Annotated[str | None, typer.Option()] = None,
    as_json: Json = False,
) -> None:
    """Change an order's status, tracking number or note."""
    given = {"status": status, "trackingNumber": tracking_number, "note": note}
    change = cast(OrderChange, {name: value for name, value in given.items() if value is not None})
    with base.open_own_shop() as shop:
        _show_order(shop.update_order(_find_order_id(shop, order), change), as_json=as_json)


@orders.command("edit")
def edit_order(
    *,
    order: OrderName,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the order.")],
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="SKU[:QUANTITY]", help="A variant to add; repeatable."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SKU:QUANTITY", help="A line's new quantity; 0 removes it."),
    ] = None,
    discount: Annotated[str | None, typer.Option(help="An amount off; 0 for none.")] = None,
    shipping: Annotated[str | None, typer.Option(help="What shipping costs.")] = None,
    tax: Annotated[str | None, typer.Option(help="Required if the order has tax.")] = None,
    total: Annotated[
        str | None, typer.Option(help="What is to be paid; needed if prices include the tax.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Edit the items and amounts of an order that is not shipped. No money is moved."""
    amounts = {"shipping": shipping, "tax": tax, "total": total}
    body: dict[str, Any] = {name: given for name, given in amounts.items() if given is not None}
    if discount is not None:
        is_none = re.fullmatch(r"0+(\.0*)?", discount)
        body["discount"] = None if is_none else {"amount": discount}
    if not (body or add or change):
        names = "--add, --set, --discount, --shipping, --tax or --total"
        base.fail(f"Name what changes: {names}.", USAGE)
    if wrong := [each for each in change or () if _parse_item(each)[0] == each]:
        base.fail(f"--set {wrong[0]}: write SKU:QUANTITY.", USAGE)
    with base.open_own_shop() as shop:
        found = shop.get_order(_find_order_id(shop, order))
        body |= {"add": [_make_line(shop, each) for each in add or ()], "reason": reason}
        body["change"] = [_find_order_line(found, each) for each in change or ()]
        answer = shop.edit_order(found["id"], cast(Any, {**body, "dryRun": dry_run}))
    if not dry_run:
        _show_order(answer, as_json=as_json)
    elif as_json:
        output.print_json(answer)
    else:
        output.print_facts(cast(Any, answer)["after"])


@orders.command("add-files")
def add_files(
    order: OrderName,
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False)],
    note: Annotated[str | None, typer.Option(help="About each of them.")] = None,
    as_json: Json = False,
) -> None:
    """Upload files of any kind to an order."""
    with base.open_own_shop() as shop:
        id = _find_order_id(shop, order)
        uploaded = [shop.upload_file(id, file, note=note) for file in files]
    if as_json:
        output.print_json(uploaded)
        return
    output.print_table(
        ("id", "kind", "name"),
        ((each["id"], each["kind"] or "", each["name"]) for each in uploaded),
    )


@orders.command("pay")
def pay_order(
    *,
    order: OrderName,
    amount: Annotated[str | None, typer.Argument(help="Default: what is due.")] = None,
    method: Annotated[str | None, typer.Option(help="Such as CASH or CARD_TERMINAL.")] = None,
    reference: Annotated[str | None, typer.Option(help="Of a receipt or a transfer.")] = None,
    tendered: Annotated[str | None, typer.Option(help="Cash that was handed over.")] = None,
    allow_overpayment: Annotated[bool, typer.Option("--allow-overpayment")] = False,
    as_json: Json = False,
) -> None:
    """Record a payment of an order."""
    given = {"amount": amount, "method": method, "reference": reference, "tendered": tendered}
    body: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if allow_overpayment:
        body["allowOverpayment"] = True
    with base.open_own_shop() as shop:
        paid = shop.pay_order(_find_order_id(shop, order), cast(Any, body))
    _show_order(cast(Any, paid), as_json=as_json)


@orders.command("refund")
def refund_order(
    *,
    order: OrderName,
    items: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="SKU[:QUANTITY]", help="What came back; repeatable."),
    ] = None,
    amount: Annotated[
        str | None, typer.Option(help="Default: what the items cost; without items, required.")
    ] = None,
    restock: Annotated[
        bool | None, typer.Option("--restock/--no-restock", help="Default: until it is shipped.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="How; default: as it was paid.")] = None,
    reason: Annotated[str | None, typer.Option(help="Such as RETURNED or GOODWILL.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Refund items of an order, or an amount."""
    if not items and amount is None:
        base.fail("Name what is refunded: --item or --amount.", USAGE)
    given = {"amount": amount, "method": method, "reason": reason}
    body: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with base.open_own_shop() as shop:
        found = shop.get_order(_find_order_id(shop, order))
        more = {} if restock is None else {"restock": restock}
        body["lines"] = [_find_order_line(found, each) | more for each in items or ()]
        answer = shop.refund_order(found["id"], cast(Any, {**body, "dryRun": dry_run}))
    if not dry_run:
        _show_order(answer, as_json=as_json)
    elif as_json:
        output.print_json(answer)
    else:
        names = ("amount", "tax", "refundable", "balanceAfter")
        output.print_facts({name: cast(Any, answer)[name] for name in names})


@orders.command("close")
def close_order(
    *,
    order: OrderName,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the order.")],
    keep: Annotated[str, typer.Option(help="The money to keep; the rest goes back.")] = "0",
    restock: Annotated[
        bool, typer.Option("--restock/--no-restock", help="Return what was not shipped.")
    ] = True,
    method: Annotated[str | None, typer.Option(help="How; default: as it was paid.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    as_json: Json = False,
) -> None:
    """End an order: keep an amount, refund the rest, return its pieces."""
    body: dict[str, Any] = {"keep": keep, "reason": reason, "restock": restock, "dryRun": dry_run}
    body |= {} if method is None else {"method": method}
    with base.open_own_shop() as shop:
        answer = shop.close_order(_find_order_id(shop, order), cast(Any, body))
    if not dry_run:
        _show_order(answer, as_json=as_json)
    elif as_json:
        output.print_json(answer)
    else:
        would = cast(Any, answer)
        back = ", ".join(f"{one['amount']} {one['method']}" for one in would["refunds"])
        facts = {name: would[name] for name in ("statusAfter", "kept")}
        output.print_facts({**facts, "refunds": back, "events": ", ".join(would["events"])})


@shipments.callback()
def list_shipments(
    *,
    context: typer.Context,
    state: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    carrier: Annotated[str | None, typer.Option()] = None,
    number: Annotated[str | None, typer.Option(help="Exactly this tracking number.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="A day or a time.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="A day (included) or a time.")] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List shipments, by when they left, newest first; ship an order."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        walk = shop.iter_shipments(
            state=cast(Any, state),
            carrier=carrier,
            tracking_number=number,
            from_=since,
            to=until,
            limit=base.page_size(limit),
        )
        found = base.take_first(walk, limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("order", "shipped", "state", "carrier", "numbers", "pieces>", "id"),
            (
                (
                    each["orderNumber"],
                    output.format_time(each["shippedAt"]),
                    each["state"],
                    each["carrier"],
                    ", ".join(one["trackingNumber"] or "" for one in each["parcels"]),
                    sum(line["quantity"] for line in each["lines"]),
                    each["id"],
                )
                for each in found
            ),
        )


@shipments.command("create")
def ship_order(
    *,
    order: OrderName,
    items: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="SKU[:QUANTITY]", help="Repeatable; default: all left."),
    ] = None,
    carrier: Annotated[str | None, typer.Option(help="Who carries it.")] = None,
    numbers: Annotated[
        list[str] | None, typer.Option("--number", help="Of a parcel; repeatable.")
    ] = None,
    pickup: Annotated[bool, typer.Option("--pickup", help="The customer has it.")] = False,
    note: Annotated[str | None, typer.Option()] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ship an order, or a part of it."""
    with base.open_own_shop() as shop:
        known = shop.get_order(_find_order_id(shop, order))
        body: dict[str, Any] = {"method": "PICKUP" if pickup else "PARCEL", "dryRun": dry_run}
        body |= {"carrier": carrier, "note": note}
        body["parcels"] = [{"trackingNumber": number} for number in numbers or []]
        if items:
            body["lines"] = [_find_order_line(known, item) for item in items]
        answer = shop.ship_order(known["id"], cast(Any, body))
    if not dry_run:
        _show_order(answer, as_json=as_json)
    elif as_json:
        output.print_json(answer)
    else:
        would = cast(Any, answer)
        pieces = {name: sum(line["quantity"] for line in would[name]) for name in ("lines", "left")}
        facts = {"statusAfter": would["statusAfter"], "events": ", ".join(would["events"])}
        output.print_facts({"shipped": pieces["lines"], "left": pieces["left"], **facts})


@work.command("list")
def list_work(
    *,
    state: Annotated[str | None, typer.Option(help="open unless another is asked for.")] = None,
    stage: Annotated[str | None, typer.Option(help="Its name, or its id: stg_…")] = None,
    assignee: Annotated[str | None, typer.Option(help="emp_…; none: of nobody.")] = None,
    due: Annotated[str | None, typer.Option(help="overdue, today, week or none.")] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List work on what is made to order, by the day by which it is due."""
    with base.open_own_shop() as shop:
        walk = shop.iter_work(
            state=cast(Any, state),
            stage=stage and _find_stage_id(shop, stage),
            assignee=assignee,
            due=cast(Any, due),
            limit=base.page_size(limit),
        )
        found = base.take_first(walk, limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("order", "due", "stage", "made>", "of>", "title", "assignee", "line"),
            (
                (
                    each["orderNumber"],
                    each["dueOn"],
                    each["stage"]["name"],
                    each["made"],
                    each["toMake"],
                    each["title"],
                    each["assignee"],
                    each["lineItemId"],
                )
                for each in found
            ),
        )


@work.command("move")
def move_work(
    *,
    order: OrderName,
    stage: Annotated[str, typer.Argument(help="Name of the stage, or its id: stg_…")],
    line: Annotated[
        str | None, typer.Option(help="Its SKU, title or id; default: the only one that is open.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Move the work on a line of an order to a stage."""
    with base.open_own_shop() as shop:
        order_id = _find_order_id(shop, order)
        names = ("lineItemId", "sku", "title")
        found = [
            each
            for each in shop.get_work(order_id)["data"]
            if (line in {cast(Any, each)[n] for n in names} if line else each["state"] == "OPEN")
        ]
        if len(found) != 1:
            base.fail(f"{len(found) or 'no'} lines fit; name one with --line.", REFUSED)
        change: Any = {"stage": _find_stage_id(shop, stage)}
        moved = shop.change_work(order_id, found[0]["lineItemId"], change)
    if as_json:
        output.print_json(moved)
        return
    facts = {"order": moved["orderNumber"], "status": moved["orderStatus"], "title": moved["title"]}
    output.print_facts({**facts, "state": moved["state"], "stage": moved["stage"]["name"]})


def _find_stage_id(shop: Backroom, name: str) -> str:
    """Return the id of a stage of the workshop that is named by its name or by its id."""
    stages = shop.get_production_settings()["stages"]
    found = next((one["id"] for one in stages if name in {one["id"], one["name"]}), None)
    if found is None:
        known = ", ".join(str(one["name"]) for one in stages)
        base.fail(f"There is no stage {name!r}; there are: {known}.", REFUSED)
    return found


def _find_order_line(order: Mapping[str, Any], item: str) -> dict[str, Any]:
    """Return the id of the order's only line with the SKU of `item`, and the pieces of `item`."""
    sku, pieces = _parse_item(item)
    lines = [line for line in order["lineItems"] if line["sku"] == sku]
    if len(lines) != 1:
        count = len(lines) or "no"
        base.fail(f"{count} lines of order {order['number']} have the SKU {sku!r}.", REFUSED)
    return {"lineItemId": lines[0]["id"], "quantity": pieces}


def _parse_item(item: str) -> tuple[str, int]:
    """Split `SKU:QUANTITY` at its last colon; without a number there, the quantity is 1."""
    sku, colon, number = item.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,9}", number):
        return item, 1
    return sku, int(number)


def _make_line(shop: Backroom, item: str) -> dict[str, Any]:
    """Return a new order line for `item`: the variant with exactly this SKU."""
    sku, pieces = _parse_item(item)
    return {"variantId": stock.find_variant(shop, sku)[1]["id"], "quantity": pieces}


def _describe_shortage(error: Invalid, items: list[str], lines: list[dict[str, Any]]) -> str:
    """Return a text that says of which items there is not enough."""
    named = {line["variantId"]: item for item, line in zip(items, lines, strict=True)}
    told = (
        f"--item {named.get(each['variantId'], each['variantId'])}: {each['available']} in stock"
        for each in error.body.get("lines") or ()
    )
    return "\n".join([error.message, *told])


def _show_order(order: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        output.print_json(order)
        return
    customer = order["customer"] or {}
    output.print_facts(
        {
            "order": order["number"],
            "id": order["id"],
            "status": f"{order['status']}, payment {order['paymentStatus']}",
            "customer": customer.get("email"),
            "total": f"{order['total']} {order['currency']}",
            "due": f"{order['balanceDue']} {order['currency']}",
        }
    )
    output.print_table(
        ("quantity>", "title", "sku", "price>", "total>"),
        (
            (each["quantity"], each["title"], each["sku"], each["price"], each["total"])
            for each in order["lineItems"]
        ),
    )


# --- Products -------------------------------------------------------------------------------------


@products.callback()
def list_products(
    *,
    context: typer.Context,
    search: Search = None,
    status: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    vendor: Annotated[str | None, typer.Option()] = None,
    tag: Annotated[str | None, typer.Option()] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List products, newest first; show one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        wanted = cast(Any, status)
        walk = shop.iter_products(
            search=search, status=wanted, vendor=vendor, tag=tag, limit=base.page_size(limit)
        )
        found = base.take_first(walk, limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("name", "sku", "status", "price>", "stock>", "id"),
            (
                (
                    each["name"],
                    each["sku"],
                    each["status"],
                    f"{each['price']} {each['currency']}",
                    _sum_stock(each),
                    each["id"],
                )
                for each in found
            ),
        )


@products.command("show")
def show_product(id: str, as_json: Json = False) -> None:
    """Show a product and its variants."""
    with base.open_own_shop() as shop:
        product = shop.get_product(id)
    if as_json:
        output.print_json(product)
        return
    output.print_facts({name: product[name] for name in ("name", "id", "slug", "status", "vendor")})
    output.print_table(
        ("variant", "sku", "price>", "stock>", "id"),
        (
            (each["title"], each["sku"], each["price"], each["stock"], each["id"])
            for each in product["variants"]
        ),
    )


@products.command("add-pictures")
def add_pictures(
    id: str,
    files: Annotated[
        list[Path], typer.Argument(exists=True, dir_okay=False, help="JPEG, PNG or WebP.")
    ],
    alt: Annotated[str | None, typer.Option(help="Alternative text of each.")] = None,
    as_json: Json = False,
) -> None:
    """Upload pictures, and show them after those that a product has."""
    with base.open_own_shop() as shop:
        shop.get_product(id)  # before anything is uploaded
        new = [{"pictureId": shop.upload_picture(file)["id"], "alt": alt} for file in files]
        images = [*shop.get_product(id)["images"], *new]
        product = shop.update_product(id, cast(ProductChange, {"images": images}))
    if as_json:
        output.print_json(product)
        return
    output.print_table(
        ("picture", "address"),
        ((each["pictureId"] or "", each["url"]) for each in product["images"]),
    )


@products.command("upsert")
def upsert_products(
    *,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A JSON array.")],
    mode: Annotated[BulkMode, typer.Option(help="`update` creates none.")] = "upsert",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Change the products of a file, by id, externalId or SKU; create the others."""
    try:
        rows = json.loads(file.read_bytes())
    except ValueError as error:
        base.fail(f"{file} is not JSON: {error}", USAGE)
    if not isinstance(rows, list):
        base.fail(f"{file} has no JSON array.", USAGE)
    found = Counter[str]()
    with base.open_own_shop() as shop:
        for begin in range(0, len(rows), _BULK_ROWS):
            part = rows[begin : begin + _BULK_ROWS]
            for row in shop.create_products(part, mode=mode, dry_run=dry_run or None)["data"]:
                found[row["status"]] += 1
                if as_json:
                    output.print_json_line({**row, "index": begin + row["index"]})
                elif failure := cast(Any, row.get("error")):
                    first = next(iter(failure.get("errors", ())), {"message": failure["message"]})
                    text = " ".join(filter(None, (first.get("field"), first["message"])))
                    output.print_note(f"row {begin + row['index']}: {text}")
    if not as_json:
        output.print_facts(dict(found))
    if found["error"]:
        raise typer.Exit(INCOMPLETE)


def _sum_stock(product: Product) -> int | None:
    """Return the stock of all variants that are tracked; None if none is."""
    counted = [each["stock"] for each in product["variants"] if each["stock"] is not None]
    return sum(counted) if counted else None


# --- Webhooks and events --------------------------------------------------------------------------


@webhooks.callback()
def list_webhooks(context: typer.Context, as_json: Json = False) -> None:
    """List webhooks; add and remove one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        found = shop.iter_webhooks()
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("id", "url", "enabled", "events"),
            (
                (each["id"], each["url"], each["enabled"], ", ".join(each["events"]))
                for each in found
            ),
        )


@webhooks.command("add")
def add_webhook(
    url: str,
    events: Annotated[list[str], typer.Option("--event", help="Such as order.paid; repeatable.")],
    as_json: Json = False,
) -> None:
    """Post events to an address. Its secret is shown only once."""
    wanted = cast(CreateWebhook, {"url": url, "events": events})
    with base.open_own_shop() as shop:
        made = shop.create_webhook(wanted)
    if as_json:
        output.print_json(made)
        return
    output.print_facts({name: made[name] for name in ("id", "url", "secret")})


@webhooks.command("remove")
def remove_webhook(id: str, as_json: Json = False) -> None:
    """Remove a webhook."""
    with base.open_own_shop() as shop:
        done = shop.delete_webhook(id)
    if as_json:
        output.print_json(done)
    else:
        output.print_note(f"Removed {done['id']}.")


@app.command()
def events(
    after: Annotated[str | None, typer.Option(help="The cursor of an earlier run.")] = None,
    since: Annotated[str | None, typer.Option(help="A time (ISO 8601).")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Repeatable.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for new events.")] = False,
    as_json: Json = False,
) -> None:
    """Print the change feed: what happened, the oldest first, with a lag of half a minute.

    With --json a line has an event, and the last line the cursor: {"next": "…"}.
    """
    with base.open_own_shop() as shop:
        pages = shop.feed(
            after, since=since, types=cast(list[EventKind], types or []), follow=follow
        )
        at = after
        with suppress(KeyboardInterrupt):
            for page in pages:
                for event in page["data"]:
                    _print_event(event, as_json=as_json)
                at = page["next"]
        if as_json:
            output.print_json_line({"next": at})
        else:
            output.print_note(f"Continue with --after {at}", "dim")


def _print_event(event: FeedEvent, *, as_json: bool) -> None:
    if as_json:
        output.print_json_line(event)
    else:
        subject = _describe_subject(event["data"])
        print(f"{event['occurredAt']}  {event['event']:17} {subject}", flush=True)


@app.command()
def listen(
    *,
    forward_to: Annotated[str, typer.Option("--forward-to", help="Address of your receiver.")],
    types: Annotated[list[str] | None, typer.Option("--type", help="Repeatable.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Start of the first run (ISO 8601); default: now.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(envvar="BACKROOM_WEBHOOK_SECRET", help="whsec_…; default: a new one."),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Forget the saved position.")] = False,
    tries: Annotated[
        int, typer.Option(parser=base.integer_parser(0), help="Attempts per event; 0: no limit.")
    ] = 0,
    once: Annotated[bool, typer.Option("--once", help="Stop at the end of the feed.")] = False,
    as_json: Json = False,
) -> None:
    """Post events to a receiver on this machine, signed as webhooks are.

    It reads the change feed, so the shop needs no way to your machine; events arrive about half a
    minute after they happen. Its position is kept: run it again, and it continues there.
    """
    if not is_address(forward_to):
        base.fail(f"{forward_to} is not a URL: it must begin with http:// or https://.", USAGE)
    url_and_key = base.load_settings()
    if secret is not None and not re.fullmatch("whsec_[0-9a-zA-Z+/=]+", secret):
        base.fail("The secret of a webhook begins with whsec_.", USAGE)
    kept = listening.ProgressFile(settings.state_folder(), url_and_key.url, forward_to, types or [])
    with kept.hold_lock(), base.open_own_shop() as shop:
        progress = None if reset else kept.read()
        if progress is None:
            begin = since or datetime.now(timezone.utc).isoformat(timespec="milliseconds")
            progress = listening.Progress(
                url_and_key.url, forward_to, secret or listening.new_secret(), since=begin
            )
        progress.secret = secret or progress.secret
        if as_json:
            output.print_json_line({"forwardTo": forward_to, "secret": progress.secret})
        else:
            output.print_note(f"Events of {url_and_key.url} go to {forward_to}; Ctrl-C stops it.")
            output.print_note(f"They are signed with {progress.secret}")
        listener = listening.Listener(
            shop,
            kept,
            progress,
            types=cast(list[EventKind], types or []),
            tries=tries,
            on_attempt=_print_attempt_as_json if as_json else _print_attempt,
            on_trouble=lambda trouble: output.print_note(trouble, "yellow"),
        )
        with suppress(KeyboardInterrupt):
            listener.run(once=once)
        if listener.left_out:
            output.print_note(f"{listener.left_out} events were left out.", "yellow")
            raise typer.Exit(INCOMPLETE)


def _print_attempt_as_json(attempt: listening.Attempt) -> None:
    output.print_json_line(listening.attempt_as_json(attempt))


def _print_attempt(attempt: listening.Attempt) -> None:
    outcome = attempt.error or f"{attempt.status}"
    event, subject = attempt.event, _describe_subject(attempt.event["data"])
    print(f"{event['occurredAt']}  {event['event']:17} {subject} → {outcome}", flush=True)


def _describe_subject(data: Mapping[str, Any]) -> str:
    named = data.get("number") or data.get("name") or data.get("email") or data.get("sku")
    return str(output.to_plain_text(f"{data.get('id', '')} {named or ''}".strip()))


# --- Jobs -----------------------------------------------------------------------------------------


@jobs.callback()
def list_jobs(context: typer.Context, limit: Limit = 20, as_json: Json = False) -> None:
    """List jobs, newest first; show, follow, undo and cancel one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        found = base.take_first(shop.iter_jobs(limit=base.page_size(limit)), limit)
        if as_json:
            base.print_json_lines(found)
            return
        names = ("createdAt", "type", "status", "processed", "failed", "id")
        output.print_table(
            ("created", "type", "status", "processed>", "failed>", "id"),
            ([each.get(name) for name in names] for each in found),
        )


@jobs.command("show")
def show_job(id: str, as_json: Json = False) -> None:
    """Show a job, with its first errors."""
    with base.open_own_shop() as shop:
        base.show_job(shop.get_job(id), as_json=as_json)


@jobs.command("follow")
def follow_job(id: str, as_json: Json = False) -> None:
    """Wait until a job has ended, and show it."""
    with base.open_own_shop() as shop:
        base.finish_job(base.wait_for_job(shop, id, "Working", quiet=as_json), as_json=as_json)


@jobs.command("undo")
def undo_job(id: str, as_json: Json = False) -> None:
    """Undo an import, a bulk edit or a count, and wait until it is done."""
    with base.open_own_shop() as shop:
        undone = shop.undo_job(id)["jobId"]
        base.finish_job(base.wait_for_job(shop, undone, "Undoing", quiet=as_json), as_json=as_json)


@jobs.command("cancel")
def cancel_job(id: str, as_json: Json = False) -> None:
    """Stop a job. What it has written stays, and can be undone."""
    with base.open_own_shop() as shop:
        base.show_job(shop.cancel_job(id), as_json=as_json)


# --- All of them ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    code: int
    message: str


def _to_failure(error: BaseException) -> Failure:
    """Return the exit code of an error, and its message."""
    if isinstance(error, NotSignedIn):
        return Failure(NOT_ALLOWED, str(error))
    if isinstance(error, Unauthorized | Forbidden):
        return Failure(NOT_ALLOWED, str(error))
    if isinstance(error, Unreachable | ServerError | RateLimited):
        return Failure(NO_ANSWER, str(error))
    return Failure(REFUSED, str(error))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command, and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    output.prepare_streams()
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        code = DONE  # the reader has enough, as `head` does
        output.discard_stdout()
    except OSError as error:  # of a file that was named, or of the output
        output.discard_stdout()
        output.print_note(f"{error.filename or 'The output'}: {error.strerror or error}", "red")
        code = USAGE
    sys.exit(code)


def _run(given: list[str]) -> int:
    try:
        app(args=given, prog_name="backroom")
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # click and rich end so with 1
            raise BrokenPipeError from None
        return left.code if isinstance(left.code, int) else DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BackroomError as error:
        ended = _to_failure(error)
        if "--json" in given:
            body = error.body if isinstance(error, ApiError) else {"message": ended.message}
            sys.stderr.write(json.dumps({"error": body}) + "\n")
        else:
            output.print_note(ended.message, "red")
        return ended.code
    except OSError:
        raise
    except Exception as error:
        output.print_note(_describe_unexpected(error), "red")
        return REFUSED
    return DONE


def _describe_unexpected(error: Exception) -> str:
    """Return a message for an error that no rule foresees; raise it with BACKROOM_DEBUG."""
    if os.environ.get("BACKROOM_DEBUG"):
        raise error
    where = "is BACKROOM_URL the address of a shop? BACKROOM_DEBUG=1 shows where it happened"
    return f"Not understood ({type(error).__name__}: {error}): {where}."
