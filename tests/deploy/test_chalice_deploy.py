"""The real command lines, `infra/deploy.py` and `chalice deploy`, against an emulated AWS."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest

from infra.emulator import CREDENTIALS, Emulator
from tests.deploy.api_import_proxy import ApiImportProxy

PROJECT = Path(__file__).resolve().parents[2]
CHALICE = str(Path(sys.executable).parent / "chalice")
STAGE = "try"
SOURCES = ("app.py", "chalicelib", "infra", "requirements.txt", ".chalice/config.json")
KEPT = {"pk": {"S": "kept"}, "sk": {"S": "kept"}}
PROBE = """

@app.route("/probe/%(name)s", methods=["GET"])
def probe_%(name)s():
    import boto3, os
    found = boto3.client("dynamodb").get_item(TableName=os.environ["TABLE"], Key=%(key)r)
    print("probed")
    return {"probe": "%(name)s", "item": found.get("Item")}
"""


@dataclass(frozen=True)
class Machine:
    """A developer's machine: a checkout, and an AWS that its tools find through the environment."""

    checkout: Path
    aws: str

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.checkout,
            env=os.environ | CREDENTIALS | {"AWS_ENDPOINT_URL": self.aws},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def deploy(self, *options: str) -> str:
        return self.run("infra/deploy.py", "--stage", STAGE, *options)

    def api(self) -> str:
        record = json.loads((self.checkout / f".chalice/deployed/{STAGE}.json").read_text())
        (api,) = [r["rest_api_id"] for r in record["resources"] if r["resource_type"] == "rest_api"]
        return f"{self.aws}/_aws/execute-api/{api}/{STAGE}"

    def get(self, path: str) -> tuple[int, object]:
        try:
            with urllib.request.urlopen(self.api() + path, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, None

    def client(self, service: str):
        return boto3.client(
            service,
            endpoint_url=self.aws,
            region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        )


def _checkout(target: Path) -> Path:
    for name in SOURCES:
        source, copy = PROJECT / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    _add_probe(target, "first")
    return target


def _add_probe(checkout: Path, name: str) -> None:
    with (checkout / "app.py").open("a") as app:
        app.write(PROBE % {"name": name, "key": KEPT})


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    python = Path(os.environ.get("EMULATOR_PYTHON", PROJECT / ".venv-emulator/bin/python"))
    emulator = Emulator(python, port, tmp_path_factory.mktemp("emulator"))
    emulator.start()
    proxy = ApiImportProxy(emulator.endpoint, CREDENTIALS)
    yield proxy.url
    proxy.close()
    emulator.stop()


@pytest.fixture(scope="module")
def machine(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(_checkout(tmp_path_factory.mktemp("checkout")), aws)
    machine.deploy()
    return machine


def test_a_first_deployment_answers(machine: Machine) -> None:
    assert machine.get("/probe/first") == (200, {"probe": "first", "item": None})


def test_every_queue_and_stream_has_its_function(machine: Machine) -> None:
    mappings = machine.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    sources = {
        (m["EventSourceArn"].split(":")[5].split("/stream")[0], m["FunctionArn"].split(":")[6])
        for m in mappings
    }
    assert sources == {
        ("backroom-try-import-chunks", "backroom-try-import_chunk"),
        ("backroom-try-import-chunks-dead", "backroom-try-import_dead_letters"),
        ("backroom-try-plan-import-dead", "backroom-try-import_dead_letters"),
        ("backroom-try-deliveries", "backroom-try-deliver"),
        ("backroom-try-retries", "backroom-try-deliver"),
        ("table/backroom-try-outbox", "backroom-try-fan_out"),
    }


def test_deploying_twice_changes_no_stack_and_keeps_the_master_key(machine: Machine) -> None:
    def master_key() -> str:
        name = f"/backroom/{STAGE}/master-key"
        found = machine.client("ssm").get_parameter(Name=name, WithDecryption=True)
        return str(found["Parameter"]["Value"])

    before = master_key()
    said = machine.deploy()
    assert "backroom-try-resources: nothing to change" in said
    assert "backroom-try-triggers: nothing to change" in said
    assert master_key() == before


def test_another_machine_goes_on_from_the_record_in_the_bucket(
    machine: Machine, tmp_path: Path
) -> None:
    other = Machine(_checkout(tmp_path), machine.aws)
    other.deploy()
    assert other.api() == machine.api()
    assert other.get("/probe/first")[0] == 200


def test_new_code_needs_chalice_deploy_alone(machine: Machine) -> None:
    assert machine.get("/probe/second")[0] == 403
    address = machine.api()
    _add_probe(machine.checkout, "second")
    machine.run(CHALICE, "deploy", "--stage", STAGE)
    assert machine.api() == address
    assert machine.get("/probe/first")[0] == 200
    assert machine.get("/probe/second")[0] == 200


def test_deleting_the_application_leaves_its_data(machine: Machine) -> None:
    dynamodb = machine.client("dynamodb")
    dynamodb.put_item(TableName=f"backroom-{STAGE}", Item=KEPT)
    address = machine.api()
    machine.run(CHALICE, "delete", "--stage", STAGE)
    assert machine.client("lambda").list_functions()["Functions"] == []
    assert _status(f"{address}/probe/first") in {403, 404}

    machine.deploy()
    assert machine.get("/probe/first") == (200, {"probe": "first", "item": KEPT})
    dynamodb.delete_item(TableName=f"backroom-{STAGE}", Key=KEPT)


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
