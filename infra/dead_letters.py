"""Shows dead letters, and retries them once their cause is fixed.

    python infra/dead_letters.py --stage prod deliveries            # lists them
    python infra/dead_letters.py --stage prod deliveries --again    # sends them again
    python infra/dead_letters.py --stage prod fan-out --again       # creates the missing deliveries
    python infra/dead_letters.py --stage prod files --again         # renders the pictures again
    python infra/dead_letters.py --stage prod schedules --again     # runs the failed schedules

A dead letter is deleted after it was retried; retrying it twice is safe. Dead letters of imports
need no action: they end their job with a reason, and the shop retries the job.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib import settings
from chalicelib import sqs as queue
from chalicelib.outbox import fan_out
from chalicelib.storage import table
from chalicelib.values import clock, ids
from infra import keys, refused

_SHOWN_AT_ONCE = 10
_HIDDEN_SECONDS = 1_000  # a letter does not come twice while a function works on it
# As long as a function may run. A call that is repeated would run it once more.
_UNTIL_IT_ENDS = Config(
    read_timeout=910, tcp_keepalive=True, retries={"total_max_attempts": 1, "mode": "standard"}
)
_SLACK = timedelta(minutes=1)  # between the clocks of a function and of the stream


def main(arguments: Sequence[str] | None = None) -> None:
    options = _make_parser().parse_args(arguments)
    keys.connect_stage(options.stage, options.endpoint_url)
    name = f"backroom-{options.stage}"
    again = {
        "deliveries": _send_to("retries"),
        "fan-out": _fan_out,
        "files": _send_to("files"),
        "schedules": _run_function,
    }[options.queue]
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{name}-{options.queue}-dead")["QueueUrl"]
    number, hidden = 0, []
    try:
        for letter in _receive_letters(sqs, url, 1 if options.again else _SHOWN_AT_ONCE):
            sent = datetime.fromtimestamp(int(letter["Attributes"]["SentTimestamp"]) / 1000, UTC)
            print(clock.iso(sent), letter["Body"], flush=True)
            number += 1
            hidden.append(letter["ReceiptHandle"])
            if options.again:
                again(name, json.loads(letter["Body"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=hidden.pop())
    finally:
        queue.hide(url, dict.fromkeys(hidden, 0))
    print(f"{number:,} dead letters {'retried' if options.again else 'found'}")


def _receive_letters(sqs: Any, url: str, at_once: int) -> Iterator[Mapping[str, Any]]:
    while True:
        found = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=at_once,
            VisibilityTimeout=_HIDDEN_SECONDS,
            WaitTimeSeconds=1,
            AttributeNames=["SentTimestamp"],
        ).get("Messages", [])
        if not found:
            return
        yield from found


def _send_to(queue_name: str) -> Callable[[str, Mapping[str, Any]], None]:
    """Return what sends a letter to a queue of the stage."""

    def send_letter(name: str, letter: Mapping[str, Any]) -> None:
        sqs = boto3.client("sqs")
        url = sqs.get_queue_url(QueueName=f"{name}-{queue_name}")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps(letter))

    return send_letter


def _fan_out(name: str, letter: Mapping[str, Any]) -> None:
    """Our own letter names events; Lambda's names a part of the stream, by its times."""
    if "republish" in letter:
        events = letter["republish"]
    else:
        batch = letter["DDBStreamBatchInfo"]
        first = clock.parse(batch["approximateArrivalOfFirstRecord"]) - _SLACK
        last = clock.parse(batch["approximateArrivalOfLastRecord"]) + _SLACK
        events = list(_find_lost_events(first, last))
        print(f"  {len(events):,} lost commits between {first} and {last}")
    for event in events:
        _invoke_function(f"{name}-fan_out", {"republish": [event]})


def _find_lost_events(first: datetime, last: datetime) -> Iterator[str]:
    """Yield the ids of events whose commits in that time were not fanned out.

    It reads the whole outbox.
    """
    after = None
    while True:
        items, after = table.scan(settings.outbox_table(), after)
        within = (item for item in items if first <= ids.made_at(item["pk"]))
        yield from (each.id for each in fan_out.find_unhandled(within, made_before=last))
        if after is None:
            return


def _run_function(name: str, letter: Mapping[str, Any]) -> None:
    """Lambda's envelope names the function; a rule that did not reach it leaves its own event."""
    context = letter.get("requestContext", {})
    if "functionArn" in context:
        _invoke_function(context["functionArn"].split(":")[6], letter["requestPayload"])
    else:
        hourly = any("hourly" in rule for rule in letter.get("resources", ()))
        function = "send_summaries" if hourly else "check_counts"
        if letter.get("sweep") == "uploads":
            function = "render_file"
        _invoke_function(f"{name}-{'fan_out' if 'republish' in letter else function}", letter)


def _invoke_function(function: str, event: object) -> None:
    functions = boto3.client("lambda", config=_UNTIL_IT_ENDS)
    answer = functions.invoke(FunctionName=function, Payload=json.dumps(event))
    if "FunctionError" in answer:
        raise SystemExit(f"{function} failed again: {answer['Payload'].read().decode()}")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("queue", choices=["deliveries", "fan-out", "files", "schedules"])
    parser.add_argument("--stage", required=True, help="such as prod, or local for `make run`")
    parser.add_argument("--endpoint-url", help="of an emulated AWS")
    parser.add_argument("--again", action="store_true", help="retry and delete them")
    return parser


if __name__ == "__main__":
    refused.run(main)
