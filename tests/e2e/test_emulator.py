"""The changes of infra/emulator_start.py to the emulator, tested in the emulator's interpreter."""

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from infra import emulator_start
from infra.emulator import CREDENTIALS, find_orjson
from infra.emulator_snapshots import ORJSON_VARIABLE
from tests.support.programs import ran

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("EMULATOR_PYTHON") or str(PROJECT / ".venv-emulator/bin/python")
OF_ANOTHER_VERSION = """
import importlib.metadata, os, runpy, tempfile
from ministack import app
from ministack.services import dynamodb

os.environ["STATE_DIR"] = tempfile.mkdtemp()
own = dynamodb._query
importlib.metadata.version = lambda name: "9.9.9"
app.main = lambda: print("started with", "its own" if dynamodb._query is own else "another")
runpy.run_path("infra/emulator_start.py", run_name="__main__")
"""
ONE_RUNS_AND_ONE_CANNOT_START = """
import io, os, runpy, time, zipfile
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

def code(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr(name, "def handler(event, context): return event")
    return packed.getvalue()

start = runpy.run_path("infra/emulator_start.py")
start["fail_alone"](lambda_runtime.Worker)
start["delete_beside"](lambda_runtime.Worker)
arn = "arn:aws:lambda:us-east-1:000000000000:function:one"
function = {"FunctionName": "one", "FunctionArn": arn, "Runtime": "python3.12"}
function["Handler"] = "app.handler"
running, _ = lambda_runtime.acquire_worker("one", function, code("app.py"))
lambda_runtime.ensure_spawned(running)
broken = {"config": function, "code_zip": code("other.py")}
print(lambda_svc._execute_function_warm(broken, {}, "1")["body"]["errorMessage"])
print("runs" if running._proc and running._proc.poll() is None else "was ended")
folder = running._tmpdir
lambda_runtime.reset()
while os.path.exists(folder):
    time.sleep(0.05)
print("its code is gone")
"""
MANY_INVOKE_A_COLD_FUNCTION = """
import io, runpy, threading, zipfile
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as files:
    files.writestr("app.py", "def handler(event, context): return event")
runpy.run_path("infra/emulator_start.py")["start_few"](lambda_runtime, lambda_svc)
own, starting, most = lambda_runtime.Worker._spawn, [], []

def spawn(worker):
    starting.append(worker)
    most.append(len(starting))
    own(worker)
    starting.remove(worker)

lambda_runtime.Worker._spawn = spawn
arn = "arn:aws:lambda:us-east-1:000000000000:function:one"
function = {"FunctionName": "one", "FunctionArn": arn, "Runtime": "python3.12"}
cold = {"config": {**function, "Handler": "app.handler"}, "code_zip": packed.getvalue()}
answers = []
invoke = lambda n: answers.append(lambda_svc._execute_function_warm(cold, {"n": n}, str(n)))
threads = [threading.Thread(target=invoke, args=(n,)) for n in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(answer["body"]["n"] for answer in answers) == list(range(16)), max(most) <= 2)
lambda_runtime.reset()
"""
RANDOM_POLICIES_AND_TRANSACTIONS = """
import json, random, runpy
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import get_account_id
from ministack.services import dynamodb, iam, sts

account = get_account_id()
iam._roles["shop"] = role = {"RoleName": "shop", "InlinePolicies": {}, "AttachedPolicies": []}
sts._sessions["ASIASHOP"] = {
    "Arn": f"arn:aws:sts::{account}:assumed-role/shop/one", "SecretAccessKey": "secret",
    "SessionToken": "token", "AccountId": account, "UserId": "one",
}
ACTIONS = {"Put": "PutItem", "Update": "UpdateItem", "ConditionCheck": "ConditionCheckItem"}

def policy(chance):
    arn = f"arn:aws:dynamodb:us-east-1:{account}:table/"
    return json.dumps({"Statement": [{
        "Effect": chance.choice(["Allow", "Allow", "Deny"]),
        "Action": chance.sample([f"dynamodb:{one}" for one in (*ACTIONS.values(), "*")], 3),
        "Resource": arn + chance.choice(["one", "two", "*"]),
    } for _ in range(3)]})

def denied(body):
    of = "dynamodb:TransactWriteItems"
    context = iam_actions.dynamodb_service_context(body)
    for action, arn in iam_actions.dynamodb_transaction_checks(of, body, "us-east-1", account):
        refused = iam_evaluator.enforce("ASIASHOP", action, "dynamodb", "us-east-1", arn, context)
        if refused:
            return action, arn, vars(refused)
    return None

chance, asked = random.Random(16), []
for _ in range(500):
    if chance.random() < 0.4:
        role["InlinePolicies"]["shop"] = policy(chance)
    items = [
        {chance.choice([*ACTIONS]): {"TableName": chance.choice(["one", "two"])}} for _ in range(6)
    ]
    body = json.dumps({"TransactItems": items}).encode()
    asked.append((role["InlinePolicies"].get("shop", "{}"), body))

def answers():
    for text, body in asked:
        role["InlinePolicies"]["shop"] = text
        yield denied(body)

own = list(answers())
start = runpy.run_path("infra/emulator_start.py")
start["parse_once"](dynamodb, iam_actions, iam_evaluator)
start["check_once"](iam_actions)
assert list(answers()) == own
print(own.count(None) > 100, len(own) - own.count(None) > 100)
"""


RANDOM_WRITES = r"""
import asyncio, copy, json, random, runpy
from ministack.core import iam_actions
from ministack.services import dynamodb

TEXTS = ["", "plain", "żółw", "\\ud83d", "\\u0000", "x" * 3_000, "y" * 420_000]

def value(chance, depth=0):
    kind = chance.choice("SSSSNBML" if depth < 3 else "SN")
    if kind == "M":
        return {"M": {name: value(chance, depth + 1) for name in "ab"}}
    if kind == "L":
        return {"L": [value(chance, depth + 1) for _ in range(2)]}
    if kind == "B":
        sets = {"SS": ["a", "ą"]}, {"SS": ["a", "a"]}
        return chance.choice([{"BOOL": True}, {"NULL": True}, *sets])
    if kind == "N":
        return {"N": chance.choice(["1", "1.50", "-0", "1E3", "x", "1" * 40])}
    return {"S": chance.choices(TEXTS, [3, 9, 9, 1, 1, 3, 1])[0]}

def action(chance):
    key = {"pk": {"S": chance.choice("abc")}, "sk": {"S": chance.choice("abcdefgh")}}
    kind = chance.choice(["Put", "Put", "Update", "Update", "Delete", "ConditionCheck"])
    asked = {"TableName": "one", **({"Key": key} if kind != "Put" else {})}
    if kind == "Put":
        asked["Item"] = {**key, **{name: value(chance) for name in chance.sample("stuvw", 3)}}
    one = {"N": "1"}
    if kind == "Update":
        asked["UpdateExpression"], names, values = chance.choice([
            ("SET #n = :v", {"#n": "s"}, {":v": value(chance)}),
            ("ADD #n :v", {"#n": "n"}, {":v": {"N": "2.5"}}),
            ("ADD #n :v SET #m = :w", {"#n": "n", "#m": "t"}, {":v": one, ":w": value(chance)}),
            ("REMOVE #n", {"#n": "s"}, None),
            ("SET #n = #m + :v", {"#n": "n", "#m": "n"}, {":v": one}),
            ("SET #n.#m = :v", {"#n": "s", "#m": "a"}, {":v": value(chance)}),
            ("SET #n = ", {"#n": "s"}, None),
        ])
        asked["ExpressionAttributeNames"] = names
        asked |= {"ExpressionAttributeValues": values} if values else {}
    if kind == "ConditionCheck" or chance.random() < 0.2:
        function = chance.choice(["attribute_exists", "attribute_not_exists"])
        asked["ConditionExpression"] = f"{function}(pk)"
        asked["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {kind: asked}

def ask(operation, request):
    # Surrogates are escaped here, as halves of them are in a request.
    body = json.dumps(request).replace("\\\\u", "\\u").encode()
    headers = {"x-amz-target": f"DynamoDB_20120810.{operation}"}
    try:
        asked = dynamodb.handle_request("POST", "/", headers, body, {})
        status, _, answer = asyncio.run(asked)
    except UnicodeEncodeError:  # of halves of surrogates
        return 500, "raised"
    return status, answer

def requests():
    chance = random.Random(SEED)
    for number in range(600):
        items = [action(chance) for _ in range(chance.choice([1, 1, 2, 4]))]
        token = {"ClientRequestToken": str(number - number % chance.choice([1, 1, 1, 5]))}
        units = {"ReturnConsumedCapacity": chance.choice(["NONE", "TOTAL"])}
        yield "TransactWriteItems", {"TransactItems": items, **token, **units}
        ((kind, one),) = items[0].items()
        if kind in ("Put", "Update"):
            yield f"{kind}Item", {**one, **units}
        yield "Scan", {"TableName": "one", **units}

def answers():
    dynamodb.reset()
    dynamodb._txn_idempotency.clear()
    kinds = {"pk": "HASH", "sk": "RANGE"}
    columns = [{"AttributeName": name, "AttributeType": "S"} for name in kinds]
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in kinds.items()]
    ask("CreateTable", {
        "TableName": "one", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": columns, "KeySchema": keys,
    })
    return [ask(*each) for each in requests()]

own = answers()
start = runpy.run_path("infra/emulator_start.py")
start["measure_fast"](dynamodb)
start["read_fast"](dynamodb, iam_actions)
assert dynamodb.json is not json, "orjson is not there"
for number, (one, other) in enumerate(zip(own, answers(), strict=True)):
    assert one == other, (number, one, other)
statuses = [status for status, _ in own]
print(statuses.count(200) > 500, statuses.count(400) > 100)
"""


def run(*arguments: str) -> str:
    environment = os.environ | CREDENTIALS | {ORJSON_VARIABLE: find_orjson()}
    return ran(PYTHON, "-P", *arguments, cwd=PROJECT, env=environment).stdout


@pytest.mark.parametrize("seed", range(3))
def test_the_changed_query_answers_as_the_emulators_own(seed: int) -> None:
    assert "were answered alike" in run("tests/e2e/queries.py", str(seed), "200")


def test_another_version_of_the_emulator_is_not_changed_and_warned_about() -> None:
    said = run("-c", OF_ANOTHER_VERSION).splitlines()
    assert said == [
        "ministack 9.9.9 is not the tested 1.5.33: large lists are slow",
        "started with its own",
    ]


def test_an_invocation_whose_process_cannot_start_fails_only_itself() -> None:
    failed, *others = run("-c", ONE_RUNS_AND_ONE_CANNOT_START).splitlines()
    assert "No module named 'app'" in failed
    assert others == ["runs", "its code is gone"]


def test_requests_to_a_cold_function_start_few_processes_at_once() -> None:
    assert run("-c", MANY_INVOKE_A_COLD_FUNCTION) == "True True\n"


def test_the_changed_authorization_decides_as_the_emulators_own() -> None:
    assert run("-c", RANDOM_POLICIES_AND_TRANSACTIONS) == "True True\n"


@pytest.mark.parametrize("seed", range(3))
def test_changed_writes_are_answered_and_kept_as_the_emulators_own(seed: int) -> None:
    assert run("-c", f"SEED = {seed}{RANDOM_WRITES}") == "True True\n"


def test_a_list_does_not_wait_for_all_earlier_transactions() -> None:
    served = []

    async def serve(method: str, path: str, headers: dict[str, str]) -> None:
        time.sleep(0.001)
        served.append(headers["x-amz-target"])

    async def ask(shop: ModuleType, action: str, hops: int = 0) -> Any:
        for _ in range(hops):
            await asyncio.sleep(0)
        await shop._dispatch_service_request("POST", "/", {"x-amz-target": f"DynamoDB.{action}"})

    async def ask_all(shop: ModuleType) -> None:
        writes = [ask(shop, "TransactWriteItems") for _ in range(20)]
        await asyncio.gather(*writes, ask(shop, "Query", hops=6))

    emulated = ModuleType("app")
    emulated.__dict__["_dispatch_service_request"] = serve
    emulator_start.take_turns(emulated)
    with ThreadPoolExecutor(1) as of_its_own:  # browser tests leave a loop running in this thread
        of_its_own.submit(asyncio.run, ask_all(emulated)).result()
    assert len(served) == 21
    assert served.index("DynamoDB.Query") <= 2
