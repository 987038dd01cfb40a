"""`backroom deliveries` and `backroom replay`: what receivers got, and did not."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn, cast

import typer

from backroom.cli import base, output
from backroom.cli.base import DONE, REFUSED, USAGE, Json, Limit
from backroom.errors import Conflict, NotFound

app = typer.Typer(help="List deliveries; show one.", invoke_without_command=True)


@app.callback()
def list_deliveries(
    *,
    context: typer.Context,
    status: Annotated[list[str] | None, typer.Option(help="Such as FAILED; repeatable.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Repeatable.")] = None,
    webhook: Annotated[str | None, typer.Option(help="Only of this webhook, wh_…")] = None,
    since: Annotated[str | None, typer.Option(help="A time (ISO 8601).")] = None,
    again: Annotated[bool, typer.Option("--replay", help="Post each of them again.")] = False,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List deliveries, newest first; show one. With --replay, post those of the list again."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        asked: dict[str, Any] = {"status": status, "event": event, "since": since}
        asked["limit"] = base.page_size(limit)
        if webhook:
            walk = shop.iter_webhook_deliveries(webhook, **asked)
        else:
            walk = shop.iter_deliveries(**asked)
        found = base.take_first(walk, limit)
        if again:
            # The list first: a replay changes what it has.
            _replay(shop, [each["id"] for each in list(found)], as_json=as_json)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("created", "event", "about", "status", "attempts>", "last", "id"),
            (
                (
                    output.format_time(each["createdAt"]),
                    each["event"],
                    (each["subject"] or {}).get("name") or (each["subject"] or {}).get("id"),
                    each["status"],
                    each["attemptCount"],
                    each["lastStatus"] or each["lastError"],
                    each["id"],
                )
                for each in found
            ),
        )


@app.command("show")
def show_delivery(id: Annotated[str, typer.Argument(help="dlv_…")], as_json: Json = False) -> None:
    """Show a delivery and its attempts."""
    with base.open_own_shop() as shop:
        found = shop.get_delivery(id)
    if as_json:
        output.print_json(found)
        return
    names = ("id", "event", "status", "createdAt", "nextAttemptAt", "endpointId")
    output.print_facts({name: cast(Any, found)[name] for name in names})
    output.print_table(
        ("attempt>", "at", "status>", "ms>", "url", "error"),
        (
            (
                each["number"],
                output.format_time(each["at"]),
                each["response"] and each["response"]["status"],
                each["durationMs"],
                each["url"],
                each["message"] or each["error"],
            )
            for each in found["attempts"]
        ),
    )


def replay(
    deliveries: Annotated[list[str] | None, typer.Argument(help="dlv_…")] = None,
    webhook: Annotated[str | None, typer.Option(help="All failed ones of wh_…")] = None,
    since: Annotated[str | None, typer.Option(help="With --webhook: a time (ISO 8601).")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --webhook: only count.")] = False,
    as_json: Json = False,
) -> None:
    """Have deliveries posted again: some by id, or all of a webhook that failed since a time."""
    if bool(deliveries) == bool(webhook) or bool(webhook) != bool(since):
        base.fail("Give ids of deliveries, or --webhook and --since.", USAGE)
    with base.open_own_shop() as shop:
        if not (webhook and since):
            _replay(shop, deliveries or [], as_json=as_json)
        done = shop.recover_deliveries(webhook, {"since": since, "dryRun": dry_run})
    if as_json:
        output.print_json(done)
    else:
        verb = "would be sent again" if dry_run else "are sent again"
        output.print_note(f"{done['count']} deliveries {verb}.")


def _replay(shop: Any, ids: list[str], *, as_json: bool) -> NoReturn:
    """Have each delivery posted again, and exit: with REFUSED if one of them cannot be."""
    code = DONE
    for id in ids:
        try:
            delivery = shop.replay_delivery(id)
        except (Conflict, NotFound) as refused:  # its webhook is paused, for instance
            output.print_note(f"{id} is not sent again: {refused}", "yellow")
            code = REFUSED
            continue
        if as_json:
            output.print_json_line(delivery)
        else:
            output.print_note(f"{id} ({delivery['event']}) is sent again.")
    raise typer.Exit(code)
