"""Checks on AWS what was never run there (docs/first-hour.md), and prints a table.

    python infra/verify.py --stage trial              # deploys a stage trial-…, and deletes it
    python infra/verify.py --stage prod --existing    # checks a deployed stage, without breaking it
    python infra/verify.py --stage local              # checks what `make run` started

A trial has a name of its own, so no other stage is touched. Before it is made, its cost is printed
and asked for. It is deleted at the end, also after Ctrl-C. The table is also written as JSON. The
status is 1 if a statement does not hold.
"""

import argparse
import re
import secrets
import signal
import sys
from pathlib import Path
from typing import Any, Final

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import shops
from infra import keys, local, package, refused, stacks, steps
from infra.verification import deployment, webhooks
from infra.verification.listed import STATEMENTS
from infra.verification.stage import Stage
from infra.verification.statements import (
    Row,
    Statement,
    check_statements,
    render_row,
    summary,
    write_report,
)

_LONGEST_NAME: Final = 15  # a trial's name is five characters longer; a stage's has at most 20
_REQUESTS: Final = 1_500  # of all checks without the load, with room


def main() -> None:
    options = _parse_options()
    signal.signal(signal.SIGTERM, _interrupt)
    stage = _local_stage(options) if options.stage == local.STAGE else _on_aws(options)
    table: list[Row] = []
    try:
        _run_checks(stage, table)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
    finally:
        # A second Ctrl-C would leave a stage that costs money.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _clean_up(stage, table)
        path = options.json or package.PROJECT / f".local/verify-{stage.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_report(path, stage.name, table)
        print(f"\n{summary(table)} Written to {path}")
    if len(table) < len(STATEMENTS) or any(row.holds is False for row in table):
        raise SystemExit(1)


def _run_checks(stage: Stage, table: list[Row]) -> None:
    """All but the last statement, which deletes a trial."""
    deploying = STATEMENTS.index(_find_statement("A package is deployed to an empty account.")) + 1
    _print_rows(stage, STATEMENTS[:deploying], table)
    if table[-1].holds is False:
        return
    with webhooks.run_receiver(stage) as stage.receiver:
        _print_rows(stage, STATEMENTS[deploying:-1], table)


def _clean_up(stage: Stage, table: list[Row]) -> None:
    """Whatever was reached: the receiver and the keys of the checks go, and a trial as a whole."""
    if not stage.is_emulated:
        stacks.delete(steps.stack_name(stage.name, "receiver"))
    if not stage.is_trial:
        stage.forget_keys()
    _print_rows(stage, STATEMENTS[-1:], table)
    if stage.is_trial and table[-1].holds is not True:
        again = f"infra/deploy.py --stage {stage.name} --destroy --with-data"
        print(f"\nThe trial may still cost money. Run: python {again}")


def _print_rows(stage: Stage, some: tuple[Statement, ...], table: list[Row]) -> None:
    for row in check_statements(some, stage):
        print(render_row(row), flush=True)
        table.append(row)


def _find_statement(says: str) -> Statement:
    return next(statement for statement in STATEMENTS if statement.says == says)


def _local_stage(options: argparse.Namespace) -> Stage:
    keys.connect_stage(options.stage, options.endpoint_url)
    return Stage(options.stage, load=options.load or 50)


def _on_aws(options: argparse.Namespace) -> Stage:
    """Return the stage to check, after consent; a trial is not there yet."""
    known = deployment.exists(options.stage)
    if options.existing and not known:
        raise SystemExit(f"There is no stage {options.stage} here.")
    if known and not options.existing:
        raise SystemExit(f"The stage {options.stage} exists: take another name, or --existing.")
    name = options.stage if options.existing else f"{options.stage}-{secrets.token_hex(2)}"
    if not options.existing and deployment.exists(name):
        raise SystemExit(f"The stage {name} exists: try again.")
    stage = Stage(name, is_trial=not options.existing, load=options.load or 1_000)
    account = boto3.client("sts").get_caller_identity()["Account"]
    print(f"Stage {name}, account {account}, {boto3.session.Session().region_name}")
    if options.existing:
        print("It gets keys, products, orders and webhooks of the checks; its orders stay.")
    print(estimate_cost(stage))
    if not options.yes:
        _ask_consent(name)
    return stage


def estimate_cost(stage: Stage) -> str:
    """Dollars, by the prices of bench/shops.py; the free tier is not counted."""
    requests = _REQUESTS * sum(shops.LIST.dollars.values())
    written = (stage.load + 500) * sum(shops.WRITE.dollars.values())
    orders = 200 * sum(shops.ORDER.dollars.values())
    hour = 1 / 720
    watched = (shops.ALARM_METRICS * shops.ALARM + shops.OWN_METRICS * shops.METRIC) * hour
    parts = {
        f"{_REQUESTS:,} requests": requests,
        f"{stage.load:,} imported products": written,
        "orders": orders,
        "alarms and metrics for an hour": watched,
        "polling": shops.QUEUES * shops.POLLS * hour * shops.SQS_REQUEST,
    }
    each = ", ".join(f"{what} ${dollars:.3f}" for what, dollars in parts.items())
    return f"This costs about ${sum(parts.values()):.2f}: {each}. Half an hour, or more."


def _ask_consent(name: str) -> None:
    try:
        answer = input(f"Type {name} to continue: ")
    except EOFError:
        raise SystemExit("\nThis needs a terminal, or --yes; nothing was made.") from None
    if answer != name:
        raise SystemExit("Nothing was made.")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _parse_options() -> argparse.Namespace:
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", required=True, help="of a trial: the beginning of its name")
    parser.add_argument("--existing", action="store_true", help="a stage that is deployed")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--load", type=int, help="products that the load imports; default: 1,000")
    parser.add_argument("--json", type=Path, help="default: .local/verify-<stage>.json")
    parser.add_argument("--endpoint-url", help="of an emulated AWS, with --stage local")
    options = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", options.stage):
        parser.error("a stage has small letters, digits and hyphens")
    if not options.existing and len(options.stage) > _LONGEST_NAME:
        parser.error(f"the name of a trial has at most {_LONGEST_NAME} characters")
    return options


if __name__ == "__main__":
    refused.run(main)
