"""A developer's machine, and an emulated AWS that supports Chalice's API import."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra import steps
from infra.emulator import CREDENTIALS, Emulator
from tests.deploy.api_import_proxy import ApiImportProxy
from tests.e2e.calls import asked
from tests.e2e.readme import PROJECT, copied
from tests.e2e.recorded import client
from tests.support.running import Stack, free_port

CHALICE = str(Path(sys.executable).parent / "chalice")
STAGE = "try"


@dataclass(frozen=True)
class Machine:
    """A developer's machine: a checkout, and an AWS that its tools find through the environment."""

    checkout: Path
    aws: str

    def run(self, *command: str, typed: str = "", fails: bool = False) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.checkout,
            env=os.environ | CREDENTIALS | {"AWS_ENDPOINT_URL": self.aws},
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def deploy(self, *options: str, typed: str = "", fails: bool = False) -> str:
        command = ("infra/deploy.py", "--stage", STAGE, *options)
        return self.run(*command, typed=typed, fails=fails)

    def api(self) -> str:
        record = json.loads((self.checkout / f".chalice/deployed/{STAGE}.json").read_text())
        (api,) = [r["rest_api_id"] for r in record["resources"] if r["resource_type"] == "rest_api"]
        return f"{self.aws}/_aws/execute-api/{api}/{STAGE}"

    def settings(self) -> object:
        config = json.loads((self.checkout / ".chalice/config.json").read_text())
        return config["stages"].get(STAGE, {})

    def get(self, path: str) -> tuple[int, object]:
        answer = asked("GET", self.api() + path)
        return answer.status_code, answer.json() if answer.is_success else None

    def client(self, service: str):
        return client(self.aws, service)


@contextmanager
def emulated(home: Path) -> Iterator[str]:
    """The URL of an empty AWS."""
    python = Path(os.environ.get("EMULATOR_PYTHON", PROJECT / ".venv-emulator/bin/python"))
    emulator = Emulator(python, free_port(), home, keeps=False)
    emulator.start()
    proxy = ApiImportProxy(emulator.endpoint, CREDENTIALS)
    try:
        yield proxy.url
    finally:
        proxy.close()
        emulator.stop()


def scale_schedule(machine: Machine) -> None:
    """Set what `deploy.py` refuses for a stage with the permissions of AWS."""
    functions = machine.client("lambda")
    for name in steps.function_names(STAGE):
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]
        variables["Variables"]["WEBHOOK_SCHEDULE_SCALE"] = "0.01"
        functions.update_function_configuration(FunctionName=name, Environment=variables)


@contextmanager
def shop(home: Path) -> Iterator[Stack]:
    """A shop that `deploy.py` and `chalice deploy` made, with the permissions of AWS. Its receivers
    listen on loopback, and do not wait a minute."""
    (home / "emulator").mkdir()
    with emulated(home / "emulator") as aws:
        machine = Machine(copied(home / "checkout"), aws)
        config = machine.checkout / ".chalice/config.json"
        found = json.loads(config.read_text())
        local = {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}
        found["stages"][STAGE] = {"environment_variables": local}
        config.write_text(json.dumps(found))
        output = machine.deploy("--parameter", "MetricMath=false", "--parameter", "Size=aws")
        key = re.search(r"Owner key, shown only once: (\S+)", output)
        assert key, output
        scale_schedule(machine)
        yield Stack(machine.api(), key[1], aws, "")
