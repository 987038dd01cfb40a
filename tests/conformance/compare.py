"""Compares the answers of two DynamoDB engines to one request."""

import json
from decimal import Context, Decimal
from typing import Any, Final

from tests.support.dynamodb_expressions import Wire

Answer = tuple[int, Wire]
_EXACT: Final = Context(prec=38)  # digits that a number of DynamoDB has


def difference(engine: Answer, other: Answer, operation: str = "") -> str | None:
    """None: they say the same. Texts of messages, units, and the order in which a batch or a scan
    returns its items are nobody's promise."""
    codes = [_code(answer) for answer in (engine, other)]
    if codes[0] != codes[1]:
        return f"{codes[1]} instead of {codes[0]}"
    if codes[0] == "TransactionCanceledException":
        reasons = [_reasons(answer[1]) for answer in (engine, other)]
        return None if reasons[0] == reasons[1] else f"reasons {reasons[1]} instead of {reasons[0]}"
    for field in ("Item", "Attributes", "Items", "Responses", "LastEvaluatedKey", "ScannedCount"):
        values = [_plain(answer[1].get(field) or None) for answer in (engine, other)]
        if field == "Responses":
            values = [_unordered(value) for value in values]
        if operation == "Scan" and field == "Items":
            values = [sorted(map(str, items or ())) for items in values]
        if values[0] != values[1]:
            return f"another {field}"
    return None


def _code(answer: Answer) -> str:
    status, reply = answer
    return "" if status == 200 else str(reply.get("__type", status)).rpartition("#")[2]


def _reasons(reply: Wire) -> list[str]:
    found = []
    for reason in reply.get("CancellationReasons", ()):
        item = json.dumps(_plain(reason.get("Item") or None), sort_keys=True, default=str)
        found.append(f"{reason.get('Code')} {item}")
    return found


def _unordered(responses: Any) -> Any:
    found = (responses or {}).items()
    return {name: sorted(map(str, items)) for name, items in found if items}


def _plain(value: Any) -> Any:
    """Numbers by amount, sets without order."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"N"}:
        return Decimal(value["N"]).normalize(_EXACT)  # 59.70 is 59.7 as text, too
    if set(value) == {"SS"}:
        return {"SS": sorted(value["SS"])}
    return {name: _plain(each) for name, each in sorted(value.items())}
