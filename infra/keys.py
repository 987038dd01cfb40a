"""The operator's key tool, for any stage: list, create and revoke API keys, and raise limits.

    python infra/keys.py --stage prod list
    python infra/keys.py --stage prod create "Nightly import" STAFF --expires 2027-06-30
    python infra/keys.py --stage prod limits key_01J… --read 600 --write 300
    python infra/keys.py --stage prod limits key_01J…      # back to the usual limits
    python infra/keys.py --stage prod revoke key_01J…

It uses the stage's table with the caller's AWS credentials, so it also helps if the last Owner key
is lost. `--stage local` finds what `make run` started.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib.api_keys import store
from chalicelib.api_keys.model import ApiKey, NewApiKey, Role, show_key
from chalicelib.validation import validate
from chalicelib.values import clock
from infra import refused
from infra.emulator import CREDENTIALS, credentials

LOCAL_ENDPOINT = Path(__file__).resolve().parent.parent / ".local" / "endpoint.json"


def use_table(table: str) -> None:
    """Let the storage modules, which read their settings as in a function, use this table."""
    os.environ["TABLE"] = table
    os.environ["OUTBOX_TABLE"] = f"{table}-outbox"


def mint_owner(table: str, name: str) -> str:
    """Create an Owner key and return it; it is not stored."""
    use_table(table)
    return store.mint(name, Role.OWNER)[1]


def is_valid(table: str, key: str) -> bool:
    """Whether there is such a key. Counts as one of its reads."""
    use_table(table)
    return store.admit(key, reads=True, minute=clock.unix() // 60)() is not None


def first_owner_key(table: str) -> str | None:
    """Make the stage's first Owner key, and return it; None when one exists."""
    use_table(table)
    if any(caller.role is Role.OWNER for caller in store.list_keys()):
        return None
    return store.mint("First owner", Role.OWNER)[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """One command; ends with status 1 and a message if it fails."""
    options = _make_parser().parse_args(arguments)
    connect_stage(options.stage, options.endpoint_url)
    refused.run(lambda: options.run(options))


def connect_stage(stage: str, endpoint_url: str | None) -> None:
    """Let the storage modules use the tables of a stage.

    `local` is what `make run` started.
    """
    use_table(f"backroom-{stage}")
    found = CREDENTIALS
    if endpoint_url is None and stage == "local" and LOCAL_ENDPOINT.exists():
        running = json.loads(LOCAL_ENDPOINT.read_text())
        endpoint_url, found = running["awsEndpoint"], credentials(running["awsKey"])
    if endpoint_url is not None:
        os.environ["AWS_ENDPOINT_URL"] = endpoint_url
    elif stage == "local" and "AWS_ENDPOINT_URL" not in os.environ:
        raise SystemExit("Start `make run` in another terminal first.")
    if stage == "local":
        os.environ.update(found)


def _list_keys(options: argparse.Namespace) -> None:
    print(
        f"{'id':30}  {'role':6}  {'reads':>7}  {'writes':>7}  {'created':24}  {'expires':24}  "
        f"{'last used':10}  name"
    )
    for key in store.page(0, len(store.list_keys()))[0]:
        print(_render_key(key))


def _create_key(options: argparse.Namespace) -> None:
    new = validate(NewApiKey, {"name": options.name, "role": options.role})
    caller, key = store.mint(new.name, new.role, expires=options.expires)
    print(_render_key(show_key(caller)))
    print(f"Key, shown only once: {key}")


def _revoke_key(options: argparse.Namespace) -> None:
    store.revoke(options.key_id)
    print(f"{options.key_id} is revoked.")


def _set_limits(options: argparse.Namespace) -> None:
    limited = store.limit(options.key_id, read=options.read, write=options.write)
    minute = show_key(limited)["limits"]
    print(f"{options.key_id}: {minute['read']:,} reads and {minute['write']:,} writes a minute.")


def _render_key(key: ApiKey) -> str:
    limits = f"{key['limits']['read']:7,}  {key['limits']['write']:7,}"
    until, used = key["expiresAt"] or "never", key.get("lastUsedAt") or "never"
    return (
        f"{key['id']:30}  {key['role']:6}  {limits}  {key['createdAt']:24}  {until:24}  "
        f"{used:10}  {key['name']}"
    )


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="every valid key, with its requests per minute")
    listing.set_defaults(run=_list_keys)
    create = commands.add_parser("create", help="create a key; it is printed once")
    create.add_argument("name", help="who or what will use it")
    create.add_argument("role", choices=[role.value for role in Role])
    create.add_argument("--expires", type=_parse_moment, help="such as 2027-06-30; default: never")
    create.set_defaults(run=_create_key)
    revoke = commands.add_parser("revoke", help="revoke a key")
    revoke.add_argument("key_id")
    revoke.set_defaults(run=_revoke_key)
    limits = commands.add_parser(
        "limits", help="set the requests per minute of a key; without options: the defaults"
    )
    limits.add_argument("key_id")
    limits.add_argument("--read", type=_parse_positive)
    limits.add_argument("--write", type=_parse_positive)
    limits.set_defaults(run=_set_limits)
    return parser


def _parse_moment(text: str) -> datetime:
    try:
        moment = clock.parse(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a day or a time, such as 2027-06-30") from None
    if moment <= clock.now():
        raise argparse.ArgumentTypeError("must be in the future")
    return moment


def _parse_positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number of at least 1")
    return int(text)


if __name__ == "__main__":
    main()
