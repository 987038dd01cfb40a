"""Chalice's commands and `infra/deploy.py` report what is missing or wrong in one sentence, without
a stack trace."""

import json
import os
from pathlib import Path

import pytest

from infra import deploy
from tests.deploy.machine import CHALICE
from tests.e2e.readme import copied
from tests.support.programs import ran
from tests.support.running import free_port

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("checkout"))


def said(source: Path, *command: str) -> str:
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    environment = os.environ | keys | {"AWS_DEFAULT_REGION": "us-east-1"}
    environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"  # nothing listens there
    done = ran(CHALICE, *command, code=None, cwd=source, env=environment)
    return done.stdout + done.stderr


def test_chalice_deploy_refuses_a_stage_without_infra_deploy(source: Path) -> None:
    text = said(source, "deploy", "--stage", "prod")
    assert ".venv/bin/python infra/deploy.py --stage prod" in text
    assert "Traceback" not in text


def test_a_stage_of_another_region_is_not_deployed_here(source: Path) -> None:
    """By its record there, Chalice would not find the API, and make another with a new address."""
    config = source / ".chalice/config.json"
    good = config.read_text()
    machine = "arn:aws:states:eu-west-1:111122223333:stateMachine:backroom-shop-redrive"
    variables = {"environment_variables": {"REDRIVE_STATE_MACHINE_ARN": machine}}
    config.write_text(json.dumps(json.loads(good) | {"stages": {"shop": variables}}))
    text = said(source, "deploy", "--stage", "shop")
    config.write_text(good)
    assert "shop is in eu-west-1, account 111122223333" in text
    assert "Traceback" not in text


def test_chalice_local_without_a_running_shop_explains_how_to_start_one(source: Path) -> None:
    text = said(source, "local", "--port", str(free_port()))
    assert "start `make run` in another terminal first" in text
    assert "Traceback" not in text


def test_chalice_local_with_a_stopped_shop_explains_how_to_start_it(source: Path) -> None:
    endpoint = {"awsEndpoint": "http://127.0.0.1:9", "baseUrl": "http://127.0.0.1:9/", "apiKey": ""}
    (source / ".local/endpoint.json").write_text(json.dumps(endpoint))
    text = said(source, "local", "--port", str(free_port()))
    assert "start `make run` in another terminal first" in text
    assert "Traceback" not in text


def test_a_memory_that_is_not_a_number_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["deploy.py", "--stage", "try", "--memory", "deliver=many"])
    with pytest.raises(SystemExit):
        deploy.main()
    assert "error: --memory takes a number of MB, not deliver=many" in capsys.readouterr().err
