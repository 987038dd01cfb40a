"""One partition of a table, its keys, the limits of its items, and which items a call touches."""

import json
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.support import units
from tests.support.dynamodb_expressions import ValidationError, Wire

ITEM_BYTES: Final = 400 << 10
# Of `CreateTable`: what our tables have in common.
DEFINITION: Final = {
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")],
}

_LAST = "\U0010ffff"
# As boto3 writes it: `#k0 = :k0`, or with a condition on `sk` behind.
_KEY_CONDITION = re.compile(
    r"\(?#\w+ = (?P<pk>:\w+)"
    r"( AND (begins_with\(#\w+, (?P<prefix>:\w+)\)|#\w+ BETWEEN (?P<low>:\w+) AND (?P<high>:\w+)"
    r"|#\w+ >=? (?P<above>:\w+)|#\w+ <=? (?P<below>:\w+)|#\w+ = (?P<exact>:\w+)))?\)?"
)


@dataclass
class Partition:
    """`order`: its sort keys; `items`: as JSON, which takes a tenth of the memory of dicts."""

    order: list[str] = field(default_factory=list)
    items: dict[str, bytes] = field(default_factory=dict)

    def get(self, sk: str) -> Wire | None:
        held = self.items.get(sk)
        return json.loads(held) if held else None

    def put(self, sk: str, item: Wire | None) -> None:
        """Stores an item; None deletes it."""
        if item is not None:
            if sk not in self.items:
                insort(self.order, sk)
            self.items[sk] = json.dumps(item).encode()
        elif sk in self.items:
            del self.items[sk]
            del self.order[bisect_left(self.order, sk)]


def bounds(request: Wire) -> tuple[str, str, str]:
    """The partition of a query, and its first and last sort key."""
    match = _KEY_CONDITION.fullmatch(request["KeyConditionExpression"])
    if not match:
        raise ValidationError("Query key condition not supported")
    values = request["ExpressionAttributeValues"]
    found = {name: values[value]["S"] for name, value in match.groupdict().items() if value}
    if "prefix" in found:
        return found["pk"], found["prefix"], found["prefix"] + _LAST
    low = found.get("above") or found.get("low") or found.get("exact") or ""
    high = found.get("below") or found.get("high") or found.get("exact")
    return found["pk"], low, f"{high}\0" if high else _LAST


def needs(operation: str, request: Wire) -> Iterator[tuple[str, str, list[str]]]:
    """The actions of a call, for which AWS asks a permission, each with its table and its partition
    keys: none of a scan."""
    if operation == "TransactWriteItems":
        for each in request["TransactItems"]:
            ((verb, part),) = each.items()
            yield f"{verb}Item", part["TableName"], [_pk(part)]
    elif operation == "BatchGetItem":
        for table, asked in request["RequestItems"].items():
            yield operation, table, [key["pk"]["S"] for key in asked["Keys"]]
    elif operation == "BatchWriteItem":
        for table, writes in request["RequestItems"].items():
            yield operation, table, [_pk(one) for write in writes for one in write.values()]
    elif operation == "Query":
        yield operation, request["TableName"], [bounds(request)[0]]
    else:
        yield operation, request["TableName"], [] if operation == "Scan" else [_pk(request)]


def _pk(request: Wire) -> str:
    return str((request.get("Key") or request["Item"])["pk"]["S"])


def between(order: list[str], low: str, high: str, request: Wire) -> Iterator[str]:
    forward = request.get("ScanIndexForward", True)
    start, end = bisect_left(order, low), bisect_left(order, high)
    if "ExclusiveStartKey" in request:
        behind = request["ExclusiveStartKey"]["sk"]["S"]
        if forward:
            start = max(start, bisect_right(order, behind))
        else:
            end = min(end, bisect_left(order, behind))
    places = range(start, end) if forward else range(end - 1, start - 1, -1)
    return (order[place] for place in places)


def key_of(item: Wire) -> tuple[str, str]:
    try:
        pk, sk = item["pk"]["S"], item["sk"]["S"]
        sizes = len(pk.encode()), len(sk.encode())
    except (KeyError, UnicodeEncodeError) as error:
        raise ValidationError(f"The provided key element does not match: {error}") from error
    if not 1 <= sizes[0] <= 2_048 or not 1 <= sizes[1] <= 1_024:
        raise ValidationError("One or more parameter values were invalid: size of a key")
    return pk, sk


def check(item: Wire) -> None:
    try:
        size = units.item_size(item)
    except UnicodeEncodeError as error:
        raise ValidationError(f"Text that is not UTF-8: {error}") from error
    if size > ITEM_BYTES:
        raise ValidationError("Item size has exceeded the maximum allowed size")
    for value in item.values():
        if value.get("SS") == []:
            raise ValidationError("An string set may not be empty")
