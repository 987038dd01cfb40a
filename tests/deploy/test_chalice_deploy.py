"""The real command lines, `infra/deploy.py` and `chalice deploy`, against an emulated AWS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.machine import CHALICE, STAGE, Machine, emulated
from tests.e2e.calls import asked
from tests.e2e.readme import copied

pytestmark = pytest.mark.thorough

KEPT = {"pk": {"S": "kept"}, "sk": {"S": "kept"}}
PROBE = """

@app.route("/probe/%(name)s", methods=["GET"])
def probe_%(name)s():
    import boto3, os
    found = boto3.client("dynamodb").get_item(TableName=os.environ["TABLE"], Key=%(key)r)
    print("probed")
    return {"probe": "%(name)s", "item": found.get("Item")}
"""


def _checkout(target: Path) -> Path:
    copied(target)
    _add_probe(target, "first")
    return target


def _add_probe(checkout: Path, name: str) -> None:
    with (checkout / "app.py").open("a") as app:
        app.write(PROBE % {"name": name, "key": KEPT})


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with emulated(tmp_path_factory.mktemp("emulator")) as address:
        yield address


@pytest.fixture(scope="module")
def machine(aws: str, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(_checkout(tmp_path_factory.mktemp("checkout")), aws)
    machine.deploy("--parameter", "MetricMath=false")  # the emulator knows none
    return machine


def test_a_first_deployment_serves_the_api(machine: Machine) -> None:
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
        ("backroom-try-jobs", "backroom-try-run_job"),
        ("backroom-try-jobs-dead", "backroom-try-import_dead_letters"),
        ("backroom-try-deliveries", "backroom-try-deliver"),
        ("backroom-try-retries", "backroom-try-deliver"),
        ("backroom-try-files", "backroom-try-render_file"),
        ("table/backroom-try-outbox", "backroom-try-fan_out"),
    }


def test_a_second_deployment_changes_no_stack_and_keeps_the_master_key(machine: Machine) -> None:
    def master_key() -> str:
        name = f"/backroom/{STAGE}/master-key"
        found = machine.client("ssm").get_parameter(Name=name, WithDecryption=True)
        return str(found["Parameter"]["Value"])

    before = master_key()
    output = machine.deploy()
    assert "backroom-try-resources: nothing to change" in output
    assert "backroom-try-triggers: nothing to change" in output
    assert master_key() == before


def test_another_machine_continues_from_the_record_in_the_bucket(
    machine: Machine, tmp_path: Path
) -> None:
    other = Machine(_checkout(tmp_path), machine.aws)
    other.deploy()
    assert other.api() == machine.api()
    assert other.get("/probe/first")[0] == 200


def test_new_code_needs_only_chalice_deploy(machine: Machine) -> None:
    assert machine.get("/probe/second")[0] == 404  # every path is answered by the service
    address = machine.api()
    _add_probe(machine.checkout, "second")
    machine.run(CHALICE, "deploy", "--stage", STAGE)
    assert machine.api() == address
    assert machine.get("/probe/first")[0] == 200
    assert machine.get("/probe/second")[0] == 200


def test_deleting_the_application_keeps_its_data(machine: Machine) -> None:
    dynamodb = machine.client("dynamodb")
    dynamodb.put_item(TableName=f"backroom-{STAGE}", Item=KEPT)
    address = machine.api()
    machine.run(CHALICE, "delete", "--stage", STAGE)
    assert machine.client("lambda").list_functions()["Functions"] == []
    assert asked("GET", f"{address}/probe/first").status_code in {403, 404}

    machine.deploy()
    assert machine.get("/probe/first") == (200, {"probe": "first", "item": KEPT})
    dynamodb.delete_item(TableName=f"backroom-{STAGE}", Key=KEPT)


def test_a_failed_step_is_repaired_by_the_next_run(machine: Machine) -> None:
    app = machine.checkout / "app.py"
    good = app.read_text()
    app.write_text(good + "\nraise ValueError\n")
    assert "run it again" in machine.deploy(fails=True)
    app.write_text(good)
    machine.deploy()
    assert machine.get("/probe/first")[0] == 200


def test_show_changes_nothing(machine: Machine) -> None:
    def stored() -> object:
        stacks = machine.client("cloudformation").describe_stacks()["Stacks"]
        return {s["StackName"]: s.get("LastUpdatedTime") for s in stacks}, machine.settings()

    before = stored()
    output = machine.deploy(
        "--show", "--alarm-email", "ops@example.com", "--mail-from", "a@b.example"
    )
    assert "Email" in output.partition("backroom-try-alarms: ")[2]
    assert "modify" in output and "SendSummariesRole" in output
    assert stored() == before


def test_a_parameter_given_once_is_kept(machine: Machine) -> None:
    machine.deploy("--memory", "deliver=640", "--mail-from", "shop@b.example")
    machine.deploy()
    deliver = f"backroom-{STAGE}-deliver"
    found = machine.client("lambda").get_function_configuration(FunctionName=deliver)
    assert found["MemorySize"] == 640
    assert found["Environment"]["Variables"]["MAIL_FROM"] == "shop@b.example"


def test_the_currency_of_a_stage_cannot_be_changed(machine: Machine) -> None:
    assert "the currency cannot be changed" in machine.deploy("--currency", "JPY", fails=True)


def test_an_old_record_is_replaced_by_the_newest_on_request(machine: Machine) -> None:
    record = machine.checkout / f".chalice/deployed/{STAGE}.json"
    newest = record.read_text()
    record.write_text('{"resources": [], "schema_version": "2.0", "backend": "api"}')
    machine.deploy("--pull", "--show")
    assert record.read_text() == newest


def test_resources_with_data_are_not_replaced_without_consent(machine: Machine) -> None:
    template = machine.checkout / "infra/resources.yaml"
    good = template.read_text()
    template.write_text(
        good.replace("TableName: !Sub backroom-${Stage}-outbox", "TableName: other")
    )
    output = machine.deploy(fails=True)
    assert "replace Outbox" in output and "needs a terminal to confirm" in output
    assert "Nothing was changed" in machine.deploy(typed="yes\n", fails=True)
    template.write_text(good)
    assert "backroom-try-resources: nothing to change" in machine.deploy()


def test_a_stage_is_deployed_from_a_package(machine: Machine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    machine.run("infra/deploy.py", "--package", str(out))
    assert "was deployed by Chalice" in machine.deploy("--from-package", str(out), fails=True)
    machine.deploy("--destroy", typed=f"{STAGE}\n")
    output = machine.deploy("--from-package", str(out))
    api = output.partition("https://")[2].partition(".")[0]
    url = f"{machine.aws}/_aws/execute-api/{api}/{STAGE}"
    assert asked("GET", f"{url}/probe/first").status_code == 200
    assert "with --from-package" in machine.deploy(fails=True)


def test_a_stage_is_destroyed_only_by_name_and_can_be_restored_with_its_data(
    machine: Machine,
) -> None:
    dynamodb = machine.client("dynamodb")
    dynamodb.put_item(TableName=f"backroom-{STAGE}", Item=KEPT)
    machine.deploy("--destroy", fails=True)
    machine.deploy("--destroy", typed="prod\n", fails=True)
    assert machine.client("lambda").list_functions()["Functions"] != []

    machine.deploy("--destroy", typed=f"{STAGE}\n")
    assert machine.client("lambda").list_functions()["Functions"] == []
    machine.deploy()
    assert machine.get("/probe/first") == (200, {"probe": "first", "item": KEPT})


def test_a_stage_destroyed_with_its_data_leaves_nothing(machine: Machine) -> None:
    output = machine.deploy("--destroy", "--with-data", typed=f"{STAGE}\n")
    assert f"delete the table backroom-{STAGE}" in output
    assert machine.client("dynamodb").list_tables()["TableNames"] == []
    assert machine.client("s3").list_buckets()["Buckets"] == []
    assert machine.client("sqs").list_queues().get("QueueUrls", []) == []
    assert machine.client("lambda").list_functions()["Functions"] == []
    assert machine.client("iam").list_roles()["Roles"] == []
    assert machine.client("ssm").describe_parameters()["Parameters"] == []
    assert machine.client("cloudwatch").describe_alarms()["MetricAlarms"] == []
    assert machine.settings() == {}
