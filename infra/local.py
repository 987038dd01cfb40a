"""Backroom on this machine: the three steps of a deployment on an emulated AWS (`make run`)."""

import argparse
import fcntl
import io
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib.api_keys import store as api_keys
from infra import keys, package, release, seed, stacks, steps
from infra.emulator import KEY_VARIABLE, Emulator, credentials, make_key, stop_leftover
from infra.log_lines import render_line

STAGE = "local"
_BASE_PATH = f"/_aws/execute-api/backroom/{STAGE}"
_PROJECT = package.PROJECT
_MAIL = {"MailFrom": "backroom@example.com", "NotifyEmail": "owner@example.com"}
_LOCAL_ONLY = {
    # A receiver under development listens on loopback.
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8 ::1/128",
    "BASE_PATH": _BASE_PATH,
    "CONFLICT_SECONDS": "6",  # the emulator takes long for a transaction
}
_LONGEST_WAIT = timedelta(days=2)  # the schedule waits for a day at most
_PARKED = 10_000  # messages of a webhook that are looked at
_LOG_SECONDS = 1
_LOG_LATE_MS = 5_000
_PLATFORM_LINES = ("START RequestId", "END RequestId", "REPORT RequestId")


def deploy_source(cache: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Deploy what the source says now; what the tables, queues and bucket hold stays."""
    say("creating the tables, the queues and the bucket")
    made = steps.apply_resources(STAGE, {"Size": "local", "DeletionProtection": "false"} | _MAIL)
    boto3.client("ses").verify_email_identity(EmailAddress=made["MailFrom"])
    say("packaging the functions (half a minute if the source has changed)")
    built = package.build(cache)
    say("deploying the functions and the API, what triggers them, and the alarms")
    # The emulator gives an API whose routes changed another id, and after a restart its stream
    # mappings skip events. Both stacks hold no data, so each start recreates them.
    stacks.delete(steps.stack_name(STAGE, "triggers"))
    stacks.delete(steps.stack_name(STAGE, "app"))
    steps.ensure_master_key(STAGE)
    environment = steps.function_environment(STAGE, made) | _LOCAL_ONLY | dict(settings)
    steps.apply_app(STAGE, made, built, environment=environment, api_id="backroom")
    steps.apply_triggers(STAGE, made, {"Lanes": "local"})
    steps.apply_alarms(STAGE, {"MetricMath": "false"})
    keys.use_table(made["Table"])
    if not api_keys.list_keys():  # new data, in which all records will be indexed
        release.note_deployment()
    return made


def restart_waits() -> None:
    """Start an execution for each slot in which a delivery is due.

    The emulator ends the waits of its state machine when it stops.
    """
    from chalicelib import aws, settings
    from chalicelib.values import clock, ids
    from chalicelib.webhooks import parking, retry, store

    scale = settings.webhook_schedule_scale()
    for endpoint in store.load_all():
        parked = parking.find_due(endpoint.id, clock.now() + _LONGEST_WAIT, _PARKED)
        dues = [clock.parse(sk.partition("#")[0]) for (_, sk), _ in parked]
        for slot in {retry.slot(endpoint.id, due, clock.now(), scale) for due in dues}:
            times = {"due": clock.iso(slot.at), "until": clock.iso(slot.until)}
            aws.client("stepfunctions").start_execution(
                stateMachineArn=settings.redrive_state_machine_arn(),
                name=f"{endpoint.id}-{ids.ulid()}",
                input=json.dumps({"endpoint": endpoint.id, **times}),
            )


def say(step: str) -> None:
    """Print progress on the terminal, regardless of what the steps print."""
    print(f"  {step} …", file=sys.__stdout__, flush=True)


@contextmanager
def kept_back() -> Iterator[None]:
    """Show what is printed meanwhile only if it fails: every resource of every stack."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            yield
    except Exception:
        print(printed.getvalue(), flush=True)
        raise


def describe_endpoint(aws: str, api_key: str, aws_key: str) -> dict[str, str]:
    """Return what a client needs to know; `aws_key`: ID:SECRET, for clients of the emulated AWS."""
    base_url = aws + _BASE_PATH
    return {
        "baseUrl": base_url,
        "apiKey": api_key,
        "consoleUrl": f"{base_url}/console",
        "awsEndpoint": aws,
        "awsKey": aws_key,
    }


def folder_key(home: Path) -> str:
    """Return the access key of this folder's emulator, ID:SECRET, which is made once."""
    if given := os.environ.get(KEY_VARIABLE):
        return given
    kept = home / "aws-key"
    if not kept.exists():
        _write_secret(kept, make_key())
    return kept.read_text()


def owner_key(home: Path, table: str) -> str:
    """Return the Owner key of this data, which is kept next to it.

    It is made once, and again if it was revoked, or if other data was restored.
    """
    kept = home / "owner-key"
    if not (kept.exists() and keys.is_valid(table, kept.read_text())):
        _write_secret(kept, keys.mint_owner(table, "Local owner"))
    return kept.read_text()


def _write_secret(target: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    unfinished = target.with_suffix(f".{os.getpid()}")
    unfinished.touch(mode=0o600)
    unfinished.write_text(text)
    unfinished.replace(target)


def announce_endpoint(home: Path, found: dict[str, str], kept: str) -> None:
    """Print the way in, and write it for programs: per port, and for the newest run."""
    own, newest = _announcement_files(home)
    mail_key = found["awsKey"].partition(":")[0]
    shown = os.path.relpath(newest) if newest.is_relative_to(Path.cwd()) else newest
    print(
        f"""
Backroom is running.

  API        {found["baseUrl"]}
  Console    {found["consoleUrl"]}
  Owner key  {found["apiKey"]}

Three commands to try, in another terminal:

  .venv/bin/backroom login --from {shown}
  .venv/bin/backroom import infra/sample-catalogue.csv
  .venv/bin/backroom products --search shirt

Mails that were sent: {found["awsEndpoint"]}/_ministack/ses/messages?X-Amz-Credential={mail_key}

Ctrl-C stops it; {kept}. The log follows; LOG=json shows it raw.
""",
        flush=True,
    )
    for target in (own, newest):
        _write_secret(target, json.dumps(found, indent=2) + "\n")


def retract_endpoint(home: Path) -> None:
    """Delete what `announce_endpoint` wrote, unless a later run has written since."""
    own, newest = _announcement_files(home)
    if own.exists() and newest.exists() and own.read_text() == newest.read_text():
        newest.unlink()
    own.unlink(missing_ok=True)


def _announcement_files(home: Path) -> tuple[Path, Path]:
    return home / "endpoint.json", home.parent / "endpoint.json"


def follow_logs(emulator: Emulator, form: str) -> None:
    """Print what the functions log, until the emulator ends or this process must stop.

    `form`: text, json (raw), or none, which asks the emulator for nothing.
    """
    logs = boto3.client("logs")
    since = time.time_ns() // 10**6
    names = [] if form == "none" else steps.function_names(STAGE)
    groups = [f"/aws/lambda/{name}" for name in names]
    printed: dict[tuple[str, str], int] = {}  # a line of a group → when it was logged
    while emulator.is_running():
        # Looks back, because a line may arrive after later ones.
        start = max(since, time.time_ns() // 10**6 - _LOG_LATE_MS)
        for group in groups:
            for event in logs.filter_log_events(logGroupName=group, startTime=start)["events"]:
                line = f"{event['timestamp']} {event['message']}"  # the emulator gives no id
                if (group, line) in printed:
                    continue
                printed[group, line] = event["timestamp"]
                if not event["message"].startswith(_PLATFORM_LINES):
                    name, said = group.removeprefix("/aws/lambda/"), event["message"].rstrip()
                    function = name.removeprefix(f"backroom-{STAGE}").removeprefix("-")
                    people = render_line(function, said, event["timestamp"])
                    print(f"{name} {said}" if form == "json" else people, flush=True)
        printed = {line: logged for line, logged in printed.items() if logged >= start}
        time.sleep(_LOG_SECONDS)
    raise SystemExit(f"the emulator has stopped; its log is {emulator.log}")


def main() -> None:
    """Run on one port, alone there. Ctrl-C and SIGTERM stop all that was started."""
    options = _parse_options()
    local: Path = options.local_dir.resolve()
    keeps = not options.throwaway
    home = local / (str(options.port) if keeps else f"{options.port}-throwaway")
    local.mkdir(parents=True, exist_ok=True)
    with (local / f"{options.port}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(
                f"Backroom already runs on port {options.port}: choose another with PORT=…"
            ) from None
        stop_leftover(home)
        if options.fresh or options.throwaway:
            shutil.rmtree(home, ignore_errors=True)
        home.mkdir(mode=0o700, exist_ok=True)
        run_shop(home, options)


def run_shop(home: Path, options: argparse.Namespace) -> None:
    """One run, from the emulator's start to its end."""
    key = folder_key(home)
    keeps = not options.throwaway
    python = options.emulator_python
    emulator = Emulator(python, options.port, home, keeps=keeps, credentials=credentials(key))
    os.environ.update(credentials(key) | {"AWS_ENDPOINT_URL": emulator.endpoint})
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        print(f"Starting Backroom on port {options.port}:", flush=True)
        say("starting the AWS emulator")
        emulator.start()
        asked = _choose_settings(options) | dict(steps.parse_pairs(options.setting))
        with kept_back():
            made = deploy_source(options.packages, asked)
            os.environ.update(steps.function_environment(STAGE, made) | _LOCAL_ONLY | asked)
            restart_waits()
            emulator.save()
        found = describe_endpoint(emulator.endpoint, owner_key(home, made["Table"]), key)
        if not options.empty and seed.is_empty(found["baseUrl"], found["apiKey"]):
            say(f"importing {seed.CATALOGUE.relative_to(_PROJECT)}")
            job = seed.seed(found["baseUrl"], found["apiKey"])
            say(f"imported {job['created']} products")
        stays = "the data stays for the next start (FRESH=1 starts with no data)"
        announce_endpoint(home, found, "nothing is kept" if options.throwaway else stays)
        follow_logs(emulator, options.log)
    except KeyboardInterrupt:
        waits = "" if options.throwaway else ": the emulator writes its data, some 50 MB a second"
        print(f"\nstopping{waits} …", flush=True)
    except RuntimeError as failure:
        raise SystemExit(str(failure)) from failure
    finally:
        # A second Ctrl-C would lose the data: let the emulator write it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        retract_endpoint(home)
        emulator.stop()


def _choose_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings of the shop that the environment, or an option, names."""
    chosen = {"TIMEZONE": options.timezone, "CURRENCY": options.currency}
    chosen["SHOP_NAME"] = os.environ.get("SHOP_NAME", "")
    return {name: value for name, value in chosen.items() if value}


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _parse_options() -> argparse.Namespace:
    environment = os.environ
    parser = argparse.ArgumentParser(description=__doc__)
    port = environment.get("PORT") or "4566"
    parser.add_argument("--port", type=int, default=port, help="default: PORT, or 4566")
    fresh = environment.get("FRESH", "") not in {"", "0"}
    parser.add_argument(
        "--fresh", action="store_true", default=fresh, help="start with no data (FRESH=1)"
    )
    empty = environment.get("EMPTY", "") not in {"", "0"}
    parser.add_argument(
        "--empty", action="store_true", default=empty, help="import no sample catalogue (EMPTY=1)"
    )
    parser.add_argument("--throwaway", action="store_true", help="delete the data when it stops")
    parser.add_argument(
        "--local-dir", type=Path, default=_PROJECT / ".local", help="where the data is kept"
    )
    emulator_python = environment.get("EMULATOR_PYTHON") or _PROJECT / ".venv-emulator/bin/python"
    parser.add_argument("--emulator-python", type=Path, default=emulator_python)
    parser.add_argument("--packages", type=Path, default=package.CACHE)
    zone = environment.get("TIMEZONE") or "UTC"
    parser.add_argument(
        "--timezone",
        type=steps.check_timezone,
        default=zone,
        help="IANA name of the shop's time zone",
    )
    parser.add_argument(
        "--currency",
        type=steps.check_currency,
        default=environment.get("CURRENCY") or None,
        help="ISO 4217 code of the shop's currency; default: USD",
    )
    log = environment.get("LOG") or "text"
    forms = ["text", "json", "none"]
    parser.add_argument("--log", choices=forms, default=log, help="how the log is shown")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=value",
        help="a setting of the functions, such as CURRENCY=EUR",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
