"""What an operator types wrong, or has no right to, ends with a sentence."""

import sys
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.exceptions import NoCredentialsError

from infra import deploy, record, refused, stacks, steps
from tests.support.programs import ran

pytestmark = pytest.mark.thorough


def test_a_currency_is_kept_in_capitals_and_mistyped_options_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A currency cannot be changed later, and only the code in capitals has its decimals."""

    def asked(*options: str) -> str | None:
        monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", *options])
        currency: str | None = deploy._parse_options().currency
        return currency

    assert asked("--currency", "jpy", "--parameter", "Alarms=free") == "JPY"
    for wrong, said in (
        (["--currency", "EURO"], "no ISO 4217 code"),
        (["--currency", "ÄÖÜ"], "no ISO 4217 code"),
        (["--setting", "CURRENCY=JPY"], "use --currency"),
        (["--setting", "TRUSTED_PROXIES=x"], "use --trusted-proxies"),
        (["--parameter", "Alarm=free"], "no such parameter: Alarm"),
        (["--with-data"], "--with-data goes with --destroy"),
        (["--destroy", "--show"], "goes without --show"),
        (["--storefront-max-age", "-1"], "at least 0"),
    ):
        with pytest.raises(SystemExit):
            asked(*wrong)
        assert said in capsys.readouterr().err


def test_a_domain_needs_its_certificate_before_anything_is_deployed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(record, "stage_settings", lambda stage: {})
    asked = ["deploy.py", "--stage", "prod", "--domain", "api.example.com"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit, match="--domain needs --certificate"):
        deploy._given_parameters(deploy._parse_options())
    monkeypatch.setattr(sys, "argv", [*asked, "--certificate", "arn:1"])
    assert deploy._given_parameters(deploy._parse_options())["CertificateArn"] == "arn:1"


def test_a_new_stage_has_no_name_that_another_uses() -> None:
    for taken in ("prod-outbox", "prod-deliver"):
        with pytest.raises(SystemExit, match=f"backroom-{taken} is a name in a stage prod"):
            deploy._make_stage(taken, {})
    for free in ("prod", "prod-eu", "outbox"):
        steps.refuse_name(free)


def test_a_currency_in_small_letters_stays_what_1_0_0_made_it(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"environment_variables": {"CURRENCY": "eur"}}
    monkeypatch.setattr(record, "stage_settings", lambda stage: kept)
    monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", "--currency", "eur"])
    options = deploy._parse_options()
    deploy._refuse_another_currency(options)
    assert deploy._given_environment(options) == {"CURRENCY": "eur"}
    options.currency = "JPY"
    with pytest.raises(SystemExit, match="are in eur"):
        deploy._refuse_another_currency(options)


def test_only_an_emulated_stage_has_other_times_of_retries(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale = {"WEBHOOK_SCHEDULE_SCALE": "0.01"}
    noted: dict[str, object] = {}
    monkeypatch.setattr(record, "stage_settings", lambda stage: noted)
    said = "WEBHOOK_SCHEDULE_SCALE=0.01 would change the times .* only an emulated stage"
    asked = ["deploy.py", "--stage", "prod", "--setting", "WEBHOOK_SCHEDULE_SCALE=0.01"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit, match=said):
        deploy._deploy_stage(deploy._parse_options(), {})
    deploy._refuse_a_scaled_schedule("prod", {"Size": "local"}, scale)
    noted["environment_variables"] = scale
    with pytest.raises(SystemExit, match=said):
        deploy._refuse_a_scaled_schedule("prod", {"Size": "aws"}, {})
    deploy._refuse_a_scaled_schedule("prod", {}, {"WEBHOOK_SCHEDULE_SCALE": "1"})


@pytest.mark.parametrize(
    ("region", "account", "refused"),
    [("eu-west-1", "1", False), ("eu-west-1", "2", True), ("us-east-1", "1", True)],
)
def test_a_stage_that_is_elsewhere_is_not_touched_here(
    region: str,
    account: str,
    refused: bool,
    configured: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = "arn:aws:states:eu-west-1:1:stateMachine:backroom-prod-redrive"
    kept = {"environment_variables": {"REDRIVE_STATE_MACHINE_ARN": machine}}
    caller = SimpleNamespace(get_caller_identity=lambda: {"Account": account})
    destroyed = list[object]()
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setattr("boto3.client", lambda service: caller)
    monkeypatch.setattr(stacks, "outputs", lambda stack: {})
    monkeypatch.setattr(record, "stage_settings", lambda stage: kept)
    monkeypatch.setattr(deploy, "_destroy_stage", lambda *given: destroyed.append(given))
    monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", "--destroy"])
    with (
        pytest.raises(SystemExit, match="prod is in eu-west-1, account 1")
        if refused
        else nullcontext()
    ):
        deploy.main()
    assert len(destroyed) == (not refused)


def test_the_options_of_a_deployment_that_fails_are_in_the_bucket(
    configured: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next run of a pipeline, or of a stage that Chalice does not deploy, reads them there."""
    config = tmp_path / "config.json"
    config.write_text("{}")
    monkeypatch.setattr(record, "CONFIG", config)
    monkeypatch.setattr(record, "is_chalices", lambda stage: False)
    pushed = list[object]()
    monkeypatch.setattr(
        record, "push", lambda stage, bucket: pushed.append(record.stage_settings(stage))
    )
    made = defaultdict(str, Table="t", Bucket="b")
    monkeypatch.setattr(deploy.keys, "use_table", lambda table: None)
    monkeypatch.setattr(deploy.release, "refuse_to_skip", lambda stage: None)
    monkeypatch.setattr(deploy.release, "lower_numbers", lambda *given: None)
    monkeypatch.setattr(steps, "apply_resources", lambda *given, **more: made)
    monkeypatch.setattr(steps, "ensure_master_key", lambda stage: None)
    options = ["--from-package", str(tmp_path), "--timezone", "Europe/Berlin"]
    monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", *options])
    with pytest.raises(FileNotFoundError):
        deploy._deploy_stage(deploy._parse_options(), made)
    (kept,) = pushed
    assert kept["environment_variables"]["TIMEZONE"] == "Europe/Berlin"


def test_an_operator_is_told_whom_no_alarm_reaches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list[dict[str, str]]()
    topic = SimpleNamespace(list_subscriptions_by_topic=lambda TopicArn: {"Subscriptions": found})
    monkeypatch.setattr("boto3.client", lambda service: topic)
    deploy._mention_alarms("arn:topic")
    assert "set --alarm-email" in capsys.readouterr().out
    found.append({"Endpoint": "ops@example.com", "SubscriptionArn": "PendingConfirmation"})
    deploy._mention_alarms("arn:topic")
    assert "ops@example.com gets no alarms before it confirms" in capsys.readouterr().out
    found[0]["SubscriptionArn"] = "arn:topic:1"
    deploy._mention_alarms("arn:topic")
    assert capsys.readouterr().out == ""


def test_wrong_proxies_are_refused_with_a_sentence(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["deploy.py", "--stage", "prod", "--trusted-proxies", "10.0.0.1/8"]
    monkeypatch.setattr(sys, "argv", options)
    with pytest.raises(SystemExit, match=r"--trusted-proxies: .*host bits"):
        deploy._given_environment(deploy._parse_options())


@pytest.mark.parametrize(
    "program", ["counts.py", "dead_letters.py schedules", "deploy.py", "keys.py list", "reindex.py"]
)
def test_what_aws_refuses_is_said_without_a_traceback(program: str) -> None:
    name, *options = program.split()
    nobody = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "eu-central-1"}
    command = (sys.executable, f"infra/{name}", "--stage", "prod", *options)
    done = ran(*command, code=1, env=nobody)
    assert done.stderr.startswith(str(NoCredentialsError()))
    assert "Traceback" not in done.stderr


def test_a_defect_of_ours_has_its_traceback() -> None:
    def broken() -> None:
        raise KeyError("Table")

    with pytest.raises(KeyError):
        refused.run(broken)
