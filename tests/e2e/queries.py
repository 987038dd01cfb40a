"""Compares the emulator's Query with that of infra/emulator_start.py, in the emulator's
interpreter: python -P tests/e2e/queries.py SEED QUERIES. Fails at the first difference.
"""

import copy
import importlib.util
import json
import random
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
        expected = answer(own, request)
        found = answer(dynamodb._query, request)
        if found != expected:
            raise SystemExit(f"{json.dumps(request)}\n{expected}\n{found}"[:6_000])
        while "LastEvaluatedKey" in expected[1] and chance.random() < 0.7:
            request["ExclusiveStartKey"] = expected[1]["LastEvaluatedKey"]
            expected, found = answer(own, request), answer(dynamodb._query, request)
            if found != expected:
                raise SystemExit(f"{json.dumps(request)}\n{expected}\n{found}"[:6_000])
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
    put, gone = (
        {"Put": {"TableName": TABLE, "Item": item}},
        {"Delete": {"TableName": TABLE, "Key": at}},
    )
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


def query(chance: random.Random) -> dict[str, Any]:
    """A query as `chalicelib/storage/table.py` writes it, or an invalid one."""
    a, b = sorted([key(chance), key(chance)])
    conditions = ["", "begins_with(#1, :1)", "#1 BETWEEN :1 AND :2"]
    conditions += [f"#1 {sign} :1" for sign in ("<", "<=", ">", ">=", "=")]
    if chance.random() < 0.05:
        conditions = [
            "#1 <> :1",
            "begins_with(:1, #1)",
            "#2 = :1",
            "#1 > :1 AND #1 < :2",
            "#1 = #1",
        ]
    condition = chance.choice(conditions)
    begin = chance.choice([*TEXTS, a, ""] if chance.random() < 0.1 else [*TEXTS, a])
    first = begin if condition.startswith("begins") else a
    request: dict[str, Any] = {
        "TableName": TABLE,
        "KeyConditionExpression": f"(#0 = :0 AND {condition})" if condition else "#0 = :0",
        "ExpressionAttributeNames": {"#0": "pk"},
        "ExpressionAttributeValues": {":0": {"S": chance.choice([*SIZES, "list", "none"])}},
    }
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    names.update(
        {"#1": "sk"} if "#1" in condition else {}, **({"#2": "n"} if "#2" in condition else {})
    )
    values.update({":1": {"S": first}} if ":1" in condition else {})
    values.update({":2": {"S": b}} if ":2" in condition else {})
    if chance.random() < 0.6:
        request["Limit"] = chance.choice([1, 2, 5, 20, 100, 5_000])
    if chance.random() < 0.5:
        request["ScanIndexForward"] = chance.random() < 0.3
    if chance.random() < 0.4:
        request["FilterExpression"] = chance.choice(["#3 = :3", "#3 IN (:3, :4)", "NOT #3 < :3"])
        names["#3"] = "n"
        values[":3"] = {"N": str(chance.randrange(5))}
        values.update({":4": {"N": "4"}} if ":4" in request["FilterExpression"] else {})
    if chance.random() < 0.3:
        request["ProjectionExpression"] = "#5"
        names["#5"] = chance.choice(["sk", "n", "nothing"])
    if chance.random() < 0.2:
        other = chance.choice([values[":0"], {"S": "zzz"}, {"S": "aaa"}])
        request["ExclusiveStartKey"] = {
            "pk": other,
            "sk": {"S": chance.choice([a, b, first or "a"])},
        }
    if chance.random() < 0.1:
        request["Select"] = "COUNT"
    if chance.random() < 0.1:
        request["ReturnConsumedCapacity"] = "TOTAL"
    if chance.random() < 0.03:
        spoil(request, chance)
    return request


def spoil(request: dict[str, Any], chance: random.Random) -> None:
    match chance.randrange(6):
        case 0:
            request["Limit"] = 0
        case 1:
            request["ExpressionAttributeValues"][":0"] = {"N": "1"}
        case 2:
            request["ExclusiveStartKey"] = {"pk": {"S": "list"}}
        case 3:
            request["TableName"] = "nowhere"
        case 4:
            request["FilterExpression"] = "#9 = :9"
        case 5:
            request["ExpressionAttributeValues"][":8"] = {"S": "unused"}


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
