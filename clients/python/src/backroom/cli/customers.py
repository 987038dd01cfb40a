"""`backroom customers`."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from backroom.cli import base, output
from backroom.cli.base import REFUSED, Json, Limit, Search
from backroom.client import Backroom

app = typer.Typer(help="List customers; show one.", invoke_without_command=True)


@app.callback()
def list_customers(
    *,
    context: typer.Context,
    search: Search = None,
    tag: Annotated[str | None, typer.Option()] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List customers, newest first; show one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        walk = shop.iter_customers(search=search, tag=tag, limit=base.page_size(limit))
        found = base.take_first(walk, limit)
        if as_json:
            base.print_json_lines(found)
            return
        names = ("email", "firstName", "lastName", "ordersCount", "totalSpent", "id")
        output.print_table(
            ("email", "first name", "last name", "orders>", "spent>", "id"),
            ([each[name] for name in names] for each in found),
        )


@app.command("show")
def show_customer(
    customer: Annotated[str, typer.Argument(help="Their e-mail, or their id: cus_…")],
    as_json: Json = False,
) -> None:
    """Show a customer."""
    with base.open_own_shop() as shop:
        found = shop.get_customer(_find_customer_id(shop, customer))
    if as_json:
        output.print_json(found)
        return
    names = ("id", "email", "firstName", "lastName", "company", "phone", "ordersCount")
    output.print_facts({name: cast(Any, found)[name] for name in (*names, "totalSpent", "note")})


def _find_customer_id(shop: Backroom, name: str) -> str:
    """Return the id of a customer who is named by their id or by their e-mail."""
    if "@" not in name:
        return name
    wanted = name.casefold()
    found = shop.iter_customers(search=name)
    same = next((each for each in found if (each["email"] or "").casefold() == wanted), None)
    if same is None:
        base.fail(f"There is no customer {name!r}.", REFUSED)
    return same["id"]
