"""A trial: a stage that is made for the checks, and taken down whatever happens."""

import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from infra import destroy, package, record, stacks, steps
from infra.verification import shop
from infra.verification.stage import Stage, wait_until
from infra.verification.statements import DoesNotHoldError, NotShownError

_ON_EMULATOR: Final = ("Size=local", "MetricMath=false", "Lanes=local")
_EMULATOR_SETTINGS: Final = (
    "WEBHOOK_SCHEDULE_SCALE=0.0005",  # the week of retries takes minutes
    "WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8",
    "CONFLICT_SECONDS=6",
)
_PATIENCE: Final = 180.0  # seconds
_STEPS: Final = ("alarms", "triggers", "app", "resources")
# CloudFormation learns only when it makes this resource that there is no such log.
_BROKEN: Final = """
  Broken:
    Type: AWS::Logs::MetricFilter
    Properties:
      LogGroupName: /backroom/there-is-no-such-log
      FilterPattern: ERROR
      MetricTransformations: [{MetricNamespace: Backroom, MetricName: Broken, MetricValue: "1"}]
"""


def exists(name: str) -> bool:
    return any(stacks.exists(steps.stack_name(name, step)) for step in _STEPS) or bool(
        record.stage_settings(name)
    )


def by_package(stage: Stage) -> str:
    """Deploys a trial as a pipeline does."""
    _only_a_trial(stage)
    package.write(package.build(package.CACHE), _build_package(stage))
    _run_deploy(stage, *_from_package(stage), *_first_arguments(stage))
    return _wait_for_answer(stage)


def by_chalice(stage: Stage) -> str:
    """Delete functions and API of the trial, and deploy them by Chalice, over the same data."""
    _only_a_trial(stage)
    destroy.delete_functions(stage.name)
    _run_deploy(stage, *_first_arguments(stage))
    return _wait_for_answer(stage)


def later_change(stage: Stage) -> str:
    """Deploy a second time: the address stays, and no request fails meanwhile."""
    _only_a_trial(stage)
    address, failed, number = stage.base_url, [0], [0]
    over = threading.Event()

    def ask_repeatedly() -> None:
        while not over.wait(0.5):
            number[0] += 1
            try:
                failed[0] += stage.call("GET", "/api", role=None).status != 200
            except OSError:
                failed[0] += 1

    asking = threading.Thread(target=ask_repeatedly)
    asking.start()
    try:
        _run_deploy(stage, "--memory", "deliver=640", *_from_package(stage))
    finally:
        over.set()
        asking.join()
    function = stage.aws("lambda").get_function_configuration(
        FunctionName=f"backroom-{stage.name}-deliver"
    )
    if stage.base_url != address or function["MemorySize"] != 640 or failed[0]:
        raise DoesNotHoldError(
            f"{failed[0]} of {number[0]} requests failed; {stage.base_url}, was {address}"
        )
    return f"the same address; {number[0]} requests meanwhile, none failed"


def failing_change(stage: Stage) -> str:
    """Make a change of a stack that fails midway: it is rolled back, and the next one works."""
    _only_a_trial(stage)
    name = steps.stack_name(stage.name, "alarms")
    template = (Path(__file__).parent.parent / "alarms.yaml").read_text()
    broken = template.replace("\nResources:\n", f"\nResources:{_BROKEN}", 1)
    try:
        stacks.apply(name, broken, {})
    except stacks.StackError as failure:
        said = str(failure)
    else:
        raise DoesNotHoldError("a filter of a log that is not there was made")
    state = stacks.status(name)
    stacks.apply(name, template, {})
    if state != "UPDATE_ROLLBACK_COMPLETE" or "Broken" not in said:
        raise DoesNotHoldError(f"the stack was {state}; it said: {said}")
    return f"{state}; then it was changed again. It said: {said[:120]}"


def protection(stage: Stage) -> str:
    """Nobody deletes a table by mistake: of a trial it is tried."""
    _only_a_trial(stage)
    table = stage.resource_outputs["Table"]
    dynamodb = stage.aws("dynamodb")
    try:
        dynamodb.delete_table(TableName=table)
    except dynamodb.exceptions.ClientError as error:
        return f"deleting {table} is refused: {error.response['Error']['Code']}"
    raise DoesNotHoldError(f"{table} was deleted")


def take_down(stage: Stage) -> str:
    """Delete a trial with its data, in whatever state it is, and look for what is left."""
    _only_a_trial(stage)
    for step in _STEPS:
        stacks.settle(steps.stack_name(stage.name, step))
    destroy.delete_everything(stage.name, stacks.outputs(steps.stack_name(stage.name, "resources")))
    _sweep_leftovers(stage)
    shutil.rmtree(_build_package(stage), ignore_errors=True)
    with suppress(TimeoutError):  # a table takes a while
        wait_until(lambda: not _find_leftovers(stage), _PATIENCE, "", 5)
    if left := _find_leftovers(stage):
        raise DoesNotHoldError(f"left over, delete by hand: {', '.join(left)}")
    return f"nothing of {stage.name} is left"


def _sweep_leftovers(stage: Stage) -> None:
    """Delete what an interrupted `chalice deploy` made and did not note."""
    functions, gateway = stage.aws("lambda"), stage.aws("apigateway")
    for name in _list_functions(functions, stage):
        functions.delete_function(FunctionName=name)
    for page in gateway.get_paginator("get_rest_apis").paginate():
        for api in page["items"]:
            named = [one["stageName"] for one in gateway.get_stages(restApiId=api["id"])["item"]]
            if api["name"] == "backroom" and named == [stage.name]:
                gateway.delete_rest_api(restApiId=api["id"])


def _list_functions(functions: Any, stage: Stage) -> list[str]:
    ours = set(steps.function_names(stage.name))
    pages = functions.get_paginator("list_functions").paginate()
    return [f["FunctionName"] for p in pages for f in p["Functions"] if f["FunctionName"] in ours]


def _find_leftovers(stage: Stage) -> list[str]:
    prefix = f"backroom-{stage.name}"
    tables = stage.aws("dynamodb").get_paginator("list_tables").paginate()
    buckets = stage.aws("s3").list_buckets()["Buckets"]
    names = [
        *(table for page in tables for table in page["TableNames"]),
        *(bucket["Name"] for bucket in buckets),
        *(
            steps.stack_name(stage.name, s)
            for s in _STEPS
            if stacks.exists(steps.stack_name(stage.name, s))
        ),
        *_list_functions(stage.aws("lambda"), stage),
    ]
    return [name for name in names if name.startswith(prefix)]


def _wait_for_answer(stage: Stage) -> str:
    """Wait for the API: a new address answers some seconds after it was made."""

    def does_answer() -> bool:
        with suppress(OSError):
            return stage.call("GET", "/api", role=None).status == 200
        return False

    with suppress(TimeoutError):
        wait_until(does_answer, _PATIENCE, "", 3)
    return shop.answers(stage)


def _run_deploy(stage: Stage, *options: str) -> None:
    """Deploy as an operator does it; show the output, indented, as it comes.

    Ctrl-C waits for its end: what an interrupted deployment was making, nobody knows.
    """
    deploying = subprocess.Popen(
        [sys.executable, "infra/deploy.py", "--stage", stage.name, *options],
        cwd=package.PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = list[str]()
    try:
        for line in deploying.stdout or ():
            said.append(line)
            if "Owner key" not in line:
                print(f"{'':15}| {line}", end="", flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted; first deploy.py has to end, which may take minutes", flush=True)
        deploying.communicate()
        raise
    deploying.wait()
    if deploying.returncode:
        raise DoesNotHoldError(f"deploy.py failed: {''.join(said[-5:])}")
    stage.__dict__.pop("made", None)  # known before it was there


def _first_arguments(stage: Stage) -> list[str]:
    parameters = ("LogRetentionDays=1", *(_ON_EMULATOR if stage.is_emulated else ()))
    settings = _EMULATOR_SETTINGS if stage.is_emulated else ()
    return [
        *(word for setting in settings for word in ("--setting", setting)),
        *(word for parameter in parameters for word in ("--parameter", parameter)),
    ]


def _build_package(stage: Stage) -> Path:
    return package.CACHE / f"verify-{stage.name}"


def _from_package(stage: Stage) -> list[str]:
    """None for a stage that Chalice deployed meanwhile."""
    return [] if record.is_chalices(stage.name) else ["--from-package", str(_build_package(stage))]


def _only_a_trial(stage: Stage) -> None:
    if not stage.is_trial:
        raise NotShownError("only a trial is deployed, changed and deleted by this program")
