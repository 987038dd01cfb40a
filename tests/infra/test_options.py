"""What an operator types wrong, or has no right to, ends with a sentence."""

import sys

import pytest
from botocore.exceptions import NoCredentialsError

from infra import deploy, record, refused
from tests.support.programs import ran


def test_a_currency_is_kept_in_capitals_and_mistyped_options_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A currency cannot be changed later, and only the code in capitals has its decimals."""

    def asked(*options: str) -> str | None:
        monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", *options])
        currency: str | None = deploy._options().currency
        return currency

    assert asked("--currency", "jpy", "--parameter", "Alarms=free") == "JPY"
    for wrong, said in (
        (["--currency", "EURO"], "no ISO 4217 code"),
        (["--currency", "ÄÖÜ"], "no ISO 4217 code"),
        (["--setting", "CURRENCY=JPY"], "use --currency"),
        (["--setting", "TRUSTED_PROXIES=x"], "use --trusted-proxies"),
        (["--parameter", "Alarm=free"], "no such parameter: Alarm"),
    ):
        with pytest.raises(SystemExit):
            asked(*wrong)
        assert said in capsys.readouterr().err


def test_a_currency_in_small_letters_stays_what_1_0_0_made_it(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"environment_variables": {"CURRENCY": "eur"}}
    monkeypatch.setattr(record, "settings", lambda stage: kept)
    monkeypatch.setattr(sys, "argv", ["deploy.py", "--stage", "prod", "--currency", "eur"])
    options = deploy._options()
    deploy._refuse_another_currency(options)
    assert deploy._environment(options) == {"CURRENCY": "eur"}
    options.currency = "JPY"
    with pytest.raises(SystemExit, match="are in eur"):
        deploy._refuse_another_currency(options)


def test_wrong_proxies_are_refused_with_a_sentence(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["deploy.py", "--stage", "prod", "--trusted-proxies", "10.0.0.1/8"]
    monkeypatch.setattr(sys, "argv", options)
    with pytest.raises(SystemExit, match=r"--trusted-proxies: .*host bits"):
        deploy._environment(deploy._options())


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
