"""What infra/emulator_start.py changes of the emulator, looked at in the emulator's interpreter."""

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("EMULATOR_PYTHON") or str(PROJECT / ".venv-emulator/bin/python")
OF_ANOTHER_VERSION = """
import importlib.metadata, runpy
from ministack import app
from ministack.services import dynamodb

own = dynamodb._query
importlib.metadata.version = lambda name: "9.9.9"
app.main = lambda: print("started with", "its own" if dynamodb._query is own else "another")
runpy.run_path("infra/emulator_start.py", run_name="__main__")
"""
ONE_RUNS_AND_ONE_CANNOT_START = """
import io, runpy, zipfile
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

def code(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr(name, "def handler(event, context): return event")
    return packed.getvalue()

start = runpy.run_path("infra/emulator_start.py")
start["fail_alone"](lambda_runtime.Worker)
arn = "arn:aws:lambda:us-east-1:000000000000:function:one"
function = {"FunctionName": "one", "FunctionArn": arn, "Runtime": "python3.12"}
function["Handler"] = "app.handler"
running, _ = lambda_runtime.acquire_worker("one", function, code("app.py"))
lambda_runtime.ensure_spawned(running)
broken = {"config": function, "code_zip": code("other.py")}
print(lambda_svc._execute_function_warm(broken, {}, "1")["body"]["errorMessage"])
print("runs" if running._proc and running._proc.poll() is None else "was ended")
lambda_runtime.reset()
"""


def run(*arguments: str) -> str:
    done = subprocess.run(
        [PYTHON, "-P", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", range(3))
def test_a_query_is_answered_as_the_emulator_itself_answers_it(seed: int) -> None:
    assert "were answered alike" in run("tests/e2e/queries.py", str(seed), "200")


def test_another_version_is_left_as_it_is_and_says_so() -> None:
    said = run("-c", OF_ANOTHER_VERSION).splitlines()
    assert said == [
        "ministack 9.9.9 is not the tested 1.5.33: large lists are slow",
        "started with its own",
    ]


def test_an_invocation_whose_process_cannot_start_fails_alone() -> None:
    failed, other = run("-c", ONE_RUNS_AND_ONE_CANNOT_START).splitlines()
    assert "No module named 'app'" in failed
    assert other == "runs"
