"""`backroom keys`: who may ask the shop, and for how long."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Annotated

import typer

from backroom.cli import base, output
from backroom.cli.base import USAGE, Json, Limit
from backroom.models import CreateApiKey, Role

app = typer.Typer(help="List API keys; create and revoke one.", invoke_without_command=True)


@app.callback()
def list_keys(context: typer.Context, limit: Limit = 20, as_json: Json = False) -> None:
    """List API keys; create and revoke one."""
    if context.invoked_subcommand:
        return
    with base.open_own_shop() as shop:
        found = base.take_first(shop.iter_api_keys(limit=base.page_size(limit)), limit)
        if as_json:
            base.print_json_lines(found)
            return
        names = ("name", "role", "createdAt", "expiresAt", "lastUsedAt", "id")
        output.print_table(
            ("name", "role", "created", "expires", "last used", "id"),
            ([each[name] for name in names] for each in found),
        )


@app.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Whose it is.")],
    role: Annotated[Role, typer.Option(help="What it may do.")],
    days: Annotated[
        int | None,
        typer.Option(
            parser=base.integer_parser(1, 3650), help="Days until it expires, at most 3650."
        ),
    ] = None,
    expires: Annotated[str | None, typer.Option(help="It expires at a time (ISO 8601).")] = None,
    as_json: Json = False,
) -> None:
    """Create an API key. It is shown only once."""
    if days is not None and expires is not None:
        base.fail("Give --days or --expires.", USAGE)
    asked: CreateApiKey = {"name": name, "role": role}
    if days is not None:
        expires = (datetime.now(timezone.utc) + timedelta(days=days)).isoformat(timespec="seconds")
    if expires is not None:
        asked["expiresAt"] = expires
    with base.open_own_shop() as shop:
        made = shop.create_api_key(asked)
    if as_json:
        output.print_json(made)
    else:
        output.print_facts(
            {field: made[field] for field in ("id", "name", "role", "expiresAt", "key")}
        )


@app.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(help="key_…")],
    as_json: Json = False,
) -> None:
    """Revoke an API key at once."""
    with base.open_own_shop() as shop:
        done = shop.revoke_api_key(id)
    if as_json:
        output.print_json(done)
    else:
        output.print_note(f"Revoked {done['id']}.")
