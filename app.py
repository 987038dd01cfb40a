"""The trigger table: every route and every Lambda function of Backroom."""

import json
import os
from typing import Any

import boto3
from chalice import Chalice

app = Chalice(app_name="backroom")
app.api.binary_types.append("multipart/form-data")

JSON = dict[str, Any]


def log(message: str, **fields: object) -> None:
    print(json.dumps({"message": message, **fields}))


@app.route("/api/health", methods=["GET"])
def health() -> JSON:
    table = boto3.client("dynamodb")
    key = {"pk": {"S": "keys"}, "sk": {"S": "owners"}}
    item = table.get_item(TableName=os.environ["TABLE"], Key=key)
    log("health")
    return {"ok": True, "owners": "Item" in item}


@app.route("/api/echo", methods=["POST"], content_types=["multipart/form-data"])
def echo() -> JSON:
    log("echo")
    body = app.current_request.raw_body
    return {"size": len(body), "hex": body[:300].hex()}


@app.lambda_function()
def plan_import(event: JSON, context: object) -> None:
    log("plan_import", event=event)


@app.lambda_function()
def import_chunk(event: JSON, context: object) -> None:
    log("import_chunk", event=event)


@app.lambda_function()
def import_dead_letters(event: JSON, context: object) -> None:
    log("import_dead_letters", event=event)


@app.lambda_function()
def fan_out(event: JSON, context: object) -> None:
    log("fan_out", event=event)


@app.lambda_function()
def deliver(event: JSON, context: object) -> None:
    log("deliver", event=event)


@app.lambda_function()
def redrive(event: JSON, context: object) -> JSON:
    log("redrive", event=event)
    return {"more": False}


@app.lambda_function()
def send_summaries(event: JSON, context: object) -> None:
    log("send_summaries", event=event)
