"""Deploys a stage to AWS, or deletes it. Safe to run again after a failure at any point.

    python infra/deploy.py --stage prod                       # create or update it
    python infra/deploy.py --stage prod --show                # only show what would change
    python infra/deploy.py --stage prod --currency EUR --mail-from shop@example.com \
                           --notify-email ops@example.com
    python infra/deploy.py --stage prod --domain api.example.com --certificate arn:aws:acm:…
    python infra/deploy.py --stage prod --destroy             # delete it, but keep its data
    python infra/deploy.py --stage prod --destroy --with-data # delete its data too

Options are remembered. Later, `chalice deploy --stage prod` deploys code changes only. The
bucket keeps the record of what is deployed, so that another machine can continue. A pipeline builds
once, without AWS, and deploys what it built; never use `chalice deploy` for such a stage:

    python infra/deploy.py --package out
    python infra/deploy.py --stage prod --from-package out
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra import (
    compiled,
    destroy,
    keys,
    lanes,
    layer,
    package,
    proxies,
    record,
    refused,
    release,
    stacks,
    steps,
)

# Settings of the functions that are checked, and so have options of their own.
_OPTIONS = {
    "CURRENCY": "--currency",
    "PICTURE_ADDRESS": "--picture-address",
    "STOREFRONT_MAX_AGE": "--storefront-max-age",
    "TIMEZONE": "--timezone",
    "TRUSTED_PROXIES": "--trusted-proxies",
}
_HIDDEN = (
    "This account blocks public buckets, and the pictures of products need readers. Keep their"
    " bucket private behind CloudFront, with --picture-readers (the ARN of the distribution) and"
    " --picture-address (its https address), or allow public bucket policies in this account."
)


def main() -> None:
    """One command; ends with status 1 and a message if it fails."""
    options = _parse_options()
    try:
        if options.package:
            package.write(package.build(package.CACHE), options.package)
            print(f"{options.package} is built; --from-package deploys it")
        else:
            _at_aws(options)
    except (stacks.StackError, subprocess.CalledProcessError, *refused.ERRORS) as failure:
        hint = _HIDDEN if "PicturesPolicy" in str(failure) else "Nothing is lost: run it again."
        raise SystemExit(f"{failure}\n{hint}") from failure


def _at_aws(options: argparse.Namespace) -> None:
    stage: str = options.stage
    caller = boto3.client("sts").get_caller_identity()
    region = boto3.session.Session().region_name
    print(f"Stage {stage}, account {caller['Account']}, {region}")
    known = stacks.outputs(steps.stack_name(stage, "resources"))
    wanted = known and (options.pull or not record.chalice_record(stage).exists())
    if wanted and record.pull(stage, known["Bucket"]):
        print(f"downloaded the record of {stage} from {known['Bucket']}")
    record.refuse_elsewhere(stage, region, caller["Account"])
    if options.destroy:
        _destroy_stage(options, known)
    elif options.show:
        _show_changes(options)
    else:
        _deploy_stage(options, known)


def _deploy_stage(options: argparse.Namespace, known: stacks.Outputs) -> None:
    stage: str = options.stage
    by_chalice = options.from_package is None
    consent = _make_consent(stage)
    _refuse_another_currency(options)
    parameters, environment = _given_parameters(options), _given_environment(options)
    _refuse_a_scaled_schedule(stage, parameters, environment)
    _refuse_the_other_way(stage, by_chalice)
    if known:
        keys.use_table(known["Table"])
        release.refuse_to_skip(stage)
        release.lower_numbers(stage)
    if not known:
        _make_stage(stage, parameters)
    made = steps.apply_resources(
        stage, {"DeletionProtection": "true"} | parameters, consent=consent
    )
    record.write(
        stage, made, parameters=parameters, environment=environment, memory=dict(options.memory)
    )
    steps.ensure_master_key(stage)
    try:
        if by_chalice:
            api, address = _by_chalice(stage)
        else:
            api, address = _from_package(stage, made, options.from_package)
    finally:  # the next run takes the bucket's record, and with it the options of this one
        record.push(stage, made["Bucket"])
    parameters = _with_lanes(parameters)
    domain = steps.apply_triggers(stage, made, parameters | {"RestApiId": api}, consent=consent)
    topic = steps.apply_alarms(stage, parameters)["Topic"]
    keys.use_table(made["Table"])
    release.note_deployment()
    print(f"\nBackroom is deployed: {address.rstrip('/')}")
    if "DomainTarget" in domain:
        print(f"Point your domain's CNAME or alias record to {domain['DomainTarget']}")
    if key := keys.first_owner_key(made["Table"]):
        print(f"Owner key, shown only once: {key}")
    _mention_alarms(topic)
    _mention_summaries(made["MailFrom"], made["NotifyEmail"])


def _by_chalice(stage: str) -> tuple[str, str]:
    """Deploy by Chalice; return the id and the address of the API."""
    record.write_layer(stage, layer.publish(stage, layer.build(package.CACHE)))
    compiled.add(package.PROJECT)
    chalice = Path(sys.executable).parent / "chalice"
    subprocess.run([chalice, "deploy", "--stage", stage], cwd=package.PROJECT, check=True)
    steps.set_disk_sizes(stage)
    api = record.chalice_api(stage)
    return api["rest_api_id"], api["rest_api_url"]


def _from_package(stage: str, made: stacks.Outputs, folder: Path) -> tuple[str, str]:
    settings = record.stage_settings(stage)
    variables, memory = settings["environment_variables"], _memory_sizes(settings)
    app = steps.apply_app(stage, made, package.read(folder), environment=variables, memory=memory)
    return app["RestApiId"], app["Address"]


def _make_stage(stage: str, parameters: dict[str, str]) -> None:
    """Not protected from the first moment: a first run that fails must be able to roll back."""
    steps.refuse_name(stage)
    unprotected = parameters | {"DeletionProtection": "false"}
    try:
        steps.apply_resources(stage, unprotected)
    except stacks.StackError as failure:
        if "60 seconds" not in str(failure):
            raise
        print("SQS keeps the name of a queue for a minute after it was deleted; waiting for that.")
        time.sleep(61)
        steps.apply_resources(stage, unprotected)


def _show_changes(options: argparse.Namespace) -> None:
    stage: str = options.stage
    parameters = _given_parameters(options)
    made = steps.apply_resources(stage, parameters, only_show=True)
    parameters = _with_lanes(parameters)
    if made and stacks.exists(steps.stack_name(stage, "triggers")):
        steps.apply_triggers(stage, made, parameters, only_show=True)
        steps.apply_alarms(stage, parameters, only_show=True)
    else:
        print(f"{stage}: then functions, triggers and alarms would be created")
        return
    print(f"{stage}: functions and routes would be updated from the source")


def _destroy_stage(options: argparse.Namespace, made: stacks.Outputs) -> None:
    stage: str = options.stage
    if not stacks.exists(steps.stack_name(stage, "resources")):
        raise SystemExit(f"There is no stage {stage} here.")
    if made and not options.with_data:
        lost = ["delete the API, all functions, triggers and alarms; all data is kept"]
        _make_consent(stage)(stage, lost)
        destroy.delete_functions(stage)
        record.push(stage, made["Bucket"])
        print(f"{stage} is deleted. Its data is kept; --with-data deletes it.")
        return
    _make_consent(stage)(stage, [f"delete {each}" for each in destroy.describe_contents(made)])
    destroy.delete_everything(stage, made)
    print(f"{stage} and its data are deleted.")


def _with_lanes(parameters: dict[str, str]) -> dict[str, str]:
    """Return the parameters with lanes that suit the account, unless given; print the choice."""
    limit = lanes.account_limit()
    column = parameters.get("Lanes") or lanes.choose_column(limit)
    print(lanes.summary(limit, column))
    return parameters | {"Lanes": column}


def _make_consent(stage: str) -> stacks.Consent:
    """Asks at the terminal; without one, refuses."""

    def ask_consent(stack: str, lost: Sequence[str]) -> None:
        print(f"{stack}: this will", *(f"  - {each}" for each in lost), sep="\n")
        try:
            answer = input(f"Type {stage} to continue: ")
        except EOFError:
            raise SystemExit("\nThis needs a terminal to confirm; nothing was changed.") from None
        if answer != stage:
            raise SystemExit("Nothing was changed.")

    return ask_consent


def _given_environment(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings of the functions that were given this time; the others stay."""
    given = {
        "CURRENCY": options.currency,
        "TIMEZONE": options.timezone,
        "STOREFRONT_MAX_AGE": options.storefront_max_age,
        "PICTURE_ADDRESS": options.picture_address,
    }
    if options.trusted_proxies is not None:
        try:
            blocks = proxies.resolve_blocks(options.trusted_proxies, boto3.client("ec2"))
        except ValueError as wrong:
            raise SystemExit(f"--trusted-proxies: {wrong}") from None
        given["TRUSTED_PROXIES"] = blocks
    return {name: str(value) for name, value in given.items() if value is not None} | dict(
        steps.parse_pairs(options.setting)
    )


def _refuse_another_currency(options: argparse.Namespace) -> None:
    variables = record.stage_settings(options.stage).get("environment_variables")
    now = (variables or {}).get("CURRENCY", "USD")
    if not variables or not options.currency:
        return
    if options.currency != now.upper():
        raise SystemExit(
            f"The stored amounts of {options.stage} are in {now}: the currency cannot be changed."
        )
    options.currency = now  # 1.0.0 kept it as it was typed, and amounts with its decimals


def _refuse_a_scaled_schedule(
    stage: str, parameters: Mapping[str, str], environment: Mapping[str, str]
) -> None:
    """Raise SystemExit if retries would come at other times on a stage that is not emulated.

    The setting is given now, or was noted before.
    """
    noted: dict[str, str] = record.stage_settings(stage).get("environment_variables", {})
    scale = (noted | {**environment}).get("WEBHOOK_SCHEDULE_SCALE", "1")
    if scale != "1" and parameters.get("Size") != "local":
        raise SystemExit(
            f"WEBHOOK_SCHEDULE_SCALE={scale} would change the times of the retries of webhooks:"
            " only an emulated stage (Size=local) can have it. Everywhere else it is 1."
        )


def _refuse_the_other_way(stage: str, by_chalice: bool) -> None:
    other = (
        stacks.exists(steps.stack_name(stage, "app")) if by_chalice else record.is_chalices(stage)
    )
    if other:
        way = "with --from-package" if by_chalice else "by Chalice"
        raise SystemExit(f"{stage} was deployed {way}. To change that, --destroy it first.")


def _mention_alarms(topic: str) -> None:
    """Whom no alarm reaches yet. AWS tells an address nothing before it has been confirmed."""
    found = boto3.client("sns").list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    if not found:
        print("No address receives alarms: set --alarm-email.")
    for each in found:
        if each["SubscriptionArn"] == "PendingConfirmation":
            print(f"{each['Endpoint']} gets no alarms before it confirms the e-mail from AWS.")


def _mention_summaries(sender: str, receiver: str) -> None:
    """Print what keeps the summary e-mails of failed webhook deliveries from being sent."""
    if not sender:
        print("No summary e-mail is sent when webhook deliveries fail: set --mail-from.")
        return
    if not receiver:
        print("Webhooks without an `email` get no summaries: set --notify-email.")
    identities = [sender, sender.partition("@")[2]]
    found = boto3.client("ses").get_identity_verification_attributes(Identities=identities)
    states = [each["VerificationStatus"] for each in found["VerificationAttributes"].values()]
    if "Success" not in states:
        print(f"SES has verified neither {' nor '.join(identities)}: no summary is sent yet.")


def _given_parameters(options: argparse.Namespace) -> dict[str, str]:
    """Those of all templates, given now or before; each template takes its own."""
    before: dict[str, str] = record.stage_settings(options.stage).get("parameters", {})
    given: dict[str, str | None] = {
        "MailFrom": options.mail_from,
        "NotifyEmail": options.notify_email,
        "AlarmEmail": options.alarm_email,
        "DomainName": options.domain,
        "CertificateArn": options.certificate,
        "PictureReaders": options.picture_readers,
    }
    own: dict[str, str] = options.parameters
    found = before | {name: value for name, value in given.items() if value is not None} | own
    if found.get("DomainName") and not found.get("CertificateArn"):
        raise SystemExit("--domain needs --certificate: the domain's certificate in ACM.")
    return found


def _memory_sizes(settings: dict[str, dict[str, dict[str, int]]]) -> dict[str, int]:
    functions = settings.get("lambda_functions", {})
    key = "lambda_memory_size"
    return {name: chosen[key] for name, chosen in functions.items() if key in chosen}


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", help="such as prod")
    parser.add_argument("--show", action="store_true", help="only show what would change")
    parser.add_argument(
        "--pull", action="store_true", help="first download the record of what is deployed"
    )
    parser.add_argument("--destroy", action="store_true", help="delete the stage")
    parser.add_argument(
        "--with-data", action="store_true", help="with --destroy: delete all data too"
    )
    parser.add_argument("--package", type=Path, metavar="DIR", help="build without deploying")
    parser.add_argument("--from-package", type=Path, metavar="DIR", help="deploy a built package")
    parser.add_argument(
        "--currency",
        type=steps.check_currency,
        help="ISO 4217 code, fixed by the first deployment; default: USD",
    )
    parser.add_argument(
        "--timezone",
        type=steps.check_timezone,
        help="IANA name of the shop's time zone; default: UTC",
    )
    parser.add_argument(
        "--trusted-proxies",
        help="CIDR blocks whose X-Forwarded-For is trusted; cloudfront: CloudFront's",
    )
    parser.add_argument(
        "--storefront-max-age",
        type=int,
        help="seconds for which storefront answers may be cached; default: 5",
    )
    parser.add_argument(
        "--picture-address",
        type=steps.check_picture_address,
        help="https address of a CDN before the bucket of pictures",
    )
    parser.add_argument(
        "--picture-readers",
        help="ARN of the CloudFront distribution that alone may read that bucket; default: anybody",
    )
    parser.add_argument("--mail-from", help="sender of summary e-mails; must be verified in SES")
    parser.add_argument(
        "--notify-email", help="recipient of the summaries of webhooks without an e-mail"
    )
    parser.add_argument("--alarm-email", help="recipient of alarms")
    parser.add_argument("--domain", help="a custom domain of the API")
    parser.add_argument("--certificate", help="ARN of its ACM certificate, in the same region")
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="FUNCTION=MB",
        help="memory of one function; the API's is api_handler",
    )
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="Name=value",
        help="another parameter of a template in infra/",
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=value",
        help="a setting of the functions (chalicelib/settings.py), such as STOREFRONT_MAX_AGE=60",
    )
    options = parser.parse_args()
    if bool(options.stage) == bool(options.package):
        parser.error("give either --stage or --package")
    if options.with_data and not options.destroy:
        parser.error("--with-data goes with --destroy")
    if options.destroy and (options.show or options.from_package):
        parser.error("--destroy goes without --show and --from-package")
    if (options.storefront_max_age or 0) < 0:
        parser.error("--storefront-max-age takes a number of seconds, at least 0")
    options.parameters = dict(steps.parse_pairs(options.parameter))
    if wrong := set(options.parameters) - steps.parameter_names():
        parser.error(f"no such parameter: {', '.join(sorted(wrong))}")
    given = list(steps.parse_pairs(options.memory))
    if odd := [f"{name}={size}" for name, size in given if not size.isdecimal()]:
        parser.error(f"--memory takes a number of MB, not {', '.join(odd)}")
    options.memory = [(name, int(size)) for name, size in given]
    for name, _ in steps.parse_pairs(options.setting):
        if name in _OPTIONS:
            parser.error(f"--setting {name}: use {_OPTIONS[name]}")
    if unknown := {name for name, _ in options.memory} - set(steps.ROLES):
        parser.error(f"no such function: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    main()
