"""Compares the emulator's Query with that of infra/emulator_start.py, in the emulator's
interpreter: python -P tests/e2e/queries.py SEED QUERIES. Fails at the first difference.
"""

import copy
import importlib.util
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

START = Path(__file__).resolve().parents[2] / "infra/emulator_start.py"
TABLE = "shop"
KEYS = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
TYPES = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]
SIZES = {"small": 30, "list": 900, "heavy": 90}  # items of each partition, at first
TEXTS = ["a", "ab", "b", "é", "🙂", "zz", "\U0010ffff", "~"]


def main(seed: int, queries: int) -> None:
    from ministack.services import dynamodb

    spec = importlib.util.spec_from_file_location("emulator_start", START)
    assert spec and spec.loader
    start = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(start)
    own, chance = dynamodb._query, random.Random(seed)
    index = start.Index(dynamodb)
    index.install()
    made = dynamodb._create_table(
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": KEYS,
            "AttributeDefinitions": TYPES,
        }
    )
    assert made[0] == 200, made
    for pk, number in SIZES.items():
        for _ in range(number):
            write(dynamodb, chance, pk)
    narrowed = 0
    for _ in range(queries):
        for _ in range(chance.randrange(4)):
            write(dynamodb, chance, chance.choice(list(SIZES)))
        request = query(chance)
        narrowed += start.span_of(request, dynamodb._tables.get(TABLE)) is not None
        while True:
            expected, found = answer(own, request), answer(dynamodb._query, request)
            if found != expected:
                raise SystemExit(f"{json.dumps(request)}\n{expected}\n{found}"[:6_000])
            if "LastEvaluatedKey" not in expected[1] or chance.random() < 0.3:
                break
            request["ExclusiveStartKey"] = expected[1]["LastEvaluatedKey"]
    assert narrowed > queries / 2, "hardly any query was one of ours"
    print(f"{queries} queries, {narrowed} of them narrowed, were answered alike")


def answer(query: Any, request: dict[str, Any]) -> tuple[int, Any]:
    status, _, body = query(copy.deepcopy(request))
    return status, json.loads(body)


def key(chance: random.Random) -> str:
    return f"{chance.choice(TEXTS)}{chance.randrange(300)}{chance.choice(['', '#', *TEXTS])}"


def write(dynamodb: Any, chance: random.Random, pk: str) -> None:
    """Writes or deletes an item in one of the possible ways."""
    at = {"pk": {"S": pk}, "sk": {"S": key(chance)}}
    size = 60_000 if pk == "heavy" else 5
    item = {**at, "n": {"N": str(chance.randrange(5))}, "text": {"S": "x" * chance.randrange(size)}}
    put = {"Put": {"TableName": TABLE, "Item": item}}
    gone = {"Delete": {"TableName": TABLE, "Key": at}}
    match chance.randrange(8):
        case 0:
            dynamodb._delete_item({"TableName": TABLE, "Key": at})
        case 1:
            dynamodb._transact_write_items({"TransactItems": [gone]})
        case 2:
            request = {
                "UpdateExpression": "SET n = :n",
                "ExpressionAttributeValues": {":n": {"N": "1"}},
            }
            dynamodb._update_item({"TableName": TABLE, "Key": at, **request})
        case 3:
            dynamodb._batch_write_item({"RequestItems": {TABLE: [{"PutRequest": {"Item": item}}]}})
        case 4:
            dynamodb._transact_write_items({"TransactItems": [put]})
        case _:
            dynamodb._put_item({"TableName": TABLE, "Item": item})


CONDITIONS = ["", "begins_with(#1, :1)", "#1 BETWEEN :1 AND :2"]
CONDITIONS += [f"#1 {sign} :1" for sign in ("<", "<=", ">", ">=", "=")]
ODD = ["#1 <> :1", "begins_with(:1, #1)", "#2 = :1", "#1 > :1 AND #1 < :2", "#1 = #1"]
FILTERS = ["#2 = :3", "#2 IN (:3, :4)", "NOT #2 < :3"]


def query(chance: random.Random) -> dict[str, Any]:
    """A query as `chalicelib/storage/table.py` writes it, another one, or an invalid one."""
    a, b = sorted([key(chance), key(chance)])
    condition = chance.choice(CONDITIONS if chance.random() < 0.95 else ODD)
    begin = chance.choice([*TEXTS, a] if chance.random() < 0.9 else [""])
    first = begin if condition.startswith("begins") else a
    pk = {"S": chance.choice([*SIZES, "list", "none"])}
    start = {"pk": chance.choice([pk, {"S": "zzz"}]), "sk": {"S": chance.choice([a, b, begin])}}
    request: dict[str, Any] = {
        "TableName": TABLE,
        "KeyConditionExpression": f"(#0 = :0 AND {condition})" if condition else "#0 = :0",
    }
    for odds, more in (
        (0.6, {"Limit": chance.choice([1, 2, 5, 20, 100, 5_000])}),
        (0.5, {"ScanIndexForward": chance.random() < 0.3}),
        (0.4, {"FilterExpression": chance.choice(FILTERS)}),
        (0.3, {"ProjectionExpression": chance.choice(["#1", "#2", "#3"])}),
        (0.2, {"ExclusiveStartKey": start}),
        (0.1, {"Select": "COUNT"}),
        (0.1, {"ReturnConsumedCapacity": "TOTAL"}),
        (0.01, {"Limit": 0}),
        (0.02, {"ExclusiveStartKey": {"pk": pk}}),
        (0.01, {"TableName": "nowhere"}),
        (0.01, {"FilterExpression": "#9 = :9"}),
    ):
        request |= more if chance.random() < odds else {}
    used = set(re.findall(r"[#:]\d", " ".join(v for k, v in request.items() if "Expr" in k)))
    used |= {":4"} if chance.random() < 0.01 else set()  # one that is not used
    names = {"#0": "pk", "#1": "sk", "#2": "n", "#3": "nothing"}
    values = {":0": pk if chance.random() < 0.99 else {"N": "1"}, ":1": {"S": first}}
    values |= {":2": {"S": b}, ":3": {"N": str(chance.randrange(5))}, ":4": {"N": "4"}}
    request["ExpressionAttributeNames"] = {k: v for k, v in names.items() if k in used}
    request["ExpressionAttributeValues"] = {k: v for k, v in values.items() if k in used}
    return request


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
