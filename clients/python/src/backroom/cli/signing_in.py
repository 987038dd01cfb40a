"""`login`, `logout`, `profiles`: the shops whose keys are kept on this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from backroom import settings
from backroom.cli import base, output
from backroom.cli.base import USAGE, Json
from backroom.settings import Settings

Profile = Annotated[
    str | None, typer.Option(help="Name of the shop on this machine; default: default.")
]


def login(
    url: Annotated[str | None, typer.Argument(help="Address of the shop, without /api.")] = None,
    endpoint: Annotated[
        Path | None,
        typer.Option("--from", help="The file that `make run` writes: .local/endpoint.json."),
    ] = None,
    profile: Profile = None,
    as_json: Json = False,
) -> None:
    """Save the address of a shop and a key, in a file that only you can read.

    Asks for both, unless they are in BACKROOM_URL and BACKROOM_KEY or in a file. A key given on the
    command line would be in the list of processes, so there is no option for it.
    """
    if endpoint is not None:
        asked = _read_endpoint(endpoint)
    else:
        address = url or os.environ.get("BACKROOM_URL") or typer.prompt("Address of the shop")
        key = os.environ.get("BACKROOM_KEY") or base.read_secret("API key")
        asked = Settings(address.rstrip("/"), key.strip())
    with base.open_shop(asked, retries=0) as shop:
        me = shop.get_current_key()
    name = profile or settings.profile()
    kept = settings.save(asked, profile=name)
    if as_json:
        told = {"url": asked.url, "name": me["name"], "role": me["role"], "file": str(kept)}
        output.print_json({**told, "profile": name})
        return
    output.print_note(f"Signed in to {asked.url} as {me['name']} ({me['role']}). Saved in {kept}.")
    if name != settings.profile():
        output.print_note(f"Use it with `backroom --profile {name} …` or BACKROOM_PROFILE={name}.")
    others = [name for name in ("BACKROOM_URL", "BACKROOM_KEY") if os.environ.get(name)]
    if others and endpoint is not None:
        output.print_note(
            f"{' and '.join(others)} override that file while they are set.", "yellow"
        )


def _read_endpoint(endpoint: Path) -> Settings:
    try:
        found = json.loads(endpoint.read_text())
        return Settings(str(found["baseUrl"]), str(found["apiKey"]))
    except FileNotFoundError:
        base.fail(f"{endpoint} does not exist: is `make run` running?", USAGE)
    except (ValueError, KeyError, TypeError):
        base.fail(f"{endpoint} has no baseUrl and apiKey.", USAGE)


def logout(profile: Profile = None, as_json: Json = False) -> None:
    """Remove a shop's key from this machine. The key itself stays valid: see `keys revoke`."""
    name = profile or settings.profile()
    file = settings.remove(name)
    if as_json:
        output.print_json({"profile": name, "file": str(file)})
    else:
        output.print_note(
            f"The key of {name} is removed from {file}. It stays valid until it is revoked."
        )


def profiles(as_json: Json = False) -> None:
    """List the shops whose keys are kept on this machine."""
    found = settings.profiles()
    if as_json:
        base.print_json_lines(
            iter([{"profile": name, "url": kept.url} for name, kept in found.items()])
        )
        return
    output.print_table(("profile", "url"), ((name, kept.url) for name, kept in found.items()))
