"""The tools in docs/operations.md, on a running deployment."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.values import clock
from infra.local import STAGE
from tests.e2e.calls import Api, until
from tests.e2e.recorded import client
from tests.support.running import Stack, tool
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.thorough


class Operator:
    """The user of the AWS account, who runs the tools."""

    def __init__(self, stack: Stack) -> None:
        self.stack, self.shop = stack, Api.of(stack)

    def tool(self, name: str, *options: str) -> str:
        return tool(self.stack, name, *options)

    def client(self, service: str) -> Any:
        return client(self.stack.aws_endpoint, service)

    def put_aside(self, queue: str, *letters: object) -> None:
        sqs = self.client("sqs")
        url = sqs.get_queue_url(QueueName=f"backroom-{STAGE}-{queue}-dead")["QueueUrl"]
        sqs.purge_queue(QueueUrl=url)  # what other tests left
        for letter in letters:
            sqs.send_message(QueueUrl=url, MessageBody=json.dumps(letter))


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Iterator[Operator]:
    made = Operator(stack)
    yield made
    made.shop.delete_webhooks()


def delivered(operator: Operator, receiver: Receiver) -> str:
    """The id of a delivery that arrived once. Other events may come too, as this webhook also gets
    those of other tests."""
    operator.shop.webhook(receiver.url("/ok"), "product.created")
    lamp = operator.shop.product(f"Lamp {time.time_ns()}")["id"].encode()
    (id, *_) = until(lambda: [one.delivery for one in receiver.requests if lamp in one.body])
    until(lambda: operator.shop.get(f"deliveries/{id}")["status"] == "DELIVERED")
    return str(id)


def arrives_twice(receiver: Receiver, delivery: str) -> None:
    until(lambda: [one.delivery for one in receiver.requests].count(delivery) >= 2)


def test_dead_letters_of_deliveries_are_sent_again(operator: Operator, receiver: Receiver) -> None:
    delivery = delivered(operator, receiver)
    letter = {"delivery": delivery, "replay": "01M7VZ0HX2HHZ1G8X9DVRY60NN"}
    operator.put_aside("deliveries", letter)
    assert "1 dead letters found" in operator.tool("dead_letters", "deliveries")
    assert "1 dead letters retried" in operator.tool("dead_letters", "deliveries", "--again")
    arrives_twice(receiver, delivery)
    assert "0 dead letters" in operator.tool("dead_letters", "deliveries")


def test_lost_events_of_the_stream_are_republished(operator: Operator, receiver: Receiver) -> None:
    delivery = delivered(operator, receiver)
    dynamodb = operator.client("dynamodb")
    endpoint = f"wh_{delivery[32:]}"
    for shard in range(8):
        key = {"pk": {"S": f"deliveries#{endpoint}#{shard}"}, "sk": {"S": delivery}}
        dynamodb.delete_item(TableName=f"backroom-{STAGE}", Key=key)
    mark = {"pk": {"S": f"evt_{delivery[4:30]}"}, "sk": {"S": "feed"}}
    dynamodb.delete_item(TableName=f"backroom-{STAGE}", Key=mark)
    now = clock.iso(clock.now())
    arrivals = ("approximateArrivalOfFirstRecord", "approximateArrivalOfLastRecord")
    operator.put_aside("fan-out", {"DDBStreamBatchInfo": dict.fromkeys(arrivals, now)})
    assert "  1 lost commits" in operator.tool("dead_letters", "fan-out", "--again")
    arrives_twice(receiver, delivery)


def test_missed_scheduled_runs_are_repeated(operator: Operator) -> None:
    logs, group = operator.client("logs"), f"/aws/lambda/backroom-{STAGE}-check_counts"

    def runs() -> int:
        events = logs.filter_log_events(logGroupName=group)["events"]
        return sum("totals checked" in event["message"] for event in events)

    before = runs()
    function = f"arn:aws:lambda:us-east-1:000000000000:function:backroom-{STAGE}-check_counts:1"
    operator.put_aside(
        "schedules",
        {"requestContext": {"functionArn": function}, "requestPayload": {}},
        {"resources": [f"arn:…:rule/backroom-{STAGE}-hourly"]},
    )
    assert "2 dead letters retried" in operator.tool("dead_letters", "schedules", "--again")
    until(lambda: runs() > before)


def test_a_wrong_total_is_reported_and_repaired(operator: Operator) -> None:
    def shown() -> int:
        return int(operator.shop.get("products?limit=1")["total"])

    operator.shop.product(f"Vase {time.time_ns()}")
    total = shown()
    dynamodb = operator.client("dynamodb")
    cell = dynamodb.query(
        TableName=f"backroom-{STAGE}",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "count#product"}},
        Limit=1,
    )["Items"][0]
    dynamodb.update_item(
        TableName=f"backroom-{STAGE}",
        Key={"pk": cell["pk"], "sk": cell["sk"]},
        UpdateExpression="ADD n :seven",
        ExpressionAttributeValues={":seven": {"N": "7"}},
    )
    assert shown() == total + 7
    assert f"product: {total:,} records, 1 wrong totals" in operator.tool("counts", "--repair")
    assert shown() == total
    assert f"product: {total:,} records, 0 wrong totals" in operator.tool("counts")
