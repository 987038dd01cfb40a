"""`backroom audit`: who wrote what, and when."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from backroom.cli import base, output
from backroom.cli.base import Json, Limit
from backroom.models import Audit


def audit(
    record: Annotated[str | None, typer.Argument(help="ID of a record; default: all.")] = None,
    *,
    customer: Annotated[str | None, typer.Option(help="ID: also the customer's orders.")] = None,
    key: Annotated[str | None, typer.Option(help="ID of the API key.")] = None,
    action: Annotated[
        list[str] | None, typer.Option(help="order.updated, request.refused …; repeatable.")
    ] = None,
    type_: Annotated[
        list[str] | None, typer.Option("--type", help="order, product …; repeatable.")
    ] = None,
    from_: Annotated[str | None, typer.Option("--from", help="A day, or a time.")] = None,
    to: Annotated[str | None, typer.Option(help="The last day, or a time.")] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List every write, newest first: when, who, and each field before and after."""
    asked: dict[str, Any] = {"record_id": record, "customer_id": customer, "key_id": key}
    asked |= {"action": action, "type": type_, "from_": from_, "to": to}
    with base.open_own_shop() as shop:
        found = base.take_first(shop.iter_audit(**asked, limit=base.page_size(limit)), limit)
        if as_json:
            base.print_json_lines(found)
            return
        output.print_table(
            ("at", "action", "record", "changes", "key", "job"),
            (
                (
                    output.format_time(each["at"]),
                    each["request"] or each["action"],
                    " ".join(filter(None, _describe_record(each))),
                    "; ".join(_describe_change(change) for change in each["changes"]),
                    each["actor"]["keyName"],
                    each["jobId"],
                )
                for each in found
            ),
        )


def _describe_record(entry: Audit) -> list[str | None]:
    record = entry["record"]
    return [record["type"], record["number"] or record["name"] or record["id"]]


def _describe_change(change: Any) -> str:
    return (
        f"{change['field']}: {_format_value(change['before'])} → {_format_value(change['after'])}"
    )


def _format_value(value: object) -> str:
    return "–" if value is None else str(value)
